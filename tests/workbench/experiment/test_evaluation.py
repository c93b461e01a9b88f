"""One run: what it measures is what a user would measure by hand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from orfeon import BaggingClassifier, BaggingRegressor, prune
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.workbench.experiment import evaluation as module
from orfeon.workbench.experiment.evaluation import Evaluation, RunKey, model_size
from orfeon.workbench.experiment.methods import METHODS, Method
from orfeon.workbench.experiment.plan import Folding


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(120, random_state=0)
    folding = Folding(y, True, seed=1)
    return Evaluation(X, y, "classification", 3, folding, "margin_distance", (0.2,), 20, seed=1)


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(120, random_state=0)
    folding = Folding(y, False, seed=1)
    return Evaluation(X, y, "regression", 0, folding, "reduce_error", (0.2,), 20, seed=1)


def test_an_outer_run_is_the_fit_and_pruning_that_a_user_would_make(waves):
    key = RunKey(2, None, "bagging")
    found = waves(key).result
    split = waves.folding.outer(2)
    X, y = waves.X, waves.y
    bag = BaggingClassifier(n_estimators=20, random_state=waves.random_state(key))
    bag.fit(X[split.train], y[split.train])
    small = prune(bag, X[split.train], y[split.train], rule="margin_distance", keep=0.2)
    for name, model in (("bagging", bag), ("bagging@0.2", small)):
        expected = np.mean(model.predict(X[split.test]) != y[split.test])
        assert found["scores"][name]["error"] == expected
        confusion = metrics.confusion_matrix(y[split.test], model.predict(X[split.test]))
        for true, answers, count in found["confusion"][name]:
            assert confusion[true, answers] == count
        assert sum(count for *_, count in found["confusion"][name]) == len(split.test)
    assert found["sizes"]["bagging"] == {
        "members": 20, "nodes": int(bag.members_.n_nodes.sum())
    }  # fmt: skip
    assert found["sizes"]["bagging@0.2"]["members"] == 4
    assert found["n"] == [96, 24]


def test_curves_end_at_the_error_of_all_members_and_pass_that_of_the_pruned(waves):
    found = waves(RunKey(0, None, "bagging")).result
    random, ordered = found["curves"]["random"], found["curves"]["ordered"]
    assert len(random) == len(ordered) == 20
    whole = found["scores"]["bagging"]["error"]
    assert random[-1] == pytest.approx(whole, rel=1e-5)
    assert ordered[-1] == pytest.approx(whole, rel=1e-5)
    assert ordered[3] == pytest.approx(found["scores"]["bagging@0.2"]["error"], rel=1e-5)


def test_an_inner_run_uses_rows_of_the_outer_training_part_only(waves, monkeypatch):
    seen = []
    real = module.take_rows
    monkeypatch.setattr(module, "take_rows", lambda X, rows: seen.append(rows) or real(X, rows))
    found = waves(RunKey(1, 2, "cart")).result
    outside = set(waves.folding.outer(1).test)
    assert len(seen) == 2
    assert not outside & set(np.concatenate(seen))
    assert "confusion" not in found
    assert "curves" not in found


def test_runs_of_regressors(numbers):
    key = RunKey(0, None, "bagging")
    found = numbers(key).result
    split = numbers.folding.outer(0)
    bag = BaggingRegressor(n_estimators=20, random_state=numbers.random_state(key))
    bag.fit(numbers.X[split.train], numbers.y[split.train])
    residual = bag.predict(numbers.X[split.test]) - numbers.y[split.test]
    assert found["scores"]["bagging"]["rmse"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert "confusion" not in found


@pytest.mark.parametrize(
    ("name", "task"),
    [
        pytest.param(method.name, task, marks=pytest.mark.thorough if method.package else ())
        for method in METHODS.values()
        for task in method.tasks
    ],
)
def test_every_method_runs_and_a_run_is_the_same_wherever_it_is_made(name, task, waves, numbers):
    if METHODS[name].package:
        pytest.importorskip(METHODS[name].package)
    evaluation = waves if task == "classification" else numbers
    found = evaluation(RunKey(0, 0, name))
    assert "failed" not in found.result, found.result
    elsewhere = pickle.loads(pickle.dumps(evaluation))(RunKey(0, 0, name))
    assert elsewhere.result == found.result
    assert elsewhere.seed == found.seed
    assert found.result["sizes"][name]["members"] >= 1


def test_words_and_gaps_in_a_frame_go_through_every_method(waves):
    X = pd.DataFrame(waves.X[:, :4], columns=list("abcd"))
    X["kind"] = pd.Categorical(np.where(X["a"] > 0, "up", "down"))
    X.loc[::7, "b"] = np.nan
    X.loc[::11, "kind"] = None
    mixed = Evaluation(
        X, waves.y, "classification", 3, waves.folding, "margin_distance", (0.2,), 10, seed=1
    )
    for name, method in METHODS.items():
        if "classification" in method.tasks and not method.package:
            assert "failed" not in mixed(RunKey(0, None, name)).result, name


def test_a_method_that_fails_is_a_finding_with_its_words(waves, monkeypatch):
    def refuse(members, seed, n_jobs):
        raise ValueError("no such luck\nat all")

    monkeypatch.setitem(METHODS, "cart", Method("cart", "CART", "", {"classification": refuse}))
    found = waves(RunKey(0, None, "cart"))
    assert found.result == {"failed": "ValueError: no such luck at all"}
    assert found.seconds >= 0


def test_seeds_differ_between_folds_parts_and_methods(waves):
    keys = [RunKey(u, i, m) for u in range(3) for i in (None, 0, 1) for m in ("cart", "bagging")]
    assert len({waves.random_state(key) for key in keys}) == len(keys)
    assert all(RunKey.read(key.key) == key for key in keys)


def test_the_size_of_what_has_no_trees():
    from sklearn.dummy import DummyClassifier

    model = DummyClassifier().fit([[0], [1]], [0, 1])
    assert model_size(model) == {"members": 1, "nodes": None}


def test_a_class_that_is_missing_from_the_training_part_ends_no_run():
    X, y = make_waveform(60, random_state=0)
    y = np.where(np.arange(60) == 7, 3, y)
    folding = Folding(y, True, seed=0)
    unit = next(unit for unit in range(5) if 7 in folding.outer(unit).test)
    evaluation = Evaluation(
        X, y, "classification", 4, folding, "margin_distance", (0.2,), 10, seed=0
    )
    for name in ("bagging", "random_forest", "stacking", "cart"):
        found = evaluation(RunKey(unit, None, name)).result
        assert found["scores"][name]["error"] >= 1 / 12, name


def test_what_the_machine_lacks_is_no_finding(waves, monkeypatch):
    for error in (MemoryError("no room"), OSError("no disk")):

        def refuse(members, seed, n_jobs, error=error):
            raise error

        monkeypatch.setitem(METHODS, "cart", Method("cart", "CART", "", {"classification": refuse}))
        with pytest.raises(type(error), match="no "):
            waves(RunKey(0, None, "cart"))


def test_a_test_part_of_unknown_classes_only_leaves_scores_and_no_curves(waves):
    y = np.where(np.arange(120) < 60, 0, 1)
    folding = Folding(y, False, seed=1)
    strange = Evaluation(
        waves.X, y, "classification", 2, folding, "margin_distance", (0.2,), 5, seed=1
    )
    result = strange._run(
        RunKey(0, None, "bagging"), np.arange(60), np.arange(60, 120), 0, timings := {}
    )
    assert result["scores"]["bagging"]["error"] == 1.0
    assert result["curves"] == {}
    assert timings["predict bagging"] > 0


def test_trees_of_a_stack_are_counted_once(waves):
    found = waves(RunKey(0, None, "stacking")).result
    # 10 trees of each forest, and 10 rounds of 3 classes.
    assert found["sizes"]["stacking"]["members"] == 10 + 10 + 30
