"""Boosting IGP: one split into halves for the whole run, each half reweighted on its own.

References
----------
Martínez-Muñoz and Suárez (2004). Using all data to generate decision tree ensembles. IEEE
Transactions on Systems, Man and Cybernetics C 34(4), 393-397.

Bauer and Kohavi (1999). An empirical comparison of voting classification algorithms: bagging,
boosting, and variants. Machine Learning 36(1), 105-139.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.boosting.loop import HALF, LEAST_SHARE, MemberOutput, RoundResult, Run, Scheme, boost
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import Recipe, Trained
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.igp_ensemble import OfIGPTrees
from orfeon.ensembles.perturbation import draw_seed, member_generator
from orfeon.forest import Forest
from orfeon.trees.base import Criterion, MemberSamples, Ties
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats
from orfeon.utils.user_warning import AdvisedWarning, warn_user

#: No weight falls below this, against underflow (Bauer and Kohavi 1999).
LEAST_WEIGHT = 1e-8


def reweigh_half(weights: Floats, initial: Floats, wrong: npt.NDArray[np.bool_]) -> Floats:
    """New weights of one half after a tree: half of the weight goes to what it got wrong."""
    error = float(weights[wrong].sum() / weights.sum())
    if not 0 < error < HALF:
        return initial.copy()
    return np.asarray(weights / np.where(wrong, 2 * error, 2 * (1 - error)))


class HalvesScheme(Scheme):
    """Equal votes, and weights that are AdaBoost's within each half."""

    def __init__(
        self, labels: npt.NDArray[Any], weights: Floats, halves: npt.NDArray[np.uint8]
    ) -> None:
        self._labels = labels
        self.initial = np.asarray(weights / weights.sum())
        self._weights = self.initial
        self.halves = halves

    @property
    def weights(self) -> Floats:
        """Weights of the samples, which sum to 1."""
        return self._weights

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Class codes."""
        return self._labels

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted error over both halves, and the same vote for every member."""
        error = float(self._weights[answers != self._labels].sum())
        return RoundResult(error, 1.0, keep=error < HALF, ends=error >= HALF or error == 0)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Reweigh each half on its own."""
        wrong = answers != self._labels
        weights = self._weights.copy()
        for half in (1, 2):
            mine = self.halves == half
            if mine.any():
                weights[mine] = reweigh_half(weights[mine], self.initial[mine], wrong[mine])
        weights = np.maximum(weights, LEAST_WEIGHT)
        self._weights = weights / weights.sum()


@dataclass(frozen=True)
class ReweightedHalves:
    """Grows the trees of one committee, one after the other."""

    base: IGPTreeClassifier
    recipe: Recipe

    def grow(self, committee: int, n_trees: int, grown: Forest | None = None) -> Forest:
        recipe = self.recipe
        rng = member_generator(recipe.sequence, committee)
        first_seed = draw_seed(rng)
        halves = recipe.perturb(recipe.samples, rng, committee).halves
        assert halves is not None
        run = Run(HalvesScheme(recipe.samples.y, recipe.samples.weights, halves))
        known = [] if grown is None else [grown.subset([t]) for t in range(len(grown))]
        learner = _HalvesLearner(self.base, recipe.samples, halves, rng, first_seed, known)
        rounds = islice(boost(run, learner, recipe.sequence), n_trees)
        return Forest.concatenate([one.member for one in rounds])


class _HalvesLearner:
    """Grows IGP trees on one split into halves, all from the generator of their committee.

    Trees that are known already are not grown again.
    """

    def __init__(
        self,
        base: IGPTreeClassifier,
        data: TrainingSet,
        halves: npt.NDArray[np.uint8],
        rng: np.random.Generator,
        seed: np.uint64,
        known: list[Forest],
    ) -> None:
        self.base, self.data, self.halves = base, data, halves
        self._rng, self._seed = rng, seed
        self._known = known

    def train(self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator) -> Forest:
        """Grow a tree."""
        seed, self._seed = self._seed, draw_seed(self._rng)
        if self._known:
            return self._known.pop(0)
        n_samples = len(labels)
        # Equal weights are counts to the engine: the first tree is that of an IGP ensemble.
        equal = (weights == weights[0]).all()
        given = np.ones(n_samples, np.int64) if equal else weights * n_samples
        samples = MemberSamples(
            np.array([seed], dtype=np.uint64), given[None], labels[None], float(n_samples),
            halves=self.halves[None],
        )  # fmt: skip
        return self.base._grow(self.data, samples)[0]

    def predict_train(self, member: Forest, what: MemberOutput) -> npt.NDArray[Any]:
        """Predictions of a tree on the training samples."""
        return member.predict(self.data.X)


@documented(n_estimators="100")
class BoostingIGPClassifier(OfIGPTrees):
    """Unweighted vote of IGP trees, each focusing on the errors of the one before it.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of trees. The run ends early when a tree errs on half of the weight, or on
        nothing; with fewer than half of the members, it raises a warning.
    <criterion>
    <max_depth>
    <least_weight_of_half>
    <tie_rule>
    <categorical_features>
    <combine>
    <calibrate>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>

    Examples
    --------
    >>> from orfeon import BoostingIGPClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(BoostingIGPClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.8
    """

    _is_sequential: ClassVar[bool] = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        ties: Ties = "random",
        categorical_features: Any = "auto",
        combine: Combine = "majority",
        calibrate: Method | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ties = ties
        self.categorical_features = categorical_features
        self.combine = combine
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        boosting = ReweightedHalves(self.estimator_, recipe)
        before = getattr(self, "members_", None)

        def grow(block: slice) -> Trained:
            grown = before if block.start else None
            forest = boosting.grow(0, block.stop, grown)
            if len(forest) < min(block.stop, LEAST_SHARE * self.n_estimators):
                self._warn_of_few(len(forest))
            if len(forest) == block.start:  # it had ended already
                return Trained(None, None)
            return Trained(forest.subset(np.arange(block.start, len(forest))), None)

        return grow

    def _warn_of_few(self, n_trees: int) -> None:
        """Warn of a run that ended by itself with few trees, where there is something to learn."""
        if self.n_classes_ > 1:
            trees = "1 tree" if n_trees == 1 else f"{n_trees} trees"
            finding = (
                f"BoostingIGPClassifier: boosting ended with {trees} of the {self.n_estimators} "
                "requested, because a tree makes no error on the training samples, or is no "
                "better than chance."
            )
            warn_user(AdvisedWarning(finding, "Give max_depth, or another classifier."))
