"""The accuracy suite on the performance page: a row a table, a column a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.accuracy_contestants import CATBOOST, HISTOGRAM
from benchmarks.contestants import ORFEON
from benchmarks.gradient_peers import LIGHTGBM, XGBOOST
from benchmarks.report import seconds_text

Record = Mapping[str, Any]
_ORDER = (ORFEON, CATBOOST, LIGHTGBM, XGBOOST, HISTOGRAM)
_TITLES = {
    "judged": "Judged tables, which took no part in choosing orfeon's defaults",
    "development": "Development tables, on which they were chosen",
}


def is_of_one_table(record: Record) -> bool:
    """Whether a measurement is of one table, not of all together."""
    return "orfeon" in record["detail"] and "peer" in record["detail"]


def _by_table(records: Sequence[Record], role: str) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    for record in records:
        if is_of_one_table(record) and record["detail"]["role"] == role:
            row = tables.setdefault(record["case"], {"size": (record["n"], record["d"])})
            row["n_classes"] = record["detail"]["n_classes"]
            row[ORFEON] = record["detail"]["orfeon"]
            row[record["peer"]] = record["detail"]["peer"]
    return tables


def loss_text(loss: float) -> str:
    """A loss with three digits.

    Examples
    --------
    >>> loss_text(0.12345), loss_text(12345.6), loss_text(1.5)
    ('0.123', '12,346', '1.50')
    """
    if loss >= 100:
        return f"{loss:,.0f}"
    return f"{loss:.2f}" if loss >= 1 else f"{loss:.3f}"


def table_of_losses(records: Sequence[Record], role: str) -> list[str]:
    """Losses and errors of everybody on the tables of one kind."""
    tables = _by_table(records, role)
    if not tables:
        return []
    there = [name for name in _ORDER if any(name in row for row in tables.values())]
    lines = [
        f"### {_TITLES[role]}",
        "",
        "Log loss and, in brackets, errors in percent; for numbers squared and absolute error. "
        "The lowest loss is bold. Last, processor time of a fit.",
        "",
        "| table | size | classes | " + " | ".join(there) + " | fit: " + ", ".join(there) + " |",
        "|---" * (4 + len(there)) + "|",
    ]
    for name, row in tables.items():
        least = min(row[one]["loss"] for one in there)
        cells = [_cell(row[one], row["n_classes"], least) for one in there]
        times = ", ".join(seconds_text(row[one]["fit_cpu"]) for one in there)
        n, d = row["size"]
        kinds = str(row["n_classes"] or "numbers")
        lines.append("| " + " | ".join([name, f"{n:,} x {d}", kinds, *cells, times]) + " |")
    return [*lines, ""]


def _cell(found: Mapping[str, float], n_classes: int, least: float) -> str:
    loss = loss_text(found["loss"])
    error = f"{100 * found['error']:.1f}" if n_classes else loss_text(found["error"])
    return f"**{loss}** ({error})" if found["loss"] == least else f"{loss} ({error})"


def tables(records: Sequence[Record]) -> list[str]:
    """Both tables of losses."""
    return [line for role in _TITLES for line in table_of_losses(records, role)]
