import json

import numpy as np
import pytest
from benchmarks import table_problems, tables
from benchmarks.__main__ import main
from benchmarks.contestants import INTEL, ORFEON, SCIKIT_LEARN
from benchmarks.problems import Data
from benchmarks.table_problems import MADE, Rows, file_of, read, split

from orfeon.datasets.folder import FOLDER_VARIABLE

pytestmark = pytest.mark.tools


# -- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("car-like", (1728, 6), 4),
        ("spambase-like", (4601, 57), 2),
        ("page-blocks-like", (5473, 10), 5),
        ("mammography-like", (11_183, 6), 2),
    ],
)
def test_made_tables_have_the_shape_and_the_classes_of_their_models(name, shape, n_classes):
    rows = read(name)
    assert rows.own.shape == rows.coded.shape == shape
    assert rows.own.n_classes == n_classes
    assert np.bincount(rows.own.y).min() > 5
    assert (rows.text is not None) == (name == "car-like")


def test_cars_are_all_combinations_and_spam_is_mostly_zeros():
    cars, spam = read("car-like"), read("spambase-like")
    assert len(np.unique(cars.coded.X, axis=0)) == 1728
    assert 0.7 < (spam.own.X == 0).mean() < 0.95
    assert 0.36 < spam.own.y.mean() < 0.43


def test_training_and_test_rows_differ_and_all_forms_are_of_the_same_rows():
    rows = read("car-like")
    training, test, asked = split(rows, None, 3000)
    assert [len(part.own.y) for part in (training, test, asked)] == [1152, 576, 3000]
    seen = {tuple(row) for row in training.coded.X.tolist()}
    assert not seen & {tuple(row) for row in asked.coded.X.tolist()}
    for part in (training, test, asked):
        strings, typed = part.text.X, part.own.X.astype(str)
        assert (strings == typed).all(axis=None)
        again = {tuple(row): code for row, code in zip(rows.coded.X, rows.own.y, strict=True)}
        assert [again[tuple(row)] for row in part.coded.X] == part.own.y.tolist()
    assert len(split(rows, 500, 10)[0].own.y) == 500


def test_a_table_is_read_from_the_folder_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(table_problems, "_BESIDE", tmp_path / "nowhere")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert file_of("german") is None
    (tmp_path / "german.csv").write_text("a,b,class\nx,1,good\n,2,bad\ny,,good\n")
    rows = read("german")
    assert rows.coded.X.tolist() == [[0, 1], [-1, 2], [1, -1]]
    assert rows.own.X["b"].isna().tolist() == [False, False, True]
    assert rows.own.y.tolist() == [1, 0, 1]


def test_absent_tables_are_named_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(table_problems, "_BESIDE", tmp_path)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    suite = tables.suite(False)
    assert "adult.csv is not in the optional data folder: left out." in suite.notices
    assert not any("adult" in case.name for case in suite.cases)
    assert {case.name.split(", ")[2] for case in suite.cases} == set(MADE)


# -- cases -------------------------------------------------------------------------------------


def test_all_learn_the_same_thing_from_the_form_each_gets():
    training, test, _ = split(read("car-like"), None, 10)
    for method in tables.METHODS:
        who = tables.METHODS[method]()
        assert [one.name for one in who][:2] == [ORFEON, SCIKIT_LEARN]
        for one in who:
            model = one.fit(tables._form(one, training), 60, 0)
            # Always the largest class: 0.3 and more.
            assert tables._error(one, model, test) < 0.15, (method, one.name)


def test_gradient_boosting_has_the_same_settings_everywhere():
    training, test, _ = split(read("mammography-like"), 800, 10)
    errors = []
    for one in tables.gradient_boosting_and_others():
        model = one.fit(tables._form(one, training), 50, 0)
        errors.append(tables._error(one, model, test))
    assert max(errors) - min(errors) < 0.01


def test_rounds_of_many_classes_are_fewer_for_gradient_boosting_alone():
    effort = tables.Effort(n_trees=100)
    assert [effort.trees("gradient boosting", k) for k in (2, 11, 26)] == [100, 100, 20]
    assert effort.trees("forest", 26) == 100


@pytest.mark.parametrize(
    "case", ["train, forest, car-like", "predict, gradient boosting, car-like"]
)
def test_quick_cases_are_measured_and_judged(case, tmp_path, capsys):
    path = tmp_path / "lines.jsonl"
    assert main(["tables", "--quick", "--case", case, "--json", str(path)]) == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    by_peer = {(line["case"], line["peer"]): line for line in lines}
    assert by_peer[case, SCIKIT_LEARN]["target"] == (">= 6x" if "train" in case else ">= 3x")
    if "predict" in case:
        assert by_peer[f"{case}, strings", SCIKIT_LEARN]["n"] == 1000
    assert all(line["detail"]["errors"][ORFEON] < 0.3 for line in lines)
    assert {line["peer"] for line in lines} <= {SCIKIT_LEARN, INTEL, "XGBoost", "LightGBM"}


def test_orfeon_gets_the_frame_and_the_others_numbers():
    own, coded = (Data("x", X, np.zeros(1, int)) for X in ("frame", "numbers"))
    rows = Rows(own, coded)
    forms = {one.name: tables._form(one, rows).X for one in tables.forest()}
    assert forms.pop(ORFEON) == "frame"
    assert set(forms.values()) == {"numbers"}
