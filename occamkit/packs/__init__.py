"""Packs: found, loaded, looked at and put under names.

find      which packs there are, and what one provides
registry  everything that the loaded packs provide, under names
shapes    what a pack's plugins must look like
trial     tries a primitive on sample points
limits    runs a pack's code for so long and no longer
"""

from occamkit.packs.find import KINDS, Entry, FoundPack, Pack, Status, load_pack

__all__ = ["KINDS", "Entry", "FoundPack", "Pack", "Status", "load_pack"]
