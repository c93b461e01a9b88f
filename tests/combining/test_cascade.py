"""Cascades: each model sees the features and what those before it say, honestly by default."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from tests.combining.stacks import cheap_jobs

from orfeon import (
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParallelPerceptronClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.combining.cascade import CascadeClassifier, CascadeRegressor
from orfeon.datasets import make_friedman1, make_twonorm, make_waveform

CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("line", LogisticRegression(C=0.01)),
    ("tree", CARTClassifier(max_depth=4, random_state=0)),
]
REGRESSORS = [("line", LinearRegression()), ("tree", CARTRegressor(max_depth=4, random_state=0))]
#: Small cascades that take each way through the code.
CASCADES = {
    "boosted": CascadeClassifier(
        [
            ("additive", GradientBoostingClassifier(n_estimators=10)),
            ("forest", RandomForestClassifier(10)),
        ]
    ),
    "any estimators": CascadeClassifier(CLASSIFIERS),
    "in sample": CascadeClassifier(CLASSIFIERS, in_sample=True),
    "random": CascadeClassifier(
        [("forest", RandomForestClassifier(5)), ("bag", BaggingClassifier(n_estimators=5))], cv=3
    ),
    "one": CascadeClassifier([("tree", CARTClassifier())]),
    "regression": CascadeRegressor(
        [
            ("additive", GradientBoostingRegressor(n_estimators=10)),
            ("forest", RandomForestRegressor(10)),
        ]
    ),
    "regressors": CascadeRegressor(REGRESSORS, cv=4),
}
each_cascade = pytest.mark.parametrize("name", CASCADES)


def problem(cascade, n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) / 3
    if isinstance(cascade, CascadeRegressor):
        return X, signal
    return X, np.array(["low", "middle", "top"])[np.digitize(signal, [-0.5, 0.5])]


# -- what it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_sample", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_an_obvious_loop(n_classes, in_sample):
    X, y = make_waveform(90, random_state=0)
    X, y = X[:, :4], np.minimum(y, n_classes - 1)
    X_new = make_waveform(50, random_state=1)[0][:, :4]
    fold = np.arange(90) % 3
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    cascade = CascadeClassifier(CLASSIFIERS, cv=splits, in_sample=in_sample).fit(X, y)

    seen, seen_new = X, X_new
    stages = list(cascade.staged_predict_proba(X_new))
    first = 1 if n_classes == 2 else 0  # of two classes the second says all
    for level, (_, model) in enumerate(CLASSIFIERS):
        fitted = clone(model).fit(seen, y)
        np.testing.assert_allclose(stages[level], fitted.predict_proba(seen_new), atol=1e-12)
        answers = fitted.predict_proba(seen)
        if not in_sample:
            for train, test in splits:
                answers[test] = clone(model).fit(seen[train], y[train]).predict_proba(seen[test])
        last = seen_new
        seen = np.column_stack([seen, answers[:, first:]])
        seen_new = np.column_stack([seen_new, fitted.predict_proba(seen_new)[:, first:]])
    n_new = 2 * (n_classes - first)
    np.testing.assert_allclose(cascade.constructed_, seen[:, 4 : 4 + n_new], atol=1e-12)
    np.testing.assert_allclose(cascade.construct(X_new), last[:, 4:], atol=1e-12)
    np.testing.assert_array_equal(cascade.predict_proba(X_new), stages[-1])
    assert len(cascade.constructed_names_) == n_new


def test_regressors_add_their_predictions():
    X, y = make_friedman1(80, random_state=0)
    fold = np.arange(80) % 4
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(4)]
    cascade = CascadeRegressor(REGRESSORS, cv=splits).fit(X, y)
    answers = np.zeros(80)
    for train, test in splits:
        answers[test] = LinearRegression().fit(X[train], y[train]).predict(X[test])
    np.testing.assert_allclose(cascade.constructed_[:, 0], answers, rtol=1e-12)
    line = LinearRegression().fit(X, y)
    tree = clone(REGRESSORS[1][1]).fit(np.column_stack([X, answers]), y)
    expected = tree.predict(np.column_stack([X, line.predict(X)]))
    np.testing.assert_allclose(cascade.predict(X), expected, rtol=1e-12)
    first, second = cascade.staged_predict(X)
    np.testing.assert_array_equal(first, line.predict(X))
    np.testing.assert_array_equal(second, cascade.predict(X))


def test_the_third_model_sees_what_both_before_it_say():
    X, y = make_waveform(90, random_state=0)
    cascade = CascadeClassifier(CLASSIFIERS).fit(X, y)
    assert [model.n_features_in_ for model in cascade.estimators_] == [21, 24, 27]
    assert cascade.constructed_names_ == [
        "bayes_0", "bayes_1", "bayes_2", "line_0", "line_1", "line_2",
    ]  # fmt: skip
    assert cascade.constructed_.shape == (90, 6)
    np.testing.assert_allclose(cascade.constructed_[:, :3].sum(axis=1), 1.0)


def test_a_model_alone_is_itself():
    X, y = make_twonorm(60, random_state=0)
    cascade = CascadeClassifier([("tree", CARTClassifier(random_state=1))]).fit(X, y)
    alone = CARTClassifier(random_state=1).fit(X, y)
    np.testing.assert_array_equal(cascade.predict(X), alone.predict(X))
    assert cascade.constructed_.shape == cascade.construct(X).shape == (60, 0)


def test_one_without_probabilities_adds_its_decision():
    X, y = make_waveform(90, random_state=0)
    models = [("svm", LinearSVC(random_state=0)), ("tree", CARTClassifier())]
    cascade = CascadeClassifier(models).fit(X, y)
    assert set(np.unique(cascade.constructed_)) == {0.0, 1.0}
    np.testing.assert_array_equal(
        cascade.construct(X).argmax(axis=1), cascade.estimators_[0].predict(X)
    )
    turned = CascadeClassifier(models[::-1])
    assert not hasattr(turned, "predict_proba")
    assert not hasattr(turned.fit(X, y), "predict_proba")
    first, last = turned.staged_predict_proba(X)
    np.testing.assert_array_equal(last.argmax(axis=1), turned.predict(X))
    np.testing.assert_allclose(first.sum(axis=1), 1.0)


# -- honesty ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [False, True])
def test_random_labels_are_not_learnt_from_one_that_remembers_them(copied):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 3)), rng.integers(0, 2, 1500)
    rows = np.repeat(np.arange(1500), 1 + copied)
    near = [("near", KNeighborsClassifier(1)), ("tree", CARTClassifier(max_depth=1))]
    honest = CascadeClassifier(near, random_state=0).fit(X[rows], y[rows])
    bound = 4 * 0.5 / np.sqrt(1500)
    assert abs(np.mean(honest.constructed_[:, 0] == y[rows]) - 0.5) < bound
    seen = np.column_stack([X[rows], honest.constructed_])
    assert honest.estimators_[-1].score(seen, y[rows]) < 0.5 + bound
    # As published it is deceived.
    deceived = CascadeClassifier(near, in_sample=True, random_state=0).fit(X[rows], y[rows])
    assert np.mean(deceived.constructed_[:, 0] == y[rows]) == 1.0
    assert deceived.estimators_[-1].forest_.feature[0] == 3


def test_one_that_remembers_does_no_harm_out_of_fold():
    X, y = make_twonorm(300, random_state=0)
    y = np.where(np.random.default_rng(12345).random(300) < 0.25, 1 - y, y)
    X_new, y_new = make_twonorm(3000, random_state=1)
    models = [("near", KNeighborsClassifier(1)), ("forest", RandomForestClassifier(100))]
    honest = CascadeClassifier(models, random_state=0).fit(X, y)
    deceived = CascadeClassifier(models, in_sample=True, random_state=0).fit(X, y)
    assert honest.score(X_new, y_new) > deceived.score(X_new, y_new) + 0.05


def test_an_ensemble_fitted_to_these_samples_is_refused():
    X, y = make_twonorm(60, random_state=0)
    bag = FrozenEstimator(BaggingClassifier(n_estimators=5, random_state=0).fit(X, y))
    cascade = CascadeClassifier([("bag", bag), ("tree", CARTClassifier())])
    with pytest.raises(ValueError, match="bag was fitted to these samples"):
        cascade.fit(X, y)
    X_new, y_new = make_twonorm(60, random_state=1)
    fitted = cascade.fit(X_new, y_new)
    np.testing.assert_array_equal(fitted.constructed_[:, 0], bag.predict_proba(X_new)[:, 1])


def test_two_samples_are_told_in_sample():
    """Out of fold, each would be told the class of the other."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 2.0])
    cascade = CascadeRegressor(random_state=0).fit(X, y)
    first, second = cascade.constructed_[:, 0]
    assert first < 1.5 < second
    first, second = cascade.predict(X)
    assert first < 1.4
    assert second > 1.6
    decided = CascadeClassifier(random_state=0).fit(X, ["a", "b"])
    assert decided.constructed_[0, 0] < 0.5 < decided.constructed_[1, 0]
    assert decided.predict(X).tolist() == ["a", "b"]


