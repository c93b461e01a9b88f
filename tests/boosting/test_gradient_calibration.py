"""Calibrated gradient boosting: folds that rounds did not see, and what they are learnt with."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from orfeon import GradientBoostingClassifier, StumpClassifier
from orfeon.datasets import make_waveform

X, Y = make_waveform(150, random_state=0)
FEW = {"n_estimators": 12, "learning_rate": 0.3, "max_depth": 3, "random_state": 0}


class Remembering(GradientBoostingClassifier):
    """Keeps what its calibrator is learnt from."""

    def _calibrate_shares(self, shares, y, weights, fold, rows, n_given):
        super()._calibrate_shares(shares, y, weights, fold, rows, n_given)
        self.learnt = shares, y, weights, fold, rows


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"early_stopping": "cv", "n_iter_no_change": 3},
        {"tree_method": "histogram", "subsample": 1.0, "early_stopping": False},
        {"class_weight": {0: 1, 1: 4, 2: 1}, "early_stopping": False},
    ],
    ids=["found", "cv", "histogram", "class weights"],
)
def test_each_fold_is_predicted_by_a_model_of_as_many_rounds_without_it(settings):
    model = Remembering(calibrate="beta", **FEW, **settings).fit(X, Y)
    shares, y, _, fold, rows = model.learnt
    np.testing.assert_array_equal(Y[rows], y)
    assert sorted(rows) == list(range(150))
    for number in range(5):
        out, rest = rows[fold == number], rows[fold != number]
        other = GradientBoostingClassifier(**{**FEW, **settings})
        other.set_params(
            n_estimators=model.n_estimators_, early_stopping=False, random_state=model._sequence
        )
        other.fit(X[rest], Y[rest])
        found = other.predict_proba(X[out])
        np.testing.assert_allclose(shares[fold == number], found, rtol=1e-9, atol=1e-12)


def test_classes_count_as_given_not_as_weighted():
    y = np.minimum(Y, 1)
    heavy = {"class_weight": {0: 20.0, 1: 1.0}, "early_stopping": False}
    model = GradientBoostingClassifier(calibrate="sigmoid", **FEW, **heavy).fit(X, y)
    assert model.oob_probabilities_[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)
    weights = np.where(y == 0, 20.0, 1.0)
    model.set_params(class_weight=None).fit(X, y, weights)
    expected = np.average(y, weights=weights)
    means = np.average(model.oob_probabilities_[:, 1], weights=weights)
    assert means == pytest.approx(expected, abs=0.02)


def test_scores_logarithms_and_stages_go_through_the_calibrator():
    y = np.minimum(Y, 1)
    plain = GradientBoostingClassifier(**FEW).fit(X, y)
    model = clone(plain).set_params(calibrate="isotonic").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    p = model.predict_proba(X)
    np.testing.assert_array_equal(p, model.calibrator_.probabilities(plain.predict_proba(X)))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(p))
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    *_, (last, decided) = zip(model.staged_predict_proba(X), model.staged_predict(X), strict=True)
    np.testing.assert_array_equal(last, p)
    np.testing.assert_array_equal(decided, p.argmax(axis=1))


def test_fewer_rounds_have_no_calibrator_and_more_have_another():
    model = GradientBoostingClassifier(calibrate="beta", warm_start=True, **FEW).fit(X, Y)
    fewer = model.with_rounds(3)
    assert fewer.calibrator_ is None
    assert fewer.calibrate is None
    assert not hasattr(fewer, "oob_log_loss_")
    same = model.with_rounds(model.n_estimators_)
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    model.set_params(n_estimators=20, early_stopping=False).fit(X, Y)
    whole = clone(model).set_params(warm_start=False).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    model.set_params(calibrate=None, n_estimators=21).fit(X, Y)
    assert model.calibrator_ is None


def test_offsets_losses_of_functions_and_given_validation_sets():
    y = np.minimum(Y, 1)
    margin = np.where(y == 1, 2.0, -2.0)
    model = GradientBoostingClassifier(calibrate="sigmoid", **FEW).fit(X, y, base_margin=margin)
    assert log_loss(y, model.predict_proba(X, margin)) < log_loss(y, model.predict_proba(X))

    def logistic(target, raw):
        p = 1.0 / (1.0 + np.exp(-raw))
        return p - target, p * (1.0 - p)

    own = GradientBoostingClassifier(loss=logistic, calibrate="sigmoid", **FEW).fit(X, y)
    assert own.oob_log_loss_ < np.log(2)
    half = GradientBoostingClassifier(loss="exponential", calibrate="beta", **FEW)
    half.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    assert half.oob_probabilities_.shape == (100, 2)


def test_a_model_to_start_from_must_be_fitted():
    model = GradientBoostingClassifier(init=StumpClassifier(), calibrate="beta", **FEW)
    with pytest.raises(ValueError, match=r"calibrate='beta' needs a fitted init, but init=Stump"):
        model.fit(X, Y)
