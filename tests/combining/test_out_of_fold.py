"""Out-of-fold answers: nobody is asked about a sample, or a copy of it, that it has seen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from orfeon import CARTClassifier, CARTRegressor, RandomTreeClassifier
from orfeon.combining.fitting import check_kind, fit_weighted, query, seeded_clone
from orfeon.combining.out_of_fold import (
    check_splits,
    fold_numbers,
    out_of_fold,
    splits_of,
)
from orfeon.datasets import make_friedman1, make_waveform


@pytest.fixture(scope="module")
def waveform():
    X, y = make_waveform(120, random_state=0)
    return X[:, :6], np.array(["one", "two", "six"])[y]


class Watchful(ClassifierMixin, BaseEstimator):
    """Knows which rows it has seen, and protests when asked about one of them."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = {tuple(row) for row in np.asarray(X).tolist()}
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert not self.seen_ & {tuple(row) for row in np.asarray(X).tolist()}
        return np.repeat(self.classes_[:1], len(X))


# -- folds -----------------------------------------------------------------------------------------


def test_folds_do_not_depend_on_the_order_nor_on_how_copies_are_written(waveform):
    X, y = waveform
    rng = np.random.default_rng(1)
    weights = 1.0 + rng.integers(0, 3, len(y))
    whole = fold_numbers(X, y, weights, 5, np.random.default_rng(2), by_class=True)
    copies = rng.permutation(np.repeat(np.arange(len(y)), weights.astype(int)))
    again = fold_numbers(X[copies], y[copies], None, 5, np.random.default_rng(2), by_class=True)
    np.testing.assert_array_equal(again, whole[copies])


def test_folds_of_a_frame_keep_copies_together_whatever_is_missing():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, None, 1.0, None] * 10, "b": ["x", None, "x", None] * 10})
    frame["c"] = np.repeat(np.arange(20), 2) // 2 * 1.0
    y = np.arange(40) % 2
    fold = fold_numbers(frame, y, None, 3, np.random.default_rng(0), by_class=False)
    rows = list(zip(frame["c"], y, frame["b"].isna(), strict=True))
    for row in set(rows):
        assert len({f for f, other in zip(fold, rows, strict=True) if other == row}) == 1
    assert len(np.unique(fold)) == 3


def test_each_class_is_spread_over_all_folds(waveform):
    X, y = waveform
    fold = fold_numbers(X, y, None, 5, np.random.default_rng(0), by_class=True)
    for label in np.unique(y):
        counts = np.bincount(fold[y == label], minlength=5)
        assert counts.max() - counts.min() <= 1


def test_the_unit_of_the_target_does_not_change_the_folds():
    X, y = make_friedman1(60, random_state=0)
    folds = [
        fold_numbers(X, target, None, 4, np.random.default_rng(0), by_class=False)
        for target in (y, 1e-9 * y + 7)
    ]
    np.testing.assert_array_equal(*folds)
    assert np.bincount(folds[0]).tolist() == [15, 15, 15, 15]


def test_empty_folds_are_left_out():
    splits = splits_of(np.array([4, 0, 4]))
    assert [split.test.tolist() for split in splits] == [[1], [0, 2]]
    assert [split.train.tolist() for split in splits] == [[0, 2], [1]]


def test_masks_and_negative_indices_are_rows():
    found = check_splits([(np.array([True, True, False]), [-1]), ([2], [0, 1])], 3)
    assert [split.train.tolist() for split in found] == [[0, 1], [2]]
    assert [split.test.tolist() for split in found] == [[2], [0, 1]]


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([([0, 1], [1, 2])], "row 1 in both parts of a split"),
        ([([0], [1]), ([1], [0])], "cv tests row 2 0 times"),
        ([([0], [1, 2]), ([1], [0, 2])], "cv tests row 2 2 times"),
        ([([], [0, 1, 2])], "a split without rows to train on"),
        ([], "cv tests row 0 0 times"),
    ],
)
def test_splits_that_would_not_be_honest_are_refused(splits, message):
    splits = [(np.array(a, int), np.array(b, int)) for a, b in splits]
    with pytest.raises(ValueError, match=message):
        check_splits(splits, 3)


# -- answers ---------------------------------------------------------------------------------------


def test_answers_are_those_of_an_obvious_loop(waveform):
    X, y = waveform
    models = [GaussianNB(), CARTClassifier(max_depth=3, random_state=1)]
    fold = fold_numbers(X, y, None, 5, np.random.default_rng(3), by_class=True)
    answers = out_of_fold(models, X, y, rng=np.random.default_rng(3))
    assert answers.shape == (2, 120, 3)
    for t, model in enumerate(models):
        for i in range(len(y)):
            others = fold != fold[i]
            fitted = clone(model).fit(X[others], y[others])
            assert fitted.classes_.tolist() == np.unique(y).tolist()
            np.testing.assert_array_equal(answers[t, i], fitted.predict_proba(X[[i]])[0])


def test_predictions_of_regressors_are_those_of_an_obvious_loop():
    X, y = make_friedman1(50, random_state=0)
    models = [LinearRegression(), CARTRegressor(random_state=0)]
    fold = np.arange(50) % 4
    answers = out_of_fold(models, X, y, rng=np.random.default_rng(0), splits=splits_of(fold))
    assert answers.shape == (2, 50, 1)
    for t, model in enumerate(models):
        for f in range(4):
            fitted = clone(model).fit(X[fold != f], y[fold != f])
            np.testing.assert_array_equal(answers[t, fold == f, 0], fitted.predict(X[fold == f]))


