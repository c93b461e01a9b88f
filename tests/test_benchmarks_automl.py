"""The comparison with AutoML systems: tasks, answers, ranks, intervals and absent peers."""

import json

import numpy as np
import pandas
import pytest
from benchmarks import accuracy_tables, automl, automl_contestants, fold_results
from benchmarks.__main__ import main
from benchmarks.automl import Race, present, split, together
from benchmarks.automl_contestants import (
    FLAML_SYSTEM,
    MEDIUM,
    ORFEON_STUDY,
    System,
    installed,
    read_answers,
    write_task,
)
from benchmarks.contestants import ORFEON
from benchmarks.fold_results import FoldResults

pytestmark = pytest.mark.tools


@pytest.fixture(autouse=True)
def no_peers(tmp_path, monkeypatch):
    monkeypatch.setattr(fold_results, "FOLDER", tmp_path / "folds")
    monkeypatch.setenv("ORFEON_PEERS", str(tmp_path / "peers"))


def test_there_are_fifteen_tables_and_three_large_ones():
    names = (*automl._OTHERS, *automl._LARGE)
    assert len(names) >= 15
    assert len(automl.read("orders, 60000 rows").y) == 60_000
    assert len(automl.read("claims, 60000 rows").y) == 60_000
    assert set(present()) <= set(names)


def test_splits_share_no_row_and_keep_the_classes():
    table = accuracy_tables.balance()
    training, test = split(table, 0)
    assert (len(training.y), len(test.y)) == (468, 157)
    rows = [tuple(row) for part in (training, test) for row in part.X.to_numpy()]
    assert len(set(rows)) == 625
    training, test = split(table, 1, 100)
    assert (len(training.y), len(test.y)) == (75, 25)
    assert np.bincount(test.y).tolist() == [11, 2, 12]


def test_answers_are_read_in_the_order_of_the_classes(tmp_path):
    frame = {"probability_class 2": [0.1], "probability_class 0": [0.2], "class 1": [0.7]}
    pandas.DataFrame(frame).to_csv(tmp_path / "answers.csv", index=False)
    assert read_answers(tmp_path, 3).tolist() == [[0.2, 0.7, 0.1]]
    assert read_answers(tmp_path, 4).tolist() == [[0.2, 0.7, 0.1, 0.0]]


def test_a_task_holds_no_target_of_the_test_rows(tmp_path):
    training, test = split(accuracy_tables.berkeley(), 0)
    write_task(tmp_path, training, test, 5.0, 1, "medium_quality")
    assert pandas.read_csv(tmp_path / "test.csv").columns.tolist() == ["xdepartment", "xsex"]
    written = pandas.read_csv(tmp_path / "train.csv")
    assert written["target"].tolist() == [f"class {code}" for code in training.y]
    task = json.loads((tmp_path / "task.json").read_text())
    assert (task["classes"], task["seconds"]) == (["class 0", "class 1"], 5.0)


def test_systems_that_cannot_be_had_are_named(monkeypatch):
    there, notices = installed([ORFEON_STUDY, FLAML_SYSTEM, MEDIUM], make=False)
    assert there == [ORFEON_STUDY]
    assert notices == [
        "FLAML is left out: it is not installed.",
        "AutoGluon medium is left out: it is not installed.",
    ]
    monkeypatch.setattr(automl_contestants.Environment, "make", lambda _: "no network")
    assert installed([FLAML_SYSTEM], make=True) == ([], ["FLAML is left out: no network."])


