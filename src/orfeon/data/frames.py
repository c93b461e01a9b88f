"""Read any table: NumPy arrays, lists, pandas, polars, Arrow and the interchange interface.

No data frame library is imported unless the table needs it. Not written with narwhals: a trial
saved 57 lines but, without access to category codes, took 8 times as long to read 100,000 rows of
pandas and 4 times as long to predict one; it failed on null dictionary values, string views,
periods and repeated number labels.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.columns import (
    CodedColumn,
    Column,
    NumberColumn,
    dtype_error,
    read_array,
    read_objects,
)

Names = tuple[str, ...] | None
Known = tuple[str | bool | int | float, ...] | None
Reader = Callable[[Any, str], Column]

_ARROW_STRINGS = ("string", "large_string", "string_view")
#: Those that Arrow finds among known strings.
_INDEXED = _ARROW_STRINGS[:2]


def read_table(X: Any, known: Sequence[Known] | None = None) -> tuple[list[Column], Names]:
    """Read all columns of a table; ``known`` are the categories to expect in them."""
    columns, found, n_rows, read = _open(X)
    check_shape((n_rows, len(columns)))
    names = _names(found)
    if known is None or len(known) != len(columns):
        known = [None] * len(columns)
    expected = zip(columns, known, strict=True)
    return [
        _code_known(column, these, label(j, names)) or read(column, label(j, names))
        for j, (column, these) in enumerate(expected)
    ], names


def _code_known(column: Any, known: Known, label: str) -> Column | None:
    """Read Arrow's strings by their categories; None for other columns, and other categories."""
    # Takes half the time of finding out which strings there are.
    if known is None or set(map(type, known)) != {str}:
        return None
    dtype = getattr(column, "dtype", None)
    if _is_strings_of_arrow(dtype):
        column = column.array.__arrow_array__()
    if not _is_a(column, "pyarrow", "ChunkedArray") or str(column.type) not in _INDEXED:
        return None
    pyarrow = sys.modules["pyarrow"]
    compute = sys.modules.get("pyarrow.compute") or importlib.import_module("pyarrow.compute")
    codes = compute.index_in(column, value_set=pyarrow.array(known, type=column.type))
    if codes.null_count > column.null_count:
        return None
    codes = codes.fill_null(-1) if codes.null_count else codes
    return CodedColumn(label, codes.to_numpy(), list(known))


def _is_strings_of_arrow(dtype: Any) -> bool:
    return _is_a(dtype, "pandas", "StringDtype") and dtype.storage == "pyarrow"


def label(feature: int, names: Names) -> str:
    """Name a feature for an error message."""
    return f"Feature {(default_name(feature) if names is None else names[feature])!r}"


def default_name(feature: int) -> str:
    """Name a feature that has no name."""
    return f"x{feature}"


def check_shape(shape: tuple[int, ...]) -> None:
    """Reject anything but a table with at least one row and one feature."""
    if len(shape) != 2:
        raise ValueError(
            f"X must be a table of shape (n_rows, n_features); its shape is {shape}. Reshape "
            "your data with X.reshape(-1, 1) if it is a single feature, or X.reshape(1, -1) if "
            "it is a single row."
        )
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(f"X has 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")


def _open(X: Any) -> tuple[list[Any], list[Any] | None, int, Reader]:
    """The columns as the library stores them, their names, the number of rows, the reader."""
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if _is_a(X, "pandas", "DataFrame"):
        return [column for _, column in X.items()], X.columns.tolist(), len(X), _read_pandas
    if _is_a(X, "polars", "DataFrame"):
        return X.get_columns(), X.columns, X.height, _read_polars
    if _is_a(X, "polars", "LazyFrame"):
        raise TypeError("X is a polars LazyFrame: pass X.collect(), a DataFrame.")
    if _is_a(X, "pyarrow", "Table") or _is_a(X, "pyarrow", "RecordBatch"):
        return X.columns, X.column_names, X.num_rows, _read_arrow
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use X.toarray() to convert "
            "it to a dense NumPy array."
        )
    if not _is_single_column(X):
        if hasattr(X, "__arrow_c_stream__"):
            return _open(_through_arrow(X, "pyarrow", "table"))
        if hasattr(X, "__dataframe__"):
            return _open(_through_arrow(X, "pyarrow.interchange", "from_dataframe"))
    return _open_array(_from_rows(X))


