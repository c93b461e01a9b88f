import gzip
import json
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from benchmarks import (
    boosting,
    boosting_peers,
    boosting_scale,
    gradient_peers,
    one_boost,
    one_gradient,
    problems,
    scale,
)
from benchmarks.__main__ import main
from benchmarks.boosting_peers import contradicting_clusters, two_clusters
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.ensembles import Fitting
from benchmarks.gradient_peers import friedman
from benchmarks.report import Measurement, Target, compare
from benchmarks.timing import Timing, one_thread

pytestmark = pytest.mark.tools

ADABOOST = {
    "stumps": (boosting_peers.adaboost_stumps, two_clusters),
    "depth 5": (boosting_peers.adaboost_depth_5, two_clusters),
    "full trees": (boosting_peers.adaboost_full_trees, contradicting_clusters),
    "few values": (
        boosting_peers.adaboost_full_trees,
        partial(contradicting_clusters, rounded=True),
    ),
}


# -- the problems ------------------------------------------------------------------------------


def test_the_training_set_and_the_test_set_share_nothing():
    training, test = two_clusters(300, 200)
    both = np.concatenate([training.X, test.X])
    assert len(np.unique(both, axis=0)) == 500
    assert np.array_equal(training.X, training.narrow)  # scikit-learn's trees lose nothing
    assert 0.4 < training.y.mean() < 0.6


@pytest.mark.parametrize("rounded", [False, True])
def test_contradicting_samples_are_the_same_but_for_their_label(rounded):
    training, test = contradicting_clusters(300, 200, rounded=rounded)
    assert (training.shape, test.shape) == ((300, 20), (200, 20))
    distinct, place = np.unique(training.X, axis=0, return_inverse=True)
    assert len(distinct) == 270
    ones = np.bincount(place, weights=training.y)
    assert np.minimum(ones, np.bincount(place) - ones).sum() == 30  # wrong in the best of trees
    n_values = [len(np.unique(column)) for column in training.X.T]
    assert max(n_values) <= 32 if rounded else min(n_values) == 270
    assert np.array_equal(test.X, np.round(test.X)) == rounded


# -- who boosts --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ADABOOST)
def test_both_libraries_run_all_rounds_and_learn_the_same_thing(kind):
    method, problem = ADABOOST[kind]
    training, test = problem(300, 1000)
    ours, theirs = method()
    models = [one.fit(training, 20, 0) for one in (ours, theirs)]
    assert [one.n_rounds(model) for one, model in zip((ours, theirs), models, strict=True)] == [
        20,
        20,
    ]
    # Later ones depend on how ties were broken.
    assert models[0].errors_[0] == pytest.approx(models[1].estimator_errors_[0], abs=0.01)
    errors = [
        np.mean(one.predict(model, test) != test.y)
        for one, model in zip((ours, theirs), models, strict=True)
    ]
    assert errors[0] == pytest.approx(errors[1], abs=0.08)


