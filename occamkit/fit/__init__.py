"""Fitting: one of each. Nothing here knows where a formula came from or what it is for.

linear     weights of a sum, solved for; smooth surrogates; standard errors
nonlinear  Levenberg and Marquardt's method for many functions at once
trees      the fitted numbers of one formula, on all rows
scaling    factor and offset around many functions at once
monomials  products of powers in front of many functions at once
noise      what errors of measurement are like
"""

from occamkit.fit.linear import TINY, bounded, smooth, solve, standard_errors
from occamkit.fit.noise import proportional, size_of
from occamkit.fit.nonlinear import Differences, fit
from occamkit.fit.scaling import Scaling
from occamkit.fit.trees import fit_tree

__all__ = [
    "TINY",
    "Differences",
    "Scaling",
    "bounded",
    "fit",
    "fit_tree",
    "proportional",
    "size_of",
    "smooth",
    "solve",
    "standard_errors",
]
