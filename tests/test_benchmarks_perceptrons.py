import io
import json
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import one_perceptron, perceptron_problems, perceptron_scale, perceptrons
from benchmarks.__main__ import main
from benchmarks.perceptron_problems import noisy_sums, standardised

pytestmark = pytest.mark.tools

NETWORK = "MLPClassifier, 2000 epochs"


# -- the problems ------------------------------------------------------------------------------


def test_the_stand_in_has_the_size_of_diabetes_and_no_feature_follows_from_others(monkeypatch):
    monkeypatch.delenv("ORFEON_DATA", raising=False)
    data, note = perceptron_problems.diabetes()
    assert (data.shape, data.y.sum()) == ((768, 8), 268)
    assert "synthetic stand-in" in note
    assert np.linalg.svd(data.X, compute_uv=False).min() > 20
    assert np.array_equal(data.X, noisy_sums(768, 8, 268).X)


def test_diabetes_is_read_where_there_is_a_folder_of_data(monkeypatch, tmp_path):
    lines = ["a,b,class", "1,2,no", "3,4,yes", "5,6,no"]
    (tmp_path / "diabetes.csv").write_text("\n".join(lines))
    monkeypatch.setenv("ORFEON_DATA", str(tmp_path))
    data, note = perceptron_problems.diabetes()
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert data.y.tolist() == [0, 1, 0]  # the smaller class is of interest
    assert note == "The problem is diabetes itself."


