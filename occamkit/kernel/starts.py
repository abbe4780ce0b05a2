"""Where fits begin: constants that are drawn from the spread of what they multiply, so that no unit matters."""

from __future__ import annotations

import math

import numpy as np

from occamkit.kernel.program import Numbers, Offset, Op

TINY_SPREAD, HUGE_SPREAD = 1e-12, 1e12
_64_BITS = 2**64 - 1


class Random:
    """splitmix64: the same numbers in every language."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def uniform(self) -> float:
        self._state = self._state + 0x9E3779B97F4A7C15 & _64_BITS
        z = self._state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _64_BITS
        return float((z ^ z >> 31) >> 11) / 9007199254740992.0

    def between(self, low: float, high: float) -> float:
        return low * math.exp(self.uniform() * math.log(high / low))

    def sign(self) -> float:
        return -1.0 if self.uniform() < 0.5 else 1.0


def _spread(x: Numbers) -> tuple[float, float, float]:
    deviation = float(x.std())
    return (deviation if TINY_SPREAD < deviation < HUGE_SPREAD else 1.0), float(x.min()), float(x.max())


def draw_sum(
    random: Random, terms: list[Numbers], first_is_one: bool, offset: Offset, following: tuple[int, int]
) -> list[float]:
    """Draw the constants of a sum inside a function, from the spread of its terms: no unit of measurement matters."""
    weights = []
    for term in terms:
        weights.append((1.0 if len(terms) == 1 else random.sign() * random.between(0.2, 5)) / _spread(term)[0])
    _, low, high = _spread(np.sum([weight * term for weight, term in zip(weights, terms, strict=True)], axis=0))
    size = high - low if TINY_SPREAD < high - low < HUGE_SPREAD else 1.0
    scale, level = 1.0, 0.0
    op, power = following
    if op == Op.EXP:
        scale = random.sign() * random.between(0.1, 8)
    elif op in (Op.SIN, Op.COS):
        scale, level = random.between(1, 60) / size, random.uniform() * 6.283185307179586
    elif op == Op.OUTSIDE and random.uniform() < 0.5:  # it may be defined near zero alone, as an arc sine is
        most = max(abs(low), abs(high))
        scale = random.sign() * random.between(0.05, 1) / (most if most > TINY_SPREAD else 1)
    elif op in (Op.TANH, Op.OUTSIDE):
        scale = random.sign() * random.between(0.5, 8)
        level = -scale * (low + random.uniform() * size)
    elif offset == Offset.ONE:
        whole = op == Op.RAISE and power > 0 and power % 4 == 0
        if whole and random.uniform() < 0.6:
            zero = low + random.uniform() * size
        elif random.sign() < 0:
            zero = low - random.between(0.01, 30) * size
        else:
            zero = high + random.between(0.01, 30) * size
        scale = -1 / (zero if zero != 0 else 1e-3)
    else:
        scale = 1 / weights[0]
    drawn = [weight * scale for weight in weights[first_is_one:]]
    return [*drawn, level] if offset == Offset.FREE else drawn
