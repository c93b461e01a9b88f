"""Probabilities of ensembles: smoothed by default, calibrated in fit on request."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

import orfeon
from orfeon import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    BaggingClassifier,
    ClassSwitchingClassifier,
    FlippingClassifier,
    GradientBoostingClassifier,
    IGPEnsembleClassifier,
    RandomForestClassifier,
    RealAdaBoostClassifier,
    prune,
)
from orfeon.calibration.methods import METHODS
from orfeon.calibration.samples import ScoredSamples
from orfeon.datasets import make_ringnorm, make_waveform

X, Y = make_waveform(300, random_state=0)
X_NEW, Y_NEW = make_waveform(2000, random_state=1)

#: Out of bag, out of fold, one after the other, by another rule, of other members.
ENSEMBLES = {
    "forest": RandomForestClassifier(60, random_state=0),
    "soft": BaggingClassifier(
        orfeon.CARTClassifier(max_depth=3), 40, combine="soft", random_state=0
    ),
    "rule": RandomForestClassifier(30, combine="weighted", random_state=0),
    "without bootstrap": RandomForestClassifier(30, bootstrap=False, random_state=0),
    "switching": ClassSwitchingClassifier(n_estimators=100, random_state=0),
    "flipping": FlippingClassifier(n_estimators=100, random_state=0),
    "halves": IGPEnsembleClassifier(30, random_state=0),
    "boosting": AdaBoostClassifier(orfeon.CARTClassifier(max_depth=3), 20, random_state=0),
    "problems": AdaBoostMHClassifier(n_estimators=20, random_state=0),
    "real": RealAdaBoostClassifier(n_estimators=20, random_state=0),
    "gradients": GradientBoostingClassifier(n_estimators=60, learning_rate=0.2, random_state=0),
    "others": BaggingClassifier(GaussianNB(), 20, combine="soft", random_state=0),
}


def calibrated(name, method="sigmoid"):
    return clone(ENSEMBLES[name]).set_params(calibrate=method)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_calibrated_probabilities_are_better_than_smoothed_shares(name):
    plain, better = calibrated(name, None).fit(X, Y), calibrated(name, "beta").fit(X, Y)
    assert plain.calibrator_ is None
    assert better.calibrator_.n_classes == 3
    p, shares = better.predict_proba(X_NEW), plain.predict_proba(X_NEW)
    if name in ("switching", "flipping"):  # what is calibrated, not means given the votes
        shares = plain._smoothed(plain._raw_shares(X_NEW), len(plain.members_))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(better.predict(X_NEW), better.classes_[p.argmax(axis=1)])
    assert log_loss(Y_NEW, p) < log_loss(Y_NEW, shares) * 1.03
    # What the fit reports is what new samples give, but for chance (its standard error is 0.05).
    # Ensembles trained without a fold have a fifth of the members, and are worse.
    assert -0.12 < better.oob_log_loss_ - log_loss(Y_NEW, p) < 0.15
    assert better.oob_probabilities_.shape == (300, 3)
    stages = list(better.staged_predict_proba(X_NEW[:40]))
    np.testing.assert_allclose(stages[-1], p[:40], atol=1e-12)
    *_, last = better.staged_predict(X_NEW[:40])
    np.testing.assert_array_equal(last, better.predict(X_NEW[:40]))


@pytest.mark.parametrize("name", ["forest", "switching", "boosting", "gradients"])
@pytest.mark.parametrize("method", METHODS)
def test_saved_models_answer_the_same(name, method, tmp_path):
    model = calibrated(name, method).fit(X, Y)
    orfeon.save(model, tmp_path / "model.orfeon")
    again = orfeon.load(tmp_path / "model.orfeon")
    np.testing.assert_array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))
    assert again.oob_log_loss_ == model.oob_log_loss_
    assert again.calibrate == method


def test_a_file_with_a_calibrator_of_other_classes_is_rejected(tmp_path):
    model = calibrated("forest").fit(X, Y)
    model.calibrator_ = calibrated("forest").fit(X, np.minimum(Y, 1)).calibrator_
    with pytest.raises(orfeon.io.ModelFileError, match="calibrator_ must have the classes"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_out_of_bag_shares_are_those_of_the_members_that_left_a_sample_out():
    model = calibrated("forest").set_params(oob_score=True).fit(X, Y)
    shares = model.oob_decision_function_
    n = (model.oob_votes_ >= 0).sum(axis=0)
    smoothed = (shares * n[:, None] + 0.5 / 3) / (n + 0.5)[:, None]
    samples = ScoredSamples.of(smoothed, Y.astype(int), np.ones(300), np.zeros(300, int))
    kind = type(model.calibrator_)
    expected = kind.learn_scaling(samples)
    np.testing.assert_allclose(model.calibrator_.slopes, expected.slopes, rtol=1e-3)
    # The log loss is that of the probabilities kept.
    found = log_loss(Y, model.oob_probabilities_)
    assert model.oob_log_loss_ == pytest.approx(found)


@pytest.mark.parametrize(
    "name", ["forest", "without bootstrap", "switching", "boosting", "gradients"]
)
def test_a_weight_is_copies_and_neither_order_nor_threads_change_a_bit(name):
    weights = np.arange(300) % 3
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(300), weights))
    one = calibrated(name, "beta").fit(X, Y, weights)
    two = calibrated(name, "beta").set_params(n_jobs=2).fit(X[copies], Y[copies])
    np.testing.assert_array_equal(one.predict_proba(X_NEW), two.predict_proba(X_NEW))
    assert one.oob_log_loss_ == two.oob_log_loss_
    absent = weights == 0
    assert np.isnan(one.oob_probabilities_[absent]).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["forest", "switching"])
def test_tossed_labels_cannot_be_predicted(name, method):
    losses = []
    for seed in range(3):
        y = np.random.default_rng(seed).integers(0, 2, 300)
        model = calibrated(name, method).set_params(n_estimators=50).fit(X, y)
        losses.append(model.oob_log_loss_)
    assert np.mean(losses) > np.log(2) - 0.01


def test_a_sample_that_all_members_saw_has_no_probability():
    model = RandomForestClassifier(3, calibrate="sigmoid", random_state=0).fit(X, Y)
    known = ~np.isnan(model.oob_probabilities_[:, 0])
    assert 0 < known.sum() < 300
    found = log_loss(Y[known], model.oob_probabilities_[known])
    assert model.oob_log_loss_ == pytest.approx(found)


def test_copies_are_looked_at_one_by_one():
    """A table of few different rows, of which nearly all have copies of both classes."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 800)
    rates = np.array([0.1, 0.35, 0.6, 0.9])
    y = (rng.random(800) < rates[groups]).astype(int)
    model = RandomForestClassifier(50, combine="soft", calibrate="beta", random_state=0)
    p = model.fit(groups[:, None].astype(float), y).predict_proba(np.arange(4.0)[:, None])[:, 1]
    np.testing.assert_allclose(p, rates, atol=0.12)


