"""The oracles of combination against numbers worked by hand, and against enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import combining as oracle
from tests.oracles import combining_models as models

from orfeon.inspection import condorcet_error

F = Fraction


def random_shares(rng, n_classes, below=12):
    """Fractions that sum to one, none of them nothing."""
    parts = [int(n) for n in rng.integers(1, below, n_classes)]
    return [F(part, sum(parts)) for part in parts]


# -- votes -----------------------------------------------------------------------------------------


def test_condorcet_jury_by_enumeration_of_all_votes():
    right, n_members = F(7, 10), 7
    wrong = F(0)
    for votes in itertools.product((0, 1), repeat=n_members):
        chance = math.prod(right if vote == 1 else 1 - right for vote in votes)
        wrong += chance * (oracle.majority(votes, 2) != 1)
    tail = sum(
        math.comb(n_members, m) * (1 - right) ** m * right ** (n_members - m) for m in range(4, 8)
    )
    assert wrong == tail == F(126036, 1_000_000)
    assert condorcet_error(0.3, n_members) == pytest.approx(float(wrong), abs=1e-14)


def test_condorcet_of_21_members_of_error_three_tenths():
    tail = sum(math.comb(21, m) * F(3, 10) ** m * F(7, 10) ** (21 - m) for m in range(11, 22))
    assert round(float(tail), 3) == 0.026
    assert condorcet_error(0.3, 21) == pytest.approx(float(tail), abs=1e-14)


def test_majority_needs_more_than_half_and_falls_back_on_most():
    assert oracle.strict_majority([0, 1, 1, 0], 2) is None
    assert oracle.majority([0, 1, 1, 0], 2) == 0
    assert oracle.strict_majority([2, 2, 1, 0, 2], 3) == 2
    assert oracle.strict_majority([2, 2, 1, 0], 3) is None
    assert oracle.majority([2, 2, 1, 0], 3) == 2
    assert oracle.strict_majority([2, None, None], 3) == 2  # of the votes that are cast
    assert oracle.majority([0, 1, 1], 2, [5, 2, 2]) == 0
    assert oracle.strict_majority([0, 1, 1], 2, [4, 2, 2]) is None


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_log_odds_weights_are_bayes_rule_for_independent_members(n_classes):
    """Wrong votes fall on any other class alike and classes are as probable."""
    accuracies = [F(9, 10), F(6, 10), F(2, 10), F(1, n_classes)]
    weights = [oracle.log_odds(p, n_classes) for p in accuracies]
    for votes in itertools.product(range(n_classes), repeat=len(accuracies)):
        joint = [
            math.prod(
                p if vote == k else (1 - p) / (n_classes - 1)
                for p, vote in zip(accuracies, votes, strict=True)
            )
            for k in range(n_classes)
        ]
        scores = oracle.tally(votes, n_classes, weights)
        for a, b in itertools.pairwise(range(n_classes)):
            gap = math.log(joint[a]) - math.log(joint[b])
            assert scores[a] - scores[b] == pytest.approx(gap, abs=1e-12)


def test_log_odds_by_hand():
    assert oracle.log_odds(F(1, 2)) == 0
    assert oracle.log_odds(F(1, 4)) == pytest.approx(-math.log(3), abs=1e-15)
    assert oracle.log_odds(F(1, 4), 4) == pytest.approx(0, abs=1e-15)  # chance level
    assert oracle.smoothed_rate(4, 4, 1, 2) == F(5, 6)  # never sure: log 5
    assert oracle.smoothed_rate(4, 4, 1, 3) == F(5, 7)


# -- supports --------------------------------------------------------------------------------------


def test_rules_of_three_members_by_hand():
    rows = [[F(9, 10), F(1, 10)], [F(6, 10), F(4, 10)], [F(2, 10), F(8, 10)]]
    assert oracle.soft(rows, 2) == [F(17, 30), F(13, 30)]
    assert oracle.soft(rows, 2, [1, 1, 2]) == [F(19, 40), F(21, 40)]
    assert oracle.product(rows, 2) == [F(108, 140), F(32, 140)]
    assert oracle.class_by_class(rows, 2, max) == [F(9, 17), F(8, 17)]
    assert oracle.class_by_class(rows, 2, min) == [F(2, 3), F(1, 3)]
    assert oracle.class_by_class(rows, 2, oracle.median) == [F(6, 10), F(4, 10)]
    assert oracle.product([[F(0), F(1)], [F(1), F(0)]], 2) == [F(1, 2), F(1, 2)]
    assert oracle.product([[F(0), F(1)], [F(3, 4), F(1, 4)]], 2, F(1, 10)) == [F(3, 13), F(10, 13)]


def test_min_and_max_decide_alike_between_two_classes():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = [random_shares(rng, 2) for _ in range(rng.integers(1, 6))]
        least, most = (oracle.class_by_class(rows, 2, rule) for rule in (min, max))
        assert oracle.first_largest(least) == oracle.first_largest(most)


def test_trimmed_mean_lies_between_mean_and_median():
    values = [F(v) for v in (0, 1, 5, 6, 100)]
    assert oracle.trimmed_mean(values, 0) == F(112, 5)
    assert oracle.trimmed_mean(values, F(1, 5)) == 4
    assert oracle.trimmed_mean(values, F(39, 100)) == 4
    assert oracle.trimmed_mean(values, F(2, 5)) == oracle.median(values) == 5


# -- naive Bayes and model averaging ---------------------------------------------------------------


def independent_samples(rng, n_classes, n_members):
    """Samples of whose classes the members' votes are exactly independent, and their tables."""
    tables = rng.integers(0, 4, (n_members, n_classes, n_classes))
    tables[:, range(n_classes), range(n_classes)] += 1
    sizes = [math.prod(int(table[k].sum()) for table in tables) for k in range(n_classes)]
    samples = []
    for k in range(n_classes):
        for votes in itertools.product(range(n_classes), repeat=n_members):
            counts = [int(table[k][vote]) for table, vote in zip(tables, votes, strict=True)]
            weight = F(math.prod(counts), sizes[k]) * (k + 1)  # class k is k + 1 times as probable
            samples.append((votes, k, weight))
    return samples


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_naive_bayes_is_bayes_rule_where_votes_are_independent(n_classes, seed):
    rng = np.random.default_rng(seed)
    samples = independent_samples(rng, n_classes, 3)
    y, weights = [k for _, k, _ in samples], [w for *_, w in samples]
    tables = [
        oracle.confusion([votes[t] for votes, *_ in samples], y, n_classes, weights)
        for t in range(3)
    ]
    priors = [
        sum((w for _, label, w in samples if label == k), F(0)) / sum(weights)
        for k in range(n_classes)
    ]
    for queried in itertools.product(range(n_classes), repeat=3):
        seen = [F(0)] * n_classes
        for votes, k, weight in samples:
            seen[k] += weight if votes == queried else 0
        if sum(seen):
            assert oracle.naive_bayes(queried, tables, priors, 0) == oracle.shares(seen)


