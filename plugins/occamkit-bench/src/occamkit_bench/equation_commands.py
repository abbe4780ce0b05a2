"""`occamkit bench feynman`, `nguyen`, `laws` and `large`: how many known equations are found again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what both commands can be told."""
    for option in reversed(
        (
            click.option(
                "--noise",
                default=0.0,
                show_default=True,
                type=click.FloatRange(min=0),
                help="Deviation of the noise, as a part of the target's root mean square.",
            ),
            click.option(
                "--seconds",
                default=60.0,
                show_default=True,
                type=click.FloatRange(min=0, min_open=True),
                help="Budget of each equation.",
            ),
            click.option("--only", default="", metavar="NAME,...", help="These equations alone."),
            click.option(
                "--jobs", default=2, show_default=True, type=click.IntRange(min=1), help="Equations at a time."
            ),
            click.option("--random-constants", is_flag=True, help="Other numbers in place of the formula's own."),
            click.option("--proposers", default="", metavar="NAME,...", help="Proposers in place of the default ones."),
            click.option(
                "--groups",
                default=0,
                show_default=True,
                type=click.IntRange(min=0),
                help="Dimensionless groups that the network reads besides, at most; of equations with units.",
            ),
            click.option(
                "--scale",
                default="none",
                show_default=True,
                type=click.Choice(["none", "prefactor", "affine", "monomial"]),
                metavar="KIND",
                help="What is solved for around every function of the network: none, prefactor, affine or monomial.",
            ),
            click.option(
                "--through",
                default="task",
                show_default=True,
                type=click.Choice(["task", "estimator"]),
                help="The door: a task, or the same points given to OccamRegressor, which knows no units.",
            ),
            click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the runs."),
            click.option(
                "--out",
                type=click.Path(path_type=Path, dir_okay=False),
                help="A file for a row of JSON per equation; equations that it holds already are not run again.",
            ),
            json_option,
        )
    ):
        command = option(command)
    return command


@click.command()
@click.option("--units/--no-units", "units", default=True, show_default=True, help="Whether columns carry their units.")
@_options
def feynman(units: bool, **options: Any) -> None:
    """Find the Feynman equations again, from 1,000 points each.

    Recovered means: equal to the truth on fresh points inside the ranges and in a box 1.5 times as wide, in which
    what is positive stays positive, to 1e-6 of the root mean square. With noise: the same after the numbers of the
    formula are fitted again without noise, none of which may have been wrong by more than 5 %.
    """
    from occamkit_bench.equations import feynman as equations
    from occamkit_bench.equations import without_units

    every = equations()
    _measure(every if units else [without_units(one) for one in every], **options)


@click.command()
@_options
def nguyen(**options: Any) -> None:
    """Find the Nguyen equations again, from 20 points each; recovered means the same as for `feynman`."""
    from occamkit_bench.equations import nguyen as equations

    _measure(equations(), **options)


@click.command()
@_options
def laws(**options: Any) -> None:
    """Find textbook laws with unknown constants, from 300 points each.

    Recovered means the same as for `feynman`, but that numbers may have been wrong by more than 5 %: of two numbers
    that make up for each other neither is known well. Exponents that are decimals are numbers too.
    """
    from occamkit_bench.equations import laws as equations

    _measure(equations(), form_only=True, **options)


@click.command()
@click.option("--count", default=30, show_default=True, type=click.IntRange(min=1), help="How many formulas.")
@click.option("--draw", default=0, show_default=True, type=click.IntRange(min=0), help="Seed that they are drawn by.")
@_options
def large(count: int, draw: int, **options: Any) -> None:
    """Find random formulas of 15 to 30 nodes and two to five inputs, from 300 points each.

    Recovered means the same as for `feynman`.
    """
    from occamkit.packs.registry import Registry
    from occamkit.task.file.checks import callable_primitives
    from occamkit_bench.large import large as equations

    _measure(equations(count, draw, callable_primitives(Registry.load())), near=0.99, **options)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@json_option
def compare(files: tuple[Path, ...], as_json: bool) -> None:
    """Put the FILES that `feynman --out` or `nguyen --out` wrote side by side, as a table in Markdown.

    A cell holds the seconds after which the search ended, or nothing where the equation was missed. Columns are called
    like the files.
    """
    from occamkit_bench.rediscover import side_by_side, stored, summary

    columns = {file.stem: stored(file) for file in files}
    if as_json:
        emit_json({name: {"rows": list(rows.values()), "summary": summary(list(rows.values()))}
                   for name, rows in columns.items()})  # fmt: skip
        return
    click.echo("\n".join(side_by_side(columns)))


def _measure(
    equations: list[Any],
    noise: float,
    seconds: float,
    only: str,
    jobs: int,
    random_constants: bool,
    proposers: str,
    groups: int,
    scale: str,
    through: str,
    seed: int,
    out: Path | None,
    as_json: bool,
    form_only: bool = False,
    near: float = 0.999,
) -> None:
    from occamkit.errors import UserError
    from occamkit_bench.equations import chosen, with_random_constants
    from occamkit_bench.rediscover import Terms, rediscover, summary

    wanted = chosen(equations, names(only))
    if through == "estimator" and any(unit for one in wanted for unit in (*one.units, one.output_unit)):
        raise UserError("--through estimator: OccamRegressor knows no units; add --no-units")
    if through == "estimator" and (proposers or groups or scale != "none"):
        raise UserError("--through estimator: --proposers, --groups and --scale are settings of a task")
    if random_constants:
        wanted = [with_random_constants(one, seed) for one in wanted]
    terms = Terms(seconds, noise, names(proposers), seed, groups, scale, through, form_only)
    rows = rediscover(wanted, terms, jobs, out, lambda text: click.echo(text, err=True))
    about = summary(rows, near)
    if as_json:
        emit_json({"rows": rows, "summary": about})
        return
    emit_table(
        ["equation", "recovered", "s", "by", "MB", "found"],
        [
            [
                row["name"],
                "yes" if row["recovered"] else "no",
                "" if row["seconds"] is None else f"{row['seconds']:.2f}",
                row.get("proposer") or "",
                str(row.get("megabytes") or ""),
                row["found"] or row.get("error") or "nothing",
            ]
            for row in rows
        ],
    )
    median = about["median_seconds_of_recovered"]
    click.echo(
        f"\n{about['recovered']} of {about['equations']} recovered"
        + (f", half of them within {median:.2f} s" if median is not None else "")
        + f"; mean of all {about['mean_seconds']:.2f} s; at most {about['peak_megabytes']} MB"
        + f"; R² of the truth above {near} for {about['near']}"
    )


def names(text: str) -> tuple[str, ...]:
    """Return names that stand with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
