"""Tasks here, in threads and in processes: the same results, whatever happens to a process."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.workbench.remote import work

from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.workbench.tasks import local_tasks, worker
from orfeon.workbench.tasks.cluster import ClusterError, connect
from orfeon.workbench.tasks.outcome import TaskError, pack
from orfeon.workbench.tasks.parallel import run_all, task_name

pytestmark = pytest.mark.tools

ROUTES = {
    "here": {"n_jobs": 1},
    "threads": {"n_jobs": 2, "prefer": "threads"},
    "processes": {"n_jobs": 2},
}
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to find processes")


@pytest.fixture(scope="module")
def fits() -> work.Fits:
    return work.Fits(*make_waveform(60, random_state=0))


def test_results_in_threads_are_the_same_to_the_last_bit(fits):
    here = [found[:2] for found in run_all(fits, range(12))]
    assert [seed for seed, _ in here] == list(range(12))
    assert len({digest for _, digest in here}) == 12
    there = list(run_all(fits, range(12), **ROUTES["threads"]))
    assert sorted(found[:2] for found in there) == here
    assert {pid for *_, pid in there} == {os.getpid()}


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


@pytest.mark.tools
def test_results_in_processes_are_the_same_also_where_one_is_killed(fits):
    expected = [found[:2] for found in run_all(fits, range(16))]
    slow = work.Fits(fits.X, fits.y, seconds=0.05)
    found = []
    for result in run_all(slow, iter(range(16)), n_jobs=2):
        found.append(result)
        if len(found) == 3:
            os.kill(result[2], signal.SIGKILL)
    assert sorted(one[:2] for one in found) == expected
    pids = {pid for *_, pid in found}
    assert len(pids) > 2
    assert os.getpid() not in pids


def test_a_task_that_kills_its_process_each_time_is_named(monkeypatch):
    monkeypatch.setattr(local_tasks, "PATIENCE", 1)
    with pytest.raises(TaskError, match=r"^Task 7 failed: .* its worker process died 2 times\."):
        list(run_all(work.die_at_seven, range(9), n_jobs=2))


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
from tests.workbench.remote.work import wait
from orfeon.workbench.tasks.parallel import run_all
if __name__ == "__main__":
    try:
        for result in run_all(wait, range(1000), n_jobs=2):
            print(result, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@needs_proc
@pytest.mark.tools
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


def _limited(code: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own: should it wait for ever, it is ended."""
    return subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(code)],
        cwd=Path(work.__file__).parents[3], capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


@pytest.mark.tools
def test_neither_other_users_of_joblib_nor_killed_idle_processes_are_waited_for():
    done = _limited("""
        import os, signal
        from joblib import Parallel, delayed
        from tests.workbench.remote.work import tell_pid, wait
        from orfeon.workbench.tasks.parallel import run_all

        results = run_all(wait, iter(range(8)), n_jobs=2)
        first = next(results)
        print(Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(3)))
        other = run_all(abs, iter(range(3)), n_jobs=3)
        print(sorted([next(other), *other]), sorted([first, *results]))
        for n_jobs in (3, 2, 2):
            idle = set(run_all(tell_pid, range(12), n_jobs=n_jobs))
            print(len(idle))
            for pid in sorted(idle)[: n_jobs - 1]:
                os.kill(pid, signal.SIGKILL)
    """)
    assert done.stdout == "[0, 1, 2]\n[0, 1, 2] [0, 1, 2, 3, 4, 5, 6, 7]\n3\n2\n2\n"
    assert done.stderr == ""


@pytest.mark.thorough
def test_joblib_renews_processes_that_grow_where_warnings_are_errors():
    done = _limited(
        """
        from tests.workbench.remote.work import grown
        from orfeon.growth.blocks import run_in_blocks

        print([block.start for block in run_in_blocks(grown, range(4), 2, prefer="processes")])
        """,
        "-W", "error",
    )  # fmt: skip
    assert done.stdout == "[0, 1, 2, 3]\n"
    assert done.stderr == ""


def test_a_process_that_dies_while_tasks_are_handed_out_is_replaced(tmp_path):
    mark = tmp_path / "died"

    def tasks():
        for number in range(8):
            if number > 1:  # the first two are under way
                work.wait_for(mark)
                time.sleep(0.1)
            yield number, str(mark)

    assert sorted(run_all(work.die_once, tasks(), n_jobs=2)) == list(range(8))


