"""What a store costs: a study of 2000 runs must not notice it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from tests.study.store.rows import make_row

from orfeon.study.store import Store


def test_a_put_costs_less_than_half_a_millisecond(tmp_path: Path) -> None:
    rows = [
        make_row(f"waveform/bagging/{number}", number, curve=[0.1 + number] * 50)
        for number in range(1000)
    ]
    seconds = []
    with Store(tmp_path / "results.db") as store:
        study = store.open_study("a", {})
        for row in rows:
            begin = time.perf_counter()
            study.put(row)
            seconds.append(time.perf_counter() - begin)
        assert len(study.keys()) == 1000
    # About 0.11 ms on a quiet machine.
    assert statistics.median(seconds) < 0.5e-3


def test_a_store_of_many_runs_opens_quickly(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.open_study("a", {}).put_many(make_row(str(number)) for number in range(5000))
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        with Store(path) as store:
            assert len(store.study("a").keys()) == 5000
        seconds.append(time.perf_counter() - begin)
    # About 0.03 s, looking through the file included; other work may slow one of three.
    assert min(seconds) < 0.5
