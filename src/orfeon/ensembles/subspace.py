"""Random subspaces: every member sees all samples and some of the features.

References
----------
Ho (1998). The random subspace method for constructing decision forests. IEEE Transactions on
Pattern Analysis and Machine Intelligence 20(8), 832-844.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet, are_counts
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR, IndependentEnsemble
from orfeon.ensembles.class_sampling import draw_by_class
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.ensemble import CHOSEN, origin_of
from orfeon.ensembles.perturbation import Perturbation, draw_seed, member_generator
from orfeon.ensembles.voting import (
    CLASS_WEIGHT,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.forest import Forest
from orfeon.forest.permutation import features_used
from orfeon.trees import CARTClassifier, CARTRegressor
from orfeon.trees.base import LIMITS, features_per_node
from orfeon.utils import saved
from orfeon.utils.documentation import documented


def draw_features(n_features: int, n_drawn: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Some features, all equally likely, in ascending order."""
    return np.sort(rng.permutation(n_features)[:n_drawn])


@saved.attributes(_n_drawn=saved.integer(0), _sizes_differ=saved.optional(saved.boolean))
class _RandomSubspace(IndependentEnsemble):
    """Random subspaces of any base learner."""

    _reads_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        "max_features": LIMITS["max_features"],
    }

    estimator: Any
    max_features: Any
    _n_drawn: int
    #: Whether members of an earlier fit have subspaces of another size.
    _sizes_differ: bool = False

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        n_drawn = features_per_node(self.max_features, samples.n_features)
        n_drawn = samples.n_features if n_drawn is None else n_drawn
        differ = bool(members.start) and (self._sizes_differ or n_drawn != self._n_drawn)
        self._n_drawn, self._sizes_differ = n_drawn, differ

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        features = draw_features(samples.n_features, self._n_drawn, rng)
        return Perturbation(weights=draw_by_class(samples, rng), features=features)

    def _only_draws(self, samples: TrainingSet) -> bool:
        return are_counts(samples.sample_weights)

    @property
    def subspaces_(self) -> list[npt.NDArray[np.int64]]:
        """Features that were drawn for each member."""
        check_is_fitted(self, "members_")
        if not isinstance(self.members_, Forest):
            return self.estimators_features_
        origin = origin_of(self)
        drawn = []
        for member in origin.members:
            rng = member_generator(origin.sequence, member)
            draw_seed(rng)
            drawn.append(draw_features(self.n_features_in_, self._n_drawn, rng))
        # Trees do not store their features, but they test no others.
        used = zip(features_used(self.members_), drawn, strict=True)
        known = all(np.isin(tested, features).all() for tested, features in used)
        if self._sizes_differ or not known or any(key == CHOSEN for _, key in origin.history):
            raise AttributeError(
                f"the subspaces_ of this {type(self).__name__} are not known: it was fitted with "
                "warm_start=True after a fit with another max_features, or after prune()."
            )
        return drawn


@documented(estimator="an unpruned :class:`orfeon.CARTClassifier`", n_estimators="100")
class RandomSubspaceClassifier(VotingClassifierMixin, _RandomSubspace):
    """Vote of classifiers that each see a random subset of the features.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    max_features : int, float, "sqrt", "log2" or None, default=0.5
        Features drawn for each member: a number, a share or a rule; ``None`` for all.
        <log2>
    <combine>
    <calibrate>
    <class_weight_drawn>
    <fitting>

    Attributes
    ----------
    <members>
    subspaces_ : list of ndarray of int
        The features that were drawn for each member.
    <classes>
    <calibrated>

    Examples
    --------
    >>> from orfeon import RandomSubspaceClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> model = RandomSubspaceClassifier(max_features=5, random_state=0).fit(X, y)
    >>> model.score(X, y), len(model.subspaces_), len(model.subspaces_[0])
    (1.0, 100, 5)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_RandomSubspace._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_features: Any = 0.5,
        combine: Combine = "majority",
        calibrate: Method | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)


@documented(estimator="an unpruned :class:`orfeon.CARTRegressor`", n_estimators="100")
class RandomSubspaceRegressor(AveragingRegressorMixin, _RandomSubspace):
    """Mean of regressors that each see a random subset of the features.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    max_features : int, float, "sqrt", "log2" or None, default=0.5
        Features drawn for each member: a number, a share or a rule; ``None`` for all.
        <log2>
    <combine_numbers>
    <fitting>

    Attributes
    ----------
    <members>
    subspaces_ : list of ndarray of int
        The features that were drawn for each member.

    Examples
    --------
    >>> from orfeon import RandomSubspaceRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> len(RandomSubspaceRegressor(random_state=0).fit(X, y).estimators_)
    100
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_RandomSubspace._parameter_constraints,
        **REGRESSOR,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_features: Any = 0.5,
        combine: Combine = "mean",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.combine = combine
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor() if self.estimator is None else clone(self.estimator)
