"""A whole study on a real cluster, one of whose workers is killed on the way."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.workbench.remote.processes import Processes, kill

from orfeon.datasets import make_waveform
from orfeon.workbench import run_study
from orfeon.workbench.experiment.running import NullListener
from orfeon.workbench.store import Store
from orfeon.workbench.tasks.cluster import connect

pytest.importorskip("distributed", reason="the cluster is one of Dask, which is not installed")

OPTIONS = {"methods": ["baseline", "cart", "random_forest"], "members": 15, "repetitions": 1}


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(120, random_state=0)
    return pd.DataFrame(X[:, 4:12], columns=[f"x{j}" for j in range(8)]).assign(wave=y)


def stored(path):
    with Store(path, read_only=True) as store:
        (info,) = store.studies()
        rows = store.study(info.name).rows()
    return [(row.key, row.configuration, row.seed, row.result) for row in rows]


@pytest.mark.thorough
def test_a_study_on_a_cluster_whose_worker_is_killed_is_that_of_one_process(waves, tmp_path):
    here = run_study(waves, "wave", store=tmp_path / "here.db", n_jobs=1, **OPTIONS)

    class Killer(NullListener):
        n_done = 0

        def done(self, key, failed):
            self.n_done += 1
            if self.n_done == 7:
                kill(victim)

    with Processes(tmp_path) as processes:
        victim = processes.add_worker()
        processes.add_worker()
        with connect(processes.address, timeout=60) as cluster:
            cluster.client.wait_for_workers(2, timeout=60)
            there = run_study(
                waves, "wave", store=tmp_path / "there.db", cluster=cluster, listener=Killer(),
                **OPTIONS,
            )  # fmt: skip
            assert len(cluster.client.scheduler_info()["workers"]) == 1
    assert victim.returncode == -9
    assert stored(tmp_path / "there.db") == stored(tmp_path / "here.db")
    assert there.chosen == here.chosen
    assert there.honest.mean("error") == here.honest.mean("error")
