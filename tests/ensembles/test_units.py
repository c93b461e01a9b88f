"""Weights are copies, and neither the order of the rows nor the unit of the weights matters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone, is_regressor
from sklearn.naive_bayes import GaussianNB
from tests import shared
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    assert_same_trees,
    each_ensemble,
    each_setting,
    numbered,
    small,
    table,
)

from orfeon import (
    BaggingClassifier,
    ClassSwitchingClassifier,
    FlippingClassifier,
    RandomForestClassifier,
)
from orfeon.base import class_factors
from orfeon.data.schema import Schema
from orfeon.data.training_set import MAX_UNITS, TrainingSet, hash_rows

# -- hashes ----------------------------------------------------------------------------------------


def test_different_samples_have_different_hashes():
    """All of 64 000 rows of three small whole numbers and two classes: no collision."""
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    both = np.concatenate([hash_rows(grid, np.zeros(64_000)), hash_rows(grid, np.ones(64_000))])
    assert len(np.unique(both)) == 128_000


def test_a_hash_depends_on_its_own_row_alone():
    """Not on the block of rows that it is hashed with, nor on threads, type and layout."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1 << 18, 3)), rng.integers(0, 3, 1 << 18)
    rows = rng.permutation(len(X))[:1000]
    np.testing.assert_array_equal(hash_rows(X, y)[rows], hash_rows(X[rows], y[rows]))
    wide = rng.normal(size=(300, 2000))
    np.testing.assert_array_equal(hash_rows(wide, y[:300])[:2], hash_rows(wide[:2].copy(), y[:2]))
    long = X[:40_000].astype(np.float32)
    once = hash_rows(long, y[:40_000])
    for same in (long.astype(np.float64), np.asfortranarray(long)):
        np.testing.assert_array_equal(hash_rows(same, y[:40_000], n_threads=3), once)


