"""Our own ensembles as members to choose from."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from tests.oracles.probabilities import smoothed

import orfeon
from orfeon.data.training_set import copies
from orfeon.datasets import make_waveform
from orfeon.members import Members, adapt

KEPT = [4, 0, 3]

CLASSIFIERS = {
    "bagging": orfeon.BaggingClassifier(n_estimators=6, random_state=0),
    "bagging, soft": orfeon.BaggingClassifier(n_estimators=6, combine="soft", random_state=0),
    "bagging, balanced": orfeon.BaggingClassifier(
        n_estimators=6, bootstrap="balanced", random_state=0
    ),
    "bagging of other learners": orfeon.BaggingClassifier(GaussianNB(), 6, random_state=0),
    "random forest": orfeon.RandomForestClassifier(n_estimators=6, random_state=0),
    "class-switching": orfeon.ClassSwitchingClassifier(n_estimators=6, random_state=0),
    "subspaces of other learners": orfeon.RandomSubspaceClassifier(
        GaussianNB(), 6, max_features=3, random_state=0
    ),
    "IGP ensemble": orfeon.IGPEnsembleClassifier(n_estimators=6, random_state=0),
    "boosting IGP": orfeon.BoostingIGPClassifier(n_estimators=6, random_state=0),
    "IGP committees": orfeon.IGPCommitteesClassifier(6, 3, random_state=0),
    "partitioned": orfeon.PartitionedClassifier(n_partitions=3, n_estimators=2, random_state=0),
}
REGRESSORS = {
    "bagging": orfeon.BaggingRegressor(n_estimators=6, random_state=0),
    "bagging of other learners": orfeon.BaggingRegressor(Ridge(), 6, random_state=0),
    "random forest": orfeon.RandomForestRegressor(n_estimators=6, random_state=0),
    "partitioned": orfeon.PartitionedRegressor(n_partitions=6, random_state=0),
}


def vote(answers, classes):
    """Class of most votes, the first of those that are tied."""
    counts = np.stack([(answers == c).sum(axis=0) for c in range(len(classes))])
    return classes[counts.argmax(axis=0)]


@pytest.fixture(scope="module")
def problem():
    X, y = make_waveform(90, random_state=3)
    return X[:, :8], np.array(["ten", "two", "one"])[y]


@pytest.fixture(scope="module")
def frame():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    size = rng.normal(size=80)
    table = pandas.DataFrame(
        {"size": size, "colour": rng.choice(["red", "blue", "green"], 80), "age": size**2}
    )
    table.loc[::7, "size"] = np.nan
    table.loc[::9, "colour"] = None
    return table, np.where((table["colour"] == "red") | (size > 0.5), "yes", "no")


# -- our own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_subset_of_classifiers_predicts_as_its_members(kind, problem):
    X, y = problem
    ensemble = clone(CLASSIFIERS[kind]).fit(X, y)
    before, proba = ensemble.predict(X), ensemble.predict_proba(X)
    members = adapt(ensemble)
    answers = members.answers(X)
    assert isinstance(members, Members)
    assert (members.n_members, members.n_classes) == (6, 3)
    assert members.member_weights is None
    assert answers.dtype == np.int32
    if kind.endswith("of other learners"):  # which are fitted to codes
        pairs = zip(ensemble.estimators_, ensemble.estimators_features_, strict=True)
        np.testing.assert_array_equal(answers, [one.predict(X[:, c]) for one, c in pairs])
    else:
        own = [one.predict(X) for one in ensemble.estimators_]
        np.testing.assert_array_equal(members.classes[answers], own)

    smaller = members.subset(KEPT)
    assert type(smaller) is type(ensemble)
    assert len(smaller) == len(smaller.estimators_) == 3
    np.testing.assert_array_equal(smaller.votes(X), answers[KEPT])
    if ensemble.combine == "majority":
        np.testing.assert_array_equal(smaller.predict(X), vote(answers[KEPT], members.classes))
    else:
        supports = np.mean([ensemble.estimators_[t].predict_proba(X) for t in KEPT], axis=0)
        expected = smoothed(smaller, supports)
        np.testing.assert_allclose(smaller.predict_proba(X), expected, rtol=0, atol=1e-15)
        decided = members.classes[smaller.predict_proba(X).argmax(axis=1)]
        np.testing.assert_array_equal(smaller.predict(X), decided)
    np.testing.assert_array_equal(list(smaller.staged_predict(X))[-1], smaller.predict(X))

    assert len(ensemble) == 6
    np.testing.assert_array_equal(ensemble.predict(X), before)
    np.testing.assert_array_equal(ensemble.predict_proba(X), proba)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_subset_of_regressors_predicts_their_mean(kind, friedman):
    X, y = friedman
    ensemble = clone(REGRESSORS[kind]).fit(X, y)
    before = ensemble.predict(X)
    members = adapt(ensemble)
    answers = members.answers(X)
    assert (members.n_members, members.n_classes, members.classes) == (6, 0, None)
    assert answers.dtype == np.float64
    np.testing.assert_array_equal(answers, [one.predict(X) for one in ensemble.estimators_])
    smaller = members.subset(KEPT)
    np.testing.assert_array_equal(smaller.predictions(X), answers[KEPT])
    np.testing.assert_allclose(smaller.predict(X), answers[KEPT].mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(list(smaller.staged_predict(X))[-1], smaller.predict(X), rtol=1e-14)
    np.testing.assert_array_equal(ensemble.predict(X), before)


def test_the_parameter_of_the_size_says_how_many_are_kept(problem):
    X, y = problem
    for kind, ensemble in CLASSIFIERS.items():
        smaller = adapt(clone(ensemble).fit(X, y)).subset(KEPT)
        sizes = {"IGP committees": "n_committees"}
        if kind == "partitioned":  # its parameters are about the data
            assert smaller.get_params() == ensemble.get_params()
        else:
            assert smaller.get_params()[sizes.get(kind, "n_estimators")] == 3
            assert len(clone(smaller).fit(X, y)) == 3
    assert smaller.n_estimators == 2


def test_a_subset_is_pickled_cloned_and_looked_into(problem):
    X, y = problem
    ensemble = orfeon.RandomForestClassifier(n_estimators=6, random_state=0).fit(X, y)
    smaller = adapt(ensemble).subset(KEPT)
    again = pickle.loads(pickle.dumps(smaller))
    np.testing.assert_array_equal(again.predict(X), smaller.predict(X))
    with pytest.raises(NotFittedError):
        clone(smaller).predict(X)
    np.testing.assert_array_equal(smaller.apply(X), ensemble.apply(X)[:, KEPT])
    path, starts = smaller.decision_path(X)
    np.testing.assert_array_equal(np.diff(starts), ensemble.forest_.n_nodes[KEPT])
    assert path.sum() == sum(ensemble.estimators_[t].decision_path(X).sum() for t in KEPT)
    assert smaller.feature_importances_.sum() == pytest.approx(1.0)
    assert not np.array_equal(smaller.feature_importances_, ensemble.feature_importances_)


def test_estimates_of_the_whole_are_dropped_from_the_subset_only(waveform):
    X, y = waveform
    ensemble = orfeon.BaggingClassifier(
        n_estimators=40, oob_score=True, importance="permutation", random_state=0
    ).fit(X, y)
    smaller = adapt(ensemble).subset(range(30))
    assert [name for name in vars(smaller) if name.startswith("oob_")] == ["oob_score"]
    assert not hasattr(smaller, "permutation_importances_")
    assert smaller.feature_importances_.sum() == pytest.approx(1.0)  # by impurity again
    assert ensemble.oob_votes_.shape == (40, 300)
    assert hasattr(ensemble, "permutation_importances_")


def test_data_frames_are_taken_as_they_are(frame):
    X, y = frame
    ensemble = orfeon.BaggingClassifier(n_estimators=6, n_jobs=2, random_state=0).fit(X, y)
    members = adapt(ensemble)
    np.testing.assert_array_equal(
        members.classes[members.answers(X)], [one.predict(X) for one in ensemble.estimators_]
    )
    smaller = members.subset(KEPT)
    np.testing.assert_array_equal(
        smaller.predict(X), vote(members.answers(X)[KEPT], members.classes)
    )
    assert smaller.score(X, y) > 0.8
    assert members.out_of_bag(X, y).shape == (6, 80)


@pytest.mark.parametrize("bootstrap", [True, "balanced"])
def test_chosen_members_know_what_they_saw(bootstrap, problem):
    X, y = problem
    bag = orfeon.BaggingClassifier(n_estimators=8, bootstrap=bootstrap, random_state=0).fit(X, y)
    smaller = adapt(bag).subset([5, 2, 7])
    np.testing.assert_array_equal(smaller.in_bag(X, y), bag.in_bag(X, y)[[5, 2, 7]])
    again = adapt(smaller).subset([2, 0])
    np.testing.assert_array_equal(
        adapt(again).out_of_bag(X, y), adapt(bag).out_of_bag(X, y)[[7, 5]]
    )
    fresh = smaller.fit(X, y)  # members of its own
    assert fresh.in_bag(X, y).shape == (3, len(y))


def test_members_added_to_chosen_ones_leave_what_was_seen_unknown(problem):
    X, y = problem
    smaller = adapt(orfeon.BaggingClassifier(n_estimators=8, random_state=0).fit(X, y)).subset(
        [5, 2]
    )
    smaller.set_params(n_estimators=4, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="it is unknown which samples the members saw"):
        smaller.in_bag(X, y)


@pytest.mark.parametrize("kind", ["bagging", "bagging, balanced", "boosting IGP", "IGP committees"])
def test_fitting_a_subset_begins_anew(kind, problem):
    X, y = problem
    ensemble = clone(CLASSIFIERS[kind]).set_params(warm_start=True).fit(X, y)
    smaller = adapt(ensemble).subset(KEPT)
    assert smaller.warm_start is False
    assert ensemble.warm_start is True
    fresh = clone(smaller).fit(X, y)
    np.testing.assert_array_equal(smaller.fit(X, y).votes(X), fresh.votes(X))


@pytest.mark.parametrize("bootstrap", [True, "balanced"])
def test_members_added_to_a_subset_are_not_those_it_has(bootstrap, waveform):
    X, y = waveform
    ensemble = orfeon.BaggingClassifier(n_estimators=10, bootstrap=bootstrap, random_state=0)
    kept = [5, 6, 7, 8, 9]
    smaller = adapt(ensemble.fit(X, y)).subset(kept)
    grown = smaller.set_params(warm_start=True, n_estimators=60, oob_score=True)
    with pytest.warns(UserWarning, match="unknown which samples the earlier members saw"):
        grown.fit(X, y)
    votes = grown.votes(X)
    np.testing.assert_array_equal(votes[:5], ensemble.votes(X)[kept])
    same = (votes[5:, None] == ensemble.votes(X)).all(axis=2)
    assert same.sum() == 0
    assert (grown.oob_votes_[:5] == -1).all()


def test_a_partitioned_subset_takes_more_chunks(problem):
    X, y = problem
    classes = np.unique(y)
    ensemble = orfeon.PartitionedClassifier(n_estimators=2, random_state=0)
    ensemble.fit_chunks([(X[:45], y[:45]), (X[45:], y[45:])], classes=classes)
    smaller = adapt(ensemble).subset([3])
    smaller.partial_fit(X[:45], y[:45])
    assert (len(smaller), len(ensemble)) == (3, 4)
    np.testing.assert_array_equal(smaller.votes(X)[0], ensemble.votes(X)[3])


# -- out of bag ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bagging", "bagging, balanced", "random forest", "partitioned"])
def test_out_of_bag_is_what_the_ensemble_counted(kind, waveform):
    X, y = waveform
    ensemble = clone(CLASSIFIERS[kind]).set_params(oob_score=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* seen by every member")
        ensemble.fit(X, y)
    members = adapt(ensemble)
    out = members.out_of_bag(X, y)
    assert out.dtype == bool
    np.testing.assert_array_equal(out, ensemble.oob_votes_ >= 0)
    np.testing.assert_array_equal(members.answers(X)[out], ensemble.oob_votes_[out])


def test_copies_of_a_seen_sample_are_seen(problem):
    X, y = problem
    twice = np.repeat(np.arange(len(y)), 2)
    one = orfeon.BaggingClassifier(n_estimators=8, random_state=0).fit(X[twice], y[twice])
    other = clone(one).fit(X, y, np.full(len(y), 2))
    out = adapt(one).out_of_bag(X[twice], y[twice])
    np.testing.assert_array_equal(out[:, ::2], out[:, 1::2])
    np.testing.assert_array_equal(out[:, ::2], adapt(other).out_of_bag(X, y, np.full(len(y), 2)))
    assert (one.in_bag(X[twice], y[twice])[:, ::2] == 0).sum() > out[:, ::2].sum()
    # another class makes another sample
    label = np.where(np.arange(180) % 2, y[twice], np.roll(y, 1)[twice])
    mixed = clone(one).fit(X[twice], label)
    equal = y == np.roll(y, 1)
    found = adapt(mixed).out_of_bag(X[twice], label)
    np.testing.assert_array_equal(found[:, ::2][:, equal], found[:, 1::2][:, equal])
    counts = mixed.in_bag(X[twice], label)
    different = np.repeat(~equal, 2)
    np.testing.assert_array_equal(found[:, different], counts[:, different] == 0)


def test_copies_of_frames_and_regression_targets(frame):
    X, _ = frame
    target = np.arange(80.0)
    twice = np.repeat(np.arange(80), 2)
    ensemble = orfeon.BaggingRegressor(n_estimators=8, random_state=0)
    ensemble.fit(X.iloc[twice], target[twice])
    out = adapt(ensemble).out_of_bag(X.iloc[twice], target[twice])
    np.testing.assert_array_equal(out[:, ::2], out[:, 1::2])
    assert out.any(axis=0).mean() > 0.5


def test_copies_of_rows_of_any_kind(frame):
    X, _ = frame
    twice = np.concatenate([np.arange(80), np.arange(80)[::-1]])
    whole = np.arange(80)
    expected = np.concatenate([whole, whole[::-1]])
    y = np.zeros(160)
    found = copies(X.iloc[twice], y)
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(copies(X.iloc[twice], np.arange(160.0)))) == 160
    sparse = csr_matrix(np.eye(80)[twice])
    np.testing.assert_array_equal(copies(sparse, y), expected)
    numbers = np.eye(80)[twice]
    numbers[numbers == 0] = np.nan
    assert len(np.unique(copies(numbers, y))) == 80


def test_rows_of_weight_zero_are_out_of_bag_and_do_not_count(problem):
    X, y = problem
    weights = np.ones(len(y))
    weights[:5] = 0
    bag = clone(CLASSIFIERS["bagging"]).fit(X, y, weights)
    assert adapt(bag).out_of_bag(X, y, weights)[:, :5].all()
    seeing = orfeon.ExtraTreesClassifier(n_estimators=4, random_state=0).fit(X, y, weights)
    with pytest.raises(ValueError, match="each of its members saw all the samples"):
        adapt(seeing).out_of_bag(X, y, weights)


@pytest.mark.parametrize("kind", ["IGP ensemble", "boosting IGP", "class-switching"])
def test_ensembles_that_see_everything_have_no_out_of_bag(kind, problem):
    X, y = problem
    members = adapt(clone(CLASSIFIERS[kind]).fit(X, y))
    with pytest.raises(ValueError, match=r'each of its members saw all .* Use on="train"'):
        members.out_of_bag(X, y)


def test_out_of_bag_wants_the_training_set(problem):
    X, y = problem
    members = adapt(clone(CLASSIFIERS["bagging"]).fit(X, y))
    with pytest.raises(ValueError, match="are not the training set"):
        members.out_of_bag(X[1:], y[1:])
    shuffled = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(
        members.out_of_bag(X[shuffled], y[shuffled]), members.out_of_bag(X, y)[:, shuffled]
    )
