"""Greedy orders: members chosen one by one, each to complement those chosen before.

Votes are class codes of shape (n_members, n_samples), -1 for none. Sample weights are integers, so
their sums are exact. Ties go to the member of lowest index, and within a vote to the lowest class.
While votes are only added, a decision can change only to the class just added.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel, step


@step
def add_vote(score, decided, i, vote, weight):
    """Add a vote to sample i and update its decision; a vote of weight 0 is ignored."""
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
    """Weighted errors of the first 1, 2, ... members of an order."""
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
    """List the samples one more vote may change; returns how many, and the errors elsewhere."""
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
def errors_of_additions(votes, y, weights, vote_weights, score, decided, used, listed, errors):
    """Errors of the vote of all chosen and one more, for each member that is not chosen."""
    n_listed, base = _contested(score, decided, weights, y, vote_weights.max(), listed)
    for k in range(len(used)):
        if used[k]:
            continue
        wrong = np.int64(base)
        for at in range(n_listed):
            i = listed[at]
            if _would_win(score, decided, i, votes[k, i], vote_weights[k]) != y[i]:
                wrong += weights[i]
        errors[k] = wrong


@kernel
def choose(votes, k, vote_weights, score, decided):
    """Add the votes of a member."""
    for i in range(votes.shape[1]):
        if votes[k, i] >= 0:
            add_vote(score, decided, i, votes[k, i], vote_weights[k])


@kernel
def reduce_error(votes, y, weights, vote_weights, score, order, errors):
    """Choose in turn the member that minimises the errors of the vote of all chosen."""
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
    """Choose in turn the member right on most samples the chosen ones get wrong (first: all)."""
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
    """Choose in turn the member that brings the sum S of the chosen c_t nearest to the target."""
    # The squared distance grows by scale * (2 S.c_k + |c_k|^2) - pull * sum(c_k), up to a factor.
    # ``product`` is S.c_k, in integers where they fit, so that equal distances are ties.
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
    """Weight of the samples where each member has this sign; ``signs`` has one row per sample."""
    sums[:] = 0.0
    for i in range(len(weights)):
        w = weights[i]
        for k in range(len(sums)):
            sums[k] += w if signs[i, k] == sign else 0.0


@kernel
def squared_errors(answers, vote_weights, sums, counts, y, weights, before, errors, helped):
    """Squared error of the mean with each further member, and the weight of samples it improves."""
    # ``answers`` has one row per sample, NaN where a member abstains and the loss stays the same.
    errors[:] = 0.0
    helped[:] = 0.0
    for i in range(len(y)):
        w = weights[i]
        for k in range(answers.shape[1]):
            more = vote_weights[k]
            off = (sums[i] + more * answers[i, k]) / (counts[i] + more) - y[i]
            loss = before[i] if np.isnan(off) else off * off  # 0 / 0 also means no answer
            errors[k] += w * loss
            # A decrease within rounding does not count.
            helped[k] += w if before[i] - loss > 1e-12 * before[i] else 0.0
