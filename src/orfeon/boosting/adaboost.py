"""AdaBoost for two classes, and SAMME and AdaBoost.M1 for any number of classes.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.

Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning
40(2), 159-196.

Zhu, Zou, Rosset and Hastie (2009). Multi-class AdaBoost. Statistics and Its Interface 2, 349-360.

Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232. (shrinkage)

Rosset, Zhu and Hastie (2004). Boosting as a regularized path to a maximum margin classifier.
Journal of Machine Learning Research 5, 941-973. (constant votes)
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from orfeon.boosting.base import BOOSTED, VOTED, BoostedEnsemble, EarlyStopping
from orfeon.boosting.bounds import BoundsMixin
from orfeon.boosting.learners import Sampling, draw_sample
from orfeon.boosting.loop import (
    HALF,
    LEAST_SHARE,
    PERFECT_ODDS,
    RoundResult,
    Scheme,
    perfect_vote,
)
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.trees.stump import StumpClassifier
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Floats

OnFailure = Literal["stop", "restart", "bootstrap"]
Algorithm = Literal["m1", "samme"]
Step = Literal["optimal", "constant"]
PerfectMember = Literal["keep", "drop"]

#: Weights that positive ones never fall below: they could not rise again from 0.
TINY = 1e-200


class AdaBoostScheme(Scheme):
    """The two formulas of AdaBoost and AdaBoost.M1."""

    def __init__(
        self,
        labels: npt.NDArray[Any],
        weights: Floats,
        n_classes: int,
        on_failure: OnFailure = "stop",
        min_weight: float = 0.0,
        algorithm: Algorithm = "m1",
        learning_rate: float = 1.0,
        step: Step = "optimal",
        perfect_member: PerfectMember = "keep",
    ) -> None:
        self._labels = labels
        self.initial = np.asarray(weights / weights.sum())
        self._weights = self.initial
        self.on_failure = on_failure
        self.min_weight = max(min_weight, TINY)
        #: Minimum weight of each sample; every copy in a bootstrap sample has its own.
        self._floor = self.min_weight * (self.initial > 0)
        self.n_classes = n_classes
        self.algorithm = algorithm
        self.learning_rate = learning_rate
        self.step = step
        self.perfect_member = perfect_member
        self.total_vote = 0.0

    @property
    def weights(self) -> Floats:
        """Weights of the samples, which sum to 1."""
        return self._weights

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Class codes."""
        return self._labels

    @property
    def _chance(self) -> float:
        """Odds of being right by chance: one to one, or one to the number of other classes."""
        return 1.0 / (self.n_classes - 1) if self.algorithm == "samme" else 1.0

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted error, and a vote of half of the logarithm of the odds of being right."""
        error = float(np.where(answers != self._labels, self._weights, 0.0).sum())
        ends = self.on_failure == "stop"
        if error == 0:  # weights never underflow
            if self.perfect_member == "drop":
                return RoundResult(0.0, 0.0, keep=False, ends=ends)
            least = self._vote_of(PERFECT_ODDS)
            vote = float(perfect_vote(self.total_vote, least)) if ends else least
            return RoundResult(0.0, vote, ends=ends)
        if self._fails(error):
            return RoundResult(error, 0.0, keep=False, ends=ends)
        vote = self._vote_of((1.0 - error) / error / self._chance)
        self.total_vote += vote
        return RoundResult(error, vote)

    def _vote_of(self, odds: float) -> float:
        """The step along a member, given its odds of being right."""
        if self.step == "constant":
            return self.learning_rate
        return self.learning_rate * (0.5 * float(np.log(odds)))

    def _fails(self, error: float) -> bool:
        chance = self._chance / (1.0 + self._chance)
        return error >= 1.0 - chance - (0.5 - HALF)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply the weights of misclassified samples by exp(2 vote), and normalise.

        With two classes, and in M1, wrong ones are so divided by twice the error and right ones by
        twice the rest: the member errs on exactly half of the new weight.
        """
        error = result.error
        if not result.keep or error == 0:
            self._begin_anew(rng)
            return
        if self.step == "constant":
            factor = float(np.exp(2.0 * self.learning_rate))
        else:  # exp(2 vote) without the rounding of a logarithm
            factor = ((1.0 - error) / error / self._chance) ** self.learning_rate
        self._settle(self._weights * self._factors_of(answers, factor))

    def _factors_of(self, answers: npt.NDArray[Any], odds: float) -> Floats:
        """What the weights are multiplied by, given exp(2 vote): the odds of being right."""
        return np.where(answers != self._labels, odds, 1.0)

    def _settle(self, weights: Floats) -> None:
        """Normalise the weights to sum 1, with a floor from which they can rise again."""
        weights = weights / weights.sum()
        if weights.min() < self.min_weight:
            weights = np.maximum(weights, self._floor)
            weights /= weights.sum()
        self._weights = weights

    def _begin_anew(self, rng: np.random.Generator) -> None:
        """What a run that does not stop continues with: first weights, or a bootstrap sample."""
        if self.on_failure == "bootstrap":
            counts = draw_sample(self.initial, self._labels, self.n_classes, rng)
            self._weights = counts / counts.sum()
            self._floor = self.min_weight * counts
        else:
            self._weights = self.initial


