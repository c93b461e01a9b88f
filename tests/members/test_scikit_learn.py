"""The ensembles of scikit-learn as members to choose from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Perceptron, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from orfeon.datasets import make_waveform
from orfeon.members import adapt

KEPT = [4, 0, 3]
TREE, STUMP = DecisionTreeClassifier(max_depth=3), DecisionTreeClassifier(max_depth=1)
THREE = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("neighbours", KNeighborsClassifier(3)),
    ("other", DecisionTreeClassifier(max_depth=4, random_state=1)),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
]
LINES = [(f"r{k}", Ridge(alpha=10.0**k)) for k in range(4)] + [("line", LinearRegression())]

CLASSIFIERS = {
    "forest": RandomForestClassifier(5, max_depth=4, random_state=0),
    "extra trees": ExtraTreesClassifier(5, max_depth=4, random_state=0),
    "bagging": BaggingClassifier(TREE, 5, random_state=0),
    "bagging by votes": BaggingClassifier(Perceptron(), 5, random_state=0),
    "bagging of subspaces": BaggingClassifier(
        GaussianNB(), 5, max_features=0.5, bootstrap_features=True, random_state=0
    ),
    "AdaBoost": AdaBoostClassifier(STUMP, n_estimators=5, random_state=0),
    "hard voting": VotingClassifier(THREE),
    "soft voting": VotingClassifier(THREE, voting="soft"),
    "weighted voting": VotingClassifier(THREE, weights=[1, 2, 2.5, 1, 0.5]),
}
REGRESSORS = {
    "forest": RandomForestRegressor(5, random_state=0),
    "extra trees": ExtraTreesRegressor(5, random_state=0),
    "bagging": BaggingRegressor(n_estimators=5, random_state=0),
    "bagging of subspaces": BaggingRegressor(Ridge(), 5, max_features=0.5, random_state=0),
    "voting": VotingRegressor(LINES),
    "weighted voting": VotingRegressor(LINES, weights=[1, 2, 3, 4, 5]),
}


@pytest.fixture(scope="module")
def problem():
    X, y = make_waveform(90, random_state=3)
    return X[:, :8], np.array(["ten", "two", "one"])[y]


def snapshot(ensemble):
    """The features of an ensemble: which objects they are, and which are in its lists."""
    lists = {name: list(map(id, v)) for name, v in vars(ensemble).items() if isinstance(v, list)}
    return {name: id(value) for name, value in vars(ensemble).items()}, lists


def own_answers(ensemble, X):
    """What each member predicts by itself, given the rows as it was fitted to them."""
    members = ensemble.estimators_
    if isinstance(ensemble, BaggingClassifier | BaggingRegressor):
        columns = ensemble.estimators_features_
        return [one.predict(X[:, c]) for one, c in zip(members, columns, strict=True)]
    return [one.predict(X) for one in members]


def supports(ensemble, X, t):
    """Class probabilities of a member, or its vote where it has none."""
    member = ensemble.estimators_[t]
    if hasattr(ensemble, "estimators_features_"):
        X = X[:, ensemble.estimators_features_[t]]
    if hasattr(member, "predict_proba"):
        return member.predict_proba(X)
    return np.eye(3)[member.predict(X)]


def decide(ensemble, X, kept):
    """The decision of some members, put together by hand."""
    weights = np.ones(len(kept))
    if getattr(ensemble, "weights", None) is not None:
        weights = np.array(ensemble.weights)[kept]
    if isinstance(ensemble, AdaBoostClassifier):
        weights = ensemble.estimator_weights_[kept]
    if not hasattr(ensemble, "classes_"):
        return weights @ np.array(own_answers(ensemble, X))[kept] / weights.sum()
    if isinstance(ensemble, AdaBoostClassifier) or getattr(ensemble, "voting", "") == "hard":
        codes = adapt(ensemble).answers(X)[kept]
        sums = np.stack([weights @ (codes == c) for c in range(3)], axis=1)
    else:
        sums = sum(supports(ensemble, X, t) for t in kept)
    return ensemble.classes_[sums.argmax(axis=1)]


# -- answers and subsets ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers_are_asked_and_cut(kind, problem):
    X, y = problem
    ensemble = clone(CLASSIFIERS[kind]).fit(X, y)
    state, outputs = snapshot(ensemble), ensemble.predict(X)
    members = adapt(ensemble)
    answers = members.answers(X)
    assert (members.n_members, members.n_classes) == (5, 3)
    assert members.classes.tolist() == ["one", "ten", "two"]
    assert answers.dtype == np.int32
    own = np.array(own_answers(ensemble, X))
    if kind == "AdaBoost":  # its members know the labels, all others codes
        np.testing.assert_array_equal(members.classes[answers], own)
    else:
        np.testing.assert_array_equal(answers, own)

    for kept in (KEPT, [2], [0, 1, 2, 3, 4]):
        smaller = members.subset(kept)
        assert type(smaller) is type(ensemble)
        assert smaller.estimators_ == [ensemble.estimators_[t] for t in kept]
        np.testing.assert_array_equal(smaller.predict(X), decide(ensemble, X, kept))
        np.testing.assert_array_equal(adapt(smaller).answers(X), answers[kept])
    np.testing.assert_array_equal(smaller.predict(X), ensemble.predict(X))
    assert snapshot(ensemble) == state
    np.testing.assert_array_equal(ensemble.predict(X), outputs)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_are_asked_and_cut(kind, friedman):
    X, y = friedman
    ensemble = clone(REGRESSORS[kind]).fit(X, y)
    state, answers = snapshot(ensemble), ensemble.predict(X)
    members = adapt(ensemble)
    assert (members.n_members, members.n_classes, members.classes) == (5, 0, None)
    assert members.answers(X).dtype == np.float64
    np.testing.assert_array_equal(members.answers(X), own_answers(ensemble, X))
    for kept in (KEPT, [2]):
        smaller = members.subset(kept)
        np.testing.assert_allclose(smaller.predict(X), decide(ensemble, X, kept), rtol=1e-14)
        np.testing.assert_array_equal(adapt(smaller).answers(X), members.answers(X)[kept])
    assert snapshot(ensemble) == state
    np.testing.assert_array_equal(ensemble.predict(X), answers)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_subsets_are_cloned_pickled_and_fitted_again(kind, problem):
    X, y = problem
    smaller = adapt(clone(CLASSIFIERS[kind]).fit(X, y)).subset(KEPT)
    again = pickle.loads(pickle.dumps(smaller))
    np.testing.assert_array_equal(again.predict(X), smaller.predict(X))
    fresh = clone(smaller)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert len(fresh.fit(X, y).estimators_) == 3
    with pytest.raises(ValueError, match="indices has 3; the 3 members"):
        adapt(smaller).subset([0, 3])
    with pytest.raises(ValueError, match="indices has 1 more than once"):
        adapt(smaller).subset([1, 1])


def test_two_jobs_say_the_same(problem):
    X, y = problem
    for kind in ("forest", "bagging of subspaces"):
        ensemble = clone(CLASSIFIERS[kind]).fit(X, y)
        answers = adapt(ensemble).answers(X)
        ensemble.set_params(n_jobs=2)
        smaller = adapt(ensemble).subset(KEPT)
        assert smaller.n_jobs == 2
        with parallel_config(backend="threading"):  # processes would take long to start
            np.testing.assert_array_equal(adapt(ensemble).answers(X), answers)
            np.testing.assert_array_equal(smaller.predict(X), decide(ensemble, X, KEPT))


def test_data_frames_with_missing_values(problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    holes = X.copy()
    holes[::5, 1] = np.nan
    table = pandas.DataFrame(holes, columns=[f"wave {j}" for j in range(8)])
    for kind in ("forest", "bagging", "bagging by votes", "AdaBoost", "soft voting"):
        copes = kind in ("forest", "bagging")
        given = table if copes else table.fillna(0.0)
        ensemble = clone(CLASSIFIERS[kind]).fit(given, y)
        plain = clone(CLASSIFIERS[kind]).fit(given.to_numpy(), y)
        answers = adapt(ensemble).answers(given)
        np.testing.assert_array_equal(answers, adapt(plain).answers(given.to_numpy()))
        smaller = adapt(ensemble).subset(KEPT)
        decided = decide(plain, given.to_numpy(), KEPT)
        np.testing.assert_array_equal(smaller.predict(given), decided)
        assert smaller.feature_names_in_.tolist() == table.columns.tolist()
        with pytest.raises(ValueError, match=r"feature names|Feature names"):
            adapt(ensemble).answers(given[given.columns[::-1]])


def test_sparse_matrices(problem):
    X, y = problem
    sparse = csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    for kind in ("forest", "extra trees", "bagging", "AdaBoost"):
        ensemble = clone(CLASSIFIERS[kind]).fit(sparse, y)
        np.testing.assert_array_equal(
            adapt(ensemble).answers(sparse), adapt(ensemble).answers(sparse.toarray())
        )


def test_what_forests_tell_of_themselves_is_of_the_members_kept(problem):
    X, y = problem
    forest = clone(CLASSIFIERS["forest"]).set_params(oob_score=True)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest.fit(X, y)
    smaller = adapt(forest).subset(KEPT)
    np.testing.assert_array_equal(smaller.apply(X), forest.apply(X)[:, KEPT])
    _, starts = smaller.decision_path(X)
    nodes = [tree.tree_.node_count for tree in forest.estimators_]
    np.testing.assert_array_equal(np.diff(starts), np.array(nodes)[KEPT])
    own = np.mean([forest.estimators_[t].feature_importances_ for t in KEPT], axis=0)
    np.testing.assert_allclose(smaller.feature_importances_, own / own.sum())
    assert (len(smaller), smaller.n_estimators, len(forest)) == (3, 3, 5)
    assert not hasattr(smaller, "oob_score_")
    assert not hasattr(smaller, "oob_decision_function_")
    assert hasattr(forest, "oob_score_")


def test_boosted_members_keep_their_weights(problem):
    X, y = problem
    boosted = clone(CLASSIFIERS["AdaBoost"]).fit(X, y)
    members = adapt(boosted)
    np.testing.assert_array_equal(members.member_weights, boosted.estimator_weights_)
    smaller = members.subset(KEPT)
    np.testing.assert_array_equal(smaller.estimator_weights_, boosted.estimator_weights_[KEPT])
    np.testing.assert_array_equal(smaller.estimator_errors_, boosted.estimator_errors_[KEPT])
    np.testing.assert_array_equal(list(smaller.staged_predict(X))[-1], smaller.predict(X))
    assert smaller.decision_function(X).shape == (90, 3)
    assert smaller.feature_importances_.sum() == pytest.approx(1.0)
    assert members.subset([1]).predict(X).tolist() == boosted.estimators_[1].predict(X).tolist()


def test_boosting_that_ended_early_has_more_weights_than_members(problem):
    X = problem[0]
    two = X[:, 0] > 0
    boosted = AdaBoostClassifier(n_estimators=7, random_state=0).fit(X, two)
    assert len(boosted.estimator_weights_) == 7
    members = adapt(boosted)
    assert members.n_members == 1
    assert members.member_weights is None
    np.testing.assert_array_equal(members.subset([0]).predict(X), two)


def test_samples_of_bagging_go_with_their_members(problem):
    X, y = problem
    bag = clone(CLASSIFIERS["bagging of subspaces"]).fit(X, y)
    smaller = adapt(bag).subset(KEPT)
    for own, t in enumerate(KEPT):
        np.testing.assert_array_equal(smaller.estimators_samples_[own], bag.estimators_samples_[t])
        np.testing.assert_array_equal(
            smaller.estimators_features_[own], bag.estimators_features_[t]
        )


@pytest.mark.parametrize("kind", ["forest", "bagging"])
def test_fitting_a_subset_begins_anew(kind, problem):
    X, y = problem
    ensemble = clone(CLASSIFIERS[kind]).set_params(warm_start=True).fit(X, y)
    smaller = adapt(ensemble).subset(KEPT)
    assert (smaller.warm_start, ensemble.warm_start) == (False, True)
    first = smaller.estimators_[0]
    smaller.set_params(n_estimators=6).fit(X, y)
    assert len(smaller.estimators_) == 6
    assert first not in smaller.estimators_


# -- voting ----------------------------------------------------------------------------------------


def test_dropped_estimators_are_no_members(problem):
    X, y = problem
    voting = VotingClassifier(THREE, weights=[1, 2, 3, 4, 5]).set_params(tree="drop").fit(X, y)
    members = adapt(voting)
    assert members.n_members == 4
    np.testing.assert_array_equal(members.member_weights, [1, 3, 4, 5])
    smaller = members.subset([3, 1])
    assert [name for name, _ in smaller.estimators] == ["stump", "neighbours"]
    assert list(smaller.named_estimators_) == ["stump", "neighbours"]
    assert smaller.named_estimators_["stump"] is voting.named_estimators_["stump"]
    assert smaller.weights == [5, 3]
    assert smaller.get_feature_names_out().tolist() == [
        "votingclassifier_stump", "votingclassifier_neighbours",
    ]  # fmt: skip
    rebuilt = clone(smaller).fit(X, y)
    np.testing.assert_array_equal(rebuilt.predict(X), smaller.predict(X))
    np.testing.assert_array_equal(smaller.transform(X), voting.transform(X)[:, [3, 1]])


def test_equal_weights_are_none(problem):
    X, y = problem
    assert adapt(VotingClassifier(THREE, weights=[2] * 5).fit(X, y)).member_weights is None
    assert adapt(VotingClassifier(THREE).fit(X, y)).member_weights is None


def test_members_without_a_say_cannot_be_all(problem):
    X, y = problem
    voting = VotingClassifier(THREE, weights=[0, 1, 0, 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match=r"indices=\[0, 2\] are members of weight 0 only"):
        adapt(voting).subset([0, 2])


def test_a_voting_ensemble_changed_since_it_was_fitted_is_refused(problem):
    X, y = problem
    voting = VotingClassifier(THREE).fit(X, y).set_params(tree="drop")
    with pytest.raises(ValueError, match=r"no longer those that were fitted.*call its fit again"):
        adapt(voting)


# -- out of bag ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(40, oob_score=True, max_samples=0.7, random_state=0),
        ExtraTreesClassifier(40, oob_score=True, bootstrap=True, random_state=0),
        BaggingClassifier(TREE, 40, oob_score=True, max_features=0.5, random_state=0),
        RandomForestRegressor(40, oob_score=True, random_state=0),
        BaggingRegressor(DecisionTreeRegressor(), 40, oob_score=True, random_state=0),
    ],
)
def test_out_of_bag_is_that_of_scikit_learn(ensemble, weighted, waveform):
    X, y = waveform
    weights = 1.0 + np.arange(300) % 3 if weighted else None
    ensemble.fit(X, y, sample_weight=weights)
    members = adapt(ensemble)
    out = members.out_of_bag(X, y, weights)
    assert 0.2 < out.mean() < 0.6
    if members.classes is None:
        sums = np.where(out, members.answers(X), 0.0).sum(axis=0)
        np.testing.assert_allclose(ensemble.oob_prediction_, sums / out.sum(axis=0))
    else:
        sums = sum(supports(ensemble, X, t) * out[t, :, None] for t in range(40))
        shares = sums / sums.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(ensemble.oob_decision_function_, shares)
    smaller = members.subset(KEPT)
    np.testing.assert_array_equal(adapt(smaller).out_of_bag(X, y, weights), out[KEPT])


def test_what_has_no_out_of_bag_says_why(problem):
    X, y = problem
    reasons = {
        "extra trees": "with bootstrap=False each of its trees saw all",
        "AdaBoost": "fitted to all the samples, weighted",
        "hard voting": "each of its members was fitted to all the samples",
    }
    for kind, reason in reasons.items():
        with pytest.raises(ValueError, match=f"{reason}.*Use on="):
            adapt(clone(CLASSIFIERS[kind]).fit(X, y)).out_of_bag(X, y)
    whole = BaggingClassifier(TREE, 5, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="each of its members saw all the samples"):
        adapt(whole).out_of_bag(X, y)
    half = BaggingClassifier(TREE, 5, bootstrap=False, max_samples=30, random_state=0).fit(X, y)
    assert adapt(half).out_of_bag(X, y).sum() == 5 * 60
    warm = BaggingClassifier(TREE, 3, warm_start=True, random_state=0).fit(X, y)
    warm.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="it has members of several fits, by warm_start=True"):
        adapt(warm).out_of_bag(X, y)
    smaller = adapt(warm).subset(KEPT)
    assert smaller.predict(X).tolist() == decide(warm, X, KEPT).tolist()
    assert not hasattr(smaller, "estimators_samples_")


@pytest.mark.parametrize("kind", ["forest", "bagging"])
def test_out_of_bag_wants_as_many_rows_as_in_training(kind, problem):
    X, y = problem
    members = adapt(clone(CLASSIFIERS[kind]).fit(X, y))
    with pytest.raises(ValueError, match=r"X has 89 rows and the training set of this .* had 90"):
        members.out_of_bag(X[1:], y[1:])
    with pytest.raises(ValueError, match=r"y has 89 rows"):
        members.out_of_bag(X, y[1:])


def test_a_pipeline_that_ends_in_boosting(problem):
    X, y = problem
    pipeline = make_pipeline(StandardScaler(), clone(CLASSIFIERS["AdaBoost"])).fit(X, y)
    members = adapt(pipeline)
    np.testing.assert_array_equal(members.member_weights, pipeline[-1].estimator_weights_)
    decided = decide(pipeline[-1], pipeline[0].transform(X), KEPT)
    np.testing.assert_array_equal(members.subset(KEPT).predict(X), decided)
    with pytest.raises(ValueError, match="AdaBoostClassifier has no out-of-bag samples"):
        members.out_of_bag(X, y)


# -- refused ---------------------------------------------------------------------------------------


def test_ensembles_whose_members_do_not_vote_are_refused(problem, friedman):
    X, y = problem
    with pytest.raises(TypeError, match=r"members of AdaBoostRegressor .* weighted median.*list\("):
        adapt(AdaBoostRegressor(n_estimators=2).fit(*friedman))
    with pytest.raises(TypeError, match=r"GradientBoostingClassifier .* do not vote.*early"):
        adapt(GradientBoostingClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(TypeError, match="members of HistGradientBoostingRegressor cannot be"):
        adapt(HistGradientBoostingRegressor())
    with pytest.raises(TypeError, match=r"StackingClassifier .* use VotingClassifier"):
        adapt(StackingClassifier(THREE))


def test_other_forests_are_refused_by_their_type(problem):
    X, _ = problem
    for other in (IsolationForest(n_estimators=5).fit(X), RandomTreesEmbedding(5).fit(X)):
        with pytest.raises(TypeError, match=f"ensemble is of type {type(other).__name__}"):
            adapt(other)


def test_several_outputs_are_refused(problem):
    X, y = problem
    forest = RandomForestClassifier(3).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="this RandomForestClassifier has 2 outputs"):
        adapt(forest)
    bag = BaggingRegressor(n_estimators=3).fit(X, X[:, :2])
    with pytest.raises(ValueError, match=r"member 0, DecisionTreeRegressor, .* \(90, 2\)"):
        adapt(bag).answers(X)


@pytest.mark.parametrize("ensemble", [*CLASSIFIERS.values(), *REGRESSORS.values()])
def test_ensembles_that_are_not_fitted_are_refused(ensemble):
    with pytest.raises(NotFittedError):
        adapt(clone(ensemble))


def test_whoever_saw_a_copy_saw_the_sample():
    """Labels are tossed; each row comes four times."""
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(50, 3)), (4, 1)), np.tile(rng.integers(0, 2, 50), 4)
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    members = adapt(forest)
    out = members.out_of_bag(X, y)
    np.testing.assert_array_equal(out[:, :50], out[:, 150:])
    right = (members.answers(X) == y)[out]
    assert right.mean() < 0.7  # with copies it would be nearly 1
    alone = BaggingClassifier(n_estimators=10, max_samples=0.05, random_state=0).fit(X, y)
    assert adapt(alone).out_of_bag(X.tolist(), None).shape == (10, 200)


# -- whether these are the training samples -------------------------------------------------------

DRAWN = {
    "forest": RandomForestClassifier(5, random_state=0),
    "balanced forest": RandomForestClassifier(
        5, class_weight="balanced_subsample", min_samples_leaf=5, random_state=0
    ),
    "forest of few": RandomForestRegressor(5, max_samples=0.3, ccp_alpha=0.1, random_state=0),
    "extra trees": ExtraTreesRegressor(5, bootstrap=True, max_leaf_nodes=6, random_state=0),
    "bagging": BaggingClassifier(TREE, 5, random_state=0),
    "bagging of subspaces": BaggingClassifier(
        max_features=0.4, bootstrap_features=True, n_estimators=5, random_state=0
    ),
    "bagging of regressors": BaggingRegressor(n_estimators=5, max_samples=0.5, random_state=0),
    "bagging of stumps": BaggingClassifier(STUMP, 30, random_state=0),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", DRAWN)
def test_as_many_other_samples_are_not_the_training_set(kind, weighted):
    X, y = make_waveform(90, random_state=3)
    other = make_waveform(90, random_state=4)[0]
    weights = np.arange(90) % 4 if weighted else None
    ensemble = clone(DRAWN[kind]).fit(X, y, sample_weight=weights)
    members = adapt(ensemble)
    out = members.out_of_bag(X, y, weights, must_verify=True)
    assert 0.2 < out.mean() < 0.9
    smaller = adapt(members.subset(KEPT))
    np.testing.assert_array_equal(smaller.out_of_bag(X, y, weights), out[KEPT])
    for strange in (other, X[::-1]):
        for queried in (members, smaller):
            with pytest.raises(ValueError, match=r"X is not the training set of this"):
                queried.out_of_bag(strange, y, weights)


def test_the_training_set_is_known_in_every_form(problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    holes = np.where(np.abs(X) > 1, X, 0.0)
    holes[::7, 2] = np.nan
    frame = pandas.DataFrame(holes, columns=list("abcdefgh"))
    whole = np.nan_to_num(holes)
    for kind in ("forest", "bagging", "bagging of subspaces"):
        for rows in (frame, whole.tolist(), csr_matrix(whole), csr_matrix(whole).tocsc()):
            members = adapt(clone(DRAWN[kind]).fit(rows, y))
            assert members.out_of_bag(rows, y, must_verify=True).any()
            with pytest.raises(ValueError, match="not the training set"):
                members.out_of_bag(rows[::-1] if isinstance(rows, list) else rows.copy() * 2, y)
    pipeline = make_pipeline(StandardScaler(), clone(DRAWN["forest"])).fit(X, y)
    assert adapt(pipeline).out_of_bag(X, y, must_verify=True).any()
    with pytest.raises(ValueError, match="not the training set"):
        adapt(pipeline).out_of_bag(X[::-1], y)


def test_bagging_that_copies_rows_knows_its_training_set(problem):
    X, y = problem
    with config_context(enable_metadata_routing=True):
        bag = BaggingClassifier(DecisionTreeClassifier(), 5, random_state=0).fit(X, y)
    first = bag.estimators_[0].tree_
    assert first.n_node_samples[0] == 90  # copies are counted, as they are not where trees weigh
    assert adapt(bag).out_of_bag(X, y, must_verify=True).any()
    with pytest.raises(ValueError, match="not the training set"):
        adapt(bag).out_of_bag(X[::-1], y)


def test_trees_added_for_other_samples_are_noticed(problem):
    X, y = problem
    forest = RandomForestClassifier(20, warm_start=True, random_state=0).fit(X[::-1], y)
    forest.set_params(n_estimators=40).fit(X, y)
    for rows in (X, X[::-1]):
        with pytest.raises(ValueError, match="not the training set"):
            adapt(forest).out_of_bag(rows, y)


@pytest.mark.parametrize("base", [GaussianNB(), DummyClassifier(), DecisionTreeClassifier()])
def test_members_that_do_not_tell_are_trusted_unless_they_must(base, problem):
    X, y = problem
    if isinstance(base, DecisionTreeClassifier):
        y = np.zeros(90)  # trees without a split
    members = adapt(BaggingClassifier(base, 5, random_state=0).fit(X, y))
    assert members.out_of_bag(X[::-1], y).any()
    for rows in (X, X[::-1]):
        with pytest.raises(ValueError, match="do not record whether they were trained"):
            members.out_of_bag(rows, y, must_verify=True)
