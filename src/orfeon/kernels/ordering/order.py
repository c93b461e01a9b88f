"""Greedy orders: members chosen one after the other, each to help those chosen before.

Votes are class codes of shape (n_members, n_samples), -1 for none; weights of samples are whole
numbers, so that their sums are exact; ties go to the member of lowest index, and in a vote to the
lowest class. While votes are only added, a decision can change to nothing but the class added.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel, step


@step
def add_vote(score, decided, i, vote, weight):
    """Add a vote to sample i; the decision changes when the class added is now ahead.

    A vote of no weight is no vote.
    """
    if weight <= 0.0:
        return
    score[i, vote] += weight
    old = decided[i]
    if (
        old < 0
        or score[i, vote] > score[i, old]
        or (score[i, vote] == score[i, old] and vote < old)
    ):
        decided[i] = vote


@step
def _would_win(score, decided, i, vote, weight):
    """The decision on sample i with one more vote."""
    old = decided[i]
    if vote < 0 or vote == old or weight <= 0.0:
        return old
    if old < 0:
        return vote
    new = score[i, vote] + weight
    if new > score[i, old] or (new == score[i, old] and vote < old):
        return vote
    return old


@kernel
def vote_curve(votes, order, y, weights, vote_weights, score, errors):
    """Weight of the samples that the first 1, 2, ... members of an order decide wrongly."""
    n = votes.shape[1]
    decided = np.full(n, -1, np.int32)
    wrong = weights.sum()
    for u in range(len(order)):
        t = order[u]
        for i in range(n):
            vote = votes[t, i]
            if vote >= 0:
                before = decided[i]
                add_vote(score, decided, i, vote, vote_weights[t])
                if decided[i] != before:
                    if before == y[i]:
                        wrong += weights[i]
                    elif decided[i] == y[i]:
                        wrong -= weights[i]
        errors[u] = wrong


@step
def _contested(score, decided, weights, y, largest, listed):
    """Samples that one more vote may decide; the weight of the others that are wrong."""
    n_listed, wrong = 0, 0
    for i in range(len(y)):
        old = decided[i]
        open_ = old < 0
        if not open_:
            for c in range(score.shape[1]):
                if c != old and score[i, c] + largest >= score[i, old]:
                    open_ = True
                    break
        if open_:
            listed[n_listed] = i
            n_listed += 1
        elif old != y[i]:
            wrong += weights[i]
    return n_listed, wrong


@step
def best_addition(votes, y, weights, vote_weights, score, decided, used, largest, listed):
    """The unused member with which the vote errs least, and the weight of its errors."""
    n_listed, base = _contested(score, decided, weights, y, largest, listed)
    best, least = -1, np.int64(0)
    for k in range(len(used)):
        if used[k]:
            continue
        wrong = np.int64(base)
        for at in range(n_listed):
            i = listed[at]
            if _would_win(score, decided, i, votes[k, i], vote_weights[k]) != y[i]:
                wrong += weights[i]
                if best >= 0 and wrong >= least:
                    break
        if best < 0 or wrong < least:
            best, least = k, wrong
    return best, least


@kernel
def reduce_error(votes, y, weights, vote_weights, score, order, errors):
    """Each member in turn is the one that lets the vote of all chosen err least."""
    n_members, n = votes.shape
    decided = np.full(n, -1, np.int32)
    used = np.zeros(n_members, np.bool_)
    listed = np.empty(n, np.int64)
    largest = vote_weights.max()
    for u in range(n_members):
        k, wrong = best_addition(
            votes, y, weights, vote_weights, score, decided, used, largest, listed
        )
        used[k], order[u], errors[u] = True, k, wrong
        for i in range(n):
            if votes[k, i] >= 0:
                add_vote(score, decided, i, votes[k, i], vote_weights[k])


@kernel
def complementarity(votes, y, weights, vote_weights, score, order, gains):
    """Each member in turn is right on most of the samples that those chosen decide wrongly.

    As long as none is chosen these are all samples.
    """
    n_members, n = votes.shape
    decided = np.full(n, -1, np.int32)
    used = np.zeros(n_members, np.bool_)
    listed = np.empty(n, np.int64)
    for u in range(n_members):
        best, most = -1, np.int64(-1)
        n_listed = 0
        for i in range(n):
            if decided[i] != y[i]:
                listed[n_listed] = i
                n_listed += 1
        for k in range(n_members):
            if used[k]:
                continue
            gain = np.int64(0)
            for at in range(n_listed):
                i = listed[at]
                if votes[k, i] == y[i]:
                    gain += weights[i]
            if gain > most:
                best, most = k, gain
        used[best], order[u], gains[u] = True, best, most
        for i in range(n):
            if votes[best, i] >= 0:
                add_vote(score, decided, i, votes[best, i], vote_weights[best])


@kernel
def margin_distance(gram, product, totals, sizes, scale, pull, order, chosen_values):
    """Each member in turn brings the sum S of the chosen c_t nearest to the objective point.

    The squared distance grows by ``scale * (2 S.c_k + |c_k|^2) - pull * sum(c_k)``, up to a factor.
    ``product`` is S.c_k: whole numbers where they fit, so that equal distances are ties.
    """
    n_members = len(totals)
    used = np.zeros(n_members, np.bool_)
    for u in range(n_members):
        best = -1
        least = totals[0]
        for k in range(n_members):
            if not used[k]:
                value = scale * (2 * product[k] + sizes[k]) - pull * totals[k]
                if best < 0 or value < least:
                    best, least = k, value
        used[best], order[u], chosen_values[u] = True, best, least
        row = gram[best]
        for k in range(n_members):
            product[k] += row[k]


@kernel
def weigh_signs(signs, weights, sign, sums):
    """Weight of the samples on which each member has this sign; ``signs`` has a row a sample."""
    sums[:] = 0.0
    for i in range(len(weights)):
        w = weights[i]
        for k in range(len(sums)):
            sums[k] += w if signs[i, k] == sign else 0.0


@kernel
def squared_errors(answers, vote_weights, sums, counts, y, weights, before, errors, helped):
    """Squared error of the mean with each further member, and the weight of samples it helps.

    ``said`` has a row a sample, NaN where a member says nothing: the loss then stays ``before``.
    """
    errors[:] = 0.0
    helped[:] = 0.0
    for i in range(len(y)):
        w = weights[i]
        for k in range(answers.shape[1]):
            more = vote_weights[k]
            off = (sums[i] + more * answers[i, k]) / (counts[i] + more) - y[i]
            loss = before[i] if np.isnan(off) else off * off  # 0 / 0 is no answer either
            errors[k] += w * loss
            # What rounding alone may have lowered is not lower.
            helped[k] += w if before[i] - loss > 1e-12 * before[i] else 0.0
