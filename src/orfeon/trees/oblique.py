"""Trees whose tests are cuts of random linear combinations of features.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32, section 5 (Forest-RC).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.growth import Growth
from orfeon.trees.base import (
    CRITERION,
    LIMITS,
    BaseTree,
    Criterion,
    MemberSamples,
    TreeClassifierMixin,
    TreeRegressorMixin,
)
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions

OBLIQUE: dict[str, list[Any]] = {
    "n_combinations": [Interval(Integral, 1, None, closed="left")],
    "n_combined": [Interval(Integral, 1, None, closed="left")],
}


class _ObliqueTree(BaseTree):
    """The growth that oblique classification and regression trees share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: LIMITS[name] for name in LIMITS if name != "max_features"},
        **OBLIQUE,
    }

    n_combinations: int
    n_combined: int
    min_impurity_decrease: float

    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        growth = Growth(
            criterion=self._impurity,  # type: ignore[arg-type]
            splitter="oblique",
            **self._size_limits(samples.n_samples),
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=self.n_combinations,
            n_combined=self.n_combined,
        )
        return samples.grow(data, growth), {}


@documented()
class ObliqueTreeClassifier(TreeClassifierMixin, _ObliqueTree):
    """Classification tree that cuts random linear combinations of features.

    Each node draws ``n_combinations`` linear combinations of ``n_combined`` features, with
    coefficients uniform in [-1, 1], and takes the best cut over all combinations.

    Parameters
    ----------
    n_combinations : int, default=8
        Linear combinations drawn at each node.
    n_combined : int, default=3
        Maximum number of features in a combination.
    <criterion>
    <limits>
    <min_impurity_decrease>
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        Which features are categorical; they are not combined with others, but split on their own
        when drawn.
    <class_factors>
    <random_state>

    Attributes
    ----------
    <tree>
    <classes>

    Notes
    -----
    Features are combined unscaled; standardise them first if their scales differ widely. A
    combination is missing if one of its features is.

    Examples
    --------
    >>> from orfeon import ObliqueTreeClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> ObliqueTreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ObliqueTree._parameter_constraints,
        "criterion": CRITERION,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
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
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
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
        self.class_weight = class_weight
        self.random_state = random_state


@documented()
class ObliqueTreeRegressor(TreeRegressorMixin, _ObliqueTree):
    """Regression tree that cuts random linear combinations of features.

    Parameters
    ----------
    n_combinations : int, default=8
        Linear combinations drawn at each node.
    n_combined : int, default=3
        Maximum number of features in a combination.
    <limits>
    <min_impurity_decrease>
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        Which features are categorical; they are not combined with others, but split on their own
        when drawn.
    <random_state>

    Attributes
    ----------
    <tree>

    Examples
    --------
    >>> from orfeon import ObliqueTreeRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> ObliqueTreeRegressor(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
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
        random_state: Any = None,
    ) -> None:
        self.n_combinations = n_combinations
        self.n_combined = n_combined
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.categorical_features = categorical_features
        self.random_state = random_state
