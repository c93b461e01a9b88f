"""Arbiters: referees against obvious loops, and classifiers that know half of the plane each."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from tests.oracles import combining_models as oracle

from orfeon import BaggingClassifier, C45Classifier, CARTClassifier, CARTRegressor
from orfeon.combining.arbiter import ArbiterClassifier
from orfeon.datasets import make_gaussian_clouds

TREE = CARTClassifier(max_depth=3, random_state=0)


def seeing(feature: int) -> Any:
    """A classifier that sees one feature."""
    only = make_column_transformer(("passthrough", [feature]))
    return make_pipeline(only, CARTClassifier(max_depth=1))


def halves(seed: int, n: int) -> tuple[Any, Any]:
    """The class depends on one feature on the left, and on another one on the right."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 4))
    return X, np.where(X[:, 0] < 0, X[:, 1] > 0, X[:, 2] > 0)


def three_classes(seed: int, n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.3])]


def as_learner(estimator: Any, answers: Any = None) -> oracle.Learner:
    """An estimator as the oracle has learners: of rows, giving an answer to one row."""
    known: dict[Any, oracle.Answer] = {}

    def learn(X: list[list[Any]], y: list[Any]) -> oracle.Answer:
        key = (tuple(map(tuple, X)), tuple(y))  # the oracle trains again for each row
        if key not in known:
            known[key] = train(X, y)
        return known[key]

    def train(X: list[list[Any]], y: list[Any]) -> oracle.Answer:
        if len(set(y)) == 1:
            return lambda x: y[0]
        fitted = clone(estimator).fit(np.array(X), np.array(y))

        @functools.cache
        def answer_row(x: tuple[Any, ...]) -> Any:
            if answers == "probability of 1":
                return fitted.predict_proba([x])[0][1]
            return fitted.classes_[fitted.predict_proba([x])[0].argmax()]

        return lambda x: answer_row(tuple(x))

    return learn


def test_referees_and_decisions_are_those_of_the_obvious_loop():
    X, y = three_classes(0, 60)
    folds = np.random.default_rng(1).integers(0, 3, 60)
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(3)]
    members = [("bayes", GaussianNB()), ("tree", TREE), ("line", LogisticRegression())]
    referee = CARTClassifier(min_samples_leaf=5, random_state=0)
    model = ArbiterClassifier(members, referee, see_answers=False, cv=splits).fit(X, y)
    learners = [as_learner(estimator) for _, estimator in members]
    judges = oracle.referees(
        learners, as_learner(referee, "probability of 1"), X.tolist(), y.tolist(), folds.tolist()
    )
    full = [learn(X.tolist(), y.tolist()) for learn in learners]
    X_new, _ = three_classes(2, 20)
    trust, decided, chosen = model.trust(X_new), model.predict(X_new), model.choose(X_new)
    for i, x in enumerate(X_new.tolist()):
        trusted = [float(judge(x)) for judge in judges]
        np.testing.assert_allclose(trust[i], trusted, atol=1e-12)
        answers = [answer(x) for answer in full]
        assert decided[i] == oracle.arbitrate(answers, trusted)
        assert decided[i] == answers[chosen[i]]
    assert len(set(chosen)) == 3


def test_referees_see_what_their_classifier_says():
    X, y = three_classes(3, 80)
    folds = np.arange(80) % 4
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(4)]
    members = [("bayes", GaussianNB()), ("tree", TREE)]
    model = ArbiterClassifier(members, TREE, cv=splits).fit(X, y)
    X_new, _ = three_classes(4, 50)
    for t, (_, estimator) in enumerate(members):
        answers = np.empty((80, 3))
        for train, test in splits:
            answers[test] = clone(estimator).fit(X[train], y[train]).predict_proba(X[test])
        right = np.array(["a", "b", "c"])[answers.argmax(axis=1)] == y
        np.testing.assert_array_equal(model.right_[:, t], right)
        judge = clone(TREE).fit(np.column_stack([X, answers]), right.astype(int))
        now = clone(estimator).fit(X, y).predict_proba(X_new)
        trust = judge.predict_proba(np.column_stack([X_new, now]))[:, 1]
        np.testing.assert_array_equal(model.trust(X_new)[:, t], trust)


