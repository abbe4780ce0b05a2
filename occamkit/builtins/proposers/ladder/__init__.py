"""Sums of inputs, their products and simple functions, chosen by how well they foretell rows.

proposers  the proposer
ladder     all rungs in their order, and the winner as a formula
terms      what sums are made of
weigh      sums of terms, one after the other
contest    which of them foretells rows best
settings   numbers set by hand
"""
