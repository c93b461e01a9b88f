"""The performance page says what was measured, and the plan that measures fits its time."""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path

import benchmarks
import pytest
from benchmarks.__main__ import main
from benchmarks.everything import PLAN, Step, run_all, run_step
from benchmarks.page import (
    FAMILIES,
    RATIOS,
    TARGETS,
    digest,
    page,
    pictures,
    read_results,
    room,
    write_page,
)
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite

pytestmark = pytest.mark.tools

ROOT = Path(__file__).resolve().parents[2]
RESULTS, IMAGES = ROOT / "benchmarks" / "results", ROOT / "docs" / "images"


def record(**changes):
    """A line as a suite writes it."""
    target = Target("at least", 12, "x")
    line = Measurement(
        "sorting", 300, 21, 18.0, "x", seconds=0.01, spread=0.1, peer="scikit-learn",
        peer_seconds=0.18, peer_spread=0.2, target=target, notes=["Rows are sorted."],
    )  # fmt: skip
    whole = json.loads(line.as_json(quick=False, origin={"suite": "trees", "command": "command"}))
    return {**whole, "commit": "0123456789ab", **changes}


# -- the page and what was measured ---------------------------------------------------------------


def test_the_page_is_what_the_measurements_give():
    written = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert written == page(read_results(RESULTS)), "python -m benchmarks page writes it again"


@pytest.mark.parametrize("name", [RATIOS, TARGETS])
def test_the_pictures_show_the_measurements(name):
    images = pytest.importorskip("PIL.Image")
    records = read_results(RESULTS)
    assert (IMAGES / name).exists() == (name in pictures(records))
    if name in pictures(records):
        with images.open(IMAGES / name) as picture:
            assert picture.text["results"] == digest(records)


def test_measurements_say_where_they_were_made():
    for line in read_results(RESULTS):
        assert set(line["machine"]) == {"processor", "cores", "system"}
        assert {"python", "orfeon", "numpy", "numba", "scikit-learn"} <= set(line["versions"])
        assert line["command"].startswith(f"python -m benchmarks {line['suite']}")
        assert line["commit"]


# -- how the page is made -------------------------------------------------------------------------


def test_a_miss_is_named_first_and_in_its_row():
    missed = record(figure=9.0, ok=False, case="slow sorting", notes=["slow sorting: why."])
    text = page([record(), missed])
    summary = text.split("## At a glance")[1].split("\n## ")[0]
    assert "1 of 2 targets are met." in summary
    assert "- Trees, slow sorting against scikit-learn: 9x, target >= 12x" in summary
    rows = [line for line in text.splitlines() if line.startswith("| s")]
    assert rows == [
        "| sorting | 300 x 21 | scikit-learn | 10 ms | 180 ms | 20% | 18x | at least 12x | met |",
        "| slow sorting | 300 x 21 | scikit-learn | 10 ms | 180 ms | 20% | 9x | at least 12x "
        "| **missed** |",
    ]
    assert "- slow sorting: why." in text
    assert "- Rows are sorted." in text


def test_a_busy_machine_and_a_quick_form_are_told():
    busy = record(notes=["orfeon got only 50% of the time of a core: the machine was busy."])
    assert "| sorting † |" in page([busy])
    assert "quick form" not in page([busy])
    assert "This is the **quick form**" in page([record(quick=True)])


def test_a_page_and_its_pictures_are_written_from_a_folder(tmp_path, capsys):
    images = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    lines = [record(), record(suite="scale", case="many rows", figure=0.5, ok=False)]
    for line in lines:
        (tmp_path / f"{line['suite']}.jsonl").write_text(json.dumps(line) + "\n")
    path = tmp_path / "docs" / "performance.md"
    assert write_page(tmp_path, path) == 0
    text = path.read_text(encoding="utf-8")
    assert text.index("## Trees") < text.index("## Unusual sizes") < text.index("## Versions")
    assert "commit 0123456789ab" in text
    with images.open(tmp_path / "docs" / "images" / "performance_targets.png") as picture:
        assert picture.text["results"] == digest(read_results(tmp_path))


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no measurements are there"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    ("target", "figure", "found"),
    [
        (">= 0.667x", 1.334, 2.0),
        ("<= 180 s", 18.0, 10.0),
        ("<= 50%", 0.4, 1.25),
        ("0.8-1.25", 0.4, 0.5),
        (">= 3e+03x", 1500.0, 0.5),
        ("<= 0", 0.0, None),
        (None, 1.0, None),
    ],
)
def test_room_is_how_many_times_better_than_asked(target, figure, found):
    assert room({"target": target, "figure": figure}) == pytest.approx(found)


