"""Files of every release are loaded for ever, and say what they said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.io.corpus.releases import (
    ANSWERS,
    FOLDER,
    array,
    difference,
    models,
    plain,
    release,
    releases,
    table,
)
from tests.shared import public_estimators

from orfeon.io import describe

EVERY = [one for folder in releases() for one in models(folder)]


@pytest.mark.parametrize("model", EVERY, ids=str)
def test_a_saved_model_says_what_it_said(model):
    assert difference(model) == ""


def test_the_running_release_has_a_corpus_of_every_public_estimator():
    folder = FOLDER / release()
    kept = {path.stem for path in folder.glob("*.orfeon")}
    assert {one.path.stem for one in models(folder)} == kept
    assert set(public_estimators()) <= kept
    others = {describe(folder / f"{name}.orfeon")["model"] for name in kept}
    assert {"Forest", "Combination", "Pipeline", "BorderSelection", "VotingRegressor"} <= others


def test_most_answers_are_compared_to_the_bit_on_any_processor():
    written = json.loads((FOLDER / "0.1" / ANSWERS).read_text())["models"]
    close = [name for name, one in written.items() if one["is_close"]]
    assert len(close) < 0.2 * len(written)
    assert not [name for name in close if "Tree" in name or "Bagging" in name or "Forest" in name]


def test_corpora_are_small():
    for folder in releases():
        sizes = [path.stat().st_size for path in folder.iterdir()]
        assert np.mean(sizes) <= 5_000


def test_a_difference_of_one_bit_is_seen():
    model = next(one for one in EVERY if one.path.stem == "StumpRegressor")
    written = model.answers["predict"]
    other = [float(np.nextafter(written["values"][0], 9.0)), *written["values"][1:]]
    changed = model._replace(answers=model.answers | {"predict": {**written, "values": other}})
    assert difference(changed) == "predict says something else"
    lost = model._replace(answers={})
    assert difference(lost) == "answers ['apply', 'predict'], and [] were given"


def test_answers_come_back_from_json_to_the_bit():
    for answers in (
        np.array([0.1, -0.0, np.pi]),
        np.array(["a", "é"]),
        np.arange(3, dtype=np.int32),
    ):
        back = array(json.loads(json.dumps(plain(answers))))
        assert (back.dtype, back.tobytes()) == (answers.dtype, answers.tobytes())
    assert table([[1.0, None]]).dtype == object
    assert table([[1.0, 2.0]]).dtype == np.float64
