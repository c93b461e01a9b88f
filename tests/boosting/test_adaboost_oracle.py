"""AdaBoost, M1 and SAMME of the library against the oracles, round by round."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles.boosting import adaboost_m1
from tests.oracles.boosting_script import Script, ScriptedClassifier, play
from tests.oracles.boosting_weak import all_cuts, in_turn

from orfeon import AdaBoostClassifier
from orfeon.boosting.adaboost import AdaBoostScheme

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))


@st.composite
def problems(draw, most_rounds=8):
    """Labels, votes with some mistakes, and the number of classes."""
    n, n_classes = draw(st.integers(3, 12)), draw(st.integers(2, 4))
    codes = st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)
    y = draw(codes)
    mistake = st.dictionaries(st.integers(0, n - 1), st.integers(1, 2), max_size=1 + n // 3)
    mistakes = draw(st.lists(mistake, min_size=1, max_size=most_rounds))
    votes = [[(c + row.get(i, 0)) % n_classes for i, c in enumerate(y)] for row in mistakes]
    return y, votes, n_classes


def assert_same_rounds(run, learner, oracle):
    """Weights, errors, votes and fates of every member that was trained."""
    assert len(run.results) == len(oracle.rounds)
    for result, weights, exact in zip(run.results, learner.weights, oracle.rounds, strict=True):
        np.testing.assert_allclose(weights, [float(w) for w in exact.weights], rtol=1e-11)
        assert result.error == pytest.approx(float(exact.error), rel=1e-11)
        assert result.keep == exact.kept
        if exact.kept:
            assert result.vote == pytest.approx(float(exact.alpha), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["m1", "samme"])
@pytest.mark.parametrize("on_failure", ["stop", "restart"])
@given(problem=problems(), floor=st.sampled_from([0, Fraction(1, 10**8), Fraction(1, 15)]))
@usual
def test_scheme_is_the_oracle(on_failure, algorithm, problem, floor):
    y, votes, n_classes = problem
    oracle = adaboost_m1(
        in_turn(votes), y, len(votes), n_classes=n_classes, on_failure=on_failure,
        floor=Fraction(floor), samme=algorithm == "samme", attempts=len(votes),
    )  # fmt: skip
    scheme = AdaBoostScheme(
        np.array(y), np.ones(len(y)), n_classes, on_failure, float(floor), algorithm
    )
    run, learner, _ = play(scheme, np.array(votes))
    assert_same_rounds(run, learner, oracle)
    assert run.ended == (oracle.end != "all members")
    if not run.ended:
        final = scheme.weights / scheme.weights.sum()
        np.testing.assert_allclose(final, [float(w) for w in oracle.weights], rtol=1e-11)


def test_no_weight_falls_below_the_floor():
    """Members that make one or two mistakes of fourteen push the others below 1/20."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 14)
        votes = np.repeat(y[None], 6, axis=0)
        for row in votes:
            row[rng.choice(14, rng.integers(1, 3), replace=False)] += 1
        votes %= 3
        floor = Fraction(1, 20)
        oracle = adaboost_m1(in_turn(votes.tolist()), y.tolist(), 6, floor=floor)
        run, learner, _ = play(AdaBoostScheme(y, np.ones(14), 3, min_weight=1 / 20), votes)
        assert_same_rounds(run, learner, oracle)
        raised = [r.weights.count(min(r.weights)) for r in oracle.rounds[1:]]
        assert max(raised) > 1
        # the sum is one again after the raising, so what was raised is a little below the floor
        assert all(floor / 2 < min(r.weights) < floor for r in oracle.rounds[1:])


def test_a_member_without_error_has_the_last_word_where_the_run_stops():
    """The votes before it add up to 8.98; the half of ln(1e10), 11.5, is not twice as much."""
    n = 200
    y = np.arange(n) % 2
    votes = np.repeat(y[None], 4, axis=0)
    votes[[0, 1, 2], [0, 1, 2]] ^= 1
    oracle = adaboost_m1(in_turn(votes.tolist()), y.tolist(), 9, floor=Fraction(0))
    run, learner, kept = play(AdaBoostScheme(y, np.ones(n), 2), votes)
    assert_same_rounds(run, learner, oracle)
    before = sum(one.result.vote for one in kept[:3])
    assert before == pytest.approx(0.5 * np.log(199 * 397 * 793), rel=1e-12)
    assert kept[3].result.vote == pytest.approx(2 * before, rel=1e-12)
    going_on = play(AdaBoostScheme(y, np.ones(n), 2, "restart"), votes)[2]
    assert going_on[3].result.vote == pytest.approx(0.5 * np.log(1e10), rel=1e-15)


