"""The weighted median: its definition, ties, stages, and votes of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.boosting_regression import median

from orfeon.boosting import vote_sums as module
from orfeon.boosting.vote_sums import staged_weighted_median, weighted_median

VOTES = st.integers(0, 12).map(lambda quarters: quarters / 4)
NUMBERS = st.sampled_from([-2.0, -0.5, 0.0, 0.1, 0.3, 7.0]) | st.floats(-1e6, 1e6)


@st.composite
def ballots(draw):
    """Predictions of some members for three rows, and votes that are often tied."""
    n_members = draw(st.integers(1, 9))
    votes = draw(st.lists(VOTES, min_size=n_members, max_size=n_members).filter(any))
    rows = st.lists(NUMBERS, min_size=3, max_size=3)
    return np.array([draw(rows) for _ in votes]), np.array(votes)


def by_definition(predictions, votes):
    exact = [Fraction(vote) for vote in votes.tolist()]
    return [median(column.tolist(), exact) for column in predictions.T]


@given(ballots())
def test_it_is_the_least_prediction_with_half_of_the_votes(ballot):
    predictions, votes = ballot
    assert weighted_median(predictions, votes).tolist() == by_definition(predictions, votes)


@given(ballots())
def test_it_moves_with_an_increasing_change_of_scale(ballot):
    """So clipping the members' predictions, or clipping their median, is the same."""
    predictions, votes = ballot
    clipped = np.clip(weighted_median(predictions, votes), -0.3, 0.2)
    assert weighted_median(np.clip(predictions, -0.3, 0.2), votes).tolist() == clipped.tolist()


@given(ballots())
def test_stages_are_the_medians_of_the_first_members(ballot):
    predictions, votes = ballot
    stages = list(staged_weighted_median(predictions, votes))
    assert len(stages) == len(votes)
    for t, stage in enumerate(stages, start=1):
        expected = weighted_median(predictions[:t], votes[:t])
        assert stage.tolist() == expected.tolist()


@pytest.mark.parametrize("n_members", [2, 6, 10, 50, 100, 1000])
def test_equal_votes_tie_whatever_their_size(n_members):
    """Added up as floats, 0.1 + 0.1 + 0.1 is more than half of six times 0.1."""
    predictions = np.random.default_rng(0).permutation(n_members).astype(float)[:, None]
    for vote in (0.1, 1 / 3, 1e-300, 5e-324, 1e300, np.pi):
        votes = np.full(n_members, vote)
        assert weighted_median(predictions, votes).tolist() == [n_members // 2 - 1]


def test_the_order_of_the_members_does_not_matter():
    rng = np.random.default_rng(1)
    predictions, votes = rng.random((40, 200)), np.log(1 / rng.random(40))
    expected = weighted_median(predictions, votes)
    for _ in range(5):
        order = rng.permutation(40)
        np.testing.assert_array_equal(weighted_median(predictions[order], votes[order]), expected)


def test_without_any_votes_members_count_the_same():
    predictions = np.array([[3.0], [1.0], [2.0]])
    assert weighted_median(predictions, np.zeros(3)).tolist() == [2.0]
    assert [float(m[0]) for m in staged_weighted_median(predictions, np.zeros(3))] == [3, 1, 2]


def test_an_infinite_vote_decides_alone():
    predictions = np.array([[3.0], [1.0], [2.0], [5.0]])
    assert weighted_median(predictions, np.array([1.0, np.inf, 1.0, 1.0])).tolist() == [1.0]
    votes = np.array([1.0, np.inf, 9.0, np.inf])
    assert [float(m[0]) for m in staged_weighted_median(predictions, votes)] == [3, 1, 1, 1]


def test_rows_are_taken_in_blocks(monkeypatch):
    rng = np.random.default_rng(2)
    predictions, votes = rng.random((7, 50)), rng.random(7)
    expected = weighted_median(predictions, votes)
    monkeypatch.setattr(module, "_BLOCK", 7 * 8)
    np.testing.assert_array_equal(weighted_median(predictions, votes), expected)
    assert weighted_median(predictions[:, :0], votes).shape == (0,)


def test_what_does_not_match_is_refused():
    with pytest.raises(ValueError, match=r"predictions of shape \(2, 3\) and votes of shape \(3,"):
        weighted_median(np.zeros((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match="for at least one member"):
        weighted_median(np.zeros((0, 3)), np.ones(0))
    with pytest.raises(ValueError, match=r"not negative; the least is -1\.0"):
        weighted_median(np.zeros((2, 3)), np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="votes must be numbers"):
        weighted_median(np.zeros((2, 3)), np.array([1.0, np.nan]))