# -- what it gains ---------------------------------------------------------------------------------


def test_a_tree_after_a_linear_model_cuts_obliquely():
    X, y = make_twonorm(300, random_state=0)
    X_new, y_new = make_twonorm(3000, random_state=1)
    models = [("line", ParallelPerceptronClassifier()), ("tree", C45Classifier())]
    cascade = CascadeClassifier(models, random_state=0).fit(X, y)
    assert cascade.score(X_new, y_new) > C45Classifier().fit(X, y).score(X_new, y_new) + 0.15
    # The first test is on what the perceptron says.
    assert cascade.estimators_[-1].forest_.feature[0] == 20


def test_boosted_stumps_and_a_forest_are_not_worse_than_either():
    X, y = make_waveform(300, random_state=0)
    X_new, y_new = make_waveform(3000, random_state=1)
    cascade = CascadeClassifier(random_state=0).fit(X, y)
    assert list(cascade.named_estimators_) == ["additive", "forest"]
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    first, last = (np.mean(answers == y_new) for answers in cascade.staged_predict(X_new))
    assert last > max(first, forest.score(X_new, y_new)) - 0.01


def test_a_forest_after_an_additive_model_is_better():
    X, y = make_friedman1(200, random_state=0)
    X_new, y_new = make_friedman1(2000, random_state=1)
    cascade = CascadeRegressor(random_state=0).fit(X, y)
    alone = RandomForestRegressor(random_state=0).fit(X, y)
    assert cascade.score(X_new, y_new) > alone.score(X_new, y_new) + 0.05


