"""Programs that a wrapper repeats: a function for every output, and every state that the wrapper yields a candidate.

After its first step a program reads what it has made itself, so no two programs share values any more. Each gets its
own rows, all of them are still evaluated at once, and the rows are laid out once for all steps: cost grows linearly
with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import torch
from torch import Tensor

from occamkit.evaluate.blocks import ALIGNMENT, Hook
from occamkit.evaluate.evaluator import Evaluator
from occamkit.evaluate.own_rows import OwnRows
from occamkit.graph import Expression, Graph
from occamkit.protocols import Fitness, Wrapper
from occamkit.task.feedback import Feedback

FEWEST_ALIVE = 0.75
"""With fewer programs alive than this part, the others are left out of the next steps."""


@dataclass(frozen=True)
class ProgramScores:
    """What each sampled program is worth.

    fitness: of each output at the depth that suits it best, NaN where none is defined; what the network learns from.
    together: of each output at the one depth that suits all of them best. depth: that depth, 0 where none is defined.
    """

    fitness: Tensor  # [v, F]
    together: Tensor  # [v, F]
    depth: Tensor  # [F]
    penalty: Tensor  # [v, F]


class ProgramEvaluator:
    """Evaluates programs of a graph on columns [u, n] under a wrapper, and remembers their scores.

    block: how many values are held at once.
    """

    def __init__(
        self,
        graph: Graph,
        columns: Tensor,
        wrapper: Wrapper,
        feedback: Feedback,
        *,
        hooks: Sequence[Hook] = (),
        block: int = 1 << 20,
    ) -> None:
        self.graph = graph
        self.wrapper = wrapper
        self.feedback = feedback
        self.points = columns.shape[1]
        # Kernels may round otherwise at a ragged end, so rows are filled up: values never depend on the company.
        filling = columns[:, -1:].expand(-1, -self.points % ALIGNMENT)
        self.columns = torch.cat([columns, filling], 1)
        self._start = feedback.start(self.columns[: len(feedback.rows)])  # [s, n]
        self._plain = Evaluator(graph, columns, outputs=feedback.outputs, hooks=hooks) if hooks else None
        self._own = OwnRows(graph, feedback)
        self._known = _Known(graph, feedback.outputs, columns)
        self._size = max(8, block // (self.columns.shape[1] * 16))
        self._deepest: int | None = None
        self.evaluated = 0

    def limit_depth(self, depth: int) -> None:
        """Look no deeper than this from now on; what was known of deeper programs is forgotten."""
        self._deepest = depth
        self._known.forget()

    @torch.no_grad()
    def score(self, roots: Tensor, targets: Tensor, fitness: Fitness) -> ProgramScores:
        """Return the scores of programs [v, F]; a program with a root of 0 is not evaluated."""
        programs = self.graph.programs(roots)
        self._known.refresh()
        missing = torch.nonzero(~self._known.known.index_select(0, programs)).squeeze(1)
        numbers, which = torch.unique(programs.index_select(0, missing), return_inverse=True)
        first = missing.new_empty(numbers.numel()).scatter_(0, which, missing)
        self.evaluated += numbers.numel()
        for chosen in torch.split(first, self._size) if first.numel() else ():
            found = self._score_part(roots.index_select(1, chosen), targets, fitness)
            self._known.put(programs.index_select(0, chosen), found)
        outputs = len(roots)
        found = self._known.get(programs)
        penalty = self._penalties(roots)
        return ProgramScores(found[:outputs], found[outputs:-1], found[-1].to(torch.int64), penalty)

    def _penalties(self, roots: Tensor) -> Tensor:
        """Return what the nodes of each function pay, once, on the data themselves: [v, F]."""
        paid = torch.zeros_like(roots, dtype=self.columns.dtype)
        if self._plain is not None:
            distinct, place = torch.unique(roots, return_inverse=True)
            there = int(distinct[0] == 0)
            found = self._plain.visit(distinct[there:], lambda rows, at: None)
            if found is not None:
                paid = torch.cat([found.new_zeros(there), found]).index_select(0, place.reshape(-1)).view_as(roots)
        return paid

    def _score_part(self, roots: Tensor, targets: Tensor, fitness: Fitness) -> Tensor:
        """Return best fitness [v], fitness together [v] and depth of distinct programs [v, P]: [2v + 1, P]."""
        outputs, count = roots.shape
        best = self.columns.new_full((2 * outputs + 1, count), torch.nan)
        best[-1] = 0
        for depth, predicted in enumerate(self._unroll(roots), start=1):
            worth = torch.stack([_aligned(fitness, *pair) for pair in zip(predicted, targets, strict=True)])
            worth.masked_fill_(~torch.isfinite(predicted).all(2).all(0), torch.nan)
            own = best[:outputs]
            best[:outputs] = torch.where(torch.isnan(own) | (worth > own), worth, own)
            total, before = worth.sum(0), best[outputs:-1].sum(0)
            better = ~torch.isnan(total) & (torch.isnan(before) | (total > before))
            best[outputs:-1] = torch.where(better, worth, best[outputs:-1])
            best[-1].masked_fill_(better, depth)
        return best

    def _unroll(self, roots: Tensor) -> Iterator[Tensor]:
        """Yield what programs [v, P] predict at each depth: [v, P, n]."""
        outputs, count = roots.shape
        alive, rows = torch.arange(count, device=roots.device), self._own.lay_out(roots, self.columns)
        start = self._start.unsqueeze(1).expand(-1, count, -1)
        dead = False

        def step(state: Tensor) -> Tensor:
            nonlocal alive, rows, dead
            fine = torch.isfinite(state).all(2).all(0).index_select(0, alive)
            left = int(fine.sum())  # host read: how many programs have not diverged
            dead = left == 0
            if left < FEWEST_ALIVE * alive.numel():
                alive = alive.index_select(0, torch.nonzero(fine).squeeze(1))
                rows = self._own.lay_out(roots.index_select(1, alive), self.columns)
            if alive.numel() == count:
                return rows.step(state)
            whole = torch.full_like(state, torch.nan)
            return whole.index_copy_(1, alive, rows.step(state.index_select(1, alive))) if left else whole

        for state in islice(self.wrapper.unroll(step, start), self._deepest):
            yield state[:outputs, :, : self.points]
            if dead:
                return


class _Known:
    """Scores of programs by their number; follows the graph."""

    def __init__(self, graph: Graph, outputs: int, like: Tensor) -> None:
        self.graph = graph
        self.generation = graph.generation
        self.known = torch.empty(0, dtype=torch.bool, device=like.device)
        self.values = like.new_empty(2 * outputs + 1, 0)

    def forget(self) -> None:
        self.generation = self.graph.generation
        self.known.zero_()

    def refresh(self) -> None:
        """Grow with the graph, forget with it; number 0, no program, is known to be undefined."""
        if self.generation != self.graph.generation:
            self.forget()
        more = self.graph.capacity - self.known.numel()
        if more > 0:
            self.known = torch.cat([self.known, self.known.new_zeros(more)])
            self.values = torch.cat([self.values, self.values.new_empty(len(self.values), more)], 1)
        self.known[0] = True
        self.values[:, 0] = torch.nan
        self.values[-1, 0] = 0

    def put(self, programs: Tensor, found: Tensor) -> None:
        self.known.index_fill_(0, programs, True)
        self.values.index_copy_(1, programs, found)

    def get(self, programs: Tensor) -> Tensor:
        return self.values.index_select(1, programs)


def _aligned(fitness: Fitness, predicted: Tensor, target: Tensor) -> Tensor:
    """Score [P, n] against [n] in whole vectors: [P]."""
    count = predicted.shape[0]
    padding = predicted[-1:].expand(-count % ALIGNMENT, -1)
    return fitness.score(torch.cat([predicted, padding]), target)[:count]


def iterates(
    wrapper: Wrapper, feedback: Feedback, trees: Sequence[Expression], names: Sequence[str], inputs: Tensor
) -> Iterator[Tensor]:
    """Yield what one program predicts at each depth, [v, n], on inputs [u, n]: the plain way, for exact figures."""

    def step(state: Tensor) -> Tensor:
        columns = feedback.columns(inputs, state[:, 0])
        named = dict(zip(names, columns, strict=True))
        outputs = torch.stack([tree.evaluate(named).expand_as(columns[0]) for tree in trees])
        return feedback.next(columns, outputs).unsqueeze(1)

    for state in wrapper.unroll(step, feedback.start(inputs).unsqueeze(1)):
        yield state[: len(trees), 0]


class Repeating(Protocol):
    """Whatever has a wrapper, such as a problem."""

    @property
    def wrapper(self) -> Wrapper | None: ...
    @property
    def feedback(self) -> Feedback | None: ...


def predictions(
    problem: Repeating, trees: Sequence[Expression], depth: int, names: Sequence[str], inputs: Tensor
) -> Tensor:
    """Return what a program predicts at one depth, [v, n], on inputs [u, n] in base units; NaN if it ends before."""
    if problem.wrapper is None or problem.feedback is None:
        raise ValueError("only a task with a wrapper repeats its functions")
    states = iterates(problem.wrapper, problem.feedback, trees, names, inputs)
    undefined = inputs.new_full((len(trees), inputs.shape[1]), torch.nan)
    return next(islice(states, depth - 1, None), undefined)
