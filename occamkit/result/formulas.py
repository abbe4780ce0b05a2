"""From a tree over our columns to the formula that people read: simplified, over their own numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import typeset
from occamkit.errors import FormulaError
from occamkit.graph import Apply, Expression, Leaf, Product, Sum
from occamkit.graph.expression import sympy_number
from occamkit.graph.given import Given
from occamkit.language.folds import evaluate, to_sympy
from occamkit.language.parse import parse
from occamkit.task.data.dataset import Scale
from occamkit.task.problem import Problem

MOST_OPERATIONS = 40
"""Larger expressions are left as sympy writes them: simplifying them can take longer than finding them."""

AGREEMENT = 1e-10
"""How far the formula shown may be from the tree it stands for, relative to its size."""

MOST_MEANT = 12
"""Digits that a number may have whose last ones are rounding; with more, all are kept."""

MOST_MIRRORED = 1000
"""Rows on which other signs are tried; what a sign changes shows on any of them."""

MOST_DECIMALS = 2
"""Fitted numbers up to which a formula is simplified."""


@dataclass(frozen=True)
class Formula:
    """A formula as text, as LaTeX, and in sympy as far as that can follow it."""

    text: str
    latex: str
    algebra: Any = None


def formula_of(problem: Problem, tree: Expression, output: int, most: int = MOST_OPERATIONS) -> Formula:
    """Return the formula of a tree, over the user's numbers, simplified where that changes no value.

    sympy simplifies over domains of its own, and fails on some functions that pass through an infinity. What is shown
    is read back and compared with the tree on the training rows; the last resort is the tree as calls of primitives.
    most: operations up to which a formula is simplified.
    """
    if isinstance(tree, Given):  # as its author wrote it
        return Formula(tree.text, typeset.latex(to_sympy(tree.tree, dict(tree.primitives))))
    for candidate in _algebra(problem, tree, output, most):
        text = typeset.text(candidate)
        if _agrees(problem, tree, output, text):
            return Formula(text, typeset.latex(candidate), candidate)
    text = _as_calls(problem, tree, output)
    return Formula(text, rf"\mathtt{{{text}}}".replace("_", r"\_"))


def form_of(problem: Problem, tree: Expression, output: int, named: Container[int]) -> str:
    """Return the formula with some of its fitted constants by name, c0, c1, …: what their errors are the errors of."""
    try:
        return typeset.text(_over_users_numbers(problem, tree.sympy(named=named), output))
    except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities
        return _as_calls(problem, tree, output)


def _algebra(problem: Problem, tree: Expression, output: int, most: int) -> Iterator[Any]:
    """Yield the tree in sympy, simplified, then plain, then just as written, as far as sympy can follow it."""
    yield from _tried(lambda: _simplified(problem, tree, output, most))
    yield from _tried(lambda: [_over_users_numbers(problem, tree.sympy(), output)])
    yield from _tried(lambda: [_over_users_numbers(problem, tree.sympy(evaluate=False), output)])


def _tried(attempt: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    try:
        yield from attempt()
    except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities; there is another form
        return


def _simplified(problem: Problem, tree: Expression, output: int, most: int) -> Iterator[Any]:
    plain = _over_users_numbers(problem, tree.sympy(), output)
    if sympy.count_ops(plain) > most:
        return
    plain = _by_signs(problem, tree, output, plain) if _has_roots(plain) else plain
    # Algebra over decimals finds nothing and takes long: numbers that were fitted have nothing to do with each other.
    several = len(plain.atoms(sympy.Float)) > MOST_DECIMALS
    simplified = _merged(plain if several else sympy.simplify(plain))
    if simplified.has(sympy.Piecewise):
        yield sympy.simplify(_with_plain_conditions(simplified))
    yield simplified


def _has_roots(expression: Any) -> bool:
    """Whether a part of a formula can be written shorter if signs are known: a root, or an absolute value."""
    roots = [power for power in expression.atoms(sympy.Pow) if power.exp.is_Rational and not power.exp.is_Integer]
    return bool(roots) or expression.has(sympy.Abs)


def _by_signs(problem: Problem, tree: Expression, output: int, expression: Any) -> Any:
    """Return an expression as the signs of the inputs make it shorter, if they do and no value changes by that.

    A root of a quotient, say, is a quotient of roots only where it is known what is positive.
    """
    names = _positive_inputs(problem)
    signed = {sympy.Symbol(name, real=True): sympy.Symbol(name, positive=True) for name in names}
    known = sympy.expand_power_base(expression.xreplace(signed)).xreplace({new: old for old, new in signed.items()})
    if sympy.count_ops(known) >= sympy.count_ops(expression):
        return expression
    return known if _agrees_beyond(problem, tree, output, typeset.text(known), names) else expression


def _positive_inputs(problem: Problem) -> tuple[str, ...]:
    """Return the inputs that are positive on every row, whose zero is also the user's."""
    dataset = problem.dataset
    return tuple(
        variable.name
        for variable, scale, column in zip(dataset.variables, dataset.scales, dataset.inputs, strict=False)
        if scale.shift == 0 and bool((column > 0).all())
    )


