"""Models in files: the same predictions bit for bit, the same bytes, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

import orfeon
from orfeon.io import ModelFileError, describe, read_model


@pytest.fixture(scope="module")
def bag(waveform):
    X, y = waveform
    return orfeon.BaggingClassifier(n_estimators=20, random_state=0).fit(X, y)


def test_a_bag_comes_back_bit_for_bit(bag, waveform, tmp_path):
    X, _ = waveform
    orfeon.save(bag, tmp_path / "bag.orfeon")
    loaded = orfeon.load(tmp_path / "bag.orfeon")
    assert loaded.predict_proba(X).tobytes() == bag.predict_proba(X).tobytes()


def test_what_was_saved_beside_the_model_comes_back(bag, tmp_path):
    path = tmp_path / "bag.orfeon"
    orfeon.save(bag, path, preparation={"columns": ["a"]}, about={"error": np.float64(0.5)})
    _, preparation, about = read_model(path)
    assert preparation == {"columns": ["a"]}
    assert about == {"error": 0.5}
    assert describe(path)["n_trees"] == 20


def test_a_file_that_is_no_model_is_refused(tmp_path):
    path = tmp_path / "other.orfeon"
    path.write_bytes(b"not a zip")
    with pytest.raises(ModelFileError, match="no model file"):
        orfeon.load(path)
