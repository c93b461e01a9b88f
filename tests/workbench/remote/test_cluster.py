"""A real Dask cluster of separate processes: same bits, whoever dies; and errors that help.

Tests that start one are tests of tools, so that the README's command does not run them.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import joblib
import numpy as np
import pandas as pd
import pytest
from tests.shared import assert_same_forest
from tests.workbench.remote import work
from tests.workbench.remote.processes import Processes, kill
from tests.workbench.remote.test_study import stored

from orfeon import BaggingClassifier, PartitionedClassifier, prune
from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.ordering.partitioned import prune_partitions
from orfeon.workbench import run_study
from orfeon.workbench.tasks import cluster_tasks
from orfeon.workbench.tasks.cluster import Cluster, ClusterError, _compare_versions, connect
from orfeon.workbench.tasks.outcome import TaskError
from orfeon.workbench.tasks.parallel import run_all

pytest.importorskip("distributed", reason="the cluster is one of Dask, which is not installed")


@pytest.fixture(scope="module")
def processes(tmp_path_factory) -> Iterator[Processes]:
    with Processes(tmp_path_factory.mktemp("cluster")) as started:
        started.add_worker()
        started.add_worker()
        yield started


@pytest.fixture(scope="module")
def cluster(processes) -> Iterator[Cluster]:
    with connect(processes.address, timeout=60) as connected:
        connected.client.wait_for_workers(2, timeout=60)
        yield connected


@pytest.fixture(scope="module")
def samples():
    return make_waveform(120, random_state=0)


@pytest.fixture(scope="module")
def fits(samples) -> work.Fits:
    return work.Fits(*samples)


@pytest.fixture(scope="module")
def expected(fits) -> list[tuple[int, str]]:
    return [found[:2] for found in run_all(fits, range(16))]


# -- tasks -----------------------------------------------------------------------------------------


@pytest.mark.tools
def test_results_are_those_of_this_process_to_the_last_bit(cluster, fits, expected):
    found = list(run_all(fits, range(16), cluster=cluster))
    assert sorted(one[:2] for one in found) == expected
    assert len({pid for *_, pid in found} - {os.getpid()}) == 2


@pytest.mark.tools
def test_large_arrays_are_sent_once_however_many_tasks_hold_them(cluster, monkeypatch):
    array, sent, scatter = np.ones(400_000), [], cluster.client.scatter
    monkeypatch.setattr(
        cluster.client, "scatter", lambda thing, **how: sent.append(thing) or scatter(thing, **how)
    )
    tasks = [(n, {"deep": [array]}["deep"][0]) for n in range(12)]
    seen = list(run_all(work.look_at, tasks, cluster=cluster))
    assert {(writable, total) for *_, writable, _, total in seen} == {(False, 400_000.0)}
    assert [one is array for one in sent] == [False, True]  # the function, the array
    assert len(sent[0]) < 100


@pytest.mark.tools
@pytest.mark.parametrize(
    "everyone",
    [pytest.param(False, id="one worker", marks=pytest.mark.thorough),
     pytest.param(True, id="all workers")],
)  # fmt: skip
def test_workers_killed_during_the_run_change_nothing(processes, cluster, fits, expected, everyone):
    slow = work.Fits(fits.X, fits.y, seconds=0.1)
    found = []
    for result in run_all(slow, iter(range(16)), cluster=cluster):
        found.append(result)
        if len(found) == 4:
            chosen = processes.running[1:] if everyone else processes.running[1:2]
            for worker in chosen:
                kill(worker)
                processes.running.remove(worker)
                processes.add_worker()
    assert sorted(one[:2] for one in found) == expected
    cluster.client.wait_for_workers(2, timeout=60)


@pytest.mark.tools
def test_what_one_task_changes_in_the_function_no_other_sees(cluster):
    counts = list(run_all(work.Counts(np.zeros(200_000)), range(8), cluster=cluster))
    assert counts == [(1, "assignment destination is read-only")] * 8


@pytest.mark.tools
def test_a_task_that_fails_on_a_worker_is_named(cluster):
    with pytest.raises(TaskError, match=r"^Task 3 failed: KeyError: 'no such thing'$"):
        list(run_all(work.fail_at_three, range(6), cluster=cluster))
    with pytest.raises(UserError, match=r"^--target must name a column\. \(Task: 3\.\)$"):
        list(run_all(work.refuse_three, range(6), cluster=cluster))


@pytest.mark.tools
def test_whoever_leaves_early_leaves_nothing_to_do_behind(cluster):
    results = run_all(work.wait, range(1000), cluster=cluster)
    assert next(results) in range(1000)
    results.close()
    until = time.monotonic() + 20
    while any(cluster.client.processing().values()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(cluster.client.processing().values())


@pytest.mark.tools
def test_members_of_an_ensemble_are_trained_there_through_joblib(cluster, samples):
    alone = BaggingClassifier(n_estimators=32, random_state=0).fit(*samples)
    spread = BaggingClassifier(n_estimators=32, random_state=0, n_jobs=2).fit(*samples)
    assert_same_forest(alone.forest_, spread.forest_)
    pids = joblib.Parallel(n_jobs=2)(joblib.delayed(os.getpid)() for _ in range(8))
    assert os.getpid() not in pids


@pytest.mark.tools
def test_a_study_there_is_that_of_one_process(cluster, samples, tmp_path):
    X, y = samples
    frame = pd.DataFrame(X[:, 5:9], columns=list("abcd")).assign(wave=y)
    options = {"methods": ["cart"], "n_folds": 2, "n_inner_folds": 2, "repetitions": 1}
    run_study(frame, "wave", store=tmp_path / "here.db", **options)
    run_study(frame, "wave", store=tmp_path / "there.db", cluster=cluster, **options)
    assert stored(tmp_path / "there.db") == stored(tmp_path / "here.db")


# -- partitions ------------------------------------------------------------------------------------


@pytest.mark.tools
def test_pasted_votes_are_trained_asked_and_pruned_where_the_partitions_are(
    processes, cluster, samples
):
    array = pytest.importorskip("dask.array")
    X, y = samples
    chunks = [(X[first : first + 20], y[first : first + 20]) for first in range(0, 120, 20)]
    pasted = PartitionedClassifier(n_estimators=4, random_state=0)
    alone = pasted.fit_chunks(chunks, classes=[0, 1, 2])
    rows = array.from_array(X, chunks=(20, -1)).map_blocks(work.slow_block, 0.2, dtype=float)
    labels = array.from_array(y, chunks=20)

    dying = threading.Timer(0.5, kill, [processes.running[1]])
    dying.start()
    spread = PartitionedClassifier(n_estimators=4, random_state=0).fit(rows, labels)
    dying.join()
    del processes.running[1]
    processes.add_worker()

    assert_same_forest(alone.forest_, spread.forest_)
    assert np.array_equal(spread.predict_proba(rows).compute(), alone.predict_proba(X))
    small, whole = prune_partitions(spread, rows, labels), prune(alone, X, y)
    assert small.kept_.tolist() == whole.kept_.tolist()
    assert np.array_equal(small.error_curve_, whole.error_curve_)
    assert len(small) == 5


# -- what can go wrong -----------------------------------------------------------------------------


def test_an_address_where_nobody_answers_is_told_in_a_sentence(capfd):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
    began = time.monotonic()
    with pytest.raises(ClusterError, match=rf"No Dask scheduler answers at {address} \(waited 1 s"):
        connect(address, timeout=1).__enter__()
    assert time.monotonic() - began < 25  # Dask alone would wait for 30 s
    assert capfd.readouterr().err == ""


def test_another_service_at_the_address_is_told(capfd):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_speak_http, args=(server,), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=rf"(answers at {address}|waited 2 s)"):
            connect(address, timeout=2).__enter__()
    assert capfd.readouterr().err == ""


def _speak_http(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize("address", ["foo://x:1", "127.0.0.1", "", "tcp://127.0.0.1:12x", None])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ClusterError, match=r"address .*tcp://10\.0\.0\.1:8786"):
        connect(address).__enter__()


@pytest.mark.tools
def test_a_cluster_without_workers_is_told_and_so_is_a_scheduler_that_is_gone(
    tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr(cluster_tasks, "WAIT_FOR_WORKERS", 1.0)
    with Processes(tmp_path) as lonely:
        with pytest.raises(
            ClusterError, match=r"has no workers \(waited 0\.5 s\).*dask worker tcp"
        ):
            connect(lonely.address, timeout=0.5).__enter__()
        worker = lonely.add_worker()
        with connect(lonely.address, timeout=60) as cluster:
            results = run_all(work.wait, range(1000), cluster=cluster)
            assert next(results) in range(1000)
            kill(worker)
            with pytest.raises(ClusterError, match=r"All workers of tcp\S+ are gone"):
                list(results)
            lonely.add_worker()
            cluster.client.wait_for_workers(1, timeout=60)
            results = run_all(work.wait, range(1000), cluster=cluster)
            assert next(results) in range(1000)
            kill(lonely.scheduler)
            with pytest.raises(ClusterError, match=r"scheduler at tcp\S+ no longer answers"):
                list(results)
    assert capfd.readouterr().err == ""


def versions(**workers: dict[str, str | None]):
    mine = {"python": "3.12.4.final.0", "orfeon": "0.1.0", "numpy": "2.1.0", "scipy": "1.14.0"}
    return {
        "client": {"packages": mine},
        "workers": {name: {"packages": {**mine, **their}} for name, their in workers.items()},
    }


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        ({"python": "3.11.9.final.0"}, r"a has Python 3\.11\.9 \(here: 3\.12\.4\)"),
        ({"orfeon": None}, r"a has no orfeon \(here: 0\.1\.0\)"),
        ({"orfeon": "0.2.0"}, r"a has orfeon 0\.2\.0 \(here: 0\.1\.0\)"),
        ({"numpy": "1.26.4"}, r"a has numpy 1\.26\.4 \(here: 2\.1\.0\)"),
    ],
)
def test_workers_of_other_versions_are_refused(theirs, message):
    with pytest.raises(ClusterError, match=message):
        _compare_versions(versions(a=theirs, b={}), "tcp://x:1")


def test_versions_that_may_change_the_last_bits_are_warned_of():
    with pytest.warns(UserWarning, match=r"last bits: b has scipy 1\.13\.0 \(here: 1\.14\.0\)"):
        _compare_versions(versions(a={"python": "3.12.9.final.0"}, b={"scipy": "1.13.0"}), "x")


def test_many_differences_are_cut_short():
    many = versions(**{f"w{n}": {"numpy": "1.0"} for n in range(9)})
    with pytest.raises(ClusterError, match=r"w2 has numpy 1\.0 \(here: 2\.1\.0\); and 6 more\.$"):
        _compare_versions(many, "x")
