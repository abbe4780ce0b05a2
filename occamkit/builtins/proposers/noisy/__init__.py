"""The search on noisy rows: products of small expressions and sums of many products, fitted.

Free numbers inside functions are `free_constants`' own.

proposers    the proposer, and all of the search in order
tolerant     products
space        the output in weighted logarithms, beside the expressions of a library
drafts       formulas in the making
shortlist    many products completed at once
polynomials  sums of many products at once
"""
