"""Training the network: draw, score, learn from the best, again (Training; Methods, "Sample-based Training").

trainer   one step, read straight down
stop      when a run has converged, and when it is out of steps or seconds
front     the best function of every complexity, over everything that was seen
figures   exact figures of a function on the user's rows, in float64
checkpoint everything that changes during a run, to be kept and gone on from
film      the network's probabilities at steps spread over the run
run       steps, restarts and stop rules until the budget is spent
"""
