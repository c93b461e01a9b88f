"""Lists of estimators and pipelines as members to choose from, and what all kinds refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import orfeon
from orfeon.datasets import make_waveform
from orfeon.members import adapt

KEPT = [4, 0, 3]

BAGGING = orfeon.BaggingClassifier(n_estimators=6, random_state=0)


def vote(answers, classes):
    """Class of most votes, the first of those that are tied."""
    counts = np.stack([(answers == c).sum(axis=0) for c in range(len(classes))])
    return classes[counts.argmax(axis=0)]


@pytest.fixture(scope="module")
def problem():
    X, y = make_waveform(90, random_state=3)
    return X[:, :8], np.array(["ten", "two", "one"])[y]


# -- lists -----------------------------------------------------------------------------------------


def test_a_list_of_classifiers_may_know_different_classes(problem):
    X, y = problem
    two = y != "ten"
    estimators = [
        GaussianNB().fit(X[two], y[two]),
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
        DecisionTreeClassifier(random_state=0).fit(X[y != "one"], y[y != "one"]),
    ]
    members = adapt(estimators)
    assert members.classes.tolist() == ["one", "ten", "two"]
    np.testing.assert_array_equal(
        members.classes[members.answers(X)], [e.predict(X) for e in estimators]
    )
    assert members.subset([2, 0]) == [estimators[2], estimators[0]]
    named = tuple(zip("abc", estimators, strict=True))
    assert adapt(named).subset([2, 1]) == (named[2], named[1])
    np.testing.assert_array_equal(adapt(named).answers(X), members.answers(X))
    with pytest.raises(ValueError, match=r"a list of estimators has no out-of-bag .* fitted to"):
        members.out_of_bag(X, y)


def test_a_list_of_regressors(friedman):
    X, y = friedman
    estimators = [Ridge().fit(X, y), LinearRegression().fit(X, y[:, None])]
    members = adapt(estimators)
    assert (members.classes, members.n_classes) == (None, 0)
    assert members.answers(X).shape == (2, 200)
    np.testing.assert_array_equal(members.answers(X)[1], estimators[1].predict(X)[:, 0])


def test_the_lazy_view_of_members_is_a_list_too(problem):
    X, y = problem
    ensemble = clone(BAGGING).fit(X, y)
    members = adapt(ensemble.estimators_)
    np.testing.assert_array_equal(members.answers(X), ensemble.votes(X))
    assert [type(e).__name__ for e in members.subset([1])] == ["CARTClassifier"]


def test_lists_that_are_refused(problem, friedman):
    X, y = problem
    bayes = GaussianNB().fit(X, y)
    ridge = Ridge().fit(*friedman)
    with pytest.raises(ValueError, match="the list of estimators is empty"):
        adapt([])
    with pytest.raises(ValueError, match="estimator 0 is a classifier and estimator 1, Ridge, is"):
        adapt([bayes, ridge])
    with pytest.raises(NotFittedError, match="estimator 1 of the list, GaussianNB, is not fitted"):
        adapt([bayes, GaussianNB()])
    with pytest.raises(TypeError, match=r"estimator 1 of the list, StandardScaler\(\), is without"):
        adapt([bayes, StandardScaler().fit(X)])
    with pytest.raises(TypeError, match="estimator 1 of the list, KMeans, is neither a classifier"):
        adapt([bayes, KMeans(2, n_init=1).fit(X)])
    with pytest.raises(TypeError, match=r"estimator 0 of the list, .*GaussianNB.*, is a class"):
        adapt([GaussianNB])
    with pytest.raises(TypeError, match=r"estimator 1 of the list, \('b', GaussianNB.* is without"):
        adapt([bayes, ("b", bayes)])
    with pytest.raises(ValueError, match=r"estimator 0 has the classes .* and estimator 1 \[0, 1"):
        adapt([bayes, DummyClassifier().fit(X, np.arange(90) % 2)])
    several = KNeighborsClassifier().fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match=r"estimator 1 .* has the classes of several outputs"):
        adapt([bayes, several])
    outputs = DecisionTreeRegressor().fit(X, X[:, :2])
    with pytest.raises(ValueError, match=r"member 0, DecisionTreeRegressor, .* \(90, 2\)"):
        adapt([outputs]).answers(X)


class Bare:
    """A model that is no estimator of scikit-learn."""

    fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), 7)


def test_models_that_say_what_they_are_need_not_be_of_scikit_learn(problem):
    X, _ = problem
    with pytest.raises(TypeError, match="estimator 0 of the list, Bare, is neither"):
        adapt([Bare()])
    model = Bare()
    model._estimator_type = "classifier"
    with pytest.raises(ValueError, match="estimator 0 of the list, Bare, has no classes_"):
        adapt([model])
    model.classes_ = np.array([3, 7])
    np.testing.assert_array_equal(adapt([model]).answers(X), np.ones((1, 90)))
    model.classes_ = np.array([3, 5])
    with pytest.raises(ValueError, match=r"member 0 predicts np.int64\(7\)|member 0 predicts 7"):
        adapt([model]).answers(X)


# -- pipelines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [[], [StandardScaler()], [StandardScaler(), "passthrough"]])
def test_a_pipeline_is_cut_in_its_last_step(before, problem):
    X, y = problem
    bag = clone(BAGGING)
    pipeline = make_pipeline(*before, bag).fit(X, y)
    answers = pipeline.predict(X)
    members = adapt(pipeline)
    smaller = members.subset(KEPT)
    assert isinstance(smaller, Pipeline)
    assert smaller.steps[:-1] == pipeline.steps[:-1]
    assert list(smaller.named_steps) == list(pipeline.named_steps)
    assert (members.n_members, members.n_classes, members.member_weights) == (6, 3, None)
    np.testing.assert_array_equal(
        smaller.predict(X), vote(members.answers(X)[KEPT], members.classes)
    )
    rows = pipeline[:-1].transform(X) if before else X
    np.testing.assert_array_equal(members.answers(X), bag.votes(rows))
    assert len(clone(smaller).fit(X, y)[-1]) == 3
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(smaller)).predict(X), smaller.predict(X)
    )
    np.testing.assert_array_equal(pipeline.predict(X), answers)
    assert len(pipeline[-1]) == 6


def test_out_of_bag_of_a_pipeline(problem):
    X, y = problem
    bag = clone(BAGGING)
    scaled = make_pipeline(FunctionTransformer(np.sqrt), bag).fit(X**2, y)
    np.testing.assert_array_equal(adapt(scaled).out_of_bag(X**2, y), bag.in_bag(np.abs(X), y) == 0)
    seeing = make_pipeline(StandardScaler(), orfeon.IGPEnsembleClassifier(5)).fit(X, y)
    with pytest.raises(ValueError, match="IGPEnsembleClassifier has no out-of-bag samples"):
        adapt(seeing).out_of_bag(X, y)


def test_a_pipeline_within_a_pipeline(problem):
    X, y = problem
    inner = make_pipeline(StandardScaler(), SklearnForest(5, random_state=0))
    outer = make_pipeline(StandardScaler(), inner).fit(X, y)
    smaller = adapt(outer).subset([3])
    np.testing.assert_array_equal(
        smaller.predict(X), adapt(outer).classes[adapt(outer).answers(X)[3]]
    )


# -- what all kinds refuse -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([], "at least one"),
        ([0, 6], r"indices has 6; the 6 members are numbered from 0 to 5"),
        ([-1], r"indices has -1; the 6 members"),
        ([2, 1, 2], "indices has 2 more than once"),
        ([True, False], "give a list of whole numbers"),
        ([0.0, 1.0], "give a list of whole numbers"),
        ([[0, 1]], "give a list of whole numbers"),
        (3, "indices=3 is not allowed"),
        ("all", "indices='all' is not allowed"),
    ],
)
def test_indices_that_are_refused(indices, message, problem):
    X, y = problem
    given = clone(BAGGING).fit(X, y)
    for ensemble in (given, list(given.estimators_), make_pipeline(given)):
        with pytest.raises(ValueError, match=message):
            adapt(ensemble).subset(indices)


def test_one_member_may_be_kept_and_indices_may_be_any_sequence(problem):
    X, y = problem
    ensemble = clone(BAGGING).fit(X, y)
    members = adapt(ensemble)
    np.testing.assert_array_equal(
        members.subset([4]).predict(X), members.classes[members.answers(X)[4]]
    )
    for indices in (range(2), (0, 1), np.array([0, 1], dtype=np.uint8)):
        assert len(members.subset(indices)) == 2


@pytest.mark.parametrize(
    ("thing", "named"),
    [
        (GaussianNB(), "of type GaussianNB"),
        ("bagging", "of type str"),
        (None, "of type NoneType"),
        (np.zeros((3, 4)), "of type ndarray"),
        (orfeon.BaggingClassifier, "the class BaggingClassifier"),
        (SklearnForest, "the class RandomForestClassifier"),
        (make_pipeline(StandardScaler()), "of type StandardScaler"),
        (make_pipeline(StandardScaler(), "passthrough"), "of type str"),
    ],
)
def test_anything_else_is_refused_by_its_type(thing, named):
    with pytest.raises(TypeError, match=rf"ensemble is {named}, .* Allowed are ensembles"):
        adapt(thing)


@pytest.mark.parametrize(
    "ensemble",
    [
        orfeon.BaggingClassifier(),
        orfeon.PartitionedRegressor(),
        make_pipeline(StandardScaler(), orfeon.BaggingClassifier()),
    ],
)
def test_ensembles_that_are_not_fitted_are_refused(ensemble):
    with pytest.raises(NotFittedError):
        adapt(ensemble)
