"""Ensembles of balanced subsets: who sees what, and what it is good for."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    RememberingWithoutWeights,
    content_order,
    generators,
    numbered,
)
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, CARTClassifier, CARTRegressor, prune
from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.ensembles.perturbation import draw_seed
from orfeon.growth import grow_forest
from orfeon.imbalance.balanced_subsets import BalancedSubsetsClassifier
from orfeon.imbalance.metrics import geometric_mean, positive_accuracy
from orfeon.utils.seeding import seed_sequence


def labels_of(*sizes):
    """Classes 0, 1, ... of these sizes, mixed."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(0).permutation(y)


def seen_by(y, sample_weight=None, base=None, **given):
    """Weight of each sample in the training set of each member."""
    base = Remembering() if base is None else base
    ensemble = BalancedSubsetsClassifier(base, **{"random_state": 0, **given})
    ensemble.fit(numbered(len(y)), y, sample_weight=sample_weight)
    counts = np.array([member.counts(len(y)) for member in ensemble.estimators_])
    np.testing.assert_array_equal(counts, ensemble.in_bag(numbered(len(y)), y, sample_weight))
    return counts


def unbalanced(n_rows=1500, seed=0, share=0.05):
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    return rng.normal(size=(n_rows, 4)) + 0.9 * y[:, None], y


# -- who sees what ---------------------------------------------------------------------------------


def test_the_majority_is_divided_and_the_minority_is_seen_by_all():
    """As published: 20 and 80 of 100 are four members of 20 and 20."""
    y = labels_of(80, 20)
    seen = seen_by(y)
    assert seen.shape == (4, 100)
    assert (seen[:, y == 1] == 1).all()
    assert (seen[:, y == 0].sum(axis=1) == 20).all()
    assert (seen[:, y == 0].sum(axis=0) == 1).all()


@pytest.mark.parametrize(
    ("sizes", "ratio", "members", "part"),
    [
        ((80, 20), 2.0, 2, 40),
        ((80, 20), 0.5, 8, 10),
        ((80, 20), 0.01, 80, 1),
        ((80, 20), 3.0, 2, 60),
        ((80, 20), 4.0, 1, 80),
        ((80, 20), 1e9, 1, 80),
        ((90, 20), 1.0, 5, 20),
        ((81, 20), 1.0, 5, 20),
        ((7, 3), 1.5, 2, 4),
        ((7, 3), 0.8, 4, 2),
    ],
)
def test_the_ratio_says_how_many_members_and_how_large(sizes, ratio, members, part):
    y = labels_of(*sizes)
    seen = seen_by(y, ratio=ratio)
    assert len(seen) == members
    assert (seen[:, y == 0].sum(axis=1) == part).all()
    times = seen[:, y == 0].sum(axis=0)
    assert times.min() == 1
    # Where the last part is short, the first samples of the partition come in again.
    assert times.max() <= 2
    assert times.sum() == members * part


def test_further_members_begin_another_partition():
    y = labels_of(90, 20)
    seen = seen_by(y, n_estimators=13)
    assert len(seen) == 13
    majority = seen[:, y == 0]
    for first in (0, 5):
        one = majority[first : first + 5]
        assert (one.sum(axis=0) >= 1).all()
        assert (one[:4].sum(axis=0) <= 1).all()
    assert len(np.unique(majority, axis=0)) == 13
    np.testing.assert_array_equal(seen[:3], seen_by(y, n_estimators=3))


@pytest.mark.parametrize("n_estimators", [None, 400])
def test_random_parts_are_drawn_by_each_member_on_its_own(n_estimators):
    y = labels_of(100, 20)
    seen = seen_by(y, n_estimators=n_estimators, sampling="random")
    assert len(seen) == (n_estimators or 5)
    assert (seen[:, y == 1] == 1).all()
    majority = seen[:, y == 0]
    assert set(np.unique(majority)) == {0, 1}
    assert (majority.sum(axis=1) == 20).all()
    assert (majority[:5].sum(axis=0) != 1).any()
    if n_estimators:
        worst = majority.sum(axis=0)[np.argmax(np.abs(majority.sum(axis=0) - 80))]
        assert binomtest(int(worst), 400, 0.2).pvalue > LEVEL


