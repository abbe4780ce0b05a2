"""Tries a primitive on sample points, so that a mistake in it shows when it is registered, not after a search."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from occamkit.errors import PackError
from occamkit.primitives import NAME
from occamkit.protocols import Primitive
from occamkit.units import DIMENSIONLESS, FREE, Dim, Special

# Ordinary numbers of both signs, the edges of common domains, and truth values.
_NUMBERS = (-3.7, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 6.5)
_BITS = (0.0, 1.0)

SLOW_TRIAL = 5.0
"""Seconds after which a primitive that works is said to be slow."""

_ADVICE = {
    "call": "call(*arguments, *constants) takes tensors and returns one of their shape and dtype, NaN where undefined",
    "sympy": "sympy(*arguments, *constants) takes and returns sympy expressions",
    "units": "units(*arguments, *constants) takes and returns units; see occamkit.units for rules",
}


def sample_points(arity: int, dtype: torch.dtype = torch.float64, device: str = "cpu") -> tuple[Tensor, ...]:
    """Return arguments that between them meet most domains: arity tensors [points]."""
    generator = torch.Generator().manual_seed(arity)
    numbers = torch.tensor(_NUMBERS, dtype=dtype)
    orders = [torch.randperm(len(_NUMBERS), generator=generator) for _ in range(4 * arity)]
    mixed = [torch.cat([numbers[order] for order in orders[place::arity]]) for place in range(arity)]
    bits = itertools.islice(itertools.product(_BITS, repeat=arity), 16)
    truths = torch.tensor(list(bits), dtype=dtype).T
    return tuple(torch.cat([mixed[place], truths[place]]).to(device) for place in range(arity))


def constant_draws(primitive: Primitive, draws: int = 20) -> Iterator[tuple[Tensor, ...]]:
    """Yield starting values of the primitive's constants, each as tensors of no dimension."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(draws):
        yield tuple(
            torch.rand((), dtype=torch.float64, generator=generator) * (constant.init[1] - constant.init[0])
            + constant.init[0]
            for constant in primitive.constants
        )


def require_primitive(pack: str, value: Any) -> list[str]:
    """Raise PackError, naming the member that is wrong, unless `value` behaves as a primitive.

    Returns what its author should change though it works.
    """
    if not isinstance(value, Primitive):
        members = [member for member in vars(Primitive) if not member.startswith("_")]
        missing = [member for member in members if not hasattr(value, member)]
        raise PackError(
            pack,
            f"occamkit_primitives returned {value!r}, which lacks {', '.join(sorted(missing))}; use Elementwise",
        )
    if not NAME.fullmatch(value.name):
        raise PackError(pack, f"the name must match {NAME.pattern}", member=f"primitive {value.name!r}")
    begun = time.monotonic()
    tries = (("call", _try_call), ("call", _try_honesty), ("sympy", _try_sympy), ("units", _try_units))
    for member, check in tries:
        try:
            check(value)
        except PackError:
            raise
        except Exception as error:
            raise PackError(
                pack,
                f"{type(error).__name__}: {error}; {_ADVICE[member]}",
                member=f"primitive {value.name!r}: {member}",
            ) from error
    spent = time.monotonic() - begun
    slow = f"primitive {value.name!r}: trying it on {len(sample_points(value.arity)[0])} points took {spent:.1f} s"
    return [f"{slow}; a search calls it many thousand times"] if spent > SLOW_TRIAL else []


def _try_call(primitive: Primitive) -> None:
    arguments = sample_points(primitive.arity)
    points = arguments[0].shape
    defined = False
    for constants in constant_draws(primitive, draws=5):
        output = primitive.call(*arguments, *constants)
        if not isinstance(output, Tensor):
            raise TypeError(f"must return a tensor, got {type(output).__name__}")
        if output.shape != points:
            raise ValueError(f"must be elementwise: {tuple(points)} in, {tuple(output.shape)} out")
        defined = defined or bool(torch.isfinite(output).any())
    if not defined:
        raise ValueError(f"is undefined on every sample point, among them {_NUMBERS}")


def _try_honesty(primitive: Primitive) -> None:
    """What would make results wrong in silence: other dtypes, arguments written to, a false claim to commute."""
    constants = next(constant_draws(primitive))
    for dtype in (torch.float32, torch.float64):
        arguments = sample_points(primitive.arity, dtype)
        given = tuple(constant.to(dtype) for constant in constants)
        copies = [tensor.clone() for tensor in (*arguments, *given)]
        output = primitive.call(*arguments, *given)
        if output.dtype != dtype:
            raise TypeError(f"must keep the dtype of its arguments: {dtype} in, {output.dtype} out")
        if not all(torch.equal(now, copy) for now, copy in zip((*arguments, *given), copies, strict=True)):
            raise ValueError("writes to its arguments; use the form without a trailing underscore")
    if primitive.commutative:
        turned = primitive.call(*reversed(arguments), *given)
        if not torch.allclose(turned, output, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise ValueError("gives other values for arguments in another order; say commutative=False")


def _try_sympy(primitive: Primitive) -> None:
    import sympy

    expression = written(primitive)
    if not isinstance(expression, sympy.Basic):
        raise TypeError(f"must return a sympy expression, got {type(expression).__name__}")


def _try_units(primitive: Primitive) -> None:
    constants = [constant.unit for constant in primitive.constants]
    for unit in (DIMENSIONLESS, FREE):
        result = primitive.units(*[unit] * primitive.arity, *constants)
        if not isinstance(result, Dim | Special):
            raise TypeError(f"must return Dim, FREE or CLASH, got {result!r}")


def written(primitive: Primitive) -> Any:
    """Return the primitive's sympy form over x, or x0, x1, …, and the names of its constants."""
    import sympy

    names = ["x"] if primitive.arity == 1 else [f"x{place}" for place in range(primitive.arity)]
    letters = [sympy.Symbol(name, real=True) for name in names]
    return primitive.sympy(*letters, *(sympy.Symbol(constant.name, real=True) for constant in primitive.constants))
