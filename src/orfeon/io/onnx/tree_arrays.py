"""The trees of a forest as the arrays of ONNX's operator ``TreeEnsemble``.

A node of ONNX compares a number with a threshold, and has a branch for NaN. The operator also has
tests of set membership, but runtimes expand these into one test per element and copy the subtree
each time. So tests of categories are computed beforehand as columns of branch numbers, and the
trees here test these columns. Tests with several branches become small binary trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.forest import Forest
from orfeon.utils.types import Floats, Integers, Mask

#: The node mode "less than or equal".
AT_MOST = 0


@dataclass
class TreeArrays:
    roots: Integers
    feature: Integers
    split: Floats
    true: Integers
    false: Integers
    true_is_leaf: Mask
    false_is_leaf: Mask
    missing_is_true: Mask
    leaf: Integers
    leaf_tree: Integers
    n_unused: int = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes of the operator that describe the nodes."""
        return {
            "tree_roots": self.roots.tolist(),
            "nodes_featureids": self.feature.tolist(),
            "nodes_modes": np.full(len(self.split), AT_MOST, np.uint8),
            "nodes_splits": self.split,
            "nodes_truenodeids": self.true.tolist(),
            "nodes_trueleafs": self.true_is_leaf.astype(np.int64).tolist(),
            "nodes_falsenodeids": self.false.tolist(),
            "nodes_falseleafs": self.false_is_leaf.astype(np.int64).tolist(),
            "nodes_missing_value_tracks_true": self.missing_is_true.astype(np.int64).tolist(),
        }


def as_tree_arrays(forest: Forest) -> TreeArrays:
    is_leaf, width = forest.is_leaf, forest.n_children.astype(np.int64)
    is_root = np.zeros(len(is_leaf), dtype=bool)
    is_root[forest.tree_start[:-1]] = True
    # ONNX needs an inner node even for a tree that is one leaf; both its branches lead there.
    n_made = np.where(is_leaf, is_root, np.maximum(width - 1, 0)).astype(np.int64)
    start = np.cumsum(n_made) - n_made
    leaf_number = np.cumsum(is_leaf) - 1
    target = np.where(is_leaf, leaf_number, start)
    tree = np.repeat(np.arange(len(forest)), forest.n_nodes)
    leaf = np.flatnonzero(is_leaf)
    made = _empty(int(n_made.sum()), start[forest.tree_start[:-1]], leaf, tree[leaf])
    first = forest.tree_start[tree] + forest.first_child
    at = np.flatnonzero(width == 2)
    to = start[at]
    made.feature[to], made.split[to] = forest.feature[at], forest.threshold[at]
    made.missing_is_true[to] = forest.missing[at] == 0
    made.true[to], made.false[to] = target[first[at]], target[first[at] + 1]
    made.true_is_leaf[to], made.false_is_leaf[to] = is_leaf[first[at]], is_leaf[first[at] + 1]
    alone = np.flatnonzero(is_leaf & is_root)
    made.true[start[alone]] = made.false[start[alone]] = leaf_number[alone]
    made.true_is_leaf[start[alone]] = made.false_is_leaf[start[alone]] = True
    for node in np.flatnonzero(width > 2).tolist():
        place = slice(int(start[node]), int(start[node] + n_made[node]))
        children = slice(int(first[node]), int(first[node] + width[node]))
        made.feature[place] = forest.feature[node]
        _fill_branches(made, place.start, target[children], is_leaf[children])
    _keep_roots_apart(made)
    return made


def _empty(n_nodes: int, roots: Integers, leaf: Integers, leaf_tree: Integers) -> TreeArrays:
    return TreeArrays(
        roots=roots,
        feature=np.zeros(n_nodes, np.int64),
        split=np.zeros(n_nodes),
        true=np.zeros(n_nodes, np.int64),
        false=np.zeros(n_nodes, np.int64),
        true_is_leaf=np.zeros(n_nodes, dtype=bool),
        false_is_leaf=np.zeros(n_nodes, dtype=bool),
        missing_is_true=np.zeros(n_nodes, dtype=bool),
        leaf=leaf,
        leaf_tree=leaf_tree,
    )


def _fill_branches(made: TreeArrays, at: int, target: Integers, is_leaf: Mask) -> None:
    """Fill in the nodes of a binary search for the branch number."""
    waiting = [(0, len(target), at)]
    following = at + 1
    while waiting:
        low, high, node = waiting.pop()
        middle = (low + high) // 2
        made.split[node] = middle - 0.5
        for begin, end, to, flag in (
            (low, middle, made.true, made.true_is_leaf),
            (middle, high, made.false, made.false_is_leaf),
        ):
            if end - begin == 1:
                to[node], flag[node] = target[begin], is_leaf[begin]
            else:
                to[node] = following
                waiting.append((begin, end, following))
                following += 1


def _keep_roots_apart(made: TreeArrays) -> None:
    """Number the leaves so that no root has a leaf and an inner node of the same number.

    onnxruntime compares only the numbers and takes such a root for a leaf. A few unused leaves,
    placed before all others, shift the numbers.
    """
    true, false = made.true[made.roots], made.false[made.roots]
    true_is_leaf, false_is_leaf = made.true_is_leaf[made.roots], made.false_is_leaf[made.roots]
    shifts = set((false - true)[true_is_leaf & ~false_is_leaf].tolist())
    shifts |= set((true - false)[false_is_leaf & ~true_is_leaf].tolist())
    made.n_unused = next(n for n in range(len(shifts) + 1) if n not in shifts)
    made.true[made.true_is_leaf] += made.n_unused
    made.false[made.false_is_leaf] += made.n_unused
