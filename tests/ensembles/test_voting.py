"""From votes to decisions: all ways to ask an ensemble agree with brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.naive_bayes import GaussianNB
from tests.ensembles.twins import each_classifier, each_regressor, small, table
from tests.oracles.probabilities import smoothed

from orfeon import BaggingClassifier, BaggingRegressor, CARTClassifier, RandomForestClassifier
from orfeon.datasets import make_waveform

NAMES = np.array(["one", "two", "three"])


def named(ensemble, n_rows=90):
    """A problem whose classes have names that are not in the order of their codes."""
    X, y = table(ensemble, n_rows)
    return X, NAMES[y]


@each_classifier
@pytest.mark.parametrize("combine", ["majority", "soft"])
def test_all_answers_agree(ensemble, combine):
    X, y = named(ensemble)
    rows, _ = table(ensemble, 70, seed=1)
    fitted = clone(ensemble).set_params(combine=combine).fit(X, y)
    assert fitted.classes_.tolist() == ["one", "three", "two"]
    votes = fitted.votes(rows)
    assert votes.shape == (len(fitted), 70)
    supports = fitted.members_.supports(fitted._rows(rows))
    counts = np.stack([(votes == c).sum(axis=0) for c in range(3)], axis=1)
    shares, means = counts / len(fitted), supports.mean(axis=0)
    np.testing.assert_allclose(fitted.vote_shares(rows), shares, atol=1e-12)
    np.testing.assert_allclose(fitted.mean_supports(rows), means, atol=1e-12)
    expected = shares if combine == "majority" else means
    probabilities = smoothed(fitted, expected)
    np.testing.assert_allclose(fitted.predict_proba(rows), probabilities, atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            fitted.predict_log_proba(rows), np.log(probabilities), atol=1e-9, rtol=1e-9
        )
    decided = fitted.predict(rows)
    chosen = np.searchsorted(fitted.classes_, decided)
    np.testing.assert_allclose(expected[np.arange(70), chosen], expected.max(axis=1))
    if combine == "majority":  # ties go to the first class
        np.testing.assert_array_equal(chosen, counts.argmax(axis=1))
    assert fitted.score(X, y) == np.mean(fitted.predict(X) == y)


@each_classifier
@pytest.mark.parametrize("combine", ["majority", "soft"])
def test_stages_are_the_first_members(ensemble, combine):
    X, y = named(ensemble)
    rows, labels = named(ensemble, 60)
    fitted = clone(ensemble).set_params(combine=combine).fit(X, y)
    votes = fitted.votes(rows)
    supports = fitted.members_.supports(fitted._rows(rows))
    stages = list(fitted.staged_predict_proba(rows))
    decided = list(fitted.staged_predict(rows))
    scores = list(fitted.staged_score(rows, labels))
    weights = np.arange(60) / 10
    weighted = list(fitted.staged_score(rows, labels, sample_weight=weights))
    assert len(stages) == len(decided) == len(scores) == len(fitted)
    for t in range(len(fitted)):
        if combine == "majority":
            some = votes[: t + 1]
            expected = np.stack([(some == c).mean(axis=0) for c in range(3)], axis=1)
        else:
            expected = supports[: t + 1].mean(axis=0)
        np.testing.assert_allclose(stages[t], smoothed(fitted, expected, t + 1), atol=1e-12)
        np.testing.assert_array_equal(decided[t], fitted.classes_[stages[t].argmax(axis=1)])
        assert scores[t] == pytest.approx(accuracy_score(labels, decided[t]))
        assert weighted[t] == pytest.approx(
            accuracy_score(labels, decided[t], sample_weight=weights)
        )
    np.testing.assert_allclose(stages[-1], fitted.predict_proba(rows), atol=1e-12)


def test_stages_go_on_beyond_a_block():
    X, y = make_waveform(100, random_state=0)
    bag = BaggingClassifier(n_estimators=70, random_state=0).fit(X, y)
    stages = np.array(list(bag.staged_predict(X)))
    assert stages.shape == (70, 100)
    for t in (31, 32, 33, 63, 64, 69):
        smaller = BaggingClassifier(n_estimators=t + 1, random_state=0).fit(X, y)
        np.testing.assert_array_equal(stages[t], smaller.predict(X))


@each_regressor
def test_regressors_average(ensemble):
    X, y = table(ensemble)
    rows, targets = table(ensemble, 50, seed=1)
    fitted = clone(ensemble).fit(X, y)
    answers = fitted.predictions(rows)
    assert answers.shape == (len(fitted), 50)
    np.testing.assert_allclose(fitted.predict(rows), answers.mean(axis=0))
    stages = list(fitted.staged_predict(rows))
    scores = list(fitted.staged_score(rows, targets))
    assert len(stages) == len(scores) == len(fitted)
    for t, (stage, score) in enumerate(zip(stages, scores, strict=True)):
        np.testing.assert_allclose(stage, answers[: t + 1].mean(axis=0))
        assert score == pytest.approx(r2_score(targets, stage))


# -- members as estimators -------------------------------------------------------------------------


@each_classifier
def test_members_are_estimators_that_say_what_they_voted(ensemble):
    X, y = named(ensemble)
    fitted = clone(ensemble).fit(X, y)
    votes = fitted.classes_[fitted.votes(X)]
    view = fitted.estimators_
    assert len(view) == len(fitted) == len(votes)
    for vote, member in zip(votes, view, strict=True):
        np.testing.assert_array_equal(member.predict(X), vote)
        assert member.classes_.tolist() == fitted.classes_.tolist()
        assert member.predict_proba(X).shape == (90, 3)
    np.testing.assert_array_equal(view[-1].predict(X), votes[-1])
    assert [m.predict(X[:1])[0] for m in view[1:3]] == votes[1:3, 0].tolist()
    with pytest.raises(IndexError):
        view[len(fitted)]


@each_regressor
def test_members_are_regressors(ensemble):
    X, y = table(ensemble)
    fitted = clone(ensemble).fit(X, y)
    for answers, member in zip(fitted.predictions(X), fitted.estimators_, strict=True):
        np.testing.assert_allclose(member.predict(X), answers)


def test_members_know_the_features_and_the_base():
    pandas = pytest.importorskip("pandas")
    X, y = table(BaggingClassifier())
    frame = pandas.DataFrame(X, columns=list("abcde"))
    bag = BaggingClassifier(CARTClassifier(max_depth=3), 4, random_state=0).fit(frame, y)
    member = bag.estimators_[2]
    assert isinstance(member, CARTClassifier)
    assert member.max_depth == 3
    assert member.get_depth() == 3
    assert member.feature_names_in_.tolist() == list("abcde")
    assert member.n_features_in_ == bag.n_features_in_ == 5
    np.testing.assert_array_equal(member.predict(frame), bag.votes(frame)[2])
    assert member.feature_importances_.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="feature names"):
        bag.predict(frame[list("edcba")])


# -- importances -----------------------------------------------------------------------------------


@each_classifier
def test_importances_sum_to_one_and_find_what_matters(ensemble):
    X, y = table(ensemble, 200)
    importances = clone(ensemble).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert (importances >= 0).all()
    if "Switching" in str(ensemble) or "Flipping" in str(ensemble):
        return  # whose trees learn noise, too
    assert importances[:2].mean() > 1.2 * importances[2:].mean()


@each_regressor
def test_importances_of_regressors(ensemble):
    X, y = table(ensemble, 200)
    importances = clone(ensemble).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert importances[:2].sum() > 0.5


def test_importances_of_other_base_learners_are_averaged():
    from sklearn.tree import DecisionTreeClassifier

    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0).fit(X, y)
    mean = np.mean([member.feature_importances_ for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.feature_importances_, mean)
    subspace = small("RandomSubspaceClassifier", estimator=DecisionTreeClassifier(max_depth=3))
    subspace.set_params(max_features=2).fit(X, y)
    total = np.zeros(5)
    for member, features in zip(subspace.estimators_, subspace.estimators_features_, strict=True):
        total[features] += member.feature_importances_
    np.testing.assert_allclose(subspace.feature_importances_, total / 6)
    with pytest.raises(AttributeError, match="have no feature_importances_"):
        _ = BaggingClassifier(GaussianNB(), 2).fit(X, y).feature_importances_


# -- edges -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["votes", "vote_shares", "mean_supports", "predict", "estimators_"]
)
def test_nothing_is_said_before_fit(name):
    from sklearn.exceptions import NotFittedError

    forest = RandomForestClassifier()
    with pytest.raises(NotFittedError):
        getattr(forest, name)(np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        len(forest)


def test_ties_go_to_the_first_class():
    X = np.array([[0.0], [1.0]])
    bag = BaggingClassifier(n_estimators=2, max_samples=1, bootstrap=False, random_state=0)
    for seed in range(20):
        bag.set_params(random_state=seed).fit(X, ["b", "a"])
        if len(set(bag.votes(X)[:, 0])) == 2:
            break
    assert bag.predict_proba(X).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert bag.predict(X).tolist() == ["a", "a"]


def test_the_rule_is_one_of_those_there_are():
    X, y = table(BaggingClassifier())
    with pytest.raises(ValueError, match="'combine' parameter of BaggingClassifier must be"):
        BaggingClassifier(combine="loud").fit(X, y)
    with pytest.raises(ValueError, match="'combine' parameter of BaggingRegressor must be"):
        BaggingRegressor(combine="majority").fit(X, y)
