"""Real AdaBoost: members that vote with more or less confidence.

References
----------
Schapire and Singer (1999). Improved boosting algorithms using confidence-rated predictions.
Machine Learning 37(3), 297-336.

Friedman, Hastie and Tibshirani (2000). Additive logistic regression: a statistical view of
boosting. Annals of Statistics 28(2), 337-407.

Zhu, Zou, Rosset and Hastie (2009). Multi-class AdaBoost. Statistics and Its Interface 2, 349-360.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.adaboost import TINY
from orfeon.boosting.base import BOOSTED, VOTED, BoostedEnsemble
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import (
    HALF,
    LEAST_SHARE,
    PERFECT_ODDS,
    MemberOutput,
    RoundResult,
    Run,
    Scheme,
    perfect_vote,
)
from orfeon.boosting.vote_sums import SupportTally, Tally
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.trees.stump import StumpClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Floats
from orfeon.utils.user_warning import AdvisedWarning

Confidence = Literal["log_odds", "probability"]


def half_log(supports: Floats, smoothing: float) -> Floats:
    """Half of the logarithm of class supports; their differences are half of the log-odds."""
    return np.asarray(0.5 * np.log(supports + smoothing))


def class_margins(outputs: Floats, labels: npt.NDArray[Any]) -> Floats:
    """Output for the class of each sample minus the largest for another one.

    With two classes and h = p(1) - p(0) this is y h, for y = -1 or 1.
    """
    everyone = np.arange(len(labels))
    rest = outputs.copy()
    rest[everyone, labels] = -np.inf
    return np.asarray(outputs[everyone, labels] - rest.max(axis=1))


def mean_margins(outputs: Floats, labels: npt.NDArray[Any]) -> Floats:
    """Output for the class of each sample minus the mean of the others, times 2 (K - 1) / K.

    With two classes the same as :func:`class_margins`; with half of the log-odds, the exponent of
    SAMME.R (Zhu et al. 2009).
    """
    own = outputs[np.arange(len(labels)), labels]
    return np.asarray(2.0 * (own - outputs.mean(axis=1)))


class RealScheme(Scheme):
    """The two formulas of boosting with confidence-rated predictions."""

    member_output: ClassVar[MemberOutput] = "supports"

    def __init__(
        self,
        labels: npt.NDArray[Any],
        weights: Floats,
        n_classes: int,
        confidence: Confidence = "log_odds",
        smoothing: float = 1e-3,
        learning_rate: float = 1.0,
    ) -> None:
        self._labels = labels
        self._weights: Floats = weights / weights.sum()
        self._floor = TINY * (self._weights > 0)
        self.n_classes = n_classes
        self.confidence = confidence
        self.smoothing = smoothing
        self.learning_rate = learning_rate
        self.total_vote = 0.0
        #: Sum of the weights after each update, before they are normalised.
        self.normalisers: list[float] = []

    @property
    def weights(self) -> Floats:
        """Weights of the samples, which sum to 1."""
        return self._weights

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Class codes."""
        return self._labels

    @property
    def stand_in_vote(self) -> float:
        return self.learning_rate

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Half of 1 - r for the weighted correlation r, and a vote of half of ln((1 + r)/(1 - r)).

        With log-odds the vote is in the member's output already.
        """
        if self.n_classes < 2:
            self.normalisers.append(1.0)
            return RoundResult(0.0, self.learning_rate, ends=True)
        correlation = float(self._weights @ class_margins(answers, self._labels))
        # The sum of the weights is 1 up to rounding.
        error = max(0.0, 0.5 - 0.5 * correlation) if correlation < 1 - 1e-12 else 0.0
        vote = self._vote_of(error)
        normaliser = float(self._weights @ np.exp(-vote * self._margins(answers)))
        self.normalisers.append(normaliser)
        if error == 0:
            return RoundResult(0.0, vote, ends=True)
        useless = normaliser >= 2 * HALF if self.confidence == "log_odds" else error >= HALF
        if useless:
            return RoundResult(error, 0.0, keep=False, ends=True)
        self.total_vote += vote
        return RoundResult(error, vote)

    def _vote_of(self, error: float) -> float:
        if self.confidence == "log_odds":
            return self.learning_rate
        if error == 0:
            least = self.learning_rate * 0.5 * float(np.log(PERFECT_ODDS))
            return float(perfect_vote(self.total_vote, least))
        return self.learning_rate * (0.5 * float(np.log((1.0 - error) / error)))

    def _margins(self, answers: npt.NDArray[Any]) -> Floats:
        if self.confidence == "probability":
            return class_margins(answers, self._labels)
        return mean_margins(half_log(answers, self.smoothing), self._labels)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply the weights by exp(-vote margin), and normalise."""
        weights = self._weights * np.exp(-result.vote * self._margins(answers))
        # From 0 they could not rise again.
        self._weights = np.maximum(weights / weights.sum(), self._floor)


class _HalfLogTally(SupportTally):
    """Weighted sums of half of the logarithms of class supports."""

    def __init__(self, n_rows: int, n_classes: int, smoothing: float) -> None:
        super().__init__(n_rows, n_classes)
        self.smoothing = smoothing

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        super().add(half_log(answers, self.smoothing), vote)


