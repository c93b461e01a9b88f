"""AdaBoost.OC: in each round a binary member learns another random split of the classes.

References
----------
Schapire (1997). Using output codes to boost multiclass learning problems. ICML, 313-321.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.adaboost_m2 import M2Scheme
from orfeon.boosting.base import BOOSTED, BoostedEnsemble
from orfeon.boosting.bounds import pseudo_loss_bound
from orfeon.boosting.learners import Sampling, binary_learner
from orfeon.boosting.loop import Learner, MemberOutput, RoundResult, Scheme
from orfeon.boosting.vote_sums import SupportTally, Tally
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.probabilities import CALIBRATE
from orfeon.trees.cart import CARTClassifier
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats, Integers


def draw_colouring(n_classes: int, rng: np.random.Generator) -> Integers:
    """Give a random half of the classes the colour 1."""
    if n_classes <= 2:
        return np.arange(n_classes)
    colouring = np.zeros(n_classes, np.int64)
    colouring[rng.permutation(n_classes)[: n_classes // 2]] = 1
    return colouring


class OutputCodeScheme(M2Scheme):
    """AdaBoost.M2's formulas for binary members, which support all classes of one colour."""

    member_output: ClassVar[MemberOutput] = "votes"

    def __init__(self, labels: npt.NDArray[Any], weights: Floats, n_classes: int) -> None:
        super().__init__(labels, weights, n_classes)
        self.colouring = np.arange(n_classes) % 2

    def begin(self, rng: np.random.Generator) -> None:
        self.colouring = draw_colouring(self.n_classes, rng)

    @property
    def weights(self) -> Floats:
        """Weight of the mislabels of each sample that have the other colour."""
        if self.n_classes < 2:
            return super().weights
        other = self.colouring[None, :] != self.labels[:, None]
        return np.asarray((self.mislabels.weights * other).sum(axis=1))

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Colour of the class of each sample."""
        return np.asarray(self.colouring[self.mislabels.labels])

    def _supports(self, answers: npt.NDArray[Any]) -> Floats:
        return np.asarray(answers[:, None] == self.colouring[None, :], dtype=np.float64)

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Pseudo-loss, and votes of log(1 / beta) for beta = e / (1 - e)."""
        result = super().evaluate(self._supports(answers))
        signs = 2.0 * self.colouring - 1.0
        return result._replace(
            vote=result.vote * signs,
            ends=result.ends and (result.keep or self.n_classes <= 2),
        )

    @property
    def stand_in_vote(self) -> Any:
        """A vote of 1 for the colour."""
        return 2.0 * self.colouring - 1.0

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Reweight as AdaBoost.M2 does, and draw the next colouring."""
        if result.keep:
            plain = result._replace(vote=float(np.abs(result.vote[0])))
            super().reweigh(self._supports(answers), plain, rng)
        self.colouring = draw_colouring(self.n_classes, rng)


class _ColourTally(SupportTally):
    """Weighted votes for colours, added to the classes of each colour."""

    def add(self, answers: npt.NDArray[Any], vote: Any) -> None:
        strength = np.abs(vote)
        has_colour = answers[:, None] == (vote > 0)[None, :]
        self.sums += np.where(has_colour, strength, 0.0)
        self.total = self.total + strength


@documented(estimator="a :class:`orfeon.CARTClassifier` with ``max_depth=2``", n_boosted="100")
class AdaBoostOCClassifier(WeightedVoteMixin, BoostedEnsemble):
    """Boosting with output codes: each member separates a random half of the classes from the rest.

    This boosts any binary learner on any number of classes, with one member per round.
    scikit-learn's ``OutputCodeClassifier`` draws all codes at once and trains independent members.

    Parameters
    ----------
    <estimator>
    <n_boosted>
    <sampling>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    <members>
    member_weights_ : ndarray of shape (n_members, n_classes)
        Weight log(1 / beta) of each member, positive for classes of colour 1.
    colourings_ : ndarray of shape (n_members, n_classes)
        Colour, 0 or 1, of each class in each round.
    errors_ : ndarray of shape (n_members,)
        Pseudo-loss of each member in its round.
    <validation_errors>
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostM2Classifier : The same weights, for members that predict all classes.

    Examples
    --------
    >>> from orfeon import AdaBoostOCClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(AdaBoostOCClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.8
    """

    _decides_by_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {**BOOSTED, **CALIBRATE}

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        sampling: Sampling = "weights",
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

    def _learner(self, samples: TrainingSet) -> Learner:
        return binary_learner(self.estimator_, samples, self.sampling)

    def _scheme(self, samples: TrainingSet) -> Scheme:
        return OutputCodeScheme(samples.y, samples.weights, samples.n_classes)

    @property
    def _tally_kind(self) -> type[Tally]:
        return _ColourTally

    def _as_shares(self, sums: Floats, total: Any) -> Floats:
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))

    @property
    def _total_vote(self) -> Any:
        return np.cumsum(np.abs(self.member_weights_), axis=0)[-1]

    def _hand_over(self, member: Any) -> None:
        """Members predict the two colours, not the classes."""
        super()._hand_over(member)
        member.classes_, member.n_classes_ = np.array([0, 1]), 2

    @property
    def colourings_(self) -> npt.NDArray[np.int64]:
        """Colour of each class in each round."""
        check_is_fitted(self, "members_")
        return (self.member_weights_ > 0).astype(np.int64)

    @property
    def error_bounds_(self) -> Floats:
        """Bound on the weighted training error after each member."""
        check_is_fitted(self, "members_")
        self._check_learnt()
        return pseudo_loss_bound(self.errors_, max(2, self.n_classes_))
