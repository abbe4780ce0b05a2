"""Sums of many products, all fitted at once: found in noise as well as without it.

proposers    the proposer
polynomials  sums in the output and in powers of it
"""
