"""Points to look at a formula on: inside the box of the data, beyond it, and along lines through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from occamkit import Expression, Output, Problem, Stage
from occamkit.errors import UserError, did_you_mean

Columns = Mapping[str, Tensor]
Measure = Callable[[Expression, Output], float]

POINTS = 200


@dataclass(frozen=True)
class Prepared:
    """A regularizer that knows its points; asks nothing of a tree whose constants have no values yet."""

    name: str
    weight: float
    measure: Measure = field(repr=False)
    stage: Stage = Stage.TREE

    def look(self, tree: Expression, output: Output) -> float:
        """Return the penalty of a candidate, from 0 to 1."""
        if len(tree.fitted) != tree.constant_count:
            return 0.0
        return self.measure(tree, output)


class Box:
    """The ranges of a problem's inputs, in base units, and points in and around them."""

    def __init__(self, problem: Problem) -> None:
        self.names = [one.name for one in problem.dataset.variables]
        self.rows = problem.dataset.part("train")[0]  # [u, n]
        self.low, self.high = self.rows.amin(1), self.rows.amax(1)
        self._problem = problem
        self._generator = torch.Generator().manual_seed(problem.seed)

    def require(self, regularizer: str, names: Sequence[str]) -> None:
        """Refuse names that are no inputs."""
        for name in names:
            if name not in self.names:
                raise UserError(f"{regularizer}: no input is called {name!r}{did_you_mean(name, self.names)}")

    def drawn(self, beyond: float = 0.0, only_outside: bool = False) -> Columns:
        """Return points in the box, widened on each side by `beyond` times its width."""
        share = torch.rand(len(self.names), POINTS, generator=self._generator, dtype=self.rows.dtype)
        share = share * (1 + 2 * beyond) - beyond
        if only_outside:  # push one input of each point out of the box
            place = torch.randint(len(self.names), (POINTS,), generator=self._generator)
            out = torch.rand(POINTS, generator=self._generator, dtype=self.rows.dtype) * beyond
            above = torch.rand(POINTS, generator=self._generator) < 0.5
            share[place, torch.arange(POINTS)] = torch.where(above, 1 + out, -out)
        columns = self.low[:, None] + share * (self.high - self.low)[:, None]
        return dict(zip(self.names, columns, strict=True))

    def line(self, name: str, steps: int = 16, lines: int = 16) -> Columns:
        """Return points along lines: one input grows from low to high, the others stay as in a row: [lines·steps]."""
        count = min(lines, self.rows.shape[1])
        chosen = torch.randperm(self.rows.shape[1], generator=self._generator)[:count]
        columns = dict(zip(self.names, self.rows[:, chosen].repeat_interleave(steps, 1), strict=True))
        place = self.names.index(name)
        grid = torch.linspace(0, 1, steps, dtype=self.rows.dtype) * (self.high[place] - self.low[place])
        columns[name] = (self.low[place] + grid).repeat(count)
        return columns

    def declared(self, values: Tensor, output: Output) -> Tensor:
        """Return values of an output in the unit that the task declares for it."""
        return self._problem.dataset.output_scale(self._place(output)).declared(values)

    def spread(self, output: Output) -> tuple[float, float]:
        """Return the middle and the half-width of an output's training values, in base units."""
        targets = self._problem.dataset.part("train")[1][self._place(output)]
        low, high = float(targets.min()), float(targets.max())
        return (low + high) / 2, max((high - low) / 2, 1e-300)

    def _place(self, output: Output) -> int:
        return [one.name for one in self._problem.outputs].index(output.name)
