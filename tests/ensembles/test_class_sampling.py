"""Class weights that decide how many samples of a class each member sees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import recall_score
from sklearn.neighbors import KNeighborsClassifier
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    RememberingWithoutWeights,
    assert_same_trees,
    numbered,
)

from orfeon import PartitionedClassifier, RandomSubspaceClassifier, WaggingClassifier
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.class_sampling import draw_by_class

LABELS = np.repeat([0, 1, 2], [10, 40, 50])


def samples(factors, given=None):
    given = np.ones(100) if given is None else given
    return TrainingSet(np.zeros((100, 1)), LABELS, given, 3, np.asarray(factors))


def n_drawn(weights):
    return np.bincount(LABELS, weights=weights > 0, minlength=3).tolist()


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ([4.0, 1.0, 2.0], [10, 10, 25]),
        ([1.0, 0.25, 0.2], [10, 10, 10]),  # as "balanced" has them
        ([1e-7, 1.0, 0.0], [0, 40, 0]),
        ([0.99, 1.0, 1.0], [10, 40, 50]),
        ([1.0, 0.5, 0.51], [10, 20, 26]),  # 25.5 is rounded up
        ([3.0, 3.0, 3.0], [10, 40, 50]),
    ],
)
def test_shares_of_classes_are_in_proportion_to_their_weights(factors, expected):
    for seed in range(5):
        drawn = draw_by_class(samples(factors), np.random.default_rng(seed))
        assert set(drawn) <= {0, 1}
        assert drawn.dtype == np.int64
        assert n_drawn(drawn) == expected


def test_without_class_weights_nothing_is_drawn():
    rng = np.random.default_rng(0)
    assert draw_by_class(samples([1.0, 1.0, 1.0]), rng) is None
    assert draw_by_class(samples([1.0, 1.0, 1.0], np.linspace(0.1, 2.0, 100)), rng) is None
    draw_by_class(samples([2.0, 2.0, 2.0]), rng)  # equal ones leave nothing out
    assert rng.random() == np.random.default_rng(0).random()


def test_samples_of_a_class_are_drawn_equally_often():
    rng = np.random.default_rng(1)
    counts = sum(draw_by_class(samples([4.0, 1.0, 2.0]), rng) for _ in range(2000))
    assert (counts[:10] == 2000).all()
    for cls in (1, 2):
        # Drawn without replacement, counts vary less than chi-square expects, so this is one-sided.
        assert stats.chisquare(counts[cls == LABELS]).pvalue > LEVEL


def test_sample_weights_stay():
    given = np.linspace(0.1, 2.0, 100)
    drawn = draw_by_class(samples([4.0, 1.0, 2.0], given), np.random.default_rng(0))
    assert n_drawn(drawn) == [10, 10, 25]
    np.testing.assert_array_equal(drawn[drawn > 0], given[drawn > 0])


# -- ensembles -------------------------------------------------------------------------------------

THREE = [
    WaggingClassifier(n_estimators=20, noise="poisson", random_state=0),
    RandomSubspaceClassifier(n_estimators=20, random_state=0),
    PartitionedClassifier(n_partitions=1, random_state=0),
]
each = pytest.mark.parametrize("ensemble", THREE, ids=lambda e: type(e).__name__)


@each
def test_members_see_classes_by_their_weights(ensemble):
    X = numbered(100, 2)
    ensemble.set_params(estimator=Remembering(), class_weight={0: 4.0, 1: 1.0, 2: 2.0})
    for member in ensemble.fit(X, LABELS).estimators_:
        assert np.bincount(member.y_).tolist() == [10, 10, 25]
    ensemble.set_params(class_weight="balanced")
    for member in ensemble.fit(X, LABELS).estimators_:
        assert np.bincount(member.y_).tolist() == [10, 10, 10]
    # Parts are drawn again for each class weight; a light class is not lost to all members.
    if len(ensemble.estimators_) > 1:
        seen = np.unique(np.concatenate([member.X_[:, 0] for member in ensemble.estimators_]))
        assert len(seen) > 90


def unbalanced(n_rows, seed):
    """One class in ten, whose samples lie among those of the other."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.1).astype(np.int64)
    return rng.normal(size=(n_rows, 4)) + 0.8 * y[:, None], y