def test_naive_bayes_is_the_product_rule_with_priors():
    """Kittler's product of P(k | vote) over P(k) ** (R - 1), by Bayes's rule."""
    rng = np.random.default_rng(5)
    samples = independent_samples(rng, 3, 3)
    y, weights = [k for _, k, _ in samples], [w for *_, w in samples]
    priors = [F(1, 6), F(2, 6), F(3, 6)]
    tables = [
        oracle.confusion([votes[t] for votes, *_ in samples], y, 3, weights) for t in range(3)
    ]
    for queried in itertools.product(range(3), repeat=3):
        joint = [
            [table[k][vote] for k in range(3)] for table, vote in zip(tables, queried, strict=True)
        ]
        if any(all(row[k] for row in joint) for k in range(3)):  # votes that can be
            rows = [oracle.shares(row) for row in joint]
            product = oracle.product(rows, 3, priors=priors)
            assert product == oracle.naive_bayes(queried, tables, priors, 0)


def test_naive_bayes_leaves_out_who_does_not_vote():
    tables = [[[F(3), F(1)], [F(1), F(3)]], [[F(2), F(2)], [F(0), F(4)]]]
    priors = [F(1, 3), F(2, 3)]
    assert oracle.naive_bayes([None, None], tables, priors, 1) == priors
    assert oracle.naive_bayes([0, None], tables, priors, 0) == [F(3, 5), F(2, 5)]


