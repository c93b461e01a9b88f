"""Published tables, the protocols behind them, and their reproduction, piece by piece.

:func:`orfeon.workbench.reproduce` runs a whole table; this is what it is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "Cell": "runs",
    "CrossValidation": "designs",
    "Curve": "curve",
    "FoldOutcome": "fold_outcome",
    "Folds": "folds",
    "Kept": "published",
    "PairedDifference": "comparison",
    "Partition": "partitions",
    "Partitions": "partitions",
    "Protocol": "runs",
    "PublishedCell": "published",
    "RandomSplits": "designs",
    "Record": "records",
    "Run": "runs",
    "Sizes": "published",
    "Standing": "conclusions",
    "best_size": "curve",
    "boosting_conclusions": "perceptron_conclusions",
    "comparison_table": "comparison",
    "config_text": "published",
    "deal_folds": "folds",
    "is_synthetic": "partitions",
    "mean_differences": "perceptron_conclusions",
    "ordering_conclusions": "conclusions",
    "ordering_standings": "conclusions",
    "paired_difference": "comparison",
    "published_cells": "published",
    "published_folds": "published",
    "published_seconds": "published",
    "published_shares": "published",
    "published_sizes": "published",
    "read_config": "published",
    "selection_conclusions": "perceptron_conclusions",
    "split_rows": "partitions",
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
        ordering_conclusions,
        ordering_standings,
    )
    from orfeon.workbench.reproduction.curve import Curve, best_size
    from orfeon.workbench.reproduction.designs import CrossValidation, RandomSplits
    from orfeon.workbench.reproduction.fold_outcome import FoldOutcome
    from orfeon.workbench.reproduction.folds import Folds, deal_folds
    from orfeon.workbench.reproduction.partitions import (
        Partition,
        Partitions,
        is_synthetic,
        split_rows,
    )
    from orfeon.workbench.reproduction.perceptron_conclusions import (
        boosting_conclusions,
        mean_differences,
        selection_conclusions,
    )
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
    from orfeon.workbench.reproduction.records import Record
    from orfeon.workbench.reproduction.runs import Cell, Protocol, Run

__all__ = [
    "Cell",
    "CrossValidation",
    "Curve",
    "FoldOutcome",
    "Folds",
    "Kept",
    "PairedDifference",
    "Partition",
    "Partitions",
    "Protocol",
    "PublishedCell",
    "RandomSplits",
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
