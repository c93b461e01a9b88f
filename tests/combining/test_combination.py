"""combine(): any rule over ensembles of any make, lists of estimators, votes and supports."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as sk
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from orfeon import BaggingClassifier, BaggingRegressor, CARTClassifier, PrunedClassifier, prune
from orfeon.combining import combine, combine_votes
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.rules.naive_bayes import NaiveBayes
from orfeon.rules.rule import as_combining_rule, rules_for

NAMES = np.array(["one", "two", "six"])
X, codes = make_waveform(150, random_state=0)
Y = NAMES[codes]
X_NEW, codes_new = make_waveform(60, random_state=1)
Y_NEW = NAMES[codes_new]
CLASSIFIERS = {
    "ours": BaggingClassifier(CARTClassifier(max_depth=3), 9, random_state=0),
    "scikit-learn's forest": sk.RandomForestClassifier(9, max_depth=3, random_state=0),
    "scikit-learn's bagging": sk.BaggingClassifier(GaussianNB(), 9, random_state=0),
    "scikit-learn's AdaBoost": sk.AdaBoostClassifier(n_estimators=5, random_state=0),
}


@pytest.fixture(scope="module", params=CLASSIFIERS)
def fitted(request):
    return CLASSIFIERS[request.param].fit(X, Y)


@pytest.mark.parametrize("rule", rules_for("classification"))
def test_held_out_samples_teach_and_new_rows_are_decided(fitted, rule):
    from orfeon.members import adapt

    half, rest = slice(0, 30), slice(30, 60)
    found = combine(fitted, X_NEW[half], Y_NEW[half], rule=rule)
    members, made = adapt(fitted), as_combining_rule(rule)
    query = members.answers if made.reads == "votes" else members.supports
    truth = np.searchsorted(members.classes, Y_NEW)
    decider = made.learn(query(X_NEW[half]), truth[half], 3)
    expected = decider.shares(query(X_NEW[rest]), 3)
    np.testing.assert_array_equal(found.predict_proba(X_NEW[rest]), expected)
    decided = found.predict(X_NEW[rest])
    np.testing.assert_array_equal(decided, members.classes[expected.argmax(axis=1)])
    right = (decided == Y_NEW[rest]).mean()
    assert found.score(X_NEW[rest], Y_NEW[rest]) == pytest.approx(right)


@pytest.mark.parametrize("rule", ["weighted", "naive_bayes", "model_averaging"])
@pytest.mark.parametrize("name", ["ours", "scikit-learn's forest", "scikit-learn's bagging"])
def test_training_samples_teach_out_of_bag(name, rule):
    from orfeon.members import adapt

    fitted = CLASSIFIERS[name].fit(X, Y)
    found = combine(fitted, X, Y, rule=rule, on="out_of_bag")
    members, made = adapt(fitted), as_combining_rule(rule)
    out = members.out_of_bag(X, Y)
    truth = np.searchsorted(members.classes, Y)
    answers = np.where(out, members.answers(X), -1)
    if made.reads == "supports":
        answers = np.where(out[:, :, None], members.supports(X), np.nan)
    expected = made.learn(answers, truth, 3).shares(
        members.answers(X_NEW) if made.reads == "votes" else members.supports(X_NEW), 3
    )
    np.testing.assert_array_equal(found.predict_proba(X_NEW), expected)


def test_inside_and_outside_are_the_same():
    bag = BaggingClassifier(
        CARTClassifier(max_depth=3), 9, combine="naive_bayes", random_state=0
    ).fit(X, Y)
    outside = combine(bag, X, Y, rule="naive_bayes", on="out_of_bag")
    np.testing.assert_array_equal(outside.predict_proba(X_NEW), bag._raw_shares(X_NEW))
    np.testing.assert_array_equal(outside.predict(X_NEW), bag.predict(X_NEW))


def test_sample_weights_are_copies():
    fitted = CLASSIFIERS["scikit-learn's bagging"].fit(X, Y)
    weights = np.arange(60) % 3
    copies = np.repeat(np.arange(60), weights)
    for rule in ("weighted", "model_averaging"):
        weighted = combine(fitted, X_NEW, Y_NEW, rule=rule, sample_weight=weights)
        copied = combine(fitted, X_NEW[copies], Y_NEW[copies], rule=rule)
        np.testing.assert_array_equal(weighted.predict_proba(X), copied.predict_proba(X))


def test_estimators_of_different_kinds_and_numbers():
    near, bayes = KNeighborsClassifier(1).fit(X, Y), GaussianNB().fit(X, Y)
    line = LogisticRegression(max_iter=500).fit(X, Y)
    found = combine([near, bayes, line], X_NEW, Y_NEW, rule=NaiveBayes(smoothing=0.5))
    assert found.score(X_NEW, Y_NEW) > 0.75
    rows, target = make_friedman1(80, random_state=0)
    lines = [LinearRegression().fit(rows[a::3], target[a::3]) for a in range(3)]
    median = combine(lines, rule="median")
    expected = np.median([one.predict(rows) for one in lines], axis=0)
    np.testing.assert_allclose(median.predict(rows), expected)
    with pytest.raises(AttributeError, match="have no class probabilities"):
        median.predict_proba(rows)
    bag = BaggingRegressor(n_estimators=8, random_state=0).fit(rows, target)
    weighted = combine(bag, rows, target, rule="weighted", on="out_of_bag")
    assert weighted.score(rows, target) > 0.8
    pruned = PrunedClassifier(CLASSIFIERS["ours"], keep=3, random_state=0).fit(X, Y)
    kept = combine(pruned, rule="majority")
    np.testing.assert_array_equal(kept.predict(X_NEW), pruned.predict(X_NEW))


# -- bare answers ---------------------------------------------------------------------------------

VOTES = np.array([["a", "b", "c", "a"], ["a", "b", "b", "?"], ["b", "b", "c", "?"]])


def test_votes_without_labels():
    jury = combine_votes(VOTES, no_vote="?")
    assert jury.classes.tolist() == ["a", "b", "c"]
    assert jury.predict(VOTES).tolist() == ["a", "b", "c", "a"]
    np.testing.assert_allclose(jury.predict_proba(VOTES)[0], [2 / 3, 1 / 3, 0])
    masked = np.ma.masked_array(VOTES, VOTES == "?")
    np.testing.assert_array_equal(
        combine_votes(masked).predict_proba(masked), jury.predict_proba(VOTES)
    )
    assert combine_votes([[1.0, 2.5], [3.0, 0.5], [2.0, 0.0]], rule="median").predict(
        [[1.0, 2.5], [3.0, 0.5], [2.0, 0.0]]
    ).tolist() == [2.0, 0.5]


def test_nothing_is_no_vote_and_not_a_number_may_be():
    votes = [["a", None], ["b", "b"], ["a", None]]
    assert combine_votes(votes).predict(votes).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"first of member 1 on sample 0; .* no_vote=np.nan"):
        combine_votes([[0.5, 1.0], [np.nan, 2.0]], rule="mean")
    numbers = [[0.5, 1.0], [np.nan, 2.0]]
    assert combine_votes(numbers, rule="mean", no_vote=np.nan).predict(numbers).tolist() == [
        0.5,
        1.5,
    ]


def test_the_unit_of_weights_does_not_matter():
    votes, truth = [[0, 0, 1, 1], [0, 1, 1, 0]], [0, 0, 1, 1]
    found = [
        combine_votes(votes, truth, rule="weighted", sample_weight=np.full(4, unit)).decider.weights
        for unit in (1.0, 0.5, 0.001)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_what_is_combined_is_said():
    assert repr(combine_votes(VOTES, no_vote="?")).endswith(" over answers for 3 classes>")
    bag = CLASSIFIERS["ours"].fit(X, Y)
    assert repr(combine(bag)).endswith(" over 9 members for 3 classes>")


def test_votes_with_labels_teach():
    truth = ["a", "b", "c", "a"]
    jury = combine_votes(VOTES, truth, rule="weighted", no_vote="?")
    # The first member is always right, the second on two of three, the third on two of three.
    first, second, third = jury.decider.weights
    assert first > second == third
    assert jury.predict(VOTES).tolist() == truth


def test_samples_that_nobody_votes_on_tell_how_frequent_classes_are():
    jury = combine_votes([["a", "?"]], ["a", "b"], rule="naive_bayes", no_vote="?")
    # By hand: the votes for "a" are 1 of 1 in class "a" and 0 of 0 in "b", each with one more.
    np.testing.assert_allclose(jury.predict_proba([["a"]]), [[4 / 7, 3 / 7]], rtol=1e-9)


def test_supports():
    supports = np.array([[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.1, 0.9]]])
    assert combine_votes(supports, ["no", "yes"], rule="soft").predict(supports).tolist() == [
        "no",
        "yes",
    ]
    product = combine_votes(supports, rule="product").predict_proba(supports)
    np.testing.assert_allclose(product[0, 0], 0.54 / (0.54 + 0.04), rtol=1e-9)


# -- bad input ------------------------------------------------------------------------------------


def test_a_rule_does_not_learn_from_what_members_remember():
    bag = CLASSIFIERS["ours"].fit(X, Y)
    with pytest.raises(ValueError, match="was trained on these samples, so rule='wei"):
        combine(bag, X, Y, rule="weighted")
    turn = np.random.default_rng(0).permutation(len(Y))
    with pytest.raises(ValueError, match=r'on="out_of_bag"; or train it with combine='):
        combine(bag, X[turn], Y[turn], rule="naive_bayes")
    few = prune(bag, X, Y, keep=[3, 1])
    with pytest.raises(ValueError, match="was trained on these samples"):
        combine(few, X, Y, rule="weighted")


def test_pruned_members_still_know_what_they_left_out():
    bag = CLASSIFIERS["ours"].fit(X, Y)
    few = prune(prune(bag, X, Y, keep=[3, 1, 5]), X, Y, keep=[2, 0])
    np.testing.assert_array_equal(few.in_bag(X, Y), bag.in_bag(X, Y)[[5, 3]])
    whole = combine(bag, X, Y, rule="weighted", on="out_of_bag").decider.subset([5, 3])
    found = combine(few, X, Y, rule="weighted", on="out_of_bag").decider
    np.testing.assert_array_equal(found.weights, whole.weights)


def test_the_usual_rule_is_that_of_the_task():
    rows, target = make_friedman1(40, random_state=0)
    bag = BaggingRegressor(n_estimators=4, random_state=0).fit(rows, target)
    np.testing.assert_allclose(combine(bag).predict(rows), bag.predict(rows))
    assert combine_votes(VOTES, no_vote="?").rule.name == "majority"
    assert combine_votes([[1.5, 2.0], [0.5, 1.0]]).predict([[1.5, 2.0], [0.5, 1.0]]).tolist() == [
        1.0,
        1.5,
    ]
    assert combine_votes(np.full((2, 3, 2), 0.5)).rule.name == "soft"


def test_what_is_refused():
    bag = CLASSIFIERS["ours"].fit(X, Y)
    with pytest.raises(ValueError, match="rule='weighted' learns from labelled samples"):
        combine(bag, rule="weighted")
    with pytest.raises(ValueError, match="X is missing"):
        combine(bag, None, Y, rule="weighted")
    with pytest.raises(ValueError, match="no_vote='\\?' is for a matrix"):
        combine(bag, X, Y, rule="weighted", no_vote="?")
    with pytest.raises(ValueError, match="ensemble is of type ndarray, not a fitted ensemble"):
        combine(VOTES, X)
    with pytest.raises(ValueError, match="rule='soft' combines class supports, but votes were"):
        combine_votes(VOTES, rule="soft")
    with pytest.raises(ValueError, match="rule='majority' counts votes, but supports of shape"):
        combine_votes(np.full((2, 3, 2), 0.5), rule="majority")
    with pytest.raises(ValueError, match="y has 2 values and X has 3 rows"):
        combine_votes(np.full((2, 3, 2), 0.5), [0, 1], rule="soft")
    with pytest.raises(ValueError, match="has weights of 2 members, but there are 3"):
        combine_votes(VOTES, rule="majority", weights=[1, 1])
    with pytest.raises(ValueError, match=r"supports has 2 classes and y has 3: \[0, 1, 2\]"):
        combine_votes(np.full((2, 3, 2), 0.5), [0, 1, 2], rule="soft")
    with pytest.raises(ValueError, match="rule='loudest' is not known; rules are majority"):
        combine_votes(VOTES, rule="loudest")
    with pytest.raises(TypeError, match="rule='median' has no option 'share'"):
        combine_votes(VOTES, rule="median", share=0.5)
    with pytest.raises(ValueError, match="X has the vote 'z', which is not among classes"):
        combine_votes(VOTES, no_vote="?").predict(np.full((3, 2), "z"))
    with pytest.raises(ValueError, match="rule='mean' is for regression"):
        combine(bag, rule="mean")
    with pytest.raises(ValueError, match="y holds 'four', which the ensemble does not know"):
        combine(bag, X, ["four"] * len(Y), rule="weighted")
