"""Cascades of increasing cost: who answers, what is lost and what is saved, by obvious loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.oracles import combining_models as oracle

from orfeon import CARTClassifier, RandomForestClassifier
from orfeon.combining.cost_cascade import CostCascadeClassifier, Prospect, calibrate
from orfeon.datasets import make_waveform

#: Names, from cheap to dear.
LEVELS = [
    ("few", RandomForestClassifier(n_estimators=5, random_state=0)),
    ("bayes", GaussianNB()),
    ("forest", RandomForestClassifier(n_estimators=100, random_state=0)),
]


@pytest.fixture(scope="module")
def problem() -> tuple[Any, Any, Any, Any]:
    return (*make_waveform(300, random_state=0), *make_waveform(1000, random_state=1))


# -- who answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [{"max_loss": 0.02}, {"confidence": 0.85}])
def test_the_first_that_is_sure_answers(problem, setting):
    X, y, X_test, _ = problem
    model = CostCascadeClassifier(LEVELS, costs=[1, 2, 30], random_state=0, **setting).fit(X, y)
    supports = [estimator.predict_proba(X_test) for estimator in model.estimators_]
    shares, decided = model.predict_proba(X_test), model.predict(X_test)
    levels = model.answer_level(X_test)
    assert set(levels) == {0, 1, 2}
    for i in range(0, 1000, 9):
        sure = [
            float(calibrator.predict([max(support[i])])[0])
            for calibrator, support in zip(model.calibrators_, supports, strict=False)
        ]
        # What the oracle finds sure is the confidence, on whatever class it is.
        rows = [[c, -1.0] for c in [*sure, 0.0]]
        _, level = oracle.first_sure(rows, [model.threshold_] * 2)
        assert levels[i] == level
        np.testing.assert_array_equal(shares[i], supports[level][i])
        assert decided[i] == model.classes_[np.argmax(supports[level][i])]


def test_confidence_1_is_the_last_classifier_and_0_the_first(problem):
    X, y, X_test, _ = problem
    for confidence, level in ((1.0, 2), (0.0, 0)):
        model = CostCascadeClassifier(LEVELS, confidence=confidence, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.answer_level(X_test), level)
        alone = model.estimators_[level]
        np.testing.assert_array_equal(model.predict_proba(X_test), alone.predict_proba(X_test))
        np.testing.assert_array_equal(model.answered_, np.eye(3)[level])


def test_no_classifier_is_asked_in_vain(problem):
    X, y, X_test, _ = problem
    model = CostCascadeClassifier(
        [("cheap", Counting()), ("dear", Counting())], confidence=0.9, random_state=0
    ).fit(X, y)
    cheap, dear = model.estimators_
    cheap.n_asked = dear.n_asked = 0
    levels = model.answer_level(X_test)
    assert cheap.n_asked == 1000
    assert dear.n_asked == np.sum(levels == 1) > 0


class Counting(ClassifierMixin, BaseEstimator):
    """Naive Bayes that counts the rows it is asked about."""

    n_asked = 0

    def fit(self, X, y):
        self.inside_ = GaussianNB().fit(X, y)
        self.classes_ = self.inside_.classes_
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        self.n_asked += len(X)
        return self.inside_.predict_proba(X)


# -- calibration -----------------------------------------------------------------------------------


def test_confidence_is_how_often_it_is_right(problem):
    """On new rows, in bands of confidence; naive Bayes itself is much too sure."""
    X, y, X_test, y_test = problem
    model = CostCascadeClassifier(LEVELS[1:], random_state=0).fit(X, y)
    said = model.estimators_[0].predict_proba(X_test)
    right = model.classes_[said.argmax(axis=1)] == y_test
    confidence = model.calibrators_[0].predict(said.max(axis=1))
    gaps = {"calibrated": [], "its own": []}
    for name, sure in (("calibrated", confidence), ("its own", said.max(axis=1))):
        for band in np.array_split(np.argsort(sure), 4):
            gaps[name].append(abs(np.mean(sure[band]) - np.mean(right[band])))
    assert max(gaps["calibrated"]) < 0.08
    assert max(gaps["calibrated"]) < max(gaps["its own"]) / 2


def test_calibration_never_makes_certain():
    rng = np.random.default_rng(2)
    sureness = rng.random(500)
    for right in (np.ones(500, bool), rng.random(500) < sureness, np.zeros(500, bool)):
        calibrator = calibrate(sureness, right, np.ones(500))
        confidence = calibrator.predict(np.linspace(0, 1, 101))
        assert (np.diff(confidence) >= 0).all()
        assert confidence.max() <= 500 / 501
        assert confidence.min() >= 0


def test_calibration_counts_weights_as_copies():
    rng = np.random.default_rng(3)
    sureness, right = rng.random(60), rng.random(60) < 0.7
    weights = rng.integers(1, 4, 60)
    one = calibrate(sureness, right, weights.astype(float))
    other = calibrate(
        np.repeat(sureness, weights), np.repeat(right, weights), np.ones(sum(weights))
    )
    grid = np.linspace(0, 1, 50)
    np.testing.assert_allclose(one.predict(grid), other.predict(grid), atol=1e-12)


def test_calibrators_learn_from_answers_to_unseen_examples(problem):
    X, y, _, _ = problem
    folds = np.arange(300) % 3
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(3)]
    model = CostCascadeClassifier(LEVELS, cv=splits, random_state=0).fit(X, y)
    for (_, estimator), calibrator in zip(LEVELS, model.calibrators_, strict=False):
        said = np.empty((300, 3))
        for train, test in splits:
            said[test] = clone(estimator).fit(X[train], y[train]).predict_proba(X[test])
        sure, right = said.max(axis=1), said.argmax(axis=1) == y
        by_hand = IsotonicRegression(out_of_bounds="clip").fit(
            [*sure, sure.max()], [*right.astype(float), 0.0]
        )
        grid = np.linspace(0, 1, 50)
        np.testing.assert_allclose(calibrator.predict(grid), by_hand.predict(grid), atol=1e-12)


# -- the threshold ---------------------------------------------------------------------------------


tenths = st.integers(0, 9).map(lambda n: n / 10)


@given(st.data())
def test_a_prospect_is_what_a_loop_over_the_examples_finds(data):
    n_levels, n_rows = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    confidence = np.array(
        [[data.draw(tenths) for _ in range(n_rows)] for _ in range(n_levels - 1)]
    ).reshape(n_levels - 1, n_rows)
    right = np.array([[data.draw(st.booleans()) for _ in range(n_rows)] for _ in range(n_levels)])
    weights = np.array([float(data.draw(st.integers(1, 3))) for _ in range(n_rows)])
    prospect = Prospect(confidence, right, weights)
    allowed = []
    for threshold in [n / 10 for n in range(11)]:
        levels = []
        for i in range(n_rows):
            sure = [[c, -1.0] for c in [*confidence[:, i].tolist(), 0.0]]
            levels.append(oracle.first_sure(sure, [threshold] * (n_levels - 1))[1])
        np.testing.assert_array_equal(prospect.levels(threshold), levels)
        lost = np.repeat(
            [float(right[-1, i]) - float(right[level, i]) for i, level in enumerate(levels)],
            weights.astype(int),
        )
        losses, errors = prospect.losses(np.array([threshold]))
        assert losses[0] == pytest.approx(lost.mean(), abs=1e-12)
        assert errors[0] == pytest.approx(lost.std() / np.sqrt(len(lost)), abs=1e-7)
        answered = [sum(w for w, k in zip(weights, levels, strict=True) if k == level)
                    for level in range(n_levels)]  # fmt: skip
        np.testing.assert_allclose(prospect.answered(threshold), answered / weights.sum())
        if lost.mean() + lost.std() / np.sqrt(len(lost)) <= 0.25:
            allowed.append(threshold)
    found = prospect.least_threshold(0.25)
    np.testing.assert_array_equal(prospect.levels(found), prospect.levels(allowed[0]))


def test_more_loss_is_more_saved_and_no_more_is_lost_than_allowed(problem):
    X, y, X_test, y_test = problem
    thresholds, savings = [], []
    for max_loss in (0.0, 0.01, 0.03, 0.1, 1.0):
        model = CostCascadeClassifier(LEVELS, costs=[1, 2, 30], max_loss=max_loss, random_state=0)
        model.fit(X, y)
        assert model.expected_loss_ <= max_loss
        lost = model.estimators_[-1].score(X_test, y_test) - model.score(X_test, y_test)
        assert lost < max_loss + 0.03
        thresholds.append(model.threshold_)
        savings.append(model.saving_)
    assert thresholds == sorted(thresholds, reverse=True)
    assert savings == sorted(savings)
    assert thresholds[-1] == 0.0
    assert savings[-1] == pytest.approx(1 - 1 / 30)


def test_shares_and_costs_add_up(problem):
    X, y, X_test, _ = problem
    model = CostCascadeClassifier(LEVELS, costs=[1, 2, 30], max_loss=0.03, random_state=0)
    model.fit(X, y)
    assert model.answered_.sum() == pytest.approx(1.0)
    first, second, third = model.answered_
    np.testing.assert_allclose(model.asked_, [1.0, second + third, third], atol=1e-12)
    cost = first * 1 + second * (1 + 2) + third * (1 + 2 + 30)
    assert model.expected_cost_ == pytest.approx(cost)
    assert model.saving_ == pytest.approx(1 - cost / 30)
    share = np.mean(model.answer_level(X_test) == 0)
    assert share == pytest.approx(first, abs=0.1)


def test_costs_are_measured_where_none_are_given(problem):
    X, y, _, _ = problem
    small, large = (RandomForestClassifier(n_estimators=n) for n in (2, 500))
    model = CostCascadeClassifier([("few", small), ("many", large)], random_state=0).fit(X, y)
    assert model.costs_.min() > 0
    assert model.costs_[1] > 2 * model.costs_[0]
    given = CostCascadeClassifier(model.estimators, costs=[1, 250], random_state=0).fit(X, y)
    assert given.threshold_ == model.threshold_
    np.testing.assert_array_equal(given.predict(X), model.predict(X))


def test_defaults_save_most_of_a_forest(problem):
    X, y, X_test, y_test = problem
    model = CostCascadeClassifier(costs=[10, 100], max_loss=0.02, random_state=0).fit(X, y)
    assert model.saving_ > 0.3
    assert model.estimators_[1].score(X_test, y_test) - model.score(X_test, y_test) < 0.03


# -- weights, order, tables ------------------------------------------------------------------------


def test_weights_are_copies_in_any_order(problem):
    X, y = problem[0][:90], problem[1][:90]
    rng = np.random.default_rng(4)
    weights = rng.integers(0, 4, 90)
    copies = rng.permutation(np.repeat(np.arange(90), weights))
    levels = [("tree", CARTClassifier(max_features=2, max_depth=3)), ("bayes", GaussianNB())]
    model = CostCascadeClassifier(levels, costs=[1, 1], max_loss=0.1, random_state=3)
    expected = model.fit(X, y, sample_weight=weights)
    found = (expected.threshold_, expected.saving_, expected.predict_proba(X).tobytes())
    moved = rng.permutation(90)
    for rows, given_weights in ((copies, None), (moved, weights[moved])):
        again = model.fit(X[rows], y[rows], sample_weight=given_weights)
        assert (again.threshold_, again.saving_, again.predict_proba(X).tobytes()) == found


def test_one_classifier_and_one_class(problem):
    X, y, X_test, _ = problem
    model = CostCascadeClassifier(LEVELS[:1], costs=[2]).fit(X, y)
    assert (model.expected_cost_, model.saving_, model.calibrators_) == (2.0, 0.0, [])
    np.testing.assert_array_equal(model.predict(X_test), LEVELS[0][1].fit(X, y).predict(X_test))
    same = CostCascadeClassifier(LEVELS, costs=[1, 2, 30]).fit(X, ["same"] * 300)
    assert set(same.predict(X)) == {"same"}
    np.testing.assert_array_equal(same.answered_, [1, 0, 0])


def test_categories_missing_values_and_classifiers_without_probabilities():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    codes, numbers = rng.integers(0, 3, 200), rng.normal(size=200)
    y = np.where((codes == 1) ^ (numbers > 0), "yes", "no")
    frame = pandas.DataFrame({"colour": np.array(list("abc"))[codes], "size": numbers})
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    model = CostCascadeClassifier(max_loss=0.05, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9
    one = frame.iloc[[7]]
    assert model.predict(one)[0] == model.predict(frame)[7]
    X = numbers[:, None]
    plain = CostCascadeClassifier([("svm", LinearSVC()), ("tree", CARTClassifier())]).fit(X, y)
    # All its answers are as sure, so that all or none of them are taken.
    assert len(set(plain.answer_level(X))) == 1


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"costs": [1.0]}, r"costs=\[1.0\] is not allowed: a number for each of the 2 estimators"),
        ({"costs": [1.0, 0.0]}, r"costs=\[1.0, 0.0\] is not allowed: finite positive numbers are"),
        ({"costs": [1.0, np.inf]}, r"costs=\[1.0, inf\] is not allowed: finite positive"),
        ({"costs": ["a", "b"]}, r"costs=\['a', 'b'\] is not allowed: finite positive numbers are"),
        ({"costs": [2, 1]}, r"costs=\[2, 1\] is not allowed: estimators go from cheap to dear"),
        ({"costs": 3}, r"'costs' parameter .* Got 3"),
        ({"max_loss": -0.1}, r"'max_loss' parameter .* \[0.0, 1.0\]. Got -0.1"),
        ({"confidence": 1.5}, r"'confidence' parameter .* \[0.0, 1.0\] or None. Got 1.5"),
        ({"confidence": np.nan}, r"'confidence' parameter .* Got nan"),
    ],
)
def test_settings_that_cannot_be_are_refused(problem, setting, message):
    with pytest.raises(ValueError, match=message):
        CostCascadeClassifier(**setting).fit(*problem[:2])
