"""Clustering of members that err together, as its sentences say it: loops and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from tests.oracles.ordering import Case, Outcome, error


def distance(case: Case, a: int, b: int) -> Fraction:
    """The share of the samples on which both members vote that they do not both get wrong."""
    both = [
        i for i in case.samples if case.answers[a][i] is not None and case.answers[b][i] is not None
    ]
    together = [i for i in both if case.y[i] not in (case.answers[a][i], case.answers[b][i])]
    if not both:
        return Fraction(1)
    lost = sum((case.weights[i] for i in together), Fraction(0))
    return 1 - lost / sum((case.weights[i] for i in both), Fraction(0))


def own_error(case: Case, t: int) -> Fraction:
    """The share of the samples that a member votes on that it gets wrong; 1 if it never votes."""
    votes = [i for i in case.samples if case.answers[t][i] is not None]
    lost = sum((case.weights[i] for i in votes if case.answers[t][i] != case.y[i]), Fraction(0))
    return lost / sum((case.weights[i] for i in votes), Fraction(0)) if votes else Fraction(1)


def farthest(case: Case, one: list[int], other: list[int]) -> Fraction:
    """The distance of two groups: that of their farthest members."""
    return max(distance(case, a, b) for a in one for b in other)


def levels(case: Case) -> list[list[list[int]]]:
    """The groups, in the order of their first members, when there are 1, 2, ... of them."""
    groups = [[t] for t in case.members]
    found = [groups]
    while len(groups) > 1:
        pairs = combinations(groups, 2)
        one, other = min(pairs, key=lambda p: (farthest(case, *p), p[0][0], p[1][0]))
        joined = sorted(one + other)
        groups = sorted([g for g in groups if g not in (one, other)] + [joined])
        found.append(groups)
    return found[::-1]


def kept_of(case: Case, group: list[int]) -> int:
    """The member farthest from the members of other groups; the most accurate, the first."""
    others = [t for t in case.members if t not in group]

    def preference(t: int) -> tuple[Fraction, Fraction, int]:
        away = sum((distance(case, t, other) for other in others), Fraction(0))
        mean = away / len(others) if others else Fraction(0)
        return -mean, own_error(case, t), t

    return min(group, key=preference)


def clustering(case: Case) -> Outcome:
    """One member of each group, for every number of groups; the size of least error."""
    found = levels(case)
    subsets = [sorted(kept_of(case, group) for group in groups) for groups in found]
    order = list(dict.fromkeys(t for kept in subsets for t in kept))
    criterion = [
        min((farthest(case, *pair) for pair in combinations(groups, 2)), default=Fraction(1))
        for groups in found
    ]
    errors = [error(case, kept) for kept in subsets]
    return Outcome(order, criterion, subsets, own_size=errors.index(min(errors)) + 1)
