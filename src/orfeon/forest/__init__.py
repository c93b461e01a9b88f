"""Trees in flat arrays: validation, pruning, importances, neighbours."""

from __future__ import annotations

from orfeon.forest.forest import Forest
from orfeon.forest.joining import NODE as NODE
from orfeon.forest.joining import PER_NODE as PER_NODE
from orfeon.forest.joining import without_zeros
from orfeon.forest.pruning import (
    PruningPath,
    prune_reduced_error,
    prune_to_alpha,
    pruning_path,
)

__all__ = [
    "Forest",
    "PruningPath",
    "prune_reduced_error",
    "prune_to_alpha",
    "pruning_path",
    "without_zeros",
]
