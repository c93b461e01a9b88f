import importlib.util
import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import contestants, cost_growth, ensembles, model_size, peers, problems
from benchmarks.__main__ import main
from benchmarks.contestants import (
    INTEL,
    SCIKIT_LEARN,
    YDF,
    SwitchedTrees,
    error_of,
    error_of_first,
)
from benchmarks.report import Measurement
from benchmarks.timing import Timing
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier

import orfeon

pytestmark = pytest.mark.tools

INSTALLED = [peer.name for peer in contestants.compared_peers() if peer.is_installed]

# -- who does a method -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def waveform():
    return problems.with_test(problems.waveform, 300, 1000)


@pytest.mark.parametrize(
    ("method", "names"),
    [
        (contestants.bagging, ["orfeon", SCIKIT_LEARN, *INSTALLED]),
        (contestants.random_forest, ["orfeon", SCIKIT_LEARN, *INSTALLED]),
        (
            contestants.extra_trees,
            ["orfeon", SCIKIT_LEARN, *(name for name in INSTALLED if name == INTEL)],
        ),
        (contestants.class_switching, ["orfeon", "scikit-learn trees"]),
    ],
)
def test_all_contestants_learn_the_same_thing(method, names, waveform):
    training, test = waveform
    who = method()
    assert [one.name for one in who] == names
    errors = [error_of(one, [one.fit(training, 150, 0)], test) for one in who]
    assert min(errors) > 0.14
    assert max(errors) < 0.24
    assert max(errors) - min(errors) < 0.04


def test_contestants_predict_the_class_of_the_largest_share(waveform):
    training, test = waveform
    for one in (*contestants.random_forest(), *contestants.class_switching()):
        model = one.fit(training, 25, 0)
        shares = one.predict_proba(model, test)
        assert shares.shape == (1000, 3)
        assert np.allclose(shares.sum(axis=1), 1.0, atol=1e-5)
        assert (np.argmax(shares, axis=1) == one.predict(model, test)).mean() > 0.98


def test_peers_get_as_many_features_at_a_node_as_scikit_learn(waveform):
    queried = []

    def train(data, n_trees, max_features=None, seed=0):
        queried.append((n_trees, max_features, seed))

    peer = peers.Peer("peer", "numpy", "", train, None, None)
    contestants.of_peer(peer).fit(waveform[0], 7, 2)
    contestants.of_peer(peer, square_root=True).fit(waveform[0], 7, 2)
    tree = RandomForestClassifier(1).fit(waveform[0].X, waveform[0].y).estimators_[0]
    assert queried == [(7, None, 2), (7, 4, 2)]
    assert tree.max_features_ == 4


def test_a_slow_peer_grows_a_fraction_of_the_trees_from_its_size_on():
    slow = contestants.of_scikit_learn(RandomForestClassifier, slow_from=2000)
    assert [slow.trees_timed(n, 100) for n in (300, 1999, 2000, 50_000)] == [100, 100, 10, 10]
    assert slow.trees_timed(50_000, 5) == 1
    for method in (contestants.bagging, contestants.random_forest, contestants.extra_trees):
        timed = {one.name: one.trees_timed(50_000, 20) for one in method()}
        assert timed["orfeon"] == 20
        assert timed.get(INTEL, 20) == 20  # it sorts into bins once, whatever the trees


def test_switched_trees_are_the_same_in_two_processes(waveform):
    training, test = waveform
    one, two = (SwitchedTrees(6, 3, n_processes).fit(training) for n_processes in (1, 2))
    assert [len(one.trees), len(two.trees)] == [6, 6]
    assert np.array_equal(one.predict_proba(test), two.predict_proba(test))
    assert len({tree.random_state for tree in two.trees}) == 6


def test_switched_trees_learn_the_switched_labels_by_heart(waveform):
    training, _ = waveform
    [tree] = SwitchedTrees(1, 0).fit(training).trees
    assert (tree.predict(training.narrow) != training.y).sum() == 120  # 0.6 x 2/3 of 300


def test_the_first_trees_err_as_a_smaller_ensemble_of_the_same_seed(waveform):
    training, test = waveform
    large, small = (
        orfeon.BaggingClassifier(n_estimators=n, random_state=0).fit(training.X, training.y)
        for n in (20, 5)
    )
    expected = 1 - small.score(test.X, test.y)
    assert error_of_first(large, 5, test) == pytest.approx(expected)
    assert error_of_first(large, 20, test) == pytest.approx(1 - large.score(test.X, test.y))


