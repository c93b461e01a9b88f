"""Reduce-error with backfitting, 64 samples to a word.

A member that is exchanged moves the lead of the true class by two votes at most, so only samples
that are that near to a change count. What becomes of one of them depends on the class that the
member taken out votes for there and on the one that comes in: these tables are made once for each
state of the ensemble, and a candidate is then weighed by a few words.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.bits import count_ones
from orfeon.kernels.ordering.order import add_vote, best_addition
from orfeon.utils.jit import array_step, kernel, step

#: How far an exchange moves the lead of the true class.
_REACH = 2
#: Words that one vector instruction takes; rows are as long as whole numbers of these.
_VECTOR = 4


@array_step
def _lead(score, y, out, into, i):
    """Votes by which the true class wins sample i once one vote is gone and another there.

    It wins when this is not negative: a lower class must be beaten, a higher one equalled, and
    there must be a vote.
    """
    own = score[i, y] - (out == y) + (into == y)
    most = 1
    for c in range(score.shape[1]):
        if c != y:
            votes = score[i, c] - (out == c) + (into == c) + (c < y)
            most = max(most, votes)
    return own - most


@array_step
def _prepare(votes, y, score, near, after, codes):
    """Samples near a change, their outcome for each exchange, and the members' votes there.

    ``after[d, c]`` are the samples that are won when class d goes and class c comes, where the
    last code is no vote. Returns the words that they take, and how many are won in any case.
    """
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
    """Near samples that are won when member t goes and a class comes, for each class."""
    n_codes = after.shape[1]
    for c in range(n_codes):
        for w in range(n_words):
            word = np.uint64(0)
            for d in range(n_codes):
                word |= codes[t, d * n_words + w] & after[d, c, w]
            masks[c * n_words + w] = word


@array_step
def _fill_up(masks, n_used):
    """Words with nothing in them up to a whole number of vectors: what is left over is slow."""
    n_padded = -(-n_used // _VECTOR) * _VECTOR
    masks[n_used:n_padded] = 0
    return n_padded


@array_step
def _best(codes, masks, n_used, left, n_left):
    """The member with which most near samples are won, the first of them; and how many."""
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
def _move(votes, score, t, by):
    """Give or take a member's votes."""
    for i in range(votes.shape[1]):
        if votes[t, i] >= 0:
            score[i, votes[t, i]] += by


@array_step
def _list(used, left):
    """The members that are not used, by index."""
    n_left = 0
    for k in range(len(used)):
        if not used[k]:
            left[n_left] = k
            n_left += 1
    return n_left


@kernel
def backfit_counts(votes, y, n_classes, max_passes, chosen, errors, subsets):
    """Order members; row u of ``subsets`` is the set of u + 1 members, ``errors[u]`` its errors.

    All samples and all votes count the same. Members are looked at in turn until none of them has
    been exchanged since it was looked at last.
    """
    n_members, n = votes.shape
    # Silence is a code of its own, but only where some member does not vote.
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
        n_left = _list(used, left)
        for c in range(n_codes):
            for w in range(n_words):
                masks[c * n_words + w] = after[n_classes, c, w]
        n_used = _fill_up(masks, n_codes * n_words)
        k, won = _best(codes, masks, n_used, left, n_left)
        right = n_won + won
        used[k], chosen[u] = True, k
        _move(votes, score, k, 1)
        n_left = _list(used, left)
        is_old, at, n_in_vain, n_passes = True, 0, 0, 0
        while n_in_vain <= u and n_passes < max_passes and right < n and n_left > 0:
            if is_old:
                n_words, n_won = _prepare(votes, y, score, near, after, codes)
                is_old = False
            _exchange(codes, after, chosen[at], n_words, masks)
            n_used = _fill_up(masks, n_codes * n_words)
            k, won = _best(codes, masks, n_used, left, n_left)
            n_in_vain += 1
            if n_won + won > right:
                right, n_in_vain, is_old = n_won + won, 0, True
                _move(votes, score, chosen[at], -1)
                _move(votes, score, k, 1)
                used[chosen[at]], used[k] = False, True
                chosen[at] = k
                n_left = _list(used, left)
            at += 1
            if at > u:
                at, n_passes = 0, n_passes + 1
        errors[u] = n - right
        subsets[u, : u + 1] = chosen[: u + 1]


@step
def _decide_anew(score, decided, i):
    """The class of most votes, none when there is no vote."""
    best, winner = 0.0, -1
    for c in range(score.shape[1]):
        if score[i, c] > best:
            best, winner = score[i, c], c
    decided[i] = winner


@step
def _take_out(votes, t, weight, score, decided):
    """Take a member's votes back."""
    for i in range(votes.shape[1]):
        vote = votes[t, i]
        if vote >= 0:
            score[i, vote] -= weight
            if vote == decided[i]:
                _decide_anew(score, decided, i)


@step
def _put_in(votes, t, weight, score, decided):
    """Add a member's votes."""
    for i in range(votes.shape[1]):
        if votes[t, i] >= 0:
            add_vote(score, decided, i, votes[t, i], weight)


@kernel
def backfit_weighted(votes, y, weights, vote_weights, score, max_passes, chosen, errors, subsets):
    """The same when samples or votes weigh differently, candidate by candidate."""
    n_members, n = votes.shape
    decided = np.full(n, -1, np.int32)
    used = np.zeros(n_members, np.bool_)
    near = np.empty(n, np.int64)
    most = vote_weights.max()
    for u in range(n_members):
        k, wrong = best_addition(votes, y, weights, vote_weights, score, decided, used, most, near)
        used[k], chosen[u] = True, k
        _put_in(votes, k, vote_weights[k], score, decided)
        at, n_in_vain, n_passes = 0, 0, 0
        while n_in_vain <= u and n_passes < max_passes and wrong > 0 and u + 1 < n_members:
            old = chosen[at]
            _take_out(votes, old, vote_weights[old], score, decided)
            k, least = best_addition(
                votes, y, weights, vote_weights, score, decided, used, most, near
            )
            n_in_vain += 1
            if least < wrong:
                used[old], used[k] = False, True
                chosen[at], wrong, n_in_vain = k, least, 0
            _put_in(votes, chosen[at], vote_weights[chosen[at]], score, decided)
            at += 1
            if at > u:
                at, n_passes = 0, n_passes + 1
        errors[u] = wrong
        subsets[u, : u + 1] = chosen[: u + 1]
