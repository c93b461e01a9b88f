"""Importance of the features by impurity decrease."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.forest.pruning import node_impurities, output_impurities


def impurity_importances(
    forest: Forest,
    criterion: str,
    tree_weights: npt.NDArray[np.float64] | None = None,
) -> npt.NDArray[np.float64]:
    """Mean impurity decrease due to each feature, averaged over the trees."""
    if forest.n_outputs > 1:
        impurity = output_impurities(forest, criterion)
    else:
        impurity = node_impurities(forest, criterion)
    weighted = forest.weights() * impurity
    inner = np.flatnonzero(forest.n_children > 0)
    parent = forest.parents()
    child = np.flatnonzero(parent >= 0)
    decrease = weighted.copy()
    np.subtract.at(decrease, parent[child], weighted[child])
    tree = np.searchsorted(forest.tree_start, inner, side="right") - 1
    shares = np.zeros((len(forest), forest.n_features))
    feature = forest.feature[inner]
    plain = feature >= 0
    np.add.at(shares, (tree[plain], feature[plain]), decrease[inner[plain]])
    start, terms, weights = forest.projections
    for at, t, projection in zip(inner[~plain], tree[~plain], -1 - feature[~plain], strict=True):
        span = slice(start[projection], start[projection + 1])
        size = np.abs(weights[span])
        np.add.at(shares[t], terms[span], decrease[at] * size / size.sum())
    # In IGP trees a split found on one half may increase the impurity of the other.
    np.maximum(shares, 0.0, out=shares)
    total = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
    weight = (total[:, 0] > 0).astype(np.float64)
    if tree_weights is not None:
        weight *= tree_weights
    if not weight.any():
        return np.zeros(forest.n_features)
    return np.asarray(np.average(shares, axis=0, weights=weight))
