"""What is proved of boosting, on runs of random members: first of the oracles, to the last digit.

The random member of a round is a random vote or its opposite, whichever has less weight in error,
so there is always some edge and never a reason to stop but an exact half.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tests import shared
from tests.oracles.boosting import (
    DIGITS,
    SPECK,
    adaboost,
    adaboost_exponential,
    adaboost_m1,
    arc_x4,
    decimal,
    filter_distribution,
)
from tests.oracles.boosting_labels import adaboost_m2, adaboost_mh, adaboost_oc
from tests.oracles.boosting_weak import error_of, in_turn

HALF = Fraction(1, 2)
fifty = settings(deadline=None, derandomize=True, max_examples=shared.cases(50))


@pytest.fixture(autouse=True, scope="module")
def _sixty_digits():
    with localcontext(DIGITS):
        yield


def better_side(votes):
    """The weak learner of random votes of -1 and +1, turned round where that errs less."""
    answers = iter(votes)

    def weak(weights, labels):
        outputs = next(answers)
        if error_of(weights, labels, outputs) > HALF:
            return [-v for v in outputs]
        return outputs

    return weak


@st.composite
def two_classes(draw, most_rounds=8):
    """Labels and votes of -1 and +1."""
    n = draw(st.integers(3, 12))
    signs = st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)
    y = draw(signs)
    votes = draw(st.lists(signs, min_size=1, max_size=most_rounds))
    return y, votes


@st.composite
def several_classes(draw, most_rounds=6):
    """Labels, votes and the number of classes."""
    n, n_classes = draw(st.integers(3, 9)), draw(st.integers(3, 5))
    codes = st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)
    return draw(codes), draw(st.lists(codes, min_size=1, max_size=most_rounds)), n_classes


def wrong_share(decided, y):
    return Fraction(sum(a != b for a, b in zip(decided, y, strict=True)), len(y))


def signs_of(scores):
    return [1 if s > 0 else -1 for s in scores]


def normalisers(members):
    """Z = 2 sqrt(e(1 - e)) of each member, in sixty digits."""
    return [(decimal(4 * m.error * (1 - m.error))).sqrt() for m in members]


@given(two_classes())
@fifty
def test_the_last_member_errs_on_exactly_half_of_the_new_weights(problem):
    y, votes = problem
    run = adaboost(better_side(votes), y, len(votes))
    after = [r.weights for r in run.rounds[1:]] + [run.weights]
    for this, weights in zip(run.rounds, after, strict=True):
        assert sum(weights) == 1
        if this.kept and this.error > 0:
            assert error_of(weights, y, this.answers) == HALF


@given(two_classes())
@fifty
def test_both_forms_of_the_weights_are_one(problem):
    y, votes = problem
    run = adaboost(better_side(votes), y, len(votes))
    members = [m for m in run.members if m.error > 0]
    rounds = adaboost_exponential(in_turn([m.answers for m in members]), y, len(members))
    assert len(rounds) == len(members)
    for exact, digits, Z in zip(members, rounds, normalisers(members), strict=True):
        assert abs(digits.error - decimal(exact.error)) < SPECK
        assert abs(digits.alpha - exact.alpha) < SPECK
        assert abs(digits.Z - Z) < SPECK
        for a, b in zip(digits.weights, exact.weights, strict=True):
            assert abs(a - decimal(b)) < SPECK


@given(two_classes())
@fifty
def test_weights_are_the_exponential_loss_of_the_scores(problem):
    y, votes = problem
    run = adaboost(better_side(votes), y, len(votes))
    assume(run.end != "no error")
    losses = [(-own * s).exp() for own, s in zip(y, run.scores(), strict=True)]
    total = sum(losses)
    # N times the product of all Z is the loss
    product = prod(normalisers(run.members), start=Decimal(1))
    assert abs(total / len(y) - product) < SPECK * total
    for loss, weight in zip(losses, run.weights, strict=True):
        assert abs(loss / total - decimal(weight)) < SPECK


@given(two_classes())
@fifty
def test_training_error_is_below_both_bounds_at_every_round(problem):
    y, votes = problem
    run = adaboost(better_side(votes), y, len(votes))
    assume(run.end != "no error")
    Z = normalisers(run.members)
    for t in range(len(Z) + 1):
        product = prod(Z[:t], start=Decimal(1))
        edges = [decimal(HALF - m.error) for m in run.members[:t]]
        assert decimal(wrong_share(run.signs(t), y)) <= product + SPECK
        assert product <= (-2 * sum((g * g for g in edges), Decimal(0))).exp() + SPECK


@given(two_classes())
@fifty
def test_margins_are_below_the_bound_for_any_theta_at_every_round(problem):
    y, votes = problem
    run = adaboost(better_side(votes), y, len(votes))
    assume(run.end != "no error")
    for t in range(1, len(run.members) + 1):
        members = run.members[:t]
        total = sum(m.alpha for m in members)
        assume(total > 0)
        margins = [own * s / total for own, s in zip(y, run.scores(t), strict=True)]
        errors = [decimal(m.error) for m in members]
        log_wrong = sum(e.ln() for e in errors)
        log_right = sum((1 - e).ln() for e in errors)
        for theta in [Decimal(k) / 10 for k in range(-10, 11)] + margins:
            share = Decimal(sum(m <= theta + SPECK for m in margins)) / len(y)
            # The product over members of 2 sqrt(e^(1 - theta) (1 - e)^(1 + theta)).
            bound = 2**t * (((1 - theta) * log_wrong + (1 + theta) * log_right) / 2).exp()
            assert share <= bound * (1 + SPECK)


@given(two_classes(most_rounds=5))
@fifty
def test_alpha_is_the_minimum_of_the_exponential_loss_along_the_member(problem):
    y, votes = problem
    run = adaboost(better_side(votes), y, len(votes))
    labels = np.array(y, dtype=float)
    for t, member in enumerate(run.members):
        if member.error == 0:
            break
        scores = np.array([float(s) for s in run.scores(t)])
        answers = np.array(member.answers, dtype=float)
        found = minimize_scalar(
            lambda a, F=scores, h=answers: np.exp(-labels * (F + a * h)).sum(),
            bounds=(-2, 8), method="bounded", options={"xatol": 1e-12},
        )  # fmt: skip
        assert found.x == pytest.approx(float(member.alpha), abs=1e-6)
        # and the slope there is zero, which is exact: half of the new weight is wrong
        slope = sum((1 if h != o else -1) * w for h, o, w in zip(
            member.answers, y,
            run.rounds[t + 1].weights if t + 1 < len(run.rounds) else run.weights,
            strict=True))  # fmt: skip
        assert slope == 0


@given(two_classes())
@fifty
def test_m1_of_two_classes_is_adaboost(problem):
    y, votes = problem
    codes = [(v + 1) // 2 for v in y]
    run = adaboost(in_turn(votes), y, len(votes))
    answers = in_turn([[(v + 1) // 2 for v in h] for h in votes])
    m1 = adaboost_m1(answers, codes, len(votes), floor=Fraction(0))
    assert m1.end == run.end
    assert m1.weights == run.weights
    for a, b in zip(m1.rounds, run.rounds, strict=True):
        assert (a.weights, a.error, a.odds, a.kept) == (b.weights, b.error, b.odds, b.kept)
    for t in range(len(run.members) + 1):
        assert [2 * d - 1 for d in m1.decisions(2, t)] == run.signs(t)


@given(two_classes())
@fifty
def test_samme_of_two_classes_is_m1(problem):
    y, votes = problem
    codes, answers = [(v + 1) // 2 for v in y], [[(v + 1) // 2 for v in h] for h in votes]
    m1 = adaboost_m1(in_turn(answers), codes, len(votes))
    samme = adaboost_m1(in_turn(answers), codes, len(votes), n_classes=2, samme=True)
    assert m1 == samme


@given(several_classes())
@fifty
def test_samme_leaves_its_member_with_the_error_of_a_guess(problem):
    y, votes, n_classes = problem
    run = adaboost_m1(
        in_turn(votes), y, len(votes), n_classes=n_classes, samme=True, floor=Fraction(0)
    )
    after = [r.weights for r in run.rounds[1:]] + [run.weights]
    for this, weights in zip(run.rounds, after, strict=True):
        if this.kept and this.error > 0:
            assert error_of(weights, y, this.answers) == Fraction(n_classes - 1, n_classes)


@given(several_classes())
@fifty
def test_m1_training_error_is_below_the_product(problem):
    y, votes, n_classes = problem
    run = adaboost_m1(in_turn(votes), y, len(votes), floor=Fraction(0))
    assume(run.end != "no error")
    for t in range(len(run.members) + 1):
        product = prod(normalisers(run.members[:t]), start=Decimal(1))
        assert decimal(wrong_share(run.decisions(n_classes, t), y)) <= product + SPECK


@given(several_classes())
@fifty
def test_arc_x4_weighs_by_one_plus_the_fourth_power(problem):
    y, votes, _ = problem
    run = arc_x4(in_turn(votes), y, len(votes))
    misses = [sum(h[i] != y[i] for h in votes) for i in range(len(y))]
    total = sum(1 + m**4 for m in misses)
    assert [w * total for w in run.weights] == [1 + m**4 for m in misses]


def edged(plausibilities):
    """The M2 weak learner of random tables, turned round where that has the smaller loss."""
    answers = iter(plausibilities)

    def weak(weights, y):
        h = next(answers)
        edge = sum(
            w * (decimal(h[i][y[i]]) - decimal(h[i][k]))
            for i, row in enumerate(weights)
            for k, w in enumerate(row)
        )
        return h if edge >= 0 else [[1 - v for v in row] for row in h]

    return weak


@st.composite
def plausibility_tables(draw):
    """Labels, tables of plausibilities in tenths, and the number of classes."""
    n, n_classes = draw(st.integers(2, 7)), draw(st.integers(2, 4))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    tenths = st.integers(0, 10).map(lambda v: Fraction(v, 10))
    row = st.lists(tenths, min_size=n_classes, max_size=n_classes)
    table = st.lists(row, min_size=n, max_size=n)
    return y, draw(st.lists(table, min_size=1, max_size=5)), n_classes


def assert_below_product_of_edges(run, y, n_classes):
    """Training error <= (K - 1) times the product of sqrt(1 - 4 gamma^2), at every round."""
    bound = Decimal(n_classes - 1)
    for t, m in enumerate(run.members):
        if m.error < SPECK:
            break
        gamma = Decimal("0.5") - m.error
        bound *= (1 - 4 * gamma * gamma).sqrt()
        assert decimal(wrong_share(run.decisions(t + 1), y)) <= bound + SPECK


@given(plausibility_tables())
@fifty
def test_m2_training_error_is_below_its_bound_at_every_round(problem):
    y, tables, n_classes = problem
    run = adaboost_m2(edged(tables), y, n_classes, len(tables))
    assert_below_product_of_edges(run, y, n_classes)


@given(plausibility_tables())
@fifty
def test_m2_weights_sum_to_one_over_the_mislabels(problem):
    y, tables, n_classes = problem
    run = adaboost_m2(edged(tables), y, n_classes, len(tables))
    assert abs(sum(w for row in run.weights for w in row) - 1) < SPECK
    assert all(row[own] == 0 for row, own in zip(run.weights, y, strict=True))


@given(plausibility_tables())
@fifty
def test_m2_weights_shrink_to_twice_the_loss_at_most(problem):
    """The step of the proof: sum of w beta^((1 + h(x, y) - h(x, l)) / 2) <= 2e."""
    y, tables, n_classes = problem
    run = adaboost_m2(edged(tables), y, n_classes, len(tables))
    for r in run.members:
        if r.error < SPECK:
            break
        beta, total = r.error / (1 - r.error), Decimal(0)
        for row, h, own in zip(r.weights, r.answers, y, strict=True):
            for w, v in zip(row, h, strict=True):
                total += w * beta ** ((1 + h[own] - v) / 2)
        assert total <= 2 * r.error + SPECK
        if n_classes == 2 and all(set(h) == {0, 1} for h in r.answers):
            assert abs(total - 2 * r.error) < SPECK


def in_turn_tables(tables):
    answers = iter(tables)
    return lambda weights, labels: next(answers)


@given(plausibility_tables())
@fifty
def test_m2_of_two_classes_and_hard_votes_is_adaboost(problem):
    y, tables, n_classes = problem
    assume(n_classes == 2)
    votes = [[1 if row[1] > row[0] else -1 for row in table] for table in tables]
    hard = [[[int(v < 0), int(v > 0)] for v in h] for h in votes]
    run = adaboost(in_turn(votes), [2 * v - 1 for v in y], len(votes))
    m2 = adaboost_m2(in_turn_tables(hard), y, 2, len(votes))
    assert len(m2.rounds) == len(run.rounds)
    for a, b in zip(m2.rounds, run.rounds, strict=True):
        assert a.kept == b.kept
        assert abs(a.error - decimal(b.error)) < SPECK
        for i, own in enumerate(y):
            assert abs(a.weights[i][1 - own] - decimal(b.weights[i])) < SPECK


@st.composite
def coloured(draw):
    """Labels, colourings that use both colours, random votes of colours, number of classes."""
    n, n_classes = draw(st.integers(3, 8)), draw(st.integers(3, 5))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    assume(len(set(y)) > 1)
    bit = st.integers(0, 1)
    mixed = st.lists(bit, min_size=n_classes, max_size=n_classes).filter(lambda m: len(set(m)) > 1)
    colourings = draw(st.lists(mixed, min_size=1, max_size=5))
    votes = st.lists(bit, min_size=n, max_size=n)
    answers = draw(st.lists(votes, min_size=len(colourings), max_size=len(colourings)))
    return y, colourings, answers, n_classes


def better_colour(answers):
    answers = iter(answers)

    def weak(weights, colours):
        outputs = next(answers)
        wrong = sum((w for w, a, b in zip(weights, colours, outputs, strict=True) if a != b), 0)
        return outputs if wrong <= Decimal("0.5") else [1 - v for v in outputs]

    return weak


@given(coloured())
@fifty
def test_output_codes_training_error_is_below_its_bound_at_every_round(problem):
    y, colourings, answers, n_classes = problem
    run = adaboost_oc(better_colour(answers), y, n_classes, colourings)
    assert_below_product_of_edges(run, y, n_classes)


@given(coloured())
@fifty
def test_output_codes_pseudo_loss_is_the_edge_times_the_weight_apart(problem):
    y, colourings, answers, n_classes = problem
    run = adaboost_oc(better_colour(answers), y, n_classes, colourings)
    for r, mu in zip(run.rounds, colourings, strict=False):
        right = [r.answers[i][own] for i, own in enumerate(y)]
        wrong = sum((D for D, ok in zip(r.samples, right, strict=True) if not ok), Decimal(0))
        gamma = Decimal("0.5") - wrong
        assert abs(r.error - (Decimal("0.5") - gamma * r.share)) < SPECK
        assert len(set(mu)) == 2


@given(coloured())
@fifty
def test_output_codes_are_m2_on_the_labels_of_the_colour_said(problem):
    y, colourings, answers, n_classes = problem
    codes = adaboost_oc(better_colour(answers), y, n_classes, colourings)
    tables = [r.answers for r in codes.rounds]
    m2 = adaboost_m2(in_turn_tables(tables), y, n_classes, len(tables))
    for a, b in zip(codes.rounds, m2.rounds, strict=True):
        assert abs(a.error - b.error) < SPECK
        assert abs(a.alpha - b.alpha) < SPECK
    for row, other in zip(codes.weights, m2.weights, strict=True):
        assert all(abs(v - w) < SPECK for v, w in zip(row, other, strict=True))


@given(st.integers(2, 6), st.integers(2, 4), st.data())
@fifty
def test_mh_hamming_loss_is_below_the_product_and_half_is_left(n, n_classes, data):
    y = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    signs = st.lists(st.sampled_from([-1, 1]), min_size=n_classes * n, max_size=n_classes * n)
    votes = data.draw(st.lists(signs, min_size=1, max_size=6))
    flat = better_side(votes)

    def weak(weights, labels):
        answers = flat([w for row in weights for w in row], [v for row in labels for v in row])
        return [answers[i : i + n_classes] for i in range(0, len(answers), n_classes)]

    run = adaboost_mh(weak, y, n_classes, len(votes))
    truth = [1 if k == own else -1 for own in y for k in range(n_classes)]
    bound = Decimal(1)
    after = [r.weights for r in run.rounds[1:]] + [run.weights]
    for t, (m, weights) in enumerate(zip(run.rounds, after, strict=True)):
        if not m.kept or m.error == 0:
            break
        answers = [v for row in m.answers for v in row]
        assert error_of([w for row in weights for w in row], truth, answers) == HALF
        bound *= normalisers([m])[0]
        decided = signs_of([s for row in run.scores(t + 1) for s in row])
        hamming = decimal(wrong_share(decided, truth))
        assert hamming <= bound + SPECK
        # a wrong class costs at least one wrong label
        assert decimal(wrong_share(run.decisions(t + 1), y)) <= n_classes * bound + SPECK


@given(st.integers(3, 10), st.data())
@fifty
def test_filtering_error_is_below_the_polynomial(n, data):
    """With all three errors at most e <= 1/2, the majority errs on at most 3e^2 - 2e^3."""
    y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    signs = st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)
    votes = data.draw(st.lists(signs, min_size=3, max_size=3))
    raw = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    D = [Fraction(w, sum(raw)) for w in raw]
    weak = better_side(votes)
    first = better_side(votes[:1])(D, y)
    assume(first != y)
    rounds, decided = filter_distribution(weak, y, D)
    e = max(r.error for r in rounds)
    assert error_of(D, y, decided) <= 3 * e**2 - 2 * e**3
    # and by how it is composed: both wrong, or they differ and the third is wrong
    h1, h2 = rounds[0].answers, rounds[1].answers
    both = sum(w for w, a, b, o in zip(D, h1, h2, y, strict=True) if a == b != o)
    apart = sum(w for w, a, b in zip(D, h1, h2, strict=True) if a != b)
    third = rounds[2].error if len(rounds) == 3 else 0
    assert error_of(D, y, decided) == both + apart * third
