"""Combining rules on random small answers, against one row and one member at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles import combining as oracle
from tests.oracles.random_answers import (
    as_floats,
    assert_shares,
    codes,
    column,
    floats,
    labelled,
    log_odds_of,
    member_weights,
    numbers,
    sizes,
    supports_on,
    votes_on,
)

from orfeon.rules.model_averaging import ModelAveraging
from orfeon.rules.naive_bayes import NaiveBayes
from orfeon.rules.rule import as_combining_rule
from orfeon.rules.supports import Product, Soft, TrimmedMean
from orfeon.rules.votes import Plurality, Weighted

usual = settings(deadline=None, max_examples=shared.cases(80))
F = Fraction


# -- rules that learn nothing ----------------------------------------------------------------------


@usual
@given(st.data())
def test_plurality_and_majority(data):
    n_members, n_rows, n_classes, _ = size = data.draw(sizes())
    votes, weights = data.draw(votes_on(*size)), data.draw(member_weights(n_members))
    for name in ("plurality", "majority"):
        rule = as_combining_rule(name, weights=as_floats(weights))
        decider = rule.learn(None, None, n_classes)
        found = decider.shares(codes(votes), n_classes)
        rows = [column(votes, i) for i in range(n_rows)]
        assert_shares(found, [oracle.shares(oracle.tally(row, n_classes, weights)) for row in rows])
        decided = [oracle.majority(row, n_classes, weights) for row in rows]
        assert np.argmax(found, axis=1).tolist() == decided
        strict = [oracle.strict_majority(row, n_classes, weights) is not None for row in rows]
        assert decider.has_majority(codes(votes), n_classes).tolist() == strict


@usual
@given(st.data())
def test_soft_and_its_weights(data):
    n_members, n_rows, n_classes, _ = size = data.draw(sizes())
    supports, weights = data.draw(supports_on(*size)), data.draw(member_weights(n_members))
    decider = Soft(weights=as_floats(weights)).learn(None, None, n_classes)
    found = decider.shares(floats(supports, n_classes), n_classes)
    assert_shares(
        found, [oracle.soft(column(supports, i), n_classes, weights) for i in range(n_rows)]
    )


@usual
@given(st.data(), st.sampled_from([F(0), F(1, 16), F(1, 1000)]))
def test_product(data, floor):
    _, n_rows, n_classes, _ = size = data.draw(sizes())
    supports = data.draw(supports_on(*size))
    decider = Product(floor=float(floor)).learn(None, None, n_classes)
    found = decider.shares(floats(supports, n_classes), n_classes)
    exact = Fraction(float(floor))
    assert_shares(
        found, [oracle.product(column(supports, i), n_classes, exact) for i in range(n_rows)]
    )


@usual
@given(st.data())
@pytest.mark.parametrize(("name", "of"), [("max", max), ("min", min), ("median", oracle.median)])
def test_largest_least_and_middle(name, of, data):
    _, n_rows, n_classes, _ = size = data.draw(sizes())
    supports = data.draw(supports_on(*size))
    decider = as_combining_rule(name).learn(None, None, n_classes)
    found = decider.shares(floats(supports, n_classes), n_classes)
    rows = [column(supports, i) for i in range(n_rows)]
    assert_shares(found, [oracle.class_by_class(row, n_classes, of) for row in rows])


@usual
@given(st.data(), st.sampled_from([F(0), F(1, 10), F(1, 4), F(1, 3), F(49, 100)]))
def test_trimmed_mean(data, share):
    n_members, n_rows, n_classes, missing = data.draw(sizes())
    supports = data.draw(supports_on(n_members + 3, n_rows, n_classes, missing))
    decider = TrimmedMean(share=float(share)).learn(None, None, n_classes)
    found = decider.shares(floats(supports, n_classes), n_classes)

    def trimmed(values):
        return oracle.trimmed_mean(values, share)

    rows = [column(supports, i) for i in range(n_rows)]
    assert_shares(found, [oracle.class_by_class(row, n_classes, trimmed) for row in rows])


@usual
@given(st.data())
def test_numbers(data):
    n_members, n_rows, _, missing = data.draw(sizes())
    number = st.integers(-40, 40).map(lambda n: F(n, 8))
    value = st.one_of(number, number, st.none()) if missing else number
    row = st.lists(value, min_size=n_rows, max_size=n_rows)
    answers = data.draw(st.lists(row, min_size=n_members, max_size=n_members))
    weights = data.draw(member_weights(n_members))
    rules = {
        "max": max,
        "min": min,
        "median": oracle.median,
        "trimmed_mean": lambda values: oracle.trimmed_mean(values, F(1, 4)),
        "mean": oracle.mean,
    }
    for name, of in rules.items():
        options = {"trimmed_mean": {"share": 0.25}}.get(name, {})
        found = as_combining_rule(name, **options).learn(None, None, 0).predict(numbers(answers))
        for i, decided in enumerate(found):
            answered = oracle.answered(column(answers, i))
            if answered:
                assert decided == pytest.approx(float(of(answered)), rel=1e-13, abs=1e-13)
            else:
                assert math.isnan(decided)
    if weights is None:
        return
    found = as_combining_rule("mean", weights=as_floats(weights)).learn(None, None, 0)
    for i, decided in enumerate(found.predict(numbers(answers))):
        there = [t for t in range(n_members) if answers[t][i] is not None]
        if sum(weights[t] for t in there):
            expected = oracle.mean([answers[t][i] for t in there], [weights[t] for t in there])
            assert decided == pytest.approx(float(expected), rel=1e-13, abs=1e-13)
        else:
            assert math.isnan(decided)


# -- rules that learn ------------------------------------------------------------------------------


@usual
@given(labelled(votes_on), st.sampled_from([F(1, 2), F(1), F(3)]))
def test_log_odds_weights(case, smoothing):
    """A vote of negative weight is one for each of the other classes."""
    known, y, weights, queried, n_classes = case
    expected = log_odds_of(known, y, weights, n_classes, smoothing)
    for below_chance in ("against", "silent"):
        rule = Weighted(smoothing=float(smoothing), below_chance=below_chance)
        decider = rule.learn(codes(known), y, n_classes, as_floats(weights))
        wanted = [max(w, 0.0) if below_chance == "silent" else w for w in expected]
        np.testing.assert_allclose(decider.weights, wanted, rtol=0, atol=2e-12)
        found = decider.shares(codes(queried), n_classes)
        for i, shares in enumerate(found):
            sums = [0.0] * n_classes
            for t, vote in enumerate(column(queried, i)):
                for k in range(n_classes):
                    if vote is not None and wanted[t] > 0:
                        sums[k] += wanted[t] if k == vote else 0.0
                    elif vote is not None:
                        sums[k] -= wanted[t] if k != vote else 0.0
            assert shares.sum() == pytest.approx(1.0, abs=1e-12)
            if sum(sums) > 1e-9:
                assert shares.tolist() == pytest.approx([s / sum(sums) for s in sums], abs=1e-9)
            elif sum(sums) == 0.0:
                assert shares.tolist() == pytest.approx([1 / n_classes] * n_classes)


@usual
@given(labelled(votes_on), st.sampled_from([F(1), F(1, 2)]))
def test_decisions_of_log_odds_are_bayes_rule_in_fractions(case, smoothing):
    """The class of the largest product of p for votes for it, (1 - p) / (K - 1) for others."""
    known, y, weights, queried, n_classes = case
    accuracies = [
        oracle.smoothed_rate(*oracle.hits(answers, y, weights), smoothing, n_classes)
        for answers in known
    ]
    decider = Weighted(smoothing=float(smoothing)).learn(
        codes(known), y, n_classes, as_floats(weights)
    )
    decided = np.argmax(decider.shares(codes(queried), n_classes), axis=1)
    for i, code in enumerate(decided):
        scores = [F(1)] * n_classes
        for p, vote in zip(accuracies, column(queried, i), strict=True):
            for k in range(n_classes):
                if vote is not None:
                    scores[k] *= p if k == vote else (1 - p) / (n_classes - 1)
        assert code == oracle.first_largest(scores)


@usual
@given(
    labelled(votes_on), st.sampled_from([F(0), F(1, 2), F(1)]), st.sampled_from(["learnt", "equal"])
)
def test_naive_bayes(case, smoothing, priors):
    """With nothing known of a member on a class, all its votes are as likely."""
    known, y, weights, queried, n_classes = case
    tables = []
    for answers in known:
        table = oracle.confusion(answers, y, n_classes, weights)
        tables.append([row if sum(row) or smoothing else [F(1)] * n_classes for row in table])
    frequency = [F(1)] * n_classes
    if priors == "learnt":
        frequency = [
            sum((w for label, w in zip(y, weights, strict=True) if label == k), F(0))
            for k in range(n_classes)
        ]
    rule = NaiveBayes(smoothing=float(smoothing), priors=priors)
    decider = rule.learn(codes(known), y, n_classes, as_floats(weights))
    found = decider.shares(codes(queried), n_classes)
    expected = [
        oracle.naive_bayes(column(queried, i), tables, oracle.shares(frequency), smoothing)
        for i in range(len(queried[0]))
    ]
    assert_shares(found, expected, tolerance=1e-10)


@usual
@given(labelled(supports_on), st.sampled_from([F(1, 1000), F(1, 16)]), st.data())
def test_model_averaging_of_supports(case, floor, data):
    """With all answers there and whole weights, the posterior is exact Bayes."""
    known, y, weights, queried, n_classes = case
    assume(all(one is not None for row in known for one in row))
    counts = [int(w * 6) for w in weights]
    priors = data.draw(st.lists(st.integers(1, 5), min_size=len(known), max_size=len(known)))
    exact = Fraction(float(floor))
    values = [oracle.likelihood(rows, y, counts, exact) for rows in known]
    posterior = oracle.posterior(values, priors)
    decider = ModelAveraging(floor=float(floor), priors=priors).learn(
        floats(known, n_classes), y, n_classes, counts
    )
    np.testing.assert_allclose(
        decider.weights, [float(p) for p in posterior], rtol=1e-9, atol=1e-12
    )
    found = decider.shares(floats(queried, n_classes), n_classes)
    for i, shares in enumerate(found):
        expected = oracle.soft(column(queried, i), n_classes, posterior)
        np.testing.assert_allclose(shares, [float(v) for v in expected], rtol=0, atol=1e-9)


@usual
@given(labelled(supports_on), st.sampled_from([0.5, 1.0, 4.0]))
def test_model_averaging_with_missing_answers_temperature_and_parameters(case, temperature):
    """The mean log-likelihood of the answered samples stands for that of all."""
    known, y, weights, _, n_classes = case
    n_parameters = [t + 1 for t in range(len(known))]
    floor, total = 1e-3, float(sum(weights))
    logs = []
    for rows, size in zip(known, n_parameters, strict=True):
        there = [(row[k], w) for row, k, w in zip(rows, y, weights, strict=True) if row and w]
        if there:
            values = [math.log(max(float(value), floor)) for value, _ in there]
            own = float(oracle.mean(values, [w for _, w in there]))
        else:
            own = -math.log(n_classes)
        logs.append((own * total - size / 2 * math.log(total)) / temperature)
    wanted = oracle.shares([math.exp(value - max(logs)) for value in logs])
    rule = ModelAveraging(temperature=temperature, n_parameters=n_parameters)
    decider = rule.learn(floats(known, n_classes), y, n_classes, as_floats(weights))
    np.testing.assert_allclose(decider.weights, wanted, rtol=1e-9, atol=1e-12)


@usual
@given(st.data())
def test_model_averaging_of_numbers(data):
    n_members, n_rows = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 7))
    number = st.integers(-16, 16).map(lambda n: F(n, 4))
    row = st.lists(number, min_size=n_rows, max_size=n_rows)
    known = data.draw(st.lists(row, min_size=n_members, max_size=n_members))
    y = data.draw(row)
    counts = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    assume(len({label for label, n in zip(y, counts, strict=True) if n}) > 1)
    queried = data.draw(st.lists(st.lists(number, min_size=2, max_size=2), min_size=n_members,
                               max_size=n_members))  # fmt: skip
    residuals = [[a - b for a, b in zip(answers, y, strict=True)] for answers in known]
    variances = [oracle.mean([r**2 for r in own], counts) for own in residuals]
    centre = oracle.mean(y, counts)
    least = Fraction(1e-3) * oracle.mean([(value - centre) ** 2 for value in y], counts)
    assume(all(variance > least for variance in variances))
    logs = [oracle.gaussian_log_likelihood(own, counts) for own in residuals]
    wanted = oracle.shares([math.exp(value - max(logs)) for value in logs])
    decider = ModelAveraging().learn(numbers(known), as_floats(y), 0, counts)
    np.testing.assert_allclose(decider.weights, wanted, rtol=1e-8, atol=1e-12)
    means, spreads = decider.predict(numbers(queried)), decider.predict_variance(numbers(queried))
    for i in range(2):
        mean, variance = oracle.average_of_models(column(queried, i), variances, wanted)
        assert means[i] == pytest.approx(float(mean), rel=1e-8, abs=1e-8)
        assert spreads[i] == pytest.approx(float(variance), rel=1e-8, abs=1e-8)


@usual
@given(st.data(), st.sampled_from([F(1), F(1, 2)]))
def test_inverse_squared_errors(data, smoothing):
    """(n + s) / (n e + s v), v being the variance of the targets, as weights of a mean."""
    n_members, n_rows = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 7))
    number = st.integers(-16, 16).map(lambda n: F(n, 4))
    value = st.one_of(number, number, number, st.none())
    row = st.lists(value, min_size=n_rows, max_size=n_rows)
    known = data.draw(st.lists(row, min_size=n_members, max_size=n_members))
    y = data.draw(st.lists(number, min_size=n_rows, max_size=n_rows))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    assume(
        any(n and any(answers[i] is not None for answers in known) for i, n in enumerate(counts))
    )
    centre = oracle.mean(y, counts)
    spread = oracle.mean([(v - centre) ** 2 for v in y], counts)
    weights = []
    for answers in known:
        total, squares = F(0), F(0)
        for v, label, n in zip(answers, y, counts, strict=True):
            if v is not None:
                total, squares = total + n, squares + n * (v - label) ** 2
        below = squares + smoothing * spread
        assume(below > 0)
        weights.append((total + smoothing) / below)
    decider = Weighted(smoothing=float(smoothing)).learn(numbers(known), as_floats(y), 0, counts)
    found = oracle.shares(decider.weights.tolist())
    assert found == pytest.approx([float(w) for w in oracle.shares(weights)], rel=1e-12)


def test_options_of_weights_are_those_of_the_members():
    """By hand: votes of weight 2, 1 and 1 for classes 0, 1 and 1 are a tie."""
    decider = Plurality(weights=[2, 1, 1]).learn(None, None, 2)
    assert decider.shares([[0], [1], [1]], 2).tolist() == [[0.5, 0.5]]
    assert not decider.has_majority([[0], [1], [1]], 2).any()


def test_exact_ties_of_log_odds_are_ties():
    """Smoothed odds 1330/1190 and 1380/1140 multiply to 1449/1071; two votes against the third."""
    counts = (1329, 1379, 1448)
    assert F(1330, 1190) * F(1380, 1140) == F(1449, 1071)
    answers = np.ones((3, 2518), dtype=int)
    for row, n in zip(answers, counts, strict=True):
        row[:n] = 0
    decider = Weighted().learn(answers, np.zeros(2518, dtype=int), 2)
    assert decider.shares([[0, 1], [0, 1], [1, 0]], 2).tolist() == [[0.5, 0.5], [0.5, 0.5]]
