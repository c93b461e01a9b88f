"""Trees of scikit-learn as checked arrays: its own loading does not check bounds of children.

A thousand trees, each with its own arrays and estimator, would be ten thousand members of the file.
Trees of a forest differ only in nodes and seeds, so their nodes are saved end to end in one set of
arrays, and everything else once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from orfeon.io.entry import Entry, Fields
from orfeon.io.errors import require
from orfeon.utils import saved
from orfeon.utils.saved import Kind
from orfeon.utils.types import Integers

#: Columns of a node in scikit-learn, and their dtypes here.
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
_TREES = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)

TREE = Kind("a tree of scikit-learn", lambda v: type(v).__module__ == "sklearn.tree._tree")
_FITTED = Kind(
    "a fitted tree of scikit-learn",
    lambda v: type(v).__name__ in _TREES and hasattr(v, "tree_"),
)
_TEMPLATE = Kind(
    "a tree of scikit-learn without nodes",
    lambda v: type(v).__name__ in _TREES and not hasattr(v, "tree_"),
)

#: Arrays with one entry per node.
_PER_NODE = (*_COLUMNS, "values")
#: Fields of a tree, except its depth.
_KINDS: dict[str, Kind] = {name: saved.array(kind, 1) for name, kind in _COLUMNS.items()} | {
    "n_features": saved.integer(1, 2**31 - 1),
    "n_classes": saved.array("i8", 1, low=1),
    "values": saved.array("f8", 3, finite=True),
}


def tree_entry() -> Entry:
    return Entry(
        "sklearn.Tree",
        "sklearn.tree._tree",
        _KINDS | {"max_depth": saved.integer(0)},
        check=_check_tree,
        to_state=_tree_state,
        from_state=_tree_from,
        only_in="tree_",
    )


def _tree_state(tree: Any) -> Fields:
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


def _check_tree(fields: Fields) -> None:
    _check_nodes(fields, np.array([0, len(fields["left_child"])]))


def _check_nodes(fields: Fields, start: Integers) -> None:
    """Raise ValueError unless arrays hold valid trees, end to end, that begin at ``start``."""
    left, right = fields["left_child"], fields["right_child"]
    n_nodes = len(left)
    require(all(len(fields[name]) == n_nodes for name in _PER_NODE), "its arrays differ in length.")
    sizes = np.diff(start)
    is_whole = start[0] == 0 and start[-1] == n_nodes and (sizes >= 1).all()
    require(is_whole, "tree_start must begin at 0 and increase up to the number of nodes.")
    many = fields["n_classes"]
    require(
        len(many) and fields["values"].shape[1:] == (len(many), many.max()),
        "values must have one entry per output and class.",
    )
    inner = left != -1
    require((right[~inner] == -1).all(), "a leaf has a child.")
    first = np.repeat(start[:-1], sizes)[inner]
    last = np.repeat(start[1:], sizes)[inner]
    children = np.concatenate([left[inner] + first, right[inner] + first])
    parents = np.tile(np.flatnonzero(inner), 2)
    is_inside = (children > parents).all() and (children < np.tile(last, 2)).all()
    require(is_inside, "a child comes before its parent or is out of bounds.")
    n_parents = np.bincount(children, minlength=n_nodes)
    n_parents[start[:-1]] += 1  # roots have none
    require((n_parents == 1).all(), "a node has no parent, or several.")
    tested = fields["feature"][inner]
    is_there = (tested >= 0).all() and (tested < fields["n_features"]).all()
    require(is_there, "a node tests a feature that does not exist.")
    require(not np.isnan(fields["threshold"]).any(), "a threshold is NaN.")
    require((fields["missing_go_to_left"] <= 1).all(), "missing_go_to_left must be 0 or 1.")


def _tree_from(fields: Fields) -> Any:
    (tree,) = _build(fields, [0, len(fields["left_child"])], [fields["max_depth"]])
    return tree


def _build(fields: Fields, start: Sequence[int], depths: Sequence[int]) -> Iterator[Any]:
    """The trees in checked arrays, end to end."""
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
        # scikit-learn allocates memory for paths by max_depth.
        if tree.compute_node_depths().max() - 1 != depth:
            raise ValueError("max_depth is not the depth of its nodes.")
        yield tree


# -- trees of one ensemble -------------------------------------------------------------------------

_OWN = ("random_state", "tree_")


class AlikeTrees(list[Any]):
    """Fitted trees that differ only in nodes and seeds."""


MEMBERS = saved.one_of(
    Kind("alike trees", lambda v: type(v) is AlikeTrees),
    saved.list_of(_FITTED, at_least=1),
)


def alike_trees_entry() -> Entry:
    return Entry(
        "AlikeTrees",
        "orfeon.io.scikit_learn_trees",
        _KINDS
        | {
            "first": _TEMPLATE,
            "max_depth": saved.indices,
            "random_state": saved.one_of(saved.none, saved.indices),
            "tree_start": saved.indices,
        },
        check=_check_trees,
        to_state=_trees_state,
        from_state=_trees_from,
        only_in="estimators_",
    )


def packed(members: Any) -> Any:
    """Members, as :class:`AlikeTrees` where possible."""
    is_list = type(members) is list and len(members) > 1
    if not is_list or not all(_FITTED.holds(member) for member in members):
        return members
    first, *others = members
    seeds = [member.random_state for member in members]
    is_seeded = all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
    if not is_seeded and any(seed is not None for seed in seeds):
        return members
    return AlikeTrees(members) if all(_is_alike(first, other) for other in others) else members


def _is_alike(one: Any, other: Any) -> bool:
    """Whether two trees differ only in nodes and seeds."""
    if type(one) is not type(other) or set(vars(one)) != set(vars(other)):
        return False
    if one.tree_.value.shape[1:] != other.tree_.value.shape[1:]:
        return False
    return all(
        _is_same(held, vars(other)[name]) for name, held in vars(one).items() if name not in _OWN
    )


def _is_same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one is other or bool(np.all(one == other))


def _trees_state(members: AlikeTrees) -> Fields:
    parts = [_tree_state(member.tree_) for member in members]
    template = copy.copy(members[0])
    template.random_state = None
    del template.tree_
    seeds = [member.random_state for member in members]
    return {
        **{name: np.concatenate([part[name] for part in parts]) for name in _PER_NODE},
        "first": template,
        "max_depth": np.array([part["max_depth"] for part in parts], dtype=np.int64),
        "n_classes": parts[0]["n_classes"],
        "n_features": parts[0]["n_features"],
        "random_state": None if seeds[0] is None else np.array(seeds, dtype=np.int64),
        "tree_start": np.cumsum([0, *(len(part["values"]) for part in parts)], dtype=np.int64),
    }


def _check_trees(fields: Fields) -> None:
    start, seeds = fields["tree_start"], fields["random_state"]
    n_trees = len(start) - 1
    is_same = n_trees >= 1 and len(fields["max_depth"]) == n_trees
    require(is_same, "max_depth must have one entry per tree.")
    require(seeds is None or len(seeds) == n_trees, "random_state must have one entry per tree.")
    width = getattr(fields["first"], "n_features_in_", None)
    require(width == fields["n_features"], "its trees must have n_features_in_ features.")
    n_outputs = getattr(fields["first"], "n_outputs_", None)
    require(n_outputs == len(fields["n_classes"]), "its trees must have n_outputs_ outputs.")
    _check_nodes(fields, start)


def _trees_from(fields: Fields) -> list[Any]:
    template, seeds = fields["first"], fields["random_state"]
    seeds = [None] * (len(fields["tree_start"]) - 1) if seeds is None else seeds.tolist()
    members = []
    built = _build(fields, fields["tree_start"].tolist(), fields["max_depth"].tolist())
    for tree, seed in zip(built, seeds, strict=True):
        member = object.__new__(type(template))
        member.__dict__.update(vars(template), random_state=seed, tree_=tree)
        members.append(member)
    return members
