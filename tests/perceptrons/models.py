"""What the tests of parallel perceptrons share: samples, frames, comparisons to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from orfeon import (
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPBoostClassifier,
    PPTSSClassifier,
)

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
N_ROWS = 120


def samples(n_rows: int = N_ROWS, seed: int = 0) -> tuple[Floats, Floats]:
    """Continuous and rounded columns with copies of some rows, and a signal in them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 2:] = np.round(X[:, 2:], 1)
    X[-10:] = X[:10]
    return X, X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_rows)


def classes(signal: Floats, n_classes: int = 2) -> Labels:
    """Classes of a signal; of two, the second is rare."""
    return np.digitize(signal, [1.2] if n_classes == 2 else [0.3, 1.5])


def frame(X: Floats, seed: int = 0) -> Any:
    """The same columns with gaps, a column of categories, words, flags, and a constant one."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    table["colour"] = pandas.Categorical(rng.choice(["red", "green", "blue"], len(X)))
    table["word"] = rng.choice(["yes", "no"], len(X))
    table["flag"] = rng.random(len(X)) < 0.5
    table["same"] = 7.0
    for name in ("a", "c", "colour"):
        table[name] = table[name].mask(rng.random(len(X)) < 0.1)
    return table


def some(table: Any, rows: Any) -> Any:
    """Rows of an array or a frame."""
    return table[rows] if isinstance(table, np.ndarray) else table.iloc[rows]


def learnt(model: Any) -> dict[str, npt.NDArray[Any]]:
    """All numbers that a fitted model consists of."""
    if isinstance(model, PPTSSClassifier):
        return {**learnt(model.estimator_), **model.history_}
    if isinstance(model, PPBoostClassifier):
        numbers = {"votes": model.member_weights_, "errors": model.errors_}
        for index, member in enumerate(model.estimators_):
            numbers |= {f"{name} of {index}": value for name, value in learnt(member).items()}
        return numbers
    names = ("weights_", "margin_", "energy_curve_", "error_curve_")
    return {name: getattr(model, name) for name in names}


def assert_same_model(one: Any, other: Any) -> None:
    """Two models were learnt alike, to the bit."""
    mine, others = learnt(one), learnt(other)
    assert list(mine) == list(others)
    for name, value in mine.items():
        assert value.shape == others[name].shape, name
        assert value.tobytes() == others[name].tobytes(), name


#: Settings that take other ways through the code.
CLASSIFIERS = [
    ParallelPerceptronClassifier(random_state=1),
    ParallelPerceptronClassifier(mode="incremental", random_state=1),
    ParallelPerceptronClassifier(rule="auer", learning_rate="adaptive", random_state=1),
    ParallelPerceptronClassifier(
        5, mode="incremental", blame="fewest", learning_rate="constant", random_state=1
    ),
    ParallelPerceptronClassifier(multi_class="one_vs_one", init="unit", random_state=1),
    ParallelPerceptronClassifier(standardize=False, class_weight="balanced", random_state=1),
    ParallelPerceptronClassifier(divide_inputs=False, early_stopping=True, random_state=1),
]
REGRESSORS = [
    ParallelPerceptronRegressor(random_state=1),
    ParallelPerceptronRegressor(10, mode="incremental", rho=4, random_state=1),
]
SELECTIVE = [
    PPTSSClassifier(random_state=1),
    PPTSSClassifier(
        ParallelPerceptronClassifier(mode="incremental"), quasi_noisy="vote", random_state=1
    ),
]
BOOSTED = [
    PPBoostClassifier(random_state=1),
    PPBoostClassifier(sampling="resample", mode="positive", on_failure="stop", random_state=1),
    PPBoostClassifier(
        ParallelPerceptronClassifier(mode="incremental", class_weight="balanced"), 5,
        mode="negative", on_failure="bootstrap", quasi_noisy="all", random_state=1,
    ),
    PPBoostClassifier(n_iter_no_change=2, validation_fraction=0.2, random_state=1),
]  # fmt: skip
each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
each_model = pytest.mark.parametrize(
    "model", [*CLASSIFIERS, *REGRESSORS, *SELECTIVE, *BOOSTED], ids=str
)


def target(model: Any, signal: Floats, n_classes: int = 2) -> Any:
    """A target that fits: numbers, or classes."""
    is_regressor = isinstance(model, ParallelPerceptronRegressor)
    return signal if is_regressor else classes(signal, n_classes)
