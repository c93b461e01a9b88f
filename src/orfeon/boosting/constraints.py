"""Monotone features and allowed interactions, as users write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from orfeon.data.schema import Schema
from orfeon.growth.newton import Interactions
from orfeon.kernels.gradient.interactions import ALONE, GROUPS, PAIRS
from orfeon.utils.types import Integers

_SIGNS = "-1 (decreasing), 0 (free) or 1 (increasing)"


def monotone_signs(monotonic_cst: Any, schema: Schema) -> Integers | None:
    """The sign of each feature that predictions must rise or fall with; None without any."""
    if monotonic_cst is None:
        return None
    n_features = len(schema.categories)
    if isinstance(monotonic_cst, Mapping):
        given = np.zeros(n_features)
        for name, sign in monotonic_cst.items():
            given[_place(name, schema, "monotonic_cst")] = _number(sign)
    else:
        given = np.array([_number(sign) for sign in np.ravel(np.asarray(monotonic_cst))])
        if len(given) != n_features:
            raise ValueError(
                f"monotonic_cst has {len(given)} values; X has {n_features} features, and each "
                "needs one."
            )
    wrong = given[~np.isin(given, (-1, 0, 1))]
    if len(wrong):
        raise ValueError(f"monotonic_cst has the value {wrong[0]:g}; it must be {_SIGNS}.")
    signs = given.astype(np.int64)
    of_categories = np.flatnonzero((signs != 0) & schema.is_categorical)
    if len(of_categories):
        raise ValueError(
            f"monotonic_cst constrains feature {_shown(of_categories[0], schema)}, which is "
            "categorical; categories have no order."
        )
    return signs if signs.any() else None


def _number(sign: Any) -> float:
    try:
        return float(sign)
    except (TypeError, ValueError):
        raise ValueError(f"monotonic_cst has the value {sign!r}; it must be {_SIGNS}.") from None


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
        groups.append({_place(one, schema, "interaction_cst") for one in group})
    others = set(range(n_features)) - set().union(*groups)
    if others:
        groups.append(others)
    words = np.zeros((len(groups), (len(origin) + 63) >> 6), np.uint64)
    for g, group in enumerate(groups):
        for f in np.flatnonzero(np.isin(origin, list(group))).tolist():
            words[g, f >> 6] |= np.uint64(1 << (f & 63))
    return Interactions(GROUPS, words)


def _place(feature: Any, schema: Schema, parameter: str) -> int:
    """Index of a feature given by name or by index."""
    n_features = len(schema.categories)
    if isinstance(feature, str):
        names = schema.names or ()
        if feature not in names:
            known = f"the features are {', '.join(map(repr, names))}" if names else "X has no names"
            raise ValueError(f"{parameter} names the feature {feature!r}; {known}.")
        return names.index(feature)
    is_index = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if not is_index or not 0 <= feature < n_features:
        raise ValueError(
            f"{parameter} has the feature {feature!r}; features are names, or numbers from 0 to "
            f"{n_features - 1}."
        )
    return int(feature)


def _shown(feature: int, schema: Schema) -> str:
    return str(feature) if schema.names is None else repr(schema.names[feature])