def _merged(expression: Any) -> Any:
    """Make one number of several that stand side by side, when one of them is inexact anyway: 1.5·√2·x, 2.5·x/π.

    A number inside an exponential stands beside the factor before it: 0.5·exp(2 - x).
    """

    def several(node: Any) -> bool:
        numbers = [one for one in node.args if one.is_number] if node.is_Mul or node.is_Add else []
        return len(numbers) > 1 and any(one.has(sympy.Float) for one in numbers)

    def one(node: Any) -> Any:
        numbers = [one for one in node.args if one.is_number]
        return node.func(_without_rounding(node.func(*numbers)), *(one for one in node.args if not one.is_number))

    def shifted(node: Any) -> bool:
        return node.is_Mul and node.args[0].is_Float and any(_shift(one) != 0 for one in node.args[1:])

    def unshifted(node: Any) -> Any:
        factors = [sympy.exp(one.exp - _shift(one)) if _shift(one) != 0 else one for one in node.args[1:]]
        value = float(node.args[0]) * math.exp(sum(float(_shift(one)) for one in node.args[1:]))
        return sympy.Mul(_without_rounding(value), *factors)

    merged = expression.replace(several, one).replace(shifted, unshifted)
    return merged.xreplace({number: _without_rounding(number) for number in merged.atoms(sympy.Float)})


def _without_rounding(number: Any) -> Any:
    """Return a number without the last digits of a double where they are rounding, as in 1.0000000000000002."""
    value = float(number)
    short = float(f"{value:.15g}")
    digits = f"{short:.14e}".partition("e")[0].replace(".", "").strip("-0")
    return sympy_number(short if len(digits) <= MOST_MEANT else value)


def _shift(factor: Any) -> Any:
    """Return the number that is added inside an exponential; 0 for any other factor."""
    return factor.exp.as_coeff_Add()[0] if isinstance(factor, sympy.exp) else sympy.Integer(0)


def _with_plain_conditions(expression: Any) -> Any:
    """Write conditions on one number as the interval that they stand for, where sympy can solve them."""

    def plain(condition: Any) -> Any:
        symbols = condition.free_symbols
        if len(symbols) != 1 or not isinstance(condition, sympy.And | sympy.Or | sympy.Not | sympy.ITE):
            return condition
        try:
            return condition.as_set().as_relational(*symbols)
        except (NotImplementedError, TypeError, ValueError):
            return condition  # not an inequality that sympy solves

    def branches(piecewise: Any) -> Any:
        return sympy.Piecewise(*((value, plain(condition)) for value, condition in piecewise.args))

    return expression.replace(sympy.Piecewise, lambda *pairs: branches(sympy.Piecewise(*pairs, evaluate=False)))


def brief_algebra(problem: Problem, tree: Expression, output: int, digits: int = 5) -> Any | None:
    """Return a tree over the user's numbers in sympy, unsimplified and with rounded numbers, for a passing look.

    None when sympy cannot follow it.
    """
    try:
        return rounded(_over_users_numbers(problem, tree.sympy(), output), digits)
    except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities
        return None


def rounded(expression: Any, digits: int) -> Any:
    """Return an expression with its decimal numbers cut to so many digits."""
    numbers = {number: sympy.Float(f"{float(number):.{digits}g}") for number in expression.atoms(sympy.Float)}
    return expression.xreplace(numbers)


def _over_users_numbers(problem: Problem, expression: Any, output: int) -> Any:
    """Put the conversion of each column into the expression; nothing changes where there is none."""
    dataset = problem.dataset
    converted = {}
    for variable, scale in zip(dataset.variables, dataset.scales, strict=False):
        if scale.factor != 1 or scale.shift != 0:
            symbol = sympy.Symbol(variable.name, real=True)
            converted[symbol] = (symbol - _number(scale.shift)) * _factor(scale)
    scale = dataset.output_scale(output)
    inside = expression.xreplace(converted) if converted else expression
    return inside / _factor(scale) + _number(scale.shift) if scale != Scale(scale.measure) else inside