@given(problem=problems(), seed=st.integers(0, 99))
@usual
def test_scheme_goes_on_from_bootstrap_samples_as_the_oracle_does(problem, seed):
    y, votes, n_classes = problem
    scheme = AdaBoostScheme(np.array(y), np.ones(len(y)), n_classes, "bootstrap")
    run, learner, _ = play(scheme, np.array(votes), seed)
    failed = [t for t, j in enumerate(run.results) if not j.keep or j.error == 0]
    after = [*learner.weights, scheme.weights]
    samples = [after[t + 1] * len(y) for t in failed]
    for counts in samples:  # N drawn with replacement
        np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
        assert counts.round().sum() == len(y)
    oracle = adaboost_m1(
        in_turn(votes), y, len(votes), on_failure="bootstrap", attempts=len(votes),
        bootstraps=iter(counts.round().astype(int).tolist() for counts in samples),
        floor=Fraction(0),
    )  # fmt: skip
    assert_same_rounds(run, learner, oracle)


@given(problem=problems(), data=st.data())
@usual
def test_scheme_starts_from_the_weights_given(problem, data):
    y, votes, n_classes = problem
    base = data.draw(st.lists(st.integers(1, 5), min_size=len(y), max_size=len(y)))
    oracle = adaboost_m1(in_turn(votes), y, len(votes), base=base, floor=Fraction(0))
    scheme = AdaBoostScheme(np.array(y), np.array(base, dtype=float), n_classes)
    run, learner, _ = play(scheme, np.array(votes))
    assert_same_rounds(run, learner, oracle)


# --- the estimator --------------------------------------------------------------------------


def fit_quietly(model, X, y, **given_):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y, **given_)


@pytest.mark.parametrize("algorithm", ["m1", "samme"])
@pytest.mark.parametrize("on_failure", ["stop", "restart"])
@given(problem=problems())
@usual
def test_estimator_with_scripted_members_is_the_oracle(on_failure, algorithm, problem):
    """Weights that members are fitted with, errors, votes, scores, decisions at every stage."""
    y, votes, n_classes = problem
    n_classes = len(set(y))
    if n_classes < 2:
        return
    _, codes = np.unique(y, return_inverse=True)
    y = codes.tolist()
    votes = [[v % n_classes for v in row] for row in votes]
    cycle = [votes[t % len(votes)] for t in range(400)]
    oracle = adaboost_m1(
        in_turn(cycle), y, len(votes), n_classes=n_classes, on_failure=on_failure,
        floor=Fraction(0), samme=algorithm == "samme", attempts=100,
    )  # fmt: skip
    script = Script(cycle, len(y))
    X = np.arange(len(y), dtype=float)[:, None]
    model = AdaBoostClassifier(
        ScriptedClassifier(script), len(votes), on_failure=on_failure, algorithm=algorithm
    )
    fit_quietly(model, X, codes)
    if not oracle.members:
        assert len(model.members_) == 1
        return
    for weights, exact in zip(script.weights, oracle.rounds, strict=True):
        np.testing.assert_allclose(weights, [float(w) for w in exact.weights], rtol=1e-11)
    members = oracle.members
    np.testing.assert_array_equal(model.votes(X), [m.answers for m in members])
    np.testing.assert_allclose(model.errors_, [float(m.error) for m in members], rtol=1e-11)
    alphas = [float(m.alpha) for m in members]
    np.testing.assert_allclose(model.member_weights_, alphas, rtol=1e-10, atol=1e-12)
    for t, decided in enumerate(model.staged_predict(X)):
        sums = np.zeros((len(y), n_classes))
        for m in members[: t + 1]:
            sums[np.arange(len(y)), m.answers] += float(m.alpha)
        clear = np.diff(np.sort(sums, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
        np.testing.assert_array_equal(
            decided[clear], np.array(oracle.decisions(n_classes, t + 1))[clear]
        )
    if n_classes == 2:
        F = [[float(m.alpha) * (2 * v - 1) for v in m.answers] for m in members]
        np.testing.assert_allclose(model.decision_function(X), np.sum(F, axis=0), atol=1e-9)


def test_each_stump_is_a_best_one_under_the_exact_weights():
    """The whole of it on small tables: the stumps, and all that follows from their votes."""
    for seed in range(shared.cases(12)):
        rng = np.random.default_rng(seed)
        n, n_classes = int(rng.integers(8, 20)), int(rng.integers(2, 4))
        X = rng.integers(0, 8, size=(n, 2)).astype(float)
        y = rng.integers(0, n_classes, size=n)
        y[:n_classes] = range(n_classes)
        algorithm = "m1" if n_classes == 2 else "samme"
        model = AdaBoostClassifier(n_estimators=6, algorithm=algorithm, random_state=seed)
        fit_quietly(model, X, y)
        answers = model.votes(X).tolist()
        oracle = adaboost_m1(
            in_turn(answers), y.tolist(), len(answers), n_classes=n_classes,
            samme=algorithm == "samme",
            floor=Fraction(0),
        )  # fmt: skip
        assert len(oracle.members) == len(answers)
        np.testing.assert_allclose(
            model.errors_, [float(m.error) for m in oracle.members], rtol=1e-11
        )
        rows = X.astype(int).tolist()
        for member, votes in zip(oracle.members, answers, strict=True):
            cuts = all_cuts(rows, member.weights, y.tolist())
            least = min(impurity for _, impurity, _ in cuts)
            best = [cut(rows) for _, impurity, cut in cuts if impurity == least]
            assert votes in best
