"""Estimators of any kind: cloned and seeded, fitted with weights, their predictions as columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import TabularEstimator, class_codes
from orfeon.data.training_set import fractions_error
from orfeon.ensembles.base import seed_estimator
from orfeon.members.members import class_supports
from orfeon.utils.types import Floats

Method = Literal["predict_proba", "predict"]


def seeded_clone(estimator: Any, seed: int) -> Any:
    """A clone in which every ``random_state`` that is None is set."""
    cloned = clone(estimator)
    if isinstance(cloned, FrozenEstimator):
        return cloned
    fixed = {
        name: value
        for name, value in cloned.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is not None
    }
    seed_estimator(cloned, seed)
    return cloned.set_params(**fixed)


def fit_weighted(
    estimator: Any, X: Any, y: npt.NDArray[Any], weights: Floats | None = None, *, name: str = ""
) -> Any:
    """Fit an estimator to weighted samples; frozen ones stay as they are."""
    if isinstance(estimator, FrozenEstimator):
        return estimator
    if is_classifier(estimator) and (y == y[0]).all():
        return DummyClassifier().fit(X, y)
    return fit_with_weights(estimator, X, y, weights, name)


def fit_with_weights(
    estimator: Any, X: Any, y: npt.NDArray[Any], weights: Floats | None, name: str
) -> Any:
    """Fit an estimator with weights, or reject weights that it cannot take."""
    if weights is None or (weights == 1.0).all():
        return estimator.fit(X, y)
    argument = weight_argument(estimator)
    if argument is None:
        raise fractions_error(f"{name}={estimator}")
    return estimator.fit(X, y, **{argument: weights})


def weight_argument(estimator: Any) -> str | None:
    """The name by which ``fit`` takes weights, in pipelines that of the last step; or None."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = None if isinstance(last, str) else weight_argument(last)
        return None if inner is None else f"{name}__{inner}"
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        return weight_argument(estimator.regressor)
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def query(estimator: Any, X: Any, classes: npt.NDArray[Any] | None, method: Method) -> Floats:
    """Class probabilities, votes as 0 and 1, or predictions of a fitted estimator, in columns."""
    if classes is None:
        answers = np.asarray(estimator.predict(X), dtype=np.float64)
        if answers.ndim != 1 and answers.shape[1:] != (1,):
            raise ValueError(
                f"{type(estimator).__name__} gives predictions of shape {answers.shape}; only "
                "estimators with one output are allowed."
            )
        return answers.reshape(-1, 1)
    if method == "predict":
        votes = np.asarray(estimator.predict(X))
        return np.eye(len(classes))[
            class_codes(votes, classes, f"{type(estimator).__name__} decides for")
        ]
    return class_supports(estimator, X, classes)


def check_kind(estimator: Any, *, classifier: bool, name: str) -> None:
    """Reject an estimator of the wrong kind."""
    kind, is_one = ("classifier", is_classifier) if classifier else ("regressor", is_regressor)
    if isinstance(estimator, type):
        raise TypeError(
            f"{name}={estimator.__name__} is a class; give an estimator, {estimator.__name__}()."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and is_one(estimator)):
        raise ValueError(f"{name}={estimator!r} is not a {kind}; one is needed.")


def is_frozen(estimator: Any) -> bool:
    return isinstance(estimator, FrozenEstimator)


def takes_sparse(estimator: Any) -> bool:
    """Whether an estimator says that it takes sparse matrices; one that says nothing may."""
    if isinstance(estimator, str | type) or not hasattr(estimator, "__sklearn_tags__"):
        return True
    return bool(get_tags(estimator).input_tags.sparse)


def check_sparse(estimators: Iterable[Any]) -> None:
    """Reject sparse matrices for estimators of orfeon that need dense ones; others do so in fit."""
    for estimator in estimators:
        if isinstance(estimator, TabularEstimator) and not takes_sparse(estimator):
            raise dense_needed(f"the {type(estimator).__name__} inside")


def dense_needed(what: str) -> TypeError:
    """The error for sparse data where only dense data will do."""
    return TypeError(
        f"Sparse data was passed for X, but {what} needs dense data. Use X.toarray() to convert it "
        "to a dense NumPy array."
    )


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or polars, which estimators get as it is."""
    return hasattr(X, "iloc") or _is_polars(X)


def _is_polars(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def add_columns(X: Any, columns: Floats, names: Sequence[str], *, first: bool = False) -> Any:
    """Add columns of numbers to a table, after those it has or before them."""
    if sparse.issparse(X):
        new = sparse.csr_matrix(columns)
        return sparse.hstack([new, X] if first else [X, new], format="csr")
    if not is_frame(X):
        return np.column_stack([columns, X] if first else [X, columns])
    taken = list(X.columns)
    new = free_names(names, taken)
    if _is_polars(X):
        wider = X.with_columns(**dict(zip(new, columns.T.copy(), strict=True)))
        return wider.select([*new, *taken] if first else [*taken, *new])
    pandas = sys.modules["pandas"]
    added = pandas.DataFrame(columns, columns=new, index=X.index)
    return pandas.concat([added, X] if first else [X, added], axis=1)


def answer_columns(answers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Columns of one model; with two classes the second probability says it all."""
    return answers[:, 1:] if answers.shape[1] == 2 else answers


def answer_names(names: Sequence[str], classes: npt.NDArray[Any] | None) -> list[str]:
    if classes is None:
        return list(names)
    shown = classes[1:] if len(classes) == 2 else classes
    return [f"{name}_{label}" for name in names for label in shown]


def free_names(names: Sequence[str], taken: Sequence[Any]) -> list[Any]:
    """Names of new columns, changed where a column has that name already."""
    if not all(isinstance(name, str) for name in taken):
        # Numbers: scikit-learn rejects a mix of strings and other names.
        free = (number for number in count() if number not in taken)
        return [next(free) for _ in names]
    new: list[Any] = []
    for name in names:
        while name in taken or name in new:
            name = f"_{name}"
        new.append(name)
    return new
