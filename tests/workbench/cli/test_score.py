"""``orfeon score``: figures of a saved model on labelled rows."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from orfeon.workbench.cli import main
from orfeon.workbench.cli.saved_models import read_saved


def scored(capsys, *arguments):
    assert main(["score", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_metrics_are_those_of_the_predictions(place, new_homes, tmp_path, capsys):
    flipped = new_homes["class"].map({"dear": "cheap", "cheap": "dear"})
    wrong = new_homes["class"].where(new_homes.index > 9, flipped)
    new_homes = new_homes.assign(**{"class": wrong})
    new_homes.to_csv(tmp_path / "some_wrong.csv", index=False)
    found = scored(capsys, place / "bag.orfeon", tmp_path / "some_wrong.csv")
    saved = read_saved(place / "bag.orfeon")
    shares = saved.model.predict_proba(saved.features(new_homes))
    is_dear = new_homes["class"] == "dear"
    value = {name: one["value"] for name, one in found["metrics"].items()}
    assert value["error"] == pytest.approx(np.mean((shares[:, 1] > 0.5) != is_dear))
    assert value["auc"] == pytest.approx(metrics.roc_auc_score(is_dear, shares[:, 1]))
    assert value["brier"] == pytest.approx(metrics.brier_score_loss(is_dear, shares[:, 1]))
    assert np.sum(found["confusion"]) == found["rows"] == 60
    for one in found["metrics"].values():
        assert one["interval"][0] <= one["value"] <= one["interval"][1]
    low, high = found["metrics"]["error"]["interval"]
    assert 0.05 < low < 0.15 < high < 0.3


def test_numbers_have_their_own_metrics(place, new_homes, capsys):
    found = scored(capsys, place / "price.orfeon", place / "new.csv")
    saved = read_saved(place / "price.orfeon")
    predicted = saved.model.predict(saved.features(new_homes))
    mae = metrics.mean_absolute_error(new_homes["price"], predicted)
    assert found["metrics"]["mae"]["value"] == pytest.approx(mae)
    assert "confusion" not in found


def test_a_weight_of_zero_leaves_a_row_out(place, new_homes, tmp_path, capsys):
    weighted = new_homes.assign(weight=(np.arange(60) < 40) * 1.0)
    weighted.to_csv(tmp_path / "weighted.csv", index=False)
    new_homes[:40].to_csv(tmp_path / "first.csv", index=False)
    one = scored(
        capsys, place / "bag.orfeon", tmp_path / "weighted.csv", "--weights", "weight"
    )["metrics"]  # fmt: skip
    other = scored(capsys, place / "bag.orfeon", tmp_path / "first.csv")["metrics"]
    assert {name: m["value"] for name, m in one.items()} == pytest.approx(
        {name: m["value"] for name, m in other.items()}
    )


def test_a_threshold_is_chosen_by_its_cost(place, capsys):
    arguments = [place / "bag.orfeon", place / "new.csv", "--cost", "fn=20,fp=1"]
    found = scored(capsys, *arguments, "--positive", "dear")["threshold"]
    assert found["positive"] == "dear"
    assert found["cost"] <= found["usual_cost"]
    assert 0 <= found["threshold"] <= 0.5
    assert main(["score", *map(str, arguments)]) == 0
    printed = capsys.readouterr().out
    assert "Predict dear at a probability of" in printed
    assert "Rows by true class and predicted class" in printed


def test_rows_of_unknown_classes_and_without_class_are_left_out(place, new_homes, tmp_path, capsys):
    changed = new_homes.assign(**{"class": new_homes["class"].to_numpy(dtype=object)})
    changed.loc[:4, "class"] = "absurd"
    changed.loc[5:9, "class"] = None
    changed.to_csv(tmp_path / "changed.csv", index=False)
    found = scored(capsys, place / "bag.orfeon", tmp_path / "changed.csv")
    assert (found["rows"], found["rows_of_unknown_classes"]) == (50, 5)


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        ("bag", ["--weights", "wieght"], "--weights: the data has no column 'wieght'"),
        ("bag", ["--weights", "name"], "--weights: 'name' must hold numbers"),
        ("bag", ["--cost", "fn=1"], "must name fn and fp"),
        ("bag", ["--cost", "fn=2,fp=1", "--positive", "x"], "--positive: 'x' is not one of"),
        ("bag", ["--positive", "dear"], "--positive goes with --cost"),
        ("price", ["--cost", "fn=2,fp=1"], "--cost needs a model of two classes"),
        ("bag", ["--target", "price"], "--target price: "),
    ],
)
def test_mistakes_are_explained(place, capsys, model, arguments, words):
    code = main(["score", str(place / f"{model}.orfeon"), str(place / "new.csv"), *arguments])
    assert code == 2
    assert words in capsys.readouterr().err


def test_rows_without_the_target_cannot_be_scored(place, new_homes, tmp_path, capsys):
    new_homes.drop(columns="class").to_csv(tmp_path / "bare.csv", index=False)
    assert main(["score", str(place / "bag.orfeon"), str(tmp_path / "bare.csv")]) == 2
    assert "has no column 'class' to compare predictions with" in capsys.readouterr().err
    pd.DataFrame(columns=new_homes.columns).to_csv(tmp_path / "empty.csv", index=False)
    assert main(["score", str(place / "bag.orfeon"), str(tmp_path / "empty.csv")]) == 2
