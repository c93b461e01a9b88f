"""Trees of scikit-learn as arrays: its own loading does not look whether children are in bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import Kind, array, whole
from orfeon.utils.types import Integers

#: Columns of a node: the name there, and the kind here.
_COLUMNS = {
    "left_child": "i4",
    "right_child": "i4",
    "feature": "i4",
    "threshold": "f8",
    "impurity": "f8",
    "n_node_samples": "i8",
    "weighted_n_node_samples": "f8",
    "missing_go_to_left": "u1",
}
_ESTIMATORS = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)

TREE = Kind("a tree of scikit-learn", lambda v: type(v).__module__ == "sklearn.tree._tree")
ESTIMATOR = Kind(
    "a fitted tree of scikit-learn",
    lambda v: type(v).__name__ in _ESTIMATORS and hasattr(v, "tree_"),
)


TEMPLATE = Kind(
    "a tree of scikit-learn without nodes",
    lambda v: type(v).__name__ in _ESTIMATORS and not hasattr(v, "tree_"),
)

#: Arrays with an entry for each node.
PER_NODE = (*_COLUMNS, "values")
#: What a tree is made of, but for its depth.
KINDS: dict[str, Kind] = {name: array(kind, 1) for name, kind in _COLUMNS.items()} | {
    "n_features": whole(1, 2**31 - 1),
    "n_classes": array("i8", 1, low=1),
    "values": array("f8", 3, finite=True),
}


def entry() -> Entry:
    """What is known of the class."""
    return Entry(
        "sklearn.Tree",
        "sklearn.tree._tree",
        "call",
        KINDS | {"max_depth": whole(0)},
        check=check_tree,
        to_state=to_state,
        from_state=from_state,
        attribute="Tree",
        only_in="tree_",
    )


def to_state(tree: Any) -> Fields:
    """The arrays of a tree."""
    _, (n_features, n_classes, _), state = tree.__reduce__()
    nodes = state["nodes"]
    fields: Fields = {
        name: np.ascontiguousarray(nodes[name].astype(kind)) for name, kind in _COLUMNS.items()
    }
    return fields | {
        "n_features": int(n_features),
        "n_classes": np.asarray(n_classes, dtype=np.int64),
        "max_depth": int(state["max_depth"]),
        "values": np.array(state["values"], dtype=np.float64),
    }


def check_tree(fields: Fields) -> None:
    """Raise ValueError when the arrays are no tree, or lead outside."""
    check_nodes(fields, np.array([0, len(fields["left_child"])]))


def check_nodes(fields: Fields, start: Integers) -> None:
    """Raise ValueError when the nodes of some trees, end to end, do not make these trees."""
    left, right = fields["left_child"], fields["right_child"]
    n_nodes = len(left)
    if any(len(fields[name]) != n_nodes for name in PER_NODE):
        raise ValueError("its arrays differ in length.")
    sizes = np.diff(start)
    if start[0] != 0 or start[-1] != n_nodes or (sizes < 1).any():
        raise ValueError("trees must begin at 0, one after the other.")
    many = fields["n_classes"]
    if not len(many) or fields["values"].shape[1:] != (len(many), many.max()):
        raise ValueError("values must be those of all outputs and classes.")
    inner = left != -1
    if (right[~inner] != -1).any():
        raise ValueError("a leaf has a child.")
    first = np.repeat(start[:-1], sizes)[inner]
    last = np.repeat(start[1:], sizes)[inner]
    children = np.concatenate([left[inner] + first, right[inner] + first])
    parents = np.tile(np.flatnonzero(inner), 2)
    if (children <= parents).any() or (children >= np.tile(last, 2)).any():
        raise ValueError("a child is not after its parent, or out of bounds.")
    n_parents = np.bincount(children, minlength=n_nodes)
    n_parents[start[:-1]] += 1  # roots have none
    if (n_parents != 1).any():
        raise ValueError("a node has not one parent.")
    tested = fields["feature"][inner]
    if (tested < 0).any() or (tested >= fields["n_features"]).any():
        raise ValueError("a node tests a feature that is not.")
    if np.isnan(fields["threshold"]).any() or (fields["missing_go_to_left"] > 1).any():
        raise ValueError("a threshold, or a branch of missing values, is none.")


def from_state(fields: Fields) -> Any:
    """The tree of some arrays, which must have been checked."""
    (tree,) = build(fields, [0, len(fields["left_child"])], [fields["max_depth"]])
    return tree


def build(fields: Fields, start: Sequence[int], depths: Sequence[int]) -> Iterator[Any]:
    """The trees of some arrays, end to end, which must have been checked."""
    from orfeon.utils.scikit_learn import NODE_DTYPE, Tree

    nodes = np.zeros(start[-1], NODE_DTYPE)
    for name in _COLUMNS:
        nodes[name] = fields[name]
    values = np.ascontiguousarray(fields["values"])
    many = fields["n_classes"].astype(np.intp)
    for begin, end, depth in zip(start[:-1], start[1:], depths, strict=True):
        tree = Tree(fields["n_features"], many, len(many))
        tree.__setstate__(
            {
                "max_depth": depth,
                "node_count": end - begin,
                "nodes": nodes[begin:end],
                "values": values[begin:end],
            }
        )
        # Paths are written into as much memory as the largest depth says.
        if tree.compute_node_depths().max() - 1 != depth:
            raise ValueError("max_depth is not that of its nodes.")
        yield tree
