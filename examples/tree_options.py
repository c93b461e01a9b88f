"""What the options of single trees are worth: test errors and sizes.

``python examples/tree_options.py --data FOLDER`` prints them for all CSV files of a folder whose
last column is a class, up to 3,000 rows; without ``--data`` for data sets of scikit-learn. Ten
random splits with a third for testing; ``--quick`` takes one. ``--large FILE`` measures node
subsampling on one larger table instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit

from orfeon import (
    BaggingClassifier,
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CombinedMultipleModels,
)

BAG = BaggingClassifier(C45Classifier(), n_estimators=25)
#: The first model of each group is what the others are compared with.
GROUPS: dict[str, dict[str, Any]] = {
    "ties": {
        "random": CARTClassifier(pruning="cv"),
        "first": CARTClassifier(pruning="cv", ties="first"),
    },
    "criterion, pruned": {
        "gini": CARTClassifier(pruning="cv"),
        "entropy": CARTClassifier(pruning="cv", criterion="entropy"),
        "error": CARTClassifier(pruning="cv", criterion="error"),
    },
    "criterion, unpruned": {
        "gini": CARTClassifier(),
        "entropy": CARTClassifier(criterion="entropy"),
        "error": CARTClassifier(criterion="error"),
    },
    "linear combinations": {
        "one feature": CARTClassifier(pruning="cv"),
        "combined": CARTClassifier(pruning="cv", linear_combinations=True),
    },
    "C4.5": {
        "tree": C45Classifier(),
        "soft": C45Classifier(soft_thresholds=True),
        "rules": C45RulesClassifier(),
        "rules, book": C45RulesClassifier(exceptions="binomial"),
    },
    "one model for a bag": {
        "rules alone": C45RulesClassifier(),
        "bag": BAG,
        "tree of bag": CombinedMultipleModels(BAG, C45Classifier()),
        "rules of bag": CombinedMultipleModels(BAG, C45RulesClassifier()),
    },
}
MOST_ROWS, MOST_CLASSES = 3000, 26


def tables(folder: Path | None) -> Iterator[tuple[str, Any, Any]]:
    """Name, features and classes of each data set."""
    if folder is None:
        for load in (load_breast_cancer, load_iris, load_wine):
            X, y = load(return_X_y=True)
            yield load.__name__.removeprefix("load_"), pd.DataFrame(X), y
        return
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path)
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
        counts = np.unique(y, return_counts=True)[1]
        if len(y) <= MOST_ROWS and len(counts) <= MOST_CLASSES and counts.min() >= 3:
            yield path.stem, X, y


def size(model: Any) -> float:
    """Leaves of a tree, rules of a set of rules, members of an ensemble."""
    model = getattr(model, "estimator_", model) if hasattr(model, "fidelity_") else model
    if hasattr(model, "rules_"):
        return len(model.rules_)
    return float(model.forest_.n_leaves.sum())


def measure(X: Any, y: Any, models: dict[str, Any], n_splits: int) -> pd.DataFrame:
    """Mean test error in percent, squared error of the probabilities, and size of each model."""
    rows = []
    splits = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0).split(X, y)
    for seed, (train, test) in enumerate(splits):
        for name, model in models.items():
            fitted = clone(model).set_params(random_state=seed).fit(X.iloc[train], y[train])
            wrong = 100 * np.mean(fitted.predict(X.iloc[test]) != y[test])
            truth = y[test][:, None] == fitted.classes_
            brier = np.sum((fitted.predict_proba(X.iloc[test]) - truth) ** 2, axis=1).mean()
            rows.append({"model": name, "error": wrong, "brier": brier, "size": size(fitted)})
    return pd.DataFrame(rows).groupby("model", sort=False).mean()


def compare(folder: Path | None, n_splits: int, only: str | None) -> None:
    """Print a table of each group: errors by data set, means, and wins against the first model."""
    for title, models in GROUPS.items():
        if only is not None and only != title:
            continue
        found = {name: measure(X, y, models, n_splits) for name, X, y in tables(folder)}
        errors = pd.DataFrame({name: one["error"] for name, one in found.items()}).T
        means = sum(found.values()) / len(found)
        print(f"\n{title}: test errors in percent, {n_splits} splits")
        print(errors.round(1).to_string())
        first = errors.columns[0]
        change = errors.sub(errors[first], axis=0)
        means["better"], means["worse"] = (change < -1e-9).sum(), (change > 1e-9).sum()
        print(
            f"means over {len(found)} tables; on how many the error is lower or higher than "
            f"that of {first!r}"
        )
        print(means.round(3).to_string())


def subsample(path: Path, n_rounds: int) -> None:
    """Print error, leaves and seconds by the number of samples that decide a split."""
    frame = pd.read_csv(path)
    X, y = frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    CARTClassifier(max_split_samples=100).fit(X[train], y[train])  # compiles
    for most in (None, 10_000, 1000, 300, 100, 30):
        seconds, wrong, leaves = [], [], []
        for seed in range(n_rounds):
            tree = CARTClassifier(max_split_samples=most, random_state=seed)
            start = time.process_time()
            tree.fit(X[train], y[train])
            seconds.append(time.process_time() - start)
            wrong.append(100 * np.mean(tree.predict(X[test]) != y[test]))
            leaves.append(tree.get_n_leaves())
        print(
            f"{most}: {np.mean(wrong):.1f}% errors, {np.mean(leaves):.0f} leaves, "
            f"{min(seconds):.2f} s"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="CSV files, class last")
    parser.add_argument("--only", choices=sorted(GROUPS), help="one group of models")
    parser.add_argument("--large", type=Path, metavar="FILE", help="measure node subsampling on it")
    parser.add_argument("--quick", action="store_true", help="one split")
    options = parser.parse_args(arguments)
    if options.large is not None:
        subsample(options.large, 1 if options.quick else 5)
    else:
        compare(options.data, 1 if options.quick else 10, options.only)


if __name__ == "__main__":
    main()
