"""Categories in gradient boosting: subsets of levels against ordered target statistics.

``python -m benchmarks.category_encodings`` prints the loss on left-out folds of orfeon's encodings,
of CatBoost and of LightGBM, on made tables and on those of the folder that ``ORFEON_DATA`` names:
log loss, or squared error as a share of the variance. ``--memory`` prints time and memory of a fit
with 100,000 levels instead, by encoding.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor

#: Tables of the folder with categories, and the most rows that are used.
FILES = ("german", "australian", "horse_colic", "heart", "adult", "used_cars_vw")
MOST_ROWS = 10_000
FOLDS = 5
#: Settings of orfeon's trees.
_EACH: dict[str, Any] = {"n_estimators": 100, "learning_rate": 0.1, "early_stopping": False}
_LEAVES: dict[str, Any] = {
    **_EACH, "tree_method": "histogram", "max_depth": None, "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
}  # fmt: skip
SETTINGS: dict[str, dict[str, Any]] = {
    "exact, depth 3": {**_EACH, "order": 1, "tree_method": "exact", "max_depth": 3},
    "histogram, 31 leaves": {**_LEAVES, "order": 1},
    "order=2, 31 leaves": {**_LEAVES, "order": 2},
}
ENCODINGS = ("subsets", "ordered", "auto")


class Problem(NamedTuple):
    name: str
    X: Any
    y: npt.NDArray[Any]

    @property
    def has_classes(self) -> bool:
        return self.y.dtype.kind not in "fi"


def made_table(n_rows: int, n_levels: int, kind: str, *, fresh: bool = False) -> Problem:
    """A table in which a feature of many levels matters, beside one of five and four numbers.

    The sign of a level's effect turns the effect of a number around. ``fresh`` rows are others of
    the same process.
    """
    import pandas as pd

    rng = np.random.default_rng(0)
    effect, of_few = rng.normal(size=n_levels), rng.normal(size=5) / 2
    rng = np.random.default_rng(2 if fresh else 1)
    code, few = rng.integers(0, n_levels, n_rows), rng.integers(0, 5, n_rows)
    Z = rng.normal(size=(n_rows, 4))
    score = 1.2 * effect[code] + of_few[few] + Z[:, 0] - 0.5 * Z[:, 1] * (few == 2)
    score += 0.7 * np.sin(2 * Z[:, 2]) * np.sign(effect[code])
    if kind == "classes":
        y = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "yes", "no")
    else:
        y = score + rng.normal(size=n_rows)
    levels = np.array([f"place {level}" for level in range(n_levels)], dtype=object)
    X = pd.DataFrame(Z, columns=list("pqrs"))
    X.insert(0, "place", levels[code])
    X["few"] = np.array(list("abcde"), dtype=object)[few]
    return Problem(f"made, {n_levels:,} levels, {n_rows:,} rows, {kind}", X, y)


def read_tables(folder: Path) -> Iterator[Problem]:
    import pandas as pd

    for name in FILES:
        for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
            if path.exists():
                table = pd.read_csv(path)
                if len(table) > MOST_ROWS:
                    table = table.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
                y = table.iloc[:, -1].to_numpy()
                y = y if y.dtype.kind in "fi" else y.astype(str)
                X = table.iloc[:, :-1].copy()
                for column in categorical(X):
                    known = X[column].astype(object)
                    X[column] = known.where(known.notna(), None)
                yield Problem(name, X, y)


def categorical(X: Any) -> list[str]:
    return [name for name in X.columns if X[name].dtype.kind not in "biuf"]


# -- contestants -----------------------------------------------------------------------------------

Fit = Callable[[Any, npt.NDArray[Any], bool], Any]


def contestants() -> dict[str, Fit]:
    found: dict[str, Fit] = {}
    for setting, options in SETTINGS.items():
        for encoding in ENCODINGS:
            found[f"{setting}: {encoding}"] = _orfeon({**options, "categorical_encoding": encoding})
    found["LightGBM"] = _lightgbm
    found["CatBoost"] = _catboost
    return found


def _orfeon(options: dict[str, Any]) -> Fit:
    def fit(X: Any, y: npt.NDArray[Any], has_classes: bool) -> Any:
        kind = GradientBoostingClassifier if has_classes else GradientBoostingRegressor
        return kind(random_state=0, **options).fit(X, y)

    return fit


class _Prepared:
    """A model of another library, with its preparation of rows."""

    def __init__(self, model: Any, prepare: Callable[[Any], Any]) -> None:
        self.model, self.prepare = model, prepare

    def predict(self, X: Any) -> Any:
        return self.model.predict(self.prepare(X))

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.prepare(X))

    @property
    def classes_(self) -> Any:
        return self.model.classes_


def _lightgbm(X: Any, y: npt.NDArray[Any], has_classes: bool) -> _Prepared:
    import lightgbm
    import pandas as pd

    levels = {name: sorted(X[name].dropna().unique()) for name in categorical(X)}

    def prepare(rows: Any) -> Any:
        columns = {c: pd.Categorical(rows[c], categories=own) for c, own in levels.items()}
        return rows.assign(**columns)

    kind = lightgbm.LGBMClassifier if has_classes else lightgbm.LGBMRegressor
    return _Prepared(kind(n_jobs=1, random_state=0, verbose=-1).fit(prepare(X), y), prepare)


def _catboost(X: Any, y: npt.NDArray[Any], has_classes: bool) -> _Prepared:
    import catboost

    names = categorical(X)

    def prepare(rows: Any) -> Any:
        return rows.assign(**{name: rows[name].fillna("missing").astype(str) for name in names})

    kind = catboost.CatBoostClassifier if has_classes else catboost.CatBoostRegressor
    model = kind(
        cat_features=names, thread_count=1, random_seed=0, verbose=False, allow_writing_files=False
    )
    return _Prepared(model.fit(prepare(X), y), prepare)


# -- measuring -------------------------------------------------------------------------------------


def loss_of(fit: Fit, problem: Problem) -> float:
    """Mean loss on the left-out folds."""
    X, y, has_classes = problem.X, problem.y, problem.has_classes
    folds = (StratifiedKFold if has_classes else KFold)(FOLDS, shuffle=True, random_state=0)
    losses = []
    for train, test in folds.split(X, y):
        model = fit(X.iloc[train], y[train], has_classes)
        if has_classes:
            shares = np.clip(model.predict_proba(X.iloc[test]), 1e-15, 1)
            losses.append(log_loss(y[test], shares, labels=model.classes_))
        else:
            errors = (model.predict(X.iloc[test]) - y[test]) ** 2
            losses.append(float(errors.mean() / y.var()))
    return float(np.mean(losses))


def print_losses(problems: list[Problem], only: str) -> None:
    every = {name: fit for name, fit in contestants().items() if only in name}
    for problem in problems:
        most = max(problem.X[name].nunique() for name in categorical(problem.X))
        print(f"{problem.name}: {problem.X.shape}, up to {most:,} levels", flush=True)
        for name, fit in every.items():
            start = time.perf_counter()
            try:
                loss = loss_of(fit, problem)
            except ValueError as error:
                print(f"    {name:34} {error}", flush=True)
                continue
            print(f"    {name:34} {loss:.4f}   {time.perf_counter() - start:6.1f} s", flush=True)


def print_memory(encoding: str, n_rows: int, n_levels: int) -> None:
    """Time and memory of one fit; memory is that of the process, before and at most."""
    problem = made_table(n_rows, n_levels, "classes")
    small = made_table(2000, 100, "classes")
    build = _orfeon({**SETTINGS["histogram, 31 leaves"], "categorical_encoding": encoding})
    build(small.X, small.y, True).predict(small.X)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    model = build(problem.X, problem.y, True)
    fitted = time.perf_counter()
    model.predict_proba(problem.X)
    predicted = time.perf_counter()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    fresh = made_table(n_rows, n_levels, "classes", fresh=True)
    loss = log_loss(fresh.y, model.predict_proba(fresh.X), labels=model.classes_)
    print(
        f"{encoding}, {n_levels:,} levels, {n_rows:,} rows: fit {fitted - start:.2f} s, predict "
        f"{predicted - fitted:.2f} s, {before:.0f} MB before, {after:.0f} MB at most, "
        f"log loss {loss:.4f} on as many new rows"
    )


def main() -> None:
    command = argparse.ArgumentParser(prog="python -m benchmarks.category_encodings")
    command.add_argument("--only", default="", help="contestants whose names contain this")
    command.add_argument("--table", default="", help="tables whose names contain this")
    command.add_argument("--memory", choices=ENCODINGS, help="time and memory of this encoding")
    command.add_argument("--rows", type=int, default=500_000)
    command.add_argument("--levels", type=int, default=100_000)
    options = command.parse_args()
    warnings.filterwarnings("ignore")
    if options.memory:
        print_memory(options.memory, options.rows, options.levels)
        return
    problems = [
        made_table(10_000, 1_000, "classes"),
        made_table(10_000, 1_000, "numbers"),
    ]
    folder = os.environ.get("ORFEON_DATA")
    problems += read_tables(Path(folder)) if folder else ()
    print_losses([one for one in problems if options.table in one.name], options.only)


if __name__ == "__main__":
    main()
