"""From a task file to a checked task with its data.

    locate    which line of a file holds which key
    formula   reads the text of a formula, safely
    spec      the shape of a task file, as pydantic models made for what the loaded packs provide
    load      file → spec, or every problem in it with its line
    checks    what a shape cannot say: names, columns, units
    reach     which units a search could reach at all
    sources   where rows come from: csv, formula, pmlb
    dataset   rows with names, units and splits, in base units

Imports the registry and everything below it, nothing above.
"""
