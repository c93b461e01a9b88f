"""When a vote is settled, against every outcome of the votes still to come, in fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.early_decision import bound_of_change, chance_of_change, decided_class

from orfeon.combining.vote_stability import CertainLead, RivalsBound, TwoClassTable

CONFIDENCES = ["0.5", "0.75", "0.9", "0.99"]


def test_a_certain_lead_counts_what_may_come():
    rule = CertainLead(np.array([3, 1, 1, 1]), 2)
    assert rule.first == 1
    assert rule.settled(np.array([[3, 0], [0, 3]]), 1)[1].tolist() == [True, False]
    assert CertainLead(np.array([1, 1, 1, 3]), 2).first == 3


@pytest.mark.parametrize("n_members", [1, 2, 3, 4, 15, 16, 31])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_table_of_two_classes_is_the_exact_tail(n_members, confidence):
    doubt = 1 - Fraction(confidence)
    table = TwoClassTable(n_members, 1 - float(confidence)).needed
    for queried in range(1, n_members):
        for leader in (0, 1):
            enough = [
                n
                for n in range(queried + 1)
                if chance_of_change(
                    (n, queried - n) if leader == 0 else (queried - n, n),
                    n_members - queried,
                    leader,
                )
                <= doubt
            ]
            least = min(enough, default=queried + 1)
            assert table[leader, queried] == least or min(table[leader, queried], least) > queried
    assert table[:, n_members].tolist() == [(n_members + 1) // 2, n_members // 2 + 1]


def test_the_table_has_the_limit_of_many_members():
    # After unanimous votes of t members of very many the others outvote them once in 2^(t + 1).
    for t in range(1, 12):
        assert TwoClassTable(10_001, 2.0 ** -(t + 1) * 1.01).first == t
        assert TwoClassTable(10_001, 2.0 ** -(t + 1) * 0.98).first == t + 1


@pytest.mark.parametrize(("n_classes", "n_members"), [(3, 9), (4, 7), (5, 6)])
def test_the_bound_of_more_classes_is_never_too_small(n_classes, n_members):
    loosest = 0.0
    for queried in range(1, n_members):
        for counts in itertools.product(range(queried + 1), repeat=n_classes):
            if sum(counts) == queried:
                leader = decided_class(counts)
                chance = chance_of_change(counts, n_members - queried, leader)
                bound = bound_of_change(counts, n_members - queried, leader)
                assert chance <= bound
                loosest = max(loosest, float(bound - chance))
                # Decided for certain is decided, and nothing else is.
                assert (chance == 0) == (bound == 0)
    assert 0 < loosest < n_classes - 1


@pytest.mark.parametrize(("n_classes", "n_members"), [(3, 9), (4, 7)])
def test_the_rule_of_more_classes_is_the_bound(n_classes, n_members):
    states = [
        counts
        for counts in itertools.product(range(n_members), repeat=n_classes)
        if 1 <= sum(counts) < n_members
    ]
    for confidence in CONFIDENCES:
        rule = RivalsBound(n_members, n_classes, 1 - float(confidence))
        held = set()
        for counts in states:
            queried, leader = sum(counts), decided_class(counts)
            bound = bound_of_change(counts, n_members - queried, leader)
            found, settled = rule.settled(np.array([counts]), queried)
            assert found[0] == leader
            assert settled[0] == (bound <= 1 - Fraction(confidence))
            held |= {queried} if settled[0] else set()
        assert rule.first == min(held)
