"""`occamkit bench`: results on standard output, progress on standard error. Heavy imports wait until they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option
from occamkit_bench.equation_commands import compare, feynman, large, laws, nguyen
from occamkit_bench.table_commands import black_box, real_tables

DATASETS = ("1027_ESL", "1089_USCrime", "4544_GeographicalOriginalofMusic")

_plot_option = click.option("--plot", type=click.Path(path_type=Path), help="Draw a picture: .svg, .png or .pdf.")


def _say(text: str) -> None:
    click.echo(text, err=True)


@click.group()
def bench() -> None:
    """Measure occamkit on this machine.

    All times are CPU seconds of one thread. Data sets are read as by `source = "pmlb"`; where one is not to be had,
    synthetic rows of its shape stand in, and the output says so.
    """


bench.add_command(feynman)
bench.add_command(nguyen)
bench.add_command(laws)
bench.add_command(large)
bench.add_command(real_tables)
bench.add_command(black_box)
bench.add_command(compare)


@bench.command()
@click.option("--quick", is_flag=True, help="1027_ESL with 2,000 functions only; some seconds.")
@click.option("--dataset", "datasets", multiple=True, type=click.Choice(DATASETS), help="A data set; may be repeated.")
@click.option("--functions", multiple=True, type=click.IntRange(min=10), help="Functions a step; may be repeated.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    help="CPU seconds for each data set and number of functions; three rounds are made at least.  [default: 60]",
)
@_plot_option
@json_option
def throughput(
    quick: bool,
    datasets: tuple[str, ...],
    functions: tuple[int, ...],
    seconds: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Count functions per CPU second of whole training steps.

    Beside occamkit stand the dense evaluation of all nodes, with fresh memory and with memory that is reused, and
    gplearn and pyoperon if they are installed. The network is that of the paper's PMLB experiments.
    """
    from occamkit_bench import throughput as room
    from occamkit_bench.plot import check_plot, plot_throughput

    check_plot(plot)
    chosen = datasets or DATASETS[: 1 if quick else None]
    counts = functions or room.FUNCTIONS[: 1 if quick else None]
    spend = (0.0 if quick else 60.0) if seconds is None else seconds
    rows = room.throughput(chosen, counts, spend, _say, room.PER_QUICK_TURN if quick else room.PER_TURN)
    if plot is not None:
        plot_throughput(rows, plot)
    if as_json:
        emit_json({"rows": rows})
    else:
        _show_throughput(rows)


def _show_throughput(rows: list[dict[str, Any]]) -> None:
    others = [name for name in ("dense", "dense_reused", "gplearn", "pyoperon") if name in rows[0]]
    header = ["data set", "rows", "inputs", "R", "occamkit/s", *(f"{name.replace('_', ' ')}/s" for name in others)]
    table = []
    for row in rows:
        about = [row["dataset"] + " (synthetic)" * row["synthetic"], str(row["rows_of_data"]), str(row["features"])]
        ratios = [f"{row[name]:,.0f} (×{row['occamkit'] / row[name]:.1f})" for name in others]
        table.append([*about, f"{row['functions']:,}", f"{row['occamkit']:,.0f}", *ratios])
    emit_table(header, table)
    click.echo("\nfunctions per CPU second; × is how many times as many occamkit makes\n")
    stages = list(rows[0]["stages"])
    emit_table(
        ["µs a function", "R", *stages],
        [[row["dataset"], f"{row['functions']:,}", *(f"{row['stages'][name]:.2f}" for name in stages)] for row in rows],
    )


@bench.command()
@click.option("--quick", is_flag=True, help="Fewer sizes.")
@_plot_option
@json_option
def growth(quick: bool, plot: Path | None, as_json: bool) -> None:
    """Show how cost and memory grow with functions, rows, depth and inputs.

    One size varies at a time, on synthetic rows; the others are held at 8,000 functions a step, 292 rows, depth 4
    and 4 inputs.
    """
    from occamkit_bench import growth as room
    from occamkit_bench.plot import check_plot, plot_growth

    check_plot(plot)
    document = room.growth(room.QUICK if quick else room.SWEEPS, _say)
    if plot is not None:
        plot_growth(document, plot)
    if as_json:
        emit_json(document)
    else:
        _show_growth(document)


