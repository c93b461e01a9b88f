"""Model files as commands and the service read them: once, and without parts nobody checked."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import orfeon
from orfeon.io import ModelFileError, describe, model_file
from orfeon.workbench.cli import main
from orfeon.workbench.serve.served_model import load_served


@pytest.fixture
def foreign(tmp_path, waveform):
    """A folder with a model that skops has a part of, and rows for it."""
    pytest.importorskip("skops")
    X, y = waveform
    model = orfeon.BaggingClassifier(
        KNeighborsClassifier(metric="chebyshev"), 3, random_state=0
    ).fit(X, y)
    orfeon.save(model, tmp_path / "bag.orfeon")
    rows = pd.DataFrame(X[:40], columns=[f"x{j}" for j in range(X.shape[1])])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.assign(y=y[:40]).to_csv(tmp_path / "labelled.csv", index=False)
    return tmp_path


def arguments(command: str, folder: Any) -> list[str]:
    given = {
        "inspect": ["bag.orfeon"],
        "predict": ["bag.orfeon", "rows.csv"],
        "prune": ["bag.orfeon", "labelled.csv", "--target", "y", "-o", "small.orfeon"],
        "export": ["bag.orfeon", "bag.onnx"],
    }
    return [command, *(str(folder / one) if "." in one else one for one in given[command])]


@pytest.mark.parametrize("command", ["inspect", "predict", "prune", "export"])
def test_parts_that_nobody_checked_are_loaded_when_that_is_asked_for(foreign, capsys, command):
    assert main(arguments(command, foreign)) == 2
    assert "saved by skops" in (told := capsys.readouterr().err)
    assert "--foreign" in told
    code = main([*arguments(command, foreign), "--foreign"])
    told = capsys.readouterr().err
    if command == "export":  # for another reason
        assert (code, "only trees of orfeon" in told) == (2, True)
    else:
        assert code == 0, told


def test_a_description_without_such_parts(foreign):
    assert describe(foreign / "bag.orfeon")["n_members"] == 3
    with pytest.raises(ModelFileError, match="saved by skops; pass foreign=True to load it"):
        describe(foreign / "bag.orfeon", foreign=False)


@pytest.fixture
def reads(monkeypatch) -> list[tuple[str, bool]]:
    """The files that are read from now on, and whether they are mapped."""
    found: list[tuple[str, bool]] = []
    opening: Callable[..., Any] = model_file.open_archive

    def counted(path: str, *, memory_map: bool = False) -> Any:
        found.append((path, memory_map))
        return opening(path, memory_map=memory_map)

    monkeypatch.setattr(model_file, "open_archive", counted)
    return found


@pytest.mark.parametrize("memory_map", [False, True])
def test_the_service_reads_a_file_once(place, reads, memory_map):
    """A file that is replaced meanwhile must not be told of, nor mapped where it should not be."""
    path = str(place / "bag.orfeon")
    served = load_served(path, memory_map=memory_map)
    assert reads == [(path, memory_map)]
    assert (served.facts["model"], served.facts["n_trees"]) == ("BaggingClassifier", 15)


def test_commands_read_a_file_once(place, reads, tmp_path, capsys):
    path, small = str(place / "bag.orfeon"), str(tmp_path / "small.orfeon")
    assert main(["inspect", path]) == 0
    assert reads == [(path, False)]
    reads.clear()
    assert main(["prune", path, str(place / "homes.csv"), "-o", small, "--json"]) == 0
    assert [name for name, _ in reads] == [path, small]


@pytest.mark.parametrize("ending", [".bin", ".orfeon", ".csv"])
def test_a_zip_that_is_broken_is_a_sentence(tmp_path, capsys, ending):
    path = tmp_path / f"broken{ending}"
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 3, 3, 500, 9, 0)
    path.write_bytes(b"PK\x03\x04" + bytes(600) + end)
    assert main(["inspect", str(path)]) == 2
    assert "internal error" not in capsys.readouterr().err
