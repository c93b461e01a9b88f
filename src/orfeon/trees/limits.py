"""The size limits that all trees understand, and how they are checked."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

import numpy as np

from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.text import filled_docstring

ClassT = TypeVar("ClassT", bound=type)
Criterion = Literal["gini", "entropy", "log_loss"]

#: Constraints on the parameters that CART and its relatives share, for scikit-learn's validation.
LIMITS: dict[str, list[Any]] = {
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "categorical_features": [StrOptions({"auto"}), "array-like", Iterable, None],
    "random_state": ["random_state", np.random.Generator, np.random.SeedSequence],
}

#: Constraints on the impurity of classification trees; "log_loss" is scikit-learn's other name.
CRITERION: list[Any] = [StrOptions({"gini", "entropy", "log_loss"})]

#: What several classes say of their limits, by name.
TEXTS = {
    "log2": '"log2" draws ``floor(log2(M) + 1)`` of M features, one more than in scikit-learn.',
}


def with_limits(cls: ClassT) -> ClassT:
    """Fill the texts on limits into the docstring of a class."""
    cls.__doc__ = filled_docstring(cls.__doc__, TEXTS)
    return cls


def least_weight(limit: float, total: float) -> float:
    """A least size given as a number of samples, or as a share of their total weight."""
    return float(np.ceil(limit * total)) if limit < 1 else float(limit)


def features_per_node(max_features: Any, n_features: int) -> int | None:
    """How many features are drawn at each node."""
    if max_features is None:
        return None
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return int(np.log2(n_features) + 1)
    if isinstance(max_features, int | np.integer):
        if max_features > n_features:
            raise ValueError(
                f"max_features={max_features} is more than the {n_features} features of X."
            )
        return int(max_features)
    return max(1, int(max_features * n_features))
