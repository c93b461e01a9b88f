"""ParallelPerceptronRegressor: range, tolerance, constants, going on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score
from tests.perceptrons.models import N_ROWS, assert_same_model, samples

from orfeon import ParallelPerceptronClassifier, ParallelPerceptronRegressor
from orfeon.datasets import make_friedman1


@pytest.fixture(scope="module")
def smooth():
    """A sum of a square and a line on 400 points."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    return X, X[:, 0] ** 2 + X[:, 1]


def test_it_learns_what_it_can_say(smooth):
    X, y = smooth
    model = ParallelPerceptronRegressor(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.78
    assert model.energy_curve_[-1] < 0.9 * model.energy_curve_[0]
    assert model.weights_.shape == (1, 51, 3)
    np.testing.assert_allclose(np.linalg.norm(model.weights_[0], axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_it_is_better_than_the_mean_on_new_rows(mode):
    X, y = make_friedman1(300, random_state=0)
    model = ParallelPerceptronRegressor(mode=mode, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.5
    assert cross_val_score(DummyRegressor(), X, y, cv=3).mean() < 0.0


def test_predictions_do_not_leave_the_range_and_are_few():
    X, y = samples()
    far = np.random.default_rng(1).normal(size=(3000, 4)) * 100
    for n_perceptrons, rho in ((1, None), (4, None), (10, 3.0), (7, 20.0)):
        model = ParallelPerceptronRegressor(n_perceptrons, rho=rho, random_state=0).fit(X, y)
        answers = model.predict(far)
        low, high = model.target_range_
        assert (low, high) == (y.min(), y.max())
        assert answers.min() >= low
        assert answers.max() <= high
        assert 1 < len(set(answers)) <= n_perceptrons + 1
        # The mean vote, cut at rho.
        signs = np.where(model.inputs_.of(far) @ model.weights_[0].T >= 0, 1, -1).sum(axis=1)
        share = np.clip(signs / (rho or n_perceptrons), -1, 1) / 2 + 0.5
        np.testing.assert_allclose(answers, low + (high - low) * share, atol=1e-12 * (high - low))


def test_a_small_rho_reaches_the_ends_of_the_range():
    X, y = samples()
    narrow, wide = (
        ParallelPerceptronRegressor(21, rho=rho, random_state=0).fit(X, y).predict(X)
        for rho in (3.0, 63.0)
    )
    assert {y.min(), y.max()} & set(narrow)
    # With rho three times their number, the votes span a third of the range.
    middle, third = (y.min() + y.max()) / 2, (y.max() - y.min()) / 6
    assert np.abs(wide - middle).max() <= third + 1e-12


@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_a_constant_is_predicted_exactly(mode):
    rng = np.random.default_rng(2)
    X, _ = samples()
    for value in [0.0, -0.1, 1e150, *(rng.normal(size=20) * 10.0 ** rng.integers(-9, 9, 20))]:
        model = ParallelPerceptronRegressor(5, mode=mode, max_iter=3, random_state=0)
        assert set(model.fit(X, np.full(N_ROWS, value)).predict(3 * X)) == {value}
        assert model.target_range_ == (value, value)


def test_the_unit_of_the_target_does_not_matter():
    """Targets are scaled to [-1, 1]; only the order of the sums is another."""
    X, y = samples()
    one, other = (
        ParallelPerceptronRegressor(max_iter=20, random_state=0).fit(X, factor * y + 2 * factor)
        for factor in (1.0, 2.0**40)
    )
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-9)
    np.testing.assert_allclose(other.predict(X), 2.0**40 * one.predict(X), rtol=1e-12)


def test_targets_may_be_whole_numbers_and_the_largest():
    X, y = samples()
    rounded = np.round(10 * y).astype(int)
    model = ParallelPerceptronRegressor(random_state=0)
    answers = clone(model).fit(X, rounded).predict(X)
    np.testing.assert_array_equal(answers, clone(model).fit(X, rounded.astype(float)).predict(X))
    largest = clone(model).fit(X, np.where(y > 1, 1e150, -1e150))
    assert np.abs(largest.predict(X)).max() <= 1e150
    with pytest.raises(ValueError, match=r"y has values beyond 1e\+150"):
        clone(model).fit(X, y * 1e200)


def test_the_tolerance_is_a_share_of_the_range():
    X, y = samples()
    span = y.max() - y.min()
    for tolerance in (0.05, 0.3):
        ten, eleven = (
            ParallelPerceptronRegressor(epsilon=tolerance, max_iter=n, random_state=0).fit(X, y)
            for n in (10, 11)
        )
        wrong = np.abs(ten.predict(X) - y) > tolerance * span
        assert 0 < wrong.mean() < 1
        assert eleven.error_curve_[10] == pytest.approx(wrong.mean(), abs=1e-12)


@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_early_stopping_ends_within_the_tolerance(smooth, mode):
    X, y = smooth
    model = ParallelPerceptronRegressor(
        mode=mode, epsilon=0.4, learning_rate="constant", early_stopping=True, random_state=0
    ).fit(X, y)
    assert 0 < model.n_iter_ < 250
    assert model.error_curve_[-1] == 0
    if mode == "batch":
        assert np.abs(model.predict(X) - y).max() <= 0.4 * np.ptp(y)


def test_two_targets_at_rho_one_are_two_classes():
    X, signal = samples()
    y = (signal > 1.2).astype(int)
    given = {"max_iter": 50, "eta0": 0.01, "init": 0.2, "rule": "auer", "random_state": 0}
    given["margin_weight"] = 0.12
    numbers = ParallelPerceptronRegressor(3, rho=1, epsilon=0.1, **given).fit(X, y)
    labels = ParallelPerceptronClassifier(3, **given).fit(X, y)
    # The order of the samples is that of their hashes, which is the same here.
    np.testing.assert_allclose(numbers.weights_, labels.weights_, atol=1e-9)
    np.testing.assert_array_equal(numbers.predict(X), labels.predict(X))


@pytest.mark.parametrize("learning_rate", ["invscaling", "adaptive", "constant"])
def test_one_chunk_again_and_again_is_one_fit(learning_rate):
    X, y = samples()
    model = ParallelPerceptronRegressor(
        11, learning_rate=learning_rate, max_iter=20, random_state=0
    )
    whole = clone(model).fit(X, y)
    for _ in range(20):
        model.partial_fit(X, y)
    assert_same_model(model, whole)


def test_the_first_chunk_says_what_the_range_is():
    X, y = samples()
    model = ParallelPerceptronRegressor(random_state=0).partial_fit(X[:60], y[:60])
    before = model.target_range_
    with pytest.warns(UserWarning, match="predictions stay in the range"):
        model.partial_fit(X[60:], 100 * y[60:])
    assert model.target_range_ == before == (y[:60].min(), y[:60].max())
    assert model.predict(X).max() <= before[1]
    assert model.n_iter_ == len(model.energy_curve_) == 2


def test_a_warm_start_goes_on():
    X, y = samples()
    given = {"learning_rate": "constant", "random_state": 0}
    whole = ParallelPerceptronRegressor(11, max_iter=10, **given).fit(X, y)
    warm = ParallelPerceptronRegressor(11, max_iter=5, warm_start=True, **given)
    warm.fit(X, y).fit(X, y)
    np.testing.assert_array_equal(warm.weights_, whole.weights_)
    with pytest.raises(ValueError, match="n_perceptrons cannot change from 11 to 9"):
        warm.set_params(n_perceptrons=9).fit(X, y)


def test_energy_is_that_of_the_next_epoch():
    X, y = samples()
    weights = np.random.default_rng(3).integers(1, 4, N_ROWS)
    ten, eleven = (
        ParallelPerceptronRegressor(max_iter=n, random_state=0).fit(X, y, sample_weight=weights)
        for n in (10, 11)
    )
    assert ten.energy(X, y, weights) == pytest.approx(eleven.energy_curve_[10], rel=1e-12)


def test_verbose_shows_the_epochs(capsys):
    X, y = samples()
    ParallelPerceptronRegressor(max_iter=40, verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("ParallelPerceptronRegressor  40/40")


def test_more_than_one_target_is_refused():
    X, y = samples()
    with pytest.raises(ValueError, match="1d array"):
        ParallelPerceptronRegressor().fit(X, np.column_stack([y, y]))
