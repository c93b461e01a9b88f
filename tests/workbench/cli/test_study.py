"""The command ``orfeon study``: what it prints and leaves, and what it says of mistakes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import orfeon
from orfeon.datasets import make_waveform
from orfeon.workbench.cli import main
from orfeon.workbench.experiment.evaluation import Evaluation
from orfeon.workbench.store import Store
from orfeon.workbench.tasks.cluster import connect

TINY = ["--repeats", "1", "--inner-folds", "2", "--n-jobs", "1"]
QUICK = ["--methods", "baseline,cart,bagging", "--members", "10", *TINY]


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    X, y = make_waveform(120, random_state=0)
    frame = pd.DataFrame(X[:, 5:13], columns=[f"x{j}" for j in range(8)])
    frame = frame.assign(wave=np.array(["a", "b", "c"])[y], id=np.arange(120))
    path = tmp_path_factory.mktemp("data") / "waves.csv"
    frame.to_csv(path, index=False)
    return path


def study(*arguments):
    return main(["study", *map(str, arguments)])


class Finished(NamedTuple):
    """A study that tests only read: its folder and what it printed."""

    out: Path
    printed: str
    errors: str


@pytest.fixture(scope="module")
def finished(waves, tmp_path_factory):
    out = tmp_path_factory.mktemp("finished") / "out"
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()) as errors:
        assert study(waves, "--target", "wave", "--out", out, *QUICK) == 0
    return Finished(out, printed.getvalue(), errors.getvalue())


def test_a_study_prints_a_table_and_leaves_store_report_and_model(waves, finished):
    out, printed, errors = finished
    assert errors == ""  # no progress where there is no terminal
    assert "waves: 120 rows, 8 features; target wave, 3 classes; 5 outer folds, 45 runs." in printed
    assert "bagging, pruned to 20%" in printed
    assert "Expect an error of " in printed
    assert "row identifiers: id" in printed
    assert ", peak memory " in printed
    assert f"store   {out / 'store.db'}" in printed
    assert {path.name for path in out.iterdir()} == {"store.db", "report.html", "model.orfeon"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "bagging" in page
    assert f"orfeon study {waves} --target wave --out {out}" in page  # the command, as given
    model = orfeon.load(out / "model.orfeon")
    frame = pd.read_csv(waves)
    assert np.mean(model.predict(frame[[f"x{j}" for j in range(8)]]) == frame["wave"]) > 0.8


def test_the_model_predicts_new_rows_by_the_command(waves, finished, tmp_path):
    model = str(finished.out / "model.orfeon")
    assert main(["predict", model, str(waves), "-o", str(tmp_path / "p.csv")]) == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == 120


def test_the_same_command_resumes_and_runs_nothing_twice(
    waves, finished, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "out"
    shutil.copytree(finished.out, out)
    monkeypatch.setattr(Evaluation, "__call__", lambda self, key: pytest.fail(f"again: {key}"))
    export = tmp_path / "runs.csv"
    arguments = [waves, "--target", "wave", "--out", out, "--export", export, "--json", *QUICK]
    assert study(*arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["task"] == "classification"
    assert found["n_runs"] == 45
    assert found["n_outer"] == 5
    assert found["chosen"] in [candidate["name"] for candidate in found["candidates"]]
    assert len(found["candidates"][0]["scores"]["error"]) == 5
    assert found["files"]["model"] == str(out / "model.orfeon")
    assert len(pd.read_csv(export)) == 45
    assert f"Expect an error of {found['expected']['error']:.1%} " in finished.printed
    before, now = (orfeon.load(folder / "model.orfeon") for folder in (finished.out, out))
    X = pd.read_csv(waves)[[f"x{j}" for j in range(8)]]
    assert np.array_equal(before.predict_proba(X), now.predict_proba(X))


def test_passwords_are_shown_nowhere(waves, tmp_path, capsys):
    out = tmp_path / "out"
    store = f"sqlite://ada:secret@/{tmp_path}/s.db?password=secret"
    code = study(waves, "--target", "wave", "--out", out, "--store", store, "--json", *QUICK)
    printed, answers = capsys.readouterr()
    assert "secret" not in printed + answers
    if code == 0:
        assert "secret" not in (out / "report.html").read_text(encoding="utf-8")
        assert b"secret" not in (out / "model.orfeon").read_bytes()


def test_numbers_are_predicted_where_the_target_is_one(waves, tmp_path, capsys):
    frame = pd.read_csv(waves).drop(columns="wave")
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False)
    options = ["--methods", "baseline,cart", *TINY, "--json"]
    assert study(path, "--target", "x0", "--out", tmp_path / "out", *options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["task"] == "regression"
    assert found["metric"] == "rmse"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "wavy"], "wave"),
        ([], "--target is missing: name the column to predict, such as --target 'id'"),
        (["--target", "wave", "--methods", "bagging,forest"], "Unknown method 'forest'"),
        (["--target", "wave", "--metric", "rmse"], "--metric: must be one of error"),
        (["--target", "wave", "--folds", "1"], "--folds: must be at least 2; got 1"),
        (
            ["--target", "wave", "--inner-folds", "1"],
            "--inner-folds: must be 0, or 2 or more, got 1",
        ),
        (["--target", "wave", "--compare-rows", "5"], "--compare-rows: must be at least 20; got 5"),
        (["--target", "wave", "--use", "nothing"], "--use: 'nothing' is not a column"),
        (["--target", "wave", "--keep", "2"], "a fraction must be greater than 0 and at most 1"),
        (["--target", "wave", "--folds", "500"], "--folds: 120 rows are too few for 500 folds"),
        (["--target", "wave", "--budget", "soon"], "soon"),
        (
            ["--target", "wave", "--group", "doctor"],
            "--group: must name a column: 'doctor' is not among",
        ),
        (["--target", "wave", "--drop", "nothing"], "nothing"),
        (["--target", "wave", "--rule", "best"], "--rule: must be one of"),
        (["--target", "wave", "--store", "postgres://nowhere:1/x"], "postgres"),
        (["--target", "wave", "--cluster", "tcp://127.0.0.1:9"], "127.0.0.1:9"),
    ],
)
def test_mistakes_are_told_in_a_sentence(waves, tmp_path, capsys, monkeypatch, arguments, words):
    monkeypatch.setitem(connect.__wrapped__.__kwdefaults__, "timeout", 0.5)
    assert study(waves, "--out", tmp_path / "out", *QUICK, *arguments) == 2
    printed, answers = capsys.readouterr()
    assert printed == ""
    assert answers.startswith("orfeon study: error: ")
    assert words in answers
    assert "Traceback" not in answers


def test_an_unknown_name_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("ORFEON_DATA", raising=False)
    assert study("wavefrom", "--out", tmp_path / "out", *QUICK) == 2
    assert "waveform" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_told(waves, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert study(waves, "--target", "wave", "--out", tmp_path / "file" / "out", *QUICK) == 2
    assert "--out must be a writable folder" in capsys.readouterr().err


def test_a_corrupted_store_is_told_and_left_as_it_is(waves, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "store.db").write_bytes(b"not a database" * 1000)
    assert study(waves, "--target", "wave", "--out", out, *QUICK) == 2
    assert "store.db" in capsys.readouterr().err
    assert (out / "store.db").read_bytes() == b"not a database" * 1000


@pytest.mark.tools
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough)],
)
def test_an_interrupted_study_keeps_its_runs_and_leaves_no_process(waves, tmp_path, number, code):
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "orfeon", "study", str(waves), "--target", "wave", "--out", str(out),
        "--repeats", "200", "--methods", "cart", "--n-jobs", "2",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 100
    while process.poll() is None and time.monotonic() < deadline and _n_rows(out) < 5:
        time.sleep(0.1)
    n_before = _n_rows(out)
    process.send_signal(number)
    printed, answers = process.communicate(timeout=60)
    assert n_before >= 5, f"no five runs in 100 s, exit code {process.returncode}: {answers}"
    assert process.returncode == code, answers
    assert printed == ""
    assert "kept in" in answers
    assert "rerun the command to resume" in answers
    assert "Traceback" not in answers
    assert _n_rows(out) >= 5
    assert _group_ends(process.pid)


def _group_ends(group, patience=10.0):
    """Whether nobody is left of a group of processes soon."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def _n_rows(out):
    if not (out / "store.db").exists():
        return 0
    try:
        with Store(out / "store.db", read_only=True) as store:
            return sum(len(store.study(info.name).keys()) for info in store.studies())
    except ValueError:  # it is being made
        return 0


