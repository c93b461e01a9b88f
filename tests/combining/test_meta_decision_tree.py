"""Meta decision trees: the leaves choose the member that is right most often there."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.combining.meta_decision_tree import MetaDecisionTree, distribution_properties
from orfeon.data.schema import Schema


def answers_of(probability):
    """Two classes: the probability of the second, by each member."""
    probability = np.asarray(probability, dtype=float)
    return np.stack([1 - probability, probability], axis=2)


def sure_or_not(n=600, seed=0):
    """The first member is right when it is sure; the second in seven cases of ten."""
    rng = np.random.default_rng(seed)
    y, sure = rng.integers(0, 2, n), rng.random(n) < 0.5
    first = np.where((sure | (rng.random(n) < 0.5)) == (y == 1), 1, -1) * np.where(sure, 0.4, 0.1)
    second = np.where((rng.random(n) < 0.7) == (y == 1), 0.3, -0.3)
    return answers_of([0.5 + first, 0.5 + second]), y, sure


def accuracy(tree, answers, y):
    chosen = tree.choose(answers)
    return np.mean(answers[chosen, np.arange(len(y))].argmax(axis=1) == y)


def test_properties_are_the_greatest_probability_and_the_entropy():
    found = distribution_properties(
        np.array([[[0.25, 0.75], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]])
    )
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    np.testing.assert_allclose(found, [[0.75, 0.5, entropy, 1.0], [1.0, 1.0, 0.0, 0.0]])
    assert not np.signbit(found).any()


def test_a_member_is_believed_when_it_is_sure():
    answers, y, sure = sure_or_not()
    tree = MetaDecisionTree(random_state=0).learn(answers, y)
    np.testing.assert_array_equal(tree.choose(answers), np.where(sure, 0, 1))
    assert tree.forest_.n_leaves.tolist() == [2]
    fresh, y_fresh, _ = sure_or_not(seed=1)
    assert accuracy(tree, fresh, y_fresh) > 0.8  # 0.85 on average; each alone 0.75 and 0.7


def test_the_root_is_the_best_member():
    """By the weight of the samples that it is right about."""
    y = np.array([1, 1, 1, 0])
    answers = answers_of([[0.9, 0.9, 0.1, 0.9], [0.1, 0.1, 0.9, 0.1]])  # two against two
    for weights, best in (([2.0, 1, 1, 1], 0), ([1.0, 1, 1, 2], 1)):
        tree = MetaDecisionTree(pruning=1.0).learn(answers, y, np.array(weights))
        assert tree.forest_.n_leaves.tolist() == [1]
        assert set(tree.choose(answers)) == {best}


def test_leaves_count_how_often_each_member_is_right_where_they_differ():
    answers, y, _ = sure_or_not()
    tree = MetaDecisionTree(pruning=None, random_state=0).learn(answers, y)
    right = answers.argmax(axis=2) == y
    differ = right.any(axis=0) & ~right.all(axis=0)
    np.testing.assert_array_equal(tree.forest_.value[0], right[:, differ].sum(axis=1))


def test_pruning_minimises_the_error_of_those_chosen():
    """A property that says nothing is not tested after cross-validation."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    outputs = np.where((rng.random((2, 500)) < [[0.8], [0.6]]) == (y == 1), 1, -1)
    answers = answers_of(0.5 + outputs * rng.uniform(0.1, 0.5, (2, 500)))
    tree = MetaDecisionTree(random_state=0).learn(answers, y)
    assert tree.forest_.n_leaves.tolist() == [1]
    assert set(tree.choose(answers)) == {0}
    assert MetaDecisionTree(pruning=None).learn(answers, y).forest_.n_leaves[0] > 50


def test_weights_are_copies():
    answers, y, _ = sure_or_not(200)
    weights = np.random.default_rng(1).integers(0, 3, 200)
    copies = np.repeat(np.arange(200), weights)
    keep = np.flatnonzero(weights)
    weighted = MetaDecisionTree(random_state=0).learn(
        answers[:, keep], y[keep], 1.0 * weights[keep], groups=keep
    )
    repeated = MetaDecisionTree(random_state=0).learn(answers[:, copies], y[copies], groups=copies)
    np.testing.assert_array_equal(weighted.choose(answers), repeated.choose(answers))
    np.testing.assert_array_equal(weighted.forest_.value, repeated.forest_.value)


def test_members_that_are_not_heard_are_not_counted():
    answers, y, sure = sure_or_not()
    answered = np.stack([~sure, np.ones(len(y), dtype=bool)])
    tree = MetaDecisionTree(random_state=0).learn(answers, y, answered=answered)
    assert set(tree.choose(answers)) == {1}


def test_members_that_are_equally_good_are_the_first_of_them():
    y = np.array([0, 1, 1])
    same = answers_of([[0.2, 0.7, 0.6]] * 3)
    tree = MetaDecisionTree().learn(same, y)
    assert tree.choose(same).tolist() == [0, 0, 0]
    wrong = MetaDecisionTree().learn(1 - same, y)
    assert wrong.choose(same).tolist() == [0, 0, 0]


def test_probabilities_and_features_can_be_tested_too():
    """The first member is right where it says the second class, whatever it is sure of."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    first = np.where(rng.random(400) < 0.5, 0.8, 0.2)
    y = np.where(first > 0.5, 1, y)
    second = np.where((first < 0.5) | (rng.random(400) < 0.4), y, 1 - y) * 0.6 + 0.2
    answers = answers_of([first, second])
    blind = MetaDecisionTree(random_state=0).learn(answers, y)
    sighted = MetaDecisionTree(properties="probabilities", random_state=0).learn(answers, y)
    assert accuracy(sighted, answers, y) == 1.0 > accuracy(blind, answers, y)
    colour = ((first > 0.5)[:, None].astype(float), Schema((("blue", "red"),)))
    by_colour = MetaDecisionTree(random_state=0).learn(answers, y, features=colour)
    chosen = by_colour.choose(answers, features=colour)
    assert (chosen == (first < 0.5)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"properties": "all"}, "properties='all' is not allowed; use 'distribution' or 'prob"),
        ({"criterion": "error"}, "criterion='error' is not allowed; use 'gini' or 'entropy'"),
        ({"pruning_rule": "2se"}, "pruning_rule='2se' is not allowed; use '1se' or 'min'"),
        ({"pruning": "no"}, "pruning='no' is not allowed"),
        ({"pruning": -0.1}, "pruning=-0.1 is not allowed"),
        ({"pruning": np.nan}, "pruning=nan is not allowed"),
        ({"n_folds": 1}, "n_folds=1 is not allowed; give at least 2"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0 is not allowed; give at least 1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    tree = MetaDecisionTree(**parameters)
    with pytest.raises(ValueError, match=message):
        tree.learn(answers_of([[0.2, 0.7]]), np.array([0, 1]))
