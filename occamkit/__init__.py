"""occamkit turns data into formulas."""

from typing import TYPE_CHECKING, Any

from occamkit import search, typeset, units
from occamkit._version import __version__
from occamkit.graph import Apply, Expression, Leaf, Product, Sum
from occamkit.hookspecs import hookimpl
from occamkit.primitives import Cluster, Constant, Elementwise, Quantity
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
    TreeRegularizer,
    Variable,
    Verdict,
    Wrapper,
)
from occamkit.registry import Registry
from occamkit.result import Result
from occamkit.search import Proposal, SearchBudget, SearchProblem
from occamkit.solve import run
from occamkit.task.load import load_task
from occamkit.task.problem import Problem

if TYPE_CHECKING:
    from occamkit.estimator import OccamRegressor

__all__ = [
    "Apply",
    "Cluster",
    "Constant",
    "Elementwise",
    "Exporter",
    "Expression",
    "Fitness",
    "ForwardRegularizer",
    "Leaf",
    "NodeBatch",
    "OccamRegressor",
    "Output",
    "Primitive",
    "Problem",
    "Product",
    "Proposal",
    "Proposer",
    "Quantity",
    "Registry",
    "Regularizer",
    "Result",
    "SearchBudget",
    "SearchProblem",
    "Stage",
    "StructureRegularizer",
    "Sum",
    "SymbolicRegularizer",
    "Task",
    "TaskFile",
    "TreeRegularizer",
    "Variable",
    "Verdict",
    "Wrapper",
    "__version__",
    "hookimpl",
    "load_task",
    "run",
    "search",
    "typeset",
    "units",
]


def __getattr__(name: str) -> Any:
    """Load the estimator when it is asked for: scikit-learn is large, and only needed there."""
    if name != "OccamRegressor":
        raise AttributeError(f"module 'occamkit' has no attribute {name!r}")
    try:
        from occamkit.estimator import OccamRegressor
    except ModuleNotFoundError as error:
        raise ImportError(f"OccamRegressor needs scikit-learn: pip install 'occamkit[sklearn]' ({error})") from error
    return OccamRegressor
