"""The laws of units: exact powers, CLASH absorbs, FREE yields, text goes there and back."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit import units
from occamkit.dimensions.lattice import small_vectors
from occamkit.errors import UnitError
from occamkit.units import CLASH, DIMENSIONLESS, FREE, Dim, agree, parse, parse_quantity, show

NAMES = ("length", "mass", "time", "current", "temperature")
powers = st.fractions(min_value=-4, max_value=4, max_denominator=6)
dims = st.dictionaries(st.sampled_from(NAMES), powers, max_size=4).map(Dim.of)
any_unit = st.one_of(dims, st.just(FREE), st.just(CLASH))
rules = st.sampled_from(
    [(units.same, 2), (units.dimensionless, 1), (units.product, 2), (units.quotient, 2), (units.power(2), 1),
     (units.power(Fraction(1, 2)), 1), (units.fitted_power, 2), (units.branch, 4), (units.indicator, 1),
     (units.free, 1)]
)  # fmt: skip


@given(rules, st.data())
def test_clash_absorbs(rule: tuple[units.Rule, int], data: st.DataObject) -> None:
    call, arity = rule
    arguments = data.draw(st.lists(any_unit, min_size=arity, max_size=arity))
    arguments[data.draw(st.integers(0, arity - 1))] = CLASH
    assert call(*arguments) is CLASH


@given(rules)
def test_free_never_clashes_by_itself(rule: tuple[units.Rule, int]) -> None:
    call, arity = rule
    assert call(*[FREE] * arity) is not CLASH


@given(dims)
def test_free_yields(dim: Dim) -> None:
    assert units.same(FREE, dim) == units.same(dim, FREE) == dim
    assert units.dimensionless(FREE) == DIMENSIONLESS
    assert units.product(FREE, dim) is FREE
    assert units.quotient(dim, FREE) is FREE
    assert agree(FREE, dim) == dim


@given(dims, dims)
def test_different_dimensions_clash_in_a_sum(left: Dim, right: Dim) -> None:
    assert units.same(left, right) == (left if left == right else CLASH)


@given(dims, dims, dims)
def test_products_form_a_group(a: Dim, b: Dim, c: Dim) -> None:
    assert units.product(a, b) == units.product(b, a)
    assert (a * b) * c == a * (b * c)
    assert units.quotient(units.product(a, b), b) == a
    assert a * DIMENSIONLESS == a


@given(dims, powers, powers)
def test_powers_add_and_multiply(dim: Dim, first: Fraction, second: Fraction) -> None:
    assert dim**first * dim**second == dim ** (first + second)
    assert (dim**first) ** second == dim ** (first * second)
    assert units.power(first)(dim) == dim**first


@given(dims)
def test_text_goes_there_and_back(dim: Dim) -> None:
    assert parse(show(dim)).dim == dim


@given(
    st.dictionaries(st.sampled_from(NAMES), powers, min_size=1, max_size=3), st.lists(powers, min_size=3, max_size=3)
)
def test_products_of_powers_are_in_the_span(basis: dict[str, Fraction], exponents: list[Fraction]) -> None:
    vectors = [Dim.of({name: power, "mass": place}) for place, (name, power) in enumerate(basis.items())]
    target = DIMENSIONLESS
    for vector, exponent in zip(vectors, exponents, strict=False):
        target = target * vector**exponent
    assert units.in_span(target, vectors)
    assert not units.in_span(target * Dim.of({"luminosity": 1}), vectors)


def test_branches_compare_like_with_like() -> None:
    metre, second = parse("m").dim, parse("s").dim
    assert units.branch(metre, metre, second, second) == second
    assert units.branch(metre, second, second, second) is CLASH
    assert units.branch(metre, metre, metre, second) is CLASH
    assert units.branch(FREE, second, metre, FREE) == metre


def test_a_fitted_power_frees_a_dimension_but_not_a_number() -> None:
    metre = parse("m").dim
    assert units.fitted_power(DIMENSIONLESS, DIMENSIONLESS) == DIMENSIONLESS
    assert units.fitted_power(metre, FREE) is FREE
    assert units.fitted_power(metre, metre) is CLASH


@pytest.mark.parametrize(
    ("text", "shown", "factor"),
    [
        ("km/h", "m/s", Fraction(5, 18)),
        ("m**0.5", "m**(1/2)", Fraction(1)),
        ("N", "kg*m/s**2", Fraction(1)),
        ("percent", "dimensionless", Fraction(1, 100)),
        ("", "dimensionless", Fraction(1)),
        ("delta_degC", "K", Fraction(1)),
    ],
)
def test_parsing(text: str, shown: str, factor: Fraction) -> None:
    measure = parse(text)
    assert (show(measure.dim), measure.factor) == (shown, factor)


@pytest.mark.parametrize(
    ("text", "words"),
    [("degC", "offset"), ("degF", "offset"), ("dB", "logarithmic"), ("furlng", "'furlong'"), ("m/", "cannot be read")],
)
def test_bad_units_say_why(text: str, words: str) -> None:
    with pytest.raises(UnitError, match=words):
        parse(text)


def test_quantities_are_exact() -> None:
    number, measure = parse_quantity("9.81 m/s**2")
    assert number == Fraction("9.81")
    assert show(measure.dim) == "m/s**2"
    with pytest.raises(UnitError, match="not a number followed by a unit"):
        parse_quantity("fast m/s")


def test_rules_and_specials_survive_pickling() -> None:
    for value in (units.same, units.power(Fraction(1, 3)), FREE, CLASH, parse("N").dim):
        assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(FREE)) is FREE


def test_a_pack_may_bring_its_own_rule() -> None:
    rule = units.Rule("hypotenuse", agree)
    assert rule(parse("m").dim, FREE) == parse("m").dim
    assert rule(parse("m").dim, CLASH) is CLASH


@pytest.mark.parametrize("count", [3, 12, 13, 15, 117])
def test_small_exponents_are_never_too_many_to_go_through(count: int) -> None:
    vectors = small_vectors(count)
    assert len(vectors) <= 600_000
    assert len(torch.unique(vectors, dim=0)) == len(vectors)
    assert bool((vectors.abs() <= 2).all())
    ones = {tuple(one) for one in vectors[vectors.abs().sum(1) == 1].tolist()}
    assert len(ones) == 2 * count
