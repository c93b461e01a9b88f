"""Forests of one tree built by hand, so that drawings can be tested without growing anything."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from orfeon.data.schema import Schema
from orfeon.forest import NODE, Forest
from orfeon.kernels.routing.route import ALL_BRANCHES


@dataclass
class Sprout:
    """A node to be: a leaf with values, or a test with children."""

    values: list[float] = field(default_factory=list)
    label: int | None = None
    feature: int = 0
    threshold: float = np.inf
    table: list[int] | None = None
    terms: dict[int, float] | None = None
    missing: int = 0
    children: tuple[Sprout, ...] = ()
    weight: float = 1.0
    variance: float = 0.0


def leaf(*values: float, label: int | None = None, weight=1.0, variance=0.0) -> Sprout:
    return Sprout(list(values), label, weight=weight, variance=variance)


def split(feature: int, threshold: float, left: Sprout, right: Sprout, missing=0) -> Sprout:
    return Sprout(feature=feature, threshold=threshold, children=(left, right), missing=missing)


def choose(feature: int, table: list[int], *children: Sprout, missing=0) -> Sprout:
    return Sprout(feature=feature, table=table, children=children, missing=missing)


def combine(terms: dict[int, float], threshold: float, left: Sprout, right: Sprout, missing=0):
    return Sprout(terms=terms, threshold=threshold, children=(left, right), missing=missing)


def plant(root: Sprout, schema: Schema, n_classes: int) -> Forest:
    """The forest of one tree that a sprout describes."""
    sprouts, first_child = [root], []
    for sprout in sprouts:  # grows while it is read: breadth first, as the kernels number nodes
        first_child.append(len(sprouts) if sprout.children else len(first_child))
        sprouts.extend(sprout.children)
    n = len(sprouts)
    nodes = np.zeros(n, NODE)
    nodes["first_child"] = first_child
    branches, starts, features, weights = [], [0], [], []
    for i, sprout in enumerate(sprouts):
        nodes[i]["threshold"] = sprout.threshold
        nodes[i]["feature"] = sprout.feature
        if sprout.table is not None:
            nodes[i]["threshold"] = len(branches)
            branches.extend(sprout.table)
        if sprout.terms is not None:
            nodes[i]["feature"] = -len(starts)
            features.extend(sprout.terms)
            weights.extend(sprout.terms.values())
            starts.append(len(features))
    value = np.zeros((n, n_classes or 1))
    weight, variance = np.zeros(n), np.zeros(n)
    for i in range(n - 1, -1, -1):
        sprout = sprouts[i]
        if not sprout.children:
            value[i], weight[i], variance[i] = sprout.values, sprout.weight, sprout.variance
            continue
        below = slice(first_child[i], first_child[i] + len(sprout.children))
        weight[i] = weight[below].sum()
        value[i] = value[below].sum(0) if n_classes else weight[below] @ value[below] / weight[i]
        spread = variance[below] + (value[below, 0] - value[i, 0]) ** 2
        variance[i] = weight[below] @ spread / weight[i]
    label = [
        0 if not n_classes else int(np.argmax(v)) if s.label is None else s.label
        for s, v in zip(sprouts, value, strict=True)
    ]
    return Forest(
        tree_start=np.array([0, n], np.int64),
        nodes=nodes,
        n_children=np.array([len(s.children) for s in sprouts], np.uint16),
        missing=np.array([s.missing for s in sprouts], np.uint16),
        label=np.array(label if n_classes else [], np.int32),
        value=value,
        n_classes=n_classes,
        n_categories=schema.n_categories,
        branches=np.array(branches, np.uint16),
        projections=(np.array(starts, np.int64), np.array(features, np.int32), np.array(weights)),
        leaf_weight=None if n_classes else weight[[not s.children for s in sprouts]],
        leaf_impurity=None if n_classes else variance[[not s.children for s in sprouts]],
    ).validate()


IRIS_SCHEMA = Schema.ordered(4, ("sepal length", "sepal width", "petal length", "petal width"))
IRIS_CLASSES = ("setosa", "versicolor", "virginica")


def iris_forest() -> Forest:
    """The tree that everybody knows."""
    flowers = split(
        2, 2.4499999999999997,
        leaf(50, 0, 0),
        split(
            3, 1.75,
            split(2, 4.95, split(3, 1.65, leaf(0, 47, 0), leaf(0, 0, 1)), leaf(0, 2, 4)),
            leaf(0, 1, 45),
        ),
    )  # fmt: skip
    return plant(flowers, IRIS_SCHEMA, 3)


GOLF_SCHEMA = Schema(
    (("overcast", "rain", "sunny"), None, None, ("false", "true")),
    ("outlook", "temperature", "humidity", "windy"),
)
GOLF_CLASSES = ("don't play", "play")


def golf_forest() -> Forest:
    """C4.5's golf tree: a branch for each outlook, missing values down all of them."""
    days = choose(
        0, [0, 1, 2],
        leaf(0, 4),
        choose(3, [1, 0], leaf(2, 0), leaf(0, 3), missing=ALL_BRANCHES),
        split(2, 75.0, leaf(0, 2), leaf(3, 0), missing=ALL_BRANCHES),
        missing=ALL_BRANCHES,
    )  # fmt: skip
    return plant(days, GOLF_SCHEMA, 2)


LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
MIXED_SCHEMA = Schema(
    (None, LETTERS, None, ("red", "green", "blue", "grey")), ("x1", "letter", "x3", "hue")
)


def mixed_forest() -> Forest:
    """One of each test: subsets, a linear combination, known against missing."""
    table = [1] * 26
    for code in (0, 4, 8):
        table[code] = 0
    root = choose(
        1, table,
        combine({0: 0.31, 2: -0.7}, 0.2, leaf(9, 1), leaf(2, 6), missing=1),
        choose(
            3, [0, 1, 1, 0],
            split(2, np.inf, leaf(5, 0), leaf(1, 2), missing=1),
            leaf(0, 8),
            missing=1,
        ),
        missing=1,
    )  # fmt: skip
    return plant(root, MIXED_SCHEMA, 2)


def regression_forest() -> Forest:
    """A small regression tree over two ordered features."""
    root = split(
        0, 2.5,
        leaf(1.25, weight=12, variance=0.04),
        split(1, -3.0, leaf(7.5, weight=5, variance=1.0), leaf(4.0, weight=8.5, variance=0.25)),
    )  # fmt: skip
    return plant(root, Schema.ordered(2), 0)


def chain_forest(depth: int) -> Forest:
    """A tree of one long arm: every test has a leaf on its left."""
    node = leaf(0, 1)
    for level in range(depth, 0, -1):
        node = split(level % 3, float(depth - level), leaf(1, 0), node)
    return plant(node, Schema.ordered(3), 2)


def random_forest_of_one(rng: np.random.Generator, n_classes: int, fractional=False) -> Forest:
    """A random tree over three ordered and two categorical features, with every kind of test."""
    sprouts = [
        leaf(*rng.integers(0, 9, n_classes or 1).astype(float), weight=float(rng.integers(1, 9)))
        for _ in range(rng.integers(1, 12))
    ]
    while len(sprouts) > 1:
        rng.shuffle(sprouts)
        sprouts.append(_random_test(rng, sprouts, fractional))
    return plant(sprouts[0], RANDOM_SCHEMA, n_classes)


RANDOM_SCHEMA = Schema((None, None, None, tuple("pqrst"), tuple("uvw")))


def _random_test(rng: np.random.Generator, sprouts: list[Sprout], fractional: bool) -> Sprout:
    kind = rng.integers(4)
    width = min(len(sprouts), int(rng.integers(2, 4))) if kind == 2 else 2
    children = [sprouts.pop() for _ in range(width)]
    missing = ALL_BRANCHES if fractional and rng.random() < 0.5 else int(rng.integers(width))
    threshold = float(rng.integers(-6, 7)) / 2 if rng.random() < 0.9 else np.inf
    if kind == 2:
        feature = int(rng.integers(3, 5))
        table = rng.integers(0, width, 5 if feature == 3 else 3).tolist()
        return choose(feature, table, *children, missing=missing)
    if kind == 3:
        terms = {0: 0.5, 2: -2.0} if rng.random() < 0.5 else {1: 1.0, 0: 1.0}
        return combine(terms, threshold, *children, missing=missing)
    return split(int(rng.integers(3)), threshold, *children, missing=missing)


def random_rows(rng: np.random.Generator, n: int, missing: float) -> np.ndarray:
    """Rows for :data:`RANDOM_SCHEMA`: quarters, so that some lie on a threshold."""
    X = np.empty((n, 5))
    X[:, :3] = rng.integers(-14, 15, (n, 3)) / 4
    X[:, 3] = rng.integers(0, 5, n)
    X[:, 4] = rng.integers(0, 3, n)
    X[rng.random(X.shape) < missing] = np.nan
    return X
