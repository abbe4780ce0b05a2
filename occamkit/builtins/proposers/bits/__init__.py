"""Programs over bits: sums modulo two are solved for, and what is left is looked up.

proposers  the proposer
rows       rows of bits: packed, modulo two, and against all linear functions
gates      every small expression over bits, each once
parity     sums modulo two, alone and with one or two small expressions among them
"""
