"""Exports: every language gives the numbers of the formula itself, however columns are called."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest
import sympy
import torch
from click.testing import Result as Shown
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit import Registry, typeset
from occamkit.export import Usable

NAMES = ["I", "beta", "lambda", "x y", "S", "größe", "λ", "2nd", "sin"]
QUOTED = ["I", "beta", "lambda", "`x y`", "S", "größe", "λ", "`2nd`", "sin"]
FORMULAS = [
    "2.5*I*sin(beta) + 0.3",
    "1e-7*lambda - 12345678.9*S",
    "-I",
    "-(I - S)/(beta + 3)",
    "I**2/S**3 - 1/sqrt(beta + 4)",
    "2**I + (I + 1)**S",
    "Max(I, S, 1) - Min(beta, `x y`)",
    "I if S < beta else `x y` if I > 0 else 2",
    "Piecewise((I, (S < 1)*(I > 0)), (1, True))",
    "(I < S) + 2*(beta >= 0)",
    "Heaviside(I) + Heaviside(S, 0) + sign(beta)",
    "floor(I) + ceiling(S) + abs(beta) + erf(I)",
    "asin(I/10) + acos(S/10) + atan(beta) + tanh(I) + exp(S) + log(beta**2 + 1)",
    "pi*I + E + sin(2)*S + sqrt(2)",
    "xor(I > 0, S > 0) + leq(I, S, 1, 2) + sigmoid(beta)",
    "log(I)",
    "4.25",
    "größe*λ + `2nd`*sin",
    "I**0.5 + S**1.5",
    "0.1 if I < 0 else 0.2",
]


def points() -> dict[str, numpy.ndarray]:
    generator = numpy.random.default_rng(0)
    columns = {name: generator.uniform(-3, 3, 40) for name in NAMES}
    columns["I"][:3] = [0.0, 1.0, -1.0]
    return columns


def expected(usable: Usable, columns: dict[str, numpy.ndarray]) -> numpy.ndarray:
    return usable.predict({name: torch.from_numpy(column) for name, column in columns.items()}).numpy()


def close(found: Any, wanted: numpy.ndarray) -> None:
    numpy.testing.assert_allclose(numpy.broadcast_to(found, wanted.shape), wanted, rtol=1e-12, atol=1e-12)


def run_source(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), namespace)
    return namespace


@pytest.fixture(scope="module", params=FORMULAS)
def usable(request: pytest.FixtureRequest, registry: Registry) -> Usable:
    return Usable.read(request.param, NAMES, registry)


def test_python_needs_numpy_alone_and_gives_the_same_numbers(usable: Usable) -> None:
    source, columns = usable.export("python"), points()
    assert "occamkit." not in source
    predict = run_source(source)["predict"]
    wanted = expected(usable, columns)
    close(predict(*(columns[name] for name in usable.inputs)), wanted)
    close(predict(*(float(columns[name][5]) for name in usable.inputs)), wanted[5:6])


def test_torch_module_gives_the_same_numbers_and_can_be_trained(usable: Usable) -> None:
    module, columns = run_source(usable.export("torch"))["Formula"](), points()
    given = [torch.from_numpy(columns[name]) for name in usable.inputs]
    found = module(*given)
    close(found.detach().numpy(), expected(usable, columns))
    assert module(*(one.float() for one in given)).dtype == (torch.float32 if given else torch.float64)
    if list(module.parameters()):
        found.sum().backward()
        assert all(parameter.grad is not None for parameter in module.parameters())


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler here")
def test_c_compiles_and_gives_the_same_numbers(usable: Usable, tmp_path: Path) -> None:
    source, library = tmp_path / "formula.c", tmp_path / "formula.so"
    source.write_text(usable.export("c"), encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, source, "-lm"], check=True)
    predict, columns = ctypes.CDLL(str(library)).predict, points()
    predict.restype = ctypes.c_double
    rows = [[ctypes.c_double(columns[name][row]) for name in usable.inputs] for row in range(40)]
    close(numpy.array([predict(*row) for row in rows]), expected(usable, columns))


def test_sympy_code_makes_the_same_expression(usable: Usable) -> None:
    made = run_source(usable.export("sympy"))["expression"]
    symbols = [sympy.Symbol(name, real=True) for name in usable.inputs]
    assert set(made.free_symbols) <= set(symbols)
    assert sympy.simplify(made - usable.sympy()) == 0


def test_documents_are_well_formed(usable: Usable) -> None:
    root = ElementTree.fromstring(usable.export("mathml"))
    assert root.tag.endswith("math")
    latex = usable.export("latex")
    assert latex.count("{") == latex.count("}")
    assert usable.text == "4.25" or all(f"`{name}`" in usable.export("markdown") for name in usable.inputs)


@given(st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=6))
@settings(max_examples=200)
def test_identifiers_are_valid_distinct_and_free(names: list[str]) -> None:
    found = typeset.identifiers(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    for identifier in found.values():
        assert identifier.isascii()
        assert identifier.isidentifier()
        assert identifier not in typeset.RESERVED


def test_plain_names_stay_and_others_can_be_guessed() -> None:
    names = ["x y", "x_y", "I", "lambda", "größe", "λ", "t", "2nd"]
    assert list(typeset.identifiers(names).values()) == [
        "x_y_2", "x_y", "I_", "lambda_", "grosse", "lambda__2", "t", "x2nd",
    ]  # fmt: skip


@given(st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable()))
def test_any_name_survives_typesetting(name: str) -> None:
    symbol = sympy.Symbol(name, real=True)
    ElementTree.fromstring(typeset.mathml(symbol + 1, sympy.Symbol("y")))
    latex = typeset.latex(symbol**2)
    assert latex.replace(r"\{", "").replace(r"\}", "").count("{") == latex.replace(r"\{", "").count("}") - latex.count(
        r"\}"
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over awkward columns, whose formula is found in a few steps."""
    from occamkit.cli.main import cli

    folder = tmp_path_factory.mktemp("export")
    generator = numpy.random.default_rng(1)
    rows = generator.uniform(1, 3, (60, len(NAMES)))
    target = rows[:, 0] * rows[:, 3] + rows[:, 5]
    lines = [
        ",".join([*NAMES, "S out"]),
        *(",".join(map(repr, map(float, [*row, y]))) for row, y in zip(rows, target, strict=True)),
    ]
    (folder / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    inputs = "".join(f"[[inputs]]\nname = {json.dumps(name, ensure_ascii=False)}\n" for name in NAMES)
    (folder / "task.toml").write_text(
        'occamkit = 1\nname = "awkward"\n[data]\nsource = "csv"\nfile = "data.csv"\n'
        f'{inputs}[[outputs]]\nname = "S out"\n'
        '[search]\nprimitives = ["add", "mul"]\nconstants = []\ndepth = 2\n'
        '[[proposers]]\nname = "network"\n[stop]\nmax_steps = 200\n',
        encoding="utf-8",
    )
    arguments = ["run", str(folder / "task.toml"), "--out", str(folder / "run"), "--quiet"]
    with pytest.raises(SystemExit) as leaving:
        cli(arguments)
    assert leaving.value.code == 0
    return folder / "run"


def test_awkward_columns_reach_every_export(run: Path, occamkit: Callable[..., Shown]) -> None:
    found = json.loads((run / "result.json").read_text(encoding="utf-8"))["outputs"][0]["best"]["expression"]
    assert found == "I*`x y` + größe"
    languages = [row["name"] for row in json.loads(occamkit("list", "exporters", "--json").stdout)]
    assert {"sympy", "latex", "python", "torch", "c", "mathml", "markdown"} <= set(languages)
    for language in languages:
        shown = occamkit("export", str(run), "--to", language)
        assert shown.exit_code == 0
        assert "x y" in shown.stdout
        assert "größe" in shown.stdout or "gr&#246;&#223;e" in shown.stdout
    python = json.loads(occamkit("export", str(run), "--to", "python", "--json").stdout)
    assert python["inputs"] == ["I", "x y", "größe"]
    assert run_source(python["text"])["predict"](2.0, 3.0, 1.0) == 7.0


def test_a_formula_is_chosen_from_the_run(run: Path, occamkit: Callable[..., Shown]) -> None:
    simplest = occamkit("export", str(run), "--to", "latex", "--formula", "0").stdout
    assert simplest != occamkit("export", str(run), "--to", "latex").stdout
    for wrong, words in [
        (["--formula", "99"], "from 0 to"),
        (["--output", "S uot"], "did you mean 'S out'"),
        (["--to", "pyton"], "did you mean 'python'"),
    ]:
        shown = occamkit("export", str(run), "--to", "c", *wrong)
        assert (shown.exit_code, words in shown.stderr) == (2, True)


def test_predictions_of_new_rows(run: Path, tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    data = tmp_path / "new.csv"
    data.write_text("größe,x y,I\n1,2,3\n4,5,6\n", encoding="utf-8")
    shown = occamkit("predict", str(run), str(data))
    assert shown.stdout == "S out\n7.0\n34.0\n"
    assert json.loads(occamkit("predict", str(run), str(data), "--json").stdout)["values"] == [7.0, 34.0]
    out = tmp_path / "out.csv"
    assert occamkit("predict", str(run), str(data), "--out", str(out)).exit_code == 0
    assert out.read_text(encoding="utf-8") == shown.stdout
    assert occamkit("predict", str(run), str(data), "--out", str(out)).exit_code == 2
    data.write_text("größe,x y\n1,2\n", encoding="utf-8")
    missing = occamkit("predict", str(run), str(data))
    assert (missing.exit_code, "no column 'I'" in missing.stderr) == (2, True)


def test_an_exporter_of_a_pack(run: Path, occamkit: Callable[..., Shown], make_pack: Callable[..., None]) -> None:
    make_pack(
        "shout",
        """
        from occamkit import hookimpl, typeset

        class Shout:
            name = "shout"
            def export(self, expression, inputs):
                return typeset.text(expression).upper()

        @hookimpl
        def occamkit_exporters():
            return [Shout()]
        """,
    )
    assert occamkit("export", str(run), "--to", "shout").stdout == "I*`X Y` + GRÖSSE\n"
