"""Randomised trees: all samples; each node picks one of its best splits at random.

References
----------
Dietterich and Kong (1995). Machine learning bias, statistical bias, and statistical variance of
decision tree algorithms. Technical report, Oregon State University.

Dietterich (2000). An experimental comparison of three methods for constructing ensembles of
decision trees: bagging, boosting, and randomization. Machine Learning 40(2), 139-157.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, IndependentEnsemble
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.voting import CLASS_WEIGHT, CLASSIFIER, VotingClassifierMixin
from orfeon.trees import CARTClassifier
from orfeon.trees.base import CRITERION, LIMITS, Criterion
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval

#: Parameters that are passed to each tree.
_OF_TREES = (
    "n_best", "criterion", "max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "min_impurity_decrease", "categorical_features",
)  # fmt: skip


@documented(n_estimators="100")
class RandomizedTreesClassifier(VotingClassifierMixin, IndependentEnsemble):
    """Vote of trees that pick each split at random among the best ones.

    Parameters
    ----------
    <n_estimators>
    n_best : int, default=20
        Number of best splits of a node to pick from.
    <criterion>
    <limits>
    <min_impurity_decrease>
    <categorical_features>
    <combine>
    <calibrate>
    <class_weight>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>

    Examples
    --------
    >>> from orfeon import RandomizedTreesClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> RandomizedTreesClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **CLASSIFIER,
        **CLASS_WEIGHT,
        **{name: LIMITS[name] for name in LIMITS if name not in ("max_features", "ccp_alpha")},
        "criterion": CRITERION,
        "n_best": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_best: int = 20,
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        categorical_features: Any = "auto",
        combine: Combine = "majority",
        calibrate: Method | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_best = n_best
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.categorical_features = categorical_features
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier(**{name: getattr(self, name) for name in _OF_TREES})

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        return Perturbation()
