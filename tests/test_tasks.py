"""Task files: every mistake at once with its line, defaults that are filled in, and data in base units."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.errors import DataError, TaskError, UnknownNameError
from occamkit.protocols import Task
from occamkit.task.data.pmlb import data_folder
from occamkit.task.file.load import check_document, dump_toml, load_task

GOOD = """\
occamkit = 1
name = "free-fall"
[data]
source = "formula"
target = "9.81*t**2/2"
[[inputs]]
name = "t"
unit = "s"
range = [0, 10]
[[outputs]]
name = "d"
unit = "m"
[search]
primitives = ["add*2", "mul*2", "div", "pow_c"]
constants = [1, 2, "pi", "9.81 m/s**2"]
depth = 3
[wrapper]
name = "recurrence"
depth = 4
[fitness]
name = "gaussian"
sigma = 0.01
[[regularizers]]
name = "units"
weight = 1.0
[trainer]
functions = 2000
"""


@pytest.fixture
def load(tmp_path: Path, registry: Registry) -> Callable[..., Task]:
    def load(text: str = GOOD, *changes: tuple[str, str], name: str = "task.toml", **overrides: Any) -> Task:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text)
        return load_task(path, registry, overrides)

    return load


def problems(
    load: Callable[..., Task], *changes: tuple[str, str], text: str = GOOD
) -> list[tuple[int | None, str, str]]:
    with pytest.raises(TaskError) as error:
        load(text, *changes)
    return [(problem.line, problem.key, problem.message) for problem in error.value.problems]


def test_five_mistakes_are_five_lines(load: Callable[..., Task], tmp_path: Path) -> None:
    with pytest.raises(TaskError) as error:
        load(
            GOOD,
            ('unit = "m"', 'unit = "metr"'),
            ('"div"', '"dvi"'),
            ("depth = 3", "dept = 3"),
            ('name = "gaussian"', 'name = "gausian"'),
            ("weight = 1.0", "weight = -1"),
        )
    file = str(tmp_path / "task.toml")
    assert str(error.value).splitlines() == [
        f"{file}:12: outputs[0].unit: unknown unit 'metr' in 'metr'; did you mean 'metre'?",
        f"{file}:14: search.primitives[2]: unknown primitive 'dvi'; did you mean 'div'?",
        f"{file}:16: search.dept: unknown key; did you mean 'depth'?",
        f"{file}:21: fitness.name: unknown fitness 'gausian'; did you mean 'gaussian'?",
        f"{file}:25: regularizers[0].weight: must be >= 0, got -1",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "words"),
    [
        ('name = "free-fall"\n', "", None, "name", "is required"),
        ("occamkit = 1", "occamkit = 2", 1, "occamkit", "must be 1, got 2"),
        ('source = "formula"', 'source = "formla"', 4, "data.source", "did you mean 'formula'"),
        ("range = [0, 10]", "range = [10, 0]", 9, "inputs[0].range", "from low to high"),
        ("range = [0, 10]", "", 6, "inputs[0]", "needs one of range, values or formula"),
        ("range = [0, 10]", "range = [0, 10]\nvalues = [1]", 6, "inputs[0]", "needs one of"),
        ("range = [0, 10]", 'range = ["a", 1]', 9, "inputs[0].range[0]", "must be a number"),
        ('source = "formula"', 'source = ["formula"]', 4, "data.source", "unknown source"),
        ('"9.81 m/s**2"', '"1/0"', 15, "search.constants[3]", "not a number followed by a unit"),
        ('"9.81 m/s**2"', '"1e400 m"', 15, "search.constants[3]", "a computer can hold"),
        ("range = [0, 10]", "range = 10", 9, "inputs[0].range", "must be a list, got 10"),
        ("range = [0, 10]", "range = [0, inf]", 9, "inputs[0].range[1]", "finite"),
        ("9.81*t**2/2", "9.81*time**2/2", 5, "data.target", "unknown name 'time'"),
        ("9.81*t**2/2", "9.81*t**", 5, "data.target", "ends where"),
        ('name = "d"', 'name = "t"', 11, "outputs[0].name", "'t' is used twice"),
        ('"9.81 m/s**2"', '"fast m/s"', 15, "search.constants[3]", "not a number followed by a unit"),
        ('"9.81 m/s**2"', '"9.81 m/sec2"', 15, "search.constants[3]", "unknown unit"),
        ('"add*2"', '"add*two"', 14, "search.primitives[0]", "with copies such as"),
        ('"add*2"', '"nopack:add"', 14, "search.primitives[0]", "no pack 'nopack' is installed"),
        ("depth = 3", 'depth = "3"', 16, "search.depth", 'must be a whole number, got "3"'),
        ("depth = 3", "depth = 0", 16, "search.depth", "must be >= 1, got 0"),
        ("depth = 3", "depth = 3\nrepeats = [2, 1]", 17, "search.repeats", "one number per layer"),
        ("depth = 4", "depth = 0", 19, "wrapper.depth", "must be >= 1"),
        ("sigma = 0.01", "sgma = 0.01", 22, "fitness.sgma", "unknown key; did you mean 'sigma'?"),
        ("sigma = 0.01", "sigma = 0", 22, "fitness.sigma", "must be > 0, got 0"),
        ('name = "units"', 'name = "unit"', 24, "regularizers[0].name", "did you mean 'units'"),
        ("functions = 2000", "functions = 0.5", 27, "trainer.functions", "must be a whole number"),
        (
            "[trainer]",
            "[[proposers]]\nname = 'nobody'\n[trainer]",
            27,
            "proposers[0].name",
            "unknown proposer 'nobody'",
        ),
        ("[trainer]", "[implicit]\nvalue = 1\n[trainer]", 26, "implicit", "keep one of the two"),
        ("[trainer]", "[traner]", 26, "traner", "did you mean 'trainer'"),
        ('unit = "s"', 'unit = "degC"', 8, "inputs[0].unit", "offset"),
        ("[[inputs]]", "split = { valid = 0.5, test = 0.5 }\n[[inputs]]", 6, "data.split", "leaves nothing"),
    ],
)
def test_each_mistake_is_on_its_line(
    load: Callable[..., Task], old: str, new: str, line: int | None, key: str, words: str
) -> None:
    found = problems(load, (old, new))
    assert len(found) == 1, found
    assert found[0][:2] == (line, key)
    assert words in found[0][2]


def test_broken_syntax_has_a_line(load: Callable[..., Task], registry: Registry, tmp_path: Path) -> None:
    assert problems(load, ('name = "free-fall"', "name = free fall"))[0][0] == 2
    path = tmp_path / "task.json"
    path.write_text('{"occamkit": 1,\n "name": }')
    with pytest.raises(TaskError, match=r"task\.json:2: Expecting value"):
        load_task(path, registry)
    path.write_text("[1]")
    with pytest.raises(TaskError, match="must be a table"):
        load_task(path, registry)


def test_an_output_that_no_function_can_reach(load: Callable[..., Task]) -> None:
    found = problems(load, (', "9.81 m/s**2"', ""), ('"pow_c"', '"sin"'))
    assert found[0][:2] == (12, "outputs[0].unit")
    assert "no function of depth 3 can have the unit m: nothing carries length" in found[0][2]
    deep = problems(load, ('"mul*2", "div", "pow_c"', '"sub"'))
    assert "it takes more layers or other primitives" in deep[0][2]
    span = problems(load, ("9.81 m/s**2", "9.81 m*kg"), ('"pow_c"', '"sqrt"'))
    assert "no product of powers of the inputs gives it" in span[0][2]
    load(GOOD, (', "9.81 m/s**2"', ""))  # a free fitted constant may carry any unit
    load(GOOD, (', "9.81 m/s**2"', ""), ('"pow_c"', '"sin"'), ('[[regularizers]]\nname = "units"\nweight = 1.0', ""),
         ('unit = "m"', ""), ('unit = "s"', ""))  # fmt: skip


def test_a_primitive_of_a_broken_pack_is_named_with_the_cause(make_pack: Callable[..., None], tmp_path: Path) -> None:
    make_pack("broken", "import not_there_at_all")
    (tmp_path / "task.toml").write_text(GOOD.replace('"div"', '"broken:gamma"'))
    with pytest.raises(TaskError, match="pack 'broken' is broken: cannot be imported: ModuleNotFoundError"):
        load_task(tmp_path / "task.toml", Registry.load())
    (tmp_path / "task.toml").write_text(GOOD)
    assert load_task(tmp_path / "task.toml", Registry.load()).name == "free-fall"


def test_options_of_a_packs_plugins_are_checked_like_ours(make_pack: Callable[..., None], tmp_path: Path) -> None:
    make_pack(
        "robust",
        """
        from dataclasses import dataclass
        from typing import Annotated, ClassVar
        from annotated_types import Gt
        from occamkit import hookimpl

        @dataclass(frozen=True)
        class Huber:
            "Huber."
            name: ClassVar[str] = "huber"
            delta: Annotated[float, Gt(0)] = 1.0
            def score(self, predicted, target): ...
            def ceiling(self, points): return 1.0

        @hookimpl
        def occamkit_fitnesses():
            return [Huber]
        """,
    )
    registry = Registry.load()
    path = tmp_path / "task.toml"
    path.write_text(GOOD.replace('name = "gaussian"\nsigma = 0.01', 'name = "huber"\ndelta = -1\nsigma = 2'))
    with pytest.raises(TaskError) as error:
        load_task(path, registry)
    assert [problem.message for problem in error.value.problems] == [
        "must be > 0, got -1",
        "unknown key; allowed: 'delta', 'name', 'scale'",
    ]
    path.write_text(GOOD.replace('name = "gaussian"\nsigma = 0.01', 'name = "robust:huber"\ndelta = 2'))
    assert load_task(path, registry).spec.fitness.options() == {"delta": 2.0}


def test_defaults_are_filled_in(registry: Registry, tmp_path: Path) -> None:
    document = {
        "occamkit": 1,
        "name": "small",
        "data": {"source": "formula", "target": "x"},
        "inputs": [{"name": "x", "range": [0, 1]}],
        "outputs": [{"name": "y"}],
    }
    plain = check_document(document, registry, tmp_path)
    assert plain.regularizers == []
    assert plain.fitness.name == "occamkit:gaussian"
    assert "occamkit:add" in plain.search.primitives
    with_units = {
        **document,
        "inputs": [{"name": "x", "range": [0, 1], "unit": "m"}],
        "outputs": [{"name": "y", "unit": "m"}],
    }
    assert [choice.name for choice in check_document(with_units, registry, tmp_path).regularizers] == ["occamkit:units"]


names = st.sampled_from(["I", "S", "beta", "lambda", "x y", "größe", "N", "E1", "if"])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    inputs = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    units = st.sampled_from(["", "m", "km/h", "kg*m**2/s**2"])
    return {
        "occamkit": 1,
        "name": draw(st.text("abc-/é", min_size=1, max_size=8)),
        "data": {
            "source": "formula",
            "target": f"2*`{inputs[0]}`",
            "points": draw(st.integers(10, 50)),
            "noise": draw(st.floats(0, 1)),
            "split": {"valid": draw(st.sampled_from([0.0, 0.2])), "test": draw(st.sampled_from([0.0, 0.3]))},
        },
        "inputs": [{"name": name, "unit": draw(units), "range": [0.5, draw(st.floats(1, 9))]} for name in inputs],
        "outputs": [{"name": "out", "unit": ""}],
        "search": {
            "primitives": draw(
                st.lists(st.sampled_from(["add*2", "trig", "occamkit:mul", "pow_c", "div"]), min_size=1)
            ),
            "constants": draw(st.lists(st.sampled_from([1, 2.5, "pi", "9.81 m/s**2"]), max_size=3)),
            "depth": draw(st.integers(1, 4)),
        },
        "fitness": draw(st.sampled_from([{"name": "r2"}, {"name": "gaussian", "sigma": 0.5}, {"name": "gaussian"}])),
        "regularizers": draw(st.sampled_from([[], [{"name": "activations", "weight": 0.05}]])),
        "stop": {"seconds": draw(st.floats(0.1, 100))},
    }


@settings(max_examples=30, deadline=None)
@given(documents())
def test_a_resolved_task_reads_back_as_itself(
    registry: Registry, tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    folder = tmp_path_factory.mktemp("round")
    spec = check_document(document, registry, folder)
    (folder / "task.toml").write_text(dump_toml(spec), encoding="utf-8")
    again = load_task(folder / "task.toml", registry)
    assert again.spec.model_dump() == spec.model_dump()
    (folder / "task.json").write_text(json.dumps(spec.model_dump(exclude_none=True)))
    as_json = load_task(folder / "task.json", registry)
    assert as_json.spec.model_dump() == again.spec.model_dump()
    assert torch.equal(again.data(3).inputs, as_json.data(3).inputs)


def test_formula_data_in_base_units_and_split_by_seed(load: Callable[..., Task]) -> None:
    data = load().data(seed=0)
    assert data.inputs.shape == (1, 200)
    assert [len(part) for part in (data.train, data.valid, data.test)] == [120, 40, 40]
    assert sorted(torch.cat([data.train, data.valid, data.test]).tolist()) == list(range(200))
    torch.testing.assert_close(data.targets[0], 9.81 * data.inputs[0] ** 2 / 2)
    assert torch.equal(load().data(0).inputs, data.inputs)
    assert not torch.equal(load().data(1).inputs, data.inputs)
    hours = load(GOOD, ('unit = "s"', 'unit = "h"'), ('unit = "m"', 'unit = "km"')).data(0)
    torch.testing.assert_close(hours.inputs, data.inputs * 3600)
    torch.testing.assert_close(hours.targets, data.targets * 1000)


def test_the_same_csv_in_km_and_in_m_gives_identical_tensors(tmp_path: Path, registry: Registry) -> None:
    text = (
        'occamkit = 1\nname = "{u}"\n[data]\nsource = "csv"\nfile = "{u}.csv"\n[[inputs]]\nname = "d"\nunit = "{u}"\n'
    )
    text += '[[outputs]]\nname = "t"\nunit = "s"\n[search]\nconstants = ["1 m/s"]\n'
    (tmp_path / "km.csv").write_text("d,t\n0.07,1\n1.1,2\n2.9,3\n4.35,4\n")
    (tmp_path / "m.csv").write_text("d,t\n70,1\n1100,2\n2900,3\n4350,4\n")
    tensors = []
    for unit in ("km", "m"):
        (tmp_path / f"{unit}.toml").write_text(text.format(u=unit))
        tensors.append(load_task(tmp_path / f"{unit}.toml", registry).data(0).inputs)
    assert torch.equal(*tensors)


CSV = """\
occamkit = 1
name = "table"
[data]
source = "csv"
file = "table.csv"
[[inputs]]
name = "width"
[[outputs]]
name = "area"
"""


def test_csv_columns_are_checked_before_anything_runs(load: Callable[..., Task], tmp_path: Path) -> None:
    assert "no such file" in problems(load, text=CSV)[0][2]
    (tmp_path / "table.csv").write_text("widht,area\n1,2\n2,3\n4,5\n5,6\n")
    assert problems(load, text=CSV) == [(7, "inputs[0].name", "table.csv has no column 'width'; did you mean 'widht'?")]
    (tmp_path / "table.csv").write_text("width,area\n1,2\n2,3\n4,5\n5,6\n")
    assert load(CSV).data(0).inputs.tolist() == [[1, 2, 4, 5]]
    (tmp_path / "table.csv").write_text("width,area\n1,2\n")
    with pytest.raises(DataError, match="at least 2 are needed"):
        load(CSV).data(0)
    (tmp_path / "table.csv").write_text("width,area\n1,2\n2,2\n3,2\n4,2\n")
    with pytest.raises(DataError, match="'area' has one value only"):
        load(CSV.replace('csv"\n[[in', 'csv"\nstandardise = true\n[[in')).data(0)


def test_several_outputs_derived_inputs_and_grids(load: Callable[..., Task]) -> None:
    text = """\
