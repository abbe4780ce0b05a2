import json
import math

import pytest
import sympy
import torch

from occamkit.graph import Apply, Expression, Leaf
from tests.engine_primitives import ADD, AFFINE, CHOOSE, MUL, SCALE, SIN, SUB

X, LAMBDA, UNIT, TWO = Leaf("x"), Leaf("lambda"), Leaf("I"), Leaf("2", 2.0)
NAMES = {primitive.name: primitive for primitive in (ADD, AFFINE, CHOOSE, MUL, SCALE, SIN, SUB)}


def test_written_keeps_what_sympy_would_merge():
    tree = Apply(ADD, (X, X))
    symbol = sympy.Symbol("x", real=True)
    assert tree.written() == "add(x, x)"
    assert tree.sympy(evaluate=False) != 2 * symbol
    assert tree.sympy() == tree.simplified() == 2 * symbol


def test_any_column_name_is_a_symbol():
    odd = Leaf("größe (m) + 1")
    tree = Apply(SUB, (Apply(MUL, (UNIT, LAMBDA)), odd))
    assert tree.inputs == ("I", "größe (m) + 1", "lambda")
    assert {symbol.name for symbol in tree.sympy().free_symbols} == set(tree.inputs)
    assert all(symbol.is_real for symbol in tree.sympy().free_symbols)


def test_a_tree_makes_the_round_trip_through_json():
    tree = Apply(CHOOSE, (X, TWO, Apply(SCALE, (X,), (1.5,)), Apply(SIN, (LAMBDA,))))
    again = Expression.from_dict(json.loads(json.dumps(tree.to_dict())), NAMES)
    assert again == tree
    assert hash(again) == hash(tree)


def test_constants_follow_the_tree_from_left_to_right():
    tree = Apply(AFFINE, (Apply(ADD, (Apply(SCALE, (X,)), Apply(SCALE, (X,)))),))
    assert tree.constant_count == 4
    fitted = tree.with_constants([1.0, 2.0, 3.0, 4.0])
    assert fitted.written() == "affine(add(scale(x; c=3.0), scale(x; c=4.0)); c=1.0, d=2.0)"
    assert fitted.fitted == (1.0, 2.0, 3.0, 4.0)
    x = torch.tensor([1.0, 2.0])
    assert torch.equal(fitted.evaluate({"x": x}), 7 * x + 2)
    with pytest.raises(ValueError, match="4 constants, got 3"):
        tree.with_constants([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="no values yet"):
        tree.evaluate({"x": x})


def test_symbols_of_unfitted_constants_avoid_columns():
    tree = Apply(ADD, (Apply(SCALE, (Leaf("c0"),)), X))
    assert {symbol.name for symbol in tree.sympy().free_symbols} == {"c0", "c1", "x"}


def test_constants_that_have_a_name_are_exact():
    tree = Apply(MUL, (Leaf("pi", math.pi), TWO))
    assert tree.sympy() == 2 * sympy.pi
    assert tree.complexity == 1.0
    assert torch.equal(tree.evaluate({"x": torch.zeros(3)}), torch.full((3,), 2 * math.pi))
