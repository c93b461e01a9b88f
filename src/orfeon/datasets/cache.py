"""Data sets that were fetched once: a packed CSV file and a JSON file of facts for each."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write

#: The environment variable that names the folder of fetched data sets.
CACHE_VARIABLE = "ORFEON_CACHE"
_VERSION = 1


def cache_folder() -> Path:
    """The folder of fetched data sets."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "orfeon"
    except RuntimeError as error:  # a system without a home
        raise UserError(
            f"There is no home folder to keep data sets in: set the variable {CACHE_VARIABLE}."
        ) from error


def _stem(name: str) -> str:
    """A file name for a name of any letters; different names have different ones."""
    plain = re.sub(r"[^a-z0-9._-]+", "_", name.lower())[:60]
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def cached_names() -> list[str]:
    """Names of the data sets in the cache."""
    folder = cache_folder() / "datasets"
    names = []
    for path in folder.glob("*.json") if folder.is_dir() else ():
        try:
            names.append(str(json.loads(path.read_text(encoding="utf-8"))["name"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not ours, or damaged: fetching it again mends it
    return sorted(names)


def cached_file(name: str) -> Path | None:
    """The file of a data set in the cache."""
    path = cache_folder() / "datasets" / f"{_stem(name)}.csv.gz"
    return path if path.is_file() else None


def write_cached(name: str, frame: Any, facts: dict[str, Any]) -> Path | None:
    """Keep a data set."""
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
    """What a CSV file does not say of the columns."""
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
    """A data set that was kept."""
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
