"""Rules over supports and over predictions: mean, product, max, min, median, trimmed mean."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import trim_mean
from tests import shared

from orfeon import BaggingClassifier, BaggingRegressor
from orfeon.rules.rule import as_combining_rule
from orfeon.rules.supports import Max, Mean, Median, Min, Product, Soft, TrimmedMean
from orfeon.rules.votes import Plurality

RULES = ["soft", "product", "max", "min", "median", "trimmed_mean"]

#: Kittler's rules on three members and three classes, worked by hand.
SUPPORTS = np.array([[[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25]], [[0.125, 0.625, 0.25]]])


def shares(rule, supports, n_classes=None):
    supports = np.asarray(supports)
    rule = as_combining_rule(rule)
    n_classes = n_classes or supports.shape[2]
    return rule.learn(None, None, n_classes).shares(supports, n_classes)


def predict(rule, answers):
    return as_combining_rule(rule).learn(None, None, 0).predict(answers)


def normalised(values):
    values = np.asarray(values, dtype=float)
    return values / values.sum(axis=-1, keepdims=True)


#: Supports of members for two classes on a binary grid, so that they sum to 1 exactly.
two_classes = arrays(int, st.tuples(st.integers(1, 7), st.integers(1, 5)),
                     elements=st.integers(0, 64)).map(
    lambda sixtyfourths: np.stack([sixtyfourths / 64, 1 - sixtyfourths / 64], axis=2)
)  # fmt: skip
several_classes = arrays(int, st.tuples(st.integers(1, 6), st.integers(1, 4), st.just(3)),
                         elements=st.integers(1, 50)).map(normalised)  # fmt: skip


# -- by hand -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Soft(), [7 / 24, 11 / 24, 6 / 24]),
        (Product(), normalised([1 / 64, 5 / 64, 1 / 64])),
        (Max(), normalised([0.5, 0.625, 0.25])),
        # The last two are tied, and part their four fifths as their means are, 11 to 6.
        (Min(), [0.2, 0.8 * 11 / 17, 0.8 * 6 / 17]),
        (Median(), [0.25, 0.5, 0.25]),
        (TrimmedMean(share=0.4), [0.25, 0.5, 0.25]),
        (TrimmedMean(), [7 / 24, 11 / 24, 6 / 24]),
        (Soft(weights=[2, 1, 1]), normalised([1.375, 1.625, 1.0])),
    ],
)
def test_supports_worked_by_hand(rule, expected):
    np.testing.assert_allclose(shares(rule, SUPPORTS), [expected], rtol=1e-14)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Mean(), [4.0, 2.0]),
        (Max(), [10.0, 3.0]),
        (Min(), [1.0, 1.0]),
        (Median(), [2.5, 2.0]),
        (TrimmedMean(share=0.25), [2.5, 2.0]),
        (TrimmedMean(share=0.4), [2.5, 2.0]),
        (Mean(weights=[1, 0, 0, 3]), [7.75, 3.0]),
    ],
)
def test_predictions_worked_by_hand(rule, expected):
    answers = np.array([[1.0, np.nan], [2.0, 1.0], [3.0, 2.0], [10.0, 3.0]])
    np.testing.assert_allclose(predict(rule, answers), expected, rtol=1e-15)


def test_the_shares_of_the_soft_vote_are_those_of_an_ensemble_to_the_last_bit(waveform, friedman):
    X, y = waveform
    bag = BaggingClassifier(n_estimators=11, random_state=0).fit(X, y)
    supports = bag.members_.supports(X)
    np.testing.assert_array_equal(shares("soft", supports), bag.mean_supports(X))
    X, y = friedman
    bag = BaggingRegressor(n_estimators=11, random_state=0).fit(X, y)
    np.testing.assert_array_equal(predict("mean", bag.predictions(X)), bag.predict(X))


# -- identities --------------------------------------------------------------------------------


@given(several_classes)
def test_members_that_say_the_same_are_taken_at_their_word(supports):
    same = np.repeat(supports[:1], 5, axis=0)
    for rule in ("soft", "max", "min", "median", "trimmed_mean"):
        np.testing.assert_allclose(shares(rule, same), supports[0], rtol=1e-12)
    product_shares = shares(Product(floor=0.0), same)
    np.testing.assert_allclose(product_shares, normalised(supports[0] ** 5), rtol=1e-10)
    np.testing.assert_array_equal(product_shares.argmax(axis=1), supports[0].argmax(axis=1))


@given(two_classes)
def test_the_largest_and_the_least_support_decide_alike_on_two_classes(supports):
    vetoed = supports.min(axis=0).sum(axis=1) == 0  # there the means decide
    largest, least = shares("max", supports), shares("min", supports)
    np.testing.assert_array_equal(largest.argmax(axis=1), least.argmax(axis=1))
    np.testing.assert_allclose(least[vetoed], shares("soft", supports)[vetoed], rtol=1e-12)


@given(two_classes)
def test_on_two_classes_the_median_is_the_majority_vote_of_an_odd_number(supports):
    """The median is on the side of a half on which most members are."""
    supports = supports if len(supports) % 2 else supports[1:]
    if not len(supports):
        return
    found = shares("median", supports)
    medians = np.median(supports, axis=0)
    untied = np.abs(medians[:, 0] - 0.5) > 1e-9
    np.testing.assert_array_equal(found[untied], medians[untied])
    clear = (found[:, 0] != 0.5) & (supports[:, :, 0] != 0.5).all(axis=0)
    votes = supports.argmax(axis=2)
    decided = Plurality().learn(None, None, 2).shares(votes, 2).argmax(axis=1)
    np.testing.assert_array_equal(found.argmax(axis=1)[clear], decided[clear])


@given(several_classes)
@settings(max_examples=shared.cases(50))
def test_medians_and_trimmed_means_are_those_of_numpy_and_scipy(supports):
    def assert_same_but_for_ties(found, expected):
        largest, second = -np.sort(-expected, axis=1)[:, :2].T
        untied = largest - second > 1e-9
        np.testing.assert_allclose(found[untied], expected[untied], rtol=1e-12)

    medians = normalised(np.median(supports, axis=0))
    assert_same_but_for_ties(shares("median", supports), medians)
    for share in (0.0, 0.1, 0.2, 0.3, 0.45):
        expected = normalised(trim_mean(supports, share, axis=0))
        assert_same_but_for_ties(shares(TrimmedMean(share), supports), expected)


def test_a_share_is_rounded_down_but_not_by_rounding():
    """0.29 of 100 is 28.999999999999996 in floats."""
    answers = np.arange(100.0)[:, None] ** 2
    expected = np.mean(np.arange(29.0, 71.0) ** 2)
    assert predict(TrimmedMean(share=0.29), answers) == pytest.approx([expected], rel=1e-14)


def test_one_member_that_is_far_off_moves_the_median_by_one_place_at_most():
    answers = np.random.default_rng(0).normal(size=(9, 50))
    wild = answers.copy()
    wild[4] = 1e6
    ranked = np.sort(answers, axis=0)
    median = predict("median", wild)
    assert ((ranked[3] <= median) & (median <= ranked[5])).all()
    trimmed = predict(TrimmedMean(0.2), wild)
    assert ((ranked[0] <= trimmed) & (trimmed <= ranked[8])).all()
    assert predict("mean", wild).min() > 1e5


def test_one_veto_turns_the_product_and_the_least_but_not_the_mean():
    supports = [[[0.9, 0.1]]] * 4 + [[[0.0, 1.0]]]
    assert shares(Product(floor=0.0), supports).argmax() == 1
    assert shares("min", supports).argmax() == 1
    assert shares("soft", supports)[0, 0] == pytest.approx(0.72)
    # A floor makes the veto one voice among others: 0.9 ** 4 * 0.001 against 0.1 ** 4.
    expected = [0.9**4 * 1e-3, 0.1**4]
    np.testing.assert_allclose(shares("product", supports), [normalised(expected)], rtol=1e-12)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=8))
def test_the_product_of_certain_members_is_the_plurality_vote(votes):
    certain = np.eye(4)[np.array(votes)]
    counted = Plurality().learn(None, None, 4).shares(votes, 4)
    np.testing.assert_array_equal(shares("product", certain).argmax(axis=1), counted.argmax(axis=1))
    # Where everything is vetoed, the mean decides, and that is the plurality vote again.
    for rule in (Product(floor=0.0), Min(), Median()):
        np.testing.assert_array_equal(shares(rule, certain).argmax(axis=1), counted.argmax(axis=1))


def test_the_product_is_the_bayes_rule_of_members_that_see_independent_features():
    """Each member sees one of three binary features that are independent given the class."""
    chances = np.array([[0.9, 0.3, 0.5], [0.2, 0.6, 0.7], [0.4, 0.4, 0.8]])  # of a 1, by class
    rows = np.array(list(product([0, 1], repeat=3)))
    likelihoods = np.where(rows[:, :, None] == 1, chances, 1 - chances)  # row, feature, class
    supports = normalised(likelihoods).transpose(1, 0, 2)  # posteriors for equal priors
    exactly = normalised(likelihoods.prod(axis=1))
    np.testing.assert_allclose(shares("product", supports), exactly, rtol=1e-12)
    # The mean of the three is another rule.
    assert np.abs(shares("soft", supports) - exactly).max() > 0.1


@given(several_classes, st.integers(0, 1000))
@settings(max_examples=shared.cases(30))
def test_many_members_do_not_exhaust_the_product(supports, seed):
    """The product of 3000 supports is below all floats; its logarithm is not."""
    many = supports[np.random.default_rng(seed).integers(0, len(supports), 3000)]
    found = shares("product", many)
    assert np.isfinite(found).all()
    logs = np.log(many).sum(axis=0)
    largest, second = -np.sort(-logs, axis=1)[:, :2].T
    clear = largest - second > 1e-6  # what is nearer is tied
    np.testing.assert_array_equal(found.argmax(axis=1)[clear], logs.argmax(axis=1)[clear])


def test_rounding_decides_no_tie_of_products():
    """The same numbers in another order have the same product."""
    numbers = np.array([0.1, 0.7, 0.3, 0.9, 0.6, 0.2])
    supports = np.stack([numbers, numbers[::-1]], axis=1)[:, None]
    np.testing.assert_array_equal(shares("product", supports), [[0.5, 0.5]])


# -- whole answers, parts of answers -----------------------------------------------------------


def test_supports_that_do_not_sum_to_one_are_made_to():
    supports = [[[0.5, 0.25]], [[0.25, 0.25]]]
    np.testing.assert_allclose(shares("soft", supports), [[0.6, 0.4]], rtol=1e-15)
    np.testing.assert_allclose(shares("max", supports), [[2 / 3, 1 / 3]], rtol=1e-15)


def test_supports_in_single_precision_are_taken():
    supports = np.random.default_rng(0).dirichlet(np.ones(3), (5, 20)).astype(np.float32)
    for rule in RULES:
        found = shares(rule, supports)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(found, shares(rule, supports.astype(np.float64)))


@pytest.mark.parametrize("rule", RULES)
def test_a_row_is_decided_by_those_who_answer(rule):
    supports = np.random.default_rng(0).dirichlet(np.ones(3), (6, 4))
    partial = supports.copy()
    partial[[1, 4], 2] = np.nan
    found = shares(rule, partial)
    np.testing.assert_array_equal(found[[0, 1, 3]], shares(rule, supports)[[0, 1, 3]])
    np.testing.assert_array_equal(found[2], shares(rule, supports[[0, 2, 3, 5]])[2])


def test_members_are_left_out_by_the_number_that_answer():
    """A quarter of the four that answer is one at each end; of all seven it would be one as well,
    but of the eight that there are it would be two."""
    answers = np.array([[1.0], [2.0], [4.0], [50.0], [np.nan], [np.nan], [np.nan], [np.nan]])
    assert predict(TrimmedMean(share=0.25), answers) == [3.0]


def test_weights_of_absent_members_do_not_count():
    found = predict(Mean(weights=[3, 1, 4]), [[1.0, np.nan], [5.0, 5.0], [np.nan, 10.0]])
    np.testing.assert_array_equal(found, [2.0, 9.0])
    assert np.isnan(predict(Mean(weights=[1, 0]), [[np.nan], [5.0]]))[0]


def test_a_row_is_the_same_in_a_block_of_any_size(monkeypatch):
    supports = np.random.default_rng(0).dirichlet(np.ones(3), (7, 100))
    expected = [shares(rule, supports) for rule in ("median", "trimmed_mean")]
    monkeypatch.setattr("orfeon.rules.supports._BLOCK", 7 * 3 * 8)
    for rule, whole in zip(("median", "trimmed_mean"), expected, strict=True):
        np.testing.assert_array_equal(shares(rule, supports), whole)


@pytest.mark.parametrize("rule", ["median", "trimmed_mean", "max", "min"])
@pytest.mark.parametrize("absent", [0.0, 0.6])
def test_stages_are_the_same_in_blocks_of_any_size(rule, absent, monkeypatch):
    """Also with a row that nobody has answers anything of yet, and many ties."""
    rng = np.random.default_rng(0)
    supports = rng.dirichlet(np.ones(3), (70, 23))
    supports[:, :8] = np.eye(3)[rng.integers(0, 3, (70, 8))]
    supports[rng.random((70, 23)) < absent] = np.nan
    supports[:40, 5] = np.nan
    decider = as_combining_rule(rule)
    expected = [decider.shares(supports[:n], 3) for n in range(1, 71)]
    np.testing.assert_array_equal(list(decider.staged_shares(supports, 3)), expected)
    monkeypatch.setattr("orfeon.rules.supports._CELLS", 3 * 5)
    monkeypatch.setattr("orfeon.rules.supports._STAGES", 4)
    np.testing.assert_array_equal(list(decider.staged_shares(supports, 3)), expected)


def test_products_of_thousands_of_members_are_neither_lost_nor_rounded_away():
    rng = np.random.default_rng(0)
    supports = rng.dirichlet(np.ones(3), (3000, 4))
    supports[:, 0] = [0.5, 1e-9, 0.5]  # a tie, of products far below what floats hold
    logs = np.log(np.maximum(supports, 1e-3)).sum(axis=0)
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    found = shares("product", supports)
    np.testing.assert_array_equal(found[0], [0.5, 0.0, 0.5])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(shares(Product(floor=0), supports)[0], [0.5, 0.0, 0.5], rtol=1e-12)


def test_the_middle_of_huge_numbers_is_no_infinity():
    assert predict("median", [[1.7e308], [1.5e308]]) == [1.6e308]