def test_rows_reads_a_sample_and_compare_rows_compares_on_one(waves, tmp_path, capsys):
    options = ["--target", "wave", "--methods", "baseline,cart", *TINY, "--json"]
    assert study(waves, *options, "--rows", 60, "--out", tmp_path / "a") == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["n_rows"], read["n_studied"]) == (60, 60)
    assert study(waves, *options, "--compare-rows", 60, "--out", tmp_path / "b") == 0
    compared = json.loads(capsys.readouterr().out)
    assert (compared["n_rows"], compared["n_studied"]) == (120, 60)


def test_the_folder_of_another_study_is_left_as_it_is(waves, finished, tmp_path, capsys):
    before = (finished.out / "report.html").read_bytes()
    other = tmp_path / "other.csv"
    other.write_bytes(waves.read_bytes())
    assert study(other, "--target", "wave", "--out", finished.out, *QUICK) == 2
    assert (
        "already holds the report and the model of another study, waves" in capsys.readouterr().err
    )
    assert (finished.out / "report.html").read_bytes() == before


def test_the_terminal_warns_of_what_the_report_warns_of(tmp_path, capsys):
    generator = np.random.default_rng(5)
    frame = pd.DataFrame({"u": generator.normal(size=80), "v": generator.normal(size=80)})
    frame.assign(side=np.where(generator.random(80) < 0.5, "left", "right")).to_csv(
        tmp_path / "noise.csv", index=False
    )
    options = ["--target", "side", "--out", tmp_path / "out", "--json", *QUICK]
    assert study(tmp_path / "noise.csv", *options) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert any("the baseline" in text for text in warnings), warnings
    assert study(tmp_path / "noise.csv", *[o for o in options if o != "--json"]) == 0
    printed = capsys.readouterr().out
    assert all(f"- {text}" in printed for text in warnings)


