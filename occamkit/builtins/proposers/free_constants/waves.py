"""Where the fit of a sine begins: at frequencies that the rows show, since no step leads from one wave to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from occamkit.builtins.proposers.free_constants.race import Starting
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import (
    CENTRED,
    FUNCTION,
    WIDTH,
    Factor,
    Grammar,
    Sum,
    variable,
)
from occamkit.kernel import Numbers, Offset, Op, RowTable


class Waves:
    """Knows the frequencies of an output along each input, and starts formulas with sines of one input there."""

    def __init__(self, grammar: Grammar, table: RowTable) -> None:
        self._grammar, self._table = grammar, table
        sines = [which for which, one in enumerate(grammar.functions) if one.op is Op.SIN]
        self._waves: dict[Factor, int] = {
            (FUNCTION, which, 4, (Offset.FREE, ((variable(i),),))): i for which in sines for i in grammar.inputs
        }

    @cached_property
    def _frequencies(self) -> list[list[float]]:
        columns = (self._table.columns[i * WIDTH + CENTRED] for i in self._grammar.inputs)
        return [list(frequencies(self._table, column)) for column in columns]

    def tuned(self, batch: Sequence[Starting]) -> list[Starting]:
        """Return the formulas of a batch that have such sines, each with its frequencies; all else is to be drawn."""
        with_waves = (one for one, _ in batch if any(factor in self._waves for term in one[1] for factor in term))
        return [(one, self._start(one)) for one in with_waves]

    def _start(self, formula: Sum) -> Numbers:
        shown = [iter(some) for some in self._frequencies]
        found: list[float] = []
        for factor in (factor for term in formula[1] for factor in term):
            if factor in self._waves:
                found += [next(shown[self._waves[factor]], np.nan), np.nan]
            else:
                found += [np.nan] * self._grammar.part(factor, False).constants
        return np.array(found)


def frequencies(table: RowTable, column: Numbers) -> Iterator[float]:
    """Yield frequencies along a column [n]: each of the sine that takes most of what those before it leave.

    That is a periodogram with a floating mean. Frequencies [f] go up to one wave in four rows.
    """
    rows = slice(0, table.rows)
    at, weights, left = column[rows], table.weights[rows], table.target[rows]
    if not np.ptp(at) > 0:
        return
    turn = 2 * np.pi / np.ptp(at)
    tried = turn * np.arange(1, max(2, table.rows // 4), 1 / SETTINGS.waves_apart)
    waves = np.exp(1j * tried[:, None] * at) * weights  # [f, n]
    basis = weights[None] / np.linalg.norm(weights)
    for _ in range(SETTINGS.most_waves):
        left = left - left @ basis.T @ basis
        waves = waves - waves @ basis.T @ basis
        cosines, sines = waves.real, waves.imag
        own, others, both = (cosines**2).sum(1), (sines**2).sum(1), (cosines * sines).sum(1)
        along, across = cosines @ left, sines @ left
        with np.errstate(all="ignore"):
            taken = (along**2 * others - 2 * along * across * both + across**2 * own) / (own * others - both**2)
        best = int(np.nan_to_num(taken, posinf=0.0).argmax())
        yield float(tried[best])
        basis = np.linalg.qr(np.stack([cosines[best], sines[best]]).T)[0].T
