"""Data sets of published tables, from a local folder of CSV files.

A file has a header and the target in its last column. A feature whose cells are all numbers is
ordered, any other is categorical; an empty cell is a missing value. Nothing else is inferred, so
that reproductions never change.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: The environment variable that names the folder when no argument does.
FOLDER_VARIABLE = "ORFEON_DATA"
HOW_TO_NAME_IT = (
    f"Name a folder of CSV files with --data or data=, or set the variable {FOLDER_VARIABLE}."
)


class DataSet(NamedTuple):
    """Features and classes.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.datasets import DataSet
    >>> DataSet(X=np.array([[1.5], [2.5]]), y=np.array(["no", "yes"])).y.tolist()
    ['no', 'yes']
    """

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]


def data_file(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Find the file of a data set.

    Parameters
    ----------
    name : str
        Name of the data set: that of the file without ``.csv``.
    folder : path, optional
        Folder of the files; by default the environment variable ``ORFEON_DATA`` names it.

    Returns
    -------
    pathlib.Path
        A file that exists.

    Examples
    --------
    >>> from orfeon.datasets import data_file
    >>> data_file("wine", folder="no/such/folder")
    Traceback (most recent call last):
    ...
    FileNotFoundError: There is no wine.csv in the folder 'no/such/folder'. ...
    """
    folder = folder or os.environ.get(FOLDER_VARIABLE) or None
    if folder is None:
        raise FileNotFoundError(
            f"The data set {name!r} is read from {name}.csv in a local folder. {HOW_TO_NAME_IT} "
            "Synthetic problems need no file."
        )
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        where = repr(str(folder))
        raise FileNotFoundError(f"There is no {name}.csv in the folder {where}. {HOW_TO_NAME_IT}")
    return path


def has_data_file(name: str, folder: str | os.PathLike[str] | None = None) -> bool:
    """Whether the file of a data set exists.

    Parameters
    ----------
    name : str
        Name of the data set: that of the file without ``.csv``.
    folder : path, optional
        Folder of the files; by default the environment variable ``ORFEON_DATA`` names it.

    Returns
    -------
    bool
        Whether :func:`data_file` finds it.

    Examples
    --------
    >>> from orfeon.datasets import has_data_file
    >>> has_data_file("wine", folder="no/such/folder")
    False
    """
    try:
        data_file(name, folder)
    except FileNotFoundError:
        return False
    return True


def read_data(path: str | os.PathLike[str]) -> DataSet:
    r"""Read a data set as the reproductions do, without inferring anything.

    Parameters
    ----------
    path : path
        A CSV file with a header and the target in its last column.

    Returns
    -------
    DataSet
        The features, as numbers when all are ordered, otherwise as objects (numbers, strings and
        ``None`` for missing values); and the classes, as strings.

    See Also
    --------
    orfeon.datasets.read_file : Reads files of any format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from orfeon.datasets import read_data
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "golf.csv"
    ...     _ = path.write_text("outlook,humidity,class\nsunny,85,stay\nrain,,play\n")
    ...     X, y = read_data(path)
    >>> X.tolist(), y.tolist()
    ([['sunny', 85.0], ['rain', None]], ['stay', 'play'])
    """
    with Path(path).open(newline="", encoding="utf-8") as file:
        header, *rows = [row for row in csv.reader(file) if row] or [[]]
    if len(header) < 2 or not rows:
        raise ValueError(f"{path} must have a header, a feature, a target and a row.")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}: row {number} has {len(row)} cells, not {len(header)}.")
        if not row[-1]:
            raise ValueError(f"{path}: row {number} has no value in the target {header[-1]!r}.")
    *features, target = zip(*rows, strict=True)
    return DataSet(_table([_column(cells) for cells in features]), np.array(target))


def _column(cells: Sequence[str]) -> npt.NDArray[Any]:
    """A feature: floats with NaN, or objects with None."""
    numbers = [_number(cell) for cell in cells]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    return np.array([cell or None for cell in cells], dtype=object)


def _number(cell: str) -> float | None:
    """The finite number in a cell, NaN for an empty one, None for anything else."""
    if not cell:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _table(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if all(column.dtype == np.float64 for column in columns):
        return np.column_stack(columns)
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column
        if column.dtype == np.float64:
            table[np.isnan(column), j] = None
    return table
