"""occamkit turns data into formulas."""

from occamkit import units
from occamkit._version import __version__
from occamkit.hookspecs import hookimpl
from occamkit.primitives import Cluster, Constant, Elementwise
from occamkit.protocols import (
    Exporter,
    Fitness,
    ForwardRegularizer,
    NodeBatch,
    Output,
    Primitive,
    Proposer,
    Regularizer,
    Stage,
    StructureRegularizer,
    SymbolicRegularizer,
    Task,
    TaskFile,
    Variable,
    Verdict,
    Wrapper,
)
from occamkit.registry import Registry
from occamkit.result import Result
from occamkit.solve import run
from occamkit.task.load import load_task

__all__ = [
    "Cluster",
    "Constant",
    "Elementwise",
    "Exporter",
    "Fitness",
    "ForwardRegularizer",
    "NodeBatch",
    "Output",
    "Primitive",
    "Proposer",
    "Registry",
    "Regularizer",
    "Result",
    "Stage",
    "StructureRegularizer",
    "SymbolicRegularizer",
    "Task",
    "TaskFile",
    "Variable",
    "Verdict",
    "Wrapper",
    "__version__",
    "hookimpl",
    "load_task",
    "run",
    "units",
]
