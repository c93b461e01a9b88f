"""The base of all single trees: size limits, growing, predicting.

A tree estimator is thin: it defines how trees are grown (:meth:`BaseTree._grow`). Fitted alone, it
grows one tree from the training set; an ensemble passes the samples of all its members at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from orfeon.base import (
    TabularClassifierMixin,
    TabularEstimator,
    TabularRegressorMixin,
    transactional,
)
from orfeon.data.monotone import monotone_signs
from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.forest.importance import impurity_importances
from orfeon.forest.pruning import prune_to_alpha
from orfeon.growth import Growth, grow_forest
from orfeon.growth.engine import prepare_table
from orfeon.growth.monotone import grow_monotone
from orfeon.growth.several_outputs import grow_several_outputs
from orfeon.utils import saved
from orfeon.utils.scikit_learn import Interval, StrOptions, _fit_context
from orfeon.utils.seeding import tree_seeds
from orfeon.utils.types import Floats, Integers

Criterion = Literal["gini", "entropy", "log_loss", "error"]
Ties = Literal["random", "first"]

#: Constraints on the parameters that CART and its relatives share, for scikit-learn's validation.
LIMITS: dict[str, list[Any]] = {
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "categorical_features": [StrOptions({"auto"}), "array-like", Iterable, None],
    "random_state": ["random_state", np.random.Generator, np.random.SeedSequence],
}

#: Constraints on the features that predictions rise or fall with.
MONOTONIC: dict[str, list[Any]] = {"monotonic_cst": ["array-like", Mapping, None]}
#: Constraints on the impurity of classification trees; "log_loss" is scikit-learn's other name.
CRITERION: list[Any] = [StrOptions({"gini", "entropy", "log_loss", "error"})]
#: Constraints on how ties between equally good splits are broken.
TIES: list[Any] = [StrOptions({"random", "first"})]


def least_weight(limit: float, total: float) -> float:
    """A minimum size given as a number of samples, or as a share of their total weight."""
    return float(np.ceil(limit * total)) if limit < 1 else float(limit)


def features_per_node(max_features: Any, n_features: int) -> int | None:
    if max_features is None:
        return None
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return int(np.log2(n_features) + 1)
    if isinstance(max_features, int | np.integer):
        if max_features > n_features:
            raise ValueError(
                f"max_features={max_features} is more than the {n_features} features of X."
            )
        return int(max_features)
    return max(1, int(max_features * n_features))


@dataclass(frozen=True)
class MemberSamples:
    """Seeds, weights and targets of several trees grown from one training set."""

    seeds: npt.NDArray[np.uint64]
    weights: npt.NDArray[Any]
    y: npt.NDArray[Any]
    n_samples: float
    weighs_classes: bool = False
    candidates: npt.NDArray[np.int64] | None = None
    halves: npt.NDArray[np.uint8] | None = None
    #: Whether it is the tree of an estimator that is fitted alone, and no member.
    is_alone: bool = False

    def grow(self, data: TrainingSet, growth: Growth, signs: Integers | None = None) -> Forest:
        """Grow the trees, unpruned; ``signs`` are those of features with a constraint."""
        if signs is not None:
            return self._grow_monotone(data, growth, signs)
        if self.y.ndim > 2:
            return grow_several_outputs(
                data.table, self.y, n_classes=data.output_classes, seeds=self.seeds,
                weights=self.weights, n_samples=self.n_samples, candidates=self.candidates,
                growth=growth,
            )  # fmt: skip
        return grow_forest(
            data.table, self.y, n_classes=data.n_classes, seeds=self.seeds, weights=self.weights,
            n_samples=self.n_samples, candidates=self.candidates, growth=growth,
        )  # fmt: skip

    def _grow_monotone(self, data: TrainingSet, growth: Growth, signs: Integers) -> Forest:
        if self.y.ndim > 2:
            # scikit-learn's tests look for the first words.
            raise ValueError(
                "Monotonicity constraints are not supported with multiple outputs: fit an "
                "estimator for each output, or use monotonic_cst=None."
            )
        return grow_monotone(
            data.table, self.y, signs, n_classes=data.n_classes, seeds=self.seeds,
            weights=self.weights, n_samples=self.n_samples, candidates=self.candidates,
            growth=growth,
        )  # fmt: skip


@saved.attributes(forest_=saved.instance("Forest"))
class BaseTree(TabularEstimator):
    """A single tree.

    Subclasses define :meth:`_grow` and have the parameters ``categorical_features`` and
    ``random_state``.
    """

    forest_: Forest
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float

    @abstractmethod
    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        """Grow a tree from each member's samples; also the attributes of a tree fitted alone."""

    def _size_limits(self, n_samples: float) -> dict[str, Any]:
        """The parameters that limit the size of a tree, as :class:`Growth` takes them."""
        return {
            "max_depth": self.max_depth,
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_split": least_weight(self.min_samples_split, n_samples),
            "min_samples_leaf": least_weight(self.min_samples_leaf, n_samples),
            "min_weight_fraction_leaf": self.min_weight_fraction_leaf,
        }

    def _prepare(self, data: TrainingSet) -> None:
        """Compute what all trees share before threads start."""
        prepare_table(data.table, self._plain_growth(data, data.n_samples))

    def _plain_growth(self, data: TrainingSet, n_samples: float) -> Growth | None:
        """How trees are grown, if they are neither pruned nor grown from halves."""
        return None

    @property
    def _takes_encoded(self) -> bool:
        return True

    @property
    def _impurity(self) -> str:
        """The impurity that importances are measured in."""
        criterion = str(getattr(self, "criterion", "gini"))
        return "entropy" if criterion == "log_loss" else criterion

    def _signs(self, data: TrainingSet) -> Integers | None:
        """The features that ``monotonic_cst`` constrains."""
        return monotone_signs(getattr(self, "monotonic_cst", None), data.schema)

    def _pruned(self, forest: Forest) -> Forest:
        """The trees, pruned as ``ccp_alpha`` says."""
        alpha: float = getattr(self, "ccp_alpha", 0.0)
        if alpha > 0 and forest.n_outputs > 1:
            return self._pruned_outputs(forest, alpha)
        return prune_to_alpha(forest, alpha, self._impurity) if alpha > 0 else forest  # type: ignore[arg-type]

    def _pruned_outputs(self, forest: Forest, alpha: float) -> Forest:
        """The same for several outputs, whose impurities are summed."""
        if self._impurity == "entropy":
            raise ValueError(
                'ccp_alpha with several outputs needs criterion="gini", or one output.'
            )
        n_outputs = len(self._output_classes) or forest.n_outputs
        return prune_to_alpha(forest, alpha * n_outputs, "variance")

    @property
    def n_outputs_(self) -> int:
        """Number of outputs."""
        check_is_fitted(self, "forest_")
        return len(self._output_classes) or self.forest_.n_outputs

    def _whole_sample(self, data: TrainingSet) -> MemberSamples:
        """The samples of a tree that is fitted alone."""
        return MemberSamples(
            tree_seeds(data.seeds, 1),
            data.weights[None],
            data.y[None],
            data.n_samples,
            weighs_classes=data.class_factors is not None,
            is_alone=True,
        )

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted tree.
        """
        data = self._read(X, y, sample_weight)
        self.forest_, shown = self._grow(data, self._whole_sample(data))
        for name, value in shown.items():
            setattr(self, name, value)
        return self

    # -- looking at the tree -------------------------------------------------------------------

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Node indices.
        """
        encoded = self._encode(X)
        return self.forest_.apply(encoded)[:, 0]

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Nodes that each row passes through.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            Ones where a row passes through a node.
        """
        encoded = self._encode(X)
        return self.forest_.decision_path(encoded)

    def get_depth(self) -> int:
        """Number of tests on the longest path."""
        check_is_fitted(self, "forest_")
        return int(self.forest_.depth[0])

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "forest_")
        return int(self.forest_.n_leaves[0])

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the impurity decrease of the tree."""
        check_is_fitted(self, "forest_")
        return impurity_importances(self.forest_, self._impurity)


class TreeClassifierMixin(TabularClassifierMixin):
    """Predictions of classification trees."""

    forest_: Forest

    def predict_proba(self, X: Any) -> Any:
        """Class shares of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``. With several outputs, a list with an array for
            each.
        """
        encoded: Floats = self._encode(X)
        shares = self.forest_.mean_supports(encoded)
        return self._by_output(shares) if self._output_classes else shares

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Classes.
        """
        if self._output_classes:
            return self._decide_outputs(self.predict_proba(X))
        encoded: Floats = self._encode(X)
        return np.asarray(self.classes_[self.forest_.predict(encoded)])


class TreeRegressorMixin(TabularRegressorMixin):
    """Predictions of regression trees."""

    forest_: Forest

    @property
    def _impurity(self) -> str:
        return "variance"

    def predict(self, X: Any) -> Floats:
        """Mean target of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Predictions.
        """
        encoded: Floats = self._encode(X)
        if self.forest_.n_outputs > 1:
            return self.forest_.mean_supports(encoded)
        return np.asarray(self.forest_.predict(encoded))
