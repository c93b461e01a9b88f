"""What combining rules refuse, and what they say of it."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.rules.rule import COMBINING_RULES, as_combining_rule

N_CLASSES = 3
LEARNING = ["weighted", "naive_bayes", "model_averaging"]


def rule_of(name):
    return as_combining_rule(name)


def answers(name, n_rows=3, *, absent=False):
    """Seven members that all say the same, or nothing."""
    if rule_of(name).reads == "votes":
        return np.full((7, n_rows), -1 if absent else 1)
    return np.full((7, n_rows, N_CLASSES), np.nan if absent else 1 / N_CLASSES)


def learnt(name):
    return rule_of(name).learn(answers(name), [0, 1, 1], N_CLASSES)


@pytest.mark.parametrize("rule", ["borda", 3, None, ["majority"]])
def test_an_unknown_rule_is_refused_with_those_that_are_known(rule):
    with pytest.raises(ValueError, match=r"rule=.* is not known; rules are majority, plurality"):
        as_combining_rule(rule)


def test_an_unknown_option_is_refused_with_those_that_are_known():
    with pytest.raises(TypeError, match="rule='max' has no option 'share'; its options: none"):
        as_combining_rule("max", share=0.1)
    with pytest.raises(TypeError, match="has no option 'floor'; its options: share"):
        as_combining_rule("trimmed_mean", floor=0.1)
    with pytest.raises(ValueError, match=r"share cannot be .* rule=Max\(\)"):
        as_combining_rule(as_combining_rule("max"), share=0.1)


@pytest.mark.parametrize(
    ("name", "option", "value", "allowed"),
    [
        ("weighted", "smoothing", 0, "a positive number"),
        ("weighted", "smoothing", np.nan, "a positive number"),
        ("weighted", "smoothing", True, "a positive number"),
        ("weighted", "below_chance", "flip", '"against" or "silent"'),
        ("naive_bayes", "smoothing", -1.0, "not negative"),
        ("naive_bayes", "priors", [0.5, 0.5], '"learnt" or "equal"'),
        ("trimmed_mean", "share", -0.1, "from 0 to less than 0.5"),
        ("trimmed_mean", "share", 0.5, "from 0 to less than 0.5"),
        ("product", "floor", 1.0, "from 0 to less than 1"),
        ("product", "floor", "tiny", "from 0 to less than 1"),
        ("model_averaging", "floor", 0.0, "above 0 and below 1"),
        ("model_averaging", "temperature", 0.0, "a positive number"),
        ("model_averaging", "temperature", np.inf, "a positive number"),
        ("model_averaging", "likelihood", "normal", '"supports" or "errors"'),
        ("model_averaging", "priors", [1.0, 0.0], "all positive"),
        ("model_averaging", "priors", [], "all positive"),
        ("soft", "weights", [1.0, -1.0], "none negative and one positive"),
        ("mean", "weights", [0.0, 0.0], "none negative and one positive"),
        ("majority", "weights", [np.inf, 1.0], "a finite number for each member"),
        ("majority", "weights", "log", "a finite number for each member"),
        ("plurality", "weights", [[1.0]], "a finite number for each member"),
    ],
)
def test_a_bad_option_is_refused_with_what_is_allowed(name, option, value, allowed):
    with pytest.raises(ValueError, match=allowed) as caught:
        as_combining_rule(name, **{option: value})
    assert str(caught.value).startswith(f"{option}={value!r} is not allowed; use ")


@pytest.mark.parametrize("name", COMBINING_RULES)
def test_a_rule_for_another_task_is_refused_with_the_rules_for_this_one(name):
    rule = rule_of(name)
    if rule.task == "classification":
        with pytest.raises(ValueError, match="rules for regression are weighted, mean, max"):
            rule.learn([[1.0]], [1.0], 0)
    elif rule.task == "regression":
        with pytest.raises(ValueError, match="rules for classification are majority, plurality"):
            rule.learn([[1]], [1], 2)


@pytest.mark.parametrize("n_classes", [-1, 2.0, None, True, "2"])
def test_a_bad_number_of_classes_is_refused(n_classes):
    with pytest.raises(ValueError, match=r"n_classes=.* is not allowed; use 1 or more"):
        rule_of("majority").learn(None, None, n_classes)
    with pytest.raises(ValueError, match=r"n_classes=.* is not allowed; use 1 or more"):
        rule_of("max").shares([[[0.5, 0.5]]], n_classes)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([0, 1], r"answers has shape \(2,\); \(members, rows\) is expected"),
        (np.empty((0, 3), int), r"answers has shape \(0, 3\); .* at least one member"),
        ([[0.0, 1.0]], "answers holds values of type float64; votes are whole numbers"),
        ([["a", "b"]], "answers holds values of type <U1"),
        ([[0, 3]], "answers holds 3; votes are codes from 0 to 2, or -1"),
        ([[0, -2]], "answers holds -2; votes are codes from 0 to 2, or -1"),
    ],
)
def test_bad_votes_are_refused(answers, message):
    with pytest.raises(ValueError, match=message):
        learnt("majority").shares(answers, N_CLASSES)
    with pytest.raises(ValueError, match=message):
        rule_of("naive_bayes").learn(answers, [0, 1], N_CLASSES)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[0.5, 0.5]], r"answers has shape \(1, 2\); \(members, rows, classes\) is expected"),
        ([[[0.5, 0.5]]], "with 2 classes, and there are 3"),
        ([[[0.5, 0.6, -0.1]]], "answers holds -0.1; supports are numbers from 0 to 1"),
        ([[[0.0, 0.0, np.inf]]], "answers holds inf; supports are numbers from 0 to 1"),
        ([[[np.nan, 0.5, 0.5]]], "answers holds NaN for some classes only, of member 0"),
        ([[["a", "b", "c"]]], "answers must hold supports, which are numbers"),
    ],
)
def test_bad_supports_are_refused(answers, message):
    for name in ("soft", "product", "median"):
        with pytest.raises(ValueError, match=message):
            learnt(name).shares(answers, N_CLASSES)
    with pytest.raises(ValueError, match=message):
        rule_of("model_averaging").learn(answers, [0], N_CLASSES)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([1.0], r"answers has shape \(1,\); \(members, rows\) is expected"),
        ([[1.0, -np.inf]], "answers holds infinity; predictions are numbers, or NaN"),
        ([["high"]], "answers must hold predictions, which are numbers"),
    ],
)
def test_bad_predictions_are_refused(answers, message):
    with pytest.raises(ValueError, match=message):
        rule_of("median").predict(answers)
    with pytest.raises(ValueError, match=message):
        rule_of("weighted").learn(answers, [0.0], 0)


@pytest.mark.parametrize(
    ("y", "n_classes", "message"),
    [
        ([0, 1], 2, r"answers has shape \(1, 3\), with 3 samples, and y has 2 values"),
        ([0, 1, 2], 2, "y holds 2; class codes are from 0 to 1"),
        ([0, 1, -1], 2, "y holds -1; class codes are from 0 to 1"),
        ([0.0, 1.0, 1.0], 2, "y holds values of type float64; class codes are whole numbers"),
        ([[0, 1, 1]], 2, r"y has shape \(1, 3\); one value for each sample"),
        ([0.0, 1.0, np.nan], 0, "y holds nan; targets are finite"),
        (["a", "b", "c"], 0, "y must hold numbers in regression"),
    ],
)
def test_bad_targets_are_refused(y, n_classes, message):
    answers = [[0.0, 1.0, 1.0]] if n_classes == 0 else [[0, 1, 1]]
    with pytest.raises(ValueError, match=message):
        rule_of("weighted").learn(answers, y, n_classes)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"sample_weight has shape \(1,\); one weight for each of the 2"),
        ([1.0, -1.0], "sample_weight must hold finite numbers that are not negative.*-1.0"),
        ([1.0, np.nan], "sample_weight must hold finite numbers"),
        ([0.0, 0.0], "sample_weight is zero for every sample"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        rule_of("weighted").learn([[0, 1]], [0, 1], 2, weights)


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_to_learn_from_is_refused(name):
    rule = rule_of(name)
    with pytest.raises(ValueError, match="answers holds no answer of any member"):
        rule.learn(answers(name, absent=True), [0, 1, 1], N_CLASSES)
    with pytest.raises(ValueError, match="y is empty; at least one sample"):
        rule.learn(answers(name, 0), [], N_CLASSES)
    # The only answers are on a sample of no weight.
    outputs = answers(name, absent=True)
    outputs[:, 0] = answers(name)[:, 0]
    with pytest.raises(ValueError, match="answers holds no answer of any member"):
        rule.learn(outputs, [0, 1, 1], N_CLASSES, [0, 1, 1])


@pytest.mark.parametrize("name", LEARNING)
def test_another_number_of_members_is_refused(name):
    outputs = answers(name)
    with pytest.raises(ValueError, match="answers has 6 members; 7 are expected"):
        learnt(name).shares(outputs[:6], N_CLASSES)


@pytest.mark.parametrize("indices", [[7], [-1], [], [0.5], [True, False], [[0]], "01"])
def test_bad_indices_of_members_are_refused(indices):
    for name in LEARNING:
        with pytest.raises(ValueError, match=r"indices=.* use whole numbers from 0 to 6"):
            learnt(name).subset(indices)


def test_what_a_decider_cannot_do_it_says():
    with pytest.raises(ValueError, match="WeightedVote decides classes; it cannot predict numbers"):
        learnt("majority").predict([[1.0]])
    with pytest.raises(ValueError, match="Product decides classes"):
        rule_of("product").predict([[1.0]])
    with pytest.raises(ValueError, match="VoteLikelihoods decides classes"):
        list(learnt("naive_bayes").staged_predict([[1.0]]))


@pytest.mark.parametrize("factors", [[1, 2], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], 3])
@pytest.mark.parametrize("name", LEARNING)
def test_factors_of_classes_are_checked(name, factors):
    with pytest.raises(ValueError, match=r"class_factors=.* use a finite number for each of 3"):
        rule_of(name).learn(answers(name), [0, 1, 1], N_CLASSES, class_factors=factors)


def test_factors_must_leave_an_sample_and_are_for_classes():
    with pytest.raises(ValueError, match="leaves no sample a positive weight"):
        rule_of("weighted").learn(
            answers("weighted"), [0, 1, 1], N_CLASSES, class_factors=[0, 0, 1]
        )
    with pytest.raises(ValueError, match=r"class_factors=\[1\] is not allowed"):
        rule_of("weighted").learn([[0.5, 1.5]], [0.0, 1.0], 0, class_factors=[1])


@pytest.mark.parametrize("name", LEARNING)
def test_parts_are_checked_as_all_members_would_be(name):
    outputs, rule = answers(name), rule_of(name)
    with pytest.raises(ValueError, match="parts is empty"):
        rule.learn_in_parts([], [0, 1, 1], N_CLASSES)
    with pytest.raises(ValueError, match=r"with 2 samples, and y has 3 values"):
        rule.learn_in_parts([outputs[:3], outputs[3:, :2]], [0, 1, 1], N_CLASSES)
    silent = answers(name, absent=True)
    with pytest.raises(ValueError, match="no answer of any member"):
        rule.learn_in_parts([silent[:3], silent[3:]], [0, 1, 1], N_CLASSES)
