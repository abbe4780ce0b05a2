"""Reading tables: exact units, and a clear word about every kind of bad file."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit.errors import DataError
from occamkit.task.data.csv import read_columns, read_header

ONE = Fraction(1)


def write(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_order_and_spaces(tmp_path: Path, delimiter: str) -> None:
    text = "\n".join(delimiter.join(row) for row in (("a", " b", "c"), ("1", " 2.5", "x"), ("3", "-4e1", "y")))
    columns = read_columns(write(tmp_path, text), {"b": ONE, "a": ONE})
    assert columns.tolist() == [[2.5, -40.0], [1.0, 3.0]]


def test_quotes_unicode_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff"x, y",größe\n1,2\n\n3,4\n')
    assert read_header(path) == ["x, y", "größe"]
    assert read_columns(path, {"größe": ONE, "x, y": ONE}).tolist() == [[2, 4], [1, 3]]


@given(st.lists(st.decimals(-1000, 1000, places=7), min_size=1, max_size=20))
def test_kilometres_and_metres_give_the_same_tensor(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[Decimal]
) -> None:
    folder = tmp_path_factory.mktemp("units")
    kilometres = write(folder, "d\n" + "\n".join(f"{number}" for number in numbers), "km.csv")
    metres = write(folder, "d\n" + "\n".join(f"{number * 1000}" for number in numbers), "m.csv")
    left = read_columns(kilometres, {"d": Fraction(1000)})
    assert torch.equal(left, read_columns(metres, {"d": ONE}))


@pytest.mark.parametrize(
    ("text", "words", "lines"),
    [
        ("", "is empty", []),
        ("a,b\n", "a header and no rows", []),
        ("1,2\n3,4\n", "must name the columns", [1]),
        ("a,a\n1,2\n", "'a' appears more than once", [1]),
        ("a,b\n1,2\n3\n", "has 1 cells, the header has 2", [3]),
        ("a,b\n1,two\n", "data.csv:2: column 'b' is not a number: 'two'", [2]),
        ("a,b\n1,2\n3,\n5,NA\n", "'b' has no value in lines 3, 4", [3, 4]),
        ("a,b\n1,2\n\n3,inf\n", "'b' has infinite values in line 4", [4]),
        ("a,b\n" + "1,\n" * 9, "lines 2, 3, 4, 5, 6 and 4 more", list(range(2, 11))),
        ("a;c\n1;2\n", "no column 'b'", []),
        (b"a,b\n1,\xff\n", "is not UTF-8", []),
        (b"a,b\n1,\x00\n", "not a number", [2]),
    ],
)
def test_bad_files_get_one_clear_line(tmp_path: Path, text: str | bytes, words: str, lines: list[int]) -> None:
    with pytest.raises(DataError) as error:
        read_columns(write(tmp_path, text), {"a": ONE, "b": ONE})
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert list(error.value.rows) == lines


def test_missing_rows_may_be_dropped(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n,4\n5,?\n7,8\n")
    assert read_columns(path, {"a": ONE, "b": Fraction(1, 1000)}, missing="drop").tolist() == [[1, 7], [0.002, 0.008]]
    with pytest.raises(DataError, match="every row lacks a value"):
        read_columns(write(tmp_path, "a,b\n,2\n1,\n"), {"a": ONE, "b": ONE}, missing="drop")


def test_a_missing_file_has_a_nearest_match(tmp_path: Path) -> None:
    write(tmp_path, "a\n1\n", "planets.csv")
    with pytest.raises(DataError, match=r"did you mean 'planets\.csv'"):
        read_columns(tmp_path / "planet.csv", {"a": ONE})
    with pytest.raises(DataError, match="is a folder"):
        read_header(tmp_path)


def test_many_columns_and_many_chunks(tmp_path: Path) -> None:
    names = [f"c{place}" for place in range(2000)]
    path = write(tmp_path, ",".join(names) + "\n" + ",".join(map(str, range(2000))) + "\n")
    assert read_columns(path, {"c1999": ONE, "c7": ONE}).tolist() == [[1999], [7]]
    long = write(tmp_path, "n\n" + "\n".join(map(str, range(120_001))), "long.csv")
    assert torch.equal(read_columns(long, {"n": ONE})[0], torch.arange(120_001, dtype=torch.float64))
