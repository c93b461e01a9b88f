"""Candidates from scikit-learn and other packages: prepared in the fold, saved, weighted."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

import orfeon
from orfeon.combining.fitting import fit_with_weights
from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment import builders
from orfeon.workbench.experiment.methods import METHODS, chosen_methods

OF_NUMBERS = [name for name, one in METHODS.items() if one.needs_numbers and not one.package]


@pytest.fixture(scope="module")
def mixed():
    X, y = make_waveform(90, random_state=0)
    frame = pd.DataFrame(X[:, 6:10], columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(frame["a"] > 2, "up", "down"), ["up", "down", "no"])
    frame.loc[::7, "b"] = np.nan
    frame.loc[::11, "kind"] = None
    frame["empty"] = np.nan
    return frame, y


def test_the_candidates_that_need_numbers():
    assert OF_NUMBERS == ["linear", "naive_bayes", "neighbors", "kernel", "network"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_gaps_and_categories_are_prepared_and_the_model_is_saved_without_skops(
    name, task, mixed, tmp_path, monkeypatch
):
    if task not in METHODS[name].tasks:
        pytest.skip("not for this task")
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    X, y = mixed
    target = y if task == "classification" else X["a"].to_numpy() ** 2
    model = METHODS[name].build(task, 0, X=X[:60]).fit(X[:60], target[:60])
    answer = "predict_proba" if task == "classification" else "predict"
    expected = getattr(model, answer)(X[60:])
    assert np.isfinite(expected).all()
    orfeon.save(model, tmp_path / "m.orfeon")
    loaded = orfeon.load(tmp_path / "m.orfeon")
    assert getattr(loaded, answer)(X[60:]).tobytes() == expected.tobytes()
    new = X[60:].assign(kind=pd.Categorical(["no"] * 30, ["up", "down", "no"]))
    assert np.isfinite(getattr(loaded, answer)(new)).all()  # a category that was never seen


@pytest.mark.parametrize("name", ["linear", "naive_bayes", "kernel"])
def test_a_weight_of_two_is_the_row_twice(name, mixed):
    X, y = mixed
    X = X[list("acd")].to_numpy()
    twice = np.repeat(np.arange(90), np.where(np.arange(90) < 30, 2, 1))
    weights = np.where(np.arange(90) < 30, 2.0, 1.0)
    # Scales are learnt without weights, so the same ones are given to both.
    inputs = METHODS[name].build("classification", 0, X=X)
    inputs.set_params(inputs="passthrough")
    if name == "kernel":
        inputs.set_params(model__basis="passthrough")
    light = fit_with_weights(inputs, X, y, weights, name).predict_proba(X)
    heavy = inputs.fit(X[twice], y[twice]).predict_proba(X)
    np.testing.assert_allclose(light, heavy, atol=1e-3)
    assert np.abs(inputs.fit(X, y).predict_proba(X) - heavy).max() > 2e-3


def test_what_takes_no_weights_is_left_out_or_named():
    names = [one.name for one in chosen_methods(None, "classification", weighted=True)]
    assert "neighbors" not in names
    assert "linear" in names
    with pytest.raises(UserError, match="weights: must be None, as the method neighbors takes no"):
        chosen_methods(["neighbors"], "classification", weighted=True)


def test_other_packages_are_named_to_be_compared_and_never_delivered(mixed):
    pytest.importorskip("lightgbm")
    X, y = mixed
    frame = X[list("abcd")].assign(y=np.array(["p", "q", "r"])[y])
    assert not {"lightgbm", "xgboost", "catboost"} & {
        one.name for names in (None, ["all"]) for one in chosen_methods(names, "classification")
    }
    found = run_study(
        frame, "y", methods=["cart", "linear", "lightgbm", "selection"], repetitions=1
    )
    assert np.isfinite(found.candidate("lightgbm").mean("error"))
    assert found.chosen != "lightgbm"
    assert "lightgbm" not in {*found.weights, *found.honest.chosen}
    assert any(note.startswith("LightGBM is compared, but never deliv") for note in found.notes)
    with pytest.raises(UserError, match="must name one that can be delivered: model files do not"):
        run_study(frame, "y", methods=["lightgbm"], repetitions=1)


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="names xgboost, which needs a package: pip install xgb"):
        chosen_methods(["cart", "xgboost"], "classification")


def test_what_has_no_onnx_form_is_not_for_it():
    names = {one.name for one in chosen_methods(None, "regression", "onnx")}
    assert names >= {"random_forest", "linear", "kernel", "network"}
    assert not names & {"neighbors", "stacking"}
    with pytest.raises(UserError, match="deployable: is onnx, which the method neighbors is not"):
        chosen_methods(["neighbors"], "regression", "onnx")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_networks_of_large_tables_are_trained_in_steps(task, monkeypatch):
    def settings():
        found = METHODS["network"].build(task, 0, X=np.zeros((100, 3))).get_params()
        return {name.rsplit("__", 1)[1]: value for name, value in found.items() if "__" in name}

    assert (settings()["solver"], settings()["hidden_layer_sizes"]) == ("lbfgs", (32,))
    monkeypatch.setattr(builders, "_LARGE", 299)
    assert (settings()["solver"], settings()["hidden_layer_sizes"]) == ("adam", (100,))
    assert settings()["early_stopping"]
