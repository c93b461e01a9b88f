"""The command ``orfeon reproduce``."""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys

import pytest
from tests.workbench.reproduction.stored import rows_of
from tests.workbench.reproduction.unbalanced import quick_methods, write_problems

from orfeon.datasets import FOLDER_VARIABLE
from orfeon.errors import UserError
from orfeon.workbench import PROTOCOLS, list_tables
from orfeon.workbench.cli import main
from orfeon.workbench.cli.figures import run_all
from orfeon.workbench.reproduction import published_cells
from orfeon.workbench.reproduction.figures import read_figures


def reproduce(*arguments: object) -> int:
    return main(["reproduce", *map(str, arguments)])


def test_the_command_prints_a_table_and_keeps_the_results(tmp_path, monkeypatch, capsys):
    options = ["martinez-3.2", "--quick", "--datasets", "waveform", "--versus", "cart"]
    first = subprocess.run(
        [sys.executable, "-W", "error", "-m", "orfeon", "reproduce", *options],
        capture_output=True, text=True, check=True, encoding="utf-8", cwd=tmp_path,
    )  # fmt: skip
    assert "split" not in first.stderr  # quiet in a pipe, but for compilation
    monkeypatch.chdir(tmp_path)
    assert reproduce(*options) == 0
    assert capsys.readouterr() == (first.stdout, "")
    lines = first.stdout.splitlines()
    assert lines[0] == "Quick: ensembles of at most 100 members."
    assert [line.split()[:3] for line in lines if line.startswith("waveform ")][:2] == [
        ["waveform", "cart", "2"],
        ["waveform", "igp_tree", "2"],
    ]
    assert any(line.endswith("of 2 cells agree.") for line in lines)
    assert lines[-2] == "Paired differences from cart (points ± standard error):"
    assert lines[-1].startswith("waveform igp_tree: ")
    rows = rows_of(tmp_path / "orfeon-reproduce" / "martinez-3.2.orfeon.db", "martinez-3.2")
    assert len(rows) == 4


def test_tables_of_the_same_fits_share_a_file(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("orfeon.workbench.reproduction.plan.QUICK_MEMBERS", 20)
    options = ("--quick", "--runs", 1, "--datasets", "twonorm,waveform", "--out", tmp_path)
    assert reproduce("martinez-5.8", *options) == 0
    table, _, below = capsys.readouterr().out.partition("Number of data sets, of 2, where a")
    assert "32 cells are not comparable: they were run with fewer members" in table
    assert "DIFFERS" not in table
    lines = [line.split() for line in below.splitlines()]
    assert lines[1] == ["method", "config", "best", "published", "below", "published"]
    rules = ("reduce_error", "complementarity", "margin_distance", "orientation", "boosting_based")
    assert [line[0] for line in lines[2:18]] == [
        "bagging", *(rule for rule in rules for _ in range(3)),
    ]  # fmt: skip
    assert reproduce("martinez-5.7", *options) == 0
    assert "Number of data sets" not in capsys.readouterr().out
    assert [path.name for path in tmp_path.glob("*.db")] == ["martinez-5.8.orfeon.db"]
    assert len(rows_of(tmp_path / "martinez-5.8.orfeon.db", "martinez-5.8")) == 2


@pytest.mark.parametrize(("table", "n_cells"), [("martinez-3.3", 12), ("martinez-4.2", 1)])
def test_all_ensembles_of_a_table_are_run(capsys, tmp_path, table, n_cells):
    options = ("--quick", "--runs", 1, "--datasets", "waveform", "--store", tmp_path / "fits.db")
    assert reproduce(table, *options) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Quick: ensembles of at most 100 members.")
    assert f" of {n_cells} cells agree." in printed
    assert "Not run" not in printed


def test_json_is_one_document_and_csv_has_a_line_a_cell(capsys, tmp_path):
    path = tmp_path / "cells.csv"
    options = ("--runs", 3, "--datasets", "waveform", "--out", tmp_path, "--versus", "cart")
    assert reproduce("martinez-3.2", *options, "--json", "--csv", path) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["table"], found["n_cells"], found["not_run"]) == ("martinez-3.2", 2, [])
    assert found["n_agreeing"] == sum(cell["agrees"] for cell in found["cells"])
    cart = found["cells"][0]
    published = {str(cell): cell for cell in published_cells("martinez-3.2")}["waveform cart"]
    assert (cart["published"], cart["published_std"]) == (published.value, published.std)
    assert cart["difference"] == pytest.approx(cart["ours"] - published.value)
    assert [pair["n_splits"] for pair in found["versus"]] == [3]
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["method"] for line in lines] == ["cart", "igp_tree"]
    assert float(lines[0]["ours"]) == cart["ours"]
    assert reproduce("martinez-3.2", *options, "--csv", path) == 0
    shown = capsys.readouterr().out.splitlines()[1].split()
    assert shown[3] == f"{cart['ours']:.1f}"


def test_the_list_names_every_table(capsys):
    assert reproduce("list") == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if line]
    figures = names.index("figure")
    assert names[1:figures] == list_tables()
    assert names[figures + 1 :] == list(read_figures())
    assert reproduce("list", "--json") == 0
    both = json.loads(capsys.readouterr().out)
    assert [line["figure"] for line in both["figures"]] == list(read_figures())
    found = {line["table"]: line for line in both["tables"]}
    assert found["martinez-4.2"]["datasets"] == 15
    assert found["martinez-4.2"]["runs"] == 100
    numbers = (2, 3, 4, 5, 8, 9)
    shared = [f"martinez-5.{number}" for number in numbers]
    assert found["martinez-5.7"]["shares_fits_with"] == shared
    assert all(line["title"] for line in found.values())


