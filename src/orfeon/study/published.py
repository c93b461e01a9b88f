"""Published test errors, as facts that the package carries.

A table is a CSV file of ``dataset, method, config, metric, value, std``. Here only test errors are
read, and the sizes of the training and test sets; errors printed as fractions become percent.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de
Madrid. Chapters 3 (IGP ensembles) and 4 (class-switching).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

#: Factors that turn a metric into percent.
_PERCENT = {"test_error_percent": 1.0, "test_error_fraction": 100.0}


class _Source(NamedTuple):
    """Where the sizes of a table's problems are printed, and on how many splits it rests."""

    sizes: str
    n_splits: int


_TABLES = {
    "martinez-3.2": _Source("martinez-3.1", 50),
    "martinez-3.3": _Source("martinez-3.1", 50),
    "martinez-4.2": _Source("martinez-4.1", 100),
}


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


@dataclass(frozen=True)
class PublishedCell:
    """One published test error.

    Parameters
    ----------
    table : str
        The table, such as ``"martinez-3.3"``.
    dataset, method : str
        The row and the column.
    config : dict of str to str
        What else tells the cell from others, such as ``{"T": "99"}``.
    value : float
        Mean test error, in percent.
    std : float or None
        Standard deviation over the splits, where one is printed.
    n_splits : int
        Number of splits behind the mean.

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


def list_tables() -> list[str]:
    """Names of the tables of test errors.

    Returns
    -------
    list of str
        In the order of the chapters.

    Examples
    --------
    >>> from orfeon.study import list_tables
    >>> list_tables()
    ['martinez-3.2', 'martinez-3.3', 'martinez-4.2']
    """
    return list(_TABLES)


def published_cells(table: str) -> list[PublishedCell]:
    """Test errors of a published table.

    Parameters
    ----------
    table : str
        One of :func:`list_tables`.

    Returns
    -------
    list of PublishedCell
        In the order of the file; what is not a test error is left out.

    Examples
    --------
    >>> from orfeon.study import published_cells
    >>> cells = published_cells("martinez-3.3")
    >>> len(cells), str(cells[0]), cells[0].value, cells[0].std
    (60, 'breast_w bagging T=1', 6.78, 2.2)
    """
    n_splits = _source(table).n_splits
    return [
        PublishedCell(
            table, row["dataset"], row["method"], _config(row["config"]),
            value=_percent(row["value"], row["metric"]),
            std=_percent(row["std"], row["metric"]) if row["std"] else None,
            n_splits=n_splits,
        )
        for row in _rows(table) if row["metric"] in _PERCENT
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


def _source(table: str) -> _Source:
    if table not in _TABLES:
        raise ValueError(f"table must be one of {', '.join(list_tables())}, got {table!r}")
    return _TABLES[table]


def _rows(table: str) -> list[dict[str, str]]:
    name = table.replace("-", "_").replace(".", "_")
    with (files("orfeon.study") / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _config(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(";") if pair)


def _percent(number: str, metric: str) -> float:
    return round(float(number) * _PERCENT[metric], 10)  # 0.0678 is 6.78, not 6.7799999999999994
