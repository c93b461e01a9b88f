"""scikit-learn's trees in flat arrays.

They compare numbers in single precision with thresholds in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import NODE, Forest
from orfeon.utils.types import Floats, Integers


def tree_as_forest(
    fitted: Any,
    n_classes: int,
    codes: npt.NDArray[np.int64] | None,
    n_features: int,
    columns: npt.NDArray[np.int64] | None = None,
) -> Forest:
    """A tree of scikit-learn as a forest of one."""
    tree = fitted.tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    place = _places(tree.children_left, tree.children_right)
    nodes = np.zeros(tree.node_count, NODE)
    nodes["threshold"], nodes["first_child"] = np.inf, np.arange(tree.node_count)
    at = place[inner]
    feature = tree.feature[inner]
    nodes["feature"][at] = feature if columns is None else columns[feature]
    nodes["threshold"][at] = tree.threshold[inner]
    nodes["first_child"][at] = place[tree.children_left[inner]]
    n_children = np.zeros(tree.node_count, np.uint16)
    n_children[at] = 2
    missing = np.zeros(tree.node_count, np.uint16)
    missing[at] = 1 - tree.missing_go_to_left[inner].astype(np.uint16)
    value = np.zeros((tree.node_count, n_classes or 1))
    given = tree.value[:, 0]
    value[place[:, None], np.zeros(1, np.int64) if codes is None else codes] = given
    label = np.zeros(0 if codes is None else tree.node_count, np.int32)
    if codes is not None:
        label[place] = codes[given.argmax(axis=1)]
    return Forest(
        np.array([0, tree.node_count]), nodes, n_children, missing, label, value, n_classes,
        np.zeros(n_features, np.int64),
    )  # fmt: skip


def tree_weights(fitted: Any) -> Floats:
    """Weight of the training samples in each node, in the order of :func:`tree_as_forest`."""
    tree = fitted.tree_
    weights = np.empty(tree.node_count)
    weights[_places(tree.children_left, tree.children_right)] = tree.weighted_n_node_samples
    return weights


def predictor_as_forest(predictor: Any, n_categories: Integers) -> tuple[Forest, Floats]:
    """A tree of histogram gradient boosting, and the weights of its nodes.

    ``n_categories`` are those of the columns that it reads, 0 for numbers.
    """
    given = predictor.nodes
    is_leaf = given["is_leaf"].astype(bool)
    left = np.where(is_leaf, -1, given["left"].astype(np.int64))
    right = np.where(is_leaf, -1, given["right"].astype(np.int64))
    place = _places(left, right)
    at, inner = place[~is_leaf], ~is_leaf
    nodes = np.zeros(len(given), NODE)
    nodes["threshold"], nodes["first_child"] = np.inf, np.arange(len(given))
    nodes["feature"][at] = given["feature_idx"][inner]
    nodes["threshold"][at] = given["num_threshold"][inner]
    nodes["first_child"][at] = place[left[inner]]
    n_children = np.zeros(len(given), np.uint16)
    n_children[at] = 2
    missing = np.zeros(len(given), np.uint16)
    missing[at] = 1 - given["missing_go_to_left"][inner]
    value, weights = np.zeros((len(given), 1)), np.empty(len(given))
    value[place, 0], weights[place] = given["value"], given["count"]
    by_category = np.flatnonzero(inner & given["is_categorical"].astype(bool))
    tables = [np.zeros(0, np.uint16)]
    for node in by_category.tolist():
        nodes["threshold"][place[node]] = sum(map(len, tables))
        goes_left = predictor.raw_left_cat_bitsets[given["bitset_idx"][node]]
        codes = np.arange(n_categories[given["feature_idx"][node]])
        is_left = (goes_left[codes >> 5] >> (codes & 31).astype(np.uint32)) & 1
        tables.append((1 - is_left).astype(np.uint16))
    forest = Forest(
        np.array([0, len(given)]), nodes, n_children, missing, np.zeros(0, np.int32), value, 0,
        n_categories, np.concatenate(tables),
    )  # fmt: skip
    return forest, weights


def _places(left: Integers, right: Integers) -> Integers:
    """New indices of the nodes, in which siblings are adjacent."""
    inner = np.flatnonzero(left >= 0)
    place = np.zeros(len(left), np.int64)
    place[left[inner]] = 1 + 2 * np.arange(len(inner))
    place[right[inner]] = 2 + 2 * np.arange(len(inner))
    return place
