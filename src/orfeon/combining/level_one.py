"""Level-1 data: what models say of samples that they have not seen, for another to learn from.

There are three honest sources. Out of fold, the models are trained again for each fold
(:mod:`orfeon.combining.out_of_fold`). Out of bag, an ensemble whose members leave samples out is
trained once, and each sample is told by the members that left it out. And models that are fitted
already may be asked about samples that are new to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.base import class_codes
from orfeon.combining.fitting import Method, is_frozen
from orfeon.combining.training_units import Units, can_be_learnt_from
from orfeon.ensembles.ensemble import was_trained_on
from orfeon.members import adapt
from orfeon.members.adapter import NoOutOfBagError
from orfeon.utils.scikit_learn import _num_samples, _safe_indexing
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import AdvisedWarning, warn_user

#: Numbers that the members of an ensemble are asked for in one go.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class LevelOne:
    """What members say of the training samples, without having seen them."""

    answers: Floats
    answered: Mask
    tells: bool = True

    @classmethod
    def of_all(cls, answers: Floats, *, tells: bool = True) -> LevelOne:
        """Answers of members that have seen none of the samples."""
        return cls(answers, np.ones(answers.shape[:2], dtype=bool), tells)

    @property
    def known(self) -> Mask:
        """Which samples some member tells."""
        return np.asarray(self.answered.any(axis=0))


def check_members(name: str, ensemble: Any) -> None:
    """Refuse a fitted model whose members cannot be asked one by one, by its name."""
    try:
        adapt(ensemble)
    except TypeError as error:
        raise TypeError(
            f'{name} has no members that leave samples out, as cv="out_of_bag" needs: {error}'
        ) from error


def ensemble_answers(
    ensemble: Any, X: Any, classes: npt.NDArray[Any] | None, method: Method
) -> Floats:
    """What each member of a fitted ensemble says."""
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
    """Mean of what the members of a fitted ensemble say, or of those that are heard."""
    n_rows, n_outputs = _num_samples(X), 1 if classes is None else len(classes)
    sums = np.zeros((n_rows, n_outputs))
    n_members = adapt(ensemble).n_members
    width = max(1, _AT_ONCE // (n_members * n_outputs))
    for first in range(0, n_rows, width):
        span = slice(first, min(first + width, n_rows))
        some = X if width >= n_rows else _safe_indexing(X, np.arange(span.start, span.stop))
        answers = ensemble_answers(ensemble, some, classes, method)
        # Member by member, so that rounding is the same however many rows are asked about.
        for t, answer in enumerate(answers):
            sums[span] += answer if answered is None else answer * answered[t, span, None]
    counts = np.full(n_rows, n_members) if answered is None else answered.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts[:, None])


def left_out(ensemble: Any, units: Units, given: tuple[Any, Any, Any]) -> Mask:
    """Which samples each member of a fitted ensemble has not seen, nor a copy of them."""
    members = adapt(ensemble)
    samples = given
    if not is_frozen(ensemble):
        weights = None if (units.weights == 1.0).all() else units.weights
        samples = (units.table, units.labels, weights)
    try:
        out = members.out_of_bag(*samples)
    except NoOutOfBagError as error:
        # What can be done instead is another thing here than where members are ordered.
        raise ValueError(f"{error.what}. Use folds, such as cv=5.") from error
    return out[:, units.rows] if is_frozen(ensemble) else out


def out_of_bag_means(
    ensembles: list[Any],
    units: Units,
    given: tuple[Any, Any, Any],
    classes: npt.NDArray[Any] | None,
    method: Method,
) -> LevelOne:
    """Level-1 data of ensembles: each sample is told by those members that left it out."""
    answered = [left_out(ensemble, units, given) for ensemble in ensembles]
    means = [
        ensemble_means(ensemble, units.table, classes, method, some)
        for ensemble, some in zip(ensembles, answered, strict=True)
    ]
    told = np.stack([some.any(axis=0) for some in answered])
    # All of them or none, so that the final estimator learns from complete rows.
    whole: Mask = np.asarray(told.all(axis=0))
    _warn_of_those_always_seen(whole)
    answers = np.where(whole[:, None], np.stack(means), np.nan)
    tells = all(can_be_learnt_from(~some, some, units) for some in answered)
    return LevelOne(answers, np.broadcast_to(whole, told.shape), tells)


def out_of_bag_members(
    ensemble: Any,
    units: Units,
    given: tuple[Any, Any, Any],
    classes: npt.NDArray[Any] | None,
    method: Method,
) -> LevelOne:
    """Level-1 data of the members of one ensemble, each of which is heard where it was left out."""
    answered = left_out(ensemble, units, given)
    _warn_of_those_always_seen(np.asarray(answered.any(axis=0)))
    answers = ensemble_answers(ensemble, units.table, classes, method)
    sums = np.zeros(answers.shape[1:])
    for answer, own in zip(answers, answered, strict=True):
        sums += answer * own[:, None]
    with np.errstate(invalid="ignore"):
        mean = sums / answered.sum(axis=0)[:, None]
    tells = can_be_learnt_from(~answered, answered, units)
    return LevelOne(np.where(answered[:, :, None], answers, mean), answered, tells)


def _warn_of_those_always_seen(told: Mask) -> None:
    never = int((~told).sum())
    if never:
        warn_user(
            AdvisedWarning(
                f"{never} of {len(told)} samples were seen by every member: they have no "
                "out-of-bag answers, and the final estimator does not learn from them.",
                "More members, or smaller samples, would give them some.",
            )
        )


def check_unseen(name: str, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Refuse a fitted ensemble of orfeon that was trained on these very samples."""
    trained = estimator.estimator if is_frozen(estimator) else estimator
    if was_trained_on(trained, X, y, sample_weight):
        raise ValueError(
            f"{name} was fitted to these very samples: its predictions are not level-1 data. "
            'Give samples that are new to it, or cv="out_of_bag" where its members leave samples '
            "out."
        )


def warn_of_memory(names: list[str], answers: Floats, y: npt.NDArray[Any]) -> None:
    """Warn of fitted members without any error: they may have memorised their samples."""
    for name, answer in zip(names, answers, strict=True):
        if answer.shape[1] == 1:
            # The mean of one target may differ from it by rounding.
            right = np.abs(answer[:, 0] - y) <= 1e-9 * np.ptp(y)
        else:
            right = answer.argmax(axis=1) == y
        if right.all():
            warn_user(
                f"{name} is right about all {len(y)} samples, as one is that was fitted to them; "
                "what it says is taken for answers about samples that are new to it."
            )
