"""Trees of scikit-learn as arrays: its own loading does not look whether children are in bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import Kind, array, whole

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


def entry() -> Entry:
    """What is known of the class."""
    kinds: dict[str, Kind] = {name: array(kind, 1) for name, kind in _COLUMNS.items()}
    kinds |= {
        "n_features": whole(1, 2**31 - 1),
        "n_classes": array("i8", 1, low=1),
        "max_depth": whole(0),
        "values": array("f8", 3, finite=True),
    }
    return Entry(
        "sklearn.Tree",
        "sklearn.tree._tree",
        "call",
        kinds,
        check=check_tree,
        take_apart=take_apart,
        put_together=put_together,
        attribute="Tree",
    )


def take_apart(tree: Any) -> Fields:
    """The arrays of a tree.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        The tree.

    Returns
    -------
    dict
        Its columns, values and sizes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from orfeon.io.scikit_learn_trees import put_together, take_apart
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    >>> fields = take_apart(tree)
    >>> fields["left_child"], fields["threshold"]
    (array([ 1, -1, -1], dtype=int32), array([ 0.5, -2. , -2. ]))
    >>> put_together(fields).node_count
    3
    """
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
    """Raise ValueError when the arrays are no tree, or lead outside.

    Parameters
    ----------
    fields : dict
        As :func:`take_apart` gives them.
    """
    left, right = fields["left_child"], fields["right_child"]
    n_nodes = len(left)
    if n_nodes < 1 or any(len(fields[name]) != n_nodes for name in (*_COLUMNS, "values")):
        raise ValueError("its arrays differ in length.")
    many = fields["n_classes"]
    if not len(many) or fields["values"].shape[1:] != (len(many), many.max()):
        raise ValueError("values must be those of all outputs and classes.")
    at = np.arange(n_nodes)
    inner = left != -1
    if (right[~inner] != -1).any():
        raise ValueError("a leaf has a child.")
    children = np.concatenate([left[inner], right[inner]])
    parents = np.concatenate([at[inner], at[inner]])
    if (children <= parents).any() or (children >= n_nodes).any():
        raise ValueError("a child is not after its parent, or out of bounds.")
    if len(children) != n_nodes - 1 or len(np.unique(children)) != len(children):
        raise ValueError("a node has not one parent.")
    tested = fields["feature"][inner]
    if (tested < 0).any() or (tested >= fields["n_features"]).any():
        raise ValueError("a node tests an attribute that is not.")
    if np.isnan(fields["threshold"]).any() or (fields["missing_go_to_left"] > 1).any():
        raise ValueError("a threshold, or a branch of missing values, is none.")


def put_together(fields: Fields) -> Any:
    """The tree of some arrays, which must have been checked.

    Parameters
    ----------
    fields : dict
        As :func:`take_apart` gives them.

    Returns
    -------
    sklearn.tree._tree.Tree
        The tree.
    """
    from sklearn.tree._tree import NODE_DTYPE, Tree

    nodes = np.zeros(len(fields["left_child"]), NODE_DTYPE)
    for name in _COLUMNS:
        nodes[name] = fields[name]
    tree = Tree(fields["n_features"], fields["n_classes"].astype(np.intp), len(fields["n_classes"]))
    tree.__setstate__(
        {
            "max_depth": fields["max_depth"],
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(fields["values"]),
        }
    )
    return tree