# -- weights, order, randomness, jobs, tables ------------------------------------------------------


@each_cascade
def test_weight_k_is_k_copies_and_weight_zero_is_absence(name):
    """To the last bit, in whatever order the rows come."""
    cascade = clone(CASCADES[name]).set_params(random_state=1)
    X, y = problem(cascade)
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 3, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), weights))
    moved = rng.permutation(len(y))
    fitted = cascade.fit(X, y, sample_weight=weights)
    expected, made = fitted.predict(X), fitted.constructed_
    assert made.shape[1] == 0 or np.isnan(made[weights == 0]).all()
    for rows, given in ((copies, None), (moved, 1.0 * weights[moved])):
        again = cascade.fit(X[rows], y[rows], sample_weight=given)
        np.testing.assert_array_equal(again.predict(X), expected)
        np.testing.assert_array_equal(again.constructed_, made[rows])


@each_cascade
def test_jobs_change_no_bit_and_random_state_fixes_everything(name):
    cascade = clone(CASCADES[name]).set_params(random_state=3)
    X, y = problem(cascade)
    first = cascade.fit(X, y)
    answers, made = first.predict(X), first.constructed_.tobytes()
    with cheap_jobs():
        second = clone(cascade).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(second.predict(X), answers)
    assert second.constructed_.tobytes() == made


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_columns_and_get_new_ones(library):
    module = pytest.importorskip(library)
    X, y = make_twonorm(80, random_state=0)
    words = np.where(np.arange(80) % 7 == 0, None, np.where(X[:, 1] > 0, "more", "less"))
    frame = module.DataFrame({"a": X[:, 0], "word": words.tolist(), "additive_1": X[:, 2]})
    cascade = CascadeClassifier(random_state=0).fit(frame, y)
    assert cascade.estimators_[-1].feature_names_in_.tolist() == [
        "a", "word", "additive_1", "_additive_1",
    ]  # fmt: skip
    assert cascade.estimators_[-1].schema_.categories[1] == ("less", "more")
    assert cascade.score(frame, y) > 0.7


