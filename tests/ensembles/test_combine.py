"""Rules inside ensembles: what they decide, and that they learn from honest answers alone."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor
from tests.oracles.probabilities import smoothed
from tests.shared import public_estimators

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    ClassSwitchingClassifier,
    ExtraTreesClassifier,
    PartitionedClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    early_decision,
    prune,
)
from orfeon.datasets import make_friedman1, make_twonorm, make_waveform
from orfeon.rules.naive_bayes import NaiveBayes
from orfeon.rules.rule import as_combining_rule, rules_for
from orfeon.rules.supports import Mean, Soft, TrimmedMean
from orfeon.rules.votes import Majority, Plurality, Weighted

X, Y = make_waveform(90, random_state=0)
Z, TARGET = make_friedman1(80, random_state=0)
SMALL = CARTClassifier(max_depth=3)


def combining() -> dict[str, type]:
    found = public_estimators()
    return {name: kind for name, kind in found.items() if "combine" in kind().get_params()}


def small(kind: type) -> object:
    size = {"n_estimators": 3} if "n_committees" in kind().get_params() else {"n_estimators": 7}
    if kind.__name__ == "BalancedSubsetsClassifier":
        size = {}
    if "n_committees" in kind().get_params() and kind.__name__.startswith("IGP"):
        size["n_committees"] = 5
    return kind(random_state=0, **size)


def assert_same_decider(ours, theirs):
    assert type(ours) is type(theirs)
    for field in fields(ours):
        np.testing.assert_array_equal(getattr(ours, field.name), getattr(theirs, field.name))


def test_every_ensemble_whose_members_vote_or_are_averaged_has_the_parameter():
    assert len(combining()) >= 28
    assert {"AdaBoostClassifier", "PPBoostClassifier", "IGPCommitteesClassifier"} <= set(
        combining()
    )


@pytest.mark.parametrize("name", combining())
def test_every_rule_decides_by_what_the_members_say(name):
    kind = combining()[name]
    rows, y = (Z, TARGET) if is_regressor(kind()) else (X, Y)
    if name == "PPBoostClassifier":
        y = Y > 0
    rules = rules_for("regression" if is_regressor(kind()) else "classification")
    plain = None
    for rule in rules:
        fitted = clone(small(kind)).set_params(combine=rule)
        if plain is not None and not as_combining_rule(rule).learns:
            fitted = plain.set_params(combine=rule)  # a rule that learns nothing needs no fit
        else:
            fitted.fit(rows, y)
            plain = plain or fitted
        check_answers(fitted, rows)


def check_answers(fitted, rows):
    decider, members = fitted.decider_, fitted.members_
    encoded = fitted._rows(rows)
    if is_regressor(fitted):
        expected = decider.predict(members.supports(encoded)[:, :, 0])
        np.testing.assert_allclose(fitted.predict(rows), expected, rtol=1e-12)
        *_, last = fitted.staged_predict(rows)
        np.testing.assert_allclose(last, expected, rtol=1e-12)
        return
    answers = members.votes(encoded) if decider.reads == "votes" else members.supports(encoded)
    expected = decider.shares(answers, fitted.n_classes_)
    shares = fitted.predict_proba(rows)
    np.testing.assert_allclose(shares, smoothed(fitted, expected), atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(rows), fitted.classes_[shares.argmax(axis=1)])
    stages = list(fitted.staged_predict_proba(rows))
    assert len(stages) == len(members)
    np.testing.assert_allclose(stages[-1], shares, atol=1e-12)
    half = decider.subset(np.arange(2))
    expected = half.shares(answers[:2], fitted.n_classes_)
    np.testing.assert_allclose(stages[1], smoothed(fitted, expected, 2), atol=1e-12)


@pytest.mark.parametrize("rule", ["median", "naive_bayes", "product"])
def test_jobs_do_not_change_a_bit(rule):
    rows = np.tile(X, (60, 1))
    one = RandomForestClassifier(60, combine=rule, random_state=0, n_jobs=1).fit(X, Y)
    two = RandomForestClassifier(60, combine=rule, random_state=0, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.predict_proba(rows), two.predict_proba(rows))


# -- learning -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["weighted", "naive_bayes", "model_averaging"])
def test_bags_learn_from_what_they_left_out(rule):
    bag = BaggingClassifier(SMALL, 15, combine=rule, random_state=3).fit(X, Y)
    out = bag.in_bag(X, Y) == 0
    made = as_combining_rule(rule)
    if made.reads == "votes":
        answers = np.where(out, bag.votes(X), -1)
    else:
        answers = np.where(out[:, :, None], bag.members_.supports(X), np.nan)
    assert_same_decider(bag.decider_, made.learn(answers, Y, 3))


def test_numbers_are_learnt_from_what_was_left_out():
    bag = BaggingRegressor(n_estimators=15, combine="weighted", random_state=3).fit(Z, TARGET)
    answers = np.where(bag.in_bag(Z, TARGET) == 0, bag.predictions(Z), np.nan)
    assert_same_decider(bag.decider_, as_combining_rule("weighted").learn(answers, TARGET, 0))


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomSubspaceClassifier(KNeighborsClassifier(1), 9, random_state=0),
        ExtraTreesClassifier(9, random_state=0),
        AdaBoostClassifier(CARTClassifier(max_depth=8), 9, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_members_that_remember_their_samples_are_not_believed(ensemble):
    """Labels are random: all votes on training samples are right, and worth nothing."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(400, 4)), rng.integers(0, 2, 400)
    fitted = ensemble.set_params(combine="weighted").fit(rows, labels)
    right = (fitted.votes(rows) == labels).mean()
    assert right > 0.7
    # 400 honest votes of a fair coin: the log-odds have a standard error of 0.1.
    assert np.abs(fitted.decider_.weights).mean() < 0.3


