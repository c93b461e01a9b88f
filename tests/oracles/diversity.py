"""The ten measures of diversity of Kuncheva and Whitaker (2003), counted sample by sample.

``right[t][i]`` is whether member t is right on sample i, ``None`` where it says nothing; weights
of samples are whole numbers or fractions. A measure that is nothing divided by nothing is None.
Pairs are counted where both members answer; every sample has as many members as answer it, and
those that nobody answers (or, where pairs are drawn of it, less than two) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Right = Sequence[Sequence[bool | None]]
Weights = Sequence[Any]


# -- pairs -----------------------------------------------------------------------------------------


def pair_counts(
    one: Sequence[bool | None], other: Sequence[bool | None], weights: Weights
) -> dict[tuple[bool, bool], Fraction]:
    """The weight of the samples on which both, the first, the second or none is right.

    Examples
    --------
    >>> counts = pair_counts([True, True, False, None], [True, False, False, True], [1, 2, 3, 4])
    >>> [int(counts[a, b]) for a in (True, False) for b in (True, False)]
    [1, 2, 0, 3]
    """
    counts = {(a, b): Fraction(0) for a in (True, False) for b in (True, False)}
    for a, b, weight in zip(one, other, weights, strict=True):
        if a is not None and b is not None:
            counts[bool(a), bool(b)] += Fraction(weight)
    return counts


def q_statistic(one: Any, other: Any, weights: Weights) -> Fraction | None:
    """Yule's Q: (N11 N00 - N10 N01) / (N11 N00 + N10 N01).

    Examples
    --------
    >>> q_statistic([True, True, True, False, False], [True, True, False, True, False], [1] * 5)
    Fraction(1, 3)
    """
    n = pair_counts(one, other, weights)
    alike, unlike = n[True, True] * n[False, False], n[True, False] * n[False, True]
    return None if alike + unlike == 0 else (alike - unlike) / (alike + unlike)


def correlation(one: Any, other: Any, weights: Weights) -> float | None:
    """Correlation of two members' being right.

    Examples
    --------
    >>> right = [True, True, True, False, False], [True, True, False, True, False]
    >>> round(correlation(*right, [1] * 5), 9) == round(1 / 6, 9)  # (2 - 1) / sqrt(3 2 3 2)
    True
    """
    n = pair_counts(one, other, weights)
    above = n[True, True] * n[False, False] - n[True, False] * n[False, True]
    below = Fraction(1)
    for a in (True, False):
        below *= (n[a, True] + n[a, False]) * (n[True, a] + n[False, a])
    return None if below == 0 else float(above) / math.sqrt(below)


def disagreement(one: Any, other: Any, weights: Weights) -> Fraction | None:
    """The share of the samples on which one of the two is right.

    Examples
    --------
    >>> disagreement([True, True, False], [True, False, False], [1, 2, 3])
    Fraction(1, 3)
    """
    n = pair_counts(one, other, weights)
    total = sum(n.values())
    return None if total == 0 else (n[True, False] + n[False, True]) / total


def double_fault(one: Any, other: Any, weights: Weights) -> Fraction | None:
    """The share of the samples on which none of the two is right.

    Examples
    --------
    >>> double_fault([True, True, False], [True, False, False], [1, 2, 3])
    Fraction(1, 2)
    """
    n = pair_counts(one, other, weights)
    total = sum(n.values())
    return None if total == 0 else n[False, False] / total


def mean_of_pairs(measure: Callable[..., Any], right: Right, weights: Weights) -> Any:
    """The mean of a measure over the pairs of members where it is defined.

    Examples
    --------
    >>> right = [[True, True, False], [True, False, False], [False, False, False]]
    >>> mean_of_pairs(disagreement, right, [1, 1, 1])  # 1/3, 2/3 and 1/3
    Fraction(4, 9)
    """
    found = [measure(one, other, weights) for one, other in combinations(right, 2)]
    defined = [value for value in found if value is not None]
    return sum(defined) / len(defined) if defined else None


# -- all members at once ---------------------------------------------------------------------------


def counts_of_samples(
    right: Right, weights: Weights, least: int = 1
) -> list[tuple[int, int, Fraction]]:
    """How many are right, how many answer, and the weight, of each sample that counts.

    Examples
    --------
    >>> counts_of_samples([[True, None], [False, None], [True, True]], [1, 2])
    [(2, 3, Fraction(1, 1)), (1, 1, Fraction(2, 1))]
    """
    found = []
    for i, weight in enumerate(weights):
        answers = [row[i] for row in right if row[i] is not None]
        if len(answers) >= least and weight > 0:
            found.append((sum(map(bool, answers)), len(answers), Fraction(weight)))
    return found


def weighted_mean(values: Sequence[Fraction], weights: Sequence[Fraction]) -> Fraction:
    """Weighted mean.

    Examples
    --------
    >>> weighted_mean([Fraction(1), Fraction(4)], [Fraction(2), Fraction(1)])
    Fraction(2, 1)
    """
    above = sum((v * w for v, w in zip(values, weights, strict=True)), Fraction(0))
    return above / sum(weights, Fraction(0))


def kohavi_wolpert_variance(right: Right, weights: Weights) -> Fraction:
    """Mean over the samples of l (L - l) / L^2, l of the L members being right.

    Examples
    --------
    >>> kohavi_wolpert_variance([[True, True], [False, True], [True, True]], [1, 1])  # 2/9 and 0
    Fraction(1, 9)
    """
    found = counts_of_samples(right, weights)
    return weighted_mean(
        [Fraction(n * (L - n), L * L) for n, L, _ in found], [w for *_, w in found]
    )


def interrater_kappa(right: Right, weights: Weights) -> Fraction | None:
    """1 - (sum of l (L - l) / L) / (N (L - 1) p (1 - p)), p being the mean accuracy.

    Where not all answer alike, L - 1 is the mean number of answers less one, and p the share of all
    answers that are right (Fleiss and Cuzick 1979).

    Examples
    --------
    >>> interrater_kappa([[True, True, False], [False, True, False]], [1, 1, 1])
    Fraction(1, 3)
    """
    found = counts_of_samples(right, weights)
    answers = sum((L * w for _, L, w in found), Fraction(0))
    accuracy = sum((n * w for n, _, w in found), Fraction(0)) / answers
    spread = sum((Fraction(n * (L - n), L) * w for n, L, w in found), Fraction(0))
    below = (answers - sum(w for *_, w in found)) * accuracy * (1 - accuracy)
    return None if below == 0 else 1 - spread / below


def entropy(right: Right, weights: Weights) -> Fraction | None:
    """Mean over the samples of min(l, L - l) / (L - ceil(L / 2)).

    Examples
    --------
    >>> entropy([[True, True], [False, True], [True, True]], [1, 1])  # 1 / (3 - 2) and 0
    Fraction(1, 2)
    >>> entropy([[True], [False], [False], [False]], [1])  # 1 / (4 - 2)
    Fraction(1, 2)
    """
    found = counts_of_samples(right, weights, least=2)
    values = [Fraction(min(n, L - n), L - (L + 1) // 2) for n, L, _ in found]
    return weighted_mean(values, [w for *_, w in found]) if found else None


def difficulty(right: Right, weights: Weights) -> Fraction:
    """Variance over the samples of the share of members that are right.

    Examples
    --------
    >>> difficulty([[True, True], [False, True]], [1, 1])  # 1/2 and 1
    Fraction(1, 16)
    """
    found = counts_of_samples(right, weights)
    values, weight = [Fraction(n, L) for n, L, _ in found], [w for *_, w in found]
    centre = weighted_mean(values, weight)
    return weighted_mean([(value - centre) ** 2 for value in values], weight)


def generalized_diversity(right: Right, weights: Weights) -> Fraction | None:
    """1 - p(2) / p(1): the probability that two random members fail over that one does.

    Examples
    --------
    >>> generalized_diversity([[False, False], [True, False], [True, True]], [1, 1])
    Fraction(2, 3)
    """
    found = counts_of_samples(right, weights, least=2)
    weight = [w for *_, w in found]
    if not found:
        return None
    one = weighted_mean([Fraction(L - n, L) for n, L, _ in found], weight)
    two = [Fraction(L - n, L) * Fraction(L - n - 1, L - 1) for n, L, _ in found]
    return None if one == 0 else 1 - weighted_mean(two, weight) / one


def coincident_failure(right: Right, weights: Weights) -> Fraction | None:
    """Mean of (L - i) / (L - 1) over the samples on which i > 0 members fail; 0 if none does.

    Examples
    --------
    >>> coincident_failure([[False, False, True], [True, False, True], [True, True, True]], [1] * 3)
    Fraction(3, 4)
    >>> coincident_failure([[True], [True]], [1])
    Fraction(0, 1)
    """
    found = counts_of_samples(right, weights, least=2)
    if not found:
        return None
    failed = [(Fraction(n, L - 1), w) for n, L, w in found if n < L]
    if not failed:
        return Fraction(0)
    return weighted_mean([value for value, _ in failed], [w for _, w in failed])


# -- labels, margins and edges ---------------------------------------------------------------------


def kappa(one: Sequence[Any], other: Sequence[Any], weights: Weights) -> Fraction | None:
    """Agreement of two members' labels beyond chance: (t1 - t2) / (1 - t2).

    Examples
    --------
    >>> kappa("aabb", "abbb", [1] * 4)  # agree on 3/4, by chance on 1/2 x 1/4 + 1/2 x 3/4
    Fraction(1, 2)
    """
    both = [
        (a, b, Fraction(w))
        for a, b, w in zip(one, other, weights, strict=True)
        if a is not None and b is not None
    ]
    total = sum(w for *_, w in both)
    if total == 0:
        return None
    agreed = sum(w for a, b, w in both if a == b) / total
    chance = Fraction(0)
    for label in {a for a, _, _ in both} | {b for _, b, _ in both}:
        first = sum(w for a, _, w in both if a == label)
        second = sum(w for _, b, w in both if b == label)
        chance += first * second / total**2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def margin(votes: Sequence[int | None], label: int, member_weights: Weights) -> Fraction | None:
    """Weight of right votes less that of the most voted wrong class, over all that are cast.

    Examples
    --------
    >>> margin([0, 0, 1, 2, None], 0, [1] * 5), margin([0, 0, 1, 2], 1, [1, 1, 1, 1])
    (Fraction(1, 4), Fraction(-1, 4))
    """
    counts: dict[int, Fraction] = {}
    for vote, weight in zip(votes, member_weights, strict=True):
        if vote is not None:
            counts[vote] = counts.get(vote, Fraction(0)) + Fraction(weight)
    wrong = max((n for k, n in counts.items() if k != label), default=Fraction(0))
    total = sum(counts.values(), Fraction(0))
    return None if total == 0 else (counts.get(label, Fraction(0)) - wrong) / total


def edge(votes: Sequence[int | None], label: int, member_weights: Weights) -> Fraction | None:
    """The share of the votes of a sample that are wrong.

    Examples
    --------
    >>> edge([0, 0, 1, 2, None], 0, [1] * 5), edge([0, 1], 0, [3, 1])
    (Fraction(1, 2), Fraction(1, 4))
    """
    wrong, total = Fraction(0), Fraction(0)
    for vote, weight in zip(votes, member_weights, strict=True):
        if vote is not None:
            total += Fraction(weight)
            wrong += Fraction(weight) if vote != label else 0
    return None if total == 0 else wrong / total
