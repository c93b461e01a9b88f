"""Cascades of increasing cost: a cheap classifier answers when it is sure, otherwise the next one.

Most rows are easy, and the cheap classifier predicts them as well as the expensive one. The
confidence of a classifier is its probability of being right, calibrated on samples that it has not
seen. So confidences of different kinds of classifiers can be compared, and the accuracy that the
cascade loses against its most expensive classifier can be estimated in advance.

References
----------
Gama and Brazdil (2000). Cascade generalization. Machine Learning 41(3), 315-343.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from orfeon.combining.calibrated_members import CalibratedClassifiers
from orfeon.combining.cascade_plan import Prospect, calibrate, calibrate_by_others, make_plan
from orfeon.combining.composition import Named
from orfeon.combining.fitting import query
from orfeon.combining.out_of_fold import Split
from orfeon.combining.training_units import Units
from orfeon.utils import saved
from orfeon.utils.scikit_learn import Interval, _safe_indexing
from orfeon.utils.types import Floats, Integers
from orfeon.utils.user_warning import warn_user

#: Rows by which the cost of asking is measured, and how often.
_ROWS, _TIMES = 1000, 3
#: Measured costs are not exact, and differ from one time to the next: only if they come to more
#: than twice those of the last classifier alone, as when the order is wrong, is there a warning.
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
class CostCascadeClassifier(CalibratedClassifiers):
    """Classifiers from cheap to expensive; the first one that is confident enough decides.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The classifiers, the cheapest first; "drop" in place of one leaves it out, and one that is
        frozen (:class:`sklearn.frozen.FrozenEstimator`) is taken as it is. By default a random
        forest of 10 trees and one of 100.
    costs : list of float, optional
        Cost of one prediction of each classifier, in any unit, in ascending order. Classifiers that
        would cost more than they save are not used. By default the measured seconds, which may be
        in any order and change no decision.
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
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything but measured costs, also every ``random_state`` inside that is None.

    Attributes
    ----------
    estimators_ : list of classifiers
        Fitted to all the samples.
    named_estimators_ : Bunch
        The same by name.
    threshold_ : float
        Confidence from which on a classifier answers.
    calibrators_ : list of IsotonicRegression
        For each classifier but the last: from the probability that it gives to what it decides, to
        the probability that it is right. They are learnt from the answers of all folds.
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
        Cost of a row.
    saving_ : float
        Share of the cost of the last classifier that is saved by not asking it about all rows;
        negative where the cascade costs more. Of that there is a warning, by measured costs only
        where it costs more than twice as much.
    expected_loss_ : float
        Accuracy that is lost against it, as estimated out of fold; negative where some is gained.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    See Also
    --------
    CascadeClassifier : Each classifier sees what those before it say.
    early_decision : Stops asking the members of one ensemble.

    Notes
    -----
    One threshold on calibrated confidences serves for all classifiers. The cost of a row falls with
    it, so that the least threshold that is allowed is the cheapest, whatever the costs are. They
    decide which classifiers are worth asking at all, if they are given; measured ones do not, for
    the cascade would depend on what else the machine was doing.

    All estimates are out of fold: predictions come from classifiers that have not seen the sample,
    and their confidences are calibrated on the other folds. The threshold and the classifiers to
    use are then chosen on all of these samples, to which ``expected_loss_`` and ``saving_`` refer:
    the estimates are optimistic by that choice, and the standard error within ``max_loss`` is there
    to make up for it. With ``confidence`` nothing is chosen.

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
                f"costs={self.costs!r} is not allowed: a number for each of the {len(members)} "
                "estimators is."
            )
        if costs.dtype.kind not in "iuf" or not (np.isfinite(costs) & (costs > 0)).all():
            raise ValueError(f"costs={self.costs!r} is not allowed: finite positive numbers are.")
        if (np.diff(costs) < 0).any():
            raise ValueError(
                f"costs={self.costs!r} is not allowed: estimators go from cheap to expensive, so "
                "costs must not decrease."
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
        for level, sure in enumerate(sureness):
            confidence[level] = calibrate_by_others(sure, right[level], units.weights, splits)
        prospect = Prospect(confidence, right, units.weights)
        plan = make_plan(
            prospect,
            [float(one.predict([1.0])[0]) for one in self.calibrators_],
            max_loss=float(self.max_loss),
            confidence=None if self.confidence is None else float(self.confidence),
            costs=None if self.costs is None else _floats(self.costs),
        )
        self.levels_, self.threshold_ = np.array(plan.levels), plan.threshold
        self._foresee(prospect.of(plan.levels))
        self.costs_ = self._measure(units.table) if self.costs is None else _floats(self.costs)
        self.expected_cost_ = float((self.queried_ * self.costs_).sum())
        self.saving_ = 1.0 - self.expected_cost_ / float(self.costs_[-1])
        if splits:
            self._warn(plan.not_paid)

    def _foresee(self, prospect: Prospect) -> None:
        """What the levels that are asked would do to the samples."""
        self.answered_, self.queried_ = np.zeros((2, len(self.estimators_)))
        self.answered_[self.levels_] = prospect.answered(self.threshold_)
        self.queried_[self.levels_] = prospect.queried(self.threshold_)
        self.expected_loss_ = float(prospect.losses(np.array([self.threshold_]))[0][0])

    def _warn(self, not_paid: Sequence[int]) -> None:
        """Warn about a cascade that does not pay, in whole or in part."""
        names = [name for name, one in self.named_estimators_.items() if not isinstance(one, str)]
        if not_paid:
            warn_user(
                f"costs={self.costs!r}: {' and '.join(names[level] for level in not_paid)} would "
                f"cost more than is saved with max_loss={self.max_loss}, and will not be used."
            )
        if self.saving_ < (-_TOLERANCE if self.costs is None else -1e-12):
            how = "measured" if self.costs is None else "given"
            warn_user(
                f"the cascade costs {-self.saving_:.0%} more than {names[-1]} alone, by the costs "
                f"{how}: {self.costs_.tolist()}. Allow more max_loss or less confidence, or leave "
                "out what is hardly cheaper."
            )

    def _measure(self, table: Any) -> Floats:
        """Seconds for each row that it takes to ask each classifier."""
        # Always as many, for what a call costs besides its rows would hide what they cost.
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

    # -- asking --------------------------------------------------------------------------------

    def _answer(self, X: Any) -> tuple[Floats, Integers]:
        """Class probabilities, and the levels that give them; no level is asked in vain."""
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
        """Class probabilities of the first classifier that is sure.

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
        """Which classifier answers.

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
