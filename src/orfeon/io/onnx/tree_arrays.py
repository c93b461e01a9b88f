"""The trees of a forest as the arrays that ONNX's operator ``TreeEnsemble`` takes.

A node of ONNX asks whether a number is at most a threshold, and NaN goes to the branch that the
node says. The operator also knows sets, but runtimes take these apart into one test for each
element, and copy what follows as often; so tests on categories are answered before, and the trees
here ask which branch it was. Tests with several branches become small trees of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.forest import Forest
from orfeon.utils.types import Floats, Integers, Mask

#: ONNX's word for a test of being at most a threshold.
AT_MOST = 0


@dataclass
class TreeArrays:
    """Inner nodes and leaves of some trees, in the words of ONNX."""

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

    def features(self) -> dict[str, Any]:
        """What describes the nodes to the operator."""
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
    """The trees of a forest as ONNX wants them."""
    is_leaf, width = forest.is_leaf, forest.n_children.astype(np.int64)
    is_root = np.zeros(len(is_leaf), dtype=bool)
    is_root[forest.tree_start[:-1]] = True
    # A tree that is one leaf has an inner node all the same, both of whose branches lead there.
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
    """Fill in the nodes that find a branch by its number, halving what is left each time."""
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

    onnxruntime takes such a root for a leaf, for it looks at the numbers alone. Some leaves that
    nothing leads to, put before all others, keep the numbers apart.
    """
    true, false = made.true[made.roots], made.false[made.roots]
    true_is_leaf, false_is_leaf = made.true_is_leaf[made.roots], made.false_is_leaf[made.roots]
    gaps = set((false - true)[true_is_leaf & ~false_is_leaf].tolist())
    gaps |= set((true - false)[false_is_leaf & ~true_is_leaf].tolist())
    made.n_unused = next(n for n in range(len(gaps) + 1) if n not in gaps)
    made.true[made.true_is_leaf] += made.n_unused
    made.false[made.false_is_leaf] += made.n_unused
