"""Powers in front of functions: right where there is a right answer, and never worse than a factor alone."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from occamkit.dimensions.powers import Powers, product_of_powers
from occamkit.fit.monomials import Monomials
from occamkit.fit.scaling import Scaling
from occamkit.protocols import Variable
from occamkit.units import DIMENSIONLESS, Dim, Unit

LENGTH, TIME, MASS = (Dim.of({name: 1}) for name in ("length", "time", "mass"))
PLACES = 40
seeds = st.integers(0, 10_000)


def drawn(seed: int, columns: int, signed: int = 0) -> Tensor:
    """Columns of positive numbers, the first `signed` of either sign."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(columns, PLACES, dtype=torch.float64, generator=generator) * 3 + 0.5
    flips = 1 - 2 * torch.randint(0, 2, (signed, PLACES), generator=generator)
    return torch.cat([values[:signed] * flips, values[signed:]])


def functions(seed: int, count: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1)
    return torch.randn(count, PLACES, dtype=torch.float64, generator=generator)


def scaling_of(columns: Tensor, target: Tensor, unit: Unit = DIMENSIONLESS, units: tuple[Unit, ...] = ()) -> Scaling:
    dims = units or (DIMENSIONLESS,) * len(columns)
    variables = [Variable(f"x{place}", one) for place, one in enumerate(dims)]
    in_front = Powers.of(variables, columns).in_front(unit)
    return Scaling("monomial", Monomials(in_front, columns, target, target))


def exponents_of(scaling: Scaling, values: Tensor, target: Tensor) -> list[tuple[Fraction | float, ...]]:
    assert scaling.monomials is not None
    weights, _ = scaling.monomials.solve(values, target)
    return [scaling.monomials.exponents(one) for one in weights.tolist()]


def squares(predicted: Tensor, target: Tensor) -> Tensor:
    return (predicted - target).square().sum(-1)


halves = st.integers(-4, 4).map(lambda number: Fraction(number, 2))


@given(st.tuples(halves, halves, halves), st.floats(0.01, 100), st.sampled_from([-1, 1]), seeds)
def test_powers_in_halves_are_solved_for(powers: tuple[Fraction, ...], size: float, sign: int, seed: int) -> None:
    columns, values = drawn(seed, 3), functions(seed, 5)
    target = sign * size * product_of_powers(columns, powers) * values[2]
    scaling = scaling_of(columns, target)
    torch.testing.assert_close(
        scaling.apply(values, target)[2], target, rtol=1e-9, atol=1e-9 * float(target.abs().max())
    )
    assert exponents_of(scaling, values, target)[2] == powers


@given(st.tuples(st.integers(-3, 3), st.integers(-3, 3), halves), seeds)
def test_columns_with_negative_values_have_whole_powers(powers: tuple[Fraction | int, ...], seed: int) -> None:
    columns, values = drawn(seed, 3, signed=2), functions(seed, 4)
    exact = tuple(map(Fraction, powers))
    target = 2.5 * product_of_powers(columns, exact) * values[1]
    scaling = scaling_of(columns, target)
    torch.testing.assert_close(
        scaling.apply(values, target)[1], target, rtol=1e-9, atol=1e-9 * float(target.abs().max())
    )
    for found in exponents_of(scaling, values, target):
        assert all(isinstance(one, Fraction) and one.denominator == 1 for one in found[:2])


@given(seeds, st.sampled_from([torch.float32, torch.float64]), st.integers(0, 3))
def test_powers_never_fit_worse_than_a_factor_alone(seed: int, dtype: torch.dtype, signed: int) -> None:
    columns, values = drawn(seed, 3, signed), functions(seed, 20)
    values[3, 5], values[4] = 0.0, 1.0
    target = functions(seed + 7, 1)[0]
    scaling = scaling_of(columns, target).like(target.to(dtype))
    values, target = values.to(dtype), target.to(dtype)
    plain = squares(Scaling("prefactor").apply(values, target), target)
    found = squares(scaling.apply(values, target), target)
    assert bool((found <= plain * (1 + 1e-5 if dtype == torch.float32 else 1 + 1e-12)).all())


CASES = [
    ((LENGTH, LENGTH, TIME), LENGTH / TIME),
    ((MASS, LENGTH / TIME, LENGTH), MASS * LENGTH**2 / TIME**2),
    ((LENGTH, TIME, LENGTH / TIME, DIMENSIONLESS), TIME**2),
    ((LENGTH**3, LENGTH, LENGTH), LENGTH),
    ((LENGTH**3, TIME, TIME), LENGTH),
]


