import json
import warnings
from functools import partial

import numpy as np
import pytest
from benchmarks import boosting, boosting_peers
from benchmarks.__main__ import main
from benchmarks.boosting_peers import contradicting_clusters, two_clusters
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.ensembles import Fitting
from benchmarks.report import Measurement, Target

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
def test_contradicting_examples_are_the_same_but_for_their_label(rounded):
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
        return boosting._told(line, *fittings, test, boosting.ERROR)

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


# -- the command line --------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    some = {300: 5}
    effort = boosting.Effort(some, some, some, n_asked=5, n_rows_asked=300, rounds=1)
    monkeypatch.setattr(boosting, "QUICK", effort)


def test_the_suite_runs_from_the_command_line_to_the_json_file(tiny, tmp_path):
    file = tmp_path / "lines.json"
    assert main(["boosting", "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["case"], line["peer"], line["target"]) for line in lines] == [
        ("AdaBoost, stumps, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, depth 5, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, full trees, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, few values, 300 rows", SCIKIT_LEARN, ">= 12x"),
        ("AdaBoost, one round, 300 rows", SCIKIT_LEARN, None),
        ("predict, AdaBoost, stumps", SCIKIT_LEARN, None),
        ("predict, AdaBoost, depth 5", SCIKIT_LEARN, None),
    ]
    assert [line["detail"]["rounds_compared"] for line in lines[:5]] == [5, 5, 5, 5, 1]
    assert [line["detail"]["rounds_run"] for line in lines[:5]] == [5, 5, 5, 5, 1]
    assert [line["detail"]["peer_rounds_run"] for line in lines[:5]] == [5, 5, 5, 5, 1]
    assert all(0.05 < line["detail"]["loss"] < 0.5 for line in lines[:5])
    assert all(line["ratio"] > 0 for line in lines)
    assert all(line["n"] == 300 for line in lines)


def test_the_full_form_has_all_sizes_and_the_quick_one_the_small_ones():
    names = {quick: [case.name for case in boosting.suite(quick).cases] for quick in (0, 1)}
    for kind in (*ADABOOST, "one round"):
        for quick, sizes in ((0, ["300", "5000", "50000"]), (1, ["300", "5000"])):
            found = [name for name in names[quick] if name.startswith(f"AdaBoost, {kind}, ")]
            assert found == [f"AdaBoost, {kind}, {size} rows" for size in sizes]
    assert {name for name in names[0] if name.startswith("predict")} == {
        "predict, AdaBoost, stumps",
        "predict, AdaBoost, depth 5",
    }
    longest = partial(max, key=len)
    assert len(longest(names[0])) <= 39  # the width of the table's first column
