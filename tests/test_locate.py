"""Every key of a task file is found on its line."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from occamkit.task.file.locate import Path, locate_json, locate_toml, nearest_line

TOML = '''\
occamkit = 1
# a comment with = and [brackets]
name = "a # b" # c
[data]
source = "csv"
split = { valid = 0.2, test = 0.1 }
[[inputs]]
name = "t"
[[inputs]]
name = """x
[not.a.table]"""
'quoted key' = 's'
[search]
primitives = [
  "add*2", # first
  "mul",
]
a.b = 3
[[regularizers]]
name = "units"
[[regularizers.inner]]
when = 1979-05-27 07:32:00
z = 1
'''


def test_toml_lines() -> None:
    tomllib.loads(TOML)
    lines = locate_toml(TOML)
    expected: dict[Path, int] = {
        ("name",): 3,
        ("data", "split", "test"): 6,
        ("inputs", 0, "name"): 8,
        ("inputs", 1): 9,
        ("inputs", 1, "quoted key"): 12,
        ("search", "primitives", 1): 16,
        ("search", "a", "b"): 18,
        ("regularizers", 0, "inner", 0, "z"): 23,
    }
    assert {path: lines[path] for path in expected} == expected


def test_json_lines() -> None:
    lines = locate_json('{"a": [1,\n {"b": null}],\n "c": {"d": "x,}"}}')
    assert lines["a", 1, "b"] == 2
    assert lines["c", "d"] == 3


def test_a_missing_key_is_where_its_section_is() -> None:
    lines = locate_toml(TOML)
    assert nearest_line(lines, ("inputs", 1, "unit")) == 9
    assert nearest_line(lines, ("nowhere",)) is None


keys = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
scalars = st.one_of(st.integers(-9, 9), st.booleans(), st.text("ab\"'\\\n#=[]{},é", max_size=8), st.floats(-5, 5))
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
documents = st.dictionaries(keys, values, max_size=4)


def paths(value: Any, here: Path = ()) -> list[Path]:
    found = [here] if here else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [path for key, inner in items for path in paths(inner, (*here, key))]


@given(documents)
def test_every_path_of_any_toml_is_found(document: dict[str, Any]) -> None:
    text = tomli_w.dumps(document)
    assert set(paths(tomllib.loads(text))) <= set(locate_toml(text))


@given(documents)
def test_every_path_of_any_json_is_found(document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1)
    assert set(paths(document)) == set(locate_json(text)) - {()}
