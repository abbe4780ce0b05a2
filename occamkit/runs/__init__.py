"""Runs: run folders, how a run looks while it goes on, and tasks made of tables.

folder  run folders, written so that a reader always can
quick   from a table to a task with nothing else said
live    a run while it goes on
"""
