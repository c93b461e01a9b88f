"""Calibrated probabilities of gradient boosting, learnt from folds that rounds did not see."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from orfeon.boosting.gradient import Sample
from orfeon.boosting.losses import Loss
from orfeon.boosting.offsets import has_model, is_fitted
from orfeon.data.training_set import MAX_UNITS, TrainingSet, are_counts
from orfeon.ensembles.probabilities import fold_of_units
from orfeon.utils.types import Floats, Integers


class Units(NamedTuple):
    """The samples to calibrate on, copies one by one: they need not share a fold."""

    sample: Integers  # merged with its copies, ascending
    weight: Floats  # without class weights
    row: Integers
    n_given: int

    @classmethod
    def of(cls, data: TrainingSet, place: Integers) -> Self:
        """``place`` is the sample that each row became."""
        order = np.lexsort((data.rows, place))
        weight = data.sample_weights[order]
        if are_counts(weight) and weight.sum() <= max(MAX_UNITS, 10 * len(weight)):
            order = np.repeat(order, weight.astype(np.int64))
            weight = np.ones(len(order))
        return cls(place[order], weight, data.rows[order], data.n_given)


def check_calibrate(model: Any) -> None:
    """Reject a model to start from that would have seen the folds."""
    if model._must_calibrate and has_model(model.init) and not is_fitted(model.init):
        raise ValueError(
            f"calibrate={model.calibrate!r} needs a fitted init, but init={model.init} is not; use "
            "calibrate=None."
        )


def calibrate_by_folds(model: Any, sample: Sample, loss: Loss, units: Units) -> None:
    """Calibrate a fitted model by as many rounds without each of a few folds."""
    y = sample.y[units.sample]
    fold = fold_of_units(y, units.weight, model._sequence)
    n = len(sample.y)
    total: Floats = np.bincount(units.sample, weights=units.weight, minlength=n).astype(float)
    shares = np.empty((len(y), model.n_classes_))
    for number in np.unique(fold):
        own = np.flatnonzero(fold == number)
        held: Floats = np.bincount(units.sample[own], units.weight[own], n).astype(float)
        rounds, validation = model._fold(
            _part(sample, total - held, total), sample.take(held > 0), loss, model._n_threads
        )
        for _ in range(model.n_estimators_):
            validation.update(next(rounds))
        found = loss.probabilities(validation.scores.T)  # type: ignore[attr-defined]
        shares[own] = found[(np.cumsum(held > 0) - 1)[units.sample[own]]]
    model._calibrate_shares(shares, y, units.weight, fold, units.row, units.n_given)


def _part(sample: Sample, weight: Floats, total: Floats) -> Sample:
    """A part of the weight of each sample."""
    some = np.flatnonzero(weight > 0)
    part = sample.take(weight > 0)
    weights = part.weights * (weight[some] / total[some])
    return part._replace(weights=weights, copies=None if part.copies is None else weight[some])
