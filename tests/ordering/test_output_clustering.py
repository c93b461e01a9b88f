"""Regressors that predict alike are clustered, and one of each cluster is kept."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon import BaggingRegressor, PrunedRegressor, prune
from orfeon.datasets import make_friedman1
from orfeon.io import load, save
from orfeon.members.votes import read_selection
from orfeon.ordering import OutputClustering, order_votes
from orfeon.ordering.output_clustering import anneal, filled


def three_groups(rng, sizes=(6, 3, 2), n_samples=30):
    """Members around three centres that are far from each other, in random order."""
    centres = rng.normal(size=(3, n_samples)) * 5
    group = rng.permutation(np.repeat(np.arange(3), sizes))
    return centres[group] + 0.1 * rng.normal(size=(len(group), n_samples)), group


def test_groups_that_are_far_apart_are_found_and_represented_by_the_nearest_to_the_centre():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        predictions, group = three_groups(rng)
        y = rng.normal(size=30)
        found = order_votes(predictions, y, rule="output_clustering", n_clusters=3)
        assert found.own_size == 3
        assert group[found.order[:3]].tolist() == [0, 1, 2]  # the largest cluster first
        for k, kept in enumerate(found.order[:3]):
            inside = np.flatnonzero(group == k)
            centre = predictions[inside].mean(axis=0)
            away = ((predictions[inside] - centre) ** 2).mean(axis=1)
            assert away[inside.tolist().index(kept)] == pytest.approx(away.min(), abs=1e-9)
        assert (np.diff(found.criterion[3:]) >= 0).all()


def test_the_clusters_are_a_fixed_point():
    # Each member is nearest to the mean of its own cluster.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 5))
    cluster, distance = anneal(points, 6, rng)
    used = np.unique(cluster)
    centres = np.array([points[cluster == k].mean(axis=0) for k in used])
    away = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert (used[away.argmin(axis=1)] == cluster).mean() > 0.95
    np.testing.assert_allclose(distance, away[np.arange(40), np.searchsorted(used, cluster)])


def test_annealing_finds_the_best_of_all_partitions_in_two():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        points = np.concatenate([rng.normal(size=(5, 2)), rng.normal(size=(4, 2)) + 4])
        _, distance = anneal(points, 2, rng)
        least = np.inf
        for code in range(1, 2**8):
            inside = np.array([code >> t & 1 for t in range(9)], bool)
            parts = points[inside], points[~inside]
            least = min(least, sum(((p - p.mean(axis=0)) ** 2).sum() for p in parts))
        assert distance.sum() == pytest.approx(least, rel=1e-9)


def test_members_that_are_all_alike_have_one_representative():
    found = order_votes(np.full((4, 3), 0.5), [0.5, 1.5, 0.2], rule="output_clustering")
    assert found.own_size == 1
    assert found.order.tolist() == [0, 1, 2, 3]
    assert order_votes([[0.5, 1.5]], [0.1, 0.2], rule="output_clustering").own_size == 1


def test_missing_predictions_are_the_means_of_the_others():
    votes = [[1.5, np.nan], [2.5, 4.5], [np.nan, 5.5]]
    selection = read_selection(votes, [0.5, 0.5], no_vote=np.nan, task="regression")
    np.testing.assert_array_equal(filled(selection), [[1.5, 5.0], [2.5, 4.5], [2.0, 5.5]])


def test_weight_two_is_two_copies():
    rng = np.random.default_rng(4)
    predictions, _ = three_groups(rng)
    y, weights = rng.normal(size=30), rng.integers(0, 3, 30)
    one = order_votes(predictions, y, rule="output_clustering", sample_weight=weights, n_clusters=3)
    copied = np.repeat(predictions, weights, axis=1), np.repeat(y, weights)
    other = order_votes(*copied, rule="output_clustering", n_clusters=3)
    assert one.order.tolist() == other.order.tolist()


def test_representatives_count_by_the_sizes_of_their_clusters(tmp_path):
    X, y = make_friedman1(150, random_state=0)
    rule = OutputClustering(n_clusters=4, weighted_vote=True)
    bag = BaggingRegressor(n_estimators=20)
    model = PrunedRegressor(bag, rule=rule, keep="rule", random_state=0).fit(X, y)
    weights = model.order_.member_weights
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights[len(model) :] == 0).all()
    answers = np.array([tree.predict(X) for tree in model.estimators_])
    expected = np.average(answers, axis=0, weights=weights[: len(model)])
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)
    save(model, tmp_path / "model.orf")
    np.testing.assert_array_equal(load(tmp_path / "model.orf").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="cannot store them; use PrunedRegressor"):
        prune(model.ensemble_, X, y, rule=OutputClustering(2, True), keep="rule")


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"needs members that predict numbers.*classification are"):
        order_votes([[0, 1], [1, 1]], [0, 1], rule="output_clustering")
    with pytest.raises(ValueError, match="n_clusters=0 is not allowed"):
        OutputClustering(0)
    with pytest.raises(ValueError, match="weighted_vote='yes' is not allowed"):
        OutputClustering(weighted_vote="yes")
