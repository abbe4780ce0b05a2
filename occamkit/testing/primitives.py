"""What every primitive promises, one check each; a check raises AssertionError with what to do about it."""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from occamkit import traits
from occamkit.packs.trial import constant_draws, sample_points
from occamkit.protocols import Primitive
from occamkit.units import CLASH, DIMENSIONLESS, FREE, Dim, Unit

CHECKS: dict[str, Callable[[Primitive], None]] = {}
"""Every promise by name."""
_NASTY = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 1e-300, 1e300, -1e300)


def _promise(name: str) -> Callable[[Callable[[Primitive], None]], Callable[[Primitive], None]]:
    def register(check: Callable[[Primitive], None]) -> Callable[[Primitive], None]:
        CHECKS[name] = check
        return check

    return register


def _constants(primitive: Primitive) -> tuple[Tensor, ...]:
    """Return the first draw of constants for which the primitive is defined somewhere."""
    arguments = sample_points(primitive.arity)
    for constants in constant_draws(primitive):
        if torch.isfinite(primitive.call(*arguments, *constants)).any():
            return constants
    raise AssertionError("no draw of the constants gives a defined output; change Constant.init")


def _cast(constants: tuple[Tensor, ...], like: Tensor) -> tuple[Tensor, ...]:
    return tuple(constant.to(like.device, like.dtype) for constant in constants)


def _same(left: Tensor, right: Tensor, tolerance: float = 1e-9) -> bool:
    return torch.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)


@_promise("arity")
def arity(primitive: Primitive) -> None:
    """It can be called with as many arguments as it says."""
    arguments = sample_points(primitive.arity)
    output = primitive.call(*arguments, *_constants(primitive))
    assert isinstance(output, Tensor), f"call must return a tensor, got {type(output).__name__}"
    assert output.shape == arguments[0].shape, f"{tuple(arguments[0].shape)} in, {tuple(output.shape)} out"


@_promise("elementwise")
def elementwise(primitive: Primitive) -> None:
    """Each point is computed on its own: shuffling points shuffles outputs."""
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    order = torch.randperm(len(arguments[0]), generator=torch.Generator().manual_seed(0))
    whole = primitive.call(*arguments, *constants)[order]
    shuffled = primitive.call(*(argument[order] for argument in arguments), *constants)
    assert _same(whole, shuffled), "an output depends on other points; compute each point from its own arguments"


@_promise("broadcasting")
def broadcasting(primitive: Primitive) -> None:
    """Arguments of shape [U, 1] and [n], and constants of shape [U, 1], give [U, n]."""
    arguments = sample_points(primitive.arity)
    constants = _constants(primitive)
    tall = arguments[0][:5, None]
    wide = [argument[:7] for argument in arguments[1:]]
    columns = tuple(constant.expand(5, 1) for constant in constants)
    output = primitive.call(tall, *wide, *columns)
    expected_shape = (5, 7) if wide else (5, 1)
    assert tuple(output.shape) == expected_shape, f"expected {expected_shape}, got {tuple(output.shape)}"
    full = [tall.expand(expected_shape), *(argument.expand(expected_shape) for argument in wide)]
    assert _same(output, primitive.call(*full, *constants)), "a broadcast call differs from an expanded one"


@_promise("keeps dtype")
def keeps_dtype(primitive: Primitive) -> None:
    """float32 stays float32, float64 stays float64."""
    for dtype in (torch.float32, torch.float64):
        arguments = sample_points(primitive.arity, dtype)
        output = primitive.call(*arguments, *_cast(_constants(primitive), arguments[0]))
        assert output.dtype == dtype, f"{dtype} in, {output.dtype} out; make new tensors with like=… or new_…"


@_promise("keeps device")
def keeps_device(primitive: Primitive) -> None:
    """It runs where its arguments are, and never reads their values on the host."""
    arguments = tuple(argument.to("meta") for argument in sample_points(primitive.arity))
    constants = _cast(_constants(primitive), arguments[0])
    try:
        output = primitive.call(*arguments, *constants)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        message = f"cannot run away from the host: {error}"
        raise AssertionError(f"{message}; use torch alone, and make tensors with new_… or …_like") from error
    assert output.device.type == "meta", f"moved to {output.device}; create tensors on the arguments' device"


