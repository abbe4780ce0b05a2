"""Programs over bits: linear algebra modulo two, the library of packed bits, and what is found with them."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit import Registry, SearchBudget, run
from occamkit.builtins.proposers.bits.gates import BitLibrary, Gate
from occamkit.builtins.proposers.bits.rows import BitRows, Span, as_numbers, ones_in, pack, unpack
from occamkit.errors import UserError
from occamkit.graph import Leaf
from occamkit.result import Result
from occamkit.result.write import make_result
from occamkit.search import search
from occamkit.task.file.load import load_task
from occamkit.task.problem import make_problem
from tests.problems import problem

PARITY = [{"name": "parity"}]
LOGIC: dict[str, Any] = {"primitives": ["xor", "and", "or", "not"], "constants": []}
bits = st.integers(0, 2**63 - 1)


def inputs(count: int) -> list[dict[str, Any]]:
    return [{"name": f"x{place}", "values": [0, 1]} for place in range(count)]


def task(registry: Registry, target: Any, count: int, **sections: Any) -> Any:
    given = {"data": {"split": None}, "search": LOGIC, "proposers": PARITY, "stop": {"max_steps": 300}, **sections}
    return problem(registry, target, inputs=inputs(count), **given)


def found(registry: Registry, target: Any, count: int, **sections: Any) -> Any:
    """Search with parity alone, and return the best, which must be exact."""
    best = search(task(registry, target, count, **sections)).best[0]
    assert best is not None
    assert best.exact, best.tree.written()
    return best


def summed(terms: list[str]) -> str:
    total = terms[0]
    for term in terms[1:]:
        total = f"xor({total}, {term})"
    return total


def proposed(made: Any, seconds: float | None = None, most: int = 300_000) -> list[str | None]:
    shared = made.search_problem
    proposer = next(entry.value for entry in made.registry.entries("proposers") if entry.name == "parity")(most=most)
    budget = SearchBudget(None if seconds is None else time.monotonic() + seconds)
    return [one and one.tree.written() for one in proposer.propose(shared, budget)]


@given(st.lists(st.lists(st.booleans(), min_size=130, max_size=130), min_size=1, max_size=4), st.integers(1, 130))
def test_packing_is_undone_by_unpacking(rows: list[list[bool]], count: int) -> None:
    given = torch.tensor(rows)[:, :count]
    words = pack(given)
    assert torch.equal(unpack(words, count), given)
    assert ones_in(words).sum(1).tolist() == given.sum(1).tolist()
    assert [number.bit_count() for number in as_numbers(words)] == given.sum(1).tolist()


@given(st.lists(bits, max_size=6), bits, st.integers(0, 63))
def test_what_is_left_is_the_same_for_all_that_differ_by_the_span(vectors: list[int], vector: int, taken: int) -> None:
    span = Span(vectors, 1)
    rest, made = span.rest(vector)
    again = vector
    other = vector
    for place, one in enumerate(vectors):
        again ^= one * (made >> place & 1)
        other ^= one * (taken >> place & 1)
    assert again == rest
    assert span.rest(other)[0] == rest
    many, parts = span.rests(torch.tensor([[vector], [other]]))
    assert many.tolist() == [[rest], [rest]]
    assert parts.tolist() == [made, span.rest(other)[1]]


@given(st.integers(1, 4), st.data())
def test_the_spectrum_counts_rows_met_and_missed(count: int, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 1)] * (count + 1)), min_size=1, max_size=30))
    columns = torch.tensor(rows, dtype=torch.float64).T
    table = BitRows.of(columns[:-1], columns[-1:], seed=0)
    assert table is not None
    (met,) = table.spectrum(torch.zeros(1, table.count, dtype=torch.bool), 0).tolist()
    for mask in range(1 << count):
        right = [sum(row[place] for place in range(count) if mask >> place & 1) % 2 == row[-1] for row in rows]
        assert met[mask] == sum(right) - sum(not one for one in right)


def test_gates_do_what_primitives_do(registry: Registry) -> None:
    gates = {entry.name: gate for entry in registry.entries("primitives") if (gate := Gate.of(entry.value)) is not None}
    assert {"and", "or", "not", "nand", "xor", "leq", "lt", "max", "min", "mul"} <= set(gates)
    assert not {"add", "sub", "div", "exp"} & set(gates)
    for gate in gates.values():
        cases = torch.tensor(list(itertools.product((0, 1), repeat=gate.primitive.arity))).T
        ones = pack(torch.ones_like(cases[:1]))[0]
        values = unpack(gate.values([pack(one[None]) for one in cases], ones), cases.shape[1])[0]
        assert torch.equal(values.double(), gate.primitive.call(*cases.double())), gate.primitive.name


def test_the_library_holds_every_function_of_two_bits_once(registry: Registry) -> None:
    primitives = [registry.find("primitives", name).value for name in ("and", "not")]
    columns = torch.tensor([[0, 0, 1, 1], [0, 1, 0, 1]])
    library = BitLibrary([Leaf("a"), Leaf("b")], pack(columns), pack(torch.ones(1, 4))[0], primitives)
    for _ in library.grow(1000):
        pass
    assert library.count == 14  # all but zero and one
    for number in range(1, library.count + 1):
        tree = library.tree(number)
        values = tree.evaluate({"a": columns[0].double(), "b": columns[1].double()})
        assert torch.equal(unpack(library.values[number : number + 1], 4)[0].double(), values)
        assert library.sizes[number] == sum(1 for _ in tree.nodes())


@settings(max_examples=40)
@given(st.integers(1, 8), st.data())
def test_linear_functions_are_solved_for(registry: Registry, count: int, data: st.DataObject) -> None:
    taps = data.draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True))
    target = summed([f"x{tap}" for tap in taps])
    odd = data.draw(st.booleans())
    best = found(registry, f"not({target})" if odd else target, count)
    assert best.tree.complexity == len(taps) - 1 + odd
    assert best.tree.inputs == tuple(sorted(f"x{tap}" for tap in taps))


@settings(max_examples=20)
@given(st.integers(4, 8), st.data())
def test_two_expressions_and_a_linear_function_are_found(registry: Registry, count: int, data: st.DataObject) -> None:
    leaf = st.integers(0, count - 1).map(lambda place: f"x{place}")
    pair = st.builds("{}({}, {})".format, st.sampled_from(["and", "or"]), leaf, leaf)
    small = st.builds("{}({}, {})".format, st.sampled_from(["and", "or"]), pair, leaf)
    terms = data.draw(st.lists(leaf, max_size=count)) + data.draw(st.lists(small, min_size=2, max_size=2))
    assert found(registry, summed(terms), count).tree.complexity <= 5 + 2 * len(terms)


@pytest.mark.parametrize(("held_out", "taps"), [(0.0, (0, 3, 5, 7)), (0.4, (1, 2, 6)), (0.9, (4, 9))])
def test_rows_that_leave_a_choice_are_met_by_few_inputs(registry: Registry, held_out: float, taps: Any) -> None:
    target = summed([f"x{tap}" for tap in taps])
    data = {"split": {"valid": 0.0, "test": held_out}, "points": 300, "draw": "uniform"}
    assert found(registry, target, 10, data=data).tree.inputs == tuple(f"x{tap}" for tap in taps)


def test_more_inputs_than_functions_can_be_listed_for(registry: Registry) -> None:
    taps = ["x0", "x7", "x11", "x19", "x33"]
    data = {"split": {"valid": 0.2, "test": 0.2}, "points": 200}
    assert set(found(registry, summed(taps), 40, data=data).tree.inputs) == set(taps)


def write(folder: Path, rows: list[list[int]], proposers: str, **keys: str) -> Path:
    names = [f"x{place}" for place in range(len(rows[0]) - 1)]
    table = "".join(",".join(map(str, row)) + "\n" for row in rows)
    (folder / "table.csv").write_text(",".join([*names, "y"]) + "\n" + table)
    columns = ", ".join(f'{{ name = "{name}" }}' for name in names)
    document = {
        "occamkit": "1",
        "name": '"table"',
        "inputs": f"[{columns}]",
        "outputs": '[{ name = "y" }]',
        "data": '{ source = "csv", file = "table.csv", split = { valid = 0, test = 0 } }',
        "search": '{ primitives = ["xor", "and", "or", "not"], constants = [] }',
        "stop": "{ max_steps = 50 }",
        "proposers": proposers,
        **keys,
    }
    path = folder / "task.toml"
    path.write_text("".join(f"{key} = {value}\n" for key, value in document.items() if value))
    return path


@pytest.mark.parametrize("proposers", ['[{ name = "parity" }]', ""])
@pytest.mark.parametrize(("count", "wrong"), [(4, 0), (4, 11), (5, 31), (5, 18)])
def test_one_wrong_row_of_a_parity_is_named(tmp_path: Path, count: int, wrong: int, proposers: str) -> None:
    rows = [[*row, sum(row) % 2] for row in itertools.product((0, 1), repeat=count)]
    rows[wrong][-1] ^= 1
    output = run(write(tmp_path, rows, proposers), device="cpu").outputs[0]
    assert output.best is not None
    assert output.best.logic == " ^ ".join(f"x{place}" for place in range(count))
    assert [row.row for row in output.disagrees] == [wrong + 2]


def test_wrong_rows_among_many_inputs(registry: Registry, tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(1)
    table = torch.randint(0, 2, (300, 30), generator=generator)
    target = (table[:, 2] + table[:, 8] + table[:, 29] + 1) % 2
    target[[5, 77, 200]] ^= 1
    rows = torch.cat([table, target[:, None]], 1).tolist()
    output = run(write(tmp_path, rows, '[{ name = "parity", most = 1000 }]'), device="cpu").outputs[0]
    assert output.best is not None
    assert output.best.complexity == 3
    assert [row.row for row in output.disagrees] == [7, 79, 202]


def test_a_wrong_row_of_a_program_that_is_not_linear_is_named(tmp_path: Path) -> None:
    rows = [[*row, row[0] & row[1] | row[2]] for row in itertools.product((0, 1), repeat=5)]
    rows[13][-1] ^= 1
    output = run(write(tmp_path, rows, '[{ name = "parity" }]'), device="cpu").outputs[0]
    assert output.best is not None
    assert output.best.complexity == 2
    assert [row.row for row in output.disagrees] == [15]


PACK = """
    from occamkit import Elementwise, hookimpl, units

    def differ(a, b):
        return (a != b).to(a.dtype)

    def agree(a, b):
        return (a == b).to(a.dtype)

    def other(a):
        return 1 - a

    @hookimpl
    def occamkit_primitives():
        return [
            Elementwise("odd_one", 2, differ, lambda a, b: a + b - 2 * a * b, units.dimensionless, commutative=True),
            Elementwise("same", 2, agree, lambda a, b: 1 - a - b + 2 * a * b, units.dimensionless, commutative=True),
            Elementwise("flip", 1, other, lambda a: 1 - a, units.dimensionless),
        ]