def _is_single_column(X: Any) -> bool:
    """Whether ``X`` is a series, which offers the interfaces of a table."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) != 2
    return _is_a(X, "pyarrow", "Array") or _is_a(X, "pyarrow", "ChunkedArray")


def _is_a(X: Any, module: str, name: str) -> bool:
    return isinstance(X, getattr(sys.modules.get(module), name, ()))


def _through_arrow(X: Any, module: str, function: str) -> Any:
    what = f"X is a {type(X).__name__}, read through its Arrow or data frame interchange interface"
    try:
        read = getattr(importlib.import_module(module), function)
    except ImportError as error:
        raise TypeError(
            f"{what}: install pyarrow, or pass a NumPy array or a pandas or polars DataFrame."
        ) from error
    try:
        return read(X)
    except Exception as error:  # pyarrow's errors of many kinds, and those of the object itself
        raise TypeError(f"{what}, which failed: {error}") from error


def _from_rows(X: Any) -> npt.NDArray[Any]:
    """A sequence of rows, or anything else NumPy reads, as an array."""
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X must be a table whose rows have equal lengths: {error}") from error
    # NumPy turns the numbers beside a string into strings: keep them as they are.
    return np.array(X, dtype=object) if array.dtype.kind in "US" and array.ndim == 2 else array


def _open_array(X: npt.NDArray[Any]) -> tuple[list[Any], None, int, Reader]:
    if X.dtype.kind == "V":
        raise TypeError(
            f"X is a structured array of dtype {X.dtype}: pass a plain two-dimensional array, or "
            "pandas.DataFrame(X)."
        )
    check_shape(X.shape)
    if isinstance(X, np.ma.MaskedArray):
        plain: tuple[Any, Any] = (np.float64, np.nan) if X.dtype.kind in "biuf" else (object, None)
        X = np.where(np.ma.getmaskarray(X), plain[1], X.data.astype(plain[0]))
    return list(np.asarray(X).T), None, X.shape[0], read_array


def _names(names: list[Any] | None) -> Names:
    """Column names when they are strings; other labels, such as numbers, are not names."""
    if names is None or not any(isinstance(name, str) for name in names):
        return None
    kinds = sorted({type(name).__name__ for name in names if not isinstance(name, str)})
    if kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"column names of types {['str', *kinds]}. Use X.columns = X.columns.astype(str)."
        )
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"X has duplicate column names: {twice}. Every name must be different.")
    return tuple(map(str, names))


def _read_pandas(column: Any, label: str) -> Column:
    pandas = sys.modules["pandas"]
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        values = column.to_numpy()
        if dtype.kind == "b":
            return CodedColumn(label, values.astype(np.int8), [False, True])
        return read_array(values, label)
    if isinstance(dtype, pandas.CategoricalDtype):
        values = dtype.categories.tolist()
        return CodedColumn(label, column.array.codes, values, has_order=bool(dtype.ordered))
    if isinstance(dtype, pandas.StringDtype):
        codes, values = column.array.factorize()
        return CodedColumn(label, codes, values.tolist())
    if isinstance(dtype, pandas.ArrowDtype):
        return _read_arrow(column.array.__arrow_array__(), label)
    if isinstance(dtype, pandas.SparseDtype):
        return read_array(np.asarray(column), label)
    kind = getattr(dtype, "kind", "O")
    if kind not in "biuf" or not hasattr(dtype, "numpy_dtype"):
        raise dtype_error(label, dtype, dates=kind in "mM" or isinstance(dtype, pandas.PeriodDtype))
    # Only the nullable types are left.
    missing = column.isna().to_numpy(dtype=bool)
    values = column.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
    if kind == "b":
        return CodedColumn(label, np.where(missing, -1, values), [False, True])
    return NumberColumn(label, values, missing if missing.any() else None)


def _read_polars(column: Any, label: str) -> Column:
    polars = sys.modules["polars"]
    dtype = column.dtype
    if dtype == polars.Boolean:
        codes = column.cast(polars.Int8).fill_null(-1).to_numpy()
        return CodedColumn(label, codes, [False, True])
    if dtype == polars.Enum:  # its values are in an order
        codes = column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        return CodedColumn(label, codes, dtype.categories.to_list(), has_order=True)
    if dtype in (polars.String, polars.Categorical):
        column = column.cast(polars.String)
        values = column.drop_nulls().unique()
        codes = column.cast(polars.Enum(values)).to_physical().cast(polars.Int64)
        return CodedColumn(label, codes.fill_null(-1).to_numpy(), values.to_list())
    if dtype.is_integer() and "128" not in str(dtype):
        missing = column.is_null().to_numpy() if column.null_count() else None
        return NumberColumn(label, column.fill_null(0).to_numpy(), missing)
    if dtype.is_numeric() or dtype == polars.Null:
        return NumberColumn(label, column.cast(polars.Float64).to_numpy())
    if dtype == polars.Object:
        return read_objects(column.to_list(), label)
    raise dtype_error(label, dtype, dates=dtype.is_temporal())


def _read_arrow(column: Any, label: str) -> Column:
    pyarrow = importlib.import_module("pyarrow")
    types = pyarrow.types
    if isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    dtype = column.type
    if types.is_dictionary(dtype):
        return _read_dictionaries(column.chunks, label, has_order=dtype.ordered)
    if str(dtype) in _ARROW_STRINGS:
        return _read_dictionaries([column.dictionary_encode().combine_chunks()], label)
    if types.is_null(dtype):
        return NumberColumn(label, np.full(len(column), np.nan))
    if types.is_boolean(dtype):
        return CodedColumn(label, column.cast("int8").fill_null(-1).to_numpy(), [False, True])
    if types.is_integer(dtype):
        missing = column.is_null().to_numpy() if column.null_count else None
        return NumberColumn(label, column.fill_null(0).to_numpy(), missing)
    if types.is_decimal(dtype):
        column = column.cast("float64")
    if types.is_floating(column.type):
        return NumberColumn(label, column.to_numpy())
    raise dtype_error(label, dtype, dates=types.is_temporal(dtype))


def _read_dictionaries(chunks: list[Any], label: str, *, has_order: bool = False) -> CodedColumn:
    """Read dictionary-encoded chunks, each of which may have its own dictionary."""
    has_order = has_order and all(c.dictionary.equals(chunks[0].dictionary) for c in chunks)
    position: dict[Any, int] = {}
    codes = []
    for chunk in chunks:
        values = chunk.dictionary.to_pylist()
        known = [-1 if v is None else position.setdefault(v, len(position)) for v in values]
        index = chunk.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        codes.append(np.take(np.array([*known, -1]), index))  # -1 takes the last one
    return CodedColumn(label, np.concatenate(codes), list(position), has_order=has_order)
