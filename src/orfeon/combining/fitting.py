"""One estimator of any kind: cloned and seeded, fitted to weighted samples, and asked."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import class_codes
from orfeon.data.training_set import fractions_error
from orfeon.ensembles.base import seed_estimator
from orfeon.members.members import class_supports
from orfeon.utils.types import Floats

Method = Literal["predict_proba", "predict"]


def fresh(estimator: Any, seed: int) -> Any:
    """A clone to be fitted, whose randomness is fixed where its user has left it open."""
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
    """Fit an estimator to weighted samples."""
    if isinstance(estimator, FrozenEstimator):
        return estimator
    if is_classifier(estimator) and (y == y[0]).all():
        return DummyClassifier().fit(X, y)
    return fit_unless_refused(estimator, X, y, weights, name)


def fit_unless_refused(
    estimator: Any, X: Any, y: npt.NDArray[Any], weights: Floats | None, name: str
) -> Any:
    """Fit an estimator with weights, or refuse weights that it cannot take."""
    if weights is None or (weights == 1.0).all():
        return estimator.fit(X, y)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise fractions_error(f"{name}={estimator}")
    return estimator.fit(X, y, sample_weight=weights)


def query(estimator: Any, X: Any, classes: npt.NDArray[Any] | None, method: Method) -> Floats:
    """What a fitted estimator says of some rows."""
    if classes is None:
        answers = np.asarray(estimator.predict(X), dtype=np.float64)
        if answers.ndim != 1 and answers.shape[1:] != (1,):
            raise ValueError(
                f"{type(estimator).__name__} gives predictions of shape {answers.shape}: it has "
                "several outputs, and one is allowed."
            )
        return answers.reshape(-1, 1)
    if method == "predict":
        votes = np.asarray(estimator.predict(X))
        return np.eye(len(classes))[
            class_codes(votes, classes, f"{type(estimator).__name__} decides for")
        ]
    return class_supports(estimator, X, classes)


def check_kind(estimator: Any, *, classifier: bool, name: str) -> None:
    """Refuse what is no classifier, or no regressor."""
    kind, is_one = ("classifier", is_classifier) if classifier else ("regressor", is_regressor)
    if isinstance(estimator, type):
        raise TypeError(
            f"{name}={estimator.__name__} is a class; give an estimator, {estimator.__name__}()."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and is_one(estimator)):
        raise ValueError(f"{name}={estimator!r} is not a {kind}; one is needed.")


def is_frozen(estimator: Any) -> bool:
    """Whether an estimator is to be taken as it is, fitted."""
    return isinstance(estimator, FrozenEstimator)
