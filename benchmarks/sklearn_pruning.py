"""Cost-complexity pruning by cross-validation, written with scikit-learn.

Breiman et al. (1984), chapter 3: the main tree's sequence of prices, their geometric means, and
for each fold a tree grown without it and pruned at each of these. scikit-learn prunes by impurity
and cannot prune a tree that is already grown, so there are two ways to write it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

Floats = npt.NDArray[np.float64]
#: Training X, y, weights, then test X, the prices, a seed: predictions of shape (prices, rows).
FoldPredictions = Callable[[Any, Any, Any, Any, Floats, int], npt.NDArray[Any]]


def predictions_by_refitting(
    X: Any, y: Any, weights: Any, X_test: Any, prices: Floats, seed: int
) -> npt.NDArray[Any]:
    """Fit again with ``ccp_alpha``, once for each different tree of the fold's own path."""
    tree = DecisionTreeClassifier(random_state=seed)
    breakpoints = tree.cost_complexity_pruning_path(X, y, weights).ccp_alphas
    step = np.maximum(np.searchsorted(breakpoints, prices, side="right") - 1, 0)
    predictions = np.empty((len(prices), len(X_test)), dtype=y.dtype)
    for k in np.unique(step):
        pruned = DecisionTreeClassifier(ccp_alpha=max(breakpoints[k], 0.0), random_state=seed)
        predictions[step == k] = pruned.fit(X, y, weights).predict(X_test)
    return predictions


def predictions_by_own_pruning(
    X: Any, y: Any, weights: Any, X_test: Any, prices: Floats, seed: int
) -> npt.NDArray[Any]:
    """Grow one tree, find where each node is cut in NumPy, and predict for all prices at once."""
    tree = DecisionTreeClassifier(random_state=seed).fit(X, y, weights).tree_
    cut_price = _cut_prices(tree)
    path = tree.decision_path(X_test).toarray() > 0
    stops = (cut_price <= prices[:, None]) | (tree.children_left < 0)
    # Parents come before their children, so the first stop on the path is the pruned tree's leaf.
    leaf = np.argmax(path & stops[:, None, :], axis=2)
    return np.asarray(np.argmax(tree.value[:, 0], axis=1)[leaf])


def _cut_prices(tree: Any) -> Floats:
    """The price of a leaf at which each node of a tree is cut, by the weakest link."""
    left, right = tree.children_left, tree.children_right
    n_nodes = tree.node_count
    weight = tree.weighted_n_node_samples
    risk = tree.impurity * weight / weight[0]
    parent = np.full(n_nodes, -1)
    inner = left >= 0
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    below, leaves, size = risk.copy(), np.ones(n_nodes), np.ones(n_nodes, np.int64)
    for node in np.flatnonzero(inner)[::-1]:
        below[node] = below[left[node]] + below[right[node]]
        leaves[node] = leaves[left[node]] + leaves[right[node]]
        size[node] += size[left[node]] + size[right[node]]
    cut = np.full(n_nodes, np.inf)
    alive = inner.copy()
    price = 0.0
    while alive[0]:
        link = np.full(n_nodes, np.inf)
        link[alive] = (risk[alive] - below[alive]) / (leaves[alive] - 1)
        node = int(np.argmin(link))
        price = max(price, link[node])
        cut[node] = price
        alive[node : node + size[node]] = False
        more_risk, fewer_leaves = risk[node] - below[node], leaves[node] - 1
        while node >= 0:
            below[node] += more_risk
            leaves[node] -= fewer_leaves
            node = int(parent[node])
    return cut


def cross_validated_tree(
    X: Any,
    y: Any,
    weights: Any = None,
    *,
    seed: int = 0,
    n_folds: int = 10,
    fold_predictions: FoldPredictions = predictions_by_refitting,
) -> DecisionTreeClassifier:
    """A tree pruned by cross-validation with the rule of one standard error.

    Examples
    --------
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bool(cross_validated_tree(X, y).get_n_leaves() < 30)
    True
    """
    weights = np.ones(len(y)) if weights is None else weights
    rows = np.flatnonzero(weights)
    X, y, weights = X[rows], y[rows], weights[rows]
    whole = DecisionTreeClassifier(random_state=seed)
    alphas = np.unique(np.maximum(whole.cost_complexity_pruning_path(X, y, weights).ccp_alphas, 0))
    prices = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1])
    errors = np.zeros(len(alphas))
    for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(X):
        predicted = fold_predictions(X[train], y[train], weights[train], X[test], prices, seed)
        errors += ((predicted != y[test]) * weights[test]).sum(axis=1)
    share = errors / weights.sum()
    best = int(np.argmin(share))
    limit = share[best] + np.sqrt(share[best] * (1 - share[best]) / weights.sum())
    step = int(np.flatnonzero(share <= limit)[-1])
    if step == len(alphas) - 1 and step > 0:
        step -= 1  # a single leaf is not taken while there is another tree, as in orfeon
    return DecisionTreeClassifier(ccp_alpha=alphas[step], random_state=seed).fit(X, y, weights)