def test_training_and_test_set_are_standardised_alike_and_share_nothing():
    training, test = standardised(300, 20)
    assert (training.shape, test.shape) == ((300, 20), (5000, 20))
    assert np.allclose(training.X.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(training.X.std(axis=0), 1)
    assert 0.001 < np.abs(test.X.mean(axis=0)).max() < 0.3
    assert len(np.unique(np.concatenate([training.X, test.X]), axis=0)) == 5300
    assert 0.3 < training.y.mean() < 0.4


# -- who trains --------------------------------------------------------------------------------


def test_the_network_runs_all_of_its_epochs_with_the_solver_of_scikit_learn():
    network = perceptrons._train_network(standardised(50, 2)[0], 300)
    assert (network.n_iter_, network.hidden_layer_sizes, network.solver) == (300, (3,), "adam")
    assert network.batch_size == "auto"
    whole = perceptrons.new_network(2000)
    assert (whole.max_iter, whole.tol, whole.n_iter_no_change) == (2000, 0.0, 2000)


def test_a_network_that_ends_early_is_not_timed(monkeypatch):
    early = SimpleNamespace(fit=lambda X, y: SimpleNamespace(n_iter_=7))
    monkeypatch.setattr(perceptrons, "new_network", lambda n_epochs: early)
    with pytest.raises(AssertionError, match="the network ran 7 epochs, not 10"):
        perceptrons._train_network(standardised(50, 2)[0], 10)


def test_training_is_told_as_published_per_epoch_and_with_as_many_epochs():
    published, each, same = perceptrons.training("train", 60, 4, 200, 1)
    assert [line.case for line in (published, each, same)] == [
        "train",
        "train, an epoch",
        "train, 2000 epochs",
    ]
    assert str(published.target) == ">= 20x"
    assert each.target is None
    assert same.target is None
    assert each.figure == pytest.approx(published.figure / 8)  # 250 epochs against 2000
    assert each.seconds == pytest.approx(published.seconds / 250)
    assert each.peer_seconds == pytest.approx(published.peer_seconds / 2000)
    assert same.peer_seconds == published.peer_seconds
    assert [line.detail["epochs"] for line in (published, same)] == [250, 2000]
    assert published.detail["peer_epochs_timed"] == 10
    assert any("a factor of 8 is due to that alone" in note for note in published.notes)
    assert f"{NETWORK} did 1/200 of the work; its time was scaled up." in published.notes


def test_training_finds_what_there_is_to_find():
    data, test = standardised(768, 8)
    models = [perceptron_scale.train(data, 250), perceptrons._train_network(data, 200)]
    errors = [np.mean(model.predict(test.X) != test.y) for model in models]
    assert max(errors) < 0.27  # 35% are positive
    assert models[0].n_iter_ == 250


@pytest.mark.skipif(not perceptrons.takes_weights(), reason="these networks take no weights")
def test_boosting_is_told_by_the_member():
    [line] = perceptrons.boosting("boost", 100, 1)
    ours, theirs = line.detail["members"]
    assert ours == 10
    assert 1 <= theirs <= 10
    assert line.figure == pytest.approx(line.peer_seconds / line.seconds)
    assert line.peer == "AdaBoost of MLPClassifier"
    assert max(line.detail["errors"]) < 0.45


def test_without_weights_boosting_is_left_out_and_named(monkeypatch):
    assert any("PPBoost" in case.name for case in perceptrons.suite(True).cases)
    monkeypatch.setattr(perceptrons, "takes_weights", lambda: False)
    suite = perceptrons.suite(True)
    assert not any("PPBoost" in case.name for case in suite.cases)
    assert suite.notices == [
        "This scikit-learn's networks take no weights: boosting is not compared."
    ]


# -- selection, rows and growth ----------------------------------------------------------------


def test_cross_validation_is_of_ten_folds_and_says_how_good_it_is(monkeypatch):
    monkeypatch.delenv("ORFEON_DATA", raising=False)
    [line] = perceptrons.cross_validation("folds", 1, 1)
    assert (line.detail["folds"], line.detail["data"], str(line.target)) == (
        10,
        "stand-in",
        "<= 10 s",
    )
    assert 0.6 < line.detail["g"] < 0.85
    assert line.figure == line.seconds


def test_one_fit_says_its_parts_and_its_memory():
    small, large = (one_perceptron.measure(n, 10, 20) for n in (500, 50_000))
    for one in (small, large):
        assert one["outside"] + 20 * one["epoch"] == pytest.approx(one["seconds"])
        assert 0 <= one["error"] < 0.15
    if "before" in large:
        # The inputs alone are eleven numbers for each of 50 000 rows.
        assert 4.4e6 < large["peak"] - large["before"] < 4e8


def test_one_epoch_says_nothing_of_one_epoch():
    with pytest.raises(ValueError, match="n_epochs=1 is not allowed: two or more"):
        one_perceptron.measure(100, 2, 1)


def test_one_fit_prints_a_line_of_json(capsys):
    one_perceptron.main(["100", "3", "5"])
    assert {"seconds", "epoch", "outside", "error"} <= set(json.loads(capsys.readouterr().out))


SAID = {
    "seconds": 40.0, "cores": 1.0, "outside": 2.5, "epoch": 0.15, "error": 0.03,
    "before": 5e8, "peak": 1.5e9,
}  # fmt: skip


def test_many_rows_are_held_to_minutes_and_gigabytes(monkeypatch):
    queried = []
    monkeypatch.setattr(
        one_perceptron, "fit_in_a_process", lambda *sizes: queried.append(sizes) or SAID
    )
    seconds, epoch, memory = perceptron_scale.many_rows("rows", 1_000_000, 30)
    assert queried == [(1_000_000, 30, 250)]
    assert (seconds.figure, str(seconds.target)) == (40, "<= 180 s")
    assert (epoch.figure, epoch.unit) == (pytest.approx(150), "ms")
    assert (memory.figure, str(memory.target)) == (1.5, "<= 2 GB")
    assert memory.notes == [
        "rows: the table itself is 240 MB; the process had 500 MB before the fit."
    ]
    seconds, _, memory = perceptron_scale.many_rows("rows", 100_000, 30)
    assert (str(seconds.target), memory.target) == ("<= 18 s", None)
    assert "rows: the full form has 1000000 rows, in 180 s and 2 GB." in seconds.notes


def test_many_rows_without_known_memory_have_none(monkeypatch):
    unknown = {name: figure for name, figure in SAID.items() if name not in ("before", "peak")}
    monkeypatch.setattr(one_perceptron, "fit_in_a_process", lambda *sizes: unknown)
    assert [line.unit for line in perceptron_scale.many_rows("rows", 1000, 3)] == ["s", "ms"]


def test_growth_is_relative_to_the_rows():
    [line] = perceptron_scale.growth("growth", (100, 400), 1)
    assert (line.unit, str(line.target), line.n) == ("ratio", "<= 1.3", 400)
    seconds, growth = line.detail["seconds"], line.detail["growth"]
    assert growth[100] == 1
    assert line.figure == pytest.approx(seconds[400] / seconds[100] / 4)


# -- the first fit -----------------------------------------------------------------------------


def test_the_first_script_fits_predicts_and_says_its_times():
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(one_perceptron.SCRIPT, {})
    parts = json.loads(printed.getvalue())
    assert set(parts) == {"import", "fit", "predict", "processor"}
    assert min(parts.values()) > 0


def test_the_warm_fit_uses_the_cache_that_the_cold_one_filled(monkeypatch):
    caches = []
    fits = iter([5.0, 0.3, 0.2, 0.4])

    def first_fit(cache):
        caches.append((cache, Path(cache).is_dir()))
        return {"process": 6.0, "import": 0.5, "fit": next(fits)}

    monkeypatch.setattr(one_perceptron, "first_fit", first_fit)
    cold, warm = perceptron_scale.start("first fit", 3)
    assert len(set(caches)) == 1
    assert caches[0][1]
    assert (cold.figure, warm.figure) == (5.0, 0.3)
    assert (cold.spread, warm.spread) == (0, pytest.approx(2 / 3))
    assert warm.notes == ["first fit, kernels cached: process 6.00 s, import 0.50 s, fit 0.30 s."]
    assert not Path(caches[0][0]).exists()


# -- the command line --------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    effort = perceptrons.Effort(1, ((60, 4, 200),), 500, (100, 200), boosted=200, rounds=1)
    monkeypatch.setattr(perceptrons, "QUICK", effort)
    monkeypatch.setattr(one_perceptron, "fit_in_a_process", lambda *sizes: SAID)
    once = {"process": 2.0, "import": 1.0, "fit": 0.5}
    monkeypatch.setattr(one_perceptron, "first_fit", lambda cache: once)
    monkeypatch.setattr(perceptrons, "takes_weights", lambda: False)
    monkeypatch.delenv("ORFEON_DATA", raising=False)


def test_the_suite_runs_from_the_command_line_to_the_json_file(tiny, tmp_path):
    file = tmp_path / "lines.json"
    assert main(["perceptrons", "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["case"], line["peer"], line["target"]) for line in lines] == [
        ("PPTSS, 1 x 10 folds", None, "<= 10 s"),
        ("train, 60 rows", NETWORK, ">= 20x"),
        ("train, 60 rows, an epoch", "MLPClassifier", None),
        ("train, 60 rows, 2000 epochs", NETWORK, None),
        ("train, 500 rows", None, "<= 0.09 s"),
        ("train, 500 rows, an epoch", None, None),
        ("train, 500 rows, memory", None, None),
        ("train, up to 200 rows", None, "<= 1.3"),
        ("first fit, empty cache", None, None),
        ("first fit, kernels cached", None, None),
    ]
    assert all(line["figure"] > 0 for line in lines)


def test_the_full_form_has_a_million_rows_and_the_quick_one_a_tenth_of_them():
    names = {quick: [case.name for case in perceptrons.suite(quick).cases] for quick in (0, 1)}
    both = {f"train, {n} rows" for n in (300, 768, 5000)} | {"PPTSS, 10 x 10 folds", "first fit"}
    assert both <= set(names[0]) & set(names[1])
    assert "train, 1000000 rows" in names[0]
    assert "train, 100000 rows" in names[1]
    assert min(perceptrons.FULL.rounds, perceptrons.QUICK.rounds) >= 5
    # Networks of few rows run all of their epochs in the full form.
    assert [divisor for *_, divisor in perceptrons.FULL.training] == [1, 1, 10]
    for effort in (perceptrons.FULL, perceptrons.QUICK):
        assert (min(effort.growth), max(effort.growth)) == (2000, 64_000)
    longest = partial(max, key=len)
    assert len(longest(names[0]) + ", memory") <= 39  # the width of the table's first column
