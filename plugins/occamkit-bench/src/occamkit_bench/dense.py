"""The dense oracle: OccamNet as it is written down, and the yardstick of speed.

Every argument draws an edge for every function, reached or not, and every image node is evaluated for every
function, in plain torch. Fitness, choice of the best, gradient and Adam are those of occamkit. It shares no code
with the engine's sampler, graph and evaluator, so that it also tests them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from occamkit.network import Layout, OccamNetwork, log_gradient
from occamkit.task.problem import Problem
from occamkit.train.adam import Adam
from occamkit.train.trainer import Trainer

AT_ONCE = 1 << 27
"""Bytes for the values of all nodes: more functions than fit are evaluated in parts, as 20,000 would take gigabytes.

This is a good size with `reuse`. Without it, speed depends on this number: glibc maps blocks above 32 MB afresh each
time, and just below that plain evaluation is up to twice as fast as with this size.
"""


class DenseTrainer:
    """Trains the network of a problem densely.

    reuse: whether values are written to the same memory again and again. Fresh memory for each part, which is what
    plain torch code does, costs as much as the arithmetic unless malloc is told to keep what is freed.
    """

    def __init__(self, problem: Problem, seed: int, *, reuse: bool = False, at_once: int = AT_ONCE) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        # The network is made by the real trainer, so that there is one reading of the task.
        self.network: OccamNetwork = Trainer(problem.search_problem, self.generator).network
        self.layout: Layout = self.network.layout
        self.problem = problem
        self.columns = problem.columns("train")  # [u, n]
        self.targets = problem.targets("train")  # [v, n]
        self.functions = problem.spec.trainer.functions
        self.top = min(problem.spec.trainer.top, self.functions)
        self.ceiling = problem.fitness.ceiling(self.columns.shape[1])
        self.optimizer = Adam(self.network.logits, problem.spec.trainer.learning_rate)
        size = self.layout.nodes * self.columns.shape[1] * self.columns.element_size()
        self.part = max(1, min(self.functions, at_once // size))
        # Written to once, because memory is only really there from then on.
        self._kept = self._fresh(self.part).zero_().view(-1) if reuse else None

    def _fresh(self, functions: int) -> Tensor:
        """Return memory for the values of all nodes: [S, F, n]."""
        return self.columns.new_empty(self.layout.nodes, functions, self.columns.shape[1])

    def _memory(self, functions: int) -> Tensor:
        """Return memory for the values of all nodes, fresh or kept: [S, F, n]."""
        if self._kept is None:
            return self._fresh(functions)
        shape = (self.layout.nodes, functions, self.columns.shape[1])
        return self._kept[: math.prod(shape)].view(shape)

    def step(self) -> None:
        """Draw, score and learn once."""
        edges = self.draw()
        best, chosen = self.scores(edges).topk(self.top, dim=1)  # [v, λ]
        outputs = torch.arange(len(best)).repeat_interleave(self.top)
        weights = best / (self.ceiling * torch.arange(1, self.top + 1))
        selected = edges.index_select(1, chosen.reshape(-1))
        self.optimizer.ascend(log_gradient(self.network, selected, outputs, weights.reshape(-1)))

    @torch.no_grad()
    def draw(self) -> Tensor:
        """Draw the edges of all arguments of R functions: [A, R]."""
        cumulative = self.network.probabilities().cumsum(1)  # [A, S]
        points = torch.rand(self.layout.arguments, self.functions, generator=self.generator)
        drawn = torch.searchsorted(cumulative, points * cumulative[:, -1:], right=True)
        last = self.network.mask.shape[1] - 1 - self.network.mask.flip(1).int().argmax(1)  # rounding never leaves
        return torch.minimum(drawn, last.unsqueeze(1))

    @torch.no_grad()
    def scores(self, edges: Tensor) -> Tensor:
        """Score the functions of edges [A, F] as each output: [v, F]."""
        parts = [self._part_scores(part) for part in torch.split(edges, self.part, dim=1)]
        scores = torch.cat(parts, dim=1)
        undefined = -self.problem.spec.trainer.undefined_weight * self.ceiling
        return torch.where(torch.isfinite(scores), scores, undefined)

    def _part_scores(self, edges: Tensor) -> Tensor:
        functions = edges.shape[1]
        values = self._memory(functions)  # [S, F, n]
        values[: self.layout.columns] = self.columns.unsqueeze(1)
        flat = values.view(-1, values.shape[-1])  # [S·F, n]
        places = edges * functions + torch.arange(functions)  # [A, F]
        for layer in self.layout.layers:
            argument = layer.first_argument
            for node, primitive, arity in zip(layer.nodes, layer.primitives, layer.arities, strict=True):
                given = [flat.index_select(0, place) for place in places[argument : argument + arity]]
                values[node] = self.layout.primitives[primitive].call(*given)
                argument += arity
        found = []
        for place, target in zip(places[self.layout.first_output :], self.targets, strict=True):
            predicted = flat.index_select(0, place)
            # Zero times an infinity is no number: a function that is undefined anywhere has no score.
            found.append(self.problem.fitness.score(predicted, target) + (predicted * 0).sum(1))
        return torch.stack(found)
