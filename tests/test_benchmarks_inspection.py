import importlib.util
import json
import subprocess
import sys
from functools import partial
from itertools import combinations
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from benchmarks import combining, inspection, inspection_peers
from benchmarks.__main__ import main
from benchmarks.inspection_peers import MEASURES, PEERS, by_deslib, by_masks, by_scikit_learn
from benchmarks.report import Measurement

from orfeon import BaggingClassifier
from orfeon.datasets import Circle
from orfeon.rules.rule import rules_for

pytestmark = pytest.mark.tools

SKLEARN_PAIRS = "scikit-learn, pair by pair"
ASKED = "scikit-learn's predict_proba"
FOLDS = ("cv=5, the same forest", "cv=5, scikit-learn's forest")

#: Two members of three classes: both right on 2 of 8, one alone on 2 and 1, neither on 3.
Y = np.array([0, 1, 2, 0, 1, 2, 0, 1])
PAIR = np.array([[0, 1, 2, 0, 0, 0, 1, 2], [0, 1, 1, 2, 1, 1, 1, 0]], np.int32)
# Together they vote (0, 0), (1, 1), (2, 1), (0, 2), (0, 1), (0, 1), (1, 1), (2, 0).
OF_PAIR = {
    "q_statistic": (2 * 3 - 2 * 1) / (2 * 3 + 2 * 1),
    "correlation": (2 * 3 - 2 * 1) / (4 * 4 * 3 * 5) ** 0.5,
    "disagreement": 3 / 8,
    "double_fault": 3 / 8,
    "kappa": (3 / 8 - (4 * 2 + 2 * 5 + 2 * 1) / 64) / (1 - (4 * 2 + 2 * 5 + 2 * 1) / 64),
}


# -- pairs of members --------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [by_masks, by_scikit_learn])
def test_peers_measure_a_pair_as_by_hand(measure):
    values = measure(PAIR, Y)
    assert tuple(values) == MEASURES
    for name, expected in OF_PAIR.items():
        assert values[name] == [pytest.approx(expected, abs=1e-12)]


def test_peers_and_orfeon_agree_on_every_pair():
    votes, y = inspection.unseen_votes(12, 400)
    ours = inspection.measure_pairs(votes, y)
    for measure in (by_masks, by_scikit_learn):
        values = measure(votes, y)
        for name, matrix in ours.items():
            pairs = [matrix[i, k] for i, k in combinations(range(12), 2)]
            assert values[name] == pytest.approx(pairs, abs=1e-12)


def test_a_peer_that_measures_something_else_is_refused():
    matrices = inspection.measure_pairs(PAIR, Y)
    inspection.check_pairs(matrices, 2, PEERS[0], {"double_fault": [0.375]})
    with pytest.raises(AssertionError, match="NumPy, pair by pair has another double_fault"):
        inspection.check_pairs(matrices, 2, PEERS[0], {"double_fault": [0.376]})


