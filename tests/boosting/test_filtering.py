"""Boosting by filtering: what filters leave, the theorem, and where nothing is left to learn."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.shared import assert_same_forest

from orfeon import CARTClassifier, StumpClassifier
from orfeon.boosting.filtering import FilterBoostClassifier
from orfeon.boosting.majority_of_three import (
    Distribution,
    Filtering,
    Stream,
    decide,
    filtering_error,
)

SAMPLINGS = ["stream", "weights", "resample"]
ROOT = np.random.SeedSequence(0)

#: Of small tables, or easy ones, nothing is left to filter; it says so.
pytestmark = pytest.mark.filterwarnings("ignore:FilterBoostClassifier. the first member")


@pytest.fixture(scope="module")
def spheres():
    """Two classes that a small tree can only partly tell apart: 1200 samples."""
    X = np.random.default_rng(0).normal(size=(1200, 10))
    return X, np.where((X**2).sum(axis=1) > 9.34, "out", "in")


# -- the majority ----------------------------------------------------------------------------------


def test_two_of_three_decide_and_the_first_where_all_differ():
    cases = np.array(list(product(range(3), repeat=3)))
    decided = decide(cases.T)
    for votes, decision in zip(cases.tolist(), decided, strict=True):
        counts = [votes.count(c) for c in range(3)]
        expected = counts.index(max(counts)) if max(counts) > 1 else votes[0]
        assert decision == expected


def test_a_majority_of_majorities_is_not_the_majority_of_all():
    """Five of nine for class 1, but in one of the three committees only."""
    votes = np.array([[1, 1, 1], [1, 0, 0], [1, 0, 0]])[:, :, None]
    assert decide(votes).tolist() == [0]


# -- the sources -----------------------------------------------------------------------------------


def test_a_stream_is_used_once_and_all_of_it():
    stream = Stream(np.random.default_rng(0).permutation(1000), np.ones(1000, np.int64))
    parts = stream.parts()
    assert [len(part) for part in parts] == [333, 334, 333]
    np.testing.assert_array_equal(np.concatenate([p.rows for p in parts]), stream.rows)


def test_the_share_of_the_first_is_the_one_asked_for():
    stream = Stream(np.arange(1000), np.ones(1000, np.int64), share=0.5)
    assert [len(part) for part in stream.parts()] == [500, 250, 250]


def test_weights_are_shared_out_in_parts_not_rows():
    weights = np.array([4.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    parts = Stream(np.arange(6), weights).parts()
    assert [weights[p.rows].sum() for p in parts] == [4.0, 4.0, 4.0]


@pytest.mark.parametrize(("n_wrong", "kept"), [(1, 2), (30, 60), (70, 60), (99, 2), (100, 100)])
def test_half_of_what_the_second_sees_is_wrong(n_wrong, kept):
    wrong = np.random.default_rng(1).permutation(100) < n_wrong
    half = Stream(np.arange(100), np.ones(100, np.int64)).half(wrong)
    assert len(half) == kept
    assert half.error(wrong) == (0.5 if n_wrong < 100 else 1.0)


def test_the_stream_keeps_the_first_of_either_kind_in_order():
    wrong = np.array([False, False, True, False, True, False])
    rows = np.array([5, 4, 3, 2, 1, 0])
    assert Stream(rows, np.ones(6, np.int64)).half(wrong).rows.tolist() == [5, 4, 3, 2]


@pytest.mark.parametrize("make", [lambda w: Stream(np.arange(50), w), Distribution])
def test_fractional_weights_are_halved_too(make):
    rng = np.random.default_rng(2)
    weights, wrong = rng.uniform(0.9, 1.1, 50), np.arange(50) % 5 == 0
    half = make(weights).half(wrong)
    # Whole samples only come in steps of their weight.
    assert half.error(wrong) == pytest.approx(0.5, abs=0.03 if isinstance(half, Stream) else 1e-12)
    given = half.sample(rng)
    assert given[wrong].sum() / given.sum() == pytest.approx(half.error(wrong), abs=1e-12)


@pytest.mark.parametrize("make", [lambda w: Stream(np.arange(9), w), Distribution])
def test_nothing_wrong_or_no_difference_leaves_nothing(make):
    source = make(np.ones(9))
    assert source.half(np.zeros(9, bool)) is None
    assert source.only(np.zeros(9, bool)) is None
    assert len(source.only(np.arange(9) < 2)) == 2


def test_draws_follow_the_filtered_distribution():
    wrong = np.arange(100) < 10
    half = Distribution(np.ones(100), n_draws=100_000).half(wrong)
    counts = half.sample(np.random.default_rng(3))
    assert counts.sum() == 100_000
    # Three standard deviations of 100 000 fair coins.
    assert counts[wrong].sum() == pytest.approx(50_000, abs=475)


# -- the theorem -----------------------------------------------------------------------------------


def test_the_rate_of_three_by_hand():
    assert filtering_error(0.25) == 0.15625
    assert filtering_error(0.25, 2) == filtering_error(0.15625)
    assert [filtering_error(e, 5) for e in (0.0, 0.5, 1.0)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("source", ["stream", "distribution"])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.45])
def test_independent_errors_give_the_rate_of_the_theorem(rate, depth, source):
    """A weak learner that errs anywhere at a rate errs at this rate on any distribution."""
    n_rows = 200_000
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n_rows)

    def train(given, number):
        return number, np.where(rng.random(n_rows) < rate, 1 - y, y)

    run = Filtering(y, train, ROOT)
    weights = np.ones(n_rows, np.int64)
    from_where = Stream(rng.permutation(n_rows), weights)
    decided = run.learn(from_where if source == "stream" else Distribution(1.0 * weights), depth)
    assert decided.who.shape == (3,) * depth
    assert run.members == list(range(3**depth))
    np.testing.assert_allclose(run.errors, rate, atol=0.06 if source == "stream" else 0.01)
    expected = filtering_error(rate, depth)
    assert np.mean(decided.votes != y) == pytest.approx(expected, abs=4 * 0.5 / n_rows**0.5)


@pytest.mark.parametrize("where", ["first", "last", "anywhere", "heaviest", "lightest"])
@pytest.mark.parametrize("depth", [1, 2])
def test_it_does_not_matter_where_the_errors_are(where, depth):
    """With two classes the rate of the theorem is exact, wherever each member errs."""
    n_rows, rate = 100_000, 0.2
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n_rows)
    weights = rng.exponential(size=n_rows)

    def train(given, number):
        order = {
            "first": np.arange(n_rows),
            "last": np.arange(n_rows)[::-1],
            "anywhere": rng.permutation(n_rows),
            "heaviest": np.argsort(-given, kind="stable"),
            "lightest": np.argsort(given, kind="stable"),
        }[where]
        wrong = order[np.cumsum(given[order]) <= rate * given.sum()]
        votes = y.copy()
        votes[wrong] = 1 - y[wrong]
        return None, votes

    source = Distribution(weights)
    decided = Filtering(y, train, ROOT).learn(source, depth)
    if depth == 1:
        assert source.error(decided.votes != y) == pytest.approx(0.104, abs=1e-3)
    assert source.error(decided.votes != y) == pytest.approx(filtering_error(0.2, depth), abs=2e-3)


@pytest.mark.parametrize("estimator", [StumpClassifier(), CARTClassifier(max_depth=3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_holds_on_the_training_set(spheres, estimator, weighted):
    X, y = spheres
    weights = np.random.default_rng(6).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    fitted = FilterBoostClassifier(estimator, sampling="weights", random_state=0)
    fitted.fit(X, y, sample_weight=weights)
    worst = fitted.errors_.max()
    error = 1 - fitted.score(X, y, sample_weight=weights)
    assert worst < 0.5
    assert error <= filtering_error(worst) + 1e-12
    assert error < 1 - estimator.fit(X, y, sample_weight=weights).score(X, y, weights) - 0.02


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_three_are_better_than_one_and_nine_than_three(spheres, sampling):
    X, y = spheres
    rng = np.random.default_rng(7)
    X_test = rng.normal(size=(5000, 10))
    y_test = np.where((X_test**2).sum(axis=1) > 9.34, "out", "in")
    one, three, nine = [], [], []
    for seed in range(5):
        base = CARTClassifier(max_depth=3, random_state=seed)
        one.append(base.fit(X, y).score(X_test, y_test))
        for depth, scores in ((1, three), (2, nine)):
            model = FilterBoostClassifier(depth=depth, sampling=sampling, random_state=seed)
            scores.append(model.fit(X, y).score(X_test, y_test))
    assert np.mean(three) > np.mean(one) + 0.01
    assert np.mean(nine) > np.mean(three) + 0.01


# -- the estimator ---------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_members_committees_and_samples(spheres, depth):
    X, y = spheres
    fitted = FilterBoostClassifier(depth=depth, random_state=0).fit(X, y)
    assert fitted.committees_.shape == (3,) * depth
    n_members = len(fitted.members_)
    assert set(fitted.committees_.ravel()) == set(range(n_members))
    assert len(fitted.errors_) == len(fitted.sample_sizes_) == len(fitted) == n_members
    assert fitted.sample_sizes_[0] == round(1200 / 3**depth)
    assert fitted.sample_sizes_.sum() <= 1200
    votes = fitted.votes(X)
    assert votes.shape == (n_members, 1200)
    np.testing.assert_array_equal(
        fitted.classes_[decide(votes[fitted.committees_])], fitted.predict(X)
    )


def test_the_members_are_trained_on_what_the_filters_leave(spheres):
    """The second sees as much wrong as right; the third only what the first two differ about."""
    X, y = spheres
    fitted = FilterBoostClassifier(sampling="weights", random_state=0).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    first, second, third = fitted.votes(X)
    e = np.mean(first != codes)
    weights = np.where(first != codes, 1 / (2 * e), 1 / (2 * (1 - e)))
    expected = [e, np.average(second != codes, weights=weights)]
    expected.append(np.mean((third != codes)[first != second]))
    np.testing.assert_allclose(fitted.errors_, expected, atol=1e-12)
    root = fitted.forest_.value[fitted.forest_.tree_start[2]]
    # All of the weight of the third is on the samples that the first two differ about.
    differ = np.bincount(codes[first != second])
    np.testing.assert_allclose(root / root.sum(), differ / differ.sum(), atol=1e-9)


def test_a_first_member_without_errors_decides_alone():
    X = np.linspace(0, 1, 90)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    fitted = FilterBoostClassifier(depth=2, sampling="weights", random_state=0).fit(X, y)
    assert len(fitted.members_) == 1
    assert fitted.committees_.tolist() == [[0, 0, 0]] * 3
    assert fitted.errors_.tolist() == [0.0]
    np.testing.assert_array_equal(fitted.predict(X), y)


def test_two_that_never_differ_leave_the_first_to_decide():
    """A constant says the same on any samples."""
    y = np.array([0, 0, 1])
    run = Filtering(y, lambda given, number: (number, np.zeros(3, int)), ROOT)
    decided = run.learn(Distribution(np.ones(3)), 1)
    assert decided.who.tolist() == [0, 1, 0]
    assert decided.votes.tolist() == [0, 0, 0]
    assert run.members == [0, 1]


def test_too_few_samples_are_none():
    y = np.repeat([0, 1], 50)
    votes = np.where(np.arange(100) < 4, 1, y)

    def learn(least):
        train = lambda given, number: (number, votes)  # noqa: E731
        return Filtering(y, train, ROOT, least).learn(Stream(np.arange(100), np.ones(100)), 1)

    # The part of the second, samples 33 to 66, has none of the wrong ones.
    assert learn(1).who.tolist() == [0, 0, 0]
    votes[40:43] = 1
    assert learn(6).who.tolist() == [0, 1, 0]
    assert learn(7).who.tolist() == [0, 0, 0]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_few_samples(n_rows, depth, sampling):
    X = np.arange(n_rows, dtype=float)[:, None]
    y = np.arange(n_rows) % 2
    fitted = FilterBoostClassifier(depth=depth, sampling=sampling, random_state=0).fit(X, y)
    assert set(fitted.predict(X)) <= set(y)
    assert 1 <= len(fitted.members_) <= 3**depth


def test_where_all_three_differ_the_first_decides_and_has_the_largest_share(waveform):
    X, y = waveform
    fitted = FilterBoostClassifier(StumpClassifier(), random_state=1).fit(X, y)
    votes = fitted.committee_votes(X)
    differ = (votes[0] != votes[1]) & (votes[1] != votes[2]) & (votes[0] != votes[2])
    assert differ.sum() > 5
    shares = fitted.predict_proba(X)
    np.testing.assert_array_equal(shares.argmax(axis=1), decide(votes))
    np.testing.assert_array_equal(shares.argmax(axis=1)[differ], votes[0, differ])
    np.testing.assert_allclose(shares[differ], 1 / 3, atol=3e-9)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-15)
    assert set(np.round(shares[~differ] * 3, 12).ravel()) <= {0.0, 1.0, 2.0, 3.0}
    np.testing.assert_array_equal(np.exp(fitted.predict_log_proba(X)).round(12), shares.round(12))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_weight_two_is_twice(waveform, sampling):
    X, y = waveform
    rng = np.random.default_rng(8)
    weights = rng.integers(0, 4, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), weights))
    model = FilterBoostClassifier(depth=2, sampling=sampling, random_state=3)
    weighted = model.fit(X, y, sample_weight=weights)
    forest, who = weighted.forest_, weighted.committees_
    repeated = model.fit(X[copies], y[copies])
    assert_same_forest(forest, repeated.forest_)
    np.testing.assert_array_equal(who, repeated.committees_)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_fractional_weights_matter(waveform, sampling):
    """The first member, which sees samples as they come, says a class of more weight more."""
    X, y = waveform
    weights = np.where(y == 2, 3.5, 0.5)
    answers = []
    for given in (None, weights):
        model = FilterBoostClassifier(sampling=sampling)
        answers.append([])
        for seed in range(5):
            model.set_params(random_state=seed).fit(X, y, sample_weight=given)
            answers[-1].append(np.mean(model.votes(X)[0] == 2))
    assert np.mean(answers[1]) > np.mean(answers[0]) + 0.05


def test_max_samples_is_what_the_first_has(spheres):
    X, y = spheres
    for given, size in ((0.5, 600), (200, 200), (None, 400)):
        fitted = FilterBoostClassifier(max_samples=given, random_state=0).fit(X, y)
        assert fitted.sample_sizes_[0] == size
    drawn = FilterBoostClassifier(sampling="resample", max_samples=300, random_state=0).fit(X, y)
    assert drawn.sample_sizes_.tolist() == [300.0, 300.0, 300.0]
    with pytest.raises(ValueError, match="max_samples=1201 is more than the 1200"):
        FilterBoostClassifier(max_samples=1201).fit(X, y)


@pytest.mark.parametrize("base", [GaussianNB(), LogisticRegression(C=1e-3)], ids=str)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_members_of_any_kind(waveform, base, sampling):
    X, y = waveform[0][:400], waveform[1][:400]
    names = np.array(["a", "b", "c"])[y]
    fitted = FilterBoostClassifier(base, sampling=sampling, random_state=0).fit(X, names)
    assert fitted.score(X, names) > 0.75
    assert len(fitted.estimators_) == 3


def test_a_sample_of_one_class_is_learnt_as_that_class():
    """Logistic regression refuses one class; what is filtered may well be of one."""
    X = np.arange(30.0)[:, None]
    y = np.where(X[:, 0] == 20, 1, 0)
    fitted = FilterBoostClassifier(LogisticRegression(), random_state=2).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), np.zeros(30))


def test_learners_that_take_no_weights(waveform):
    X, y = waveform[0][:200], waveform[1][:200]
    base = KNeighborsClassifier()
    with pytest.raises(ValueError, match='sampling="weights" needs a base learner that takes'):
        FilterBoostClassifier(base, sampling="weights").fit(X, y)
    weights = np.linspace(0.5, 1.7, len(y))
    with pytest.raises(ValueError, match="sample_weight has fractions, but KNeighborsClassifier"):
        FilterBoostClassifier(base).fit(X, y, sample_weight=weights)
    drawn = FilterBoostClassifier(base, sampling="resample", random_state=0)
    assert drawn.fit(X, y, sample_weight=weights).score(X, y) > 0.8
    small = FilterBoostClassifier(base, min_samples=5, random_state=0).fit(X[:60], y[:60])
    assert (small.sample_sizes_ >= 5).all()


def test_the_rates_are_checked():
    with pytest.raises(
        ValueError, match=r"error=1\.5 is not allowed: it must be a rate from 0 to 1"
    ):
        filtering_error(1.5)
    with pytest.raises(ValueError, match="depth=-1 is not allowed: it must be 0 or more"):
        filtering_error(0.1, -1)
