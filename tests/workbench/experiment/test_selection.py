"""Ensemble selection in a study: weights that a fold does not see, and the model they make."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from orfeon.combining.greedy_selection import best_power, powered, select_greedily
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment.choice import Evidence, choose
from orfeon.workbench.experiment.evaluation import RunKey, packed, unpacked
from orfeon.workbench.experiment.plan import Folding, Plan
from orfeon.workbench.experiment.selection import Selector
from orfeon.workbench.experiment.verdict import verdict
from orfeon.workbench.store import Store

METHODS = ["baseline", "cart", "bagging", "extra_trees", "selection"]
SETTINGS = {"methods": METHODS, "members": 11, "keep": []}


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(150, random_state=0)
    frame = pd.DataFrame(X[:, 5:15], columns=[f"x{j}" for j in range(10)])
    return frame.assign(wave=np.array(["low", "middle", "high"])[y])


def evidence_of(frame, target, found, store):
    """The evidence of a stored study, and the codes of its target."""
    plan = Plan.of(
        found.configuration["data"], found.task, **SETTINGS, n_inner=found.configuration["n_inner"],
        design=found.configuration["design"],
    )  # fmt: skip
    y = frame[target].to_numpy()
    if found.task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    folding = Folding(y, found.task == "classification", 0, plan.design, n_inner_folds=plan.n_inner)
    with Store(store, read_only=True) as opened:
        rows = opened.study(opened.studies()[0].name).rows()
    return Evidence.of(plan, rows, 3, None, folding), folding, rows


def test_predictions_are_kept_in_single_precision():
    values = np.random.default_rng(0).random((7, 3))
    found = unpacked(packed(values))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, values.astype(np.float32))
    assert unpacked(packed(values[:, 0])).shape == (7, 1)


@pytest.mark.parametrize("n_inner", [0, 2])
def test_each_fold_is_predicted_by_the_weights_that_other_rows_choose(waves, tmp_path, n_inner):
    store = tmp_path / "s.db"
    found = run_study(waves, "wave", repetitions=1, n_inner_folds=n_inner, store=store, **SETTINGS)
    evidence, folding, rows = evidence_of(waves, "wave", found, store)
    by_key = {row.key: row.result for row in rows}
    names = ["cart", "bagging", "extra_trees"]
    candidate = found.candidate("selection")
    for unit in range(5):
        if n_inner:
            keys = [[RunKey(unit, i, name).key for name in names] for i in range(n_inner)]
            tests = [split.test for split in folding.inner(unit)]
        else:
            others = [one for one in range(5) if one != unit]
            keys = [[RunKey(one, None, name).key for name in names] for one in others]
            tests = [folding.outer(one).test for one in others]
        answers = np.concatenate(
            [[unpacked(by_key[key]["predictions"]) for key in of_part] for of_part in keys], axis=1
        )
        rng = np.random.default_rng(np.random.SeedSequence([0, 1 + unit]))
        weights = select_greedily(
            answers, folding.y[np.concatenate(tests)], loss="log_loss", n_rounds=50, n_bags=5,
            least_share=0.03, rng=rng,
        ).weights  # fmt: skip
        own = [unpacked(by_key[RunKey(unit, None, name).key]["predictions"]) for name in names]
        shares = np.tensordot(weights, answers, axes=1)
        y_others = folding.y[np.concatenate(tests)]
        power = best_power(shares, y_others, np.ones(len(y_others)))
        assert evidence.outer[unit, "selection"]["power"] == power
        mean = powered(sum(w * p for w, p in zip(weights, own, strict=True)), power)
        y = folding.y[folding.outer(unit).test]
        assert candidate.scores["error"][unit] == np.mean(mean.argmax(axis=1) != y)
        loss = -np.log(np.maximum(mean[np.arange(len(y)), y], 1e-6)).mean()
        assert candidate.scores["log_loss"][unit] == pytest.approx(loss)
        assert evidence.outer[unit, "selection"]["weights"] == {
            name: w for name, w in zip(names, weights, strict=True) if w > 0
        }
    assert candidate.confusion.sum() == 150


def test_the_weights_of_a_fold_do_not_depend_on_its_own_rows(waves, tmp_path):
    store = tmp_path / "s.db"
    found = run_study(waves, "wave", repetitions=1, store=store, **SETTINGS)
    evidence, folding, _ = evidence_of(waves, "wave", found, store)
    before = evidence.outer[2, "selection"]["weights"]
    outer = {place: one for place, one in evidence.outer.items() if place[1] != "selection"}
    noise = np.random.default_rng(0)
    for name in ("cart", "bagging", "extra_trees"):
        shape = outer[2, name]["predictions"]["shape"]
        wrong = noise.dirichlet(np.ones(3), shape[0])
        outer[2, name] = {**outer[2, name], "predictions": packed(wrong)}
    selector = Selector(evidence.plan, folding, outer, {})
    assert selector.mean_for(2).weights == before
    assert selector.mean_for(1).weights != evidence.outer[1, "selection"]["weights"]


def test_the_final_model_is_the_weighted_mean_of_models_of_all_rows(waves, monkeypatch):
    from orfeon.workbench.experiment import choice

    monkeypatch.setattr(choice, "best_of", lambda scores, nodes: "selection")
    found = run_study(waves, "wave", repetitions=1, **SETTINGS)
    assert found.chosen == "selection"
    assert sum(found.weights.values()) == pytest.approx(1.0)
    assert "The model is ensemble selection, " in verdict(found).model
    alone = verdict(replace(found, weights={"cart": 1.0})).model
    assert alone.startswith("The model is ensemble selection, which chose CART tree alone. ")
    X = found.preparation.transform(waves.drop(columns="wave"))
    parts = [
        weight * found.model.named_estimators_[name].predict_proba(X)
        for name, weight in found.weights.items()
    ]
    expected = powered(sum(parts), found.model.power_)
    np.testing.assert_allclose(found.model.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize("design", ["cv", "splits"])
def test_regressors_and_random_splits(design):
    X, y = make_friedman1(120, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    found = run_study(
        frame, "y", repetitions=2 if design == "splits" else 1, design=design, **SETTINGS
    )
    rmse = {c.name: c.mean("rmse") for c in found.candidates}
    assert rmse["selection"] <= 1.05 * min(rmse["bagging"], rmse["extra_trees"])
    assert len(found.honest.chosen) == found.n_outer


def test_a_single_model_is_chosen_if_it_is_better_and_as_sure():
    scores = {"a": 0.10, "selection": 0.11, "b": 0.2}
    assert choose(scores, {"a": 0.30, "selection": 0.31, "b": 0.5}, {}) == "a"
    assert choose(scores, {"a": 0.40, "selection": 0.31, "b": 0.1}, {}) == "selection"
    assert choose({"a": 0.1}, {"a": 0.1}, {}) == "a"
    assert choose({"a": 0.1, "selection": float("nan")}, {"a": 1.0, "selection": 0.1}, {}) == "a"


def test_what_is_delivered_can_be_restricted(waves, tmp_path):
    pytest.importorskip("onnxruntime")
    from onnxruntime import InferenceSession

    from orfeon import to_onnx
    from orfeon.io.onnx import as_inputs

    methods = ["cart", "random_forest", "selection"]
    settings = {"methods": methods, "members": 9, "keep": [], "repetitions": 1}
    any_model = run_study(waves, "wave", **settings)
    assert any_model.candidate("random_forest").mean("log_loss") < 1.2
    exported = run_study(waves, "wave", deployable="onnx", **settings)
    model = exported.model
    X = exported.preparation.transform(waves.drop(columns="wave"))
    session = InferenceSession(to_onnx(model).SerializeToString())
    label, _ = session.run(None, as_inputs(model, X))
    np.testing.assert_array_equal(label, model.predict(X))
    with pytest.raises(UserError, match="deployable: is single, which the method selection is not"):
        run_study(waves, "wave", deployable="single", **settings)
    single = run_study(waves, "wave", deployable="single", repetitions=1, members=3, keep=[])
    assert {"selection", "stacking"}.isdisjoint(c.name for c in single.candidates)


def test_a_selection_of_nothing_is_rejected(waves):
    with pytest.raises(UserError, match="selection is a weighted mean of other methods"):
        run_study(waves, "wave", methods=["selection"], repetitions=1)