def test_model_averaging_by_hand():
    sure = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    even = [[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]]
    values = [oracle.likelihood(rows, [0, 1], [1, 2], 0) for rows in (sure, even)]
    assert values == [F(27, 64), F(8, 64)]
    assert oracle.posterior(values) == [F(27, 35), F(8, 35)]
    assert oracle.posterior(values, [1, 3]) == [F(27, 51), F(24, 51)]
    weights = oracle.posterior(values)
    assert oracle.soft([sure[0], even[0]], 2, weights) == [F(97, 140), F(43, 140)]
    assert oracle.likelihood([[F(0), F(1)]], [0], [3], F(1, 10)) == F(1, 1000)


def test_gaussian_weights_are_powers_of_the_ratio_of_mean_squares():
    """L = (2 pi e s2) ** (-n / 2): mean squares 1 and 4 of 6 residuals differ by 4 ** 3."""
    one = oracle.gaussian_log_likelihood([1, -1, 1], [2, 2, 2])
    four = oracle.gaussian_log_likelihood([2, -2, 2], [2, 2, 2])
    assert one == pytest.approx(-3 * (math.log(2 * math.pi) + 1), rel=1e-13)
    assert one - four == pytest.approx(3 * math.log(4), rel=1e-13)


def test_variance_of_a_mixture_is_within_plus_between():
    mean, variance = oracle.average_of_models([1, 2, 6], [1, 4, 9], [F(1, 2), F(1, 4), F(1, 4)])
    assert mean == F(5, 2)
    assert variance == F(15, 4) + F(17, 4)  # 1/2 + 1 + 9/4, and 9/8 + 1/16 + 49/16


# -- models over models ----------------------------------------------------------------------------


def learn_by_heart(X, y):
    """Answers what it has seen and nothing else."""
    known = {tuple(x): label for x, label in zip(X, y, strict=True)}
    return lambda x: [known.get(tuple(x))]


def learn_mean(X, y):
    mean = F(sum(y), len(y))
    return lambda x: mean


def test_no_model_is_asked_out_of_fold_for_what_it_saw():
    X, y = [[i] for i in range(7)], [5, 6, 7, 8, 9, 10, 11]
    answers = models.out_of_fold(learn_by_heart, X, y, [0, 1, 2, 0, 1, 2, 0])
    assert answers == [[None]] * 7
    copies = models.out_of_fold(learn_by_heart, [[1], [1], [2]], [3, 3, 4], [0, 1, 1])
    assert copies == [[3], [3], [None]]


def test_level_one_rows_hold_out_of_fold_answers_and_rows_asked_those_of_all():
    seen = []

    def learn_final(X, y):
        seen.extend(X)
        return lambda x: x

    X, y = [[10], [20], [30], [40]], [1, 2, 6, 7]
    model = models.stack([learn_mean, learn_by_heart], learn_final, X, y, [0, 0, 1, 1], True)
    assert seen == [[F(13, 2), None, 10], [F(13, 2), None, 20], [F(3, 2), None, 30],
                    [F(3, 2), None, 40]]  # fmt: skip
    assert model([20]) == [4, 2, 20]


def test_levels_of_a_cascade_see_all_before_them():
    widths = []

    def learn_width(X, y):
        widths.append(len(X[0]))
        return lambda x: [len(x), y[0]]

    answer = models.cascade([learn_width] * 3, [[0], [0], [0]], [4, 5, 5])([0])
    assert widths == [1, 3, 5]
    assert answer == [5, 4]


def test_cascade_as_published_believes_what_was_learned_by_heart():
    def learn_echo(X, y):
        return lambda x: [list(row) for row in X]

    X, y = [[0], [1]], [8, 9]
    assert models.cascade([learn_by_heart, learn_echo], X, y)([0]) == [[0, 8], [1, 9]]
    held_out = models.cascade([learn_by_heart, learn_echo], X, y, [0, 1])([0])
    assert held_out == [[0, None], [1, None]]