@given(st.sampled_from(CASES), seeds, st.integers(0, 1))
def test_powers_have_the_unit_of_the_output(case: tuple[tuple[Dim, ...], Dim], seed: int, signed: int) -> None:
    units, unit = case
    columns, values = drawn(seed, len(units), signed), functions(seed, 10)
    powers = Powers.of([Variable(f"x{place}", one) for place, one in enumerate(units)], columns)
    wanted = unit if powers.reach(unit) else DIMENSIONLESS
    target = functions(seed + 7, 1)[0].abs()
    for found in exponents_of(scaling_of(columns, target, unit, units), values, target):
        total = dict.fromkeys(("length", "time", "mass"), 0.0)
        for power, one in zip(found, units, strict=True):
            for name, exponent in one.powers:
                total[name] += float(power) * float(exponent)
        assert all(abs(total[name] - float(dict(wanted.powers).get(name, 0))) < 1e-12 for name in total)
        assert all(isinstance(one, Fraction) and one.denominator == 1 for one in found[:signed])


def test_a_unit_that_only_roots_of_a_signed_column_have_is_out_of_reach() -> None:
    columns = drawn(0, 3, signed=1)
    variables = [Variable("volume", LENGTH**3), Variable("t", TIME), Variable("u", TIME)]
    assert not Powers.of(variables, columns).reach(LENGTH)
    assert Powers.of(variables, columns.abs()).reach(LENGTH)


def test_a_column_with_a_zero_takes_no_part() -> None:
    columns = drawn(0, 2)
    columns[0, 3] = 0.0
    values = functions(0, 3)
    target = columns[1] ** 2 * values[0]
    scaling = scaling_of(columns, target)
    assert exponents_of(scaling, values, target)[0] == (0, 2)
    torch.testing.assert_close(scaling.apply(values, target)[0], target)


def test_a_given_constant_with_a_unit_takes_part() -> None:
    distance = drawn(0, 1)
    variables = [Variable("x", LENGTH), Variable("c", LENGTH / TIME, 3.0), Variable("2", DIMENSIONLESS, 2.0)]
    powers = Powers.of(variables, distance)
    columns = torch.cat([distance, torch.full_like(distance, 3.0), torch.full_like(distance, 2.0)])
    values = functions(0, 2)
    target = distance[0] / 3 * values[1]
    monomials = Monomials(powers.in_front(TIME), columns, target, target)
    assert monomials.exponents(monomials.solve(values, target)[0][1].tolist()) == (1, -1, 0)


def test_what_the_data_cannot_tell_apart_is_left_alone() -> None:
    columns = drawn(0, 2)
    columns = torch.cat([columns, 2 * columns[:1]])  # the third is twice the first
    values = functions(0, 2)
    target = columns[0] ** 1.5 * columns[1] * values[0]
    scaling = scaling_of(columns, target)
    torch.testing.assert_close(scaling.apply(values, target)[0], target)
    assert exponents_of(scaling, values, target)[0] == (Fraction(3, 2), 1, 0)


def test_a_broken_power_stays_one_when_a_half_would_be_worse() -> None:
    columns, values = drawn(0, 2), functions(0, 2)
    target = 3 * columns[0] ** 1.23 * values[0] / columns[1]
    scaling = scaling_of(columns, target)
    first, second = exponents_of(scaling, values, target)[0]
    assert first == pytest.approx(1.23, abs=1e-9)
    assert second == -1
    torch.testing.assert_close(scaling.apply(values, target)[0], target)


def test_noise_does_not_break_powers() -> None:
    columns, values = drawn(0, 2), functions(0, 2)
    exact = columns[0].sqrt() * values[0] / columns[1]
    noisy = exact + 0.02 * exact.square().mean().sqrt() * functions(5, 1)[0]
    assert exponents_of(scaling_of(columns, noisy), values, noisy)[0] == (Fraction(1, 2), -1)


def test_company_does_not_change_what_is_solved() -> None:
    columns, values = drawn(3, 3, signed=1), functions(3, 64)
    target = functions(4, 1)[0]
    scaling = scaling_of(columns, target)
    together = scaling.apply(values, target)
    for place in range(0, 64, 8):
        assert torch.equal(scaling.apply(values[place : place + 8], target), together[place : place + 8])


def test_what_is_undefined_stays_undefined() -> None:
    columns, values = drawn(0, 2), functions(0, 4)
    values[1, 3], values[2, 4] = torch.nan, torch.inf
    applied = scaling_of(columns, values[0]).apply(values, values[0])
    assert torch.isfinite(applied).all(1).tolist() == [True, False, False, True]


def test_powers_are_fixed_while_constants_are_fitted() -> None:
    """What is left, and how it moves with a constant, are those of a factor once the powers are in front."""
    columns, values = drawn(0, 2), functions(0, 2)
    slopes = functions(9, 6).view(2, 3, PLACES)
    target = columns[0] * values[0] + 0.1 * functions(8, 1)[0]
    scaling = scaling_of(columns, target)
    assert scaling.monomials is not None
    _, front = scaling.monomials.solve(values, target)
    expected = Scaling("prefactor").project(values * front, slopes * front.unsqueeze(1), target)
    for found, wanted in zip(scaling.project(values, slopes, target), expected, strict=True):
        torch.testing.assert_close(found, wanted)
