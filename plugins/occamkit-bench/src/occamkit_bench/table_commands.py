"""`occamkit bench real-tables` and `black-box`: tables of measurements, with a law in the books and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option
from occamkit_bench.equation_commands import names

CONTENDERS = "occamkit,ridge,xgboost,pyoperon"


def _say(text: str) -> None:
    click.echo(text, err=True)


@click.command("real-tables")
@click.option("--units/--no-units", "units", default=True, show_default=True, help="Whether columns carry their units.")
@click.option(
    "--seconds",
    default=20.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Budget of each table.",
)
@click.option("--only", default="", metavar="NAME,...", help="These tables alone.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the runs.")
@json_option
def real_tables(units: bool, seconds: float, only: str, seed: int, as_json: bool) -> None:
    """Find the laws behind small tables of measurements, as `occamkit fit` does.

    Sources and laws are in `tables.toml` of this pack. A formula is the law if the law with other numbers says the same
    on every row.
    """
    from occamkit_bench.real_tables import chosen, measure
    from occamkit_bench.real_tables import real_tables as tables

    rows = measure(chosen(tables(), names(only)), seconds, seed, units, _say)
    if as_json:
        emit_json({"rows": rows, "laws": sum(row["law"] for row in rows)})
        return
    emit_table(
        ["table", "law", "s", "by", "found"],
        [
            [
                row["name"],
                "yes" if row["law"] else "no",
                f"{row['seconds']:.1f}",
                row["proposer"] or "",
                row["found"] or "no formula",
            ]
            for row in rows
        ],
    )
    click.echo(f"\n{sum(row['law'] for row in rows)} of {len(rows)} are the law that the books have")


@click.command("black-box")
@click.option(
    "--seconds",
    default=30.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Budget of each contender on each split; those that need less take less.",
)
@click.option("--splits", default=3, show_default=True, type=click.IntRange(min=1), help="Splits of each table.")
@click.option("--only", default="", metavar="NAME,...", help="These tables of PMLB alone.")
@click.option("--contenders", default=CONTENDERS, show_default=True, metavar="NAME,...", help="Who takes part.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Contenders at a time.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file for a row of JSON per contender, table and split; what it holds already is not run again.",
)
@json_option
def black_box(
    seconds: float, splits: int, only: str, contenders: str, jobs: int, out: Path | None, as_json: bool
) -> None:
    """Learn from three quarters of the rows of a table, and tell the others.

    R² is that of rows that had no part in the learning. Ranks are those of the means over the splits of a table; a
    value below -1 counts as -1 in a mean. Size is that of a formula: numbers, names, operators and functions. Packs
    bring contenders by the hook of `occamkit_bench.contenders.contender`.
    """
    from occamkit_bench.black_box import black_box as measure
    from occamkit_bench.black_box import chosen, mean_of, summary
    from occamkit_bench.contenders.contender import named

    tables, able = chosen(names(only)), named(names(contenders))
    rows = measure(tables, able, splits, seconds, jobs, out, _say)
    about = summary(rows)
    if as_json:
        emit_json({"rows": rows, "summary": about})
        return
    emit_table(
        ["table", *about, "size"],
        [[table, *(f"{mean_of(rows, table, one):.3f}" for one in about), _size(rows, table)] for table in tables],
    )
    click.echo()
    emit_table(
        ["contender", "mean R²", "worst", "mean rank", "as good as ridge", "size", "largest", "CPU s", "MB"],
        [[name, *_told(one, len(tables))] for name, one in about.items()],
    )


def _size(rows: list[dict[str, Any]], table: str) -> str:
    from statistics import median

    sizes = [row["size"] for row in rows if row["table"] == table and row["contender"] == "occamkit" and "size" in row]
    return f"{median(sizes):g}" if sizes else ""


def _told(about: dict[str, Any], tables: int) -> list[str]:
    return [
        f"{about['mean_r2']:.3f}",
        "undefined" if about["worst_r2"] is None else f"{about['worst_r2']:.2f}",
        f"{about['mean_rank']:.2f}",
        "" if about["as_good_as_ridge"] is None else f"{about['as_good_as_ridge']} of {tables}",
        "" if about["median_size"] is None else f"{about['median_size']:g}",
        "" if about["largest_size"] is None else f"{about['largest_size']:g}",
        f"{about['cpu_seconds']:.1f}",
        str(about["peak_megabytes"]),
    ]
