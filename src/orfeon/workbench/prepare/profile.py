"""Profile of a table: the kind of every column, missing values, duplicates, classes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from orfeon.workbench.prepare.frames import clean_frame, find_column
from orfeon.workbench.prepare.kinds import ColumnProfile, profile_column
from orfeon.workbench.prepare.parsing import distinct, is_number_type, numbers, strings


@dataclass(frozen=True)
class Profile:
    """Profile of a table.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_duplicates : int
        Number of rows equal to an earlier one in all columns but row identifiers and free text.
    columns : tuple of ColumnProfile
        All columns, including the target.
    target : str or None
        Name of the target, if one was given.
    class_shares : dict of str to float
        Share of the rows with each value of the target, most frequent first; at most 50.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.workbench.prepare import profile_frame
    >>> frame = pandas.DataFrame({"u": [1.5, 2.5, 2.5, 2.5], "class": ["a", "b", "b", "b"]})
    >>> profile = profile_frame(frame, "class")
    >>> profile.n_duplicates, profile.class_shares
    (2, {'b': 0.75, 'a': 0.25})
    """

    n_rows: int
    n_duplicates: int
    columns: tuple[ColumnProfile, ...]
    target: str | None
    class_shares: dict[str, float]

    def column(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as plain values for JSON."""
        return asdict(self)


def profile_frame(frame: Any, target: str | None = None) -> Profile:
    """Profile a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; frames with ``to_pandas`` are converted.
    target : str, optional
        Name of the column to predict.

    Returns
    -------
    Profile
        Kinds of columns, missing values, duplicate rows and class shares.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.workbench.prepare import profile_frame
    >>> frame = pandas.DataFrame({"sex": ["f", None, "m"], "class": [0, 1, 1]})
    >>> [column.kind for column in profile_frame(frame, "class").columns]
    ['category', 'number']
    """
    table, _ = clean_frame(frame)
    name = None if target is None else find_column(table, target, "The target")
    return profile_clean(table, name)


def profile_clean(table: Any, target: str | None) -> Profile:
    """Profile a table whose column names are distinct strings."""
    columns = tuple(profile_column(name, table[name]) for name in table.columns)
    shares = {} if target is None else _class_shares(table[target])
    compared = [c.name for c in columns if c.kind not in ("identifier", "nested", "text")]
    return Profile(len(table), _duplicates(table[compared]), columns, target, shares)


def _class_shares(series: Any, at_most: int = 50) -> dict[str, float]:
    try:
        codes, found = strings(series)
    except TypeError:
        return {}
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    order = np.argsort(-counts, kind="stable")[:at_most]
    total = max(int(counts.sum()), 1)
    return {found[i]: float(counts[i]) / total for i in order}


def _duplicates(table: Any) -> int:
    """Count duplicate rows by 64-bit hashes: comparing the values takes far longer."""
    import pandas

    if not len(table.columns):
        return 0
    hashes = np.zeros(len(table), dtype=np.uint64)
    for name in table.columns:
        column = table[name]
        plain = numbers(column)[0] + 0.0 if is_number_type(column) else distinct(column)[0]
        hashes = hashes * np.uint64(0x100000001B3) + pandas.util.hash_array(plain)
    return int(pandas.Series(hashes).duplicated().sum())
