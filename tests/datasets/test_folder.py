"""Real data from a folder of CSV files."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import load, path_of

from orfeon.datasets import FOLDER_VARIABLE, data_file, read_data


def test_numbers_are_ordered_and_empty_cells_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("u,v,class\n1,,0\n-2.5e1,4,1\n")
    X, y = read_data(path)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, [[1.0, np.nan], [-25.0, 4.0]])
    assert y.tolist() == ["0", "1"]


def test_one_string_makes_a_feature_categorical(tmp_path):
    """Words that Python reads as numbers, too: they are no measurements."""
    path = tmp_path / "a.csv"
    path.write_text('u,v,w,class\n1,nan,3,a\nnone,2,,b\n"x, y",inf,5,a\n')
    X, _ = read_data(path)
    assert X.tolist() == [["1", "nan", 3.0], ["none", "2", None], ["x, y", "inf", 5.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have a header"),
        ("u,class\n", "must have a header"),
        ("class\na\n", "must have a header"),
        ("u,class\n1,a\n2\n", "row 3 has 1 cells, not 2"),
        ("u,class\n1,\n", "row 2 has no value in the target 'class'"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_data(path)


def test_the_folder_is_the_argument_or_the_variable(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("u,class\n1,a\n")
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(FileNotFoundError, match=r"a\.csv .*--data.*ORFEON_DATA.*Synthetic"):
        data_file("a")
    assert data_file("a", tmp_path) == tmp_path / "a.csv"
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert data_file("a") == tmp_path / "a.csv"
    with pytest.raises(FileNotFoundError, match=r"no b\.csv in the folder"):
        data_file("b")


@pytest.mark.parametrize("name", ["horse_colic", "german", "breast_w", "vowel"])
def test_the_same_is_read_as_by_pandas(name):
    X, y = read_data(path_of(f"data/{name}.csv"))
    frame, labels = load(name)
    assert X.shape == frame.shape
    assert y.tolist() == labels.tolist()
    expected = frame.astype(object).where(frame.notna(), None).to_numpy()
    found = X if X.dtype == object else np.where(np.isnan(X), None, X.astype(object))
    assert found.tolist() == expected.tolist()
