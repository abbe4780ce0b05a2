"""Evaluation: functions of the graph on columns of data. Knows primitives by their `call` alone.

`evaluator` is the small door; `blocks` does the arithmetic behind it and `store` remembers what is known of
each function. `constants` fits those of thousands of functions, with slopes from `duals` or by `gradient_descent`, and
keeps them in the `constant_store`. `recurrence` evaluates programs that read their own results, on rows laid out by
`own_rows`. This room imports the graph and what lies below it.
"""

from occamkit.evaluate.evaluator import Evaluator, Scores
from occamkit.evaluate.recurrence import ProgramEvaluator, iterates, predictions

__all__ = ["Evaluator", "ProgramEvaluator", "Scores", "iterates", "predictions"]
