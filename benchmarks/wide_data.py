"""Wide data: sparse tables and several outputs, against scikit-learn, one thread.

Boosting is compared with LightGBM and XGBoost, all with 31 leaves, on the same documents, of two
groups of ten classes each.

``python -m benchmarks.wide_data`` prints processor time of fit and predict, the most memory of the
process, and the test error, each fit in a process of its own. The sparse table is made like the 20
newsgroups: 100,000 words, about 100 of them in a document, and 20 classes that share most words.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

_ROOT = Path(__file__).resolve().parents[1]
_MEGABYTE = 1e6
LIBRARIES = ("orfeon", "scikit-learn")
BOOSTERS = ("orfeon", "lightgbm", "xgboost")
#: Names of the classes of both libraries.
_KINDS = {
    "documents": {
        "forest": "RandomForestClassifier", "extra-trees": "ExtraTreesClassifier"
    },
    "outputs": {"forest": "RandomForestRegressor", "extra-trees": "ExtraTreesRegressor"},
    "labels": {"forest": "RandomForestClassifier", "extra-trees": "ExtraTreesClassifier"},
    "groups": {"boosting": ""},
}  # fmt: skip


class Problem(NamedTuple):
    X: Any
    y: npt.NDArray[Any]
    X_test: Any
    y_test: npt.NDArray[Any]


def documents(n_rows: int, n_words: int = 100_000, n_classes: int = 20) -> Problem:
    """Documents of words with frequencies as in natural language, ten of each by their class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 2 * n_rows)
    share = 1 / (np.arange(n_words) + 10.0) ** 0.9
    upto = np.cumsum(share / share.sum())
    own = [rng.choice(np.arange(50, n_words // 10), 200, replace=False) for _ in range(n_classes)]
    rows, columns = [], []
    for i, label in enumerate(y):
        common = np.searchsorted(upto, rng.random(90))
        words = np.unique(np.minimum(np.append(common, rng.choice(own[label], 10)), n_words - 1))
        rows.append(np.full(len(words), i))
        columns.append(words)
    where = (np.concatenate(rows), np.concatenate(columns))
    values = rng.random(len(where[0])) + 0.1
    X = sparse.csr_matrix((values, where), shape=(2 * n_rows, n_words))
    return Problem(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def outputs(n_rows: int, n_outputs: int = 8, *, classes: bool = False) -> Problem:
    """Twenty numbers, and outputs that depend on them: numbers, or labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n_rows, 20)).astype(np.float32).astype(float)
    y = np.sin(X @ rng.normal(size=(20, n_outputs)) / 2) + rng.normal(size=(2 * n_rows, n_outputs))
    if classes:
        y = (y > 0).astype(int)
    return Problem(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def problem(name: str, n_rows: int) -> Problem:
    if name == "groups":
        X, y, X_test, y_test = documents(n_rows)
        return Problem(X, y % 2, X_test, y_test % 2)
    if name == "documents":
        return documents(n_rows)
    return outputs(n_rows, classes=name == "labels")


def ensemble(name: str, method: str, library: str) -> Callable[[int], Any]:
    """What makes an ensemble of so many trees."""
    import sklearn.ensemble

    import orfeon

    home: Any = orfeon if library == "orfeon" else sklearn.ensemble
    kind = getattr(home, _KINDS[name][method])
    features = "sqrt" if name != "outputs" else 1.0
    return lambda n_trees: kind(n_trees, max_features=features, random_state=0)


def booster(library: str) -> Callable[[int], Any]:
    """What makes a booster of so many rounds, each of all rows and features."""
    how: dict[str, Any] = {"learning_rate": 0.1, "random_state": 0, "n_jobs": 1}
    if library == "lightgbm":
        from lightgbm import LGBMClassifier

        return lambda n: LGBMClassifier(n_estimators=n, num_leaves=31, verbose=-1, **how)
    if library == "xgboost":
        from xgboost import XGBClassifier

        how |= {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31}
        return lambda n: XGBClassifier(n_estimators=n, max_depth=0, **how)
    import orfeon

    how |= {"subsample": 1.0, "max_features": None, "max_depth": None, "max_leaf_nodes": 31}
    return lambda n: orfeon.GradientBoostingClassifier(n_estimators=n, early_stopping=False, **how)


def measured(name: str, method: str, library: str, n_rows: int, n_trees: int) -> dict[str, float]:
    """Processor time of a second fit and of predictions, most memory, and error of one library."""
    given = problem(name, n_rows)
    make = booster(library) if method == "boosting" else ensemble(name, method, library)
    make(1).fit(given.X, given.y).predict(given.X_test[:20])  # compiles
    start = time.process_time()
    model = make(n_trees).fit(given.X, given.y)
    middle = time.process_time()
    found = model.predict(given.X_test)
    end = time.process_time()
    is_right = found == given.y_test if name != "outputs" else (found - given.y_test) ** 2
    error = float(np.mean(is_right)) if name == "outputs" else 1.0 - float(np.mean(is_right))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"fit": middle - start, "predict": end - middle, "peak": peak, "error": error}


def main() -> None:
    command = argparse.ArgumentParser(prog="python -m benchmarks.wide_data")
    command.add_argument("--rows", type=int, default=10_000)
    command.add_argument("--trees", type=int, default=100)
    command.add_argument("--problem", choices=tuple(_KINDS), action="append")
    command.add_argument("--one", nargs=3, metavar=("PROBLEM", "METHOD", "LIBRARY"))
    options = command.parse_args()
    if options.one:
        name, method, library = options.one
        print(json.dumps(measured(name, method, library, options.rows, options.trees)))
        return
    print("problem      method       library       fit, s  predict, s    MB   error")
    for name in options.problem or _KINDS:
        for method in _KINDS[name]:
            for library in BOOSTERS if method == "boosting" else LIBRARIES:
                words = [sys.executable, "-m", "benchmarks.wide_data", "--one", name, method]
                words += [library, "--rows", str(options.rows), "--trees", str(options.trees)]
                process = subprocess.run(
                    words, cwd=_ROOT, capture_output=True, text=True, check=True
                )
                one = json.loads(process.stdout.splitlines()[-1])
                print(
                    f"{name:<12} {method:<12} {library:<12} {one['fit']:>7.2f} "
                    f"{one['predict']:>11.2f} {one['peak'] / _MEGABYTE:>6.0f}  {one['error']:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
