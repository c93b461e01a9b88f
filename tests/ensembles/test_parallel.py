"""The model does not depend on the number of jobs, on threads or processes, or on the blocks."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from tests.ensembles.twins import assert_same_trees, each_ensemble, each_setting, small, table

import orfeon.ensembles.ensemble
from orfeon import BaggingClassifier, BaggingRegressor, RandomForestClassifier


@each_setting
def test_any_number_of_jobs_gives_the_same_bits(ensemble):
    X, y = table(ensemble)
    alone = clone(ensemble).fit(X, y)
    for n_jobs in (2, 4):
        assert_same_trees(alone, clone(ensemble).set_params(n_jobs=n_jobs).fit(X, y))


@each_ensemble
def test_any_number_of_jobs_predicts_the_same(ensemble, monkeypatch):
    X, y = table(ensemble)
    rows = np.random.default_rng(0).normal(size=(600, 5))
    fitted = clone(ensemble).fit(X, y)
    monkeypatch.setattr(orfeon.ensembles.ensemble, "_FEWEST_IN_THREADS", 1)
    names = ["predict"]
    names += (
        ["predictions"] if is_regressor(ensemble) else ["votes", "vote_shares", "mean_supports"]
    )
    for name in names:
        fitted.set_params(n_jobs=None)
        alone = getattr(fitted, name)(rows)
        assert alone.shape[-1] in (3, 600)
        for n_jobs in (2, 4):
            fitted.set_params(n_jobs=n_jobs)
            np.testing.assert_array_equal(getattr(fitted, name)(rows), alone)


@pytest.mark.parametrize("n_estimators", [1, 17, 63, 64, 65, 150])
def test_blocks_of_any_size_give_the_same_bits(n_estimators):
    """Members come in blocks of 64; the seams must not show."""
    X, y = table(BaggingClassifier(), 40)
    whole = BaggingClassifier(n_estimators=150, random_state=0).fit(X, y)
    for n_jobs in (None, 3):
        some = BaggingClassifier(n_estimators=n_estimators, n_jobs=n_jobs, random_state=0)
        np.testing.assert_array_equal(some.fit(X, y).votes(X), whole.votes(X)[:n_estimators])


@pytest.mark.parametrize(
    "name", ["RandomForestClassifier", "DoubleBaggingClassifier", "IGPCommitteesClassifier"]
)
@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_threads_of_joblib_give_the_same_bits(name, backend):
    X, y = table(small(name))
    alone = small(name).fit(X, y)
    with joblib.parallel_config(backend=backend):
        assert_same_trees(alone, small(name, n_jobs=2).fit(X, y))


def test_processes_give_the_same_bits():
    """Trees and other base learners, balanced samples, out-of-bag estimates: in other processes."""
    X, y = table(BaggingClassifier())
    forest = RandomForestClassifier(20, bootstrap="balanced", oob_score=True, random_state=0)
    bag = BaggingClassifier(GaussianNB(), 20, oob_score=True, random_state=0)
    target = X[:, 0] + X[:, 1]
    neighbours = BaggingRegressor(KNeighborsRegressor(3), 8, random_state=0)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        far = clone(forest).set_params(n_jobs=2).fit(X, y)
        far_bag = clone(bag).set_params(n_jobs=2).fit(X, y)
        far_neighbours = clone(neighbours).set_params(n_jobs=2).fit(X, target)
    assert_same_trees(far, forest.fit(X, y))
    np.testing.assert_array_equal(far.oob_votes_, forest.oob_votes_)
    np.testing.assert_array_equal(far_bag.oob_votes_, bag.fit(X, y).oob_votes_)
    np.testing.assert_array_equal(far_bag.votes(X), bag.votes(X))
    np.testing.assert_array_equal(far_bag.mean_supports(X), bag.mean_supports(X))
    answers = neighbours.fit(X, target).predictions(X)
    np.testing.assert_array_equal(far_neighbours.predictions(X), answers)


def test_out_of_bag_estimates_do_not_depend_on_it():
    X, y = table(BaggingClassifier())
    given = {"n_estimators": 40, "oob_score": True, "importance": "permutation", "random_state": 0}
    alone = BaggingClassifier(**given).fit(X, y)
    threads = BaggingClassifier(**given, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(alone.oob_votes_, threads.oob_votes_)
    np.testing.assert_array_equal(alone.oob_error_curve_, threads.oob_error_curve_)
    np.testing.assert_array_equal(alone.feature_importances_, threads.feature_importances_)


def test_many_fits_at_once():
    """Fits in threads of the caller's own do not disturb each other."""
    X, y = table(RandomForestClassifier())
    seeds = range(8)
    alone = [RandomForestClassifier(10, random_state=s).fit(X, y) for s in seeds]
    together = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(RandomForestClassifier(10, random_state=s, n_jobs=2).fit)(X, y)
        for s in seeds
    )
    for one, other in zip(alone, together, strict=True):
        assert_same_trees(one, other)
