"""Members of any kind: votes, supports, subsets, joined; and the lazy view."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from orfeon import BaggingClassifier, IGPCommitteesClassifier
from orfeon.datasets import make_waveform
from orfeon.members.members import CommitteeMembers, EstimatorMembers, LazyView, concatenate


@pytest.fixture(scope="module")
def problem():
    return make_waveform(150, random_state=0)


@pytest.fixture(scope="module")
def every_kind(problem):
    """A forest, estimators, and committees, of five members each."""
    X, y = problem
    bayes = [GaussianNB().fit(X[i::5], y[i::5]) for i in range(5)]
    return {
        "forest": BaggingClassifier(n_estimators=5, random_state=0).fit(X, y).members_,
        "estimators": EstimatorMembers(bayes, 3),
        "committees": IGPCommitteesClassifier(5, 3, random_state=0).fit(X, y).members_,
    }


kinds = pytest.mark.parametrize("kind", ["forest", "estimators", "committees"])


# -- all kinds alike -------------------------------------------------------------------------------


@kinds
def test_sums_are_those_of_what_each_says(every_kind, problem, kind):
    members, X = every_kind[kind], problem[0]
    votes, supports = members.votes(X), members.supports(X)
    assert len(members) == 5
    assert members.n_classes == 3
    assert votes.shape == (5, 150)
    assert votes.dtype == np.int32
    assert supports.shape == (5, 150, 3)
    np.testing.assert_allclose(supports.sum(axis=2), 1.0)
    counts = np.array([[(votes[:, i] == c).sum() for c in range(3)] for i in range(150)])
    np.testing.assert_array_equal(members.count_votes(X), counts)
    assert members.count_votes(X).dtype == np.int64
    np.testing.assert_allclose(members.mean_supports(X), supports.mean(axis=0), atol=1e-12)
    # Each votes for the class that it supports most.
    rows = np.arange(150)
    for vote, support in zip(votes, supports, strict=True):
        np.testing.assert_allclose(support[rows, vote], support.max(axis=1))


@kinds
@pytest.mark.parametrize("chosen", [[3, 1], [-1], np.array([True, False, True, False, False]),
                                    range(2, 5), [2, 2]])  # fmt: skip
def test_a_subset_says_what_its_members_said(every_kind, problem, kind, chosen):
    members, X = every_kind[kind], problem[0]
    some = members.subset(chosen)
    assert type(some) is type(members)
    index = np.arange(5)[np.asarray(chosen)]
    assert len(some) == len(index)
    np.testing.assert_array_equal(some.votes(X), members.votes(X)[index])
    np.testing.assert_array_equal(some.supports(X), members.supports(X)[index])


@kinds
def test_parts_joined_are_the_whole(every_kind, problem, kind):
    members, X = every_kind[kind], problem[0]
    joined = concatenate([members.subset([0, 1]), members.subset([2]), members.subset([3, 4])])
    assert type(joined) is type(members)
    np.testing.assert_array_equal(joined.votes(X), members.votes(X))
    np.testing.assert_array_equal(joined.supports(X), members.supports(X))
    assert concatenate([members]) is members


# -- estimators ------------------------------------------------------------------------------------


def test_a_member_may_know_some_of_the_classes_only(problem):
    X, y = problem
    some = GaussianNB().fit(X[y != 1], y[y != 1])
    members = EstimatorMembers([some], 3)
    supports = members.supports(X)[0]
    np.testing.assert_allclose(supports[:, [0, 2]], some.predict_proba(X))
    assert (supports[:, 1] == 0).all()
    assert set(members.votes(X)[0]) == {0, 2}
    assert members.count_votes(X).shape == (150, 3)


def test_without_probabilities_the_vote_is_the_support(problem):
    X, y = problem
    members = EstimatorMembers([LinearSVC(C=0.01).fit(X, y)], 3)
    np.testing.assert_array_equal(members.supports(X)[0], np.eye(3)[members.votes(X)[0]])


def test_members_see_their_own_features(problem):
    X, y = problem
    columns = [np.array([3, 7]), np.array([0, 12])]
    fitted = [GaussianNB().fit(X[:, c], y) for c in columns]
    members = EstimatorMembers(fitted, 3, columns)
    for t, (one, c) in enumerate(zip(fitted, columns, strict=True)):
        np.testing.assert_array_equal(members.votes(X)[t], one.predict(X[:, c]))
        np.testing.assert_array_equal(members.supports(X)[t], one.predict_proba(X[:, c]))
    other = members.subset([1])
    np.testing.assert_array_equal(other.features[0], columns[1])
    np.testing.assert_array_equal(other.votes(X)[0], members.votes(X)[1])
    joined = EstimatorMembers.concatenate([other, members.subset([0])])
    np.testing.assert_array_equal(joined.votes(X), members.votes(X)[::-1])


def test_regressors_support_a_number(problem):
    X, y = problem
    ridge = Ridge().fit(X, y + 0.5)
    members = EstimatorMembers([ridge, ridge], 0)
    assert members.supports(X).shape == (2, 150, 1)
    np.testing.assert_allclose(members.mean_supports(X)[:, 0], ridge.predict(X))


# -- committees ------------------------------------------------------------------------------------


def test_committees_vote_among_themselves_first(every_kind, problem):
    members, X = every_kind["committees"], problem[0]
    for t, forest in enumerate(members.committees):
        counts = np.zeros((150, 3))
        for vote in forest.votes(X):
            counts[np.arange(150), vote] += 1
        np.testing.assert_array_equal(members.votes(X)[t], counts.argmax(axis=1))
        np.testing.assert_allclose(members.supports(X)[t], counts / len(forest))
    assert isinstance(members, CommitteeMembers)


# -- the lazy view ---------------------------------------------------------------------------------


def test_a_lazy_view_is_a_sequence():
    made = []
    view = LazyView(5, lambda i: made.append(i) or 10 * i)
    assert len(view) == 5
    assert made == []
    assert view[1] == 10
    assert view[-1] == 40
    assert view[np.int64(2)] == 20
    assert made == [1, 4, 2]  # nothing is made but what is asked for
    assert view[1:4] == [10, 20, 30]
    assert view[::-2] == [40, 20, 0]
    assert view[3:3] == []
    assert list(view) == [0, 10, 20, 30, 40]
    assert list(reversed(view)) == [40, 30, 20, 10, 0]
    assert 30 in view
    assert view.index(20) == 2
    assert "5 estimators" in repr(view)
    for beyond in (5, -6):
        with pytest.raises(IndexError):
            view[beyond]
