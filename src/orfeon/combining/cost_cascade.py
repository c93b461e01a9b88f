"""Cascades of increasing cost: a cheap classifier answers when it is sure, otherwise the next one.

Most rows are easy, and the cheap classifier is as right about them as the dear one. How sure a
classifier is, is a probability that it is right, calibrated on its answers to examples that it has
not seen; so the confidence of one kind of classifier can be compared with that of another, and what
the cascade loses against its dearest classifier is known beforehand.

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
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval

from orfeon.combining.composition import Named
from orfeon.combining.fitting import ask
from orfeon.combining.judged import JudgedClassifiers
from orfeon.combining.out_of_fold import Split
from orfeon.combining.training_units import Units

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Rows by which the cost of asking is measured.
_ROWS = 1000


def calibrate(sureness: Floats, right: npt.NDArray[np.bool_], weights: Floats) -> Any:
    """Learn how often a classifier is right when it is so sure.

    Parameters
    ----------
    sureness : ndarray of shape (n_rows,)
        The probability that it gives to what it decides.
    right : ndarray of bool of shape (n_rows,)
        Whether it was right.
    weights : ndarray of shape (n_rows,)
        Weights of the examples.

    Returns
    -------
    IsotonicRegression
        A probability for each sureness, the higher the surer. One more example that is as sure as
        the surest and wrong keeps it below 1: no number of examples makes certain.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.cost_cascade import calibrate
    >>> sureness = np.array([0.5, 0.6, 0.9, 0.9, 0.9])
    >>> right = np.array([False, True, True, True, True])
    >>> calibrate(sureness, right, np.ones(5)).predict([0.4, 0.6, 1.0])
    array([0. , 0.8, 0.8])
    """
    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
        np.append(sureness, sureness.max()), np.append(right, False), np.append(weights, 1.0)
    )


@dataclass(frozen=True)
class Prospect:
    """What a cascade would do to examples, at any threshold.

    Parameters
    ----------
    confidence : ndarray of shape (n_levels - 1, n_rows)
        Calibrated confidence of each level but the last, which always answers.
    right : ndarray of bool of shape (n_levels, n_rows)
        Whether each level is right.
    weights : ndarray of shape (n_rows,)
        Weights of the examples.

    Examples
    --------
    Of four examples the cheap level is sure of three, and right about two of these:

    >>> import numpy as np
    >>> from orfeon.combining.cost_cascade import Prospect
    >>> prospect = Prospect(
    ...     np.array([[0.9, 0.9, 0.8, 0.5]]),
    ...     np.array([[True, True, False, False], [True, True, True, False]]),
    ...     np.ones(4),
    ... )
    >>> prospect.losses(np.array([0.0, 0.8, 0.9, 1.0]))[0]
    array([0.25, 0.25, 0.  , 0.  ])
    >>> prospect.least_threshold(0.0), prospect.answered(0.9)
    (0.9, array([0.5, 0.5]))
    """

    confidence: Floats
    right: npt.NDArray[np.bool_]
    weights: Floats

    @property
    def _surest(self) -> Floats:
        """The greatest confidence of each level and those before it."""
        return np.maximum.accumulate(self.confidence, axis=0)

    def means(self, values: npt.NDArray[Any], thresholds: Floats) -> Floats:
        """Weighted means of what the level that answers has, at some thresholds.

        Parameters
        ----------
        values : ndarray of shape (n_levels, n_rows)
            A value of each level for each example.
        thresholds : ndarray of shape (n_thresholds,)
            Confidences from which on a level answers.

        Returns
        -------
        ndarray of shape (n_thresholds,)
            Means.
        """
        weighted = self.weights * values
        sums = np.full(len(thresholds), weighted[-1].sum())
        for level, surest in enumerate(self._surest):
            # What is sure enough by then does not come to the next level.
            sums += _sum_from(surest, weighted[level] - weighted[level + 1], thresholds)
        return np.asarray(sums / self.weights.sum())

    def losses(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Accuracy that is lost against the last level, at some thresholds.

        Parameters
        ----------
        thresholds : ndarray of shape (n_thresholds,)
            Confidences from which on a level answers.

        Returns
        -------
        losses : ndarray of shape (n_thresholds,)
            Differences of weighted accuracies.
        errors : ndarray of shape (n_thresholds,)
            Their standard errors.
        """
        lost = 1.0 * self.right[-1] - self.right
        losses = self.means(lost, thresholds)
        variances = np.maximum(self.means(lost**2, thresholds) - losses**2, 0.0)
        return losses, np.sqrt(variances / self.weights.sum())

    def least_threshold(self, max_loss: float) -> float:
        """The least threshold at which the loss and its standard error are no more than allowed.

        Parameters
        ----------
        max_loss : float
            How much accuracy may be lost against the last level.

        Returns
        -------
        float
            The threshold: 1 where none but the last level may answer.
        """
        candidates = np.unique(np.append(self.confidence, [0.0, 1.0]))
        losses, errors = self.losses(candidates)
        allowed = losses + errors <= max_loss + 1e-12
        allowed[-1] = True
        return float(candidates[np.argmax(allowed)])

    def levels(self, threshold: float) -> Integers:
        """The level that answers each example.

        Parameters
        ----------
        threshold : float
            Confidence from which on a level answers.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Levels, from 0.
        """
        return np.asarray((self._surest < threshold).sum(axis=0))

    def answered(self, threshold: float) -> Floats:
        """Weighted share of the examples that each level answers.

        Parameters
        ----------
        threshold : float
            Confidence from which on a level answers.

        Returns
        -------
        ndarray of shape (n_levels,)
            Shares, which sum to 1.
        """
        sums = np.bincount(self.levels(threshold), self.weights, minlength=len(self.right))
        return np.asarray(sums / self.weights.sum())


