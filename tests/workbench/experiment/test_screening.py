"""Screening: large tables are compared with the methods that are worth it."""

import numpy as np
import pandas as pd
import pytest

from orfeon.datasets import make_waveform
from orfeon.workbench import run_study
from orfeon.workbench.experiment import bench, screening
from orfeon.workbench.experiment.choice import Evidence
from orfeon.workbench.experiment.evaluation import timing_seconds
from orfeon.workbench.experiment.plan import Plan
from orfeon.workbench.experiment.screening import (
    affordable,
    quick_enough,
    seconds_on_samples,
    survivors,
)
from orfeon.workbench.store import RunRow, Store

METHODS = [
    "baseline", "cart", "c45", "igp_tree", "bagging", "random_forest", "extra_trees", "selection",
]  # fmt: skip


@pytest.fixture
def small(monkeypatch):
    for module in (bench, screening):
        monkeypatch.setattr(module, "ROWS", 120)
    monkeypatch.setattr(bench, "SMALL", 150)
    monkeypatch.setattr(bench, "_SCREENING", 1e9)
    # What goes on must not depend on how busy the machine is.
    seconds = dict.fromkeys(METHODS, (1e-4, 2e-4))
    monkeypatch.setattr(bench, "seconds_on_samples", lambda rows: seconds)


def test_the_best_methods_go_on_and_a_second_call_finds_the_same(small, tmp_path):
    X, y = make_waveform(400, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(21)]).assign(wave=y)
    options = {
        "methods": METHODS, "members": 11, "keep": [], "budget": 0.5, "n_jobs": 1,
        "store": tmp_path / "s.db",
    }  # fmt: skip
    found = run_study(frame, "wave", **options)
    names = {candidate.name for candidate in found.candidates}
    assert {"baseline", "selection", "random_forest"} <= names
    assert len(names) < len(METHODS)
    assert found.n_studied == 400
    remark = next(note for note in found.notes if "went on" in note)
    assert remark.startswith(f"All 7 methods were compared on 120 rows first, and {len(names) - 2}")
    assert "CART tree (" in remark
    with Store(tmp_path / "s.db", read_only=True) as store:
        runs = {info.name: len(store.study(info.name).rows()) for info in store.studies()}
    assert sum(name.endswith("-screening") for name in runs) == 1
    assert 7 * 3 in runs.values()
    again = run_study(frame, "wave", **options)
    assert [c.name for c in again.candidates] == [c.name for c in found.candidates]
    assert again.n_studied == found.n_studied
    np.testing.assert_array_equal(again.best.scores["error"], found.best.scores["error"])


def test_a_screening_that_takes_long_is_one_fold_and_wide_tables_are_screened(
    small, monkeypatch, tmp_path
):
    monkeypatch.setattr(bench, "_SCREENING", 0.0)
    monkeypatch.setattr(bench, "_WIDE", 500)
    X, y = make_waveform(140, random_state=0)
    frame = pd.DataFrame(X[:, 5:9], columns=list("abcd")).assign(wave=y)
    options = {
        "methods": METHODS, "members": 5, "keep": [], "budget": 0.5, "n_jobs": 1,
        "store": tmp_path / "s.db",
    }  # fmt: skip
    found = run_study(frame, "wave", **options)
    assert any("went on" in note for note in found.notes)
    with Store(tmp_path / "s.db", read_only=True) as store:
        runs = {info.name: len(store.study(info.name).rows()) for info in store.studies()}
    assert [n for name, n in runs.items() if name.endswith("-screening")] == [7]


def test_slow_methods_go_before_rows_do_but_the_best_stays():
    seconds = {name: (t / 2, t) for name, t in [("a", 5.0), ("b", 9.0), ("c", 1.0), ("d", 1.0)]}
    everything = affordable(list(seconds), seconds, 10_000, 0, 1e9)
    assert everything == (["a", "b", "c", "d"], 10_000)
    kept, rows = affordable(list(seconds), seconds, 10_000, 0, 100.0)
    assert kept == ["a", "c", "d"]
    assert 1000 <= rows < 10_000


def test_gradient_boosting_goes_on_and_stays():
    names = ["bagging", "gradient_boosting", "cart", "linear", "naive_bayes"]
    times = zip(names, [2.0, 9.0, 1.0, 1.0, 1.0], strict=True)
    seconds = {name: (t / 2, t) for name, t in times}
    assert affordable(names, seconds, 10_000, 0, 1.0)[0] == [
        "gradient_boosting", "linear", "naive_bayes"
    ]  # fmt: skip
    plan = Plan.of("x", "classification", methods=names, keep=[])
    scores = [0.2, 0.9, 0.3, 0.25, 0.1]
    outer = {
        (0, name): {"scores": {name: {"error": score, "log_loss": score}}}
        for name, score in zip(names, scores, strict=True)
    }
    evidence = Evidence(plan, (0,), outer, {}, {})
    best = ["naive_bayes", "bagging", "linear", "cart"]
    assert survivors(evidence, set(names)) == [*best, "gradient_boosting"]
    assert survivors(evidence, {"cart", "linear"}) == ["linear", "cart"]


def test_the_timing_of_predictions_does_not_grow_with_the_rows():
    timings = {"fit": 9.0, "predict cart": 0.1, "row cart": 0.01, "predict cart@0.2": 0.2}
    assert timing_seconds(timings) == pytest.approx(3 * 0.2 * 0.3 + 5 * 0.01)
    row = RunRow("k", {"method": "cart"}, 0, {}, 2.23, timings)
    n_train = 2000 * 2 / 3
    small, large = seconds_on_samples([row])["cart"]
    assert large == pytest.approx(2.0 * (1000 / n_train) ** 1.1)
    assert small == pytest.approx(2.0 * (500 / n_train) ** 1.1)


def test_a_study_of_given_length_or_rows_is_not_screened(small):
    X, y = make_waveform(200, random_state=0)
    frame = pd.DataFrame(X[:, 5:9], columns=list("abcd")).assign(wave=y)
    options = {"methods": METHODS, "members": 5, "keep": []}
    found = run_study(frame, "wave", repetitions=1, **options)
    assert len(found.candidates) == len(METHODS)
    assert not any("went on" in note for note in found.notes)


def test_methods_too_slow_for_all_rows_go_before_the_best_are_chosen():
    seconds = {name: (t / 2, t) for name, t in [("a", 9.0), ("b", 0.1), ("c", 0.1), ("d", 0.1)]}
    assert quick_enough(seconds, 10_000, 0, 100.0) == {"b", "c", "d"}
    assert quick_enough(seconds, 10_000, 0, 1e9) == set(seconds)
    few = {name: seconds[name] for name in "abc"}
    assert quick_enough(few, 10_000, 0, 100.0) == set(few)  # fewer than three are left
