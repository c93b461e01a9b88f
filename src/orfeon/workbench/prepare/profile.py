"""What is in a table: the kind of every column, what is missing, the classes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from orfeon.workbench.prepare.frames import clean_frame, find_column
from orfeon.workbench.prepare.kinds import Kind, column_kind
from orfeon.workbench.prepare.parsing import distinct, is_number_type, numbers, words


@dataclass(frozen=True)
class ColumnProfile:
    """What a column is.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        "number", "category", "boolean", "date", "text", "identifier", "constant", "empty" or
        "nested" (lists, tables, bytes).
    n_missing, n_distinct : int
        Missing cells, and different values.
    examples : tuple of str
        A few of its values.
    reason : str
        Why it is of this kind, where that is not plain.
    date_format : str, optional
        How dates are written.

    Examples
    --------
    >>> from orfeon.workbench.prepare import ColumnProfile
    >>> ColumnProfile("age", "number", n_missing=2, n_distinct=40, examples=("31",)).kind
    'number'
    """

    name: str
    kind: Kind
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...] = ()
    reason: str = ""
    date_format: str | None = None


@dataclass(frozen=True)
class Profile:
    """What is in a table.

    Parameters
    ----------
    n_rows : int
        Rows.
    n_duplicates : int
        Rows that repeat an earlier one in every column, those apart that name the rows.
    columns : tuple of ColumnProfile
        All columns, the target's as well.
    target : str or None
        Name of the target, if one was named.
    class_shares : dict of str to float
        Share of the rows with each value of the target, the most frequent first; at most the
        first 50.

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
        """The column of a name."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain values, for a JSON document."""
        return asdict(self)


def profile_frame(frame: Any, target: str | None = None) -> Profile:
    """Find out what is in a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str, optional
        Name of the column to predict.

    Returns
    -------
    Profile
        The kind of every column, missing cells, repeated rows, shares of the classes.

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
    """Profile a table whose names are in order."""
    columns = []
    for name in table.columns:
        found = column_kind(name, table[name])
        columns.append(
            ColumnProfile(
                name,
                found.kind,
                found.n_missing,
                found.n_distinct,
                found.examples,
                found.reason,
                found.date_format,
            )
        )
    shares = {} if target is None else _class_shares(table[target])
    compared = [c.name for c in columns if c.kind not in ("identifier", "nested", "text")]
    return Profile(len(table), _duplicates(table[compared]), tuple(columns), target, shares)


def _class_shares(series: Any, at_most: int = 50) -> dict[str, float]:
    try:
        codes, found = words(series)
    except TypeError:
        return {}
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    order = np.argsort(-counts, kind="stable")[:at_most]
    total = max(int(counts.sum()), 1)
    return {found[i]: float(counts[i]) / total for i in order}


def _duplicates(table: Any) -> int:
    """Rows that repeat an earlier one, by 64-bit hashes of rows: exact tables take far longer."""
    import pandas

    if not len(table.columns):
        return 0
    hashes = np.zeros(len(table), dtype=np.uint64)
    for name in table.columns:
        column = table[name]
        plain = numbers(column)[0] + 0.0 if is_number_type(column) else distinct(column)[0]
        hashes = hashes * np.uint64(0x100000001B3) + pandas.util.hash_array(plain)
    return int(pandas.Series(hashes).duplicated().sum())