def test_without_contradictions_full_trees_stop_after_one_round_and_do_not_warn():
    training, _ = two_clusters(300, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [one.fit(training, 20, 0) for one in boosting_peers.adaboost_full_trees()]
    assert [len(models[0]), len(models[1].estimators_)] == [1, 1]


def test_answers_after_fewer_rounds_are_those_of_a_shorter_run():
    training, test = two_clusters(300, 500)
    ours, theirs = boosting_peers.adaboost_stumps()
    long, short = (ours.fit(training, n, 0) for n in (20, 6))
    assert np.array_equal(ours.answers(long, test, 6), short.predict(test.X))
    assert np.array_equal(ours.answers(long, test, 20), long.predict(test.X))
    assert (ours.answers(long, test, 6) != ours.answers(long, test, 20)).any()
    peer = theirs.fit(training, 6, 0)
    assert np.array_equal(theirs.answers(peer, test, 6), peer.predict(test.narrow))


def test_scikit_learn_runs_a_fraction_of_rounds_that_are_alike_on_many_rows():
    for method, n_rounds in (
        (boosting_peers.adaboost_stumps, 10),
        (boosting_peers.adaboost_depth_5, 5),
        (boosting_peers.adaboost_full_trees, 50),
    ):
        ours, theirs = method()
        assert [ours.trees_timed(50_000, 50), theirs.trees_timed(50_000, 50)] == [50, n_rounds]
        assert theirs.trees_timed(5000, 50) == 50


# -- what is said of the rounds ----------------------------------------------------------------


@pytest.fixture
def told():
    """What is said of two runs of the lengths given, of as many members timed."""
    training, test = two_clusters(300, 500)
    ours, theirs = boosting_peers.adaboost_stumps()
    target = Target("at least", 12, "x")
    line = Measurement("boost", 300, 20, 14.0, "x", peer=SCIKIT_LEARN, target=target)

    def tell(ran, peer_ran, timed, peer_timed):
        fittings = [Fitting(one, training, timed) for one in (ours, theirs)]
        fittings[1].n_timed = peer_timed
        for fitting, n_rounds in zip(fittings, (ran, peer_ran), strict=True):
            fitting.models.append(fitting.contestant.fit(training, n_rounds, 0))
        return boosting._with_rounds(line, *fittings, test, boosting.ERROR)

    return tell


def test_a_target_is_held_against_the_same_share_of_the_rounds(told):
    for rounds in ((10, 10, 10, 10), (10, 2, 10, 2), (1, 1, 10, 10)):
        line = told(*rounds)
        assert line.is_met is True
        assert len(line.notes) == 1
    line = told(10, 2, 10, 2)
    assert line.notes[0].startswith("boost: test error after 2 rounds: orfeon ")
    assert (line.detail["rounds_run"], line.detail["peer_rounds_run"]) == (10, 2)
    assert line.detail["rounds_compared"] == 2
    assert 0.05 < line.detail["loss"] == line.detail["peer_loss"] < 0.5  # the same two stumps


def test_a_target_is_not_held_against_other_work(told):
    # The last of these would be scaled up as if a run of one round had five.
    for rounds in ((10, 9, 10, 10), (4, 10, 10, 10), (1, 1, 10, 2)):
        line = told(*rounds)
        assert (line.target, line.is_met) == (None, None)
        ran, peer_ran, timed, peer_timed = rounds
        assert line.notes[0] == (
            f"boost: orfeon ran {ran} of {timed} rounds, scikit-learn {peer_ran} of {peer_timed}: "
            "not the same work, so no target is held against it."
        )


# -- gradient boosting -------------------------------------------------------------------------


def test_numbers_depend_on_five_features_and_carry_noise_of_variance_one():
    training, test = friedman(2000, 3000, n_features=30)
    assert (training.shape, test.shape) == ((2000, 30), (3000, 30))
    assert np.array_equal(training.X, training.narrow)
    x = test.X
    truth = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    truth += 10 * x[:, 3] + 5 * x[:, 4]
    assert np.mean((test.y - truth) ** 2) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("method", [gradient_peers.exact, gradient_peers.binned])
def test_all_libraries_boost_by_gradients_to_about_the_same_loss(method, classes):
    training, test = gradient_peers.problem(classes=classes)(500, 1000)
    who = method(classes=classes)
    assert [one.name for one in who][:2] == ["orfeon", SCIKIT_LEARN]
    loss = boosting.LOG_LOSS if classes else boosting.SQUARED_ERROR
    losses = {}
    for one in who:
        with one_thread():
            model = one.fit(training, 20, 0)
        assert one.n_rounds(model) == 20
        losses[one.name] = loss.of(one.answers(model, test, 20), test.y)
    known = np.log(2) if classes else test.y.var()  # of whoever says the same of all
    assert 0.2 * known < losses["orfeon"] < 0.85 * known
    for name, found in losses.items():
        assert found == pytest.approx(losses["orfeon"], rel=0.06), name


@pytest.mark.parametrize("classes", [True, False])
def test_exact_trees_of_both_libraries_are_the_same_on_the_whole(classes):
    training, test = gradient_peers.problem(classes=classes)(2000, 1000)
    ours, theirs = gradient_peers.exact(classes=classes)[:2]
    answers = [
        one.answers(model, test, 5) for one in (ours, theirs) for model in [one.fit(training, 5, 0)]
    ]
    assert np.mean(np.isclose(*answers, rtol=1e-6)) > 0.99  # but for thresholds in a gap


@pytest.mark.parametrize("classes", [True, False])
def test_gradient_boosting_after_fewer_rounds_is_a_shorter_run(classes):
    training, test = gradient_peers.problem(classes=classes)(300, 200)
    ours = gradient_peers.exact(classes=classes)[0]
    long, short = (ours.fit(training, n, 0) for n in (10, 4))
    early = ours.answers(long, test, 4)
    assert early.shape == (200,)
    assert np.array_equal(early, ours.answers(short, test, 4))
    assert (early != ours.answers(long, test, 10)).any()
    assert (early > 0).all() and (early < 1).all() if classes else early.max() > 10


def test_the_losses_are_those_of_the_textbook():
    y = np.array([1, 0, 1])
    assert boosting.LOG_LOSS.of(np.array([0.5, 0.5, 0.5]), y) == pytest.approx(np.log(2))
    assert boosting.LOG_LOSS.of(np.array([1.0, 0.0, 0.25]), y) == pytest.approx(np.log(4) / 3)
    assert np.isfinite(boosting.LOG_LOSS.of(np.array([0.0, 1.0, 0.0]), y))
    assert boosting.SQUARED_ERROR.of(np.array([1.0, 2.0, 3.0]), y) == pytest.approx(8 / 3)


def test_exact_trees_of_scikit_learn_run_a_tenth_of_the_rounds_on_many_rows():
    ours, theirs = gradient_peers.exact(classes=True)[:2]
    assert [one.trees_timed(50_000, 100) for one in (ours, theirs)] == [100, 10]
    assert [one.trees_timed(5000, 100) for one in (ours, theirs)] == [100, 100]
    for one in gradient_peers.binned(classes=True):
        assert one.trees_timed(50_000, 100) == 100


def test_peers_whose_splits_of_classes_are_others_say_so(monkeypatch):
    monkeypatch.setattr(gradient_peers, "is_installed", lambda library: True)
    words = "splits by second-order gain, orfeon by the variance of the gradient"
    for classes in (True, False):
        ours, *others = gradient_peers.binned(classes=classes)
        assert ours.note == ""
        assert len(others) == 3
        for one in others:
            assert (f"{one.name} {words}" in one.note) == classes
    assert "second-order" not in gradient_peers.exact(classes=True)[1].note


def test_absent_libraries_are_named_and_left_out(monkeypatch):
    monkeypatch.setattr(gradient_peers, "is_installed", lambda library: False)
    assert gradient_peers.missing_notices() == [
        "LightGBM is not installed (lightgbm): left out.",
        "XGBoost is not installed (xgboost): left out.",
    ]
    for method in (gradient_peers.exact, gradient_peers.binned):
        assert [one.name for one in method(classes=True)] == ["orfeon", SCIKIT_LEARN]
    assert boosting.suite(quick=True).notices[:2] == gradient_peers.missing_notices()


def test_a_peer_on_two_threads_is_not_blamed_for_the_second():
    busy, idle = Timing((1.0,), cores=1.9), Timing((1.0,), cores=0.8)
    timings = {"orfeon": busy, "peer": busy}
    [line] = compare("boost", (10, 2), timings, threads=2, notes={"peer": ["kept"]})
    assert line.notes == ["kept", "peer used 1.9 cores, more than the 1 requested."]
    assert boosting._about_peer(line, busy, 2).notes == ["kept"]
    [line] = compare("boost", (10, 2), {"orfeon": busy, "peer": idle}, threads=2)
    assert boosting._about_peer(line, idle, 2).notes == [
        "peer got only 40% of the time of a core: the machine was busy."
    ]


def test_two_threads_find_what_one_does():
    method = boosting._histogram(2)["numbers"]
    assert (method.n_threads, boosting._histogram(1)["numbers"].n_threads) == (2, 1)
    who = [gradient_peers.binned(classes=False, n_threads=n_threads)[0] for n_threads in (1, 2)]
    training, test = method.problem(5000, 500)
    one, two = (one.answers(one.fit(training, 3, 0), test, 3) for one in who)
    assert np.array_equal(one, two)
    rival = replace(who[1], name="rival")
    [line] = boosting.fitting("boost", replace(method, who=lambda: [who[1], rival]), 300, 2, 1)
    assert line.detail["loss"] == line.detail["peer_loss"]
    assert not any("more than the" in note for note in line.notes)


def test_memory_is_that_of_the_fit_alone():
    small, large = (one_boost.measure("orfeon", n, 10, 2) for n in (500, 20_000))
    assert small["rounds"] == large["rounds"] == 2
    if "before" in large:
        more = [one["peak"] - one["before"] for one in (small, large)]
        # The bins alone are a byte for each of 200 000 values.
        assert max(more[0], 2e5) < more[1] < 2e8


def test_an_unknown_library_is_named():
    with pytest.raises(ValueError, match="library='none' is not known; there are orfeon, scikit"):
        one_boost.measure("none", 100, 4, 2)


def test_memory_is_a_share_of_that_of_scikit_learn(monkeypatch):
    answers = {"orfeon": {"before": 1e8, "peak": 1.5e8}, SCIKIT_LEARN: {"before": 1e8, "peak": 3e8}}
    monkeypatch.setattr(boosting, "_boost_in_a_process", lambda library, *sizes: answers[library])
    [line] = boosting.memory("memory", 500, 10, 2)
    assert (line.figure, line.unit, line.peer) == (0.25, "share", SCIKIT_LEARN)
    assert line.notes == ["memory: at most, beside the data: orfeon 50 MB, scikit-learn 200 MB."]
    answers["orfeon"] = {"rounds": 2}
    assert boosting.memory("memory", 500, 10, 2) == []


# -- the command line --------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    some = {300: 5}
    effort = boosting.Effort(some, some, some, some, (300, 5), 5, 300, rounds=1, often=1)
    monkeypatch.setattr(boosting, "QUICK", effort)
    monkeypatch.setattr(gradient_peers, "is_installed", lambda library: False)
    answers = {"rounds": 5, "before": 1e8, "peak": 2e8}
    monkeypatch.setattr(boosting, "_boost_in_a_process", lambda library, *sizes: answers)
    monkeypatch.setattr(boosting.os, "cpu_count", lambda: 1)  # threads that wait take their time


def test_the_suite_runs_from_the_command_line_to_the_json_file(tiny, tmp_path):
    file = tmp_path / "lines.json"
    assert main(["boosting", "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["case"], line["peer"], line["target"]) for line in lines] == [
        ("AdaBoost, stumps, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, depth 5, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, full trees, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, few values, 300 rows", SCIKIT_LEARN, None),
        ("AdaBoost, one round, 300 rows", SCIKIT_LEARN, None),
        ("gradient boosting, classes, 300 rows", SCIKIT_LEARN, ">= 5x"),
        ("gradient boosting, numbers, 300 rows", SCIKIT_LEARN, ">= 5x"),
        ("histogram, classes, 1 thread", SCIKIT_LEARN, ">= 0.667x"),
        ("histogram, numbers, 1 thread", SCIKIT_LEARN, ">= 0.667x"),
        ("histogram, memory", SCIKIT_LEARN, None),
        ("predict, AdaBoost, stumps", SCIKIT_LEARN, None),
        ("predict, AdaBoost, depth 5", SCIKIT_LEARN, None),
        ("predict, gradient boosting", SCIKIT_LEARN, None),
        ("predict, histogram", SCIKIT_LEARN, None),
    ]
    fitted = lines[:9]
    for whose in ("rounds_compared", "rounds_run", "peer_rounds_run"):
        assert [line["detail"][whose] for line in fitted] == [5] * 4 + [1] + [5] * 4
    assert all(
        0.05 < line["detail"]["loss"] < 0.7 for line in fitted if "numbers" not in line["case"]
    )
    assert all(5 < line["detail"]["loss"] < 25 for line in fitted if "numbers" in line["case"])
    assert all(line["ratio"] > 0 for line in lines if line["case"] != "histogram, memory")
    assert all(line["n"] == 300 for line in lines)
    assert any("few values are a weak spot" in note for note in lines[3]["notes"])


def test_two_threads_are_left_out_of_one_core(monkeypatch):
    for n_cores, n_cases in ((1, 0), (2, 1)):
        monkeypatch.setattr(boosting.os, "cpu_count", lambda n_cores=n_cores: n_cores)
        suite = boosting.suite(quick=True)
        assert sum("2 threads" in case.name for case in suite.cases) == n_cases
        told = [text for text in suite.notices if text.startswith("There is one core only")]
        assert len(told) == (n_cases == 0)


def test_the_full_form_has_all_sizes_and_the_quick_one_the_small_ones(monkeypatch):
    monkeypatch.setattr(boosting.os, "cpu_count", lambda: 2)
    names = {quick: [case.name for case in boosting.suite(quick).cases] for quick in (0, 1)}
    labels = [f"AdaBoost, {kind}, " for kind in (*ADABOOST, "one round")]
    labels += [f"gradient boosting, {kind}, " for kind in ("classes", "numbers")]
    for label in labels:
        for quick, sizes in ((0, ["300", "5000", "50000"]), (1, ["300", "5000"])):
            found = [name for name in names[quick] if name.startswith(label)]
            assert found == [f"{label}{size} rows" for size in sizes]
    others, quick_others = (
        {name for name in names[quick] if not name.startswith(tuple(labels))} for quick in (0, 1)
    )
    assert others - quick_others == {"histogram, memory", "histogram, numbers, 2 threads"}
    assert quick_others == {
        "histogram, classes, 1 thread",
        "histogram, numbers, 1 thread",
        "histogram, classes, 2 threads",
        "predict, AdaBoost, stumps",
        "predict, AdaBoost, depth 5",
        "predict, gradient boosting",
        "predict, histogram",
    }
    assert (boosting.FULL.histogram, boosting.QUICK.histogram[0]) == ((50_000, 100), 50_000)
    longest = partial(max, key=len)
    assert len(longest(names[0])) <= 39  # the width of the table's first column


# -- by size ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["orfeon", SCIKIT_LEARN])
def test_one_gradient_measures_time_memory_and_loss(library, capsys, monkeypatch):
    monkeypatch.setattr(one_gradient, "_TEST_ROWS", 500)
    one_gradient.main([library, "interactions", "600", "5", "1"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["seconds"] > 0
    assert (answer["rows"], answer["features"]) == (600, 30)
    assert 0.4 < answer["log_loss"] < np.log(2)
    if "before" in answer:
        assert 0 < answer["before"] <= answer["peak"]


def test_strings_of_the_table_of_adults_are_categories(tmp_path, monkeypatch):
    path = tmp_path / "adult.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("age,work,class\n39,State,<=50K\n50,?,>50K\n?,Private,<=50K\n")
    data = one_gradient.adult(path)
    np.testing.assert_array_equal(data.X, [[39, 1], [50, np.nan], [np.nan, 0]])
    assert (data.y.tolist(), data.categorical) == ([0, 1, 0], (1,))
    monkeypatch.setattr(one_gradient, "adult", lambda: data)
    training, test = one_gradient.split("adult", 0)
    assert (training.shape, test.shape) == ((2, 2), (1, 2))


def test_categories_are_categories_to_all_libraries():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(np.arange(900) % 12), rng.normal(size=900)])
    y = np.isin(X[:, 0], [1, 4, 6, 9, 11]).astype(np.int64)
    data = problems.Data("parity", X, y, categorical=(0,))
    for one in gradient_peers.binned(classes=True):
        with one_thread():
            model = one.fit(data, 20, 0)
        assert boosting.LOG_LOSS.of(one.answers(model, data, 20), y) < 0.3, one.name


@pytest.fixture
def sizes(monkeypatch):
    """The lines of a case, from seconds, losses and memory that are given."""

    def fit(library, problem, n_rows, n_rounds, n_threads):
        seconds = {"orfeon": 1.0, "LightGBM": 2.0}.get(library, 3.0) / (1 + 0.5 * (n_threads - 1))
        peak = {"orfeon": 1.3e9, "LightGBM": 1e9}.get(library, 2e9)
        return {
            "seconds": seconds, "cores": float(n_threads), "log_loss": 0.5, "rows": float(n_rows),
            "features": 30.0, "before": 5e8, "peak": peak,
        }  # fmt: skip

    monkeypatch.setattr(boosting_scale, "_fit", fit)
    monkeypatch.setattr(gradient_peers, "is_installed", lambda library: True)
    monkeypatch.setattr(boosting_scale.os, "cpu_count", lambda: 2)
    return lambda n_rows: boosting_scale.boosting("size", "interactions", n_rows, 5, 2)


def test_sizes_are_held_against_peers_threads_and_memory(sizes):
    lines = sizes(1_000_000)
    assert [(line.case, line.peer) for line in lines[:2]] == [
        ("size, 1 thread", SCIKIT_LEARN), ("size, 1 thread", "LightGBM")
    ]  # fmt: skip
    assert [line.figure for line in lines[:6]] == pytest.approx([3, 2, 3, 3, 2, 3])
    assert all(line.is_met for line in lines[:6])
    assert "test log-loss: orfeon 0.5000, scikit-learn 0.5000" in lines[0].notes[0]
    threads, memory = lines[6:]
    assert (threads.figure, threads.is_met) == (pytest.approx(1.5), False)
    assert (memory.figure, memory.peer, memory.is_met) == (pytest.approx(1.3), "LightGBM", False)
    assert "orfeon 1300 MB (800 MB of the fit)" in memory.notes[0]
    *_, threads, memory = sizes(10_000)
    assert (threads.target, memory.target) == (None, None)


def test_absent_peers_and_tables_are_named_by_the_scale_suite(monkeypatch, tmp_path):
    monkeypatch.setattr(gradient_peers, "is_installed", lambda library: False)
    monkeypatch.setattr(boosting_scale, "ADULT", tmp_path / "adult.csv.gz")
    suite = scale.suite(quick=True)
    assert "XGBoost is not installed (xgboost): left out." in suite.notices
    assert "adult.csv.gz is not there: adult is left out." in suite.notices
    assert not any("adult" in case.name for case in suite.cases)
    names = [case.name for case in scale.suite(quick=False).cases]
    assert "boosting, 1000000 rows" in names
