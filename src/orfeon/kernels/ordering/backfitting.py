"""Reduce-error ordering with backfitting, 64 samples per word.

An exchange of members moves the lead of the true class by at most two votes, so only samples that
close to a change matter. Their outcome depends on the classes voted by the member taken out and the
one put in; these tables are built once per state of the ensemble.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.bits import count_ones
from orfeon.kernels.ordering.order import add_vote, best_addition
from orfeon.utils.jit import array_step, kernel, step

#: How far an exchange moves the lead of the true class.
_REACH = 2
#: Words per vector instruction; rows are padded to multiples of it.
_VECTOR = 4


@array_step
def _lead(score, y, out, into, i):
    """Lead of the true class on sample i after one vote is removed and another added."""
    # A lead of 0 wins: it must beat lower classes and equal higher ones, and there must be a vote.
    own = score[i, y] - (out == y) + (into == y)
    most = 1
    for c in range(score.shape[1]):
        if c != y:
            votes = score[i, c] - (out == c) + (into == c) + (c < y)
            most = max(most, votes)
    return own - most


@array_step
def _prepare(votes, y, score, near, after, codes):
    """List the samples near a change, their outcome for each exchange and the members' votes."""
    # ``after[d, c]``: samples won when class d leaves and class c enters; the last code is no vote.
    # Returns the number of words and the number of samples won in any case.
    n_members, n = votes.shape
    n_codes = after.shape[1]
    n_near, n_won = 0, 0
    for i in range(n):
        lead = _lead(score, y[i], -2, -2, i)
        if lead >= _REACH:
            n_won += 1
        elif lead >= -_REACH:
            near[n_near] = i
            n_near += 1
    n_words = (n_near + 63) // 64
    after[:, :, :n_words] = 0
    codes[:, : n_codes * n_words] = 0
    for at in range(n_near):
        i = near[at]
        word, bit = at // 64, np.uint64(1) << np.uint64(at % 64)
        for d in range(after.shape[0]):
            for c in range(n_codes):
                if _lead(score, y[i], d, c, i) >= 0:
                    after[d, c, word] |= bit
        for t in range(n_members):
            vote = votes[t, i] if votes[t, i] >= 0 else n_codes - 1
            codes[t, vote * n_words + word] |= bit
    return n_words, n_won


@array_step
def _exchange(codes, after, t, n_words, masks):
    """Near samples won when member t leaves and class c enters, for each class c."""
    n_codes = after.shape[1]
    for c in range(n_codes):
        for w in range(n_words):
            word = np.uint64(0)
            for d in range(n_codes):
                word |= codes[t, d * n_words + w] & after[d, c, w]
            masks[c * n_words + w] = word


