"""Measures for unbalanced samples: worked by hand, against imbalanced-learn, and as scorers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    fbeta_score,
    fowlkes_mallows_score,
    recall_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from tests import shared

from orfeon.imbalance import scorers
from orfeon.imbalance.metrics import (
    f_beta,
    geometric_mean,
    minority_class,
    negative_accuracy,
    positive_accuracy,
    precision_recall_mean,
)
from orfeon.imbalance.scorers import geometric_mean_scorer, imbalance_scorers

MEASURES = [positive_accuracy, negative_accuracy, geometric_mean, precision_recall_mean, f_beta]
each_measure = pytest.mark.parametrize("measure", MEASURES)


def from_confusion(matrix, classes):
    """Samples that give a confusion matrix, whose rows are the true classes."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, n in enumerate(row) for _ in range(n)]
    true, predicted = np.array(cells).T
    return np.array(classes)[true], np.array(classes)[predicted]


# 90 negative samples, 10 of them taken for positive; 10 positive ones, 2 of them missed.
TWO = from_confusion([[80, 10], [2, 8]], ["no", "yes"])
THREE = from_confusion([[5, 3, 2], [1, 3, 0], [0, 1, 1]], [7, 8, 9])


def unbalanced(n_rows=300, seed=0):
    """Two classes, one in ten positive, that a line tells apart poorly."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.1).astype(int)
    return rng.normal(size=(n_rows, 2)) + 1.3 * y[:, None], y


# -- by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (positive_accuracy, 8 / 10),
        (negative_accuracy, 80 / 90),
        (geometric_mean, np.sqrt(8 / 10 * 80 / 90)),
        (precision_recall_mean, np.sqrt(8 / 18 * 8 / 10)),
        (f_beta, 16 / 28),
    ],
)
def test_two_classes_by_hand(measure, expected):
    assert measure(*TWO) == pytest.approx(expected, abs=1e-15)
    assert measure(*TWO, pos_label="yes") == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (positive_accuracy, 80 / 90),
        (negative_accuracy, 8 / 10),
        (geometric_mean, np.sqrt(8 / 10 * 80 / 90)),
        (precision_recall_mean, np.sqrt(80 / 82 * 80 / 90)),
        (f_beta, 160 / 172),
    ],
)
def test_the_other_class_may_be_the_positive_one(measure, expected):
    assert measure(*TWO, pos_label="no") == pytest.approx(expected, abs=1e-15)


def test_recall_may_count_twice():
    assert f_beta(*TWO, beta=2) == pytest.approx(5 * 8 / (5 * 8 + 4 * 2 + 10), abs=1e-15)
    assert f_beta(*TWO, beta=2) == fbeta_score(*TWO, beta=2, pos_label="yes")


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (positive_accuracy, 1 / 2),
        (negative_accuracy, 12 / 14),  # 7 taken for 8 is no error here
        (geometric_mean, np.cbrt(5 / 10 * 3 / 4 * 1 / 2)),
        (precision_recall_mean, np.sqrt(1 / 3 * 1 / 2)),
        (f_beta, 2 / 5),
    ],
)
def test_three_classes_by_hand(measure, expected):
    assert measure(*THREE) == pytest.approx(expected, abs=1e-15)


def test_the_mean_over_hundreds_of_classes_does_not_vanish():
    y = np.repeat(np.arange(500), 100)
    predicted = np.where(np.arange(len(y)) % 100 == 0, y, (y + 1) % 500)
    assert geometric_mean(y, predicted) == pytest.approx(0.01, abs=1e-12)


# -- the positive class ----------------------------------------------------------------------------


def test_the_minority_is_positive_and_of_two_the_last():
    assert minority_class([3, 3, 1, 2, 2]) == 1
    assert minority_class([0, 1, 0, 1]) == 1
    assert minority_class([1, -1]) == 1
    assert minority_class(["b", "a", "b", "a", "c", "c", "c"]) == "b"
    assert minority_class([True, True, False]) == np.False_
    assert positive_accuracy([0, 1, 0, 1], [0, 1, 1, 1]) == 1.0


def test_weights_decide_which_class_is_the_minority():
    assert minority_class([0, 1, 1], sample_weight=[3.0, 1.0, 1.0]) == 1
    assert minority_class([0, 1, 2, 2], sample_weight=[1.0, 0.0, 1.0, 1.0]) == 0


def test_a_class_that_is_only_predicted_is_not_the_minority():
    assert positive_accuracy([0, 0, 0, 1], [0, 0, 2, 1]) == 1.0
    assert negative_accuracy([0, 0, 0, 1], [0, 0, 2, 1]) == 1.0


@each_measure
def test_a_positive_class_of_another_kind_is_refused(measure):
    with pytest.raises(ValueError, match="Mix of label input types"):
        measure(*TWO, pos_label=1)


# -- weights ---------------------------------------------------------------------------------------


@each_measure
@settings(max_examples=shared.cases(50))
@given(data=st.data())
def test_weight_k_is_k_copies_and_weight_zero_is_absence(measure, data):
    n_rows = data.draw(st.integers(2, 12))
    draw = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    true, predicted, weights = (np.array(data.draw(draw)) for _ in range(3))
    if not weights.any():
        weights[0] = 1
    copies = np.repeat(np.arange(n_rows), weights)
    weighted = measure(true, predicted, sample_weight=weights, zero_division=1.0)
    repeated = measure(true[copies], predicted[copies], zero_division=1.0)
    assert weighted == pytest.approx(repeated, abs=1e-12)


def test_weights_by_hand():
    score = geometric_mean([0, 0, 1, 1], [0, 1, 1, 0], sample_weight=[3.0, 1.0, 0.5, 1.5])
    assert score == pytest.approx(np.sqrt(3 / 4 * 1 / 4), abs=1e-15)


# -- against others --------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_scored_as_scikit_learn_scores_their_rows(weighted):
    rng = np.random.default_rng(0)
    true, predicted = (rng.random((2, 500)) < [[0.2], [0.3]]).astype(int)
    weights = rng.random(500) if weighted else None
    accuracies = recall_score(true, predicted, average=None, sample_weight=weights)
    given = {"sample_weight": weights, "pos_label": 1}
    assert positive_accuracy(true, predicted, **given) == pytest.approx(accuracies[1], rel=1e-13)
    assert negative_accuracy(true, predicted, **given) == pytest.approx(accuracies[0], rel=1e-13)
    g = np.sqrt(accuracies.prod())
    assert geometric_mean(true, predicted, **given) == pytest.approx(g, rel=1e-13)
    f = fbeta_score(true, predicted, beta=2, sample_weight=weights)
    assert f_beta(true, predicted, beta=2, **given) == pytest.approx(f, rel=1e-13)
    assert 0.1 < min(accuracies[1], f) < max(accuracies[0], g) < 0.9


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_against_imbalanced_learn(n_classes, seed):
    metrics = pytest.importorskip("imblearn.metrics")
    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 30)])
    predicted = np.where(rng.random(len(true)) < 0.6, true, rng.integers(0, n_classes, len(true)))
    same = {"sample_weight": rng.random(len(true))}
    classes = np.unique(true)
    assert geometric_mean(true, predicted, **same) == pytest.approx(
        metrics.geometric_mean_score(true, predicted, **same), abs=1e-12
    )
    one = {"labels": [classes[-1]], "average": None}
    assert positive_accuracy(true, predicted, pos_label=classes[-1], **same) == pytest.approx(
        metrics.sensitivity_score(true, predicted, **one, **same)[0], abs=1e-12
    )
    # Its specificity takes the number of rows for the sum of their weights: without weights only.
    assert negative_accuracy(true, predicted, pos_label=classes[-1]) == pytest.approx(
        metrics.specificity_score(true, predicted, **one)[0], abs=1e-12
    )


def test_against_scikit_learn():
    acc = positive_accuracy(*TWO), negative_accuracy(*TWO)
    assert np.mean(acc) == pytest.approx(balanced_accuracy_score(*TWO), abs=1e-15)
    # The mean of precision and recall of pairs in one cluster is an index of its own.
    labels = np.array([0, 0, 0, 1, 1, 2])
    found = np.array([0, 0, 1, 1, 1, 0])
    first, second = np.triu_indices(6, 1)
    pairs = labels[first] == labels[second], found[first] == found[second]
    assert precision_recall_mean(*pairs, pos_label=True) == pytest.approx(
        fowlkes_mallows_score(labels, found), abs=1e-12
    )


# -- 0/0 -------------------------------------------------------------------------------------------

NO_POSITIVES = ([0, 0, 0, 0], [0, 0, 0, 1])


def test_without_positive_samples_what_is_undefined_is_zero_with_a_warning():
    for measure in (positive_accuracy, geometric_mean):
        with pytest.warns(UndefinedMetricWarning, match="ill-defined"):
            assert measure(*NO_POSITIVES, pos_label=1) == 0.0
    assert negative_accuracy(*NO_POSITIVES, pos_label=1) == 0.75
    # A sample is taken for positive, so precision is 0, whatever recall is.
    assert precision_recall_mean(*NO_POSITIVES, pos_label=1) == 0.0
    assert f_beta(*NO_POSITIVES, pos_label=1) == 0.0
    for measure in (precision_recall_mean, f_beta):
        with pytest.warns(UndefinedMetricWarning):
            assert measure([0, 0], [0, 0], pos_label=1) == 0.0


@pytest.mark.parametrize(
    "measure", [positive_accuracy, geometric_mean, precision_recall_mean, f_beta]
)
def test_a_positive_class_that_is_nowhere_is_named_once(measure):
    words = r"^pos_label=5 is neither in y_true nor in y_pred, whose classes are \[0, 1\]: "
    with pytest.warns(UndefinedMetricWarning, match=words) as told:
        assert measure([0, 0, 1, 1], [0, 1, 1, 1], pos_label=5) == 0.0
    assert len(told) == 1
    assert told[0].filename == __file__
    # Without a warning where it is said what 0/0 is, and all is known of the negative samples.
    assert measure([0, 0, 1, 1], [0, 0, 1, 1], pos_label=5, zero_division=1.0) == 1.0
    assert negative_accuracy([0, 0, 1, 1], [0, 1, 1, 1], pos_label=5) == 1.0


@pytest.mark.parametrize("beta", [-1, -0.5, np.nan, "2", None])
def test_scorers_refuse_a_beta_that_is_no_factor(beta):
    with pytest.raises(ValueError, match=rf"^beta={beta!r} is not allowed; give a number of"):
        imbalance_scorers(beta=beta)


def test_what_is_undefined_is_what_zero_division_says():
    for value in (0.0, 1.0):
        score = positive_accuracy(*NO_POSITIVES, pos_label=1, zero_division=value)
        assert score == value
        score = geometric_mean(*NO_POSITIVES, pos_label=1, zero_division=value)
        assert score == pytest.approx(np.sqrt(0.75 * value), abs=1e-15)
        score = precision_recall_mean([0, 0], [0, 0], pos_label=1, zero_division=value)
        assert score == value
    assert np.isnan(positive_accuracy(*NO_POSITIVES, pos_label=1, zero_division=np.nan))
    assert geometric_mean(*NO_POSITIVES, pos_label=1, zero_division=np.nan) == 0.75


@each_measure
def test_one_class_alone_is_taken_for_the_negative_one(measure):
    for predicted in ([5, 5, 5, 5], [5, 5, 5, 6]):
        given_it = measure([5] * 4, predicted, pos_label=6, zero_division=1.0)
        assert measure([5] * 4, predicted, zero_division=1.0) == given_it
        with pytest.warns(UndefinedMetricWarning):
            measure([5] * 4, predicted)


def test_no_recognised_positive_is_a_plain_zero():
    y = [0, 0, 0, 1]
    for measure in (positive_accuracy, geometric_mean, precision_recall_mean, f_beta):
        assert measure(y, [0] * 4) == 0.0
    assert negative_accuracy(y, [0] * 4) == 1.0


@each_measure
def test_bad_input_is_refused(measure):
    for bad, message in [
        (([0, 1], [0, 1, 1]), "inconsistent numbers of samples"),
        (([0.5, 1.5], [0.5, 1.5]), "Unknown label type"),
        (([0, 1], ["a", "b"]), "Mix of label input types"),
        (([0, np.nan], [0, 1]), "y_true contains NaN"),
        (([], []), "at least one sample"),
    ]:
        with pytest.raises(ValueError, match=message):
            measure(*bad)
    with pytest.raises(ValueError, match=r"[Ss]ample.weight.* at least one"):
        measure([0, 1], [0, 1], sample_weight=[0, 0])
    with pytest.raises(ValueError, match=r"[Nn]egative values"):
        measure([0, 1], [0, 1], sample_weight=[1, -1])


# -- scorers ---------------------------------------------------------------------------------------


def test_all_scorers_at_once():
    X, y = unbalanced()
    model = LogisticRegression().fit(X, y)
    found = imbalance_scorers(pos_label=1, beta=2)
    predicted = model.predict(X)
    expected = {
        "positive_accuracy": positive_accuracy(y, predicted),
        "negative_accuracy": negative_accuracy(y, predicted),
        "geometric_mean": geometric_mean(y, predicted),
        "precision_recall_mean": precision_recall_mean(y, predicted),
        "f_beta": fbeta_score(y, predicted, beta=2),
    }
    assert {name: scorer(model, X, y) for name, scorer in found.items()} == expected
    assert len(set(expected.values())) == 5
    for name in expected:
        alone = getattr(scorers, f"{name}_scorer")
        again = pickle.loads(pickle.dumps(alone))
        assert again(model, X, y) == alone(model, X, y)


def test_cross_validation_goes_on_without_positives_in_a_fold():
    X, y = np.zeros((12, 1)), np.array([1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    never = DummyClassifier(strategy="constant", constant=0)
    with pytest.warns(UndefinedMetricWarning):
        scores = cross_validate(never, X, y, cv=KFold(3), scoring=imbalance_scorers(1))
    assert scores["test_negative_accuracy"].tolist() == [1.0, 1.0, 1.0]
    assert scores["test_geometric_mean"].tolist() == [0.0, 0.0, 0.0]
    quiet = imbalance_scorers(1, zero_division=np.nan)
    scores = cross_validate(never, X, y, cv=KFold(3), scoring=quiet)
    np.testing.assert_array_equal(scores["test_positive_accuracy"], [0.0, np.nan, 0.0])


def test_a_fixed_positive_class_is_the_same_in_every_fold():
    """The minority of a test set need not be that of all."""
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 0])
    X = np.zeros((10, 1))
    ones = DummyClassifier(strategy="constant", constant=1)
    halves = [(np.arange(10), np.arange(4)), (np.arange(10), np.arange(3, 9))]
    fixed = imbalance_scorers(1)["positive_accuracy"]
    scores = cross_val_score(ones, X, y, cv=halves[1:], scoring=fixed)
    assert scores.tolist() == [1.0]
    free = cross_val_score(ones, X, y, cv=halves[1:], scoring=scorers.positive_accuracy_scorer)
    assert free.tolist() == [0.0]


def test_search_by_several_scorers():
    X, y = unbalanced()
    search = GridSearchCV(
        LogisticRegression(), {"class_weight": [None, "balanced"]},
        scoring=imbalance_scorers(1), refit="geometric_mean", cv=2,
    ).fit(X, y)  # fmt: skip
    table = search.cv_results_
    assert search.best_score_ == table["mean_test_geometric_mean"].max()
    assert search.best_params_["class_weight"] == "balanced"


def test_scikit_learn_tunes_a_threshold_by_the_geometric_mean():
    X, y = unbalanced(600)
    plain = LogisticRegression().fit(X, y)
    tuned = TunedThresholdClassifierCV(
        plain, scoring=geometric_mean_scorer, cv=2, thresholds=20
    ).fit(X, y)
    assert tuned.best_threshold_ < 0.3
    X, y = unbalanced(3000, seed=1)
    assert geometric_mean(y, tuned.predict(X)) > geometric_mean(y, plain.predict(X)) + 0.15


def test_scorers_take_weights_where_scikit_learn_routes_them():
    X, y = unbalanced()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = imbalance_scorers(1)["geometric_mean"].set_score_request(sample_weight=True)
        found = cross_val_score(
            LogisticRegression().set_fit_request(sample_weight=False), X, y, cv=KFold(2),
            scoring=scorer, params={"sample_weight": weights},
        )  # fmt: skip
    expected = []
    for train, test in KFold(2).split(X):
        predicted = LogisticRegression().fit(X[train], y[train]).predict(X[test])
        expected.append(geometric_mean(y[test], predicted, sample_weight=weights[test]))
    assert found.tolist() == expected
