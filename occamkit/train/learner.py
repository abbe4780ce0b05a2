"""The network's search as a whole: steps and fresh starts, what each step found, and a state to go on from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from occamkit.archive import Candidate
from occamkit.archive.archive import MOST_COMPLEX
from occamkit.graph import Expression, Graph
from occamkit.graph.spelling import Speller
from occamkit.network.reach import sample_of_edges
from occamkit.protocols import Kind
from occamkit.score import GraphJudge, NodeScores
from occamkit.task.growth import starts_in_turn
from occamkit.task.search_problem import SearchProblem
from occamkit.train.shallower import Shallower
from occamkit.train.stop import Convergence, Restarts
from occamkit.train.teach import lean_towards, teach
from occamkit.train.trainer import Step, Trainer

Best = Sequence[Candidate | None]

DRAWING, EVALUATING = 250, 6
"""Numbers computed for each function that is drawn, and for each row of one that is new: measured in CPU seconds beside
those of libraries."""


@dataclass(frozen=True)
class Drawn:
    """A function that was drawn and improves on all of its complexity that were drawn before.

    program: the functions of all outputs, applied so often, for a task with a wrapper; then output is any.
    """

    tree: Expression
    output: int
    log_q: float
    program: tuple[Expression, ...] = ()
    depth: int = 0


@dataclass(frozen=True)
class StepRecord:
    """One step: for each output the best function drawn and the likeliest one, with their scores.

    start: which fresh start the step belongs to, from 1. entropy: the mean over the network's choices, in nats.
    unique: the share of different functions among those drawn. vetoed: the share that was refused unevaluated.
    """

    step: int
    start: int
    best: tuple[str, ...]
    best_score: tuple[float, ...]
    likeliest: tuple[str, ...]
    likeliest_score: tuple[float, ...]
    entropy: float
    unique: float
    vetoed: float


class Learner:
    """Trains a network step by step, and says what it finds; whoever drives it tells what others have found."""

    def __init__(self, problem: SearchProblem, name: str) -> None:
        self.problem, self.name = problem, name
        self.generator = torch.Generator(device=problem.device).manual_seed(problem.seed)
        self.trainer = Trainer(problem, self.generator)
        self.convergence = Convergence(problem.settings.stop.same_fitness_steps)
        self.restarts = Restarts(problem.settings.stop.same_best_restarts)
        self.shallower = Shallower(self.trainer)
        self._settled = False
        self._heard = [""] * len(problem.outputs)
        many = 1 if problem.kind is Kind.PROGRAM else len(problem.outputs)
        self._bars = torch.full((many, MOST_COMPLEX + 1), -torch.inf, device=problem.device, dtype=problem.dtype)
        speller = Speller(problem.distinct_primitives, self.trainer.judge.judge.variables)
        for trees in problem.start:
            for output, tree in enumerate(trees):
                lean_towards(self.trainer, speller.spelt(tree), output)

    def step(self) -> Step:
        """Draw, score and learn once."""
        step = self.trainer.step()
        self._settled = self.convergence.settled(step.top.score)
        return step

    def listen(self, best: Best) -> None:
        """Learn from what others have found since."""
        for output, found in enumerate(best):
            if found is not None and found.tree.written() != self._heard[output]:
                self._heard[output] = found.tree.written()
                if found.proposer != self.name and self.trainer.steps:
                    teach(self.trainer, found.tree, output)

    def over(self, best: Best, good: bool) -> bool:
        """Whether nothing more is to be gained; begins afresh where that may help.

        good: whether every output has a function that is good enough.
        """
        if good and self.problem.kind is Kind.PROGRAM and best[0] is not None:
            if self.shallower.begins(best[0]):
                self._bars.fill_(-torch.inf)
            return self.shallower.over
        if not self._settled:
            return False
        # A relation that holds may be the square of a simpler one, so it is looked for until nothing changes.
        in_turn = starts_in_turn(self.problem.settings.search)
        if good or (self.restarts.fruitless(best) and self.trainer.starts >= in_turn):
            return True
        self.trainer.restart()
        self.convergence = Convergence(self.problem.settings.stop.same_fitness_steps)
        self._settled = False
        return False

    def found(self, step: Step) -> Iterator[Drawn]:
        """Yield the functions of a step that improve; reads back one number per complexity, and what improves.

        Scores on different rows cannot be compared, so of a mini-batch only the leaders are looked at, on all rows;
        and likewise when only theirs are final.
        """
        if step.scores.programs is not None:
            yield from self._programs(step)
            return
        leaders = step.batched or self.trainer.judge.ranks_the_top_alone
        for output in range(len(step.roots)):
            functions = step.leaders[output] if leaders else None
            roots, scores = step.roots[output], step.top if leaders else step.scores
            if functions is not None:
                roots = roots.index_select(0, functions)
            score = scores.score[output].masked_fill(~torch.isfinite(scores.fitness[output]), -torch.inf)
            costs = self.trainer.graph.complexities.index_select(0, roots)
            for at in self._improving(output, score, costs):
                drawn = roots.new_tensor([at]) if functions is None else functions[at : at + 1]
                log_q = self.trainer.log_q(step.sample.edges(drawn), output)
                yield Drawn(self.trainer.judge.expression(int(roots[at]), output), output, log_q)

    def _programs(self, step: Step) -> Iterator[Drawn]:
        worth = step.scores.programs
        assert worth is not None
        score = worth.score.masked_fill(worth.depth == 0, -torch.inf)
        costs = self.trainer.graph.complexities.index_select(0, step.roots.reshape(-1)).view_as(step.roots).sum(0)
        for at in self._improving(0, score, costs):
            edges = step.sample.edges(step.roots.new_tensor([at]))
            for output in range(len(step.roots)):
                yield self._program(step.roots[:, at], output, int(worth.depth[at]), self.trainer.log_q(edges, output))

    def _program(self, roots: Tensor, output: int, depth: int, log_q: float) -> Drawn:
        trees = tuple(self.trainer.judge.read(root) for root in roots.tolist())
        return Drawn(trees[output], output, log_q, trees, max(depth, 1))

    def _improving(self, place: int, score: Tensor, costs: Tensor) -> list[int]:
        """Return where scores [F] improve on the best of their complexity so far; raise the bars."""
        level, bars = costs.ceil().long().clamp_(max=MOST_COMPLEX), self._bars[place]
        best = torch.full_like(bars, -torch.inf).scatter_reduce_(0, level, score, "amax")
        better = best > bars
        if not bool(better.any()):
            return []
        leads = torch.nonzero((score == best.index_select(0, level)) & better.index_select(0, level)).squeeze(1)
        where = torch.full_like(bars, -1, dtype=torch.int64)
        where.scatter_(0, level.index_select(0, leads), leads)
        self._bars[place] = torch.maximum(bars, best)
        return [at for at in where.tolist() if at >= 0]

    def likeliest(self) -> list[Drawn]:
        """Return the function of each output that the network holds likeliest now."""
        judge, roots, scores, edges = self._likeliest()
        log_q = [self.trainer.log_q(edges, output) for output in range(len(roots))]
        if scores.programs is not None:
            trees = tuple(judge.read(root) for root in roots[:, 0].tolist())
            depth = max(int(scores.programs.depth[0]), 1)
            return [Drawn(trees[output], output, one, trees, depth) for output, one in enumerate(log_q)]
        return [Drawn(judge.expression(int(root), output), output, log_q[output])
                for output, root in enumerate(roots[:, 0])]  # fmt: skip

    def _likeliest(self) -> tuple[GraphJudge, Tensor, NodeScores, Tensor]:
        """Return a judge, the likeliest functions in its graph [v, 1], their scores and edges.

        The graph is one of its own: whoever looks on must not change in what order functions come to be known.
        """
        trainer = self.trainer
        edges = trainer.likeliest_edges()
        costs = [leaf.complexity for leaf in trainer.judge.leaves]
        graph = Graph(len(costs), trainer.layout.primitives, device=self.problem.device, costs=costs)
        judge = trainer.judge.judge.on(graph)
        roots = graph.intern(sample_of_edges(trainer.layout, edges))
        return judge, roots, judge.score(roots, top=1), edges

    @property
    def computed(self) -> int:
        """Numbers that were computed so far, roughly: for functions drawn, for those that were new, for constants."""
        trainer, judge = self.trainer, self.trainer.judge
        drawn = DRAWING * trainer.functions * trainer.steps
        return drawn + EVALUATING * trainer.rows * judge.evaluator.evaluated + judge.fitting

    def record(self, step: Step) -> StepRecord:
        """Describe a step; reads back a few numbers and two trees for each output."""
        trainer = self.trainer
        roots = step.roots.gather(1, step.leaders[:, :1]).squeeze(1).tolist()
        best = tuple(trainer.judge.read(root).written() for root in roots)
        judge, likeliest, scores, _ = self._likeliest()
        return StepRecord(
            step=step.number,
            start=trainer.starts,
            best=best,
            best_score=tuple(step.top.score[:, 0].tolist()),
            likeliest=tuple(judge.read(root).written() for root in likeliest.squeeze(1).tolist()),
            likeliest_score=tuple(scores.score.squeeze(1).tolist()),
            entropy=float(trainer.network.entropy().detach().mean()),
            unique=len(set(step.roots[0].tolist())) / step.roots.shape[1],
            vetoed=float(step.scores.vetoed.double().mean()),
        )

    def state(self) -> dict[str, Any]:
        """Return all that changes, as plain values on the host.

        The graph is among it: the order in which functions first came decides how they are written.
        """
        trainer = self.trainer
        return {
            "steps": trainer.steps,
            "starts": trainer.starts,
            "generator": self.generator.get_state(),
            "network": trainer.network.logits.detach().cpu().clone(),
            "optimizer": trainer.optimizer.state(),
            "graph": trainer.graph.stored(),
            "scores": trainer.judge.stored(),
            "bars": self._bars.cpu().clone(),
            "heard": list(self._heard),
            "shallower": self.shallower.stored(),
            "convergence": dataclasses.asdict(self.convergence),
            "restarts": dataclasses.asdict(self.restarts),
            "settled": self._settled,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state."""
        trainer = self.trainer
        trainer.go_to_start(state["starts"])
        self.generator.set_state(state["generator"])
        trainer.steps = state["steps"]
        with torch.no_grad():
            trainer.network.logits.copy_(state["network"])
        trainer.optimizer.restore(state["optimizer"])
        trainer.graph.restore(state["graph"])
        trainer.judge.restore(state["scores"])
        self._bars.copy_(state["bars"])
        self._heard = list(state["heard"])
        self.shallower.restore(state["shallower"])
        self.convergence = Convergence(**state["convergence"])
        self.restarts = Restarts(**state["restarts"])
        self._settled = state["settled"]