@pytest.mark.parametrize("decision", ["most_trusted", "weighted"])
def test_each_classifier_decides_in_its_own_half_of_the_plane(decision):
    X, y = halves(5, 500)
    X_test, y_test = halves(6, 2000)
    members = [(f"sees{a}", seeing(a)) for a in (1, 2, 3)]
    model = ArbiterClassifier(members, decision=decision, random_state=0).fit(X, y)
    best = max(estimator.score(X_test, y_test) for estimator in model.estimators_)
    votes = np.mean([estimator.predict(X_test) for estimator in model.estimators_], axis=0) > 0.5
    majority = np.mean(votes == y_test)
    assert best < 0.8
    assert majority < 0.8
    if decision == "most_trusted":
        assert model.score(X_test, y_test) > 0.97
        differ = (X_test[:, 1] > 0) != (X_test[:, 2] > 0)
        is_strange = X_test[differ, 0] < 0  # to the second classifier, and at home to the first
        chosen = model.choose(X_test[differ])
        assert np.mean(chosen == is_strange) < 0.05
    else:
        assert model.score(X_test, y_test) > majority + 0.05


def test_weighted_decisions_are_averages_by_trust():
    X, y = three_classes(7, 150)
    members = [("bayes", GaussianNB()), ("tree", TREE)]
    model = ArbiterClassifier(members, decision="weighted", random_state=0).fit(X, y)
    X_new, _ = three_classes(8, 30)
    trust, found = model.trust(X_new), model.predict_proba(X_new)
    answers = [estimator.predict_proba(X_new) for estimator in model.estimators_]
    for i in range(30):
        total = sum(trust[i])
        weights = [t / total for t in trust[i]] if total > 0 else [0.5, 0.5]
        expected = [
            sum(w * s[i][k] for w, s in zip(weights, answers, strict=True)) for k in range(3)
        ]
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def test_of_equally_trusted_classifiers_the_first_decides():
    X, y = three_classes(9, 100)
    members = [("first", TREE), ("second", clone(TREE)), ("bayes", "drop")]
    model = ArbiterClassifier(members, CARTClassifier(max_depth=1, random_state=0)).fit(X, y)
    np.testing.assert_array_equal(*model.trust(X).T)
    np.testing.assert_array_equal(model.choose(X), 0)
    assert model.named_estimators_["bayes"] == "drop"


def test_a_classifier_that_is_always_right_is_always_trusted():
    X = np.linspace(-1, 1, 60)[:, None]
    y = X[:, 0] > 0
    members = [("noise", seeing_nothing()), ("tree", CARTClassifier())]
    model = ArbiterClassifier(members, cv=5, random_state=0).fit(X, y)
    assert model.right_[:, 1].mean() > 0.95
    np.testing.assert_array_equal(model.predict(X), y)


def seeing_nothing() -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def test_classifiers_without_probabilities_are_sure_of_what_they_decide():
    X, y = three_classes(10, 120)
    model = ArbiterClassifier([("svm", LinearSVC()), ("tree", TREE)], random_state=0).fit(X, y)
    shares, chosen = model.predict_proba(X), model.choose(X)
    assert set(np.unique(shares[chosen == 0])) <= {0.0, 1.0}
    svm = model.named_estimators_["svm"]
    np.testing.assert_array_equal(model.predict(X)[chosen == 0], svm.predict(X)[chosen == 0])


def test_fitted_classifiers_are_taken_as_they_are():
    X, y = halves(11, 1200)
    left, right = X[:400, 0] < 0, X[:400, 0] >= 0
    members = [
        ("left", FrozenEstimator(CARTClassifier().fit(X[:400][left], y[:400][left]))),
        ("right", FrozenEstimator(CARTClassifier().fit(X[:400][right], y[:400][right]))),
    ]
    model = ArbiterClassifier(members, see_answers=False, random_state=0)
    model.fit(X[400:800], y[400:800])
    assert model.estimators_[0].estimator is members[0][1].estimator
    assert model.score(X[800:], y[800:]) > 0.95
    assert max(e.score(X[800:], y[800:]) for e in model.estimators_) < 0.9


def test_an_ensemble_that_was_fitted_to_the_very_samples_is_refused():
    X, y = three_classes(12, 60)
    bag = FrozenEstimator(BaggingClassifier(n_estimators=3, random_state=0).fit(X, y))
    with pytest.raises(ValueError, match="bag was fitted to these samples"):
        ArbiterClassifier([("bag", bag), ("tree", TREE)]).fit(X, y)


