"""Quick start: trees and ensembles of trees, beside scikit-learn's.

Run it with ``python examples/quick_start.py``; it takes some seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from orfeon import CARTClassifier, Forest, Table
from orfeon.datasets import problem
from orfeon.growth import grow_forest
from orfeon.rendering import export_text

Array = npt.NDArray[Any]

PROBLEMS = ("waveform", "twonorm", "threenorm")
N_TRAIN, N_TEST, N_TREES = 300, 5000, 200


# -- Ensembles: every tree sees the data a little differently ------------------------------------


def bagging(X: Array, y: Array, n_trees: int = N_TREES, seed: int = 0) -> Forest:
    """Each tree sees a bootstrap sample: how often each example was drawn is its weight."""
    rng = np.random.default_rng(seed)
    n_rows = len(y)
    counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_trees)
    seeds = rng.integers(2**63, size=n_trees, dtype=np.uint64)
    return grow_forest(Table(X), y, n_classes=int(y.max()) + 1, weights=counts, seeds=seeds)


def class_switching(X: Array, y: Array, n_trees: int = N_TREES, seed: int = 0) -> Forest:
    """Each tree sees all examples, many of which were given another class at random."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = len(y), int(y.max()) + 1
    n_switched = round(0.6 * (n_classes - 1) / n_classes * n_rows)
    labels = np.tile(y, (n_trees, 1))
    for own in labels:
        rows = rng.choice(n_rows, n_switched, replace=False)
        own[rows] = (own[rows] + rng.integers(1, n_classes, size=n_switched)) % n_classes
    seeds = rng.integers(2**63, size=n_trees, dtype=np.uint64)
    return grow_forest(Table(X), labels, n_classes=n_classes, seeds=seeds)


# -- The methods compared ------------------------------------------------------------------------


class Method(NamedTuple):
    """A way to train, and the scikit-learn method that does the same work, if there is one."""

    name: str
    train: Callable[[Array, Array], Any]
    counterpart: str | None = None


METHODS = [
    Method("scikit-learn: one tree", lambda X, y: DecisionTreeClassifier(random_state=0).fit(X, y)),
    Method(
        f"scikit-learn: bagging, {N_TREES} trees",
        lambda X, y: BaggingClassifier(
            DecisionTreeClassifier(), n_estimators=N_TREES, random_state=0
        ).fit(X, y),
    ),
    Method(
        "orfeon: one tree",
        lambda X, y: CARTClassifier(random_state=0).fit(X, y),
        counterpart="scikit-learn: one tree",
    ),
    Method(
        "orfeon: one tree, pruned by 10-fold CV",
        lambda X, y: CARTClassifier(pruning="cv", random_state=0).fit(X, y),
    ),
    Method(
        f"orfeon: bagging, {N_TREES} trees",
        bagging,
        counterpart=f"scikit-learn: bagging, {N_TREES} trees",
    ),
    Method(f"orfeon: class-switching, {N_TREES} trees", class_switching),
]


def leaves_of_a_tree(model: Any) -> float:
    """Leaves of a tree, or their mean over the trees of an ensemble."""
    if isinstance(model, BaggingClassifier):
        return float(np.mean([tree.get_n_leaves() for tree in model.estimators_]))
    if hasattr(model, "get_n_leaves"):
        return float(model.get_n_leaves())
    return float(model.n_leaves.mean())


def timed(train: Callable[[Array, Array], Any], X: Array, y: Array) -> tuple[Any, float]:
    """Train twice; the model, and the seconds of the faster run."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model = train(X, y)
        seconds.append(time.perf_counter() - start)
    return model, min(seconds)


def compare_methods(name: str) -> None:
    """Train every method on one problem and print a table."""
    source = problem(name)
    X, y = source.sample(N_TRAIN, random_state=0)
    X_test, y_test = source.sample(N_TEST, random_state=1)
    print(
        f"\n{name}: {N_TRAIN} examples, {X.shape[1]} attributes, {y.max() + 1} classes; "
        f"no method can have an error below {source.bayes_error():.1%}\n"
    )
    print(f"  {'method':40} {'test error':>10} {'leaves':>7} {'training':>10} {'faster':>7}")
    seconds = {}
    for method in METHODS:
        model, seconds[method.name] = timed(method.train, X, y)
        error = np.mean(model.predict(X_test) != y_test)
        faster = ""
        if method.counterpart is not None:
            faster = f"{seconds[method.counterpart] / seconds[method.name]:.1f}x"
        print(
            f"  {method.name:40} {error:10.1%} {leaves_of_a_tree(model):7.1f} "
            f"{1e3 * seconds[method.name]:7.1f} ms {faster:>7}"
        )


def warm_up() -> None:
    """Run every kernel once on little data, so that no compilation is in the times below."""
    start = time.perf_counter()
    for name in PROBLEMS:  # two classes have a kernel of their own
        X, y = problem(name).sample(50, random_state=0)
        for method in METHODS:
            if method.name.startswith("orfeon"):
                method.train(X, y).predict(X)
    seconds = time.perf_counter() - start
    if seconds > 3:
        print(f"Kernels compiled once on this machine: {seconds:.1f} s. The next run skips this.")
    else:
        print(f"Kernels were compiled before; loaded in {seconds:.1f} s.")


def main() -> None:
    print(
        "This trains single trees and ensembles of trees on three synthetic problems, with orfeon "
        "and with\nscikit-learn, on one thread, and compares their test errors and training times."
    )
    warm_up()
    for name in PROBLEMS:
        compare_methods(name)

    print("\nThe pruned tree of the waveform problem; (examples/errors) are of the training set:\n")
    X, y = problem("waveform").sample(N_TRAIN, random_state=0)
    tree = CARTClassifier(pruning="cv", random_state=0).fit(X, y)
    print(export_text(tree, class_names=["A", "B", "C"]))


if __name__ == "__main__":
    main()
