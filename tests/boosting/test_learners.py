"""Learners: members trained with weights, or on samples drawn by them, trees and any others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, multinomial
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.boosting.boosters import assert_same_answers, small, table
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    RememberingRegressor,
    RememberingWithoutWeights,
    numbered,
)
from tests.shared import assert_same_forest

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    IGPTreeClassifier,
    RandomTreeClassifier,
    StumpClassifier,
)
from orfeon.boosting.learners import (
    EstimatorLearner,
    TreeLearner,
    draw_sample,
    weighted_bootstrap,
    with_target,
)
from orfeon.growth import grow_forest, grow_pruned_forest
from orfeon.growth.engine import Growth

WEIGHTS = np.array([0.0, 1.0, 3.0, 0.5, 2.0, 0.0, 3.5])


# -- weighted bootstrap samples --------------------------------------------------------------------


def chi_square(counts, expected):
    present = expected > 0
    assert (counts[~present] == 0).all()
    statistic = ((counts - expected)[present] ** 2 / expected[present]).sum()
    return chi2.sf(statistic, present.sum() - 1)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 2.0**-900])
def test_samples_are_drawn_in_proportion_to_their_weights(unit):
    rng = np.random.default_rng(0)
    total = sum(weighted_bootstrap(WEIGHTS * unit, 50, rng) for _ in range(400))
    assert total.sum() == 20_000
    assert chi_square(total, 2000 * WEIGHTS) > LEVEL


def test_samples_have_the_law_of_independent_draws():
    """All samples of three draws from three samples: the multinomial distribution itself."""
    rng, weights = np.random.default_rng(1), np.array([0.2, 0.5, 0.3])
    n_samples, seen = 6000, {}
    for _ in range(n_samples):
        counts = tuple(weighted_bootstrap(weights, 3, rng).tolist())
        seen[counts] = seen.get(counts, 0) + 1
    outcomes = [(a, b, 3 - a - b) for a in range(4) for b in range(4 - a)]
    assert set(seen) <= set(outcomes)
    expected = np.array([n_samples * multinomial.pmf(o, 3, weights) for o in outcomes])
    assert chi_square(np.array([seen.get(o, 0) for o in outcomes]), expected) > LEVEL


def test_no_sample_without_weight_is_drawn_at_the_ends():
    """A generator that gives the least and the largest number below one."""

    class Extreme:
        def random(self, n):
            return np.resize([0.0, np.nextafter(1.0, 0.0)], n)

    for weights in ([0.0, 1.0, 2.0, 0.0], [0.1, 0.2, 0.7, 0.0, 0.0], [0.0, 0.1] + [0.1] * 9 + [0]):
        counts = weighted_bootstrap(np.array(weights), 10, Extreme())
        assert counts.sum() == 10
        assert (counts[np.array(weights) == 0] == 0).all()
        assert counts[np.flatnonzero(weights)[0]] == counts[np.flatnonzero(weights)[-1]] == 5


def test_samples_of_one_class_are_drawn_again():
    """One sample in forty is of the other class and has next to no weight: all samples have it."""
    labels = (np.arange(40) == 7).astype(int)
    weights = np.where(labels == 1, 0.05, 1.0)
    drawn = [draw_sample(weights, labels, 2, np.random.default_rng(s)) for s in range(200)]
    # a plain sample has it with probability 0.05; 100 more tries miss it with probability 0.006
    plain = [weighted_bootstrap(weights, 40, np.random.default_rng(s)) for s in range(200)]
    assert np.mean([counts[7] > 0 for counts in plain]) < 0.15
    assert np.mean([counts[7] > 0 for counts in drawn]) > 0.95
    assert all(counts.sum() == 40 for counts in drawn)


def test_redrawn_samples_have_the_law_of_those_with_both_classes():
    """Two draws of two samples: one of each, always."""
    rng, labels = np.random.default_rng(2), np.array([0, 1])
    for _ in range(100):
        assert draw_sample(np.array([0.3, 0.7]), labels, 2, rng).tolist() == [1, 1]


def test_where_there_is_one_class_or_none_nothing_is_redrawn():
    rng = np.random.default_rng(3)
    alone = draw_sample(np.ones(5), np.zeros(5, int), 1, rng)
    assert alone.sum() == 5
    # all weight on one class of two: it gives up, and the sample is what it can be
    counts = draw_sample(np.array([0.5, 0.5, 0.0]), np.array([0, 0, 1]), 2, rng)
    assert (counts.sum(), counts[2]) == (3, 0)
    one, other = np.random.default_rng(4), np.random.default_rng(4)
    np.testing.assert_array_equal(
        draw_sample(np.ones(9), np.zeros(9), 0, one), weighted_bootstrap(np.ones(9), 9, other)
    )


# -- estimators of any kind ------------------------------------------------------------------------


def remembered(base, weights, labels, sampling, n_classes=2, seed=0):
    learner = EstimatorLearner(base, numbered(len(weights)), n_classes, sampling)
    return learner.train(weights, labels, np.random.default_rng(seed)).estimators[0]


def test_weights_go_to_those_that_take_them():
    """Rows of no weight are left out; the others' weights have mean 1."""
    labels = np.arange(7) % 2
    member = remembered(Remembering(), WEIGHTS, labels, "weights")
    assert member.X_[:, 0].tolist() == [1, 2, 3, 4, 6]
    np.testing.assert_array_equal(member.y_, labels[[1, 2, 3, 4, 6]])
    np.testing.assert_allclose(member.weights_, WEIGHTS[[1, 2, 3, 4, 6]] / 2, rtol=1e-15)
    target = remembered(RememberingRegressor(), WEIGHTS, 1.5 * labels, "weights", 0)
    np.testing.assert_array_equal(target.counts(7), WEIGHTS / 2)


