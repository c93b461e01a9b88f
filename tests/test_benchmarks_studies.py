"""The benchmark of studies measures the same work on both sides, and sees a difference."""

from types import SimpleNamespace

import pytest
from benchmarks import studies
from benchmarks.__main__ import main

from orfeon.workbench.experiment.evaluation import RunKey

pytestmark = pytest.mark.tools


def test_bare_loops_do_what_the_study_does():
    plan, evaluation = studies._bench(5)
    errors = studies.bare_loop(plan, evaluation, 1)
    assert set(errors) == set(plan.candidates()) - {"selection"}  # it has no fits of its own
    found = evaluation(RunKey(1, None, "bagging")).result["scores"]
    assert {name: scores["error"] for name, scores in found.items()} == {
        name: error for name, error in errors.items() if name.split("@")[0] == "bagging"
    }


def test_the_overhead_is_a_ratio_with_a_target(monkeypatch):
    # The bare loop and the study of the first fold, which is left out; then the study and the loop.
    clock = iter([0, 90, 90, 100, 100, 103, 103, 105])
    monkeypatch.setattr(studies, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    (found,) = studies.overhead(1, 5)
    assert found.unit == "ratio"
    assert found.figure == 1.5
    assert next(clock, None) is None
    assert found.target.limit == 1.05


def test_different_work_is_not_compared(monkeypatch):
    monkeypatch.setattr(studies, "bare_loop", lambda *given: {"cart": 0.5})
    with pytest.raises(AssertionError, match="differ on outer fold 0"):
        studies.overhead(1, 5)


def test_a_study_that_is_not_there_has_no_rows(tmp_path):
    assert studies.stored_rows(tmp_path) == []


def test_the_suite_names_its_cases(capsys):
    assert main(["studies", "--list"]) == 0
    assert capsys.readouterr().out.split() == ["overhead", "killed", "first", "study"]
