"""IGP ensembles: fresh stratified halves for every tree, and the trees grown by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL, content_order, generators, table
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, IGPEnsembleClassifier, IGPTreeClassifier
from orfeon.data.presorted import Table
from orfeon.datasets import make_waveform
from orfeon.ensembles.perturbation import draw_seed
from orfeon.growth import Growth, grow_igp_forest, split_halves


def test_the_trees_are_those_grown_by_hand():
    X, y = table(IGPEnsembleClassifier())
    ensemble = IGPEnsembleClassifier(10, criterion="entropy", random_state=3).fit(X, y)
    order = content_order(X, y)
    seeds, halves = [], []
    for rng in generators(3, 10):
        seeds.append(draw_seed(rng))
        halves.append(split_halves(y[order], rng))
    by_hand, rounds = grow_igp_forest(
        Table(X[order]), X[order], y[order], np.array(halves), n_classes=3, seeds=np.array(seeds),
        growth=Growth("entropy"),
    )  # fmt: skip
    assert_same_forest(ensemble.forest_, by_hand)
    assert rounds.min() >= 2
    # Another split into halves is another tree.
    assert len({tree.tobytes() for tree in ensemble.votes(X)}) == 10


def test_halves_are_stratified_and_random():
    labels = np.repeat([0, 1, 2], [31, 20, 50])
    first = np.zeros(101)
    for seed in range(400):
        halves = split_halves(labels, np.random.default_rng(seed))
        assert abs(int((halves == 1).sum()) - int((halves == 2).sum())) == 1
        for c in range(3):
            mine = halves[labels == c]
            assert abs(int((mine == 1).sum()) - int((mine == 2).sum())) <= 1
        first += halves == 1
    # Each sample is in either half, as often as a coin; less varied within a class.
    z = (first - 200) / 10
    assert np.abs(z).max() < stats.norm.isf(LEVEL / 202)
    assert z.std() > 0.8


def test_all_samples_are_used():
    """Growing with one half and pruning with the other: both are in the values of the nodes."""
    X, y = table(IGPEnsembleClassifier())
    ensemble = IGPEnsembleClassifier(10, random_state=0).fit(X, y)
    assert (ensemble.forest_.n_leaves > 1).all()
    half = np.bincount(y) / 2
    roots = ensemble.forest_.value[ensemble.forest_.tree_start[:-1]]
    assert (np.abs(roots / roots.sum(axis=1)[:, None] - half / half.sum()) < 0.02).all()


def test_bagged_igp_trees_have_halves_of_their_samples():
    X, y = table(IGPEnsembleClassifier())
    bag = BaggingClassifier(IGPTreeClassifier(), 6, random_state=1).fit(X, y)
    order = content_order(X, y)
    seeds, halves, counts = [], [], []
    for rng in generators(1, 6):
        seeds.append(draw_seed(rng))
        drawn = np.floor(rng.random(len(y)) * len(y)).astype(int)
        counts.append(np.bincount(drawn, minlength=len(y)))
        halves.append(split_halves(y[order], rng, counts[-1]))
        assert ((halves[-1] == 0) == (counts[-1] == 0)).all()
    by_hand, _ = grow_igp_forest(
        Table(X[order]), X[order], y[order], np.array(halves), n_classes=3, seeds=np.array(seeds),
        weights=np.array(counts),
    )  # fmt: skip
    assert_same_forest(bag.forest_, by_hand)


def test_the_vote_errs_less_than_one_tree():
    X, y = make_waveform(300, random_state=0)
    X_test, y_test = make_waveform(3000, random_state=1)
    ensemble = IGPEnsembleClassifier(101, random_state=0).fit(X, y)
    members = (ensemble.votes(X_test) != y_test).mean(axis=1)
    assert np.mean(ensemble.predict(X_test) != y_test) < members.mean() - 0.06


def test_limits_reach_the_trees():
    X, y = make_waveform(300, random_state=0)
    assert IGPEnsembleClassifier(5, max_depth=2, random_state=0).fit(X, y).forest_.depth.max() == 2
    large = IGPEnsembleClassifier(5, min_weight_fraction_leaf=0.1, random_state=0).fit(X, y)
    plain = IGPEnsembleClassifier(5, random_state=0).fit(X, y)
    assert large.forest_.n_leaves.max() < plain.forest_.n_leaves.min()


@pytest.mark.parametrize("given", [{"criterion": "best"}, {"max_depth": 0}, {"n_estimators": 0}])
def test_impossible_settings_are_refused(given):
    X, y = table(IGPEnsembleClassifier())
    with pytest.raises(ValueError, match=f"'{next(iter(given))}' parameter"):
        IGPEnsembleClassifier(**given).fit(X, y)
