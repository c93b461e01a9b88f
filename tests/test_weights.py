"""Sample weights of any size: the unit does not matter, and no weight is too small to be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import is_regressor
from sklearn.ensemble import BaggingClassifier
from sklearn.neighbors import KNeighborsClassifier
from tests.shared import public_estimators
from tests.test_estimator_checks import make

from orfeon import CARTClassifier, CARTRegressor, FlippingClassifier, PrunedClassifier
from orfeon.data.training_set import normal_weights, rows_with_copies
from orfeon.ensembles.holdout import deal_folds

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*degrees from the diagonal:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*the share of the smaller class:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*so nothing determines when to stop:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning"),
]

N_ROWS = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 3))
NUMBERS = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=N_ROWS)
CLASSES = (NUMBERS > 0.8).astype(int)
WEIGHTS = RNG.uniform(0.5, 2.0, N_ROWS)
#: One sample in three weighs next to nothing.
UNEQUAL = np.arange(N_ROWS) % 3 == 0

each_estimator = pytest.mark.parametrize("name", public_estimators())


def answers(name: str, weights: npt.NDArray[np.float64] | None) -> npt.NDArray[Any]:
    """What an estimator trained with these weights predicts: probabilities, or numbers."""
    estimator = make(public_estimators()[name], {})
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    y = NUMBERS if is_regressor(estimator) else CLASSES
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        estimator.fit(X, y, sample_weight=weights)
    answers = np.asarray(getattr(estimator, "predict_proba", estimator.predict)(X), np.float64)
    assert np.isfinite(answers).all()
    if answers.ndim == 2:
        np.testing.assert_allclose(answers.sum(axis=1), 1.0)
    return answers


@each_estimator
def test_the_unit_of_weights_does_not_matter(name):
    plain = answers(name, None)
    for weight in (1e-300, 1e300):
        np.testing.assert_array_equal(answers(name, np.full(N_ROWS, weight)), plain)
    weighted = answers(name, WEIGHTS)
    for unit in (2.0**-990, 2.0**990):
        np.testing.assert_array_equal(answers(name, WEIGHTS * unit), weighted)


@each_estimator
def test_the_smallest_weights_are_alike_and_still_present(name):
    light = [answers(name, np.where(UNEQUAL, weight, 1.0)) for weight in (1e-300, 5e-324)]
    np.testing.assert_array_equal(*light)


WITH_CLASS_WEIGHT = [
    n for n, e in public_estimators().items() if "class_weight" in e().get_params()
]


@pytest.mark.parametrize("unit", [2.0**-990, 2.0**990])
@pytest.mark.parametrize("name", WITH_CLASS_WEIGHT)
def test_the_unit_of_class_weights_does_not_matter(name, unit):
    def shares(class_weight: Any) -> Any:
        estimator = make(public_estimators()[name], {"class_weight": class_weight})
        return estimator.set_params(random_state=0).fit(X, CLASSES).predict_proba(X)

    np.testing.assert_array_equal(shares({0: unit, 1: unit}), shares(None))
    np.testing.assert_array_equal(shares({0: 1.5 * unit, 1: unit}), shares({0: 1.5, 1: 1.0}))


def test_counts_stay_counts_and_weights_beyond_them_are_relative():
    for weights in ([3.0, 0.0, 1.0], [2.0**52, 1.0], [0.5, 0.25], [0.0, 0.0]):
        np.testing.assert_array_equal(normal_weights(np.array(weights)), weights)
    for weights in ([1e-300, 0.0, 1e-300], [1e30, 0.0, 1e30], [0.1, 0.0, 0.1]):
        np.testing.assert_array_equal(normal_weights(np.array(weights)), [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(normal_weights(np.array([2.0**60, 2.0**59])), [1.0, 0.5])
    np.testing.assert_array_equal(normal_weights(np.array([1.0, 5e-324])), [1.0, 2.0**-100])


@pytest.mark.parametrize("tree", [CARTClassifier(pruning="cv"), CARTRegressor(pruning="cv")])
def test_weights_whose_sum_overflows_are_refused(tree):
    with pytest.raises(ValueError, match=r"sample_weight has values up to 1e.307, whose sum"):
        tree.fit(X, CLASSES, sample_weight=np.full(N_ROWS, 1e307))


def test_an_sample_that_outweighs_all_others_leaves_folds_to_learn_from():
    weights = np.where(np.arange(9) == 4, 1.0, 2.0**-100)
    labels, hashes = np.zeros(9, int), np.arange(9, dtype=np.uint64)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        assert len(set(deal_folds(hashes, labels, weights, 3, rng, by_class=False))) > 1


def test_flipping_warns_about_classes_without_weight():
    weights = np.where(np.arange(N_ROWS) == 0, 1.0, 1e-300)
    with pytest.warns(UserWarning, match=r"flip_rate=.* is beyond .*, where all labels"):
        fitted = FlippingClassifier(n_estimators=3).fit(X, CLASSES, sample_weight=weights)
    assert (fitted.flip_probabilities_ >= 0).all()
    np.testing.assert_allclose(fitted.flip_probabilities_.sum(axis=1), 1.0)


def test_copies_are_made_of_counts_up_to_a_limit():
    near = KNeighborsClassifier(1)
    pruned = PrunedClassifier(BaggingClassifier(near, 3), keep=2, random_state=0)
    plain = pruned.fit(X, CLASSES, sample_weight=np.ones(N_ROWS)).predict(X)
    large = pruned.fit(X, CLASSES, sample_weight=np.full(N_ROWS, 1e30)).predict(X)
    np.testing.assert_array_equal(large, plain)
    with pytest.raises(ValueError, match=r"sample_weight counts 2,000,000,000 copies"):
        rows_with_copies(np.array([1e9, 1e9]))
