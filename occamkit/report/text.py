"""The report as Markdown: what a message or a notebook can hold."""

from __future__ import annotations

import math
from collections.abc import Iterator

from occamkit import typeset
from occamkit.report.axes import show
from occamkit.report.content import Content, OutputContent


def markdown(content: Content) -> str:
    """Return the report as Markdown."""
    lines = [f"# {', '.join(output.name for output in content.outputs)}: {content.result.task}", ""]
    for output in content.outputs:
        lines += _output(content, output)
    lines += ["## How it was made", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {_cell(value)} |" for key, value in content.made.items()]
    lines += [f"| unit of {_cell(name)} | {_cell(unit)} |" for name, unit in content.units.items()]
    return "\n".join([*lines, ""])


def _output(content: Content, output: OutputContent) -> Iterator[str]:
    if output.best is None:
        yield from (f"No formula was found for {output.name}.", "")
        return
    if output.best_algebra is not None:
        yield from (f"$$ {typeset.latex_name(output.name)} = {typeset.latex(output.best_algebra)} $$", "")
    yield from ("```text", f"{output.name} = {output.best.expression}", "```", "")
    yield from ("| ShownRows | R² | Root mean square error |", "|---|---|---|")
    for part in output.best.mse:
        yield f"| {part} | {output.best.r2[part]:.6g} | {show(math.sqrt(output.best.mse[part]))} |"
    yield ""
    if output.constants:
        yield from ("| Constant | Standard error |", "|---|---|")
        for one in output.constants:
            yield f"| {one.text} | {'not determined' if one.error is None else f'{one.error:.2g}'} |"
        yield ""
    part = "valid" if "valid" in output.best.mse else "train"
    yield from (f"| Complexity | R² ({part}) | Formula |", "|---|---|---|")
    for found in output.front:
        yield f"| {found.complexity:g} | {found.r2[part]:.5g} | `{_cell(found.expression)}` |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
