"""Sums of terms, one after the other: pursuit, shrinkage and lasso, all on what terms have in common with each other.

A row of a design is a term about its mean, of unit length; so the design times itself holds correlations, and a sum of
any of the terms is fitted without looking at rows again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from occamkit.builtins.proposers.ladder.settings import SETTINGS
from occamkit.builtins.proposers.ladder.terms import Places, Terms
from occamkit.kernel import Numbers

FLAT = 1e-9
"""A term whose spread is below this part of its size is a constant, but for rounding."""
RIDGE = 1e-9
"""What is added to a correlation of one, so that terms that say the same are no fault."""


@dataclass(frozen=True)
class Design:
    """Terms on some rows.

    means, lengths: of each term [t]; a length is infinite where a term is constant. common: correlations [t, t]. along:
    what each term has in common with the target [t]. level: the target's mean. size: its squares about it.
    """

    means: Numbers
    lengths: Numbers
    common: Numbers
    along: Numbers
    level: float
    size: float

    @classmethod
    def of(cls, values: Numbers, target: Numbers, weights: Numbers) -> Design:
        """Make the design of terms [t, n] and a target [n], rows weighted [n]."""
        share = weights / weights.sum()
        means, level = values @ share, float(target @ share)
        root = np.sqrt(weights)
        about = (values - means[:, None]) * root
        lengths = np.sqrt((about**2).sum(1))
        lengths[lengths <= FLAT * np.sqrt(((values * root) ** 2).sum(1))] = np.inf
        about /= lengths[:, None]
        wanted = (target - level) * root
        return cls(means, lengths, about @ about.T, about @ wanted, level, float(wanted @ wanted))

    def predicted(self, places: Places, weights: Numbers, values: Numbers) -> Numbers:
        """Return what weights [s, k] of some terms make of their values on other rows [k, m]: [s, m]."""
        about = (values - self.means[places, None]) / self.lengths[places, None]
        return weights @ about + self.level


@dataclass(frozen=True)
class Weighed:
    """Sums of the same terms, one for every shrinkage: places [k], weights [s, k] of terms of unit length."""

    places: Places
    weights: Numbers


def pursued(design: Design, terms: Terms, most: int) -> list[int]:
    """Return the places of terms in the order in which they explain most of what those before leave."""
    common, along = design.common.copy(), design.along.copy()
    allowed, chosen = terms.lone, list[int]()
    for _ in range(most):
        left = common.diagonal()
        able = allowed & (left > SETTINGS.new)
        gains = np.where(able, along**2 / np.where(able, left, 1.0), 0.0)
        place = int(gains.argmax())
        if gains[place] <= RIDGE * design.size:
            break
        chosen.append(place)
        column = common[place] / np.sqrt(left[place])
        along -= column * (along[place] / np.sqrt(left[place]))
        common -= np.outer(column, column)
        allowed = allowed | terms.unlocked(place)
        allowed[chosen] = False
    return chosen


def prefixes(design: Design, order: list[int]) -> Iterator[Weighed]:
    """Yield the sums of the first terms of an order, at every shrinkage."""
    for count in range(1, len(order) + 1):
        places = np.array(order[:count])
        yield Weighed(places, shrunk(design, places, SETTINGS.shrinkages))


def shrunk(design: Design, places: Places, shrinkages: tuple[float, ...]) -> Numbers:
    """Return the weights of some terms at every shrinkage: [s, k]."""
    common = design.common[np.ix_(places, places)]
    pulled = common[None] + (np.array(shrinkages) + RIDGE)[:, None, None] * np.eye(len(places))
    along = np.broadcast_to(design.along[places][None, :, None], (len(shrinkages), len(places), 1))
    return np.asarray(np.linalg.solve(pulled, along)[:, :, 0], dtype=float)


def lassoed(design: Design, most: int) -> Iterator[Weighed]:
    """Yield the sums of the terms that the lasso keeps, at falling strengths, with its weights (FISTA).

    The largest of them are kept where there are too many; then their weights are solved for, at every shrinkage.
    """
    strengths = np.logspace(0, -SETTINGS.powers_of_ten, SETTINGS.strengths + 1)[1:]
    limit = strengths[:, None] * np.abs(design.along).max()
    step = 1 / max(float(np.linalg.eigvalsh(design.common)[-1]), RIDGE)
    weights: Numbers = np.zeros((len(strengths), len(design.along)))
    ahead, pace = weights, 1.0
    for _ in range(SETTINGS.lasso_steps):
        moved = ahead + step * (design.along - ahead @ design.common)
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * limit, 0)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, weights, pace = new + (pace - 1) / faster * (new - weights), new, faster
    for row in weights:
        kept = np.flatnonzero(row)
        places = kept[np.argsort(-np.abs(row[kept]), kind="stable")][:most]
        solved = shrunk(design, places, SETTINGS.shrinkages)
        if len(places) == len(kept):
            solved[0] = row[places]
        yield Weighed(places, solved)
