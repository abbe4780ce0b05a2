"""occamkit turns data into formulas."""

from occamkit import units
from occamkit.hookspecs import hookimpl
from occamkit.primitives import Cluster, Constant, Elementwise
from occamkit.protocols import (
    Exporter,
    Fitness,
    NodeBatch,
    Output,
    Primitive,
    Proposer,
    Regularizer,
    Stage,
    Task,
    TaskFile,
    Variable,
    Verdict,
    Wrapper,
)

__version__ = "0.1.0"

from occamkit.registry import Registry

__all__ = [
    "Cluster",
    "Constant",
    "Elementwise",
    "Exporter",
    "Fitness",
    "NodeBatch",
    "Output",
    "Primitive",
    "Proposer",
    "Registry",
    "Regularizer",
    "Stage",
    "Task",
    "TaskFile",
    "Variable",
    "Verdict",
    "Wrapper",
    "__version__",
    "hookimpl",
    "units",
]