def _show_growth(document: dict[str, Any]) -> None:
    sizes = ("functions", "rows", "depth", "features")
    emit_table(
        ["varied", "R", "rows", "depth", "inputs", "µs a function", "ms a step", "peak MB"],
        [
            [
                row["varied"],
                *(f"{row[size]:,}" for size in sizes),
                *(f"{row[key]:,.2f}" for key in ("microseconds", "step_milliseconds")),
                f"{row['peak_megabytes']:,.0f}",
            ]
            for row in document["rows"]
        ],
    )
    idle = max(row["idle_megabytes"] for row in document["rows"])
    click.echo(f"\nbefore any work a process holds {idle:,.0f} MB")
    for varied, line in document["lines"].items():
        click.echo(
            f"in {varied}: {line['fixed_milliseconds']:.1f} ms a step and {1e3 * line['milliseconds_each']:.2f} µs for "
            f"each; no point is further than {line['worst_relative']:.0%} from this line"
        )


@bench.command()
@json_option
def million(as_json: bool) -> None:
    """Train with 1,000,000 functions on 1027_ESL, 2,000 a step."""
    from occamkit_bench.million import million as measure

    found = measure()
    if as_json:
        emit_json(found)
        return
    click.echo(
        f"{found['functions']:,} functions on {found['dataset']}{' (synthetic)' * found['synthetic']}, "
        f"{found['functions_a_step']:,} a step\n"
        f"  steps alone   {found['steps_cpu_seconds']:.2f} CPU s, {found['steps_new_functions']:,} functions "
        f"evaluated\n"
        f"  a whole run   {found['run_cpu_seconds']:.2f} CPU s, {found['run_new_functions']:,} functions evaluated, "
        f"{found['run_restarts']} restarts\n"
        f"  peak memory   {found['steps_peak_megabytes']:.0f} MB and {found['run_peak_megabytes']:.0f} MB"
    )


@bench.command()
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(min=1), help="How many seeds, from 0 on.")
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="A task, such as 2x2-3x; may be repeated.")
@json_option
def paper(seeds: int, tasks: tuple[str, ...], as_json: bool) -> None:
    """Run the paper's tasks and count how often the true function is found.

    Found means: equal to the truth on 1,000 fresh points inside the training ranges and 1,000 outside them, up to
    1.5 times as wide, with a relative error below 1e-6.
    """
    from occamkit_bench.paper import paper as measure

    _show_attempts(measure(tasks, seeds, _say), as_json)


@bench.command()
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(min=1), help="How many seeds, from 0 on.")
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="A task, such as sort4; may be repeated.")
@click.option("--grow", is_flag=True, help="Take the depth out of the paper's tasks, so that it is found.")
@click.option("--all-proposers", "everyone", is_flag=True, help="Search with the task's proposers, not one alone.")
@json_option
def programs(seeds: int, tasks: tuple[str, ...], grow: bool, everyone: bool, as_json: bool) -> None:
    """Run the paper's programs, a sorter of four numbers and shift registers of eight bits.

    Found means: equal to the truth as for `paper`, and on finite domains everywhere, with the step of a recurrence
    repeated just as often. The network searches alone, as the paper's does. The registers have other taps for each
    seed.
    """
    from occamkit_bench.programs import programs as measure

    _show_attempts(measure(tasks, seeds, _say, grow, everyone), as_json)


def _show_attempts(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        emit_json({"rows": rows})
        return
    emit_table(
        ["task", "found", "mean s", "max s", "mean CPU s", "repeated", "paper's rate", "paper's s"],
        [
            [
                row["task"],
                f"{row['successes']}/{row['seeds']}",
                *(f"{row[key]:.1f}" for key in ("mean_seconds", "max_seconds", "mean_cpu_seconds")),
                ", ".join(map(str, row["depths"])),
                *("" if row[key] is None else f"{row[key]:g}" for key in ("paper_rate", "paper_seconds")),
            ]
            for row in rows
        ],
    )


@bench.command()
@click.option(
    "--functions", type=click.IntRange(min=10), default=300, show_default=True, help="Functions of each kind."
)
@json_option
def constants(functions: int, as_json: bool) -> None:
    """Fit constants, by each method: functions per CPU second, and how often hidden numbers are found again.

    Functions are drawn from a fresh network and fitted to themselves with other constants, on 200 points.
    """
    from occamkit_bench import constants as room

    rows = room.constants(functions)
    if as_json:
        emit_json({"rows": rows})
        return
    header = ["constants", "method", "starts", "functions", "fits/s", "found again"]
    emit_table(
        header,
        [
            [str(row["constants"]), row["method"], str(row["starts"]), str(row["functions"]),
             f"{row['fits_per_second']:,}", f"{row['solved']:.1%}"]
            for row in rows
        ],
    )  # fmt: skip
