"""The task file: text in, a checked spec out, or every problem in it at once.

load        file → spec
locate      which line of a file holds which key
model       the pydantic model for what the loaded packs provide
complaints  what pydantic says, in our words
checks      what a shape cannot say: names, columns, units
local       packs that a task file brings along
"""
