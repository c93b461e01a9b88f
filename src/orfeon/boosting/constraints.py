"""Allowed interactions of features, as users write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from orfeon.data.monotone import place_of
from orfeon.data.schema import Schema
from orfeon.growth.newton import Interactions
from orfeon.kernels.gradient.interactions import ALONE, GROUPS, PAIRS
from orfeon.utils.types import Integers


def allowed_interactions(
    interaction_cst: Any, schema: Schema, origin: Integers
) -> Interactions | None:
    """Which columns of the trees may be on a path together; None for all.

    ``origin`` is the feature that each column comes from.
    """
    if interaction_cst is None:
        return None
    if isinstance(interaction_cst, str):
        return Interactions(ALONE if interaction_cst == "no_interactions" else PAIRS)
    n_features = len(schema.categories)
    groups = []
    for group in interaction_cst:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(
                f"interaction_cst has the group {group!r}; each group must be a list of features."
            )
        groups.append({place_of(one, schema, "interaction_cst") for one in group})
    others = set(range(n_features)) - set().union(*groups)
    if others:
        groups.append(others)
    words = np.zeros((len(groups), (len(origin) + 63) >> 6), np.uint64)
    for g, group in enumerate(groups):
        for f in np.flatnonzero(np.isin(origin, list(group))).tolist():
            words[g, f >> 6] |= np.uint64(1 << (f & 63))
    return Interactions(GROUPS, words)
