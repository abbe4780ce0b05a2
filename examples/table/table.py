"""A table of numbers in, a formula out: OccamRegressor, with two columns that have nothing to do with it."""

import numpy

from occamkit import OccamRegressor

generator = numpy.random.default_rng(0)
X = generator.uniform(1, 5, size=(200, 4))
y = X[:, 0] * numpy.exp(-X[:, 2])

model = OccamRegressor(max_steps=400).fit(X, y)
print(model.expression_)
print(model.export("c"))
assert model.score(X, y) > 0.999
