"""AdaBoost.M2: boosting several classes by the pseudo-loss over mislabels.

A mislabel is a pair of a sample and a class that is not its own. Weights over mislabels rate a
member by how well it separates the right class of a sample from each wrong one.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.adaboost import TINY
from orfeon.boosting.base import BOOSTED, VOTED, BoostedEnsemble
from orfeon.boosting.bounds import pseudo_loss_bound
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import HALF, PERFECT, MemberOutput, RoundResult, Scheme, perfect_vote
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.trees.cart import CARTClassifier
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats


class MislabelWeights:
    """Weights of the mislabels of some samples, which sum to 1."""

    def __init__(self, labels: npt.NDArray[np.integer], weights: Floats, n_classes: int) -> None:
        spread = np.repeat(weights[:, None].astype(np.float64), n_classes, axis=1)
        spread[np.arange(len(labels)), labels] = 0.0
        self.labels = labels
        self.weights: Floats = spread / spread.sum() if n_classes > 1 else spread

    @property
    def of_samples(self) -> Floats:
        """Weight of all mislabels of each sample."""
        return np.asarray(self.weights.sum(axis=1))

    def own(self, supports: Floats) -> Floats:
        """Support of each sample's own class, of shape (n_rows, 1)."""
        return np.asarray(supports[np.arange(len(self.labels)), self.labels][:, None])

    def pseudo_loss(self, supports: Floats) -> float:
        """Half of the weighted mean of 1 - h(x, y) + h(x, wrong)."""
        return float(0.5 * (self.weights * (1.0 - self.own(supports) + supports)).sum())

    def multiply(self, factors: Floats) -> None:
        """Multiply the weights, and make them sum to 1 again."""
        present = self.weights > 0
        weights = self.weights * factors
        weights /= weights.sum()
        weights[present & (weights < TINY)] = TINY  # from 0 they could not rise again
        self.weights = weights


class M2Scheme(Scheme):
    """The two formulas of AdaBoost.M2."""

    member_output: ClassVar[MemberOutput] = "supports"

    def __init__(self, labels: npt.NDArray[Any], weights: Floats, n_classes: int) -> None:
        self.mislabels = MislabelWeights(labels, weights, n_classes)
        self.n_classes = n_classes
        self._given = weights
        self.total_vote = 0.0

    @property
    def weights(self) -> Floats:
        """Weight of all mislabels of each sample; with one class there are none."""
        return self._given if self.n_classes < 2 else self.mislabels.of_samples

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Class codes."""
        return self.mislabels.labels

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Pseudo-loss, and a vote of log(1 / beta) for beta = e / (1 - e)."""
        error = self.mislabels.pseudo_loss(answers)
        if error <= 0:  # it outweighs all others, as its infinite vote would
            return RoundResult(0.0, float(perfect_vote(self.total_vote, 2 * PERFECT)), ends=True)
        if error >= HALF:
            return RoundResult(error, 0.0, keep=False, ends=True)
        vote = float(np.log((1.0 - error) / error))
        self.total_vote += vote
        return RoundResult(error, vote)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply the mislabel (i, y) by beta to the power of (1 + h(x, y_i) - h(x, y)) / 2."""
        exponent = 0.5 * (1.0 + self.mislabels.own(answers) - answers)
        self.mislabels.multiply(np.exp(-result.vote * exponent))


@documented(estimator="a :class:`orfeon.CARTClassifier` with ``max_depth=2``", n_estimators="50")
class AdaBoostM2Classifier(WeightedVoteMixin, BoostedEnsemble):
    """Weighted sum of class plausibilities, boosted by how well they tell right from wrong classes.

    AdaBoost.M1 needs members that are right on more than half of the weight, which is hard with
    many classes. Here a member only has to find the right class more plausible than the wrong ones
    slightly more often than not.

    Parameters
    ----------
    <estimator>
    n_estimators : int, default=50
        Maximum number of members. The run ends early when the pseudo-loss of a member is 1/2 or
        more, or 0; with fewer than half of the members, it raises a warning.
    <sampling>
    <combine_boosted>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    <members>
    member_weights_ : ndarray of shape (n_members,)
        The weights log(1 / beta) of the members.
    errors_ : ndarray of shape (n_members,)
        Pseudo-loss of each member in its round.
    <validation_errors>
    error_bounds_ : ndarray of shape (n_members,)
        Bound on the training error after each member.
    <classes>
    <calibrated>

    Notes
    -----
    A member is trained with the weight of all mislabels of each sample. Its plausibilities are
    its class probabilities: of a tree, the class shares of the leaf; of an estimator that has
    none, 1 for the class that it predicts.

    Examples
    --------
    >>> from orfeon import AdaBoostM2Classifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(AdaBoostM2Classifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.79
    """

    _member_output: ClassVar[MemberOutput] = "supports"
    _decides_by_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {**BOOSTED, **VOTED}

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
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
        return CARTClassifier(max_depth=2) if self.estimator is None else self.estimator

    def _scheme(self, samples: TrainingSet) -> Scheme:
        return M2Scheme(samples.y, samples.weights, samples.n_classes)

    @property
    def error_bounds_(self) -> Floats:
        """Bound on the weighted training error after each member."""
        check_is_fitted(self, "members_")
        self._check_learnt()
        return pseudo_loss_bound(self.errors_, max(2, self.n_classes_))
