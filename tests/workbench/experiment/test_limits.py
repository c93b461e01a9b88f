"""Limits of what is delivered: a fast model, a small one, and what that costs."""

import numpy as np
import pandas as pd
import pytest

from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment import choice, conclusion, evaluation, limits
from orfeon.workbench.experiment.selection import Limit

TINY = {
    "methods": ["baseline", "cart", "bagging", "extra_trees", "selection"], "members": 15,
    "keep": [0.4], "repetitions": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(150, random_state=0)
    frame = pd.DataFrame(X[:, 5:15], columns=[f"x{j}" for j in range(10)])
    return frame.assign(wave=np.array(["low", "middle", "high"])[y])


def row_times(monkeypatch, seconds):
    """Let a single row take so long, by the number of members."""

    def row_time(model, X):
        return seconds[evaluation.model_size(model)["members"]]

    for module in (evaluation, conclusion):
        monkeypatch.setattr(module, "row_time", row_time)


def test_only_candidates_within_the_latency_are_delivered(waves, monkeypatch):
    row_times(monkeypatch, {1: 0.001, 6: 0.002, 15: 0.004, 30: 0.008, 16: 0.005, 31: 0.009})
    found = run_study(waves, "wave", latency=0.003, **TINY)
    assert found.chosen in ("bagging@0.4", "cart", "selection")
    assert set(found.honest.chosen) <= {"bagging@0.4", "cart", "selection"}
    assert set(found.weights) <= {"cart"}
    assert found.row_seconds <= 0.003
    (note,) = [one for one in found.notes if "(limit: " in one]
    assert note.startswith("The model predicts a row in ")
    free = run_study(waves, "wave", **TINY)
    if free.chosen not in (found.chosen, "cart"):
        assert "Without the limit, " in note
        assert "would be delivered, with error" in note
    enough = run_study(waves, "wave", latency=1.0, **TINY)
    assert (enough.chosen, enough.weights) == (free.chosen, free.weights)
    assert any(one.endswith("The limit costs nothing.") for one in enough.notes)


def test_a_latency_that_no_method_keeps_is_rejected_with_the_fastest(waves, monkeypatch):
    row_times(monkeypatch, {1: 0.001, 6: 0.002, 15: 0.004})
    methods = ["baseline", "bagging"]
    with pytest.raises(
        UserError, match=r"^latency: .*bagging@0.4, predicts a row in 2 ms; got 0.5"
    ):
        run_study(waves, "wave", latency=0.0005, **{**TINY, "methods": methods})
    with pytest.raises(UserError, match=r"^latency: must be longer than 0 s"):
        run_study(waves, "wave", latency=0.0, **TINY)


def test_small_files_are_delivered(waves, monkeypatch):
    for module in (choice, limits):
        monkeypatch.setattr(module, "SMALL_FILE", 12_000)
    found = run_study(waves, "wave", deployable="small", **TINY)
    assert evaluation.file_size(found.model) < 1.5 * 12_000
    (note,) = [one for one in found.notes if "(limit: " in one]
    assert note.startswith("The model has a file of ")
    for module in (choice, limits):
        monkeypatch.setattr(module, "SMALL_FILE", 10)
    with pytest.raises(UserError, match=r"^deployable: is small, but the smallest model file, of "):
        run_study(waves, "wave", deployable="small", **TINY)


def test_limits_add_up_over_models():
    limit = Limit(3.0, {"a": 1.0, "b": 2.0, "c": float("nan")})
    assert limit.holds(["a", "b"])
    assert not limit.holds(["a", "b", "d"])
    assert not limit.holds(["c"])
    assert limit.largest(["a", "b"]) == "b"
