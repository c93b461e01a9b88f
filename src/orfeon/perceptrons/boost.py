"""PPBoost: AdaBoost over parallel perceptrons, with updates that depend on sample categories.

AdaBoost raises the weight of every misclassified sample, noise above all. PPBoost multiplies the
exponent of each update by a factor R for the sample's category in the round: with -1, noisy samples
lose weight instead.

References
----------
Cantador and Dorronsoro (2005). Balanced boosting with parallel perceptrons. IWANN 2005, 208-216.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from orfeon.boosting.adaboost import (
    ADABOOST,
    AdaBoostClassifier,
    AdaBoostScheme,
    Algorithm,
    OnFailure,
)
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import MemberOutput, RoundResult, Scheme
from orfeon.data.schema import Schema
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.categories import (
    BORDERLINE,
    NOISY,
    QUASI_NOISY,
    REDUNDANT,
    QuasiNoisy,
    categorise,
    check_two_classes,
    code_of_interest,
)
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions
from orfeon.utils.types import Floats

BoostMode = Literal["adaboost", "negative", "positive", "balanced"]

#: Factor R by mode and category.
FACTORS: dict[BoostMode, dict[int, float]] = {
    "adaboost": {REDUNDANT: 1, NOISY: 1, BORDERLINE: 1, QUASI_NOISY: 1},
    "negative": {REDUNDANT: 1, NOISY: -1, BORDERLINE: 1, QUASI_NOISY: 1},
    "positive": {REDUNDANT: 1, NOISY: -1, BORDERLINE: 1, QUASI_NOISY: -1},
    "balanced": {REDUNDANT: 1, NOISY: -1, BORDERLINE: 1, QUASI_NOISY: 0},
}


class PPBoostScheme(AdaBoostScheme):
    """AdaBoost's formulas, with a factor R in the exponent of the update."""

    member_output: ClassVar[MemberOutput] = "activations"

    def __init__(
        self,
        labels: npt.NDArray[Any],
        weights: Floats,
        positive: int,
        factors: dict[int, float],
        quasi_noisy: QuasiNoisy,
        on_failure: OnFailure = "stop",
        min_weight: float = 0.0,
    ) -> None:
        super().__init__(labels, weights, 2, on_failure, min_weight)
        self._targets = np.where(labels == 1, 1.0, -1.0)
        self._positive = 1.0 if positive == 1 else -1.0
        self._factors = np.array([factors[category] for category in range(4)], dtype=np.float64)
        self._quasi_noisy: QuasiNoisy = quasi_noisy

    def _votes(self, answers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return np.asarray(p_delta.votes(answers[:, :-1]) > 0, dtype=np.int64)

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        return super().evaluate(self._votes(answers))

    def _factors_of(self, answers: npt.NDArray[Any], odds: float) -> Floats:
        """exp(-vote R y h) times exp(vote), which normalisation cancels.

        With R = 1 these are AdaBoost's factors: the odds where wrong, 1 where right.
        """
        margins = self._targets[:, None] * answers[:, :-1]
        gamma = float(answers[0, -1])
        codes = categorise(margins, gamma, self._targets, self._positive, self._quasi_noisy)
        agreement = np.where(self._votes(answers) == self._labels, 1.0, -1.0) * self._factors[codes]
        return np.asarray(np.power(odds, (1.0 - agreement) / 2.0))


@saved.attributes(positive_class_=saved.label)
@documented(n_boosted="10")
class PPBoostClassifier(AdaBoostClassifier):
    """Boosted parallel perceptrons, robust against noise, for a rare positive class.

    Parameters
    ----------
    estimator : ParallelPerceptronClassifier, optional
        The parallel perceptron to boost; one with ``margin_weight=0.5`` by default.
    <n_boosted>
    mode : {"adaboost", "negative", "positive", "balanced"}, default="balanced"
        How categories affect the weights. "adaboost": not at all. "negative": noisy samples lose
        weight when misclassified. "positive": so do quasi-noisy samples (negative, borderline and
        misclassified). "balanced": quasi-noisy samples keep their weight.
    quasi_noisy : {"vote", "all"}, default="vote"
        Whether quasi-noisy samples are those that the vote, or all perceptrons, misclassify.
    <class_of_interest>
    <sampling>
    on_failure : {"restart", "stop", "bootstrap"}, default="restart"
        What happens when a member errs on half of the weight or more (it is dropped) or on nothing
        (it is kept): boosting restarts from the initial weights, stops, or restarts from a
        bootstrap sample.
    min_weight : float, default=0.0
        Lower bound of the weights, which sum to 1.
    <combine_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    positive_class_ : object
        The positive class.
    <members>
    <boosted>
    <classes>

    See Also
    --------
    AdaBoostClassifier : The same with ``mode="adaboost"``, for any number of classes.
    PPTSSClassifier : Leaves samples out instead of reweighting them.

    Notes
    -----
    The update is D exp(-vote R y h), where R is -1 for noisy samples; 1, -1 or 0 for quasi-noisy
    ones in the modes "negative", "positive" and "balanced"; and 1 otherwise.

    In the paper, quasi-noisy samples are those that all perceptrons misclassify, of which there are
    almost none; its results for "positive" and "balanced" can only be reproduced with the vote, the
    default here. The same holds for the larger ``margin_weight`` of the members. The members'
    seeds come from ``random_state``, not from that of ``estimator``.

    Examples
    --------
    >>> from orfeon import PPBoostClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.imbalance import negative_accuracy, positive_accuracy
    >>> X, y = make_gaussian_clouds(1000, priors=(0.9, 0.1), random_state=0)
    >>> X_test, y_test = make_gaussian_clouds(5000, priors=(0.9, 0.1), random_state=1)
    >>> for mode in ("adaboost", "balanced"):
    ...     predicted = PPBoostClassifier(mode=mode, random_state=0).fit(X, y).predict(X_test)
    ...     print([round(f(y_test, predicted), 2) for f in (positive_accuracy, negative_accuracy)])
    [0.61, 1.0]
    [0.96, 0.88]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ADABOOST,
        "estimator": [ParallelPerceptronClassifier, None],
        "mode": [StrOptions(set(FACTORS))],
        "quasi_noisy": [StrOptions({"all", "vote"})],
        "pos_label": "no_validation",
    }

    #: With two classes, M1 and SAMME are the same.
    algorithm: Algorithm = "m1"
    _stronger: ClassVar[str] = "with more perceptrons"
    _weaker: ClassVar[str] = "with fewer perceptrons or epochs"

    def __init__(
        self,
        estimator: ParallelPerceptronClassifier | None = None,
        n_estimators: int = 10,
        *,
        mode: BoostMode = "balanced",
        quasi_noisy: QuasiNoisy = "vote",
        pos_label: Any = None,
        sampling: Sampling = "weights",
        on_failure: OnFailure = "restart",
        min_weight: float = 0.0,
        combine: Combine = OWN,
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
        self.mode = mode
        self.quasi_noisy = quasi_noisy
        self.pos_label = pos_label
        self.sampling = sampling
        self.on_failure = on_failure
        self.min_weight = min_weight
        self.combine = combine
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        try:
            return super()._check_rows(X, reset=reset)
        except (TypeError, ValueError):
            Schema.learn(X)  # raises the usual error if it is not a table
            raise

    def _base(self) -> Any:
        if self.estimator is None:
            return ParallelPerceptronClassifier(margin_weight=0.5)
        return self.estimator

    def _scheme(self, samples: TrainingSet) -> Scheme:
        check_two_classes(self, self.classes_)
        self._check_min_weight(samples)
        positive = code_of_interest(
            samples.y, samples.sample_weights, self.classes_, self.pos_label
        )
        self.positive_class_ = self.classes_[positive]
        return PPBoostScheme(
            samples.y, samples.weights, positive, FACTORS[self.mode], self.quasi_noisy,
            self.on_failure, self.min_weight,
        )  # fmt: skip

    def _check_one_run(self) -> None:
        if self.mode != "adaboost":
            raise AttributeError(
                f'the bounds hold for mode="adaboost" only, not for mode={self.mode!r}.'
            )
        if self.on_failure != "stop" or self.min_weight > 0:
            raise AttributeError(
                'the bounds hold for on_failure="stop" and min_weight=0 only, not for on_failure='
                f"{self.on_failure!r} and min_weight={self.min_weight}."
            )
