"""`occamkit.run`: a task in, a result out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from occamkit._version import __version__
from occamkit.disagreements import disagreements
from occamkit.formulas import MOST_OPERATIONS, form_of, formula_of
from occamkit.graph import Expression
from occamkit.logic import logic_of, show_logic
from occamkit.program import Part, is_program, program_text
from occamkit.protocols import Task
from occamkit.registry import Registry
from occamkit.relations import relation_of
from occamkit.result import Doubt, Found, OutputResult, Result
from occamkit.search.portfolio import search
from occamkit.task.load import load_task, with_overrides
from occamkit.task.problem import Problem, make_problem
from occamkit.task.spec import FormulaData
from occamkit.train.exceptions import Exceptions
from occamkit.train.front import Candidate
from occamkit.train.run import Observer, Outcome

MOST_OPERATIONS_OF_FRONT = 12
"""Up to how many operations formulas of a front are simplified: twenty long ones would take longer than a search."""


def run(
    task: str | Path | Task,
    seed: int = 0,
    device: str = "auto",
    *,
    registry: Registry | None = None,
    observe: Observer | None = None,
    **overrides: Any,
) -> Result:
    """Search for the formulas of a task.

    task: a file, the name of a registered task, or a task.
    overrides: values in place of the file's, by dotted key with two underscores for the dot: trainer__functions=500.
    observe: called after each step with what the run has come to.
    """
    registry = registry or Registry.load()
    changed = {key.replace("__", "."): value for key, value in overrides.items()}
    if isinstance(task, str | Path):
        loaded = load_task(task, registry, changed)
    else:
        loaded = with_overrides(task, registry, changed)
    problem = make_problem(loaded, registry, seed, device)
    return make_result(problem, search(problem, observe))


def make_result(problem: Problem, outcome: Outcome) -> Result:
    """Write out what a run found."""
    outputs = []
    for place, output in enumerate(problem.outputs):
        shown: dict[Key, Found] = {}
        front = outcome.fronts[place]
        best, likeliest = outcome.best[place], outcome.likeliest[place]
        outputs.append(
            OutputResult(
                name=output.name,
                best=_found(problem, best, place, shown) if best is not None else None,
                likeliest=_found(problem, likeliest, place, shown) if likeliest is not None else None,
                front=tuple(_found(problem, candidate, place, shown, MOST_OPERATIONS_OF_FRONT) for candidate in front),
                disagrees=disagreements(problem, best, place) if best is not None else (),
                doubt=_doubt(problem, outcome, place, shown),
            )
        )
    return Result(
        occamkit=__version__,
        task=problem.name,
        seed=problem.seed,
        device=str(problem.device),
        stop=outcome.stop,
        seconds=round(outcome.seconds, 3),
        steps=outcome.steps,
        functions=outcome.functions,
        unique_functions=outcome.unique_functions,
        packs=problem.registry.versions(),
        outputs=tuple(outputs),
        program=_program(problem, outcome.best),
    )


def _doubt(problem: Problem, outcome: Outcome, output: int, shown: dict[Key, Found]) -> Doubt | None:
    """Write out what one row of a small table contradicts, if the best meets all; a formula's rows hold no mistakes."""
    best = outcome.best[output]
    if best is None or not best.exact or isinstance(problem.spec.data, FormulaData):
        return None
    found = Exceptions(problem).doubt(best, outcome.fronts[output])
    rows = disagreements(problem, found, output) if found is not None else ()
    # Of the rows for testing it must not miss any either.
    return Doubt(_found(problem, found, output, shown), rows[0]) if found is not None and len(rows) == 1 else None


def _program(problem: Problem, best: Sequence[Candidate | None]) -> str | None:
    """Write the best of all outputs as one program; None as long as one is missing, or if it is but a formula."""
    found = [candidate for candidate in best if candidate is not None]
    if len(found) < len(best):
        return None
    parts = []
    for place, candidate in enumerate(found):
        algebra = formula_of(problem, candidate.tree, place).algebra
        parts.append(Part(algebra, logic_of(problem, candidate.tree, place), candidate.tree.written()))
    return program_text(problem, parts, found[0].recurrence) if is_program(problem, parts) else None


Key = tuple[Expression, int | None]


def _found(
    problem: Problem, candidate: Candidate, output: int, shown: dict[Key, Found], most: int = MOST_OPERATIONS
) -> Found:
    """Write one candidate out; each tree is simplified once."""
    tree, key = candidate.tree, (candidate.tree, candidate.recurrence)
    if key not in shown:
        formula = formula_of(problem, tree, output, most)
        uncertain = {place: error for place, error in enumerate(candidate.errors) if error is not None}
        implicit = problem.spec.implicit
        relation = relation_of(formula, implicit.value) if implicit is not None else None
        logic = logic_of(problem, tree, output)
        shown[key] = Found(
            expression=formula.text,
            written=tree.written(),
            latex=formula.latex,
            proposer=candidate.proposer,
            constants={f"c{place}": value for place, value in enumerate(tree.fitted)},
            errors={f"c{place}": error for place, error in uncertain.items()},
            form=form_of(problem, tree, output, uncertain) if uncertain else None,
            unit=problem.dataset.output_scale(output).measure.text,
            recurrence=candidate.recurrence,
            relation=relation.text if relation else None,
            solved={name: list(solutions) for name, solutions in relation.solved.items()} if relation else {},
            fitness=candidate.fitness,
            score=candidate.score,
            mse=dict(candidate.figures.mse),
            r2=dict(candidate.figures.r2),
            undefined={part: rows for part, rows in candidate.figures.undefined.items() if rows},
            complexity=candidate.complexity,
            log_q=candidate.log_q if math.isfinite(candidate.log_q) else None,
            logic=show_logic(logic) if logic is not None else None,
        )
    return shown[key]