def test_of_several_classes_each_that_is_larger_is_divided():
    y = labels_of(100, 10, 25, 18)
    seen = seen_by(y, ratio=2.0)
    sizes = np.array([[row[y == k].sum() for k in range(4)] for row in seen])
    assert sizes.tolist() == [[20, 10, 20, 18]] * 5
    for k in range(4):
        assert (seen[:, y == k].sum(axis=0) >= 1).all()
    # The class of 25 has two parts, so its partitions are those of members 0-1, 2-3 and 4-5.
    assert (seen[:2, y == 2].sum(axis=0) >= 1).all()
    assert (seen[2:4, y == 2].sum(axis=0) >= 1).all()


def test_of_equal_classes_the_last_is_the_minority():
    y = labels_of(12, 12)
    assert (seen_by(y) == 1).all()
    seen = seen_by(y, ratio=0.5)
    assert seen[:, y == 1].min() == 1
    assert seen[:, y == 0].sum(axis=1).tolist() == [6, 6]


def test_one_positive_sample_is_enough():
    y = labels_of(30, 1)
    seen = seen_by(y)
    assert len(seen) == 30
    assert (seen.sum(axis=1) == 2).all()


# -- against a twin --------------------------------------------------------------------------------


def test_votes_are_those_of_trees_on_the_parts():
    """The partition drawn again from its definition, and every tree grown on its own part."""
    X, y = unbalanced(300, share=0.1)
    rows, _ = unbalanced(200, seed=1)
    ensemble = BalancedSubsetsClassifier(n_estimators=15, ratio=1.5, random_state=3).fit(X, y)
    order = content_order(X, y)
    X, y = X[order], y[order]
    size = round(1.5 * y.sum())
    n_parts = int(np.ceil((y == 0).sum() / size))
    assert n_parts == ensemble.n_parts_[0]
    assert 1 < n_parts < 15
    votes = []
    for t, rng in enumerate(generators(3, 15)):
        seed = draw_seed(rng)
        root = seed_sequence(3)
        key = (2**32 - 11, 0, t // n_parts)
        dealt = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key))
        cards = dealt.permutation(np.flatnonzero(y == 0)).tolist()
        first = (t % n_parts) * size
        hand = (cards + cards)[first : first + size]
        mine = np.sort(np.concatenate([hand, np.flatnonzero(y == 1)]))
        table = Table(X[mine], Schema.ordered(4))
        tree = grow_forest(table, y[mine], n_classes=2, seeds=np.array([seed]))
        votes.append(tree.predict(rows))
    np.testing.assert_array_equal(ensemble.votes(rows), votes)


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", ["partition", "random"])
def test_weight_k_is_k_copies_and_weight_zero_is_absence(sampling):
    X, y = unbalanced(200, share=0.2)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 200)
    copies = rng.permutation(np.repeat(np.arange(200), weights))
    ensemble = BalancedSubsetsClassifier(sampling=sampling, random_state=0)
    weighted = clone(ensemble).fit(X, y, sample_weight=weights)
    repeated = clone(ensemble).fit(X[copies], y[copies])
    assert_same_forest(weighted.forest_, repeated.forest_)
    assert weighted.part_sizes_[1] == weights[y == 1].sum()


def test_fractional_weights_are_handed_on_and_measure_the_classes():
    y = labels_of(80, 20)
    weights = np.where(y == 0, 0.5, 1.5)
    seen = seen_by(y, sample_weight=weights)
    # 30 of the minority, 40 of the majority: all of 20 rows, and 60 of 80 rows.
    assert len(seen) == 2
    assert (seen[:, y == 1] == 1.5).all()
    assert (seen[:, y == 0].sum(axis=1) == 30.0).all()
    assert set(np.unique(seen[:, y == 0])) == {0.0, 0.5}