def test_equal_numbers_have_equal_hashes_however_they_are_written():
    other_nan = np.array([0x7FF8_0000_0000_1234, 0xFFF8_0000_0000_0001], np.uint64).view(np.float64)
    X = np.array([[0.0, np.nan], [-0.0, other_nan[0]], [0.0, other_nan[1]]])
    assert len(set(hash_rows(X, np.ones(3)).tolist())) == 1
    assert hash_rows(X, np.ones(3, np.int64))[0] == hash_rows(X, np.ones(3))[0]
    swapped = hash_rows(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
    assert swapped[0] != swapped[1]


def test_hashes_are_spread_evenly():
    """So that the order of the samples tells nothing of their values."""
    X = np.arange(20_000.0)[:, None]
    places = hash_rows(X, np.zeros(20_000)) / 2.0**64
    assert stats.kstest(places, "uniform").pvalue > LEVEL
    assert abs(stats.spearmanr(X[:, 0], places).statistic) < 4 / np.sqrt(20_000)


# -- units -----------------------------------------------------------------------------------------


def training_data(X, y, weights):
    return TrainingSet(
        X, y, np.asarray(weights, dtype=np.float64), 2, rows=np.arange(len(X)) + 10,
        n_given=len(X) + 10, n_samples=float(np.sum(weights)), schema=Schema.ordered(X.shape[1]),
    )  # fmt: skip


def test_whole_weights_become_copies():
    X, y = np.array([[3.0], [1.0], [2.0]]), np.array([0, 1, 0])
    units = training_data(X, y, [2, 1, 3]).in_canonical_order()
    assert sorted(units.X[:, 0].tolist()) == [1.0, 2.0, 2.0, 2.0, 3.0, 3.0]
    assert units.sample_weights.tolist() == [1.0] * 6
    # Each unit still knows which row it was and what its class is.
    np.testing.assert_array_equal(X[units.rows - 10, 0], units.X[:, 0])
    np.testing.assert_array_equal(y[units.rows - 10], units.y)
    assert (np.diff(hash_rows(units.X, units.y).astype(object)) >= 0).all()


@pytest.mark.parametrize("levels", [1 << 62, 50])
def test_the_order_is_stable_whatever_the_number_of_threads(levels):
    """Also where there are copies: numbers of many levels have none."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(levels, size=(20_000, 2)).astype(float), rng.integers(2, size=20_000)
    given = training_data(X, y, np.ones(len(y)))
    one, many = given.in_canonical_order(), given.in_canonical_order(n_threads=3)
    order = np.argsort(hash_rows(X, y), kind="stable")
    np.testing.assert_array_equal(one.rows - 10, order)
    for units in (one, many):
        np.testing.assert_array_equal(units.X, X[order])
    np.testing.assert_array_equal(many.rows, one.rows)
    assert many.digest == one.digest


def test_fractional_weights_stay_with_their_rows():
    X, y, weights = np.array([[3.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.array([0.5, 1.0, 2.0])
    units = training_data(X, y, weights).in_canonical_order()
    assert len(units.X) == 3
    np.testing.assert_array_equal(weights[units.rows - 10], units.sample_weights)


def test_huge_counts_are_not_written_out():
    X, y = np.array([[3.0], [1.0]]), np.array([0, 1])
    units = training_data(X, y, [MAX_UNITS // 2, MAX_UNITS // 2 + 1]).in_canonical_order()
    assert len(units.X) == 2
    X, y = table(BaggingClassifier())
    one = small("BaggingClassifier").fit(X, y)
    assert_same_trees(one, small("BaggingClassifier").fit(X, y, np.full(len(y), 10**8)))


def test_the_same_samples_have_the_same_digest():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(30, 2)), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    moved = rng.permutation(30)
    copies = np.repeat(np.arange(30), weights)
    digest = training_data(X, y, weights).in_canonical_order().digest
    assert training_data(X[moved], y[moved], weights[moved]).in_canonical_order().digest == digest
    assert (
        training_data(X[copies], y[copies], np.ones(len(copies))).in_canonical_order().digest
        == digest
    )
    for other in (
        training_data(X, 1 - y, weights),
        training_data(X, y, weights + 1),
        training_data(X + np.eye(30, 2) * 1e-12, y, weights),
        training_data(X[1:], y[1:], weights[1:]),
    ):
        assert other.in_canonical_order().digest != digest


# -- what weights mean -----------------------------------------------------------------------------


@each_setting
def test_weight_k_is_k_copies_in_any_order(ensemble):
    rng = np.random.default_rng(1)
    X, y = table(ensemble)
    X[::7, 2] = np.nan
    X[:, 4] = np.round(X[:, 4])
    weights = rng.integers(0, 4, len(y))
    weighted = clone(ensemble).fit(X, y, sample_weight=weights)
    rows = rng.permutation(np.repeat(np.arange(len(y)), weights))
    # The impurity of a regression tree is a sum of floats, which knows the order of its terms.
    but = ("impurity", "leaf_impurity") if is_regressor(ensemble) else ()
    assert_same_trees(weighted, clone(ensemble).fit(X[rows], y[rows]), but)
    moved = rng.permutation(len(y))
    again = clone(ensemble).fit(X[moved], y[moved], sample_weight=weights[moved])
    assert_same_trees(weighted, again, but)
    np.testing.assert_array_equal(weighted.predict(X), again.predict(X))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("BaggingClassifier", {"n_estimators": shared.cases(400)}),
        ("WaggingClassifier", {"n_estimators": shared.cases(400)}),
        ("ClassSwitchingClassifier", {"n_estimators": shared.cases(400)}),
        ("FlippingClassifier", {"n_estimators": shared.cases(400), "flip_rate": 0.2}),
        ("PartitionedClassifier", {"n_partitions": 2, "n_estimators": shared.cases(200)}),
    ],
)
def test_weight_four_is_four_copies_without_trees_too(name, given):
    """In distribution: the supports that the members give one row."""
    X, y = table(BaggingClassifier(), 40)
    y = (y > 0).astype(np.int64)
    copies = np.repeat(np.arange(40), 4)
    weighted = small(name, estimator=GaussianNB(), **given).fit(X, y, np.full(40, 4))
    copied = small(name, estimator=GaussianNB(), **given).fit(X[copies], y[copies])
    supports = [ensemble.members_.supports(X[:1])[:, 0, 1] for ensemble in (weighted, copied)]
    assert np.std(supports[0]) > 0
    assert stats.ks_2samp(*supports).pvalue > LEVEL


def test_a_bootstrap_sample_has_as_many_samples_as_the_weights_say():
    bag = BaggingClassifier(Remembering(), 5, random_state=0)
    bag.fit(numbered(10), np.arange(10) % 2, sample_weight=np.full(10, 3))
    assert [member.weights_.sum() for member in bag.estimators_] == [30] * 5


@each_setting
def test_fractional_weights_do_not_know_the_order_of_the_rows(ensemble):
    rng = np.random.default_rng(2)
    X, y = table(ensemble)
    weights = rng.uniform(0.1, 3.0, len(y))
    moved = rng.permutation(len(y))
    one = clone(ensemble).fit(X, y, sample_weight=weights)
    other = clone(ensemble).fit(X[moved], y[moved], sample_weight=weights[moved])
    assert_same_trees(one, other, ("impurity", "leaf_impurity") if is_regressor(ensemble) else ())


@each_setting
@pytest.mark.parametrize("weight", [0.25, 2.0**-400])
def test_equal_fractional_weights_are_no_weights(ensemble, weight):
    """A quarter each is the same as one each: the unit of the weights does not matter."""
    X, y = table(ensemble)
    one = clone(ensemble).fit(X, y)
    other = clone(ensemble).fit(X, y, sample_weight=np.full(len(y), weight))
    if is_regressor(ensemble):
        np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-11)
    else:
        np.testing.assert_array_equal(one.votes(X), other.votes(X))
    for field in ("feature", "n_children"):
        np.testing.assert_array_equal(getattr(one.forest_, field), getattr(other.forest_, field))


@pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning")
@each_ensemble
def test_heavy_samples_are_heeded(ensemble):
    """A class or a target that weighs a million times more than the rest decides all votes."""
    X, y = table(ensemble)
    ensemble = clone(ensemble)
    if hasattr(ensemble, "estimator"):
        base = ensemble._base().set_params(max_depth=1)
        ensemble.set_params(estimator=base)
    if isinstance(ensemble, FlippingClassifier):
        ensemble.set_params(flip_rate=1e-7)  # no more is possible when one class has all the weight
    if "max_depth" in ensemble.get_params():
        ensemble.set_params(max_depth=1)
    heavy = y > np.quantile(y, 0.7) if is_regressor(ensemble) else y == 1
    weights = np.where(heavy, 1e6 + 0.5, 1.0)
    predicted = ensemble.fit(X, y, sample_weight=weights).predict(X)
    plain = clone(ensemble).fit(X, y).predict(X)
    if is_regressor(ensemble):
        assert predicted.mean() > plain.mean() + 0.3 * y.std()
    else:
        # Switched and flipped labels stay so: a share of the heavy samples is of other classes.
        assert (predicted == 1).mean() > max((plain == 1).mean() + 0.2, 0.6)


def test_class_weight_is_a_weight_of_the_samples_of_the_class():
    X, y = table(BaggingClassifier())
    factors = {0: 3.0, 1: 1.0, 2: 2.0}
    for make in (BaggingClassifier, RandomForestClassifier):
        given = make(n_estimators=5, class_weight=factors, random_state=0).fit(X, y)
        weights = np.array([3.0, 1.0, 2.0])[y]
        # Whole-number weights would be copies; these are not, by a hair.
        weighted = make(n_estimators=5, random_state=0).fit(X, y, weights * (1 + 2.0**-40))
        np.testing.assert_array_equal(given.votes(X), weighted.votes(X))
    balanced = BaggingClassifier(n_estimators=5, class_weight="balanced", random_state=0).fit(X, y)
    shares = len(y) / (3 * np.bincount(y))
    other = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y, shares[y])
    np.testing.assert_array_equal(balanced.votes(X), other.votes(X))


def test_balanced_classes_are_drawn_equally_often():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 3)), np.repeat([0, 1], [180, 20])
    bag = BaggingClassifier(n_estimators=50, class_weight="balanced", random_state=0).fit(X, y)
    roots = bag.forest_.value[bag.forest_.tree_start[:-1]]
    assert (roots.sum(axis=1) == 200).all()
    assert stats.binomtest(int(roots[:, 1].sum()), 200 * 50, 0.5).pvalue > LEVEL


def test_a_class_of_weight_zero_is_no_class():
    X, y = table(ClassSwitchingClassifier())
    weights = (y != 1).astype(np.float64)
    for name in ("BaggingClassifier", "ClassSwitchingClassifier", "IGPEnsembleClassifier"):
        fitted = small(name).fit(X, y, sample_weight=weights)
        assert fitted.classes_.tolist() == [0, 2]
        assert_same_trees(fitted, small(name).fit(X[y != 1], y[y != 1]))


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1.0, 1e9, 1e16, 1e100])
def test_balanced_classes_do_not_depend_on_the_unit_of_the_weights(unit):
    classes, codes = np.array(["a", "b"]), np.array([0, 0, 0, 1])
    factors = class_factors("balanced", classes, codes, np.full(4, unit))
    np.testing.assert_allclose(factors, [2 / 3, 2.0], rtol=1e-12)
