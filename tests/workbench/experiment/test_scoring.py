"""Measures of a study, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from orfeon.errors import UserError
from orfeon.workbench.experiment.evaluation import full_shares
from orfeon.workbench.experiment.metrics import METRICS, Answers, losses
from orfeon.workbench.experiment.plan import chosen_metric


def class_scores(codes, predicted, shares):
    return losses(Answers(codes, predicted, shares), "classification", "error")


def target_scores(y, predicted):
    return losses(Answers(y, predicted, predicted), "regression", "rmse")


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
    with pytest.raises(
        UserError,
        match="one of error, balanced_error, log_loss, brier, auc, average_precision, f1, mcc for",
    ):
        chosen_metric("rmse", "classification")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_more_metrics_are_those_of_scikit_learn(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    codes = rng.integers(0, n_classes, 80)
    shares = rng.dirichlet(np.ones(n_classes), 80)
    predicted = shares.argmax(axis=1)
    weights = rng.integers(1, 4, 80).astype(float) if weighted else None
    answers = Answers(codes, predicted, shares, weights)
    found = {name: metric.of(answers) for name, metric in METRICS["classification"].items()}
    is_two = n_classes == 2
    given = {"sample_weight": weights}
    rest = np.eye(n_classes)[codes]
    expected = {
        "auc": metrics.roc_auc_score(codes, shares[:, 1], **given)
        if is_two
        else metrics.roc_auc_score(codes, shares, multi_class="ovr", **given),
        "average_precision": metrics.average_precision_score(
            codes if is_two else rest, shares[:, 1] if is_two else shares, **given
        ),
        "f1": metrics.f1_score(codes, predicted, average="binary" if is_two else "macro", **given),
        "mcc": metrics.matthews_corrcoef(codes, predicted, **given),
        "balanced_error": 1 - metrics.balanced_accuracy_score(codes, predicted, **given),
    }
    if is_two:
        expected["brier"] = metrics.brier_score_loss(codes, shares[:, 1], **given)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_a_weight_of_two_is_two_rows_in_every_metric():
    rng = np.random.default_rng(0)
    y, predicted = rng.normal(size=30), rng.normal(size=30)
    twice = np.repeat(np.arange(30), 1 + (np.arange(30) < 10))
    weights = 1.0 + (np.arange(30) < 10)
    for name, metric in METRICS["regression"].items():
        one = metric.of(Answers(y, predicted, predicted, weights))
        two = metric.of(Answers(y[twice], predicted[twice], predicted[twice]))
        assert one == pytest.approx(two), name


def test_metrics_of_one_class_only_are_not_a_number():
    answers = Answers(np.zeros(3, int), np.zeros(3, int), np.tile([0.8, 0.2], (3, 1)))
    assert np.isnan(METRICS["classification"]["auc"].of(answers))
    assert METRICS["classification"]["error"].of(answers) == 0.0


def test_a_percentage_error_is_relative_to_the_target():
    answers = Answers(np.array([10.0, 20.0]), np.array([11.0, 10.0]), np.zeros(2))
    assert METRICS["regression"]["mape"].of(answers) == pytest.approx((0.1 + 0.5) / 2)
    assert METRICS["regression"]["median_error"].of(answers) == 1.0
