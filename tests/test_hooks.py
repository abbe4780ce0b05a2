"""Every hook of a third-party pack reaches the registry, whatever it provides."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from occamkit import Registry
from occamkit.packs.find import KINDS

EVERYTHING = """
    from dataclasses import dataclass
    from pathlib import Path
    from typing import ClassVar
    import click, sympy, torch
    from occamkit import Elementwise, Quantity, Stage, hookimpl, units

    OCCAMKIT_API = ">=0.1,<1"

    @dataclass(frozen=True)
    class Thing:
        "A thing."
        name: ClassVar[str] = "thing"
        stage: ClassVar[Stage] = Stage.SYMBOLIC
        weight: float = 1.0
        def score(self, predicted, target): return -(predicted - target).abs().sum(1)
        def ceiling(self, points): return 1.0
        def penalty(self, written, simplified): return 0.0
        def unroll(self, step, start): yield step(start)
        def propose(self, problem, budget): yield from ()
        def export(self, expression, inputs): return str(expression)

    @click.command("thing")
    def command(): "Do a thing."

    @hookimpl
    def occamkit_primitives(): return [Elementwise("thing", 1, torch.erf, sympy.erf, units.dimensionless)]
    @hookimpl
    def occamkit_constants(): return [Quantity("thing", 1.0, "m", "A thing.")]
    @hookimpl
    def occamkit_fitnesses(): return [Thing]
    @hookimpl
    def occamkit_regularizers(): return [Thing]
    @hookimpl
    def occamkit_wrappers(): return [Thing]
    @hookimpl
    def occamkit_tasks(): return [Path("thing.toml")]
    @hookimpl
    def occamkit_proposers(): return [Thing]
    @hookimpl
    def occamkit_exporters(): return [Thing()]
    @hookimpl
    def occamkit_commands(): return [command]
"""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_pack_may_provide_anything(make_pack: Callable[..., None], kind: str) -> None:
    make_pack("every", EVERYTHING)
    name = "every/thing" if kind == "tasks" else "thing"
    entry = Registry.load().find(kind, f"every:{name}")
    assert (entry.kind, entry.name, entry.pack) == (kind, name, "every")
