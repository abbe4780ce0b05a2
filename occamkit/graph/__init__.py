"""The graph: every function met so far as unique nodes, and folds over it; nothing about data.

    intern      turns sampled edges into node numbers
    table       a hash table on the device
    forest      what a set of functions needs, in an order that any fold can follow
    unshared    the same when each function has its own fitted constants
    folds       something that follows for every node of a graph from its arguments
    expression  one function as an immutable tree
    closed      products and sums that were solved for, as kinds of tree
    given       a formula that a person wrote, as a kind of tree
    rewrite     products and sums put together without needless nesting
    numbers     numbers that people would recognise
    ties        numbers of a sum that are one number
    spelling    closed parts spelt out in given primitives
    tree_fold   the fold over trees
    number_units  which unit each fitted number of a tree has
    reading     from node numbers to trees and back

This room imports `occamkit.protocols`, `occamkit.language` and the sample of `occamkit.network`.
"""

from occamkit.graph.closed import Monomial, Power, Product, Sum, flattened, with_exact_powers
from occamkit.graph.expression import Apply, Expression, Leaf
from occamkit.graph.folds import GraphFold
from occamkit.graph.forest import Forest, Forester, Group, forest_of
from occamkit.graph.intern import Graph
from occamkit.graph.numbers import recognised, simple, snapped
from occamkit.graph.reading import enter_expression, read_expression
from occamkit.graph.rewrite import SIGNS, is_number, product, weighted_sum
from occamkit.graph.table import KeyTable
from occamkit.graph.ties import tied
from occamkit.graph.tree_fold import fold_tree
from occamkit.graph.unshared import unshared_forest

__all__ = [
    "SIGNS",
    "Apply",
    "Expression",
    "Forest",
    "Forester",
    "Graph",
    "GraphFold",
    "Group",
    "KeyTable",
    "Leaf",
    "Monomial",
    "Power",
    "Product",
    "Sum",
    "enter_expression",
    "flattened",
    "fold_tree",
    "forest_of",
    "is_number",
    "product",
    "read_expression",
    "recognised",
    "simple",
    "snapped",
    "tied",
    "unshared_forest",
    "weighted_sum",
    "with_exact_powers",
]
