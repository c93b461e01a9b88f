"""Weights, order and layout: the same samples give the same perceptrons, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.perceptrons.models import (
    N_ROWS,
    assert_same_model,
    classes,
    each_classifier,
    each_model,
    frame,
    learnt,
    samples,
    some,
    target,
)

from orfeon import (
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPBoostClassifier,
    PPTSSClassifier,
)


@pytest.mark.parametrize("as_frame", [False, True])
@each_model
def test_weight_k_is_k_copies_and_weight_zero_is_absence(model, as_frame):
    rng = np.random.default_rng(5)
    X, signal = samples()
    y = target(model, signal)
    table = frame(X) if as_frame else X
    weights = rng.integers(0, 4, N_ROWS)
    copies = rng.permutation(np.repeat(np.arange(N_ROWS), weights))
    moved = rng.permutation(N_ROWS)
    weighted = clone(model).fit(table, y, sample_weight=weights)
    for rows, given in ((copies, None), (moved, 1.0 * weights[moved])):
        other = clone(model).fit(some(table, rows), y[rows], sample_weight=given)
        assert_same_model(weighted, other)


@each_model
def test_fractional_weights_of_zero_are_absence_in_any_order(model):
    rng = np.random.default_rng(6)
    X, signal = samples()
    y = target(model, signal)
    weights = rng.uniform(0.0, 2.0, N_ROWS) * (rng.random(N_ROWS) < 0.8)
    one = clone(model).fit(X, y, sample_weight=weights)
    for rows in (rng.permutation(N_ROWS), np.flatnonzero(weights)):
        other = clone(model).fit(X[rows], y[rows], sample_weight=weights[rows])
        assert_same_model(one, other)


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_weights_of_several_classes(mode, multi_class):
    rng = np.random.default_rng(7)
    X, signal = samples()
    y = classes(signal, 3)
    weights = rng.integers(0, 4, N_ROWS)
    copies = rng.permutation(np.repeat(np.arange(N_ROWS), weights))
    model = ParallelPerceptronClassifier(mode=mode, multi_class=multi_class, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    assert_same_model(weighted, clone(model).fit(X[copies], y[copies]))


@pytest.mark.parametrize("learning_rate", ["invscaling", "adaptive", "constant"])
@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_a_factor_of_all_weights_that_count_no_copies_is_of_no_consequence(mode, learning_rate):
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(mode=mode, learning_rate=learning_rate, random_state=0)
    assert_same_model(
        clone(model).fit(X, y), clone(model).fit(X, y, sample_weight=np.full(N_ROWS, 0.5))
    )
    weights = np.random.default_rng(3).random(N_ROWS)
    some, others = (clone(model).fit(X, y, sample_weight=weights * f) for f in (1.0, 2.0**-20))
    assert_same_model(some, others)


def test_fractional_weights_are_between_those_beside_them():
    """The first step is a sum over the samples: linear in their weights."""
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(
        max_iter=1, standardize=False, tune_margin=True, eta0=1e-6, random_state=0
    )
    widened = []
    for weight in (1.0, 1.5, 2.0):
        # Others so that their sum stays, for weights that are no copies are relative.
        rest = (N_ROWS - 40 * weight / 2) / (N_ROWS - 40)
        weights = np.where(np.arange(N_ROWS) < 40, weight / 2, rest)
        fitted = clone(model).fit(X, y, sample_weight=weights)
        widened.append((fitted.margin_[0], fitted.energy_curve_[0]))
    np.testing.assert_allclose(widened[1], np.add(widened[0], widened[2]) / 2, rtol=1e-12)
    assert len({margin for margin, _ in widened}) == 3


def test_class_weights_are_weights():
    X, signal = samples()
    y = classes(signal)
    doubled = ParallelPerceptronClassifier(class_weight={0: 1, 1: 2}, eta0=0.01, random_state=0)
    by_hand = ParallelPerceptronClassifier(eta0=0.01, random_state=0, standardize=False)
    # Class weights do not take part in the standardisation, so there is none here.
    doubled.set_params(standardize=False)
    # By halves, so that they are no copies: those would be other samples to sum.
    one = doubled.fit(X, y, sample_weight=np.full(N_ROWS, 0.5))
    # Weights that are no copies have a mean of 1; class weights come on top of that.
    mean = np.where(y == 1, 2.0, 1.0).mean()
    by_hand.set_params(eta0=0.01 * mean, margin=0.05)
    other = by_hand.fit(X, y, sample_weight=np.where(y == 1, 1.0, 0.5))
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-9)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_the_rare_class_is_heard_when_classes_are_balanced():
    X, signal = samples(400, seed=3)
    y = (signal > 3.0).astype(int)
    plain = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    balanced = ParallelPerceptronClassifier(class_weight="balanced", random_state=0).fit(X, y)
    assert y.mean() < 0.12
    recall = [float(np.mean(m.predict(X)[y == 1])) for m in (plain, balanced)]
    assert recall[1] > recall[0] + 0.1


def test_weights_decide_which_class_is_of_interest():
    X, signal = samples()
    y = classes(signal)
    weights = np.where(y == 1, 10, 1)
    for kind, name in (
        (ParallelPerceptronClassifier, "minority_class_"),
        (PPTSSClassifier, "positive_class_"),
        (PPBoostClassifier, "positive_class_"),
    ):
        assert getattr(kind(random_state=0).fit(X, y), name) == 1
        assert getattr(kind(random_state=0).fit(X, y, sample_weight=weights), name) == 0


def test_measures_of_a_selection_are_weighted():
    X, signal = samples()
    y = classes(signal)
    weights = np.random.default_rng(8).uniform(0.5, 2.0, N_ROWS)
    model = PPTSSClassifier(max_rounds=1, random_state=0).fit(X, y, sample_weight=weights)
    right = model.predict(X) == y
    for label, name in ((1, "positive_accuracy"), (0, "negative_accuracy")):
        share = weights[right & (y == label)].sum() / weights[y == label].sum()
        assert 0 < share < 1
        assert model.history_[name][0] == pytest.approx(share, rel=1e-12)


@each_model
def test_the_layout_of_the_input_does_not_matter(model):
    X, signal = samples()
    X = np.round(X * 4)
    y = target(model, signal)
    spaced = np.zeros((2 * N_ROWS, 12))
    spaced[::2, ::3] = X
    read_only = X.copy()
    read_only.setflags(write=False)
    expected = clone(model).fit(X, y)
    decided = expected.predict(X)
    for given in (
        read_only, spaced[::2, ::3], np.asfortranarray(X), X[::-1].copy()[::-1],
        X.astype(np.float32), X.astype(np.int64), X.astype(np.int8), X.astype(object), X.tolist(),
    ):  # fmt: skip
        other = clone(model).fit(given, y)
        assert_same_model(expected, other)
        np.testing.assert_array_equal(other.predict(given), decided)


def test_single_precision_is_read_as_it_is():
    X, signal = samples()
    single = X.astype(np.float32)
    y = classes(signal)
    one = ParallelPerceptronClassifier(random_state=0).fit(single, y)
    assert_same_model(one, clone(one).fit(single.astype(np.float64), y))
    assert one.decision_function(single).dtype == np.float64


@each_model
def test_fitting_changes_nothing_that_was_given(model):
    X, signal = samples()
    y, weights = target(model, signal), np.random.default_rng(2).random(N_ROWS)
    before = X.tobytes(), y.tobytes(), weights.tobytes()
    fitted = clone(model).fit(X, y, sample_weight=weights)
    fitted.predict(X)
    assert (X.tobytes(), y.tobytes(), weights.tobytes()) == before


@each_model
def test_random_state_fixes_everything(model):
    X, signal = samples()
    y = target(model, signal)
    for make in (lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)):
        one, two = (clone(model).set_params(random_state=make()).fit(X, y) for _ in range(2))
        assert_same_model(one, two)
    # A generator goes on, and without a random state every fit is another.
    shared = np.random.default_rng(7)
    first, second, third, fourth = (
        clone(model).set_params(random_state=state).fit(X, y)
        for state in (shared, shared, None, None)
    )
    for one, other in ((first, second), (third, fourth)):
        mine, others = learnt(one), learnt(other)
        assert list(mine) != list(others) or any(
            mine[name].shape != others[name].shape or (mine[name] != others[name]).any()
            for name in mine
        )


@each_classifier
def test_the_number_of_threads_does_not_matter(model):
    X, signal = samples()
    y = classes(signal, 3)
    one = clone(model).fit(X, y)
    for n_jobs in (2, 4):
        assert_same_model(one, clone(model).set_params(n_jobs=n_jobs).fit(X, y))


def test_boosting_with_threads_is_the_same():
    X, signal = samples()
    one, two = (PPBoostClassifier(n_jobs=n, random_state=0) for n in (1, 2))
    assert_same_model(one.fit(X, classes(signal)), two.fit(X, classes(signal)))


def test_regression_is_about_the_weighted_target():
    """Of two values for the same rows, the prediction is nearer to the heavier one."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.tile([0.0, 1.0], 20)
    for heavy in (0.0, 1.0):
        weights = np.where(y == heavy, 10, 1)
        model = ParallelPerceptronRegressor(5, random_state=0).fit(X, y, sample_weight=weights)
        assert np.abs(model.predict(X) - heavy).max() < 0.3
