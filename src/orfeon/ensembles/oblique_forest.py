"""Forest-RC: bagged trees whose nodes cut random linear combinations of features.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32, section 5.
"""

from __future__ import annotations

from typing import Any, ClassVar

from orfeon.calibration.methods import Method
from orfeon.ensembles.bagging import SAMPLING, Bootstrap, Resampling
from orfeon.ensembles.base import ENSEMBLE
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import LEAVING_OUT, Importance
from orfeon.ensembles.voting import (
    CLASS_WEIGHT,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.trees.base import CRITERION, LIMITS, Criterion
from orfeon.trees.oblique import OBLIQUE, ObliqueTreeClassifier, ObliqueTreeRegressor
from orfeon.utils.documentation import documented

#: Parameters that are passed to each tree.
_OF_TREES = (
    "n_combinations", "n_combined", "max_depth", "max_leaf_nodes", "min_samples_split",
    "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease",
    "categorical_features",
)  # fmt: skip


class _ObliqueForest(Resampling):
    """Bootstrap samples and random linear combinations."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **SAMPLING,
        **LEAVING_OUT,
        **{name: LIMITS[name] for name in LIMITS if name not in ("max_features", "ccp_alpha")},
        **OBLIQUE,
    }

    def _tree_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OF_TREES}


@documented(n_estimators="100", bootstrap="True")
class ObliqueForestClassifier(VotingClassifierMixin, _ObliqueForest):
    """Vote of oblique trees grown from bootstrap samples (Forest-RC).

    Parameters
    ----------
    <n_estimators>
    n_combinations : int, default=8
        Linear combinations drawn at each node, from which the best cut is taken; 2 and 8 in the
        paper.
    n_combined : int, default=3
        Features in each combination, with coefficients uniform in [-1, 1].
    <criterion>
    <limits>
    <min_impurity_decrease>
    <categorical_features>
    <bootstrap>
    <combine>
    <calibrate>
    <class_weight>
    <leaving_out>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>
    <oob_classes>

    Notes
    -----
    Features are combined unscaled; standardise them first if their scales differ widely.

    Examples
    --------
    >>> from orfeon import ObliqueForestClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> forest = ObliqueForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(forest.oob_error_, 2)
    0.14
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ObliqueForest._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT,
        "criterion": CRITERION,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_combinations: int = 8,
        n_combined: int = 3,
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
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
        self.n_combinations = n_combinations
        self.n_combined = n_combined
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
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
        return ObliqueTreeClassifier(criterion=self.criterion, **self._tree_parameters())


@documented(n_estimators="100", bootstrap="True")
class ObliqueForestRegressor(AveragingRegressorMixin, _ObliqueForest):
    """Mean of oblique trees grown from bootstrap samples (Forest-RC).

    Parameters
    ----------
    <n_estimators>
    n_combinations : int, default=8
        Linear combinations drawn at each node, from which the best cut is taken.
    n_combined : int, default=3
        Features in each combination, with coefficients uniform in [-1, 1].
    <limits>
    <min_impurity_decrease>
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
    >>> from orfeon import ObliqueForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> forest = ObliqueForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> round(forest.oob_score_, 2)
    0.66
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ObliqueForest._parameter_constraints,
        **REGRESSOR,
        "quantiles": ["boolean"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_combinations: int = 8,
        n_combined: int = 3,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
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
        self.n_combinations = n_combinations
        self.n_combined = n_combined
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
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
        return ObliqueTreeRegressor(**self._tree_parameters())
