"""prune(): the ensemble that is left is the vote of the members that were kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles.probabilities import smoothed

import orfeon
from orfeon import BaggingClassifier, CARTClassifier, CARTRegressor, order, prune
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ordering import MarginDistance, Order, PrunedClassifier, order_votes, prune_votes

CART = CARTClassifier(pruning="cv", n_folds=3)
T = 25


@pytest.fixture(scope="module")
def train():
    X, y = make_waveform(120, random_state=0)
    return X[:, :10], np.array(["one", "two", "six"])[y]


@pytest.fixture(scope="module")
def test():
    X, y = make_waveform(400, random_state=1)
    return X[:, :10], np.array(["one", "two", "six"])[y]


@pytest.fixture(scope="module")
def bag(train):
    return BaggingClassifier(CART, T, random_state=0).fit(*train)


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(90, random_state=0)
    return X, y


def majority(votes, classes, shares=None):
    """The class of most (weight of the) votes, the first of those that are tied."""
    shares = np.ones(len(votes)) if shares is None else shares
    counts = np.stack([((votes == c) * shares[:, None]).sum(axis=0) for c in range(len(classes))])
    return classes[counts.argmax(axis=0)]


def mean_of(estimators, X, columns=None):
    """The mean of what estimators say of the classes."""
    columns = [slice(None)] * len(estimators) if columns is None else columns
    pairs = zip(estimators, columns, strict=True)
    return np.mean([e.predict_proba(X[:, chosen]) for e, chosen in pairs], axis=0)


# -- the vote of those who are kept ----------------------------------------------------------------

OURS = {
    "bagging": BaggingClassifier(CART, T, random_state=0),
    "any base learner": BaggingClassifier(GaussianNB(), T, random_state=0),
    "random forest": orfeon.RandomForestClassifier(T, random_state=0),
    "extra trees": orfeon.ExtraTreesClassifier(T, random_state=0),
    "class switching": orfeon.ClassSwitchingClassifier(n_estimators=T, random_state=0),
    "subspaces": orfeon.RandomSubspaceClassifier(n_estimators=T, random_state=0),
    "IGP committees": orfeon.IGPCommitteesClassifier(n_committees=T, random_state=0),
    "partitions": orfeon.PartitionedClassifier(
        n_partitions=5, n_estimators=5, estimator=CARTClassifier(), random_state=0
    ),
}


@pytest.mark.parametrize("kind", OURS)
def test_our_ensembles_decide_as_the_members_kept(kind, train, test):
    whole = clone(OURS[kind]).fit(*train)
    votes = whole.votes(test[0])
    error = 1 - whole.score(*train)
    before = pickle.dumps(whole)
    small = prune(whole, *train, rule="reduce_error", keep=8)
    assert pickle.dumps(whole) == before
    assert not hasattr(whole, "kept_")
    assert type(small) is type(whole)
    assert small.kept_.tolist() == small.order_.order[:8].tolist()
    kept = votes[small.kept_]
    np.testing.assert_array_equal(small.votes(test[0]), kept)
    np.testing.assert_array_equal(small.predict(test[0]), majority(kept, whole.classes_))
    assert small.order_.order.tolist() == order_votes(
        whole.votes(train[0]), np.searchsorted(whole.classes_, train[1]), rule="reduce_error"
    ).order.tolist()  # fmt: skip
    assert small.error_curve_[-1] == pytest.approx(error, abs=1e-15)
    assert small.error_curve_[7] == pytest.approx(1 - small.score(*train), abs=1e-15)
    assert (len(small), len(whole)) == (8, len(votes))


def test_soft_votes_are_the_mean_of_those_kept(train, test):
    whole = BaggingClassifier(CART, T, combine="soft", random_state=0).fit(*train)
    small = prune(whole, *train, keep=6)
    expected = mean_of([whole.estimators_[t] for t in small.kept_], test[0])
    found = small.predict_proba(test[0])
    np.testing.assert_allclose(found, smoothed(small, expected), atol=1e-12)
    np.testing.assert_array_equal(
        small.predict(test[0]), whole.classes_[small.predict_proba(test[0]).argmax(axis=1)]
    )
    # The order is that of the votes, as it is with hard voting.
    hard = BaggingClassifier(CART, T, random_state=0).fit(*train)
    assert small.kept_.tolist() == prune(hard, *train, keep=6).kept_.tolist()


SKLEARN = {
    "forest": sklearn_ensemble.RandomForestClassifier(T, max_depth=4, random_state=0),
    "extra trees": sklearn_ensemble.ExtraTreesClassifier(T, max_depth=4, random_state=0),
    "bagging": sklearn_ensemble.BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), T, max_features=0.5, random_state=0
    ),
}


@pytest.mark.parametrize("kind", SKLEARN)
def test_forests_and_bags_of_scikit_learn_average_the_members_kept(kind, train, test):
    whole = clone(SKLEARN[kind]).fit(*train)
    before = pickle.dumps(whole)
    small = prune(whole, *train, rule="complementarity", keep=7)
    assert type(small) is type(whole)
    assert small.kept_.tolist() == small.order_.order[:7].tolist()
    kept = [whole.estimators_[t] for t in small.kept_]
    columns = getattr(whole, "estimators_features_", None)
    if columns is not None:
        columns = [columns[t] for t in small.kept_]
    expected = mean_of(kept, test[0], columns)
    np.testing.assert_allclose(small.predict_proba(test[0]), expected, atol=1e-12)
    np.testing.assert_array_equal(small.predict(test[0]), whole.classes_[expected.argmax(axis=1)])
    assert (len(small.estimators_), small.n_estimators, len(whole.estimators_)) == (7, 7, T)
    assert pickle.dumps(whole) == before


def test_boosted_members_keep_their_weights(train, test):
    boosted = sklearn_ensemble.AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=T, random_state=0
    ).fit(*train)
    small = prune(boosted, *train, rule="reduce_error", keep=0.4)
    assert len(small.estimators_) == 10
    shares = boosted.estimator_weights_[small.kept_]
    assert len(set(shares)) > 5
    codes = [
        np.searchsorted(boosted.classes_, boosted.estimators_[t].predict(test[0]))
        for t in small.kept_
    ]
    expected = majority(np.array(codes), boosted.classes_, shares)
    np.testing.assert_array_equal(small.predict(test[0]), expected)
    assert small.error_curve_[-1] == pytest.approx(1 - boosted.score(*train), abs=1e-15)
    assert small.error_curve_[9] == pytest.approx(1 - small.score(*train), abs=1e-15)


@pytest.mark.parametrize("weights", [None, [1, 1, 3, 1, 2]])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_voting_of_scikit_learn(voting, weights, train, test):
    named = [(str(d), DecisionTreeClassifier(max_depth=d, random_state=0)) for d in (1, 2, 3, 4)]
    whole = sklearn_ensemble.VotingClassifier(
        [*named, ("bayes", GaussianNB())], voting=voting, weights=weights
    ).fit(*train)
    small = prune(whole, *train, rule="reduce_error", keep=3)
    kept = [whole.estimators_[t] for t in small.kept_]
    shares = np.ones(3) if weights is None else np.array(weights, dtype=float)[small.kept_]
    if voting == "hard":
        expected = majority(np.array([e.predict(test[0]) for e in kept]), whole.classes_, shares)
        assert small.error_curve_[-1] == pytest.approx(1 - whole.score(*train), abs=1e-15)
    else:
        supports = np.array([e.predict_proba(test[0]) for e in kept])
        mean = (supports * shares[:, None, None]).sum(axis=0) / shares.sum()
        np.testing.assert_allclose(small.predict_proba(test[0]), mean, atol=1e-12)
        expected = whole.classes_[mean.argmax(axis=1)]
    np.testing.assert_array_equal(small.predict(test[0]), expected)
    assert [name for name, _ in small.estimators] == [whole.estimators[t][0] for t in small.kept_]


def test_a_list_of_estimators_gives_a_list(train):
    depths = (1, 2, 3, 5)
    trees = [DecisionTreeClassifier(max_depth=d, random_state=d).fit(*train) for d in depths]
    estimators = [GaussianNB().fit(*train), LinearDiscriminantAnalysis().fit(*train), *trees]
    votes = np.array([e.predict(train[0]) for e in estimators])
    expected = order_votes(votes, train[1]).order[:3]
    small = prune(estimators, *train, keep=3)
    assert type(small) is list
    assert [id(e) for e in small] == [id(estimators[t]) for t in expected]
    named = tuple(zip("abcdef", estimators, strict=True))
    assert prune(named, *train, keep=0.5) == tuple(named[t] for t in expected)
    assert len(estimators) == 6


def test_a_matrix_gives_its_rows(bag, train):
    votes = bag.classes_[bag.votes(train[0])]
    expected = votes[order_votes(votes, train[1]).order[:5]]
    np.testing.assert_array_equal(prune_votes(votes, train[1]), expected)
    np.testing.assert_array_equal(prune_votes(votes, train[1], keep=[4, 1]), votes[[4, 1]])
    as_lists = prune_votes(votes.tolist(), train[1])
    np.testing.assert_array_equal(as_lists, expected)


def test_a_pipeline_is_pruned_in_its_last_step(train, test):
    forest = sklearn_ensemble.RandomForestClassifier(T, max_depth=3, random_state=0)
    whole = make_pipeline(StandardScaler(), forest).fit(*train)
    small = prune(whole, *train, keep=4)
    scaled = whole[0].transform(test[0])
    expected = mean_of([whole[-1].estimators_[t] for t in small.kept_], scaled)
    np.testing.assert_allclose(small.predict_proba(test[0]), expected, atol=1e-12)
    assert small.kept_.tolist() == small.order_.order[:4].tolist()
    assert (len(small[-1].estimators_), len(whole[-1].estimators_)) == (4, T)


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "size"),
    [
        (0.2, 5), (0.1, 3), (0.09, 2), (0.5, 13), (0.49, 12), (1e-6, 1), (1.0, 25), (1, 1),
        (25, 25), (np.int64(3), 3), (np.float32(0.2), 5), ("auto", None), ("rule", None),
    ],
)  # fmt: skip
def test_shares_round_halves_up_and_numbers_are_taken_as_they_are(keep, size, bag, train):
    small = prune(bag, *train, rule="orientation", keep=keep)
    whole = order(bag, *train, rule="orientation")
    if keep == "rule":
        size = whole.own_size
        assert 1 < size < 13
    if keep == "auto":
        size = whole.size_choice().size
        assert size == whole.suggestions["auto"]
    assert len(small) == small.n_estimators == size
    assert small.kept_.tolist() == whole.order[:size].tolist()
    assert (len(small.order_), len(small.error_curve_)) == (T, T)


def test_the_members_to_keep_can_be_told(bag, train, test):
    for chosen in ([7, 2, 11], np.array([7, 2, 11], dtype=np.uint8), (7, 2, 11)):
        small = prune(bag, *train, keep=chosen)
        assert small.kept_.tolist() == [7, 2, 11]
        assert small.kept_.dtype == np.int64
        np.testing.assert_array_equal(small.votes(test[0]), bag.votes(test[0])[[7, 2, 11]])
        assert not hasattr(small, "order_")
    given = np.array([3, 4])
    kept = prune(bag, *train, keep=given).kept_
    given[0] = 9
    assert kept.tolist() == [3, 4]


def test_everybody_kept_decides_as_the_whole(bag, train, test):
    small = prune(bag, *train, keep=1.0)
    assert sorted(small.kept_.tolist()) == list(range(T))
    np.testing.assert_array_equal(small.predict(test[0]), bag.predict(test[0]))


def test_a_rule_may_come_by_name_with_options_or_as_it_is(bag, train):
    named = prune(bag, *train, rule="margin_distance", p=0.2)
    assert named.order_.rule == MarginDistance(p=0.2)
    assert named.kept_.tolist() == prune(bag, *train, rule=MarginDistance(p=0.2)).kept_.tolist()
    assert named.kept_.tolist() != prune(bag, *train).kept_.tolist()
    assert prune(bag, *train).order_.rule == MarginDistance(p=0.075)


def test_subsets_that_are_not_nested_are_kept_as_they_are(train):
    whole = BaggingClassifier(CART, T, random_state=4).fit(*train)
    found = order(whole, *train, rule="reduce_error", backfitting=True)
    differs = [n for n in range(1, T) if set(found.members(n)) != set(found.order[:n])]
    assert differs
    small = prune(whole, *train, rule="reduce_error", backfitting=True, keep=differs[0])
    assert small.kept_.tolist() == found.subsets[differs[0] - 1].tolist()
    assert 1 - small.score(*train) == pytest.approx(small.error_curve_[differs[0] - 1], abs=1e-15)


# -- by what ---------------------------------------------------------------------------------------


def test_out_of_bag_is_the_order_of_the_votes_on_what_was_left_out(bag, train):
    X, y = train
    seen = bag.in_bag(X, y) > 0
    assert 0.3 < 1 - seen.mean() < 0.45
    codes = np.searchsorted(bag.classes_, y)
    expected = order_votes(np.where(seen, -1, bag.votes(X)), codes, no_vote=-1, rule="reduce_error")
    small = prune(bag, X, y, on="out_of_bag", rule="reduce_error", keep=9)
    assert small.order_.order.tolist() == expected.order.tolist()
    assert small.error_curve_.tolist() == expected.error_curve.tolist()
    assert small.kept_.tolist() != prune(bag, X, y, rule="reduce_error", keep=9).kept_.tolist()


def test_out_of_bag_of_a_forest_of_scikit_learn(train):
    X, y = train
    forest = sklearn_ensemble.RandomForestClassifier(T, max_depth=3, random_state=0).fit(X, y)
    votes = np.array([tree.predict(X) for tree in forest.estimators_]).astype(int)
    for row, drawn in zip(votes, forest.estimators_samples_, strict=True):
        row[drawn] = -1
    expected = order_votes(votes, np.searchsorted(forest.classes_, y), no_vote=-1)
    small = prune(forest, X, y, on="out_of_bag")
    assert small.order_.order.tolist() == expected.order.tolist()


@pytest.mark.parametrize("rule", ["margin_distance", "reduce_error", "boosting_based"])
@pytest.mark.parametrize("keep", [0.3, "auto"])
def test_weights_are_copies(rule, keep, bag, train):
    X, y = train
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = prune(bag, X, y, rule=rule, keep=keep, sample_weight=weights)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights))
    copied = prune(bag, X[rows], y[rows], rule=rule, keep=keep)
    assert weighted.kept_.tolist() == copied.kept_.tolist()
    assert weighted.error_curve_.tolist() == copied.error_curve_.tolist()
    assert weighted.order_.order.tolist() != prune(bag, X, y, rule=rule).order_.order.tolist()


@pytest.mark.parametrize("keep", [0.3, "auto"])
def test_weights_are_copies_out_of_bag(keep, train):
    X, y = train
    weights = np.random.default_rng(2).integers(0, 3, len(y))
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(len(y)), weights))
    base = BaggingClassifier(CART, T, random_state=0)
    weighted = prune(
        clone(base).fit(X, y, sample_weight=weights), X, y,
        on="out_of_bag", keep=keep, sample_weight=weights,
    )  # fmt: skip
    copied = prune(clone(base).fit(X[rows], y[rows]), X[rows], y[rows], on="out_of_bag", keep=keep)
    assert weighted.kept_.tolist() == copied.kept_.tolist()
    assert weighted.error_curve_.tolist() == copied.error_curve_.tolist()


def test_other_samples_than_those_of_the_training_set(bag, test):
    X, y = test[0][:150], test[1][:150]
    small = prune(bag, X, y, rule="reduce_error", keep="auto")
    votes = bag.classes_[bag.votes(X)]
    expected = order_votes(votes, y, rule="reduce_error")
    assert small.order_.order.tolist() == expected.order.tolist()
    # Nobody was trained on them: there is only the one curve.
    choice = order(bag, X, y, rule="reduce_error").size_choice()
    assert choice.out_of_bag is None
    assert len(small) == choice.size == expected.size("auto")
    with pytest.raises(ValueError, match="are not the training set of all members"):
        prune(bag, X, y, on="out_of_bag")


# -- regression ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["reduce_error", "complementarity", "individual_error"])
def test_regressors_predict_the_mean_of_those_kept(rule, numbers):
    X, y = numbers
    whole = orfeon.BaggingRegressor(CARTRegressor(pruning="cv"), T, random_state=0).fit(X, y)
    small = prune(whole, X, y, rule=rule, keep=6)
    answers = whole.predictions(X)
    expected = order_votes(answers, y, rule=rule)
    assert small.kept_.tolist() == expected.order[:6].tolist()
    np.testing.assert_allclose(small.predict(X), answers[small.kept_].mean(axis=0), atol=1e-12)
    errors = ((answers.mean(axis=0) - y) ** 2).mean(), ((small.predict(X) - y) ** 2).mean()
    np.testing.assert_allclose(small.error_curve_[[-1, 5]], errors, rtol=1e-12)


def test_regressors_out_of_bag_and_weighted(numbers):
    X, y = numbers
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    whole = orfeon.BaggingRegressor(n_estimators=T, random_state=0)
    whole.fit(X, y, sample_weight=weights)
    small = prune(
        whole, X, y, rule="reduce_error", on="out_of_bag", sample_weight=weights, keep="auto"
    )
    seen = whole.in_bag(X, y, weights) > 0
    answers = np.where(seen, np.nan, whole.predictions(X))
    expected = order_votes(answers, y, rule="reduce_error", sample_weight=weights, no_vote=np.nan)
    assert small.order_.order.tolist() == expected.order.tolist()
    assert len(small) == expected.size("auto")


def test_regressors_of_scikit_learn_and_lists(numbers):
    X, y = numbers
    forest = sklearn_ensemble.RandomForestRegressor(T, max_depth=3, random_state=0).fit(X, y)
    small = prune(forest, X, y, rule="reduce_error", keep=4)
    answers = np.array([tree.predict(X) for tree in forest.estimators_])
    np.testing.assert_allclose(small.predict(X), answers[small.kept_].mean(axis=0), atol=1e-12)
    named = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2)),
             ("line", LinearRegression())]  # fmt: skip
    voting = sklearn_ensemble.VotingRegressor(named, weights=[1, 3, 2]).fit(X, y)
    pair = prune(voting, X, y, rule="reduce_error", keep=2)
    answers = np.array([e.predict(X) for e in voting.estimators_])
    expected = np.average(answers[pair.kept_], axis=0, weights=np.array([1, 3, 2])[pair.kept_])
    np.testing.assert_allclose(pair.predict(X), expected, atol=1e-12)
    assert pair.error_curve_[-1] == pytest.approx(((voting.predict(X) - y) ** 2).mean())
    assert prune(voting.estimators_, X, y, rule="individual_error", keep=1) == [
        voting.estimators_[int(np.argmin(((answers - y) ** 2).mean(axis=1)))]
    ]


def test_the_default_rule_is_not_for_regressors(numbers):
    whole = orfeon.BaggingRegressor(n_estimators=4, random_state=0).fit(*numbers)
    with pytest.raises(ValueError, match=r"rule='margin_distance' needs classes.*reduce_error, co"):
        prune(whole, *numbers)


# -- again -----------------------------------------------------------------------------------------


def test_what_was_pruned_can_be_pruned_again(bag, train, test):
    first = prune(bag, *train, keep=10)
    second = prune(first, *train, rule="reduce_error", keep=4)
    assert (len(second.order_), len(first), len(second)) == (10, 10, 4)
    votes = bag.votes(test[0])[first.kept_[second.kept_]]
    np.testing.assert_array_equal(second.votes(test[0]), votes)
    np.testing.assert_array_equal(second.predict(test[0]), majority(votes, bag.classes_))
    third = prune(second, *train, keep=[2])
    assert third.kept_.tolist() == [2]
    assert not hasattr(third, "order_")
    assert not hasattr(third, "error_curve_")
    assert isinstance(second.order_, Order)


def test_a_pruned_estimator_can_be_pruned_again(train, test):
    model = PrunedClassifier(BaggingClassifier(CART, T), keep=10, random_state=0).fit(*train)
    small = prune(model, *train, keep=3)
    assert isinstance(small, BaggingClassifier)
    np.testing.assert_array_equal(small.votes(test[0]), model.ensemble_.votes(test[0])[small.kept_])
    assert len(model) == 10


def test_what_was_pruned_is_pickled_and_cloned(bag, train, test):
    small = prune(bag, *train, keep="auto")
    loaded = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(loaded.predict_proba(test[0]), small.predict_proba(test[0]))
    assert loaded.kept_.tolist() == small.kept_.tolist()
    assert loaded.error_curve_.tolist() == small.error_curve_.tolist()
    assert loaded.order_.source is None  # the votes on the training set are not carried along
    fresh = clone(small)
    assert fresh.get_params()["n_estimators"] == len(small)
    assert not hasattr(fresh, "kept_")
    forest = sklearn_ensemble.RandomForestClassifier(T, random_state=0).fit(*train)
    small = prune(forest, *train)
    loaded = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(loaded.predict_proba(test[0]), small.predict_proba(test[0]))
    assert clone(small).n_estimators == 5


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keep": 0}, r"keep=0 is not allowed; give a share above 0 .* from 1 to 25"),
        ({"keep": 26}, r"keep=26 is not allowed; .* a number of members from 1 to 25"),
        ({"keep": 1.5}, r"keep=1.5 is not allowed; give a share above 0 and up to 1.0"),
        ({"keep": 0.0}, r"keep=0.0 is not allowed"),
        ({"keep": -0.2}, r"keep=-0.2 is not allowed"),
        ({"keep": np.nan}, r"keep=nan is not allowed"),
        ({"keep": True}, r"keep=True is not allowed"),
        ({"keep": None}, r"keep=None is not allowed"),
        ({"keep": "fifth"}, r"keep='fifth' is not allowed; give a share, a number, \"auto\" or"),
        ({"keep": "rule"}, r'keep="rule" needs a rule with a size of its own; MarginDistance'),
        ({"keep": [[1, 2]]}, r"keep=\[\[1, 2\]\] is not allowed"),
        ({"keep": []}, r"keep=\[\] is not allowed; .* from 0 to 24, at least one"),
        ({"keep": [25]}, r"keep=\[25\] is not allowed; .* from 0 to 24"),
        ({"keep": [-1]}, r"keep=\[-1\] is not allowed; .* from 0 to 24"),
        ({"keep": [0.5]}, r"keep=\[0.5\] is not allowed; .* indices of members"),
        ({"keep": [True] * 25}, r"keep=\[True, .* is not allowed; .* indices of members"),
        ({"keep": [3, 3]}, r"keep=\[3, 3\] is not allowed; each member is kept once"),
        ({"rule": "best"}, r"rule='best' is not known; rules are reduce_error, complementarity"),
        ({"rule": None}, r"rule=None is not known; rules are"),
        ({"p": 2.0}, r"p=2.0 is not allowed; it must be a number between 0 and 1"),
        ({"on": "validation"}, r"on='validation' is not allowed; use \"train\" or"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_by_name_value_and_what_is_allowed(given, message, bag, train):
    arguments = {"X": train[0], "y": train[1]} | given
    with pytest.raises(ValueError, match=message):
        prune(bag, **arguments)


def test_weights_that_the_rule_gives_cannot_be_stored_in_the_ensemble(bag, train):
    with pytest.raises(ValueError, match=r"gives the votes weights, and BaggingClassifier cannot"):
        prune(bag, *train, rule="boosting_based", weighted_vote=True)


def test_options_of_another_rule_are_refused(bag, train):
    with pytest.raises(TypeError, match="rule='kappa' has no option 'p'; its options: none"):
        prune(bag, *train, rule="kappa", p=0.1)


def test_rows_of_a_matrix_that_are_not_there_are_refused(bag, train):
    votes = bag.classes_[bag.votes(train[0])]
    with pytest.raises(ValueError, match=r"keep=\[25\] is not allowed; .* from 0 to 24"):
        prune_votes(votes, train[1], keep=[25])
    with pytest.raises(ValueError, match=r"keep=\[True, False\] is not allowed"):
        prune_votes(votes, train[1], keep=[True, False])
