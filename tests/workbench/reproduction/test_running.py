"""Finished fits are kept: nothing is lost, nothing is run twice, nothing is mixed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.shared import cases
from tests.workbench.reproduction.stored import rows_of

from orfeon.datasets import FOLDER_VARIABLE
from orfeon.errors import UserError
from orfeon.workbench import PROTOCOLS, Reproduction, reproduce
from orfeon.workbench.reproduction import Record
from orfeon.workbench.reproduction.plan import Fit, settings_of
from orfeon.workbench.store import RunRow, Store

SMALL = {"datasets": ["waveform"], "methods": ["igp_tree"]}


def without_time(found: Reproduction) -> list[Record]:
    return [replace(record, seconds=0.0) for record in found.records]


def timeless(rows: list[RunRow]) -> list[RunRow]:
    return [replace(row, seconds=0.0, timings={}, finished="") for row in rows]


def write_sonar(folder: Path, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(208, 3))
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{'RM'[int(a + b > 0)]}" for a, b, c in X]
    (folder / "sonar.csv").write_text("\n".join(["a,b,c,class", *lines]) + "\n")
    return folder


def test_a_second_run_trains_nothing(tmp_path, monkeypatch):
    store = tmp_path / "fits.db"
    first = reproduce("martinez-3.2", n_splits=2, store=store, **SMALL)
    monkeypatch.setattr(Fit, "perform", lambda *_: pytest.fail("trained again"))
    second = reproduce("martinez-3.2", n_splits=2, store=store, **SMALL)
    assert second == first


def test_more_splits_are_added_to_those_that_are_there(tmp_path):
    store = tmp_path / "fits.db"
    reproduce("martinez-3.2", n_splits=2, store=store, **SMALL)
    begun: list[str] = []
    reproduce(
        "martinez-3.2", n_splits=4, store=store, **SMALL,
        progress=lambda done, total, what: begun.append(f"{done}/{total} {what}"),
    )  # fmt: skip
    assert begun == ["0/2 waveform split 2 igp_tree", "1/2 waveform split 3 igp_tree"]
    assert len(rows_of(store, "martinez-3.2")) == 4


def test_each_fit_is_in_the_store_before_the_next_begins(tmp_path):
    store = tmp_path / "fits.db"
    counts: list[int] = []

    def count(done: int, total: int, what: str) -> None:
        counts.append(len(rows_of(store, "martinez-3.2")))

    reproduce("martinez-3.2", datasets=["waveform"], n_splits=2, store=store, progress=count)
    assert counts == [0, 1, 2, 3]


@pytest.mark.tools
def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    """Two processes at once, killed without warning: the store is that of an undisturbed run."""
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    options = {"datasets": ["waveform"], "n_splits": 20}
    expected = reproduce("martinez-3.2", store=whole, **options)
    command = [
        sys.executable, "-c",
        "from orfeon.workbench import reproduce; "
        f"reproduce('martinez-3.2', store={str(killed)!r}, n_jobs=2, **{options})",
    ]  # fmt: skip
    n_kills = cases(4)
    rng = np.random.default_rng(0)
    seen = [0]
    for _ in range(n_kills):
        process = subprocess.Popen(command)
        while process.poll() is None and seen[-1] < 30:
            time.sleep(0.01 + 0.05 * rng.random())
            rows = rows_of(killed, "martinez-3.2") if _is_begun(killed) else []
            if len(rows) > seen[-1]:
                seen.append(len(rows))
                os.kill(process.pid, signal.SIGKILL)
                break
        process.wait()
    assert len(seen) == 1 + n_kills
    found = reproduce("martinez-3.2", store=killed, **options)
    assert without_time(found) == without_time(expected)
    assert timeless(rows_of(killed, "martinez-3.2")) == timeless(rows_of(whole, "martinez-3.2"))


def _is_begun(path: Path) -> bool:
    if not path.exists():
        return False
    with Store(path) as store:
        return bool(store.studies())


@pytest.mark.thorough
def test_fits_at_once_give_the_same_rows(tmp_path):
    """In two processes, in whatever order they end."""
    rows = {}
    for n_jobs in (1, 2):
        store = tmp_path / f"{n_jobs}.db"
        reproduce(
            "martinez-3.2", datasets=["sonar", "waveform"], n_splits=3, store=store,
            data=write_sonar(tmp_path), n_jobs=n_jobs,
        )  # fmt: skip
        rows[n_jobs] = timeless(rows_of(store, "martinez-3.2"))
    assert len(rows[1]) == 12
    assert rows[1] == rows[2]


def test_a_row_says_what_was_run(tmp_path):
    store = tmp_path / "fits.db"
    reproduce(
        "martinez-3.3", datasets=["waveform"], methods=["bagging"], n_splits=1, quick=True,
        store=store,
    )  # fmt: skip
    (row,) = rows_of(store, "martinez-3.3")
    assert row.key == "waveform/bagging/99/0000"
    assert row.seed == PROTOCOLS["martinez-3.3"].random_state(0)
    assert row.result.keys() == {f"martinez-3.3 bagging T={size}" for size in (1, 9, 99)}
    drawn = {"from": "distribution", "n_train": 300, "n_test": 5000, "stratified": False}
    parameters = row.configuration.pop("parameters")
    assert row.configuration == {
        "dataset": "waveform", "split": 0, "drawn": drawn, "run": "bagging", "members": 99,
        "estimator": "BaggingClassifier",
    }  # fmt: skip
    assert parameters["estimator"] == "CARTClassifier"
    assert parameters["estimator__pruning"] == "cv"
    assert (parameters["n_estimators"], parameters["random_state"]) == (99, row.seed)
    assert set(row.timings) == {"fit", "measure"}
    assert 0 < row.timings["fit"] <= row.seconds
    assert "orfeon" in row.versions


def test_results_of_other_runs_in_the_same_store_do_not_count(tmp_path):
    store = tmp_path / "fits.db"
    reproduce("martinez-3.2", n_splits=4, store=store, **SMALL)
    with Store(store) as opened:
        (info,) = opened.studies()
        study = opened.open_study(info.name, info.configuration)
        study.put(replace(study.rows()[0], key="waveform/igp_tree/7/0000"))
    found = reproduce("martinez-3.2", n_splits=2, store=store, **SMALL)
    assert [record.split for record in found.records] == [0, 1]


def test_a_quick_run_and_a_whole_one_are_kept_apart(tmp_path):
    options = {"datasets": ["twonorm"], "methods": ["bagging"], "n_splits": 1}
    store = tmp_path / "fits.db"
    reproduce("martinez-4.2", quick=True, store=store, **options)
    found = reproduce("martinez-4.2", store=store, **options)
    assert [record.members for record in found.records] == [1000]
    assert [row.configuration["members"] for row in rows_of(store, "martinez-4.2")] == [100, 1000]


def test_data_that_is_missing_is_met_before_any_work(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(Fit, "perform", lambda *_: pytest.fail("work was begun"))
    with pytest.raises(FileNotFoundError, match="ORFEON_DATA"):
        reproduce("martinez-3.2", datasets=["waveform", "sonar"], n_splits=1)


def test_results_of_another_file_are_not_mixed_in(tmp_path):
    options = {"datasets": ["sonar"], "store": tmp_path / "fits.db", "data": tmp_path}
    write_sonar(tmp_path)
    first = reproduce("martinez-3.2", n_splits=1, **options)
    write_sonar(tmp_path, seed=1)
    assert reproduce("martinez-3.2", n_splits=1, **options) == first  # nothing is read
    with pytest.raises(UserError, match="the data of sonar has changed since the results"):
        reproduce("martinez-3.2", n_splits=2, **options)
    other = reproduce("martinez-3.2", n_splits=1, datasets=["sonar"], data=tmp_path)
    assert without_time(other) != without_time(first)


@pytest.mark.parametrize(
    ("table", "method", "name", "before"),
    [
        ("martinez-3.2", "cart", "pruning_rule", "min"),
        ("martinez-3.2", "igp_tree", "ties", None),  # there was no such parameter
        ("martinez-3.3", "igp_ensemble", "default_estimator__ties", "random"),
    ],
)
def test_runs_of_other_settings_are_not_mixed_in(tmp_path, table, method, name, before):
    """As after an upgrade that changed a default, also one of a default member."""
    options = {"datasets": ["waveform"], "quick": True, "methods": [method]}
    store, old = tmp_path / "fits.db", tmp_path / "old.db"
    first = reproduce(table, n_splits=1, store=store, **options)
    (row,) = rows_of(store, table)
    parameters = row.configuration["parameters"]
    now = parameters[name]
    assert now != before
    with Store(store) as opened, Store(old) as written:
        (info,) = opened.studies()
        study = written.open_study(info.name, info.configuration)
        changed = {**parameters, name: before, "gone": 3}
        if before is None:
            del changed[name]
            before = "random"  # the default
        study.put(replace(row, configuration={**row.configuration, "parameters": changed}))
    assert reproduce(table, n_splits=1, store=old, **options) == first  # nothing would be run
    with pytest.raises(UserError, match=f"with {name}={before!r} instead of {now!r}: choose"):
        reproduce(table, n_splits=2, store=old, **options)
    assert len(rows_of(old, table)) == 1
    assert reproduce(table, n_splits=2, store=store, **options).records[0] == first.records[0]


def test_settings_are_told_apart_by_their_values():
    """Two models of the same settings have the same, whatever objects they hold."""
    for protocol in PROTOCOLS.values():
        for run in (*protocol.runs, *protocol.quick_runs):
            first, second = (settings_of(run.build(run.members, 3, 1)) for _ in range(2))
            assert first == second
            assert json.loads(json.dumps(first)) == first


def test_a_broken_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "fits.db"
    path.write_bytes(b"precious" * 100)
    with pytest.raises(UserError, match=r"fits\.db"):
        reproduce("martinez-3.2", n_splits=1, store=path, **SMALL)
    assert path.read_bytes() == b"precious" * 100