def test_a_fitted_classifier_of_other_classes_is_refused():
    X, y = three_classes(20, 60)
    tree = FrozenEstimator(CARTClassifier().fit(X, y))
    members = [("tree", tree), ("bayes", GaussianNB())]
    two = y != "c"
    with pytest.raises(
        ValueError, match=r"tree was fitted to .*'c'\], and y has \['a', 'b'\] only"
    ):
        ArbiterClassifier(members).fit(X[two][:20], y[two][:20])
    with pytest.raises(NotFittedError, match="is not fitted; fit it first"):
        ArbiterClassifier([("tree", FrozenEstimator(CARTClassifier()))]).fit(X, y)


# -- weights, order, randomness --------------------------------------------------------------------


def test_weights_are_copies_in_any_order():
    rng = np.random.default_rng(13)
    X, y = three_classes(14, 80)
    weights = rng.integers(0, 4, 80)
    copies = rng.permutation(np.repeat(np.arange(80), weights))
    members = [("tree", CARTClassifier(max_features=1)), ("bayes", GaussianNB())]
    model = ArbiterClassifier(members, random_state=3)
    expected = model.fit(X, y, sample_weight=weights).predict_proba(X)
    assert np.isnan(model.right_[weights == 0]).all()
    assert np.isfinite(model.right_[weights > 0]).all()
    moved = rng.permutation(80)
    for rows, given in ((copies, None), (moved, weights[moved])):
        again = model.fit(X[rows], y[rows], sample_weight=given).predict_proba(X)
        np.testing.assert_array_equal(again, expected)


def test_random_state_fixes_everything_and_n_jobs_changes_nothing():
    X, y = three_classes(15, 120)
    members = [("bag", BaggingClassifier(n_estimators=5)), ("tree", CARTClassifier(max_features=1))]
    referee = CARTClassifier(max_features=1, min_samples_leaf=5)
    found = [
        ArbiterClassifier(members, referee, random_state=1, n_jobs=n).fit(X, y).trust(X)
        for n in (None, 1, 2)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    other = ArbiterClassifier(members, referee, random_state=2).fit(X, y).trust(X)
    assert (found[0] != other).any()


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_categories_and_missing_values(kind):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(16)
    codes, numbers = rng.integers(0, 3, 200), rng.normal(size=200)
    y = (codes == 1) ^ (numbers > 0)
    frame = pandas.DataFrame({"colour": np.array(list("abc"))[codes], "size": numbers})
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    table: Any = frame
    if kind == "polars":
        table = pytest.importorskip("polars").from_pandas(frame)
    if kind == "objects":
        table = frame.astype(object).where(frame.notna(), None).to_numpy()
    members = [("tree", CARTClassifier(pruning="cv")), ("c45", C45Classifier())]
    model = ArbiterClassifier(members, random_state=0).fit(table, y)
    assert model.score(table, y) > 0.85
    assert model.trust(table).shape == (200, 2)


def test_one_class():
    X = np.random.default_rng(17).normal(size=(20, 2))
    model = ArbiterClassifier(random_state=0).fit(X, ["same"] * 20)
    assert set(model.predict(X)) == {"same"}
    np.testing.assert_array_equal(model.trust(X), 1.0)


def test_default_classifiers_are_at_least_as_good_as_their_majority():
    X, y = make_gaussian_clouds(600, random_state=0)
    model = ArbiterClassifier(random_state=0).fit(X[:300], y[:300])
    votes = np.array([estimator.predict(X[300:]) for estimator in model.estimators_])
    majority = np.mean((votes.mean(axis=0) > 0.5) == y[300:])
    assert model.score(X[300:], y[300:]) > majority - 0.02


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"referee": CARTRegressor()}, r"'referee' parameter .* must be an object implementing"),
        ({"referee": LinearSVC()}, r"'referee' parameter .* must be an object implementing"),
        ({"decision": "best"}, r"'decision' parameter .* Got 'best'"),
        ({"see_answers": "no"}, r"'see_answers' parameter .* Got 'no'"),
        ({"cv": [([0, 1], [2, 3])]}, r"cv tests row 0 0 times; every row must be tested once"),
        ({"estimators": []}, r"estimators=\[\] is not allowed: give a list of \(name, estimator\)"),
        ({"estimators": [("a", CARTRegressor())]}, r"a=CARTRegressor\(\) is not a classifier"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting, message):
    X, y = three_classes(18, 10)
    with pytest.raises(ValueError, match=message):
        ArbiterClassifier(**setting).fit(X, y)


def test_a_fit_that_fails_leaves_the_arbiter_as_it_was():
    X, y = three_classes(19, 60)
    model = ArbiterClassifier([("tree", TREE)], random_state=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="y has 10 values and X has 60 rows"):
        model.fit(X, y[:10])
    np.testing.assert_array_equal(model.predict_proba(X), before)