@array_step
def _pad(masks, n_used):
    """Pad with zero words to a whole number of vectors, because the remainder loop is slow."""
    n_padded = -(-n_used // _VECTOR) * _VECTOR
    masks[n_used:n_padded] = 0
    return n_padded


@array_step
def _best(codes, masks, n_used, left, n_left):
    """The first member that wins most near samples, and how many."""
    best, most = -1, np.uint64(0)
    for at in range(n_left):
        k = left[at]
        won = np.uint64(1)
        for x in range(n_used):
            won += count_ones(codes[k, x] & masks[x])
        if won > most:
            best, most = k, won
    return best, np.int64(most) - 1


@array_step
def _shift_score(votes, score, t, by):
    for i in range(votes.shape[1]):
        if votes[t, i] >= 0:
            score[i, votes[t, i]] += by


@array_step
def _list_unused(used, left):
    n_left = 0
    for k in range(len(used)):
        if not used[k]:
            left[n_left] = k
            n_left += 1
    return n_left


@kernel
def backfit_counts(votes, y, n_classes, max_passes, chosen, errors, subsets):
    """Order members; row u of ``subsets`` is the set of u + 1 members, ``errors[u]`` its errors."""
    # Members are reconsidered in turn until none has been exchanged for a whole round.
    n_members, n = votes.shape
    # An abstention has its own code, but only if some member abstains.
    n_codes = n_classes + (votes.min() < 0)
    all_words = (n + 63) // 64
    score = np.zeros((n, n_classes), np.int32)
    near = np.empty(n, np.int64)
    after = np.zeros((n_classes + 1, n_codes, all_words), np.uint64)
    codes = np.zeros((n_members, n_codes * all_words + _VECTOR), np.uint64)
    masks = np.zeros(n_codes * all_words + _VECTOR, np.uint64)
    used = np.zeros(n_members, np.bool_)
    left = np.empty(n_members, np.int64)
    for u in range(n_members):
        n_words, n_won = _prepare(votes, y, score, near, after, codes)
        n_left = _list_unused(used, left)
        for c in range(n_codes):
            for w in range(n_words):
                masks[c * n_words + w] = after[n_classes, c, w]
        n_used = _pad(masks, n_codes * n_words)
        k, won = _best(codes, masks, n_used, left, n_left)
        right = n_won + won
        used[k], chosen[u] = True, k
        _shift_score(votes, score, k, 1)
        n_left = _list_unused(used, left)
        is_stale, at, n_unchanged, n_passes = True, 0, 0, 0
        while n_unchanged <= u and n_passes < max_passes and right < n and n_left > 0:
            if is_stale:
                n_words, n_won = _prepare(votes, y, score, near, after, codes)
                is_stale = False
            _exchange(codes, after, chosen[at], n_words, masks)
            n_used = _pad(masks, n_codes * n_words)
            k, won = _best(codes, masks, n_used, left, n_left)
            n_unchanged += 1
            if n_won + won > right:
                right, n_unchanged, is_stale = n_won + won, 0, True
                _shift_score(votes, score, chosen[at], -1)
                _shift_score(votes, score, k, 1)
                used[chosen[at]], used[k] = False, True
                chosen[at] = k
                n_left = _list_unused(used, left)
            at += 1
            if at > u:
                at, n_passes = 0, n_passes + 1
        errors[u] = n - right
        subsets[u, : u + 1] = chosen[: u + 1]


@step
def _decide_again(score, decided, i):
    best, winner = 0.0, -1
    for c in range(score.shape[1]):
        if score[i, c] > best:
            best, winner = score[i, c], c
    decided[i] = winner


@step
def _remove_votes(votes, t, weight, score, decided):
    for i in range(votes.shape[1]):
        vote = votes[t, i]
        if vote >= 0:
            score[i, vote] -= weight
            if vote == decided[i]:
                _decide_again(score, decided, i)


@step
def _add_votes(votes, t, weight, score, decided):
    for i in range(votes.shape[1]):
        if votes[t, i] >= 0:
            add_vote(score, decided, i, votes[t, i], weight)


@kernel
def backfit_weighted(votes, y, weights, vote_weights, score, max_passes, chosen, errors, subsets):
    """Like ``backfit_counts`` for unequal sample or vote weights, one candidate at a time."""
    n_members, n = votes.shape
    decided = np.full(n, -1, np.int32)
    used = np.zeros(n_members, np.bool_)
    near = np.empty(n, np.int64)
    most = vote_weights.max()
    for u in range(n_members):
        k, wrong = best_addition(votes, y, weights, vote_weights, score, decided, used, most, near)
        used[k], chosen[u] = True, k
        _add_votes(votes, k, vote_weights[k], score, decided)
        at, n_unchanged, n_passes = 0, 0, 0
        while n_unchanged <= u and n_passes < max_passes and wrong > 0 and u + 1 < n_members:
            old = chosen[at]
            _remove_votes(votes, old, vote_weights[old], score, decided)
            k, least = best_addition(
                votes, y, weights, vote_weights, score, decided, used, most, near
            )
            n_unchanged += 1
            if least < wrong:
                used[old], used[k] = False, True
                chosen[at], wrong, n_unchanged = k, least, 0
            _add_votes(votes, chosen[at], vote_weights[chosen[at]], score, decided)
            at += 1
            if at > u:
                at, n_passes = 0, n_passes + 1
        errors[u] = wrong
        subsets[u, : u + 1] = chosen[: u + 1]
