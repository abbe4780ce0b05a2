"""Exact search: small expressions, each once, and formulas that one or two of them make, looked up and not guessed.

proposers      monomial, enumerate and join
settings       what was set by hand, with reasons
view           one output: a subsample of rows, and everything brought to plain numbers
library        every small expression once
holdings       what a library holds, and keys of values
arguments      the arguments that a primitive can have among expressions that are there already
directions     values with what is solved for projected out, to be matched by sorting
tables         a library with its directions, in stages; what the proposers share
matching       one expression, two, a sum, or what is left without a term
nearest        of noisy rows: expressions that come near
pool           the shortest formulas so far
assemble       from a match to a formula
active_groups  groups that the data show
power_inputs   inputs that enter as a power alone
"""
