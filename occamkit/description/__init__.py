"""How long it takes to say a formula, and what it leaves of the rows: what formulas are chosen by under noise.

cost    what a formula costs to write down, and which of its numbers mean something
length  both together
"""

from occamkit.description.cost import (
    BITS_PER_WORD,
    MOST_EXCEPTIONS,
    PRICES,
    cost,
    exact_cost,
    fitted_numbers,
    function_cost,
    odd_numbers,
    plain,
    power_cost,
    wasted_digits,
    words,
)
from occamkit.description.length import NOTHING_LEFT, PRICE, by_heart, length, own_length

__all__ = [
    "BITS_PER_WORD",
    "MOST_EXCEPTIONS",
    "NOTHING_LEFT",
    "PRICE",
    "PRICES",
    "by_heart",
    "cost",
    "exact_cost",
    "fitted_numbers",
    "function_cost",
    "length",
    "odd_numbers",
    "own_length",
    "plain",
    "power_cost",
    "wasted_digits",
    "words",
]
