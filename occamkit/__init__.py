"""occamkit turns data into formulas."""

from typing import TYPE_CHECKING, Any

from occamkit import description, dimensions, fit, graph, search, train, traits, typeset, units
from occamkit._version import __version__
from occamkit.graph import Apply, Expression, Leaf, Product, Sum
from occamkit.hookspecs import hookimpl
from occamkit.packs.registry import Registry
from occamkit.primitives import Cluster, Constant, Elementwise, Quantity
from occamkit.protocols import (
    Exporter,
    Fitness,
    ForwardRegularizer,
    Kind,
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
from occamkit.result import Result
from occamkit.search import Milestone, Proposal, SearchBudget
from occamkit.solve import run
from occamkit.task.file.load import load_task
from occamkit.task.problem import Problem
from occamkit.task.search_problem import SearchProblem

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
    "Kind",
    "Leaf",
    "Milestone",
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
    "description",
    "dimensions",
    "fit",
    "graph",
    "hookimpl",
    "load_task",
    "run",
    "search",
    "train",
    "traits",
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