def test_options_for_rows_and_limits_reach_the_study(waves, tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.read_csv(waves).assign(w=rng.integers(1, 4, 120), day=rng.permutation(120))
    frame["wave"] = np.where(frame["wave"] == "a", "rare", "usual")
    frame[:90].to_csv(tmp_path / "old.csv", index=False)
    frame[90:].to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "grid.toml").write_text("[cart]\nmax_depth = [2]\n")
    options = [
        "--target", "wave", "--methods", "baseline,bagging", "--members", "5", "--keep", "none",
        "--repeats", "1", "--n-jobs", "1", "--out", tmp_path / "out", "--test",
        tmp_path / "new.csv", "--weights", "w", "--time", "day", "--cost", "fn=10,fp=1",
        "--latency", "10s", "--deployable", "small", "--grid", tmp_path / "grid.toml",
    ]  # fmt: skip
    assert study(tmp_path / "old.csv", *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_features"], found["metric"], found["n_outer"]) == (8, "log_loss", 5)
    assert {one["name"] for one in found["candidates"]} == {
        "baseline", "bagging", 'cart{"max_depth":2}',
    }  # fmt: skip
    assert found["threshold"]["positive"] == "rare"
    assert found["test"]["rows"] == 30
    assert found["row_seconds"] < 10
    assert main(["score", str(tmp_path / "out/model.orfeon"), str(tmp_path / "new.csv"),
                 "--weights", "w", "--json"]) == 0  # fmt: skip
    scored = json.loads(capsys.readouterr().out)
    assert scored["metrics"] == found["test"]["metrics"]
    assert study(tmp_path / "old.csv", *options) == 0  # nothing is run again
    printed = capsys.readouterr().out
    assert "The model on 30 rows of new" in printed
    assert "On the 30 rows of new, which the study did not use, the model has log loss" in printed
    assert "It predicts rare at a probability of " in printed
    assert "On the 30 rows of new" in (tmp_path / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--latency", "soon"], "'soon' is not a duration"),
        (["--cost", "fn=1"], "must name fn and fp"),
        (["--cost", "none.csv"], "there is no file 'none.csv'"),
        (["--cost", "fn=1,fp=2"], "--cost: fn and fp need two classes, not 3"),
        (["--weights", "wieght"], "--weights: must name a column: 'wieght' is not among"),
        (["--time", "wave"], "--time: must not be the target"),
        (["--grid", "none.toml"], "there is no file 'none.toml'"),
        (["--test", "none.csv"], "none.csv"),
    ],
)
def test_mistakes_in_these_options_are_told_in_a_sentence(
    waves, tmp_path, capsys, arguments, words
):
    assert study(waves, "--target", "wave", "--out", tmp_path / "o", *QUICK, *arguments) == 2
    printed, answers = capsys.readouterr()
    assert printed == ""
    assert answers.startswith("orfeon study: error: ")
    assert words in answers
