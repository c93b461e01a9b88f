"""Fills a small disk with a store on it; prints what was said and what is left."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from tests.workbench.store.rows import make_row

from orfeon.workbench.store import Store, StoreError


def main(folder: Path) -> None:
    """Mount a disk of one megabyte, and write until it is full."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(100_000))
    safe: list[str] = []
    told: list[str] = []
    with Store(folder / "results.db") as store:
        study = store.open_study("full", {})
        for number in range(10_000):
            try:
                study.put(make_row(str(number), number, text="x" * 500))
                safe.append(str(number))
            except StoreError as error:
                told.append(str(error))
            if len(told) == 3:
                break
        readable = sorted(study.keys()) == sorted(safe)
        # The same store goes on once there is room.
        ballast.unlink()
        goes_on = study.put(make_row("after"))
    _export(folder, told)
    with Store(folder / "results.db") as store:
        rows = store.study("full").rows()
    expected = [make_row(key, int(key), text="x" * 500) for key in safe] + [make_row("after")]
    found = {
        "told": told,
        "safe": len(safe),
        "readable": readable,
        "goes_on": goes_on,
        "complete": rows == sorted(expected, key=lambda row: row.key),
        "files": sorted(path.name for path in folder.iterdir()),
    }
    json.dump(found, sys.stdout)


def _export(folder: Path, told: list[str]) -> None:
    """An export that has no room must leave the one before as it is."""
    with Store(folder / "results.db") as store:
        (folder / "runs.csv").write_text("before")
        with contextlib.suppress(OSError), (folder / "ballast").open("wb", buffering=0) as ballast:
            while ballast.write(bytes(4096)):
                pass
        try:
            store.export(folder / "runs.csv")
        except StoreError as error:
            told.append(str(error))
    assert (folder / "runs.csv").read_text() == "before"
    (folder / "ballast").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
