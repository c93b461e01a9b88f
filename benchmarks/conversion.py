"""scikit-learn's forests as orfeon's, so both predict with the same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from orfeon.forest import NODE, Forest, without_zeros

Floats = npt.NDArray[np.float64]


def _breadth_first(tree: Any) -> npt.NDArray[np.int64]:
    """A tree's nodes, level by level: the children of a node become neighbours."""
    left, right = tree.children_left, tree.children_right
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] >= 0]
        levels.append(np.column_stack([left[inner], right[inner]]).ravel())
    return np.concatenate(levels)


def _as_counts(weights: Floats) -> npt.NDArray[Any]:
    """Weights in the type that orfeon has for whole numbers, where they are."""
    counts = np.rint(weights)
    whole = np.allclose(weights, counts, rtol=0, atol=1e-6)
    return np.asarray(counts, np.uint32) if whole else weights


def _one_tree(tree: Any, n_classes: int) -> Forest:
    order = _breadth_first(tree)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    left = tree.children_left[order]
    leaf = left < 0
    nodes = np.empty(len(order), NODE)
    nodes["threshold"] = np.where(leaf, np.inf, tree.threshold[order])
    nodes["feature"] = np.where(leaf, 0, tree.feature[order])
    nodes["first_child"] = np.where(leaf, np.arange(len(order)), place[left])
    missing = np.where(leaf | (tree.missing_go_to_left[order] != 0), 0, 1)
    return Forest(
        tree_start=np.array([0, len(order)]),
        nodes=nodes,
        n_children=np.where(leaf, 0, 2).astype(np.uint16),
        missing=missing.astype(np.uint16),
        n_classes=n_classes,
        n_categories=np.zeros(tree.n_features, np.int64),
        **(_said_of_classes(tree, order) if n_classes else _said_of_target(tree, order, leaf)),
    )


def _said_of_classes(tree: Any, order: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Weights of the classes, and the class of each node."""
    value = tree.value[order, 0]
    shares = value / value.sum(axis=1, keepdims=True)
    weights = _as_counts(shares * tree.weighted_n_node_samples[order, None])
    return {"value": weights, "label": np.argmax(weights, axis=1).astype(np.int32)}


def _said_of_target(
    tree: Any, order: npt.NDArray[np.int64], leaf: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Means and weights of the nodes, and variances of the leaves."""
    variance = tree.impurity[order][leaf]
    # A variance of zero after rounding; it may even be negative.
    pure = variance <= 1e-12 * (tree.impurity[0] + tree.value[0, 0, 0] ** 2)
    return {
        "value": tree.value[order, 0],
        "label": np.zeros(0, np.int32),
        "leaf_weight": _as_counts(tree.weighted_n_node_samples[order][leaf]),
        "leaf_impurity": without_zeros(np.where(pure, 0.0, variance)),
    }


def from_scikit_learn(ensemble: Any) -> Forest:
    """The trees of a fitted scikit-learn ensemble.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> trees = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> len(from_scikit_learn(trees))
    3
    """
    n_classes = ensemble.n_classes_ if is_classifier(ensemble) else 0
    trees = [_one_tree(member.tree_, n_classes) for member in ensemble.estimators_]
    forest = Forest.concatenate(trees)
    return forest.validate()
