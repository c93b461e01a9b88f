"""Class supports of the members of any ensemble, in the order of its classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as sk
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from orfeon import AdaBoostClassifier, BaggingClassifier, BaggingRegressor, CARTClassifier
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.members import adapt

NAMES = np.array(["one", "two", "six"])
X, codes = make_waveform(120, random_state=0)
Y = NAMES[codes]
TREE = CARTClassifier(max_depth=3)

#: Ensembles that average the supports of their members, so that their mean is known.
AVERAGES = {
    "ours": BaggingClassifier(TREE, 7, random_state=0),
    "a pipeline": make_pipeline(StandardScaler(), BaggingClassifier(TREE, 7, random_state=0)),
    "forest": sk.RandomForestClassifier(7, max_depth=3, random_state=0),
    "bagging": sk.BaggingClassifier(
        GaussianNB(), 7, max_features=0.5, max_samples=0.1, random_state=0
    ),
    "voting": sk.VotingClassifier(
        [("bayes", GaussianNB()), ("line", LogisticRegression(max_iter=500))], voting="soft"
    ),
}


@pytest.mark.parametrize("name", AVERAGES)
def test_they_average_to_what_the_ensemble_says(name):
    fitted = AVERAGES[name].fit(X, Y)
    members = adapt(fitted)
    supports = members.supports(X)
    assert supports.shape == (members.n_members, 120, 3)
    np.testing.assert_allclose(supports.sum(axis=2), 1.0)
    shares = getattr(fitted, "mean_supports", fitted.predict_proba)(X)
    if name == "a pipeline":
        shares = fitted[-1].mean_supports(fitted[0].transform(X))
    np.testing.assert_allclose(supports.mean(axis=0), shares, atol=1e-12)
    # A vote is for the most supported class, or one of them.
    of_votes = np.take_along_axis(supports, members.answers(X)[:, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(of_votes, supports.max(axis=2), rtol=1e-12)


def test_members_without_probabilities_support_what_they_vote_for():
    members = adapt([LinearSVC().fit(X, Y), GaussianNB().fit(X, Y)])
    np.testing.assert_array_equal(members.supports(X)[0], np.eye(3)[members.answers(X)[0]])


def test_a_member_that_knows_some_classes_only():
    some = np.flatnonzero(Y != "six")
    members = adapt([GaussianNB().fit(X[some], Y[some]), GaussianNB().fit(X, Y)])
    supports = members.supports(X)
    assert members.classes.tolist() == ["one", "six", "two"]
    assert (supports[0, :, 1] == 0).all()
    np.testing.assert_allclose(supports.sum(axis=2), 1.0)


def test_boosted_members_and_bare_ones():
    boosted = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(adapt(boosted).supports(X), boosted.members_.supports(X))
    np.testing.assert_array_equal(adapt(boosted.forest_).supports(X), boosted.members_.supports(X))
    theirs = sk.AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, Y)
    expected = [member.predict_proba(X) for member in theirs.estimators_]
    np.testing.assert_array_equal(adapt(theirs).supports(X), expected)


def test_numbers_are_their_own_support():
    Z, target = make_friedman1(60, random_state=0)
    bag = BaggingRegressor(n_estimators=4, random_state=0).fit(Z, target)
    np.testing.assert_array_equal(adapt(bag).supports(Z)[:, :, 0], bag.predictions(Z))
    lines = [LinearRegression().fit(Z[:30], target[:30]), LinearRegression().fit(Z, target)]
    assert adapt(lines).supports(Z).shape == (2, 60, 1)
