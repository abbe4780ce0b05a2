"""One training step: draw functions, score them, make the best of each output likelier."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.graph import Graph
from occamkit.network import (
    Layout,
    OccamNetwork,
    Sample,
    Sampler,
    argmax_edges,
    likeliest_edges,
    log_gradient,
    log_probability,
)
from occamkit.network.reach import sample_of_edges
from occamkit.score import Judge, NodeScores
from occamkit.task.growth import start_of
from occamkit.task.search_problem import SearchProblem
from occamkit.train.adam import Adam
from occamkit.train.steer import steer


@dataclass(frozen=True)
class Step:
    """What one step drew and learnt; tensors stay on the device until somebody asks.

    roots: the functions as node numbers. leaders: those that the step learnt from, best first. top: their scores on
    all training rows, whatever rows the step drew.
    """

    number: int
    sample: Sample
    roots: Tensor  # [v, R]
    scores: NodeScores  # [v, R] each
    leaders: Tensor  # [v, λ], positions among the functions
    top: NodeScores  # [v, λ] each
    batched: bool


class Trainer:
    """The network and all that changes with it."""

    def __init__(self, problem: SearchProblem, generator: torch.Generator) -> None:
        settings, judge = problem.settings.trainer, Judge.of(problem)
        self.problem = problem
        self.generator = generator
        self._lay_out(start_of(problem.settings.search, 0)[0])
        costs = [leaf.complexity for leaf in judge.leaves]
        self.graph = Graph(len(costs), self.layout.primitives, device=problem.device, costs=costs)
        self.rows = problem.columns.shape[1]
        self.judge = judge.on(self.graph)
        self.functions = settings.functions
        self.top = min(settings.top, settings.functions)
        self.steps = 0
        self.starts = 0
        self.restart()

    def _lay_out(self, repeats: tuple[int, ...]) -> None:
        """Make a network with the primitives standing so often in each layer; all sizes have the same primitives."""
        self._size = repeats
        search = self.problem.settings.search
        columns, outputs = len(self.problem.network_inputs), len(self.problem.outputs)
        self.layout = Layout.repeated(columns, self.problem.primitives, repeats, outputs, search.skip_connections)
        self.network = OccamNetwork(
            self.layout,
            temperature=search.temperature,
            last_temperature=search.last_temperature,
            device=self.problem.device,
            dtype=self.problem.dtype,
        )
        self._sampler = Sampler(self.network)

    def restart(self, *, again: bool = False) -> None:
        """Forget what the network has learnt, and take the next size; functions already scored stay known.

        again: start just as the last time.
        """
        self.starts -= again
        size, equalise = start_of(self.problem.settings.search, self.starts)
        if size != self._size:
            self._lay_out(size)
        self.network.start(equalise)
        if self.problem.settings.search.steer and self.judge.can_veto:
            steer(self.network, self._sampler, self.graph, self.judge, self.generator)
        self.optimizer = Adam(self.network.logits, self.problem.settings.trainer.learning_rate)
        self.starts += 1

    def go_to_start(self, starts: int) -> None:
        """Have the network of the given fresh start, counted from 1; its weights are to be set by the caller."""
        size, _ = start_of(self.problem.settings.search, starts - 1)
        if size != self._size:
            self._lay_out(size)
            self.optimizer = Adam(self.network.logits, self.problem.settings.trainer.learning_rate)
        self.starts = starts

    def step(self) -> Step:
        """Draw, score and learn once."""
        sample = self._sampler.draw(self.functions, self.generator)
        roots = self.graph.intern(sample)  # [v, R]
        rows = self._batch()
        scores = self.judge.score(roots, self.top, rows)
        best, chosen = scores.score.topk(self.top, dim=1)  # [v, λ]
        outputs = torch.arange(len(roots), device=roots.device).repeat_interleave(self.top)
        edges = sample.edges(chosen.reshape(-1))  # [A, v·λ]
        self.optimizer.ascend(log_gradient(self.network, edges, outputs, self._weights(best)))
        self.steps += 1
        if rows is None:
            top = NodeScores(best, scores.fitness.gather(1, chosen), scores.vetoed.gather(1, chosen))
        else:
            top = self.judge.score(roots.gather(1, chosen), self.top)
        return Step(self.steps, sample, roots, scores, chosen, top, rows is not None)

    def _weights(self, best: Tensor) -> Tensor:
        """Weigh the i-th best of each output by score / i: [v·λ]. Adam does not mind in what unit."""
        ranks = torch.arange(1, self.top + 1, device=best.device)
        return (best / (self.judge.ceiling * ranks)).reshape(-1)

    def _batch(self) -> Tensor | None:
        """Draw the rows of a mini-batch, or None for all rows."""
        size = self.problem.settings.trainer.batch
        if size is None or size >= self.rows:
            return None
        order = torch.randperm(self.rows, generator=self.generator, device=self.generator.device)
        return order[:size]

    def likeliest_edges(self) -> Tensor:
        """Return the edges [A, 1] of the function of each output that the network now holds likeliest.

        For a task that sets E = 0 this is the largest weight of each argument, as in the paper, else the dynamic
        programme.
        """
        choose = argmax_edges if self.problem.settings.search.equalise == 0 else likeliest_edges
        return choose(self.network)

    def nodes_of(self, edges: Tensor) -> Tensor:
        """Return the functions that edges [A, F] spell, as nodes: [v, F]."""
        return self.graph.intern(sample_of_edges(self.layout, edges))

    def log_q(self, edges: Tensor, output: int) -> float:
        """Return how likely the function of these edges [A, 1] is as an output, as a logarithm."""
        return float(log_probability(self.network, edges, edges.new_tensor([output])))