@_promise("leaves arguments alone")
def leaves_arguments_alone(primitive: Primitive) -> None:
    """It does not write to what it is given."""
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    copies = [tensor.clone() for tensor in (*arguments, *constants)]
    primitive.call(*arguments, *constants)
    kept = all(torch.equal(now, copy) for now, copy in zip((*arguments, *constants), copies, strict=True))
    assert kept, "an argument was overwritten; use the form without a trailing underscore"


@_promise("deterministic")
def deterministic(primitive: Primitive) -> None:
    """The same arguments give the same output."""
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    first, second = (primitive.call(*arguments, *constants) for _ in range(2))
    assert torch.equal(torch.nan_to_num(first), torch.nan_to_num(second)), "two equal calls differ"


@_promise("never raises")
def never_raises(primitive: Primitive) -> None:
    """Outside its domain it gives NaN or an infinity; undefined arguments give nothing finite."""
    constants = _constants(primitive)
    values = torch.tensor(_NASTY, dtype=torch.float64)
    mixes = [values.roll(shift) for shift in range(len(values))]
    try:
        primitive.call(*itertools.islice(itertools.cycle(mixes), primitive.arity), *constants)
        undefined = primitive.call(*[values[:1]] * primitive.arity, *constants)
    except Exception as error:
        raise AssertionError(f"raised {type(error).__name__}: {error}; return NaN instead") from error
    assert not torch.isfinite(undefined).any(), "NaN arguments give a number: what is undefined must stay so"


@_promise("commutes as claimed")
def commutes(primitive: Primitive) -> None:
    """When it claims to be commutative, the order of the arguments does not matter."""
    if not primitive.commutative:
        return
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    expected = primitive.call(*arguments, *constants)
    for order in itertools.islice(itertools.permutations(arguments), 24):
        message = "commutative=True, but the order of the arguments matters"
        assert _same(primitive.call(*order, *constants), expected), message


@_promise("sympy agrees")
def sympy_agrees(primitive: Primitive) -> None:
    """The sympy form has the same values wherever both are finite real numbers."""
    import sympy

    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    names = [sympy.Symbol(f"v{place}", real=True) for place in range(primitive.arity + len(constants))]
    expression = primitive.sympy(*names)
    output = primitive.call(*arguments, *constants)
    compared = 0
    for point in range(len(output)):
        values = [float(argument[point]) for argument in arguments] + [float(constant) for constant in constants]
        exact = _number(expression.subs(dict(zip(names, map(sympy.Float, values), strict=True))))
        given = float(output[point])
        if exact is None or not torch.isfinite(output[point]):
            continue
        compared += 1
        close = abs(given - exact) <= 1e-6 * max(1.0, abs(exact))
        assert close, f"at {values}: call gives {given:.10g}, sympy gives {exact:.10g}"
    assert compared, "call and sympy are nowhere both finite on the sample points"


def _number(expression: Any) -> float | None:
    """Return a finite real value, or None."""
    try:
        value = complex(expression.evalf())
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return value.real if abs(value.imag) < 1e-12 and abs(value) < 1e300 else None


@_promise("units agree with numbers")
def units_agree(primitive: Primitive) -> None:
    """Measured in other units, arguments change by a factor; the output changes by the factor of the rule's unit."""
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    output = primitive.call(*arguments, *constants)
    consistent = False
    for given in _assignments(primitive):
        result = primitive.units(*given)
        consistent = consistent or result is not CLASH
        if not isinstance(result, Dim):
            continue
        scaled = [tensor * _factor(unit) for tensor, unit in zip((*arguments, *constants), given, strict=True)]
        message = f"with arguments in {list(given)} the rule gives {result}, the numbers do not scale so; mend units"
        assert _same(primitive.call(*scaled), output * _factor(result), 1e-7), message
    assert consistent, "the rule clashes for every choice of units"


def _assignments(primitive: Primitive) -> Iterator[tuple[Unit, ...]]:
    """Yield choices of a unit for each argument and constant; a constant of fixed unit keeps it."""
    length, time = Dim.of({"length": 1}), Dim.of({"time": 1})
    choices = (DIMENSIONLESS, length, time, length * time, length / time)
    fixed = [[constant.unit] if isinstance(constant.unit, Dim) else choices for constant in primitive.constants]
    few = choices if primitive.arity <= 4 else choices[:2]
    yield from itertools.product(*[few] * primitive.arity, *fixed)