@pytest.mark.parametrize(
    ("base", "sampling"),
    [
        (Remembering(), "resample"),
        (RememberingWithoutWeights(), "weights"),
        (RememberingWithoutWeights(), "resample"),
    ],
)
def test_others_are_given_samples(base, sampling):
    """As many draws as there are rows, in proportion to the weights."""
    labels, total = np.arange(7) % 2, np.zeros(7)
    members = [remembered(base, WEIGHTS, labels, sampling, seed=seed) for seed in range(200)]
    for member in members:
        assert (member.weights_ == 1).all()
        assert len(member.y_) == 7
        np.testing.assert_array_equal(member.y_, labels[member.X_[:, 0].astype(int)])
        total += member.counts(7)
    assert all(len(set(member.y_)) == 2 for member in members)
    # seven independent draws, given that both classes are among them
    shares = WEIGHTS / WEIGHTS.sum()
    of_class = np.bincount(labels, weights=shares)
    expected = 7 * shares * (1 - of_class[labels] ** 6) / (1 - (of_class**7).sum())
    np.testing.assert_allclose(total / 200, expected, atol=0.15)


def test_targets_are_sampled_in_proportion():
    total = sum(
        remembered(RememberingRegressor(), WEIGHTS, np.arange(7.0), "resample", 0, s).counts(7)
        for s in range(1000)
    )
    assert chi_square(total, 700 * WEIGHTS) > LEVEL


def test_members_are_seeded_and_differ():
    labels = np.arange(7) % 2
    states = [
        remembered(Remembering(), WEIGHTS, labels, "weights", seed=s).random_state
        for s in (0, 0, 1, 2)
    ]
    assert states[0] == states[1]
    assert len(set(states)) == 3


def test_the_table_is_not_copied_where_all_rows_are_used():
    class Same(Remembering):
        def _remember(self, X, y, weights):
            self.given_ = X
            return super()._remember(X, y, weights)

    X = numbered(7)
    learner = EstimatorLearner(Same(), X, 2)
    member = learner.train(np.ones(7), np.arange(7) % 2, np.random.default_rng(0))
    assert member.estimators[0].given_ is X


