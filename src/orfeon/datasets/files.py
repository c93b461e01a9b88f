"""Read a table from a file of any format."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from orfeon.datasets.arff import read_arff
from orfeon.datasets.delimited import SHARE_OF_MEMORY, read_delimited
from orfeon.datasets.dialect import encoding_of
from orfeon.datasets.memory import available_memory, readable_size
from orfeon.datasets.sources import Source, open_source, sentence, text_of
from orfeon.errors import UserError


def read_file(
    path: str | os.PathLike[str],
    *,
    rows: int | None = None,
    random_state: int = 0,
    header: bool | None = None,
) -> Any:
    r"""Read a table from a file.

    CSV with any delimiter, decimal sign and encoding, also compressed with gzip, bzip2, xz or zip;
    Parquet (with the extra ``parquet``); ARFF; NPZ with arrays ``X`` and ``y``. The format is
    detected from the bytes, not from the name.

    Parameters
    ----------
    path : path
        The file; ``-`` reads standard input.
    rows : int, optional
        Size of a random sample to read, in the order of the file; memory then does not depend on
        the size of the file.
    random_state : int, default=0
        Seed of the sample.
    header : bool, optional
        Whether the first line of a CSV file names the columns; detected by default.

    Returns
    -------
    pandas.DataFrame
        The table. ``attrs["notes"]`` lists what was detected, in sentences.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from orfeon.datasets import read_file
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "golf.csv"
    ...     _ = path.write_text("outlook;humidity\nsunny;85,5\nrain;?\n")
    ...     frame = read_file(path)
    >>> frame
      outlook  humidity
    0   sunny      85.5
    1    rain       NaN
    >>> frame.attrs["notes"]
    ['Numbers have decimal commas.']
    """
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
        raise UserError(f"rows must be an integer of at least 1, got {rows!r}.")
    with open_source(path) as source:
        try:
            if source.format == "delimited":
                return read_delimited(source, rows=rows, random_state=random_state, header=header)
            if source.format == "parquet":
                return _read_parquet(source, rows, random_state)
            if source.format == "npz":
                return _read_arrays(source, rows, random_state)
            return _read_arff(source, rows, random_state)
        except (OSError, EOFError) as error:
            raise UserError(f"{source.name} cannot be read: {sentence(error)}.") from error
        except MemoryError as error:
            raise UserError(
                f"{source.name} does not fit into memory: read a sample with rows= "
                "(--rows N on the command line)."
            ) from error


def _read_arff(source: Source, rows: int | None, random_state: int) -> Any:
    with source.open() as (stream, _):
        encoding = encoding_of(stream.read(1 << 18), cut=True)
    try:
        with source.open() as (stream, _), text_of(stream, encoding) as text:
            frame = read_arff(text, rows=rows, random_state=random_state)
    except UserError as error:
        raise UserError(f"{source.name}: {error}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{source.name} is not text in UTF-8: {sentence(error)}.") from error
    if not len(frame):
        raise UserError(f"{source.name} has a header but no rows.")
    return frame


def _read_arrays(source: Source, rows: int | None, random_state: int) -> Any:
    import pandas

    try:
        with np.load(source.path, allow_pickle=False) as arrays:
            X, y = _samples(arrays, source.name)
    except ValueError as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{source.name} cannot be read: {sentence(error)}.") from error
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise UserError(
            f"{source.name} must have X of shape (rows, columns) and y of shape (rows,); their "
            f"shapes are {X.shape} and {y.shape}."
        )
    notes = []
    if rows is not None and rows < len(X):
        chosen = _chosen(len(X), rows, random_state)
        notes.append(f"A random sample of {rows} of its {len(X)} rows was read.")
        X, y = X[chosen], y[chosen]
    frame = pandas.DataFrame(X, columns=names_from_one(X.shape[1]))
    frame["target"] = y
    frame.attrs["notes"] = notes
    return frame


def _samples(arrays: Any, name: str) -> tuple[Any, Any]:
    """X and y; of a file with a training and a test part both, in this order."""
    if "X" in arrays and "y" in arrays:
        return arrays["X"], arrays["y"]
    spelled = {key.lower(): key for key in arrays}
    if not {"x_train", "y_train", "x_test", "y_test"} <= set(spelled):
        names = ", ".join(arrays) or "nothing"
        raise UserError(
            f"{name} must have arrays X and y, or X_train, y_train, X_test and y_test; "
            f"it has {names}."
        )
    parts = [[arrays[spelled[f"{of}_{part}"]] for part in ("train", "test")] for of in "xy"]
    X, y = (np.concatenate(both) for both in parts)
    return X.reshape(len(X), -1), y  # images are rows of pixels


def names_from_one(n_columns: int) -> list[str]:
    # Not x0, x1... like features without names: the papers that define the problems count from 1,
    # and models saved from these tables expect these names.
    width = len(str(n_columns))
    return [f"x{j:0{width}}" for j in range(1, n_columns + 1)]


def _chosen(n_rows: int, size: int, random_state: int) -> Any:
    generator = np.random.default_rng(random_state)
    return np.sort(generator.choice(n_rows, size, replace=False))


def import_parquet(name: str) -> tuple[Any, Any]:
    """The modules ``pyarrow`` and ``pyarrow.parquet``, to read a file of some name."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UserError(f"{name} is a Parquet file: install orfeon[parquet] to read it.") from error
    return pyarrow, parquet


def _read_parquet(source: Source, rows: int | None, random_state: int) -> Any:
    pyarrow, parquet = import_parquet(source.name)
    if source.packing != "none":
        raise UserError(f"{source.name} is a compressed Parquet file: decompress it first.")
    try:
        with parquet.ParquetFile(source.path) as file:
            n_rows = file.metadata.num_rows
            if rows is None or rows >= n_rows:
                _check_room(source, file.metadata)
                frame, notes = file.read().to_pandas(), []
            else:
                frame = _parquet_sample(file, _chosen(n_rows, rows, random_state))
                notes = [f"A random sample of {rows} of its {n_rows} rows was read."]
    except (pyarrow.ArrowException, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{source.name} cannot be read as Parquet: {sentence(error)}.") from error
    if not len(frame):
        raise UserError(f"{source.name} has columns but no rows.")
    frame = frame.reset_index(drop=frame.index.names == [None])
    frame.attrs["notes"] = notes
    return frame


def _check_room(source: Source, metadata: Any) -> None:
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    expected = max(
        sum(group.total_byte_size for group in groups), 8 * metadata.num_rows * metadata.num_columns
    )
    room = available_memory()
    if room is not None and expected > SHARE_OF_MEMORY * room:
        raise UserError(
            f"{source.name} would take {readable_size(expected)} of memory; {readable_size(room)} "
            "are free: read a sample with rows= (--rows N on the command line)."
        )


def _parquet_sample(file: Any, chosen: Any) -> Any:
    import pyarrow

    kept, start = [], 0
    for batch in file.iter_batches():
        inside = chosen[(chosen >= start) & (chosen < start + batch.num_rows)] - start
        if len(inside):
            kept.append(batch.take(pyarrow.array(inside)))
        start += batch.num_rows
    return pyarrow.Table.from_batches(kept).to_pandas()
