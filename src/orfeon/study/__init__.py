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
from orfeon.study.data import FOLDER_VARIABLE, DataSet, data_file, read_data
from orfeon.study.partitions import Partition, Partitions, is_synthetic, split_rows
from orfeon.study.protocols import PROTOCOLS
from orfeon.study.published import (
    Kept,
    PublishedCell,
    Sizes,
    config_text,
    list_tables,
    published_cells,
    published_seconds,
    published_sizes,
    read_config,
)
from orfeon.study.records import Record, RecordStore
from orfeon.study.reproduction import Reproduction, reproduce
from orfeon.study.runs import Cell, Protocol, Run

__all__ = [
    "FOLDER_VARIABLE",
    "PROTOCOLS",
    "Cell",
    "Comparison",
    "Curve",
    "DataSet",
    "Kept",
    "PairedDifference",
    "Partition",
    "Partitions",
    "Protocol",
    "PublishedCell",
    "Record",
    "RecordStore",
    "Reproduction",
    "Run",
    "Sizes",
    "Standing",
    "best_size",
    "comparison_table",
    "config_text",
    "data_file",
    "is_synthetic",
    "list_tables",
    "ordering_conclusions",
    "ordering_standings",
    "paired_difference",
    "published_cells",
    "published_seconds",
    "published_sizes",
    "read_config",
    "read_data",
    "reproduce",
    "split_rows",
    "summary",
]
