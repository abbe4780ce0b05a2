"""Whether a formula that was found is the truth: on fresh points inside the ranges, and in a box 1.5 times as wide.

Of noisy data no formula can be right to six digits. There the form must be right: with its numbers fitted again to
data without noise it must equal the truth, and no number may have been wrong by more than 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from occamkit.errors import FormulaError
from occamkit.language.folds import evaluate
from occamkit.language.parse import Call, Name, Node, Number, parse
from occamkit.protocols import Primitive

POINTS = 2_000
WIDER = 1.5
TOLERANCE = 1e-6
FORM_TOLERANCE = 1e-5
"""Of a law with several numbers, which a refit leaves a little short of the truth where they make up for each other."""
CONSTANTS_WITHIN = 0.05
_SEED = 1_000_003
"""Far from the seeds of tasks, so that no training point comes again."""
_ROUNDS = 100

Ranges = Mapping[str, tuple[float, float]]
Primitives = Mapping[str, Primitive]


@dataclass(frozen=True)
class Verdict:
    """Whether a formula is the truth, and how far it is from it: relative root mean square errors.

    r2: the share of the truth's variance inside the ranges that the formula explains as it was found.
    """

    recovered: bool
    inside: float = float("inf")
    outside: float = float("inf")
    r2: float = float("-inf")


def judge(
    found: str, truth: str, ranges: Ranges, primitives: Primitives, noisy: bool, form_only: bool = False
) -> Verdict:
    """Hold a formula against the truth; form_only: whatever its numbers were, and with exponents among them."""
    within, beyond = points(ranges, wider=False), points(ranges, wider=True)
    try:
        tree = parse(found, list(ranges), primitives)
    except FormulaError:
        return Verdict(recovered=False)
    right = parse(truth, list(ranges), primitives)
    expected = [evaluate(right, columns, primitives) for columns in (within, beyond)]
    given = [evaluate(tree, columns, primitives) for columns in (within, beyond)]
    r2 = _explained(given[0], expected[0])
    if noisy:
        within_part = float("inf") if form_only else CONSTANTS_WITHIN
        fitted = _refit(_Numbers.of(tree, form_only), within, expected[0], primitives, within_part)
        if fitted is None:
            errors = [distance(one, other) for one, other in zip(given, expected, strict=True)]
            return Verdict(False, *errors, r2)
        given = [fitted.evaluate(columns, primitives) for columns in (within, beyond)]
    errors = [distance(one, other) for one, other in zip(given, expected, strict=True)]
    tolerance = FORM_TOLERANCE if form_only else TOLERANCE
    right_here = errors[0] < tolerance and (form_only or errors[1] < tolerance)
    return Verdict(right_here, *errors, r2)


def refitted(law: Node, columns: Mapping[str, Tensor], target: Tensor, primitives: Primitives) -> Tensor:
    """Return what a law says of rows when its numbers, decimal exponents among them, are fitted to a target [n]."""
    fitted = _refit(_Numbers.of(law, exponents=True), columns, target, primitives, float("inf"))
    assert fitted is not None
    return fitted.evaluate(columns, primitives)


def points(ranges: Ranges, wider: bool) -> dict[str, Tensor]:
    """Draw fresh points from the ranges, or from ranges 1.5 times as wide; what is positive stays positive."""
    generator = torch.Generator().manual_seed(_SEED + wider)
    drawn = {}
    for name, (low, high) in ranges.items():
        first, last = low, high
        if wider:
            middle, half = (low + high) / 2, WIDER * (high - low) / 2
            first, last = middle - half, middle + half
            first = max(first, low / WIDER) if low > 0 else max(first, 0.0) if low == 0 else first
        drawn[name] = first + (last - first) * torch.rand(POINTS, dtype=torch.float64, generator=generator)
    return drawn


def _explained(given: Tensor, expected: Tensor) -> float:
    defined = torch.isfinite(expected)
    left = (given[defined] - expected[defined]).square().mean() / expected[defined].var(correction=0)
    return 1 - float(left) if bool(torch.isfinite(left)) else float("-inf")


def distance(given: Tensor, expected: Tensor) -> float:
    """Return the root mean square error as a part of the truth's root mean square, where the truth is defined."""
    defined = torch.isfinite(expected)
    given, expected = given[defined], expected[defined]
    if not bool(torch.isfinite(given).all()):
        return float("inf")
    return float(((given - expected).square().mean() / expected.square().mean()).sqrt())


