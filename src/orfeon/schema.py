"""What the attributes of a table are: ordered or categorical, their names and their categories.

A :class:`Schema` is learnt once from the training data and kept by the fitted model. It turns any
table of the same shape into one matrix of numbers: ordered attributes as they are, categorical
ones as category codes, missing values and categories never seen as NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

FloatMatrix = npt.NDArray[np.float64]
CategoricalFeatures = Literal["auto"] | Iterable[str] | Iterable[int] | Iterable[bool] | None

#: Category codes and branch numbers are stored in 16 bits; the last code is kept for "missing".
MAX_CATEGORIES = 65_000


@dataclass(frozen=True)
class Schema:
    """The attributes of a table.

    Parameters
    ----------
    categories : tuple
        For each attribute ``None`` when it is ordered, otherwise the tuple of its categories;
        a category's code is its position.
    names : tuple of str, optional
        The attributes' names, when the data had any.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.schema import Schema
    >>> X = np.array([["red", 1.5], ["blue", 2.0], [None, 0.5]], dtype=object)
    >>> schema = Schema.learn(X)
    >>> schema.categories
    (('blue', 'red'), None)
    >>> schema.encode(np.array([["green", 3.0], ["red", None]], dtype=object))
    array([[nan,  3.],
           [ 1., nan]])
    """

    categories: tuple[tuple[Any, ...] | None, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def learn(cls, X: Any, categorical_features: CategoricalFeatures = "auto") -> Schema:
        """Decide what each attribute of ``X`` is.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The training data.
        categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
            "auto" takes strings, booleans of a data frame and categorical columns as categorical;
            ``None`` takes every attribute as ordered.

        Returns
        -------
        Schema
            What was decided.
        """
        columns, names = _columns(X)
        chosen = _categorical_mask(categorical_features, len(columns), names)
        categories = []
        for index, column in enumerate(columns):
            label = _label(index, names)
            declared = _declared_categories(column)
            values = _plain(column, label)
            if chosen is None:
                categorical = declared is not None or not _is_numeric(values)
            else:
                categorical = bool(chosen[index])
            if not categorical:
                _numbers(values, label)  # a string in an ordered attribute is an error now, not later
                categories.append(None)
                continue
            found = declared if declared is not None else _distinct(values, label)
            if len(found) > MAX_CATEGORIES:
                raise ValueError(
                    f"{label} has {len(found)} categories; at most {MAX_CATEGORIES} are allowed. "
                    "Group its rare values or leave it out."
                )
            categories.append(found)
        return cls(tuple(categories), names)

    @classmethod
    def ordered(cls, n_attributes: int, names: Sequence[str] | None = None) -> Schema:
        """The schema of a plain numeric matrix."""
        return cls((None,) * n_attributes, None if names is None else tuple(names))

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self.categories)

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
        """For each attribute whether it is categorical."""
        return np.array([c is not None for c in self.categories], dtype=bool)

    @property
    def n_categories(self) -> npt.NDArray[np.int64]:
        """For each attribute its number of categories, 0 when it is ordered."""
        return np.array([0 if c is None else len(c) for c in self.categories], dtype=np.int64)

    @property
    def all_ordered(self) -> bool:
        """Whether no attribute is categorical."""
        return all(c is None for c in self.categories)

    def name(self, attribute: int) -> str:
        """The name to show for an attribute: its own, or x0, x1..."""
        return f"x{attribute}" if self.names is None else self.names[attribute]

    def encode(self, X: Any) -> FloatMatrix:
        """Turn a table of this schema into numbers.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The data.

        Returns
        -------
        ndarray of shape (n_rows, n_attributes)
            Values of ordered attributes, codes of categorical ones, NaN where missing or unseen.
        """
        if self.all_ordered and isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and X.ndim == 2:
            encoded = np.ascontiguousarray(X, dtype=np.float64)
        else:
            columns, names = _columns(X)
            if len(columns) != self.n_attributes:
                raise ValueError(f"X has {len(columns)} attributes; {self.n_attributes} are expected.")
            encoded = np.empty((_length(X), self.n_attributes))
            for index, (column, categories) in enumerate(zip(columns, self.categories, strict=True)):
                label = _label(index, names)
                values = _plain(column, label)
                encoded[:, index] = (
                    _numbers(values, label) if categories is None else _codes(values, categories)
                )
        if np.isinf(encoded).any():
            row, column_index = np.argwhere(np.isinf(encoded))[0]
            raise ValueError(
                f"Input X contains infinity or a value too large for dtype('float64'): row {row}, "
                f"{_label(int(column_index), self.names)}. Finite values and NaN (missing) are allowed."
            )
        return encoded


def _label(index: int, names: tuple[str, ...] | None) -> str:
    return f"Attribute {index}" if names is None else f"Attribute {names[index]!r}"


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _columns(X: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """The columns of any table, and their names when all are strings."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(
                f"X has {X.ndim} dimension(s); a table of shape (n_rows, n_attributes) is expected. "
                "Reshape your data with X.reshape(-1, 1) if it has a single attribute."
            )
        return [X[:, j] for j in range(X.shape[1])], None
    if hasattr(X, "column_names") and hasattr(X, "column"):  # a pyarrow table
        return [X.column(j) for j in range(len(X.column_names))], _names(X.column_names)
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):  # pandas, polars
        if hasattr(X, "iloc"):
            return [X.iloc[:, j] for j in range(X.shape[1])], _names(list(X.columns))
        return [X[name] for name in X.columns], _names(list(X.columns))
    if hasattr(X, "__arrow_c_stream__"):
        return _columns(_through_arrow(X))
    if hasattr(X, "__dataframe__"):
        import pandas as pd

        return _columns(pd.api.interchange.from_dataframe(X))
    return _columns(np.asarray(X))


