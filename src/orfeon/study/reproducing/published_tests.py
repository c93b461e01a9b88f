"""Published p-values and records of wins, as facts that the package carries."""

from __future__ import annotations

from typing import NamedTuple

from orfeon.study.reproducing.published import config_text, read_config, read_rows


def published_p_values(table: str) -> dict[str, float]:
    """P-values of a published table, of its second method against the first.

    Parameters
    ----------
    table : str
        One of :func:`orfeon.study.list_tables`.

    Returns
    -------
    dict of str to float
        By data set; empty where none are printed.

    Examples
    --------
    >>> from orfeon.study.reproducing.published_tests import published_p_values
    >>> published_p_values("martinez-3.2")["german"], published_p_values("martinez-3.3")
    (0.0061, {})
    """
    rows = [row for row in read_rows(table) if row["metric"] == "p_value"]
    return {row["dataset"]: float(row["value"]) for row in rows}


class WinRecord(NamedTuple):
    """On how many data sets a method wins, draws and loses against another.

    Examples
    --------
    >>> from orfeon.study.reproducing.published_tests import WinRecord
    >>> print(WinRecord(wins=9, draws=1, losses=5))
    9/1/5
    """

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


def published_records() -> dict[tuple[str, str], WinRecord]:
    """Records of wins of all pairs of methods, table 4.3 of Martínez-Muñoz (2006).

    Returns
    -------
    dict of (str, str) to WinRecord
        By the method and its rival, each with its settings: ``"class_switching p_hat=3/5"``.

    Examples
    --------
    >>> from orfeon.study.reproducing.published_tests import published_records
    >>> print(published_records()["c45", "bagging"])
    1/0/14
    """
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in read_rows("martinez-4.3"):
        config = read_config(row["config"])
        rival = " ".join(
            [config.pop("vs"), *(f"p_hat={config.pop(k)}" for k in ("vs_p_hat",) if k in config)]
        )
        method = " ".join(part for part in (row["method"], config_text(config)) if part)
        found.setdefault((method, rival), {})[row["metric"]] = int(row["value"])
    return {pair: WinRecord(**counts) for pair, counts in found.items()}
