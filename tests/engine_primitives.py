"""Small primitives for the tests of the engine; none of them is a built-in."""

from __future__ import annotations

import sympy
import torch

from occamkit import Constant, Elementwise
from occamkit.units import FREE


def _free(*units: object) -> object:
    return FREE


def _define(name, arity, call, symbolic, **options):
    return Elementwise(name, arity, call, symbolic, _free, **options)


def _choose(a, b, c, d):
    return torch.where(a <= b, c, d)


def _choose_sympy(a, b, c, d):
    return sympy.Piecewise((c, a <= b), (d, True))


ADD = _define("add", 2, torch.add, lambda a, b: a + b, commutative=True)
SUB = _define("sub", 2, torch.sub, lambda a, b: a - b)
MUL = _define("mul", 2, torch.mul, lambda a, b: a * b, commutative=True)
DIV = _define("div", 2, torch.div, lambda a, b: a / b)
SIN = _define("sin", 1, torch.sin, sympy.sin)
COS = _define("cos", 1, torch.cos, sympy.cos)
EXP = _define("exp", 1, torch.exp, sympy.exp)
LOG = _define("log_abs", 1, lambda a: a.abs().log_(), lambda a: sympy.log(sympy.Abs(a)))
ATAN2 = _define("atan2", 2, torch.atan2, sympy.atan2)
MAX3 = _define(
    "max3",
    3,
    lambda a, b, c: torch.maximum(torch.maximum(a, b), c),
    sympy.Max,
    commutative=True,
    complexity=2.0,
)
MIX3 = _define("mix3", 3, lambda a, b, c: a * b - c, lambda a, b, c: a * b - c)
CHOOSE = _define("choose", 4, _choose, _choose_sympy)
SCALE = _define("scale", 1, lambda a, c: a * c, lambda a, c: a * c, constants=(Constant("c"),))
AFFINE = _define(
    "affine",
    1,
    lambda a, c, d: a * c + d,
    lambda a, c, d: a * c + d,
    constants=(Constant("c"), Constant("d")),
)

PAPER = (ADD, SUB, MUL, DIV, SIN, COS, EXP, LOG)
EVERY_ARITY = (ADD, SUB, MUL, SIN, MAX3, MIX3, CHOOSE, ATAN2)
