"""From functions to scores: fitness less penalties, in the order that spares the most work.

    structure   what the written tree alone decides: penalties and vetoes, before anything is evaluated
    judge       fitness on the data, penalties of nodes on the way, undefined functions
    symbolic    what only algebra can see, asked for only as far down the ranking as matters

Penalties are never negative, so a score without the later stages is an upper bound.
"""

from occamkit.score.judge import Judge, Scores, leaves_of

__all__ = ["Judge", "Scores", "leaves_of"]
