"""What every single tree shares: reading the data, predicting, and showing itself.

A tree estimator is thin: it says how its forest of one is grown (:meth:`BaseTree._grow`).
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils import _safe_indexing, assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
)

from orfeon.forest import Forest
from orfeon.importance import impurity_importances
from orfeon.schema import Schema
from orfeon.seeding import seed_sequence
from orfeon.table import Table
from orfeon.trees.limits import n_examples

Floats = npt.NDArray[np.float64]

#: Sums of squares of targets up to this stay finite.
_LARGEST_TARGET = 1e150


@dataclass(frozen=True)
class TrainingData:
    """A training set, read and prepared.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_attributes)
        Encoded rows of positive weight.
    y : ndarray of shape (n_rows,)
        Class codes or targets.
    weights : ndarray of shape (n_rows,)
        Their weights, those of their classes among them.
    n_examples : float
        How many examples they stand for: the sum of sample weights that are whole numbers, else
        the number of rows.
    rows : ndarray of shape (n_rows,)
        Which of the rows given these are.
    n_given : int
        How many rows were given, those of weight 0 among them.
    n_classes : int
        Number of classes, 0 in regression.
    table : Table
        The prepared table.
    seeds : numpy.random.SeedSequence
        Source of all randomness.
    """

    X: Floats
    y: npt.NDArray[Any]
    weights: Floats
    n_examples: float
    rows: npt.NDArray[np.int64]
    n_given: int
    n_classes: int
    table: Table
    seeds: np.random.SeedSequence


class BaseTree(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A single tree.

    Subclasses give :meth:`_grow` and have the parameters ``categorical_features`` and
    ``random_state``.
    """

    forest_: Forest
    schema_: Schema
    n_features_in_: int
    categorical_features: Any
    random_state: Any

    @abstractmethod
    def _grow(self, data: TrainingData) -> Forest:
        """Grow the forest of one tree."""

    @property
    def _impurity(self) -> str:
        """The impurity that importances are measured in."""
        return str(getattr(self, "criterion", "gini"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # -- reading the data ----------------------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """Check and encode a training set; rows of weight 0 are dropped as if never given."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        y = self._read_target(y)
        _check_feature_names(self, X, reset=True)
        n_given = len(y)
        rows = np.arange(n_given)
        weights = np.ones(n_given)
        if sample_weight is not None:
            _check_length(y, _num_samples(X))
            weights = self._read_weights(sample_weight, y)
            if not weights.all():
                rows = np.flatnonzero(weights)
                X, y, weights = _safe_indexing(X, rows), y[rows], weights[rows]
        self.schema_, encoded = Schema.learn_and_encode(X, self.categorical_features)
        _check_length(y, len(encoded))
        self.n_features_in_ = self.schema_.n_attributes
        many = n_examples(weights)
        codes, n_classes, weights = self._code_target(y, weights)
        table = Table(encoded, self.schema_)
        seeds = seed_sequence(self.random_state)
        return TrainingData(encoded, codes, weights, many, rows, n_given, n_classes, table, seeds)

    def _read_weights(self, sample_weight: Any, y: npt.NDArray[Any]) -> Floats:
        weights: Floats = _check_sample_weight(
            sample_weight, np.empty((len(y), 1)), dtype=np.float64, ensure_non_negative=True
        )
        if not weights.any():
            raise ValueError(
                "sample_weight is zero for every example; at least one weight must be positive."
            )
        return weights

    def _read_target(self, y: Any) -> npt.NDArray[Any]:
        target = column_or_1d(y, warn=True)
        assert_all_finite(target, input_name="y", estimator_name=type(self).__name__)
        return np.asarray(target)

    @abstractmethod
    def _code_target(
        self, y: npt.NDArray[Any], weights: Floats
    ) -> tuple[npt.NDArray[Any], int, Floats]:
        """The target as the engine wants it, the number of classes (or 0), the final weights."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The examples; missing values and categories are welcome.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the example out, 2 as giving it twice.

        Returns
        -------
        self
            The fitted tree.
        """
        self.forest_ = self._grow(self._read(X, y, sample_weight))
        return self

    def _encode(self, X: Any) -> Floats:
        """Turn rows to predict into numbers; a clean matrix is only looked at, not copied."""
        check_is_fitted(self, "forest_")
        if (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and X.shape[1] == self.n_features_in_
            and len(X)
            and self.schema_.all_ordered
            and not hasattr(self, "feature_names_in_")
            and _is_surely_finite(X)
        ):
            return X
        _check_feature_names(self, X, reset=False)
        if hasattr(X, "shape") and len(X.shape) == 2 and X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return self.schema_.encode(X)

    # -- looking at the tree -------------------------------------------------------------------

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
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
        X : array or data frame of shape (n_rows, n_attributes)
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
        """Share of each attribute in the impurity decrease of the tree."""
        check_is_fitted(self, "forest_")
        return impurity_importances(self.forest_, self._impurity)


def _check_length(y: npt.NDArray[Any], n_rows: int) -> None:
    if len(y) != n_rows:
        raise ValueError(
            f"y has {len(y)} values and X has {n_rows} rows; one value for each row is expected."
        )


def _is_surely_finite(X: Floats) -> bool:
    """Whether the sum is finite, so that all terms are; it may also be too large for a float."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


class TreeClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    """The classifier's side of a tree."""

    classes_: npt.NDArray[Any]
    n_classes_: int
    forest_: Forest

    def _read_target(self, y: Any) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = super()._read_target(y)
        if target.dtype == object and len({isinstance(c, str) for c in target.tolist()}) == 2:
            raise ValueError(
                "y mixes strings with other values; classes are all strings or all numbers, and "
                "none is missing."
            )
        check_classification_targets(target)
        return target

    def _code_target(
        self, y: npt.NDArray[Any], weights: Floats
    ) -> tuple[npt.NDArray[Any], int, Floats]:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ > np.iinfo(np.uint16).max:
            raise ValueError(
                f"y has {self.n_classes_} classes; at most {np.iinfo(np.uint16).max} are allowed. "
                "Is this a regression problem?"
            )
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None:
            weights = weights * self._class_factors(class_weight, y, weights)
        return codes, self.n_classes_, weights

    @staticmethod
    def _class_factors(class_weight: Any, y: npt.NDArray[Any], weights: Floats) -> Floats:
        if isinstance(class_weight, str):
            # "balanced" over the weighted sample, so that a weight of 2 is still two copies.
            classes, codes = np.unique(y, return_inverse=True)
            share = np.bincount(codes, weights=weights)
            factors = (weights.sum() / (len(classes) * share))[codes]
        else:
            factors = np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
        total = float(weights @ factors)
        if (factors < 0).any() or not 0 < total < np.inf:
            raise ValueError(
                f"class_weight={class_weight} is not allowed: weights of classes are finite, not "
                "negative, and not all zero."
            )
        # In steps that the engine's fixed-point weights hold, so that two copies of an example
        # weigh exactly twice as much as one.
        step = np.exp2(np.ceil(np.log2(total)) - 50)
        return np.asarray(np.where(factors > 0, np.maximum(np.rint(factors / step), 1), 0) * step)

    def predict_proba(self, X: Any) -> Floats:
        """Class shares of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        encoded: Floats = self._encode(X)
        return self.forest_.mean_supports(encoded)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class shares.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms; minus infinity where a share is zero.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        encoded: Floats = self._encode(X)
        return np.asarray(self.classes_[self.forest_.predict(encoded)])


class TreeRegressorMixin(RegressorMixin):  # type: ignore[misc]
    """The regressor's side of a tree."""

    forest_: Forest

    @property
    def _impurity(self) -> str:
        return "variance"

    def _read_target(self, y: Any) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = super()._read_target(y)
        try:
            numbers = target.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers only: {error}.") from error
        assert_all_finite(numbers, input_name="y", estimator_name=type(self).__name__)
        if len(numbers) and np.abs(numbers).max() > _LARGEST_TARGET:
            raise ValueError(
                f"y has values beyond {_LARGEST_TARGET:g}, whose variance no float holds; divide y "
                "by a power of ten."
            )
        return numbers

    def _code_target(
        self, y: npt.NDArray[Any], weights: Floats
    ) -> tuple[npt.NDArray[Any], int, Floats]:
        return y, 0, weights

    def predict(self, X: Any) -> Floats:
        """Mean target of the leaf that each row reaches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        encoded: Floats = self._encode(X)
        return np.asarray(self.forest_.predict(encoded))
