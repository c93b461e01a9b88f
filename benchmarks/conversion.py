"""scikit-learn's forests as orfeon's, so that both predict with the very same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import NODE, Forest


def _breadth_first(tree: Any) -> npt.NDArray[np.int64]:
    """A tree's nodes, level by level: the children of a node become neighbours."""
    left, right = tree.children_left, tree.children_right
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] >= 0]
        levels.append(np.column_stack([left[inner], right[inner]]).ravel())
    return np.concatenate(levels)


def _one_tree(tree: Any) -> Forest:
    order = _breadth_first(tree)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    left = tree.children_left[order]
    leaf = left < 0
    nodes = np.empty(len(order), NODE)
    nodes["threshold"] = np.where(leaf, np.inf, tree.threshold[order])
    nodes["attribute"] = np.where(leaf, 0, tree.feature[order])
    nodes["first_child"] = np.where(leaf, np.arange(len(order)), place[left])
    value = tree.value[order, 0]
    value = value / value.sum(axis=1, keepdims=True)
    missing = np.where(leaf | (tree.missing_go_to_left[order] != 0), 0, 1)
    return Forest(
        tree_start=np.array([0, len(order)]),
        nodes=nodes,
        n_children=np.where(leaf, 0, 2).astype(np.uint16),
        missing=missing.astype(np.uint16),
        label=np.argmax(value, axis=1).astype(np.int32),
        value=value,
        n_classes=value.shape[1],
        n_categories=np.zeros(tree.n_features, np.int64),
    )


def from_scikit_learn(ensemble: Any) -> Forest:
    """The trees of a fitted scikit-learn ensemble of classification trees.

    Parameters
    ----------
    ensemble : RandomForestClassifier or BaggingClassifier of trees
        Fitted, with one output.

    Returns
    -------
    Forest
        The same trees, with the shares of the classes as values.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> trees = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> len(from_scikit_learn(trees))
    3
    """
    forest = Forest.concatenate([_one_tree(member.tree_) for member in ensemble.estimators_])
    return forest.validate()
