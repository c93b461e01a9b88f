"""Random answers of a few members, in fractions, and the same as arrays."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles import combining as oracle

F = Fraction


@st.composite
def votes_on(draw, n_members, n_rows, n_classes, missing):
    """Codes of what members (rows) vote, None where they do not."""
    labels = st.integers(0, n_classes - 1)
    vote = st.one_of(labels, labels, st.none()) if missing else labels
    row = st.lists(vote, min_size=n_rows, max_size=n_rows)
    return draw(st.lists(row, min_size=n_members, max_size=n_members))


@st.composite
def supports_on(draw, n_members, n_rows, n_classes, missing):
    """Eighths that sum to one, None where a member says nothing."""
    cuts = st.lists(st.integers(0, 8), min_size=n_classes - 1, max_size=n_classes - 1).map(
        lambda inner: [0, *sorted(inner), 8]
    )
    shares = cuts.map(lambda c: [F(b - a, 8) for a, b in pairwise(c)])
    one = st.one_of(shares, shares, st.none()) if missing else shares
    row = st.lists(one, min_size=n_rows, max_size=n_rows)
    return draw(st.lists(row, min_size=n_members, max_size=n_members))


@st.composite
def sizes(draw):
    """Members, rows, classes, and whether some answers are missing."""
    return draw(st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(2, 5), st.booleans()))


@st.composite
def labelled(draw, answers):
    """Answers on labelled samples with weights, and answers on rows to be decided."""
    n_members, n_rows, n_classes, missing = size = draw(sizes())
    known = draw(answers(*size))
    labels = st.integers(0, n_classes - 1)
    y = draw(st.lists(labels, min_size=n_rows, max_size=n_rows))
    steps = draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))
    weights = [F(n, draw(st.sampled_from([1, 2, 3]))) for n in steps]
    assume(any(w and any(row[i] is not None for row in known) for i, w in enumerate(weights)))
    queried = draw(answers(n_members, draw(st.integers(1, 5)), n_classes, missing))
    return known, y, weights, queried, n_classes


@st.composite
def member_weights(draw, n_members):
    given_weights = draw(
        st.none() | st.lists(st.integers(0, 4), min_size=n_members, max_size=n_members)
    )
    if given_weights is None or not any(given_weights):
        return None
    return [F(n, 4) for n in given_weights]


def codes(votes):
    return np.array([[-1 if v is None else v for v in row] for row in votes])


def floats(supports, n_classes):
    blank = [math.nan] * n_classes
    return np.array([
        [blank if one is None else [float(v) for v in one] for one in row] for row in supports
    ])  # fmt: skip


def numbers(values):
    return np.array([[math.nan if v is None else float(v) for v in row] for row in values])


def as_floats(weights):
    return None if weights is None else [float(w) for w in weights]


def assert_shares(found, expected, tolerance=1e-12):
    """The shares, and the decision: the first of the largest, ties included."""
    wanted = np.array([[float(value) for value in row] for row in expected])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)
    assert np.argmax(found, axis=1).tolist() == [oracle.first_largest(row) for row in expected]
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def column(answers, i):
    return [row[i] for row in answers]


def log_odds_of(known, y, weights, n_classes, smoothing):
    """The weight of each member, with as many imagined votes for each class."""
    found = []
    for answers in known:
        right, cast = oracle.hits(answers, y, weights)
        found.append(
            oracle.log_odds(oracle.smoothed_rate(right, cast, smoothing, n_classes), n_classes)
        )
    return found
