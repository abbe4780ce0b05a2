"""occamkit turns data into formulas."""

from occamkit import units
from occamkit.hookspecs import hookimpl
from occamkit.primitives import Cluster, Constant, Elementwise

__version__ = "0.1.0"

__all__ = ["Cluster", "Constant", "Elementwise", "__version__", "hookimpl", "units"]
