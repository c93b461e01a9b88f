"""What survives: killed writers, several at once, Ctrl-C at any moment."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pytest
from tests.shared import cases
from tests.workbench.store.rows import ROOT, make_row, run_script, start_script

from orfeon.workbench.store import Store, StoreError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork and kill")


@pytest.mark.tools
def test_killed_writers_lose_nothing(where: str, tmp_path: Path) -> None:
    told = run_script("kill_writers.py", where, cases(16))
    safe = told["safe"]
    assert len(safe) >= 300
    with Store(where) as store:
        rows = {row.key: row for row in store.study("killed").rows()}
    assert rows.keys() >= set(safe)
    # A writer may be killed after the commit and before it says so: at most one step each.
    assert len(rows) <= len(safe) + 3 * told["lives"]
    for key, row in rows.items():
        _, number, _ = (int(part) for part in key.split("/"))
        assert row == make_row(key, number, text="x" * (number * 977 % 9000))
    # All of a put_many, or none.
    steps = [key.rsplit("/", 1)[0] for key in rows]
    assert all(steps.count(step) == 1 + int(step.split("/")[1]) % 3 for step in set(steps))
    # A clean end leaves one file.
    assert [path.name for path in tmp_path.iterdir()] in (["results.db"], [])


@pytest.mark.tools
def test_two_processes_write_at_once(where: str) -> None:
    start = time.time() + 1.5
    writers = [
        start_script("write_runs.py", where, name, 150, start)
        for name in ("left", "right", "third")
    ]
    answers = [writer.finish() for writer in writers]
    with Store(where) as store:
        rows = store.study("shared").rows()
        noted = store.study("shared").notes["first"]
    # Each its own 150; 150 and 15 times 5 are everybody's.
    assert len({row.key for row in rows}) == len(rows) == 3 * 150 + 150 + 75
    assert sum(answer["new"] for answer in answers) == len(rows)
    assert {answer["first"] for answer in answers} == {noted}
    winners = {row.result["writer"] for row in rows if row.key.startswith("both/")}
    assert winners <= {"left", "right", "third"}


def test_a_writer_waits_for_a_slow_one(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        study = store.open_study("a", {})
        slow = subprocess.Popen(
            [sys.executable, "-c", _SLOW, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with slow, ThreadPoolExecutor(1) as pool:
            assert slow.stdin is not None
            assert slow.stdout is not None
            assert slow.stdout.readline() == "locked\n"
            put = pool.submit(study.put, make_row("x"))
            with pytest.raises(TimeoutError):  # however long the other one takes
                put.result(timeout=0.4)
            slow.stdin.close()
            assert put.result(timeout=20)
        assert slow.returncode == 0


_SLOW = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("COMMIT")
"""


def test_a_writer_that_waits_too_long_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orfeon.workbench.store.sqlite_file.PATIENCE", 0.05)
    path = tmp_path / "results.db"
    other = sqlite3.connect(path, isolation_level=None)
    with Store(path) as store:
        study = store.open_study("a", {})
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has locked it for too long"):
            study.put(make_row("x"))
        other.execute("COMMIT")
        assert study.put(make_row("x"))
    other.close()


# An interrupt that comes while Python deletes an object is told, and ignored.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupts_at_any_moment_leave_the_store_usable(where: str) -> None:
    chance = random.Random(0)
    safe: set[str] = set()
    interrupts = 0

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Store(where) as store:
            study = store.open_study("a", {})
            for number in range(150):
                keys = [f"{number}/{part}" for part in range(1 + 4 * (number % 2))]
                rows = [make_row(key) for key in keys]
                try:
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 1.2e-3))
                    if len(rows) > 1:
                        study.put_many(rows)
                    else:
                        study.put(rows[0])
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    safe.update(keys)
                except KeyboardInterrupt:
                    interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 10
    with Store(where) as store:
        found = store.study("a").keys()
    assert found >= safe
    steps = [int(key.split("/")[0]) for key in found]
    assert all(steps.count(step) == 1 + 4 * (step % 2) for step in set(steps))


def test_a_forked_process_must_open_its_own(where: str) -> None:
    script = """
import os, sys
from orfeon.workbench.store import Store, StoreError
from tests.workbench.store.rows import make_row
store = Store(sys.argv[1])
study = store.open_study("a", {})
study.put(make_row("parent"))
child = os.fork()
if child == 0:
    try:
        study.put(make_row("child"))
    except StoreError as error:
        store.close()
        del store, study
        os._exit(7 if "opened by another process" in str(error) else 8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
study.put(make_row("after"))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, where], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    with Store(where) as store:
        assert store.study("a").keys() == {"parent", "after"}


def test_a_store_that_nobody_closes_is_tidied_up(tmp_path: Path) -> None:
    script = """
import sys
from orfeon.workbench.store import Store
study = Store(sys.argv[1]).open_study("a", {})
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script, tmp_path / "r.db"], check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["r.db"]