PLAIN = [GaussianNB(), KNeighborsClassifier(5)]
PIPELINE = make_pipeline(StandardScaler(), GaussianNB())
PIPELINE_OF_TREE = make_pipeline(StandardScaler(), CARTClassifier(max_depth=2))
METHODS = {
    "AdaBoostClassifier": [*PLAIN, LogisticRegression(C=0.1), PIPELINE, PIPELINE_OF_TREE],
    "AdaBoostM2Classifier": [*PLAIN, PIPELINE],
    "AdaBoostMHClassifier": [*PLAIN, PIPELINE_OF_TREE],
    "AdaBoostPairwiseClassifier": [*PLAIN, PIPELINE_OF_TREE],
    "AdaBoostOCClassifier": PLAIN,
    "ArcX4Classifier": PLAIN,
    "MultiBoostClassifier": PLAIN,
}


@pytest.mark.parametrize(
    ("name", "base", "sampling"),
    [
        *((name, base, "weights") for name, bases in METHODS.items() for base in bases),
        # Neighbours take no weights, so they are always resampled.
        *((name, base, "resample") for name, bases in METHODS.items() for base in bases[::2]),
    ],
)
def test_boosters_of_estimators(name, base, sampling):
    """They learn; their members are those estimators; the same seed gives the same bits."""
    booster = small(name, estimator=base, sampling=sampling, n_estimators=4)
    X, y = table(booster)
    names = np.array(["low", "middle", "high"])[y]
    model = clone(booster).fit(X, names)
    assert model.score(X, names) > 0.6
    assert_same_answers(clone(booster).fit(X, names), model, X)
    members = [m for one in model.estimators_ for m in (one if isinstance(one, list) else [one])]
    assert {type(member) for member in members} == {type(base)}
    assert not hasattr(model, "forest_")
    if name in ("AdaBoostClassifier", "ArcX4Classifier", "MultiBoostClassifier"):
        answers = np.array([member.predict(X) for member in members])
        np.testing.assert_array_equal(answers, model.votes(X))  # they are fitted to class codes


def test_those_that_know_some_classes_only_are_heard():
    """A neighbour's sample may lack a class: it says nothing for it, and codes stay in place."""
    X, y = table(GaussianNB(), 30)
    model = AdaBoostM2Classifier(KNeighborsClassifier(1), 12, sampling="resample", random_state=0)
    y = np.where(np.arange(30) == 3, 3, y)  # one sample of a fourth class
    model.fit(X, y)
    known = {tuple(member.classes_) for member in model.estimators_}
    assert len(known) > 1
    assert model.predict_proba(X).shape == (30, 4)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(30), rel=1e-12)


def test_importances_of_members_that_are_no_trees_of_ours():
    from sklearn.tree import DecisionTreeClassifier

    X, y = table(GaussianNB())
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0).fit(X, y)
    each = [member.feature_importances_ for member in model.estimators_]
    mean = np.average(each, axis=0, weights=model.member_weights_)
    np.testing.assert_allclose(model.feature_importances_, mean, rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(AttributeError, match="members of this AdaBoostClassifier have no feature_"):
        _ = AdaBoostClassifier(GaussianNB(), 2).fit(X, y).feature_importances_


# -- trees -----------------------------------------------------------------------------------------


def tree_learner(base, sampling="weights", n_rows=80, n_classes=3, categorical=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).round(1)
    if categorical:
        X[:, 3] = rng.integers(0, 4, n_rows)
        X[rng.random(X.shape) < 0.1] = np.nan
        base = clone(base).set_params(categorical_features=[3])
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)
    data = base._read(X, y, None)
    base._prepare(data)
    classes = np.arange(n_classes)
    return TreeLearner(base, data, sampling, classes), rng.exponential(size=n_rows)


