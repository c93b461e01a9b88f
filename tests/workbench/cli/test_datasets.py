"""The command that lists, shows and fetches data sets."""

from __future__ import annotations

import json
from types import SimpleNamespace
from urllib.error import URLError

import pandas as pd
import pytest

from orfeon.workbench.cli import main


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """An empty cache, no folder and no network."""
    monkeypatch.setenv("ORFEON_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ORFEON_DATA", raising=False)

    def fail(**question):
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)


def given(*arguments):
    return main(["datasets", *map(str, arguments)])


def write_golf(folder):
    rows = "".join(f"{i},{i / 3:.2f},{'rs'[i % 2]},{'no' if i % 3 else 'yes'}\n" for i in range(30))
    (folder / "golf.csv").write_text("id,humidity,outlook,play\n" + rows)
    return folder / "golf.csv"


def test_the_list_is_there_without_anything(capsys):
    assert given() == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert len(lines) == 13
    assert lines[-1].split()[:2] == ["waveform", "synthetic"]
    assert "--data or ORFEON_DATA" in captured.err


def test_the_list_of_a_folder_as_json(capsys, tmp_path):
    write_golf(tmp_path)
    assert given("list", "--data", tmp_path, "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    expected = {"name": "golf", "place": "folder", "about": str(tmp_path / "golf.csv")}
    assert found[-1] == expected
    assert captured.err == ""


def test_a_data_set_is_shown_with_its_columns_and_notes(capsys, tmp_path):
    path = write_golf(tmp_path)
    assert given("show", path, "--target", "play") == 0
    text = capsys.readouterr().out
    assert "rows     30" in text
    assert "task     classification" in text
    kinds = {line.split()[0]: line.split()[1] for line in text.splitlines() if "  " in line}
    assert kinds["id"] == "identifier"
    assert kinds["outlook"] == "category"
    assert "- Excluded row identifiers: id." in text


def test_showing_as_json_gives_one_document_with_the_profile(capsys, tmp_path):
    path = write_golf(tmp_path)
    assert given("show", path, "--json", "--rows", 20) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["rows"], found["target"]) == (20, None)
    assert [column["name"] for column in found["profile"]["columns"]][-1] == "play"
    assert found["notes"] == ["A random sample of 20 of its 30 rows was read."]
    assert captured.err == ""


def test_a_table_that_cannot_be_studied_is_shown_all_the_same(capsys, tmp_path):
    path = write_golf(tmp_path)
    path.write_text(path.read_text().replace("yes", "no"))
    assert given("show", path, "--target", "play") == 0
    assert "- The target 'play' is always 'no'" in capsys.readouterr().out


def test_several_data_sets_are_a_list(capsys):
    assert given("show", "waveform:50", "circle:40", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(item["name"], item["rows"]) for item in found] == [("waveform", 50), ("circle", 40)]


def test_what_is_fetched_is_kept_and_listed(capsys, tmp_path, monkeypatch):
    frame = pd.DataFrame({"u": [1.5, 2.5], "class": ["a", "b"]})
    found = SimpleNamespace(
        frame=frame, target_names=["class"], DESCR="", details={"name": "toy", "version": "1"}
    )
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **question: found)
    assert given("fetch", "toy:1", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows"], facts["columns"], facts["target"]) == (2, 2, "class")
    assert facts["file"].startswith(str(tmp_path / "cache"))
    assert facts["bytes"] > 0
    assert given("list", "--json") == 0
    assert json.loads(capsys.readouterr().out)[-1]["name"] == "toy:1"


def test_where_data_sets_are(capsys, tmp_path):
    assert given("path", "--json", "--data", tmp_path) == 0
    expected = {"data": str(tmp_path), "cache": str(tmp_path / "cache")}
    assert json.loads(capsys.readouterr().out) == expected
    assert given("path") == 0
    assert "none (set it with --data" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fetch", "iris"], "OpenML cannot be reached (no network)"),
        (["show", "waveforms"], "Did you mean 'waveform'?"),
        (["show", "nothing.csv"], "There is no file nothing.csv"),
        (["show"], "needs the name of a data set"),
        (["list", "waveform"], "takes no name, got 'waveform'"),
        (["list", "--data", "/nowhere"], "/nowhere, which is not a folder"),
        (["sing"], "'sing'"),
        (["show", "circle", "--target", "clas"], "The target 'clas' is not a column"),
        (["show", "circle", "--rows", "0"], "--rows"),
    ],
)
def test_mistakes_end_with_a_sentence_and_the_exit_code_2(capsys, arguments, message):
    assert given(*arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("orfeon datasets: error: ")
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_names_of_columns_do_nothing_to_a_terminal(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("u\x1b[31m,class\n" + "1.5,a\x1b[2J\n2.5,b\n" * 10)
    assert given("show", path, "--target", "class") == 0
    assert "\x1b" not in capsys.readouterr().out
