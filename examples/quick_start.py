"""Quick start: trees and ensembles of trees, beside scikit-learn's.

Run it with ``python examples/quick_start.py``; it takes a few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import ensemble
from sklearn.tree import DecisionTreeClassifier

from orfeon import (
    BaggingClassifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    RandomForestClassifier,
)
from orfeon.datasets import problem
from orfeon.rendering import export_text

Array = npt.NDArray[Any]

PROBLEMS = ("waveform", "twonorm", "threenorm")
N_TRAIN, N_TEST, N_TREES = 300, 5000, 200


# -- The methods compared ------------------------------------------------------------------------


class Method(NamedTuple):
    """A way to train, and the scikit-learn method that does the same work, if there is one."""

    name: str
    train: Callable[[Array, Array], Any]
    counterpart: str | None = None


def _scikit_learn_bagging(X: Array, y: Array) -> Any:
    tree = DecisionTreeClassifier()
    return ensemble.BaggingClassifier(tree, n_estimators=N_TREES, random_state=0).fit(X, y)


METHODS = [
    Method("scikit-learn: one tree", lambda X, y: DecisionTreeClassifier(random_state=0).fit(X, y)),
    Method("scikit-learn: bagging", _scikit_learn_bagging),
    Method(
        "scikit-learn: random forest",
        lambda X, y: ensemble.RandomForestClassifier(N_TREES, random_state=0).fit(X, y),
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
        "orfeon: bagging",
        lambda X, y: BaggingClassifier(n_estimators=N_TREES, random_state=0).fit(X, y),
        counterpart="scikit-learn: bagging",
    ),
    Method(
        "orfeon: random forest",
        lambda X, y: RandomForestClassifier(N_TREES, random_state=0).fit(X, y),
        counterpart="scikit-learn: random forest",
    ),
    Method(
        "orfeon: class-switching",
        lambda X, y: ClassSwitchingClassifier(n_estimators=N_TREES, random_state=0).fit(X, y),
    ),
]


def leaves_of_a_tree(model: Any) -> float:
    """Leaves of a tree, or their mean over the trees of an ensemble."""
    if hasattr(model, "get_n_leaves"):
        return float(model.get_n_leaves())
    return float(np.mean([tree.get_n_leaves() for tree in model.estimators_]))


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
        f"\n{name}: {N_TRAIN} samples, {X.shape[1]} features, {y.max() + 1} classes; "
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
        f"This trains single trees and ensembles of {N_TREES} trees on three synthetic problems, "
        "with orfeon\nand with scikit-learn, on one thread, and compares test errors and training "
        "times."
    )
    warm_up()
    for name in PROBLEMS:
        compare_methods(name)

    print("\nNo test set? Members predict the samples they were not trained on (out-of-bag):\n")
    for name in PROBLEMS:
        X, y = problem(name).sample(N_TRAIN, random_state=0)
        X_test, y_test = problem(name).sample(N_TEST, random_state=1)
        bag = BaggingClassifier(n_estimators=N_TREES, oob_score=True, random_state=0).fit(X, y)
        spread = (bag.oob_error_ * (1 - bag.oob_error_) / N_TRAIN) ** 0.5
        print(
            f"  {name:10} out-of-bag error {bag.oob_error_:6.1%} ± {spread:.1%}   "
            f"test error {1 - bag.score(X_test, y_test):6.1%}"
        )

    print("\nThe pruned tree of the waveform problem; (samples/errors) of the training set:\n")
    X, y = problem("waveform").sample(N_TRAIN, random_state=0)
    tree = CARTClassifier(pruning="cv", random_state=0).fit(X, y)
    print(export_text(tree, class_names=["A", "B", "C"]))


if __name__ == "__main__":
    main()