def test_deslib_is_a_peer_where_it_is_installed(monkeypatch):
    [deslib] = [peer for peer in PEERS if peer.package == "deslib"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not deslib.is_installed

    def of_four(measure):
        def function(y, first, second):
            a, b = first == y, second == y
            return measure(*(np.sum(c) for c in (a & b, a & ~b, ~a & b, ~a & ~b)))

        return function

    functions = ModuleType("deslib.util.diversity")
    functions.Q_statistic = of_four(lambda a, b, c, d: (a * d - b * c) / (a * d + b * c))
    functions.correlation_coefficient = of_four(
        lambda a, b, c, d: (a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    )
    functions.disagreement_measure = of_four(lambda a, b, c, d: (b + c) / (a + b + c + d))
    functions.double_fault = of_four(lambda a, b, c, d: d / (a + b + c + d))
    for name in ("deslib", "deslib.util"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, functions.__name__, functions)
    values = by_deslib(PAIR, Y)
    assert values == {name: [pytest.approx(OF_PAIR[name])] for name in MEASURES[:-1]}


def test_diversity_is_held_to_five_seconds_and_peers_to_as_many_pairs():
    lines = inspection.pair_diversity("pairs", (40, 500), 4, 1)
    assert [(line.peer, str(line.target)) for line in lines] == [
        (None, "<= 5 s"),
        ("NumPy, pair by pair", "None"),
        (SKLEARN_PAIRS, "None"),
        (None, "None"),
    ]
    assert {(line.n, line.d) for line in lines} == {(40, 500)}
    assert [line.case for line in lines] == ["pairs", "pairs", "pairs", "pairs, ten measures"]
    against = lines[2]
    assert (against.detail["pairs"], against.detail["pairs_compared"]) == (780, 6)
    assert f"{SKLEARN_PAIRS} did 1/130 of the work; its time was scaled up." in against.notes
    assert against.figure == pytest.approx(against.peer_seconds / against.seconds)
    assert 0.1 < against.detail["kappa"] < 0.8
    assert f"kappa {against.detail['kappa']:.3f}." in lines[0].notes[0]


def test_votes_are_on_samples_that_the_trees_have_not_seen():
    votes, y = inspection.unseen_votes(5, 2000)
    assert votes.shape == (5, 2000)
    assert 0.2 < np.mean(votes != y) < 0.4


# -- maps --------------------------------------------------------------------------------------


def test_three_labels_in_ten_of_the_circle_are_wrong():
    data = inspection.noisy_circle(20_000)
    assert np.mean(Circle().predict(data.X) != data.y) == pytest.approx(0.3, abs=0.012)
    assert np.array_equal(data.X, data.narrow)
    assert (data.X.min() >= 0, data.X.max() <= 1) == (True, True)


def test_the_peer_is_asked_about_the_points_of_the_map_row_by_row():
    points = inspection.grid(4)
    assert points.dtype == np.float32
    assert points[:5].tolist() == [
        [0.0, 0.0],
        [pytest.approx(1 / 3), 0.0],
        [pytest.approx(2 / 3), 0.0],
        [1.0, 0.0],
        [0.0, pytest.approx(1 / 3)],
    ]
    assert len(points) == 16


def test_maps_are_held_to_a_second_and_compared_with_asking():
    lines = inspection.maps("map", 300, 3, 60, 50, 1)
    assert [(line.case, line.peer, str(line.target)) for line in lines] == [
        ("map, classes", None, "<= 1 s"),
        ("map, classes", ASKED, "None"),
        ("map, margins", None, "<= 1 s"),
        ("map, margins", ASKED, "None"),
    ]
    assert {(line.n, line.d) for line in lines} == {(50, 50)}
    assert f"{ASKED} did 1/3 of the work; its time was scaled up." in lines[1].notes
    detail = lines[1].detail
    assert (detail["trees"], detail["peer_trees"]) == (60, 20)
    # Trees that learn three wrong labels in ten by heart have a leaf for every four or five rows.
    assert 50 < detail["leaves"] < 90
    assert detail["peer_leaves"] == pytest.approx(detail["leaves"], rel=0.1)
    assert 0.1 < detail["wrong"] < 0.4
    assert detail["peer_wrong"] == pytest.approx(detail["wrong"], abs=0.1)


def test_the_map_that_is_timed_is_what_the_bag_predicts():
    [classes, *_] = inspection.maps("map", 200, 1, 25, 30, 1)
    data = inspection.noisy_circle(200)
    bag = BaggingClassifier(n_estimators=25, random_state=0).fit(data.X, data.y)
    along = np.linspace(0, 1, 30)
    points = np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2)
    wrong = np.mean(bag.predict(points) != Circle().predict(points))
    assert f"{wrong:.1%} of the square is wrong; of the peer" in classes.notes[0]


def test_maps_that_decide_otherwise_are_refused(monkeypatch):
    import orfeon.inspection

    right = orfeon.inspection.margin_map

    def other(*given, **settings):
        return SimpleNamespace(codes=1 - right(*given, **settings).codes)

    monkeypatch.setattr(orfeon.inspection, "margin_map", other)
    with pytest.raises(AssertionError, match="the two maps decide for different classes"):
        inspection.maps("map", 100, 1, 5, 10, 1)


def test_pictures_are_drawn_of_the_same_points():
    pytest.importorskip("matplotlib")
    [line] = inspection.pictures("picture", 300, 30, 40, 1)
    assert line.peer == "DecisionBoundaryDisplay"
    assert (line.n, line.d, line.detail["trees"]) == (40, 40, 30)
    # Three in ten of both pictures are wrong, in the same places; of pictures that were turned or
    # mirrored, two in five would differ.
    assert 0 < line.detail["differ"] < 0.2


# -- the mosaic --------------------------------------------------------------------------------


def test_the_mosaic_is_made_by_the_sample_in_a_process(monkeypatch):
    calls = []

    def run(command, **settings):
        calls.append((command, settings))
        if "--out" in command:
            Path(command[-1]).write_bytes(b"picture")
        return subprocess.CompletedProcess(command, 0, stdout="said")

    monkeypatch.setattr(inspection.subprocess, "run", run)
    assert inspection.make_mosaic("--quick") == "said"
    [(command, settings)] = calls
    assert (command[0], Path(command[1]).name, command[2]) == (
        sys.executable,
        "cover_mosaic.py",
        "--quick",
    )
    assert Path(command[1]).is_file()
    assert settings["check"]
    assert not Path(command[-1]).parent.exists()
    monkeypatch.setattr(inspection, "can_draw", lambda: False)
    inspection.make_mosaic()
    assert len(calls[1][0]) == 2


def test_an_empty_picture_is_refused(monkeypatch):
    monkeypatch.setattr(
        inspection.subprocess, "run", lambda command, **_: Path(command[-1]).write_bytes(b"")
    )
    monkeypatch.setattr(inspection, "can_draw", lambda: True)
    with pytest.raises(AssertionError, match="the picture is empty"):
        inspection.make_mosaic()


def test_the_whole_mosaic_is_held_to_half_a_minute_with_kernels_compiled(monkeypatch):
    queried = []
    monkeypatch.setattr(inspection, "make_mosaic", lambda *options: queried.append(options))
    monkeypatch.setattr(inspection, "can_draw", lambda: True)
    [line] = inspection.mosaic("mosaic", (), 3)
    assert queried == [("--quick",), (), (), ()]
    assert (str(line.target), line.n, line.detail["rounds"]) == ("<= 30 s", 300, 3)
    assert line.notes == ["mosaic: drawn, on all cores."]
    [line] = inspection.mosaic("mosaic", ("--quick",), 1)
    assert (line.target, line.n) == (None, 100)
    assert line.notes[1] == "mosaic: the full form has no --quick, and is held to 30 s."


# -- combination -------------------------------------------------------------------------------


def test_every_rule_is_asked_and_those_that_learn_are_fitted():
    assert combining.rule_names()[0] == "majority"
    assert set(combining.rule_names()) == set(rules_for("classification"))
    assert combining.learning_rules() == ("weighted", "naive_bayes", "model_averaging")


def _is_to_majority(lines: list[Measurement]) -> None:
    plain, *others = lines
    assert (plain.unit, plain.peer, plain.figure) == ("s", None, plain.seconds)
    for line in others:
        assert (line.unit, line.peer, line.target) == ("ratio", "majority", None)
        assert line.peer_seconds == plain.seconds
        assert line.figure == pytest.approx(line.seconds / plain.seconds)


def test_prediction_by_each_rule_is_relative_to_the_majority():
    lines = combining.prediction("predict", 15, 500, 1)
    assert [line.case for line in lines] == [f"predict, {name}" for name in combining.rule_names()]
    _is_to_majority(lines)
    errors = {line.case.partition(", ")[2]: line.detail["error"] for line in lines}
    assert errors["majority"] == errors["plurality"] < 0.3
    assert errors["naive_bayes"] == pytest.approx(errors["majority"], abs=0.05)
    assert f"majority {errors['majority']:.1%}, " in lines[0].notes[0]


def test_learning_is_relative_to_a_plain_fit():
    lines = combining.learning("fit", 150, 40, 1)
    rules = ("majority", "weighted", "naive_bayes", "model_averaging")
    assert [line.case for line in lines] == [f"fit, {name}" for name in rules]
    _is_to_majority(lines)
    assert {(line.n, line.d) for line in lines} == {(150, 21)}
    assert max(line.detail["error"] for line in lines) < 0.4


def test_stacking_is_compared_with_folds_of_the_same_forest_and_of_another():
    lines = combining.stacking("stack", 200, 50, 1)
    assert tuple(line.peer for line in lines) == FOLDS
    errors = lines[0].detail["errors"]
    assert tuple(errors) == ("orfeon", *FOLDS)
    assert max(errors.values()) < 0.25
    assert max(errors.values()) - min(errors.values()) < 0.05
    assert f"orfeon {errors['orfeon']:.1%}" in lines[0].notes[0]


def test_the_stacks_are_of_the_forests_that_are_named():
    data = combining.problems.waveform(200)
    stack = combining.stack_out_of_bag(data, 60)
    assert (stack.cv, len(stack.estimators_[0].estimators_)) == ("out_of_bag", 60)
    folds = combining.stack_by_folds(combining.RandomForestClassifier, data, 10)
    assert (folds.cv, len(folds.estimators_[0].estimators_)) == (5, 10)
    assert type(folds).__module__.startswith("sklearn")
    assert type(folds.estimators_[0]) is type(stack.estimators_[0])


# -- the command line --------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    effort = inspection.Effort(
        votes=(30, 400), n_compared=3, maps=((100, 2),), n_trees=20, n_points=20, n_drawn=5,
        mosaic=("--quick",), rounds=1, mosaic_rounds=1,
        combining=combining.Effort(10, 100, (120,), (150,), n_stacked=40, rounds=1),
    )  # fmt: skip
    monkeypatch.setattr(inspection, "QUICK", effort)
    monkeypatch.setattr(inspection, "make_mosaic", lambda *options: "said")


