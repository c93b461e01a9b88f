"""Extremely randomised trees: all samples, random cuts of random features.

References
----------
Geurts, Ernst and Wehenkel (2006). Extremely randomized trees. Machine Learning 63(1), 3-42.

Fan, Wang, Yu and Ma (2003). Is random model better? On its accuracy and efficiency. ICDM, 51-58.
"""

from __future__ import annotations

from typing import Any, ClassVar

from orfeon.calibration.methods import Method
from orfeon.ensembles.bagging import SAMPLING, Bootstrap, Resampling
from orfeon.ensembles.base import ENSEMBLE
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import LEAVING_OUT, Importance
from orfeon.ensembles.voting import (
    CLASS_WEIGHT_OF_TREES,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.trees.base import CRITERION, LIMITS, MONOTONIC, Criterion
from orfeon.trees.random_tree import RandomTreeClassifier, RandomTreeRegressor
from orfeon.utils.documentation import documented

#: Parameters that are passed to each tree.
_OF_TREES = (
    "max_features", "max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "min_impurity_decrease", "ccp_alpha", "monotonic_cst",
    "categorical_features",
)  # fmt: skip


class _ExtraTrees(Resampling):
    """Random cuts."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **SAMPLING,
        **LEAVING_OUT,
        **LIMITS,
        **MONOTONIC,
    }

    def _tree_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OF_TREES}


@documented(n_estimators="100", bootstrap="False")
class ExtraTreesClassifier(VotingClassifierMixin, _ExtraTrees):
    """Vote of trees with random splits.

    Parameters
    ----------
    <n_estimators>
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Features cut at random at each node, of which the best cut is taken; with 1 the tree ignores
        the classes (Fan et al. 2003).
        <log2>
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        How cuts are compared; "log_loss" is another name for "entropy", and "error" is the
        classification error.
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

    Examples
    --------
    >>> from orfeon import ExtraTreesClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> ExtraTreesClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ExtraTrees._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT_OF_TREES,
        "criterion": CRITERION,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = "sqrt",
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
        bootstrap: Bootstrap = False,
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
        return RandomTreeClassifier(criterion=self.criterion, **of_trees)


@documented(n_estimators="100", bootstrap="False")
class ExtraTreesRegressor(AveragingRegressorMixin, _ExtraTrees):
    """Mean of trees with random splits.

    Parameters
    ----------
    <n_estimators>
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features cut at random at each node, of which the best cut is taken; all by default.
        <log2>
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
    >>> from orfeon import ExtraTreesRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(1000, random_state=1)
    >>> round(ExtraTreesRegressor(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.77
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ExtraTrees._parameter_constraints,
        **REGRESSOR,
        "quantiles": ["boolean"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "auto",
        bootstrap: Bootstrap = False,
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
        return RandomTreeRegressor(**self._tree_parameters())
