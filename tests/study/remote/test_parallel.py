"""Tasks here, in threads and in processes: the same results, whatever happens to a process."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.study.remote import work

from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.study import parallel
from orfeon.study.cluster import ClusterError, connect
from orfeon.study.parallel import TaskError, run_all, task_name

ROUTES = {
    "here": {"n_jobs": 1},
    "threads": {"n_jobs": 2, "prefer": "threads"},
    "processes": {"n_jobs": 2},
}


@pytest.fixture(scope="module")
def fits() -> work.Fits:
    return work.Fits(*make_waveform(60, random_state=0))


@pytest.mark.parametrize("route", ["threads", "processes"])
def test_results_are_the_same_to_the_last_bit_wherever_they_come_from(fits, route):
    here = [found[:2] for found in run_all(fits, range(12))]
    assert [seed for seed, _ in here] == list(range(12))
    assert len({digest for _, digest in here}) == 12
    there = list(run_all(fits, range(12), **ROUTES[route]))
    assert sorted(found[:2] for found in there) == here
    assert (os.getpid() in {pid for *_, pid in there}) == (route == "threads")


def test_here_a_task_is_taken_when_its_turn_comes():
    taken = []
    results = run_all(abs, (taken.append(n) or -n for n in range(5)), n_jobs=1)
    assert taken == []
    assert next(results) == 0
    assert taken == [0]
    assert list(results) == [1, 2, 3, 4]


def test_here_tasks_cost_little_more_than_a_loop():
    tasks = list(range(1000))
    seconds, of_loops = [], []
    for _ in range(10):  # in turns: other work on the machine slows both, and not all of them
        began = time.perf_counter()
        assert sum(run_all(abs, tasks)) == 499_500
        between = time.perf_counter()
        assert sum(abs(task) for task in tasks) == 499_500
        of_loops.append(time.perf_counter() - between)
        seconds.append(between - began)
    # Both about 0.03 ms on a quiet machine.
    assert min(seconds) < 20 * min(of_loops)


def test_large_arrays_go_to_processes_once():
    array = np.ones(300_000)
    seen = list(run_all(work.look_at, [(n, array) for n in range(6)], n_jobs=2))
    assert {(kind, writable, total) for _, kind, writable, _, total in seen} == {
        ("memmap", False, 300_000.0)
    }


def test_a_process_that_is_killed_has_its_tasks_run_again(fits):
    expected = [found[:2] for found in run_all(fits, range(16))]
    slow = work.Fits(fits.X, fits.y, seconds=0.05)
    found = []
    for result in run_all(slow, iter(range(16)), n_jobs=2):
        found.append(result)
        if len(found) == 3:
            os.kill(result[2], signal.SIGKILL)
    assert sorted(one[:2] for one in found) == expected
    assert len({pid for *_, pid in found}) > 2


def test_a_task_that_kills_its_process_each_time_is_named(monkeypatch):
    monkeypatch.setattr(parallel, "PATIENCE", 1)
    with pytest.raises(TaskError, match=r"died 2 times with no result .* running then: 7\."):
        list(run_all(work.die, [7], n_jobs=2))


@pytest.mark.parametrize("route", ROUTES)
def test_a_task_that_fails_is_named(route):
    with pytest.raises(TaskError, match=r"^Task 3 failed: KeyError: 'no such thing'$") as caught:
        list(run_all(work.fail_at_three, range(6), **ROUTES[route]))
    assert caught.value.task == 3
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("route", ROUTES)
def test_mistakes_of_users_stay_what_they_are(route):
    with pytest.raises(UserError, match=r"^--target must name a column\. \(Task: 3\.\)$"):
        list(run_all(work.refuse_three, range(6), **ROUTES[route]))


def test_what_a_task_raises_may_be_of_any_kind():
    with pytest.raises(
        TaskError, match=r"^Task 1 failed: RuntimeError: TravelsBadlyError: 1 and 2"
    ):
        list(run_all(work.fail_badly, [1], n_jobs=2))


def test_the_place_of_a_failure_in_another_process_is_told():
    with pytest.raises(TaskError) as caught:
        list(run_all(work.fail_at_three, [3], n_jobs=2))
    assert "in fail_at_three" in "".join(caught.value.__cause__.__notes__)


def test_whoever_has_enough_may_leave(fits):
    results = run_all(work.wait, range(1000), n_jobs=2)
    assert next(results) in range(1000)
    began = time.perf_counter()
    results.close()
    assert time.perf_counter() - began < 5.0
    assert sorted(run_all(abs, [-1, 2], n_jobs=2)) == [1, 2]


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("a" * 200, "'" + "a" * 118 + "…"),
        ((1, np.zeros((3, 2))), "(1, array of shape (3, 2))"),
        (Path("x.csv"), "x.csv"),
        ([0.5], "[0.5]"),
    ],
)
def test_tasks_have_short_names(task, name):
    assert task_name(task) == name


def test_tasks_are_named_as_the_caller_says():
    with pytest.raises(TaskError, match=r"^Task the 3rd failed"):
        list(run_all(work.fail_at_three, [3], name=lambda number: f"the {number}rd"))


@pytest.mark.parametrize(
    ("given", "message"),
    [({"n_jobs": 0}, "n_jobs .* got 0"), ({"n_jobs": 1, "prefer": "gpus"}, "prefer .* 'gpus'")],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_runs(given, message):
    with pytest.raises(UserError, match=message):
        run_all(abs, [1], **given)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'orfeon\[dask\]'"):
        connect("tcp://127.0.0.1:8786").__enter__()


PROGRAM = """
import sys
from tests.study.remote.work import wait
from orfeon.study.parallel import run_all
if __name__ == "__main__":
    try:
        for result in run_all(wait, range(1000), n_jobs=2):
            print(result, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to find processes")
@pytest.mark.parametrize(
    ("sent", "to_all", "code"),
    [(signal.SIGINT, True, 130), (signal.SIGINT, False, 130), (signal.SIGKILL, False, -9)],
    ids=["ctrl-c", "interrupted", "killed"],
)
def test_no_process_outlives_its_parent(tmp_path, sent, to_all, code):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, env=environment,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        assert parent.stdout.readline().strip().isdigit()
        assert len(_session(parent.pid)) > 2
        (os.killpg if to_all else os.kill)(parent.pid, sent)
        assert parent.wait(30) == code
        until = time.monotonic() + 10
        while _session(parent.pid) and time.monotonic() < until:
            time.sleep(0.1)
        left = _session(parent.pid)
        for process in left:
            os.kill(process, signal.SIGKILL)
        errors = parent.communicate()[1]
    assert left == []
    assert b"Traceback" not in errors


def _session(leader: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(session) == leader and state != "Z":
                found.append(int(entry.name))
    return found


def test_processes_that_grow_are_renewed_where_warnings_are_errors():
    # In a process of its own: should it wait for ever, it can be ended.
    code = (
        "from tests.study.remote.work import grown\n"
        "from orfeon.study.parallel import run_all\n"
        "print(sorted(run_all(grown, range(4), n_jobs=2)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=Path(work.__file__).parents[3], capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "[0, 1, 2, 3]\n"
    assert done.stderr == ""


@pytest.mark.parametrize("number", [0, 1])
def test_one_process_only_tells_that_kernels_are_compiled(monkeypatch, number):
    logger, notice = logging.getLogger("orfeon"), parallel._Notice()
    monkeypatch.setattr(logger, "filters", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setattr(parallel, "_notice", notice)
    monkeypatch.setattr(parallel, "_parents", set())
    monkeypatch.setattr(parallel, "_end_with", lambda parent: None)
    record = logging.LogRecord(
        "orfeon", logging.WARNING, "kernels/jit.py", 1, "compiling", (), None
    )
    other = logging.LogRecord("orfeon", logging.WARNING, "other.py", 1, "other", (), None)
    told = []
    for task in (number, 1 - number):  # the first task of a process decides
        _, before = parallel._attempt_for(-1, logging.WARNING, abs, task, -3)
        told += [before, bool(logger.filter(record))]
        assert logger.filter(other)
    assert told == ([False, True, True, False] if number == 0 else [False] * 4)
    assert logger.level == logging.WARNING  # that of the process that began it, which may be quiet
