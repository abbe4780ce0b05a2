"""From a task file to a checked task with its data, and to the plain value that is searched.

    spec            the shape of a task file, section by section
    file            from text to a checked spec, or every problem in it with its line
    data            where rows come from, and rows with names, units and splits
    vocabulary      names in a task file as the plugins and constants that they stand for
    constant_units  whether a fitted number may carry a unit
    feedback        how the outputs of a step become inputs, for a task with a wrapper
    growth          how large the network is, from one fresh start to the next
    prepared        a checked task that can give its data
    problem         a task made concrete: rows, plugins, device
    search_problem  the part of it that is searched, as a plain value

Imports packs, dimensions, language and what lies below them, nothing above.
"""
