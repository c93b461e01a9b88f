import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import many_members, one_order, ordering, problems, pruned_prediction
from benchmarks.__main__ import main
from benchmarks.ordering import NAMES, Shape
from benchmarks.ordering_peers import PEERS, Ordered, same_order
from benchmarks.report import Target
from benchmarks.timing import Timing

import orfeon
from orfeon.workbench.reproduction import published_seconds

pytestmark = pytest.mark.tools

#: Rules that compare floats; all others are compared by whole numbers.
ROUNDED = ("orientation", "boosting_based", "kappa")

# -- the peers ---------------------------------------------------------------------------------


def _votes(seed):
    """Members of different accuracy, some of them twice, and labels."""
    rng = np.random.default_rng(seed)
    n_members, n_samples, n_classes = rng.integers(2, 13), rng.integers(8, 40), rng.integers(2, 5)
    y = rng.integers(n_classes, size=n_samples)
    y[:n_classes] = np.arange(n_classes)
    answers = rng.integers(n_classes, size=(n_members, n_samples))
    right = rng.random(answers.shape) < rng.uniform(0.3, 0.9, (n_members, 1))
    answers = np.where(right, y, answers)
    return answers[rng.integers(n_members, size=n_members)].astype(np.int32), y


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_finds_the_order_and_the_curve_of_the_rule(name):
    agreed = 0
    for seed in range(40):
        votes, y = _votes(seed)
        ours = ordering.arrange(name, votes, y)
        theirs = PEERS[name](votes, y)
        same = same_order(ours.order, ours.criterion, ours.error_curve, theirs)
        assert same or name in ROUNDED
        assert sorted(theirs.order) == list(range(len(votes)))
        assert theirs.values == pytest.approx(ours.criterion.tolist(), abs=1e-9)
        agreed += same
    assert agreed >= 38


def test_every_rule_but_the_tree_has_a_peer():
    assert set(NAMES) - set(PEERS) == {"meta_tree"}
    timed = set(orfeon.ordering.ORDERING_RULES) - set(ordering.NOT_TIMED)
    assert set(NAMES) == {*timed, "reduce_error backfitting"}


def test_real_votes_are_those_of_the_bag_and_have_the_peers_orders():
    votes, y = ordering.real_votes(30, 100)
    assert votes.shape == (30, 100)
    assert np.array_equal(ordering.real_votes(12, 100)[0], votes[:12])
    assert 0.02 < (votes != y).mean() < 0.4
    for name, peer in PEERS.items():
        ours = ordering.arrange(name, votes, y)
        assert same_order(ours.order, ours.criterion, ours.error_curve, peer(votes, y))


def test_backfitting_and_its_peer_replace_members():
    votes, y = ordering.real_votes(30, 100)
    found = ordering.arrange("reduce_error backfitting", votes, y)
    plain = ordering.arrange("reduce_error", votes, y)
    assert found.subsets is not None
    assert plain.subsets is None
    assert (found.error_curve <= plain.error_curve).mean() > 0.5


def test_another_order_without_a_tie_is_not_let_pass():
    peer = Ordered([0, 2, 1], [0.1, 0.2, 0.3], [0.1, 0.1, 0.1])
    curve = [0.1, 0.1, 0.1]
    assert same_order([0, 2, 1], [0.1, 0.2, 0.3], curve, peer) is True
    assert same_order([0, 1, 2], [0.1, 0.2 + 1e-12, 0.3], curve, peer) is False
    with pytest.raises(AssertionError, match=r"differ from place 1 on, .* 0\.19 and 0\.2"):
        same_order([0, 1, 2], [0.1, 0.19, 0.3], curve, peer)
    with pytest.raises(AssertionError, match="the error curves differ"):
        same_order([0, 2, 1], [0.1, 0.2, 0.3], [0.1, 0.1, 0.2], peer)


def test_a_difference_by_rounding_is_said(monkeypatch):
    original = PEERS["kappa"]

    def with_a_tie_the_other_way(votes, y):
        found = original(votes, y)
        return found._replace(order=[*found.order[:-2], *found.order[:-3:-1]])

    monkeypatch.setitem(PEERS, "kappa", with_a_tie_the_other_way)
    [line] = ordering.compared("kappa", "kappa", Shape(30, 100), 1)
    assert line.notes[0] == "kappa: the peer's order differs from a tie on, for rounding alone."
    assert line.detail["same_order"] is False