def test_the_suite_runs_from_the_command_line_to_the_json_file(tiny, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "lines.json"
    assert main(["inspection", "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    rules = [name for name in rules_for("classification") if name != "majority"]
    assert [(line["case"], line["peer"], line["target"]) for line in lines] == [
        ("pairwise diversity", None, "<= 5 s"),
        ("pairwise diversity", "NumPy, pair by pair", None),
        ("pairwise diversity", SKLEARN_PAIRS, None),
        ("pairwise diversity, ten measures", None, None),
        ("map, 100 samples, classes", None, "<= 1 s"),
        ("map, 100 samples, classes", ASKED, None),
        ("map, 100 samples, margins", None, "<= 1 s"),
        ("map, 100 samples, margins", ASKED, None),
        ("picture, 5 trees", "DecisionBoundaryDisplay", None),
        ("cover mosaic", None, None),
        ("predict, majority", None, None),
        *((f"predict, {name}", "majority", None) for name in rules),
        ("fit, 120 rows, majority", None, None),
        *(
            (f"fit, 120 rows, {name}", "majority", None)
            for name in ("weighted", "naive_bayes", "model_averaging")
        ),
        *(("stack out of bag, 150 rows", peer, None) for peer in FOLDS),
    ]
    assert all(line["figure"] > 0 for line in lines)


def test_without_matplotlib_pictures_are_left_out_and_said(monkeypatch):
    monkeypatch.setattr(inspection, "can_draw", lambda: False)
    suite = inspection.suite(True)
    assert not any("picture" in case.name for case in suite.cases)
    assert suite.notices[-1] == "There is no matplotlib: pictures are not compared."


def test_both_forms_have_the_sizes_that_the_targets_are_for():
    for effort in (inspection.FULL, inspection.QUICK):
        assert effort.votes == (1000, 10_000)
        assert (effort.n_trees, effort.n_points) == (1001, 300)
        assert (effort.combining.n_members, effort.combining.n_queried) == (200, 10_000)
        assert min(effort.rounds, effort.combining.rounds) >= 5
    assert inspection.FULL.mosaic == ()
    assert inspection.FULL.mosaic_rounds >= 5
    # All of the peer's trees are asked in the full form, where that does not take too long.
    assert [divisor for _, divisor in inspection.FULL.maps] == [1, 1, 11]
    names = [case.name for quick in (False, True) for case in inspection.suite(quick).cases]
    longest = partial(max, key=len)
    assert len(longest(names) + ", margins") <= 39  # the width of the table's first column


def test_peers_are_named_in_the_width_of_their_column():
    names = [peer.name for peer in inspection_peers.PEERS]
    assert len(max([*names, ASKED, *FOLDS], key=len)) <= 31
