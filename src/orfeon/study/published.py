"""Published errors, as facts that the package carries.

A table is a CSV file of ``dataset, method, config, metric, value, std``. Here errors are read, the
sizes of the training and test sets, and times; errors printed as fractions become percent.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de
Madrid. Chapters 3 (IGP ensembles), 4 (class-switching) and 5 (ordered bagging).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

#: Factors that turn a metric into percent.
_PERCENT = {
    "test_error_percent": 1.0,
    "test_error_fraction": 100.0,
    "train_error_percent": 1.0,
    "min_test_error_percent": 1.0,
}


class _Source(NamedTuple):
    """Where the sizes of a table's problems are printed, and on how many splits it rests."""

    sizes: str
    n_splits: int


_TABLES = {
    "martinez-3.2": _Source("martinez-3.1", 50),
    "martinez-3.3": _Source("martinez-3.1", 50),
    "martinez-4.2": _Source("martinez-4.1", 100),
    "martinez-5.4": _Source("martinez-5.6", 100),
    "martinez-5.7": _Source("martinez-5.6", 100),
    "martinez-5.8": _Source("martinez-5.6", 100),
}
#: Tables of seconds.
_TIMES = ("martinez-5.10",)


class Sizes(NamedTuple):
    """Numbers of training and test examples.

    Examples
    --------
    >>> from orfeon.study import Sizes
    >>> Sizes(n_train=300, n_test=5000).n_test
    5000
    """

    n_train: int
    n_test: int


class Kept(NamedTuple):
    """How many members are left of a pool.

    Examples
    --------
    >>> from orfeon.study import Kept
    >>> print(Kept(n_classifiers=19, percent=25.3))
    19 (25.3%)
    """

    n_classifiers: int
    percent: float

    def __str__(self) -> str:
        return f"{self.n_classifiers} ({self.percent:.1f}%)"


@dataclass(frozen=True)
class PublishedCell:
    """One published error.

    Parameters
    ----------
    table : str
        The table, such as ``"martinez-3.3"``.
    dataset, method : str
        The row and the column.
    config : dict of str to str
        What else tells the cell from others, such as ``{"T": "99"}``.
    value : float
        Mean error, in percent: on the test set, or on the training set if that is what the table
        is about.
    std : float or None
        Standard deviation over the splits, where one is printed.
    n_splits : int
        Number of splits behind the mean.
    kept : Kept, optional
        Where the error is the least over all sizes, the size at which it is found.

    Examples
    --------
    >>> from orfeon.study import PublishedCell
    >>> print(PublishedCell("martinez-3.3", "sonar", "bagging", {"T": "99"}, 26.1, 4.2, 50))
    sonar bagging T=99
    """

    table: str
    dataset: str
    method: str
    config: dict[str, str] = field(hash=False)
    value: float
    std: float | None
    n_splits: int
    kept: Kept | None = None

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {config_text(self.config)}".rstrip()


def config_text(config: Mapping[str, str]) -> str:
    """The settings of a cell in one word.

    Parameters
    ----------
    config : mapping of str to str
        The settings.

    Returns
    -------
    str
        ``key=value`` pairs joined by ``;``.

    Examples
    --------
    >>> from orfeon.study import config_text
    >>> config_text({"T": "99", "keep": "0.2"})
    'T=99;keep=0.2'
    """
    return ";".join(f"{key}={value}" for key, value in config.items())


def read_config(text: str) -> dict[str, str]:
    """The settings of a cell from one word, as :func:`config_text` writes them.

    Parameters
    ----------
    text : str
        ``key=value`` pairs joined by ``;``.

    Returns
    -------
    dict of str to str
        The settings.

    Examples
    --------
    >>> from orfeon.study import read_config
    >>> read_config("T=99;keep=0.2")
    {'T': '99', 'keep': '0.2'}
    """
    return dict(pair.split("=", 1) for pair in text.split(";") if pair)


