"""Search: proposers that take turns, and what the exact ones are made of.

portfolio    lets proposers take turns until every output has an exact formula or the budget is spent
problem      what a proposer is given, and what it gives back
choice       which of the formulas that were found is the best, when none is exact
dimensions   products of powers with a given unit, and dimensionless groups; active finds groups in the data
view         one output: a subsample of rows, and everything brought to plain numbers
library      every small expression once; stock is what it holds
rows         values with what is solved for projected out, to be matched by sorting
tables       a library with its rows
matching     one expression, two, a sum, or what is left without a term
assemble     from a match to a formula
algebra      products and sums put together, numbers recognised
fitted       the search on noisy rows: tolerant for products, terms for sums, drafts for what is in the making
bits         rows of bits: packed, modulo two, and against all linear functions
gates        every small expression over bits; combine is how arguments are gone through
parity       sums modulo two, solved for and looked up
vary         numbers inside expressions, fitted

This room knows no primitive by name: what a primitive can do is asked of its declaration, or tried on numbers.
"""

from occamkit.search.algebra import product, weighted_sum
from occamkit.search.choice import cost, description_length
from occamkit.search.fitted import fitted
from occamkit.search.library import Ingredient, Library
from occamkit.search.matching import Found, images, monomials, pairs, peeled_pairs, peels, singles, sums, triples
from occamkit.search.parity import Parities
from occamkit.search.problem import Proposal, SearchBudget, SearchProblem
from occamkit.search.tables import Stage, Table, shared_view, stages, tables
from occamkit.search.view import View
from occamkit.task.dimensions import groups, scaling

__all__ = [
    "Found",
    "Ingredient",
    "Library",
    "Parities",
    "Proposal",
    "SearchBudget",
    "SearchProblem",
    "Stage",
    "Table",
    "View",
    "cost",
    "description_length",
    "fitted",
    "groups",
    "images",
    "monomials",
    "pairs",
    "peeled_pairs",
    "peels",
    "product",
    "scaling",
    "shared_view",
    "singles",
    "stages",
    "sums",
    "tables",
    "triples",
    "weighted_sum",
]
