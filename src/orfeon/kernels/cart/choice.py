"""Codes of the choice of a split."""

from __future__ import annotations

#: In place of a feature: the node has no split, or it tests a linear combination.
NO_SPLIT, PROJECTION = -2, -1
#: Where missing values go; ``NONE_MISSING`` if none were seen.
MISSING_RIGHT, MISSING_LEFT, NONE_MISSING = 0, 1, 2
#: In a category set: the category does not occur in the node.
ABSENT = 2