@pytest.mark.parametrize(
    "ensemble",
    [
        WaggingClassifier(n_estimators=20, random_state=0),
        WaggingClassifier(n_estimators=20, noise="poisson", random_state=0),
        RandomSubspaceClassifier(n_estimators=20, random_state=0),
        PartitionedClassifier(n_partitions=5, random_state=0),
    ],
    ids=str,
)
def test_a_heavier_class_is_found_more_often(ensemble):
    """With unpruned trees, too, which would give a light sample a leaf of its own."""
    (X, y), (X_test, y_test) = unbalanced(600, 0), unbalanced(2000, 1)
    recalls = []
    for class_weight in (None, {0: 1.0, 1: 3.0}, "balanced", {0: 1.0, 1: 1000.0}):
        ensemble.set_params(class_weight=class_weight)
        recalls.append(recall_score(y_test, ensemble.fit(X, y).predict(X_test)))
    assert recalls == sorted(recalls)
    assert recalls[2] > recalls[0] + 0.25
    assert recalls[3] > 0.95


@each
def test_copies_and_the_order_of_rows_change_nothing(ensemble):
    X, y = unbalanced(80, 2)
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 4, 80)
    ensemble.set_params(estimator=None, class_weight={0: 1.0, 1: 2.5})
    weighted = ensemble.fit(X, y, weights).forest_
    copies = rng.permutation(np.repeat(np.arange(80), weights))
    for n_jobs in (1, 2):
        other = ensemble.set_params(n_jobs=n_jobs).fit(X[copies], y[copies])
        np.testing.assert_array_equal(weighted.threshold, other.forest_.threshold)
        np.testing.assert_array_equal(weighted.value, other.forest_.value)


def test_base_learners_without_weights_take_class_weights():
    X, y = numbered(100, 2), LABELS
    for make in (RandomSubspaceClassifier, PartitionedClassifier):
        model = make(RememberingWithoutWeights(), class_weight="balanced", random_state=0)
        assert all(len(member.y_) < 60 for member in model.fit(X, y).estimators_)
        model = make(KNeighborsClassifier(1), class_weight="balanced", random_state=0)
        with pytest.raises(ValueError, match="fractions, but KNeighborsClassifier"):
            model.fit(X, y, np.linspace(0.1, 2.0, 100))


def test_samples_that_a_member_did_not_draw_are_out_of_bag():
    X, y = unbalanced(300, 4)
    wag = WaggingClassifier(n_estimators=30, noise="poisson", oob_score=True, random_state=0)
    wag.set_params(class_weight="balanced")
    with pytest.warns(UserWarning, match="seen by every member"):
        wag.fit(X, y)
    known = ~np.isnan(wag.oob_decision_function_).any(axis=1)
    assert (known == (y == 0)).all()  # every member sees all of the rare class


def test_a_warm_start_draws_as_one_fit():
    X, y = unbalanced(200, 5)
    for make in (WaggingClassifier, RandomSubspaceClassifier):
        whole = make(n_estimators=8, class_weight="balanced", random_state=0).fit(X, y)
        grown = make(n_estimators=3, class_weight="balanced", warm_start=True, random_state=0)
        grown.fit(X, y).set_params(n_estimators=8).fit(X, y)
        assert_same_trees(whole, grown)


def test_random_subspaces_do_not_depend_on_class_weights():
    X, y = unbalanced(200, 6)
    plain = RandomSubspaceClassifier(n_estimators=5, random_state=0).fit(X, y)
    weighted = RandomSubspaceClassifier(n_estimators=5, class_weight="balanced", random_state=0)
    np.testing.assert_array_equal(plain.subspaces_, weighted.fit(X, y).subspaces_)
