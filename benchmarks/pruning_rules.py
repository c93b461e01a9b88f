"""Test errors of the rules that Margineantu and Dietterich, Zhou and others proposed.

``python -m benchmarks.pruning_rules --data DIR`` trains ensembles on the same splits, prunes them
by each rule, and prints the mean test errors as tables for the user guide.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import orfeon
from benchmarks.pruning_sizes import FIRST_SPLIT, TABLE
from orfeon.datasets import FOLDER_VARIABLE, make_friedman1
from orfeon.workbench.reproduction import Partitions, is_synthetic, published_sizes
from orfeon.workbench.reproduction.measures import error_percent

DATASETS = ("waveform", "diabetes", "vehicle", "heart", "sonar", "ionosphere")
#: Rule, share kept, and the samples for the order.
CASES: tuple[tuple[str, Any, Any], ...] = (
    ("margin_distance", 0.2, "train"),
    ("boosting_based", 0.2, "train"),
    ("random", 0.2, "train"),
    ("early_stopping", 0.2, "train"),
    ("kappa", 0.2, "train"),
    ("kl_divergence", 0.2, "train"),
    ("kappa_hull", "rule", "train"),
    ("gasen", "rule", "train"),
    ("gasen", "rule", "out_of_bag"),
    ("utility", "rule", "train"),
    ("utility", "rule", "out_of_bag"),
)
REGRESSION: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("reduce_error", 10, {}),
    ("random", 10, {"random_state": 0}),
    ("output_clustering", "rule", {}),
    ("output_clustering", "rule", {"weighted_vote": True}),
    ("gasen", "rule", {}),
)


def classify(kind: str, problems: Sequence[Partitions], n_splits: int, members: int) -> None:
    """Print a row for each rule: mean error in percent, and the mean share kept."""
    cases = [case for case in CASES if kind == "bagging" or case[2] == "train"]
    errors: dict[Any, list[float]] = {case: [] for case in (("all", 1.0, "train"), *cases)}
    sizes: dict[Any, list[float]] = {case: [] for case in errors}
    for problem in problems:
        for split in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
            parts = problem.draw(split)
            tree = orfeon.CARTClassifier(max_depth=4)
            whole: Any = orfeon.AdaBoostClassifier(
                tree, members, algorithm="m1", random_state=split
            )
            if kind == "bagging":
                tree = orfeon.CARTClassifier(pruning="cv")
                whole = orfeon.BaggingClassifier(tree, members, random_state=split)
            whole.fit(parts.X_train, parts.y_train)
            for case in errors:
                rule, keep, on = case
                some = whole
                if rule != "all":
                    some = orfeon.prune(
                        whole, parts.X_train, parts.y_train, rule=rule, keep=keep, on=on
                    )
                errors[case].append(error_percent(some.predict(parts.X_test), parts.y_test))
                sizes[case].append(len(some) / len(whole))
    for (rule, keep, on), found in errors.items():
        share = np.mean(sizes[rule, keep, on])
        print(f"| {kind} | {rule} | {on} | {share:.0%} | {np.mean(found):.2f} |", flush=True)


def regress(n_splits: int, members: int) -> None:
    """Print a row for each rule: mean squared error on Friedman's first problem."""
    errors: dict[int, list[float]] = {at: [] for at in range(-1, len(REGRESSION))}
    for split in range(n_splits):
        X, y = make_friedman1(200, random_state=split)
        X_test, y_test = make_friedman1(2000, random_state=1000 + split)
        whole = orfeon.BaggingRegressor(n_estimators=members, random_state=split).fit(X, y)
        predictions = np.array([tree.predict(X_test) for tree in whole.estimators_])
        errors[-1].append(float(np.mean((predictions.mean(axis=0) - y_test) ** 2)))
        for at, (rule, keep, options) in enumerate(REGRESSION):
            found = orfeon.order(whole, X, y, rule=rule, **options)
            kept = found.members(keep)
            shares = np.ones(len(kept))
            if found.member_weights is not None:
                shares = found.member_weights[: len(kept)]
            mean = np.average(predictions[kept], axis=0, weights=shares)
            errors[at].append(float(np.mean((mean - y_test) ** 2)))
    for at, found_errors in errors.items():
        name = "all" if at < 0 else f"{REGRESSION[at][0]} {REGRESSION[at][2] or ''}"
        print(f"| {name} | {np.mean(found_errors):.2f} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pruning_rules", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--splits", type=int, default=5, metavar="N")
    parser.add_argument("--members", type=int, default=100, metavar="T")
    options = parser.parse_args(arguments)
    folder = options.data or os.environ.get(FOLDER_VARIABLE)
    published = published_sizes(TABLE)
    names = [name for name in DATASETS if folder or is_synthetic(name)]
    problems = [Partitions(name, published[name], folder=folder) for name in names]
    print(f"{options.members} members on {', '.join(names)}; {options.splits} splits.\n")
    for kind in ("bagging", "boosting"):
        classify(kind, problems, options.splits, options.members)
    regress(options.splits, options.members)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
