"""CART: binary trees, exact splits, cost-complexity pruning.

References
----------
Breiman, Friedman, Olshen and Stone (1984). Classification and Regression Trees. Wadsworth.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.forest.pruning import PruningPath, prune_to_alpha, pruning_path
from orfeon.growth import Growth, grow_pruned_forest
from orfeon.growth.cross_validated import CrossValidation, KeepASplit
from orfeon.trees.base import (
    CRITERION,
    LIMITS,
    MONOTONIC,
    TIES,
    BaseTree,
    Criterion,
    MemberSamples,
    Ties,
    TreeClassifierMixin,
    TreeRegressorMixin,
    features_per_node,
)
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Integers

PruningRule = Literal["1se", "min"]


@saved.attributes(cross_validation_=saved.optional(saved.instance("CrossValidation")))
class _CART(BaseTree):
    """The growth and pruning that classification and regression trees share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LIMITS,
        **MONOTONIC,
        "pruning": [StrOptions({"cv"}), Interval(Real, 0.0, None, closed="left"), None],
        "pruning_rule": [StrOptions({"1se", "min"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "keep_a_split": ["boolean", StrOptions({"path"})],
        "equal_rows": [StrOptions({"together", "apart"})],
        "n_best": [Interval(Integral, 1, None, closed="left")],
        "ties": TIES,
        "linear_combinations": ["boolean"],
        "deletion": [Interval(Real, 0.0, 1.0, closed="both")],
        "max_split_samples": [Interval(Integral, 2, None, closed="left"), None],
    }

    pruning: Any
    pruning_rule: PruningRule
    n_folds: int
    keep_a_split: KeepASplit
    equal_rows: Literal["together", "apart"]
    min_impurity_decrease: float
    ccp_alpha: float
    monotonic_cst: Any
    max_features: Any
    n_best: int
    ties: Ties
    linear_combinations: bool
    deletion: float
    max_split_samples: int | None

    @property
    def _cost(self) -> Any:
        """Cost of a leaf in pruning."""
        return "error"

    def _growth(self, n_features: int, n_samples: float) -> Growth:
        searches = {"max_features": None, "n_best": 1, "max_split_samples": None}
        changed = {k: getattr(self, k) for k, v in searches.items() if getattr(self, k) != v}
        if self.linear_combinations and changed:
            raise ValueError(
                f"linear_combinations=True searches all features and samples of a node: {changed} "
                f"must be {searches}."
            )
        if self.n_best > 1 and self.max_split_samples is not None:
            raise ValueError(
                f"n_best={self.n_best} and max_split_samples={self.max_split_samples} exclude each "
                f"other: set n_best=1 or max_split_samples=None."
            )
        return Growth(
            criterion=self._impurity,  # type: ignore[arg-type]
            splitter="linear" if self.linear_combinations else "best",
            **self._size_limits(n_samples),
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=features_per_node(self.max_features, n_features),
            n_best=self.n_best,
            ties=self.ties,
            max_split_samples=self.max_split_samples,
            deletion=self.deletion,
        )

    def _plain_growth(self, data: TrainingSet, n_samples: float) -> Growth | None:
        if self.pruning is not None or self.monotonic_cst is not None:
            return None
        return self._growth(data.table.n_features, n_samples)

    def _is_plain(self) -> bool:
        """Whether nodes are searched in the plain way, and pruned once at most."""
        searches_all = self.n_best == 1 and self.max_split_samples is None
        return searches_all and not self.linear_combinations and self.pruning != "cv"

    def _takes_sparse(self) -> bool:
        return self._is_plain() and self.monotonic_cst is None

    def _takes_outputs(self) -> bool:
        return self._is_plain() and self.pruning is None

    def _prepare(self, data: TrainingSet) -> None:
        super()._prepare(data)
        if isinstance(self.pruning, str):
            _ = self._fold_groups(data)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        data = super()._read(X, y, sample_weight, reset=reset)
        # Copies that a weight counts are then samples as others are, in any order.
        return data if self.equal_rows == "together" else data.in_canonical_order()

    def _fold_groups(self, data: TrainingSet) -> Integers:
        """Samples of one group share a fold of the cross-validation."""
        return data.groups if self.equal_rows == "together" else np.arange(len(data))

    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        if self.pruning is not None and self.ccp_alpha > 0:
            raise ValueError(
                f"pruning={self.pruning!r} and ccp_alpha={self.ccp_alpha} exclude each other: "
                "pass one of them."
            )
        growth = self._growth(data.table.n_features, samples.n_samples)
        signs = self._signs(data)
        if isinstance(self.pruning, str):
            if signs is not None:
                raise ValueError(
                    'pruning="cv" does not know monotonic_cst: prune by a number or ccp_alpha, or '
                    "use monotonic_cst=None."
                )
            forest, cross_validation = grow_pruned_forest(
                data.table, data.X, samples.y, n_classes=data.n_classes, seeds=samples.seeds,
                weights=samples.weights, n_samples=samples.n_samples,
                candidates=samples.candidates, growth=growth, n_folds=self.n_folds,
                one_standard_error=self.pruning_rule == "1se", keep_a_split=self.keep_a_split,
                groups=self._fold_groups(data),
            )  # fmt: skip
            return forest, {"cross_validation_": cross_validation}
        forest = self._pruned(samples.grow(data, growth, signs))
        if self.pruning is not None:
            forest = prune_to_alpha(forest, self.pruning, self._cost)
        return forest, {}

    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: Any = None, *, risk: Any = None
    ) -> PruningPath:
        """The nested pruned trees, for choosing ``pruning=alpha``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights.
        risk : {"error", "gini", "entropy", "variance"}, optional
            Cost of a leaf. By default the error for classification, as in the book, and the
            variance for regression; scikit-learn uses the impurity.

        Returns
        -------
        PruningPath
            Breakpoints, risks, leaves.
        """
        whole = type(self)(**{**self.get_params(), "pruning": None, "ccp_alpha": 0.0})
        whole.fit(X, y, sample_weight)
        if whole.n_outputs_ > 1:
            raise ValueError(
                f"y has {whole.n_outputs_} outputs, and a pruning path needs one; try values of "
                "ccp_alpha."
            )
        return pruning_path(whole.forest_, 0, self._cost if risk is None else risk)


@documented()
class CARTClassifier(TreeClassifierMixin, _CART):
    """Classification tree with exact binary splits and cost-complexity pruning.

    Parameters
    ----------
    <criterion>
    pruning : None, "cv" or float, default=None
        No pruning, pruning by cross-validation, or pruning at this cost per leaf (as a share of the
        samples).
    <pruning_choice>
    <size>
    <min_impurity_decrease>
    <ccp_alpha>
    <monotonic_cst>
    <max_features>
    <n_best>
    <tie_rule>
    <linear_combinations>
    <categorical_features>
    <class_factors_of_outputs>
    <ties>

    Attributes
    ----------
    <tree>
    <classes>
    <cross_validation>

    Notes
    -----
    Ordered features are cut halfway between two values; every boundary is a candidate. For a
    categorical feature the best of all subsets of categories is found: with two classes through the
    order of their shares of one class, with more classes by trying each subset, if at most ten
    categories occur in the node. Beyond that, the prefixes of the K orders by the share of each
    class are tried, which is a heuristic.

    Samples with a missing value go together to the side that suits them best. A value that is
    missing at prediction but never in training, and a category absent from the node in training,
    follow the heavier branch.

    A node's label is its majority class; a tie goes to its parent's label if that is among the tied
    classes, otherwise to the first.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> tree = CARTClassifier(pruning="cv", random_state=0).fit(X, y)
    >>> tree.get_n_leaves(), round(tree.score(X, y), 2)
    (9, 0.88)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_CART._parameter_constraints,
        "criterion": CRITERION,
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }

    cross_validation_: CrossValidation

    def __init__(
        self,
        *,
        criterion: Criterion = "gini",
        pruning: Literal["cv"] | float | None = None,
        pruning_rule: PruningRule = "1se",
        n_folds: int = 10,
        keep_a_split: KeepASplit = True,
        equal_rows: Literal["together", "apart"] = "together",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_features: Any = None,
        n_best: int = 1,
        ties: Ties = "random",
        linear_combinations: bool = False,
        deletion: float = 0.2,
        max_split_samples: int | None = None,
        categorical_features: Any = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.pruning = pruning
        self.pruning_rule = pruning_rule
        self.n_folds = n_folds
        self.keep_a_split = keep_a_split
        self.equal_rows = equal_rows
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_features = max_features
        self.n_best = n_best
        self.ties = ties
        self.linear_combinations = linear_combinations
        self.deletion = deletion
        self.max_split_samples = max_split_samples
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state


@documented()
class CARTRegressor(TreeRegressorMixin, _CART):
    """Regression tree with exact binary splits and cost-complexity pruning.

    Parameters
    ----------
    pruning : None, "cv" or float, default=None
        No pruning, pruning by cross-validation, or pruning at this cost per leaf (in units of the
        variance).
    <pruning_choice>
    <size>
    <min_impurity_decrease>
    <ccp_alpha>
    <monotonic_cst>
    <max_features>
    <n_best>
    <tie_rule>
    <linear_combinations>
    <categorical_features>
    <ties>

    Attributes
    ----------
    <tree>
    <cross_validation>

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> tree = CARTRegressor(max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> tree.get_n_leaves(), round(tree.score(X, y), 2)
    (8, 0.7)
    """

    cross_validation_: CrossValidation

    def __init__(
        self,
        *,
        pruning: Literal["cv"] | float | None = None,
        pruning_rule: PruningRule = "1se",
        n_folds: int = 10,
        keep_a_split: KeepASplit = True,
        equal_rows: Literal["together", "apart"] = "together",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_features: Any = None,
        n_best: int = 1,
        ties: Ties = "random",
        linear_combinations: bool = False,
        deletion: float = 0.2,
        max_split_samples: int | None = None,
        categorical_features: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.pruning = pruning
        self.pruning_rule = pruning_rule
        self.n_folds = n_folds
        self.keep_a_split = keep_a_split
        self.equal_rows = equal_rows
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_features = max_features
        self.n_best = n_best
        self.ties = ties
        self.linear_combinations = linear_combinations
        self.deletion = deletion
        self.max_split_samples = max_split_samples
        self.categorical_features = categorical_features
        self.random_state = random_state

    @property
    def _cost(self) -> Any:
        return "variance"
