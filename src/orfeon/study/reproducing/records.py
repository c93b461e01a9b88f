"""Finished results, one JSON line each, on disk before the next one is begun."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from orfeon.study.reproducing.curve import Curve
from orfeon.study.reproducing.fold_outcome import FoldOutcome
from orfeon.study.reproducing.published import config_text

Key = tuple[str, str, str, str, int, int]

#: How every line begins.
_START = b'{"table": "'


@dataclass(frozen=True)
class Record:
    """The error of one cell on one split.

    Parameters
    ----------
    table, dataset, method : str
        What was reproduced.
    config : dict of str to str
        The settings of the cell.
    members : int
        Number of members that were trained.
    split : int
        Number of the split.
    error : float
        Error, in percent, on the set that the table is about; of all members, where there is a
        curve.
    seconds : float
        Time to train and to predict; cells that share one fit share it.
    curve : Curve, optional
        The errors at all sizes, for cells that ask for the best of them.
    outcome : FoldOutcome, optional
        What is right class by class, for cells about a fold of a cross-validation.

    Examples
    --------
    >>> from orfeon.study import Record
    >>> Record("martinez-3.2", "waveform", "cart", {}, 1, 0, 30.1, 0.02).key
    ('martinez-3.2', 'waveform', 'cart', '', 1, 0)
    """

    table: str
    dataset: str
    method: str
    config: dict[str, str] = field(hash=False)
    members: int
    split: int
    error: float
    seconds: float
    curve: Curve | None = None
    outcome: FoldOutcome | None = None

    @property
    def key(self) -> Key:
        """What no two records share."""
        config = config_text(self.config)
        return (self.table, self.dataset, self.method, config, self.members, self.split)


class RecordStore:
    """Records by their key, kept in a file if one is named.

    A line that was cut off at the end of the file, as a killed process leaves it, is removed.

    Parameters
    ----------
    path : path, optional
        A file of JSON lines. It is made when the first record is added.

    Examples
    --------
    >>> from orfeon.study import Record, RecordStore
    >>> store = RecordStore()
    >>> store.add([Record("martinez-3.2", "waveform", "cart", {}, 1, 0, 30.1, 0.02)])
    >>> len(store), ("martinez-3.2", "waveform", "cart", "", 1, 1) in store
    (1, False)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._records: dict[Key, Record] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: Key) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def add(self, records: Sequence[Record]) -> None:
        """Keep some records, on disk before this returns.

        Parameters
        ----------
        records : sequence of Record
            The records.
        """
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(_line(record) for record in records)
        self._records.update((record.key, record) for record in records)

    def _read(self, path: Path) -> None:
        content = path.read_bytes()
        end = content.rfind(b"\n") + 1
        whole, cut_off = content[:end], content[end:]
        for number, line in enumerate(whole.splitlines(), start=1):
            record = _parse(line, f"{path}, line {number}")
            self._records[record.key] = record
        start = cut_off[: len(_START)]
        if not _START.startswith(start):  # some other file: it is not ours to shorten
            raise ValueError(f"{path} must be a file of JSON lines that this command has written.")
        if cut_off:
            os.truncate(path, end)


class _Extra(NamedTuple):
    """What only some records have: how it is read from a line, and what it must hold."""

    read: Callable[[Mapping[str, Any]], Any]
    numbers: str


_EXTRAS = {
    "curve": _Extra(
        lambda found: Curve(tuple(found["wrong"]), found["n_examples"]), "wrong and n_examples"
    ),
    "outcome": _Extra(lambda found: FoldOutcome(**found), "of examples, right and all"),
}


def _line(record: Record) -> str:
    content = {
        name: part
        for name, part in asdict(record).items()
        if name not in _EXTRAS or part is not None
    }
    return json.dumps(content) + "\n"


def _parse(line: bytes, where: str) -> Record:
    names = {part.name for part in fields(Record)} - _EXTRAS.keys()
    try:
        found: Any = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{where} is not a JSON line: {error}") from error
    if not isinstance(found, dict) or found.keys() - _EXTRAS.keys() != names:
        raise ValueError(f"{where} must be a record with the keys {', '.join(sorted(names))}.")
    extras = {name: _extra(name, found.pop(name), where) for name in _EXTRAS if name in found}
    return Record(**found, **extras)


def _extra(name: str, found: Any, where: str) -> Any:
    extra = _EXTRAS[name]
    try:
        return extra.read(found)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{where}: {name} must hold the numbers {extra.numbers} ({error})"
        ) from error
