"""Uses stores on a disk that has become read-only; prints what was said and read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.workbench.store.rows import make_row

from orfeon.workbench.store import Store, StoreError


def main(folder: Path) -> None:
    """Write two stores, one of which is not closed, then take the right to write away."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    with Store(folder / "clean.db") as store:
        store.open_study("a", {}).put(make_row("clean"))
    _leave_open(folder / "open.db")
    _leave_open(folder / "bare.db")
    (folder / "bare.db-shm").unlink()
    before = _contents(folder)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    told = []
    for name in ("clean.db", "open.db", "new.db", "folder/new.db"):
        try:
            Store(folder / name)
        except StoreError as error:
            told.append(str(error))
    keys = {}
    for name in ("clean.db", "open.db", "bare.db"):
        with Store(folder / name, read_only=True) as store:
            keys[name] = [row.key for row in store.study("a").rows()]
    found = {"told": told, "keys": keys, "unchanged": _contents(folder) == before}
    json.dump(found, sys.stdout)


def _leave_open(path: Path) -> None:
    """A store whose writer was killed: its last runs are in the log beside it."""
    child = os.fork()
    if child == 0:
        study = Store(path).open_study("a", {})
        for key in ("one", "two"):
            study.put(make_row(key))
        os._exit(0)
    os.waitpid(child, 0)
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
