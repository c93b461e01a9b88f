"""The supervisor keeps only copies that are served, and a worker that cannot load is replaced."""

from __future__ import annotations

import multiprocessing
import shutil
from dataclasses import replace

import pytest

from orfeon.workbench.serve import Limits
from orfeon.workbench.serve.reloading import ApplicationMaker, ReplaceableApplication
from orfeon.workbench.serve.workers import Workers, _WorkerServer


@pytest.fixture
def maker(homes_file, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    model = shutil.copy(homes_file, tmp_path / "model.orfeon")
    return ApplicationMaker(tmp_path / model, Limits(), None, copies)


def test_copies_that_cannot_be_served_are_not_kept(maker):
    workers = Workers(maker, {"timeout_graceful_shutdown": 1}, None, 0)
    served = list(maker.copies.iterdir())
    assert len(served) == 1
    for number in range(3):
        maker.path.write_bytes(b"PK" * (number + 1))
        with pytest.raises(ValueError, match=r"model\.orfeon"):
            workers._make_new()
    assert list(maker.copies.iterdir()) == served


@pytest.mark.tools
def test_a_worker_that_cannot_load_ends_and_leaves_the_port_to_others(maker):
    here, there = multiprocessing.Pipe()
    with here, there:
        worker = _WorkerServer(maker, {"log_config": None}, there)
        worker._app = ReplaceableApplication(first := maker())
        worker._load(replace(maker, path=maker.path.with_name("none.orfeon")))
    assert worker._app._app is first
    assert worker._server.should_exit
    assert not worker._server.closes_port
