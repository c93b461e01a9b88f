"""What a store costs: a study of 2000 runs must not notice it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import statistics
import time
from pathlib import Path

from tests.workbench.store.rows import make_row

from orfeon.workbench.store import Store


def test_a_put_costs_less_than_ten_bare_ones(tmp_path: Path) -> None:
    """In turns with SQLite alone, so that other work on the machine slows both."""
    rows = [
        make_row(f"waveform/bagging/{number}", number, curve=[0.1 + number] * 50)
        for number in range(1000)
    ]
    seconds, bare_seconds = [], []
    with (
        Store(tmp_path / "results.db") as store,
        contextlib.closing(sqlite3.connect(tmp_path / "bare.db", isolation_level=None)) as bare,
    ):
        study = store.open_study("a", {})
        bare.execute("PRAGMA journal_mode=WAL")
        bare.execute("PRAGMA synchronous=NORMAL")
        bare.execute("CREATE TABLE runs (key TEXT PRIMARY KEY, result TEXT)")
        for row in rows:
            begin = time.perf_counter()
            study.put(row)
            between = time.perf_counter()
            bare.execute("BEGIN IMMEDIATE")
            bare.execute("INSERT INTO runs VALUES (?, ?)", (row.key, json.dumps(row.result)))
            bare.execute("COMMIT")
            bare_seconds.append(time.perf_counter() - between)
            seconds.append(between - begin)
        assert len(study.keys()) == 1000
    # About 0.09 ms and 0.03 ms on a quiet machine.
    assert statistics.median(seconds) < 10 * statistics.median(bare_seconds)


def test_a_store_of_many_runs_opens_quickly(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.open_study("a", {}).put_many(make_row(str(number)) for number in range(5000))
    seconds = []
    for _ in range(3):
        begin = time.process_time()  # whatever else the machine does
        with Store(path) as store:
            assert len(store.study("a").keys()) == 5000
        seconds.append(time.process_time() - begin)
    # About 0.03 s, looking through the file included.
    assert min(seconds) < 0.5
