"""Studies: published tables, the splits they rest on, and their reproduction."""

from orfeon.study.data import FOLDER_VARIABLE, DataSet, data_file, has_data_file, read_data
from orfeon.study.reproducing.comparison import (
    Comparison,
    PairedDifference,
    comparison_table,
    paired_difference,
    summary,
)
from orfeon.study.reproducing.conclusions import Standing, ordering_conclusions, ordering_standings
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
from orfeon.study.reproducing.protocols import PROTOCOLS
from orfeon.study.reproducing.published import (
    Kept,
    PublishedCell,
    Sizes,
    config_text,
    list_tables,
    published_cells,
    published_folds,
    published_seconds,
    published_shares,
    published_sizes,
    read_config,
)
from orfeon.study.reproducing.records import Record, RecordStore
from orfeon.study.reproducing.reproduction import NothingToRunError, Reproduction, reproduce
from orfeon.study.reproducing.runs import Cell, Protocol, Run

__all__ = [
    "FOLDER_VARIABLE",
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
    "RecordStore",
    "Reproduction",
    "Run",
    "Sizes",
    "Standing",
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
    "selection_conclusions",
    "split_rows",
    "summary",
]
