"""Studies: published tables, the splits they rest on, and their reproduction."""

from orfeon.study.comparison import (
    Comparison,
    PairedDifference,
    comparison_table,
    paired_difference,
    summary,
)
from orfeon.study.data import FOLDER_VARIABLE, DataSet, data_file, read_data
from orfeon.study.partitions import Partition, Partitions, is_synthetic, split_rows
from orfeon.study.protocols import PROTOCOLS, Protocol, Run
from orfeon.study.published import (
    PublishedCell,
    Sizes,
    config_text,
    list_tables,
    published_cells,
    published_sizes,
)
from orfeon.study.records import Record, RecordStore
from orfeon.study.reproduction import Reproduction, reproduce

__all__ = [
    "FOLDER_VARIABLE",
    "PROTOCOLS",
    "Comparison",
    "DataSet",
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
    "comparison_table",
    "config_text",
    "data_file",
    "is_synthetic",
    "list_tables",
    "paired_difference",
    "published_cells",
    "published_sizes",
    "read_data",
    "reproduce",
    "split_rows",
    "summary",
]