def test_models_of_a_fraction_of_the_trees_err_together_as_all_the_trees():
    shares = {"a": [[0.9, 0.1], [0.4, 0.6]], "b": [[0.3, 0.7], [0.3, 0.7]]}
    one = contestants.Contestant("x", None, None, lambda model, data: np.array(shares[model]))
    test = problems.Data("two", np.zeros((2, 1)), np.array([0, 0]))
    assert [error_of(one, models, test) for models in ("a", "b", "ab")] == [0.5, 1.0, 0.5]


# -- fitting -----------------------------------------------------------------------------------


def test_a_fraction_of_the_work_is_other_trees_each_round_and_all_are_kept(waveform):
    fitted = []

    def fit(data, n_trees, seed):
        fitted.append((n_trees, seed))
        return len(fitted)

    whole = contestants.Contestant("whole", fit, None, None)
    part = contestants.Contestant("part", fit, None, None, slow_from=0)
    for one in (whole, part):
        fitting = ensembles.Fitting(one, waveform[0], 20)
        for _ in range(3):
            fitting()
        if one is whole:
            assert (fitting.models, fitting.contender().factor) == ([3], 1)
        else:
            assert (fitting.models, fitting.contender().factor) == ([4, 5, 6], 10)
    assert fitted == [(20, 0)] * 3 + [(2, 0), (2, 1), (2, 2)]


