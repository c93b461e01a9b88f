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
from tests.shared import assert_same_forest

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    IGPCommitteesClassifier,
    RandomForestClassifier,
    WaggingClassifier,
)
from orfeon.datasets import make_waveform
from orfeon.forest import Forest

can_grow = [e for e in every_setting() if "warm_start" in e.get_params()]
REFUSAL = "continues with the features, the classes and the kind of members"
each_growing = pytest.mark.parametrize("ensemble", can_grow, ids=str)


def size_of(ensemble):
    """The parameter that sets the number of members."""
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
    two, n_two = grown.forest_, len(grown)
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


def test_members_may_be_balanced_after_others_were_not():
    X, y = numbered(30), np.arange(30) % 2
    bag = BaggingClassifier(Remembering(), 3, warm_start=True, random_state=0).fit(X, y)
    first = np.array([member.counts(30) for member in bag.estimators_])
    bag.set_params(n_estimators=7, bootstrap="balanced").fit(X, y)
    counts = np.array([member.counts(30) for member in bag.estimators_])
    np.testing.assert_array_equal(counts[:3], first)
    assert (counts[3:].sum(axis=0) == 4).all()
    assert (first.sum(axis=0) != 3).any()


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


def test_rows_in_another_order_are_the_same_samples():
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


def test_with_other_samples_the_earlier_members_take_no_part():
    X, y = make_waveform(200, random_state=0)
    other, labels = make_waveform(200, random_state=1)
    bag = BaggingClassifier(n_estimators=30, oob_score=True, warm_start=True, random_state=0)
    bag.fit(X, y).set_params(n_estimators=70)
    with pytest.warns(UserWarning, match="other samples, or drawn.*are left out"):
        bag.fit(other, labels)
    assert (bag.oob_votes_[:30] == -1).all()
    assert np.isnan(bag.oob_error_curve_[:30]).all()
    assert (bag.oob_votes_[30:] >= 0).any(axis=1).all()
    # What the later ones say is honest: they are asked about rows that they did not see.
    later = bag.oob_votes_[30:]
    shares = np.stack([(later == c).sum(axis=0) for c in range(3)], axis=1)
    assert bag.oob_error_ == pytest.approx(np.mean(shares.argmax(axis=1) != labels))


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (BaggingClassifier, {"bootstrap": False, "max_samples": 0.3}),
        (BaggingClassifier, {"bootstrap": "balanced"}),
        (BaggingClassifier, {"max_samples": 0.5}),
        (BaggingClassifier, {"class_weight": {0: 2.0, 1: 1.0}}),
        (WaggingClassifier, {"scale": 1.0}),
    ],
)
def test_members_drawn_in_another_way_take_no_part(make, other):
    """Classes drawn by lot: whoever saw a row knows its class, others guess."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    grown = make(n_estimators=40, oob_score=True, warm_start=True, random_state=0)
    grown.set_params(**{"scale": 3.0} if make is WaggingClassifier else {})
    first = {name: getattr(grown, name) for name in other}
    early = grown.fit(X, y).oob_votes_
    with pytest.warns(UserWarning, match="drawn in another way, than before.*are left out"):
        grown.set_params(n_estimators=80, **other).fit(X, y)
    assert (grown.oob_votes_[:40] == -1).all()
    assert abs(grown.oob_error_ - 0.5) < 4 * np.sqrt(0.25 / 300)
    # Those of the first way take part again in a third fit that is drawn as the first was.
    with pytest.warns(UserWarning, match="are left out"):
        grown.set_params(n_estimators=120, **first).fit(X, y)
    np.testing.assert_array_equal(grown.oob_votes_[:40], early)
    assert (grown.oob_votes_[40:80] == -1).all()
    assert abs(grown.oob_error_ - 0.5) < 4 * np.sqrt(0.25 / 300)


def test_what_was_in_the_bag_of_other_samples_is_not_known():
    X, y = table(BaggingClassifier())
    other, labels = table(BaggingClassifier(), seed=5)
    bag = BaggingClassifier(n_estimators=4, warm_start=True, random_state=0).fit(X, y)
    bag.set_params(n_estimators=8).fit(other, labels)
    for rows, classes in ((X, y), (other, labels)):
        with pytest.raises(ValueError, match="not the training set of all members"):
            bag.in_bag(rows, classes)


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
    with pytest.raises(ValueError, match=rf"{size}=1 is less than the {there} existing members"):
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
    before = ensemble.fit(X, y).forest_
    n = len(ensemble)
    with pytest.warns(UserWarning, match=f"{size}={n}, as many members as there are: none"):
        ensemble.fit(X, y)
    assert_same_forest(ensemble.forest_, before)


def test_other_classes_or_features_are_refused_and_the_model_is_kept():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    before = bag.predict(X)
    bag.set_params(n_estimators=5)
    for X_other, y_other in ((X[:, :4], y), (X, y + 1), (X[y < 2], y[y < 2]), (X, y.astype(str))):
        with pytest.raises(ValueError, match=REFUSAL):
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
    with pytest.raises(ValueError, match=REFUSAL):
        bag.set_params(n_estimators=5).fit(other, y)
    assert bag.predict(frame).shape == (30,)


def test_without_trees_other_features_are_refused():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(GaussianNB(), 3, warm_start=True, random_state=0).fit(X, y)
    before = bag.predict(X)
    with pytest.raises(ValueError, match=REFUSAL):
        bag.set_params(n_estimators=5).fit(X[:, :4], y)
    assert len(bag) == 3
    np.testing.assert_array_equal(bag.predict(X), before)


@pytest.mark.parametrize(("first", "second"), [(None, GaussianNB()), (GaussianNB(), None)])
def test_another_kind_of_members_is_refused_and_the_model_is_kept(first, second):
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(first, 3, warm_start=True, random_state=0).fit(X, y)
    before = bag.predict(X)
    with pytest.raises(ValueError, match=REFUSAL):
        bag.set_params(n_estimators=5, estimator=second).fit(X, y)
    assert len(bag) == 3
    np.testing.assert_array_equal(bag.predict(X), before)
    assert len(bag.set_params(estimator=first).fit(X, y)) == 5


@pytest.mark.parametrize("n_estimators", [2, 5])
def test_committees_of_another_size_are_refused_and_the_model_is_kept(n_estimators):
    X, y = table(IGPCommitteesClassifier())
    committees = IGPCommitteesClassifier(3, 4, warm_start=True, random_state=0).fit(X, y)
    before = committees.forest_
    committees.set_params(n_committees=5, n_estimators=n_estimators)
    with pytest.raises(
        ValueError, match=f"n_estimators={n_estimators} is not that of the committees there are, 4"
    ):
        committees.fit(X, y)
    assert len(committees) == 3
    assert_same_forest(committees.forest_, before)
    committees.set_params(n_estimators=4).fit(X, y)
    assert_same_trees(committees, IGPCommitteesClassifier(5, 4, random_state=0).fit(X, y))


@pytest.mark.parametrize(
    ("columns", "rows", "y_rows", "weights", "max_samples", "message"),
    [
        (4, 90, 89, None, 1.0, "y has 89 values and X has 90 rows"),
        (4, 90, 90, -np.ones(90), 1.0, "Negative values in data passed to `sample_weight`"),
        (5, 50, 50, None, 4000, "max_samples=4000 is more than the 50 training samples"),
    ],
)
def test_bad_input_leaves_the_model_as_it_was(columns, rows, y_rows, weights, max_samples, message):
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    before = bag.predict(X)
    bag.set_params(n_estimators=5, max_samples=max_samples)
    with pytest.raises(ValueError, match=message):
        bag.fit(X[:rows, :columns], y[:y_rows], sample_weight=weights)
    assert len(bag) == 3
    np.testing.assert_array_equal(bag.predict(X), before)
    bag.set_params(max_samples=1.0).fit(X, y)
    assert_same_trees(bag, BaggingClassifier(n_estimators=5, random_state=0).fit(X, y))


def test_a_fit_that_a_callback_ended_is_not_redrawn(monkeypatch, capsys):
    """Estimates of the fit itself are right; what its members saw is not guessed afterwards."""
    monkeypatch.setattr("orfeon.utils.progress.Progress.update_and_check", lambda self, n=1: True)
    X, y = make_waveform(120, random_state=0)
    bag = BaggingClassifier(
        n_estimators=100, oob_score=True, warm_start=True, verbose=1, random_state=0
    ).fit(X, y)
    assert len(bag) == 64
    whole = BaggingClassifier(n_estimators=64, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(bag.oob_votes_, whole.oob_votes_)
    with pytest.raises(ValueError, match="not the training set of all members"):
        bag.in_bag(X, y)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="are left out of out-of-bag estimates"):
        bag.set_params(n_estimators=130).fit(X, y)
    assert len(bag) == 130
    assert (bag.oob_votes_[:64] == -1).all()
    assert (bag.oob_votes_[64:] >= 0).any(axis=1).all()
