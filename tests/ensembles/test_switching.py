"""Class-switching: what is switched, and the errors and margins that follow whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL, Remembering, numbered, table
from tests.shared import load

from orfeon import C45Classifier, CARTClassifier, ClassSwitchingClassifier
from orfeon.datasets import make_ringnorm, make_twonorm, make_waveform
from orfeon.ensembles.switching import switch_labels
from orfeon.inspection import switching_error, switching_margins


def two_norms(n=200, seed=0):
    return make_twonorm(n, random_state=seed)


def switched_labels(y, n_members, **rates):
    """The labels that each member was given."""
    X = numbered(len(y))
    switching = ClassSwitchingClassifier(Remembering(), n_members, random_state=0, **rates)
    return np.array([member.y_ for member in switching.fit(X, y).estimators_])


# -- what is switched ------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.2, 0.3, 0.4, 0.49])
@pytest.mark.parametrize("n", [101, 200])
def test_each_member_errs_on_exactly_the_switched_share(rate, n):
    X, y = two_norms(n)
    switching = ClassSwitchingClassifier(n_estimators=15, switch_rate=rate, random_state=0)
    votes = switching.fit(X, y).votes(X)
    assert ((votes != y).sum(axis=1) == round(rate * n)).all()
    if rate > 0.1:
        assert len({vote.tobytes() for vote in votes}) == 15


def test_three_classes_too():
    X, y = make_waveform(150, random_state=0)
    switching = ClassSwitchingClassifier(n_estimators=9, switch_rate=0.5, random_state=0).fit(X, y)
    assert ((switching.votes(X) != y).sum(axis=1) == 75).all()


def test_the_rate_counts_copies():
    """Weights are copies, and each copy is switched on its own."""
    rng = np.random.default_rng(0)
    X, y = two_norms(100)
    weights = rng.integers(1, 4, 100)
    switching = ClassSwitchingClassifier(n_estimators=9, switch_rate=0.3, random_state=0)
    forest = switching.fit(X, y, sample_weight=weights).forest_
    leaves = forest.apply(X) + forest.tree_start[:-1]
    for t in range(9):
        # A leaf is pure, or has the copies of one row only: either way it tells what was switched.
        true = np.zeros(forest.value.shape)
        np.add.at(true, (leaves[:, t], y), weights)
        at = np.unique(leaves[:, t])
        assert np.abs(true - forest.value)[at].sum() / 2 == round(0.3 * weights.sum())
        assert (forest.value[at] > 0).all(axis=1).any()


def test_samples_are_switched_whatever_their_class():
    y = np.repeat([0, 1, 2], [20, 40, 140])
    labels = switched_labels(y, 300, switch_rate=0.3)
    counts = (labels != y).sum(axis=0)
    assert stats.chisquare(counts).pvalue > LEVEL
    by_class = np.bincount(y, weights=counts)
    assert stats.chisquare(by_class, 300 * 60 * np.array([0.1, 0.2, 0.7])).pvalue > LEVEL


def test_switched_labels_are_uniform_over_the_other_classes():
    y = np.repeat([0, 1, 2], [60, 50, 90])
    labels = switched_labels(y, 300, switch_rate=0.4)
    for c in range(3):
        got = np.bincount(labels[:, y == c].ravel(), minlength=3)
        others = np.delete(got, c)
        assert stats.binomtest(int(others[0]), int(others.sum()), 0.5).pvalue > LEVEL
    four = switch_labels(np.full(9000, 2), 4, 9000, np.random.default_rng(0))
    counts = np.bincount(four, minlength=4)
    assert counts[2] == 0
    assert stats.chisquare(counts[[0, 1, 3]]).pvalue > LEVEL


def test_class_shares_move_towards_uniform():
    """P becomes P (1 - p) + (1 - P) p / (K - 1)."""
    y = np.repeat([0, 1, 2], [140, 50, 10])
    rate, n_members = 0.4, 300
    labels = switched_labels(y, n_members, switch_rate=rate)
    before = np.bincount(y) / 200
    expected = before * (1 - rate) + (1 - before) * rate / 2
    assert np.abs(expected - 1 / 3).max() < 0.41 * np.abs(before - 1 / 3).max()
    after = np.array([np.bincount(row, minlength=3) for row in labels]) / 200
    error = after.std(axis=0, ddof=1) / np.sqrt(n_members)
    assert (np.abs(after.mean(axis=0) - expected) < stats.norm.isf(LEVEL / 6) * error).all()


# -- what follows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.4])
@pytest.mark.parametrize("n_members", [1, 3, 11, 21])
def test_training_error_follows_the_binomial_tail(rate, n_members):
    wrong = total = 0
    for seed in range(30):
        X, y = two_norms(100, seed)
        switching = ClassSwitchingClassifier(
            n_estimators=n_members, switch_rate=rate, random_state=seed
        )
        wrong += int((switching.fit(X, y).predict(X) != y).sum())
        total += 100
    tail = sum(
        stats.binom(n_members, rate).pmf(t) for t in range(n_members // 2 + 1, n_members + 1)
    )
    assert switching_error(rate, n_members) == pytest.approx(tail)
    assert stats.binomtest(wrong, total, tail).pvalue > LEVEL


@pytest.mark.parametrize("make", [make_twonorm, make_ringnorm])
@pytest.mark.parametrize("base", [CARTClassifier(), CARTClassifier(criterion="entropy", n_best=3)])
def test_margins_follow_the_binomial_centred_at_one_minus_twice_the_rate(make, base):
    rate, n_members = 0.3, 21
    right = np.zeros(n_members + 1)
    for seed in range(8):
        X, y = make(300, random_state=seed)
        switching = ClassSwitchingClassifier(base, n_members, switch_rate=rate, random_state=seed)
        votes = switching.fit(X, y).votes(X)
        right += np.bincount((votes == y).sum(axis=0), minlength=n_members + 1)
    margins, probabilities = switching_margins(rate, n_members)
    mean = float(right @ margins) / right.sum()
    assert mean == pytest.approx(1 - 2 * rate, abs=1e-9)  # exactly: 90 of 300 are switched
    expected = probabilities * right.sum()
    rare = expected < 5
    observed = np.append(right[~rare], right[rare].sum())
    assert (
        stats.chisquare(observed, np.append(expected[~rare], expected[rare].sum())).pvalue > LEVEL
    )


@pytest.mark.parametrize("name", ["sonar", "ionosphere", "diabetes"])
def test_real_data_have_the_same_training_error(name):
    """Whatever the data: the curve of a real data set is that of the binomial tail."""
    frame, target = load(name)
    X = frame.to_numpy(dtype=np.float64)
    _, once = np.unique(X, axis=0, return_index=True)
    X, y = X[once], np.unique(target[once], return_inverse=True)[1]
    rate, sizes, n_runs = 0.35, np.array([1, 5, 15, 25]), 6
    wrong = np.zeros(4)
    for seed in range(n_runs):
        switching = ClassSwitchingClassifier(n_estimators=25, switch_rate=rate, random_state=seed)
        errors = [1 - score for score in switching.fit(X, y).staged_score(X, y)]
        wrong += np.round(np.array(errors)[sizes - 1] * len(y))
    switched = round(rate * len(y)) / len(y)
    assert wrong[0] == n_runs * round(rate * len(y))
    for size, count in zip(sizes[1:], wrong[1:], strict=True):
        test = stats.binomtest(int(count), n_runs * len(y), switching_error(switched, int(size)))
        assert test.pvalue > LEVEL


def test_three_classes_err_as_the_theory_says():
    wrong = 0
    for seed in range(20):
        X, y = make_waveform(150, random_state=seed)
        switching = ClassSwitchingClassifier(n_estimators=11, switch_rate=0.4, random_state=seed)
        shares = switching.fit(X, y).vote_shares(X)
        best = shares.max(axis=1)
        tied = (shares == best[:, None]).sum(axis=1)
        # The theory tosses a coin between tied classes.
        wrong += (1.0 - np.where(shares[np.arange(150), y] == best, 1.0 / tied, 0.0)).sum()
    expected = switching_error(0.4, 11, n_classes=3)
    error = np.sqrt(expected * (1 - expected) / 3000)
    assert abs(wrong / 3000 - expected) < stats.norm.isf(LEVEL / 2) * error


def test_a_base_that_prunes_does_not_learn_by_heart():
    X, y = two_norms(200)
    switching = ClassSwitchingClassifier(C45Classifier(), 9, switch_rate=0.3, random_state=0)
    errors = (switching.fit(X, y).votes(X) != y).mean(axis=1)
    assert errors.mean() < 0.28
    assert (errors != 0.3).all()


# -- rates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "rate"), [(2, 0.3), (3, 0.4), (4, 0.45)])
def test_the_default_is_three_fifths_of_the_limit(n_classes, rate):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.arange(40) % n_classes
    switching = ClassSwitchingClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert switching.switch_rate_ == pytest.approx(rate)
    half = ClassSwitchingClassifier(n_estimators=3, relative_rate=0.5, random_state=0).fit(X, y)
    assert half.switch_rate_ == pytest.approx(rate * 5 / 6)
    # A rate that is given comes first.
    given = ClassSwitchingClassifier(n_estimators=3, switch_rate=0.1, relative_rate=7).fit(X, y)
    assert given.switch_rate_ == 0.1


def test_one_class_has_nothing_to_switch_to():
    X = np.random.default_rng(0).normal(size=(20, 2))
    switching = ClassSwitchingClassifier(n_estimators=3).fit(X, np.full(20, "only"))
    assert switching.switch_rate_ == 0
    assert set(switching.predict(X)) == {"only"}


@pytest.mark.parametrize(
    ("rate", "n_classes", "limit"), [(0.5, 2, "0.5"), (0.7, 3, "0.6667"), (0.75, 4, "0.75")]
)
def test_a_rate_beyond_the_limit_is_refused_with_the_limit_in_the_message(rate, n_classes, limit):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match=rf"switch_rate={rate} is not allowed.*= {limit},"):
        ClassSwitchingClassifier(switch_rate=rate).fit(X, np.arange(40) % n_classes)


def test_a_relative_rate_of_one_is_refused():
    X, y = table(ClassSwitchingClassifier())
    with pytest.raises(ValueError, match=r"relative_rate=1\.0 is not allowed.*below 1"):
        ClassSwitchingClassifier(relative_rate=1.0).fit(X, y)


@pytest.mark.parametrize(
    "given", [{"switch_rate": -0.1}, {"switch_rate": 1.0}, {"relative_rate": -1}]
)
def test_impossible_rates_are_refused(given):
    X, y = table(ClassSwitchingClassifier())
    with pytest.raises(ValueError, match=f"'{next(iter(given))}' parameter"):
        ClassSwitchingClassifier(**given).fit(X, y)
