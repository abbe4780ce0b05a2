"""The search for formulas with unknown constants: sums of products of functions, fitted by thousands in a second.

proposers    the proposer, and its search for one output
view_search  the search in one view of the rows
sources      where formulas come from, a batch at a time
functions    primitives of one argument, as the kernel knows them
skeleton     formulas without their numbers
rows         the rows of an output as tables
plan         all small formulas, in order
changes      changes that make one formula of another
waves        frequencies that the rows show
race         fits of many formulas, few rows first
levels       what was fitted and kept
prune        simpler formulas behind a good one
write        fitted formulas as trees
settings     numbers set by hand
"""
