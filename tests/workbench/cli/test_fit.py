"""``orfeon fit``: the model it leaves, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import orfeon
from orfeon.workbench.cli import main
from orfeon.workbench.cli.saved_models import read_saved
from orfeon.workbench.experiment.methods import METHODS
from orfeon.workbench.prepare import prepare


def fit(folder: Path, *arguments: str, output: Path) -> int:
    return main(["fit", str(folder / "homes.csv"), "-o", str(output), "--n-jobs", "1", *arguments])


def test_the_model_is_that_of_the_method_on_the_prepared_table(place, homes, tmp_path):
    output = tmp_path / "m.orfeon"
    settings = ["--target", "class", "--method", "random_forest", "--members", "7", "--seed", "3"]
    assert fit(place, *settings, "--set", "max_depth=4", output=output) == 0
    prepared = prepare(homes, "class")
    expected = METHODS["random_forest"].build("classification", 3, members=7)
    expected.set_params(max_depth=4).fit(prepared.X, prepared.y)
    saved = read_saved(output)
    assert saved.model.get_params()["max_depth"] == 4
    assert np.array_equal(saved.model.predict_proba(prepared.X), expected.predict_proba(prepared.X))
    assert saved.preparation.columns == ("size", "rooms", "code", "built", "price")


def test_threads_and_bars_of_a_run_are_not_kept(place, tmp_path):
    output = tmp_path / "m.orfeon"
    assert fit(place, "--target", "class", "--members", "3", "--n-jobs", "2", output=output) == 0
    parameters = orfeon.load(output).get_params()
    assert (parameters["n_jobs"], parameters["verbose"]) == (None, 0)


def test_figures_of_training_are_told_and_kept(place, homes, tmp_path, capsys):
    output = tmp_path / "m.orfeon"
    arguments = ["--target", "class", "--method", "bagging", "--members", "50"]
    assert fit(place, *arguments, "--json", output=output) == 0
    document = json.loads(capsys.readouterr().out)
    saved = read_saved(output)
    prepared = prepare(homes, "class")
    bag = clone(saved.model).set_params(oob_score=True).fit(prepared.X, prepared.y)
    assert document["training"]["oob_error"] == pytest.approx(1 - bag.oob_score_, abs=1e-12)
    assert document["training"]["error"] == np.mean(bag.predict(prepared.X) != prepared.y)
    assert document["bytes"] == output.stat().st_size
    assert document["rows"] == 240
    assert document["classes"] == ["cheap", "dear"]
    assert any("row identifiers: name" in note for note in document["notes"])
    assert {name: saved.about[name] for name in ("method", "seed", "training")} == {
        name: document[name] for name in ("method", "seed", "training")
    }


def test_people_are_told_what_was_left_out_and_how_it_went(place, tmp_path, capsys):
    output = tmp_path / "m.orfeon"
    assert fit(place, "--target", "price", "--drop", "class", "--members", "50", output=output) == 0
    captured = capsys.readouterr()
    assert "Excluded row identifiers: name." in captured.err
    assert "training error  RMSE" in captured.out
    assert "out-of-bag R²" in captured.out
    assert fit(place, "--target", "price", "--force", "-q", "--members", "5", output=output) == 0
    assert capsys.readouterr().err == ""


def test_members_of_members_can_be_set(place, tmp_path):
    output = tmp_path / "m.orfeon"
    arguments = ["--target", "class", "--method", "bagging_pruned_trees", "--members", "3"]
    assert fit(place, *arguments, "--set", "estimator__max_depth=2", output=output) == 0
    assert orfeon.load(output).get_params()["estimator__max_depth"] == 2


def test_a_data_set_by_name_knows_its_target(tmp_path, capsys):
    output = tmp_path / "m.orfeon"
    arguments = ["fit", "waveform:200", "--members", "3", "--n-jobs", "1", "-o", str(output)]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["rows"], document["target"]) == (200, "class")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "baging"], "--method: unknown method 'baging' (did you mean 'bagging'"),
        (["--target", "clas"], "The target 'clas' is not a column. Did you mean 'class'?"),
        (
            [],
            "--target is missing: name the column to predict, such as --target 'class'",
        ),
        (
            ["--target", "class", "--set", "max_dept=3"],
            "--set max_dept: random_forest has no parameter 'max_dept' (did you mean 'max_depth'",
        ),
        (
            ["--target", "class", "--set", "max_depth=-2"],
            "The method cannot be fitted with --set max_depth=-2: The 'max_dep",
        ),
        (
            ["--target", "class", "--set", "n_estimators=abc"],
            "The method cannot be fitted with --set n_estimators=abc: ",
        ),
        (
            ["--target", "class", "--method", "bagging", "--set", "estimator=abc"],
            "The method cannot be fitted with --set estimator=abc: ",
        ),
        (["--target", "class", "--set", "a"], "argument --set: 'a' is not a setting"),
        (["--target", "price", "--method", "c45"], "The method c45 is for classification, not for"),
        (["--target", "class", "--drop", "sise"], "--drop: 'sise' is not a column. Did you mean"),
        (["--target", "class", "--use", "nope"], "--use: 'nope' is not a column. The columns are"),
        (
            ["--target", "class", "--drop", "name,size,rooms,code,built,price"],
            "No feature is left to predict 'class'. Dropped: built, code, name, price, "
            "rooms and size.\n",
        ),
        (["--target", "class", "--members", "0"], "argument --members: must be 1 or more, got 0"),
        (["--target", "class", "--task", "magic"], "argument --task: invalid choice: 'magic'"),
        (
            ["--target", "class", "--set", "max_depth=1", "--set", "max_depth=2"],
            "--set max_depth=... is given twice: 1 and 2.",
        ),
    ],
)
def test_mistakes_are_one_sentence(place, tmp_path, capsys, arguments, message):
    output = tmp_path / "m.orfeon"
    assert fit(place, "--quiet", *arguments, output=output) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"orfeon fit: error: {message}"), captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_replaced_and_this_is_told_before_the_work(place, tmp_path, capsys):
    output = tmp_path / "m.orfeon"
    output.write_text("precious")
    assert main(["fit", "no-such-data-set", "-o", str(output)]) == 2
    assert "already exists: choose another name, or replace it with --force" in (
        capsys.readouterr().err
    )
    assert output.read_text() == "precious"


def test_a_folder_that_is_not_there_is_refused(place, tmp_path, capsys):
    assert fit(place, output=tmp_path / "nowhere" / "m.orfeon") == 2
    assert "is not a folder: create it first" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_refused(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert fit(place, "--target", "class", output=tmp_path / "m.orfeon") == 2
    assert "you do not have permission to write to this folder" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_refused_with_those_that_are(place, tmp_path, capsys):
    arguments = ["fit", str(place / "hoems.csv"), "--target", "class"]
    assert main([*arguments, "-o", str(tmp_path / "m.orfeon")]) == 2
    assert "homes.csv" in capsys.readouterr().err


def test_models_that_need_numbers_are_fitted_and_those_of_other_packages_refused(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": rng.normal(size=60), "kind": rng.choice(["p", "q"], 60)})
    frame.loc[::9, "u"] = np.nan
    frame.assign(y=frame["kind"].map({"p": "no", "q": "yes"})).to_csv(tmp_path / "d.csv")
    model = tmp_path / "m.orfeon"
    arguments = ["fit", str(tmp_path / "d.csv"), "--target", "y", "-o", str(model)]
    assert main([*arguments, "--method", "linear", "--set", "model__C=5"]) == 0
    assert orfeon.load(model)[-1].C == 5
    assert (
        main(["predict", str(model), str(tmp_path / "d.csv"), "-o", str(tmp_path / "p.csv")]) == 0
    )
    assert main([*arguments, "--force", "--method", "lightgbm"]) == 2
    assert "model files do not hold models of LightGBM" in capsys.readouterr().err
