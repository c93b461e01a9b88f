import gc
import importlib.util
import io
import json
import sys
import time
import types
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import benchmarks
import numpy as np
import pytest
from benchmarks import (
    forest_scale,
    one_fit,
    one_forest,
    peers,
    problems,
    scale,
    start,
    trees,
)
from benchmarks.__main__ import main
from benchmarks.conversion import _breadth_first, from_scikit_learn
from benchmarks.report import Measurement, Table, Target, compare
from benchmarks.sklearn_pruning import (
    _cut_prices,
    cross_validated_tree,
    predictions_by_own_pruning,
)
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, Timing, interleave, one_thread
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier
from tests.programs import load
from threadpoolctl import threadpool_info

from orfeon import BaggingClassifier, BaggingRegressor
from orfeon.datasets import make_friedman1
from orfeon.forest import PER_NODE

pytestmark = pytest.mark.tools

# -- timing ------------------------------------------------------------------------------------


def test_contenders_take_turns_after_one_warm_up_that_is_not_counted():
    calls = []
    contenders = [
        Contender(name, lambda name=name: calls.append(name), warm_up=lambda: calls.append("warm"))
        for name in "ab"
    ]
    timings = interleave(contenders, rounds=3, least_seconds=0.0)
    assert calls == ["warm", "warm", "a", "b", "b", "a", "a", "b"]
    assert [len(timings[name].rounds) for name in "ab"] == [3, 3]


def test_the_warm_up_is_the_work_itself_unless_another_is_given():
    calls = []
    interleave([Contender("a", lambda: calls.append("work"))], rounds=5, least_seconds=0.0)
    assert calls == ["work"] * 6


def test_seconds_are_the_median_of_the_rounds_and_the_spread_is_their_range():
    timing = Timing((0.4, 0.1, 0.2, 9.0, 0.3), cores=1.0)
    assert timing.seconds == 0.3
    assert timing.spread == pytest.approx(8.9 / 0.3)


def test_a_pause_takes_its_time_and_no_processor():
    timing = interleave([Contender("pause", lambda: time.sleep(0.02))], rounds=3)["pause"]
    assert 0.02 <= timing.seconds < 0.2
    assert timing.cores < 0.5


def test_a_tenth_of_the_work_counts_ten_times():
    whole = Contender("whole", lambda: time.sleep(0.01))
    tenth = Contender("tenth", lambda: time.sleep(0.01), factor=10.0)
    timings = interleave([whole, tenth], rounds=3, least_seconds=0.0)
    assert 5 < timings["tenth"].seconds / timings["whole"].seconds < 20


def test_short_calls_are_repeated_within_a_round():
    calls = []
    timing = interleave([Contender("a", lambda: calls.append(1))], rounds=1, least_seconds=0.005)
    assert len(calls) > 100
    assert timing["a"].seconds < 0.005 / 50


def test_garbage_collection_is_off_during_a_timing_and_on_again_after_an_error():
    seen = []

    def work():
        seen.append(gc.isenabled())
        raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        interleave([Contender("a", work, warm_up=lambda: None)])
    assert seen == [False]
    assert gc.isenabled()


def test_objects_are_frozen_during_a_comparison_and_stay_so_only_if_they_were():
    seen = []
    contender = Contender("a", lambda: seen.append(gc.get_freeze_count()), warm_up=lambda: None)
    gc.unfreeze()
    interleave([contender], rounds=1)
    assert gc.get_freeze_count() == 0
    gc.freeze()
    interleave([contender], rounds=1)
    assert gc.get_freeze_count() > 0
    assert min(seen) > 0


def test_thread_pools_are_held_to_one_thread():
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}


def test_no_rounds_and_equal_names_are_refused():
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        interleave([], rounds=0)
    with pytest.raises(ValueError, match="different names, got a, a"):
        interleave([Contender("a", int), Contender("a", int)])


# -- report ------------------------------------------------------------------------------------


