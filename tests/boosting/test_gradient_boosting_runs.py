"""Gradient boosting that goes on from before, that stops early, or that is stopped."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.boosting.first_order import mart_classifier, mart_regressor
from tests.boosting.gradient_settings import data, each, scores
from tests.shared import assert_same_forest

from orfeon import GradientBoostingClassifier
from orfeon.boosting import gradient_base
from orfeon.datasets import make_waveform
from orfeon.growth import histogram

# -- warm start ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {},
        {
            "early_stopping": "validation", "n_iter_no_change": 4, "validation_fraction": 0.2,
            "tol": 0.0, "learning_rate": 0.6,
        },
        {"n_iter_no_change": 3, "early_stopping": "cv", "n_folds": 3, "learning_rate": 0.6},
    ],
    ids=["plain", "validation", "cv"],
)  # fmt: skip
@each
def test_a_warm_start_is_a_fit_from_scratch_to_the_bit(estimator, more):
    X, y = data(estimator)
    warm = clone(estimator).set_params(warm_start=True, **more)
    for n in (3, 4, 15):
        warm.set_params(n_estimators=n).fit(X, y)
    cold = clone(estimator).set_params(n_estimators=15, **more).fit(X, y)
    assert_same_forest(warm.forest_, cold.forest_)
    np.testing.assert_array_equal(warm.train_loss_, cold.train_loss_)
    np.testing.assert_array_equal(scores(warm, X), scores(cold, X))
    np.testing.assert_array_equal(warm.feature_importances_, cold.feature_importances_)
    if more:
        np.testing.assert_array_equal(warm.validation_loss_, cold.validation_loss_)


def test_the_learning_rate_may_change_on_the_way(friedman):
    X, y = friedman
    warm = mart_regressor(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    before = warm.predict(X)
    warm.set_params(n_estimators=9, learning_rate=0.02).fit(X, y)
    stages = list(warm.staged_predict(X))
    np.testing.assert_array_equal(stages[4], before)
    assert np.abs(stages[5] - stages[4]).max() < 0.2 * np.abs(stages[4] - stages[3]).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_estimators": 3}, "n_estimators=3 is less than the 5 existing rounds"),
        ({"loss": "absolute_error"}, "the loss of the previous fit"),
        ({"learning_rate": 1e200, "n_estimators": 9}, r"learning_rate=1e\+200 makes the scores"),
        ({"max_features": 99, "n_estimators": 6}, "max_features=99 is more than"),
        ({"max_features_per_tree": 99, "n_estimators": 6}, "max_features_per_tree=99 is more than"),
    ],
)
def test_a_refused_fit_leaves_the_model_as_it_was(friedman, change, message):
    X, y = friedman
    model = mart_regressor(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    expected, losses = model.predict(X), model.train_loss_
    with pytest.raises(ValueError, match=message):
        model.set_params(**change).fit(X, y)
    assert model.get_params()[next(iter(change))] == next(iter(change.values()))
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.train_loss_, losses)


@pytest.mark.parametrize("warm_start", [True, False])
def test_a_killed_fit_leaves_the_model_as_it_was(friedman, monkeypatch, warm_start):
    X, y = friedman
    model = mart_regressor(n_estimators=5, random_state=0).fit(X, y)
    expected = model.predict(X)
    state = dict(model.__dict__)

    class Killed(gradient_base.Progress):
        def update(self, n=1, fitted=None):
            raise KeyboardInterrupt

    monkeypatch.setattr("orfeon.utils.progress.Progress.update", Killed.update)
    model.set_params(warm_start=warm_start, n_estimators=9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X if warm_start else X[:, :3], y)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert set(model.__dict__) == set(state)


def test_a_fit_that_fails_leaves_no_trace(friedman):
    model = mart_regressor(learning_rate=1e200)
    with pytest.raises(ValueError, match="makes the scores diverge"):
        model.fit(*friedman)
    assert not hasattr(model, "members_")
    assert not hasattr(model, "n_features_in_")


def test_other_features_or_classes_are_no_warm_start(waveform):
    X, y = waveform
    model = mart_classifier(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    model.set_params(n_estimators=4)
    for others in ((X[:, :5], y), (X, y + 1), (X, y % 2)):
        with pytest.raises(ValueError, match="continues with the features, the classes"):
            model.fit(*others)
        np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_other_samples_are_no_warm_start(friedman, loss):
    X, y = friedman
    model = mart_regressor(loss=loss, n_estimators=2, warm_start=True, random_state=0)
    expected = model.fit(X, y).predict(X)
    model.set_params(n_estimators=4)
    for others in ((X[1:], y[1:]), (X, y + 1.0), (X, y, np.arange(200) + 1)):
        with pytest.raises(ValueError, match="continues with the samples of the previous fit"):
            model.fit(*others)
        np.testing.assert_array_equal(model.predict(X), expected)
    order = np.random.default_rng(0).permutation(200)
    cold = mart_regressor(loss=loss, n_estimators=4, random_state=0).fit(X, y)
    assert_same_forest(model.fit(X[order], y[order]).forest_, cold.forest_)


def test_a_warm_start_without_more_rounds_says_so(friedman):
    model = mart_regressor(n_estimators=2, warm_start=True, random_state=0)
    expected = model.fit(*friedman).train_loss_
    with pytest.warns(
        UserWarning, match="n_estimators=2, as many members as there are: none"
    ) as answers:
        model.fit(*friedman)
    assert answers[0].filename == __file__
    np.testing.assert_array_equal(model.train_loss_, expected)


# -- rounds that do harm ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        mart_regressor(learning_rate=2.5, n_estimators=10, random_state=0),
        mart_classifier(learning_rate=50.0, n_estimators=10, random_state=0),
    ],
    ids=str,
)
def test_a_learning_rate_that_does_harm_is_told(model):
    X, y = data(model)
    with pytest.warns(UserWarning, match="Give a smaller learning_rate") as answers:
        model.fit(X, y)
    assert answers[0].filename == __file__
    assert f"learning_rate={model.learning_rate} is too large" in str(answers[0].message)
    constant = np.log(3) if isinstance(model, GradientBoostingClassifier) else 0.5 * y.var()
    assert model.train_loss_[-1] > 0.9 * constant


def test_a_sample_that_misleads_is_not_the_learning_rate():
    """With nothing to learn from, each round says the mean of the part that it sees."""
    y = np.random.default_rng(0).normal(size=20)
    model = mart_regressor(n_estimators=9, subsample=0.3, random_state=0)
    model.fit(np.zeros((20, 1)), y)
    assert model.train_loss_[-1] > 0.5 * y.var()


# -- early stopping --------------------------------------------------------------------------------


@pytest.mark.parametrize("early_stopping", ["validation", "cv"])
def test_boosting_stops_when_it_helps_no_more(early_stopping):
    X, y = make_waveform(300, random_state=5)
    model = mart_classifier(
        n_estimators=500, n_iter_no_change=5, tol=0.0, early_stopping=early_stopping,
        validation_fraction=0.3, n_folds=3, learning_rate=0.3, random_state=0,
    )  # fmt: skip
    model.fit(X, y)
    curve = model.validation_loss_
    assert model.n_estimators_ == np.argmin(curve) + 1 == len(curve) - 5
    assert 5 < model.n_estimators_ < 100
    assert len(model.train_loss_) == model.n_estimators_ == len(model.forest_) // 3


def test_with_cross_validation_all_samples_are_used(friedman):
    X, y = friedman
    how = {"learning_rate": 0.5, "random_state": 0}
    model = mart_regressor(n_estimators=100, n_iter_no_change=3, early_stopping="cv", **how).fit(
        X, y
    )
    assert model.n_estimators_ < 100
    plain = mart_regressor(n_estimators=model.n_estimators_, **how).fit(X, y)
    assert_same_forest(model.forest_, plain.forest_)
    assert (model.forest_.node_weight[model.forest_.tree_start[:-1]] == 200).all()


def test_the_validation_loss_is_that_of_samples_set_aside(friedman):
    X, y = friedman
    model = mart_regressor(
        n_estimators=20, n_iter_no_change=50, validation_fraction=0.25, random_state=0
    ).fit(X, y)
    assert model.n_estimators_ == 20  # it did not stop, so nothing is dropped
    grown = model.forest_.node_weight[0]
    assert grown == 150
    losses = 0.5 * (y - np.array(list(model.staged_predict(X)))) ** 2
    inside = model.train_loss_ * 150
    np.testing.assert_allclose(losses.sum(axis=1) - inside, model.validation_loss_ * 50, rtol=1e-9)


def test_copies_are_not_set_aside_apart(friedman):
    """A copy of a training sample among the validation samples would be no test."""
    X, y = friedman
    model = mart_regressor(
        n_estimators=60, n_iter_no_change=60, max_depth=None, learning_rate=1.0,
        validation_fraction=0.3, random_state=0,
    )  # fmt: skip
    model.fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert model.train_loss_[-1] < 1e-20
    assert model.validation_loss_[-1] > 1.0


def test_small_classes_are_set_aside_together():
    """A tenth of four samples is none, a tenth of twelve is one; no class is lost to training."""
    X, y = np.arange(12.0)[:, None], np.arange(12) // 4
    for seed in range(5):
        model = mart_classifier(n_estimators=2, n_iter_no_change=2, random_state=seed)
        assert model.fit(X, y).forest_.node_weight[0] == 11
    alone = mart_classifier(n_estimators=2, n_iter_no_change=2, random_state=0)
    with pytest.warns(UserWarning, match="sets none of the 2 samples aside"):
        assert alone.fit(X[:2], [0, 1]).forest_.node_weight[0] == 2


def test_without_samples_to_set_aside_nothing_stops():
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, 1.0])
    model = mart_regressor(n_estimators=7, n_iter_no_change=2)
    with pytest.warns(UserWarning, match=r"validation_fraction=0.1 sets none of the 2 samples"):
        assert model.fit(X, y).n_estimators_ == 7
    with pytest.raises(
        ValueError, match=r"early_stopping='cv' needs at least two different samples"
    ):
        model.set_params(early_stopping="cv").fit(X, y)


@pytest.mark.parametrize("early_stopping", ["validation", "cv"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_the_unit_of_the_targets_does_not_decide_when_to_stop(friedman, loss, early_stopping):
    X, y = friedman
    model = mart_regressor(
        loss=loss, n_estimators=60, n_iter_no_change=3, tol=0.01, early_stopping=early_stopping,
        n_folds=3, learning_rate=0.3, random_state=0,
    )  # fmt: skip
    plain = clone(model).fit(X, y)
    small = clone(model).fit(X, y * 2.0**-10)
    assert 2 < plain.n_estimators_ < 60
    assert small.n_estimators_ == plain.n_estimators_
    np.testing.assert_allclose(small.predict(X) * 2.0**10, plain.predict(X), rtol=1e-9)


def test_tol_is_a_share_of_the_loss_of_the_constant(friedman):
    X, y = friedman
    model = mart_regressor(
        n_estimators=100, n_iter_no_change=1, tol=0.02, validation_fraction=0.25, random_state=0
    ).fit(X, y)
    curve, best = model.validation_loss_, model.n_estimators_
    # What is set aside is what the training loss leaves of the loss of all.
    whole, inside = 0.5 * np.mean((y - model.init_[0]) ** 2), model.forest_.node_weight[0]
    assert inside == 150
    all_losses = 0.5 * np.mean((y - next(model.staged_predict(X))) ** 2)
    assert 4 * all_losses - 3 * model.train_loss_[0] == pytest.approx(curve[0], rel=1e-9)
    falls = -np.diff(curve[: best + 1])
    assert falls[-1] <= 0.02 * 1.5 * whole
    assert falls[:-1].min() > 0.02 * 0.67 * whole


def test_no_validation_loss_of_an_earlier_fit_is_left(friedman):
    X, y = friedman
    model = mart_regressor(n_estimators=3, n_iter_no_change=2, random_state=0)
    assert len(model.fit(X, y).validation_loss_) == 3
    with pytest.warns(UserWarning, match="sets none of the 2 samples aside"):
        model.fit(X[:2], y[:2])
    assert not hasattr(model, "validation_loss_")


def test_folds_share_the_threads(friedman, monkeypatch):
    n_jobs = []

    class Trees(histogram.HistogramTrees):
        def __init__(self, *data, **how):
            n_jobs.append(how["n_jobs"])
            super().__init__(*data, **how)

    monkeypatch.setattr(histogram, "HistogramTrees", Trees)
    for given in (1, 2, 6):
        mart_regressor(
            n_estimators=2, n_iter_no_change=2, early_stopping="cv", n_folds=3, n_jobs=given,
            tree_method="histogram",
        ).fit(*friedman)  # fmt: skip
    assert n_jobs == [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 6]