def twin(seed):
    """A generator, and what a learner draws from one like it first."""
    rng, same = np.random.default_rng(seed), np.random.default_rng(seed)
    return rng, np.uint64(same.bit_generator.random_raw()), same


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize(
    ("base", "growth"),
    [
        (StumpClassifier(), Growth(max_depth=1)),
        (StumpClassifier(criterion="entropy"), Growth("entropy", max_depth=1)),
        (CARTClassifier(max_depth=3), Growth(max_depth=3)),
        (CARTClassifier(min_samples_leaf=4), Growth(min_samples_leaf=4)),
        (CARTClassifier(max_features=2), Growth(max_features=2)),
    ],
)
def test_trees_are_those_of_the_engine(base, growth, categorical):
    """With weights whose mean is 1, and with counts of a sample."""
    for sampling in ("weights", "resample"):
        learner, weights = tree_learner(base, sampling, categorical=categorical)
        data = learner.data
        rng, seed, same = twin(5)
        given = weights * (80 / weights.sum())
        if sampling == "resample":
            given = draw_sample(weights, data.y, 3, same)
        tree = learner.train(weights, data.y, rng)
        expected = grow_forest(
            data.table, data.y, n_classes=3, seeds=np.array([seed]), weights=given[None],
            n_samples=80.0, growth=growth,
        )  # fmt: skip
        assert_same_forest(tree, expected)
        np.testing.assert_array_equal(
            learner.predict_train(tree, "votes"), expected.predict(data.X)
        )
        np.testing.assert_array_equal(
            learner.predict_train(tree, "supports"), expected.supports(data.X)[0]
        )


def test_equal_weights_are_counts_of_one():
    learner, _ = tree_learner(CARTClassifier(max_depth=3))
    trees = [
        learner.train(np.full(80, w), learner.data.y, np.random.default_rng(0))
        for w in (1.0, 1 / 80, 0.3)
    ]
    assert trees[0].value.dtype.kind == "u"
    assert trees[0].value[0].sum() == 80
    for tree in trees[1:]:
        assert_same_forest(tree, trees[0])


def test_the_scale_of_the_weights_does_not_matter():
    learner, weights = tree_learner(CARTClassifier(min_samples_leaf=3, min_impurity_decrease=0.01))
    first, *others = (
        learner.train(w * weights, learner.data.y, np.random.default_rng(0))
        for w in (1.0, 2.0**-40, 2.0**40)
    )
    assert first.n_leaves[0] > 3
    for tree in others:
        assert_same_forest(tree, first)


def test_pruned_trees_are_pruned_with_the_weights():
    base = CARTClassifier(pruning="cv", n_folds=4)
    learner, weights = tree_learner(base)
    data = learner.data
    rng, seed, _ = twin(6)
    tree = learner.train(weights, data.y, rng)
    expected = grow_pruned_forest(
        data.table, data.X, data.y, n_classes=3, seeds=np.array([seed]),
        weights=(weights * (80 / weights.sum()))[None], n_samples=80.0, n_folds=4,
        groups=data.groups,
    )[0]  # fmt: skip
    np.testing.assert_array_equal(tree.predict(data.X), expected.predict(data.X))
    assert tree.n_leaves[0] == expected.n_leaves[0]
    unpruned = tree_learner(CARTClassifier())[0].train(weights, data.y, twin(6)[0])
    assert tree.n_leaves[0] < unpruned.n_leaves[0]


@pytest.mark.parametrize(
    "base",
    [
        IGPTreeClassifier(),
        C45Classifier(),
        C45Classifier(min_samples_leaf=4),
        CARTClassifier(pruning="cv", n_folds=3),
        RandomTreeClassifier(),
        CARTClassifier(class_weight="balanced", max_depth=3),
    ],
    ids=str,
)
@pytest.mark.parametrize("sampling", ["weights", "resample"])
def test_trees_of_every_kind_follow_their_weights(base, sampling):
    """With almost all weight on one half of the rows, their labels are learnt, not the others'."""
    learner, _ = tree_learner(base, sampling, n_rows=200, n_classes=2)
    X = learner.data.X
    here = X[:, 1] > 0
    # the sign of the first feature tells the class here, and the other one there
    labels = ((X[:, 0] > 0) ^ ~here).astype(np.int64)
    weights = np.where(here, 1.0, 1e-6)
    for seed in range(3):
        tree = learner.train(weights, labels, np.random.default_rng(seed))
        answers = learner.predict_train(tree, "votes")
        assert np.mean(answers[here] == labels[here]) > 0.85
        absent = learner.train(np.where(here, 1.0, 0.0), labels, np.random.default_rng(seed))
        assert np.mean(learner.predict_train(absent, "votes")[here] == labels[here]) > 0.85
        again = learner.train(weights, labels, np.random.default_rng(seed))
        assert_same_forest(again, tree)


