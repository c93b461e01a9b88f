"""Growing forests from a presorted table: CART, C4.5, IGP, pruned by cross-validation."""

from orfeon.data.presorted import copy_groups
from orfeon.growth.c45 import C45Growth, grow_c45
from orfeon.growth.cross_validated import grow_pruned_forest
from orfeon.growth.engine import Growth, grow_forest
from orfeon.growth.igp import grow_igp_forest, split_halves

__all__ = [
    "C45Growth",
    "Growth",
    "copy_groups",
    "grow_c45",
    "grow_forest",
    "grow_igp_forest",
    "grow_pruned_forest",
    "split_halves",
]
