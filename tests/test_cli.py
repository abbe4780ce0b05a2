"""The command line: exit codes, JSON on standard output and nothing else there, messages on standard error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import Result

from occamkit import Registry
from occamkit.cli.main import OWN
from tests.test_tasks import GOOD

NAMES = [
    "add", "sub", "mul", "div", "neg", "inv", "square", "cube", "sqrt", "abs",
    "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "exp", "log", "log_abs",
    "sigmoid", "leq", "step", "and", "or", "not", "nand", "xor", "max", "min",
    "add4", "add9", "max4", "max9", "min4", "min9", "sigmoid10", "tanh10", "identity", "add_c",
    "mul_c", "pow_c",
]  # fmt: skip
GROUPS = {"arithmetic", "trig", "exponential", "logic", "extrema", "smooth", "learned"}


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task.toml"
    path.write_text(GOOD)
    return path


def test_list_primitives(occamkit: Callable[..., Result]) -> None:
    rows = {row["name"]: row for row in json.loads(occamkit("list", "primitives", "--json").stdout)}
    assert set(NAMES) <= set(rows)
    assert {row["group"] for row in rows.values()} >= GROUPS
    assert rows["leq"]["arity"] == 4
    assert (rows["mul"]["units"], rows["mul"]["sympy"], rows["mul"]["pack"]) == ("product", "x0*x1", "occamkit")
    assert rows["pow_c"]["constants"] == ["c"]
    table = occamkit("list", "primitives").stdout
    assert all(name in table for name in NAMES)


@pytest.mark.parametrize("kind", ["fitnesses", "regularizers", "wrappers", "tasks", "proposers", "exporters"])
def test_list_everything_else(occamkit: Callable[..., Result], kind: str, registry: Registry) -> None:
    rows = json.loads(occamkit("list", kind, "--json").stdout)
    assert {entry.name for entry in registry.entries(kind)} <= {row["name"] for row in rows}
    assert occamkit("list", kind).exit_code == 0


def test_plugins_list(occamkit: Callable[..., Result], make_pack: Callable[..., None]) -> None:
    make_pack("broken", "raise ImportError('no gsl')", metadata=False)
    rows = {row["name"]: row for row in json.loads(occamkit("plugins", "list", "--json").stdout)}
    assert rows["occamkit"]["status"] == "ok"
    assert "add" in rows["occamkit"]["provides"]["primitives"]
    assert rows["broken"]["status"] == "broken"
    assert rows["broken"]["reason"].startswith("cannot be imported: ImportError: no gsl; mend or uninstall ")
    shown = occamkit("plugins", "list").stdout
    assert "no gsl" in shown
    blocked = json.loads(occamkit("plugins", "list", "--block", "broken", "--json").stdout)
    assert {row["name"]: row["status"] for row in blocked}["broken"] == "disabled"


def test_check(occamkit: Callable[..., Result], task: Path) -> None:
    result = occamkit("check", str(task))
    assert result.exit_code == 0
    assert "free-fall: ok" in result.stdout
    assert "t [s]" in result.stdout
    summary = json.loads(occamkit("check", str(task), "--json").stdout)
    assert summary["ok"] is True
    assert summary["rows"] == {"train": 120, "valid": 40, "test": 40}
    # 5 columns, 6 primitives with 11 arguments in each of 3 layers: 11·(5 + 11 + 17) + 23
    assert summary["weights"] == 386
    assert summary["outputs"] == [{"name": "d", "unit": "m"}]


def test_check_reports_every_mistake(occamkit: Callable[..., Result], task: Path) -> None:
    task.write_text(GOOD.replace("weight = 1.0", "weight = -1").replace('"div"', '"dvi"'))
    result = occamkit("check", str(task))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 2
    problems = json.loads(occamkit("check", str(task), "--json").stdout)["problems"]
    assert [(problem["line"], problem["key"]) for problem in problems] == [
        (14, "search.primitives[2]"),
        (25, "regularizers[0].weight"),
    ]


def test_schema_describes_tasks_and_is_itself_valid(
    occamkit: Callable[..., Result], make_pack: Callable[..., None]
) -> None:
    schema = json.loads(occamkit("schema").stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    import tomllib

    good = tomllib.loads(GOOD)
    assert list(validator.iter_errors(good)) == []
    assert list(validator.iter_errors({**good, "fitness": {"name": "gaussian", "sgma": 1}}))
    make_pack(
        "mine",
        """
        from dataclasses import dataclass
        from typing import ClassVar
        from occamkit import hookimpl

        @dataclass
        class Mine:
            name: ClassVar[str] = "mine"
            delta: float = 1.0
            def score(self, predicted, target): ...
            def ceiling(self, points): ...

        @hookimpl
        def occamkit_fitnesses():
            return [Mine]
        """,
    )
    assert "mine" in occamkit("schema").stdout
    assert "mine:mine" not in json.dumps(schema)


def test_commands_of_packs_join(occamkit: Callable[..., Result], make_pack: Callable[..., None]) -> None:
    make_pack(
        "hello",
        """
        import click
        from occamkit import hookimpl

        @click.command("hello")
        def hello():
            "Say hello."
            click.echo("hello from a pack")

        @hookimpl
        def occamkit_commands():
            return [hello]
        """,
    )
    assert occamkit("hello").stdout == "hello from a pack\n"
    assert "Say hello." in occamkit("--help").stdout


def test_misspelt_words_have_a_nearest_match(occamkit: Callable[..., Result]) -> None:
    unknown = occamkit("chek", "x.toml")
    assert (unknown.exit_code, "did you mean 'check'" in unknown.stderr) == (2, True)
    pack = occamkit("list", "primitives", "--block", "nobody", "--json")
    assert pack.exit_code == 2
    assert json.loads(pack.stdout)["errors"][0]["message"].startswith("unknown pack 'nobody'")


@pytest.mark.parametrize("name", sorted(OWN))
def test_every_command_has_help(occamkit: Callable[..., Result], name: str) -> None:
    result = occamkit(name, "--help")
    assert result.exit_code == 0
    assert len(result.stdout) > 100


def test_as_a_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from occamkit.cli.main import main; main()"]
    run = subprocess.run([*command, "check", "nowhere.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", "nowhere.toml: no such file\n")
    as_json = subprocess.run(
        [*command, "check", "nowhere.toml", "--json"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (as_json.returncode, json.loads(as_json.stdout)["ok"]) == (2, False)
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("occamkit, version 0.1.0, ")
