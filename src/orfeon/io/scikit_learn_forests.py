"""Trees of one ensemble of scikit-learn, end to end in one set of arrays.

A thousand trees, each with arrays and an estimator of its own, would be ten thousand members of the
file. Trees of a forest differ in their nodes and their seeds only, so the rest is kept once.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from orfeon.io import scikit_learn_trees as trees
from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import Kind, array, either, every, none

_OWN = ("random_state", "tree_")


class AlikeTrees(list[Any]):
    """Fitted trees that differ in their nodes and their seeds only."""


MEMBERS = either(
    Kind("alike trees", lambda v: type(v) is AlikeTrees),
    every(list, trees.ESTIMATOR, at_least=1),
)


def entry() -> Entry:
    """What is known of the class."""
    return Entry(
        "AlikeTrees",
        "orfeon.io.scikit_learn_forests",
        "call",
        trees.KINDS
        | {
            "first": trees.TEMPLATE,
            "max_depth": array("i8", 1, low=0),
            "random_state": either(none, array("i8", 1, low=0)),
            "tree_start": array("i8", 1, low=0),
        },
        check=check_trees,
        to_state=to_state,
        from_state=from_state,
        only_in="estimators_",
    )


def packed(members: Any) -> Any:
    """Members as they are, or as alike trees if they are such."""
    is_list = type(members) is list and len(members) > 1
    if not is_list or not all(trees.ESTIMATOR.holds(member) for member in members):
        return members
    first, *others = members
    seeds = [member.random_state for member in members]
    is_seeded = all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
    if not is_seeded and any(seed is not None for seed in seeds):
        return members
    return AlikeTrees(members) if all(_is_alike(first, other) for other in others) else members


def _is_alike(one: Any, other: Any) -> bool:
    """Whether two trees were fitted by the same settings to the same kind of target."""
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


def to_state(members: AlikeTrees) -> Fields:
    """The arrays of all trees, end to end."""
    parts = [trees.to_state(member.tree_) for member in members]
    template = copy.copy(members[0])
    template.random_state = None
    del template.tree_
    seeds = [member.random_state for member in members]
    return {
        **{name: np.concatenate([part[name] for part in parts]) for name in trees.PER_NODE},
        "first": template,
        "max_depth": np.array([part["max_depth"] for part in parts], dtype=np.int64),
        "n_classes": parts[0]["n_classes"],
        "n_features": parts[0]["n_features"],
        "random_state": None if seeds[0] is None else np.array(seeds, dtype=np.int64),
        "tree_start": np.cumsum([0, *(len(part["values"]) for part in parts)], dtype=np.int64),
    }


def check_trees(fields: Fields) -> None:
    """Raise ValueError when the arrays are no trees, or lead outside."""
    start, seeds = fields["tree_start"], fields["random_state"]
    n_trees = len(start) - 1
    if n_trees < 1 or len(fields["max_depth"]) != n_trees:
        raise ValueError("there must be a largest depth for each tree.")
    if seeds is not None and len(seeds) != n_trees:
        raise ValueError("there must be a seed for each tree.")
    if getattr(fields["first"], "n_features_in_", None) != fields["n_features"]:
        raise ValueError("trees must be of n_features_in_ features.")
    if getattr(fields["first"], "n_outputs_", None) != len(fields["n_classes"]):
        raise ValueError("trees must be of n_outputs_ targets.")
    trees.check_nodes(fields, start)


def from_state(fields: Fields) -> list[Any]:
    """The trees of some arrays, which must have been checked."""
    template, seeds = fields["first"], fields["random_state"]
    seeds = [None] * (len(fields["tree_start"]) - 1) if seeds is None else seeds.tolist()
    members = []
    built = trees.build(fields, fields["tree_start"].tolist(), fields["max_depth"].tolist())
    for tree, seed in zip(built, seeds, strict=True):
        member = object.__new__(type(template))
        member.__dict__.update(vars(template), random_state=seed, tree_=tree)
        members.append(member)
    return members