def _through_arrow(X: Any) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise TypeError(
            f"X is a {type(X).__name__} with the Arrow interface: install pyarrow to read it, or "
            "pass a NumPy array or a pandas data frame."
        ) from error
    return pyarrow.table(X)


def _names(names: list[Any]) -> tuple[str, ...] | None:
    if not names or not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"X has duplicate column names: {twice}. Every name must be different.")
    return tuple(names)


def _categorical_mask(
    categorical_features: CategoricalFeatures, n_attributes: int, names: tuple[str, ...] | None
) -> npt.NDArray[np.bool_] | None:
    """Which attributes the user calls categorical; ``None`` leaves it to their types."""
    if categorical_features is None:
        return np.zeros(n_attributes, dtype=bool)
    if isinstance(categorical_features, str):
        if categorical_features == "auto":
            return None
        raise ValueError(
            f"categorical_features={categorical_features!r} is not allowed: give 'auto', None, a list of "
            "column names, a list of indices or a boolean mask."
        )
    chosen = list(categorical_features)
    mask = np.zeros(n_attributes, dtype=bool)
    if chosen and all(isinstance(c, bool | np.bool_) for c in chosen):
        if len(chosen) != n_attributes:
            raise ValueError(
                f"categorical_features is a mask of length {len(chosen)}; X has {n_attributes} attributes."
            )
        mask[:] = chosen
        return mask
    for c in chosen:
        if isinstance(c, str):
            if names is None or c not in names:
                known = "X has no column names" if names is None else f"the columns are {list(names)}"
                raise ValueError(f"categorical_features has the unknown column {c!r}; {known}.")
            mask[names.index(c)] = True
        elif isinstance(c, int | np.integer) and -n_attributes <= c < n_attributes:
            mask[int(c)] = True
        else:
            raise ValueError(
                f"categorical_features has {c!r}; allowed are column names, booleans and indices from "
                f"0 to {n_attributes - 1}."
            )
    return mask


