"""Results on disk: nothing finished is lost, nothing broken is believed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orfeon.study import Curve, FoldOutcome, Record, RecordStore

FIRST = Record("martinez-3.3", "waveform", "bagging", {"T": "9"}, 99, 0, 24.12, 0.5)
OTHERS = [
    replace(FIRST, split=1),
    replace(FIRST, config={"T": "99"}),
    replace(FIRST, members=9),
    replace(FIRST, method="igp_ensemble"),
    replace(FIRST, table="martinez-4.2"),
    replace(FIRST, dataset="glass", outcome=FoldOutcome(2, 3, 17, 18, 193, 50)),
    replace(FIRST, dataset="twonorm", curve=Curve((3, 2, 1), 4)),
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "out.jsonl"
    RecordStore(path).add([FIRST, *OTHERS])
    return path


def test_records_come_back_as_they_were(path):
    assert list(RecordStore(path)) == [FIRST, *OTHERS]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["config"] == {"T": "9"}
    assert lines[-1]["curve"] == {"wrong": [3, 2, 1], "n_examples": 4}
    assert lines[-2]["outcome"] == {
        "right_positive": 2, "n_positive": 3, "right_negative": 17, "n_negative": 18,
        "n_train": 193, "n_selected": 50,
    }  # fmt: skip
    assert ["curve" in line for line in lines] == [False] * 7 + [True]
    assert ["outcome" in line for line in lines] == [False] * 6 + [True, False]


def test_lines_without_a_curve_are_as_they_always_were(tmp_path):
    line = (
        '{"table": "martinez-3.3", "dataset": "waveform", "method": "bagging", "config": '
        '{"T": "9"}, "members": 99, "split": 0, "error": 24.12, "seconds": 0.5}\n'
    )
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(line)
    assert list(RecordStore(old)) == [FIRST]
    RecordStore(new).add([FIRST])
    assert new.read_text() == line


def test_a_record_is_on_disk_before_adding_returns(path):
    RecordStore(path).add([replace(FIRST, split=2)])
    assert len(path.read_text().splitlines()) == 9
    assert path.read_text().endswith("\n")


def test_keys_tell_records_apart():
    store = RecordStore()
    store.add([FIRST, *OTHERS])
    assert len(store) == 8
    store.add([replace(FIRST, error=1.0, seconds=9.0)])
    assert len(store) == 8


def test_a_file_cut_anywhere_keeps_its_whole_lines(path):
    content = path.read_bytes()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        n_whole = content[:length].count(b"\n")
        assert list(RecordStore(path)) == [FIRST, *OTHERS][:n_whole]
        assert path.read_bytes() == b"".join(content.splitlines(keepends=True)[:n_whole])


@pytest.mark.parametrize("content", [b"precious", b"{", b'{"table": "', b'{"tabula": 1}'])
def test_a_foreign_file_is_not_shortened(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    if b'{"table": "'.startswith(content):
        assert len(RecordStore(path)) == 0
    else:
        with pytest.raises(ValueError, match="must be a file of JSON lines"):
            RecordStore(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "line 2 is not a JSON line"),
        ('{"table": "x"}', "line 2 must be a record with the keys config, dataset"),
        ("[1]", "line 2 must be a record"),
    ],
)
def test_a_broken_line_in_the_middle_is_refused(path, line, message):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, *lines[1:]]) + "\n")
    with pytest.raises(ValueError, match=message):
        RecordStore(path)


@pytest.mark.parametrize(
    "curve",
    [[1, 2], {"wrong": [1]}, {"wrong": [5], "n_examples": 4}, {"wrong": 5, "n_examples": 4}],
)
def test_a_broken_curve_is_refused(path, curve):
    line = json.loads(path.read_text().splitlines()[0]) | {"curve": curve}
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(ValueError, match="line 1: curve must hold the numbers wrong and n_exam"):
        RecordStore(path)


@pytest.mark.parametrize("outcome", [[1, 2], {"right_positive": 1}, {"n_train": "many"}, None])
def test_a_broken_outcome_is_refused(path, outcome):
    line = json.loads(path.read_text().splitlines()[0]) | {"outcome": outcome}
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(ValueError, match="line 1: outcome must hold the numbers of examples"):
        RecordStore(path)


def test_no_file_is_made_without_results(tmp_path):
    assert len(RecordStore(tmp_path / "new.jsonl")) == 0
    assert not (tmp_path / "new.jsonl").exists()
