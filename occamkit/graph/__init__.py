"""The graph: every function met so far as unique nodes, and folds over it; nothing about data.

`intern` turns sampled edges into node numbers (over `table`), `forest` says what a set of functions needs, in
an order that any fold can follow, and `unshared` the same when each function has its own fitted constants.
`folds` are some of the folds, `expression` is one function as an immutable tree, `closed` what may stand around
it, and `reading` leads from
node numbers to trees and back. This room imports `occamkit.protocols` and the sample of `occamkit.network`.
"""

from occamkit.graph.closed import Monomial, Product, Sum, flattened
from occamkit.graph.expression import Apply, Expression, Leaf
from occamkit.graph.folds import GraphFold
from occamkit.graph.forest import Forest, Forester, Group, forest_of
from occamkit.graph.intern import Graph
from occamkit.graph.reading import enter_expression, read_expression
from occamkit.graph.unshared import unshared_forest

__all__ = [
    "Apply",
    "Expression",
    "Forest",
    "Forester",
    "Graph",
    "GraphFold",
    "Group",
    "Leaf",
    "Monomial",
    "Product",
    "Sum",
    "enter_expression",
    "flattened",
    "forest_of",
    "read_expression",
    "unshared_forest",
]
