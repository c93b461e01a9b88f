"""``orfeon inspect``: models, data, stores and methods, for people and for programs."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import orfeon
from orfeon.workbench.cli import main
from orfeon.workbench.cli.saved_models import read_saved
from orfeon.workbench.experiment.methods import METHODS
from orfeon.workbench.store import RunRow, Store


def inspected(capsys, *arguments: str) -> dict:
    assert main(["inspect", *arguments, "--json"]) == 0
    document: dict = json.loads(capsys.readouterr().out)
    return document


# -- models ----------------------------------------------------------------------------------------


def test_a_model_says_what_it_is(place, capsys):
    facts = inspected(capsys, str(place / "bag.orfeon"))
    saved = read_saved(place / "bag.orfeon")
    assert facts["kind"] == "model"
    assert facts["model"] == "BaggingClassifier"
    assert (facts["task"], facts["target"]) == ("classification", "class")
    assert facts["classes"] == ["cheap", "dear"]
    assert facts["columns"] == ["size", "rooms", "code", "built", "price"]
    assert (facts["n_members"], facts["n_trees"]) == (15, 15)
    assert facts["file_bytes"] == (place / "bag.orfeon").stat().st_size
    assert facts["about"]["training"] == saved.about["training"]
    shares = list(facts["importances"].values())
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == max(saved.model.feature_importances_)
    assert next(iter(facts["importances"])) == "price"
    assert sum(shares) == pytest.approx(1, abs=1e-12)


def test_people_read_a_page_of_it(place, capsys):
    assert main(["inspect", str(place / "bag.orfeon")]) == 0
    text = capsys.readouterr().out
    lines = {line.split("  ")[0]: line for line in text.splitlines() if "  " in line}
    assert lines["predicts"].endswith("class (classification)")
    assert lines["classes"].endswith("cheap, dear")
    assert lines["members"].endswith("15")
    assert "random_state=0" in lines["parameters"]
    assert lines["training error"].endswith("%")
    assert lines["saved with"].count("orfeon 0.") == 1
    assert text.index("feature  ") < text.index("price  ", text.index("feature  "))


def test_only_the_ten_most_important_features_are_shown(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 14))
    forest = orfeon.RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    orfeon.save(forest, tmp_path / "m.orfeon")
    assert main(["inspect", str(tmp_path / "m.orfeon")]) == 0
    text = capsys.readouterr().out
    shown = [line.split()[0] for line in text.splitlines() if re.match(r"x\d+ ", line)]
    assert len(shown) == 10
    assert shown[0] == "x0"  # the class depends on the first column, counted from 0
    assert text.endswith("and 4 more.\n")


def test_a_model_without_importances_or_table_is_told_too(tmp_path, capsys):
    X, y = orfeon.datasets.make_waveform(60, random_state=0)
    perceptron = orfeon.ParallelPerceptronClassifier(max_iter=5, random_state=0).fit(X, y)
    orfeon.save(perceptron, tmp_path / "m.orfeon", about={"words": ["a", {"b": 1}]})
    facts = inspected(capsys, str(tmp_path / "m.orfeon"))
    assert facts["importances"] is None
    assert (facts["target"], facts["has_preparation"]) == (None, False)
    assert main(["inspect", str(tmp_path / "m.orfeon")]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert ["words", '["a", {"b": 1}]'] in lines


def test_a_model_is_recognised_whatever_its_name(place, tmp_path, capsys):
    (tmp_path / "model.bin").write_bytes((place / "bag.orfeon").read_bytes())
    assert inspected(capsys, str(tmp_path / "model.bin"))["model"] == "BaggingClassifier"


# -- data ------------------------------------------------------------------------------------------


def test_data_are_profiled(place, homes, capsys):
    facts = inspected(capsys, str(place / "homes.csv"), "--target", "class")
    assert (facts["kind"], facts["n_rows"], facts["n_duplicates"]) == ("data", 240, 0)
    kinds = {each["name"]: each["kind"] for each in facts["columns"]}
    assert kinds == {
        "name": "identifier", "size": "number", "rooms": "number", "code": "category",
        "built": "date", "price": "number", "class": "category",
    }  # fmt: skip
    missing = {each["name"]: each["n_missing"] for each in facts["columns"]}
    assert missing["rooms"] == homes["rooms"].isna().sum() > 0
    assert facts["class_shares"]["dear"] == pytest.approx((homes["class"] == "dear").mean())


def test_people_see_a_line_for_every_column(place, homes, capsys):
    assert main(["inspect", str(place / "homes.csv"), "--target", "class"]) == 0
    text = capsys.readouterr().out
    share = (homes["class"] == "dear").mean()
    assert f"dear {share:.1%}" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["name", "identifier", "0", "240"] in [words[:4] for words in lines]


def test_a_sample_of_the_rows_and_a_data_set_by_name(place, capsys):
    assert inspected(capsys, str(place / "homes.csv"), "--rows", "50")["n_rows"] == 50
    facts = inspected(capsys, "waveform:120")
    assert (facts["n_rows"], facts["target"]) == (120, "class")


# -- stores and methods ----------------------------------------------------------------------------


def test_a_store_lists_its_studies(tmp_path, capsys):
    path = tmp_path / "results.any"
    with Store(path) as store:
        study = store.open_study("wine", {"folds": 10})
        study.put(RunRow("a", {"method": "bagging"}, 0, {"error": 0.1}, 61.0))
        study.put(RunRow("b", {"method": "tree"}, 1, {"error": 0.2}, 2.0))
        store.open_study("unfinished", {})
    facts = inspected(capsys, str(path))
    runs = {each["name"]: (each["runs"], each["seconds"]) for each in facts["studies"]}
    assert runs["wine"] == (2, 63.0)
    assert runs["unfinished"][0] == 0
    assert next(e for e in facts["studies"] if e["name"] == "wine")["configuration"] == {
        "folds": 10
    }
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert "1 min 03 s" in text
    assert f"sqlite:///{path}" not in text
    assert inspected(capsys, f"sqlite:///{path}")["studies"] == facts["studies"]


def test_an_empty_store_has_no_table(tmp_path, capsys):
    with Store(tmp_path / "store.db"):
        pass
    assert main(["inspect", str(tmp_path / "store.db")]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["studies", "0"]


def test_methods_are_listed(capsys):
    facts = inspected(capsys, "methods")
    assert [each["name"] for each in facts["methods"]] == list(METHODS)
    assert main(["inspect", "methods"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in METHODS)


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("nowhere.orfeon", "There is no file nowhere.orfeon."),
        ("nowhere.csv", "There is no file nowhere.csv"),
        (".", ". is a folder: name a file in it, such as bag.orfeon."),
        ("pickled.bin", "pickled.bin is a pickle, and orfeon never loads pickles"),
        ("broken.orfeon", "broken.orfeon cannot be loaded: it is not a model file"),
        ("foreign.db", "The store "),
        ("mysql://host/x", "The store mysql://host/x: must be a SQLite file or a postgresql://"),
        ("empty.csv", "empty.csv"),
    ],
)
def test_mistakes_are_one_sentence(place, tmp_path, capsys, monkeypatch, what, message):
    import sqlite3

    monkeypatch.chdir(tmp_path)
    (tmp_path / "bag.orfeon").write_bytes((place / "bag.orfeon").read_bytes())
    (tmp_path / "pickled.bin").write_bytes(b"\x80\x05\x95abc")
    (tmp_path / "broken.orfeon").write_bytes(b"PK not a zip")
    (tmp_path / "empty.csv").touch()
    connection = sqlite3.connect(tmp_path / "foreign.db")
    connection.execute("create table a (b)")
    connection.close()
    assert main(["inspect", what]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"orfeon inspect: error: {message}"), captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_options_of_data_do_not_go_with_models(place, capsys):
    assert main(["inspect", str(place / "bag.orfeon"), "--target", "class"]) == 2
    assert "--target and --rows are for data files" in capsys.readouterr().err