# -- the rules' lines --------------------------------------------------------------------------


@pytest.fixture
def seconds(monkeypatch):
    """Work once, and say what it takes instead of timing it."""

    def say(answers):
        def interleave(contenders, rounds, least_seconds=0.02):
            found = {}
            for contender in contenders:
                taken = answers(contender.name)
                found[contender.name] = Timing(
                    (taken,) * rounds, cores=1.0, result=contender.work()
                )
            return found

        for module in (ordering, pruned_prediction):
            monkeypatch.setattr(module, "interleave", interleave)

    return say


def test_a_rule_is_held_against_a_second_and_beside_its_peer(seconds):
    seconds({"orfeon": 1.25, "NumPy": 5.0}.get)
    alone, beside = ordering.held("orientation", "many", Shape(12, 60), 5)
    assert (alone.figure, alone.unit, str(alone.target)) == (1.25, "s", "<= 1 s")
    assert (alone.is_met, alone.peer, alone.detail["rounds"]) == (False, None, 5)
    assert (beside.peer, beside.figure, beside.target) == ("NumPy", 4.0, None)
    assert (beside.n, beside.d) == (12, 60)


@pytest.mark.parametrize("name", ["clustering", "reduce_error backfitting"])
def test_a_slow_peer_is_left_out_where_there_are_many_members(name, seconds):
    seconds({"orfeon": 0.75}.__getitem__)
    [line] = ordering.held(name, "many", Shape(12, 60), 5)
    assert (line.figure, line.is_met, line.detail["rounds"]) == (0.75, True, 5)
    assert line.notes == [f"{name}: its peer is slow, and compared on fewer members only."]


def test_the_tree_over_the_votes_is_measured_alone(seconds):
    seconds({"orfeon": 0.25}.__getitem__)
    [line] = ordering.compared("meta_tree", "meta_tree", Shape(12, 60), 3)
    assert (line.figure, line.unit, line.peer, line.target) == (0.25, "s", None, None)
    assert "no peer" in line.notes[0]
    [line] = ordering.held("meta_tree", "many", Shape(12, 60), 3)
    assert line.is_met is True


@pytest.mark.parametrize("rule", ["orientation", "margin_distance"])
def test_times_stand_beside_those_of_the_thesis(rule, seconds):
    seconds({"orfeon": 0.02}.__getitem__)
    [small] = ordering.published(rule, "table 5.10", [50], 3)
    expected = {"orientation": 0.086, "margin_distance": 0.18}[rule]
    assert (small.peer_seconds, small.target) == (expected, None)
    assert small.figure == pytest.approx(expected / 0.02)
    assert set(ordering.FULL.published) == set(published_seconds("martinez-5.10")[rule])


def test_the_largest_of_the_thesis_has_fifty_milliseconds(seconds, monkeypatch):
    short = {"orientation": {20: 2.4}}
    monkeypatch.setattr(ordering, "published_seconds", lambda table: short)
    seconds({"orfeon": 0.051}.__getitem__)
    alone, beside = ordering.published("orientation", "table", [20], 3)
    assert (alone.figure, alone.unit, alone.is_met) == (pytest.approx(51), "ms", False)
    assert str(alone.target) == "<= 50 ms"
    assert beside.peer == "published, Pentium 4"
    assert max(published_seconds("martinez-5.10")["orientation"]) == 1600


def test_growth_is_the_last_step_and_the_power_that_of_all(seconds):
    seconds({"5 x 60": 0.01, "10 x 60": 0.05, "20 x 60": 0.16}.__getitem__)
    shapes = [Shape(n, 60) for n in (5, 10, 20)]
    [line] = ordering.growth("kappa", "kappa, with members", _whole(20, 60), shapes, 1)
    assert line.figure == pytest.approx(3.2)
    assert line.detail["power"] == pytest.approx(2.0)
    assert (line.n, line.d, line.seconds) == (20, 60, 0.16)
    assert line.notes == [
        "kappa, with members: 5 x 60 10 ms, 10 x 60 50 ms, 20 x 60 160 ms; about the power 2.0."
    ]