def test_one_class_needs_no_calibration():
    for name in ("forest", "switching", "boosting", "gradients"):
        model = calibrated(name).fit(X[:20], np.zeros(20, int))
        assert model.calibrator_ is None
        assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_a_class_of_one_sample_keeps_a_probability():
    y = np.minimum(Y, 1)
    y[7] = 2
    for name in ("forest", "switching", "boosting", "gradients"):
        p = calibrated(name).fit(X, y).predict_proba(X_NEW)
        assert p.shape == (2000, 3)
        assert p[:, 2].min() > 0


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="'calibrate' parameter of RandomForestClassifier must be"):
        RandomForestClassifier(calibrate="platt").fit(X, Y)
    one = np.ones((6, 2)), np.array([0, 0, 0, 1, 1, 1])
    model = ClassSwitchingClassifier(n_estimators=5, calibrate="beta", random_state=0).fit(*one)
    np.testing.assert_allclose(model.predict_proba(one[0][:1]), [[0.5, 0.5]], atol=0.2)


def test_other_members_are_not_calibrated_by_what_was_learnt_of_all():
    model = calibrated("forest").set_params(oob_score=True).fit(X, Y)
    smaller = prune(model, X, Y, keep=10)
    assert smaller.calibrator_ is None
    assert smaller.calibrate is None
    assert not hasattr(smaller, "oob_log_loss_")
    expected = (smaller.vote_shares(X_NEW) * 10 + 0.5 / 3) / 10.5
    np.testing.assert_allclose(smaller.predict_proba(X_NEW), expected)
    assert model.calibrator_ is not None


def test_a_warm_start_calibrates_anew():
    model = calibrated("forest").set_params(warm_start=True).fit(X, Y)
    model.set_params(n_estimators=90).fit(X, Y)
    whole = calibrated("forest").set_params(n_estimators=90).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X_NEW), whole.predict_proba(X_NEW))
    model.set_params(calibrate=None, n_estimators=91).fit(X, Y)
    assert model.calibrator_ is None
    assert not hasattr(model, "oob_log_loss_")


# -- without calibration ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ENSEMBLES if name != "gradients"])
def test_no_probability_is_zero_and_no_decision_changes(name):
    model = calibrated(name, None).fit(X, Y)
    p, shares = model.predict_proba(X_NEW), model._raw_shares(X_NEW)
    assert p.min() > 0
    assert p.max() < 1
    np.testing.assert_array_equal(p.argmax(axis=1), shares.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X_NEW), model.classes_[p.argmax(axis=1)])


def test_models_of_older_versions_are_not_smoothed():
    model = calibrated("switching", None).fit(X, Y)
    del model._smoothing
    np.testing.assert_array_equal(model.predict_proba(X_NEW), model.vote_shares(X_NEW))


def test_switched_labels_are_undone():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    model = ClassSwitchingClassifier(n_estimators=500, random_state=0).fit(X[train], y[train])
    p, votes = model.predict_proba(X[test]), model.vote_shares(X[test])
    assert log_loss(y[test], p) < 0.5 * log_loss(y[test], votes)
    # 3 in 10 labels were switched: a share q is one of (q - 0.3) / 0.4, give or take 0.05.
    inside = (votes[:, 1] > 0.4) & (votes[:, 1] < 0.6)
    np.testing.assert_allclose(p[inside, 1], (votes[inside, 1] - 0.3) / 0.4, atol=0.02)


def test_flipping_decides_by_the_vote_even_where_its_inverse_would_not():
    X, y = make_ringnorm(300, random_state=0)
    y = np.where(np.arange(300) < 60, y, 0)  # one class is small
    model = FlippingClassifier(n_estimators=60, flip_rate=0.08, random_state=0).fit(X, y)
    p, votes = model.predict_proba(X), model.vote_shares(X)
    np.testing.assert_array_equal(p.argmax(axis=1), votes.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.classes_[votes.argmax(axis=1)])
