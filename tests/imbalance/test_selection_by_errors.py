"""Selection of samples by the errors of a network: Duch's SVNT, Zhang's and Röbel's selection."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from tests.oracles import sample_selection as oracle

pytest.importorskip("imblearn")

from orfeon.datasets import make_gaussian_clouds
from orfeon.imbalance import (
    DynamicPatternSelection,
    IncrementalSelection,
    SupportVectorSelection,
)
from orfeon.imbalance.incremental_selection import add_critical_samples
from orfeon.imbalance.pattern_selection import add_samples_when_overfitted
from orfeon.imbalance.support_vectors import select_support_vectors
from orfeon.imbalance.trainee import Trainee

KINDS = (SupportVectorSelection, IncrementalSelection, DynamicPatternSelection)
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def clouds():
    return make_gaussian_clouds(300, priors=(0.8, 0.2), random_state=0)


def small(kind, **settings):
    shared = {"estimator": SGDClassifier(loss="log_loss"), "n_epochs": 2, "random_state": 0}
    return kind(**{**shared, **settings})


@pytest.mark.parametrize("seed", range(40))
def test_support_vectors_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    n, n_rounds = int(rng.integers(1, 12)), 30
    errors = rng.integers(0, 21, (n_rounds, n)) / 20
    errors *= np.linspace(1, rng.random(), n_rounds)[:, None]
    accuracies = np.sort(rng.integers(0, 30, n_rounds)) / 30
    accuracies[rng.random(n_rounds) < 0.3] = 0.0
    settings = {"step": [0.03, 0.1, 0.3][seed % 3], "patience": 3, "max_rounds": n_rounds}
    trained = []

    def look():
        return errors[len(trained) - 1], accuracies[len(trained) - 1]

    found = select_support_vectors(
        n, lambda rows: trained.append(rows.tolist()), look, lambda rows: len(rows) > 0, **settings
    )
    kept, sizes = oracle.support_vectors(
        n, lambda number, rows: (errors[number], accuracies[number]), **settings
    )
    assert found.rows.tolist() == kept
    assert found.n_trained == sizes == [len(rows) for rows in trained]


def test_support_vectors_by_hand():
    """The certain sample 0 and the outlier 3 go at once; 0 comes back when its error grows."""
    rounds = [
        ([0.0, 0.3, 0.6, 1.0], 0.5),
        ([0.1, 0.3, 0.6, 1.0], 0.5),
        ([0.1, 0.1, 0.6, 1.0], 0.75),
    ]
    trained = []
    found = select_support_vectors(
        4, lambda rows: trained.append(rows.tolist()),
        lambda: (np.array(rounds[len(trained) - 1][0]), rounds[len(trained) - 1][1]),
        lambda rows: len(rows) > 0, step=0.1, max_rounds=3,
    )  # fmt: skip
    # Round 2: 0 comes back, so the threshold falls to 0 and all are near enough; the step is 1/12.
    assert trained == [[0, 1, 2, 3], [1, 2], [0, 1, 2, 3]]
    assert found.rows.tolist() == [0, 1, 2]
    assert found.threshold == pytest.approx(0.1 / 1.2)


@pytest.mark.parametrize("seed", range(40))
def test_critical_samples_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    errors = rng.integers(0, 5, (10, n)) / 4
    start = rng.permutation(n)[: rng.integers(1, n + 1)]
    settings = {"n_added": int(rng.integers(1, 4)), "tolerance": 0.5, "max_rounds": 1 + seed % 9}
    trained = []
    found = add_critical_samples(
        start, lambda rows: trained.append(rows), lambda: errors[len(trained) - 1], **settings
    )
    expected = oracle.incremental(start.tolist(), lambda number, rows: errors[number], **settings)
    assert [rows.tolist() for rows in found] == expected == [rows.tolist() for rows in trained]


@pytest.mark.parametrize("seed", range(40))
def test_dynamic_patterns_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    n, n_rounds = int(rng.integers(3, 15)), 25
    errors = rng.integers(0, 9, (n_rounds, n)) / 8
    rows = rng.permutation(n)
    n_validation = int(rng.integers(1, n - 1))
    validation, candidates = rows[:n_validation], rows[n_validation:]
    settings = {"n_latest": 1 + seed % 4, "tolerance": [0.0, 0.3][seed % 2], "max_rounds": n_rounds}
    trained = []
    found = add_samples_when_overfitted(
        candidates[:1], candidates, validation, lambda rows: trained.append(rows),
        lambda: errors[len(trained) - 1], **settings,
    )  # fmt: skip
    expected = oracle.dynamic_patterns(
        candidates[:1].tolist(), candidates.tolist(), validation.tolist(),
        lambda number, rows: errors[number], **settings,
    )  # fmt: skip
    assert [rows.tolist() for rows in found] == expected == [rows.tolist() for rows in trained]


def test_dynamic_patterns_by_hand():
    """Factors 1, 4 and 1: the second is above the limit of 1, so the worst candidate joins."""
    rounds = [[0.5, 0.1, 0.9, 0.5], [0.25, 0.1, 0.9, 0.5], [0.5, 0.1, 0.5, 0.5]]
    trained = []
    found = add_samples_when_overfitted(
        np.array([0]), np.array([0, 1, 2]), np.array([3]), lambda rows: trained.append(rows),
        lambda: np.array(rounds[len(trained) - 1]), n_latest=10, tolerance=0.1, max_rounds=3,
    )  # fmt: skip
    assert [rows.tolist() for rows in found] == [[0], [0], [0, 2]]


def test_validation_samples_are_not_trained_on(clouds):
    X, y = clouds
    sampler = small(DynamicPatternSelection, max_rounds=60)
    sampler.fit_resample(X, y)
    held_out = sampler.validation_indices_
    assert not np.isin(held_out, sampler.sample_indices_).any()
    assert np.bincount(y[held_out]).tolist() == [round(0.2 * n) for n in np.bincount(y)]
    assert (np.diff(sampler.history_) <= 1).all()
    assert sampler.history_[-1] == len(sampler.sample_indices_) > 2


def test_errors_are_the_largest_over_the_classes():
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    trainee = Trainee(SGDClassifier(loss="log_loss"), X, np.array(["a", "b", "c", "c"]), 0)
    trainee.train(np.arange(4), 3)
    shares = trainee.model.predict_proba((X - X.mean()) / X.std())
    targets = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    errors, accuracy = trainee.errors()
    np.testing.assert_allclose(errors, np.abs(shares - targets).max(axis=1))
    assert accuracy == np.mean(shares.argmax(axis=1) == [0, 1, 2, 2])


@each_kind
def test_the_seed_fixes_the_selection(kind, clouds):
    first, again = (small(kind).fit_resample(*clouds)[1].tolist() for _ in range(2))
    assert first == again
    sampler = small(kind)
    sampler.fit_resample(*clouds)
    assert 0 < len(sampler.sample_indices_) < 300
    first = {SupportVectorSelection: 300, IncrementalSelection: 30, DynamicPatternSelection: 2}
    assert sampler.history_[0] == first[kind]


@each_kind
def test_only_the_classes_of_the_strategy_lose_samples(kind, clouds):
    X, y = clouds
    kept = small(kind, sampling_strategy="majority").fit_resample(X, y)[1]
    assert np.sum(kept == 1) == np.sum(y == 1)
    assert np.sum(kept == 0) < np.sum(y == 0)


@each_kind
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_epochs": 0}, "The 'n_epochs' parameter"),
        ({"max_rounds": 0}, "The 'max_rounds' parameter"),
        ({"estimator": LogisticRegression()}, "The 'estimator' parameter"),
    ],
    ids=str,
)
def test_bad_settings_are_named(kind, setting, message, clouds):
    with pytest.raises(ValueError, match=message):
        kind(**setting).fit_resample(*clouds)


def test_shares_and_steps_have_limits(clouds):
    for setting in ({"step": 0.0}, {"step": 0.5}, {"n_iter_no_change": 0}):
        with pytest.raises(ValueError, match=next(iter(setting))):
            SupportVectorSelection(**setting).fit_resample(*clouds)
    for setting in ({"validation_share": 1.0}, {"n_latest": 0}, {"tolerance": -0.1}):
        with pytest.raises(ValueError, match=next(iter(setting))):
            DynamicPatternSelection(**setting).fit_resample(*clouds)
    for setting in ({"initial_share": 0.0}, {"added_share": 1.1}, {"tolerance": 1.0}):
        with pytest.raises(ValueError, match=next(iter(setting))):
            IncrementalSelection(**setting).fit_resample(*clouds)


@each_kind
def test_categories_are_refused(kind):
    with pytest.raises(ValueError, match="trains a network, so X must hold numbers"):
        kind().fit_resample([["red"], ["blue"], ["red"]], [0, 1, 0])