def _whole(n_members, n_samples):
    return ordering.real_votes(n_members, n_samples)


def test_slow_rules_grow_over_fewer_members(seconds):
    seconds(lambda name: 0.5)
    effort = _tiny_effort()
    for name, n_members, n_few in (("kappa", 16, 12), ("clustering", 8, 4)):
        [by_members] = ordering.with_members(name, "growth", effort)
        [by_samples] = ordering.with_samples(name, "growth", effort)
        assert (by_members.n, by_members.d) == (n_members, 300)
        assert (by_samples.n, by_samples.d) == (n_few, 60)


# -- search ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_members", "target"), [(25, "<= 5 s"), (31, "<= 300 s"), (9, "None")])
def test_the_time_of_a_search_has_the_limit_of_its_size(n_members, target, seconds, monkeypatch):
    queried = []

    def search(votes, y, n_jobs=1):
        queried.append((len(votes), n_jobs))
        return SimpleNamespace(error_curve=np.zeros(len(votes)))

    monkeypatch.setattr(ordering, "search_exhaustive_votes", search)
    monkeypatch.setattr(ordering.os, "cpu_count", lambda: 4)
    seconds({"orfeon": 4.5}.__getitem__)
    [line] = ordering.exhaustive("search", n_members)
    assert str(line.target) == target
    assert queried == [(n_members, 2 if n_members == 31 else 1)]


def test_a_search_that_is_worse_than_a_greedy_order_is_refused(seconds, monkeypatch):
    worst = SimpleNamespace(error_curve=np.ones(9))
    monkeypatch.setattr(ordering, "search_exhaustive_votes", lambda votes, y, n_jobs: worst)
    seconds({"orfeon": 4.5}.__getitem__)
    with pytest.raises(AssertionError, match="a greedy subset is better than the best one"):
        ordering.exhaustive("search", 9)


# -- very many members -------------------------------------------------------------------------


def test_chunks_are_the_same_each_time_and_members_of_a_group_err_together():
    votes, y = one_order.make_chunk(200, 400, 3)
    again, _ = one_order.make_chunk(200, 400, 3)
    other, _ = one_order.make_chunk(200, 400, 4)
    assert np.array_equal(votes, again)
    assert (votes != other).any()
    assert votes.dtype == np.int8
    wrong = votes != y
    assert 0.2 < wrong.mean() < 0.45
    kin, stranger = ((wrong[0] == wrong[t]).mean() for t in (40, 41))
    assert kin > stranger + 0.03


def test_chunks_give_what_all_votes_in_memory_give(monkeypatch, capsys):
    monkeypatch.setattr(one_order, "CHUNK", 100)
    answers = []
    for way in ("chunks", "memory"):
        one_order.main([way, "30", "250"])
        answers.append(json.loads(capsys.readouterr().out))
    by_chunks, in_memory = answers
    for what in ("order", "curve", "first", "fifth", "last"):
        assert by_chunks[what] == in_memory[what]
    assert 0 < by_chunks["making"] < by_chunks["seconds"]
    if "peak" in by_chunks:
        assert 5e7 < by_chunks["peak"] < 1e10
    assert 0 < by_chunks["last"] < by_chunks["first"] < 0.5


def test_the_process_says_what_it_does_not_know():
    with pytest.raises(ValueError, match="way='disk' is not known; there are chunks, memory"):
        one_order.main(["disk", "30", "250"])
    with pytest.raises(ValueError, match="invalid literal for int"):
        one_order.main(["chunks", "many", "250"])


def _answer(way, *sizes):
    more = 0.0 if way == "chunks" else 1.5e9
    return {
        "seconds": 31.0, "making": 3.0, "cores": 1.9, "peak": 2.5e9 + more, "order": "a",
        "curve": "b", "first": 0.3, "fifth": 0.01, "last": 0.02,
    }  # fmt: skip


