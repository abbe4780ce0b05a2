"""Print the tasks of a pack that a search can run; the others are only checked."""

import sys

from occamkit import Registry, load_task
from occamkit.task.problem import unsupported

registry = Registry.load()
for entry in registry.entries("tasks"):
    if entry.pack == sys.argv[1]:
        task = load_task(entry.name, registry)
        reasons = list(unsupported(task.spec, registry))
        if reasons:
            sys.stderr.write(f"{entry.name} is checked only: {reasons[0]}\n")
        else:
            sys.stdout.write(f"{entry.name}\n")
