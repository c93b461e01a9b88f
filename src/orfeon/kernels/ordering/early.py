"""How likely the remaining votes are to change a decision.

With a uniform prior over the class shares, the votes for a pair of classes follow a Pólya urn. Let
the pair end with ``pair`` votes, of which ``seen`` are known, ``own`` of them for one class. It
ends with at most ``low`` - 1 votes with the probability that, of ``seen`` + 1 items drawn from
``pair`` + 1 without replacement, more than ``own`` are in the first ``low`` (hypergeometric).
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel, step

#: Tail terms below this share of the sum are dropped.
_NEGLIGIBLE = 1e-17


@step
def upper_tail(log_factorial, population, marked, drawn, count, enough):
    """Probability of more than ``count`` marked items among those drawn without replacement."""
    # Summation stops above ``enough``.
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
    """Votes ``needed[t]`` of the first t that keep one of two classes from losing."""
    # Up to a probability of ``doubt``; the class loses with fewer than ``losing`` votes in total.
    # The need grows by at most one per vote, so each entry starts from the one before.
    count = 0
    needed[0] = 1  # no decision without votes
    for queried in range(1, n_members + 1):
        while upper_tail(log_factorial, n_members + 1, losing, queried + 1, count, doubt) > doubt:
            count += 1
        needed[queried] = count


@step
def doubt_of_pair(log_factorial, pair, own, other, wins_ties, enough):
    """Bound on the probability that a class with ``own`` votes ends behind one with ``other``."""
    # The two get at most ``pair`` votes in the end. The probability grows with their number, taken
    # odd if the first class wins ties and even if not. The exception is a lead of one that does not
    # win ties: its probability is below one half.
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
    """Leading class of each row, and whether it keeps its lead up to a probability of ``doubt``."""
    # Bounds it by the sum over the other classes. At least one vote must remain.
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
