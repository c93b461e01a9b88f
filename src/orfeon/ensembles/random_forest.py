"""Random forests: bagged trees that choose among random features, at each node or for each tree.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.

Ho (1995). Random decision forests. ICDAR, 278-282.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.bagging import SAMPLING, Bootstrap, Resampling
from orfeon.ensembles.base import ENSEMBLE
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import LEAVING_OUT, Importance
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.subspace import draw_features
from orfeon.ensembles.voting import (
    CLASS_WEIGHT_OF_TREES,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.trees import CARTClassifier, CARTRegressor
from orfeon.trees.base import CRITERION, LIMITS, MONOTONIC, Criterion, features_per_node
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions

FeaturesPer = Literal["node", "tree"]

#: Parameters that are passed to each tree.
_OF_TREES = (
    "max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "min_impurity_decrease", "ccp_alpha", "monotonic_cst",
    "categorical_features",
)  # fmt: skip


@saved.attributes(_n_features_drawn=saved.in_files("_n_attributes_drawn", saved.integer(1)))
class _RandomForest(Resampling):
    """Bootstrap samples and random features."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **SAMPLING,
        **LEAVING_OUT,
        **LIMITS,
        **MONOTONIC,
        "features_per": [StrOptions({"node", "tree"})],
    }

    max_features: Any
    features_per: FeaturesPer

    def _tree_parameters(self) -> dict[str, Any]:
        of_trees = {name: getattr(self, name) for name in _OF_TREES}
        at_nodes = self.max_features if self.features_per == "node" else None
        return {**of_trees, "max_features": at_nodes}

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        super()._prepare(samples, members)
        n_drawn = features_per_node(self.max_features, samples.n_features)
        self._n_features_drawn = samples.n_features if n_drawn is None else n_drawn

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        counts = self._draw(samples, rng, member)
        if self.features_per == "node":
            return Perturbation(weights=counts)
        features = draw_features(samples.n_features, self._n_features_drawn, rng)
        return Perturbation(weights=counts, features=features)


@documented(n_estimators="100", bootstrap="True")
class RandomForestClassifier(VotingClassifierMixin, _RandomForest):
    """Vote of unpruned trees grown from bootstrap samples, with random features at each node.

    Parameters
    ----------
    <n_estimators>
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Features drawn: a number, a share or a rule; ``None`` for all.
        <log2>
    features_per : {"node", "tree"}, default="node"
        Whether features are drawn at each node, or once for each tree.
    <criterion>
    <limits>
    <min_impurity_decrease>
    <ccp_alpha>
    <monotonic_cst>
    <categorical_features>
    <bootstrap>
    <combine>
    <calibrate>
    <class_weight_of_trees>
    <leaving_out>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>
    <oob_classes>

    See Also
    --------
    orfeon.inspection.proximities : How often two rows share a leaf.
    orfeon.inspection.forest_weights : A forest as a weighted neighbourhood.

    Examples
    --------
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(forest.oob_error_, 2)
    0.16
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_RandomForest._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT_OF_TREES,
        "criterion": CRITERION,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = "sqrt",
        features_per: FeaturesPer = "node",
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "auto",
        bootstrap: Bootstrap = True,
        max_samples: float | None = 1.0,
        combine: Combine = "majority",
        calibrate: Method | None = None,
        class_weight: Any = None,
        oob_score: bool = False,
        importance: Importance = "impurity",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.features_per = features_per
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.importance = importance
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        of_trees = {**self._tree_parameters(), "class_weight": self._class_weight_of_trees}
        return CARTClassifier(criterion=self.criterion, **of_trees)


@documented(n_estimators="100", bootstrap="True")
class RandomForestRegressor(AveragingRegressorMixin, _RandomForest):
    """Mean of unpruned trees grown from bootstrap samples, with random features at each node.

    Parameters
    ----------
    <n_estimators>
    max_features : int, float, "sqrt", "log2" or None, default=1/3
        Features drawn: a number, a share or a rule; ``None`` for all.
        <log2>
    features_per : {"node", "tree"}, default="node"
        Whether features are drawn at each node, or once for each tree.
    <limits>
    <min_impurity_decrease>
    <ccp_alpha>
    <monotonic_cst>
    <categorical_features>
    <bootstrap>
    <combine_numbers>
    <leaving_out>
    <quantiles>
    <fitting>

    Attributes
    ----------
    <members>
    <oob_predictions>

    Examples
    --------
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> forest = RandomForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> round(forest.oob_score_, 2)
    0.65
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_RandomForest._parameter_constraints,
        **REGRESSOR,
        "quantiles": ["boolean"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = 1 / 3,
        features_per: FeaturesPer = "node",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "auto",
        bootstrap: Bootstrap = True,
        max_samples: float | None = 1.0,
        combine: Combine = "mean",
        oob_score: bool = False,
        importance: Importance = "impurity",
        quantiles: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.features_per = features_per
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.combine = combine
        self.oob_score = oob_score
        self.importance = importance
        self.quantiles = quantiles
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor(**self._tree_parameters())