def _factor(scale: Scale) -> Any:
    exact = scale.measure.factor
    if exact != 1 and max(exact.numerator, exact.denominator) <= 1000:
        return sympy.Rational(exact.numerator, exact.denominator)
    return _number(scale.factor)


def _number(value: float) -> Any:
    return sympy.Integer(int(value)) if value == int(value) and abs(value) < 1000 else sympy.Float(value)


def _as_calls(problem: Problem, tree: Expression, output: int) -> str:
    """Write the tree as calls of primitives, which the language of formulas reads."""
    scales = {one.name: scale for one, scale in zip(problem.dataset.variables, problem.dataset.scales, strict=False)}
    scale = problem.dataset.output_scale(output)
    text = _call(tree, scales)
    return text if scale == Scale(scale.measure) else f"{text}/{scale.factor!r} + {scale.shift!r}"


def _call(tree: Expression, scales: Mapping[str, Scale]) -> str:
    if isinstance(tree, Apply):
        arguments = [*(_call(argument, scales) for argument in tree.arguments), *map(repr, tree.constants)]
        return f"{tree.primitive.name}({', '.join(arguments)})"
    if isinstance(tree, Product):
        factors = [f"({_call(factor, scales)})**({power})" for factor, power in tree.factors]
        return "*".join([f"({tree.coefficient!r})", *factors])
    if isinstance(tree, Sum):
        terms = [f"({coefficient!r})*({_call(term, scales)})" for coefficient, term in tree.terms]
        return "(" + " + ".join([repr(tree.offset), *terms]) + ")"
    if not isinstance(tree, Leaf):
        raise TypeError(f"{type(tree).__name__} is no kind of expression that has a text")
    if tree.value is not None:
        return repr(tree.value)
    scale, name = scales.get(tree.name, Scale()), typeset.text(sympy.Symbol(tree.name))
    return name if scale == Scale(scale.measure) else f"(({name} - {scale.shift!r})*{scale.factor!r})"


def _agrees(problem: Problem, tree: Expression, output: int, text: str) -> bool:
    """Whether the text, read back, gives the tree's values on the training rows."""
    return _same_values(problem, tree, output, text, problem.dataset.part("train")[0])


def _agrees_beyond(problem: Problem, tree: Expression, output: int, text: str, positive: Sequence[str]) -> bool:
    """Whether the text gives the tree's values, where it has any, also when positive inputs change their signs."""
    inputs = problem.dataset.part("train")[0][:, :MOST_MIRRORED]
    names = [one.name for one in problem.dataset.variables]
    for turned in [*([name] for name in positive), positive]:
        signs = torch.tensor([-1.0 if name in turned else 1.0 for name in names]).to(inputs)
        if not _same_values(problem, tree, output, text, inputs * signs[:, None], only_finite=True):
            return False
    return True


def _same_values(
    problem: Problem, tree: Expression, output: int, text: str, inputs: Tensor, only_finite: bool = False
) -> bool:
    """Whether the text gives the tree's values on inputs [u, n]; or on those rows where the tree's are finite."""
    dataset = problem.dataset
    ours = {one.name: column for one, column in zip(dataset.variables, inputs, strict=True)}
    theirs = {
        one.name: scale.declared(column)
        for one, scale, column in zip(dataset.variables, dataset.scales, inputs, strict=False)
    }
    # What sympy writes may have the name of a primitive that the language of formulas itself does not know.
    primitives = {one.name: one for one in problem.primitives if not one.constants}
    try:
        shown = evaluate(parse(text, theirs, primitives), theirs, primitives)
    except FormulaError:
        return False  # sympy wrote a function that the language of formulas does not have
    expected = dataset.output_scale(output).declared(tree.evaluate(ours).expand_as(shown))
    if only_finite:
        defined = torch.isfinite(expected)
        shown, expected = shown[defined], expected[defined]
    finite = expected[torch.isfinite(expected)].abs()
    size = float(finite.max()) if finite.numel() else 1.0
    return torch.allclose(shown.to(expected), expected, rtol=AGREEMENT, atol=AGREEMENT * size, equal_nan=True)
