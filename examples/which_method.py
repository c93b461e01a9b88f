"""Which method when: the same methods on plain, small, large, noisy and incomplete data.

Run it with ``python examples/which_method.py``; it takes a few minutes and prints the figures of
the page "Which method when". ``--quick`` takes one draw, one problem and few members, in a few
seconds; its figures are rough. ``--only numbers`` (or another name) makes one table only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import orfeon
from orfeon.datasets import (
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_ringnorm,
    make_threenorm,
    make_waveform,
)

Floats = npt.NDArray[np.float64]
Sample = tuple[Floats, npt.NDArray[Any]]
Make = Callable[..., Sample]
#: What is done to a training set, and to a test set: samples, a generator, whether it is to train.
Change = Callable[[Floats, npt.NDArray[Any], np.random.Generator, bool], Sample]
#: A model for a seed, not fitted.
Build = Callable[[int], Any]

CLASSES: dict[str, Make] = {
    "waveform": make_waveform,
    "ringnorm": make_ringnorm,
    "threenorm": make_threenorm,
}
NUMBERS: dict[str, Make] = {
    "friedman1": make_friedman1,
    "friedman2": make_friedman2,
    "friedman3": make_friedman3,
}


@dataclass(frozen=True)
class Effort:
    """How much is done."""

    n_draws: int = 5
    n_train: int = 300
    n_test: int = 2000
    n_members: int = 100
    n_large: int = 20_000
    n_problems: int = 3

    def draws(
        self, make: Make, change: Change | None = None
    ) -> Iterator[tuple[int, Sample, Sample]]:
        """Seeds, with a training set and a test set for each, optionally changed."""
        for seed in range(self.n_draws):
            train = make(self.n_train, random_state=seed)
            test = make(self.n_test, random_state=1000 + seed)
            if change is not None:
                rng = np.random.default_rng(seed)
                train, test = change(*train, rng, True), change(*test, rng, False)
            yield seed, train, test


QUICK = Effort(1, n_train=150, n_test=500, n_members=20, n_large=1000, n_problems=1)


# -- the methods -----------------------------------------------------------------------------------

#: Gradient boosting by the gradient alone; the figures of the page are of these settings.
FIRST_ORDER: dict[str, Any] = {
    "order": 1, "max_depth": 3, "subsample": 1.0, "max_features": None, "tree_method": "exact",
}  # fmt: skip


def classifiers(size: int) -> dict[str, Build]:
    """Classifiers by printed name."""
    small, pruned = orfeon.CARTClassifier(max_depth=3), orfeon.CARTClassifier(pruning="cv")
    bag = orfeon.BaggingClassifier(pruned, n_estimators=size)
    return {
        "CART tree, pruned": lambda seed: orfeon.CARTClassifier(pruning="cv", random_state=seed),
        "C4.5 tree": lambda seed: orfeon.C45Classifier(random_state=seed),
        "bagging": lambda seed: orfeon.BaggingClassifier(n_estimators=size, random_state=seed),
        "bagging of pruned trees": lambda seed: bag.set_params(random_state=seed),
        "the same, a fifth kept": lambda seed: orfeon.PrunedClassifier(bag, random_state=seed),
        "random forest": lambda seed: orfeon.RandomForestClassifier(size, random_state=seed),
        "extra-trees": lambda seed: orfeon.ExtraTreesClassifier(size, random_state=seed),
        "oblique forest": lambda seed: orfeon.ObliqueForestClassifier(size, random_state=seed),
        f"class-switching, {10 * size} trees": lambda seed: orfeon.ClassSwitchingClassifier(
            n_estimators=10 * size, random_state=seed
        ),
        "AdaBoost, depth 3": lambda seed: orfeon.AdaBoostClassifier(small, size, random_state=seed),
        "MultiBoost, depth 3": lambda seed: orfeon.MultiBoostClassifier(
            small, size, random_state=seed
        ),
        "gradient boosting": lambda seed: orfeon.GradientBoostingClassifier(
            n_estimators=size, early_stopping=False, random_state=seed, **FIRST_ORDER
        ),
        "the same, stopped by folds": lambda seed: orfeon.GradientBoostingClassifier(
            n_estimators=5 * size, n_iter_no_change=20, early_stopping="cv", random_state=seed,
            **{**FIRST_ORDER, "subsample": 0.5},
        ),
    }  # fmt: skip


def regressors(size: int) -> dict[str, Build]:
    """Regressors by printed name."""
    return {
        "CART tree, pruned": lambda seed: orfeon.CARTRegressor(pruning="cv", random_state=seed),
        "bagging": lambda seed: orfeon.BaggingRegressor(n_estimators=size, random_state=seed),
        "random forest": lambda seed: orfeon.RandomForestRegressor(size, random_state=seed),
        "extra-trees": lambda seed: orfeon.ExtraTreesRegressor(size, random_state=seed),
        "oblique forest": lambda seed: orfeon.ObliqueForestRegressor(size, random_state=seed),
        "the same, features on one scale": lambda seed: make_pipeline(
            StandardScaler(), orfeon.ObliqueForestRegressor(size, random_state=seed)
        ),
        "output smearing": lambda seed: orfeon.OutputSmearingRegressor(
            n_estimators=size, random_state=seed
        ),
        "AdaBoost.R2": lambda seed: orfeon.AdaBoostR2Regressor(
            orfeon.CARTRegressor(max_depth=5), size, random_state=seed
        ),
        "gradient boosting": lambda seed: orfeon.GradientBoostingRegressor(
            n_estimators=size, early_stopping=False, random_state=seed, **FIRST_ORDER
        ),
        "the same, stopped by folds": lambda seed: orfeon.GradientBoostingRegressor(
            n_estimators=5 * size, n_iter_no_change=20, early_stopping="cv", random_state=seed,
            **{**FIRST_ORDER, "subsample": 0.5},
        ),
        "stacking, default models": lambda seed: orfeon.StackingRegressor(random_state=seed),
        "mixture of four experts": lambda seed: orfeon.MixtureOfExpertsRegressor(
            n_experts=4, random_state=seed
        ),
    }  # fmt: skip


# -- what is done to the data ----------------------------------------------------------------------


def mislabel(X: Floats, y: Any, rng: np.random.Generator, training: bool) -> Sample:
    """A fifth of the training labels become another class."""
    if not training:
        return X, y
    wrong = rng.permutation(len(y))[: len(y) // 5]
    n_classes = int(y.max()) + 1
    changed = y.copy()
    changed[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return X, changed


def punch(X: Floats, y: Any, rng: np.random.Generator, training: bool) -> Sample:
    """A fifth of the cells are missing, in training and later."""
    return np.where(rng.random(X.shape) < 0.2, np.nan, X), y


def add_noise(X: Floats, y: Any, rng: np.random.Generator, training: bool) -> Sample:
    """A hundred noise features."""
    return np.column_stack([X, rng.normal(size=(len(X), 100))]), y


# -- the tables ------------------------------------------------------------------------------------


def show(title: str, errors: dict[str, dict[str, list[float]]]) -> None:
    """Mean errors in percent, and the mean of a row."""
    columns = list(next(iter(errors.values())))
    print(f"\n{title}\n  {'':34}" + "".join(f"{name:>11}" for name in [*columns, "mean"]))
    for row, found in errors.items():
        means = [100 * float(np.mean(found[column])) for column in columns]
        print(f"  {row:34}" + "".join(f"{mean:11.1f}" for mean in [*means, np.mean(means)]))


def compare(
    title: str,
    problems: dict[str, Make],
    methods: dict[str, Build],
    effort: Effort,
    change: Change | None = None,
) -> None:
    """Test errors of methods, or 1 - R²."""
    errors: dict[str, dict[str, list[float]]] = {name: {} for name in methods}
    for problem, make in list(problems.items())[: effort.n_problems]:
        for seed, train, test in effort.draws(make, change):
            for name, build in methods.items():
                error = 1 - build(seed).fit(*train).score(*test)
                errors[name].setdefault(problem, []).append(error)
    show(title, errors)


def compare_parts(effort: Effort) -> None:
    """Many rows: all of them, a sample, and members on parts."""
    X, y = make_waveform(effort.n_large, random_state=0)
    X_test, y_test = make_waveform(effort.n_test, random_state=1000)
    size, few = effort.n_members, effort.n_large // 10
    forest = orfeon.RandomForestClassifier(size, random_state=0)
    pasted = orfeon.PartitionedClassifier(random_state=0)
    ways: dict[str, tuple[Any, int]] = {
        "bagging, all rows": (orfeon.BaggingClassifier(n_estimators=size, random_state=0), len(X)),
        "10 parts, 10 trees on each": (pasted, len(X)),
        "100 parts, one tree on each": (pasted, len(X)),
        "random forest, all rows": (forest, len(X)),
        "random forest, a tenth of them": (forest, few),
        "gradient boosting, histogram": (
            orfeon.GradientBoostingClassifier(
                n_estimators=size,
                early_stopping=False,
                random_state=0,
                **{**FIRST_ORDER, "tree_method": "histogram"},
            ),
            len(X),
        ),
    }
    print(f"\nparts: {len(X)} rows of waveform, one training set")
    print(f"  {'':34}{'error, %':>11}{'CPU, s':>11}")
    for name, (model, n_rows) in ways.items():
        if "parts" in name:
            n_parts = min(int(name.split()[0]), size)
            model.set_params(n_partitions=n_parts, n_estimators=size // n_parts)
        begun = process_time()
        model.fit(X[:n_rows], y[:n_rows])
        seconds = process_time() - begun
        print(f"  {name:34}{100 * (1 - model.score(X_test, y_test)):11.1f}{seconds:11.2f}")


def follow_members(effort: Effort) -> None:
    """How many members are enough, for few and for many rows."""
    sizes = [n for n in (10, 30, 100, 300, 1000) if n <= 10 * effort.n_members]
    print("\nmembers: test errors on waveform by number of members")
    print(f"  {'':34}" + "".join(f"{size:11}" for size in sizes))
    for n_rows in (effort.n_train, effort.n_large // 2):
        for method in (orfeon.RandomForestClassifier, orfeon.ClassSwitchingClassifier):
            found = []
            for seed in range(min(2, effort.n_draws)):
                model = method(n_estimators=sizes[-1], random_state=seed)
                model.fit(*make_waveform(n_rows, random_state=seed))
                test = make_waveform(effort.n_test // 2, random_state=1000 + seed)
                scores = list(model.staged_score(*test))
                found.append([100 * (1 - scores[size - 1]) for size in sizes])
            name = f"{method.__name__[:-10]}, {n_rows} rows"
            print(f"  {name:34}" + "".join(f"{mean:11.1f}" for mean in np.mean(found, axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw, few members")
    parser.add_argument("--draws", type=int, metavar="N", help="training sets of each problem")
    parser.add_argument("--only", metavar="NAME", help="one table: the word it begins with")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    if options.draws:
        effort = replace(effort, n_draws=options.draws)
    many = replace(effort, n_train=effort.n_large // 10, n_draws=min(2, effort.n_draws))
    few = replace(effort, n_train=effort.n_train // 3)
    by_classes, by_numbers = classifiers(effort.n_members), regressors(effort.n_members)
    rows = effort.n_train
    tables: dict[str, Callable[[], None]] = {
        "plain": lambda: compare(
            f"plain: test error in %, {rows} rows", CLASSES, by_classes, effort
        ),
        "few": lambda: compare(f"few: {few.n_train} rows", CLASSES, by_classes, few),
        "many": lambda: compare(f"many: {many.n_train} rows", CLASSES, by_classes, many),
        "wrong": lambda: compare(
            f"wrong labels: one in five, {rows} rows", CLASSES, by_classes, effort, mislabel
        ),
        "missing": lambda: compare(
            f"missing: a fifth of the cells, {rows} rows", CLASSES, by_classes, effort, punch
        ),
        "noise": lambda: compare(
            f"noise: 100 more features, {rows} rows", CLASSES, by_classes, effort, add_noise
        ),
        "numbers": lambda: compare(
            f"numbers: 1 - R² in %, {rows} rows", NUMBERS, by_numbers, effort
        ),
        "parts": lambda: compare_parts(effort),
        "members": lambda: follow_members(effort),
    }
    if options.only is not None and options.only not in tables:
        parser.error(f"--only {options.only!r} is no table; there are: {', '.join(tables)}")
    for name, make_table in tables.items():
        if options.only in (None, name):
            make_table()


if __name__ == "__main__":
    main()
