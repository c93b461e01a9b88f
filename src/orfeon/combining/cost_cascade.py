"""Cascades of increasing cost: a cheap classifier answers when it is sure, otherwise the next one.

Most rows are easy, and the cheap classifier predicts them as well as the expensive one. The
confidence of a classifier is its probability of being right, calibrated on samples that it has not
seen. So confidences of different kinds of classifiers can be compared, and the accuracy that the
cascade loses against its most expensive classifier can be estimated in advance.

References
----------
Gama and Brazdil (2000). Cascade generalization. Machine Learning 41(3), 315-343.
Zadrozny and Elkan (2002). Transforming classifier scores into accurate multiclass probability
estimates. KDD 2002, 694-699.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import IsotonicRegression

from orfeon.combining.composition import COMPOSITION_TEXTS, CalibratedClassifiers, Named
from orfeon.combining.fitting import query
from orfeon.combining.out_of_fold import Split, Units
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, _safe_indexing
from orfeon.utils.types import Floats, Integers, Mask
from orfeon.utils.user_warning import warn_user

#: Rows on which the cost of a prediction is measured, and how often.
_ROWS, _TIMES = 1000, 3
#: Measured costs vary: a cascade must cost this much more than its last classifier for a warning.
_TOLERANCE = 1.0


@saved.attributes(
    calibrators_=saved.list_of(saved.estimator),
    levels_=saved.indices,
    threshold_=saved.number(),
    answered_=saved.floats,
    queried_=saved.in_files("asked_", saved.floats),
    costs_=saved.floats,
    expected_loss_=saved.number(),
    expected_cost_=saved.number(),
    saving_=saved.number(),
)
@documented(COMPOSITION_TEXTS)
class CostCascadeClassifier(CalibratedClassifiers):
    """Classifiers from cheap to expensive; the first one that is confident enough decides.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The classifiers, the cheapest first; "drop" leaves one out, and a
        :class:`sklearn.frozen.FrozenEstimator` is used as it is. By default a random
        forest of 10 trees and one of 100.
    costs : list of float, optional
        Cost of one prediction of each classifier, in any unit, in ascending order. Classifiers that
        would cost more than they save are not used. By default the measured seconds, which may be
        in any order and change no decision.
    max_loss : float, default=0.01
        How much accuracy may be lost compared with the last classifier. The threshold is the lowest
        at which the estimated out-of-fold loss plus its standard error stays within this limit.
    confidence : float, optional
        The threshold itself, in place of ``max_loss``: a classifier decides where its calibrated
        probability of being right is at least this. With 0 the first always decides, with 1 the
        last.
    cv : int, splitter or iterable of splits, default=5
        Folds for the calibration of confidences.
    <running>

    Attributes
    ----------
    <fitted>
    threshold_ : float
        Confidence at which a classifier decides.
    calibrators_ : list of IsotonicRegression
        For each classifier but the last: maps the probability of its predicted class to the
        probability that it is right; learnt from the out-of-fold predictions of all folds.
    levels_ : ndarray of int
        Indices of the classifiers that are used, in their order. The others are never confident
        enough, or cost more than they save.
    answered_ : ndarray of shape (n_estimators,)
        Share of the rows that each classifier decides, as estimated out of fold.
    queried_ : ndarray of shape (n_estimators,)
        Share of the rows that each classifier predicts.
    costs_ : ndarray of shape (n_estimators,)
        Cost of one prediction of each classifier.
    expected_cost_ : float
        Expected cost of predicting a row.
    saving_ : float
        Share of the last classifier's cost that is saved by not using it on all rows. It is
        negative, with a warning, where the cascade costs more (by measured costs: more than twice
        as much).
    expected_loss_ : float
        Accuracy lost compared with the last classifier, estimated out of fold; negative for a gain.
    <classes>
    <features>

    See Also
    --------
    CascadeClassifier : Each classifier sees the predictions of those before it.
    early_decision : Stops the vote of one ensemble early.

    Notes
    -----
    One threshold on calibrated confidences serves all classifiers. The cost of a row falls with it,
    so the lowest allowed threshold is the cheapest, whatever the costs. Given costs also decide
    which classifiers are used at all; measured ones do not, so that the cascade does not depend on
    what else the machine was doing.

    All estimates are out of fold: predictions come from classifiers that have not seen the sample,
    and confidences are calibrated on the other folds. The threshold and the classifiers are then
    chosen on these samples, which makes ``expected_loss_`` and ``saving_`` optimistic; the standard
    error within ``max_loss`` compensates for it. With ``confidence`` nothing is chosen.

    Examples
    --------
    >>> from orfeon import CostCascadeClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(1000, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> model = CostCascadeClassifier(costs=[1, 10], random_state=0).fit(X, y)
    >>> small, large = model.estimators_
    >>> [round(one.score(X_test, y_test), 3) for one in (small, large, model)]
    [0.803, 0.835, 0.826]
    >>> round(model.saving_, 2)
    0.59
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CalibratedClassifiers._parameter_constraints,
        "costs": ["array-like", None],
        "max_loss": [Interval(Real, 0.0, 1.0, closed="both")],
        "confidence": [Interval(Real, 0.0, 1.0, closed="both"), None],
    }

    threshold_: float
    calibrators_: list[Any]
    levels_: Integers
    answered_: Floats
    queried_: Floats
    costs_: Floats
    expected_cost_: float
    saving_: float
    expected_loss_: float

    def __init__(
        self,
        estimators: Any = None,
        *,
        costs: Any = None,
        max_loss: float = 0.01,
        confidence: float | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.costs = costs
        self.max_loss = max_loss
        self.confidence = confidence
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.ensembles import RandomForestClassifier

        return [
            ("small", RandomForestClassifier(n_estimators=10)),
            ("large", RandomForestClassifier(n_estimators=100)),
        ]

    def _check_settings(self, members: Named) -> None:
        if self.costs is None:
            return
        costs = np.asarray(self.costs)
        if costs.shape != (len(members),):
            raise ValueError(
                f"costs={self.costs!r} is not allowed: give one number for each of the "
                f"{len(members)} estimators."
            )
        if costs.dtype.kind not in "iuf" or not (np.isfinite(costs) & (costs > 0)).all():
            raise ValueError(f"costs={self.costs!r} is not allowed: give finite positive numbers.")
        if (np.diff(costs) < 0).any():
            raise ValueError(
                f"costs={self.costs!r} is not allowed: estimators go from cheap to expensive, so "
                "costs must not decrease."
            )

    # -- fitting -------------------------------------------------------------------------------

    def _learn_from_answers(
        self,
        answers: Floats,
        units: Units,
        splits: Sequence[Split],
        after: Callable[[], object],
    ) -> None:
        right = answers.argmax(axis=2) == units.y
        scores = answers[:-1].max(axis=2)
        self.calibrators_ = [
            calibrate(sure, is_right, units.weights)
            for sure, is_right in zip(scores, right[:-1], strict=True)
        ]
        confidence = np.empty((len(answers) - 1, len(units)))
        for level, sure in enumerate(scores):
            confidence[level] = calibrate_out_of_fold(sure, right[level], units.weights, splits)
        estimates = CascadeEstimates(confidence, right, units.weights)
        plan = make_plan(
            estimates,
            [float(one.predict([1.0])[0]) for one in self.calibrators_],
            max_loss=float(self.max_loss),
            confidence=None if self.confidence is None else float(self.confidence),
            costs=None if self.costs is None else _floats(self.costs),
        )
        self.levels_, self.threshold_ = np.array(plan.levels), plan.threshold
        self._keep_estimates(estimates.of(plan.levels))
        self.costs_ = self._measure(units.table) if self.costs is None else _floats(self.costs)
        self.expected_cost_ = float((self.queried_ * self.costs_).sum())
        self.saving_ = 1.0 - self.expected_cost_ / float(self.costs_[-1])
        if splits:
            self._warn(plan.uneconomical)

    def _keep_estimates(self, estimates: CascadeEstimates) -> None:
        """Keep the estimated shares and loss of the levels that are used."""
        self.answered_, self.queried_ = np.zeros((2, len(self.estimators_)))
        self.answered_[self.levels_] = estimates.answered(self.threshold_)
        self.queried_[self.levels_] = estimates.queried(self.threshold_)
        self.expected_loss_ = float(estimates.losses(np.array([self.threshold_]))[0][0])

    def _warn(self, uneconomical: Sequence[int]) -> None:
        """Warn about a cascade that costs more than it saves, or of which a part does."""
        names = [name for name, one in self.named_estimators_.items() if not isinstance(one, str)]
        if uneconomical:
            left_out = " and ".join(names[level] for level in uneconomical)
            warn_user(
                f"costs={self.costs!r}: {left_out} would cost more than is saved with "
                f"max_loss={self.max_loss}, and will not be used."
            )
        if self.saving_ < (-_TOLERANCE if self.costs is None else -1e-12):
            how = "measured" if self.costs is None else "given"
            warn_user(
                f"the cascade costs {-self.saving_:.0%} more than {names[-1]} alone, by the costs "
                f"{how}: {self.costs_.tolist()}. Raise max_loss, lower confidence, or leave out "
                "classifiers that are hardly cheaper."
            )

    def _measure(self, table: Any) -> Floats:
        """Seconds that a prediction of each classifier takes per row."""
        # Always as many rows, since the overhead of a call depends on their number.
        rows = _safe_indexing(table, np.resize(np.arange(table.shape[0]), _ROWS))
        seconds = []
        for estimator in self.estimators_:
            query(estimator, rows, self.classes_, "predict_proba")  # some compile at first
            times = []
            for _ in range(_TIMES):
                begin = time.perf_counter()
                query(estimator, rows, self.classes_, "predict_proba")
                times.append(time.perf_counter() - begin)
            seconds.append(max(min(times), 1e-9) / _ROWS)
        return np.array(seconds)

    # -- predicting ----------------------------------------------------------------------------

    def _answer(self, X: Any) -> tuple[Floats, Integers]:
        """Class probabilities and the levels they come from; a level predicts only its rows."""
        rows = self._rows(X)
        n_rows = rows.shape[0]
        shares, levels = np.empty((n_rows, len(self.classes_))), np.empty(n_rows, np.int64)
        left = np.arange(n_rows)
        for level in self.levels_:
            queried = rows if len(left) == n_rows else _safe_indexing(rows, left)
            answers = query(self.estimators_[level], queried, self.classes_, "predict_proba")
            sure = np.ones(len(left), dtype=bool)
            if level < len(self.calibrators_):
                confidence = self.calibrators_[level].predict(answers.max(axis=1))
                sure = confidence >= self.threshold_
            shares[left[sure]], levels[left[sure]] = answers[sure], level
            left = left[~sure]
            if not len(left):
                break
        return shares, levels

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the first classifier that is confident enough.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._answer(X)[0]

    def answer_level(self, X: Any) -> Integers:
        """Index of the classifier that decides each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Indices into ``estimators_``.
        """
        return self._answer(X)[1]


def _floats(costs: Any) -> Floats:
    return np.asarray(costs, dtype=np.float64)


def calibrate(scores: Floats, right: Mask, weights: Floats) -> Any:
    """Map the probability of a predicted class to the frequency with which it is right."""
    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
        np.append(scores, scores.max()), np.append(right, False), np.append(weights, 1.0)
    )


