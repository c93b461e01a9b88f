"""From the shares of a vote to probabilities: smoothed, or calibrated as part of ``fit``.

A calibrator is learnt from shares of members that did not see the samples: those left out, or else
folds, each predicted by an ensemble trained without it. How well it does is measured on folds of
these samples, each calibrated by the others.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.base import class_codes
from orfeon.calibration.calibrator import Calibrator
from orfeon.calibration.methods import (
    METHODS,
    Method,
    cross_fitted,
    cross_fitted_log_loss,
    learn,
    learn_without_folds,
)
from orfeon.calibration.samples import ScoredSamples
from orfeon.calibration.smoothing import SMOOTHING, keep_decision, smooth
from orfeon.data.training_set import MAX_UNITS, are_counts, relative_weights, rows_with_copies
from orfeon.ensembles.decision import N_FOLDS, CombinesMixin, Folds
from orfeon.ensembles.holdout import deal_folds, hash_samples
from orfeon.ensembles.perturbation import member_generator
from orfeon.utils import saved
from orfeon.utils.scikit_learn import StrOptions, _safe_indexing
from orfeon.utils.seeding import Purpose
from orfeon.utils.types import Floats, Integers

CALIBRATE: dict[str, list[Any]] = {"calibrate": [StrOptions(set(METHODS)), None]}
#: Share of the members of an ensemble that is trained without a fold, so that all folds cost about
#: one more fit; all, where each member depends on those before.
_SHARE_WITHOUT_FOLD = 0.2
#: What was measured with a calibrator.
_MEASURED = ("oob_probabilities_", "oob_log_loss_")


@saved.attributes(
    calibrator_=saved.optional(saved.one_of(saved.none, saved.subclass("Calibrator"))),
    oob_probabilities_=saved.optional(saved.matrix),
    oob_log_loss_=saved.optional(saved.anything),
)
class CalibratedMixin:
    """A classifier with a calibrator that is learnt in ``fit``, if ``calibrate`` is given."""

    calibrate: Method | None = None
    calibrator_: Calibrator | None = None
    oob_probabilities_: Floats
    oob_log_loss_: float

    @property
    def _must_calibrate(self) -> bool:
        return self.calibrate is not None and getattr(self, "n_classes_", 0) > 1

    def _forget_calibrator(self) -> None:
        self.calibrator_ = None
        for name in _MEASURED:
            self.__dict__.pop(name, None)

    def _drop_calibrator(self) -> None:
        """Some of the members need another calibrator."""
        if self.calibrator_ is not None:
            self.calibrate = None
        self._forget_calibrator()

    def _calibrate_shares(
        self,
        shares: Floats,
        y: Integers,
        weights: Floats,
        fold: Integers,
        rows: Integers,
        n_given: int,
    ) -> None:
        """Learn from smoothed shares by members that did not see the samples; NaN where none."""
        assert self.calibrate is not None
        samples = ScoredSamples.of(shares, y, relative_weights(weights), fold)
        self.calibrator_ = learn(samples, self.calibrate)
        others = learn_without_folds(samples, self.calibrate)
        found = cross_fitted(others, shares, fold)
        self.oob_probabilities_ = mean_of_copies(found, rows, n_given)
        self.oob_log_loss_ = cross_fitted_log_loss(samples, self.calibrate, others)


def fold_of_units(y: Integers, weights: Floats, sequence: np.random.SeedSequence) -> Integers:
    """A fold for each sample, and for each copy of it, in their order."""
    rng = member_generator(sequence, Purpose.CALIBRATING)
    units = np.arange(len(y), dtype=np.uint64)
    return deal_folds(units, y, weights, N_FOLDS, rng, by_class=True)


@saved.attributes(_smoothing=saved.optional(saved.number()))
class ProbabilitiesMixin(CalibratedMixin, CombinesMixin):
    """A classifier whose shares become probabilities."""

    #: Votes added to the members'; models of older versions have none.
    _smoothing: float | None = None

    def _raw_shares(self, X: Any) -> Floats:
        """Shares of the classes by the rule, neither smoothed nor calibrated."""
        raise NotImplementedError

    def _smoothed(self, shares: Floats, n_members: float | Floats) -> Floats:
        """Shares of some of the members that are neither 0 nor 1."""
        if self._smoothing is None or self._n_outputs < 2:
            return shares
        return smooth(shares, n_members, self._smoothing)

    def _uncalibrated(self, shares: Floats, n_members: float | Floats) -> Floats:
        """The same, as probabilities without a calibrator; calibrators learn from the others."""
        return self._smoothed(shares, n_members)

    def _as_probabilities(self, shares: Floats, n_members: int) -> Floats:
        """Probabilities that some of the members give."""
        if self.calibrator_ is not None:
            return self.calibrator_.probabilities(self._smoothed(shares, n_members))
        smoothed = self._uncalibrated(shares, n_members)
        if smoothed is shares:
            return shares
        return keep_decision(smoothed, shares.argmax(axis=1))

    def _decided(self, shares: Floats, n_members: int) -> npt.NDArray[Any]:
        """The classes of the largest shares, or of the largest probabilities if calibrated."""
        if self.calibrator_ is not None:
            shares = self._as_probabilities(shares, n_members)
        return np.asarray(self.classes_[np.argmax(shares, axis=1)])  # type: ignore[attr-defined]

    # -- learning ------------------------------------------------------------------------------

    def _forget_decider(self) -> None:
        super()._forget_decider()
        self._smoothing = SMOOTHING
        self._forget_calibrator()

    def _keep_decider(self, index: Integers) -> None:
        super()._keep_decider(index)
        self._drop_calibrator()

    def _learn_by_folds(self, X: Any, y: Any, sample_weight: Any) -> None:
        super()._learn_by_folds(X, y, sample_weight)
        if self._must_calibrate and self.calibrator_ is None:
            self._calibrate_by_folds(X, y, sample_weight)

    def _calibrate_by_folds(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Calibrate shares by ensembles that are each trained without a fold."""
        reader: Any = copy(self)
        X, y, weights, rows, n_given = reader._read_samples(X, y, sample_weight)
        X = X if hasattr(X, "shape") else np.asarray(X)
        codes = class_codes(y, self.classes_)  # type: ignore[attr-defined]
        if are_counts(weights) and weights.sum() <= max(MAX_UNITS, 10 * len(weights)):
            units = rows_with_copies(weights)
            weights = np.ones(len(units))
        else:
            units = np.arange(len(weights))
        # In an order that depends on their content only.
        order = np.lexsort((weights, hash_samples(X, codes)[units]))
        units, weights = units[order], weights[order]
        codes = codes[units]
        fold = fold_of_units(codes, weights, self._sequence)
        folds = Folds(_safe_indexing(X, units), y[units], codes, weights, fold)
        shares = np.full((len(units), self._n_outputs), np.nan)
        other = self._without_learning()
        if "combine" in other.get_params(deep=False):
            other.set_params(combine=self.combine)
        if not reader._is_sequential:
            n_members = max(round(_SHARE_WITHOUT_FOLD * len(self.members_)), 1)
            other.set_params(**{reader._size_parameter: n_members})
        for fitted, rest, test in folds.each(other):
            found = fitted._smoothed(fitted._raw_shares(rest), len(fitted.members_))
            place = class_codes(fitted.classes_, self.classes_)  # type: ignore[attr-defined]
            if len(place) < self._n_outputs:  # a class is in one fold only
                whole = np.zeros((len(found), self._n_outputs))
                whole[:, place] = found
                found = self._smoothed(whole, len(fitted.members_))
            shares[test] = found
        self._calibrate_shares(shares, codes, weights, fold, rows[units], n_given)


def mean_of_copies(probabilities: Floats, rows: Integers, n_given: int) -> Floats:
    """Means over the copies of each row that have any; NaN for rows without."""
    known = ~np.isnan(probabilities[:, 0])
    sums = np.zeros((n_given, probabilities.shape[1]))
    np.add.at(sums, rows[known], probabilities[known])
    counts = np.bincount(rows[known], minlength=n_given).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.where(counts > 0, counts, np.nan)[:, None])
