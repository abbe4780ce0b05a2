"""The network's own learning: one step, fresh starts, and what it learns from others.

trainer    one step: draw functions, score them, make the best of each output likelier
learner    steps and fresh starts until nothing is gained any more; what each step found
adam       the optimiser
steer      a fresh network that leans towards functions which nobody vetoes
teach      formulas as lessons
stop       when the network has converged, and when fresh starts no longer help
shallower  programs that repeat their step less often
film       the probabilities of edges at steps spread evenly over a run
"""

from occamkit.train.learner import Drawn, Learner, StepRecord
from occamkit.train.trainer import Step, Trainer

__all__ = ["Drawn", "Learner", "Step", "StepRecord", "Trainer"]
