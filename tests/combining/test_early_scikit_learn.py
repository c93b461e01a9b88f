"""Early decision of scikit-learn's ensembles: what is decided is what they predict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import orfeon
from orfeon import PrunedClassifier, early_decision
from orfeon.combining import early_decision_votes
from orfeon.datasets import make_waveform
from orfeon.members import adapt
from orfeon.ordering import BoostingBased

STUMP = DecisionTreeClassifier(max_depth=1)
NAMED = [(f"t{k}", DecisionTreeClassifier(max_depth=k + 1, random_state=k)) for k in range(4)]
NAMED += [("bayes", GaussianNB()), ("wide", GaussianNB(var_smoothing=1.0))]

SOFT = {
    "forest": RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
    "forest of pure leaves": RandomForestClassifier(8, random_state=0),  # with many ties
    "extra trees": ExtraTreesClassifier(20, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(n_estimators=10, random_state=0),
    "bagging of subspaces": BaggingClassifier(
        GaussianNB(), 12, max_features=0.5, bootstrap_features=True, random_state=0
    ),
    "soft voting": VotingClassifier(NAMED, voting="soft"),
    "weighted soft voting": VotingClassifier(NAMED, voting="soft", weights=[3, 0, 0, 1, 2, 0.7]),
}
HARD = {
    "bagging by votes": BaggingClassifier(Perceptron(), 15, random_state=0),
    "hard voting": VotingClassifier(NAMED),
}
WEIGHTED = {
    "AdaBoost": AdaBoostClassifier(STUMP, n_estimators=20, random_state=0),
    "weighted voting": VotingClassifier(NAMED, weights=[0.1, 0.2, 0, 0.3, 0.3, 0.3]),
}


@pytest.fixture(scope="module")
def problem():
    X, y = make_waveform(220, random_state=3)
    names = np.array(["ten", "two", "one"])
    return X[:100, :8], names[y[:100]], X[100:, :8]


@pytest.mark.parametrize("kind", [*SOFT, *HARD, *WEIGHTED])
def test_it_decides_as_they_predict(kind, problem):
    X, y, new = problem
    ensemble = clone({**SOFT, **HARD, **WEIGHTED}[kind]).fit(X, y)
    expected = ensemble.predict(new)
    for block in (None, 3):
        decided = early_decision(ensemble, new, block=block)
        np.testing.assert_array_equal(decided.predictions, expected)
        assert decided.n_members == adapt(ensemble).n_members
        assert decided.n_queried.max() <= decided.n_members
        if block is None:
            assert decided.n_queried.min() < decided.n_members


@pytest.mark.parametrize("kind", HARD)
def test_equal_votes_are_decided_with_less_confidence(kind, problem):
    X, y, new = problem
    ensemble = clone(HARD[kind]).fit(X, y)
    exactly = early_decision(ensemble, new)
    nearly = early_decision(ensemble, new, confidence=0.6)
    assert nearly.mean_queried < exactly.mean_queried
    votes = early_decision_votes(adapt(ensemble).answers(new), confidence=0.6, block=1)
    again = early_decision(ensemble, new, confidence=0.6, block=1)
    np.testing.assert_array_equal(again.predictions, ensemble.classes_[votes.predictions])
    np.testing.assert_array_equal(again.n_queried, votes.n_queried)


def test_supports_are_not_counted_as_votes(problem):
    X, y, new = problem
    forest = clone(SOFT["forest"]).fit(X, y)
    with pytest.raises(ValueError, match=r"confidence=0.9 .* RandomForestClassifier averages the"):
        early_decision(forest, new, confidence=0.9)
    with pytest.raises(ValueError, match=r"member_weights are for votes, but RandomForestClass"):
        early_decision(forest, new, member_weights=np.ones(30))
    boosted = clone(WEIGHTED["AdaBoost"]).fit(X, y)
    with pytest.raises(ValueError, match=r"confidence=0.9 is not allowed with member_weights"):
        early_decision(boosted, new, confidence=0.9)
    alike = early_decision(boosted, new, member_weights=np.ones(20))
    counts = [(adapt(boosted).answers(new) == k).sum(axis=0) for k in range(3)]
    np.testing.assert_array_equal(alike.predictions, boosted.classes_[np.argmax(counts, axis=0)])


def test_pruned_frozen_and_in_a_pipeline(problem):
    X, y, new = problem
    forest = clone(SOFT["forest"])
    pruned = PrunedClassifier(forest, keep=9).fit(X, y)
    ours = make_pipeline(StandardScaler(), orfeon.RandomForestClassifier(20, random_state=0))
    theirs = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), forest))
    for model in (pruned, FrozenEstimator(pruned), ours.fit(X, y), theirs.fit(X, y)):
        decided = early_decision(model, new)
        np.testing.assert_array_equal(decided.predictions, model.predict(new))
        assert decided.mean_queried < decided.n_members
    assert early_decision(pruned, new).n_members == 9
    assert early_decision(ours, new, confidence=0.8).mean_queried < 15
    weighted = PrunedClassifier(forest, rule=BoostingBased(weighted_vote=True)).fit(X, y)
    with pytest.raises(ValueError, match="weights the votes"):
        early_decision(weighted, new)


def test_lists_of_classifiers_frames_and_sparse_rows(problem):
    pandas = pytest.importorskip("pandas")
    X, y, new = problem
    some = [GaussianNB().fit(X[y != "two"], y[y != "two"]), *(
        DecisionTreeClassifier(max_depth=k).fit(X, y) for k in (1, 2, 3, 4)
    )]  # fmt: skip
    decided = early_decision(some, new)
    answers = np.array([one.predict(new) for one in some])
    classes = np.array(["one", "ten", "two"])
    counts = [(answers == name).sum(axis=0) for name in classes]
    np.testing.assert_array_equal(decided.predictions, classes[np.argmax(counts, axis=0)])
    forest, frame = clone(SOFT["forest"]), pandas.DataFrame(X, columns=list("abcdefgh"))
    rows = pandas.DataFrame(new, columns=frame.columns)
    expected = forest.fit(frame, y).predict(rows)
    np.testing.assert_array_equal(early_decision(forest, rows).predictions, expected)
    forest.fit(csr_matrix(X), y)
    decided = early_decision(forest, csr_matrix(new))
    np.testing.assert_array_equal(decided.predictions, forest.predict(new))


def test_what_cannot_be_decided_early_says_why(problem, friedman):
    X, y, new = problem
    with pytest.raises(
        TypeError, match=r"GradientBoostingClassifier cannot be decided early: its tr"
    ):
        early_decision(GradientBoostingClassifier(n_estimators=2).fit(X, y), new)
    with pytest.raises(ValueError, match="BaggingRegressor for regression"):
        early_decision(BaggingRegressor(n_estimators=2).fit(*friedman), friedman[0])
    with pytest.raises(NotFittedError):
        early_decision(RandomForestClassifier(), new)
    with pytest.raises(ValueError, match="X is None"):
        early_decision(clone(SOFT["forest"]).fit(X, y))
    with pytest.raises(ValueError, match="member_weights must be finite, not negative"):
        early_decision(VotingClassifier(NAMED, weights=[1, 1, 1, 1, 1, -1]).fit(X, y), new)
