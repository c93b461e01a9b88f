"""Trees whose tests are drawn at random.

References
----------
Fan, Wang, Yu and Ma (2003). Is random model better? On its accuracy and efficiency. ICDM, 51-58.

Geurts, Ernst and Wehenkel (2006). Extremely randomized trees. Machine Learning 63(1), 3-42.
"""

from __future__ import annotations

from typing import Any, ClassVar

from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.growth import Growth
from orfeon.growth.engine import prepare_table
from orfeon.trees.base import (
    CRITERION,
    LIMITS,
    MONOTONIC,
    BaseTree,
    Criterion,
    MemberSamples,
    TreeClassifierMixin,
    TreeRegressorMixin,
    features_per_node,
)
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions


class _RandomTree(BaseTree):
    """The growth that random classification and regression trees share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {**LIMITS, **MONOTONIC}

    max_features: Any
    min_impurity_decrease: float
    ccp_alpha: float
    monotonic_cst: Any

    def _takes_sparse(self) -> bool:
        return self.monotonic_cst is None

    def _takes_outputs(self) -> bool:
        return True

    def _prepare(self, data: TrainingSet) -> None:
        # Several outputs, and constraints, read the presorted table.
        reads_sorted = data.y.ndim > 1 or self.monotonic_cst is not None
        prepare_table(data.table, Growth(splitter="best" if reads_sorted else "random"))

    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        growth = Growth(
            criterion=self._impurity,  # type: ignore[arg-type]
            splitter="random",
            **self._size_limits(samples.n_samples),
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=features_per_node(self.max_features, data.table.n_features),
        )
        return self._pruned(samples.grow(data, growth, self._signs(data))), {}


@documented()
class RandomTreeClassifier(TreeClassifierMixin, _RandomTree):
    """Tree of random splits: each candidate feature is cut at a random threshold.

    With ``max_features=1`` the test is completely random (Fan et al. 2003); with more, the best of
    that many random cuts is taken (Geurts et al. 2006).

    Parameters
    ----------
    max_features : int, float, "sqrt", "log2" or None, default=1
        Features to cut at each node; ``None`` for all.
        <log2>
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        How cuts are compared; "log_loss" is another name for "entropy", and "error" is the
        classification error.
    <limits>
    <min_impurity_decrease>
    <ccp_alpha>
    <monotonic_cst>
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        Which features are categorical; these are split into random subsets.
    <class_factors_of_outputs>
    <random_state>

    Attributes
    ----------
    <tree>
    <classes>

    Examples
    --------
    >>> from orfeon import RandomTreeClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> RandomTreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_RandomTree._parameter_constraints,
        "criterion": CRITERION,
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        max_features: Any = 1,
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
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
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
        self.class_weight = class_weight
        self.random_state = random_state


@documented()
class RandomTreeRegressor(TreeRegressorMixin, _RandomTree):
    """Regression tree of random splits: each candidate feature is cut at a random threshold.

    Parameters
    ----------
    max_features : int, float, "sqrt", "log2" or None, default=1
        Features to cut at each node; ``None`` for all.
        <log2>
    <limits>
    <min_impurity_decrease>
    <ccp_alpha>
    <monotonic_cst>
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        Which features are categorical; these are split into random subsets.
    <random_state>

    Attributes
    ----------
    <tree>

    Examples
    --------
    >>> from orfeon import RandomTreeRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> RandomTreeRegressor(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        max_features: Any = 1,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "auto",
        random_state: Any = None,
    ) -> None:
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
        self.random_state = random_state
