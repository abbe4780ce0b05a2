"""The network: a distribution over functions, and nothing about data, values or scores.

`layout` is arithmetic on node numbers, `size` counts functions, `model` holds the weights, `sampler` draws functions,
a `sample` lists what they `reach`, `probability`
says how likely given functions are and how to make them likelier, `equalise` sets the first weights and
`likeliest` reads the best function off the last ones. This room imports torch and `occamkit.protocols` only.
"""

from occamkit.network.layout import Layer, Layout
from occamkit.network.likeliest import argmax_edges, likeliest_edges
from occamkit.network.model import OccamNetwork
from occamkit.network.probability import log_gradient, log_probability
from occamkit.network.sample import Sample, Tile, TileLayer
from occamkit.network.sampler import Sampler

__all__ = [
    "Layer",
    "Layout",
    "OccamNetwork",
    "Sample",
    "Sampler",
    "Tile",
    "TileLayer",
    "argmax_edges",
    "likeliest_edges",
    "log_gradient",
    "log_probability",
]
