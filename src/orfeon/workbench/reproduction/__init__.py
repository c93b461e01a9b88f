"""Published tables, the protocols behind them, and their reproduction, piece by piece.

:func:`orfeon.workbench.reproduce` runs a whole table; this is what it is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "Cell": "results",
    "Curve": "results",
    "FoldOutcome": "results",
    "Folds": "splits",
    "Kept": "published",
    "PairedDifference": "comparison",
    "Partition": "splits",
    "Partitions": "splits",
    "Protocol": "protocols",
    "PublishedCell": "published",
    "Record": "results",
    "Run": "protocols",
    "Sizes": "published",
    "Standing": "conclusions",
    "best_size": "results",
    "boosting_conclusions": "conclusions",
    "comparison_table": "comparison",
    "config_text": "published",
    "deal_folds": "splits",
    "is_synthetic": "splits",
    "mean_differences": "conclusions",
    "ordering_conclusions": "conclusions",
    "ordering_standings": "conclusions",
    "paired_difference": "comparison",
    "published_cells": "published",
    "published_folds": "published",
    "published_seconds": "published",
    "published_shares": "published",
    "published_sizes": "published",
    "read_config": "published",
    "selection_conclusions": "conclusions",
    "split_rows": "splits",
    "summary": "comparison",
}

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.comparison import (
        PairedDifference,
        comparison_table,
        paired_difference,
        summary,
    )
    from orfeon.workbench.reproduction.conclusions import (
        Standing,
        boosting_conclusions,
        mean_differences,
        ordering_conclusions,
        ordering_standings,
        selection_conclusions,
    )
    from orfeon.workbench.reproduction.protocols import Protocol, Run
    from orfeon.workbench.reproduction.published import (
        Kept,
        PublishedCell,
        Sizes,
        config_text,
        published_cells,
        published_folds,
        published_seconds,
        published_shares,
        published_sizes,
        read_config,
    )
    from orfeon.workbench.reproduction.results import Cell, Curve, FoldOutcome, Record, best_size
    from orfeon.workbench.reproduction.splits import (
        Folds,
        Partition,
        Partitions,
        deal_folds,
        is_synthetic,
        split_rows,
    )

__all__ = [
    "Cell",
    "Curve",
    "FoldOutcome",
    "Folds",
    "Kept",
    "PairedDifference",
    "Partition",
    "Partitions",
    "Protocol",
    "PublishedCell",
    "Record",
    "Run",
    "Sizes",
    "Standing",
    "best_size",
    "boosting_conclusions",
    "comparison_table",
    "config_text",
    "deal_folds",
    "is_synthetic",
    "mean_differences",
    "ordering_conclusions",
    "ordering_standings",
    "paired_difference",
    "published_cells",
    "published_folds",
    "published_seconds",
    "published_shares",
    "published_sizes",
    "read_config",
    "selection_conclusions",
    "split_rows",
    "summary",
]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
