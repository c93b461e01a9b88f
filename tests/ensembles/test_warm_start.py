"""Warm start: members are added, and those that are there stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from tests.ensembles.twins import (
    Remembering,
    assert_same_trees,
    every_setting,
    numbered,
    small,
    table,
)
from tests.shared import assert_same_forest, forest_of

from orfeon import BaggingClassifier, BaggingRegressor, RandomForestClassifier
from orfeon.datasets import make_waveform
from orfeon.forest import Forest

can_grow = [e for e in every_setting() if "warm_start" in e.get_params()]
each_growing = pytest.mark.parametrize("ensemble", can_grow, ids=str)


def size_of(ensemble):
    """The parameter that says how many members there are."""
    return "n_committees" if "n_committees" in ensemble.get_params() else "n_estimators"


def first_trees(ensemble, n_members):
    if hasattr(ensemble, "committee_forests_"):
        return Forest.concatenate(ensemble.committee_forests_[:n_members])
    return ensemble.forest_.subset(range(n_members))


# -- members ---------------------------------------------------------------------------------------


@each_growing
def test_the_first_members_do_not_change_and_the_whole_is_that_of_a_fresh_fit(ensemble):
    X, y = table(ensemble)
    size = size_of(ensemble)
    grown = clone(ensemble).set_params(warm_start=True, **{size: 2}).fit(X, y)
    two, n_two = forest_of(grown), len(grown)
    grown.set_params(**{size: 5}).fit(X, y)
    np.testing.assert_array_equal(first_trees(grown, n_two).nodes, two.nodes)
    np.testing.assert_allclose(first_trees(grown, n_two).value, two.value)
    if ensemble.get_params().get("bootstrap") == "balanced":
        assert len(grown) == 5  # balanced in batches, so a fresh one has other samples
        return
    fresh = clone(ensemble).set_params(**{size: 5}).fit(X, y)
    assert_same_trees(grown, fresh)
    assert_same_trees(
        grown.set_params(**{size: 9}).fit(X, y), fresh.set_params(**{size: 9}).fit(X, y)
    )


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0), np.random.default_rng(0)])
def test_any_random_state_goes_on(random_state):
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=random_state).fit(X, y)
    first = bag.forest_
    bag.set_params(n_estimators=8).fit(X, y)
    assert_same_forest(bag.forest_.subset(range(3)), first)
    assert len({row.tobytes() for row in bag.in_bag(X, y)}) == 8


def test_other_base_learners_are_added_too():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(GaussianNB(), 3, warm_start=True, random_state=0).fit(X, y)
    first = list(bag.estimators_)
    bag.set_params(n_estimators=7).fit(X, y)
    assert all(a is b for a, b in zip(first, bag.estimators_[:3], strict=True))
    fresh = BaggingClassifier(GaussianNB(), 7, random_state=0).fit(X, y)
    np.testing.assert_array_equal(bag.votes(X), fresh.votes(X))
    np.testing.assert_array_equal(bag.mean_supports(X), fresh.mean_supports(X))


def test_each_batch_of_a_balanced_bootstrap_is_balanced():
    X, y = numbered(30), np.arange(30) % 2
    bag = BaggingClassifier(
        Remembering(), 4, bootstrap="balanced", warm_start=True, oob_score=False, random_state=0
    )
    bag.fit(X, y)
    first = np.array([member.counts(30) for member in bag.estimators_])
    bag.set_params(n_estimators=9).fit(X, y)
    bag.set_params(n_estimators=11).fit(X, y)
    counts = np.array([member.counts(30) for member in bag.estimators_])
    np.testing.assert_array_equal(counts[:4], first)
    for batch, size in ((slice(0, 4), 4), (slice(4, 9), 5), (slice(9, 11), 2)):
        assert (counts[batch].sum(axis=0) == size).all()
    assert len({row.tobytes() for row in counts}) == 11
    np.testing.assert_array_equal(bag.in_bag(X, y), counts)


def test_without_warm_start_it_begins_anew():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert len(bag.set_params(n_estimators=2).fit(X, y)) == 2


# -- out-of-bag estimates --------------------------------------------------------------------------


@pytest.mark.parametrize("make", [BaggingClassifier, RandomForestClassifier, BaggingRegressor])
def test_estimates_are_those_of_the_fresh_larger_fit(make):
    X, y = table(make())
    grown = make(n_estimators=30, oob_score=True, warm_start=True, random_state=0).fit(X, y)
    grown.set_params(n_estimators=50).fit(X, y)
    fresh = make(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    for name in [n for n in vars(fresh) if n.startswith("oob_") and n.endswith("_")]:
        np.testing.assert_array_equal(getattr(grown, name), getattr(fresh, name))
    assert grown.oob_error_curve_.shape == (50,)


def test_rows_in_another_order_are_the_same_examples():
    X, y = table(BaggingClassifier())
    moved = np.random.default_rng(0).permutation(len(y))
    grown = BaggingClassifier(n_estimators=30, oob_score=True, warm_start=True, random_state=0)
    grown.fit(X, y).set_params(n_estimators=50).fit(X[moved], y[moved])
    fresh = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(grown.oob_votes_, fresh.oob_votes_[:, moved])


def test_estimates_may_be_asked_for_later():
    X, y = table(BaggingClassifier())
    grown = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y)
    grown.set_params(n_estimators=50, warm_start=True, oob_score=True).fit(X, y)
    fresh = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(grown.oob_votes_, fresh.oob_votes_)


def test_with_other_examples_the_earlier_members_take_no_part():
    X, y = make_waveform(200, random_state=0)
    other, labels = make_waveform(200, random_state=1)
    bag = BaggingClassifier(n_estimators=30, oob_score=True, warm_start=True, random_state=0)
    bag.fit(X, y).set_params(n_estimators=70)
    with pytest.warns(UserWarning, match="other examples than before.*do not take part"):
        bag.fit(other, labels)
    assert (bag.oob_votes_[:30] == -1).all()
    assert np.isnan(bag.oob_error_curve_[:30]).all()
    assert (bag.oob_votes_[30:] >= 0).any(axis=1).all()
    # What the later ones say is honest: they are asked about rows that they did not see.
    later = bag.oob_votes_[30:]
    shares = np.stack([(later == c).sum(axis=0) for c in range(3)], axis=1)
    assert bag.oob_error_ == pytest.approx(np.mean(shares.argmax(axis=1) != labels))


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["BaggingClassifier", "IGPCommitteesClassifier", "BaggingRegressor"]
)
def test_fewer_members_are_refused_and_the_model_is_kept(name):
    ensemble = small(name, warm_start=True)
    X, y = table(ensemble)
    size = size_of(ensemble)
    ensemble.fit(X, y)
    there, before = len(ensemble), ensemble.predict(X)
    with pytest.raises(ValueError, match=rf"{size}=1 is less than the {there} members there are"):
        ensemble.set_params(**{size: 1}).fit(X, y)
    assert len(ensemble) == there
    np.testing.assert_array_equal(ensemble.predict(X), before)
    ensemble.set_params(warm_start=False).fit(X, y)
    assert len(ensemble) == 1


@pytest.mark.parametrize("name", ["BaggingClassifier", "IGPCommitteesClassifier"])
def test_as_many_members_warn_and_nothing_changes(name):
    ensemble = small(name, warm_start=True)
    X, y = table(ensemble)
    size = size_of(ensemble)
    before = forest_of(ensemble.fit(X, y))
    n = len(ensemble)
    with pytest.warns(UserWarning, match=f"{size}={n}, as many as there are: no member is trained"):
        ensemble.fit(X, y)
    assert_same_forest(forest_of(ensemble), before)


def test_other_classes_or_attributes_are_refused_and_the_model_is_kept():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    before = bag.predict(X)
    bag.set_params(n_estimators=5)
    for X_other, y_other in ((X[:, :4], y), (X, y + 1), (X[y < 2], y[y < 2]), (X, y.astype(str))):
        with pytest.raises(ValueError, match="goes on with the attributes and classes"):
            bag.fit(X_other, y_other)
        assert len(bag) == 3
        assert bag.classes_.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(bag.predict(X), before)
    assert len(bag.fit(X, y)) == 5


def test_other_categories_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"c": pandas.Categorical(list("abcab") * 6)})
    other = pandas.DataFrame({"c": pandas.Categorical(list("abdab") * 6)})
    y = np.arange(30) % 2
    bag = BaggingClassifier(n_estimators=3, warm_start=True).fit(frame, y)
    with pytest.raises(ValueError, match="goes on with the attributes and classes"):
        bag.set_params(n_estimators=5).fit(other, y)
    assert bag.predict(frame).shape == (30,)