def test_folds_are_asked_member_by_member():
    """A subspace without the one feature that tells is known by its place."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 4))
    labels = (rows[:, 2] > 0).astype(int)
    fitted = RandomSubspaceClassifier(
        GaussianNB(), 12, max_features=1, combine="weighted", random_state=0
    ).fit(rows, labels)
    tells = np.array([2 in chosen for chosen in fitted.estimators_features_])
    assert 0 < tells.sum() < 12
    weights = fitted.decider_.weights
    assert weights[tells].min() > 3.0
    assert np.abs(weights[~tells]).max() < 0.6
    assert (
        fitted.score(rows, labels)
        > 0.95
        > fitted.set_params(combine="majority").score(rows, labels)
    )


def test_a_root_of_randomness_can_be_given():
    sequence = np.random.SeedSequence(7)
    ours = BaggingClassifier(SMALL, 5, random_state=sequence).fit(X, Y)
    same = BaggingClassifier(SMALL, 5, random_state=7).fit(X, Y)
    np.testing.assert_array_equal(ours.votes(X), same.votes(X))


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(60, combine="naive_bayes", random_state=0),
        ClassSwitchingClassifier(n_estimators=15, combine="weighted", random_state=0),
    ],
    ids=["left out", "folds"],
)
def test_weights_are_copies(ensemble):
    weights = np.arange(len(Y)) % 3
    twice = np.repeat(np.arange(len(Y)), weights)
    rng = np.random.default_rng(0)
    twice = rng.permutation(twice)
    weighted = clone(ensemble).fit(X, Y, weights)
    copied = clone(ensemble).fit(X[twice], Y[twice])
    assert_same_decider(weighted.decider_, copied.decider_)
    np.testing.assert_array_equal(weighted.predict_proba(X), copied.predict_proba(X))


def test_the_order_of_samples_does_not_matter():
    turn = np.random.default_rng(2).permutation(len(Y))
    ensemble = ClassSwitchingClassifier(n_estimators=11, combine="naive_bayes", random_state=0)
    there, here = clone(ensemble).fit(X, Y), clone(ensemble).fit(X[turn], Y[turn])
    assert_same_decider(there.decider_, here.decider_)


# -- out-of-bag estimates -------------------------------------------------------------------------


def test_the_error_of_a_rule_that_learns_is_not_that_of_what_it_learnt_from():
    """Random labels: confusion matrices of 40 members fit 60 samples well, and mean nothing."""
    rng = np.random.default_rng(3)
    scores, optimistic = [], []
    for seed in range(12):
        rows, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
        bag = BaggingClassifier(
            n_estimators=40, combine="naive_bayes", oob_score=True, random_state=seed
        ).fit(rows, labels)
        scores.append(bag.oob_score_)
        shares = bag.decider_.shares(bag.oob_votes_, 2)
        optimistic.append((shares.argmax(axis=1) == labels).mean())
    assert np.mean(optimistic) > 0.6
    # 720 tosses of a coin: a standard error of 0.02, and folds that lack a class lean to it less.
    assert 0.35 < np.mean(scores) < 0.56


@pytest.mark.parametrize("rule", ["median", "product", "plurality", "soft"])
def test_out_of_bag_by_rules_that_do_not_learn(rule):
    bag = BaggingClassifier(SMALL, 30, combine=rule, oob_score=True, random_state=0).fit(X, Y)
    out = bag.in_bag(X, Y) == 0
    made = as_combining_rule(rule)
    answers = np.where(out, bag.votes(X), -1)
    if made.reads == "supports":
        answers = np.where(out[:, :, None], bag.members_.supports(X), np.nan)
    shares = made.learn(None, None, 3).shares(answers, 3)
    np.testing.assert_allclose(bag.oob_decision_function_, shares, atol=1e-12)
    assert bag.oob_score_ == pytest.approx((shares.argmax(axis=1) == Y).mean())
    assert bag.oob_error_curve_[-1] == pytest.approx(1 - bag.oob_score_)


def test_out_of_bag_medians_of_numbers():
    forest = RandomForestRegressor(40, combine="median", oob_score=True, random_state=0)
    forest.fit(Z, TARGET)
    answers = np.where(forest.in_bag(Z, TARGET) == 0, forest.predictions(Z), np.nan)
    np.testing.assert_allclose(forest.oob_prediction_, np.nanmedian(answers, axis=0))
    first = ~np.isnan(answers[0])
    expected = ((answers[0, first] - TARGET[first]) ** 2).mean()
    assert forest.oob_error_curve_[0] == pytest.approx(expected)


# -- with the rest of the library -----------------------------------------------------------------


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(SMALL, 12, combine="weighted", random_state=0),
        AdaBoostClassifier(SMALL, 6, combine="naive_bayes", random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_pruning_keeps_what_was_learnt_of_those_kept(ensemble):
    fitted = ensemble.fit(X, Y)
    fewer = prune(fitted, X, Y, rule="individual_error", keep=[4, 1])
    assert_same_decider(fewer.decider_, fitted.decider_.subset([4, 1]))
    expected = fitted.decider_.subset([4, 1]).shares(fitted.votes(X)[[4, 1]], 3)
    np.testing.assert_allclose(fewer.predict_proba(X), smoothed(fewer, expected), atol=1e-12)


def test_pruning_cuts_the_options_of_single_members():
    rule = Majority(weights=[5, 1, 1, 1, 1, 1, 1, 1])
    boosted = AdaBoostClassifier(SMALL, 8, combine=rule, random_state=0).fit(X, Y)
    fewer = prune(boosted, X, Y, keep=[2, 1, 0])
    assert fewer.combine == Majority(weights=[1, 1, 5])
    np.testing.assert_array_equal(fewer.predict(X), boosted.votes(X)[0])


def test_a_warm_start_learns_of_all_members():
    bag = BaggingClassifier(SMALL, 6, combine="weighted", warm_start=True, random_state=0)
    bag.fit(X, Y).set_params(n_estimators=10).fit(X, Y)
    whole = BaggingClassifier(SMALL, 10, combine="weighted", random_state=0).fit(X, Y)
    assert_same_decider(bag.decider_, whole.decider_)


def test_rules_with_options():
    trimmed = BaggingClassifier(SMALL, 10, combine=TrimmedMean(share=0.3), random_state=0)
    other = clone(trimmed).set_params(combine="trimmed_mean")
    assert (trimmed.fit(X, Y).predict_proba(X) != other.fit(X, Y).predict_proba(X)).any()
    sure = BaggingClassifier(SMALL, 10, combine=NaiveBayes(smoothing=0.01), random_state=0)
    assert sure.fit(X, Y).score(X, Y) > 0.8


def test_weighted_votes_beat_equal_ones_where_members_differ_in_worth():
    rows, labels = make_twonorm(150, random_state=0)
    rows_test, labels_test = make_twonorm(2000, random_state=1)
    spoilt = np.concatenate([rows, np.random.default_rng(0).normal(size=(150, 60))], axis=1)
    spoilt_test = np.concatenate(
        [rows_test, np.random.default_rng(1).normal(size=(2000, 60))], axis=1
    )
    scores = {}
    for rule in ("majority", "weighted"):
        ensemble = RandomSubspaceClassifier(
            GaussianNB(), 80, max_features=2, combine=rule, random_state=0
        ).fit(spoilt, labels)
        scores[rule] = ensemble.score(spoilt_test, labels_test)
    assert scores["weighted"] > scores["majority"] + 0.01


# -- bad input ------------------------------------------------------------------------------------


def test_a_rule_that_must_learn_needs_a_fit():
    bag = BaggingClassifier(SMALL, 5, random_state=0).fit(X, Y).set_params(combine="naive_bayes")
    with pytest.raises(ValueError, match=r"combine='naive_bayes' must learn .* call fit again"):
        bag.predict(X)
    bag.set_params(combine="soft").predict(X)
    bag.set_params(combine=Weighted()).fit(X, Y).set_params(combine=Weighted(smoothing=3.0))
    with pytest.raises(ValueError, match="call fit again"):
        bag.predict(X)


def test_rules_that_are_not_known_or_for_another_task():
    with pytest.raises(ValueError, match="'combine' parameter of BaggingClassifier must be a str"):
        BaggingClassifier(combine="loudest").fit(X, Y)
    with pytest.raises(ValueError, match="'combine' parameter of BaggingRegressor must be a str"):
        BaggingRegressor(combine="majority").fit(Z, TARGET)
    with pytest.raises(ValueError, match="'combine' parameter of BaggingClassifier must be a str"):
        BaggingClassifier(combine="own").fit(X, Y)
    with pytest.raises(ValueError, match="is for classification, but these members"):
        BaggingRegressor(combine=NaiveBayes()).fit(Z, TARGET)


def test_chunks_are_not_there_to_learn_from():
    ensemble = PartitionedClassifier(combine="naive_bayes")
    with pytest.raises(ValueError, match=r"combine='naive_bayes' learns .* use fit, or another"):
        ensemble.partial_fit(X, Y, classes=[0, 1, 2])
    ensemble.set_params(random_state=0).fit(X, Y)
    assert ensemble.score(X, Y) > 0.7


def test_early_decision_is_for_sums():
    bag = BaggingClassifier(SMALL, 5, combine="median", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="combine='median' cannot be decided early"):
        early_decision(bag, X)
    boosted = AdaBoostClassifier(SMALL, 5, combine="majority", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(early_decision(boosted, X).predictions, boosted.predict(X))


def test_boosting_has_no_decider_of_its_own():
    boosted = AdaBoostClassifier(SMALL, 5, random_state=0).fit(X, Y)
    with pytest.raises(AttributeError, match='combine="own" decides as AdaBoostClassifier does'):
        _ = boosted.decider_


# -- rules as objects, copies, failures -----------------------------------------------------------


def test_options_of_a_rule_count_inside_too():
    """A member of a hundred votes decides alone."""
    weights = [100] + [1] * 10
    for rule in (Majority(weights=weights), Plurality(weights=weights), Soft(weights=weights)):
        bag = BaggingClassifier(n_estimators=11, combine=rule, random_state=0).fit(X, Y)
        expected = bag.members_.subset([0]).votes(bag._rows(X))[0]
        np.testing.assert_array_equal(bag.predict(X), expected)
        *_, last = bag.staged_predict(X)
        np.testing.assert_array_equal(last, expected)
    numbers = BaggingRegressor(n_estimators=11, combine=Mean(weights=weights), random_state=0)
    numbers.fit(Z, TARGET)
    expected = np.average(numbers.predictions(Z), axis=0, weights=weights)
    np.testing.assert_allclose(numbers.predict(Z), expected, rtol=1e-12)
    boosted = AdaBoostClassifier(SMALL, 3, combine=Majority(weights=[5, 1, 1]), random_state=0)
    np.testing.assert_array_equal(boosted.fit(X, Y).predict(X), boosted.votes(X)[0])


def test_out_of_bag_estimates_mind_the_options():
    weights = [1000] + [1] * 29
    ours = BaggingClassifier(
        SMALL, 30, combine=Majority(weights=weights), oob_score=True, random_state=0
    ).fit(X, Y)
    plain = clone(ours).set_params(combine="majority").fit(X, Y)
    first = ours.oob_votes_[0] >= 0
    decided = ours.oob_decision_function_.argmax(axis=1)
    np.testing.assert_array_equal(decided[first], ours.oob_votes_[0][first])
    assert ours.oob_error_ != plain.oob_error_


def test_a_rule_for_another_number_of_members_is_refused_by_fit():
    with pytest.raises(ValueError, match="has weights of 2 members, and there are 11"):
        BaggingClassifier(n_estimators=11, combine=Majority(weights=[1, 2])).fit(X, Y)
    with pytest.raises(ValueError, match="has weights of 2 members, and there are 5"):
        AdaBoostClassifier(SMALL, 5, combine=Majority(weights=[1, 2])).fit(X, Y)


def test_rule_objects_of_another_task_are_refused_by_fit():
    with pytest.raises(ValueError, match="rule='mean' is for regression"):
        BaggingClassifier(combine=Mean()).fit(X, Y)
    with pytest.raises(ValueError, match="rule='soft' is for classification"):
        BaggingRegressor(combine=Soft()).fit(Z, TARGET)


def test_a_fit_that_fails_late_leaves_the_ensemble_as_it_was():
    bag = BaggingClassifier(SMALL, 10, combine="weighted", random_state=0).fit(X, Y)
    shares = bag.predict_proba(X)
    bag.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="all samples are copies of 1 sample"):
        bag.fit(X[[0, 0, 0]], Y[[0, 0, 0]])
    np.testing.assert_array_equal(bag.predict_proba(X), shares)


@pytest.mark.parametrize("rule", ["majority", "naive_bayes"])
def test_a_copy_of_an_sample_is_that_sample_out_of_bag(rule):
    """Labels are tossed; whoever saw a copy knows the label, and is not asked."""
    rng = np.random.default_rng(4)
    rows, labels = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    forest = RandomForestClassifier(500, combine=rule, oob_score=True, random_state=0)
    forest.set_params(bootstrap=True, max_samples=0.5)
    copied = clone(forest).fit(np.tile(rows, (4, 1)), np.tile(labels, 4))
    weighted = clone(forest).fit(rows, labels, np.full(100, 4))
    assert copied.oob_error_ == pytest.approx(weighted.oob_error_)
    assert 0.3 < copied.oob_error_ < 0.7


def test_out_of_bag_errors_are_those_of_the_rule_that_was_learnt():
    ours = BaggingClassifier(
        SMALL, 60, combine="weighted", oob_score=True, class_weight={0: 1, 1: 1e6, 2: 1},
        max_samples=0.5, random_state=0,
    )  # fmt: skip
    scaled = [clone(ours).fit(X, Y, np.full(len(Y), unit)) for unit in (1.0, 0.001)]
    assert scaled[0].oob_error_ == pytest.approx(scaled[1].oob_error_)
    bayes = clone(ours).set_params(combine="naive_bayes").fit(X, Y)
    learnt = bayes.decider_.shares(bayes.oob_votes_, 3).argmax(axis=1)
    told = bayes.oob_decision_function_.argmax(axis=1)
    assert abs((learnt == 1).mean() - (told == 1).mean()) < 0.1


def test_warnings_point_at_the_line_of_the_user():
    bag = BaggingClassifier(SMALL, 2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="seen by every member") as caught:
        bag.fit(X, Y)
    assert caught[0].filename == __file__
    few = RandomForestClassifier(2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="seen by every member") as caught:
        few.fit(X, Y)
    assert caught[0].filename == __file__


def test_members_drawn_from_other_samples_have_no_say_and_it_says_so():
    bag = BaggingClassifier(SMALL, 5, combine="weighted", warm_start=True, random_state=0)
    bag.fit(X[:60], Y[:60]).set_params(n_estimators=10)
    with pytest.warns(UserWarning, match="combine='weighted' ignores them"):
        bag.fit(X, Y)
    assert (bag.decider_.weights[:5] == 0).all()
    assert (bag.decider_.weights[5:] != 0).all()


def test_what_was_learnt_of_other_members_is_forgotten():
    parts = PartitionedClassifier(n_partitions=3, combine="weighted", random_state=0).fit(X, Y)
    parts.set_params(combine="majority").partial_fit(X, Y).set_params(combine="weighted")
    with pytest.raises(ValueError, match="call fit again"):
        parts.predict(X)


def test_one_row_alone_has_the_bits_it_has_among_others():
    bag = BaggingRegressor(DecisionTreeRegressor(max_depth=4), 50, random_state=0).fit(Z, TARGET)
    alone = [bag.predict(Z[i : i + 1])[0] for i in range(len(Z))]
    np.testing.assert_array_equal(alone, bag.predict(Z))
