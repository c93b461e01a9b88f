"""Writes runs, half under keys of its own, half under keys that others write too."""

from __future__ import annotations

import json
import sys
import time

from tests.workbench.store.rows import make_row

from orfeon.workbench.store import Store


def main(where: str, name: str, number: int, start: float) -> None:
    """Print how many were new, and what the note says."""
    time.sleep(max(0.0, start - time.time()))
    new = 0
    with Store(where) as store:
        study = store.open_study("shared", {"writers": 2})
        who = study.note("first", name)
        for step in range(number):
            new += study.put(make_row(f"{name}/{step}", step))
            new += study.put(make_row(f"both/{step}", step, writer=name))
            if step % 10 == 0:
                new += study.put_many([make_row(f"many/{step + part}") for part in range(5)])
    json.dump({"new": new, "first": who}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