def test_time_and_memory_of_chunks_are_held_against_their_targets(monkeypatch):
    monkeypatch.setattr(many_members, "_order", _answer)
    time_line, memory_line, beside = many_members.by_chunks("order, by chunks", 10_000, 10_000)
    assert (time_line.figure, str(time_line.target), time_line.is_met) == (31.0, "<= 30 s", False)
    assert (memory_line.figure, str(memory_line.target)) == (2.5, "<= 4 GB")
    assert memory_line.is_met is True
    assert "of them 3.0 s to make the votes" in time_line.notes[0]
    assert (beside.case, beside.target) == ("order, in memory", None)
    assert beside.notes == ["all votes in memory: 4.00 GB at most."]


@pytest.mark.parametrize("what", ["order", "curve"])
def test_chunks_that_give_something_else_are_refused(what, monkeypatch):
    monkeypatch.setattr(many_members, "_order", lambda way, *sizes: {**_answer(way), what: way})
    with pytest.raises(AssertionError, match=f"by chunks the {what} is another one"):
        many_members.by_chunks("order, by chunks", 100, 100)


def test_a_fresh_process_orders():
    answer = many_members._order("chunks", 20, 120)
    assert answer["order"] == many_members._order("memory", 20, 120)["order"]
    assert len(answer["curve"]) == 64


# -- pruned ensembles --------------------------------------------------------------------------

SMALL = pruned_prediction.Size("waveform", problems.waveform, 200, 15, n_queried=300)


@pytest.mark.parametrize("name", pruned_prediction.MODELS)
def test_kept_members_are_timed_against_all(name, seconds):
    everyone = f"{name[0]}, all 15 members"
    seconds({"kept": 0.2, everyone: 0.7}.__getitem__)
    line, memory = pruned_prediction.pruned(name, "case", SMALL, 3)
    assert (line.peer, line.figure, line.n, line.d) == (everyone, pytest.approx(3.5), 300, 21)
    held = name == ("scikit-learn", "random forest")
    assert line.target == (Target("at least", 4, "x") if held else None)
    assert line.is_met is (False if held else None)
    assert 0.1 < memory.figure < 0.45
    assert memory.figure == line.detail["bytes"] / line.detail["bytes_of_all"]
    whole = pruned_prediction.fitted(name, SMALL)
    small = orfeon.prune(whole.model, whole.rows(whole.training), whole.training.y)
    assert len(small.estimators_) == 3
    wrong = small.predict(whole.rows(whole.test)) != whole.test.y
    assert line.detail["test_errors"]["kept"] == pytest.approx(wrong.mean())
    assert f"of those kept {wrong.mean():.2%}" in line.notes[0]


def test_fewer_cross_validated_trees_are_grown_on_many_rows(monkeypatch):
    monkeypatch.setattr(pruned_prediction, "_LARGE", 150)
    monkeypatch.setattr(pruned_prediction, "_FEWER", 4)
    size = pruned_prediction.Size("waveform", problems.waveform, 150, 6, n_queried=50)
    counts = [pruned_prediction.fitted(name, size).n_members for name in pruned_prediction.MODELS]
    assert counts == [4, 6, 6, 6, 6]


def _decisions(predictions):
    def early_decision(model, X, confidence):
        return SimpleNamespace(predictions=predictions(X), mean_queried=5.25, n_members=15)

    return SimpleNamespace(early_decision=early_decision)


def test_early_decisions_say_members_asked_and_what_they_decide_otherwise(seconds, monkeypatch):
    whole = pruned_prediction.fitted(("orfeon", "bagging"), SMALL)
    monkeypatch.setattr(pruned_prediction, "combining", _decisions(whole.model.predict))
    seconds({"early": 0.2, "all 15 members": 0.5}.__getitem__)
    run = partial(pruned_prediction.decided_early, ("orfeon", "bagging"), "bag", SMALL, 1)
    exact, nearly = run()
    assert (exact.case, nearly.case) == ("early 1, bag", "early 0.99, bag")
    assert (exact.figure, exact.detail["differ"]) == (2.5, 0.0)
    error = whole.error(whole.model)
    assert exact.notes[0] == (
        "early 1, bag: 5.2 of 15 members queried; 0.00% of the rows decided otherwise; test error "
        f"{error:.2%}, of all {error:.2%}."
    )


