"""Level-1 data of stacking: predictions of samples by models that have not seen them.

There are three sources. Out of fold, the models are refitted for each fold
(:mod:`orfeon.combining.out_of_fold`). Out of bag, an ensemble whose members leave samples out is
fitted once, and the members that did not see a sample predict it. And fitted models can predict
samples that are new to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.base import class_codes
from orfeon.combining.fitting import Method, is_frozen
from orfeon.combining.out_of_fold import Units, are_informative
from orfeon.ensembles.ensemble import was_trained_on
from orfeon.members import adapt
from orfeon.members.protocol import NoOutOfBagError
from orfeon.utils.scikit_learn import _num_samples, _safe_indexing
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import AdvisedWarning, warn_user

#: Outputs of the members of an ensemble that are held at once.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class LevelOne:
    """Predictions of the training samples by members that have not seen them."""

    answers: Floats
    answered: Mask
    is_informative: bool = True

    @classmethod
    def of_all(cls, answers: Floats, *, is_informative: bool = True) -> LevelOne:
        """Predictions of members that have seen none of the samples."""
        return cls(answers, np.ones(answers.shape[:2], dtype=bool), is_informative)

    @property
    def known(self) -> Mask:
        """Which samples any member predicts."""
        return np.asarray(self.answered.any(axis=0))


def check_members(name: str, ensemble: Any) -> None:
    """Reject a fitted model whose members cannot be queried individually."""
    try:
        adapt(ensemble)
    except TypeError as error:
        raise TypeError(
            f'{name} has no members that leave samples out, which cv="out_of_bag" needs: {error}'
        ) from error


def ensemble_answers(
    ensemble: Any, X: Any, classes: npt.NDArray[Any] | None, method: Method
) -> Floats:
    """Predictions of each member of a fitted ensemble."""
    members = adapt(ensemble)
    if classes is None or members.classes is None:
        return members.supports(X)
    if method == "predict":
        found: Floats = np.eye(len(members.classes))[members.answers(X)]
    else:
        found = members.supports(X)
    if np.array_equal(members.classes, classes):
        return found
    whole = np.zeros((*found.shape[:2], len(classes)))
    whole[:, :, class_codes(members.classes, classes)] = found
    return whole


def ensemble_means(
    ensemble: Any,
    X: Any,
    classes: npt.NDArray[Any] | None,
    method: Method,
    answered: Mask | None = None,
) -> Floats:
    """Mean prediction of the members of a fitted ensemble, or of those that ``answered``."""
    n_rows, n_outputs = _num_samples(X), 1 if classes is None else len(classes)
    sums = np.zeros((n_rows, n_outputs))
    n_members = adapt(ensemble).n_members
    width = max(1, _AT_ONCE // (n_members * n_outputs))
    for first in range(0, n_rows, width):
        span = slice(first, min(first + width, n_rows))
        some = X if width >= n_rows else _safe_indexing(X, np.arange(span.start, span.stop))
        answers = ensemble_answers(ensemble, some, classes, method)
        # Member by member, so that rounding does not depend on the number of rows.
        for t, answer in enumerate(answers):
            sums[span] += answer if answered is None else answer * answered[t, span, None]
    counts = np.full(n_rows, n_members) if answered is None else answered.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts[:, None])


def left_out(ensemble: Any, units: Units, given: tuple[Any, Any, Any]) -> Mask:
    """Which samples each member of a fitted ensemble has seen no copy of."""
    members = adapt(ensemble)
    samples = given
    if not is_frozen(ensemble):
        weights = None if (units.weights == 1.0).all() else units.weights
        samples = (units.table, units.labels, weights)
    try:
        out = members.out_of_bag(*samples)
    except NoOutOfBagError as error:
        # The remedy differs from that of ordering, which the message suggests.
        raise ValueError(f"{error.what}. Use folds, such as cv=5.") from error
    return out[:, units.rows] if is_frozen(ensemble) else out


def out_of_bag_means(
    ensembles: list[Any],
    units: Units,
    given: tuple[Any, Any, Any],
    classes: npt.NDArray[Any] | None,
    method: Method,
) -> LevelOne:
    """Level-1 data of ensembles: means over the members that did not see the sample."""
    answered = [left_out(ensemble, units, given) for ensemble in ensembles]
    means = [
        ensemble_means(ensemble, units.table, classes, method, some)
        for ensemble, some in zip(ensembles, answered, strict=True)
    ]
    known = np.stack([some.any(axis=0) for some in answered])
    # All ensembles or none, so that the final estimator learns from complete rows.
    complete: Mask = np.asarray(known.all(axis=0))
    _warn_of_never_left_out(complete)
    answers = np.where(complete[:, None], np.stack(means), np.nan)
    is_informative = all(are_informative(~some, some, units) for some in answered)
    return LevelOne(answers, np.broadcast_to(complete, known.shape), is_informative)


def out_of_bag_members(
    ensemble: Any,
    units: Units,
    given: tuple[Any, Any, Any],
    classes: npt.NDArray[Any] | None,
    method: Method,
) -> LevelOne:
    """Level-1 data of the members of one ensemble; the mean stands in where one saw the sample."""
    answered = left_out(ensemble, units, given)
    _warn_of_never_left_out(np.asarray(answered.any(axis=0)))
    answers = ensemble_answers(ensemble, units.table, classes, method)
    sums = np.zeros(answers.shape[1:])
    for answer, own in zip(answers, answered, strict=True):
        sums += answer * own[:, None]
    with np.errstate(invalid="ignore"):
        mean = sums / answered.sum(axis=0)[:, None]
    is_informative = are_informative(~answered, answered, units)
    return LevelOne(np.where(answered[:, :, None], answers, mean), answered, is_informative)


def _warn_of_never_left_out(known: Mask) -> None:
    never = int((~known).sum())
    if never:
        warn_user(
            AdvisedWarning(
                f"{never} of {len(known)} samples were seen by every member: they have no "
                "out-of-bag predictions, and the final estimator does not learn from them.",
                "More members, or smaller samples, would give them some.",
            )
        )


def check_unseen(name: str, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Reject a fitted ensemble of orfeon that was trained on these samples."""
    trained = estimator.estimator if is_frozen(estimator) else estimator
    if was_trained_on(trained, X, y, sample_weight):
        raise ValueError(
            f"{name} was fitted to these samples, so its predictions of them are not level-1 data. "
            'Give samples that are new to it, or cv="out_of_bag" if its members leave samples out.'
        )


def warn_if_never_wrong(names: list[str], answers: Floats, y: npt.NDArray[Any]) -> None:
    """Warn of fitted models without any error, which may have been trained on the samples."""
    for name, answer in zip(names, answers, strict=True):
        if answer.shape[1] == 1:
            # The mean of one target may differ from it by rounding.
            right = np.abs(answer[:, 0] - y) <= 1e-9 * np.ptp(y)
        else:
            right = answer.argmax(axis=1) == y
        if right.all():
            warn_user(
                f"{name} predicts all {len(y)} samples correctly; if it was fitted to them, the "
                "result is too optimistic. Give samples that are new to it."
            )