# -- the plan -------------------------------------------------------------------------------------


def test_the_plan_fits_into_25_minutes_and_knows_every_family():
    assert sum(step.minutes for step in PLAN) <= 25
    assert len({step.suite for step in PLAN}) == len(PLAN)
    assert {step.suite for step in PLAN} <= set(FAMILIES)
    assert set(benchmarks.SUITES) <= set(FAMILIES)


@pytest.mark.parametrize("step", PLAN, ids=lambda step: step.suite)
def test_every_choice_of_the_plan_is_of_a_case_that_exists(step):
    if step.suite not in benchmarks.SUITES:
        pytest.skip(f"there is no suite {step.suite}")
    module = importlib.import_module(benchmarks.SUITES[step.suite])
    names = [case.name for case in module.suite(False).cases]
    assert [text for text in step.cases if not any(text in name for name in names)] == []
    quick = [case.name for case in module.suite(True).cases]
    assert not step.cases or any(text in name for text in step.cases for name in quick)


def test_what_cannot_be_run_is_named_and_leaves_what_was_there(tmp_path, capsys):
    (tmp_path / "trees.jsonl").write_text("earlier")
    plan = [Step("nothing", 1.0), Step("trees", 1.0)]
    assert run_all(tmp_path, 0.0, quick=False, plan=plan) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "nothing: left out: there is no such suite",
        "trees: left out: 0.0 minutes are left",
    ]
    assert (tmp_path / "trees.jsonl").read_text() == "earlier"


@pytest.mark.parametrize("quick", [False, True])
def test_what_was_measured_in_full_is_not_replaced_by_a_quick_form(tmp_path, capsys, quick):
    (tmp_path / "serving.jsonl").write_text(json.dumps(record(quick=quick)) + "\n")
    plan = [Step("serving", 1.0, quick=True)]
    assert run_all(tmp_path, 0.0, quick=False, plan=plan) == quick
    last = capsys.readouterr().out.splitlines()[-1]
    assert ("kept" in last) == (not quick)


def test_notes_of_single_cases_are_counted_where_they_are_many():
    lines = [record(notes=[f"Note {n}.", "All say so."], case=f"case {n}") for n in range(30)]
    lines[4]["notes"].append("Three say so.")
    lines[5]["notes"].append("Three say so.")
    lines[6]["notes"].append("Three say so.")
    few, many = page(lines[:5]), page(lines)
    assert few.count("- Note ") == 5
    assert "- Note 0. (1 of 5 lines)\n" in few
    assert "- Note " not in many
    assert "- All say so.\n" in many
    assert "- Three say so. (3 of 30 lines)\n" in many
    assert "- 30 more notes, of one or two lines each, are in the JSON lines.\n" in many


def test_a_single_round_has_no_spread_and_bare_figures_no_picture():
    once = record(spread=0.0, peer_spread=0.0, target=None, ok=None, suite="ordering")
    assert "| 180 ms |  | 18x |" in page([once])
    assert pictures([once]) == {}
    assert "](images/" not in page([once])
    assert set(pictures([record()])) == {RATIOS, TARGETS}


def test_a_step_that_takes_too_long_is_stopped_and_leaves_what_was_there(tmp_path):
    (tmp_path / "start.jsonl").write_text("earlier")
    outcome = run_step(Step("start", 1.0), tmp_path, quick=False, seconds=0.3)
    assert outcome == "stopped after 0.0 minutes"
    assert {path.name for path in tmp_path.iterdir()} == {"start.jsonl"}
    assert (tmp_path / "start.jsonl").read_text() == "earlier"


def test_lines_tell_their_suite_command_and_commit(tmp_path, monkeypatch, capsys):
    module = types.ModuleType("benchmarks.told")
    module.suite = lambda quick: Suite(
        [Case("a b", lambda: [Measurement("a b", 1, 1, 11.0, "x")])], []
    )
    monkeypatch.setitem(sys.modules, "benchmarks.told", module)
    monkeypatch.setitem(benchmarks.SUITES, "told", "benchmarks.told")
    file = tmp_path / "told.jsonl"
    assert main(["told", "--quick", "--case", "a b", "--json", str(file)]) == 0
    [line] = read_results(tmp_path)
    assert line["suite"] == "told"
    assert line["command"] == "python -m benchmarks told --quick --case 'a b'"
    assert line["commit"] == "unknown" or len(line["commit"].split()[0]) == 12