@saved.attributes(normalisers_=saved.floats, smoothing_=saved.number())
@documented(estimator="a :class:`orfeon.StumpClassifier`", n_boosted="50")
class RealAdaBoostClassifier(WeightedVoteMixin, BoostedEnsemble):
    """Boosted classifiers that vote with the confidence of their class probabilities.

    Parameters
    ----------
    <estimator>
    <n_boosted>
    confidence : {"log_odds", "probability"}, default="log_odds"
        The output of a member. "log_odds": half of the logarithm of the odds of a class, for trees
        those in the leaf; this is Real AdaBoost. "probability": with two classes, h = p(1) - p(0),
        from -1 to 1, which gets a vote of half of ln((1 + r) / (1 - r)) for its weighted
        correlation r with the classes, coded as -1 and 1.
    smoothing : float, optional
        Added to probabilities before their logarithm is taken, so that pure leaves do not decide
        alone; one over the number of samples by default.
    learning_rate : float, default=1.0
        Factor on the votes, and in the exponent of the weights' update.
    <sampling>
    <combine_boosted>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    <members>
    n_estimators_ : int
        Number of members; fewer than requested where the run ended early.
    member_weights_ : ndarray of shape (n_members,)
        The weights of the members' outputs; ``learning_rate`` with log-odds.
    errors_ : ndarray of shape (n_members,)
        Half of 1 - r for each member in its round: its weighted error, if its probabilities are 0
        and 1.
    normalisers_ : ndarray of shape (n_members,)
        Sum of the sample weights after the update of each round, before they are normalised.
    smoothing_ : float
        What was added to probabilities.
    <validation_errors>
    error_bounds_ : ndarray of shape (n_members,)
        Bound on the training error after each member: the product of the normalisers. With
        log-odds there is one for two classes only.
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostClassifier : The same for members that only predict a class.
    AdaBoostM2Classifier : Uses probabilities too, with a weight for each wrong class.

    Notes
    -----
    With more than two classes the log-odds are those of SAMME.R (Zhu et al. 2009). With
    "probability", h is then the probability of the class of a sample minus the largest of another
    class: members must rank classes better than with SAMME.R, and the product of the normalisers
    still bounds the training error. The run ends when a member is useless (it is dropped) or its
    probabilities have no error (it is kept).

    With log-odds ``predict_proba`` is the softmax of twice the sums: with two classes
    1 / (1 + exp(-2 F)).

    Examples
    --------
    >>> from orfeon import AdaBoostClassifier, RealAdaBoostClassifier
    >>> from orfeon.datasets import make_nested_spheres
    >>> X, y = make_nested_spheres(2000, random_state=0)
    >>> X_test, y_test = make_nested_spheres(10000, random_state=1)
    >>> real = RealAdaBoostClassifier(n_estimators=100, random_state=0).fit(X, y)
    >>> plain = AdaBoostClassifier(n_estimators=100, random_state=0).fit(X, y)
    >>> round(real.score(X_test, y_test), 2), round(plain.score(X_test, y_test), 2)
    (0.91, 0.81)
    """

    _member_output: ClassVar[MemberOutput] = "supports"
    _decides_by_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BOOSTED,
        **VOTED,
        "confidence": [StrOptions({"log_odds", "probability"})],
        "smoothing": [Interval(Real, 0.0, None, closed="neither"), None],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
    }

    normalisers_: Floats
    smoothing_: float

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        confidence: Confidence = "log_odds",
        smoothing: float | None = None,
        learning_rate: float = 1.0,
        sampling: Sampling = "weights",
        combine: Combine = OWN,
        calibrate: Method | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.confidence = confidence
        self.smoothing = smoothing
        self.learning_rate = learning_rate
        self.sampling = sampling
        self.combine = combine
        self.calibrate = calibrate
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return StumpClassifier() if self.estimator is None else self.estimator

    def _scheme(self, samples: TrainingSet) -> Scheme:
        one_sample = 1.0 / samples.n_samples
        self.smoothing_ = one_sample if self.smoothing is None else float(self.smoothing)
        return RealScheme(
            samples.y, samples.weights, samples.n_classes, self.confidence, self.smoothing_,
            self.learning_rate,
        )  # fmt: skip

    def _explain(self, run: Run) -> AdvisedWarning | None:
        last = run.results[-1]
        if last.keep or last.error >= HALF or run.n_kept >= LEAST_SHARE * self._n_members:
            return super()._explain(run)
        return AdvisedWarning(
            f"{type(self).__name__}: boosting ended with {run.n_kept} of the {self._n_members} "
            "members requested, because the log-odds of the next one are too extreme to lower the "
            "loss.",
            'Set confidence="probability", or increase smoothing.',
        )

    def _take_from(self, scheme: Any, n_kept: int) -> None:
        self.normalisers_ = np.array(scheme.normalisers[:n_kept])

    def _tally(self, n_rows: int) -> Tally:
        if self.confidence == "probability":
            return super()._tally(n_rows)
        return _HalfLogTally(n_rows, self.n_classes_, self.smoothing_)

    def _leaf_outputs(self, shares: Floats) -> Floats:
        """What a leaf with these class shares adds to the sums."""
        return shares if self.confidence == "probability" else half_log(shares, self.smoothing_)

    def _smoothed(self, shares: Floats, n_members: float | Floats) -> Floats:
        # The softmax of log odds is smooth.
        return shares if self._has_softmax else super()._smoothed(shares, n_members)

    @property
    def _has_softmax(self) -> bool:
        return self._is_own and self.confidence == "log_odds"

    def _as_shares(self, sums: Floats, total: Any) -> Floats:
        if self.confidence == "probability":
            return super()._as_shares(sums, total)
        return np.asarray(softmax(2.0 * sums, axis=1))

    @property
    def error_bounds_(self) -> Floats:
        """Bound on the weighted training error after each member."""
        check_is_fitted(self, "members_")
        if self.confidence == "log_odds" and self.n_classes_ > 2:
            raise AttributeError(
                f"there is no bound for {self.n_classes_} classes with confidence="
                '"log_odds"; there is one with "probability".'
            )
        self._check_learnt()
        return np.asarray(np.cumprod(self.normalisers_))
