"""Shared by all tests: one loaded registry, and packs made of nothing but a folder on the path."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result
from hypothesis import settings
from threadpoolctl import threadpool_limits

from occamkit import Registry
from occamkit.cli.main import cli
from occamkit.cli.output import report_error
from occamkit.errors import OccamkitError

# As a run has it: a second thread of linear algebra waits for a core that the other worker has.
torch.set_num_threads(1)
threadpool_limits(1)

# Deadlines measure the machine; equal seeds make a failure in CI the same failure everywhere.
settings.register_profile("occamkit", deadline=None, derandomize=True)
settings.load_profile("occamkit")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests choose packs themselves, whatever the shell says."""
    monkeypatch.delenv("OCCAMKIT_PACKS", raising=False)
    monkeypatch.delenv("OCCAMKIT_STRICT_PLUGINS", raising=False)


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load(only=[])


@pytest.fixture
def make_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a pack as a bare dist-info with an entry point, beside the module it names."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    loaded = set(sys.modules)

    def make(
        name: str, source: str, version: str = "1.0", distribution: str | None = None, metadata: bool = True
    ) -> None:
        distribution = distribution or f"occamkit_{name}"
        (site / f"{distribution}_module.py").write_text(textwrap.dedent(source))
        info = site / f"{distribution}-{version}.dist-info"
        info.mkdir()
        if metadata:
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[occamkit]\n{name} = {distribution}_module\n")
        importlib.invalidate_caches()

    yield make
    for module in set(sys.modules) - loaded:
        if module.endswith("_module"):
            del sys.modules[module]


@pytest.fixture
def occamkit() -> Callable[..., Result]:
    """Run the command line in this process, as `main` does, and return its result."""

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(cli, list(arguments))
        if isinstance(result.exception, OccamkitError):
            runner = CliRunner()
            with runner.isolation() as (out, err, _):
                code = report_error(result.exception, as_json="--json" in arguments)
                output, errors = out.getvalue().decode(), err.getvalue().decode()
            return Result(runner, output.encode(), errors.encode(), (output + errors).encode(), None, code, None)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