def test_igp_trees_are_grown_from_other_halves_each_time():
    learner, weights = tree_learner(IGPTreeClassifier())
    trees = [learner.train(weights, learner.data.y, np.random.default_rng(s)) for s in range(6)]
    assert len({tree.nodes.tobytes() for tree in trees}) > 1


@pytest.mark.parametrize("base", [CARTRegressor(max_depth=2), CARTRegressor(pruning="cv")])
def test_trees_of_numbers_predict_weighted_means(base):
    learner, weights = tree_learner(base, n_classes=0)
    data = learner.data
    tree = learner.train(weights, data.y, np.random.default_rng(0))
    answers = learner.predict_train(tree, "predictions")
    leaves = tree.apply(data.X)[:, 0]
    for leaf in np.unique(leaves):
        mine = leaves == leaf
        mean = np.average(data.y[mine], weights=weights[mine])
        np.testing.assert_allclose(answers[mine], mean, rtol=1e-9)


def test_another_target_uses_the_same_table():
    learner, weights = tree_learner(StumpClassifier())
    data = learner.data
    binary = with_target(data, (data.y == 2).astype(np.int64), 2)
    assert binary.table is data.table
    assert (binary.n_classes, binary.y.sum()) == (2, (data.y == 2).sum())
    tree = TreeLearner(StumpClassifier(), binary).train(weights, binary.y, np.random.default_rng(0))
    assert tree.n_classes == 2


# -- weights that mean the same --------------------------------------------------------------------


class Noting(KNeighborsClassifier):
    """Neighbours that note what they saw in the last column."""

    def fit(self, X, y):
        self.seen_ = set(X[:, 4])
        return super().fit(X, y)


def test_pairs_are_boosted_on_the_samples_of_their_two_classes():
    """Samples of a pair hold its classes only, whatever the others are."""
    X, y = table(GaussianNB())
    X[:, 4] = y
    booster = small("AdaBoostPairwiseClassifier", estimator=Noting(3), n_estimators=2)
    model = booster.fit(X, y)
    for member, pair in zip(model.members_.rounds[0].estimators, model.pairs_, strict=True):
        assert member.seen_ == set(pair)


@pytest.mark.parametrize(
    "base", [CARTClassifier(min_samples_leaf=8), CARTClassifier(min_samples_split=30)]
)
def test_limits_of_the_trees_of_a_pair_are_those_of_its_samples(base):
    """As AdaBoost on the samples of the two classes alone: eight samples are eight of these."""
    X, y = table(GaussianNB())
    pairs = small("AdaBoostPairwiseClassifier", estimator=base, n_estimators=3).fit(X, y)
    for p, (a, b) in enumerate(pairs.pairs_):
        mine = (y == a) | (y == b)
        alone = AdaBoostClassifier(base, 3, random_state=0).fit(X[mine], y[mine])
        votes = pairs.member_weights_[:, p]
        np.testing.assert_allclose(votes[votes > 0], alone.member_weights_, rtol=1e-9)


class Silent(BaseEstimator):
    """Not a classifier by its tags, but it predicts classes."""

    def fit(self, X, y, sample_weight=None):
        self.most_ = np.bincount(y, weights=sample_weight).argmax()
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, 1 - self.most_, self.most_)


def test_estimators_need_no_more_than_fit_and_predict():
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(Silent(), 3, random_state=0).fit(X, np.minimum(y, 1))
    assert model.score(X, np.minimum(y, 1)) > 0.6
    supports = AdaBoostM2Classifier(Silent(), 3, random_state=0).fit(X, np.minimum(y, 1))
    assert set(np.unique(supports.members_.supports(X))) == {0.0, 1.0}


def test_neighbours_of_numbers_are_given_samples():
    X, y = table(KNeighborsRegressor())
    model = small("AdaBoostR2Regressor", estimator=KNeighborsRegressor(1), sampling="weights")
    model.fit(X, y)
    answers = model.predictions(X)
    # a neighbour knows what it was given: about 63% of the rows in the first sample
    assert 0.5 < np.mean(answers[0] == y) < 0.75
