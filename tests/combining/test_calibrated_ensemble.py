"""CalibratedEnsemble: anyone's ensemble, from its own out-of-bag predictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import ensemble as theirs
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import orfeon
from orfeon import (
    BaggingClassifier,
    CalibratedEnsemble,
    ClassSwitchingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.calibration.methods import METHODS, learn
from orfeon.calibration.samples import ScoredSamples
from orfeon.datasets import make_ringnorm

X, Y = make_ringnorm(300, random_state=0)
X_NEW, Y_NEW = make_ringnorm(2000, random_state=1)

FITTED = {
    "their forest": theirs.RandomForestClassifier(60, random_state=0),
    "their extra-trees": theirs.ExtraTreesClassifier(60, bootstrap=True, random_state=0),
    "their bagging": theirs.BaggingClassifier(n_estimators=40, random_state=0),
    "their bag of bayes": theirs.BaggingClassifier(GaussianNB(), 20, random_state=0),
    "our forest": RandomForestClassifier(60, random_state=0),
    "our soft bag": BaggingClassifier(n_estimators=40, combine="soft", random_state=0),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(60, random_state=0)),
}


def refuse(*args, **kwargs):
    raise AssertionError("it was trained again")


@pytest.mark.parametrize("name", FITTED)
def test_probabilities_are_calibrated_without_training_again(name, monkeypatch, tmp_path):
    model = FITTED[name].fit(X, Y)
    before = model.predict_proba(X_NEW)
    for kind in (type(model), theirs.RandomForestClassifier):
        monkeypatch.setattr(kind, "fit", refuse)
    found = CalibratedEnsemble(model).fit(X, Y)
    p = found.predict_proba(X_NEW)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.predict(X_NEW), found.classes_[p.argmax(axis=1)])
    if "bayes" not in name:
        assert log_loss(Y_NEW, p) < 0.85 * log_loss(Y_NEW, before)
    assert found.oob_log_loss_ == pytest.approx(log_loss(Y_NEW, p), abs=0.1)
    np.testing.assert_array_equal(model.predict_proba(X_NEW), before)
    if name != "pipeline":
        orfeon.save(found, tmp_path / "model.orfeon")
        again = orfeon.load(tmp_path / "model.orfeon")
        np.testing.assert_array_equal(again.predict_proba(X_NEW), p)


def test_out_of_bag_shares_by_brute_force():
    forest = theirs.RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, Y)
    out = np.ones((30, 300), bool)
    for row, drawn in zip(out, forest.estimators_samples_, strict=True):
        row[drawn] = False
    votes = np.array([tree.predict_proba(X) for tree in forest.estimators_])
    n = out.sum(axis=0)
    shares = (votes * out[:, :, None]).sum(axis=0) / n[:, None]
    np.testing.assert_allclose(shares, forest.oob_decision_function_)
    smoothed = (shares * n[:, None] + 0.25) / (n[:, None] + 0.5)
    codes = np.searchsorted(forest.classes_, Y)
    samples = ScoredSamples.of(smoothed, codes, np.ones(300), np.zeros(300, int))
    expected = learn(samples, "sigmoid").probabilities(
        (forest.predict_proba(X_NEW) * 30 + 0.25) / 30.5
    )
    found = CalibratedEnsemble(forest).fit(X, Y).predict_proba(X_NEW)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_for_several_classes(method):
    X, y = load_wine(return_X_y=True)
    forest = theirs.RandomForestClassifier(50, random_state=0).fit(X, y)
    found = CalibratedEnsemble(forest, calibrate=method).fit(X, y)
    assert found.predict_proba(X).shape == (178, 3)
    assert found.oob_log_loss_ < 0.3


def test_held_out_samples_calibrate_any_ensemble():
    switching = ClassSwitchingClassifier(n_estimators=100, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="has no out-of-bag samples: each of its members saw all"):
        CalibratedEnsemble(switching).fit(X, Y)
    boosted = theirs.AdaBoostClassifier(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="has no out-of-bag samples"):
        CalibratedEnsemble(boosted).fit(X, Y)
    X_held, y_held = make_ringnorm(300, random_state=2)
    for model in (switching, boosted):
        found = CalibratedEnsemble(model, on="held_out").fit(X_held, y_held)
        p, plain = found.predict_proba(X_NEW), model.predict_proba(X_NEW)
        assert log_loss(Y_NEW, p) < log_loss(Y_NEW, plain)


def test_other_samples_than_the_training_set_are_refused():
    forest = theirs.RandomForestClassifier(30, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="is not the training set of this RandomForestClassifier"):
        CalibratedEnsemble(forest).fit(X_NEW[:300], Y_NEW[:300])
    bag = BaggingClassifier(n_estimators=10, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="are not the training set of all members"):
        CalibratedEnsemble(bag).fit(X_NEW, Y_NEW)


def test_an_ensemble_that_is_not_fitted_is_trained_first():
    one = CalibratedEnsemble(random_state=3).fit(X, Y)
    two = CalibratedEnsemble(random_state=3).fit(X, Y)
    np.testing.assert_array_equal(one.predict_proba(X_NEW), two.predict_proba(X_NEW))
    assert type(one.ensemble_) is RandomForestClassifier
    frozen = FrozenEstimator(RandomForestClassifier(20, random_state=0).fit(X, Y))
    assert CalibratedEnsemble(frozen).fit(X, Y).ensemble_ is frozen
    with pytest.raises(ValueError, match='on="held_out" needs a fitted estimator'):
        CalibratedEnsemble(on="held_out").fit(X, Y)


def test_absent_samples_do_not_count():
    weights = (np.arange(300) % 4 > 0).astype(float)
    forest = theirs.RandomForestClassifier(40, random_state=0).fit(X, Y, weights)
    found = CalibratedEnsemble(forest).fit(X, Y, weights)
    assert np.isnan(found.oob_probabilities_[weights == 0]).all()
    assert not np.isnan(found.oob_probabilities_[weights > 0]).any()


def test_sparse_rows_of_their_forest():
    sparse = csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    forest = theirs.RandomForestClassifier(40, random_state=0).fit(sparse, Y)
    found = CalibratedEnsemble(forest).fit(sparse, Y)
    np.testing.assert_allclose(found.predict_proba(sparse[:5]).sum(axis=1), 1.0)


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="'calibrate' parameter of CalibratedEnsemble"):
        CalibratedEnsemble(calibrate="platt").fit(X, Y)
    with pytest.raises(ValueError, match="predicts numbers; give a classifier"):
        CalibratedEnsemble(RandomForestRegressor()).fit(X, Y)
    by_rule = RandomForestClassifier(10, combine="weighted", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="combines them by a rule"):
        CalibratedEnsemble(by_rule).fit(X, Y)