def test_arbiter_trusts_who_was_right_out_of_fold():
    def learn_constant(label):
        return lambda X, y: lambda x: label

    def learn_nearest(X, y):
        return lambda x: y[min(range(len(X)), key=lambda j: abs(X[j][0] - x[0]))]

    learners = [learn_constant("a"), learn_constant("b")]
    X, y = [[0], [1], [8], [9]], ["a", "a", "b", "b"]
    judges = models.referees(learners, learn_nearest, X, y, [0, 1, 0, 1])
    for x, expected in ([2], "a"), ([7], "b"):
        trust = [judge(x) for judge in judges]
        assert models.arbitrate(["a", "b"], trust) == expected
    assert [[judge([0]) for judge in judges], [judge([9]) for judge in judges]] == [[1, 0], [0, 1]]


def test_cheap_models_answer_when_they_are_sure():
    rows = [[F(6, 10), F(4, 10)], [F(2, 10), F(8, 10)], [F(1), F(0)]]
    assert models.first_sure(rows, [0, 0]) == (0, 0)
    assert models.first_sure(rows, [F(61, 100), F(8, 10)]) == (1, 1)
    assert models.first_sure(rows, [2, 2]) == (0, 2)


# -- mixtures of experts ---------------------------------------------------------------------------


def test_e_step_makes_the_lower_bound_touch_the_log_likelihood():
    """sum h log(g p / h) = log sum g p for these h, and is less for any others."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        gates, densities = random_shares(rng, 3), [F(int(n), 7) for n in rng.integers(1, 20, 3)]
        best = models.responsibilities(gates, densities)
        whole = models.mixture_log_likelihood([gates], [densities], [1])

        def bound(shares, gates=gates, densities=densities):
            return sum(
                h * math.log(g * p / h) for h, g, p in zip(shares, gates, densities, strict=True)
            )

        assert sum(best) == 1
        assert bound(best) == pytest.approx(whole, abs=1e-12)
        other = random_shares(rng, 3)
        assert bound(other) <= whole + 1e-12


def test_em_of_two_coins_by_hand():
    """Gates 1/2 and experts 1/4, 3/4 for heads; seen: heads, tails, heads."""
    densities = [[F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    even = [[F(1, 2), F(1, 2)]] * 3
    shares = [models.responsibilities(*row) for row in zip(even, densities, strict=True)]
    assert shares == densities
    heads = [
        sum(shares[i][e] for i in (0, 2)) / sum(shares[i][e] for i in range(3)) for e in (0, 1)
    ]
    assert heads == [F(2, 5), F(6, 7)]
    gates = [sum(shares[i][e] for i in range(3)) / 3 for e in (0, 1)]
    assert gates == [F(5, 12), F(7, 12)]
    assert gates[0] * heads[0] + gates[1] * heads[1] == F(2, 3)  # what was seen: the best there is
    before = models.mixture_log_likelihood(even, densities, [1, 1, 1])
    improved = [[h if seen else 1 - h for h in heads] for seen in (True, False, True)]
    after = models.mixture_log_likelihood([gates] * 3, improved, [1, 1, 1])
    assert before == pytest.approx(-3 * math.log(2), abs=1e-12)
    assert after == pytest.approx(math.log(F(4, 27)), abs=1e-12)


def test_gates_of_a_tree_sum_to_one():
    tree = (F(1, 4), (F(1, 2), None, None), (F(1, 3), None, (F(2, 5), None, None)))
    gates = models.leaf_gates(tree)
    assert gates == [F(1, 8), F(1, 8), F(1, 4), F(1, 5), F(3, 10)]
    assert sum(gates) == 1
    assert sum(models.gate([0.3, -2.0], [[1.0, 2.0, 0.5], [0.0, 1.0, 0.0], [3.0, -1.0, 2.0]])) == (
        pytest.approx(1.0, abs=1e-15)
    )
