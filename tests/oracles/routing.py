"""Random forests of every kind of test, and a router that can be checked by reading."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import NODE, Forest
from orfeon.kernels.routing.route import ALL_BRANCHES

Floats = npt.NDArray[np.float64]

#: Categories of each feature; 0 = ordered.
N_CATEGORIES = (0, 0, 5, 0, 3)
KINDS = {
    "ordered": ("ordered",),
    "categorical": ("ordered", "categorical"),
    "sets": ("ordered", "set"),
    "oblique": ("ordered", "oblique"),
    "everything": ("ordered", "categorical", "oblique"),
}


class Planter:
    """Grows random trees, parents first, into the arrays of a forest."""

    def __init__(self, rng: np.random.Generator, kinds: tuple[str, ...], missing_everywhere: bool):
        self.rng = rng
        self.kinds = kinds
        self.missing_everywhere = missing_everywhere
        self.nodes: list[tuple[float, int, int]] = []
        self.n_children: list[int] = []
        self.missing: list[int] = []
        self.branches: list[int] = []
        self.terms: list[tuple[int, float]] = []
        self.term_start = [0]
        self.tree_start = [0]

    def plant(self, max_nodes: int) -> None:
        """Add a tree."""
        n_nodes, node = 1, 0
        while node < n_nodes:
            width = int(self.rng.integers(2, 5)) if self.rng.random() < 0.7 or node == 0 else 0
            if n_nodes + width > max_nodes or width == 0:
                self.nodes.append((np.inf, 0, node))
                self.n_children.append(0)
                self.missing.append(0)
            else:
                n_nodes += self.split(width, n_nodes)
            node += 1
        self.tree_start.append(len(self.nodes))

    def split(self, width: int, child: int) -> int:
        """Add an inner node; returns its number of children."""
        kind = self.rng.choice(self.kinds)
        if kind in ("categorical", "set"):
            width = 2 if kind == "set" else width
            feature = int(self.rng.choice(np.flatnonzero(N_CATEGORIES)))
            threshold = float(len(self.branches))
            table = self.rng.integers(0, width, N_CATEGORIES[feature])
            if self.missing_everywhere:
                table[self.rng.random(len(table)) < 0.2] = ALL_BRANCHES
            self.branches += table.tolist()
        else:
            width = 2
            threshold = float(np.round(self.rng.normal(), 1))
            ordered = np.flatnonzero(np.array(N_CATEGORIES) == 0)
            feature = int(self.rng.choice(ordered))
            if kind == "oblique":
                feature = -len(self.term_start)
                chosen = self.rng.choice(ordered, self.rng.integers(1, 4), replace=False)
                self.terms += [(int(a), float(self.rng.normal())) for a in chosen]
                self.term_start.append(len(self.terms))
        self.nodes.append((threshold, feature, child))
        self.n_children.append(width)
        everywhere = self.missing_everywhere and self.rng.random() < 0.8
        self.missing.append(ALL_BRANCHES if everywhere else int(self.rng.integers(width)))
        return width


def random_forest(
    seed: int,
    kind: str = "everything",
    n_trees: int = 7,
    n_classes: int = 3,
    fractional: bool = False,
) -> Forest:
    """A forest of random trees; with ``fractional``, some values go down every branch."""
    rng = np.random.default_rng(seed)
    planter = Planter(rng, KINDS[kind], fractional)
    for _ in range(n_trees):
        planter.plant(int(rng.integers(1, 60)))
    n = len(planter.nodes)
    n_children = np.array(planter.n_children, np.uint16)
    value: Any = np.maximum(rng.integers(-3, 5, (n, n_classes or 1)), 0).astype(np.uint32)
    most = value == value.max(axis=1, keepdims=True)
    label = np.argmax(most + rng.random(value.shape), axis=1).astype(np.int32)
    weight = None
    if n_classes == 0:
        value, weight, label = rng.normal(size=(n, 1)), rng.uniform(0.5, 2.0, n), label[:0]
    return Forest(
        tree_start=np.array(planter.tree_start),
        nodes=np.array(planter.nodes, dtype=NODE),
        n_children=n_children,
        missing=np.array(planter.missing, np.uint16),
        label=label,
        value=value,
        n_classes=n_classes,
        n_categories=np.array(N_CATEGORIES),
        branches=np.array(planter.branches, np.uint16),
        projections=(
            np.array(planter.term_start),
            np.array([a for a, _ in planter.terms], np.int32),
            np.array([w for _, w in planter.terms], np.float64),
        ),
        leaf_weight=None if weight is None else weight[n_children == 0],
        leaf_impurity=None if weight is None else rng.uniform(0, 1, int((n_children == 0).sum())),
    )


def random_rows(forest: Forest, n_rows: int, seed: int, share_missing: float = 0.0) -> Floats:
    """Encoded rows that a forest may be asked about; thresholds occur among the values."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, forest.n_features)), 1)
    for j, n in enumerate(forest.n_categories):
        if n > 0:
            X[:, j] = rng.integers(0, n, n_rows)
    X[rng.random(X.shape) < share_missing] = np.nan
    return X


def branch(forest: Forest, at: int, x: Floats) -> int:
    """The branch of a row at a node; ``ALL_BRANCHES`` for all."""
    feature, threshold = int(forest.feature[at]), float(forest.threshold[at])
    if feature < 0:
        start, features, weights = forest.projections
        terms = range(start[-1 - feature], start[-feature])
        value = sum(weights[k] * x[features[k]] for k in terms)
    else:
        value = x[feature]
    if np.isnan(value):
        return int(forest.missing[at])
    if feature >= 0 and forest.n_categories[feature] > 0:
        return int(forest.branches[int(threshold) + int(value)])
    return int(value > threshold)


def leaves_of(forest: Forest, tree: int, x: Floats, heaviest: bool = False) -> dict[int, float]:
    """The leaves a row reaches, by index within the tree, with the share of it that each gets."""
    base, weights = int(forest.tree_start[tree]), forest.weights()
    reached: dict[int, float] = {}
    waiting = [(0, 1.0)]
    while waiting:
        node, share = waiting.pop()
        at = base + node
        if forest.n_children[at] == 0:
            reached[node] = reached.get(node, 0.0) + share
            continue
        child = int(forest.first_child[at])
        b = branch(forest, at, x)
        parts = weights[base + child : base + child + int(forest.n_children[at])]
        if b < ALL_BRANCHES:
            waiting.append((child + b, share))
        elif heaviest:
            waiting.append((child + int(np.argmax(parts)), share))
        else:
            waiting += [(child + k, share * p / parts.sum()) for k, p in enumerate(parts) if p > 0]
    return reached


def says(forest: Forest, tree: int, leaves: dict[int, float]) -> Floats:
    """Supports of the leaves a row reached."""
    at = [int(forest.tree_start[tree]) + leaf for leaf in leaves]
    value = forest.value[at].astype(np.float64)
    if forest.n_classes:
        value /= np.maximum(value.sum(axis=1, keepdims=True), 1)  # a leaf may have seen nothing
    return np.array(list(leaves.values())) @ value
