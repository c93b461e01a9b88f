"""Pasted votes: disjoint parts of a table, and chunks one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    RememberingRegressor,
    assert_same_trees,
    content_order,
    generators,
    numbered,
    small,
    table,
)
from tests.shared import assert_same_forest

from orfeon import CARTClassifier, PartitionedClassifier, PartitionedRegressor
from orfeon.data.presorted import Table
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ensembles.perturbation import draw_seed, member_generator
from orfeon.forest import Forest
from orfeon.growth import grow_forest
from orfeon.utils.seeding import seed_sequence


def parts_of(pasted, n_rows, **given):
    """How often each member sees each row."""
    pasted.fit(numbered(n_rows), np.arange(n_rows) % 2, **given)
    return np.array([member.counts(n_rows) for member in pasted.estimators_])


def chunks_of(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


# -- parts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "n_partitions"), [(40, 4), (40, 7), (5, 5), (10, 1)])
def test_parts_are_disjoint_nearly_equal_and_all_there_is(n_rows, n_partitions):
    parts = parts_of(
        PartitionedClassifier(Remembering(), n_partitions=n_partitions, random_state=0), n_rows
    )
    assert len(parts) == n_partitions
    assert (parts.sum(axis=0) == 1).all()
    sizes = parts.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_parts_are_random():
    together = np.zeros(11)
    for seed in range(600):
        pasted = PartitionedClassifier(Remembering(), n_partitions=3, random_state=seed)
        parts = parts_of(pasted, 12)
        mine = parts[parts[:, 0] == 1][0]
        together += mine[1:]
    # Each of the others shares the part of the first with probability 3 / 11.
    assert stats.chisquare(together).pvalue > LEVEL
    assert together.sum() == 600 * 3


def test_more_parts_than_samples_begin_again():
    parts = parts_of(PartitionedClassifier(Remembering(), n_partitions=5, random_state=0), 3)
    assert parts.shape == (5, 3)
    assert (parts.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(parts[:2], parts[3:])


def test_several_members_have_bootstrap_samples_of_their_part():
    pasted = PartitionedClassifier(Remembering(), n_partitions=4, n_estimators=25, random_state=0)
    counts = parts_of(pasted, 80).reshape(4, 25, 80)
    assert (counts.sum(axis=2) == 20).all()
    seen = (counts > 0).any(axis=1)
    assert (seen.sum(axis=0) == 1).all()  # the parts are still disjoint
    for part, mine in zip(counts, seen, strict=True):
        assert stats.chisquare(part[:, mine].sum(axis=0)).pvalue > LEVEL
    # 1 - (1 - 1/20)^20 of the part is in a sample.
    assert (counts > 0).mean() * 4 == pytest.approx(1 - 0.95**20, abs=0.03)


def test_the_trees_are_those_grown_on_the_part_alone():
    X, y = table(PartitionedClassifier())
    pasted = PartitionedClassifier(n_partitions=4, random_state=3).fit(X, y)
    order = content_order(X, y)
    part = member_generator(seed_sequence(3), 2**32 - 3).permutation(len(y)) % 4
    trees = []
    for t, rng in enumerate(generators(3, 4)):
        rows = order[part == t]
        trees.append(
            grow_forest(Table(X[rows]), y[rows], n_classes=3, seeds=np.array([draw_seed(rng)]))
        )
    assert_same_forest(pasted.forest_, Forest.concatenate(trees))


def test_bootstrap_samples_of_a_part_are_grown_as_by_hand():
    X, y = table(PartitionedRegressor())
    pasted = PartitionedRegressor(n_partitions=3, n_estimators=2, random_state=3).fit(X, y)
    order = content_order(X, y)
    part = member_generator(seed_sequence(3), 2**32 - 3).permutation(len(y)) % 3
    for t, rng in enumerate(generators(3, 6)):
        rows = order[part == t // 2]
        seed = draw_seed(rng)
        drawn = (rng.random(len(rows)) * len(rows)).astype(int)
        tree = grow_forest(
            Table(X[rows]), y[rows], n_classes=0, seeds=np.array([seed]),
            weights=np.bincount(drawn, minlength=len(rows)),
        )  # fmt: skip
        np.testing.assert_allclose(pasted.predictions(X)[t], tree.predict(X), atol=1e-12)


def test_weights_reach_the_members():
    weights = np.linspace(0.5, 2.0, 40)
    pasted = PartitionedClassifier(Remembering(), n_partitions=4, random_state=0)
    np.testing.assert_allclose(parts_of(pasted, 40, sample_weight=weights).sum(axis=0), weights)
    regressor = PartitionedRegressor(RememberingRegressor(), n_partitions=4, random_state=0)
    regressor.fit_chunks([(numbered(40), np.arange(40.0), weights)])
    np.testing.assert_allclose(regressor.estimators_[0].counts(40), weights)


def test_out_of_bag_votes_come_from_other_parts():
    X, y = make_waveform(200, random_state=0)
    pasted = PartitionedClassifier(n_partitions=5, oob_score=True, random_state=1).fit(X, y)
    order = content_order(X, y)
    part = np.empty(200, int)
    part[order] = member_generator(seed_sequence(1), 2**32 - 3).permutation(200) % 5
    votes = pasted.votes(X)
    expected = np.where(part == np.arange(5)[:, None], -1, votes)
    np.testing.assert_array_equal(pasted.oob_votes_, expected)
    shares = np.stack([(expected == c).sum(axis=0) for c in range(3)], axis=1) / 4
    np.testing.assert_allclose(pasted.oob_decision_function_, shares)
    assert pasted.oob_error_ == pytest.approx(np.mean(shares.argmax(axis=1) != y))


# -- chunks ----------------------------------------------------------------------------------------


def test_members_of_a_chunk_are_grown_on_that_chunk_alone():
    X, y = table(PartitionedClassifier())
    pasted = PartitionedClassifier(random_state=2).fit_chunks(chunks_of(X, y, 30), [0, 1, 2])
    assert len(pasted) == pasted.n_chunks_ == 3
    for t, rng in enumerate(generators(2, 3)):
        rows = np.arange(30 * t, 30 * t + 30)
        rows = rows[content_order(X[rows], y[rows])]
        tree = grow_forest(Table(X[rows]), y[rows], n_classes=3, seeds=np.array([draw_seed(rng)]))
        assert_same_forest(pasted.forest_.subset([t]), tree)
        # The samples of its own chunk are known by heart.
        assert (pasted.votes(X)[t, rows] == y[rows]).all()


@pytest.mark.parametrize("name", ["PartitionedClassifier", "PartitionedRegressor"])
def test_fit_chunks_is_partial_fit_again_and_again(name):
    pasted = small(name)
    X, y = table(pasted)
    given = {"classes": [0, 1, 2]} if name == "PartitionedClassifier" else {}
    at_once = clone(pasted).fit_chunks(iter(chunks_of(X, y, 25)), **given)
    one_by_one = clone(pasted)
    for k, (X_chunk, y_chunk) in enumerate(chunks_of(X, y, 25)):
        one_by_one.partial_fit(X_chunk, y_chunk, **given)
        assert one_by_one.n_chunks_ == k + 1
        assert len(one_by_one) == 2 * (k + 1)
    assert_same_trees(at_once, one_by_one)
    # Whoever begins anew forgets what was there.
    assert_same_trees(at_once, one_by_one.fit_chunks(chunks_of(X, y, 25), **given))
    assert len(one_by_one.fit(X, y)) == 6
    assert_same_trees(one_by_one, clone(pasted).fit(X, y))


def test_weights_of_chunks_are_copies():
    X, y = table(PartitionedClassifier())
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    for n_estimators in (1, 3):
        pasted = PartitionedClassifier(n_estimators=n_estimators, random_state=0)
        weighted = clone(pasted).fit_chunks([(X, y, weights), (X[:50], y[:50])], [0, 1, 2])
        copied = clone(pasted).fit_chunks([(X[rows], y[rows]), (X[:50], y[:50])], [0, 1, 2])
        assert_same_trees(weighted, copied)


def test_a_chunk_may_lack_classes():
    X, y = make_waveform(300, random_state=0)
    names = np.array(["a", "b", "c"])[y]
    by_class = np.argsort(y, kind="stable")
    chunks = chunks_of(X[by_class], names[by_class], 60)
    for base in (None, LogisticRegression(C=0.1)):
        if base is not None:  # which cannot do with one class alone
            chunks = [(X[:30], names[:30]), (X[y != 0], names[y != 0])]
        pasted = PartitionedClassifier(base, random_state=0).fit_chunks(chunks, list("cab"))
        assert pasted.classes_.tolist() == ["a", "b", "c"]
        votes = pasted.votes(X)
        for vote, (_, seen) in zip(votes, chunks, strict=True):
            assert set(pasted.classes_[vote]) <= set(seen)
        assert set(pasted.predict(X)) <= set("abc")
        np.testing.assert_allclose(pasted.predict_proba(X).sum(axis=1), 1.0)
        np.testing.assert_allclose(pasted.mean_supports(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("base", [None, GaussianNB()])
def test_chunks_may_follow_a_fit(base):
    """The classes are known then, though the chunk may lack some."""
    X, y = table(PartitionedClassifier())
    pasted = PartitionedClassifier(base, n_partitions=2, random_state=0).fit(X, y)
    before = pasted.votes(X)
    pasted.partial_fit(X[y > 0], y[y > 0])
    assert pasted.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(pasted.votes(X)[:2], before)
    assert set(pasted.votes(X)[2]) == {1, 2}
    assert pasted.n_chunks_ == 3


def test_another_chunk_ends_what_was_estimated_before():
    X, y = table(PartitionedClassifier())
    pasted = PartitionedClassifier(n_partitions=3, oob_score=True, random_state=0).fit(X, y)
    assert pasted.oob_votes_.shape == (3, 90)
    pasted.partial_fit(X, y)
    assert len(pasted) == 4
    assert [name for name in vars(pasted) if name.startswith("oob_")] == ["oob_score"]
    with pytest.raises(ValueError, match="not the training set of all members"):
        pasted.in_bag(X, y)


def test_pasted_votes_come_close_to_one_tree_of_everything():
    X, y = make_waveform(2000, random_state=0)
    X_test, y_test = make_waveform(2000, random_state=1)
    pasted = PartitionedClassifier(random_state=0).fit_chunks(chunks_of(X, y, 100), [0, 1, 2])
    alone = CARTClassifier().fit(X, y)
    assert pasted.score(X_test, y_test) > alone.score(X_test, y_test) + 0.05


def test_regressors_take_chunks_without_classes():
    X, y = make_friedman1(300, random_state=0)
    pasted = PartitionedRegressor(random_state=0).fit_chunks(chunks_of(X, y, 50))
    np.testing.assert_allclose(pasted.predict(X), pasted.predictions(X).mean(axis=0))
    assert pasted.predictions(X).shape == (6, 300)


# -- refusals --------------------------------------------------------------------------------------


def test_the_first_call_must_name_the_classes():
    X, y = table(PartitionedClassifier())
    for call in (
        lambda: PartitionedClassifier().partial_fit(X, y),
        lambda: PartitionedClassifier().fit_chunks([(X, y)]),
    ):
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            call()


def test_a_class_that_was_not_named_is_refused_and_nothing_changes():
    X, y = table(PartitionedClassifier())
    pasted = PartitionedClassifier(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    before = pasted.predict(X)
    with pytest.raises(ValueError, match=r"y has the class .*7.*not among classes=\[0, 1, 2\]"):
        pasted.partial_fit(X, np.where(y == 1, 7, y))
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] are not those of the first call"):
        pasted.partial_fit(X, y, classes=[0, 1])
    assert len(pasted) == pasted.n_chunks_ == 1
    np.testing.assert_array_equal(pasted.predict(X), before)


def test_a_chunk_of_other_features_is_refused():
    X, y = table(PartitionedClassifier())
    for base in (None, LogisticRegression()):
        pasted = PartitionedClassifier(base, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
            pasted.partial_fit(X[:, :4], y)
        assert len(pasted) == 1


def test_no_chunk_is_refused():
    with pytest.raises(ValueError, match="chunks is empty; at least one chunk"):
        PartitionedClassifier().fit_chunks([], classes=[0, 1])


@pytest.mark.parametrize("name", ["n_partitions", "n_estimators"])
def test_impossible_numbers_are_refused(name):
    X, y = table(PartitionedClassifier())
    with pytest.raises(ValueError, match=f"'{name}' parameter of PartitionedClassifier must be"):
        PartitionedClassifier(**{name: 0}).fit(X, y)
    with pytest.raises(ValueError, match=f"'{name}' parameter of PartitionedClassifier must be"):
        PartitionedClassifier(**{name: 0}).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=f"'{name}' parameter of PartitionedClassifier must be"):
        PartitionedClassifier(**{name: 0}).fit_chunks([(X, y)], classes=[0, 1, 2])


def test_fit_chunks_refuses_an_unknown_vote():
    X, y = table(PartitionedClassifier())
    with pytest.raises(ValueError, match="'combine' parameter of PartitionedClassifier must be"):
        PartitionedClassifier(combine="loud").fit_chunks([(X, y)], classes=[0, 1, 2])


def test_bags_of_other_parts_are_not_known():
    X, y = make_waveform(60, random_state=0)
    pasted = PartitionedClassifier(n_partitions=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(pasted.in_bag(X, y).sum(axis=0), 1)
    with pytest.raises(ValueError, match="not the training set of all members"):
        pasted.set_params(n_partitions=5).in_bag(X, y)
