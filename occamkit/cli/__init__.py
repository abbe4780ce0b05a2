"""The command line: reads arguments, calls the library, shows what it returns. Nothing is computed here.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the run failed, 2 the input
is wrong.
"""
