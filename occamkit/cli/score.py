"""`occamkit score`: a formula of one's own, on the same rows and the same front as those that were found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option, pack_options


@dataclass(frozen=True)
class Line:
    """One formula with how it does on the rows."""

    whose: str
    complexity: float
    error: float
    r2: float
    formula: str


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--expr", "formula", required=True, metavar="FORMULA", help='Such as "9.81*t**2/2" or "d = 9.81*t**2/2".')
@click.option("--target", metavar="COLUMN", help="The column it is for, if FORMULA does not begin with it.")
@click.option("--run", type=click.Path(path_type=Path), help="A run folder whose front it is put on.")
@click.option(
    "--missing", type=click.Choice(["error", "drop"]), default="error", show_default=True, help="Rows with gaps."
)
@pack_options
@json_option
def score(
    data: Path, formula: str, target: str | None, run: Path | None, missing: str, block: tuple[str, ...], as_json: bool
) -> None:
    """Score FORMULA on the rows of the CSV file DATA.

    With --run, the formulas of that run are scored on the same rows, and all are shown together: a star marks those
    that are better than every simpler one.
    """
    from occamkit.cli.folder import open_run
    from occamkit.errors import UserError
    from occamkit.packs.registry import Registry
    from occamkit.task.data.csv import read_header

    registry, header = Registry.load(block=block), read_header(data)
    name, text = _sides(formula, target, header)
    formulas: list[tuple[str, str, float | None]] = [("yours", text, None)]
    if run is not None:
        result = open_run(run).result(registry)
        output = next((one for one in result.outputs if one.name == name), None)
        if output is None:
            raise UserError(f"{run}: has no output {name!r}; it has {', '.join(one.name for one in result.outputs)}")
        formulas += [("found", found.expression, found.complexity) for found in output.front]
    lines = _scored(data, formulas, name, header, missing, registry)
    best = _front(lines)
    if as_json:
        emit_json([{**vars(line), "front": line in best} for line in lines])
        return
    rows = [
        (
            "*" if line in best else "",
            line.whose,
            f"{line.complexity:g}",
            f"{line.error:.6g}",
            f"{line.r2:.6g}",
            line.formula,
        )
        for line in lines
    ]
    emit_table(("front", "whose", "complexity", "error", "R²", name), rows)


def _sides(formula: str, target: str | None, header: list[str]) -> tuple[str, str]:
    """Return the column that a formula is for, and the formula."""
    from occamkit.errors import UserError, did_you_mean

    left, equals, right = formula.partition("=")
    named = left.strip().strip("`")
    if target is None and equals and named in header and not right.startswith("="):
        return named, right.strip()
    if target is None:
        raise UserError('--target is needed, or a formula that begins with its column: --expr "d = 9.81*t**2/2"')
    if target not in header:
        raise UserError(f"--target: there is no column {target!r}{did_you_mean(target, header)}")
    return target, formula


def _scored(
    data: Path,
    formulas: list[tuple[str, str, float | None]],
    target: str,
    header: list[str],
    missing: str,
    registry: Any,
) -> list[Line]:
    from fractions import Fraction

    from occamkit.export import Usable
    from occamkit.graph.given import operations_in
    from occamkit.task.data.csv import read_columns

    inputs = [name for name in header if name and name != target]
    read = [(whose, Usable.read(text, inputs, registry), cost) for whose, text, cost in formulas]
    used = [name for name in inputs if any(name in usable.inputs for _, usable, _ in read)]
    columns = read_columns(data, {name: Fraction(1) for name in (*used, target)}, missing)
    named, actual = dict(zip((*used, target), columns, strict=True)), columns[-1]
    lines = []
    for whose, usable, cost in read:
        mse = float((usable.predict(named) - actual).square().mean())
        variance = float(actual.var(correction=0))
        r2 = 1 - mse / variance if variance > 0 else float(mse == 0)
        complexity = float(operations_in(usable.tree)) if cost is None else cost
        lines.append(Line(whose, complexity, mse**0.5, r2, usable.text))
    return sorted(lines, key=lambda line: (line.complexity, line.error))


def _front(lines: list[Line]) -> list[Line]:
    """Return those that are better than every simpler one; an undefined error is better than none."""
    front: list[Line] = []
    for line in lines:
        if line.error == line.error and (not front or line.error < front[-1].error):
            front.append(line)
    return front
