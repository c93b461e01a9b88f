"""Results on disk: nothing finished is lost, nothing broken is believed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orfeon.study import Record, RecordStore

FIRST = Record("martinez-3.3", "waveform", "bagging", {"T": "9"}, 99, 0, 24.12, 0.5)
OTHERS = [
    replace(FIRST, split=1),
    replace(FIRST, config={"T": "99"}),
    replace(FIRST, members=9),
    replace(FIRST, method="igp_ensemble"),
    replace(FIRST, table="martinez-4.2"),
    replace(FIRST, dataset="twonorm"),
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "out.jsonl"
    RecordStore(path).add([FIRST, *OTHERS])
    return path


def test_records_come_back_as_they_were(path):
    assert list(RecordStore(path)) == [FIRST, *OTHERS]
    assert json.loads(path.read_text().splitlines()[0])["config"] == {"T": "9"}


def test_a_record_is_on_disk_before_adding_returns(path):
    RecordStore(path).add([replace(FIRST, split=2)])
    assert len(path.read_text().splitlines()) == 8
    assert path.read_text().endswith("\n")


def test_keys_tell_records_apart():
    store = RecordStore()
    store.add([FIRST, *OTHERS])
    assert len(store) == 7
    store.add([replace(FIRST, error=1.0, seconds=9.0)])
    assert len(store) == 7


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


def test_no_file_is_made_without_results(tmp_path):
    assert len(RecordStore(tmp_path / "new.jsonl")) == 0
    assert not (tmp_path / "new.jsonl").exists()