def test_columns_that_are_numbered_stay_so():
    pandas = pytest.importorskip("pandas")
    X, y = make_twonorm(60, random_state=0)
    frame = pandas.DataFrame(X[:, :3])
    framed = CascadeClassifier(CLASSIFIERS, random_state=0).fit(frame, y)
    plain = CascadeClassifier(CLASSIFIERS, random_state=0).fit(X[:, :3], y)
    np.testing.assert_array_equal(framed.predict_proba(frame), plain.predict_proba(X[:, :3]))


def test_rows_of_any_kind_are_read():
    X = [["a", 1.5], ["b", None], ["a", 2.5], [None, 0.5]] * 10
    y = ["no", "yes", "no", "yes"] * 10
    models = [("tree", CARTClassifier()), ("other", C45Classifier())]
    cascade = CascadeClassifier(models, random_state=0).fit(X, y)
    assert cascade.predict([["b", 1.0], ["unseen", None]]).shape == (2,)
    assert cascade.score(X, y) == 1.0


# -- edges -----------------------------------------------------------------------------------------


@each_cascade
def test_one_class_or_one_value_is_all_there_is(name):
    cascade = clone(CASCADES[name])
    X = np.random.default_rng(0).normal(size=(20, 3))
    for rows in (X, X[:1], np.ones((4, 3))):
        number = isinstance(cascade, CascadeRegressor)
        y = np.full(len(rows), 3.5) if number else np.full(len(rows), "only")
        assert set(cascade.fit(rows, y).predict(X)) == {y[0]}


def test_dropped_models_are_left_out_and_parameters_reached():
    X, y = make_twonorm(60, random_state=0)
    cascade = CascadeClassifier(CLASSIFIERS).set_params(line="drop", tree__max_depth=2).fit(X, y)
    assert cascade.named_estimators_["line"] == "drop"
    assert cascade.constructed_names_ == ["bayes_1"]
    assert cascade.estimators_[-1].get_depth() <= 2
    assert [model.n_features_in_ for model in cascade.estimators_] == [20, 21]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cv": "prefit"}, "'cv' parameter .* Got 'prefit'"),
        ({"cv": 1}, "'cv' parameter .* Got 1"),
        ({"in_sample": "yes"}, "'in_sample' parameter .* Got 'yes'"),
        ({"estimators": [("tree", CARTRegressor())]}, r"tree=CARTRegressor\(\) is not a classifi"),
        ({"cv": [([0], [1])]}, "cv tests row 0 0 times"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    X, y = make_twonorm(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        CascadeClassifier(**parameters).fit(X, y)


def test_it_can_be_pickled_and_shows_progress(capsys):
    X, y = make_twonorm(60, random_state=0)
    cascade = CascadeClassifier(CLASSIFIERS, cv=4, verbose=1).fit(X, y)
    assert "CascadeClassifier  11/11 [####" in capsys.readouterr().err
    again = pickle.loads(pickle.dumps(cascade))
    np.testing.assert_array_equal(again.predict_proba(X), cascade.predict_proba(X))