def _factor(unit: Unit) -> float:
    """Return what numbers are multiplied with when lengths are measured in quarters and times in sixteenths."""
    powers = dict(unit.powers) if isinstance(unit, Dim) else {}
    return float(4.0 ** powers.get("length", 0) * 16.0 ** powers.get("time", 0))


@_promise("units absorb and yield")
def units_absorb(primitive: Primitive) -> None:
    """CLASH in any argument gives CLASH; FREE arguments never clash by themselves."""
    constants = [constant.unit for constant in primitive.constants]
    for place in range(primitive.arity):
        given: list[Unit] = [DIMENSIONLESS] * primitive.arity
        given[place] = CLASH
        assert primitive.units(*given, *constants) is CLASH, "CLASH must be passed on; wrap the rule in units.Rule"
    result = primitive.units(*[FREE] * primitive.arity, *constants)
    assert result is not CLASH, "FREE arguments must yield to whatever the rule asks for"


@_promise("constants defined")
def constants_defined(primitive: Primitive) -> None:
    """Some draw of the constants gives a defined output, and their names differ."""
    names = [constant.name for constant in primitive.constants]
    assert len(set(names)) == len(names), f"constants share a name: {names}"
    _constants(primitive)


@_promise("constants matter")
def constants_matter(primitive: Primitive) -> None:
    """Each constant has a range to start from, and changing it changes some output."""
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    output = primitive.call(*arguments, *constants)
    for place, constant in enumerate(primitive.constants):
        low, high = constant.init
        assert low < high, f"constant {constant.name!r}: init = {constant.init} leaves nothing to draw from"
        others = [low + (high - low) * part for part in (0.1, 0.45, 0.8)]
        changed = [
            primitive.call(*arguments, *constants[:place], constants[place].new_tensor(value), *constants[place + 1 :])
            for value in others
        ]
        same = all(torch.equal(torch.nan_to_num(one), torch.nan_to_num(output)) for one in changed)
        assert not same, f"constant {constant.name!r} changes nothing; remove it, or use it in call"


@_promise("quick")
def quick(primitive: Primitive) -> None:
    """A call on some fifty points takes less than half a second."""
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    spent = []
    for _ in range(3):
        begun = time.monotonic()
        primitive.call(*arguments, *constants)
        spent.append(time.monotonic() - begun)
    assert min(spent) < 0.5, f"a call on {len(arguments[0])} points takes {min(spent):.1f} s; compute on whole tensors"


@_promise("inverse")
def inverse(primitive: Primitive) -> None:
    """When it declares an inverse, calling the primitive on what it returns gives the output back."""
    solve = getattr(primitive, "inverse", None)
    if solve is None:
        return
    (_, *others), constants = sample_points(primitive.arity), _constants(primitive)
    wanted = primitive.call(*sample_points(primitive.arity), *constants)
    again = primitive.call(solve(wanted, *others, *constants), *others, *constants)
    both = torch.isfinite(wanted) & torch.isfinite(again)
    assert both.any(), "the inverse is undefined on every output of the sample points"
    assert _same(again[both], wanted[both], 1e-6), "call(inverse(y, …), …) is not y"


@_promise("exponential as declared")
def exponential_as_declared(primitive: Primitive) -> None:
    """When it declares the logarithm of its base, it turns sums into products of that base's powers."""
    base = getattr(primitive, "exponential", None)
    if base is not None:
        tried = traits.tried_exponential(primitive)
        assert tried is not None, "exponential is declared, but call(x + y) is not call(x)·call(y)"
        assert abs(tried - base) <= 1e-9, f"exponential={base:g}, but the logarithm of its base is {tried:g}"


@_promise("truth as declared")
def truth_as_declared(primitive: Primitive) -> None:
    """When it declares what it gives for bits, that is what it gives."""
    table, tried = getattr(primitive, "truth", None), traits.tried_truth(primitive)
    assert table in (None, tried), f"truth={table}, but calling it on bits gives {tried}"


@_promise("picklable")
def picklable(primitive: Primitive) -> None:
    """It survives pickling, so that a search can run in another process."""
    try:
        copy = pickle.loads(pickle.dumps(primitive))
    except Exception as error:
        raise AssertionError(f"{error}; use functions defined at the top level of a module, not lambdas") from error
    arguments, constants = sample_points(primitive.arity), _constants(primitive)
    assert _same(copy.call(*arguments, *constants), primitive.call(*arguments, *constants))
