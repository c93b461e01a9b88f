"""What the service says is what the model says, to the last bit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.workbench.serve.clients import ask, rows_of

import orfeon
from orfeon.combining import early_decision
from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.workbench.cli.predict import Extras, predictions_of
from orfeon.workbench.cli.saved_models import read_saved
from orfeon.workbench.serve import create_app
from orfeon.workbench.serve.served_model import ServedModel, load_served


def plain_rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Rows as a client would write them: None where a cell is missing."""
    return [
        {name: None if pd.isna(cell) else cell for name, cell in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


@pytest.mark.parametrize("name", ["homes.orfeon", "prices.orfeon"])
def test_predictions_are_those_of_the_command_for_the_same_table(
    name, homes_file, prices_file, new_homes
):
    path = homes_file if name == "homes.orfeon" else prices_file
    app = create_app(path)
    assert app.served.is_quick
    query = "probabilities=true" if name == "homes.orfeon" else ""
    table = predictions_of(read_saved(path), new_homes, Extras(proba=bool(query)))
    answer = ask(app, rows_of(*plain_rows(new_homes)), query=query).json
    assert answer["predictions"] == table["prediction"].tolist()
    if query:
        shares = table[["probability_cheap", "probability_dear"]].to_numpy()
        assert answer["probabilities"] == shares.tolist()
        assert answer["classes"] == ["cheap", "dear"]


def test_a_row_alone_is_answered_as_among_others(homes, new_homes):
    rows = plain_rows(new_homes)
    together = ask(homes, rows_of(*rows), query="probabilities=true").json
    for i in (0, 7, 39):
        alone = ask(homes, rows_of(rows[i]), query="probabilities=true").json
        assert alone["predictions"] == together["predictions"][i : i + 1]
        assert alone["probabilities"] == together["probabilities"][i : i + 1]


def test_lists_and_objects_say_the_same(homes, new_homes):
    rows = plain_rows(new_homes)
    order = [column.name for column in homes.served.columns]
    lists = [[row[name] for name in order] for row in rows]
    assert ask(homes, rows_of(*lists)).body == ask(homes, rows_of(*rows)).body


def test_numbers_of_every_kind_reach_the_model_unchanged(wave, wave_model):
    X, _ = make_waveform(30, random_state=5)
    X[3, 4] = np.nan
    X[5] = 1e308
    X[6, 0], X[7, 0] = 7, -0.0
    rows = [[None if np.isnan(x) else x for x in row] for row in X.tolist()]
    rows[6][0] = 7
    answer = ask(wave, rows_of(*rows), query="probabilities=true").json
    assert answer["predictions"] == wave_model.predict(X).tolist()
    assert answer["probabilities"] == wave_model.predict_proba(X).tolist()


FAMILIES = [
    ("CARTClassifier", {}),
    ("C45Classifier", {}),
    ("ExtraTreesClassifier", {"n_estimators": 5}),
    ("AdaBoostClassifier", {"n_estimators": 5}),
    ("BaggingClassifier", {"n_estimators": 5, "combine": "soft"}),
    ("GradientBoostingClassifier", {"n_estimators": 5}),
]


@pytest.mark.parametrize(("name", "settings"), FAMILIES, ids=[name for name, _ in FAMILIES])
def test_every_family_is_served_to_the_last_bit(name, settings, waveform):
    model = getattr(orfeon, name)(random_state=0, **settings).fit(*waveform)
    served = ServedModel(model)
    assert served.is_quick
    X, _ = make_waveform(25, random_state=6)
    X[::4, 3] = np.nan
    cells = [[None if np.isnan(x) else x for x in column] for column in X.T.tolist()]
    answer = served.predict(served.rows(cells), probabilities=True)
    assert np.array_equal(answer.predictions, model.predict(X))
    assert np.array_equal(answer.probabilities, model.predict_proba(X))


def test_categories_without_a_preparation_are_told_apart_as_the_model_does(colours_model):
    app = create_app(colours_model)
    assert app.served.is_quick
    cells = ["red", "blue", 3, 3.0, 4.5, True, 1, None, "green", "3", False, 99]
    rows = [[cell, number] for cell in cells for number in (-0.5, 0.5)]
    table = np.array(rows, dtype=object)
    answer = ask(app, rows_of(*rows), query="probabilities=true").json
    assert answer["predictions"] == colours_model.predict(table).tolist()
    assert answer["probabilities"] == colours_model.predict_proba(table).tolist()


def test_unseen_categories_count_as_missing(homes, new_homes):
    row = plain_rows(new_homes)[0]
    answers = [
        ask(homes, rows_of({**row, "code": code}), query="probabilities=true").body
        for code in (None, "", "unheard of", " ", 77)
    ]
    assert len(set(answers)) == 1
    known = {ask(homes, rows_of({**row, "code": code})).body for code in ("10", " 10 ", 10, 10.0)}
    assert len(known) == 1


def test_a_pipeline_is_served_through_its_own_predict(waveform):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(*waveform)
    app = create_app(model)
    assert not app.served.is_quick
    X, _ = make_waveform(5, random_state=1)
    answer = ask(app, rows_of(*X.tolist()), query="probabilities=true").json
    assert answer["predictions"] == model.predict(X).tolist()
    assert answer["probabilities"] == model.predict_proba(X).tolist()
    refused = ask(app, rows_of([None] * 21))
    assert (refused.status, refused.kind) == (422, "refused")
    words = ask(app, rows_of(["a"] * 21))
    assert (words.status, words.kind) == (422, "refused")


def test_numbers_that_no_float_holds_are_refused_by_models_of_other_packages(waveform):
    app = create_app(make_pipeline(StandardScaler(), LogisticRegression()).fit(*waveform))
    for number in (10**400, -(10**400)):
        answer = ask(app, rows_of([0.0, number] + [0.0] * 19))
        assert (answer.status, answer.kind) == (422, "wrong_value")
        assert answer.json["error"]["where"] == {"row": 0, "column": "x1"}


def test_models_of_several_targets_are_refused(waveform):
    X, y = waveform
    for model in (
        RandomForestRegressor(2).fit(X, X[:, :2]),
        RandomForestClassifier(2).fit(X, np.column_stack([y, y])),
    ):
        with pytest.raises(UserError, match="has several targets; only models with one"):
            create_app(model)


def test_a_pipeline_takes_a_prepared_table(folder, new_homes):
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder
    from tests.workbench.serve.conftest import fit_file

    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["code", "garden"]),
        remainder=SimpleImputer(),
    )
    pipeline = make_pipeline(encode, StandardScaler(with_mean=False), LogisticRegression())
    path = fit_file(folder, "pipeline.orfeon", pipeline, "class", "price")
    app = create_app(path)
    assert not app.served.is_quick
    table = predictions_of(read_saved(path), new_homes)
    answer = ask(app, rows_of(*plain_rows(new_homes)))
    assert answer.json["predictions"] == table["prediction"].tolist()


