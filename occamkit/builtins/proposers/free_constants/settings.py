"""Numbers of the search for free constants that were set by hand, most of them not varied since."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FreeConstantsSettings:
    """How the search divides its work.

    Rows: of the first and the second look (rows), beyond which a sample will do (most_rows), with fewer of which there
    is nothing to fit (fewest_rows). near_zero: an input nearer to zero than this part of its spread has no logarithm.

    Formulas: fitted at a time (batch), kept on each level (kept), made simpler (pruned), shown (proposed). passes:
    by how many times a formula may be worse than the worst on its level, on the rows of each look. planned, alone:
    batches of the plan before formulas are changed, and before something is added to the best. added, repeated: of
    how many batches of the plan one is followed by additions, and by small formulas from other starts. ahead:
    batches of the first view before others begin. behind: another view takes one batch in so many unless its best
    formula has the shortest description. tries: of changes, for each formula of a batch. twice: how often two
    changes are made at once. rivals: of how many a parent is the shortest, or the nearest. remembered: parents
    whose numbers are at hand. seldom: what was fitted grows by this between one time that the best are shown and
    the next. waits: what is fitted at most before a description that is shorter by `clearly` is shown.
    milestones: what was fitted before the first place from which the search can be taken up again, and the growth
    until the next. exact: the part of the variance that is rounding. most_waves: frequencies that are looked for
    along each input; waves_apart: how many are tried between those of k and of k + 1 waves on the rows.
    patience, stale: fits, at least and for each until the last gain, before the end.
    """

    rows: tuple[int, int] = (64, 200)
    most_rows: int = 2_000
    fewest_rows: int = 4
    near_zero: float = 1e-9
    batch: int = 64
    kept: int = 10
    passes: tuple[float, float, float] = (1.2, 1.05, 1.0)
    pruned: int = 6
    proposed: int = 8
    planned: int = 20
    ahead: int = 40
    behind: int = 6
    alone: int = 60
    added: int = 2
    repeated: int = 4
    tries: int = 8
    twice: float = 0.2
    rivals: tuple[int, int] = (7, 4)
    remembered: int = 5_000
    patience: int = 20_000
    stale: float = 4.0
    exact: float = 1e-24
    most_waves: int = 3
    waves_apart: int = 4
    seldom: float = 2.0
    waits: int = 6_000
    clearly: float = 2.0
    milestones: tuple[int, float] = (10_000, 1.25)


SETTINGS = FreeConstantsSettings()
