"""Dynamic selection against the majority of the same members.

``python examples/select_dynamically.py --data FOLDER`` prints test errors on all CSV files of a
folder whose last column is a class; without ``--data`` on data sets of scikit-learn. Three pools of
100 bagged trees, four random splits with a third for testing. ``--quick`` takes one split and 20
trees. ``--time`` times 1,000 members on 10,000 rows instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit

from orfeon import (
    BaggingClassifier,
    CARTClassifier,
    DynamicSelectionClassifier,
    StumpClassifier,
)
from orfeon.datasets import make_waveform

POOLS = {"stumps": StumpClassifier(), "depth 3": CARTClassifier(max_depth=3), "full": None}
RULES = ("ola", "lca", "mcb", "knora_eliminate", "knora_union", "des_p", "meta_des", "clusters")
#: Larger tables take long and have been left out; regression targets have more values than classes.
MOST_ROWS, MOST_CLASSES = 3000, 26


def tables(folder: Path | None) -> Iterator[tuple[str, Any, Any]]:
    """Name, features and classes of each data set."""
    if folder is None:
        for load in (load_breast_cancer, load_digits, load_iris, load_wine):
            X, y = load(return_X_y=True)
            yield load.__name__.removeprefix("load_"), pd.DataFrame(X), y
        return
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path)
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
        counts = np.unique(y, return_counts=True)[1]
        if len(y) <= MOST_ROWS and len(counts) <= MOST_CLASSES and counts.min() >= 3:
            yield path.stem, X, y


def errors(X: Any, y: Any, base: Any, n_members: int, n_splits: int) -> dict[str, float]:
    """Mean test error of the majority and of each rule, in percent."""
    found: dict[str, list[float]] = {}
    splits = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0).split(X, y)
    for seed, (train, test) in enumerate(splits):
        bag = BaggingClassifier(base, n_estimators=n_members, random_state=seed)
        models: dict[str, Any] = {"majority": bag}
        models |= {rule: DynamicSelectionClassifier(bag, rule, random_state=seed) for rule in RULES}
        for name, model in models.items():
            model.fit(X.iloc[train], y[train])
            wrong = model.predict(X.iloc[test]) != y[test]
            found.setdefault(name, []).append(100 * float(np.mean(wrong)))
    return {name: float(np.mean(values)) for name, values in found.items()}


def compare(folder: Path | None, n_members: int, n_splits: int) -> None:
    """Print a table for each pool, and how often each rule beats the majority."""
    for pool, base in POOLS.items():
        rows = {name: errors(X, y, base, n_members, n_splits) for name, X, y in tables(folder)}
        table = pd.DataFrame(rows).T
        table.loc["mean"] = table.mean()
        print(f"\n{pool}: {n_members} trees, test errors in percent")
        print(table.round(1).to_string())
        each = table.drop(index="mean")
        wins = [f"{rule} {int((each[rule] < each['majority']).sum())}" for rule in RULES]
        print(f"better than the majority on, of {len(each)} tables: {', '.join(wins)}")


def measure(n_members: int = 1000, n_rows: int = 10_000, rounds: int = 5) -> None:
    """Print the seconds of predict, median of several rounds."""
    X, y = make_waveform(5000, random_state=0)
    rows, _ = make_waveform(n_rows, random_state=1)
    bag = BaggingClassifier(n_estimators=n_members, random_state=0)
    model = DynamicSelectionClassifier(bag, n_jobs=-1, random_state=0)
    for rule in RULES:
        model.set_params(rule=rule).fit(X, y)
        seconds = []
        for _ in range(rounds):
            start = time.perf_counter()
            model.predict(rows)
            seconds.append(time.perf_counter() - start)
        print(f"{rule}: {np.median(seconds):.2f} s, {n_members} members, {n_rows} rows")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="CSV files, class last")
    parser.add_argument("--quick", action="store_true", help="one split, 20 trees")
    parser.add_argument("--time", action="store_true", help="time 1,000 members on 10,000 rows")
    options = parser.parse_args(arguments)
    if options.time:
        measure(*((50, 200, 1) if options.quick else ()))
    else:
        compare(options.data, *((20, 1) if options.quick else (100, 4)))


if __name__ == "__main__":
    main()
