"""From what a run found to a result: formulas simplified, rows that disagree, all outputs as one program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from occamkit._version import __version__
from occamkit.archive import Candidate
from occamkit.archive.outliers import Outliers
from occamkit.fit.trees import structural
from occamkit.graph import Expression
from occamkit.graph.given import Given
from occamkit.graph.number_units import units_of_constants
from occamkit.result.disagreements import disagreements
from occamkit.result.formulas import MOST_OPERATIONS, form_of, formula_of
from occamkit.result.logic import logic_of, show_logic
from occamkit.result.program import Part, is_program, program_text
from occamkit.result.relations import relation_of
from occamkit.result.values import Doubt, Found, OutputResult, Result
from occamkit.search import Outcome
from occamkit.task.problem import Problem
from occamkit.task.spec import FormulaData
from occamkit.units import DIMENSIONLESS, Dim, show

MOST_OPERATIONS_OF_FRONT = 12
"""Up to how many operations formulas of a front are simplified: twenty long ones would take longer than a search."""


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
                ties=tuple(_found(problem, one, place, shown) for one in outcome.ties[place]) if outcome.ties else (),
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
    found = Outliers(problem).doubt(best, outcome.fronts[output])
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
            inputs=list(tree.inputs),
            units=_units(problem, tree, output),
            refitted=candidate.refitted,
            relative=candidate.figures.of_values,
        )
    return shown[key]


def _units(problem: Problem, tree: Expression, output: int) -> dict[str, str]:
    """Return the units of fitted constants that carry one, where columns do."""
    units = {one.name: one.unit for one in problem.variables if isinstance(one.unit, Dim)}
    wanted = problem.outputs[output].unit
    if not isinstance(wanted, Dim) or isinstance(tree, Given):
        return {}
    if all(unit == DIMENSIONLESS for unit in (wanted, *units.values())):
        return {}
    # A factor of one is none, unless the formula has a meaning only if it carries a unit.
    found = units_of_constants(tree, units, wanted, structural(tree)) or units_of_constants(tree, units, wanted) or ()
    return {f"c{place}": show(unit) for place, unit in enumerate(found) if unit != DIMENSIONLESS}