def test_a_figure_is_saved_beside_its_runs(capsys, tmp_path):
    assert reproduce("martinez-fig-4.1", "--quick", "--out", tmp_path / "new") == 0
    path = tmp_path / "new" / "martinez-fig-4.1.png"
    assert capsys.readouterr().out == f"The figure is in {path}.\n"
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert reproduce("martinez-fig-4.1", "--quick", "--out", tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["figure"] == "martinez-fig-4.1"
    assert reproduce("martinez-fig-3.6", "--quick", "--out", tmp_path, "--data", tmp_path) == 2
    assert "There is no breast_w.csv" in capsys.readouterr().err
    assert reproduce("martinez-fig-4.9") == 2
    assert "unknown figure 'martinez-fig-4.9' (did you mean" in capsys.readouterr().err


def test_all_runs_every_table_and_figure(capsys, monkeypatch, tmp_path):
    seen = []

    def run(options):
        seen.append(options.table)
        if options.table == "j48":
            raise UserError("no such file")
        return 0

    options = argparse.Namespace(json=False, csv=None, store=None, table="all")
    assert run_all(options, run) == 0
    assert seen == [*list_tables(), *read_figures()]
    assert capsys.readouterr().out.endswith("Not run: j48.\n")
    assert reproduce("all", "--json") == 2
    assert "--json, --csv and --store are for one table" in capsys.readouterr().err


def test_progress_is_shown_on_a_terminal(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    options = ("--datasets", "waveform", "--methods", "igp_tree", "--out", tmp_path)
    reproduce("martinez-3.2", *options, "--runs", 2)
    shown = capsys.readouterr().err
    assert "orfeon reproduce martinez-3.2" in shown
    assert "/2" in shown
    reproduce("martinez-3.2", *options, "--runs", 3, "--quiet")
    assert capsys.readouterr().err == ""


def test_an_interruption_says_that_nothing_is_lost(monkeypatch, capsys, tmp_path):
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("orfeon.workbench.reproduction.plan.Fit.perform", stop)
    options = ("--datasets", "waveform", "--out", tmp_path)
    assert reproduce("martinez-3.2", *options) == 130
    assert "Stopped. Finished fits are in " in capsys.readouterr().err


def test_a_quick_run_without_data_says_so_and_is_no_failure(capsys, tmp_path):
    (tmp_path / "empty").mkdir()
    options = ("--quick", "--data", tmp_path / "empty", "--out", tmp_path)
    assert reproduce("cantador-6.3.1", *options) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(
        "Nothing to run: none of the data sets ionosphere, glass was found. Name a folder"
    )
    assert len(printed.out.splitlines()) == 1
    assert printed.err == ""
    assert reproduce("cantador-6.3.1", *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nothing_to_run"] == printed.out.strip()


def test_a_quick_run_says_which_data_sets_it_went_without(capsys, tmp_path):
    options = ("--quick", "--runs", 1, "--data", tmp_path, "--out", tmp_path)
    assert reproduce("martinez-3.2", *options) == 0
    left_out = "Skipped, because their data was not found: breast_w, diabetes, german, sonar."
    assert capsys.readouterr().out.count(left_out) == 1


def test_a_quick_cross_validation_says_what_is_quick(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "cantador-6.3.1", quick_methods("cantador-6.3.1"))
    folder = write_problems(tmp_path)
    options = ("--quick", "--data", folder, "--versus", "pp", "--out", tmp_path)
    assert reproduce("cantador-6.3.1", *options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Quick: a few repetitions on small data sets: ionosphere, glass."
    assert [line.split()[:4] for line in lines[3:9]] == [
        [dataset, method, "g", "2"]
        for dataset in ("ionosphere", "glass")
        for method in ("pp", "pptss_keep_wb", "pptss")
    ]
    assert "glass pptss g: " in lines[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("martinez-3.9", "unknown table 'martinez-3.9' (did you mean"),
        ("martinez-3.2 --methods crat", "--methods must be one of cart, igp_tree; got 'crat' (did"),
        ("martinez-3.2 --datasets wine", "--datasets must be one of breast_w, diabetes, german"),
        ("martinez-3.2 --datasets sonar", "set the variable"),
        ("cantador-6.3.1 --quick --datasets glass", "glass.csv in a local folder"),
        ("cantador-6.3.1", "ionosphere.csv in a local folder"),
        ("martinez-3.2 --versus c45", "--versus must be one of cart, igp_tree; got 'c45'"),
        ("martinez-3.2 --runs 0", "--runs"),
        ("martinez-3.2 --repeats 0", "--runs/--repeats"),
        ("martinez-3.2 --quick --data nodir", "--data names nodir, which is not a folder."),
        ("martinez-3.2 --runs 1 --datasets waveform --store nosuch://x", "nosuch"),
    ],
)
def test_what_cannot_be_run_says_why(monkeypatch, capsys, tmp_path, options, message):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert reproduce(*options.split()) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.startswith("orfeon reproduce: error: ")
    assert "Traceback" not in printed.err
    assert printed.out == ""
