"""Numbers of the search for free constants that were set by hand; `bench laws` is what they were set with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How the search divides its work.

    rows: of the first and the second look. most_rows: rows beyond which a sample will do. fewest_rows: with less there is
    nothing to fit. near_zero: an input nearer to
    zero than this part of its spread has no logarithm. batch: formulas fitted at a time. kept: formulas on each level.
    passes: by how many times a formula may be worse than the worst on its level, on the rows of each look. planned: batches of the
    plan before formulas are changed. twice: how often two changes are made at once. rivals: of how many a parent is the
    shortest, or the nearest. remembered: parents whose numbers are at hand. pruned, proposed: the best formulas
    that are made simpler, and shown. exact: the part of the variance that is rounding.
    seldom: what was fitted grows by this between one time that the best are shown and the next.
    """

    rows: tuple[int, int] = (64, 200)
    most_rows: int = 2_000
    fewest_rows: int = 4
    near_zero: float = 1e-9
    batch: int = 64
    kept: int = 10
    passes: tuple[float, float, float] = (1.2, 1.05, 1.0)
    pruned: int = 12
    proposed: int = 30
    planned: int = 20
    twice: float = 0.2
    rivals: tuple[int, int] = (7, 4)
    remembered: int = 5_000
    exact: float = 1e-24
    seldom: float = 1.3


SETTINGS = Settings()
