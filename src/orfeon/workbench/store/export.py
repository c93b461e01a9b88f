"""Runs as a table, in a CSV or a Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orfeon.utils.atomic_file import atomic_write
from orfeon.workbench.store.database import StoreError
from orfeon.workbench.store.study import RunRow

if TYPE_CHECKING:
    import pandas as pd

_FIRST = ("study", "key", "seed", "seconds", "finished", "host")
_GROUPS = ("configuration", "result", "timings", "versions")


def write_runs(path: Path, runs: Sequence[tuple[str, Sequence[RunRow]]]) -> int:
    """Write runs to a file, a line each; the file appears whole or not at all."""
    if path.suffix not in (".csv", ".parquet"):
        raise StoreError(f"Runs are exported to .csv or .parquet files; got {str(path)!r}.")
    frame = runs_frame((name, row) for name, rows in runs for row in rows)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            if path.suffix == ".csv":
                frame.to_csv(file, index=False, encoding="utf-8", lineterminator="\n")
            else:
                frame.to_parquet(file, index=False)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
    except ImportError:
        raise StoreError(
            "Parquet files need the package pyarrow. Install it with "
            "`pip install orfeon[parquet]`, or export to .csv."
        ) from None
    return len(frame)


def runs_frame(runs: Iterable[tuple[str, RunRow]]) -> pd.DataFrame:
    """Runs as a table with dotted names."""
    import pandas as pd

    lines = [_line(name, row) for name, row in runs]
    found = {column for line in lines for column in line}
    columns = [*_FIRST, *sorted(found.difference(_FIRST), key=_place)]
    return pd.DataFrame({name: _column([line.get(name) for line in lines]) for name in columns})


def _place(column: str) -> tuple[int, str]:
    return _GROUPS.index(column.split(".")[0]), column


def _line(study: str, row: RunRow) -> dict[str, Any]:
    fields = asdict(row)
    line = {"study": study, **{name: fields[name] for name in _FIRST[1:]}}
    for group in _GROUPS:
        for name, value in _flat(fields[group], group):
            # {"a.b": 1, "a": {"b": 2}} has one dotted name for two values: both are kept.
            while name in line:
                name += "'"
            line[name] = value
    return line


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}")
    elif isinstance(value, list):
        yield name, json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    else:
        yield name, value


def _column(values: list[Any]) -> pd.Series[Any]:
    """A column of one type, which a Parquet file needs."""
    import pandas as pd

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pd.Series(values, dtype="Int64")
    if kinds in ({float}, {int, float}):
        return pd.Series(values, dtype="float64")
    if kinds - {str}:
        values = [
            value if value is None or isinstance(value, str) else json.dumps(value)
            for value in values
        ]
    return pd.Series(values, dtype="string")
