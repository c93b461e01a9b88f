"""The command ``python -m orfeon.study``."""

from __future__ import annotations

import subprocess
import sys

import pytest
from orfeon.study.__main__ import main
from tests.study.reproducing.unbalanced import quick_methods, write_problems

from orfeon.study import FOLDER_VARIABLE, PROTOCOLS


def test_the_command_prints_a_table_and_keeps_the_results(tmp_path):
    out = tmp_path / "out.jsonl"
    command = [
        sys.executable, "-W", "error", "-m", "orfeon.study", "martinez-3.2", "--quick",
        "--datasets", "waveform", "--out", str(out), "--versus", "cart",
    ]  # fmt: skip
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
        for _ in range(2)
    )
    assert "split" not in first.stderr  # quiet in a pipe, but for compilation
    assert second.stderr == ""
    assert first.stdout == second.stdout
    lines = first.stdout.splitlines()
    assert [line.split()[:3] for line in lines if line.startswith("waveform ")][:2] == [
        ["waveform", "cart", "2"],
        ["waveform", "igp_tree", "2"],
    ]
    assert any(line.endswith("of 2 cells agree.") for line in lines)
    assert lines[-2] == "Paired differences from cart (points ± standard error):"
    assert lines[-1].startswith("waveform igp_tree: ")
    assert len(out.read_text().splitlines()) == 4


def test_conclusions_follow_the_table_of_ordered_bagging(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("orfeon.study.reproducing.reproduction.QUICK_MEMBERS", 20)
    options = f"--quick --splits 1 --datasets twonorm,waveform --out {tmp_path / 'out.jsonl'}"
    main(["martinez-5.8", *options.split()])
    table, _, below = capsys.readouterr().out.partition("On how many of 2 data sets a cell is")
    assert " of 32 cells agree." in table
    lines = [line.split() for line in below.splitlines()]
    assert lines[1] == ["method", "config", "best", "published", "below", "published"]
    assert [line[0] for line in lines[2:]] == ["bagging"] + [
        rule
        for rule in (
            "reduce_error", "complementarity", "margin_distance", "orientation", "boosting_based",
        )
        for _ in range(3)
    ]  # fmt: skip
    main(["martinez-5.7", *options.split()])
    assert "On how many" not in capsys.readouterr().out


@pytest.mark.parametrize(("table", "n_cells"), [("martinez-3.3", 12), ("martinez-4.2", 11)])
def test_all_ensembles_of_a_table_are_run(capsys, table, n_cells):
    assert main([table, "--quick", "--splits", "1", "--datasets", "waveform"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Quick: ensembles of at most 100 members.")
    assert f" of {n_cells} cells agree." in printed
    assert "Not run" not in printed


def test_progress_is_shown_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    main(["martinez-3.2", "--datasets", "waveform", "--methods", "igp_tree", "--splits", "2"])
    shown = capsys.readouterr().err
    assert "0/2 waveform split 0 igp_tree" in shown
    assert "1/2 waveform split 1 igp_tree" in shown
    assert shown.endswith("\r\033[K")  # and wiped off


def test_a_quick_run_without_data_says_so_and_is_no_failure(capsys, tmp_path):
    assert main(["cantador-6.3.1", "--quick", "--data", str(tmp_path / "nowhere")]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(
        "Nothing to run: none of the data sets ionosphere, glass is there. Name a folder"
    )
    assert len(printed.out.splitlines()) == 1
    assert printed.err == ""


def test_a_quick_cross_validation_says_what_is_quick(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "cantador-6.3.1", quick_methods("cantador-6.3.1"))
    folder = write_problems(tmp_path)
    assert main(["cantador-6.3.1", "--quick", "--data", str(folder), "--versus", "pp"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Quick: a few repetitions on small data sets."
    assert [line.split()[:4] for line in lines[3:9]] == [
        [dataset, method, "g", "2"]
        for dataset in ("ionosphere", "glass")
        for method in ("pp", "pptss_keep_wb", "pptss")
    ]
    assert "glass pptss g: " in lines[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("martinez-1.1", "invalid choice: 'martinez-1.1'"),
        ("martinez-3.2 --methods bagging", "methods must be among cart, igp_tree, got bagging"),
        ("martinez-3.2 --datasets sonar", "set the variable"),
        ("cantador-6.3.1 --quick --datasets glass", "glass.csv in a local folder"),
        ("cantador-6.3.1", "ionosphere.csv in a local folder"),
        ("martinez-3.2 --versus c45", "versus must be among cart, igp_tree, got c45"),
    ],
)
def test_what_cannot_be_run_says_why(monkeypatch, capsys, options, message):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as stop:
        main(options.split())
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
