"""Published p-values and records of wins, as facts that the package carries."""

from __future__ import annotations

from typing import NamedTuple

from orfeon.workbench.reproduction.published import config_text, read_config, read_rows


def published_p_values(table: str) -> dict[str, float]:
    """P-values of a published table, of its second method against the first."""
    rows = [row for row in read_rows(table) if row["metric"] == "p_value"]
    return {row["dataset"]: float(row["value"]) for row in rows}


class WinRecord(NamedTuple):
    """On how many data sets a method wins, draws and loses against another."""

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


def published_records() -> dict[tuple[str, str], WinRecord]:
    """Records of wins of all pairs of methods, table 4.3 of Martínez-Muñoz (2006)."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in read_rows("martinez-4.3"):
        config = read_config(row["config"])
        rival = " ".join(
            [config.pop("vs"), *(f"p_hat={config.pop(k)}" for k in ("vs_p_hat",) if k in config)]
        )
        method = " ".join(part for part in (row["method"], config_text(config)) if part)
        found.setdefault((method, rival), {})[row["metric"]] = int(row["value"])
    return {pair: WinRecord(**counts) for pair, counts in found.items()}
