"""The search on noisy rows: products and sums of small expressions, and numbers inside them, fitted.

All of it is behind the proposer `fit`; the engine for unknown constants is to take its place.

    proposers    the proposer
    fitted       all of the search in order
    tolerant     products
    space        the output in weighted logarithms, beside the expressions of a library
    drafts       formulas in the making
    shortlist    many products completed at once
    pairs        pairs of rows, all compared
    rounding     exponents out of logarithms with noise
    terms        sums of two or three terms
    polynomials  sums of many products at once
    vary         numbers inside expressions
    prune        formulas with a part less
"""
