import pytest

import occamkit


@pytest.mark.parametrize("task", ["special/diffusion", "special/drum"])
def test_the_task_is_solved(task: str) -> None:
    result = occamkit.run(task, seed=0, device="cpu")
    best = result.outputs[0].best
    assert best is not None
    assert best.r2["test"] > 1 - 1e-9
