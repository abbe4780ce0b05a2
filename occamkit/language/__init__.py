"""Formulas as people write them: from text to a tree of its own, and what that tree stands for.

parse      reads the text of a formula, safely
functions  the functions and constants that the language knows
folds      a formula that was read as values and in sympy
"""
