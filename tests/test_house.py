"""Tests that hold the house together: who may import whom, what may be said where, and that nothing is undocumented."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import occamkit
from occamkit import Registry, hookspecs
from occamkit.cli.main import OWN
from occamkit.packs import KINDS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "occamkit"
DOCS = ROOT / "docs"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Low to high: a room may import from its own and from lower ones.
ORDER = [
    "_version", "errors", "units", "primitives", "protocols", "hookspecs", "shapes", "trial", "packs", "registry",
    "task", "network", "graph", "evaluate", "score", "train", "search", "result", "formulas", "solve", "report",
    "export", "estimator", "testing", "cli",
]  # fmt: skip


def room(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def run_time_imports(module: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, module, name) of every import that happens when code runs; those for type checkers do not."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, node.module or "", alias.name) for alias in node.names)


def test_rooms_import_only_from_below() -> None:
    wrong = []
    for module in MODULES:
        here = room(module)
        if here in {"__init__", "builtins"}:
            continue
        for line, source, name in run_time_imports(module):
            if source.split(".")[0] != "occamkit":
                continue
            there = [*source.split("."), name][1]
            if there not in ORDER or ORDER.index(there) > ORDER.index(here):
                wrong.append(f"{module.relative_to(ROOT)}:{line} imports {there}")
    assert wrong == []


def test_every_room_has_a_place_in_the_order() -> None:
    assert {room(module) for module in MODULES} - {"__init__", "builtins"} <= set(ORDER)


def test_built_ins_import_only_what_third_parties_may() -> None:
    wrong = []
    for module in (PACKAGE / "builtins").rglob("*.py"):
        for line, source, name in run_time_imports(module):
            if source.startswith("occamkit.builtins") or source.split(".")[0] != "occamkit":
                continue
            if source != "occamkit" or name not in occamkit.__all__:
                wrong.append(f"{module.name}:{line} imports {name} from {source}")
    assert wrong == []


def test_nobody_names_a_device_or_prints() -> None:
    said = re.compile(r"\.cuda\(|(?<![\w.])print\(")
    for module in MODULES:
        if room(module) != "cli":
            assert not said.search(module.read_text(encoding="utf-8")), module


def test_modules_are_read_in_five_minutes() -> None:
    long = {str(module.relative_to(ROOT)): len(module.read_text().splitlines()) for module in MODULES}
    assert {name: lines for name, lines in long.items() if lines > 300} == {}


def test_every_room_says_what_belongs_there() -> None:
    for module in MODULES:
        assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))), module


def test_hooks_and_kinds_are_the_same_list() -> None:
    hooks = {name for name in vars(hookspecs) if name.startswith("occamkit_")}
    assert hooks == {f"occamkit_{kind}" for kind in KINDS}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_hook_is_documented_and_tested(kind: str) -> None:
    hook = f"occamkit_{kind}"
    assert f"`{hook}`" in (DOCS / "packs" / "hooks.md").read_text(encoding="utf-8")
    used = [path for path in (ROOT / "tests").rglob("*.py") if f"def {hook}" in path.read_text(encoding="utf-8")]
    assert used, f"no test makes a pack that implements {hook}"


@pytest.mark.parametrize("command", sorted(OWN))
def test_every_command_is_documented(command: str) -> None:
    pages = " ".join(page.read_text(encoding="utf-8") for page in [*DOCS.rglob("*.md"), ROOT / "README.md"])
    assert f"occamkit {command}" in pages


def test_every_primitive_group_is_documented(registry: Registry) -> None:
    page = (DOCS / "guide" / "primitives.md").read_text(encoding="utf-8")
    missing = [name for name in registry.groups() if ":" not in name and f"`{name}`" not in page]
    missing += [entry.name for entry in registry.entries("primitives") if f"`{entry.name}`" not in page]
    assert missing == []


def test_every_plugin_is_documented(registry: Registry) -> None:
    pages = " ".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    for kind in ("fitnesses", "regularizers", "wrappers"):
        assert [entry.name for entry in registry.entries(kind) if f"`{entry.name}`" not in pages] == []


def test_the_changelog_knows_this_version_or_the_next() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text or f"## [{occamkit.__version__}]" in text
