"""Where rows come from. Each source gives the columns that are asked for, in base units, as float64.

dataset   rows with names, units and splits
csv       a text file with a header
glance    a first look at such a file
formula   points drawn from ranges, with targets computed
sequence  series whose next values are asked for
pmlb      data sets of the Penn Machine Learning Benchmarks
"""
