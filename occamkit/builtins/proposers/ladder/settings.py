"""What was set by hand for the ladder of sums."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LadderSettings:
    """How sums are made and chosen; `docs/results/tables.md` has what they were measured on.

    Rows: with fewer of which there is nothing to repeat (fewest_rows), and beyond which every second will do, or every
    third (most_rows): there a sum that fits them foretells others, too.

    Sums: shrinkages, how strongly weights are pulled to zero, as a part of what each term explains alone; most_terms
    and most_words of a sum; partners, the inputs that products are made of where there are more; far, the part of its
    median that an input must be above for its inverse and its logarithm, which run away near zero; new, the part of a
    term below which what is new of it is rounding.

    The lasso: its strengths, over so many powers of ten, and the steps that each takes.

    Choice: folds, and how often rows are dealt anew below so many of them (repeats); gate, by how many standard errors
    of paired differences the sums of a higher rung must be better; shorter, by how many a shorter one may be worse.
    """

    fewest_rows: int = 20
    most_rows: int = 5_000
    shrinkages: tuple[float, ...] = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
    most_terms: int = 14
    most_words: int = 60
    partners: int = 20
    far: float = 0.2
    new: float = 1e-3
    strengths: int = 25
    powers_of_ten: float = 2.5
    lasso_steps: int = 300
    folds: int = 5
    repeats: tuple[tuple[int, int], ...] = ((100, 4), (300, 2))
    gate: float = 1.5
    shorter: float = 0.5


SETTINGS = LadderSettings()
