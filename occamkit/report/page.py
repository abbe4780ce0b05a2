"""The page: one HTML file that holds everything it shows."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import Any

import sympy

from occamkit import typeset
from occamkit.report import drawing
from occamkit.report.axes import Plot, plot, show
from occamkit.report.content import Content, OutputContent, ShownRows, moments
from occamkit.report.page_style import SCRIPT, STYLE
from occamkit.result import Found
from occamkit.result.formulas import rounded

DIGITS = 6
"""Digits of the numbers in typeset formulas; the text below has them all."""
MOST_INPUTS = 9


def page(content: Content) -> str:
    """Return the page."""
    names = [output.name for output in content.outputs]
    title = html.escape(f"{', '.join(names)}: {content.result.task}")
    body = [f"<h1>{title}</h1>", f'<p class="sub">{_summary(content)}</p>']
    for place, output in enumerate(content.outputs):
        body += _output(content, output, place)
    body += _training(content)
    body += _network(content, names)
    body += _made(content)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head><body>{''.join(body)}<script>{SCRIPT}</script></body></html>\n"
    )


def _summary(content: Content) -> str:
    result = content.result
    return f"{result.stop} after {result.seconds:.1f} s, {result.functions:,} functions drawn, seed {result.seed}"


def _output(content: Content, output: OutputContent, place: int) -> Iterator[str]:
    several = len(content.outputs) > 1
    yield f"<h2>{html.escape(output.name)}</h2>" if several else ""
    if output.best is None:
        yield "<p>No function that is defined on the training rows was found.</p>"
        return
    unit = content.units.get(output.name, "")
    yield f'<div class="formula" id="formula-{place}">{_set(output.best, output.best_algebra, output.name)}'
    yield f"<code>{html.escape(f'{output.name} = {output.best.expression}')}</code></div>"
    yield _scores(output.best, unit)
    yield from _ties(output)
    yield from _constants(output)
    yield "<h2>Simple against exact</h2>"
    yield from _front(output, place)
    if output.rows:
        yield "<h2>Predicted and actual</h2>"
        yield _key(output.rows)
        yield f'<div class="plots">{_against(output)}{_residuals(output)}</div>'
        yield f"<h2>{html.escape(output.name)} against each input</h2>"
        yield f'<div class="plots">{"".join(_by_input(content, output))}</div>'


def _set(found: Found, algebra: Any | None, name: str) -> str:
    """Typeset a formula, or show its text when it is no algebra."""
    if algebra is None:
        return f"<code>{html.escape(found.expression)}</code>"
    return typeset.mathml(rounded(algebra, DIGITS), sympy.Symbol(name))


def _scores(found: Found, unit: str) -> str:
    rows = "".join(
        f"<tr><td>{part}</td><td>{found.r2[part]:.6g}</td><td>{show(math.sqrt(found.mse[part]))}</td></tr>"
        for part in found.mse
    )
    measure = f" [{html.escape(unit)}]" if unit else ""
    head = f"<tr><th>rows</th><th>R²</th><th>root mean square error{measure}</th></tr>"
    about = f"complexity {found.complexity:g}, found by {html.escape(found.proposer)}"
    if found.refitted:
        about += "; its numbers are fitted to all training and validation rows, these figures are from before"
    return f'<p class="sub">{about}</p><table>{head}{rows}</table>'


def _ties(output: OutputContent) -> Iterator[str]:
    if output.ties:
        yield "<h3>As good, or nearly</h3><table><tr><th>formula</th><th>complexity</th><th>R²</th></tr>"
        for one in output.ties:
            formula = html.escape(f"{output.name} = {one.expression}")
            yield f"<tr><td><code>{formula}</code></td><td>{one.complexity:g}</td><td>{_shares(one)}</td></tr>"
        yield "</table>"


def _constants(output: OutputContent) -> Iterator[str]:
    if not output.constants:
        return
    yield "<h3>Constants, with their standard errors</h3><table><tr><th>value</th><th>±</th></tr>"
    for one in output.constants:
        error = "not determined by these rows" if one.error is None else f"{one.error:.2g}"
        yield f"<tr><td>{html.escape(one.text)}</td><td>{error}</td></tr>"
    yield "</table>"


def _front(output: OutputContent, place: int) -> Iterator[str]:
    part = "valid" if output.front and "valid" in output.front[0].mse else "train"
    errors = [math.sqrt(found.mse[part]) if math.isfinite(found.mse[part]) else math.nan for found in output.front]
    floor = max((error for error in errors if error > 0), default=1.0) * 1e-9
    errors = [max(error, floor) for error in errors]  # what is exact has a place on a logarithmic axis too
    finite = [error for error in errors if math.isfinite(error)]
    log = bool(finite) and max(finite) > 30 * min(finite)
    costs = [found.complexity for found in output.front]
    drawn = plot(costs, errors, "complexity", f"{part} error", "the front", width=860, log_y=log)
    drawn.line(zip(costs, errors, strict=True), "second")
    for number, (found, error) in enumerate(zip(output.front, errors, strict=True)):
        if not math.isfinite(error):
            continue
        best = "yes" if found == output.best else "no"
        name = html.escape(f"complexity {found.complexity:g}: {found.expression}")
        drawn.inside.append(
            f'<circle class="front" tabindex="0" r="6" cx="{drawn.x(found.complexity)}" cy="{drawn.y(error)}" '
            f'data-panel="detail-{place}" data-shows="front-{place}-{number}" data-best="{best}" aria-label="{name}"/>'
        )
    yield f'<figure>{drawn.svg()}<div class="detail" id="detail-{place}"></div></figure>'
    for number, (found, algebra) in enumerate(zip(output.front, output.algebra, strict=True)):
        yield f'<template id="front-{place}-{number}">{_set(found, algebra, output.name)}'
        yield f"<p>complexity {found.complexity:g}, R² {_shares(found)}<br>"
        yield f"<code>{html.escape(found.expression)}</code></p></template>"


def _shares(found: Found) -> str:
    return ", ".join(f"{value:.5g} ({part})" for part, value in found.r2.items())


def _key(rows: tuple[ShownRows, ...]) -> str:
    marks = "".join(f'<span style="background: var(--{one.part})"></span>{one.part}' for one in rows)
    return f'<p class="key sub">{marks}</p>'


def _all(rows: tuple[ShownRows, ...], which: str) -> list[float]:
    return [value for one in rows for value in getattr(one, which)]


def _figure(drawn: Plot) -> str:
    return f"<figure>{drawn.svg()}</figure>"


def _against(output: OutputContent) -> str:
    actual = _all(output.rows, "actual")
    drawn = plot(actual, actual, "actual", "predicted", "predicted against actual")
    drawn.line([(min(actual), min(actual)), (max(actual), max(actual))], "ideal")
    for one in output.rows:
        drawn.points(zip(one.actual, one.predicted, strict=True), one.part)
    return _figure(drawn)


def _residuals(output: OutputContent) -> str:
    actual, predicted = _all(output.rows, "actual"), _all(output.rows, "predicted")
    left = [a - p for a, p in zip(actual, predicted, strict=True)]
    drawn = plot(predicted, left, "predicted", "actual − predicted", "residuals")
    drawn.line([(drawn.x.low, 0.0), (drawn.x.high, 0.0)], "ideal")
    for one in output.rows:
        drawn.points([(p, a - p) for a, p in zip(one.actual, one.predicted, strict=True)], one.part)
    return _figure(drawn)


def _by_input(content: Content, output: OutputContent) -> Iterator[str]:
    names = list(output.rows[0].inputs)
    used = [name for name in names if output.best_algebra is None or _uses(output.best_algebra, name)]
    for name in [*used, *(name for name in names if name not in used)][:MOST_INPUTS]:
        values = [value for one in output.rows for value in one.inputs[name]]
        unit = f" [{content.units[name]}]" if name in content.units else ""
        drawn = plot(values, _all(output.rows, "actual"), f"{name}{unit}", output.name, f"{output.name} by {name}")
        for one in output.rows:
            drawn.points(zip(one.inputs[name], one.actual, strict=True), one.part)
        for one in output.rows:
            drawn.points(zip(one.inputs[name], one.predicted, strict=True), "fit", size=1.4)
        yield _figure(drawn)


def _uses(algebra: Any, name: str) -> bool:
    return any(symbol.name == name for symbol in algebra.free_symbols)


def _training(content: Content) -> Iterator[str]:
    if not content.trace:
        return
    yield '<h2>Training</h2><div class="plots">'
    steps = [one["step"] for one in content.trace]
    for place, output in enumerate(content.outputs):
        best = [_number(one["best_score"][place]) for one in content.trace]
        likeliest = [_number(one["likeliest_score"][place]) for one in content.trace]
        label = "score" if len(content.outputs) == 1 else f"score for {output.name}"
        drawn = plot(steps, [*best, *likeliest], "step", label, "best and likeliest score")
        drawn.line(zip(steps, likeliest, strict=True), "second")
        drawn.line(zip(steps, best, strict=True), "first")
        yield _figure(drawn)
    for key, label in (("entropy", "entropy of a choice, in nats"), ("unique", "share of different functions")):
        values = [_number(one[key]) for one in content.trace]
        drawn = plot(steps, [0.0, *values], "step", label, label)
        drawn.line(zip(steps, values, strict=True), "first")
        yield _figure(drawn)
    yield '</div><p class="sub">Scores: the best function of each step, and in orange the one that the network holds '
    yield "likeliest. Where the entropy jumps, the network started afresh.</p>"


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _network(content: Content, names: list[str]) -> Iterator[str]:
    shown = moments(content.frames)
    if not shown:
        return
    yield "<h2>The network</h2>"
    yield '<p class="sub">Every line is an argument that may be taken; the stronger, the likelier.</p>'
    for moment, frame in zip(("start", "middle", "end"), shown, strict=False):
        title = f"the network at the {moment}, step {frame.step}"
        inside = drawing.svg(frame, content.leaves, names, title)
        yield f'<h3>{moment}: step {frame.step}</h3><figure class="wide">{inside}</figure>'


def _made(content: Content) -> Iterator[str]:
    yield "<h2>How it was made</h2><table>"
    for key, value in content.made.items():
        yield f"<tr><th>{key}</th><td>{html.escape(value)}</td></tr>"
    if content.units:
        shown = ", ".join(f"{name} [{unit}]" for name, unit in content.units.items())
        yield f"<tr><th>units</th><td>{html.escape(shown)}</td></tr>"
    yield f"</table><details><summary>The task file</summary><pre>{html.escape(content.task)}</pre></details>"