ADABOOST: dict[str, list[Any]] = {
    **BOOSTED,
    **VOTED,
    "on_failure": [StrOptions({"stop", "restart", "bootstrap"})],
    "min_weight": [Interval(Real, 0.0, 0.1, closed="both")],
}


@documented(estimator="a :class:`orfeon.StumpClassifier`", n_boosted="50")
class AdaBoostClassifier(BoundsMixin, WeightedVoteMixin, BoostedEnsemble):
    """Weighted vote of classifiers, each focusing on the errors of those before it.

    Parameters
    ----------
    <estimator>
    <n_boosted>
    <sampling>
    on_failure : {"stop", "restart", "bootstrap"}, default="stop"
        What to do when a member errs on half of the weight or more (it is dropped), or on nothing
        (see ``perfect_member``). "stop" ends the run, as in the textbook; "restart" continues from
        the first weights; "bootstrap" continues from a bootstrap sample with equal weights
        (Webb 2000).
    perfect_member : {"keep", "drop"}, default="keep"
        Whether a member without training error is kept or dropped. The only member is always kept.
    min_weight : float, default=0.0
        The weights, which sum to 1, do not fall below this; 1e-8 is usual in long runs.
    algorithm : {"samme", "m1"}, default="samme"
        With more than two classes, "samme" needs members better than chance, with an error below
        ``1 - 1 / n_classes``, and has votes to match (Zhu et al. 2009); "m1" needs an error below
        one half (AdaBoost.M1), so that the run often ends after few members. "SAMME" is
        scikit-learn's spelling of "samme". With two classes both are AdaBoost.
    learning_rate : float, default=1.0
        Factor on the votes, and in the exponent of the weights' update: below 1, the weights
        change less from one member to the next.
    step : {"optimal", "constant"}, default="optimal"
        Whether the vote of a member is ``learning_rate`` times half of ln((1 - e) / e), or
        ``learning_rate`` itself for every member (Rosset et al. 2004).
    <combine_boosted>
    <calibrate_boosted>
    <stopping>
    early_stopping : {"validation", "oob"}, default="validation"
        With ``n_iter_no_change``: whether the error is that on a validation set, or the out-of-bag
        error on all samples, which needs ``sampling="resample"``; samples that no member has left
        out yet count as wrong.
    <fitting>

    Attributes
    ----------
    <members>
    <boosted>
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostM2Classifier, AdaBoostMHClassifier : For many classes and weak members.
    PoolBoostClassifier : Chooses members from a given pool.

    Notes
    -----
    With two classes the vote of a member of error e is half of ln((1 - e) / e): the step along it
    that minimises the mean of exp(-y F). M1's votes for several classes are twice as large, which
    gives the same decisions.

    With ``step="constant"`` a member must be as accurate as with "optimal", but its vote does not
    depend on its error.

    A first member that errs on half of the weight is kept alone, with a warning. With
    ``on_failure="stop"`` the vote of a member without error outweighs all others, as its infinite
    vote in the textbook would.

    Examples
    --------
    >>> from orfeon import AdaBoostClassifier, StumpClassifier
    >>> from orfeon.datasets import make_nested_spheres
    >>> X, y = make_nested_spheres(2000, random_state=0)
    >>> X_test, y_test = make_nested_spheres(10000, random_state=1)
    >>> boosted = AdaBoostClassifier(n_estimators=400, random_state=0).fit(X, y)
    >>> stump = StumpClassifier().fit(X, y)
    >>> round(stump.score(X_test, y_test), 3), round(boosted.score(X_test, y_test), 3)
    (0.526, 0.889)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ADABOOST,
        "perfect_member": [StrOptions({"keep", "drop"})],
        "algorithm": [StrOptions({"m1", "samme", "SAMME"})],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "step": [StrOptions({"optimal", "constant"})],
        "early_stopping": [StrOptions({"validation", "oob"})],
    }

    _reads_sparse: ClassVar[bool] = True
    #: Boosters that inherit may leave these out.
    learning_rate: float = 1.0
    step: Step = "optimal"

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        sampling: Sampling = "weights",
        on_failure: OnFailure = "stop",
        perfect_member: PerfectMember = "keep",
        min_weight: float = 0.0,
        algorithm: Algorithm | Literal["SAMME"] = "samme",
        learning_rate: float = 1.0,
        step: Step = "optimal",
        combine: Combine = OWN,
        calibrate: Method | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        early_stopping: EarlyStopping = "validation",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.on_failure = on_failure
        self.perfect_member = perfect_member
        self.min_weight = min_weight
        self.algorithm = algorithm
        self.learning_rate = learning_rate
        self.step = step
        self.combine = combine
        self.calibrate = calibrate
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return StumpClassifier() if self.estimator is None else self.estimator

    def _check_min_weight(self, samples: TrainingSet) -> None:
        if self.min_weight * len(samples) >= 1:
            raise ValueError(
                f"min_weight={self.min_weight} for {len(samples)} samples leaves nothing to "
                f"reweigh: weights sum to 1. Give less than {1 / len(samples):.3g}."
            )

    def _scheme(self, samples: TrainingSet) -> Scheme:
        self._check_min_weight(samples)
        return AdaBoostScheme(
            samples.y, samples.weights, max(2, samples.n_classes), self.on_failure,
            self.min_weight, "m1" if self.algorithm == "m1" else "samme", self.learning_rate,
            self.step, self.perfect_member,
        )  # fmt: skip

    @property
    def _is_m1(self) -> bool:
        """Whether it is M1, and differs from AdaBoost of two classes."""
        return self.n_classes_ > 2 and self.algorithm == "m1"

    @property
    def _least_share(self) -> float:
        return 1.0 if self._is_m1 else LEAST_SHARE

    def _advice(self, wanted: Literal["stronger", "weaker"]) -> str:
        advice = super()._advice(wanted)
        if wanted == "weaker":
            return f'{advice} Or set on_failure="bootstrap".'
        if self._is_m1:
            advice += (
                f' With {self.n_classes_} classes algorithm="samme", AdaBoostM2Classifier or '
                "AdaBoostMHClassifier are less demanding."
            )
        return advice

    def _check_steps(self) -> None:
        if self.learning_rate != 1 or self.step != "optimal":
            raise AttributeError(
                'edge_bounds_ needs learning_rate=1 and step="optimal", not learning_rate='
                f"{self.learning_rate} and step={self.step!r}; error_bounds_ needs neither."
            )

    def _check_one_run(self) -> None:
        is_m1 = self.algorithm == "m1" or self.n_classes_ <= 2  # the same with two classes
        if self.on_failure != "stop" or not is_m1 or self.min_weight > 0:
            raise AttributeError(
                'the bounds are those of a run with on_failure="stop", algorithm="m1" and '
                f"min_weight=0, not with on_failure={self.on_failure!r}, "
                f"algorithm={self.algorithm!r} and min_weight={self.min_weight}."
            )
