"""Trees in flat arrays, the checks that they are trees, and rows that they hold alike."""

from __future__ import annotations

from orfeon.forest.forest import NODE as NODE
from orfeon.forest.forest import PER_NODE as PER_NODE
from orfeon.forest.forest import Forest, without_zeros

__all__ = ["Forest", "without_zeros"]
