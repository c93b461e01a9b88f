"""Shrunk and constant votes, and members without error that are dropped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier as ScikitLearnAdaBoost
from sklearn.tree import DecisionTreeClassifier
from tests import shared
from tests.boosting.boosters import assert_same_model
from tests.oracles.boosting_script import play

from orfeon import AdaBoostClassifier, CARTClassifier
from orfeon.boosting import vote_bound
from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.boosting.loop import PERFECT
from orfeon.datasets import make_twonorm, make_waveform

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))


@pytest.fixture(scope="module")
def waveform():
    return make_waveform(150, random_state=0)


@st.composite
def runs(draw):
    """Labels of two to four classes, and votes with some mistakes."""
    n_classes, n = draw(st.integers(2, 4)), draw(st.integers(4, 15))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    y = rng.integers(0, n_classes, n)
    votes = np.repeat(y[None], 6, axis=0)
    for row in votes:
        wrong = rng.choice(n, int(rng.integers(1, 1 + n // 3)), replace=False)
        row[wrong] = (row[wrong] + 1) % n_classes
    return y, votes, n_classes


@pytest.mark.parametrize("algorithm", ["m1", "samme"])
@given(run=runs())
@usual
def test_a_rate_of_one_gives_the_bits_of_the_plain_formulas(algorithm, run):
    y, votes, n_classes = run
    scheme = AdaBoostScheme(y, np.ones(len(y)), n_classes, algorithm=algorithm)
    outcome, learner, _ = play(scheme, votes)
    chance = 1.0 / (n_classes - 1) if algorithm == "samme" else 1.0
    weights = np.ones(len(y)) / len(y)
    for result, answers, seen in zip(outcome.results, votes, learner.weights, strict=False):
        np.testing.assert_array_equal(seen, weights)
        if not result.keep:
            break
        error = float(np.where(answers != y, weights, 0.0).sum())
        odds = (1.0 - error) / error / chance
        assert result.vote == 0.5 * float(np.log(odds))
        weights = weights * np.where(answers != y, odds, 1.0)
        weights = weights / weights.sum()


@pytest.mark.parametrize("step", ["optimal", "constant"])
@given(run=runs(), rate=st.sampled_from([0.05, 0.3, 1.0, 1.7]))
@usual
def test_weights_are_the_exponential_losses_of_the_vote(step, run, rate):
    y, votes, n_classes = run
    scheme = AdaBoostScheme(y, np.ones(len(y)), n_classes, learning_rate=rate, step=step)
    outcome, learner, kept = play(scheme, votes)
    F = np.zeros(len(y))
    for one, answers, weights in zip(kept, votes, learner.weights, strict=False):
        losses = np.exp(-F)
        np.testing.assert_allclose(weights, losses / losses.sum(), rtol=1e-9)
        e, vote = one.result.error, one.result.vote
        assert vote == pytest.approx(rate if step == "constant" else rate / 2 * np.log(1 / e - 1))
        F += vote * np.where(answers == y, 1, -1)
    errors, given_votes = ([getattr(one.result, n) for one in kept] for n in ("error", "vote"))
    if kept and not outcome.ended:  # the product of the normalisers is the mean loss
        assert vote_bound(errors, given_votes)[-1] == pytest.approx(np.exp(-F).mean(), rel=1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.5])
def test_the_same_as_scikit_learn(waveform, rate):
    """Votes are half of its votes, and decide the same."""
    X, y = waveform
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    settings_ = {"n_estimators": 15, "learning_rate": rate, "random_state": 0}
    ours = AdaBoostClassifier(stump, algorithm="samme", **settings_).fit(X, y)
    theirs = ScikitLearnAdaBoost(stump, **settings_).fit(X, y)
    np.testing.assert_allclose(2 * ours.member_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    "given_", [{"learning_rate": 0.3}, {"learning_rate": 0.2, "step": "constant"}]
)
def test_training_error_and_margins_are_below_the_bounds(given_):
    X, y = make_twonorm(120, random_state=0)
    model = AdaBoostClassifier(n_estimators=30, random_state=0, **given_).fit(X, y)
    errors = 1 - np.array(list(model.staged_score(X, y)))
    assert (errors <= model.error_bounds_ + 1e-12).all()
    assert model.error_bounds_[-1] < 0.5
    margins = (2 * y - 1) * model.decision_function(X) / model.member_weights_.sum()
    for theta in (0.0, 0.1, 0.3):
        assert (margins <= theta).mean() <= model.margin_bound(theta) + 1e-12
    with pytest.raises(AttributeError, match="edge_bounds_ needs learning_rate=1"):
        model.edge_bounds_  # noqa: B018


def test_constant_votes_are_equal(waveform):
    X, y = waveform
    model = AdaBoostClassifier(
        CARTClassifier(max_depth=2), 10, step="constant", learning_rate=0.25, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(model.member_weights_, 0.25)


@pytest.mark.parametrize("rate", [0, -1.0, "fast"])
def test_a_rate_must_be_a_positive_number(waveform, rate):
    with pytest.raises(ValueError, match="'learning_rate' parameter of AdaBoostClassifier"):
        AdaBoostClassifier(learning_rate=rate).fit(*waveform)


# -- a member without error --------------------------------------------------------------------


def scripted(**given_):
    """Two members with one mistake each, then one without."""
    y = np.arange(12) % 2
    votes = np.repeat(y[None], 4, axis=0)
    votes[[0, 1, 3], [0, 1, 5]] ^= 1
    return play(AdaBoostScheme(y, np.ones(12), 2, **given_), votes)


def test_a_member_without_error_is_dropped_and_ends_the_run():
    run, _, kept = scripted(perfect_member="drop")
    assert run.ended
    assert len(kept) == 2
    assert not run.results[-1].keep
    assert len(scripted()[2]) == 3


def test_a_member_without_error_is_dropped_and_the_run_restarts():
    _, learner, kept = scripted(perfect_member="drop", on_failure="restart")
    np.testing.assert_array_equal(learner.weights[3], np.full(12, 1 / 12))
    assert [one.result.error > 0 for one in kept] == [True] * 3
    kept_all = scripted(on_failure="restart", learning_rate=0.5)[2]
    assert kept_all[2].result.vote == 0.5 * PERFECT


@pytest.mark.parametrize("on_failure", ["stop", "restart"])
def test_an_only_member_is_kept_with_a_warning(waveform, on_failure):
    X, y = waveform
    model = AdaBoostClassifier(CARTClassifier(), 5, perfect_member="drop", on_failure=on_failure)
    with pytest.warns(UserWarning, match="every member makes no error"):
        model.fit(X, y)
    assert len(model) == 1
    assert model.score(X, y) == 1


# -- the number of rounds by out-of-bag error --------------------------------------------------


def out_of_bag(**given_):
    settings_ = {"sampling": "resample", "n_iter_no_change": 4, "early_stopping": "oob"}
    tree = given_.pop("estimator", CARTClassifier(max_depth=2))
    return AdaBoostClassifier(tree, random_state=0, **{**settings_, **given_})


def test_out_of_bag_errors_are_those_of_members_that_left_the_sample_out(waveform, monkeypatch):
    """By brute force: the draws are recorded, and the votes of the rest are added up."""
    X, y = waveform
    from orfeon.boosting import learners

    drawn = []
    real = learners.draw_sample
    monkeypatch.setattr(
        learners, "draw_sample", lambda *a, **k: drawn.append(real(*a, **k)) or drawn[-1]
    )
    order = np.lexsort(X.T)  # members see the samples in an order of their own
    base = DecisionTreeClassifier(max_depth=2)
    model = out_of_bag(estimator=base, n_estimators=40).fit(X[order], y[order])
    monkeypatch.undo()
    n_rounds = len(model.validation_errors_)
    longer = AdaBoostClassifier(
        base, n_rounds, sampling="resample", random_state=0
    ).fit(X[order], y[order])  # fmt: skip
    sums = np.zeros((len(y), 3))
    known = np.zeros(len(y), dtype=bool)
    votes = longer.votes(X[order])
    for t in range(n_rounds):
        out = drawn[t] == 0
        sums[np.flatnonzero(out), votes[t][out]] += longer.member_weights_[t]
        known |= out
        wrong = (np.argmax(sums, axis=1) != y[order]) | ~known
        assert model.validation_errors_[t] == pytest.approx(wrong.mean())
    best = int(np.argmin(model.validation_errors_)) + 1
    assert len(model) == best
    assert n_rounds == best + 4


def test_all_samples_are_trained_on_and_a_warm_start_goes_on(waveform):
    X, y = waveform
    at_once = out_of_bag(n_estimators=12, n_iter_no_change=12).fit(X, y)
    plain = AdaBoostClassifier(
        CARTClassifier(max_depth=2), 12, sampling="resample", random_state=0
    ).fit(X, y)
    assert_same_model(at_once, plain, X)
    twice = out_of_bag(n_estimators=5, n_iter_no_change=12, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=12).fit(X, y)
    assert_same_model(at_once, twice, X)
    np.testing.assert_array_equal(at_once.validation_errors_, twice.validation_errors_)


def test_without_drawn_samples_nothing_is_out_of_bag(waveform):
    with pytest.raises(ValueError, match='early_stopping="oob" needs sampling="resample"'):
        out_of_bag(sampling="weights").fit(*waveform)
