"""`occamkit predict`: a formula that was found, on new rows."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path

import click

from occamkit.cli.export import formula_options
from occamkit.cli.output import emit_json, json_option, pack_options


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@formula_options
@click.option("--out", type=click.Path(path_type=Path), help="Write to this new file in place of standard output.")
@pack_options
@json_option
def predict(
    run: Path, data: Path, output: str | None, formula: str, out: Path | None, block: tuple[str, ...], as_json: bool
) -> None:
    """Predict the output of the run in folder RUN for each row of the CSV file DATA.

    DATA has the columns that the formula uses, in the units of the task. The result is a column of the output's name.
    """
    from occamkit.cli.folder import columns_of, open_run
    from occamkit.errors import UserError
    from occamkit.export import Usable, choose
    from occamkit.files import write_whole
    from occamkit.packs.registry import Registry
    from occamkit.task.data.csv import read_columns, row_count

    if out is not None and out.exists():
        raise UserError(f"--out: {out} exists already; results are never overwritten")
    folder, registry = open_run(run), Registry.load(block=block)
    result = folder.result(registry)
    found = choose(result, output, formula)
    usable = Usable.read(found.expression, columns_of(folder, registry), registry)
    name = output or result.outputs[0].name
    if usable.inputs:
        rows = read_columns(data, {column: Fraction(1) for column in usable.inputs})
        values = usable.predict(dict(zip(usable.inputs, rows, strict=True))).tolist()
    else:
        import torch

        values = usable.predict({"": torch.zeros(row_count(data), dtype=torch.float64)}).tolist()
    if as_json:
        emit_json({"output": name, "expression": found.expression, "values": values})
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name])
    writer.writerows([[repr(value)] for value in values])
    if out is None:
        click.echo(text.getvalue(), nl=False)
    else:
        write_whole(out, text.getvalue())