def test_ranks_ratios_and_intervals_over_all_tables(tmp_path, monkeypatch):
    peer = System("peer")
    monkeypatch.setattr(System, "state", lambda _: "1")
    race = Race("one minute", 60, [ORFEON_STUDY, peer])
    results = FoldResults(tmp_path / "automl.jsonl")
    figures = {
        "car": ((0.2, 0.1, [0.1, 0.3]), (0.4, 0.1)),
        "german": ((0.6, 0.3, [0.4, 0.5]), (0.5, 0.2)),
        "used_cars_vw": ((4.0, 1.5, [1.9, 2.1]), (8.0, 2.0)),
    }
    kinds = {"used_cars_vw": accuracy_tables._friedman2()}
    monkeypatch.setattr(automl, "read", lambda name: kinds.get(name, accuracy_tables.balance()))
    for name, ((loss, error, interval), (other, other_error)) in figures.items():
        own = {"loss": loss, "error": error, "seconds": 70.0, "interval": interval}
        theirs = {"loss": other, "error": other_error, "seconds": 60.0}
        results.get(automl._key(name, 0, ORFEON_STUDY, race), lambda own=own: own)
        results.get(automl._key(name, 0, peer, race), lambda theirs=theirs: theirs)
    found = {m.case: m for m in together(race, results, [*figures, "heart"])}
    of_loss = found["one minute: mean rank of the loss"]
    # Ranks 1, 2, 1 against 2, 1, 2.
    assert (of_loss.figure, of_loss.is_met) == (pytest.approx((4 / 3) / (5 / 3)), True)
    of_error = found["one minute: mean rank of the error"]
    assert of_error.figure == pytest.approx((1.5 + 2 + 1) / (1.5 + 1 + 2))
    worst = found["one minute: largest ratio to the lowest loss"]
    assert (worst.figure, worst.is_met) == (pytest.approx(1.2), False)
    inside = found["one minute: loss within the stated interval"]
    assert (inside.figure, inside.is_met) == (pytest.approx(2 / 3), False)
    assert found["one minute: longest study"].is_met
    assert found["one minute: longest study"].figure == 70.0


def test_quick_form_runs_a_study_and_keeps_it(tmp_path, capsys):
    path = tmp_path / "automl.jsonl"
    command = ["automl", "--quick", "--case", ": car", "--json", str(path)]
    assert main(command) == 0
    [line] = [json.loads(one) for one in path.read_text().splitlines()]
    assert line["case"] == "three seconds: car, split 0, orfeon"
    assert 0 < line["detail"]["loss"] < np.log(4)
    assert 0 < line["detail"]["error"] < 0.4
    assert line["detail"]["version"] == ORFEON_STUDY.state()
    assert "FLAML is left out" in capsys.readouterr().out
    [kept] = (tmp_path / "folds" / "automl.jsonl").read_text().splitlines()
    assert ORFEON in kept
    assert main(command) == 0  # nothing is run twice
    [again] = [json.loads(one) for one in path.read_text().splitlines()]
    assert again["detail"] == line["detail"]


def test_runs_are_made_one_by_one_and_compared_where_both_are_there(tmp_path, monkeypatch):
    peers = [System("fast"), System("late")]
    monkeypatch.setattr(System, "state", lambda _: "1")
    ran = []

    def measured(system, training, test, seconds, seed):
        ran.append((system.name, seed))
        return {"loss": 0.2 + len(ran), "error": 0.1, "seconds": 60.0, "interval": [0.1, 0.3]}

    monkeypatch.setattr(automl, "measure", measured)
    monkeypatch.setattr(automl, "read", lambda _: accuracy_tables.balance())
    race = Race("one minute", 60, [ORFEON_STUDY, *peers])
    path = tmp_path / "runs.jsonl"
    names = [case.name for case in automl._cases(race, ["car"], FoldResults(path))]
    assert names == [
        "one minute: car, split 0, orfeon", "one minute: car, split 0, fast",
        "one minute: car, split 0, late", "one minute: car, compared", "one minute: all tables",
    ]  # fmt: skip
    for part in (slice(0, 2), slice(0, 4)):  # a piece, then more in another process
        cases = automl._cases(race, ["car"], FoldResults(path))[part]
        found = [one for case in cases for one in case.run()]
    assert ran == [(ORFEON, 0), ("fast", 0), ("late", 0)]
    assert [one.peer for one in found] == [None, None, None, "fast", "late"]
    assert found[3].figure == pytest.approx(1.2 / 2.2)
    assert together(race, FoldResults(path), ["car", "heart"])
