"""The pack `bench`: the command `occamkit bench`, which measures occamkit on this machine.

setting      the paper's PMLB network as a task document, with real or synthetic rows
clock        CPU time, peak memory, one thread
dense        the yardstick: every node of every function, in plain torch
peers        gplearn and pyoperon, when they are installed
stages       where the time of a training step goes
throughput   functions per second, all contenders in turn
growth       how cost grows with functions, rows, depth and inputs
million      a million functions
paper        the paper's own tasks, seed by seed
equations    known equations, and the task that each becomes
recovery     whether a formula that was found is the truth
large        random formulas of fifteen to thirty nodes
rediscover   runs equations, one after the other
real_tables  tables of measurements that the books have a law for
contenders   who takes part on tables that nobody has a law for
black_box    lets them learn and tell
apart        work in a process of its own
plot         pictures of throughput and growth
commands     the command line; equation_commands of it known equations, table_commands tables
"""

from __future__ import annotations

from collections.abc import Iterable

import click

from occamkit import hookimpl
from occamkit_bench.commands import bench

OCCAMKIT_API = ">=0.1,<1"


@hookimpl
def occamkit_commands() -> Iterable[click.Command]:
    """Return the command `bench`."""
    return [bench]
