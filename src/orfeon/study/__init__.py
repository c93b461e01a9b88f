"""Studies: compare methods on data, reproduce published tables, test, store and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon._lazy import lazy_names

_HOMES = {
    "FOLDER_VARIABLE": "orfeon.datasets.folder",
    "METHODS": "orfeon.study.workbench.methods",
    "PROTOCOLS": "orfeon.study.reproducing.protocols",
    "Cell": "orfeon.study.reproducing.runs",
    "Comparison": "orfeon.study.reproducing.comparison",
    "CrossValidation": "orfeon.study.reproducing.designs",
    "Curve": "orfeon.study.reproducing.curve",
    "DataSet": "orfeon.datasets.folder",
    "FoldOutcome": "orfeon.study.reproducing.fold_outcome",
    "Folds": "orfeon.study.reproducing.folds",
    "Kept": "orfeon.study.reproducing.published",
    "NothingToRunError": "orfeon.study.reproducing.plan",
    "PairedDifference": "orfeon.study.reproducing.comparison",
    "Partition": "orfeon.study.reproducing.partitions",
    "Partitions": "orfeon.study.reproducing.partitions",
    "Protocol": "orfeon.study.reproducing.runs",
    "PublishedCell": "orfeon.study.reproducing.published",
    "RandomSplits": "orfeon.study.reproducing.designs",
    "Record": "orfeon.study.reproducing.records",
    "Reproduction": "orfeon.study.reproducing.reproduction",
    "Run": "orfeon.study.reproducing.runs",
    "Sizes": "orfeon.study.reproducing.published",
    "Standing": "orfeon.study.reproducing.conclusions",
    "StudyOutcome": "orfeon.study.workbench.outcome",
    "best_size": "orfeon.study.reproducing.curve",
    "boosting_conclusions": "orfeon.study.reproducing.perceptron_conclusions",
    "comparison_table": "orfeon.study.reproducing.comparison",
    "config_text": "orfeon.study.reproducing.published",
    "data_file": "orfeon.datasets.folder",
    "deal_folds": "orfeon.study.reproducing.folds",
    "has_data_file": "orfeon.datasets.folder",
    "is_synthetic": "orfeon.study.reproducing.partitions",
    "list_tables": "orfeon.study.reproducing.protocols",
    "mean_differences": "orfeon.study.reproducing.perceptron_conclusions",
    "ordering_conclusions": "orfeon.study.reproducing.conclusions",
    "ordering_standings": "orfeon.study.reproducing.conclusions",
    "paired_difference": "orfeon.study.reproducing.comparison",
    "published_cells": "orfeon.study.reproducing.published",
    "published_folds": "orfeon.study.reproducing.published",
    "published_seconds": "orfeon.study.reproducing.published",
    "published_shares": "orfeon.study.reproducing.published",
    "published_sizes": "orfeon.study.reproducing.published",
    "read_config": "orfeon.study.reproducing.published",
    "read_data": "orfeon.datasets.folder",
    "reproduce": "orfeon.study.reproducing.running",
    "run_study": "orfeon.study.workbench.studying",
    "selection_conclusions": "orfeon.study.reproducing.perceptron_conclusions",
    "split_rows": "orfeon.study.reproducing.partitions",
    "summary": "orfeon.study.reproducing.comparison",
}

if TYPE_CHECKING:
    from orfeon.datasets.folder import FOLDER_VARIABLE, DataSet, data_file, has_data_file, read_data
    from orfeon.study.reproducing.comparison import (
        Comparison,
        PairedDifference,
        comparison_table,
        paired_difference,
        summary,
    )
    from orfeon.study.reproducing.conclusions import (
        Standing,
        ordering_conclusions,
        ordering_standings,
    )
    from orfeon.study.reproducing.curve import Curve, best_size
    from orfeon.study.reproducing.designs import CrossValidation, RandomSplits
    from orfeon.study.reproducing.fold_outcome import FoldOutcome
    from orfeon.study.reproducing.folds import Folds, deal_folds
    from orfeon.study.reproducing.partitions import Partition, Partitions, is_synthetic, split_rows
    from orfeon.study.reproducing.perceptron_conclusions import (
        boosting_conclusions,
        mean_differences,
        selection_conclusions,
    )
    from orfeon.study.reproducing.plan import NothingToRunError
    from orfeon.study.reproducing.protocols import PROTOCOLS, list_tables
    from orfeon.study.reproducing.published import (
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
    from orfeon.study.reproducing.records import Record
    from orfeon.study.reproducing.reproduction import Reproduction
    from orfeon.study.reproducing.running import reproduce
    from orfeon.study.reproducing.runs import Cell, Protocol, Run
    from orfeon.study.workbench.methods import METHODS
    from orfeon.study.workbench.outcome import StudyOutcome
    from orfeon.study.workbench.studying import run_study

__all__ = [
    "FOLDER_VARIABLE",
    "METHODS",
    "PROTOCOLS",
    "Cell",
    "Comparison",
    "CrossValidation",
    "Curve",
    "DataSet",
    "FoldOutcome",
    "Folds",
    "Kept",
    "NothingToRunError",
    "PairedDifference",
    "Partition",
    "Partitions",
    "Protocol",
    "PublishedCell",
    "RandomSplits",
    "Record",
    "Reproduction",
    "Run",
    "Sizes",
    "Standing",
    "StudyOutcome",
    "best_size",
    "boosting_conclusions",
    "comparison_table",
    "config_text",
    "data_file",
    "deal_folds",
    "has_data_file",
    "is_synthetic",
    "list_tables",
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
    "read_data",
    "reproduce",
    "run_study",
    "selection_conclusions",
    "split_rows",
    "summary",
]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