@dataclass(frozen=True)
class _Numbers:
    """A formula whose numbers, all but exponents, have become columns that can be changed."""

    tree: Node
    values: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Node, exponents: bool = False) -> _Numbers:
        """Name the numbers; exponents: decimals in exponents too."""
        values: dict[str, float] = {}
        return cls(_named(tree, values, False, exponents), values)

    def evaluate(self, columns: Mapping[str, Tensor], primitives: Primitives) -> Tensor:
        like = next(iter(columns.values()))
        numbers = {name: torch.full_like(like, value) for name, value in self.values.items()}
        return evaluate(self.tree, {**columns, **numbers}, primitives)

    def moved(self, step: Tensor) -> _Numbers:
        moves = zip(self.values.items(), step.tolist(), strict=True)
        return _Numbers(self.tree, {name: value + move for (name, value), move in moves})


def _named(tree: Node, values: dict[str, float], exponent: bool, decimals: bool) -> Node:
    if isinstance(tree, Name):
        return tree
    if isinstance(tree, Number):
        if exponent and not (decimals and "." in tree.text):
            return tree
        name = f" {len(values)}"  # no column is called so
        values[name] = float(tree.text) if tree.text[0].isdigit() or tree.text[0] == "." else _constant(tree)
        return Name(name)
    raised = tree.function == "**"
    parts = (
        _named(one, values, exponent or (raised and place == 1 and _plain(one)), decimals)
        for place, one in enumerate(tree.arguments)
    )
    return Call(tree.function, tuple(parts))


def _plain(tree: Node) -> bool:
    """Whether a tree is a number alone, such as 2 or -1/2."""
    return not isinstance(tree, Name) and (isinstance(tree, Number) or all(map(_plain, tree.arguments)))


def _constant(tree: Number) -> float:
    return float(evaluate(tree, {"": torch.zeros(1, dtype=torch.float64)}, {}))


def _refit(
    start: _Numbers, columns: Mapping[str, Tensor], target: Tensor, primitives: Primitives, within: float
) -> _Numbers | None:
    """Fit the numbers to data without noise; None when one of them was off by more than a part."""
    defined = torch.isfinite(target)
    here, wanted = {name: column[defined] for name, column in columns.items()}, target[defined]
    fitted, damping = start, 1e-3
    error = _missing(fitted, here, wanted, primitives)
    for _ in range(_ROUNDS):
        residual = wanted - fitted.evaluate(here, primitives)
        slopes = _slopes(fitted, here, primitives)  # [n, c]
        if slopes.shape[1] == 0 or not bool(torch.isfinite(slopes).all()):
            break
        normal = slopes.T @ slopes
        normal = normal + damping * torch.diag(normal.diagonal() + 1e-12 * float(normal.diagonal().max()))
        trial = fitted.moved(torch.linalg.pinv(normal, hermitian=True) @ (slopes.T @ residual))
        after = _missing(trial, here, wanted, primitives)
        if after < error:
            fitted, error, damping = trial, after, damping / 10
        else:
            damping *= 10
        if error < TOLERANCE / 1e3 or damping > 1e8:
            break
    pairs = zip(start.values.values(), fitted.values.values(), strict=True)
    near = all(abs(before - after) <= within * abs(after) for before, after in pairs)
    return fitted if near else None


def _missing(numbers: _Numbers, columns: Mapping[str, Tensor], target: Tensor, primitives: Primitives) -> float:
    return distance(numbers.evaluate(columns, primitives), target)


def _slopes(numbers: _Numbers, columns: Mapping[str, Tensor], primitives: Primitives) -> Tensor:
    """Return how the formula changes with each number: [n, c]."""
    base = torch.zeros(len(numbers.values), dtype=torch.float64)
    found = []
    for place, value in enumerate(numbers.values.values()):
        step = 1e-6 * max(abs(value), 1e-3)
        move = base.clone()
        move[place] = step
        above, below = numbers.moved(move), numbers.moved(-move)
        found.append((above.evaluate(columns, primitives) - below.evaluate(columns, primitives)) / (2 * step))
    return torch.stack(found, 1) if found else base.new_zeros(0, 0)
