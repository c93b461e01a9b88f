"""Data sets by name: where they are looked for, the cache, messages without a network."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
from tests.shared import SHARED, path_of

from orfeon.datasets import find_data, list_datasets, load_dataset, make_waveform
from orfeon.datasets.cache import (
    OfflineError,
    cache_folder,
    cached_file,
    cached_names,
    read_cached,
    write_cached,
)
from orfeon.errors import UserError
from orfeon.workbench.cli.tables import names_a_file, read_pieces, read_table


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """An empty cache and no folder; whoever asks OpenML fails the test."""
    monkeypatch.setenv("ORFEON_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ORFEON_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: pytest.fail("network used"))


def offline(monkeypatch):
    def fail(**question):
        raise URLError("[Errno -2] Name or service not known")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)


def openml(monkeypatch, queried=None, targets=("class",)):
    frame = pd.DataFrame(
        {
            "u": [0.1, np.nan, 1 / 3],
            "v": pd.Categorical(["a, b", None, "NA"], categories=["NA", "a, b", "never"]),
            "w": ["1", "2", "x y"],
            "class": pd.Categorical(["p", "n", "p"]),
        }
    )
    details = {"name": "toy", "version": "3", "id": "61"}

    def fetch(**question):
        if queried is not None:
            queried.append(question)
        return SimpleNamespace(
            frame=frame, target_names=list(targets), DESCR="A toy.", details=details
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return frame


# -- synthetic -------------------------------------------------------------------------------------


def test_a_synthetic_data_set_is_the_generators_sample():
    found = load_dataset("waveform:120")
    X, y = make_waveform(120, random_state=0)
    np.testing.assert_array_equal(found.data, X)
    np.testing.assert_array_equal(found.target, y)
    assert found.target_name == "class"
    assert found.source == "synthetic, 120 rows, seed 0"
    assert "triangular waves" in found.description


def test_sizes_and_seeds_of_synthetic_data():
    assert load_dataset("friedman1").frame.shape == (1000, 11)
    assert load_dataset("friedman1").target_name == "target"
    one, other = (load_dataset("twonorm:50", random_state=s).frame for s in (0, 1))
    assert not one.equals(other)
    assert load_dataset("twonorm:50", rows=20).frame.shape == (20, 21)
    for name in ("waveform:many", "waveform:0", "waveform:-3"):
        with pytest.raises(UserError, match="takes its number of rows after the colon"):
            load_dataset(name)


# -- a folder --------------------------------------------------------------------------------------


def test_a_folder_is_named_by_argument_or_variable(tmp_path, monkeypatch):
    (tmp_path / "Golf_2.csv").write_text("class,u\n" + "a,1\nb,2\n" * 6)
    found = load_dataset("golf-2", folder=tmp_path)
    assert (found.name, found.target_name) == ("Golf_2", "class")
    assert found.source == str(tmp_path / "Golf_2.csv")
    assert list(found.data.columns) == ["u"]
    monkeypatch.setenv("ORFEON_DATA", str(tmp_path))
    _, y = load_dataset("Golf_2", return_X_y=True)
    assert y.tolist() == ["a", "b"] * 6
    assert ("Golf_2", "folder") in [(info.name, info.place) for info in list_datasets()]
    monkeypatch.setenv("ORFEON_DATA", str(tmp_path / "gone"))
    with pytest.raises(UserError, match=r"ORFEON_DATA names .*gone, which is not a folder"):
        load_dataset("Golf_2")


def test_the_last_column_is_the_target_unless_a_name_says_so(tmp_path):
    (tmp_path / "a.csv").write_text("u,v\n" + "1,2\n3,4\n" * 6)
    assert load_dataset("a", folder=tmp_path).target_name == "v"


@pytest.mark.parametrize(
    ("name", "shape", "target"),
    [
        ("adult", (48842, 15), "class"),
        ("labor", (57, 17), "class"),
        ("mnist_5k", (5000, 785), "target"),
    ],
)
def test_real_data_sets(name, shape, target):
    path_of("data/MANIFEST.csv")
    found = load_dataset(name, folder=SHARED / "data")
    assert found.frame.shape == shape
    assert found.target_name == target


# -- OpenML and the cache --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("toy", {"name": "toy"}),
        ("toy:3", {"name": "toy", "version": 3}),
        ("61", {"data_id": 61}),
    ],
)
def test_queries_to_openml(monkeypatch, name, question):
    queried = []
    openml(monkeypatch, queried)
    found = load_dataset(name)
    assert question.items() <= queried[0].items()
    assert found.source == "OpenML, toy version 3 (number 61)"
    assert found.target_name == "class"


def test_what_was_fetched_once_is_there_without_the_network_cell_for_cell(monkeypatch):
    frame = openml(monkeypatch)
    load_dataset("toy")
    offline(monkeypatch)
    kept = load_dataset("toy")
    assert kept.frame["u"].tolist()[::2] == [0.1, 1 / 3]
    assert np.isnan(kept.frame["u"][1])
    assert kept.frame["v"].cat.categories.tolist() == ["NA", "a, b", "never"]
    assert kept.frame["v"].isna().tolist() == [False, True, False]
    assert kept.frame["w"].tolist() == frame["w"].tolist()
    assert (kept.description, kept.target_name) == ("A toy.", "class")
    assert cached_names() == ["toy"]
    with pytest.raises(OfflineError):
        load_dataset("toy:3")  # another version may be other data


def test_a_damaged_cache_is_fetched_again(monkeypatch):
    openml(monkeypatch)
    load_dataset("toy")
    cached_file("toy").write_bytes(b"\x1f\x8bnonsense")
    assert read_cached("toy") is None
    assert load_dataset("toy").frame.shape == (3, 4)
    assert read_cached("toy") is not None
    about = next((cache_folder() / "datasets").glob("*.json"))
    about.write_text(json.dumps({"version": 99}))
    assert read_cached("toy") is None
    assert cached_names() == []


def test_a_read_only_cache_is_ignored(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ORFEON_CACHE", str(tmp_path / "file"))
    openml(monkeypatch)
    assert load_dataset("toy").frame.shape == (3, 4)
    assert cached_file("toy") is None


def test_no_part_of_a_file_is_left_behind(tmp_path):
    class Unwilling(pd.DataFrame):
        def to_csv(self, *_, **__):
            raise OSError("No space left on device")

    assert write_cached("toy", Unwilling({"u": [1]}), {}) is None
    assert list((tmp_path / "cache" / "datasets").iterdir()) == []


def test_names_that_differ_in_a_letter_have_different_files():
    frames = {name: pd.DataFrame({"u": [len(name)]}) for name in ("a b", "a_b", "A_b", "a/b")}
    for name, frame in frames.items():
        write_cached(name, frame, {})
    assert len(list((cache_folder() / "datasets").glob("*.csv.gz"))) == 4
    assert cached_names() == sorted(frames)


def test_the_cache_is_in_the_users_folder_unless_a_variable_says_so(monkeypatch):
    monkeypatch.delenv("ORFEON_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/orfeon")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "orfeon"


def test_the_message_without_a_network(monkeypatch, tmp_path):
    offline(monkeypatch)
    with pytest.raises(OfflineError) as caught:
        load_dataset("waveforms")
    message = str(caught.value)
    for part in (
        "OpenML cannot be reached ([Errno -2] Name or service not known)",
        "ORFEON_DATA is not set",
        str(tmp_path / "cache"),
        "Did you mean 'waveform'?",
        "Put waveforms.csv into a folder",
        "set ORFEON_DATA to that folder;",
    ):
        assert part in message
    for strange in ("--data", "folder="):  # not every command has the one, and none the other
        assert strange not in message
    assert "\n" not in message


def test_a_real_request_for_an_unknown_name(monkeypatch):
    """Where there is none; where there is one the name is not known there."""
    from sklearn.datasets._openml import fetch_openml

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    monkeypatch.setattr("orfeon.datasets.cache.TIMEOUT", 5.0)
    with pytest.raises(UserError, match=r"OpenML cannot be reached|OpenML has no data set|error"):
        load_dataset("a-data-set-that-nobody-has-made:7")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (HTTPError("u", 412, "m", {}, None), UserError, "OpenML has no data set 'iris'"),
        (HTTPError("u", 503, "m", {}, None), OfflineError, "returned error 503"),
        (TimeoutError("timed out"), OfflineError, r"cannot be reached \(timed out\)"),
        (ConnectionResetError("reset"), OfflineError, r"cannot be reached \(reset\)"),
        (
            ValueError("No known dataset"),
            UserError,
            "no readable data set 'iris': No known dataset",
        ),
    ],
)
def test_what_goes_wrong_with_openml(monkeypatch, error, kind, message):
    def fail(**question):
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(kind, match=message) as caught:
        load_dataset("iris")
    assert type(caught.value) is kind


def test_sparse_columns_become_plain_and_several_targets_none(monkeypatch):
    frame = openml(monkeypatch, targets=("v", "class"))
    frame["s"] = pd.arrays.SparseArray([0.0, 0.0, 2.0])
    found = load_dataset("toy")
    assert found.frame["s"].tolist() == [0.0, 0.0, 2.0]
    assert not isinstance(found.frame["s"].dtype, pd.SparseDtype)
    assert found.target is None
    with pytest.raises(UserError, match="does not name its target"):
        load_dataset("toy", return_X_y=True)


@pytest.mark.parametrize("name", ["", "  ", 7, None])
def test_invalid_names_are_rejected(name):
    with pytest.raises(UserError, match="name must be the name of a data set"):
        load_dataset(name)


# -- files or names --------------------------------------------------------------------------------


def test_a_folder_without_data_files_does_not_hide_a_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    (data / "labor.csv").write_text("u,class\n1,a\n3,b\n5,a\n")
    results = tmp_path / "labor"
    results.mkdir()
    (results / "report.html").write_text("")
    assert find_data("labor", folder=data).frame.shape == (3, 2)
    assert not names_a_file("labor")
    monkeypatch.setenv("ORFEON_DATA", str(data))
    assert read_table("labor").target == "class"
    (results / "other.csv").write_text("u\n1\n")
    with pytest.raises(
        UserError, match=r"labor is a folder: name a file; its data files are other\.csv"
    ):
        read_table("labor")


@pytest.mark.parametrize("address", ["https://example.org/a.csv", "s3://bucket/a", "file:///a.csv"])
def test_urls_are_rejected_also_as_paths(address):
    scheme = address.split(":")[0]
    for read in (read_table, find_data, lambda text: list(read_pieces(text))):
        with pytest.raises(UserError, match=f"^{scheme}://[^ /]+.* is a URL: download the fi"):
            read(address)


def test_what_a_user_names_is_a_file_or_a_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sales").write_text("u,v\n1,2\n3,4\n")
    Path("waveform").mkdir()
    found = find_data("sales")
    assert (found.frame.shape, found.target_name, found.name) == ((2, 2), None, "sales")
    assert find_data("waveform").frame.shape == (1000, 22)  # not the folder
    assert find_data(tmp_path / "sales", rows=1).frame.shape == (1, 2)
    for name, message in [
        ("sale.csv", "There is no file"),
        ("./nothing", "There is no file"),
        ("https://example.org/a", "is a URL"),
    ]:
        with pytest.raises(UserError, match=message):
            find_data(name)
