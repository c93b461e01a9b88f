"""From a prepared table to a forest: plain growth, growth with cross-validated pruning, IGP."""

from orfeon.growth.cross_validated import copy_groups, grow_pruned_forest
from orfeon.growth.engine import Growth, grow_forest
from orfeon.growth.igp import grow_igp_forest, split_halves

__all__ = [
    "Growth",
    "copy_groups",
    "grow_forest",
    "grow_igp_forest",
    "grow_pruned_forest",
    "split_halves",
]
