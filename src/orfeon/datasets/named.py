"""Data sets by name: synthetic ones, a local folder, what was fetched before, OpenML."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from orfeon.datasets.cache import cache_folder, cached_names, read_cached, write_cached
from orfeon.datasets.files import names_from_one, read_file
from orfeon.datasets.folder import FOLDER_VARIABLE
from orfeon.datasets.openml import OfflineError, fetch
from orfeon.datasets.registry import list_problems, problem
from orfeon.datasets.sources import means_a_file
from orfeon.errors import UserError
from orfeon.utils.text import did_you_mean, nearest

#: Rows of a synthetic data set when none are asked for.
SYNTHETIC_ROWS = 1000
_ENDINGS = (
    ".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip", ".tsv", ".data",
    ".parquet", ".arff", ".arff.gz", ".npz",
)  # fmt: skip
_TARGETS = ("class", "target")


class DatasetInfo(NamedTuple):
    """A data set that can be loaded without the network.

    Examples
    --------
    >>> from orfeon.datasets import DatasetInfo
    >>> DatasetInfo("waveform", "synthetic", "3 classes").name
    'waveform'
    """

    name: str
    place: str
    about: str


def list_datasets(folder: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """Data sets that can be loaded without the network.

    Parameters
    ----------
    folder : path, optional
        A folder of data files; by default the environment variable ``ORFEON_DATA`` names it.

    Returns
    -------
    list of DatasetInfo
        Synthetic ones, those of the folder, and those fetched before.

    Examples
    --------
    >>> from orfeon.datasets import list_datasets
    >>> [info.name for info in list_datasets() if info.place == "synthetic"][:2]
    ['circle', 'diagonal']
    """
    found = [DatasetInfo(name, "synthetic", _about(name)) for name in list_problems()]
    place = _folder(folder)
    if place is not None:
        for name, path in sorted(_files(place).items()):
            found.append(DatasetInfo(name, "folder", str(path)))
    found += [DatasetInfo(name, "cache", "fetched from OpenML") for name in cached_names()]
    return found


def _about(name: str) -> str:
    kind = problem(name)
    task = "regression" if not hasattr(kind, "n_classes") else f"{kind.n_classes} classes"
    return f"{kind.n_features} numbers, {task}, any number of rows"


def load(
    name: str,
    *,
    return_X_y: bool = False,
    folder: str | os.PathLike[str] | None = None,
    rows: int | None = None,
    random_state: int = 0,
) -> Any:
    """Load a data set by name.

    It is looked for among the synthetic problems, in a local folder, among those fetched before,
    and then fetched from OpenML, which is the only step that needs the network.

    Parameters
    ----------
    name : str
        A synthetic problem, with its number of rows if wanted (``"waveform"``,
        ``"waveform:5000"``); the name of a file in the folder, without its ending; or a data set
        of OpenML (``"iris"``, ``"iris:1"`` for version 1, ``"61"`` for its number).
    return_X_y : bool, default=False
        Return the features and the target only.
    folder : path, optional
        A folder of data files; by default the environment variable ``ORFEON_DATA`` names it.
    rows : int, optional
        At most so many rows, drawn at random.
    random_state : int, default=0
        Fixes synthetic data and the rows drawn.

    Returns
    -------
    sklearn.utils.Bunch, or tuple
        With ``frame`` (the whole table), ``data`` (the features), ``target``, ``target_name``,
        ``name``, ``description`` and ``source``. ``target`` and ``target_name`` are None when the
        source does not say what is to be predicted.

    Examples
    --------
    >>> from orfeon.datasets import load
    >>> waveform = load("waveform:300")
    >>> waveform.data.shape, waveform.target_name
    ((300, 21), 'class')
    >>> X, y = load("ringnorm", return_X_y=True)
    >>> X.shape
    (1000, 20)
    """
    if not isinstance(name, str) or not name.strip():
        raise UserError(f"name must name a data set, got {name!r}.")
    name = name.strip()
    found = (
        _synthetic(name, random_state)
        or _from_folder(name, folder, rows, random_state)
        or _from_cache(name)
        or _from_openml(name, folder)
    )
    found = _reduced(found, rows, random_state)
    if not return_X_y:
        return found
    if found.target is None:
        raise UserError(f"{name} does not say which column is the target: take the whole frame.")
    return found.data, found.target


def find_data(
    data: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    rows: int | None = None,
    random_state: int = 0,
    header: bool | None = None,
) -> Any:
    """Load what a user named: a file, or a data set.

    Parameters
    ----------
    data : path or str
        A file (``-`` is the standard input), or the name of a data set as in :func:`load`.
    folder : path, optional
        As in :func:`load`.
    rows : int, optional
        A random sample of so many rows.
    random_state : int, default=0
        Fixes the sample, and synthetic data.
    header : bool, optional
        As in :func:`read_file`.

    Returns
    -------
    sklearn.utils.Bunch
        As of :func:`load`; of a file ``target_name`` is None: the user must say it.

    Examples
    --------
    >>> from orfeon.datasets import find_data
    >>> find_data("twonorm:50").frame.shape
    (50, 21)
    >>> find_data("twonrom.csv")
    Traceback (most recent call last):
    ...
    orfeon.errors.UserError: There is no file twonrom.csv.
    """
    text = os.fspath(data)
    bare = text.split(":")[0]
    if means_a_file(text) and not (bare in list_problems() and not Path(text).is_file()):
        frame = read_file(text, rows=rows, random_state=random_state, header=header)
        name = "standard input" if text == "-" else Path(text).name
        return _bunch(frame, None, name, "", "standard input" if text == "-" else text)
    return load(text, folder=folder, rows=rows, random_state=random_state)


def _bunch(frame: Any, target: str | None, name: str, description: str, source: str) -> Any:
    from sklearn.utils import Bunch

    return Bunch(
        frame=frame,
        data=frame if target is None else frame.drop(columns=target),
        target=None if target is None else frame[target],
        target_name=target,
        name=name,
        description=description,
        source=source,
    )


def _reduced(found: Any, rows: int | None, random_state: int) -> Any:
    if rows is None or rows >= len(found.frame):
        return found
    n_rows = len(found.frame)
    frame = found.frame.sample(n=rows, random_state=random_state).sort_index()
    frame = frame.reset_index(drop=True)
    frame.attrs["notes"] = [f"A random sample of {rows} of its {n_rows} rows was drawn."]
    return _bunch(frame, found.target_name, found.name, found.description, found.source)


def _synthetic(name: str, random_state: int) -> Any:
    import pandas

    bare, _, size = name.partition(":")
    if bare not in list_problems():
        return None
    if size and (not size.isdecimal() or int(size) < 1):
        raise UserError(
            f"{name!r}: what follows the name of a synthetic data set is its number of rows."
        )
    n_rows = int(size) if size else SYNTHETIC_ROWS
    kind = problem(bare)
    X, y = kind.sample(n_rows, random_state=random_state)
    frame = pandas.DataFrame(X, columns=names_from_one(X.shape[1]))
    target = "class" if hasattr(kind, "n_classes") else "target"
    frame[target] = y
    words = (type(kind).__doc__ or "").strip().split("\n\n")[0]
    text = re.sub(r"\s+", " ", words)
    return _bunch(frame, target, bare, text, f"synthetic, {n_rows} rows, seed {random_state}")


def _folder(folder: str | os.PathLike[str] | None) -> Path | None:
    named = folder or os.environ.get(FOLDER_VARIABLE) or None
    if named is None:
        return None
    path = Path(named).expanduser()
    if not path.is_dir():
        how = "folder=" if folder else FOLDER_VARIABLE
        raise UserError(f"{how} names {path}, which is not a folder.")
    return path


def _files(folder: Path) -> dict[str, Path]:
    """Data files by name; of several with one name the first of the known endings counts."""
    found: dict[str, Path] = {}
    for ending in _ENDINGS:
        for path in sorted(folder.iterdir()):
            name = path.name[: -len(ending)]
            if path.name.lower().endswith(ending) and name and path.is_file():
                found.setdefault(name, path)
    found.pop("MANIFEST", None)  # a list of the files is not one of them
    return found


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


def _from_folder(
    name: str, folder: str | os.PathLike[str] | None, rows: int | None, random_state: int
) -> Any:
    place = _folder(folder)
    if place is None:
        return None
    files = _files(place)
    match = name if name in files else next((f for f in files if _plain(f) == _plain(name)), None)
    if match is None:
        return None
    frame = read_file(files[match], rows=rows, random_state=random_state)
    return _bunch(frame, target_of(frame), match, "", str(files[match]))


def target_of(frame: Any) -> str:
    """The column that is most likely the target of a named data set."""
    by_name = {str(column).casefold(): str(column) for column in frame.columns}
    return next((by_name[t] for t in _TARGETS if t in by_name), str(frame.columns[-1]))


def _from_cache(name: str) -> Any:
    kept = read_cached(name)
    if kept is None:
        return None
    frame, facts = kept
    target = facts.get("target_name")
    target = target if target in frame.columns else None
    return _bunch(
        frame, target, name, str(facts.get("description", "")), str(facts.get("source", ""))
    )


def _from_openml(name: str, folder: str | os.PathLike[str] | None) -> Any:
    try:
        frame, facts = fetch(name)
    except OfflineError as error:
        raise OfflineError(f"{error}. {_where_it_is_not(name, folder)}") from error
    except UserError as error:
        raise UserError(f"{error} {_where_it_is_not(name, folder)}") from error
    write_cached(name, frame, facts)
    return _bunch(frame, facts["target_name"], name, facts["description"], facts["source"])


def _where_it_is_not(name: str, folder: str | os.PathLike[str] | None) -> str:
    """Where the data set was looked for, and what to do."""
    place = _folder(folder)
    near = nearest(name, [info.name for info in list_datasets(folder)])
    looked = "no folder of data is named" if place is None else f"{place} has no such file"
    return (
        f"{name!r} is no synthetic data set, {looked}, and {cache_folder()} has not kept it."
        f"{did_you_mean(map(repr, near))} Put {name.split(':')[0]}.csv into a folder and "
        f"name the folder with the variable {FOLDER_VARIABLE}; "
        "'orfeon datasets list' says what is there."
    )
