"""Features that predictions rise or fall with, as users write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from orfeon.data.schema import Schema
from orfeon.utils.types import Integers


def monotone_signs(monotonic_cst: Any, schema: Schema) -> Integers | None:
    """The sign of each feature that predictions must rise or fall with; None without any."""
    if monotonic_cst is None:
        return None
    n_features = len(schema.categories)
    if isinstance(monotonic_cst, Mapping):
        given = np.zeros(n_features)
        for name, sign in monotonic_cst.items():
            given[place_of(name, schema, "monotonic_cst")] = _number(sign)
    else:
        given = np.array([_number(sign) for sign in np.ravel(np.asarray(monotonic_cst))])
        if len(given) != n_features:
            raise ValueError(
                f"monotonic_cst has shape {len(given)} but the input data X has {n_features} "
                "features; each needs one value."
            )
    wrong = given[~np.isin(given, (-1, 0, 1))]
    if len(wrong):
        raise _not_a_sign(f"{wrong[0]:g}")
    signs = given.astype(np.int64)
    of_categories = np.flatnonzero((signs != 0) & schema.is_categorical)
    if len(of_categories):
        raise ValueError(
            f"monotonic_cst constrains feature {_shown(of_categories[0], schema)}, which is "
            "categorical; categories have no order."
        )
    return signs if signs.any() else None


def place_of(feature: Any, schema: Schema, parameter: str) -> int:
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


def _number(sign: Any) -> float:
    try:
        return float(sign)
    except (TypeError, ValueError):
        raise _not_a_sign(repr(sign)) from None


def _not_a_sign(shown: str) -> ValueError:
    return ValueError(
        f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {shown}: 1 is for "
        "features that predictions must not fall with, -1 for those they must not rise with."
    )


def _shown(feature: int, schema: Schema) -> str:
    return str(feature) if schema.names is None else repr(schema.names[feature])
