"""The built-in proposers: where candidates come from.

Each is a dataclass whose fields are its options in `[[proposers]]`; the machinery is `occamkit.search`.
"""

from __future__ import annotations

from occamkit.builtins.proposers.bits import Parity
from occamkit.builtins.proposers.exact import Enumerate, Join, Monomial
from occamkit.builtins.proposers.fit import Fit
from occamkit.builtins.proposers.network import Network

PROPOSERS = (Parity, Monomial, Enumerate, Join, Fit, Network)
