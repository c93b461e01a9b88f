"""From tables with categories and missing values to scaled numbers, for models that need them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularEstimator, restored_on_failure
from orfeon.data.encoded_rows import EncodedRows
from orfeon.data.schema import Schema
from orfeon.utils import saved
from orfeon.utils.scikit_learn import _check_feature_names
from orfeon.utils.types import Floats, Integers


@saved.attributes(
    fills_=saved.finite_floats,
    means_=saved.finite_floats,
    scales_=saved.array("f8", 1, low=0.0),
    columns_=saved.array("i8", 1, low=-1),
)
class NumericInputs(TransformerMixin, TabularEstimator):  # type: ignore[misc]
    """Ordered features filled with their medians and scaled, categories as zeros and ones.

    Each category has a column, missing values another one if training had some. Of more than
    ``max_categories`` the rare ones share a column, in which new categories fall, too. Rows are
    encoded by the schema, so a composition that knows it need not read a frame for each model.
    """

    fills_: Floats
    means_: Floats
    scales_: Floats
    #: For each category of each categorical feature, and for its missing values, a column; -1: none
    columns_: Integers

    def __init__(self, max_categories: int = 50) -> None:
        self.max_categories = max_categories

    def _categorical_features(self) -> Any:
        return "auto"

    def _code_target(self, y: Any, weights: Any) -> Any:
        raise NotImplementedError  # there is none

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, scales and columns."""
        with restored_on_failure(self):
            _check_feature_names(self, X, reset=True)
            self.schema_, encoded = Schema.learn_and_encode(X)
            self.n_features_in_ = self.schema_.n_features
            numbers = encoded[:, ~self.schema_.is_categorical]
            self.fills_ = _medians(numbers)
            self.means_, self.scales_ = _means_and_scales(_filled(numbers, self.fills_))
            self.columns_ = self._places(encoded)
        return self

    def _places(self, encoded: Floats) -> Integers:
        """The column of each category, after those of the numbers."""
        first, places = len(self.fills_), [np.zeros(0, np.int64)]
        for feature in np.flatnonzero(self.schema_.is_categorical):
            n_codes = int(self.schema_.n_categories[feature])
            codes = np.nan_to_num(encoded[:, feature], nan=n_codes).astype(np.int64)
            counts = np.bincount(codes, minlength=n_codes + 1)
            own = _own_places(counts, self.max_categories)
            places.append(np.where(own < 0, -1, own + first))
            first += int(own.max()) + 1
        return np.concatenate(places)

    @property
    def n_outputs_(self) -> int:
        """Number of columns."""
        return max(len(self.fills_), int(self.columns_.max(initial=-1)) + 1)

    def transform(self, X: Any) -> Floats:
        """Rows as numbers."""
        check_is_fitted(self, "columns_")
        encoded = self._encode(X)
        is_categorical = self.schema_.is_categorical
        numbers = encoded[:, ~is_categorical]
        found = np.zeros((len(encoded), self.n_outputs_))
        found[:, : numbers.shape[1]] = (_filled(numbers, self.fills_) - self.means_) / self.scales_
        if is_categorical.any():
            n_codes = self.schema_.n_categories[is_categorical]
            codes = encoded[:, is_categorical]
            starts = np.cumsum(n_codes + 1) - (n_codes + 1)
            at = np.where(np.isnan(codes), n_codes, codes).astype(np.int64) + starts
            columns = self.columns_[at]
            rows, which = np.nonzero(columns >= 0)
            found[rows, columns[rows, which]] = 1.0
        return found

    @property
    def _takes_encoded(self) -> bool:
        return True


def inputs_of(model: Any) -> NumericInputs | None:
    """The first step of a pipeline that begins with numeric inputs."""
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], NumericInputs):
        return model.steps[0][1]
    return None


def takes_encoded(estimator: Any, rows: EncodedRows) -> bool:
    """Whether a fitted estimator takes rows that its composition has encoded."""
    reader = inputs_of(estimator) or estimator
    return (
        isinstance(reader, TabularEstimator)
        and reader._takes_encoded
        and reader.schema_ == rows.schema
    )


def _filled(numbers: Floats, fills: Floats) -> Floats:
    return np.where(np.isnan(numbers), fills, numbers)


def _medians(numbers: Floats) -> Floats:
    """The median of each column; 0 where all values are missing."""
    present = [column[~np.isnan(column)] for column in numbers.T]
    return np.array([np.median(values) if len(values) else 0.0 for values in present])


def _means_and_scales(numbers: Floats) -> tuple[Floats, Floats]:
    """Means and standard deviations; constants, and numbers too large to square, become 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        means, scales = numbers.mean(axis=0), numbers.std(axis=0)
    is_small = scales <= len(numbers) * np.finfo(np.float64).eps * np.abs(means)
    scales = np.where(is_small, 1.0, scales)
    is_large = ~np.isfinite(scales)
    return np.where(is_large, 0.0, means), np.where(is_large, np.inf, scales)


def _own_places(counts: Integers, most: int) -> Integers:
    """Places of categories with these counts, the last one of missing values; -1 for none."""
    is_there = counts > 0
    is_there[:-1] = True
    places = np.full(len(counts), -1)
    if is_there.sum() <= most:
        places[is_there] = np.arange(is_there.sum())
        return places
    places[:] = most - 1  # rare ones, and new ones
    often = np.sort(np.argsort(counts, kind="stable")[len(counts) - most + 1 :])
    places[often] = np.arange(most - 1)
    return places
