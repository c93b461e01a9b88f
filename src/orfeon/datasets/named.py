"""Data sets by name: synthetic ones, a local folder, the cache, OpenML."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from orfeon.datasets._problem import Problem
from orfeon.datasets.cache import (
    OfflineError,
    cache_folder,
    cached_names,
    fetch,
    read_cached,
    write_cached,
)
from orfeon.datasets.files import names_from_one, read_file
from orfeon.datasets.folder import FOLDER_VARIABLE
from orfeon.datasets.friedman import Friedman1, Friedman2, Friedman3
from orfeon.datasets.gaussian import GaussianClouds, RingNorm, ThreeClouds, ThreeNorm, TwoNorm
from orfeon.datasets.geometric import Circle, Diagonal, NestedSpheres
from orfeon.datasets.sources import means_a_file
from orfeon.datasets.waveform import Waveform
from orfeon.errors import UserError
from orfeon.utils.text import did_you_mean, nearest

#: Default number of rows of a synthetic data set.
SYNTHETIC_ROWS = 1000
_ENDINGS = (
    ".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip", ".tsv", ".data",
    ".parquet", ".arff", ".arff.gz", ".npz",
)  # fmt: skip
_TARGETS = ("class", "target")

_PROBLEMS: dict[str, type[Problem]] = {
    "circle": Circle,
    "diagonal": Diagonal,
    "friedman1": Friedman1,
    "friedman2": Friedman2,
    "friedman3": Friedman3,
    "gaussian_clouds": GaussianClouds,
    "nested_spheres": NestedSpheres,
    "ringnorm": RingNorm,
    "three_clouds": ThreeClouds,
    "threenorm": ThreeNorm,
    "twonorm": TwoNorm,
    "waveform": Waveform,
}


def list_problems() -> list[str]:
    """Names of the synthetic problems, sorted.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> from orfeon.datasets import list_problems
    >>> list_problems()[-2:]
    ['twonorm', 'waveform']
    """
    return sorted(_PROBLEMS)


def problem(name: str, **parameters: Any) -> Problem:
    """Make a synthetic problem by name.

    Parameters
    ----------
    name : str
        One of :func:`list_problems`.
    **parameters
        Parameters of the problem, such as ``priors``.

    Returns
    -------
    Problem
        An object with ``sample``, ``predict`` (the Bayes rule) and ``bayes_error``.

    Examples
    --------
    >>> from orfeon.datasets import problem
    >>> waveform = problem("waveform", priors=(0.5, 0.25, 0.25))
    >>> waveform.priors
    (0.5, 0.25, 0.25)
    """
    if name not in _PROBLEMS:
        raise ValueError(f"name must be one of {', '.join(list_problems())}, got {name!r}")
    return _PROBLEMS[name](**parameters)


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
    """List the data sets that can be loaded without the network.

    Parameters
    ----------
    folder : path, optional
        A folder of data files; by default the environment variable ``ORFEON_DATA`` names it.

    Returns
    -------
    list of DatasetInfo
        Synthetic ones, those in the folder, and those in the cache.

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


def load_dataset(
    name: str,
    *,
    return_X_y: bool = False,
    folder: str | os.PathLike[str] | None = None,
    rows: int | None = None,
    random_state: int = 0,
) -> Any:
    """Load a data set by name.

    Synthetic problems, a local folder and the cache are searched before OpenML, which is the only
    one that needs the network.

    Parameters
    ----------
    name : str
        A synthetic problem, optionally with its number of rows (``"waveform"``,
        ``"waveform:5000"``); a file in the folder, without its extension; or a data set of OpenML
        (``"iris"``, ``"iris:1"`` for version 1, ``"61"`` for its number).
    return_X_y : bool, default=False
        Return the features and the target only.
    folder : path, optional
        A folder of data files; by default the environment variable ``ORFEON_DATA`` names it.
    rows : int, optional
        Maximum number of rows, drawn at random.
    random_state : int, default=0
        Seed of synthetic data and of the rows drawn.

    Returns
    -------
    sklearn.utils.Bunch, or tuple
        With ``frame`` (the whole table), ``data`` (the features), ``target``, ``target_name``,
        ``name``, ``description`` and ``source``. ``target`` and ``target_name`` are None if the
        source does not name the target.

    Examples
    --------
    >>> from orfeon.datasets import load_dataset
    >>> waveform = load_dataset("waveform:300")
    >>> waveform.data.shape, waveform.target_name
    ((300, 21), 'class')
    >>> X, y = load_dataset("ringnorm", return_X_y=True)
    >>> X.shape
    (1000, 20)
    """
    if not isinstance(name, str) or not name.strip():
        raise UserError(f"name must be the name of a data set, got {name!r}.")
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
        raise UserError(f"{name} does not name its target: use the frame and choose a column.")
    return found.data, found.target


def find_data(
    data: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    rows: int | None = None,
    random_state: int = 0,
    header: bool | None = None,
) -> Any:
    """Load a file, or a data set by name.

    Parameters
    ----------
    data : path or str
        A file (``-`` is standard input), or the name of a data set as in :func:`load_dataset`.
    folder : path, optional
        As in :func:`load_dataset`.
    rows : int, optional
        Size of a random sample.
    random_state : int, default=0
        Seed of the sample and of synthetic data.
    header : bool, optional
        As in :func:`read_file`.

    Returns
    -------
    sklearn.utils.Bunch
        As returned by :func:`load_dataset`; for a file ``target_name`` is None.

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
    return load_dataset(text, folder=folder, rows=rows, random_state=random_state)


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
        raise UserError(f"{name!r}: a synthetic data set takes its number of rows after the colon.")
    n_rows = int(size) if size else SYNTHETIC_ROWS
    kind = problem(bare)
    X, y = kind.sample(n_rows, random_state=random_state)
    frame = pandas.DataFrame(X, columns=names_from_one(X.shape[1]))
    target = "class" if hasattr(kind, "n_classes") else "target"
    frame[target] = y
    summary = re.sub(r"\s+", " ", (type(kind).__doc__ or "").strip().split("\n\n")[0])
    return _bunch(frame, target, bare, summary, f"synthetic, {n_rows} rows, seed {random_state}")


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
    """Data files by name; several of one name are ranked by their endings."""
    found: dict[str, Path] = {}
    for ending in _ENDINGS:
        for path in sorted(folder.iterdir()):
            name = path.name[: -len(ending)]
            if path.name.lower().endswith(ending) and name and path.is_file():
                found.setdefault(name, path)
    found.pop("MANIFEST", None)  # the list of the files
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
    """The column that is most likely the target."""
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
        raise OfflineError(f"{error}. {_not_found(name, folder)}") from error
    except UserError as error:
        raise UserError(f"{error} {_not_found(name, folder)}") from error
    write_cached(name, frame, facts)
    return _bunch(frame, facts["target_name"], name, facts["description"], facts["source"])


def _not_found(name: str, folder: str | os.PathLike[str] | None) -> str:
    place = _folder(folder)
    near = nearest(name, [info.name for info in list_datasets(folder)])
    looked = f"{FOLDER_VARIABLE} is not set" if place is None else f"{place} has no such file"
    return (
        f"{name!r} is not a synthetic data set, {looked}, and it is not in {cache_folder()}."
        f"{did_you_mean(map(repr, near))} Put {name.split(':')[0]}.csv into a folder and set "
        f"{FOLDER_VARIABLE} to that folder; 'orfeon datasets list' lists what is available."
    )