def test_early_decision_is_exact_and_says_how_many_were_asked(wave_model):
    app = create_app(wave_model, early_decision=1.0)
    X, _ = make_waveform(50, random_state=3)
    decided = early_decision(wave_model, X)
    answer = ask(app, rows_of(*X.tolist())).json
    assert answer["predictions"] == wave_model.predict(X).tolist()
    assert answer["n_queried"] == decided.n_queried.tolist()
    assert min(answer["n_queried"]) < 20 == app.served.n_members
    whole = ask(app, rows_of(*X.tolist()), query="probabilities=true").json
    assert whole["probabilities"] == wave_model.predict_proba(X).tolist()
    assert "n_queried" not in whole


def test_early_decision_of_a_model_that_has_none_is_refused(prices_file):
    with pytest.raises(UserError, match=r"cannot decide early.*regression"):
        create_app(prices_file, early_decision=1.0)


def test_files_are_mapped_so_that_processes_share_them(homes_file):
    nodes = load_served(homes_file).model.members_.nodes
    while isinstance(nodes.base, np.ndarray):
        nodes = nodes.base
    assert type(nodes.base).__name__ in ("mmap", "memoryview")


def test_what_cannot_be_served_is_refused(tmp_path):
    with pytest.raises(UserError, match="not fitted"):
        create_app(orfeon.CARTClassifier())
    with pytest.raises(UserError, match="neither a model file nor an estimator"):
        create_app(orfeon.CARTClassifier)
    (tmp_path / "model.orfeon").write_bytes(b"\x80\x04junk")
    with pytest.raises(UserError):
        create_app(tmp_path / "model.orfeon")
    with pytest.raises(ValueError, match="preparation must not be given for a model file"):
        create_app(tmp_path / "model.orfeon", preparation=object())


def test_examples_of_the_model_are_rows_that_it_takes(homes, wave, colours_model):
    for app in (homes, wave, create_app(colours_model)):
        assert ask(app, rows_of(app.served.example_row())).status == 200
    example = homes.served.example_row()
    assert example["built"].count("/") == 2
    assert 30 < example["size"] < 200
    assert json.dumps(homes.served.example_row())
