"""Random formulas of fifteen to thirty nodes: what counts as one, and the same ones for the same seed."""

from __future__ import annotations

import json

import pytest
import torch
from click.testing import CliRunner
from occamkit_bench.contenders.size import nodes
from occamkit_bench.large import LARGEST, SMALLEST, large
from occamkit_bench.recovery import points

from occamkit import Registry
from occamkit.cli.main import cli
from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.task.file.checks import callable_primitives

PRIMITIVES = callable_primitives(Registry.load(only=[]))


@pytest.mark.parametrize("seed", [0, 1])
def test_formulas_are_large_and_defined_and_all_inputs_matter(seed: int) -> None:
    drawn = large(4, seed, PRIMITIVES)
    assert drawn == large(4, seed, PRIMITIVES)
    for one in drawn:
        tree = parse(one.formula, list(one.variables), PRIMITIVES)
        assert SMALLEST <= nodes(tree) <= LARGEST
        columns = points(one.ranges, wider=False)
        values = evaluate(tree, columns, PRIMITIVES)
        assert bool(torch.isfinite(values).all())
        for name in one.variables:
            mixed = evaluate(tree, {**columns, name: columns[name].flip(0)}, PRIMITIVES)
            assert not torch.allclose(values, mixed)
    assert large(4, seed + 2, PRIMITIVES) != drawn


def test_the_command_counts_what_is_found_and_what_is_near() -> None:
    done = CliRunner().invoke(cli, ["bench", "large", "--count", "1", "--seconds", "1", "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)["summary"]
    assert summary["equations"] == 1
    assert summary["near"] in (0, 1)
