"""Which sum foretells rows best that had no part in its making: the whole selection is repeated without each fold.

Whole but for two things: of many inputs those that products are made of are chosen once, and the best of the sums is
the best by these very figures. Both flatter it a little.

A structure that was looked for on all rows is not judged by fitting its numbers again without some: it has seen them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from occamkit.builtins.proposers.ladder.settings import SETTINGS
from occamkit.builtins.proposers.ladder.terms import Places, Terms
from occamkit.builtins.proposers.ladder.weigh import Design, Weighed, lassoed, prefixes, pursued
from occamkit.kernel import Numbers

MOST_LOG = 300.0
"""The largest logarithm of a prediction."""
EACH, CHEAPER, PASSES = 100_000, 50, 4
"""What a search for sums costs besides, by how much a product of matrices is cheaper than counted numbers are, and how
often correlations are gone through."""


@dataclass(frozen=True)
class Rung:
    """Terms, and how sums of them are found. base: whether it takes part without having to be clearly better."""

    name: str
    terms: Terms
    base: bool = True
    lasso: bool = False

    def sums(self, design: Design) -> Iterator[Weighed]:
        """Yield sums of ever more terms."""
        if self.lasso:
            return lassoed(design, SETTINGS.most_terms)
        return prefixes(design, pursued(design, self.terms, SETTINGS.most_terms))


@dataclass(frozen=True)
class Contender:
    """A sum, and the squares by which it missed rows that had no part in it [n].

    of_logs: whether it is one of the target's logarithm. shrinkage: its place among the shrinkages.
    """

    rung: Rung
    of_logs: bool
    weighed: Weighed
    shrinkage: int
    words: int
    squares: Numbers


@dataclass
class Contest:
    """The contenders over all rows."""

    target: Numbers
    weights: Numbers
    seed: int
    contenders: list[Contender] = field(default_factory=list)

    def enter(self, rung: Rung, of_logs: bool) -> Iterator[int]:
        """Let the sums of a rung take part; yields what was computed, fold by fold."""
        wanted = np.log(self.target) if of_logs else self.target
        every = np.arange(len(self.target))
        whole = list(rung.sums(Design.of(rung.terms.values, wanted, self.weights)))
        terms, rows = rung.terms.values.shape
        work = EACH + terms * terms * (rows // CHEAPER + PASSES)
        yield work
        squares = np.zeros((len(whole), len(SETTINGS.shrinkages), rows))
        repeats = self._repeats()
        for parts in repeats:
            for part in range(SETTINGS.folds):
                kept, out = every[parts != part], every[parts == part]
                squares[:, :, out] += self._missed(rung, of_logs, wanted, kept, out, len(whole)) / len(repeats)
                yield work
        for weighed, missed in zip(whole, squares, strict=True):
            words = 1 + of_logs + int(rung.terms.words[weighed.places].sum())
            if len(weighed.places) and words <= SETTINGS.most_words:
                for shrinkage, one in enumerate(missed):
                    self.contenders.append(Contender(rung, of_logs, weighed, shrinkage, words, one))

    def _repeats(self) -> list[Places]:
        """Return the fold of each row, several times over where rows are few."""
        rows = len(self.target)
        times = next((times for below, times in SETTINGS.repeats if rows < below), 1)
        draw = np.random.default_rng(self.seed)
        return [draw.permutation(rows) % SETTINGS.folds for _ in range(times)]

    def _missed(self, rung: Rung, of_logs: bool, wanted: Numbers, kept: Places, out: Places, count: int) -> Numbers:
        """Return the squares by which sums that were found on some rows miss others [count, s, m]."""
        values = rung.terms.values
        design = Design.of(values[:, kept], wanted[kept], self.weights[kept])
        squares = np.full((count, len(SETTINGS.shrinkages), len(out)), np.inf)
        for place, weighed in zip(range(count), rung.sums(design), strict=False):
            told = design.predicted(weighed.places, weighed.weights, values[np.ix_(weighed.places, out)])
            if of_logs:
                seen = design.predicted(weighed.places, weighed.weights, values[np.ix_(weighed.places, kept)])
                told = np.exp(np.clip(told, -MOST_LOG, MOST_LOG)) * level_of(seen, self.target[kept])[:, None]
            squares[place] = (told - self.target[out]) ** 2
        return squares

    def mean(self) -> Numbers:
        """Return the squares by which the mean of the others misses each row [n]."""
        squares = np.zeros(len(self.target))
        repeats = self._repeats()
        for parts in repeats:
            for part in range(SETTINGS.folds):
                out = parts == part
                level = np.average(self.target[~out], weights=self.weights[~out])
                squares[out] += (self.target[out] - level) ** 2 / len(repeats)
        return squares

    def best(self) -> Contender | None:
        """Return the winner; None where nobody foretells rows better than the mean.

        The best of the base; a higher rung if it is clearly better; then the shortest that is hardly worse.
        """
        missed = np.stack([self.mean(), *(one.squares for one in self.contenders)]) * self.weights
        size = np.array([0, *(one.words for one in self.contenders)])
        base = np.array([True, *(one.rung.base for one in self.contenders)])
        means = np.where(np.isfinite(missed).all(1), missed.mean(1), np.inf)
        among = np.flatnonzero(base)
        chosen = int(among[means[among].argmin()])
        others = np.flatnonzero(~base)
        if len(others):
            rival = int(others[means[others].argmin()])
            if behind(missed[chosen], missed[rival]) > SETTINGS.gate:
                chosen, among = rival, np.arange(len(means))
        near = [one for one in among if behind(missed[one], missed[chosen]) <= SETTINGS.shorter]
        shortest = min(size[one] for one in near)
        found = min((one for one in near if size[one] == shortest), key=lambda one: means[one])
        return None if found == 0 else self.contenders[found - 1]


def level_of(logs: Numbers, target: Numbers) -> Numbers:
    """Return the factors that give predictions exp(logs) [s, n] the target's mean [s]."""
    level: Numbers = target.mean() / np.exp(np.clip(logs, -MOST_LOG, MOST_LOG)).mean(1)
    return level


def behind(worse: Numbers, better: Numbers) -> float:
    """Return by how many standard errors one misses rows by more than another does, row by row."""
    apart = worse - better
    if not np.isfinite(apart).all():
        return np.inf
    deviation = float(apart.std(ddof=1)) / len(apart) ** 0.5
    return float(apart.mean() / max(deviation, 1e-300))
