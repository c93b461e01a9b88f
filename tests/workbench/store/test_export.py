"""Runs in CSV and Parquet files."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.workbench.store.rows import make_row

from orfeon.workbench.store import RunRow, Store, StoreError

_FIRST = ["study", "key", "seed", "seconds", "finished", "host"]


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".csv":
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    return pd.read_parquet(path)


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_one_line_a_run_with_dotted_names(where: str, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "made" / f"runs{kind}"
    with Store(where) as store:
        store.open_study("b", {}).put_many(make_row(key, 4, error=0.25) for key in "yx")
        store.open_study("a", {}).put(
            make_row("z", 2, error=1.5, best={"size": 7, "curve": [1, 2]})
        )
        assert store.export(path) == 3
        assert store.export(tmp_path / f"one{kind}", study="b") == 2
        with pytest.raises(StoreError, match="no study 'c'; it has 'a', 'b'"):
            store.export(path, study="c")
    frame = _read(path)
    assert list(frame.columns) == [
        *_FIRST,
        "configuration.dataset",
        "configuration.method.n_estimators",
        "configuration.method.name",
        "result.best.curve",
        "result.best.size",
        "result.error",
        "timings.fit",
        "timings.predict",
        "versions.orfeon",
    ]
    assert frame[["study", "key"]].to_numpy().tolist() == [["a", "z"], ["b", "x"], ["b", "y"]]
    assert frame["result.error"].tolist() == [1.5, 0.25, 0.25]
    assert frame["result.best.size"].iloc[0] == 7
    assert frame["result.best.size"].isna().tolist() == [False, True, True]
    assert frame["result.best.curve"].iloc[0] == "[1,2]"
    assert _read(tmp_path / f"one{kind}")["key"].tolist() == ["x", "y"]


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_columns_that_mix_types(tmp_path: Path, kind: str) -> None:
    values: dict[str, list[Any]] = {
        "mixed": [1, "two", None, True],
        "flags": [True, None, False, True],
        "whole": [1, None, 2**62, -5],
        "huge": [2**70, 1, None, 3],
        "real": [1, 2.5, None, 0],
        "none": [None] * 4,
        "text": ["a,b", 'q"', "line\nline", "é😀"],
        "parts": [[1], {"x": 2}, "s", None],
    }
    rows = [
        RunRow(str(number), {name: column[number] for name, column in values.items()}, 0, {}, 0.0)
        for number in range(4)
    ]
    path = tmp_path / f"runs{kind}"
    with Store(":memory:") as store:
        store.open_study("a", {}).put_many(rows)
        assert store.export(path) == 4
    frame = _read(path)
    found = {
        name: [None if pd.isna(value) else value for value in frame[f"configuration.{name}"]]
        for name in ("mixed", "flags", "whole", "huge", "real", "none", "text", "parts")
    }
    assert found["mixed"] == ["1", "two", None, "true"]
    assert found["flags"] == values["flags"]
    assert found["real"] == values["real"]
    assert found["text"] == values["text"]
    assert found["none"] == [None] * 4
    assert found["parts"] == ["[1]", None, "s", None]
    assert frame["configuration.parts.x"].tolist()[1] == 2
    assert [None if value is None else int(value) for value in found["huge"]] == values["huge"]
    if kind == ".parquet":
        assert found["whole"] == values["whole"]


def test_a_dotted_key_does_not_hide_another(tmp_path: Path) -> None:
    with Store(":memory:") as store:
        row = replace(make_row("x"), result={"a.b": 1, "a": {"b": 2}})
        store.open_study("a", {}).put(row)
        store.export(tmp_path / "runs.csv")
    frame = pd.read_csv(tmp_path / "runs.csv")
    assert sorted([frame["result.a.b"].item(), frame["result.a.b'"].item()]) == [1, 2]


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_no_runs_are_a_table_without_lines(tmp_path: Path, kind: str) -> None:
    with Store(":memory:") as store:
        assert store.export(tmp_path / f"runs{kind}") == 0
    frame = _read(tmp_path / f"runs{kind}")
    assert (list(frame.columns), len(frame)) == (_FIRST, 0)


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_a_failed_export_leaves_the_file_before(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"runs{kind}"
    path.write_text("before")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with Store(":memory:") as store:
        store.open_study("a", {}).put(make_row("x"))
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match=r"cannot be written: No space left on device"):
            store.export(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_export_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with Store(":memory:") as store:
        store.export(tmp_path / "runs.csv")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("name", ["runs.xlsx", "runs", "csv"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with Store(":memory:") as store, pytest.raises(StoreError, match=r"\.csv or \.parquet"):
        store.export(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_export_into_a_folder_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").mkdir()
    (tmp_path / "file").touch()
    with Store(":memory:") as store:
        for path in (tmp_path / "runs.csv", tmp_path / "file" / "runs.csv"):
            with pytest.raises(StoreError, match="cannot be written"):
                store.export(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "runs.csv"]


def test_parquet_without_pyarrow_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise ImportError("pyarrow")

    with Store(":memory:") as store:
        store.open_study("a", {}).put(make_row("x"))
        monkeypatch.setattr(pd.DataFrame, "to_parquet", fail)
        with pytest.raises(StoreError, match=r"pip install orfeon\[parquet\]"):
            store.export(tmp_path / "runs.parquet")
    assert list(tmp_path.iterdir()) == []
