"""The search on noisy rows: products of small expressions, fitted. Sums and free numbers are `free_constants`' own.

proposers    the proposer
fitted       all of the search in order
tolerant     products
space        the output in weighted logarithms, beside the expressions of a library
drafts       formulas in the making
shortlist    many products completed at once
pairs        pairs of rows, all compared
rounding     exponents out of logarithms with noise
prune        formulas with a part less
"""
