"""Gradient boosting as each library does it by default, on one thread.

Nothing is set but the seed, the number of threads, silence, and which features are categories, as
each documentation says: by their type, or by ``cat_features`` for CatBoost, which wants strings.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas
import sklearn.ensemble

import orfeon
from benchmarks.accuracy_tables import Table
from benchmarks.contestants import ORFEON
from benchmarks.fold_results import code_state
from benchmarks.gradient_peers import LIGHTGBM, XGBOOST
from benchmarks.peers import _import
from benchmarks.timing import one_thread

CATBOOST, HISTOGRAM = "CatBoost", "HistGradientBoosting"
#: Probabilities below this count as this.
_LEAST = 1e-15
Frame: TypeAlias = pandas.DataFrame


def _same(X: Frame) -> Any:
    return X


@dataclass(frozen=True)
class Contestant:
    """A library, or settings of one."""

    #: Who it is.
    name: str
    #: Takes a table, a number of rounds or None for the default, and a seed; gives an estimator.
    make: Callable[[Table, int | None, int], Any]
    #: Its version.
    state: Callable[[], str]
    #: Gives the features in the form that it wants.
    form: Callable[[Frame], Any] = _same
    #: What its predictions are given, so that they take one thread.
    one_thread: Mapping[str, Any] | None = None

    def fit(self, table: Table, n_rounds: int | None = None, seed: int = 0) -> Any:
        """A fitted estimator."""
        return self.make(table, n_rounds, seed).fit(self.form(table.X), table.y)

    def answers(self, model: Any, table: Table) -> npt.NDArray[np.float64]:
        """Probabilities of the classes, or numbers."""
        predict = model.predict_proba if table.n_classes else model.predict
        found = predict(self.form(table.X), **(self.one_thread or {}))
        return np.asarray(found, np.float64)


# -- who -------------------------------------------------------------------------------------------


def _rounds(name: str, n_rounds: int | None) -> dict[str, int]:
    return {} if n_rounds is None else {name: n_rounds}


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def of_orfeon(name: str = ORFEON, **settings: Any) -> Contestant:
    """The boosting of orfeon with its defaults, or with some settings."""

    def make(table: Table, n_rounds: int | None, seed: int) -> Any:
        kind: Any = orfeon.GradientBoostingRegressor
        if table.n_classes:
            kind = orfeon.GradientBoostingClassifier
        limits = _rounds("n_estimators", n_rounds)
        return kind(n_jobs=1, random_state=seed, **{**settings, **limits})

    return Contestant(name, make, code_state)


def _lightgbm(table: Table, n_rounds: int | None, seed: int) -> Any:
    lightgbm = _import("lightgbm")
    kind = lightgbm.LGBMClassifier if table.n_classes else lightgbm.LGBMRegressor
    return kind(n_jobs=1, random_state=seed, verbosity=-1, **_rounds("n_estimators", n_rounds))


def _xgboost(table: Table, n_rounds: int | None, seed: int) -> Any:
    xgboost = _import("xgboost")
    kind = xgboost.XGBClassifier if table.n_classes else xgboost.XGBRegressor
    return kind(
        n_jobs=1, random_state=seed, enable_categorical=True, **_rounds("n_estimators", n_rounds)
    )


def _histogram(table: Table, n_rounds: int | None, seed: int) -> Any:
    end = "Classifier" if table.n_classes else "Regressor"
    kind = getattr(sklearn.ensemble, f"HistGradientBoosting{end}")
    # Categories by their type are its default.
    return kind(random_state=seed, **_rounds("max_iter", n_rounds))


def _catboost(table: Table, n_rounds: int | None, seed: int) -> Any:
    catboost = _import("catboost")
    kind = catboost.CatBoostClassifier if table.n_classes else catboost.CatBoostRegressor
    return kind(
        cat_features=table.categorical, thread_count=1, random_seed=seed, verbose=False,
        allow_writing_files=False, **_rounds("iterations", n_rounds),
    )  # fmt: skip


def _with_strings(X: Frame) -> Frame:
    """Categories as strings, missing ones as one of them."""
    return Frame(
        {
            label: column.astype(object).where(column.notna(), "(missing)")
            if isinstance(column.dtype, pandas.CategoricalDtype)
            else column
            for label, column in X.items()
        }
    )


#: Packages by library.
PACKAGES = {
    LIGHTGBM: "lightgbm", XGBOOST: "xgboost", HISTOGRAM: "sklearn", CATBOOST: "catboost",
}  # fmt: skip


def peers() -> list[Contestant]:
    """The other libraries that are installed."""

    def state(package: str) -> Callable[[], str]:
        distribution = {"sklearn": "scikit-learn"}.get(package, package)
        return lambda: importlib.metadata.version(distribution)

    makes = {LIGHTGBM: _lightgbm, XGBOOST: _xgboost, HISTOGRAM: _histogram, CATBOOST: _catboost}
    return [
        Contestant(
            name, make, state(PACKAGES[name]),
            _with_strings if name == CATBOOST else _same,
            {"thread_count": 1} if name == CATBOOST else None,
        )
        for name, make in makes.items()
        if _is_installed(PACKAGES[name])
    ]  # fmt: skip


def missing_notices() -> list[str]:
    """One line for each library that is not installed."""
    return [
        f"{name} is not installed ({package}): left out."
        for name, package in PACKAGES.items()
        if not _is_installed(package)
    ]


# -- what is measured ------------------------------------------------------------------------------


def loss_and_error(answers: npt.NDArray[np.float64], table: Table) -> tuple[float, float]:
    """Log loss and error of probabilities, or squared and absolute error of numbers.

    Examples
    --------
    >>> rows = Table("x", Frame({"a": [0.0, 1.0]}), np.array([0, 1]), 2)
    >>> loss, error = loss_and_error(np.array([[0.5, 0.5], [0.6, 0.4]]), rows)
    >>> round(loss, 3), error
    (0.805, 0.5)
    >>> numbers = Table("x", rows.X, np.array([0.0, 3.0]), 0)
    >>> loss_and_error(np.array([1.0, 1.0]), numbers)
    (2.5, 1.5)
    """
    if not table.n_classes:
        away = answers - table.y
        return float(np.mean(away**2)), float(np.mean(np.abs(away)))
    chosen = np.take_along_axis(answers, table.y[:, None], axis=1)[:, 0]
    loss = -np.log(np.clip(chosen / answers.sum(axis=1), _LEAST, None)).mean()
    return float(loss), float((np.argmax(answers, axis=1) != table.y).mean())


def warm_up(one: Contestant, table: Table) -> None:
    """Compile and import what a fit needs, outside the timing."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one.answers(one.fit(table, 2), table)


def measure(
    one: Contestant, training: Table, test: Table, n_rounds: int | None = None
) -> dict[str, Any]:
    """Fit to the training rows and predict the test rows."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter(), time.process_time()
        model = one.fit(training, n_rounds)
        middle = time.perf_counter(), time.process_time()
        answers = one.answers(model, test)
        end = time.perf_counter(), time.process_time()
    loss, error = loss_and_error(answers, test)
    found = {
        "loss": loss, "error": error, "fit": middle[0] - begin[0], "fit_cpu": middle[1] - begin[1],
        "predict": end[0] - middle[0], "predict_cpu": end[1] - middle[1],
    }  # fmt: skip
    return {name: float(f"{value:.6g}") for name, value in found.items()}