@pytest.mark.parametrize("weight", [0.1, 3.7, 2.0**-500])
def test_equal_weights_are_no_weights(weight):
    y = labels_of(90, 21)
    seen = seen_by(y, ratio=0.5)
    np.testing.assert_array_equal(seen_by(y, np.full(111, weight), ratio=0.5), seen)


def test_a_base_learner_without_weights_is_given_the_samples():
    y = labels_of(40, 10)
    base = RememberingWithoutWeights()
    np.testing.assert_array_equal(seen_by(y, base=base), seen_by(y))
    weights = 1 + np.arange(50) % 2
    seen = seen_by(y, weights, base=base)
    assert (seen[:, y == 1] == weights[y == 1]).all()
    with pytest.raises(ValueError, match="sample_weight has fractions, but RememberingWithout"):
        seen_by(y, weights / 3, base=base)


# -- as an ensemble --------------------------------------------------------------------------------


def test_it_recognises_what_bagging_overlooks():
    X, y = unbalanced()
    X_test, y_test = unbalanced(4000, seed=1)
    subsets = BalancedSubsetsClassifier(random_state=0).fit(X, y)
    bag = BaggingClassifier(n_estimators=len(subsets), random_state=0).fit(X, y)
    g = [geometric_mean(y_test, model.predict(X_test)) for model in (bag, subsets)]
    # Two normal distributions 1.8 apart: no classifier has more than 0.816 on both.
    assert g[0] < 0.6
    assert g[1] > 0.78


def test_a_larger_ratio_recognises_fewer_positives():
    X, y = unbalanced()
    X_test, y_test = unbalanced(4000, seed=1)
    found = [
        positive_accuracy(
            y_test,
            BalancedSubsetsClassifier(ratio=ratio, n_estimators=20, random_state=0)
            .fit(X, y)
            .predict(X_test),
        )
        for ratio in (0.25, 1.0, 4.0, 100.0)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1] + 0.4


@pytest.mark.parametrize("sampling", ["partition", "random"])
def test_a_warm_start_goes_on_where_it_ended(sampling):
    X, y = unbalanced(300, share=0.15)
    whole = BalancedSubsetsClassifier(n_estimators=11, sampling=sampling, random_state=0).fit(X, y)
    grown = BalancedSubsetsClassifier(sampling=sampling, random_state=0, warm_start=True).fit(X, y)
    assert 1 < len(grown) < 11
    grown.set_params(n_estimators=11).fit(X, y)
    assert_same_forest(grown.forest_, whole.forest_)
    np.testing.assert_array_equal(grown.in_bag(X, y), whole.in_bag(X, y))


@pytest.mark.parametrize("sampling", ["partition", "random"])
def test_any_number_of_jobs_gives_the_same_bits(sampling):
    X, y = unbalanced(300, share=0.1)
    ensemble = BalancedSubsetsClassifier(n_estimators=70, sampling=sampling, random_state=0)
    alone = clone(ensemble).fit(X, y)
    for n_jobs in (2, 4):
        other = clone(ensemble).set_params(n_jobs=n_jobs).fit(X, y)
        assert_same_forest(other.forest_, alone.forest_)


def test_other_base_learners_may_be_the_members():
    X, y = unbalanced(300, share=0.1)
    alone, both = (
        BalancedSubsetsClassifier(GaussianNB(), combine="soft", n_jobs=n_jobs, random_state=0)
        for n_jobs in (1, 2)
    )
    shares = alone.fit(X, y).predict_proba(X)
    with joblib.parallel_config("threading"):
        np.testing.assert_array_equal(shares, both.fit(X, y).predict_proba(X))
    members = [m.predict_proba(X) for m in alone.estimators_]
    np.testing.assert_allclose(shares, np.mean(members, axis=0), atol=1e-12)


