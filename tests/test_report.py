"""Reports: one page that needs nothing else and works in a real browser; a picture, a text, and a film."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from click.testing import Result as Shown

from occamkit import Registry
from occamkit.cli.main import cli
from occamkit.export import Usable
from occamkit.report.axes import spread
from occamkit.report.constants import measured
from tests.browser import CHROMIUM, Browser

TASK = """
occamkit = 1
name = "two <outputs> & units"
[data]
source = "formula"
target = { "sum of both" = "`x y` + 0.5*I", ratio = "`x y`/I + I/(`x y` + I)" }
points = 80
noise = 0.02
[[inputs]]
name = "x y"
unit = "km"
range = [1, 3]
[[inputs]]
name = "I"
unit = "km"
range = [1, 3]
[[outputs]]
name = "sum of both"
unit = "m"
[[outputs]]
name = "ratio"
[search]
primitives = ["add", "mul", "div"]
constants = [1, 2]
depth = 2
[stop]
max_steps = 60
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "task.toml").write_text(TASK)
    done = CliRunner().invoke(cli, ["run", str(folder / "task.toml"), "--out", str(folder / "run"), "--quiet"])
    assert done.exit_code == 0, done.output
    return folder / "run"


def test_the_page_holds_everything_and_asks_for_nothing(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    links = re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?([^\"') >]+)", page)
    assert set(links) <= {"data:,"}
    assert "@import" not in page
    for words in ("<math", "predicted against actual", "residuals", "the network at the end", "entropy"):
        assert words in page
    assert "two &lt;outputs&gt; &amp; units" in page
    assert page.count("<circle") > 100


def test_other_formats(run: Path, tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    assert occamkit("report", str(run), "--format", "md", "--out", str(tmp_path / "r.md")).exit_code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "| Complexity |" in text
    assert "ratio = " in text
    pytest.importorskip("matplotlib")
    assert occamkit("report", str(run), "--format", "png", "--out", str(tmp_path / "r.png")).exit_code == 0
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert occamkit("report", str(run), "--animate", str(tmp_path / "r.gif")).exit_code == 0
    assert (tmp_path / "r.gif").read_bytes().startswith(b"GIF8")
    images = pytest.importorskip("PIL.Image")
    with images.open(tmp_path / "r.gif") as film:
        assert film.n_frames > 5
    wrong = occamkit("report", str(run), "--out", str(tmp_path / "none" / "r.html"))
    assert (wrong.exit_code, "there is no folder" in wrong.stderr) == (2, True)


def test_constants_have_the_errors_of_least_squares(registry: Registry) -> None:
    generator = np.random.default_rng(0)
    x = np.linspace(0, 5, 200)
    y = 2.5 * x + 0.3 + generator.normal(0, 0.1, 200)
    slope, offset = np.polyfit(x, y, 1)
    _, covariance = np.polyfit(x, y, 1, cov="unscaled")
    left = y - slope * x - offset
    expected = np.sqrt(np.diag(covariance) * (left @ left) / 198)
    usable = Usable.read(f"{float(slope)!r}*x + {float(offset)!r}", ["x"], registry)
    found = measured(usable, {"x": torch.from_numpy(x)}, torch.from_numpy(y))
    assert [one.error for one in found] == pytest.approx(expected.tolist(), rel=1e-4)
    parts = 1 / (x + 1)
    slope, offset = np.polyfit(x, y, 1, w=parts)
    _, covariance = np.polyfit(x, y, 1, w=parts, cov="unscaled")
    left = parts * (y - slope * x - offset)
    expected = np.sqrt(np.diag(covariance) * (left @ left) / 198)
    usable = Usable.read(f"{float(slope)!r}*x + {float(offset)!r}", ["x"], registry)
    found = measured(usable, {"x": torch.from_numpy(x)}, torch.from_numpy(y), torch.from_numpy(parts))
    assert [one.error for one in found] == pytest.approx(expected.tolist(), rel=1e-4)
    twice = Usable.read("1.5*2.5*x", ["x"], registry)
    assert [one.error for one in measured(twice, {"x": torch.from_numpy(x)}, torch.from_numpy(y))] == [None, None]
    whole = Usable.read("2*x + 3", ["x"], registry)
    assert measured(whole, {"x": torch.from_numpy(x)}, torch.from_numpy(y)) == ()


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3e-9, 5e-9), (12.0, 12.0), (1e6, 3e8), (0, 0)])
@pytest.mark.parametrize("log", [False, True])
def test_axes_have_a_handful_of_ticks_inside(low: float, high: float, log: bool) -> None:
    scale = spread([low, high, float("nan")], 0, 100, log)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 9
    assert all(scale.low <= tick <= scale.high for tick in ticks)


@pytest.fixture
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    browser = Browser()
    yield browser
    browser.close()


def test_the_page_in_a_real_browser(run: Path, browser: Browser, tmp_path: Path) -> None:
    page = run / "report.html"
    browser.open(page)
    formula = browser.evaluate("document.querySelector('#formula-0 code').textContent")
    assert formula.startswith("sum of both = ")
    assert browser.evaluate("document.querySelector('#formula-0 math').getBoundingClientRect().height") > 10
    count = "document.querySelectorAll('circle.front[data-panel=detail-{}]').length"
    points, panel = max((browser.evaluate(count.format(place)), place) for place in (0, 1))
    assert points >= 2
    seen = set()
    for place in range(points):
        browser.hover(f"circle.front[data-shows='front-{panel}-{place}']")
        seen.add(browser.evaluate(f"document.querySelector('#detail-{panel} code').textContent"))
        assert browser.evaluate(f"document.querySelectorAll('#detail-{panel} math').length") == 1
    assert len(seen) == points
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 20_000
    requested = {event["request"]["url"] for event in browser.named("Network.requestWillBeSent")}
    assert {url for url in requested if not url.startswith("data:")} == {page.resolve().as_uri()}
    for trouble in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
        assert browser.named(trouble) == []