def calibrate_out_of_fold(
    scores: Floats, right: Mask, weights: Floats, splits: Sequence[Split]
) -> Floats:
    """Calibrated confidence of each sample, learnt from the other folds."""
    confidence = np.ones(len(scores))
    for _, test in splits:
        others = np.ones(len(scores), dtype=bool)
        others[test] = False
        calibrator = calibrate(scores[others], right[others], weights[others])
        confidence[test] = calibrator.predict(scores[test])
    return confidence


@dataclass(frozen=True, eq=False)
class CascadeEstimates:
    """What a cascade does to samples at any threshold: who decides, what is lost, what it costs.

    Scores become probabilities of being right by isotonic regression (Zadrozny and Elkan 2002).
    """

    confidence: Floats
    right: Mask
    weights: Floats

    @property
    def _surest(self) -> Floats:
        """The highest confidence up to each level."""
        return np.maximum.accumulate(self.confidence, axis=0)

    def means(self, values: npt.NDArray[Any], thresholds: Floats) -> Floats:
        """Weighted means of the values of the level that decides, at some thresholds."""
        weighted = self.weights * values
        sums = np.full(len(thresholds), weighted[-1].sum())
        for level, surest in enumerate(self._surest):
            # Samples that are confident enough by now do not reach the next level.
            sums += _sum_from(surest, weighted[level] - weighted[level + 1], thresholds)
        return np.asarray(sums / self.weights.sum())

    def losses(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Accuracy lost against the last level at some thresholds, with standard errors."""
        lost = 1.0 * self.right[-1] - self.right
        losses = self.means(lost, thresholds)
        variances = np.maximum(self.means(lost**2, thresholds) - losses**2, 0.0)
        return losses, np.sqrt(variances / self.weights.sum())

    def lowest_threshold(self, max_loss: float) -> float:
        """The lowest threshold at which loss plus standard error are within the limit."""
        candidates = np.unique(np.append(self.confidence, [0.0, 1.0]))
        losses, errors = self.losses(candidates)
        allowed = losses + errors <= max_loss + 1e-12
        allowed[-1] = True
        return float(candidates[np.argmax(allowed)])

    def levels(self, threshold: float) -> Integers:
        """The level that decides each sample."""
        return np.asarray((self._surest < threshold).sum(axis=0))

    def answered(self, threshold: float) -> Floats:
        """Weighted share of the samples that each level decides."""
        sums = np.bincount(self.levels(threshold), self.weights, minlength=len(self.right))
        return np.asarray(sums / self.weights.sum())

    def queried(self, threshold: float) -> Floats:
        """Weighted share of the samples that reach each level."""
        return np.cumsum(self.answered(threshold)[::-1])[::-1]

    def of(self, levels: Sequence[int]) -> CascadeEstimates:
        kept = list(levels)
        return CascadeEstimates(self.confidence[kept[:-1]], self.right[kept], self.weights)


@dataclass(frozen=True)
class Plan:
    """Which levels of a cascade are used, and from which confidence on they decide."""

    levels: tuple[int, ...]
    threshold: float
    uneconomical: tuple[int, ...] = ()


def make_plan(
    estimates: CascadeEstimates,
    highest: Sequence[float],
    *,
    max_loss: float,
    confidence: float | None = None,
    costs: Floats | None = None,
) -> Plan:
    """The cheapest cascade that is allowed."""

    def settle(levels: tuple[int, ...]) -> Plan:
        while True:
            threshold = 1.0  # if only the last is left
            if confidence is not None:
                threshold = confidence
            elif len(levels) > 1:
                threshold = estimates.of(levels).lowest_threshold(max_loss)
            able = tuple(one for one in levels[:-1] if highest[one] >= threshold)
            if able == levels[:-1]:
                return Plan(levels, threshold)
            levels = (*able, levels[-1])

    def cost(plan: Plan) -> float:
        queried = estimates.of(plan.levels).queried(plan.threshold)
        return float(queried @ np.asarray(costs)[list(plan.levels)])

    plan, uneconomical = settle(tuple(range(len(estimates.right)))), set[int]()
    if costs is None or confidence is not None:
        return plan
    while cost(plan) > costs[-1] * (1 + 1e-12):
        fewer = [
            settle(tuple(level for level in plan.levels if level != out))
            for out in plan.levels[:-1]
        ]
        best = min(fewer, key=cost)
        answered = estimates.of(plan.levels).answered(plan.threshold)
        uneconomical |= {
            level
            for level, share in zip(plan.levels, answered, strict=True)
            if share > 0 and level not in best.levels
        }
        plan = best
    return Plan(plan.levels, plan.threshold, tuple(sorted(uneconomical)))


def _sum_from(values: Floats, weights: Floats, thresholds: Floats) -> Floats:
    """Sum of the weights of the values at or above each threshold."""
    order = np.argsort(values, kind="stable")
    sums = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    return sums[np.searchsorted(values[order], thresholds)]
