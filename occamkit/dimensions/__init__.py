"""Dimensional analysis by exact arithmetic: products of powers with a given unit, and dimensionless groups.

lattice    whole exponents that solve linear equations, small ones first
products   the products of powers that have a unit, and groups that have none
powers     which powers may stand in front of a function, given zeros and signs in the rows
preflight  whether any function of a search would pass a regularizer that can veto
"""

from occamkit.dimensions.powers import Powers
from occamkit.dimensions.products import (
    Exponents,
    PowerProducts,
    groups,
    in_directions,
    low_monomials,
    scaling,
    scaling_of_some,
    simple_monomials,
)

__all__ = [
    "Exponents",
    "PowerProducts",
    "Powers",
    "groups",
    "in_directions",
    "low_monomials",
    "scaling",
    "scaling_of_some",
    "simple_monomials",
]
