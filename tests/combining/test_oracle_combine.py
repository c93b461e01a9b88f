"""Rules inside ensembles, and over any members: what they learn and decide, row by row."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from tests import shared
from tests.oracles import combining as oracle
from tests.oracles.random_answers import (
    as_floats,
    assert_shares,
    column,
    labelled,
    log_odds_of,
    votes_on,
)

from orfeon import BaggingClassifier, BaggingRegressor, combine
from orfeon.combining import combine_votes
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.members import adapt

usual = settings(deadline=None, max_examples=shared.cases(80))
F = Fraction


def in_no_unit(weights):
    """Whole numbers count copies; fractions are relative to the mean of those that count."""
    if all(weight == int(weight) for weight in weights):
        return weights
    positive = [weight for weight in weights if weight > 0]
    return [weight * len(positive) / sum(positive) for weight in weights]


@usual
@given(labelled(votes_on))
def test_combine_reads_labels_and_missing_votes(case):
    """The classes are those that are voted for or true, sorted as words."""
    known, y, weights, queried, n_classes = case
    names = ["pear", "fig", "apple", "plum", "lime"][:n_classes]
    met = sorted({names[k] for row in known for k in row if k is not None} | {names[k] for k in y})
    codes_of = {k: met.index(name) for k, name in enumerate(names) if name in met}
    queried = [[vote if vote in codes_of else None for vote in row] for row in queried]

    def words(votes):
        return np.array([["?" if v is None else names[v] for v in row] for row in votes])

    def coded(votes):
        return [[None if v is None else codes_of[v] for v in row] for row in votes]

    jury = combine_votes(
        words(known), [names[k] for k in y], rule="naive_bayes", no_vote="?",
        sample_weight=as_floats(weights),
    )  # fmt: skip
    assert jury.classes.tolist() == met
    labels = [codes_of[k] for k in y]
    weights = in_no_unit(weights)
    tables = [oracle.confusion(answers, labels, len(met), weights) for answers in coded(known)]
    frequency = [
        sum((w for label, w in zip(labels, weights, strict=True) if label == k), F(0))
        for k in range(len(met))
    ]
    expected = [
        oracle.naive_bayes(column(coded(queried), i), tables, oracle.shares(frequency), 1)
        for i in range(len(queried[0]))
    ]
    assert_shares(jury.predict_proba(words(queried)), expected, tolerance=1e-10)
    decided = [met[oracle.first_largest(row)] for row in expected]
    assert jury.predict(words(queried)).tolist() == decided


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", ["weighted", "naive_bayes", "model_averaging"])
def test_bags_learn_their_rule_from_what_members_left_out(rule, weighted):
    X, y = make_waveform(60, random_state=2)
    counts = np.random.default_rng(1).integers(0, 3, 60) if weighted else np.ones(60, int)
    given_weights = counts if weighted else None
    bag = BaggingClassifier(n_estimators=7, random_state=0, combine=rule)
    bag.fit(X, y, sample_weight=given_weights)
    other = combine(
        BaggingClassifier(n_estimators=7, random_state=0).fit(X, y, sample_weight=given_weights),
        X, y, rule=rule, on="out_of_bag", sample_weight=given_weights,
    )  # fmt: skip
    members = adapt(bag)
    left_out = members.out_of_bag(X, y, given_weights)
    labels, queried = y.tolist(), make_waveform(30, random_state=3)[0]
    answered = [
        [int(v) if out else None for v, out in zip(row, mask, strict=True)]
        for row, mask in zip(members.answers(X), left_out, strict=True)
    ]
    new = members.answers(queried).T.tolist()
    if rule == "weighted":
        logs = log_odds_of(answered, labels, counts.tolist(), 3, F(1))
        np.testing.assert_allclose(bag.decider_.weights, logs, rtol=0, atol=2e-12)
        decided = [oracle.plurality(row, 3, logs) for row in new]
    elif rule == "naive_bayes":
        tables = [oracle.confusion(outputs, labels, 3, counts.tolist()) for outputs in answered]
        priors = oracle.shares([F(int(counts[y == k].sum())) for k in range(3)])
        decided = [oracle.first_largest(oracle.naive_bayes(row, tables, priors, 1)) for row in new]
    else:
        supports, total, logs = members.supports(X), float(counts.sum()), []
        for t in range(7):
            rows = [i for i in range(60) if left_out[t, i] and counts[i]]
            values = [math.log(max(supports[t, i, labels[i]], 1e-3)) for i in rows]
            logs.append(total * float(oracle.mean(values, [int(counts[i]) for i in rows])))
        posterior = oracle.shares([math.exp(value - max(logs)) for value in logs])
        np.testing.assert_allclose(bag.decider_.weights, posterior, rtol=1e-8, atol=1e-12)
        answers = members.supports(queried)
        decided = [
            oracle.first_largest(oracle.soft(answers[:, i].tolist(), 3, posterior))
            for i in range(30)
        ]
    assert bag.predict(queried).tolist() == decided
    np.testing.assert_allclose(
        bag._raw_shares(queried), other.predict_proba(queried), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("rule", ["median", "trimmed_mean", "max", "min"])
def test_bags_of_regressors_combine_numbers(rule):
    X, y = make_friedman1(50, random_state=0)
    bag = BaggingRegressor(n_estimators=11, random_state=0, combine=rule).fit(X, y)
    of = {
        "median": oracle.median, "max": max, "min": min,
        "trimmed_mean": lambda values: oracle.trimmed_mean(values, F(1, 10)),
    }[rule]  # fmt: skip
    queried = make_friedman1(20, random_state=1)[0]
    expected = [float(of(values)) for values in adapt(bag).answers(queried).T.tolist()]
    np.testing.assert_allclose(bag.predict(queried), expected, rtol=1e-12)
