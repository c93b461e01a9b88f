"""Real data sets of published tables, from a local folder: see :mod:`orfeon.datasets.folder`."""

from orfeon.datasets.folder import (
    FOLDER_VARIABLE,
    DataSet,
    data_file,
    has_data_file,
    read_data,
)

__all__ = ["FOLDER_VARIABLE", "DataSet", "data_file", "has_data_file", "read_data"]
