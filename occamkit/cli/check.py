"""`occamkit check`: is a task right, before any time is spent on it?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from occamkit.cli.output import SEED, emit_json, json_option, pack_options, problems_of

if TYPE_CHECKING:
    from occamkit.packs.registry import Registry
    from occamkit.task.data.dataset import Dataset


@click.command()
@click.argument("task")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of drawn points and of the split.")
@pack_options
@json_option
def check(task: str, seed: int, block: tuple[str, ...], as_json: bool) -> None:
    """Check TASK without running it.

    Reports every mistake at once, with file, line and key; otherwise what the task comes to: its rows, units and
    primitives, and the size of the search.
    """
    from occamkit.errors import UserError
    from occamkit.packs.registry import Registry
    from occamkit.task.file.load import load_task

    registry = Registry.load(block=block)
    try:
        loaded = load_task(task, registry)
        summary = summarise(loaded, loaded.data(seed), getattr(loaded, "registry", registry))
    except UserError as error:
        if not as_json:
            raise
        emit_json({"ok": False, "problems": problems_of(error)})
        raise click.exceptions.Exit(2) from error
    if as_json:
        emit_json({"ok": True, "problems": [], **summary})
    else:
        _show(summary)


def summarise(task: Any, dataset: Dataset, registry: Registry) -> dict[str, Any]:
    """Return what a task comes to, as a JSON object."""
    from occamkit.dimensions.powers import Powers, group_variables
    from occamkit.network import Layout
    from occamkit.network.size import log10_functions
    from occamkit.task import vocabulary
    from occamkit.task.growth import largest_depth, sizes_of
    from occamkit.task.problem import unsupported
    from occamkit.units import show

    search = task.spec.search
    entries = vocabulary.all_primitives(registry, search.primitives)
    constants = [vocabulary.constant(item, registry) for item in search.constants]
    variables = (*dataset.variables, *constants)
    groups = Powers.of(variables, dataset.inputs).groups(search.groups)
    columns = len(variables) + len(groups)
    primitives = [entry.value for entry in entries]
    sizes = sizes_of(search)
    layouts = [
        Layout.repeated(columns, primitives, repeats, len(dataset.outputs), search.skip_connections)
        for repeats in sizes
    ]
    return {
        "name": task.name,
        "rows": {part: len(getattr(dataset, part)) for part in ("train", "valid", "test")},
        "inputs": [{"name": one.name, "unit": show(one.unit)} for one in dataset.variables],
        "outputs": [{"name": one.name, "unit": show(one.unit)} for one in dataset.outputs],
        "primitives": dict(Counter(entry.qualified for entry in entries)),
        "constants": [{"name": one.name, "unit": show(one.unit)} for one in constants],
        "groups": [one.name for one in group_variables(groups, variables)] if search.groups else None,
        "depth": largest_depth(search),
        "first_depth": len(sizes[0]),
        "weights": max(layout.parameters for layout in layouts),
        "log10_functions": round(max(map(log10_functions, layouts)), 2),
        "regularizers": [choice.name for choice in task.spec.regularizers],
        "fitness": task.spec.fitness.name,
        "wrapper": task.spec.wrapper.name if task.spec.wrapper is not None else None,
        "packs": sorted({entry.pack for entry in entries}),
        "not_yet": list(unsupported(task.spec, registry)),
    }


def _show(summary: dict[str, Any]) -> None:
    def listed(items: list[dict[str, str]]) -> str:
        return ", ".join(one["name"] + (f" [{one['unit']}]" if one["unit"] != "dimensionless" else "") for one in items)

    short = [name.removeprefix("occamkit:") + (f"*{n}" if n > 1 else "") for name, n in summary["primitives"].items()]
    rows, first, last = summary["rows"], summary["first_depth"], summary["depth"]
    depth = f"{last}" if first == last else f"{first} to {last}"
    lines = {
        "rows": f"{rows['train']} to train, {rows['valid']} to validate, {rows['test']} to test",
        "inputs": listed(summary["inputs"]),
        "outputs": listed(summary["outputs"]),
        "primitives": " ".join(short),
        "constants": listed(summary["constants"]) or "none",
        **({"groups": ", ".join(summary["groups"]) or "none"} if summary["groups"] is not None else {}),
        "fitness": summary["fitness"].removeprefix("occamkit:"),
        "penalties": ", ".join(name.removeprefix("occamkit:") for name in summary["regularizers"]) or "none",
        **({"wrapper": summary["wrapper"].removeprefix("occamkit:")} if summary["wrapper"] else {}),
        "search": f"depth {depth}, {summary['weights']} weights, "
        f"at most 10^{summary['log10_functions']:.0f} functions for each output",
    }
    click.echo(f"{summary['name']}: ok")
    for key, text in lines.items():
        click.echo(f"  {key:<11}{text}")
    for reason in summary["not_yet"]:
        click.echo(f"note: occamkit run refuses this: {reason}", err=True)
