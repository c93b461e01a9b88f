"""Scores by share of the minority, and the sensitivity of predictions to features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from orfeon import CARTClassifier
from orfeon.datasets import make_gaussian_clouds
from orfeon.imbalance import class_share_study, input_sensitivity


@pytest.fixture(scope="module")
def clouds():
    return make_gaussian_clouds(1000, priors=(0.9, 0.1), random_state=0)


class Recorder(GaussianNB):
    """Notes the class counts of the training sets."""

    seen: list[tuple[int, int]] = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append((int(np.sum(y == 0)), int(np.sum(y == 1))))
        return super().fit(X, y)


def test_every_training_set_has_its_share_and_the_same_size(clouds):
    X, y = clouds
    Recorder.seen.clear()
    study = class_share_study(Recorder(), X, y, shares=(0.5, 0.05, 0.8), n_repeats=2)
    assert study.shares.tolist() == sorted({0.05, 0.5, 0.8, float(np.mean(y))})
    assert study.natural_share == np.mean(y)
    assert study.minority == 1
    n_minor = round(0.75 * np.sum(y))
    assert study.n_train == pytest.approx(n_minor / 0.8, abs=2)
    expected = [round(share * study.n_train) for share in study.shares] * 2
    assert Recorder.seen == [(study.n_train - n, n) for n in expected]


def test_costs_decide_the_best_ratio(clouds):
    X, y = clouds
    given = {"shares": (0.1, 0.3, 0.5), "n_repeats": 4, "random_state": 0}
    missed = class_share_study(GaussianNB(), X, y, costs={0: 1, 1: 20}, **given)
    equal = class_share_study(GaussianNB(), X, y, **given)
    assert missed.best_ratio < equal.best_ratio
    np.testing.assert_array_equal(equal.cost, equal.error)  # every error costs 1
    np.testing.assert_array_equal(equal.auc, missed.auc)
    matrix = class_share_study(GaussianNB(), X, y, costs=[[0, 1], [20, 0]], **given)
    np.testing.assert_array_equal(matrix.cost, missed.cost)


def test_auc_of_a_constant_is_one_half(clouds):
    X, y = clouds
    study = class_share_study(DummyClassifier(), X, y, shares=(0.3, 0.7), n_repeats=2)
    assert (study.auc == 0.5).all()
    # It predicts the larger class of its training set.
    np.testing.assert_allclose(study.error[study.shares < 0.5], np.mean(y), atol=0.01)
    np.testing.assert_allclose(study.error[study.shares > 0.5], 1 - np.mean(y), atol=0.01)


def test_decisions_do_where_there_are_no_probabilities(clouds):
    X, y = clouds
    names = np.array(["usual", "rare"])[y]
    study = class_share_study(LinearSVC(), X, names, shares=(0.5,), n_repeats=2, random_state=0)
    assert study.minority == "rare"
    assert study.auc.min() > 0.9
    again = class_share_study(LinearSVC(), X, names, shares=(0.5,), n_repeats=2, random_state=0)
    np.testing.assert_array_equal(study.auc, again.auc)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shares": (0.0, 0.5)}, "shares"),
        ({"shares": ()}, "shares"),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"costs": {7: 1}}, "not a class"),
    ],
)
def test_bad_settings(clouds, given, message):
    with pytest.raises(ValueError, match=message):
        class_share_study(GaussianNB(), *clouds, **given)


def test_two_classes_are_needed(clouds):
    with pytest.raises(ValueError, match="3 classes"):
        class_share_study(GaussianNB(), clouds[0], np.arange(1000) % 3)


def test_sensitivity_is_the_slope():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 5.0, 0.0]
    y = (X[:, 0] + 0.2 * X[:, 1] + rng.normal(size=200) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    slopes = (p * (1 - p))[:, None] * np.abs(model.coef_) * X.std(axis=0)
    found = input_sensitivity(model, X, step=1e-4)
    np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-9)
    assert not found[:, 2].any()
    # The most sensitive samples are those nearest to the border.
    near = np.argsort(np.abs(p - 0.5))[:20]
    assert set(np.argsort(-found.sum(axis=1))[:20]) == set(near)
    with pytest.raises(ValueError, match="step=0"):
        input_sensitivity(model, X, step=0)


def test_random_state_fixes_estimators_without_a_seed():
    X, y = make_gaussian_clouds(600, priors=(0.8, 0.2), random_state=0)
    tree = CARTClassifier(max_features=1)
    one, two = (class_share_study(tree, X, y, n_repeats=2, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(one.auc, two.auc)
    np.testing.assert_array_equal(one.cost, two.cost)
