"""How likely the votes still to come are to change a decision.

Given the votes so far, and before any vote every share of the classes equally likely, the votes
of a pair of classes are a Pólya urn. Of ``pair`` votes in the end, ``seen`` are known, ``own`` of
them for one of the two. That one has at most ``low`` - 1 in the end with the probability that,
of ``seen`` + 1 things drawn from ``pair`` + 1 without replacement, more than ``own`` are among
the first ``low``: a hypergeometric tail.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel, step

#: Terms of a tail below this share of its sum are left out.
_NEGLIGIBLE = 1e-17


@step
def upper_tail(log_factorial, population, marked, drawn, count, enough):
    """Probability of more than ``count`` marked ones among those drawn without replacement.

    It is added up until it is more than ``enough``.
    """
    x = count + 1
    unmarked = population - marked
    if x > marked or x > drawn:
        return 0.0
    if x <= drawn - unmarked:
        return 1.0
    term = np.exp(
        log_factorial[marked] - log_factorial[x] - log_factorial[marked - x]
        + log_factorial[unmarked] - log_factorial[drawn - x]
        - log_factorial[unmarked - drawn + x]
        + log_factorial[drawn] + log_factorial[population - drawn] - log_factorial[population]
    )  # fmt: skip
    total = term
    while x < marked and x < drawn:
        ratio = (marked - x) * (drawn - x) / ((x + 1.0) * (unmarked - drawn + x + 1.0))
        term *= ratio
        total += term
        x += 1
        if total > enough or (ratio < 1.0 and term < _NEGLIGIBLE * total):
            break
    return total


@kernel
def votes_needed(log_factorial, n_members, losing, doubt, needed):
    """Votes that keep a class of two from losing, but for a probability of at most ``doubt``.

    ``needed[t]`` of the first t votes are enough. The class loses with less than ``losing`` votes
    of all. One more vote asked for needs one more at most, so each entry starts from the one
    before.
    """
    count = 0
    needed[0] = 1  # nobody decides on no votes
    for queried in range(1, n_members + 1):
        while upper_tail(log_factorial, n_members + 1, losing, queried + 1, count, doubt) > doubt:
            count += 1
        needed[queried] = count


@step
def doubt_of_pair(log_factorial, pair, own, other, wins_ties, enough):
    """Bound of the probability that a class with ``own`` votes ends behind one with ``other``.

    At most ``pair`` votes are for the two in the end. The probability grows with their number,
    that number being odd where ties are won and even where they are lost, except for a lead of
    one that does not win ties: it is then below one half.
    """
    if wins_ties:
        pair -= 1 - pair % 2
        losing = (pair + 1) // 2
    else:
        if own == other + 1:
            return 0.5
        pair -= pair % 2
        losing = pair // 2 + 1
    return upper_tail(log_factorial, pair + 1, losing, own + other + 1, own, enough)


@kernel
def leaders_hold(log_factorial, counts, n_members, n_queried, doubt, leader, holds):
    """Class of most votes of each row, and whether it stays so but for ``doubt`` at most.

    The probabilities that each of the others overtakes it are added up: never too small. At least
    one vote is still to come.
    """
    for i in range(counts.shape[0]):
        first = 0
        for c in range(1, counts.shape[1]):
            if counts[i, c] > counts[i, first]:
                first = c
        own = counts[i, first]
        total = 0.0
        for c in range(counts.shape[1]):
            if c != first and total <= doubt:
                pair = n_members - n_queried + own + counts[i, c]
                total += doubt_of_pair(log_factorial, pair, own, counts[i, c], first < c, doubt)
        leader[i] = first
        holds[i] = total <= doubt
