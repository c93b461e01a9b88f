"""Measures of a study, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from orfeon.errors import UserError
from orfeon.workbench.experiment.evaluation import class_scores, full_shares, target_scores
from orfeon.workbench.experiment.plan import chosen_metric


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(5, 40))
def test_measures_of_classes_are_those_of_scikit_learn(seed, n_classes, n):
    generator = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), generator.integers(n_classes, size=n)])
    shares = generator.dirichlet(np.full(n_classes, 2.0), size=len(codes))
    predicted = shares.argmax(axis=1)
    found = class_scores(codes, predicted, shares)
    assert found["error"] == pytest.approx(1 - metrics.accuracy_score(codes, predicted))
    balanced = metrics.balanced_accuracy_score(codes, predicted)
    assert found["balanced_error"] == pytest.approx(1 - balanced)
    clipped = np.clip(shares, 1e-6, 1)
    rows = -np.log(clipped[np.arange(len(codes)), codes])
    assert found["log_loss"] == pytest.approx(rows.mean())


def test_a_sure_mistake_costs_a_finite_amount():
    found = class_scores(np.array([0]), np.array([1]), np.array([[0.0, 1.0]]))
    assert found["log_loss"] == pytest.approx(-np.log(1e-6))


def test_classes_without_test_samples_do_not_count_in_the_balanced_error():
    shares = np.full((4, 3), 1 / 3)
    found = class_scores(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]), shares)
    assert found["balanced_error"] == 0.25


@given(st.integers(0, 10_000), st.integers(2, 40))
def test_measures_of_targets_are_those_of_scikit_learn(seed, n):
    generator = np.random.default_rng(seed)
    y, predicted = generator.normal(size=n), generator.normal(size=n)
    found = target_scores(y, predicted)
    assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(y, predicted))
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(y, predicted))
    assert found["unexplained"] == pytest.approx(1 - metrics.r2_score(y, predicted))


def test_equal_targets_are_explained_by_a_model_without_error_only():
    y = np.array([2.0, 2.0])
    assert target_scores(y, y)["unexplained"] == 0.0
    assert target_scores(y, y + 1)["unexplained"] == 1.0


def test_a_class_not_met_in_training_has_no_probability():
    class Model:
        classes_ = np.array([0, 2])

        def predict_proba(self, X):
            return np.array([[0.25, 0.75]] * len(X))

    assert full_shares(Model(), [0, 1], 3).tolist() == [[0.25, 0.0, 0.75]] * 2


def test_a_measure_of_the_other_task_is_refused():
    with pytest.raises(UserError, match="one of error, balanced_error, log_loss for class"):
        chosen_metric("rmse", "classification")