def test_nobody_is_asked_about_what_it_has_seen_nor_about_a_copy(waveform):
    X, y = waveform
    copies = np.random.default_rng(0).integers(0, 60, 200)
    answers = out_of_fold([Watchful()], X[copies], y[copies], rng=np.random.default_rng(0))
    assert not np.isnan(answers).any()
    with pytest.raises(AssertionError):  # the test would notice
        out_of_fold(
            [Watchful()], X[copies], y[copies], rng=np.random.default_rng(0),
            splits=splits_of(np.arange(200) % 5),
        )  # fmt: skip


def test_one_that_remembers_knows_nothing_of_random_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    twice = np.repeat(np.arange(2000), 2)
    near = KNeighborsClassifier(1)
    assert near.fit(X, y).score(X, y) == 1.0
    answers = out_of_fold([near], X[twice], y[twice], rng=rng)[0]
    right = np.mean(answers.argmax(axis=1) == y[twice])
    assert abs(right - 0.5) < 4 * 0.5 / np.sqrt(2000)


def test_a_class_that_was_not_met_has_probability_zero():
    X = np.arange(9.0)[:, None]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    answers = out_of_fold([GaussianNB()], X, y, splits=splits_of(np.array([0, 1] * 4 + [1])))[0]
    assert (answers[1::2, 2] == 0).all()
    assert answers[8, 2] == 0
    np.testing.assert_allclose(answers.sum(axis=1), 1.0)


def test_to_one_class_nobody_is_fitted():
    """Many classifiers refuse it."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["no", "yes", "yes"])
    answers = out_of_fold([LogisticRegression()], X, y, splits=splits_of(np.array([0, 1, 1])))[0]
    np.testing.assert_array_equal(answers, [[0, 1], [1, 0], [1, 0]])


def test_decisions_are_one_for_the_class_decided_for(waveform):
    X, y = waveform
    how = {"rng": np.random.default_rng(0), "splits": splits_of(np.arange(120) % 3)}
    shares = out_of_fold([GaussianNB()], X, y, **how)[0]
    decided = out_of_fold([GaussianNB()], X, y, method="predict", **how)[0]
    assert set(np.unique(decided)) == {0.0, 1.0}
    np.testing.assert_array_equal(decided.argmax(axis=1), shares.argmax(axis=1))
    without = out_of_fold([LinearSVC(random_state=0)], X, y, **how)[0]
    assert set(np.unique(without)) == {0.0, 1.0}


@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_jobs_change_no_bit(waveform, prefer):
    X, y = waveform
    models = [RandomTreeClassifier(), GaussianNB(), CARTClassifier(pruning="cv", n_folds=3)]
    one, two = (
        out_of_fold(models, X, y, rng=np.random.default_rng(5), n_jobs=n, prefer=prefer)
        for n in (1, 2)
    )
    assert one.tobytes() == two.tobytes()


def test_after_is_called_for_each_training(waveform):
    X, y = waveform
    calls = []
    out_of_fold([GaussianNB(), GaussianNB()], X, y, n_folds=4, after=lambda: calls.append(1))
    assert len(calls) == 8


def test_copies_of_one_sample_leave_nothing_to_train_on():
    X, y = np.ones((5, 2)), np.ones(5)
    with pytest.raises(ValueError, match="copies of 1 sample"):
        out_of_fold([LinearRegression()], X, y)


# -- one estimator ---------------------------------------------------------------------------------


def test_what_is_random_and_open_is_seeded_and_nothing_else():
    model = CARTClassifier(max_features="sqrt")
    assert seeded_clone(model, 3).random_state == seeded_clone(model, 3).random_state
    assert seeded_clone(model, 3).random_state != seeded_clone(model, 4).random_state
    assert model.random_state is None
    assert seeded_clone(CARTClassifier(random_state=9), 3).random_state == 9


def test_weights_are_handed_on_or_refused(waveform):
    X, y = waveform
    weights = np.random.default_rng(0).random(120) + 0.5
    answers = out_of_fold([GaussianNB()], X, y, weights, splits=splits_of(np.arange(120) % 2))[0]
    fitted = GaussianNB().fit(X[1::2], y[1::2], sample_weight=weights[1::2])
    np.testing.assert_array_equal(answers[::2], fitted.predict_proba(X[::2]))
    with pytest.raises(ValueError, match=r"fractions, but near=KNeigh.* takes no weights"):
        out_of_fold([KNeighborsClassifier()], X, y, weights, names=["near"])
    assert fit_weighted(KNeighborsClassifier(1), X, y, np.ones(120)).score(X, y) == 1.0


def test_what_is_of_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"tree=CARTRegressor\(\) is not a classifier"):
        check_kind(CARTRegressor(), classifier=True, name="tree")
    with pytest.raises(ValueError, match="x=3 is not a regressor"):
        check_kind(3, classifier=False, name="x")
    with pytest.raises(TypeError, match=r"x=CARTClassifier is a class; give .* CARTClassifier\(\)"):
        check_kind(CARTClassifier, classifier=True, name="x")


def test_several_outputs_and_unknown_classes_are_refused():
    X = np.arange(6.0).reshape(3, 2)
    line = LinearRegression().fit(X, X)
    with pytest.raises(ValueError, match=r"LinearRegression .* shape \(3, 2\); only .* one output"):
        query(line, X, None, "predict")
    assert query(LinearRegression().fit(X, X[:, :1]), X, None, "predict").shape == (3, 1)
    tree = CARTClassifier().fit(X, ["a", "b", "z"])
    for method, what in (("predict", "decides for"), ("predict_proba", "knows")):
        with pytest.raises(ValueError, match=f"CARTClassifier {what} 'z', which is not among"):
            query(tree, X, np.array(["a", "b"]), method)