def _sum_from(values: Floats, weights: Floats, thresholds: Floats) -> Floats:
    """Sums of the weights of values that reach each threshold."""
    order = np.argsort(values, kind="stable")
    sums = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    return sums[np.searchsorted(values[order], thresholds)]


class CostCascadeClassifier(JudgedClassifiers):
    """Classifiers from cheap to dear, of which the first that is sure answers.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The classifiers, the cheapest first; "drop" in place of one leaves it out, and one that is
        frozen (:class:`sklearn.frozen.FrozenEstimator`) is taken as it is. By default a random
        forest of 10 trees and one of 100.
    costs : list of float, optional
        What it costs to ask each classifier about a row, in any unit. By default the seconds that
        it takes, which are measured.
    max_loss : float, default=0.01
        How much accuracy may be lost against the last classifier. The threshold is the least at
        which the loss that is estimated out of fold, and its standard error, are not more.
    confidence : float, optional
        In place of ``max_loss``: a classifier answers if it is right with at least this
        probability, of all rows of which it is as sure. With 0 the first answers always, with 1 the
        last.
    cv : int, splitter or iterable of splits, default=5
        Folds by which confidences are calibrated.
    n_jobs : int, optional
        Classifiers that are trained at once. The cascade does not depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState or None, default=None
        Fixes everything but measured costs, also every ``random_state`` inside that is None.

    Attributes
    ----------
    estimators_ : list of classifiers
        Fitted to all the examples.
    named_estimators_ : Bunch
        The same by name.
    threshold_ : float
        Confidence from which on a classifier answers.
    calibrators_ : list of IsotonicRegression
        For each classifier but the last: from the probability that it gives to what it decides, to
        the probability that it is right.
    answered_ : ndarray of shape (n_estimators,)
        Share of the rows that each classifier answers, as estimated out of fold.
    asked_ : ndarray of shape (n_estimators,)
        Share of the rows that it is asked about.
    costs_ : ndarray of shape (n_estimators,)
        Cost of asking each about a row.
    expected_cost_ : float
        Cost of a row.
    saving_ : float
        Share of the cost of the last classifier that is saved by not asking it about all rows.
    expected_loss_ : float
        Accuracy that is lost against it, as estimated out of fold; negative where some is gained.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of attributes.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    See Also
    --------
    CascadeClassifier : Each classifier sees what those before it say.
    early_decision : Stops asking the members of one ensemble.

    Notes
    -----
    One threshold on calibrated confidences serves for all classifiers. The cost of a row falls with
    it, so that the least threshold that is allowed is the cheapest, whatever the costs are: they
    say what is saved, and change no decision.

    Examples
    --------
    >>> from orfeon.combining.cost_cascade import CostCascadeClassifier
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
        **JudgedClassifiers._parameter_constraints,
        "costs": ["array-like", None],
        "max_loss": [Interval(Real, 0.0, 1.0, closed="both")],
        "confidence": [Interval(Real, 0.0, 1.0, closed="both"), None],
    }

    threshold_: float
    calibrators_: list[Any]
    answered_: Floats
    asked_: Floats
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
                f"costs={self.costs!r} is not allowed: a number for each of the {len(members)} "
                "estimators is."
            )
        if costs.dtype.kind not in "iuf" or not (np.isfinite(costs) & (costs > 0)).all():
            raise ValueError(f"costs={self.costs!r} is not allowed: finite positive numbers are.")
        if (np.diff(costs) < 0).any():
            raise ValueError(
                f"costs={self.costs!r} is not allowed: estimators go from cheap to dear, and costs "
                "do not fall."
            )

    # -- fitting -------------------------------------------------------------------------------

    def _judge(
        self,
        answers: Floats,
        units: Units,
        splits: Sequence[Split],
        after: Callable[[], object],
    ) -> None:
        right = answers.argmax(axis=2) == units.y
        sureness = answers[:-1].max(axis=2)
        self.calibrators_ = [
            calibrate(sure, is_right, units.weights)
            for sure, is_right in zip(sureness, right[:-1], strict=True)
        ]
        confidence = np.empty((len(answers) - 1, len(units)))
        for level, calibrator in enumerate(self.calibrators_):
            confidence[level] = calibrator.predict(sureness[level])
        prospect = Prospect(confidence, right, units.weights)
        self.threshold_ = (
            prospect.least_threshold(float(self.max_loss))
            if self.confidence is None
            else float(self.confidence)
        )
        self.answered_ = prospect.answered(self.threshold_)
        self.asked_ = np.cumsum(self.answered_[::-1])[::-1]
        self.expected_loss_ = float(prospect.losses(np.array([self.threshold_]))[0][0])
        self.costs_ = self._measure(units.table) if self.costs is None else _floats(self.costs)
        self.expected_cost_ = float((self.asked_ * self.costs_).sum())
        self.saving_ = 1.0 - self.expected_cost_ / float(self.costs_[-1])

    def _measure(self, table: Any) -> Floats:
        """Seconds for each row that it takes to ask each classifier."""
        n_rows = min(table.shape[0], _ROWS)
        rows = _safe_indexing(table, np.arange(n_rows))
        seconds = []
        for estimator in self.estimators_:
            ask(estimator, rows, self.classes_, "predict_proba")  # some compile at first
            begin = time.perf_counter()
            ask(estimator, rows, self.classes_, "predict_proba")
            seconds.append(max(time.perf_counter() - begin, 1e-9) / n_rows)
        return np.array(seconds)

    # -- asking --------------------------------------------------------------------------------

    def _answer(self, X: Any) -> tuple[Floats, Integers]:
        """Class probabilities, and the levels that give them; no level is asked in vain."""
        rows = self._rows(X)
        n_rows = rows.shape[0]
        shares, levels = np.empty((n_rows, len(self.classes_))), np.empty(n_rows, np.int64)
        left = np.arange(n_rows)
        for level, estimator in enumerate(self.estimators_):
            asked = rows if len(left) == n_rows else _safe_indexing(rows, left)
            said = ask(estimator, asked, self.classes_, "predict_proba")
            sure = np.ones(len(left), dtype=bool)
            if level < len(self.calibrators_):
                confidence = self.calibrators_[level].predict(said.max(axis=1))
                sure = confidence >= self.threshold_
            shares[left[sure]], levels[left[sure]] = said[sure], level
            left = left[~sure]
            if not len(left):
                break
        return shares, levels

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the first classifier that is sure.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._answer(X)[0]

    def answer_level(self, X: Any) -> Integers:
        """Which classifier answers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Indices into ``estimators_``.
        """
        return self._answer(X)[1]


def _floats(costs: Any) -> Floats:
    return np.asarray(costs, dtype=np.float64)
