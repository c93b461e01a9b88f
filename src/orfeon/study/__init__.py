"""Studies: published tables, the splits they rest on, and their reproduction."""

from orfeon.study.comparison import (
    Comparison,
    PairedDifference,
    comparison_table,
    paired_difference,
    summary,
)
from orfeon.study.conclusions import Standing, ordering_conclusions, ordering_standings
from orfeon.study.curve import Curve, best_size
from orfeon.study.data import FOLDER_VARIABLE, DataSet, data_file, has_data_file, read_data
from orfeon.study.designs import CrossValidation, RandomSplits
from orfeon.study.fold_outcome import FoldOutcome
from orfeon.study.folds import Folds, deal_folds
from orfeon.study.partitions import Partition, Partitions, is_synthetic, split_rows
from orfeon.study.perceptron_conclusions import (
    boosting_conclusions,
    mean_differences,
    selection_conclusions,
)
from orfeon.study.protocols import PROTOCOLS
from orfeon.study.published import (
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
from orfeon.study.records import Record, RecordStore
from orfeon.study.reproduction import NothingToRunError, Reproduction, reproduce
from orfeon.study.runs import Cell, Protocol, Run

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
