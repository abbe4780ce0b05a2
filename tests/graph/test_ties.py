"""Two numbers of a sum that are one."""

from __future__ import annotations

import math

import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.graph import Apply, Expression, Leaf, Product, Sum, product, tied

X = Leaf("x")
EXP = Registry.load().primitives("exp")[0].value
COLUMNS = {"x": torch.linspace(0.2, 3, 9, dtype=torch.float64)}
numbers = st.floats(0.3, 30).filter(lambda value: value != 1)


def decay(rate: float) -> Expression:
    return Apply(EXP, (product(rate, [(X, 1)]),))


def two(one: float, other: float, offset: bool) -> Sum:
    return Sum(one, ((other, decay(-0.7)),)) if offset else Sum(0.0, ((one, decay(-0.3)), (other, decay(-0.7))))


@given(numbers, st.floats(-0.12, 0.12), st.sampled_from((1.0, -1.0)), st.booleans())
def test_one_number_stands_for_two_that_are_nearly_equal(value: float, apart: float, sign: float, offset: bool) -> None:
    other = sign * value * (1 + apart)
    assume(abs(other) != 1)
    (found,) = tied(two(value, other, offset))
    assert isinstance(found, Product)
    middle = found.coefficient
    assert min(value, abs(other)) <= middle <= max(value, abs(other))
    expected = two(middle, math.copysign(middle, other), offset)
    torch.testing.assert_close(found.evaluate(COLUMNS), expected.evaluate(COLUMNS))


def test_terms_that_are_not_alike_keep_their_numbers() -> None:
    assert not list(tied(Sum(0.0, ((2.5, X), (2.5, decay(-0.7))))))
    assert not list(tied(Sum(0.0, ((2.5, decay(-0.7)), (3.5, decay(-0.3))))))


def test_sums_inside_are_gone_through_and_other_terms_stay() -> None:
    inside = Sum(4.0, ((-4.1, decay(-0.7)), (0.2, X)))
    (found,) = tied(Product(3.0, ((inside, -1.0),)))
    assert isinstance(found, Product)
    ((changed, _),) = found.factors
    assert isinstance(changed, Sum)
    assert changed.offset == 0
    assert changed.terms[1] == (0.2, X)
