"""The built-in proposers: where candidates come from.

Each is a dataclass whose fields are its options in `[[proposers]]`, made of public names alone.

    network  the network of the paper
    exact    formulas that are looked up
    sums     sums of many products, fitted all at once
    ladder   sums that foretell rows
    free_constants  formulas whose numbers nobody can guess
    bits     programs over bits
"""

from __future__ import annotations

from occamkit.builtins.proposers.bits.proposers import Parity
from occamkit.builtins.proposers.exact.proposers import Enumerate, Join, MonomialProposer
from occamkit.builtins.proposers.free_constants.proposers import FreeConstants
from occamkit.builtins.proposers.ladder.proposers import LadderProposer
from occamkit.builtins.proposers.network import Network
from occamkit.builtins.proposers.sums.proposers import FitProposer

PROPOSERS = (Parity, MonomialProposer, Enumerate, Join, FreeConstants, FitProposer, LadderProposer, Network)