def _comparison(peer_seconds):
    timings = {
        "orfeon": Timing((0.5, 0.4, 0.6), cores=1.0),
        "peer": Timing((peer_seconds,), cores=1.0, factor=10.0),
    }
    return compare("sorting", (300, 21), timings, targets={"peer": Target("at least", 12, "x")})


def test_the_ratio_is_that_of_the_medians_and_is_held_against_the_target():
    [good], [bad] = _comparison(7.0), _comparison(5.0)
    assert (good.ratio, good.is_met) == (14.0, True)
    assert (bad.ratio, bad.is_met) == (10.0, False)


def test_scaled_work_stolen_cores_and_extra_threads_are_said():
    assert _comparison(7.0)[0].notes == ["peer did 1/10 of the work; its time was scaled up."]
    timings = {"orfeon": Timing((1.0,), cores=0.5), "peer": Timing((1.0,), cores=1.9)}
    first, second = compare("sorting", (1, 1), timings)[0].notes
    assert first == "orfeon got only 50% of the time of a core: the machine was busy."
    assert second == "peer used 1.9 cores, more than the 1 requested."


def test_nothing_is_said_of_the_cores_that_other_processes_used():
    contender = Contender("peer", lambda: time.sleep(0.01), in_processes=True)
    theirs = interleave([contender], rounds=1)["peer"]
    assert theirs.cores is None
    [line] = compare("sorting", (1, 1), {"orfeon": Timing((1.0,), cores=1.0), "peer": theirs})
    assert list(line.notes) == []
    assert json.loads(line.as_json(quick=True))["detail"]["peer_cores"] is None


def test_a_json_line_has_the_case_the_figures_and_where_they_are_from():
    line = json.loads(_comparison(7.0)[0].as_json(quick=True))
    assert line["case"] == "sorting"
    assert line["peer"] == "peer"
    assert (line["n"], line["d"]) == (300, 21)
    assert (line["seconds"], line["peer_seconds"], line["ratio"]) == (0.5, 7.0, 14.0)
    assert (line["target"], line["ok"], line["quick"]) == (">= 12x", True, True)
    assert line["spread"] == pytest.approx(0.4)
    assert line["machine"]["cores"] >= 1
    assert {"python", "orfeon", "numpy", "scikit-learn"} <= set(line["versions"])
    assert line["date"].endswith("+00:00")


def test_the_table_is_aligned_and_says_misses_and_each_note_once():
    lines = []
    table = Table(lines.append)
    for measurement in _comparison(5.0) + _comparison(7.0):
        table.add(measurement)
    header, rule, miss, note, hit = lines
    assert len({len(line) for line in (header, rule, miss, hit)}) == 1
    assert miss.endswith("10x    >= 12x MISS")
    assert hit.endswith("14x    >= 12x   ok")
    assert note == "    peer did 1/10 of the work; its time was scaled up."


def test_a_limit_itself_is_allowed():
    assert Target("at most", 1.5, "GB").is_met(1.5)
    assert not Target("at most", 1.5, "GB").is_met(1.51)
    assert str(Target("at most", 0.1, "ms")) == "<= 0.1 ms"
    assert str(Target("at most", 0.5, "share")) == "<= 50%"


def test_a_target_may_have_limits_on_both_sides():
    target = Target("from", 0.8, "ratio", 1.25)
    assert [target.is_met(figure) for figure in (0.79, 0.8, 1.25, 1.26)] == [0, 1, 1, 0]
    assert str(target) == "0.8-1.25"
    with pytest.raises(ValueError, match="bound='from' and upper=None"):
        Target("from", 0.8, "ratio")


# -- what is compared --------------------------------------------------------------------------


def test_bootstrap_counts_sum_to_the_rows_and_miss_a_third_of_them():
    counts = problems.bootstrap_counts(1000, 20)
    assert (counts.sum(axis=1) == 1000).all()
    assert abs((counts == 0).mean() - np.exp(-1)) < 0.01


