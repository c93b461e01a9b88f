"""Forests of some of the trees, and of the trees of several forests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.kernels.routing.joined import shift_tests
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats

if TYPE_CHECKING:
    from orfeon.forest.forest import Forest

#: A node: routing reads nothing else. A leaf is its own first child, with threshold +inf.
NODE = np.dtype([("threshold", "<f8"), ("feature", "<i4"), ("first_child", "<i4")])
#: Arrays with one entry per node, beside the nodes themselves.
PER_NODE = ("n_children", "missing", "label", "value")


def take_trees(forest: Forest, trees: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Forest:
    """The forest of some of the trees, in the order given."""
    chosen = np.asarray(trees)
    if chosen.size == 0:
        raise ValueError("trees is empty; a forest needs at least one tree.")
    if chosen.ndim != 1 or chosen.dtype.kind not in "iub":
        raise ValueError(f"trees={trees!r} is not allowed: give a list of indices, or a mask.")
    if chosen.dtype == bool and len(chosen) != len(forest):
        raise ValueError(f"trees is a mask of {len(chosen)} entries for {len(forest)} trees.")
    index = np.arange(len(forest))[chosen]
    if index.size == 0:
        raise ValueError("trees selects no tree; a forest needs at least one.")
    pieces = [np.arange(forest.tree_start[t], forest.tree_start[t + 1]) for t in index]
    at = np.concatenate(pieces)
    start = np.concatenate([[0], np.cumsum([len(p) for p in pieces])]).astype(np.int64)
    return forest._replace(
        tree_start=start,
        nodes=forest.nodes[at],
        n_children=forest.n_children[at],
        missing=forest.missing[at],
        label=forest.label[at] if len(forest.label) else forest.label,
        value=forest.value[at],
        leaf_weight=forest._of_leaves(forest.leaf_weight, at),
        leaf_impurity=forest._of_leaves(forest.leaf_impurity, at),
    )


def join_forests(forests: Sequence[Forest]) -> Forest:
    """The trees of several forests, in order."""
    if not forests:
        raise ValueError("forests is empty; give at least one forest.")
    first = forests[0]
    if len(forests) == 1:
        return first
    for other in forests[1:]:
        same = first.n_categories is other.n_categories or np.array_equal(
            first.n_categories, other.n_categories
        )
        sizes = (first.n_classes, first.n_outputs), (other.n_classes, other.n_outputs)
        if not same or sizes[0] != sizes[1]:
            raise ValueError(
                "forests differ in their features, classes or outputs; they cannot be joined."
            )
    starts, projection_starts = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    terms = base = 0
    for f in forests:
        starts.append(f.tree_start[1:] + base)
        projection_starts.append(f.projections[0][1:] + terms)
        base += len(f.nodes)
        terms += len(f.projections[1])

    def join(name: str) -> Any:
        parts = [getattr(f, name) for f in forests]
        return None if parts[0] is None else np.concatenate(parts)

    return first._replace(
        tree_start=np.concatenate(starts),
        nodes=_joined_nodes(forests),
        projections=(
            np.concatenate(projection_starts),
            np.concatenate([f.projections[1] for f in forests]),
            np.concatenate([f.projections[2] for f in forests]),
        ),
        leaf_impurity=_join_variances(forests),
        **{name: join(name) for name in (*PER_NODE, "leaf_weight", "branches")},
    )


def _joined_nodes(forests: Sequence[Forest]) -> npt.NDArray[np.void]:
    """The nodes of several forests, whose branch tables and projections follow each other."""
    # As bytes: NumPy would compare the types of all of them, field by field.
    joined = np.concatenate([f.nodes.view(np.uint8) for f in forests]).view(forests[0].nodes.dtype)
    if all(f._is_plain for f in forests):
        return joined
    shift_tests(
        joined["threshold"], joined["feature"], np.concatenate([f.n_children for f in forests]),
        kernel_view(forests[0].n_categories), np.cumsum([len(f.nodes) for f in forests]),
        np.cumsum([0, *(len(f.branches) for f in forests[:-1])]),
        np.cumsum([0, *(len(f.projections[0]) - 1 for f in forests[:-1])]),
    )  # fmt: skip
    return joined


def _join_variances(forests: Sequence[Forest]) -> Floats | None:
    """Leaf variances of several forests; empty if all leaves are pure."""
    if any(f.leaf_impurity is None for f in forests):
        return None
    if all(f.leaf_impurity is not None and not len(f.leaf_impurity) for f in forests):
        return np.zeros(0)
    return np.concatenate([f._leaf_impurity() for f in forests])


def without_zeros(variances: Floats) -> Floats:
    """Drop leaf variances that are all zero.

    Parameters
    ----------
    variances : ndarray of shape (n_leaves,)
        Variances.

    Returns
    -------
    ndarray of shape (n_leaves,) or (0,)
        The same, or an empty array.
    """
    return variances if variances.any() else np.zeros(0)
