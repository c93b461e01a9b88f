"""What is true of every combining rule: splits, prefixes, absent members, weights."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from tests import shared

from orfeon.rules.answers import exact_sum
from orfeon.rules.rule import COMBINING_RULES, CombiningRule, as_combining_rule, rules_for

N_MEMBERS, N_CLASSES = 7, 3

CASES = [(name, "classification") for name in rules_for("classification")]
CASES += [(name, "regression") for name in rules_for("regression")]
LEARNING = [case for case in CASES if as_combining_rule(case[0]).learns]
OPTIONS = {"trimmed_mean": {"share": 0.2}, "model_averaging": {"temperature": 5.0}}
#: Rules that say the same to the last bit in whatever order the members come.
ORDERLESS = {"majority", "plurality", "weighted", "naive_bayes", "max", "min", "median",
             "trimmed_mean"}  # fmt: skip


def rule_of(name):
    return as_combining_rule(name, **OPTIONS.get(name, {}))


def answers(rule, task, n_rows, seed, absent=0.3):
    """Random answers of members, some absent."""
    rng = np.random.default_rng(seed)
    missing = rng.random((N_MEMBERS, n_rows)) < absent
    if task == "regression":
        return np.where(missing, np.nan, rng.normal(size=missing.shape))
    if rule.reads == "votes":
        return np.where(missing, -1, rng.integers(0, N_CLASSES, missing.shape))
    supports = rng.dirichlet(np.ones(N_CLASSES), missing.shape)
    supports[rng.random(missing.shape) < 0.2] = np.eye(N_CLASSES)[0]  # some are certain
    supports[missing] = np.nan
    return supports


def targets(task, n_rows, seed):
    rng = np.random.default_rng(seed + 1)
    return rng.normal(size=n_rows) if task == "regression" else rng.integers(0, N_CLASSES, n_rows)


def learnt(name, task, seed=0, n_samples=40, members=slice(None), **changes):
    rule = rule_of(name)
    if not rule.learns:
        return rule.learn(None, None, 0 if task == "regression" else N_CLASSES)
    outputs, y = answers(rule, task, n_samples, seed), targets(task, n_samples, seed)
    outputs, y, weights = outputs[members], y, changes.get("weights")
    if "rows" in changes:
        outputs, y = outputs[:, changes["rows"]], y[changes["rows"]]
    return rule.learn(outputs, y, 0 if task == "regression" else N_CLASSES, weights)


def decide(decider, answers, task):
    return decider.predict(answers) if task == "regression" else decider.shares(answers, N_CLASSES)


def staged(decider, answers, task):
    if task == "regression":
        return list(decider.staged_predict(answers))
    return list(decider.staged_shares(answers, N_CLASSES))


def contents(decider):
    return {field.name: getattr(decider, field.name) for field in fields(decider)}


def assert_same_bits(one, other):
    assert type(one) is type(other)
    for name, value in contents(one).items():
        np.testing.assert_array_equal(value, contents(other)[name])


# -- decisions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", rules_for("classification"))
def test_shares_are_not_negative_and_sum_to_one(name):
    outputs = answers(rule_of(name), "classification", 300, seed=5)
    shares = learnt(name, "classification").shares(outputs, N_CLASSES)
    assert shares.shape == (300, N_CLASSES)
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_rows_on_which_nobody_answers_are_left_open(name, task):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 2, seed=5, absent=0.0)
    outputs[:, 0] = -1 if outputs.dtype.kind == "i" else np.nan
    decided = decide(decider, outputs, task)[0]
    if task == "regression":
        assert np.isnan(decided)
    elif name == "naive_bayes":  # all that is known are the prior probabilities
        np.testing.assert_allclose(decided, np.exp(decider.log_priors), rtol=1e-11)
        assert np.ptp(decided) > 0.01
    else:
        np.testing.assert_array_equal(decided, np.full(N_CLASSES, 1 / N_CLASSES))


@pytest.mark.parametrize(("name", "task"), CASES)
@settings(max_examples=shared.cases(30))
@given(cuts=st.lists(st.integers(0, 37), max_size=4), seed=st.integers(0, 20))
def test_how_rows_are_split_does_not_change_a_bit(name, task, cuts, seed):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 37, seed)
    bounds = [0, *sorted(cuts), 37]
    parts = [decide(decider, outputs[:, first:last], task) for first, last in pairwise(bounds)]
    np.testing.assert_array_equal(np.concatenate(parts), decide(decider, outputs, task))


@pytest.mark.parametrize(("name", "task"), CASES)
def test_the_order_of_rows_does_not_change_a_bit(name, task):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 64, seed=9)
    order = np.random.default_rng(0).permutation(64)
    np.testing.assert_array_equal(
        decide(decider, outputs[:, order], task), decide(decider, outputs, task)[order]
    )


@pytest.mark.parametrize(("name", "task"), CASES)
def test_the_layout_of_the_answers_does_not_change_a_bit(name, task):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 50, seed=3)
    expected = decide(decider, outputs, task)
    twice = np.repeat(outputs, 2, axis=1)[:, ::2]
    frozen = outputs.copy()
    frozen.setflags(write=False)
    for other in (np.asfortranarray(outputs), twice, frozen, outputs.tolist()):
        np.testing.assert_array_equal(decide(decider, other, task), expected)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_member_that_does_not_answer_is_one_that_is_not_there(name, task):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 50, seed=4, absent=0.0)
    kept = [0, 1, 3, 4, 6]
    silent = outputs.copy()
    silent[[2, 5]] = -1 if outputs.dtype.kind == "i" else np.nan
    np.testing.assert_array_equal(
        decide(decider, silent, task), decide(decider.subset(kept), outputs[kept], task)
    )


@pytest.mark.parametrize(("name", "task"), CASES)
def test_stages_are_the_decisions_of_the_first_members(name, task):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 30, seed=8)
    stages = staged(decider, outputs, task)
    assert len(stages) == N_MEMBERS
    for n_heard, decided in enumerate(stages, start=1):
        first = decider.subset(range(n_heard))
        np.testing.assert_array_equal(decided, decide(first, outputs[:n_heard], task))
    np.testing.assert_array_equal(stages[-1], decide(decider, outputs, task))


@pytest.mark.parametrize(("name", "task"), CASES)
@settings(max_examples=shared.cases(20))
@given(cuts=st.lists(st.integers(1, N_MEMBERS - 1), max_size=3, unique=True))
def test_answers_that_are_trusted_are_decided_in_the_same_way(name, task, cuts):
    """All at once, and in stages of members that come in parts."""
    decider, n_classes = learnt(name, task), 0 if task == "regression" else N_CLASSES
    outputs = answers(rule_of(name), task, 30, seed=8)
    decided = decider.decide(outputs, n_classes)
    np.testing.assert_array_equal(decided, decide(decider, outputs, task))
    queried = []

    def parts():
        for first, last in pairwise([0, *sorted(cuts), N_MEMBERS]):
            queried.append(last)
            yield outputs[first:last]

    for stage, whole in enumerate(staged(decider, outputs, task), start=1):
        if stage == 1:
            stages = decider.decide_in_stages(parts(), n_classes)
        np.testing.assert_array_equal(next(stages), whole)
        assert queried[-1] == min(last for last in [*cuts, N_MEMBERS] if last >= stage)
    assert next(stages, None) is None


@pytest.mark.parametrize(("name", "task"), CASES)
@settings(max_examples=shared.cases(30))
@given(order=st.permutations(range(N_MEMBERS)), n_kept=st.integers(1, N_MEMBERS))
def test_a_subset_of_what_was_learnt_is_what_a_subset_would_learn(name, task, order, n_kept):
    kept = order[:n_kept]
    assert_same_bits(learnt(name, task).subset(kept), learnt(name, task, members=kept))


@pytest.mark.parametrize(("name", "task"), CASES)
@settings(max_examples=shared.cases(30))
@given(order=st.permutations(range(N_MEMBERS)))
def test_the_order_of_members_does_not_matter(name, task, order):
    decider = learnt(name, task)
    outputs = answers(rule_of(name), task, 40, seed=6)
    decided = decide(decider, outputs, task)
    other = decide(decider.subset(order), outputs[order], task)
    if (name, task) in [("weighted", "regression")] or name not in ORDERLESS:
        np.testing.assert_allclose(other, decided, rtol=1e-13, atol=1e-15)
    else:
        np.testing.assert_array_equal(other, decided)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_mask_keeps_the_same_members_as_their_indices(name, task):
    decider = learnt(name, task)
    mask = np.array([True, False, True, True, False, False, True])
    assert_same_bits(decider.subset(mask), decider.subset([0, 2, 3, 6]))


@pytest.mark.parametrize(("name", "task"), CASES)
def test_no_rows_give_no_decisions(name, task):
    outputs = answers(rule_of(name), task, 0, seed=0)
    decided = decide(learnt(name, task), outputs, task)
    assert decided.shape == ((0,) if task == "regression" else (0, N_CLASSES))


@pytest.mark.parametrize(("name", "task"), CASES)
def test_one_class_or_one_member_is_no_trouble(name, task):
    rule = rule_of(name)
    n_classes = 0 if task == "regression" else 1
    if task == "regression":
        answers = np.array([[1.5, 2.5]])
    else:
        answers = np.zeros((1, 2), dtype=int) if rule.reads == "votes" else np.ones((1, 2, 1))
    decider = rule.learn(answers, [0, 0], n_classes)
    if task == "regression":
        np.testing.assert_allclose(decider.predict(answers), [1.5, 2.5], rtol=1e-15)
    else:
        np.testing.assert_array_equal(decider.shares(answers, 1), [[1.0], [1.0]])


# -- learning ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "task"), LEARNING)
@settings(max_examples=shared.cases(30))
@given(order=st.permutations(range(40)))
def test_the_order_of_samples_does_not_change_a_bit_of_what_is_learnt(name, task, order):
    assert_same_bits(learnt(name, task, rows=list(order)), learnt(name, task))


@pytest.mark.parametrize(("name", "task"), LEARNING)
@settings(max_examples=shared.cases(30))
@given(counts=st.lists(st.integers(0, 3), min_size=40, max_size=40).filter(any))
def test_a_weight_is_that_many_copies_and_none_is_absence(name, task, counts):
    counts = np.array(counts)
    counts[0] = 1  # a weight that is positive, on a sample that somebody answers
    copies = np.repeat(np.arange(40), counts)
    copied = learnt(name, task, rows=copies)
    assert_same_bits(learnt(name, task, weights=counts), copied)


@pytest.mark.parametrize(("name", "task"), LEARNING)
def test_fractions_count_as_parts_of_samples(name, task):
    """Weights 0.2 and 0.4 among others of 0.2 are one sample and two, each of weight 0.2."""
    weights = np.full(40, 0.2)
    weights[3] = 0.4
    copies = [*range(40), 3]
    copied = learnt(name, task, rows=copies, weights=np.full(41, 0.2))
    assert_same_bits(learnt(name, task, weights=weights), copied)


@pytest.mark.parametrize(("name", "task"), LEARNING)
@settings(max_examples=shared.cases(30))
@given(
    cuts=st.lists(st.integers(1, N_MEMBERS - 1), max_size=4, unique=True), seed=st.integers(0, 9)
)
def test_members_may_be_learnt_of_a_few_at_a_time(name, task, cuts, seed):
    rule, n_classes = rule_of(name), 0 if task == "regression" else N_CLASSES
    outputs, y = answers(rule, task, 40, seed), targets(task, 40, seed)
    outputs[2] = -1 if outputs.dtype.kind == "i" else np.nan  # a part may say nothing
    weights = np.random.default_rng(seed).integers(0, 4, 40) / 3
    parts = (outputs[first:last] for first, last in pairwise([0, *sorted(cuts), N_MEMBERS]))
    found = rule.learn_in_parts(parts, y, n_classes, weights)
    assert_same_bits(found, rule.learn(outputs, y, n_classes, weights))


def learnt_with(name, task, weights, rows=slice(None), **settings):
    rule, n_classes = rule_of(name), 0 if task == "regression" else N_CLASSES
    outputs, y = answers(rule, task, 40, 0), targets(task, 40, 0)
    return rule.learn(outputs[:, rows], y[rows], n_classes, weights, **settings)


@pytest.mark.parametrize(("name", "task"), LEARNING)
@pytest.mark.parametrize("unit", [0.001, 0.3, 7.7, 1e-200])
def test_relative_weights_have_no_unit(name, task, unit):
    proportions = np.random.default_rng(2).integers(0, 5, 40).astype(float)
    one = learnt_with(name, task, 0.1 * proportions, relative=True)
    assert_same_bits(learnt_with(name, task, unit * proportions, relative=True), one)
    # They are 1 on average, those of no weight being absent.
    rows = np.flatnonzero(proportions)
    mean = proportions[rows].mean()
    absolute = contents(learnt_with(name, task, proportions[rows] / mean, rows))
    for field, value in contents(one).items():
        if value is not None:
            np.testing.assert_allclose(value, absolute[field], rtol=1e-10, atol=1e-10)
    equal = learnt_with(name, task, np.full(40, unit), relative=True)
    assert_same_bits(equal, learnt_with(name, task, None))


@pytest.mark.parametrize(("name", "task"), LEARNING)
def test_relative_weights_that_are_whole_numbers_count_copies(name, task):
    counts = np.random.default_rng(2).integers(0, 5, 40)
    assert_same_bits(
        learnt_with(name, task, counts, relative=True), learnt_with(name, task, counts)
    )


CLASS_LEARNING = [name for name, task in LEARNING if task == "classification"]


@pytest.mark.parametrize("name", CLASS_LEARNING)
@settings(max_examples=shared.cases(20))
@given(counts=st.lists(st.integers(0, 3), min_size=40, max_size=40), seed=st.integers(0, 100))
def test_weights_are_copies_also_with_factors_of_classes(name, counts, seed):
    counts = np.array(counts)
    counts[0] = 1
    factors = np.random.default_rng(seed).random(N_CLASSES) + 0.1
    copies = np.repeat(np.arange(40), counts)
    task = "classification"
    found = learnt_with(name, task, counts, class_factors=factors)
    assert_same_bits(found, learnt_with(name, task, None, copies, class_factors=factors))


@pytest.mark.parametrize("name", CLASS_LEARNING)
def test_factors_multiply_the_weights_of_their_classes(name):
    task, y = "classification", targets("classification", 40, 0)
    weights = np.random.default_rng(2).integers(0, 5, 40)
    found = learnt_with(name, task, weights, class_factors=[3, 0, 1])
    assert_same_bits(found, learnt_with(name, task, weights * np.array([3, 0, 1])[y]))
    factors = np.array([0.3, 1.7, 0.05])
    found = contents(learnt_with(name, task, weights, class_factors=factors))
    multiplied = contents(learnt_with(name, task, weights * factors[y]))
    for field, value in found.items():
        if value is not None:
            np.testing.assert_allclose(value, multiplied[field], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "task"), LEARNING)
def test_smoothing_and_floors_do_not_hide_what_weights_say(name, task):
    weights = np.where(np.arange(40) < 20, 1.0, 5.0)
    one, other = contents(learnt(name, task, weights=weights)), contents(learnt(name, task))
    assert any(
        np.abs(one[field] - other[field]).max() > 0.01 for field in one if one[field] is not None
    )


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    seed=st.integers(0, 10),
)
def test_an_exact_sum_is_exact(values, seed):
    weights = np.random.default_rng(seed).integers(1, 1000, len(values)).astype(float)
    exactly = sum(Fraction(v) * int(w) for v, w in zip(values, weights, strict=True))
    found = exact_sum(np.array(values), weights)
    largest = max(Fraction(abs(v)) for v in values)
    off = abs(Fraction(found) - exactly)
    assert off <= Fraction(1, 2**52) * abs(exactly) + Fraction(1, 2**140) * largest


def test_huge_and_tiny_numbers_have_a_sum():
    assert exact_sum(np.array([1e308, -1e308, 1.0]), np.ones(3)) in (0.0, 1.0)
    assert exact_sum(np.array([5e-324, 5e-324]), np.ones(2)) == 1e-323
    assert exact_sum(np.zeros(2), np.ones(2)) == 0.0
    assert exact_sum(np.array([np.inf, 1.0]), np.ones(2)) == np.inf


# -- settings ----------------------------------------------------------------------------------


class Holder(BaseEstimator):
    def __init__(self, combine="majority"):
        self.combine = combine


@pytest.mark.parametrize("name", COMBINING_RULES)
def test_a_rule_is_a_setting(name):
    rule = rule_of(name)
    assert isinstance(rule, CombiningRule)
    assert rule.name == name
    assert rule == rule_of(name)
    assert hash(rule) == hash(rule_of(name))
    assert eval(repr(rule), {type(rule).__name__: type(rule)}) == rule
    assert pickle.loads(pickle.dumps(rule)) == copy.deepcopy(rule) == rule
    assert clone(Holder(rule)).combine == rule
    assert as_combining_rule(rule) is rule
    for field in fields(rule):
        assert not isinstance(getattr(rule, field.name), np.ndarray)


@pytest.mark.parametrize("name", ["majority", "plurality", "soft", "mean"])
def test_given_weights_are_kept_as_a_setting(name):
    rule = as_combining_rule(name, weights=np.array([1, 2]))
    assert rule.weights == (1.0, 2.0)
    assert rule == as_combining_rule(name, weights=[1, 2]) != as_combining_rule(name)
    assert hash(rule) == hash(as_combining_rule(name, weights=(1.0, 2.0)))
    assert clone(Holder(rule)).combine == rule


@pytest.mark.parametrize("name", COMBINING_RULES)
def test_a_rule_is_cut_with_the_members(name):
    rule = rule_of(name)
    assert rule.is_plain
    assert rule.subset([2, 0]) is rule
    options = {"model_averaging": {"priors": [1, 2, 3], "n_parameters": [0, 0, 5]}}
    of_members = options.get(name, {"weights": [1, 2, 3]})
    if not rule.per_member:
        assert name not in ("majority", "plurality", "soft", "mean", "model_averaging")
        return
    rule = as_combining_rule(name, **of_members)
    assert not rule.is_plain
    assert rule != as_combining_rule(name)
    for kept in ([2, 0], [False, True, False]):
        cut = {option: np.array(numbers)[kept].tolist() for option, numbers in of_members.items()}
        assert rule.subset(kept) == as_combining_rule(name, **cut)


def test_a_rule_cannot_be_cut_to_members_that_do_not_count_or_are_not_there():
    rule = as_combining_rule("soft", weights=[1, 0, 0])
    with pytest.raises(ValueError, match=r"weights=\[0.0, 0.0\] is not allowed; .* one positive"):
        rule.subset([1, 2])
    with pytest.raises(ValueError, match=r"indices=\[3\] is not allowed; .* from 0 to 2"):
        rule.subset([3])


@pytest.mark.parametrize(("name", "task"), CASES)
def test_what_is_learnt_is_plain(name, task):
    decider = learnt(name, task)
    for value in contents(decider).values():
        assert value is None or isinstance(value, np.ndarray | float | str)
    again = pickle.loads(pickle.dumps(decider))
    assert_same_bits(again, decider)


def test_names_by_task():
    assert COMBINING_RULES == (
        "majority", "plurality", "weighted", "soft", "mean", "product", "max", "min", "median",
        "trimmed_mean", "naive_bayes", "model_averaging",
    )  # fmt: skip
    assert set(rules_for("classification")) == set(COMBINING_RULES) - {"mean"}
    assert [name for name in COMBINING_RULES if rule_of(name).learns] == [
        "weighted", "naive_bayes", "model_averaging",
    ]  # fmt: skip
    votes = [name for name in COMBINING_RULES if rule_of(name).reads == "votes"]
    assert votes == ["majority", "plurality", "weighted", "naive_bayes"]