def _declared_categories(column: Any) -> tuple[Any, ...] | None:
    """The categories a column says it has: pandas categoricals and booleans, polars enumerations."""
    dtype = getattr(column, "dtype", getattr(column, "type", None))
    if isinstance(column, np.ndarray):
        return None
    text = str(dtype).lower()
    if text in ("bool", "boolean", "bool[pyarrow]"):
        return (False, True)
    if text == "category":
        return tuple(column.cat.categories.tolist())
    return None


def _plain(column: Any, label: str) -> npt.NDArray[Any]:
    """A column as a NumPy array of numbers, or of objects with ``None`` where missing."""
    if not isinstance(column, np.ndarray):
        text = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
        if text.startswith("dictionary"):
            column = column.cast(column.type.value_type)
        if text == "category" or "string" in text or "str" in text or "bool" in text:
            column = column.astype(object) if hasattr(column, "astype") else column
        elif hasattr(column, "to_numpy") and hasattr(column, "astype") and _is_extension(column):
            column = column.to_numpy(dtype=np.float64, na_value=np.nan)
        column = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    kind = column.dtype.kind
    if kind in "biuf":
        return np.asarray(column)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {label} has dtype {column.dtype}.")
    if kind in "mM":
        raise TypeError(
            f"{label} holds dates or durations ({column.dtype}): turn them into numbers first, for "
            "instance days since a date."
        )
    if kind == "U":
        return column.astype(object)
    if kind != "O":
        raise TypeError(f"{label} has dtype {column.dtype}; numbers, strings and booleans are allowed.")
    values = column.copy()
    values[_missing(column)] = None
    return values


def _is_extension(column: Any) -> bool:
    """Whether a pandas column has a nullable number type."""
    return not isinstance(column.dtype, np.dtype)


def _missing(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return np.asarray(pandas.isna(column), dtype=bool)
    return np.array([v is None or (isinstance(v, float) and v != v) for v in column], dtype=bool)


def _is_numeric(values: npt.NDArray[Any]) -> bool:
    """Whether a column reads as numbers without asking what a string means."""
    if values.dtype.kind in "biuf":
        return True
    for v in values:
        if isinstance(v, str | bool | np.bool_):
            return False
    return True


def _numbers(values: npt.NDArray[Any], label: str) -> npt.NDArray[np.float64]:
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    try:
        return np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
    except TypeError as error:
        raise TypeError(f"{label}: {error}") from error
    except ValueError as error:
        raise ValueError(
            f"{label} is ordered but holds strings ({error}). Name it in categorical_features, or "
            "leave categorical_features='auto'."
        ) from error


def _distinct(values: npt.NDArray[Any], label: str) -> tuple[Any, ...]:
    """The different values of a column, in order: numerical, alphabetical, else of appearance."""
    if values.dtype.kind in "biuf":
        known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        return tuple(np.unique(known).tolist())
    try:
        seen = dict.fromkeys(v for v in values if v is not None)
    except TypeError as error:
        raise TypeError(
            f"{label}: a category must be a string or a number, not something unhashable ({error})."
        ) from error
    for v in seen:
        if not isinstance(v, str | int | float | np.generic):
            raise TypeError(
                f"{label}: argument must be a string or a number, not {type(v).__name__}."
            )
    try:
        return tuple(sorted(seen))
    except TypeError:  # strings among numbers
        return tuple(sorted(seen, key=lambda v: (isinstance(v, str), v)))


def _codes(values: npt.NDArray[Any], categories: tuple[Any, ...]) -> npt.NDArray[np.float64]:
    """Category codes; NaN for a missing value and for a category that training did not see."""
    if values.dtype.kind in "biuf" and all(isinstance(c, int | float) for c in categories):
        ordered = np.array(categories, dtype=np.float64)
        if ordered.size == 0:
            return np.full(len(values), np.nan)
        order = np.argsort(ordered)
        x = values.astype(np.float64)
        found = order[np.minimum(np.searchsorted(ordered[order], x), len(ordered) - 1)]
        return np.where(ordered[found] == x, found, np.nan)
    code = {category: float(i) for i, category in enumerate(categories)}
    return np.array([code.get(v, np.nan) if v is not None else np.nan for v in values.tolist()])
