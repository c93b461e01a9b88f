"""Data sets of OpenML, fetched through scikit-learn and kept in a local folder.

Each is a compressed CSV file and a JSON file with the types of its columns and other facts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write

#: The environment variable for the folder of fetched data sets.
CACHE_VARIABLE = "ORFEON_CACHE"
#: Seconds without an answer after which OpenML counts as unreachable.
TIMEOUT = 30.0
_VERSION = 1


def cache_folder() -> Path:
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "orfeon"
    except RuntimeError as error:  # a system without a home
        raise UserError(
            f"There is no home folder for data sets: set the variable {CACHE_VARIABLE}."
        ) from error


def _stem(name: str) -> str:
    """A file name for any name; different names get different ones."""
    plain = re.sub(r"[^a-z0-9._-]+", "_", name.lower())[:60]
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def cached_names() -> list[str]:
    folder = cache_folder() / "datasets"
    names = []
    for path in folder.glob("*.json") if folder.is_dir() else ():
        try:
            names.append(str(json.loads(path.read_text(encoding="utf-8"))["name"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not ours, or damaged: the next fetch repairs it
    return sorted(names)


def cached_file(name: str) -> Path | None:
    path = cache_folder() / "datasets" / f"{_stem(name)}.csv.gz"
    return path if path.is_file() else None


def write_cached(name: str, frame: Any, facts: dict[str, Any]) -> Path | None:
    """Keep a data set; None if the folder is not writable."""
    folder = cache_folder() / "datasets"
    table, about = (folder / f"{_stem(name)}{ending}" for ending in (".csv.gz", ".json"))
    document = {**facts, "version": _VERSION, "name": name, "columns": _types(frame)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(table) as file:
            frame.to_csv(file, index=False, compression="gzip")
        with atomic_write(about) as file:
            file.write(json.dumps(document).encode("utf-8"))
    except OSError:
        return None
    return table


def _types(frame: Any) -> list[dict[str, Any]]:
    """What a CSV file does not record about the columns."""
    import pandas
    from pandas.api import types

    columns: list[dict[str, Any]] = []
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pandas.CategoricalDtype):
            levels = [str(level) for level in column.cat.categories]
            columns.append({"name": str(name), "type": "category", "levels": levels})
        elif types.is_bool_dtype(column.dtype):
            columns.append({"name": str(name), "type": "category", "levels": ["False", "True"]})
        elif types.is_numeric_dtype(column.dtype):
            columns.append({"name": str(name), "type": "number"})
        else:
            columns.append({"name": str(name), "type": "words"})
    return columns


def read_cached(name: str) -> tuple[Any, dict[str, Any]] | None:
    """A data set from the cache; None if it is absent or damaged."""
    import pandas

    folder = cache_folder() / "datasets"
    table, about = (folder / f"{_stem(name)}{ending}" for ending in (".csv.gz", ".json"))
    try:
        facts = json.loads(about.read_text(encoding="utf-8"))
        if facts["version"] != _VERSION or facts["name"] != name:
            return None
        words = pandas.read_csv(
            table, dtype=str, keep_default_na=False, na_values=[""], compression="gzip"
        )
        made = {}
        for position, column in enumerate(facts["columns"]):
            made[column["name"]] = _typed(words.iloc[:, position], column)
    except (OSError, EOFError, ValueError, KeyError, IndexError, TypeError):
        return None
    return pandas.DataFrame(made), facts


def _typed(words: Any, column: dict[str, Any]) -> Any:
    import numpy as np
    import pandas

    if column["type"] == "number":
        return pandas.Series([np.nan if w != w or w is None else float(w) for w in words])
    if column["type"] == "category":
        return pandas.Series(pandas.Categorical(words, categories=column["levels"]))
    return words


class OfflineError(UserError):
    """OpenML cannot be reached."""


def fetch(name: str) -> tuple[Any, dict[str, Any]]:
    """Fetch a data set from OpenML: its table, and what else is known about it."""
    from sklearn.datasets import fetch_openml

    query = _query(name)
    try:
        with _socket_timeout(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of several versions and retries
            found = fetch_openml(
                **query, as_frame=True, cache=False, n_retries=1, delay=0.5, parser="auto"
            )
    except HTTPError as error:
        # OpenML reports unknown names as 404 or 412.
        if error.code in (404, 412):
            raise UserError(f"OpenML has no data set {name!r}.") from error
        raise OfflineError(f"OpenML returned error {error.code}") from error
    except (URLError, TimeoutError, ConnectionError, socket.gaierror) as error:
        reason = getattr(error, "reason", error)
        raise OfflineError(f"OpenML cannot be reached ({reason})") from error
    except (ValueError, KeyError) as error:
        raise UserError(f"OpenML has no readable data set {name!r}: {error}.") from error
    return _dense_frame(found), _facts(name, found)


def _query(name: str) -> dict[str, Any]:
    if name.isdecimal():
        return {"data_id": int(name)}
    bare, colon, version = name.rpartition(":")
    if not colon:
        return {"name": name}
    if not version.isdecimal() or not bare:
        raise UserError(f"{name!r}: the version after the colon must be an integer.")
    return {"name": bare, "version": int(version)}


@contextmanager
def _socket_timeout() -> Iterator[None]:
    """Set a timeout, because scikit-learn sets none."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _dense_frame(found: Any) -> Any:
    import pandas

    frame = found.frame
    sparse = [c for c in frame.columns if isinstance(frame[c].dtype, pandas.SparseDtype)]
    if sparse:
        dense = {name: frame[name].sparse.to_dense() for name in sparse}
        frame = pandas.DataFrame({c: dense.get(c, frame[c]) for c in frame.columns})
    return frame


def _facts(name: str, found: Any) -> dict[str, Any]:
    targets = list(getattr(found, "target_names", None) or ())
    details = dict(getattr(found, "details", None) or {})
    version, number = details.get("version", "?"), details.get("id", "?")
    title = details.get("name", name)
    return {
        "target_name": str(targets[0]) if len(targets) == 1 else None,
        "description": str(getattr(found, "DESCR", "") or ""),
        "source": f"OpenML, {title} version {version} (number {number})",
    }
