"""From functions to scores: fitness less penalties, one judge for trees and for the nodes of a graph.

    judge      the stages of a problem, and the score of a single tree
    nodes      the same stages over a graph, for thousands of functions at once
    structure  what the written tree alone decides: penalties and vetoes, before anything is evaluated
    forward    penalties of nodes, on the way through evaluation
    whole      what only algebra or the whole formula can tell, asked only as far down the ranking as matters
    patterns   parts of formulas that are penalised wherever they stand, told from the graph alone
    fitted     functions with constants: fitted once for each output, then scored like any other
    scaled     a fitness whose predictions are scaled to the target first

Penalties are never negative, so a score without the later stages is an upper bound.
"""

from occamkit.score.judge import Judge, TreeScore
from occamkit.score.nodes import GraphJudge, NodeScores, ProgramWorth

__all__ = ["GraphJudge", "Judge", "NodeScores", "ProgramWorth", "TreeScore"]
