"""AdaBoost over a pool: the best of it in every round, whatever it is made of."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier as BaggingOfScikitLearn
from sklearn.ensemble import RandomForestClassifier as ForestOfScikitLearn
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.oracles.boosting import adaboost_m1
from tests.oracles.boosting_weak import best_of_pool
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, CARTClassifier, StumpClassifier
from orfeon.boosting.bounds import error_bound
from orfeon.boosting.given_pool import PoolLearner
from orfeon.boosting.pool import PoolBoostClassifier
from orfeon.boosting.stump_pool import StumpLearner, StumpPool, evenly_spread
from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import Forest

#: Small tables are easy to tell apart; it says so.
pytestmark = pytest.mark.filterwarnings("ignore:PoolBoostClassifier. the first member")


@pytest.fixture(scope="module")
def spheres():
    """Two classes that no stump tells apart: 400 samples."""
    X = np.random.default_rng(0).normal(size=(400, 5))
    return X, np.where((X**2).sum(axis=1) > 4.35, "out", "in")


def mixed(rng, n_rows, n_classes, missing):
    """Ordered, rounded, categorical and two-valued features, some values missing."""
    X = np.column_stack(
        [
            rng.normal(size=n_rows),
            rng.integers(0, 4, n_rows),
            rng.integers(0, 4, n_rows),
            rng.integers(0, 2, n_rows),
            np.ones(n_rows),
        ]
    ).astype(float)
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    data = StumpClassifier(categorical_features=[2, 3])._read(
        X, np.arange(n_rows) % n_classes, None
    )
    return data, rng.integers(0, n_classes, n_rows)


# -- the pool of all stumps ------------------------------------------------------------------------


def test_the_stumps_of_two_values_by_hand():
    """One cut both ways round, and the two classes alone."""
    pool = StumpPool.of(Table(np.array([[1.0], [3.0]])), 2)
    forest = pool.forest(range(len(pool))).validate()
    rows = np.array([[1.0], [2.0], [2.1], [np.nan]])
    assert forest.threshold[0] == 2.0
    assert forest.votes(rows).tolist() == [[0, 0, 1, 0], [1, 1, 0, 1], [0] * 4, [1] * 4]


def test_missing_values_are_on_either_side_and_alone():
    pool = StumpPool.of(Table(np.array([[1.0], [3.0], [np.nan]])), 2)
    votes = pool.forest(range(len(pool))).votes(np.array([[1.0], [3.0], [np.nan]]))
    # (1 | 3 ?), (1 ? | 3), (1 3 | ?), each both ways round, then the classes alone
    expected = [[0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert votes.tolist() == [*expected, [0, 0, 0], [1, 1, 1]]


def test_missing_values_that_training_has_not_follow_the_heavier_branch():
    table = Table(np.array([[1.0], [2.0], [3.0]]))
    for weights, side in (([1.0, 1.0, 1.0], 1), ([3.0, 1.0, 1.0], 0)):
        pool = StumpPool.of(table, 2, weights=np.array(weights))
        assert pool.forest([0]).votes(np.array([[np.nan]]))[0, 0] == side


def test_categories_are_tested_one_at_a_time():
    table = Table.from_data(np.array([["a"], ["b"], ["c"], [None]], dtype=object))
    pool = StumpPool.of(table, 2)
    encoded = np.array([[0.0], [1.0], [2.0], [np.nan]])
    votes = pool.forest(range(len(pool))).votes(encoded)
    firsts = {tuple(v) for v in votes[:-2:2].tolist()}
    one_or_with_missing = {(0, 1, 1, 1), (0, 1, 1, 0), (1, 0, 1, 1), (1, 0, 1, 0)}
    assert firsts == one_or_with_missing | {(1, 1, 0, 1), (1, 1, 0, 0), (0, 0, 0, 1)}


def test_no_stump_of_two_categories_or_of_a_constant_is_there_twice():
    table = Table.from_data(np.array([["a", "x"], ["b", "x"]], dtype=object))
    assert len(StumpPool.of(table, 2)) == 2 + 2


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_each_pair_of_classes_is_on_each_test(n_classes):
    pool = StumpPool.of(Table(np.arange(4.0)[:, None]), n_classes)
    assert len(pool) == 3 * n_classes * (n_classes - 1) + n_classes
    found = [pool.classes_of(i) for i in range(len(pool))]
    assert len(set(found)) == len(pool)
    for i, (test, first, second) in enumerate(found):
        assert (test is None) == (first == second)
        if test is not None:
            assert pool.index(test, first, second) == i
    with pytest.raises(IndexError, match=f"index={len(pool)} is not in this pool of {len(pool)}"):
        pool.classes_of(len(pool))


def test_few_thresholds_are_evenly_spread():
    assert evenly_spread(100, 4).tolist() == [12, 37, 62, 87]
    assert evenly_spread(4, 4).tolist() == [0, 1, 2, 3]
    for n_places in range(1, 30):
        for n_most in range(1, 12):
            places = evenly_spread(n_places, n_most)
            assert len(set(places)) == min(n_places, n_most)
            assert places[0] >= 0
            assert places[-1] < n_places
    pool = StumpPool.of(Table(np.arange(101.0)[:, None]), 2, n_thresholds=4)
    assert pool.tests.threshold.tolist() == [12.5, 37.5, 62.5, 87.5]


def test_thresholds_are_between_neighbours_and_huge_values():
    low = 1.0
    high = np.nextafter(low, 2.0)
    for values in ([low, high], [-1.7e308, 1.7e308], [-5e-324, 0.0]):
        X = np.array(values)[:, None]
        assert StumpPool.of(Table(X), 2).forest([0]).votes(X)[0].tolist() == [0, 1]


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_thresholds", [None, 3])
def test_the_best_stump_is_that_of_all_votes_and_errors(n_classes, missing, n_thresholds):
    """In whole weights, so that ties are ties; the first of them is taken."""
    rng = np.random.default_rng(1)
    for n_rows in (5, 12, 30):
        data, labels = mixed(rng, n_rows, n_classes, missing)
        pool = StumpPool.of(data.table, n_classes, n_thresholds)
        votes = pool.forest(range(len(pool))).validate().votes(data.X)
        learner = StumpLearner(pool, data, [])
        for most in (2, 50):
            weights = rng.integers(0, most, n_rows) + (np.arange(n_rows) == 0.0)
            errors = (votes != labels) @ weights
            assert learner.choose(weights, labels) == errors.argmin()
            stump = learner.train(weights, labels, rng)
            np.testing.assert_array_equal(
                learner.predict_train(stump, "votes"), votes[errors.argmin()]
            )


def test_ties_up_to_rounding_take_the_first():
    """Fifty copies of one feature, and weights whose sums depend on their order."""
    rng = np.random.default_rng(2)
    x, labels = rng.permutation(300).astype(float), rng.integers(0, 2, 300)
    X = np.repeat(x[:, None], 50, axis=1)
    data = StumpClassifier()._read(X, labels, None)
    pool = StumpPool.of(data.table, 2)
    votes = pool.forest(range(2 * 299)).votes(data.X)
    answers = np.vstack([votes, votes[::-1]])
    for _ in range(5):
        weights = rng.random(300)
        chosen = StumpLearner(pool, data, []).choose(weights / weights.sum(), labels)
        assert chosen < 2 * 299
        learner = PoolLearner(list(range(len(answers))), answers, 2, [])
        assert learner.train(weights, labels, rng).estimators == [chosen]


def test_errors_of_a_large_pool_are_those_of_a_small_one(monkeypatch):
    rng = np.random.default_rng(9)
    answers, weights = rng.integers(0, 3, (70, 50)), rng.random(50)
    labels = rng.integers(0, 3, 50)
    expected = (answers != labels) @ weights
    np.testing.assert_allclose(PoolLearner([], answers, 3, []).errors(weights, labels), expected)
    monkeypatch.setattr("orfeon.boosting.given_pool._MOST_KEPT", 0)
    monkeypatch.setattr("orfeon.boosting.given_pool._BLOCK", 160)
    np.testing.assert_allclose(PoolLearner([], answers, 3, []).errors(weights, labels), expected)


def test_the_nodes_of_a_stump_hold_the_weights_of_its_round():
    data, labels = mixed(np.random.default_rng(3), 40, 2, True)
    weights = np.random.default_rng(4).random(40)
    learner = StumpLearner(StumpPool.of(data.table, 2), data, [])
    stump = learner.train(weights, labels, np.random.default_rng(0))
    share = np.bincount(labels, weights=weights) / weights.sum()
    np.testing.assert_allclose(stump.value[0], 40 * share, rtol=1e-12)
    np.testing.assert_allclose(stump.value[1] + stump.value[2], stump.value[0], rtol=1e-12)


# -- boosting --------------------------------------------------------------------------------------


def oracle(votes, y, n_members, algorithm="m1"):
    return adaboost_m1(
        best_of_pool(votes.tolist()), y.tolist(), n_members, floor=Fraction(0),
        n_classes=int(max(y)) + 1, samme=algorithm == "samme",
    )  # fmt: skip


@pytest.mark.parametrize("algorithm", ["m1", "samme"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_run_is_that_of_exact_fractions(n_classes, seed, algorithm):
    rng = np.random.default_rng(seed)
    y = np.arange(24) % n_classes
    answers = np.where(rng.random((40, 24)) < 0.35, rng.integers(0, n_classes, (40, 24)), y)
    X = np.arange(24)[:, None]
    pool = [lambda X, one=one: one[X[:, 0]] for one in answers]
    fitted = PoolBoostClassifier(pool, n_estimators=12, algorithm=algorithm).fit(X, y)
    run = oracle(answers, y, 12, algorithm)
    expected = [answers.tolist().index(r.answers) for r in run.members]
    assert fitted.chosen_.tolist() == expected
    np.testing.assert_allclose(fitted.errors_, [float(r.error) for r in run.members], atol=1e-12)
    np.testing.assert_allclose(fitted.member_weights_, [float(r.alpha) for r in run.members])
    assert fitted.predict(X).tolist() == run.decisions(n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_stumps_are_those_of_exact_fractions(n_classes):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(30, 2)), 1)
    y = np.argsort(np.argsort(X[:, 0] + 0.5 * X[:, 1])) * n_classes // 30
    fitted = PoolBoostClassifier(n_estimators=8).fit(X, y)
    votes = np.array([stump.predict(X) for stump in fitted.pool_])
    run = oracle(votes, y, 8, "samme")
    assert len(run.members) > 3
    assert [votes[i].tolist() for i in fitted.chosen_] == [r.answers for r in run.members]
    np.testing.assert_allclose(fitted.errors_, [float(r.error) for r in run.members], atol=1e-12)
    assert fitted.predict(X).tolist() == run.decisions(n_classes)


def test_many_stumps_do_what_one_cannot(spheres):
    X, y = spheres
    rng = np.random.default_rng(6)
    X_test = rng.normal(size=(4000, 5))
    y_test = np.where((X_test**2).sum(axis=1) > 4.35, "out", "in")
    fitted = PoolBoostClassifier(n_estimators=200).fit(X, y)
    assert StumpClassifier().fit(X, y).score(X_test, y_test) < 0.65
    assert fitted.score(X_test, y_test) > 0.85
    assert fitted.errors_.max() < 0.5
    scores = list(fitted.staged_score(X_test, y_test))
    assert scores[-1] == fitted.score(X_test, y_test)
    assert isinstance(fitted.forest_.validate(), Forest)
    # The spheres are symmetric: all five features are needed.
    assert fitted.feature_importances_.min() > 0.1


def test_it_chooses_the_least_error_where_trained_stumps_take_the_least_impurity(spheres):
    X, y = spheres
    codes = np.unique(y, return_inverse=True)[1]
    trained = StumpClassifier().fit(X, y)
    first = PoolBoostClassifier(n_estimators=1).fit(X, y)
    assert first.errors_[0] <= np.mean(trained.predict(X) != y)
    assert first.errors_[0] == pytest.approx(np.mean(first.votes(X)[0] != codes), abs=1e-12)


def test_chosen_ones_are_of_the_pool(spheres):
    X, y = spheres
    fitted = PoolBoostClassifier(n_estimators=20).fit(X, y)
    assert len(fitted.pool_) == 2 * 5 * 399 + 2
    assert len(fitted.chosen_) == len(fitted) == len(fitted.member_weights_) == 20
    assert len(set(fitted.chosen_)) < 20  # some come again
    for index, one, votes in zip(fitted.chosen_, fitted.estimators_, fitted.votes(X), strict=True):
        np.testing.assert_array_equal(fitted.pool_[index].predict(X), one.predict(X))
        np.testing.assert_array_equal(one.predict(X), fitted.classes_[votes])


def test_a_run_ends_with_a_classifier_that_makes_no_error():
    X = np.arange(10.0)[:, None]
    with pytest.warns(UserWarning, match="the first member makes no error on the training samp"):
        fitted = PoolBoostClassifier().fit(X, X[:, 0] > 4)
    assert fitted.errors_.tolist() == [0.0]
    assert fitted.forest_.threshold[0] == 4.5


def test_a_run_ends_where_the_pool_has_nothing_better_than_chance():
    X, y = np.arange(6)[:, None], np.array([0, 0, 1, 1, 1, 1])
    always = PoolBoostClassifier([lambda X: np.ones(len(X), int)]).fit(X, y)
    # Right on four of six; then on half of the weight, which ends it.
    assert always.chosen_.tolist() == [0]
    assert always.errors_ == pytest.approx([1 / 3])
    with pytest.warns(UserWarning, match=r"best classifier of the pool errs on 0\.667 of the weig"):
        never = PoolBoostClassifier([lambda X: np.zeros(len(X), int)]).fit(X, y)
    assert never.predict(X).tolist() == [0] * 6


@pytest.mark.parametrize("n_classes", [1, 3])
def test_classes_alone_where_there_is_nothing_to_test(n_classes):
    X, y = np.ones((7, 2)), np.array([0, 1, 2, 2, 2, 2, 2]) if n_classes == 3 else np.zeros(7)
    fitted = PoolBoostClassifier().fit(X, y)
    assert fitted.predict(X).tolist() == [2 if n_classes == 3 else 0] * 7
    assert fitted.forest_.n_leaves.tolist() == [1]


def test_missing_values_and_categories_are_learnt():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    colour, x = rng.choice(["red", "green", "blue"], 200), rng.normal(size=200)
    y = (colour == "green") | (np.abs(x) > 1.5)
    x[(rng.random(200) < 0.5) & y] = np.nan  # a missing value tells something
    frame = pandas.DataFrame({"x": x, "colour": colour})
    fitted = PoolBoostClassifier(n_estimators=30).fit(frame, y)
    assert fitted.score(frame, y) > 0.97
    assert set(fitted.forest_.feature[fitted.forest_.tree_start[:-1]]) == {0, 1}
    new = pandas.DataFrame({"x": [0.0, np.nan], "colour": ["mauve", None]})
    assert fitted.predict(new).shape == (2,)


# -- pools of any make -----------------------------------------------------------------------------


def test_fitted_ones_are_used_as_they_are_and_others_fitted_once(spheres):
    X, y = spheres
    half = CARTClassifier(max_depth=4, random_state=0).fit(X[:200], y[:200])
    before = half.forest_
    given = GaussianNB()
    fitted = PoolBoostClassifier([half, given], n_estimators=5).fit(X, y)
    assert fitted.pool_[0] is half
    assert half.forest_ is before
    assert not hasattr(given, "classes_")
    np.testing.assert_array_equal(fitted.pool_[1].predict(X), GaussianNB().fit(X, y).predict(X))
    assert fitted.estimators_ == [fitted.pool_[i] for i in fitted.chosen_]


def test_a_pool_that_is_fitted_here_is_seeded(spheres):
    X, y = spheres
    pool = [DecisionTreeClassifier(max_depth=3, max_features=1) for _ in range(20)]
    one, two, other = (
        PoolBoostClassifier(pool, n_estimators=10, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert (one.decision_function(X) != other.decision_function(X)).any()
    states = {tree.random_state for tree in one.pool_}
    assert len(states) == 20


def test_labels_codes_and_functions_say_the_same(spheres):
    X, y = spheres
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    by_label = tree.fit(X, y)
    by_code = clone(tree).fit(X, np.unique(y, return_inverse=True)[1])
    column = lambda X: by_label.predict(X)[:, None]  # noqa: E731
    models = [PoolBoostClassifier([c], 1).fit(X, y) for c in (by_label, by_code, column)]
    for fitted in models:
        np.testing.assert_array_equal(fitted.predict(X), by_label.predict(X))


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(CARTClassifier(max_depth=2), 30, combine="soft", random_state=0),
        BaggingClassifier(GaussianNB(), 10, max_samples=20, random_state=0),
        ForestOfScikitLearn(30, max_depth=2, random_state=0),
        BaggingOfScikitLearn(
            DecisionTreeClassifier(max_depth=2), 30, max_features=2, random_state=0
        ),
    ],
    ids=["ours", "ours of estimators", "forest", "bagging"],
)
def test_the_members_of_an_ensemble_are_the_pool(spheres, ensemble):
    X, y = spheres
    ensemble.fit(X, y)
    fitted = PoolBoostClassifier(ensemble, n_estimators=15).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    assert len(fitted.pool_) == len(ensemble.estimators_)
    votes = fitted.votes(X)
    assert fitted.errors_[0] == pytest.approx(np.mean(votes[0] != codes), abs=1e-12)
    errors = [np.mean(one.predict(X) != y) for one in fitted.pool_]
    assert fitted.errors_[0] == pytest.approx(min(errors), abs=0.01)
    assert 1 - fitted.score(X, y) <= error_bound(fitted.errors_)[-1]
    # A member answers for itself, wherever it stands.
    assert len(np.unique(votes, axis=0)) == len(set(fitted.chosen_))


def test_classes_of_an_ensemble_are_found_among_ours(spheres):
    """The ensemble knows one of three classes not at all."""
    X, y = spheres
    bag = BaggingClassifier(CARTClassifier(max_depth=4), 10, random_state=0).fit(X, y)
    three = np.where(np.arange(400) < 20, "far", y)
    fitted = PoolBoostClassifier(bag, n_estimators=3).fit(X, three)
    assert fitted.classes_.tolist() == ["far", "in", "out"]
    assert set(fitted.predict(X)) == {"in", "out"}


def test_weights(spheres):
    """Twice the weight is two copies, of stumps to the bit and of what is fitted here too."""
    X, y = spheres
    weights = np.random.default_rng(8).integers(0, 3, 400)
    copies = np.repeat(np.arange(400), weights)
    model = PoolBoostClassifier(n_estimators=10)
    forest = model.fit(X, y, sample_weight=weights).forest_
    assert_same_forest(forest, model.fit(X[copies], y[copies]).forest_)
    pool = [GaussianNB(), KNeighborsClassifier(3), LogisticRegression()]
    model = PoolBoostClassifier(pool, n_estimators=4)
    weighted = model.fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_array_equal(weighted, model.fit(X[copies], y[copies]).decision_function(X))
    with pytest.raises(ValueError, match="KNeighborsClassifier of the pool takes none; fit it"):
        model.fit(X, y, sample_weight=weights + 0.5)


def test_a_clone_keeps_a_fitted_pool(spheres):
    X, y = spheres
    bag = BaggingClassifier(CARTClassifier(max_depth=3), 20, random_state=0).fit(X, y)
    for pool in (bag, list(bag.estimators_)):
        model = PoolBoostClassifier(pool, n_estimators=5, validation_fraction=0.2)
        twin = clone(model)
        assert twin.pool is pool
        assert twin.validation_fraction == 0.2
        assert not hasattr(twin, "members_")
        assert cross_val_score(model, X, y, cv=3).min() > 0.6


def test_fitted_models_are_pickled(spheres):
    X, y = spheres
    for pool in (None, [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)]):
        fitted = PoolBoostClassifier(pool, n_estimators=6).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
        np.testing.assert_array_equal(again.chosen_, fitted.chosen_)
        assert len(again.pool_) == len(fitted.pool_)


@pytest.mark.parametrize("given", [False, True])
def test_a_warm_start_goes_on(spheres, given):
    X, y = spheres
    trees = [DecisionTreeClassifier(max_depth=2, max_features=1) for _ in range(10)]
    pool = trees if given else None
    warm = PoolBoostClassifier(pool, 5, warm_start=True, random_state=0).fit(X, y)
    if len(warm) < 5:  # the pool had nothing better than chance left
        with pytest.warns(UserWarning, match="the run had ended"):
            warm.set_params(n_estimators=12).fit(X, y)
    else:
        warm.set_params(n_estimators=12).fit(X, y)
    cold = PoolBoostClassifier(pool, 12, random_state=0).fit(X, y)
    assert warm.chosen_.tolist() == cold.chosen_.tolist()
    np.testing.assert_array_equal(warm.decision_function(X), cold.decision_function(X))


def test_early_stopping_keeps_what_was_chosen_up_to_the_best(spheres):
    X, y = spheres
    model = PoolBoostClassifier(n_estimators=300, n_iter_no_change=5, random_state=0).fit(X, y)
    assert len(model.chosen_) == len(model.members_) < len(model.validation_errors_) < 300
    assert len(model.pool_) < 2 * 5 * 399 + 2  # thresholds of the samples that were not set aside


def test_each_classifier_is_asked_once_for_many_votes(spheres):
    X, y = spheres
    calls = []

    def last(X):
        calls.append(len(X))
        return np.where(X[:, 4] ** 2 > 1, "out", "in")

    others = [lambda X, j=j: np.where(X[:, j] ** 2 > 1, "out", "in") for j in range(4)]
    fitted = PoolBoostClassifier([*others, last], n_estimators=25).fit(X, y)
    assert calls == [400]
    assert np.sum(fitted.chosen_ == 4) > 1
    fitted.votes(X[:7])
    assert calls == [400, 7]


@pytest.mark.parametrize(
    ("pool", "error", "words"),
    [
        ([], ValueError, "pool is empty; give at least one classifier"),
        (
            [GaussianNB],
            TypeError,
            "classifier 0 of the pool is the class GaussianNB, not an object",
        ),
        ([GaussianNB(), 3], TypeError, "classifier 1 of the pool is of type int, without predict"),
        ([LinearRegression()], TypeError, "classifier 0 of the pool is LinearRegression, a regres"),
        (
            [lambda X: X[:, 0] + 0.5],
            ValueError,
            r"classifier 0 of the pool predicts .*; allowed are",
        ),
        ([lambda X: X], ValueError, r"returns an array of shape \(400, 5\); one class per row"),
        (GaussianNB(), TypeError, "of type GaussianNB, not a fitted ensemble whose members"),
    ],
)
def test_what_is_no_pool_is_refused(spheres, pool, error, words):
    X, y = spheres
    with pytest.raises(error, match=words):
        PoolBoostClassifier(pool).fit(X, y)


def test_an_ensemble_of_regressors_is_refused(spheres):
    X, y = spheres
    forest = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="pool is a RandomForestRegressor, whose members are regr"):
        PoolBoostClassifier(forest).fit(X, y)


def test_a_class_that_training_did_not_have_is_refused_at_prediction(spheres):
    X, y = spheres
    fitted = PoolBoostClassifier([lambda X: np.where(X[:, 0] > 99, "mars", y[: len(X)])]).fit(X, y)
    with pytest.raises(
        ValueError, match=r"classifier 0 of the pool predicts 'mars'; allowed are \["
    ):
        fitted.predict(X + 100)


def test_only_the_schema_of_the_stumps_has_categories():
    X = np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]])
    y = np.array([0, 1, 0, 0, 1, 0])
    fitted = PoolBoostClassifier(categorical_features=[0]).fit(X, y)
    assert isinstance(fitted.schema_, Schema)
    assert fitted.errors_.tolist() == [0.0]  # the middle category alone