def test_exactly_the_asked_share_of_labels_is_switched():
    data = problems.waveform()
    wrong = (problems.switched_labels(data, 7) != data.y).sum(axis=1)
    assert wrong.tolist() == [120] * 7  # 0.6 x 2/3 of 300


def test_all_libraries_see_the_same_numbers():
    data = problems.clusters(200, 10)
    assert np.array_equal(data.narrow.astype(np.float64), data.X)
    assert np.array_equal(np.column_stack(list(data.columns.values())), data.narrow)
    assert data.n_classes == 3


def test_a_test_set_is_of_the_same_problem_and_has_other_rows():
    training, test = problems.with_test(partial(problems.clusters, n_features=10), 400, 300)
    assert (training.shape, test.shape) == ((400, 10), (300, 10))
    assert not set(training.X[:, 0]) & set(test.X[:, 0])
    tree = DecisionTreeClassifier(random_state=0).fit(training.X, training.y)
    assert tree.score(test.X, test.y) > 0.55  # a third by chance


@pytest.mark.parametrize("perturb", [trees.bagged, trees.switched])
def test_orfeon_and_scikit_learn_do_the_same_work(perturb):
    data = problems.waveform()
    perturbed = perturb(data, 20)
    ours = trees.grow_orfeon(data, perturbed).n_leaves.mean()
    theirs = np.mean([tree.get_n_leaves() for tree in trees.grow_scikit_learn(data, perturbed)])
    assert abs(ours / theirs - 1) < 0.02


def test_a_converted_forest_predicts_as_scikit_learns_own():
    training, data = problems.clusters(400, 10), problems.clusters(1000, 10, seed=1)
    # Leaves of several classes: both class shares and votes must be carried over.
    theirs = RandomForestClassifier(15, max_depth=4, random_state=0)
    theirs.fit(training.narrow, training.y)
    ours = from_scikit_learn(theirs)
    assert len(ours) == 15
    assert np.allclose(ours.mean_supports(data.X), theirs.predict_proba(data.narrow), atol=1e-12)
    for votes, tree in zip(ours.votes(data.X), theirs.estimators_, strict=True):
        assert np.array_equal(votes, tree.predict(data.narrow))
    assert ours.n_nodes.tolist() == [tree.tree_.node_count for tree in theirs.estimators_]