def test_stages_and_pruning():
    X, y = unbalanced(400, share=0.1)
    ensemble = BalancedSubsetsClassifier(n_estimators=20, random_state=0).fit(X, y)
    stages = list(ensemble.staged_predict(X))
    assert len(stages) == 20
    np.testing.assert_array_equal(stages[-1], ensemble.predict(X))
    small = prune(ensemble, X, y, rule="reduce_error", keep=5)
    assert len(small) == 5
    assert small.score(X, y) > ensemble.score(X, y)


def test_a_classifier_may_decide_from_what_the_members_say():
    """The combination of the paper: scikit-learn's stacking, over members that are trained."""
    X, y = unbalanced(3000)
    y = np.array(["good", "fraud"])[y]
    X, X_meta, y, y_meta = train_test_split(X, y, stratify=y, random_state=0)
    ensemble = BalancedSubsetsClassifier(random_state=0).fit(X, y)
    members = [(str(t), member) for t, member in enumerate(ensemble.estimators_)]
    decide = LogisticRegression(class_weight="balanced")
    stacked = StackingClassifier(members, decide, cv="prefit").fit(X_meta, y_meta)
    X_test, truth = unbalanced(4000, seed=1)
    assert geometric_mean(np.array(["good", "fraud"])[truth], stacked.predict(X_test)) > 0.74


def test_tables_with_categories_and_missing_values():
    pandas = pytest.importorskip("pandas")
    X, y = unbalanced(400, share=0.1)
    rng = np.random.default_rng(0)
    codes = (2 * y + rng.integers(0, 4, 400)) % 4
    frame = pandas.DataFrame(X, columns=list("abcd")).mask(rng.random((400, 4)) < 0.1)
    frame["colour"] = pandas.Categorical.from_codes(codes, list("wxyz"))
    ensemble = BalancedSubsetsClassifier(random_state=0).fit(frame, y)
    assert geometric_mean(y, ensemble.predict(frame)) > 0.8


def test_one_class_is_one_member_that_knows_no_other():
    ensemble = BalancedSubsetsClassifier().fit(np.zeros((5, 1)), ["only"] * 5)
    assert len(ensemble) == 1
    assert ensemble.predict([[3.0]]).tolist() == ["only"]
    assert ensemble.part_sizes_.tolist() == [5]


def test_there_is_no_out_of_bag_error():
    assert "oob_score" not in BalancedSubsetsClassifier().get_params()
    X, y = unbalanced(300, share=0.2)
    ensemble = BalancedSubsetsClassifier(random_state=0).fit(X, y)
    assert (ensemble.in_bag(X, y)[:, y == 1] == 1).all()
    assert not hasattr(ensemble, "oob_error_")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ratio": 0}, r"'ratio' parameter .* in the range \(0.0, inf\). Got 0"),
        ({"ratio": -1.0}, r"'ratio' parameter .* Got -1.0"),
        ({"ratio": np.nan}, r"'ratio' parameter .* Got nan"),
        ({"sampling": "bootstrap"}, r"'sampling' parameter .* Got 'bootstrap'"),
        ({"n_estimators": 0}, r"'n_estimators' parameter .* or None. Got 0"),
        ({"estimator": CARTRegressor()}, "is not a classifier"),
        ({"estimator": CARTClassifier(max_depth=0)}, "'max_depth' parameter"),
    ],
)
def test_bad_parameters_are_refused(given, message):
    X, y = unbalanced(50, share=0.3)
    with pytest.raises(ValueError, match=message):
        BalancedSubsetsClassifier(**given).fit(X, y)


def test_neighbours_may_be_the_members():
    X, y = unbalanced(400, share=0.1)
    ensemble = BalancedSubsetsClassifier(KNeighborsClassifier(), random_state=0).fit(X, y)
    alone = KNeighborsClassifier().fit(X, y)
    X_test, y_test = unbalanced(2000, seed=1)
    g = [geometric_mean(y_test, model.predict(X_test)) for model in (alone, ensemble)]
    assert g[1] > g[0] + 0.15
