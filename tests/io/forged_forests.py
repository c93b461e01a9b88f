"""Forests that are forged and still describe trees: wide tables, many trees, deep chains."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.io.forged_parts import NotThereError, objects, pick, read_array, replace_array
from tests.io.mutations import Opened

from orfeon.forest import NODE
from orfeon.kernels.routing.route import ALL_BRANCHES

Fields = dict[str, Any]


class _Forest:
    """The arrays of one forest of a file, by name; they are written back when they were changed."""

    def __init__(self, forged: Opened, rng: Random) -> None:
        self.forged = forged
        fields = [one["fields"] for one in objects(forged) if one["class"] == "Forest"]
        self.fields: Fields = pick(fields, rng)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return read_array(self.forged, self.fields[name])

    def __setitem__(self, name: str, array: npt.NDArray[Any]) -> None:
        replace_array(self.forged, self.fields[name], array)


def overlap(forged: Opened, rng: Random) -> None:
    """Categorical tests share a table of branches, or have tables that begin within others."""
    forest = _Forest(forged, rng)
    nodes, many = forest["nodes"], forest["n_categories"]
    tests = np.flatnonzero(_is_categorical(nodes, forest["n_children"], many))
    if not len(tests):
        raise NotThereError
    room = len(forest["branches"]) - many[nodes["feature"][tests]]
    how = rng.randrange(3)
    if how == 0:
        nodes["threshold"][tests] = 0
    elif how == 1:
        nodes["threshold"][tests] = [rng.randint(0, int(most)) for most in room]
    else:
        nodes["threshold"][tests] = np.minimum(np.arange(len(tests)), room)
    forest["nodes"] = nodes


def _is_categorical(nodes: Any, n_children: Any, many: Any) -> Any:
    attribute = nodes["feature"]
    return (n_children > 0) & (attribute >= 0) & (many[np.maximum(attribute, 0)] > 0)


def widen(forged: Opened, rng: Random) -> None:
    """An attribute has many categories, and all tests of it share one table, or all but."""
    forest = _Forest(forged, rng)
    nodes, many = forest["nodes"], forest["n_categories"]
    inner = forest["n_children"] > 0
    tested = nodes["feature"][inner]
    j = pick(sorted({int(one) for one in tested if one >= 0}), rng)
    n = rng.choice((2, 10, 10, 100, 100, 300, 300, 1000, 3000, 20_000, 65_000))
    if n > 300 and rng.random() < 0.7:  # these take long to write
        n = 300
    tests = np.flatnonzero(inner & (nodes["feature"] == j))
    before = forest["branches"]
    extra = rng.choice((0, 0, len(tests)))
    nodes["threshold"][tests] = len(before) + np.minimum(np.arange(len(tests)), extra)
    many[j] = n
    forest["branches"] = np.concatenate([before, np.arange(n + extra, dtype=np.uint16) % 2])
    forest["nodes"], forest["n_categories"] = nodes, many
    for one in objects(forged):
        if one["class"] == "Schema":
            _name_categories(one["fields"], j, n)


def _name_categories(schema: Fields, j: int, n: int) -> None:
    schema["categories"]["tuple"][j] = {"tuple": [f"c{at}" for at in range(n)]}


#: Arrays with an entry for each node or leaf.
_BY_NODE = ("nodes", "n_children", "missing", "label", "value", "leaf_weight", "leaf_impurity")


def tile(forged: Opened, rng: Random) -> None:
    """The trees of a forest many times."""
    forest = _Forest(forged, rng)
    times = rng.choice((2, 3, 10, 100, 1000))
    start = forest["tree_start"]
    n_nodes = int(start[-1])
    if n_nodes * times > 10_000:
        raise NotThereError
    later = [start[1:] + at * n_nodes for at in range(times)]
    forest["tree_start"] = np.concatenate([start[:1], *later])
    for name in _BY_NODE:
        if forest.fields[name] is not None:
            array = forest[name]
            forest[name] = np.concatenate([array] * times)


def chain(forged: Opened, rng: Random) -> None:
    """One deep tree, whose every node adds up one long projection."""
    forest = _Forest(forged, rng)
    depth, terms = rng.choice(
        ((3, 1), (50, 50), (50, 50), (300, 300), (300, 3000), (3000, 300), (10_000, 10_000))
    )
    if depth * terms > 10**6 and rng.random() < 0.9:  # these take long to check
        depth, terms = 300, 300
    n_nodes = 2 * depth + 1
    inner = np.arange(0, n_nodes - 1, 2)
    nodes = np.zeros(n_nodes, NODE)
    nodes["first_child"] = np.arange(n_nodes)
    nodes["threshold"] = np.inf
    nodes["first_child"][inner] = inner + 1
    nodes["threshold"][inner] = -1e300  # whatever a row holds, it goes on to the next
    nodes["feature"][inner] = -1
    n_children = np.zeros(n_nodes, np.uint16)
    n_children[inner] = 2
    value, label = forest["value"], forest["label"]
    is_regression = forest.fields["n_classes"] == 0
    n_features = len(forest["n_categories"])
    forest["nodes"], forest["n_children"] = nodes, n_children
    forest["tree_start"] = np.array([0, n_nodes], np.int64)
    forest["missing"] = np.where(n_children > 0, 1, 0).astype(np.uint16)
    forest["value"] = np.resize(np.abs(value), (n_nodes, value.shape[1]))
    if not is_regression:
        forest["label"] = np.resize(label, n_nodes)
    for name in ("leaf_weight", "leaf_impurity"):
        if forest.fields[name] is not None:
            forest[name] = np.resize(forest[name], depth + 1)
    start, attributes, weights = forest.fields["projections"]["tuple"]
    replace_array(forged, start, np.array([0, terms], np.int64))
    replace_array(forged, attributes, (np.arange(terms) % n_features).astype(np.int32))
    replace_array(forged, weights, np.full(terms, rng.choice((1.0, 1e-300, 1e300))))


def part_rows(forged: Opened, rng: Random) -> None:
    """Missing values, and some categories, go down all branches of every node."""
    forest = _Forest(forged, rng)
    missing, n_children = forest["missing"], forest["n_children"]
    missing[n_children > 0] = ALL_BRANCHES
    forest["missing"] = missing
    branches = forest["branches"]
    if len(branches) and rng.random() < 0.5:
        branches[:: rng.choice((1, 2, 7))] = ALL_BRANCHES
        forest["branches"] = branches
