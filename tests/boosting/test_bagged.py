"""Bagged boosting: members stop on what they did not see, and so are judged on it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import orfeon
from orfeon import (
    BaggedBoostingClassifier,
    BaggedBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from orfeon.datasets import make_friedman1, make_waveform

CLASSES = make_waveform(120, random_state=0)
NUMBERS = make_friedman1(120, random_state=0)
FEW = GradientBoostingClassifier(n_estimators=25, max_depth=2)
FEW_OF_NUMBERS = GradientBoostingRegressor(n_estimators=25, max_depth=2)
WAYS = [
    BaggedBoostingClassifier(FEW, 6, n_folds=3, random_state=0),
    BaggedBoostingClassifier(FEW, 6, n_folds=None, random_state=0),
    BaggedBoostingClassifier(FEW, 4, n_folds=None, bootstrap="balanced", random_state=0),
    BaggedBoostingRegressor(FEW_OF_NUMBERS, 6, n_folds=3, random_state=0),
    BaggedBoostingRegressor(FEW_OF_NUMBERS, 6, n_folds=None, max_samples=0.7, random_state=0),
]
ways = pytest.mark.parametrize("model", WAYS, ids=str)


def data(model):
    return CLASSES if isinstance(model, BaggedBoostingClassifier) else NUMBERS


def fit(model, X, y, *rest):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few members some rows are seen by all
        return clone(model).set_params(oob_score=True).fit(X, y, *rest)


def outputs(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@ways
def test_each_member_is_a_model_stopped_on_what_it_left_out(model):
    X, y = data(model)
    fitted = fit(model, X, y)
    seen = fitted.in_bag(X, y)
    assert ((seen == 0).sum(axis=1) > 20).all()
    codes = np.unique(y, return_inverse=True)[1] if hasattr(fitted, "classes_") else y
    for t, member in enumerate(fitted.estimators_):
        out = seen[t] == 0
        alone = clone(fitted.estimator_).set_params(random_state=member.random_state)
        alone.fit(X, codes, seen[t], X_val=X[out], y_val=codes[out])
        np.testing.assert_array_equal(outputs(alone, X), outputs(member, X))
        np.testing.assert_allclose(alone.validation_loss_, member.validation_loss_, rtol=1e-12)
    assert fitted.n_rounds_.tolist() == [m.n_estimators_ for m in fitted.estimators_]
    mean = np.mean([outputs(member, X) for member in fitted.estimators_], axis=0)
    np.testing.assert_allclose(outputs(fitted, X), mean, rtol=1e-12)


@ways
def test_out_of_bag_predictions_are_those_of_members_that_did_not_see_the_row(model):
    X, y = data(model)
    fitted = fit(model, X, y)
    out = fitted.in_bag(X, y) == 0
    each = np.array([outputs(member, X) for member in fitted.estimators_])
    shown = getattr(fitted, "oob_decision_function_", None)
    shown = fitted.oob_prediction_ if shown is None else shown
    for i in range(len(y)):
        if out[:, i].any():
            np.testing.assert_allclose(shown[i], each[out[:, i], i].mean(axis=0), rtol=1e-12)
        else:
            assert np.isnan(shown[i]).all()


def test_every_row_is_left_out_once_by_the_models_of_the_folds():
    X, y = CLASSES
    fitted = fit(BaggedBoostingClassifier(FEW, 8, n_folds=4, random_state=0), X, y)
    out = fitted.in_bag(X, y) == 0
    np.testing.assert_array_equal(out[:4].sum(axis=0), np.ones(120))
    np.testing.assert_array_equal(out[4:].sum(axis=0), np.ones(120))
    assert (out[:4] != out[4:]).any()
    # Each fold has its share of each class.
    for fold in out:
        np.testing.assert_allclose(np.bincount(y[fold]), np.bincount(y) / 4, atol=1.0)
    assert np.isfinite(fitted.oob_decision_function_).all()


@ways
def test_order_threads_and_copies_change_no_bit(model):
    X, y = data(model)
    weights = np.random.default_rng(0).integers(0, 3, 120)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(120), weights))
    one = fit(model, X, y, weights.astype(float))
    other = fit(clone(model).set_params(n_jobs=2), X[copies], y[copies])
    np.testing.assert_array_equal(outputs(one, X), outputs(other, X))
    assert one.oob_error_ == pytest.approx(other.oob_error_, rel=1e-12)


@ways
def test_a_warm_start_is_a_single_fit(model):
    X, y = data(model)
    if model.bootstrap == "balanced":  # balanced among the members of a fit
        return
    whole = fit(model, X, y)
    grown = clone(model).set_params(warm_start=True, n_estimators=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown.fit(X, y).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(outputs(grown, X), outputs(whole, X))
    np.testing.assert_array_equal(grown.in_bag(X, y), whole.in_bag(X, y))


@ways
def test_models_are_saved_pruned_and_ordered(model, tmp_path):
    X, y = data(model)
    fitted = fit(model, X, y)
    orfeon.save(fitted, tmp_path / "m.orfeon")
    again = orfeon.load(tmp_path / "m.orfeon")
    np.testing.assert_array_equal(outputs(again, X), outputs(fitted, X))
    small = orfeon.prune(fitted, X, y, rule="reduce_error", keep=2)
    assert len(small.estimators_) == len(small.n_rounds_) == 2
    both = np.mean([outputs(member, X) for member in small.estimators_], axis=0)
    np.testing.assert_allclose(outputs(small, X), both, rtol=1e-12)
    np.testing.assert_array_equal(
        small.in_bag(X, y) == 0,
        (fitted.in_bag(X, y) == 0)[orfeon.order(fitted, X, y, rule="reduce_error").order[:2]],
    )


def test_bagging_is_better_than_a_single_model():
    losses = []
    for seed in range(3):
        X, y = make_waveform(300, random_state=seed)
        X_new, y_new = make_waveform(2000, random_state=100 + seed)
        alone = GradientBoostingClassifier(random_state=0).fit(X, y)
        bagged = BaggedBoostingClassifier(None, 5, oob_score=True, random_state=0).fit(X, y)
        models = [log_loss(y_new, model.predict_proba(X_new)) for model in (alone, bagged)]
        losses.append([*models, log_loss(y, bagged.oob_decision_function_)])
    alone, bagged, inside = np.mean(losses, axis=0)
    assert bagged < 0.98 * alone
    # The out-of-fold estimate is close to the loss on new samples.
    assert abs(inside - bagged) < 0.15 * bagged


def test_without_early_stopping_all_rounds_are_kept():
    X, y = NUMBERS
    model = BaggedBoostingRegressor(
        clone(FEW_OF_NUMBERS).set_params(early_stopping=False), 3, n_folds=3, early_stopping=False
    ).fit(X, y)
    assert model.n_rounds_.tolist() == [25] * 3


def test_frames_with_categories_and_missing_values():
    X, y = CLASSES
    frame = pandas.DataFrame(X[:, :4], columns=list("abcd"))
    frame["word"] = np.array(["low", "mid", "high"])[np.digitize(X[:, 5], [0, 2])]
    frame.loc[::7, "a"] = np.nan
    names = np.array(["x", "y", "z"])[y]
    model = BaggedBoostingClassifier(FEW, 3, n_folds=3, random_state=0).fit(frame, names)
    assert model.score(frame, names) > 0.7
    assert model.feature_importances_.shape == (5,)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BaggedBoostingClassifier(n_folds=1), "n_folds"),
        (BaggedBoostingClassifier(orfeon.CARTClassifier()), "estimator"),
        (BaggedBoostingClassifier(FEW_OF_NUMBERS), "estimator"),
    ],
)
def test_parameters_are_checked(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*CLASSES)


def test_several_quantiles_are_not_averaged():
    base = GradientBoostingRegressor(loss="quantile", alpha=(0.1, 0.9))
    with pytest.raises(ValueError, match="predicts several numbers for a row"):
        BaggedBoostingRegressor(base).fit(*NUMBERS)