@pytest.mark.parametrize("least", [1, 5])
def test_a_converted_regression_forest_predicts_and_knows_as_scikit_learns_own(least):
    X, y = make_friedman1(300, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    theirs = RandomForestRegressor(15, min_samples_leaf=least, random_state=0).fit(X, y)
    ours = from_scikit_learn(theirs)
    assert ours.n_classes == 0
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    for t, tree in enumerate(theirs.estimators_):
        of_tree = slice(ours.tree_start[t], ours.tree_start[t + 1])
        order = _breadth_first(tree.tree_)
        assert np.allclose(ours.impurity[of_tree], tree.tree_.impurity[order], atol=1e-8)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_converted_forest_has_the_arrays_of_one_that_orfeon_grew(n_classes):
    X, y = make_friedman1(200, random_state=0)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    pairs = {
        False: (RandomForestRegressor, BaggingRegressor),
        True: (RandomForestClassifier, BaggingClassifier),
    }
    theirs, ours = (kind(n_estimators=5).fit(X, y) for kind in pairs[n_classes > 0])
    converted, grown = from_scikit_learn(theirs), ours.forest_
    for name in (*PER_NODE, "nodes", "leaf_impurity", "tree_start", "n_categories"):
        one, other = getattr(converted, name), getattr(grown, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            assert one.shape[1:] == other.shape[1:]
            if name != "leaf_impurity":  # empty where all leaves are pure to the last bit
                assert (len(one) == 0) == (len(other) == 0)


def test_own_pruning_has_scikit_learns_breakpoints():
    data = problems.waveform()
    tree = DecisionTreeClassifier(random_state=0)
    expected = tree.cost_complexity_pruning_path(data.narrow, data.y).ccp_alphas[1:]
    cut = _cut_prices(tree.fit(data.narrow, data.y).tree_)
    found = np.unique(cut[np.isfinite(cut)].round(12))
    assert np.allclose(found, np.unique(expected.round(12)), atol=1e-9)


def test_both_ways_to_cross_validate_with_scikit_learn_take_the_same_tree():
    data = problems.waveform()
    weights = problems.bootstrap_counts(300, 1)[0].astype(np.float64)
    refitted = cross_validated_tree(data.narrow, data.y, weights)
    pruned = cross_validated_tree(
        data.narrow, data.y, weights, fold_predictions=predictions_by_own_pruning
    )
    assert 2 <= refitted.get_n_leaves() < 27
    assert refitted.get_n_leaves() == pruned.get_n_leaves()
    assert np.array_equal(refitted.predict(data.narrow), pruned.predict(data.narrow))


# -- peers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.name)
def test_a_peer_learns_and_predicts(peer):
    if not peer.is_installed:
        pytest.skip(f"{peer.package} is not installed")
    data = problems.clusters(300, 10)
    for max_features in (None, 3):
        model = peer.train(data, 10, max_features)
        shares = peer.predict_proba(model, data)
        assert shares.shape == (300, 3)
        assert (np.argmax(shares, axis=1) == data.y).mean() > 0.9
        assert (np.argmax(shares, axis=1) == peer.predict(model, data)).mean() > 0.98


def test_absent_peers_are_said_in_one_line_each_and_left_out(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    suite = trees.suite(quick=True)
    assert list(suite.notices) == [
        "ydf is not installed (ydf): left out.",
        "Intel's extension is not installed (sklearnex): left out.",
        "LightGBM rf is not installed (lightgbm): left out.",
    ]
    assert len(suite.cases) >= 13


# -- the command line --------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    effort = trees.Effort(n_trees=5, n_pruned=2, n_rows=500, rounds=1)
    monkeypatch.setattr(trees, "QUICK", effort)
    monkeypatch.setattr(trees, "installed_peers", list)


def test_a_case_runs_from_the_command_line_to_the_json_file(tiny, tmp_path, capsys):
    file = tmp_path / "lines.json"
    cases = ("bagged trees, waveform", "switched trees, twonorm", "CART", "cross", "predict with")
    chosen = [word for case in cases for word in ("--case", case)]
    assert main(["trees", "--quick", "--json", str(file), *chosen]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["case"], line["peer"]) for line in lines] == [
        ("5 bagged trees, waveform", "scikit-learn"),
        ("5 switched trees, twonorm", "scikit-learn"),
        ("2 cross-validated bagged trees", "scikit-learn, ccp_alpha"),
        ("2 cross-validated bagged trees", "scikit-learn, own pruning"),
        ('CARTClassifier(pruning="cv").fit', "scikit-learn, ccp_alpha"),
        ('CARTClassifier(pruning="cv").fit', "scikit-learn, own pruning"),
        ("CARTClassifier().fit", "scikit-learn"),
        ("predict with 5 trees", "scikit-learn"),
        ("predict_proba with 5 trees", "scikit-learn"),
        ("CARTClassifier.predict, one row", None),
        ("CARTClassifier.predict, one row", "scikit-learn"),
    ]
    assert all(line["ratio"] > 0 for line in lines if line["peer"])
    assert all(line["seconds"] > 0 and line["quick"] for line in lines)
    assert f"11 JSON lines are in {file}." in capsys.readouterr().out


def test_large_data_time_a_tenth_of_scikit_learns_trees_and_say_so(tiny, monkeypatch):
    monkeypatch.setattr(trees, "_LARGE", 100)
    effort = trees.Effort(n_trees=20, rounds=1)
    [line] = trees.growing("large", problems.waveform, trees.bagged, effort)
    assert "scikit-learn did 1/10 of the work; its time was scaled up." in line.notes
    assert line.ratio is not None
    assert line.ratio > 0


def test_two_threads_are_compared_with_one(monkeypatch):
    monkeypatch.setattr(trees, "FULL", trees.Effort(n_trees=4))
    [line] = trees.two_threads("two", trees.Effort(rounds=1))
    assert line.peer == "orfeon, 1 thread"
    assert str(line.target) == ">= 1.7x"
    assert line.figure > 0


@pytest.fixture
def missing_its_target(monkeypatch):
    """A suite of one case that misses its target."""
    missed = Measurement("case", 1, 1, 11.0, "x", target=Target("at least", 12, "x"))
    module = types.ModuleType("benchmarks.missed")
    module.suite = lambda quick: Suite([Case("case", lambda: [missed])], ["One notice."])
    monkeypatch.setitem(sys.modules, "benchmarks.missed", module)
    monkeypatch.setitem(benchmarks.SUITES, "missed", "benchmarks.missed")


def test_only_strict_runs_fail_on_a_miss(missing_its_target, capsys):
    assert main(["missed"]) == 0
    printed = capsys.readouterr().out
    assert "One notice." in printed
    assert "MISS" in printed
    assert json.loads(printed.splitlines()[-2])["ok"] is False
    assert printed.splitlines()[-1] == "0 of 1 targets are met."
    assert main(["missed", "--strict"]) == 1


def test_unknown_cases_are_refused_with_those_there_are(missing_its_target):
    with pytest.raises(SystemExit, match="'nothing' matches no case; there are: case"):
        main(["missed", "--case", "nothing"])


def test_every_suite_lists_its_cases(capsys):
    for name in benchmarks.SUITES:
        assert main([name, "--list"]) == 0
    assert {"first bag", "300 classes", "200 bagged trees, waveform"} <= set(
        capsys.readouterr().out.splitlines()
    )


# -- start and scale ---------------------------------------------------------------------------


def test_the_first_script_fits_predicts_and_says_its_times():
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(start._SCRIPT, {})
    parts = json.loads(printed.getvalue())
    assert set(parts) == {"import", "fit", "predict", "processor"}
    assert min(parts.values()) > 0


def test_the_warm_start_uses_the_cache_that_the_cold_one_filled(monkeypatch):
    caches = []
    answers = iter([20.0, 9.0, 1.0, 1.2, 1.4])

    def fresh_process(cache):
        caches.append((cache, Path(cache).is_dir()))
        return next(answers), {"import": 0.5, "fit": 0.4, "predict": 0.1, "processor": 1.0}

    monkeypatch.setattr(start, "_fresh_process", fresh_process)
    cold, warm = start.first_bag(3)
    assert len(set(caches)) == 1
    assert caches[0][1]
    assert (cold.figure, cold.is_met) == (20.0, False)
    assert (warm.figure, warm.is_met) == (1.2, True)  # 9 s was the warm-up


@pytest.mark.parametrize("library", ["orfeon", "scikit-learn"])
def test_one_fit_measures_time_and_memory(library, capsys):
    one_fit.main([library, "200", "5", "3"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["seconds"] > 0
    assert 3 <= answer["leaves"] <= 100
    if "before" in answer:
        assert 0 < answer["before"] <= answer["peak"]


@pytest.mark.parametrize("name", start.FAMILIES)
def test_the_first_fit_of_every_family_is_measured(name, monkeypatch):
    output = io.StringIO()

    def fresh_process(cache, script):
        with redirect_stdout(output):
            exec(script, {})
        return 9.0, json.loads(output.getvalue())

    monkeypatch.setattr(start, "_fresh_process", fresh_process)
    [line] = start.first_fit(name)
    assert (line.case, line.figure, line.is_met) == (f"first fit, {name}", 9.0, False)
    assert "fit" in line.notes[0]


@pytest.fixture
def large_forests(monkeypatch):
    """The lines of a case of forests, from seconds and memory that are given."""

    def fit(library, method, n_rows, n_trees, n_threads):
        seconds = n_trees * {"orfeon": 1.0, "scikit-learn": 5.0}.get(library, 1.5)
        peak = 9e8 if library == "orfeon" else 1e9
        return {
            "seconds": seconds / (1 + 0.8 * (n_threads - 1)), "cores": float(n_threads),
            "error": 0.1, "before": 5e8, "peak": peak,
        }  # fmt: skip

    monkeypatch.setattr(forest_scale, "_fit", fit)
    trees = {"orfeon": 8, "scikit-learn": 2, "Intel's extension": 8}
    monkeypatch.setattr(forest_scale, "_libraries", lambda: list(trees))
    return lambda method, n_threads: forest_scale.large_forest(
        "size", method, 200_000, trees, 2, n_threads
    )


def test_large_forests_are_held_against_peers_memory_and_threads(large_forests):
    sklearn, intel, memory = large_forests("forest", 1)
    assert (sklearn.peer, sklearn.figure, sklearn.target) == ("scikit-learn", 5.0, None)
    assert "scikit-learn did 1/4 of the work; its time was scaled up." in sklearn.notes
    assert (intel.peer, intel.figure, intel.is_met) == ("Intel's extension", 1.5, False)
    assert (memory.figure, memory.is_met) == (pytest.approx(0.9), True)
    sklearn, _, memory, threads = large_forests("extra-trees", 2)
    assert sklearn.is_met
    assert (threads.figure, threads.is_met) == (pytest.approx(1.8), True)


def test_one_forest_reports_its_error_and_memory():
    found = one_forest.measure("orfeon", "forest", 300, 2, 1)
    assert found["seconds"] > 0
    assert 0 < found["error"] < 0.5
    assert found.get("peak", 2) >= found.get("before", 1)


def test_an_unknown_library_of_forests_is_named():
    with pytest.raises(ValueError, match="library='ydf' is not known"):
        one_forest.measure("ydf", "forest", 300, 2, 1)


def test_the_classes_of_the_scale_problems_are_even():
    _, y = one_fit.make_data(3000, 4, 300)
    counts = np.bincount(y)
    assert len(counts) == 300
    assert counts.min() >= 5


def test_memory_is_held_against_its_target(monkeypatch):
    def fit(library, *sizes):
        return {"seconds": 2.0, "cores": 1.0, "leaves": 9.0, "before": 1.1e9, "peak": 1.6e9}

    monkeypatch.setattr(scale, "_fit", fit)
    memory = Target("at most", 1.5, "GB")
    time_line, memory_line = scale.one_tree("many rows", 1000, 20, 2, 3, memory)
    assert time_line.figure == 1.0
    assert "memory of the fit itself 500 MB" in time_line.notes[0]
    assert (memory_line.figure, memory_line.unit, memory_line.is_met) == (1.6, "GB", False)


# -- the quick start ---------------------------------------------------------------------------


def test_the_quick_start_prints_errors_above_the_best_possible(capsys):
    load("quick_start").compare_methods("twonorm")
    printed = capsys.readouterr().out
    assert "no method can have an error below 2.3%" in printed
    errors = {
        line[2:42].strip(): float(line[42:53].strip(" %"))
        for line in printed.splitlines()
        if line.startswith(("  orfeon", "  scikit-learn"))
    }
    assert len(errors) == 8
    assert all(2.0 < error < 30.0 for error in errors.values())
    for method in ("bagging", "random forest"):
        ours, theirs = (errors[f"{library}: {method}"] for library in ("orfeon", "scikit-learn"))
        assert ours < errors["orfeon: one tree"] / 2
        assert abs(ours - theirs) < 1.5
    assert errors["orfeon: class-switching"] < errors["orfeon: one tree"] / 2
