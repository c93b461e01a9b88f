"""Boost a table with missing values and categories: AdaBoost, gradient boosting, comparisons.

Run it with ``python examples/boost_a_table.py``; it takes a few seconds, and half a minute more
when kernels have to be compiled first.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import orfeon

Classes = npt.NDArray[np.str_]

N_TRAIN, N_TEST = 1500, 5000
MAKERS = ["Ahlers", "Bondi", "Castro", "Dupont", "Eriksen", "Fabre"]


def make_machines(n_rows: int, seed: int) -> tuple[pd.DataFrame, Classes]:
    """Machines, and whether they fail within a year; a tenth of the readings are missing."""
    rng = np.random.default_rng(seed)
    maker, site = rng.integers(0, len(MAKERS), n_rows), rng.choice(["coast", "inland"], n_rows)
    age, load = rng.uniform(0, 20, n_rows), rng.uniform(0, 1, n_rows)
    heat = rng.normal(60, 12, n_rows)
    risk = 0.15 * age + 4 * load * (heat > 65) + np.array([0, 2, 0, 1, 2, 0])[maker]
    risk += 1.5 * ((site == "coast") & (age > 8)) - 4
    fails = rng.random(n_rows) < 1 / (1 + np.exp(-2 * risk))
    table = pd.DataFrame({"age": age, "load": load, "heat": heat, "site": site})
    table.insert(0, "maker", np.array(MAKERS)[maker])
    for name in ("load", "heat"):
        table.loc[rng.random(n_rows) < 0.1, name] = np.nan
    table.loc[rng.random(n_rows) < 0.1, "maker"] = None
    return table, np.where(fails, "fails", "runs")


def models() -> dict[str, Any]:
    """The methods compared, by their printed names."""
    tree = orfeon.CARTClassifier(max_depth=3)
    stopped: dict[str, Any] = {"n_estimators": 500, "n_iter_no_change": 20, "random_state": 0}
    first_order = partial(
        orfeon.GradientBoostingClassifier, order=1, max_depth=3, subsample=1.0, max_features=None,
        tree_method="exact", validation_fraction=0.1,
    )  # fmt: skip
    boosting = orfeon.GradientBoostingClassifier
    return {
        "one pruned tree": orfeon.CARTClassifier(pruning="cv", random_state=0),
        "random forest": orfeon.RandomForestClassifier(n_estimators=200, random_state=0),
        "AdaBoost, stumps": orfeon.AdaBoostClassifier(n_estimators=200, random_state=0),
        "AdaBoost, depth 3": orfeon.AdaBoostClassifier(tree, 200, random_state=0),
        "AdaBoost, a tenth aside": orfeon.AdaBoostClassifier(tree, **stopped),
        "MultiBoost": orfeon.MultiBoostClassifier(n_estimators=200, random_state=0),
        "gradient, all rounds": first_order(n_estimators=500, early_stopping=False, random_state=0),
        "gradient, a tenth aside": first_order(**stopped, early_stopping="validation"),
        "gradient, cross-validated": first_order(**stopped, early_stopping="cv"),
        "gradient, histogram": first_order(**stopped, early_stopping="cv", tree_method="histogram"),
        "gradient, defaults": boosting(random_state=0),
    }


def staged_errors(model: Any, X: pd.DataFrame, y: Classes) -> str:
    """The error after some of the rounds."""
    errors = [np.mean(answers != y) for answers in model.staged_predict(X)]
    shown = [n for n in (1, 5, 10, 20, 50, 100, 200, 500) if n < len(errors)] + [len(errors)]
    return "  ".join(f"{n}: {errors[n - 1]:.1%}" for n in shown)


def main() -> None:
    X, y = make_machines(N_TRAIN, 0)
    X_test, y_test = make_machines(N_TEST, 1)
    print(X[4:9].to_string(), f"\n\n{N_TRAIN} training and {N_TEST} test samples\n")
    print(f"{'':27} {'members':>8} {'training':>10} {'test error':>11}")
    fitted = {}
    for name, model in models().items():
        model.fit(X[:100], y[:100])  # kernels are compiled once per machine
        start = time.perf_counter()
        fitted[name] = model.fit(X, y)
        seconds = time.perf_counter() - start
        size = getattr(model, "n_estimators_", len(getattr(model, "members_", "1")))
        print(f"{name:27} {size:8} {1e3 * seconds:7.0f} ms {1 - model.score(X_test, y_test):11.1%}")
    print("\nTest error after some rounds:")
    for name in ("AdaBoost, stumps", "AdaBoost, depth 3", "gradient, all rounds"):
        print(f"  {name:21} {staged_errors(fitted[name], X_test, y_test)}")


if __name__ == "__main__":
    main()