def list_tables() -> list[str]:
    """Names of the tables of errors.

    Returns
    -------
    list of str
        In the order of the chapters.

    Examples
    --------
    >>> from orfeon.study import list_tables
    >>> list_tables()
    ['martinez-3.2', 'martinez-3.3', 'martinez-4.2', 'martinez-5.4', 'martinez-5.7', 'martinez-5.8']
    """
    return list(_TABLES)


def published_cells(table: str) -> list[PublishedCell]:
    """Errors of a published table.

    Parameters
    ----------
    table : str
        One of :func:`list_tables`.

    Returns
    -------
    list of PublishedCell
        In the order of the file; what does not belong to an error is left out.

    Examples
    --------
    >>> from orfeon.study import published_cells
    >>> cells = published_cells("martinez-3.3")
    >>> len(cells), str(cells[0]), cells[0].value, cells[0].std
    (60, 'breast_w bagging T=1', 6.78, 2.2)
    >>> cell = published_cells("martinez-5.4")[0]
    >>> print(cell, cell.value, cell.kept)
    diabetes reduce_error initial_size=11 24.9 7 (63.6%)
    """
    n_splits = _source(table).n_splits
    rows = _rows(table)
    facts = {(*_place(row), row["metric"]): row["value"] for row in rows}
    return [
        PublishedCell(
            table, row["dataset"], row["method"], read_config(row["config"]),
            value=_percent(row["value"], row["metric"]),
            std=_percent(row["std"], row["metric"]) if row["std"] else None,
            n_splits=n_splits,
            kept=_kept(facts, _place(row)),
        )
        for row in rows if row["metric"] in _PERCENT
    ]  # fmt: skip


def published_sizes(table: str) -> dict[str, Sizes]:
    """Numbers of training and test examples of each of a table's problems.

    Parameters
    ----------
    table : str
        One of :func:`list_tables`.

    Returns
    -------
    dict of str to Sizes
        By data set.

    Examples
    --------
    >>> from orfeon.study import published_sizes
    >>> published_sizes("martinez-3.2")["diabetes"], published_sizes("martinez-4.2")["diabetes"]
    (Sizes(n_train=500, n_test=268), Sizes(n_train=468, n_test=300))
    """
    found: dict[str, dict[str, str]] = {}
    for row in _rows(_source(table).sizes):
        found.setdefault(row["dataset"], {})[row["metric"]] = row["value"]
    return {
        dataset: Sizes(int(facts["n_train"]), int(facts["n_test"]))
        for dataset, facts in found.items()
    }


def published_seconds(table: str) -> dict[str, dict[int, float]]:
    """Times of a published table.

    Parameters
    ----------
    table : str
        ``"martinez-5.10"``: seconds to order the members of an ensemble trained on 300 examples
        of waveform, on a Pentium 4 of 3.2 GHz.

    Returns
    -------
    dict of str to dict of int to float
        Seconds, by method and by number of members.

    Examples
    --------
    >>> from orfeon.study import published_seconds
    >>> published_seconds("martinez-5.10")["margin_distance"][1600]
    94.4
    """
    if table not in _TIMES:
        raise ValueError(f"table must be one of {', '.join(_TIMES)}, got {table!r}")
    found: dict[str, dict[int, float]] = {}
    for row in _rows(table):
        members = int(read_config(row["config"])["T"])
        found.setdefault(row["method"], {})[members] = float(row["value"])
    return found


def _source(table: str) -> _Source:
    if table not in _TABLES:
        raise ValueError(f"table must be one of {', '.join(list_tables())}, got {table!r}")
    return _TABLES[table]


def _rows(table: str) -> list[dict[str, str]]:
    name = table.replace("-", "_").replace(".", "_")
    with (files("orfeon.study") / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _place(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["dataset"], row["method"], row["config"]


def _kept(
    facts: Mapping[tuple[str, str, str, str], str], place: tuple[str, str, str]
) -> Kept | None:
    """How many members the cell at a place keeps, where that is printed."""
    number = facts.get((*place, "n_classifiers"))
    if number is None:
        return None
    return Kept(int(number), float(facts[(*place, "kept_percent")]))


def _percent(number: str, metric: str) -> float:
    return round(float(number) * _PERCENT[metric], 10)  # 0.0678 is 6.78, not 6.7799999999999994