occamkit = 1
name = "many"
[data]
source = "formula"
target = { both = "and(a, b)", either = "or(a, b)" }
draw = "grid"
split = { valid = 0, test = 0 }
[[inputs]]
name = "a"
values = [0, 1]
[[inputs]]
name = "b"
values = [0, 1]
[[inputs]]
name = "odd"
formula = "xor(a, b)"
[[outputs]]
name = "either"
[[outputs]]
name = "both"
"""
    data = load(text).data(0)
    assert data.inputs.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    assert data.targets.tolist() == [[0, 1, 1, 1], [0, 0, 0, 1]]
    assert [one.name for one in data.outputs] == ["either", "both"]
    found = problems(load, ("either = ", "eithr = "), text=text)
    assert {message for _, _, message in found} == {
        "has no formula for output 'either'",
        "is no output; did you mean 'either'?",
    }


def test_implicit_tasks_have_a_constant_target(load: Callable[..., Task]) -> None:
    text = """\
occamkit = 1
name = "momentum"
[data]
source = "formula"
[implicit]
value = 0.0
[[inputs]]
name = "m1"
range = [-10, 10]
[[inputs]]
name = "v1"
range = [-10, 10]
[[inputs]]
name = "m2"
range = [-10, 10]
[[inputs]]
name = "v2"
formula = "m1*v1/m2"
"""
    data = load(text).data(0)
    assert torch.equal(data.targets, torch.zeros(1, 200, dtype=torch.float64))
    m1, v1, m2, v2 = data.inputs
    torch.testing.assert_close(m1 * v1, m2 * v2)


def test_undefined_points_are_drawn_again(load: Callable[..., Task]) -> None:
    data = load(GOOD, ("9.81*t**2/2", "sqrt(t - 5)")).data(0)
    assert data.inputs.shape == (1, 200)
    assert float(data.inputs.min()) >= 5
    with pytest.raises(DataError, match="undefined at every point"):
        load(GOOD, ("9.81*t**2/2", "log(-t - 1)")).data(0)


def test_noise_is_a_part_of_the_targets_size(load: Callable[..., Task]) -> None:
    clean = load(GOOD, ('/2"', '/2"\npoints = 5000')).data(0).targets
    noisy = load(GOOD, ('/2"', '/2"\npoints = 5000\nnoise = 0.1')).data(0).targets
    assert float((noisy - clean).std() / clean.square().mean().sqrt()) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("name", ["sin", "S", "beta", "I", "E", "lambda", "x y", "größe", "if"])
def test_inputs_may_be_called_anything(load: Callable[..., Task], name: str) -> None:
    task = load(GOOD, ('name = "t"', f'name = "{name}"'), ("9.81*t**2/2", f"9.81*`{name}`**2/2"))
    assert task.data(0).variables[0].name == name
    assert sympy.Symbol(name, real=True).name == name


def test_overrides_replace_values(load: Callable[..., Task]) -> None:
    assert load(**{"trainer.functions": 7, "stop.seconds": 1.5}).spec.trainer.functions == 7
    with pytest.raises(TaskError, match=r"trainer\.functions: must be >= 1"):
        load(**{"trainer.functions": 0})
    with pytest.raises(TaskError, match="is not a table"):
        load(**{"name.first": 0})


def test_registered_tasks_and_task_sources(make_pack: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "example.toml").write_text(GOOD)
    make_pack(
        "demo",
        f"""
        from pathlib import Path
        from occamkit import hookimpl

        @hookimpl
        def occamkit_tasks():
            return [Path({str(tmp_path / "example.toml")!r})]
        """,
    )
    registry = Registry.load()
    task = load_task("demo/example", registry)
    assert task.name == "free-fall"
    (tmp_path / "other.toml").write_text(
        'occamkit = 1\nname = "other"\n[data]\nsource = "demo/example"\n[search]\nconstants = ["9.81 m/s**2"]\n'
    )
    other = load_task(tmp_path / "other.toml", registry)
    assert torch.equal(other.data(5).inputs, task.data(5).inputs)
    assert [choice.name for choice in other.spec.regularizers] == ["occamkit:units"]
    assert other.spec.inputs == task.spec.inputs
    with pytest.raises(UnknownNameError, match="did you mean 'demo/example'"):
        load_task("demo/exampel", registry)


@pytest.mark.skipif(data_folder() is None, reason="needs the PMLB files: set OCCAMKIT_DATA")
def test_pmlb(load: Callable[..., Task]) -> None:
    text = 'occamkit = 1\nname = "esl"\n[data]\nsource = "pmlb"\ndataset = "1027_ESL"\nstandardise = true\n'
    data = load(text).data(0)
    assert data.inputs.shape == (4, 488)
    assert data.outputs[0].name == "target"
    torch.testing.assert_close(data.targets.mean(), torch.tensor(0.0, dtype=torch.float64), atol=1e-9, rtol=0)
    chosen = load(text + '[[inputs]]\nname = "in2"\n[[outputs]]\nname = "in4"\n').data(0)
    assert [one.name for one in (*chosen.variables, *chosen.outputs)] == ["in2", "in4"]
    with pytest.raises(DataError, match="did you mean '1027_ESL'"):
        load(text.replace("1027_ESL", "1027_ESLL")).data(0)
