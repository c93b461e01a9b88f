"""Measures of predictions: the same as scikit-learn's, all in one place."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from orfeon.imbalance import geometric_mean
from orfeon.inspection.metrics_summary import classification_summary, regression_summary


@pytest.fixture(params=[2, 4], ids=["two classes", "four classes"])
def case(request):
    rng = np.random.default_rng(request.param)
    labels = np.array(["ant", "bee", "cow", "dog"])[: request.param]
    y = rng.choice(labels, 200)
    scores = rng.random((200, request.param)) + 0.7 * (y[:, None] == labels)
    scores /= scores.sum(axis=1, keepdims=True)
    return y, labels[scores.argmax(axis=1)], scores, rng.integers(0, 4, 200), labels


@pytest.mark.parametrize("is_weighted", [False, True])
def test_measures_are_those_of_scikit_learn(case, is_weighted):
    y, answers, scores, weights, labels = case
    given = {"sample_weight": weights} if is_weighted else {}
    found = classification_summary(y, answers, scores, beta=2.0, **given)
    assert found.classes.tolist() == labels.tolist()
    assert (found.confusion == metrics.confusion_matrix(y, answers, **given)).all()
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, answers, **given))
    assert found.error == pytest.approx(1 - found.accuracy)
    assert found.matthews == pytest.approx(metrics.matthews_corrcoef(y, answers, **given))
    assert found.geometric_mean == pytest.approx(geometric_mean(y, answers, **given))
    for measure, score in (
        ("precision", metrics.precision_score), ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
        ("f_beta", lambda *of, **how: metrics.fbeta_score(*of, beta=2.0, **how)),
    ):  # fmt: skip
        for average in (None, "macro", "weighted"):
            theirs = score(y, answers, average=average, **given)
            ours = getattr(found, average)(measure) if average else getattr(found, measure)
            assert ours == pytest.approx(theirs)
    how = {"multi_class": "ovr", "labels": labels} if len(labels) > 2 else {}
    of = scores if len(labels) > 2 else scores[:, 1]
    for average in ("macro", "weighted"):
        theirs = metrics.roc_auc_score(y, of, average=average, **how, **given)
        assert getattr(found, average)("auc") == pytest.approx(theirs)


def test_weight_zero_is_absent_and_two_is_twice(case):
    y, answers, scores, weights, _ = case
    rows = np.repeat(np.arange(200), weights)
    weighted = classification_summary(y, answers, scores, sample_weight=weights).as_dict()
    copied = classification_summary(y[rows], answers[rows], scores[rows]).as_dict()
    assert weighted == pytest.approx(copied, abs=1e-12)


def test_one_score_is_that_of_the_second_class():
    y, score = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    found = classification_summary(y, [0, 1, 0, 1], score)
    assert found.auc.tolist() == [0.75, 0.75]
    assert classification_summary(y, [0, 1, 0, 1]).as_dict()["macro auc"] != 0.75
    assert np.isnan(classification_summary(y, [0, 1, 0, 1]).auc).all()


def test_what_is_zero_by_zero_is_warned_of_once_or_not_at_all():
    with pytest.warns(UndefinedMetricWarning) as caught:
        found = classification_summary([0, 1, 2], [0, 1, 1])
    assert len(caught) == 1
    assert found.precision.tolist() == [1, 0.5, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = classification_summary([0, 1, 2], [0, 1, 1], zero_division=np.nan)
        assert np.isnan(found.precision[2])
        assert found.macro("precision") == 0.75  # of the others
        alone = classification_summary([1, 1], [1, 1])
    assert (alone.accuracy, alone.matthews) == (1.0, 0.0)


def test_classes_that_are_not_there_have_their_place():
    found = classification_summary(
        ["b", "a"], ["b", "a"], [[0.1, 0.9, 0.0], [0.8, 0.2, 0.0]], classes=["a", "b", "c"],
        zero_division=0.0,
    )  # fmt: skip
    assert found.support.tolist() == [1, 1, 0]
    assert found.auc[:2].tolist() == [1, 1]
    assert np.isnan(found.auc[2])
    assert found.weighted("recall") == 1.0
    assert found.macro("recall") == pytest.approx(2 / 3)
    assert found.geometric_mean == 1.0


def test_the_table_has_a_row_for_each_class_and_the_means(case):
    y, answers, scores, _, labels = case
    lines = str(classification_summary(y, answers, scores, beta=0.5)).splitlines()
    assert lines[0].split() == ["precision", "recall", "F1", "F0.5", "AUC", "weight"]
    assert [line.split()[0] for line in lines[1:-2]] == [*labels.tolist(), "macro"]
    assert lines[-2].startswith("weighted")
    assert "Matthews" in lines[-1]
    plain = str(classification_summary(y, answers)).splitlines()[0]
    assert plain.split() == ["precision", "recall", "F1", "weight"]


def test_measures_of_numbers_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, answers, weights = rng.normal(size=50), rng.normal(size=50), rng.integers(0, 3, 50)
    for given in ({}, {"sample_weight": weights}):
        found = regression_summary(y, answers, **given)
        assert found.mean_squared_error == pytest.approx(
            metrics.mean_squared_error(y, answers, **given)
        )
        assert found.root_mean_squared_error == pytest.approx(found.mean_squared_error**0.5)
        assert found.mean_absolute_error == pytest.approx(
            metrics.mean_absolute_error(y, answers, **given)
        )
        assert found.r2 == pytest.approx(metrics.r2_score(y, answers, **given))
        assert list(found.as_dict().values()) == [
            found.mean_squared_error, found.root_mean_squared_error, found.mean_absolute_error,
            found.r2,
        ]  # fmt: skip
    rows = np.repeat(np.arange(50), weights)
    copied = regression_summary(y[rows], answers[rows]).as_dict()
    assert regression_summary(y, answers, sample_weight=weights).as_dict() == pytest.approx(copied)
    assert np.isnan(regression_summary([1.0], [2.0]).r2)


@pytest.mark.parametrize(("arguments", "words"), [
    (([0, 1], [0]), "inconsistent numbers of samples"),
    (([], []), "y_true is empty"),
    (([0, 1], [0, 1], [[0.1, 0.2, 0.7]] * 2), r"y_score has shape \(2, 3\); \(2, 2\) is expected"),
    (([0.0, 1.0], [0.0, np.nan]), "y_pred contains NaN"),
])  # fmt: skip
def test_what_cannot_be_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        classification_summary(*arguments)


def test_unknown_measures_classes_and_empty_weights_are_refused():
    found = classification_summary([0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"measure='kappa' is not allowed"):
        found.macro("kappa")
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] lacks 2"):
        classification_summary([0, 2], [0, 1], classes=[0, 1])
    for summary in (classification_summary, regression_summary):
        with pytest.raises(ValueError, match=r"sample_weight is zero for every sample"):
            summary([0, 1], [0, 1], sample_weight=[0, 0])
