"""The schema of a table: which features are categorical, their categories and names.

A :class:`Schema` is learnt from the training data and kept by the fitted model. It turns tables
into matrices: values of ordered features, codes of categories, NaN for missing values and unseen
categories.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.data.columns import Column, infinity_error
from orfeon.data.frames import Names, check_shape, default_name, label, read_table
from orfeon.utils import saved
from orfeon.utils.types import Floats

CategoricalFeatures = Literal["auto"] | Iterable[str] | Iterable[int] | Iterable[bool] | None
Categories = tuple[str | bool | int | float, ...] | None

#: Category codes and branch numbers take 16 bits; the largest codes are reserved.
MAX_CATEGORIES = 65_000
#: Levels of a feature that no tree splits, because numbers replace its categories.
MAX_LEVELS = 1_000_000


@saved.attributes(
    categories=saved.tuple_of(
        saved.one_of(
            saved.none, saved.tuple_of(saved.one_of(saved.string, saved.boolean, saved.number()))
        ),
        at_least=1,
    ),
    names=saved.one_of(saved.none, saved.tuple_of(saved.string)),
    levels=saved.optional(
        saved.one_of(
            saved.none,
            saved.tuple_of(
                saved.one_of(
                    saved.none,
                    saved.tuple_of(saved.one_of(saved.string, saved.boolean, saved.number())),
                )
            ),
        )
    ),
)
@dataclass(frozen=True)
class Schema:
    """The features of a table.

    Parameters
    ----------
    categories : tuple
        For each feature ``None`` if it is ordered, otherwise its categories in training:
        booleans, numbers, strings, each sorted. The code of a category is its position.
    names : tuple of str, optional
        Names of the features, if the data had any.
    levels : tuple, optional
        For each feature ``None``, or the values of an ordered categorical type, lowest first: the
        feature is ordered, and the number of a value is its position. ``None`` if there are none.

    Notes
    -----
    A value belongs to the category equal to it: 1 and 1.0 are the same category, 1 and "1" are
    not. 1 and ``True`` are the same unless the feature had both numbers and booleans in training.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.data import Schema
    >>> X = np.array([["red", 1.5], ["blue", 2.0], [None, 0.5]], dtype=object)
    >>> schema = Schema.learn(X)
    >>> schema.categories
    (('blue', 'red'), None)
    >>> schema.encode(np.array([["green", 3.0], ["red", None]], dtype=object))
    array([[nan,  3.],
           [ 1., nan]])
    """

    categories: tuple[Categories, ...]
    names: Names = None
    levels: tuple[Categories, ...] | None = None

    def __post_init__(self) -> None:
        if self.names is not None and len(self.names) != len(self.categories):
            raise ValueError(
                f"names has {len(self.names)} names; categories has {len(self.categories)} "
                "features. Their lengths must be equal."
            )
        if self.levels is not None and len(self.levels) != len(self.categories):
            raise ValueError(
                f"levels has {len(self.levels)} features; categories has {len(self.categories)}. "
                "Their lengths must be equal."
            )

    @classmethod
    def learn(cls, X: Any, categorical_features: CategoricalFeatures = "auto") -> Schema:
        """Learn the schema of ``X``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The training data.
        categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
            With "auto", strings, columns of a categorical type without an order, and booleans
            (unless ``X`` is an array of booleans) are categorical; with ``None`` every feature is
            ordered.

        Returns
        -------
        Schema
            The schema.
        """
        return cls._learn(X, categorical_features, MAX_CATEGORIES)

    @classmethod
    def _learn(
        cls, X: Any, categorical_features: CategoricalFeatures, max_categories: int
    ) -> Schema:
        if _is_numeric(X):
            mask = _categorical_mask(categorical_features, X.shape[1], None)
            if mask is None or not mask.any():
                return cls.ordered(X.shape[1])
            categorical_features = mask.tolist()
        return cls._of_columns(*read_table(X), categorical_features, max_categories)

    @classmethod
    def learn_and_encode(
        cls,
        X: Any,
        categorical_features: CategoricalFeatures = "auto",
        *,
        as_given: bool = False,
        max_categories: int = MAX_CATEGORIES,
    ) -> tuple[Schema, Floats]:
        """Learn the schema of ``X`` and encode ``X``, reading it once.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The training data, possibly a stream that can be read only once.
        categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
            As in :meth:`learn`.
        as_given : bool, default=False
            Whether an array of numbers without categories is only checked: it keeps its type and
            its layout, and is not copied.
        max_categories : int, default=65000
            Maximum number of categories of a feature.

        Returns
        -------
        schema : Schema
            The schema.
        encoded : ndarray of shape (n_rows, n_features)
            As in :meth:`encode`.

        Examples
        --------
        >>> schema, encoded = Schema.learn_and_encode([[1.5, "no"], [2.5, "yes"], [0.5, None]])
        >>> encoded
        array([[1.5, 0. ],
               [2.5, 1. ],
               [0.5, nan]])
        """
        if _is_numeric(X):
            schema = cls._learn(X, categorical_features, max_categories)
            if as_given and schema.all_ordered and X.dtype.itemsize <= 8:
                schema._check_finite(X)
                return schema, X
            return schema, schema.encode(X)
        columns, names = read_table(X)
        schema = cls._of_columns(columns, names, categorical_features, max_categories)
        return schema, schema._encode_columns(columns)

    @classmethod
    def _of_columns(
        cls,
        columns: list[Column],
        names: Names,
        categorical_features: CategoricalFeatures,
        max_categories: int,
    ) -> Schema:
        mask = _categorical_mask(categorical_features, len(columns), names)
        if mask is None:
            mask = np.array([column.is_categorical for column in columns])
        categories: list[Categories] = []
        levels: list[Categories] = []
        for column, categorical in zip(columns, mask, strict=True):
            in_order = column.has_order and not categorical
            if column.is_categorical and not categorical:
                column.numbers()  # a string in an ordered feature is an error now, not later
            categories.append(_distinct(column, max_categories) if categorical else None)
            levels.append(tuple(column.coded()[1]) if in_order else None)
        return cls(tuple(categories), names, tuple(levels) if any(levels) else None)

    @classmethod
    def ordered(cls, n_features: int, names: Sequence[str] | None = None) -> Schema:
        """The schema of a numeric matrix.

        Parameters
        ----------
        n_features : int
            Number of features.
        names : sequence of str, optional
            Their names.

        Returns
        -------
        Schema
            A schema without categories.
        """
        return cls((None,) * n_features, None if names is None else tuple(names))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.categories)

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
        """Whether each feature is categorical."""
        return np.array([c is not None for c in self.categories], dtype=bool)

    @property
    def n_categories(self) -> npt.NDArray[np.int64]:
        """Number of categories of each feature, 0 if it is ordered."""
        return np.array([0 if c is None else len(c) for c in self.categories], dtype=np.int64)

    @cached_property
    def all_ordered(self) -> bool:
        """Whether all features are numbers."""
        return self.levels is None and all(c is None for c in self.categories)

    @cached_property
    def _positions(self) -> tuple[_Positions, ...]:
        """Codes of the categories of each feature; of many, too slow to make for each row."""
        return tuple(map(_positions_of, self._named))

    @property
    def _named(self) -> tuple[Categories, ...]:
        """What the numbers of each feature stand for: categories, levels, or themselves."""
        if self.levels is None:
            return self.categories
        return tuple(
            own if own is not None else level
            for own, level in zip(self.categories, self.levels, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"categories": self.categories, "names": self.names, "levels": self.levels}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"levels": None, **state})

    def name(self, feature: int) -> str:
        """Name of a feature, or x0, x1... without names."""
        return default_name(feature) if self.names is None else self.names[feature]

    def decode(self, encoded: Floats) -> npt.NDArray[Any]:
        """Turn encoded rows back into values.

        Parameters
        ----------
        encoded : ndarray of shape (n_rows, n_features)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            Numbers if all features are ordered, otherwise objects, None for a missing category.

        Examples
        --------
        >>> from orfeon.data import Schema
        >>> schema, encoded = Schema.learn_and_encode([["a", 1.5], [None, 2.5]])
        >>> schema.decode(encoded).tolist()
        [['a', 1.5], [None, 2.5]]
        """
        if self.all_ordered:
            return encoded
        if issparse(encoded):
            raise TypeError(
                "Sparse data was passed for X, and the model was trained on categories; pass the "
                "features as they were trained on."
            )
        table = encoded.astype(object)
        for j, categories in enumerate(self._named):
            if categories is not None:
                names = np.array([*categories, None], dtype=object)
                table[:, j] = names[np.nan_to_num(encoded[:, j], nan=-1.0).astype(np.int64)]
        return table

    def encode(self, X: Any, *, mark_unseen: Iterable[int] = ()) -> Floats:
        """Turn a table of this schema into numbers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The data.
        mark_unseen : iterable of int
            Categorical features whose unseen categories get the code after the last, not NaN.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            Values of ordered features, codes of categorical ones, NaN where missing or unseen.
            ``X`` itself, not a copy, if nothing had to be changed.
        """
        if _is_numeric(X) and self.all_ordered:
            self._check_features(X.shape[1], None)
            return self._finite(X)
        columns, names = read_table(X, self.categories)
        self._check_features(len(columns), names)
        return self._encode_columns(columns, mark_unseen)

    def _encode_columns(self, columns: list[Column], mark_unseen: Iterable[int] = ()) -> Floats:
        encoded: Floats | None = None
        marked = set(mark_unseen)
        for j, (column, categories) in enumerate(zip(columns, self._named, strict=True)):
            if categories is None:
                numbers = column.numbers()
            else:
                unseen = len(categories) if j in marked else np.nan
                numbers = _codes(column, categories, self._positions[j], unseen)
            if encoded is None:
                encoded = np.empty((len(numbers), self.n_features))
            encoded[:, j] = numbers
        assert encoded is not None  # tables without features were rejected
        return self._finite(encoded)

    def _check_features(self, n_features: int, names: Names) -> None:
        """Reject a table with other features than in training, in scikit-learn's words."""
        if names is not None and self.names is not None and names != self.names:
            message = "The feature names should match those that were passed during fit.\n"
            unseen = sorted(set(names) - set(self.names))
            absent = sorted(set(self.names) - set(names))
            if unseen:
                message += _listed("Feature names unseen at fit time:", unseen)
            if absent:
                message += _listed("Feature names seen at fit time, yet now missing:", absent)
            if not unseen and not absent:
                message += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(message)
        if n_features != self.n_features:
            raise ValueError(
                f"X has {n_features} features, but Schema is expecting {self.n_features} "
                "features as input."
            )

    def _finite(self, numbers: npt.NDArray[Any]) -> Floats:
        """The matrix as contiguous floats; infinite values are an error."""
        with np.errstate(over="ignore", invalid="ignore"):
            encoded = np.ascontiguousarray(numbers, dtype=np.float64)
        self._check_finite(encoded)
        return encoded

    def _check_finite(self, numbers: npt.NDArray[Any]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            # One pass without a temporary array.
            certain = math.isfinite(numbers.sum(dtype=np.float64))
        if not certain and np.isinf(numbers).any():
            row, feature = map(int, np.argwhere(np.isinf(numbers))[0])
            raise infinity_error(f"{label(feature, self.names)}, row {row}")


def names_of(model: Any, n_features: int, X: Any = None) -> tuple[str, ...]:
    """Feature names of a fitted estimator, else those of the columns of X, else x0, x1..."""
    schema = getattr(model, "schema_", None)
    if isinstance(schema, Schema):
        return tuple(map(schema.name, range(n_features)))
    for known in (getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        names = () if known is None else tuple(known)
        # Labels that are not strings, such as numbers, are not names.
        if len(names) == n_features and all(isinstance(name, str) for name in names):
            return tuple(map(str, names))
    return tuple(map(default_name, range(n_features)))


def _is_numeric(X: Any) -> bool:
    """Whether ``X`` is a plain array of numbers, which needs no reading; checks its shape."""
    if not isinstance(X, np.ndarray) or isinstance(X, np.ma.MaskedArray):
        return False
    if X.dtype.kind not in "biuf":
        return False
    check_shape(X.shape)
    return True


def _listed(title: str, names: list[str], at_most: int = 5) -> str:
    shown = [*names[:at_most], "..."] if len(names) > at_most else names
    return "\n- ".join([title, *shown]) + "\n"


def _categorical_mask(
    categorical_features: CategoricalFeatures, n_features: int, names: Names
) -> npt.NDArray[np.bool_] | None:
    """Mask of the features declared categorical; ``None`` if their types decide."""
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str) and categorical_features == "auto":
        return None
    if isinstance(categorical_features, str | bytes) or not isinstance(
        categorical_features, Iterable
    ):
        raise ValueError(
            f"categorical_features={categorical_features!r} is not allowed: give 'auto', None, a "
            "list of column names, a list of indices or a boolean mask."
        )
    chosen = list(categorical_features)
    if chosen and all(isinstance(c, bool | np.bool_) for c in chosen):
        if len(chosen) != n_features:
            raise ValueError(
                f"categorical_features is a mask of length {len(chosen)}; X has {n_features} "
                "features. One boolean for each is expected."
            )
        mask[:] = chosen
        return mask
    for c in chosen:
        mask[_position(c, n_features, names)] = True
    return mask


def _position(chosen: Any, n_features: int, names: Names) -> int:
    """Index of the feature that an entry of categorical_features refers to."""
    if isinstance(chosen, str):
        if names is not None and chosen in names:
            return names.index(chosen)
        known = "X has no column names" if names is None else f"the columns are {list(names)}"
        raise ValueError(f"categorical_features has the unknown column {chosen!r}; {known}.")
    index = isinstance(chosen, int | np.integer) and not isinstance(chosen, bool)
    if index and -n_features <= chosen < n_features:
        return int(chosen)
    raise ValueError(
        f"categorical_features has {chosen!r}; allowed are column names, indices from "
        f"{-n_features} to {n_features - 1}, or a mask of booleans only."
    )


def _distinct(column: Column, at_most: int) -> tuple[str | bool | int | float, ...]:
    """Categories that occur in a column: booleans, numbers, strings, each sorted."""
    codes, values = column.coded()
    occurs = np.zeros(len(values) + 1, dtype=bool)
    occurs[codes] = True  # code -1 (missing) marks the extra entry
    found = {
        _key(value, True): value
        for value, seen in zip(values, occurs[:-1], strict=True)
        if seen and value == value
    }
    if len(found) > at_most:
        raise ValueError(
            f"{column.label} has {len(found)} categories; at most {at_most} are allowed. "
            "Group its rare values or leave it out."
        )
    return tuple(
        sorted(found.values(), key=lambda v: (isinstance(v, str), not isinstance(v, bool), v))
    )


class _Positions(NamedTuple):
    """Codes of categories by key."""

    of: dict[Any, int]
    is_strict: bool  # whether True is not 1


def _positions_of(categories: Categories) -> _Positions:
    known = categories or ()
    strict = len({isinstance(c, bool) for c in known if not isinstance(c, str)}) == 2
    return _Positions({_key(category, strict): i for i, category in enumerate(known)}, strict)


def _codes(
    column: Column,
    categories: tuple[str | bool | int | float, ...],
    positions: _Positions,
    unseen: float = np.nan,
) -> npt.NDArray[Any]:
    """Category codes; NaN for missing values, and ``unseen`` for other categories."""
    position, strict = positions
    codes, values = column.coded()
    if not strict and len(values) == len(categories) and (*values,) == categories:
        is_missing = codes < 0
        return np.where(is_missing, np.nan, codes) if is_missing.any() else codes
    known = [position.get(_key(value, strict), unseen) for value in values]
    table: npt.NDArray[np.float64] = np.array([*known, np.nan], dtype=np.float64)
    return np.take(table, codes)  # code -1 takes the last entry


def _key(value: Any, strict: bool) -> Any:
    """Key by which values are the same category; if ``strict``, True is not 1."""
    return (bool, value) if strict and isinstance(value, bool) else value
