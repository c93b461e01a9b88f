"""Diversity, kappa and margins of random small ensembles, against counting sample by sample."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles import combining
from tests.oracles import diversity as oracle

from orfeon import BaggingClassifier
from orfeon.datasets import make_waveform
from orfeon.inspection import (
    diversity,
    error_curves,
    kappa_error,
    margin_distribution,
    margins,
    pairwise_diversity,
)
from orfeon.members import adapt

usual = settings(deadline=None, max_examples=shared.cases(80))
PAIRWISE = ("q_statistic", "correlation", "disagreement", "double_fault")
WHOLE = (
    "kohavi_wolpert_variance",
    "interrater_kappa",
    "entropy",
    "difficulty",
    "generalized_diversity",
    "coincident_failure",
)
NO_VOTE = "?"


@st.composite
def cases(draw, missing=None):
    """What members vote (None: nothing), the labels, and weights of the samples."""
    n_classes = draw(st.integers(2, 5))
    n_members, n_samples = draw(st.integers(2, 7)), draw(st.integers(1, 12))
    labels = st.sampled_from("abcde"[:n_classes])
    absent = draw(st.booleans()) if missing is None else missing
    vote = st.one_of(labels, labels, st.none()) if absent else labels
    y = draw(st.lists(labels, min_size=n_samples, max_size=n_samples))
    skill = draw(st.sampled_from([0, 1, 4]))  # how many of five votes follow the label
    votes = [
        [y[i] if draw(st.integers(0, 4)) < skill else draw(vote) for i in range(n_samples)]
        for _ in range(n_members)
    ]
    kind = draw(st.sampled_from([None, 1, 3, 8]))
    steps = draw(st.lists(st.integers(0, 5), min_size=n_samples, max_size=n_samples))
    weights = [Fraction(1)] * n_samples if kind is None else [Fraction(n, kind) for n in steps]
    if not any(w > 0 and any(row[i] for row in votes) for i, w in enumerate(weights)):
        weights[0], votes[0][0] = Fraction(1), y[0]
    return votes, y, weights


def given_to_library(votes, y, weights):
    """The same case as matrices."""
    answers = np.array([[NO_VOTE if v is None else v for v in row] for row in votes])
    return {
        "members_or_votes": answers, "y": np.array(y), "no_vote": NO_VOTE,
        "sample_weight": np.array([float(w) for w in weights]),
    }  # fmt: skip


def right_of(votes, y):
    return [
        [None if v is None else v == label for v, label in zip(row, y, strict=True)]
        for row in votes
    ]


def heard_of_two(right):
    """The same without the samples on which less than two members vote."""
    counts = [sum(row[i] is not None for row in right) > 1 for i in range(len(right[0]))]
    return [
        [ok if enough else None for ok, enough in zip(row, counts, strict=True)] for row in right
    ]


def same(found, expected):
    """A number as near as rounding allows, or NaN where nothing is defined."""
    if expected is None:
        return bool(np.isnan(found))
    return bool(found == pytest.approx(float(expected), rel=1e-12, abs=1e-13))


# -- diversity -------------------------------------------------------------------------------------


@usual
@given(cases())
def test_pairwise_measures(case):
    votes, y, weights = case
    right = right_of(votes, y)
    found = pairwise_diversity(**given_to_library(*case))
    for name in PAIRWISE:
        matrix, measure = getattr(found, name), getattr(oracle, name)
        for i, k in combinations(range(len(votes)), 2):
            expected = measure(right[i], right[k], weights)
            assert same(matrix[i, k], expected), name
            assert matrix[k, i] == matrix[i, k] or np.isnan(matrix[k, i])
        assert same(found.mean(name), oracle.mean_of_pairs(measure, right, weights)), name


@usual
@given(cases())
def test_all_ten_measures(case):
    votes, y, weights = case
    right = right_of(votes, y)
    found = diversity(**given_to_library(*case))
    for name in PAIRWISE:
        expected = oracle.mean_of_pairs(getattr(oracle, name), right, weights)
        assert same(getattr(found, name), expected), name
    enough = heard_of_two(right)
    counts = oracle.counts_of_samples(enough, weights)
    for name in WHOLE:
        expected = getattr(oracle, name)(enough, weights) if counts else None
        assert same(getattr(found, name), expected), name


@usual
@given(cases())
def test_kappa_and_error_of_each_pair(case):
    """Kappa is 1 where both say the same class and nothing else, which is nothing over nothing."""
    votes, y, weights = case
    arguments = given_to_library(*case)
    points = {}
    for i, k in combinations(range(len(votes)), 2):
        both = [a is not None and b is not None for a, b in zip(votes[i], votes[k], strict=True)]
        total = sum(w for w, known in zip(weights, both, strict=True) if known)
        if total:
            kappa = oracle.kappa(votes[i], votes[k], weights)
            wrong = sum(
                w * ((votes[i][j] != y[j]) + (votes[k][j] != y[j]))
                for j, w in enumerate(weights)
                if both[j]
            )
            points[i, k] = (Fraction(1) if kappa is None else kappa, wrong / total / 2)
    if not points:
        with pytest.raises(ValueError, match="no two members vote on a common sample"):
            kappa_error(**arguments)
        return
    found = kappa_error(**arguments)
    assert [tuple(pair) for pair in found.pairs.tolist()] == list(points)
    for (kappa, error), a, b in zip(points.values(), found.kappa, found.error, strict=True):
        assert same(a, kappa)
        assert same(b, error)
    centre = [sum(point[part] for point in points.values()) / len(points) for part in (0, 1)]
    assert same(found.centroid[0], centre[0])
    assert same(found.centroid[1], centre[1])


# -- margins ---------------------------------------------------------------------------------------


@usual
@given(cases(), st.data())
def test_margins_and_edges(case, data):
    votes, y, weights = case
    steps = data.draw(
        st.none() | st.lists(st.integers(0, 4), min_size=len(votes), max_size=len(votes))
    )
    if steps is not None and not any(steps):
        steps[0] = 1
    member_weights = [1] * len(votes) if steps is None else [Fraction(n, 4) for n in steps]
    passed = {} if steps is None else {"member_weights": [float(w) for w in member_weights]}
    found = margins(**given_to_library(*case), **passed)
    least = []
    for i, weight in enumerate(weights):
        column = [row[i] for row in votes]
        for values, rule in (found.margins, oracle.margin), (found.edges, oracle.edge):
            expected = rule(column, y[i], member_weights) if weight else None
            assert same(values[i], expected), (i, rule.__name__)
        least += [oracle.margin(column, y[i], member_weights)] if weight else []
    known = [value for value in least if value is not None]
    if known:
        assert same(found.minimum, min(known))


@usual
@given(cases(missing=False))
def test_margins_of_the_first_members(case):
    votes, y, weights = case
    sizes = list(range(1, len(votes) + 1))
    found = margin_distribution(**given_to_library(*case), sizes=sizes)
    places = [Fraction(n, 4) for n in range(-4, 5)]
    shares = found.share_at_most([float(place) for place in places])
    for size, row in zip(sizes, shares, strict=True):
        values = [
            oracle.margin([votes[t][i] for t in range(size)], y[i], [1] * size)
            for i in range(len(y))
        ]
        for place, share in zip(places, row, strict=True):
            below = sum(w for value, w in zip(values, weights, strict=True) if value <= place)
            assert same(share, below / sum(weights))


@usual
@given(cases(), st.data())
def test_error_curves_by_counting_votes(case, data):
    """Samples on which none of the first members votes are left out."""
    votes, y, weights = case
    mine = data.draw(st.permutations(range(len(votes))))
    found = error_curves(**given_to_library(*case), orders={"mine": list(mine)}, out_of_bag=False)
    classes = "abcde"
    for name, places in ("own order", range(len(votes))), ("mine", mine):
        errors = found[name, "these samples"].errors
        for size in range(1, len(votes) + 1):
            wrong, total = Fraction(0), Fraction(0)
            for i, weight in enumerate(weights):
                answers = [votes[t][i] for t in list(places)[:size]]
                codes = [None if v is None else classes.index(v) for v in answers]
                if any(code is not None for code in codes):
                    total += weight
                    wrong += weight * (classes[combining.plurality(codes, 5)] != y[i])
            assert same(errors[size - 1], wrong / total if total else None), (name, size)


def test_members_of_a_bag_out_of_bag_and_in():
    """The whole path from an ensemble, with the samples that members were trained on masked."""
    X, y = make_waveform(40, random_state=1)
    weights = np.random.default_rng(0).integers(0, 3, 40)
    bag = BaggingClassifier(n_estimators=9, random_state=0).fit(X, y)
    votes = bag.classes_[bag.votes(X)].tolist()
    everywhere = diversity(bag, X, y, sample_weight=weights)
    for name in WHOLE:
        expected = getattr(oracle, name)(right_of(votes, y.tolist()), weights.tolist())
        assert same(getattr(everywhere, name), expected)
    mask = adapt(bag).out_of_bag(X, y)
    answered = [
        [vote if out else None for vote, out in zip(row, known, strict=True)]
        for row, known in zip(votes, mask.tolist(), strict=True)
    ]
    found = diversity(bag, X, y, on="out_of_bag")
    right, ones = right_of(answered, y.tolist()), [1] * 40
    assert sum(ok is None for row in right for ok in row) > 150
    for name in PAIRWISE:
        assert same(getattr(found, name), oracle.mean_of_pairs(getattr(oracle, name), right, ones))
    for name in WHOLE:
        assert same(getattr(found, name), getattr(oracle, name)(heard_of_two(right), ones)), name