@needs_proc
def test_what_a_task_began_ends_with_it(tmp_path):
    """Also where it is not the task's process that is killed, but somebody leaves."""
    results = run_all(work.begin_another, [str(tmp_path / "1"), str(tmp_path / "2")], n_jobs=2)
    other = int(next(results))
    os.kill(other, 0)
    results.close()
    until = time.monotonic() + 5
    while Path(f"/proc/{other}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{other}").exists()


@needs_proc
def test_processes_are_used_again_for_some_seconds(monkeypatch):
    monkeypatch.setattr(local_tasks, "IDLE", 0.5)
    first, again = (set(run_all(work.tell_pid, range(8), n_jobs=2)) for _ in range(2))
    assert first == again
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in first) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in first)


def test_processes_follow_what_this_one_changed(monkeypatch, tmp_path):
    def where(_):
        return os.getcwd(), os.environ.get("ORFEON_TEST_WHERE")

    before = list(run_all(where, [0], n_jobs=2))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORFEON_TEST_WHERE", "here")
    assert list(run_all(where, [0], n_jobs=2)) == [(str(tmp_path), "here")] != before


def test_threads_inside_of_processes_share_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(local_tasks, "cpu_count", lambda: 12)

    def inside(_):
        from joblib.parallel import get_active_backend

        backend, _ = get_active_backend()
        return os.environ["OMP_NUM_THREADS"], type(backend).__name__, backend.nesting_level

    assert list(run_all(inside, [0], n_jobs=3)) == [("4", "ThreadingBackend", 1)]


@pytest.mark.parametrize("route", ["threads", "processes"])
def test_tasks_are_taken_as_there_is_room(route):
    taken = []
    results = run_all(abs, (taken.append(n) or -n for n in range(50)), **ROUTES[route])
    assert taken == []
    next(results)
    assert len(taken) == 5  # two for each of the two, and one for that which is done
    assert len(list(results)) == 49


@pytest.mark.parametrize("route", ["threads", "processes"])
def test_a_task_that_ends_its_program_is_named(route):
    with pytest.raises(TaskError, match=r"^Task 'bye' failed: SystemExit: bye$"):
        list(run_all(sys.exit, ["bye"], **ROUTES[route]))


def test_tasks_and_results_that_cannot_be_sent_are_named():
    with pytest.raises(TaskError, match=r"^Task <unlocked .* failed: TypeError: cannot pickle"):
        list(run_all(repr, [threading.Lock()], n_jobs=2))
    with pytest.raises(TaskError, match=r"^Task 1 failed: TypeError: cannot pickle"):
        list(run_all(lambda _: threading.Lock(), [1], n_jobs=2))


def test_a_task_may_have_tasks_of_its_own():
    def total(n):
        return sum(run_all(abs, range(-n, 0), n_jobs=2))

    assert sorted(run_all(total, range(1, 5), n_jobs=2)) == [1, 3, 6, 10]


def test_files_of_large_arrays_go_with_them(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files = []

    def tasks():
        for _ in range(12):
            files.append(len(list(tmp_path.glob("*/*.npy"))))
            yield 0, np.ones(200_000)

    seen = list(run_all(work.look_at, tasks(), n_jobs=2))
    assert {total for *_, total in seen} == {200_000.0}
    assert max(files) <= 7  # those waiting or running, and some that were just done
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [0, 1])
def test_one_process_only_tells_that_kernels_are_compiled(monkeypatch, tmp_path, number):
    logger, notice = logging.getLogger("orfeon"), worker.Notice()
    monkeypatch.setattr(logger, "filters", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setattr(worker, "notice", notice)
    record = logging.LogRecord("orfeon", logging.WARNING, "utils/jit.py", 1, "compiling", (), None)
    other = logging.LogRecord("orfeon", logging.WARNING, "other.py", 1, "other", (), None)
    function = tmp_path / "function"
    function.write_bytes(pickle.dumps(worker.Parcel(*pack(abs))))
    there, told = worker.Worker(), []
    for task in (number, 1 - number):  # the first task of a process decides
        order = worker.Order(
            task, worker.Parcel(*pack(-3)), str(tmp_path), str(function), logging.WARNING
        )
        outcome, before = pickle.loads(there.answer(pickle.dumps(order)))
        assert (outcome.number, outcome.result) == (task, 3)
        told += [before, bool(logger.filter(record))]
        assert logger.filter(other)
    assert told == ([False, True, True, False] if number == 0 else [False] * 4)
    assert logger.level == logging.WARNING  # that of the process that began it, which may be quiet
