"""Results of single fits, kept one JSON line each, so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orfeon

#: Where they are kept, one file per suite; the environment variable names another folder.
FOLDER = Path(os.environ.get("ORFEON_FOLDS", "benchmarks/results/folds"))
#: The parts of orfeon that decide how boosting fits.
_CODE = ("boosting", "data", "forest", "growth", "kernels", "trees")


class Key(NamedTuple):
    """What makes two fits the same."""

    #: The table.
    table: str
    #: Its fold.
    fold: int
    #: Who fits: a library, or settings.
    who: str
    #: Its version; another version fits anew.
    state: str


class FoldResults:
    """Results by their keys, in a file that grows.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> key = Key("wine", 0, "orfeon", "1.0")
    >>> FoldResults(path).get(key, lambda: {"loss": 0.5})
    {'loss': 0.5}
    >>> FoldResults(path).get(key, lambda: {"loss": 0.7})  # known
    {'loss': 0.5}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[Key, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                with suppress(json.JSONDecodeError):  # the last may have been cut
                    self._keep(json.loads(line))

    def _keep(self, record: dict[str, Any]) -> None:
        key = Key(*(record.pop(name) for name in Key._fields))
        self._known[key] = record

    def known(self, key: Key) -> dict[str, Any] | None:
        """A result; None if it is not there yet."""
        return self._known.get(key)

    def get(self, key: Key, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A result, measured and appended to the file if it is new."""
        if key not in self._known:
            found = measure()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            is_cut = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" * is_cut + json.dumps({**key._asdict(), **found}) + "\n")
            self._known[key] = found
        return self._known[key]


@cache
def code_state(parts: tuple[str, ...] = _CODE) -> str:
    """Version of orfeon and a word that changes with the code of some of its packages."""
    folder = Path(orfeon.__file__).parent
    files = sorted(path for part in parts for path in (folder / part).rglob("*.py"))
    whole = hashlib.sha256()
    for path in files:
        whole.update(path.read_bytes())
    return f"{orfeon.__version__}+{whole.hexdigest()[:10]}"
