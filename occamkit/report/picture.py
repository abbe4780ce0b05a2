"""The report as one picture, with matplotlib."""

from __future__ import annotations

import io
import math
from typing import Any

from occamkit import typeset
from occamkit.errors import UserError
from occamkit.report.content import Content, OutputContent
from occamkit.result.formulas import rounded

COLOURS = {"train": "#8b97b0", "valid": "#0b7a75", "test": "#c2571a"}


def png(content: Content) -> bytes:
    """Return a picture: for each output the formula, the front, predicted against actual, residuals; and the trace."""
    plt = _matplotlib()
    rows = len(content.outputs)
    figure, axes = plt.subplots(rows, 4, figsize=(16, 4.2 * rows), squeeze=False, layout="constrained")
    for row, output in zip(axes, content.outputs, strict=True):
        _front(row[0], output)
        _against(row[1], output)
        _residuals(row[2], output)
        _trace(row[3], content, content.outputs.index(output))
    figure.suptitle("\n".join(_title(output) for output in content.outputs), fontsize=15)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    plt.close(figure)
    return file.getvalue()


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise UserError("pictures need matplotlib: pip install 'occamkit[report]'") from None
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    return plt


def _title(output: OutputContent) -> str:
    if output.best is None:
        return f"{output.name}: nothing found"
    if output.best_algebra is None:
        return f"{output.name} = {output.best.expression}".replace("$", r"\$")
    from matplotlib.mathtext import MathTextParser

    name, formula = typeset.latex_name(output.name), typeset.latex(rounded(output.best_algebra, 5))
    shown = f"${name} = {formula}$".replace(r"\text{", r"\mathrm{")
    try:
        MathTextParser("path").parse(shown)
    except ValueError:  # matplotlib knows a part of LaTeX only
        return f"{output.name} = {output.best.expression}".replace("$", r"\$")
    return shown


def _front(axes: Any, output: OutputContent) -> None:
    part = "valid" if output.front and "valid" in output.front[0].mse else "train"
    points = [(found.complexity, math.sqrt(found.mse[part])) for found in output.front]
    axes.plot(*zip(*points, strict=True), "o-", color="#3949ab") if points else None
    positive = [error for _, error in points if error > 0]
    if positive and max(positive) > 30 * min(positive):
        axes.set_yscale("log")
    axes.set(xlabel="complexity", ylabel=f"{part} error", title="front")


def _against(axes: Any, output: OutputContent) -> None:
    for rows in output.rows:
        axes.scatter(rows.actual, rows.predicted, s=9, alpha=0.6, color=COLOURS[rows.part], label=rows.part)
    if output.rows:
        actual = [value for rows in output.rows for value in rows.actual]
        axes.plot([min(actual), max(actual)], [min(actual), max(actual)], "--", color="#6b7489", linewidth=1)
        axes.legend()
    axes.set(xlabel="actual", ylabel="predicted", title="predicted against actual")


def _residuals(axes: Any, output: OutputContent) -> None:
    for rows in output.rows:
        left = [actual - predicted for actual, predicted in zip(rows.actual, rows.predicted, strict=True)]
        axes.scatter(rows.predicted, left, s=9, alpha=0.6, color=COLOURS[rows.part])
    axes.axhline(0, linestyle="--", color="#6b7489", linewidth=1)
    axes.set(xlabel="predicted", ylabel="actual − predicted", title="residuals")


def _trace(axes: Any, content: Content, output: int) -> None:
    steps = [one["step"] for one in content.trace]
    for key, colour in (("likeliest_score", "#c2571a"), ("best_score", "#3949ab")):
        values = [math.nan if one[key][output] is None else one[key][output] for one in content.trace]
        axes.plot(steps, values, color=colour, linewidth=1, label=key.replace("_", " "))
    if steps:
        axes.legend()
    axes.set(xlabel="step", title="training")
