"""Theory curves against enumeration of all votes, identities and simulation."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np
import pytest

import orfeon.inspection
from orfeon.inspection import (
    condorcet_error,
    switching_error,
    switching_error_curve,
    switching_margin_distribution,
    switching_margins,
)
from orfeon.inspection.theory import _plurality_errors

# -- oracles ---------------------------------------------------------------------------------------


def error_of_counts(counts) -> Fraction:
    """Probability that class 0 does not win, ties being drawn."""
    best = max(counts)
    return Fraction(1) if counts[0] < best else 1 - Fraction(1, counts.count(best))


def error_by_enumeration(rate: Fraction, n_members: int, n_classes: int) -> Fraction:
    """Every sequence of votes, one by one."""
    chance = [1 - rate] + [rate / (n_classes - 1)] * (n_classes - 1)
    total = Fraction(0)
    for votes in product(range(n_classes), repeat=n_members):
        probability = Fraction(1)
        for vote in votes:
            probability *= chance[vote]
        total += probability * error_of_counts([votes.count(c) for c in range(n_classes)])
    return total


def compositions(total: int, n_parts: int):
    if n_parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, n_parts - 1):
            yield (first, *rest)


def error_by_multinomial(rate: Fraction, n_members: int, n_classes: int) -> Fraction:
    """Every vector of counts, in exact arithmetic."""
    total = Fraction(0)
    for counts in compositions(n_members, n_classes):
        ways = factorial(n_members)
        for count in counts:
            ways //= factorial(count)
        wrong = n_members - counts[0]
        probability = ways * (1 - rate) ** counts[0] * (rate / (n_classes - 1)) ** wrong
        total += probability * error_of_counts(counts)
    return total


# -- the error of the vote -------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)])
@pytest.mark.parametrize(("n_classes", "most"), [(2, 9), (3, 7), (4, 6), (5, 5)])
def test_small_votes_are_those_of_enumeration(rate, n_classes, most):
    for size in range(1, most + 1):
        expected = float(error_by_enumeration(rate, size, n_classes))
        assert switching_error(float(rate), size, n_classes) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("rate", "size", "n_classes"),
    [
        (Fraction(1, 3), 41, 2), (Fraction(49, 100), 60, 2), (Fraction(2, 5), 40, 3),
        (Fraction(33, 50), 41, 3), (Fraction(3, 5), 24, 4), (Fraction(39, 50), 15, 5),
        (Fraction(4, 5), 9, 8),
    ],
)  # fmt: skip
def test_larger_votes_are_those_of_the_multinomial(rate, size, n_classes):
    expected = float(error_by_multinomial(rate, size, n_classes))
    assert expected > 1e-4
    assert switching_error(float(rate), size, n_classes) == pytest.approx(expected, abs=1e-13)


def test_two_classes_are_the_binomial_tail():
    rate, size = 0.3, 11
    tail = sum(comb(size, t) * rate**t * (1 - rate) ** (size - t) for t in range(6, 12))
    assert switching_error(rate, size) == pytest.approx(tail, rel=1e-13)
    assert switching_error(rate, 3) == pytest.approx(0.216)
    # Tails far below the rounding of one are right as well.
    assert switching_error(0.1, 1001) == pytest.approx(condorcet_error(0.1, 1001), rel=0)
    expected = float(error_by_multinomial(Fraction(1, 10), 101, 2))
    assert expected < 1e-22
    assert switching_error(0.1, 101) == pytest.approx(expected, rel=1e-10)


def test_twenty_one_members_that_err_in_three_of_ten_cases():
    # The figure of Dietterich (2000), Ensemble methods in machine learning.
    assert round(condorcet_error(0.3, 21), 3) == 0.026


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.45, 0.499])
def test_the_count_for_many_classes_agrees_with_the_tail_for_two(rate):
    sizes = np.arange(1, 301)
    many = _plurality_errors(rate, sizes, 2)
    np.testing.assert_allclose(many, switching_error(rate, sizes), rtol=0, atol=1e-13)


@pytest.mark.parametrize("n_classes", [3, 7, 26])
def test_no_knowledge_leaves_a_uniform_guess(n_classes):
    sizes = np.array([1, 2, 3, 10, 101, 500])
    guess = (n_classes - 1) / n_classes
    errors = _plurality_errors(guess, sizes, n_classes)
    np.testing.assert_allclose(errors, guess, rtol=0, atol=1e-13)


def test_an_even_size_is_no_better_than_one_member_less():
    odd = np.arange(1, 200, 2)
    np.testing.assert_allclose(
        switching_error(0.37, odd + 1), switching_error(0.37, odd), rtol=1e-12
    )


@pytest.mark.parametrize("n_members", [1, 2, 7, 40])
def test_members_worse_than_chance_mirror_better_ones(n_members):
    for error in (0.0, 0.2, 0.5):
        mirrored = 1 - condorcet_error(1 - error, n_members)
        assert condorcet_error(error, n_members) == pytest.approx(mirrored, abs=1e-14)
    assert condorcet_error(0.5, n_members) == pytest.approx(0.5)
    assert condorcet_error(1.0, n_members) == 1.0


@pytest.mark.parametrize(("n_classes", "rate"), [(2, 0.3), (3, 0.5), (6, 0.75)])
def test_the_error_falls_with_the_members_and_rises_with_the_rate(n_classes, rate):
    _, errors = switching_error_curve(rate, 199, n_classes)
    assert errors[0] == pytest.approx(rate)
    odd = errors[::2]
    assert (np.diff(odd) < 0).all()
    assert odd[-1] < 0.1 * odd[0]
    rates = np.linspace(0, 0.99 * (n_classes - 1) / n_classes, 30)
    by_rate = [switching_error(r, 25, n_classes) for r in rates]
    assert by_rate[0] == 0.0
    assert (np.diff(by_rate) > 0).all()


@pytest.mark.parametrize(
    ("n_classes", "rate", "size"),
    [(2, 0.45, 101), (3, 0.6, 101), (3, 0.653, 1001), (10, 0.85, 101), (10, 0.882, 1001)],
)
def test_simulated_votes_agree_within_sampling_error(n_classes, rate, size):
    rng = np.random.default_rng(0)
    n = 40_000
    chance = np.full(n_classes, rate / (n_classes - 1))
    chance[0] = 1 - rate
    counts = rng.multinomial(size, chance, size=n)
    best = counts.max(axis=1)
    tied = (counts == best[:, None]).sum(axis=1)
    observed = np.where(counts[:, 0] == best, 1 - 1 / tied, 1.0).mean()
    expected = switching_error(rate, size, n_classes)
    assert 0.01 < expected < 0.7
    # Four standard errors: five cases pass by chance in all but 1 of 3000 draws.
    assert observed == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / n))


def test_switched_labels_give_this_training_error():
    """Members that repeat labels of which round(pN) were switched, as the trees do."""
    rng = np.random.default_rng(1)
    n, size, rate, n_classes = 5000, 31, 0.5, 3
    y = rng.integers(0, n_classes, n)
    counts = np.zeros((n, n_classes))
    for _ in range(size):
        labels = y.copy()
        switched = rng.choice(n, round(rate * n), replace=False)
        labels[switched] = (y[switched] + rng.integers(1, n_classes, len(switched))) % n_classes
        counts[np.arange(n), labels] += 1
    observed = np.mean(np.argmax(counts + rng.random(counts.shape) / 2, axis=1) != y)
    expected = switching_error(rate, size, n_classes)
    assert observed == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / n))


def test_curves_and_arrays_and_numbers_agree():
    for n_classes in (2, 4):
        sizes, errors = switching_error_curve(0.4, 60, n_classes)
        assert sizes.tolist() == list(range(1, 61))
        np.testing.assert_array_equal(errors, switching_error(0.4, list(sizes), n_classes))
        several = switching_error(0.4, np.array([60, 5, 5, 60]), n_classes)
        np.testing.assert_allclose(several, errors[[59, 4, 4, 59]], rtol=0, atol=1e-14)
        one = switching_error(0.4, 5, n_classes)
        assert isinstance(one, float)
        assert one == pytest.approx(errors[4], abs=1e-14)


def test_large_ensembles_of_many_classes_are_exact_too():
    rate, size, n = 0.655, 20_001, 100_000
    rng = np.random.default_rng(2)
    counts = rng.multinomial(size, [1 - rate, rate / 2, rate / 2], size=n)
    best = counts.max(axis=1)
    tied = (counts == best[:, None]).sum(axis=1)
    observed = np.where(counts[:, 0] == best, 1 - 1 / tied, 1.0).mean()
    expected = switching_error(rate, size, 3)
    assert 1e-3 < expected < 0.1
    assert observed == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / n))


# -- margins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.3, 0.49])
@pytest.mark.parametrize("size", [1, 2, 11, 100])
def test_margins_are_binomial_centred_at_one_minus_twice_the_rate(rate, size):
    margins, probabilities = switching_margins(rate, size)
    for right in range(size + 1):
        expected = comb(size, right) * (1 - rate) ** right * rate ** (size - right)
        assert margins[right] == pytest.approx((right - (size - right)) / size)
        assert probabilities[right] == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert probabilities.sum() == pytest.approx(1.0)
    assert margins @ probabilities == pytest.approx(1 - 2 * rate)
    variance = (margins - (1 - 2 * rate)) ** 2 @ probabilities
    assert variance == pytest.approx(4 * rate * (1 - rate) / size)


@pytest.mark.parametrize("size", [1, 10, 101])
def test_the_distribution_sums_the_margins(size):
    margins, probabilities = switching_margins(0.2, size)
    cumulative = switching_margin_distribution(0.2, size, margins)
    np.testing.assert_allclose(cumulative, np.cumsum(probabilities), rtol=1e-9)
    between = switching_margin_distribution(0.2, size, margins + 0.9 / size)
    np.testing.assert_array_equal(between, cumulative)
    ends = switching_margin_distribution(0.2, size, [-1.1, 1.0, 5.0])
    assert ends.tolist() == [0.0, 1.0, 1.0]
    assert switching_margin_distribution(0.2, size, np.zeros((2, 3))).shape == (2, 3)


def test_the_error_is_the_probability_of_a_negative_margin():
    for size in (11, 12):
        margins, probabilities = switching_margins(0.4, size)
        lost = probabilities[margins < 0].sum() + probabilities[margins == 0].sum() / 2
        assert switching_error(0.4, size) == pytest.approx(lost, rel=1e-12)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "n_classes", "limit"), [(0.5, 2, "0.5"), (0.7, 3, "0.6667")])
def test_a_rate_beyond_the_limit_is_refused_with_the_limit_in_the_message(rate, n_classes, limit):
    with pytest.raises(ValueError, match=rf"switch_rate={rate} .* less than {limit}"):
        switching_error(rate, 11, n_classes)
    with pytest.raises(ValueError, match=r"switch_rate=-0\.1"):
        switching_error_curve(-0.1, 11, n_classes)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"switch_rate=0\.6"):
        switching_margins(0.6, 11)
    with pytest.raises(ValueError, match="switch_rate=nan"):
        switching_margin_distribution(float("nan"), 11, 0.0)
    with pytest.raises(ValueError, match=r"member_error=1.5 .* from 0 to 1"):
        condorcet_error(1.5, 3)
    with pytest.raises(ValueError, match="n_classes=1"):
        switching_error(0.1, 3, 1)
    for sizes in (0, [3, -1], 2.5, [], [[1]]):
        with pytest.raises(ValueError, match="n_members="):
            condorcet_error(0.1, sizes)


def test_the_names_of_the_package_resolve():
    for name in set(orfeon.inspection.__all__) - {"MEASURES"}:
        assert callable(getattr(orfeon.inspection, name))
    assert len(orfeon.inspection.MEASURES) == 10
    assert dir(orfeon.inspection) == sorted(orfeon.inspection.__all__)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        orfeon.inspection.nothing_like_it  # noqa: B018


def test_friedmans_definition_is_found_by_its_function():
    with pytest.raises(ValueError, match=r"For Friedman's use friedman_decomposition\(\)\."):
        orfeon.inspection.bias_variance_decomposition([[0, 1]], [0, 1], definition="friedman")
