"""Writers of one store are killed at random moments; prints the keys they were told are safe."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import select
import signal
import sys
import time

from tests.workbench.store.rows import make_row

from orfeon.workbench.store import Store


def main(where: str, kills: int) -> None:
    """Let writers write for a while, and kill them."""
    chance = random.Random(0)
    safe: list[str] = []
    # While the store is made.
    for life in range(kills):
        _live_and_die(where, life, chance.uniform(0, 0.1), safe)
    # Until a writer has something to say, and about that long: from before the store is opened
    # to long after, on a busy machine, too.
    begin = time.monotonic()
    _live_and_die(where, kills, None, safe)
    usual = time.monotonic() - begin
    life = kills + 1
    while life < 3 * kills or (len(safe) < 300 and life < 10 * kills):
        _live_and_die(where, life, chance.uniform(0, 2 * usual), safe)
        life += 1
    json.dump({"safe": safe, "lives": life}, sys.stdout)


def _live_and_die(where: str, life: int, seconds: float | None, safe: list[str]) -> None:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _write(where, life, theirs)
    os.close(theirs)
    if seconds is None:
        select.select([ours], [], [])
    else:
        time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(ours) as pipe:
        safe.extend(line.strip() for line in pipe if line.endswith("\n"))


def _write(where: str, life: int, pipe: int) -> None:
    store = Store(where)
    study = store.open_study("killed", {"kills": "many"})
    number = 0
    while True:
        many = [f"{life}/{number}/{part}" for part in range(1 + number % 3)]
        # Rows of different lengths, so that commits end anywhere in a page of the file.
        rows = [make_row(key, number, text="x" * (number * 977 % 9000)) for key in many]
        new = study.put_many(rows) if len(rows) > 1 else int(study.put(rows[0]))
        assert new == len(rows)
        os.write(pipe, "".join(f"{key}\n" for key in many).encode())
        number += 1


if __name__ == "__main__":
    if importlib.util.find_spec("psycopg"):  # before the forks, which else die while they import
        import psycopg  # noqa: F401
    main(sys.argv[1], int(sys.argv[2]))
