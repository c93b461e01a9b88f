"""Where the scores of gradient boosting start: a constant, offsets of rows, or another model.

An offset is a known part of a row's score, such as the logarithm of an exposure, or the score of a
model that boosting improves. Trees are fitted to what is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from orfeon.boosting.class_losses import ClassLoss, ExponentialLoss
from orfeon.boosting.losses import HuberError, Loss
from orfeon.data.training_set import are_counts, fractions_error, rows_with_copies
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.types import Floats

#: Steps to the constant that goes best with given offsets.
_MOST_STEPS = 100
_PRECISION = 1e-12
_LEAST_SHARE = float(np.finfo(np.float64).eps)


def read_offsets(base_margin: Any, n_rows: int, n_scores: int, name: str = "base_margin") -> Floats:
    """Check offsets; as an array of shape (n_rows, n_scores)."""
    try:
        offsets = np.asarray(base_margin, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}.") from error
    shapes = [(n_rows, n_scores)] + ([(n_rows,)] if n_scores == 1 else [])
    if offsets.shape not in shapes:
        raise ValueError(
            f"{name} has shape {offsets.shape}, and must have one offset for each row"
            f"{'' if n_scores == 1 else ' and score'}: shape {shapes[-1]}."
        )
    if not np.isfinite(offsets).all():
        raise ValueError(f"{name} has values that are missing or infinite; offsets are finite.")
    return offsets.reshape(n_rows, n_scores)


def best_constant(loss: Loss, y: npt.NDArray[Any], offsets: Floats, weights: Floats) -> Floats:
    """The constant that goes best with the offsets: the value of a leaf with all samples."""
    if isinstance(loss, HuberError):  # whose constant is the median, not the minimum
        return loss.start(y - offsets[0], weights)
    k = loss.n_scores
    leaves = np.repeat(np.arange(k)[:, None], len(y), axis=1)
    constant = np.zeros(k)
    least = loss.value(y, offsets + constant[:, None], weights)
    for _ in range(_MOST_STEPS):
        scores = offsets + constant[:, None]
        residuals = loss.negative_gradient(y, scores, weights)
        step = loss.leaf_values(y, scores, weights, residuals, leaves, k)
        following = loss.value(y, scores + step[:, None], weights)
        while following > least and (np.abs(step) > _PRECISION * (1.0 + np.abs(constant))).any():
            step = step / 2.0  # Newton steps may go too far
            following = loss.value(y, scores + step[:, None], weights)
        if following >= least:
            break
        constant, least = constant + step, following
    return constant


def is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def fitted_init(init: Any, X: Any, y: Any, weights: Floats) -> Any:
    """The model to start from: as it is if it is fitted, else a clone fitted to the samples."""
    if is_fitted(init):
        return init
    model = clone(init)
    if (weights == weights[0]).all():
        return model.fit(X, y)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(X, y, sample_weight=weights)
    if not are_counts(weights):
        raise fractions_error(type(init).__name__, "or another init")
    rows = rows_with_copies(weights)
    return model.fit(_safe_indexing(X, rows), _safe_indexing(y, rows))


def has_model(init: Any) -> bool:
    """Whether boosting starts from a model, not from a constant."""
    return not (init is None or init == "zero")


def check_init(init: Any, *, of_classes: bool) -> None:
    """Reject a model that boosting cannot start from."""
    if not has_model(init):
        return
    if isinstance(init, str) or not hasattr(init, "predict"):
        raise ValueError(
            f'init={init!r} is not allowed: it must be None (the best constant), "zero" or an '
            "estimator."
        )
    if is_classifier(init) != of_classes:
        kind = "classifier" if of_classes else "regressor"
        raise ValueError(f"init={init} is not a {kind}, which boosting would start from here.")
    if of_classes and not hasattr(init, "predict_proba"):
        raise ValueError(
            f"init={init} has no predict_proba; boosting starts from class probabilities."
        )


def init_scores(model: Any, X: Any, loss: Loss, classes: npt.NDArray[Any]) -> Floats:
    """Scores of shape (n_rows, n_scores) that give the predictions of another model."""
    if not isinstance(loss, ClassLoss):
        return np.ascontiguousarray(loss.scores_of(np.asarray(model.predict(X))).T)
    if not np.array_equal(model.classes_, classes):
        raise ValueError(
            f"init knows the classes {np.asarray(model.classes_).tolist()}, and y has "
            f"{classes.tolist()}; both must be the same."
        )
    shares = np.clip(np.asarray(model.predict_proba(X)), _LEAST_SHARE, 1.0)
    logs = np.log(shares)
    if loss.n_scores > 1 or len(classes) < 2:
        return np.ascontiguousarray(logs - logs.mean(axis=1, keepdims=True))
    odds = logs[:, 1:] - logs[:, :1]
    return np.ascontiguousarray(0.5 * odds if isinstance(loss, ExponentialLoss) else odds)