def test_an_exact_early_decision_that_differs_is_refused(seconds, monkeypatch):
    monkeypatch.setattr(pruned_prediction, "combining", _decisions(lambda X: np.zeros(len(X))))
    seconds(lambda name: 0.5)
    with pytest.raises(AssertionError, match=r"an exact early decision differs on \d+\.\d+%"):
        pruned_prediction.decided_early(("orfeon", "bagging"), "bag", SMALL, 1)


# -- the command line --------------------------------------------------------------------------


def _tiny_effort():
    return ordering.Effort(
        compared=(Shape(12, 60), Shape(14, 50)),
        backfitted=Shape(8, 40),
        held=Shape(16, 60),
        published=(50,),
        growth_members=(8, 16),
        growth_samples=(40, 60),
        growth_slow=(4, 8),
        searched=(6,),
        chunked=None,
        pruned=[SMALL],
        rounds=1,
    )


def test_the_suite_runs_from_the_command_line_to_the_json_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ordering, "QUICK", _tiny_effort())
    file = tmp_path / "lines.json"
    assert main(["ordering", "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = [(line["case"], line["peer"], line["target"]) for line in lines]
    peers = {name: "NumPy" if name in PEERS else None for name in NAMES}
    assert found[: len(NAMES)] == [(name, peers[name], None) for name in NAMES]
    quick = [name for name in NAMES if name not in ("clustering", "reduce_error backfitting")]
    again = slice(len(NAMES), len(NAMES) + len(quick))
    assert found[again] == [(name, peers[name], None) for name in quick]
    assert {(line["n"], line["d"]) for line in lines[again]} == {(14, 50)}
    for name in NAMES:
        assert (f"{name}, many", None, "<= 1 s") in found
        assert (f"{name}, with members", None, None) in found
        assert (f"{name}, with samples", None, None) in found
    for row in (
        ("margin_distance, many", "NumPy", None),
        ("orientation, table 5.10", "published, Pentium 4", None),
        ("margin_distance, table 5.10", "published, Pentium 4", None),
        ("backfitting, fractional weights", None, None),
        ("exhaustive search, 6 members", None, None),
        ("genetic search", None, "<= 5 s"),
        ("bagging (cv), waveform", "orfeon, all 15 members", None),
        ("random forest, waveform", "scikit-learn, all 15 members", ">= 4x"),
        ("random forest, waveform, memory", "scikit-learn, all 15 members", None),
        ("early 1, random forest, waveform", "all 15 members", None),
        ("early 0.99, bagging, waveform", "all 15 members", None),
    ):
        assert found.count(row) == 1
    assert all(line["figure"] > 0 for line in lines)
    assert all(line["ratio"] > 0 for line in lines if line["peer"] and line["seconds"])
    compared = lines[: len(NAMES)]
    assert all(line["detail"].get("same_order", True) for line in compared)
    printed = capsys.readouterr().out
    assert max(len(line["case"]) for line in lines) <= 39
    assert "Sizes of votes are members x samples." in printed


def test_the_full_form_has_the_sizes_of_the_targets_and_the_quick_one_does_not_take_long():
    names = {quick: [case.name for case in ordering.suite(quick).cases] for quick in (0, 1)}
    only_full = set(names[0]) - set(names[1])
    assert {f"{name}, many" for name in NAMES} < only_full
    assert {"margin_distance, by chunks", "exhaustive search, 31 members"} < only_full
    assert "pruned random forest, waveform 5000, scikit-learn" in only_full
    assert {"genetic search", "margin_distance, table 5.10", "kappa, 200 x 300"} < set(names[1])
    assert "reduce_error, 1600 x 300" in only_full
    assert ordering.FULL.held == (1000, 1000)
    assert ordering.FULL.chunked == (10_000, 10_000)
    assert ordering.FULL.rounds >= 5
    assert max(ordering.QUICK.published) == 1600


def test_unknown_cases_and_options_are_refused(capsys):
    with pytest.raises(SystemExit, match="'nothing' matches no case; there are: reduce_error, 200"):
        main(["ordering", "--quick", "--case", "nothing"])
    with pytest.raises(SystemExit):
        main(["ordering", "--fast"])
    assert "unrecognized arguments: --fast" in capsys.readouterr().err
