"""Stacking: the same as scikit-learn's where both can, what it gains, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.combining.stacks import (
    BAG,
    CLASSIFIERS,
    REGRESSORS,
    STACKS,
    each_stack,
)

from orfeon import CARTRegressor, RandomForestRegressor, load, save
from orfeon.combining.stacking import StackingClassifier, StackingRegressor
from orfeon.datasets import make_friedman1, make_twonorm, make_waveform

# -- the same as others ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("splitter", [KFold(4), StratifiedKFold(4, shuffle=True, random_state=1)])
def test_with_the_same_splits_it_is_scikit_learns(n_classes, passthrough, splitter):
    X, y = make_waveform(150, random_state=0)
    X, y = X[:, :5], np.array(["a", "b", "c"])[np.minimum(y, n_classes - 1)]
    X_new = make_waveform(80, random_state=1)[0][:, :5]
    how = {"estimators": CLASSIFIERS, "passthrough": passthrough, "cv": splitter}
    final = LogisticRegression(max_iter=1000)
    ours = StackingClassifier(final_estimator=final, **how).fit(X, y)
    theirs = sklearn_ensemble.StackingClassifier(final_estimator=final, **how).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X_new), theirs.predict_proba(X_new))
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))
    n_answers = ours.answers(X_new).shape[1]
    assert n_answers == len(ours.answer_names_) == (2 if n_classes == 2 else 6)
    np.testing.assert_array_equal(ours.answers(X_new), theirs.transform(X_new)[:, :n_answers])


def test_regressors_with_the_same_splits_are_scikit_learns():
    X, y = make_friedman1(100, random_state=0)
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    ours = StackingRegressor(REGRESSORS, Ridge(), cv=splits).fit(X, y)
    theirs = sklearn_ensemble.StackingRegressor(REGRESSORS, Ridge(), cv=splits).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_an_obvious_loop(n_classes):
    """Also with weights, which say how often a row is there."""
    X, y = make_waveform(60, random_state=0)
    X, y = X[:, :4], np.minimum(y, n_classes - 1)
    weights = 1 + np.arange(60) % 2
    fold = np.arange(60) % 3
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    stack = StackingClassifier(CLASSIFIERS, LogisticRegression(), cv=splits)
    stack.fit(X, y, sample_weight=weights)

    copies = np.repeat(np.arange(60), weights)
    level_one = np.zeros((60, 2, n_classes))
    for f in range(3):
        train = copies[fold[copies] != f]
        for t, (_, model) in enumerate(CLASSIFIERS):
            fitted = clone(model).fit(X[train], y[train])
            level_one[fold == f, t] = fitted.predict_proba(X[fold == f])
    level_one = level_one[:, :, 1 if n_classes == 2 else 0 :].reshape(60, -1)
    np.testing.assert_allclose(stack.level_one_, level_one, atol=1e-12)
    final = LogisticRegression().fit(level_one[copies], y[copies])
    members = [clone(model).fit(X[copies], y[copies]) for _, model in CLASSIFIERS]
    queried = np.stack([member.predict_proba(X) for member in members], axis=1)
    queried = queried[:, :, 1 if n_classes == 2 else 0 :].reshape(60, -1)
    np.testing.assert_allclose(stack.predict_proba(X), final.predict_proba(queried), atol=1e-10)


# -- what it gains ---------------------------------------------------------------------------------


def test_it_is_as_good_as_the_best_of_its_models():
    X, y = make_twonorm(300, random_state=0)
    X_new, y_new = make_twonorm(3000, random_state=1)
    stack = StackingClassifier(random_state=0).fit(X, y)
    assert list(stack.named_estimators_) == ["tree", "forest", "boosting", "perceptron"]
    scores = [model.score(X_new, y_new) for model in stack.estimators_]
    assert max(scores) - min(scores) > 0.1
    assert stack.score(X_new, y_new) > max(scores) - 0.01


def test_a_line_and_a_forest_together_are_better_than_each():
    X, y = make_friedman1(200, random_state=0)
    X_new, y_new = make_friedman1(2000, random_state=1)
    models = [("line", LinearRegression()), ("forest", RandomForestRegressor())]
    stack = StackingRegressor(models, random_state=0).fit(X, y)
    scores = [model.score(X_new, y_new) for model in stack.estimators_]
    assert stack.score(X_new, y_new) > max(scores) + 0.05


# -- edges -----------------------------------------------------------------------------------------


@each_stack
def test_one_class_or_one_value_is_all_there_is(name):
    stack = clone(STACKS[name])
    X = np.random.default_rng(0).normal(size=(20, 3))
    is_number = isinstance(stack, StackingRegressor)
    for rows in (X, X[:1], np.ones((4, 3))):
        y = np.full(len(rows), 3.5) if is_number else np.full(len(rows), "only")
        assert set(stack.fit(rows, y).predict(X)) == {y[0]}
    if stack.final_estimator is None:
        assert isinstance(stack.final_estimator_, DummyRegressor if is_number else DummyClassifier)


@pytest.mark.parametrize(
    ("stack", "table"),
    [
        (stack, table)
        for stack in (StackingClassifier(), StackingRegressor())
        for table in ("two rows", "constant", "huge", "denormal", "empty column", "no value")
    ],
    ids=str,
)
def test_extreme_tables_are_learnt(stack, table):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    X = {
        "two rows": X[:2],
        "constant": np.ones((40, 3)),
        "huge": X * 1e300,
        "denormal": rng.integers(-50, 50, (40, 2)) * 5e-324,
        "empty column": np.where(np.arange(3) == 1, np.nan, X),
        "no value": np.full((10, 2), np.nan),
    }[table]
    y = np.arange(len(X)) % 3 if isinstance(stack, StackingClassifier) else rng.normal(size=len(X))
    fitted = stack.set_params(random_state=0).fit(X, y)
    assert np.isfinite(fitted.predict(X)).all()
    if isinstance(stack, StackingClassifier):
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


def test_a_class_of_one_sample_is_not_lost():
    X, y = make_twonorm(60, random_state=0)
    y[7] = 5
    for name in ("folds", "meta tree", "out of bag"):
        fitted = clone(STACKS[name]).set_params(random_state=0).fit(X, y)
        assert fitted.classes_.tolist() == [0, 1, 5]
        assert fitted.predict_proba(X).shape == (60, 3)


def test_a_failed_fit_leaves_the_stack_as_it_was():
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS).fit(X, y)
    before = stack.predict_proba(X)
    with pytest.raises(ValueError, match="Negative values"):
        stack.fit(X[:, :2], y, sample_weight=-np.ones(60))
    np.testing.assert_array_equal(stack.predict_proba(X), before)


def test_a_final_estimator_without_probabilities_gives_none():
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS, LinearSVC(random_state=0))
    assert not hasattr(stack, "predict_proba")
    stack.fit(X, y)
    assert not hasattr(stack, "predict_proba")
    np.testing.assert_array_equal(stack.decision_function(X) > 0, stack.predict(X) == 1)
    assert not hasattr(StackingClassifier(CLASSIFIERS), "decision_function")


def test_decisions_are_a_column_for_each_class():
    X, y = make_waveform(90, random_state=0)
    models = [("svm", LinearSVC(random_state=0)), ("bayes", GaussianNB())]
    decided = StackingClassifier(models, stack_method="predict", random_state=0).fit(X, y)
    assert set(np.unique(decided.answers(X))) == {0.0, 1.0}
    either = StackingClassifier(models, random_state=0).fit(X, y).answers(X)
    np.testing.assert_array_equal(either[:, :3], decided.answers(X)[:, :3])
    assert len(np.unique(either[:, 3:])) > 100
    with pytest.raises(ValueError, match=r'svm=LinearSVC.* has no predict_proba; use "auto"'):
        StackingClassifier(models, stack_method="predict_proba").fit(X, y)


# -- as an estimator -------------------------------------------------------------------------------


def test_parameters_of_the_models_are_set_by_name(tmp_path):
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS)
    assert stack.get_params()["tree__max_depth"] == 3
    clone(stack).set_params(tree__max_depth=1, bayes="drop").fit(X, y)
    dropped = clone(stack).set_params(bayes="drop").fit(X, y)
    assert dropped.named_estimators_["bayes"] == "drop"
    assert dropped.answer_names_ == ["tree_1"]
    save(dropped, tmp_path / "model.orfeon")
    assert load(tmp_path / "model.orfeon").named_estimators_["bayes"] == "drop"
    search = GridSearchCV(stack, {"tree__max_depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["tree__max_depth"] in (1, 2)
    members = StackingClassifier(clone(BAG), cv="out_of_bag")
    assert members.set_params(estimators__n_estimators=5).estimators.n_estimators == 5
    theirs = StackingClassifier(sklearn_ensemble.BaggingClassifier(), cv="out_of_bag")
    assert theirs.get_params()["estimators__n_estimators"] == 10


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ([], ValueError, r"estimators=\[\] is not allowed: give a list of \(name, estimator\)"),
        ([GaussianNB()], ValueError, r"give a list of \(name, estimator\), at least one"),
        ([(1, GaussianNB())], ValueError, r"give a list of \(name, estimator\)"),
        ([("a", GaussianNB())] * 2, ValueError, "has the name 'a' twice"),
        ([("a__b", GaussianNB())], ValueError, "the name 'a__b'; a name must not contain '__'"),
        ([("cv", GaussianNB())], ValueError, "the name 'cv'; .* nor be that of a parameter"),
        ([("a", "drop")], ValueError, 'estimators are all "drop"'),
        ([("a", CARTRegressor())], ValueError, r"a=CARTRegressor\(\) is not a classifier"),
        ([("a", GaussianNB)], TypeError, "a=GaussianNB is a class"),
    ],
)
def test_what_are_no_named_classifiers_is_refused(estimators, error, message):
    X, y = make_twonorm(20, random_state=0)
    with pytest.raises(error, match=message):
        StackingClassifier(estimators).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cv": 1}, "'cv' parameter .* Got 1"),
        ({"cv": "bag"}, "'cv' parameter .* Got 'bag'"),
        ({"stack_method": "vote"}, "'stack_method' parameter .* Got 'vote'"),
        ({"final_estimator": "tree"}, "'final_estimator' parameter .* Got 'tree'"),
        ({"final_estimator": Ridge()}, r"final_estimator=Ridge\(\) is not a classifier"),
        ({"passthrough": 2}, "'passthrough' parameter .* Got 2"),
        ({"cv": [(np.arange(20), np.arange(20))]}, "row 0 in both parts of a split"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    X, y = make_twonorm(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        StackingClassifier(CLASSIFIERS, **parameters).fit(X, y)


def test_it_can_be_pickled_and_shows_progress(capsys):
    X, y = make_twonorm(60, random_state=0)
    stack = StackingClassifier(CLASSIFIERS, cv=4, verbose=1).fit(X, y)
    assert "StackingClassifier  11/11 [####" in capsys.readouterr().err
    again = pickle.loads(pickle.dumps(stack))
    np.testing.assert_array_equal(again.predict_proba(X), stack.predict_proba(X))


def test_rows_of_weight_zero_are_not_split():
    X, y = make_twonorm(40, random_state=0)
    weights = np.repeat([1.0, 0.0], 20)
    splitter = KFold(4)
    whole = StackingClassifier(CLASSIFIERS, cv=splitter).fit(X, y, sample_weight=weights)
    part = StackingClassifier(CLASSIFIERS, cv=splitter).fit(X[:20], y[:20])
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
    listed = StackingClassifier(CLASSIFIERS, cv=list(splitter.split(X)))
    listed.fit(X, y, sample_weight=weights)
    assert np.isnan(listed.level_one_).all(axis=1).tolist() == [False] * 20 + [True] * 20