"""


@pytest.mark.parametrize(
    ("primitives", "constants", "words"),
    [
        (["odd_one", "flip"], [], "flip(odd_one(odd_one(x0, x1), x3))"),
        (["odd_one"], [1], "odd_one(odd_one(odd_one(x0, x1), x3), 1)"),
        (["same", "flip"], [], "flip(same(same(x0, x1), x3))"),
        (["same"], [0], "same(same(same(x0, x1), x3), 0)"),
    ],
)
def test_what_adds_is_found_by_what_it_does(
    make_pack: Callable[..., None], primitives: list[str], constants: list[int], words: str
) -> None:
    make_pack("strange", PACK)
    best = found(
        Registry.load(only=["strange"]), "not(xor(x0, xor(x1, x3)))", 4,
        search={"primitives": primitives, "constants": constants},
    )  # fmt: skip
    assert best.tree.written() == words


def test_where_nothing_swaps_zero_and_one_the_library_does(registry: Registry) -> None:
    best = found(registry, "not(xor(x0, x1))", 3, search={"primitives": ["xor", "nand"], "constants": []})
    assert best.tree.complexity == 2


def test_a_target_that_never_changes(registry: Registry) -> None:
    assert found(registry, "and(x0, not(x0))", 2).tree.written() == "xor(x0, x0)"
    assert found(registry, "or(x0, not(x0))", 2).tree.written() == "not(xor(x0, x0))"


def test_outputs_that_are_no_bits_are_left_to_others(registry: Registry) -> None:
    made = task(registry, {"y": "xor(x0, x1)", "z": "x0 + x1"}, 2)
    shared = made.search_problem
    proposer = registry.find("proposers", "parity").value()
    outputs = {one.output for one in proposer.propose(shared, SearchBudget()) if one is not None}
    assert outputs == {0}


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": [{"name": "x0", "values": [0, 1, 2]}, {"name": "x1", "values": [0, 1]}]},
        {"inputs": [{"name": "x0", "range": [0, 1]}, {"name": "x1", "values": [0, 1]}]},
        {"search": {"primitives": ["and", "or", "not"]}},
    ],
)
def test_other_tasks_get_no_proposals(registry: Registry, changes: dict[str, Any]) -> None:
    sections = {"inputs": inputs(2), "search": LOGIC, "data": {"split": None, "points": 50}, **changes}
    assert proposed(problem(registry, "x0 * x1", **sections)) == []


def test_recurrences_and_relations_get_no_proposals(registry: Registry) -> None:
    made = make_problem(load_task("paper/lfsr4", registry), registry, 0, "cpu")
    assert proposed(made)
    with pytest.raises(UserError, match="'parity' cannot look for what a wrapper repeats"):
        task(registry, {"x0": "xor(x0, x1)", "x1": "x0"}, 2, wrapper={"name": "recurrence", "depth": 2})


def test_the_budget_is_kept(registry: Registry) -> None:
    hard = "or(and(and(x0, x1), or(x2, x3)), and(or(x4, and(x5, x6)), or(x7, and(x1, x6))))"
    made = task(registry, hard, 8)
    begun = time.monotonic()
    proposed(made, seconds=0.2, most=1_000_000)
    assert time.monotonic() - begun < 2.0
    assert proposed(made).count(None) > 10


def test_equal_seeds_propose_equally(registry: Registry) -> None:
    target = "xor(x0, xor(and(x1, x2), or(x3, and(x0, x4))))"
    assert proposed(task(registry, target, 5)) == proposed(task(registry, target, 5))


def test_a_sample_is_not_learnt_by_heart(registry: Registry) -> None:
    data = {"split": {"valid": 0.0, "test": 0.9}}  # 26 of 256 rows
    target = "and(or(x0, and(x1, x2)), or(and(x3, x4), and(x5, or(x6, x7))))"
    best = search(task(registry, target, 8, data=data)).best[0]
    assert best is None or not best.exact


@pytest.mark.parametrize("wrong", [0, 6])
def test_a_small_table_says_what_one_row_contradicts(tmp_path: Path, occamkit: Callable[..., Any], wrong: int) -> None:
    rows = [[*row, sum(row) % 2] for row in itertools.product((0, 1), repeat=3)]
    rows[wrong][-1] ^= 1
    path = write(tmp_path, rows, '[{ name = "parity" }]')
    result = run(path, device="cpu")
    (output,) = result.outputs
    assert output.best is not None
    assert output.best.mse["train"] == 0
    assert output.disagrees == ()
    assert output.doubt is not None
    assert output.doubt.instead.logic == "x0 ^ x1 ^ x2"
    assert output.doubt.row.row == wrong + 2
    assert Result.from_dict(json.loads(result.to_json())) == result
    place = ", ".join(f"x{name} = {value}" for name, value in enumerate(rows[wrong][:-1]))
    said = f"  or, with one exception: y = x0 ^ x1 ^ x2, which row {wrong + 2} ({place}) contradicts\n"
    assert said in occamkit("run", str(path), "--quiet").output


def test_small_tables_that_are_short_or_come_from_a_formula_are_not_doubted(registry: Registry, tmp_path: Path) -> None:
    rows = [[a, b, a & b] for a, b in itertools.product((0, 1), repeat=2)]
    assert run(write(tmp_path, rows, '[{ name = "parity" }]'), device="cpu").outputs[0].doubt is None
    made = task(registry, "or(and(x0, x1), and(x2, xor(x0, x1)))", 3)
    assert make_result(made, search(made)).outputs[0].doubt is None


def test_a_search_ends_when_the_network_has_drawn_what_is_left(registry: Registry) -> None:
    target = {"y": summed([f"x{place}" for place in range(6)]), **{f"z{place}": f"x{place}" for place in range(5)}}
    # Without those that would see that an output is an input.
    every = [choice.model_dump() for choice in problem(registry).spec.proposers]
    others = [choice for choice in every if not choice["name"].endswith(("fit", "ladder"))]
    outcome = search(task(registry, target, 6, proposers=others))
    assert outcome.stop == "converged"
    assert outcome.steps < 10
    assert {one.proposer for one in outcome.best if one is not None} == {"network", "parity"}
