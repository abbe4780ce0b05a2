"""What was found: every formula that is worth keeping, by whomever, and which of them is the best.

candidate  a formula that was kept, with its score and its exact figures
figures    errors and shares of variance on every part of the rows
archive    the best formula of each complexity and the shortest descriptions, for one output
programs   the same for a task with a wrapper, whose outputs stand or fall together
choose     which formula is the best
luck       when a constant is the answer, since the best may be the luckiest of thousands
outliers   tables with a wrong row: when it is better to name an exception
foretold   what foretells rows, held against what fits them
trajectory rows that follow one another, and what they cannot tell
relation   whether a relation says anything of the rows
tidy       the last touch on fitted constants
noisy_rows at the end: numbers fitted to all rows, and formulas that are as good
"""

from occamkit.archive.archive import Archive, tidied
from occamkit.archive.candidate import Candidate, Whole
from occamkit.archive.figures import PARTS, Figures
from occamkit.archive.noisy_rows import refitted, ties
from occamkit.archive.programs import ProgramArchive, archives_of

__all__ = [
    "PARTS",
    "Archive",
    "Candidate",
    "Figures",
    "ProgramArchive",
    "Whole",
    "archives_of",
    "refitted",
    "tidied",
    "ties",
]
