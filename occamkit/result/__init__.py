"""What a run gives back, written for people.

values         frozen values that read like `result.json`
write          from what a run found to those values
formulas       a tree as a formula over the user's columns
relations      what an implicit formula says of single inputs
logic          a tree over bits as logic
program        all outputs as one Python program
disagreements  rows that a formula does not meet
"""

from occamkit.result.values import Disagreement, Doubt, Found, OutputResult, Result

__all__ = ["Disagreement", "Doubt", "Found", "OutputResult", "Result"]
