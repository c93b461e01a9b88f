"""Boosting IGP against the pseudo-code of the thesis, its stops, and its resets."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from tests.ensembles.twins import content_order, generators
from tests.oracles.boosting_igp import FLOOR, boost_igp
from tests.shared import assert_same_forest

from orfeon import BoostingIGPClassifier, IGPEnsembleClassifier
from orfeon.boosting.boosting_igp import LEAST_WEIGHT, reweigh_half
from orfeon.datasets import make_twonorm, make_waveform
from orfeon.ensembles.perturbation import draw_seed
from orfeon.forest import Forest
from orfeon.growth import split_halves


def twin(X, y, random_state, n_trees, committee=0, **given):
    """A run of the oracle with the randomness of a committee."""
    order = content_order(X, y)
    rng = generators(random_state, committee + 1)[committee]
    first = draw_seed(rng)
    halves = split_halves(y[order], rng)
    seeds = [first, *(draw_seed(rng) for _ in range(n_trees - 1))]
    return boost_igp(X[order], y[order], halves, seeds, n_classes=int(y.max()) + 1, **given)


def overlapping(seed, n_rows=80, n_classes=3):
    """Classes that overlap, so that some runs end early."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.digitize(X[:, 0] + 1.2 * rng.normal(size=n_rows), np.arange(n_classes - 1) - 0.5)


def assert_same_run(boosting, run):
    """The same trees; the weights in their nodes are floats on one side."""
    trees = Forest.concatenate(run.trees)
    assert_same_forest(boosting.forest_, trees, but=("value",))
    np.testing.assert_allclose(boosting.forest_.value, trees.value, rtol=1e-9, atol=1e-9)


# -- the pseudo-code -------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_trees_are_those_of_the_pseudo_code(criterion):
    ends, resets = [], 0
    for seed in range(12):
        X, y = overlapping(seed)
        run = twin(X, y, seed, 12, criterion=criterion)
        boosting = BoostingIGPClassifier(12, criterion=criterion, random_state=seed).fit(X, y)
        assert_same_run(boosting, run)
        ends.append(run.end)
        resets += run.resets
    assert len(set(ends)) == 2  # some ran out, some were stopped
    assert resets > 30


@pytest.mark.parametrize("seed", [8, 21, 35, 41])
def test_an_error_of_exactly_one_half_is_one_half(seed):
    """As of a tree that repeats the one before; sums of floats may miss it by the last digit."""
    X, y = overlapping(seed)
    run = twin(X, y, seed, 20)
    assert_same_run(BoostingIGPClassifier(20, random_state=seed).fit(X, y), run)


def test_separable_classes_end_with_the_tree_that_errs_on_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(np.int64)
    run = twin(X, y, 0, 20)
    boosting = BoostingIGPClassifier(20, random_state=0).fit(X, y)
    assert run.end == "no error"
    assert len(boosting) == len(run.trees) < 20
    assert_same_run(boosting, run)
    votes = boosting.votes(X)
    assert (votes[-1] == y).all()  # kept
    assert all((vote != y).any() for vote in votes[:-1])


def test_a_tree_that_errs_on_half_of_the_weight_is_dropped():
    found = 0
    for seed in range(12):
        X, y = overlapping(seed)
        run = twin(X, y, seed, 40)
        if run.end != "half of the weight" or len(run.errors) == 1:
            continue
        found += 1
        assert run.errors[-1] >= 0.5
        assert len(run.trees) == len(run.errors) - 1
        assert len(BoostingIGPClassifier(40, random_state=seed).fit(X, y)) == len(run.trees)
    assert found == 8


def test_the_first_tree_stays_when_none_is_good_enough():
    rng = np.random.default_rng(0)
    found = 0
    for seed in range(10):
        X, y = rng.normal(size=(40, 2)), rng.permutation(np.arange(40) % 5)
        run = twin(X, y, seed, 5)
        boosting = BoostingIGPClassifier(5, random_state=seed).fit(X, y)
        assert_same_run(boosting, run)
        if run.errors[0] >= 0.5:
            found += 1
            assert len(boosting) == 1
            assert np.mean(boosting.predict(X) != y) >= 0.5
    assert found >= 8


def test_weights_sum_to_one_and_do_not_vanish():
    X, y = make_waveform(150, random_state=0)
    run = twin(X, y, 0, 30)
    for weights in run.weights:
        assert float(sum(weights)) == pytest.approx(1.0)
        assert float(min(weights)) > 0.99e-8
    assert max(max(weights) for weights in run.weights) > 3 / 150
    assert float(FLOOR) == LEAST_WEIGHT == 1e-8


def test_weights_may_be_given():
    X, y = overlapping(3)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    ordered = [Decimal(w) for w in weights[content_order(X, y)]]
    run = twin(X, y, 7, 8, initial=[w / sum(ordered) for w in ordered])
    boosting = BoostingIGPClassifier(8, random_state=7).fit(X, y, sample_weight=weights)
    assert_same_run(boosting, run)


