"""`plugins new`, `plugins check`, and what `plugins list` says of packs that work but should change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from occamkit import Registry, hookspecs
from occamkit.cli.new_pack import _FILES
from occamkit.hookspecs import Renamed

ROOT = Path(__file__).parents[1]


def installed(folder: Path, site: Path) -> dict[str, str]:
    """Do what installing would: make the entry point known. Returns the environment for other processes."""
    info = site / "occamkit_demo-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: occamkit-demo\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[occamkit]\ndemo = occamkit_demo\n")
    paths = [site, folder / "src", ROOT]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}


@pytest.fixture
def demo(tmp_path: Path, occamkit: Callable[..., Result]) -> Path:
    made = occamkit("plugins", "new", "demo", "--into", str(tmp_path))
    assert made.exit_code == 0
    assert f"pip install {tmp_path}/occamkit-demo" in made.stdout
    return tmp_path / "occamkit-demo"


def test_a_new_pack_has_all_its_files(demo: Path) -> None:
    made = {str(path.relative_to(demo)) for path in demo.rglob("*") if path.is_file()}
    assert len(made) == len(_FILES)
    assert {"pyproject.toml", "README.md", ".github/workflows/test.yml", "src/occamkit_demo/tasks/example.toml"} <= made
    assert not any("$name" in (demo / path).read_text() or "$module" in (demo / path).read_text() for path in made)


def test_a_new_pack_passes_its_own_tests(demo: Path, tmp_path: Path) -> None:
    environment = installed(demo, tmp_path / "site")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "tests"]
    done = subprocess.run(command, cwd=demo, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    main = [sys.executable, "-c", "from occamkit.cli.main import main; main()"]
    run = subprocess.run(
        [*main, "run", "demo/example", "--quiet"], cwd=demo, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("ladder = sqrt(foot**2 + height**2)  [m]")


def test_a_folder_is_checked_without_installing(demo: Path, occamkit: Callable[..., Result]) -> None:
    code = "from occamkit.cli.main import main; main()"
    command = [sys.executable, "-c", code, "plugins", "check", str(demo), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert (document["pack"], document["version"], document["ok"]) == ("demo", "0.1.0", True)
    assert {row["verdict"] for row in document["checks"]} == {"holds"}
    assert {row["kind"] for row in document["checks"]} == {"primitives", "regularizers", "tasks"}


@pytest.mark.parametrize("name", ["Demo", "1st", "occamkit", "class", "my-pack", "../x"])
def test_a_bad_name_is_refused(name: str, tmp_path: Path, occamkit: Callable[..., Result]) -> None:
    refused = occamkit("plugins", "new", name, "--into", str(tmp_path))
    assert refused.exit_code == 2
    assert "cannot be the name of a pack" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(demo: Path, occamkit: Callable[..., Result]) -> None:
    again = occamkit("plugins", "new", "demo", "--into", str(demo.parent))
    assert again.exit_code == 2
    assert "exists already; nothing is overwritten" in again.stderr


def test_checking_what_is_no_pack(occamkit: Callable[..., Result], tmp_path: Path) -> None:
    assert "did you mean 'occamkit'" in occamkit("plugins", "check", "ocamkit").stderr
    assert "pyproject.toml cannot be read" in occamkit("plugins", "check", f"{tmp_path}/").stderr
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert "so it is no pack" in occamkit("plugins", "check", str(tmp_path)).stderr
    (tmp_path / "pyproject.toml").write_text("[project\n")
    assert occamkit("plugins", "check", str(tmp_path)).exit_code == 2


EXPECTING = """
    import sympy, torch
    from occamkit import Elementwise, hookimpl, units
    OCCAMKIT_EXPECTED_FAILURES = {"wave-%s": "on purpose"}
    @hookimpl
    def occamkit_primitives(): return [Elementwise("wave", 1, torch.sin, sympy.cos, units.dimensionless)]
"""


def test_expected_failures_are_fine_until_they_hold(
    make_pack: Callable[..., None], occamkit: Callable[..., Result]
) -> None:
    make_pack("good", EXPECTING % "sympy agrees")
    checked = occamkit("plugins", "check", "good")
    assert checked.exit_code == 0
    assert "on purpose" in checked.stdout
    make_pack("bad", EXPECTING % "arity", version="2.0")
    checked = occamkit("plugins", "check", "bad")
    assert checked.exit_code == 1
    assert "holds unexpectedly" in checked.stdout
    assert "every" not in checked.stdout
    assert "arity" in occamkit("plugins", "check", "good", "--all").stdout


OLD = """
    import sympy, torch
    from occamkit import Elementwise, hookimpl, units
    @hookimpl
    def occamkit_functions(): return [Elementwise("erf", 1, torch.erf, sympy.erf, units.dimensionless)]
"""


def test_a_renamed_hook_still_works_and_is_told(
    make_pack: Callable[..., None], occamkit: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pack("old", OLD)
    before = next(pack for pack in Registry.load().packs if pack.name == "old")
    assert before.status == "broken"
    assert "occamkit_functions" in before.reason
    monkeypatch.setattr(hookspecs, "RENAMED", {"occamkit_functions": Renamed("occamkit_primitives", until="0.3")})
    assert Registry.load().find("primitives", "old:erf").pack == "old"
    rows = {row["name"]: row for row in json.loads(occamkit("plugins", "list", "--json").stdout)}
    note = "hook 'occamkit_functions' is now 'occamkit_primitives'; rename it before version 0.3 of the interface"
    assert (rows["old"]["status"], rows["old"]["notes"]) == ("ok", [note])
    assert "is now 'occamkit_primitives'" in occamkit("plugins", "list").stdout


@pytest.mark.parametrize(
    ("head", "code", "words"),
    [("OCCAMKIT_PACK = 'demo'", 0, "test_promise[hypot-units agree with numbers]"), ("", 4, "OCCAMKIT_PACK = 'mine'")],
)
def test_the_pytest_plugin_asks_for_every_promise(demo: Path, tmp_path: Path, head: str, code: int, words: str) -> None:
    (demo / "tests" / "test_plugin.py").write_text(
        f"{head}\n\ndef test_promise(occamkit_promise): occamkit_promise.run()\n"
    )
    command = [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", "-p", "occamkit_pytest"]
    done = subprocess.run(
        [*command, "--rootdir", ".", "tests/test_plugin.py"],
        cwd=demo, env=installed(demo, tmp_path / "site"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert words in done.stdout + done.stderr
    assert (done.returncode == 0) == (code == 0)