def test_both_sides_err_with_as_many_trees(waveform):
    training, test = waveform
    ours = ensembles.Fitting(contestants.of_orfeon(orfeon.BaggingClassifier), training, 20)
    slow = contestants.of_scikit_learn(RandomForestClassifier, slow_from=0)
    theirs = ensembles.Fitting(slow, training, 20)
    for fitting in (ours, *[theirs] * 12):
        fitting()
    line = Measurement("bag", 300, 21, 1.0, "x", peer=SCIKIT_LEARN)
    for kept in (12, 3):  # 2 trees each; beyond 20 trees orfeon has no more to compare with
        del theirs.models[kept:]
        [told] = ensembles._with_errors("bag", [line], [ours, theirs], test)
        n_trees = min(20, 2 * kept)
        assert told.detail["trees_compared"] == n_trees
        assert told.detail["test_error"] == error_of_first(ours.models[0], n_trees, test)
        expected = error_of(slow, theirs.models[: n_trees // 2], test)
        assert told.detail["peer_test_error"] == expected


def test_the_limits_are_those_of_the_sizes():
    assert ensembles._limits(ensembles._BAGGING, 50_000) == {SCIKIT_LEARN: 10, YDF: 1, INTEL: 1}
    assert ensembles._limits(ensembles._FOREST, 5000) == {SCIKIT_LEARN: 5, YDF: 1, INTEL: 1}
    assert ensembles._limits(ensembles._FOREST, 50_000)[SCIKIT_LEARN] == 4
    assert ensembles._limits(ensembles._FOREST, 100_000) == {YDF: 1, INTEL: 1}


def test_two_threads_are_held_against_the_clock(waveform, monkeypatch):
    seconds = {
        "orfeon": Timing((0.7,), cores=1.9),
        "other": Timing((2.8,), cores=None),
    }
    monkeypatch.setattr(ensembles, "interleave", _fit_once_and_say(seconds))
    ours = contestants.of_orfeon(orfeon.ClassSwitchingClassifier)
    theirs = contestants.of_switched_trees("other", 1)
    size = ensembles.Size(problems.waveform, 300, 5)
    alone, beside = ensembles.fitting_in_two("two", lambda: [ours, theirs], size, 0.6)
    assert (alone.figure, alone.unit, alone.is_met) == (0.7, "s", False)
    assert (beside.peer, beside.figure, beside.target) == ("other", 4.0, None)
    assert beside.notes[0].startswith("two: test error with 5 trees: orfeon ")


def _fit_once_and_say(timings):
    def interleave(contenders, rounds):
        for contender in contenders:
            contender.work()
        return timings

    return interleave


# -- the command line --------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    sizes = (ensembles.Size(problems.waveform, 300, 10, rounds=1),)
    effort = ensembles.Effort(
        sizes, n_switched=10, n_queried=5, n_rows_predicted=500, growth_rows=(500, 1000),
        growth_members=(1, 2, 4), growth_trees=2, rounds=1, hurried=True,
    )  # fmt: skip
    monkeypatch.setattr(ensembles, "QUICK", effort)
    monkeypatch.setattr(contestants, "_installed", dict)


def test_the_suite_runs_from_the_command_line_to_the_json_file(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(ensembles.os, "cpu_count", lambda: 1)
    file = tmp_path / "lines.json"
    assert main(["ensembles", "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["case"], line["peer"], line["target"]) for line in lines] == [
        ("class-switching, 10 trees", "scikit-learn trees", ">= 10x"),
        ("bagging, 10 trees, 300 rows", SCIKIT_LEARN, ">= 10x"),
        ("random forest, 10 trees, 300 rows", SCIKIT_LEARN, ">= 5x"),
        ("extra trees, 10 trees, 300 rows", SCIKIT_LEARN, None),
        ("predict, trees of 300 rows", SCIKIT_LEARN, None),
        ("predict_proba, trees of 300 rows", SCIKIT_LEARN, None),
        ("soft predict_proba, trees of 300 rows", SCIKIT_LEARN, None),
        ("memory, 2 classes", SCIKIT_LEARN, "<= 50%"),
        ("memory, 2 classes, soft vote", SCIKIT_LEARN, "<= 50%"),
        ("memory, 3 classes", SCIKIT_LEARN, "<= 50%"),
        ("memory, 3 classes, soft vote", SCIKIT_LEARN, "<= 50%"),
        ("memory, regression", SCIKIT_LEARN, "<= 50%"),
        ("memory, regression, own trees", SCIKIT_LEARN, "<= 50%"),
        ("memory, regression, 5 a leaf", SCIKIT_LEARN, "<= 50%"),
        ("memory, regression, 5 a leaf, own trees", SCIKIT_LEARN, "<= 50%"),
        ("growth with rows", None, "<= 1.3"),
        ("growth with members", None, "0.8-1.25"),
    ]
    fitted = lines[:4]
    first, *others = [line["detail"]["trees_compared"] for line in fitted]
    assert 1 <= first <= 10
    assert others == [10, 10, 10]
    assert all(0.1 < line["detail"]["test_error"] < 0.75 for line in fitted)
    assert all("test error with" in line["notes"][0] for line in fitted)
    assert all(line["ratio"] > 0 for line in lines[:7])
    assert all(line["figure"] > 0 for line in lines)


def test_every_peer_that_predicts_must_be_beaten_or_matched(monkeypatch, waveform):
    def other(name):
        one = contestants.of_scikit_learn(RandomForestClassifier)
        return contestants.replace(one, name=name)

    ours = contestants.of_orfeon(orfeon.RandomForestClassifier)
    monkeypatch.setattr(
        contestants, "random_forest", lambda: [ours, other(SCIKIT_LEARN), other(YDF), other(INTEL)]
    )
    size = ensembles.Size(problems.waveform, 300, 10)
    effort = ensembles.Effort((size,), n_queried=5, n_rows_predicted=400, rounds=1)
    lines = ensembles.predicting("predict, trees of 300 rows", size, effort)
    assert [(line.case.split(",")[0], line.peer, str(line.target)) for line in lines] == [
        ("predict", SCIKIT_LEARN, "None"),
        ("predict", YDF, ">= 1x"),
        ("predict", INTEL, ">= 1x"),
        ("predict_proba", SCIKIT_LEARN, "None"),
        ("predict_proba", YDF, ">= 1x"),
        ("predict_proba", INTEL, ">= 1x"),
        ("soft predict_proba", SCIKIT_LEARN, "None"),
        ("soft predict_proba", INTEL, ">= 1x"),
    ]
    assert {(line.n, line.d) for line in lines} == {(400, 21)}


def test_absent_peers_of_ensembles_are_said_and_left_out(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    suite = ensembles.suite(quick=True)
    assert list(suite.notices)[:2] == [
        "ydf is not installed (ydf): left out.",
        "Intel's extension is not installed (sklearnex): left out.",
    ]
    assert [one.name for one in contestants.bagging()] == ["orfeon", SCIKIT_LEARN]


def test_the_full_form_has_all_sizes_and_the_quick_one_the_small_ones():
    names = {quick: [case.name for case in ensembles.suite(quick).cases] for quick in (0, 1)}
    for method in ("bagging", "random forest", "extra trees"):
        full = [name.split(", ")[-1] for name in names[0] if name.startswith(method)]
        assert full == ["300 rows", "5000 rows", "50000 rows", "100000 rows"]
        quick = [name.split(", ")[-1] for name in names[1] if name.startswith(method)]
        assert quick == ["300 rows", "5000 rows"]
    assert "class-switching, 1000 trees" in names[0]
    assert {"bagging, 20 trees, 50000 rows", "random forest, 40 trees, 50000 rows"} < set(names[0])
    assert "predict, trees of 50000 rows" in names[0]


# -- memory ------------------------------------------------------------------------------------


def test_all_arrays_of_a_forest_count_once_wherever_they_are():
    shared = np.zeros(4)
    thing = SimpleNamespace(a=np.zeros(3), b=(shared, (np.zeros(2, np.uint16),)), c=shared, d=7)
    assert model_size.forest_bytes(thing) == 24 + 32 + 4


def test_a_grown_forest_takes_what_it_says_and_then_what_predictions_keep():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 3
    forest = orfeon.RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y).forest_
    assert model_size.forest_bytes(forest) == forest.nbytes
    forest.mean_supports(X)
    assert model_size.forest_bytes(forest) >= forest.nbytes


def test_scikit_learns_nodes_take_64_bytes_and_8_for_each_output():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 3
    classifier = RandomForestClassifier(4, random_state=0).fit(X, y)
    regressor = ExtraTreesRegressor(4, random_state=0).fit(X, y)
    for ensemble, size in ((classifier, 64 + 3 * 8), (regressor, 64 + 8)):
        n_nodes = sum(tree.tree_.node_count for tree in ensemble.estimators_)
        assert model_size.scikit_learn_bytes(ensemble) == size * n_nodes


def test_memory_is_a_share_of_scikit_learns():
    hard, soft = model_size.classification("memory", problems.twonorm, 3)
    assert 0.2 < hard.figure <= soft.figure < 0.6
    assert hard.figure == hard.detail["bytes_per_node"] / (64 + 2 * 8)
    assert (hard.unit, hard.peer, soft.case) == ("share", SCIKIT_LEARN, "memory, soft vote")


def test_memory_is_that_of_the_same_trees_and_of_own_ones():
    for least in (1, 5):
        same, own = model_size.regression("memory", 3, least)
        assert (same.case, own.case) == ("memory", "memory, own trees")
        assert same.detail["nodes"] == same.detail["peer_nodes"]
        if least == 1:
            assert own.detail["nodes"] / own.detail["peer_nodes"] == pytest.approx(1, abs=0.05)
        assert 0.2 < same.figure < own.figure + 0.001 < 0.6
        assert "bytes a node" in own.notes[0]


# -- growth ------------------------------------------------------------------------------------


@pytest.fixture
def seconds(monkeypatch):
    """Say what each size takes instead of timing it."""

    def say(answers):
        def timings(works, rounds):
            return {size: Timing((answers(size),), cores=1.0) for size in works}

        monkeypatch.setattr(cost_growth, "time_by_size", timings)

    return say


def test_time_like_n_log_n_has_no_growth_and_time_like_n_squared_has(seconds):
    run = partial(cost_growth.with_rows, "growth with rows", (2000, 4000, 8000), 5, 1)
    seconds(lambda n: 1e-6 * n * np.log(n))
    [line] = run()
    assert (line.figure, line.is_met) == (pytest.approx(1.0), True)
    seconds(lambda n: 1e-9 * n**2)
    [line] = run()
    assert line.figure == pytest.approx(16 / (4 * np.log(8000) / np.log(2000)))
    assert line.is_met is False
    assert line.notes == [
        "growth with rows: time of 5 trees over N log N at N: 2000 1.00, 4000 1.83, 8000 3.38."
    ]


def test_growth_with_members_is_relative_to_the_second_size(seconds):
    run = partial(cost_growth.with_members, "growth with members", (50, 100, 800), 1)
    seconds(lambda n: 0.05 + 0.001 * n)
    [line] = run()
    assert line.figure == pytest.approx(0.85 / 0.15 / 8)
    assert line.is_met is False
    seconds(lambda n: 0.001 * n)
    assert run()[0].is_met is True
    seconds(lambda n: 1e-6 * n**2)
    assert run()[0].figure == pytest.approx(8.0)