def test_the_floor_lifts_what_weighs_next_to_nothing():
    """Ten samples of weight 1e-12 weigh 1e-8 from the second tree on, as in the pseudo-code."""
    X, y = overlapping(3)
    weights = np.where(np.arange(len(y)) < 10, 1e-12, 1.0)
    ordered = [Decimal(w) for w in weights[content_order(X, y)]]
    run = twin(X, y, 7, 8, initial=[w / sum(ordered) for w in ordered])
    assert min(run.weights[0]) < FLOOR / 1000
    assert float(min(run.weights[1])) == pytest.approx(1e-8)
    boosting = BoostingIGPClassifier(8, random_state=7).fit(X, y, sample_weight=weights)
    assert len(boosting) > 3
    assert_same_run(boosting, run)


# -- reweighting -----------------------------------------------------------------------------------


def test_half_of_the_weight_goes_to_what_was_wrong():
    weights = np.array([0.1, 0.2, 0.3, 0.05])
    wrong = np.array([True, False, False, True])
    new = reweigh_half(weights, np.full(4, 0.25), wrong)
    assert new[wrong].sum() == pytest.approx(0.65 / 2)
    assert new[~wrong].sum() == pytest.approx(0.65 / 2)
    np.testing.assert_allclose(new[wrong] / weights[wrong], new[0] / 0.1)


@pytest.mark.parametrize("wrong", [[False] * 4, [True, True, False, False], [True] * 4])
def test_no_error_or_half_of_it_resets_the_half(wrong):
    initial = np.array([0.1, 0.2, 0.3, 0.4])
    new = reweigh_half(np.full(4, 0.2), initial, np.array(wrong))
    np.testing.assert_array_equal(new, initial)
    new[0] = 9.0
    assert initial[0] == 0.1


# -- the ensemble ----------------------------------------------------------------------------------


def test_the_first_tree_is_that_of_an_igp_ensemble():
    X, y = overlapping(0)
    boosting = BoostingIGPClassifier(6, random_state=5).fit(X, y)
    ensemble = IGPEnsembleClassifier(1, random_state=5).fit(X, y)
    # Later trees have fractional weights, so those of all trees are floats.
    assert_same_forest(boosting.forest_.subset([0]), ensemble.forest_, but=("value",))
    np.testing.assert_array_equal(boosting.forest_.subset([0]).value, ensemble.forest_.value)


def test_the_vote_is_unweighted():
    X, y = make_twonorm(200, random_state=0)
    boosting = BoostingIGPClassifier(15, random_state=0).fit(X, y)
    counts = np.stack([(boosting.votes(X) == c).sum(axis=0) for c in range(2)], axis=1)
    np.testing.assert_array_equal(boosting.predict(X), counts.argmax(axis=1))
    np.testing.assert_allclose(boosting.vote_shares(X), counts / len(boosting))


def test_boosting_errs_less_than_the_ensemble_on_waveforms():
    """Table 3.2 of the thesis has it so: boosting IGP is the better one on this problem."""
    X, y = make_waveform(300, random_state=0)
    X_test, y_test = make_waveform(3000, random_state=1)
    errors = [
        np.mean(make(51, random_state=0).fit(X, y).predict(X_test) != y_test)
        for make in (BoostingIGPClassifier, IGPEnsembleClassifier)
    ]
    assert errors[0] < errors[1] - 0.02
    assert errors[0] < 0.22


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 6, 8])
def test_a_run_that_ends_early_does_not_depend_on_jobs(seed):
    X, y = overlapping(seed)
    alone = BoostingIGPClassifier(60, random_state=seed).fit(X, y)
    assert len(alone) < 60
    two = BoostingIGPClassifier(60, n_jobs=2, random_state=seed).fit(X, y)
    assert_same_forest(two.forest_, alone.forest_)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_second_fit_forgets_the_first(n_jobs):
    X, y = make_waveform(150, random_state=0)
    other, labels = make_waveform(150, random_state=1)
    alone = BoostingIGPClassifier(20, random_state=0).fit(X, y)
    again = BoostingIGPClassifier(20, n_jobs=n_jobs, random_state=0).fit(other, labels).fit(X, y)
    assert_same_forest(again.forest_, alone.forest_)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_warm_start_goes_on_with_the_same_run(seed):
    X, y = overlapping(seed)
    grown = BoostingIGPClassifier(4, warm_start=True, random_state=seed).fit(X, y)
    n_first = len(grown)
    first = grown.forest_
    grown.set_params(n_estimators=25).fit(X, y)
    fresh = BoostingIGPClassifier(25, random_state=seed).fit(X, y)
    assert_same_forest(grown.forest_, fresh.forest_)
    assert_same_forest(grown.forest_.subset(range(n_first)), first)
