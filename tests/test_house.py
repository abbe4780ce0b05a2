"""Tests that hold the house together: who may import whom, what may be said where, and that nothing is undocumented."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import occamkit
from occamkit import Registry, Stage, hookspecs
from occamkit.cli.main import OWN
from occamkit.packs.find import KINDS
from occamkit.testing import PROMISES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "occamkit"
DOCS = ROOT / "docs"
# What builds the kernel is run by the builder of wheels, and by nothing else.
MODULES = sorted(one for one in PACKAGE.rglob("*.py") if one.parent.name != "native")

# Low to high: a room may import from its own and from lower ones.
ORDER = [
    "_version", "errors", "files", "typeset", "kernel", "units", "primitives", "protocols", "traits", "hookspecs",
    "packs", "language", "dimensions", "network", "graph", "task", "fit", "evaluate", "description", "score", "archive",
    "train", "search", "result", "runs", "export", "report", "solve", "estimator", "nn", "testing", "cli",
]  # fmt: skip
# What a third party may import, and so the built-in pack: these rooms, and of each the names in its `__all__`.
PUBLIC = ["occamkit", *(f"occamkit.{name}" for name in (
    "description", "dimensions", "fit", "graph", "kernel", "search", "train", "traits", "units",
))]  # fmt: skip


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
            if source not in PUBLIC or name not in public_names(source):
                wrong.append(f"{module.relative_to(PACKAGE)}:{line} imports {name} from {source}")
    assert wrong == []


def public_names(room: str) -> set[str]:
    there = importlib.import_module(room)
    own = {name for name, value in vars(there).items() if getattr(value, "__module__", "") == room}
    return set(getattr(there, "__all__", own | {"CLASH", "DIMENSIONLESS", "FREE", "Unit"}))


@pytest.mark.parametrize("room", PUBLIC)
def test_public_rooms_are_documented(room: str) -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert room == "occamkit" or f"automodule:: {room}\n" in page


def test_what_built_ins_import_is_documented() -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    used = {
        (source, name)
        for module in (PACKAGE / "builtins").rglob("*.py")
        for _, source, name in run_time_imports(module)
        if source in PUBLIC and source not in ("occamkit", "occamkit.units") and name  # units are documented whole
    }
    assert sorted(f"{source}.{name}" for source, name in used if not re.search(rf"\b{name}\b", page)) == []


def test_every_module_is_named_in_its_room() -> None:
    missing = []
    for module in MODULES:
        if module.name != "__init__.py" and module.parent != PACKAGE:
            said = ast.get_docstring(ast.parse((module.parent / "__init__.py").read_text(encoding="utf-8"))) or ""
            if not re.search(rf"\b{module.stem}\b", said):
                missing.append(str(module.relative_to(PACKAGE)))
    assert missing == []


def test_no_two_public_classes_share_a_name() -> None:
    owners: dict[str, list[str]] = {}
    for module in MODULES:
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                owners.setdefault(node.name, []).append(str(module.relative_to(PACKAGE)))
    assert {name: where for name, where in owners.items() if len(where) > 1} == {}


def test_nobody_uses_a_private_name_of_another_module() -> None:
    wrong = []
    for module in MODULES:
        for line, source, name in run_time_imports(module):
            if source.startswith("occamkit") and name.startswith("_") and not name.endswith("__"):
                wrong.append(f"{module.relative_to(PACKAGE)}:{line} imports {name}")
    assert wrong == []


# What was `search`, `train`, `score` and the built-in proposers before there was one search, wherever it lives now:
# then it had 7,285 lines, 7,024 of them without the built-in proposers, and 456 numbers set by hand. What came later
# is none of it: the search for free constants, and modules for noisy rows, trajectories and rows without a law.
SEARCH = ["search", "train", "score", "archive", "description", "builtins/proposers"]
LATER = {"free_constants", "ladder", "foretold.py", "noisy_rows.py", "luck.py", "trajectory.py"}
LINES, HAND_SET = 7_024, 456


def hand_set(module: Path) -> int:
    """Count upper-case numbers, and numeric literals other than 0, 1 and 2."""
    tree, named = ast.parse(module.read_text(encoding="utf-8")), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            if any(one.id.isupper() for one in names):
                named |= {id(one) for one in ast.walk(node.value)}
    numbers = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and type(one.value) in (int, float)]
    return sum(id(one) in named or one.value not in (0, 1, 2) for one in numbers)


def searched() -> Iterator[Path]:
    for where in SEARCH:
        yield from (one for one in sorted((PACKAGE / where).rglob("*.py")) if not LATER & set(one.parts))
    yield from (
        PACKAGE / name
        for name in ("fit/linear.py", "fit/trees.py", "graph/numbers.py", "graph/rewrite.py", "graph/tree_fold.py")
    )


def test_the_search_does_not_grow() -> None:
    assert sum(len(module.read_text(encoding="utf-8").splitlines()) for module in searched()) <= LINES


def test_few_numbers_are_set_by_hand() -> None:
    kept = {str(one.relative_to(PACKAGE)): hand_set(one) for one in searched()}
    assert sum(kept.values()) <= HAND_SET // 2, {name: count for name, count in kept.items() if count}


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
    for kind in ("fitnesses", "regularizers", "wrappers", "proposers"):
        assert [entry.name for entry in registry.entries(kind) if f"`{entry.name}`" not in pages] == []


def test_the_changelog_knows_this_version_or_the_next() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text or f"## [{occamkit.__version__}]" in text


# Where a built-in's name may stand in the core, and why.
ALLOWED_NAMES = {
    "language/functions.py": "the names of sympy's functions, for formulas as people write them",
    "language/parse.py": "other spellings of those, such as ln and Abs",
    "graph/tree_fold.py": "sqrt is a function of that language",
    "task/file/complaints.py": "lt is pydantic's word for a bound",
    "units.py": "log is a word in pint's message about logarithmic units",
    "report/picture.py": "log is matplotlib's word for a scale",
    "result/values.py": "r2 is a key of result.json",
    "train/adam.py": "square is what Adam keeps beside the mean",
    "train/learner.py": "network is the key of its weights in a state",
    "typeset.py": "lt is HTML's word for a sign",
}
# Names of built-in parts that are words of the toolkit itself: members of a primitive, keys and values of a task file,
# a function in the programs that it writes, a command.
WORDS = {"units", "constants", "step", "fit", "monomial"}


def literals(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts in a module, each with its line, but not what is said in docstrings."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


def test_no_core_module_knows_the_name_of_a_built_in_part(registry: Registry) -> None:
    kinds = ("primitives", "fitnesses", "regularizers", "proposers", "wrappers")
    names = {entry.name for kind in kinds for entry in registry.entries(kind)} - WORDS
    names |= {entry.qualified for kind in kinds for entry in registry.entries(kind)}
    wrong = [
        f"{module.relative_to(ROOT)}:{line} says {text!r}"
        for module in MODULES
        if room(module) != "builtins" and str(module.relative_to(PACKAGE)) not in ALLOWED_NAMES
        for line, text in literals(module)
        if text in names
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_hook_is_used_by_a_pack_of_ours(kind: str) -> None:
    packs = [
        path for path in (ROOT / "plugins").glob("*/src/*/__init__.py") if f"def occamkit_{kind}" in path.read_text()
    ]
    assert packs, f"no pack in plugins/ provides {kind}"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_promise_is_documented(kind: str) -> None:
    page = (DOCS / "packs" / "testing.md").read_text(encoding="utf-8")
    assert PROMISES[kind], f"the kit asks nothing of {kind}"
    for promise, check in PROMISES[kind].items():
        assert f"| `{promise}` | {check.__doc__} |" in page, (kind, promise)


@pytest.mark.parametrize("pack", sorted(path.name for path in (ROOT / "plugins").iterdir() if path.is_dir()))
def test_every_pack_has_its_files_and_a_page(pack: str) -> None:
    folder = ROOT / "plugins" / pack
    assert (folder / "pyproject.toml").is_file()
    assert (folder / "README.md").is_file()
    assert (folder / "tests" / "test_conformance.py").is_file()
    directory = (DOCS / "packs" / "directory.md").read_text(encoding="utf-8")
    assert f"`{pack}`" in directory
    assert (DOCS / "packs" / f"{pack.removeprefix('occamkit-')}.md").is_file()


@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_is_documented_and_tested(stage: Stage) -> None:
    assert f"`Stage.{stage.name}`" in (DOCS / "packs" / "hooks.md").read_text(encoding="utf-8")
    assert f"Stage.{stage.name}" in (ROOT / "tests" / "test_outside_parts.py").read_text(encoding="utf-8")


def test_the_tutorial_is_the_pack_to_the_letter() -> None:
    page = (DOCS / "packs" / "tutorial.md").read_text(encoding="utf-8")
    folder = ROOT / "plugins" / "occamkit-special"
    shown = dict(re.findall(r"```(?:python|toml)\n# file: (\S+)\n(.*?)\n```", page, re.DOTALL))
    files = [path for path in folder.rglob("*") if path.suffix in {".py", ".toml"}]
    assert {str(path.relative_to(folder)): path.read_text(encoding="utf-8").rstrip() for path in files} == shown
