"""Search over every subset of the members of an ensemble, 64 samples per word.

In a contest with another class, the lead of the true class is its votes minus the other's. A row of
words holds the leads of 64 samples: bit i of word j is set if sample i leads by at least j. A
member that enters moves a sample's bits one word up where it votes for the true class, and one word
down where it votes for the opponent:

    new[j] = old[j - 1] where it gains, old[j + 1] where it loses, old[j] elsewhere
           = (old[j - 1] & gains) | (old[j] & ~loses) | old[j + 1]

because a lead of j + 1 is also a lead of j. With r members undecided only words -r to r matter, and
at the end only word 0, so a subset costs on average three such steps and one bit count per contest.

A subset is a number with one bit per member. Members of the lowest bits are unfolded all at once,
in loops over subsets that the compiler vectorises; the others enter one by one.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.bits import count_ones
from orfeon.utils.jit import array_step, kernel

#: Indices that cannot be negative: checks for that would prevent vectorisation.
_at = np.uint64


@array_step
def _enter(leads, gains, keeps, reach, entered):
    """Write the leads after a member enters to words -reach to reach; also works in place."""
    centre = leads.shape[1] // 2
    for q in range(leads.shape[0]):
        gain, keep = gains[q], keeps[q]
        less = leads[q, centre - reach - 1]
        for j in range(centre - reach, centre + reach + 1):
            same = leads[q, j]
            entered[q, j] = (less & gain) | (same & keep) | leads[q, j + 1]
            less = same


@array_step
def _unfold(leads, q, n_low, gains, keeps, rows, right):
    """Clear in ``right[s]`` the samples that lose contest q, for each subset s of low members."""
    # Row j of ``rows`` holds word j - n_low of each subset. Each member doubles the subsets and
    # leaves two rows fewer to update.
    n_subsets = right.shape[0]
    centre = leads.shape[1] // 2
    for j in range(2 * n_low + 1):
        rows[j * n_subsets] = leads[q, centre - n_low + j]
    for i in range(n_low - 1):
        gain, keep = gains[i, q], keeps[i, q]
        half = 1 << i
        reach = n_low - 1 - i
        for j in range(n_low - reach, n_low + reach + 1):
            same = j * n_subsets
            less, more, new = same - n_subsets, same + n_subsets, same + half
            for s in range(half):
                a, b, c = rows[_at(less + s)], rows[_at(same + s)], rows[_at(more + s)]
                rows[_at(new + s)] = (a & gain) | (b & keep) | c
    # The last member is separate: its row need not be written.
    gain, keep = gains[n_low - 1, q], keeps[n_low - 1, q]
    half = n_subsets >> 1
    same = n_low * n_subsets
    less, more = same - n_subsets, same + n_subsets
    for s in range(half):
        a, b, c = rows[_at(less + s)], rows[_at(same + s)], rows[_at(more + s)]
        right[_at(s)] &= b
        right[_at(half + s)] &= (a & gain) | (b & keep) | c


@array_step
def _weigh(leads, n_low, gains, keeps, words, planes, mask, shift, rows, right, weight):
    n_subsets = right.shape[0]
    for s in range(n_subsets):
        weight[s] = 0
    for w in range(words.shape[0] - 1):
        for s in range(n_subsets):
            right[s] = ~np.uint64(0)
        for q in range(words[w], words[w + 1]):
            _unfold(leads, q, n_low, gains, keeps, rows, right)
        for p in range(planes[w], planes[w + 1]):
            some, power = mask[p], shift[p]
            for s in range(n_subsets):
                weight[s] += count_ones(right[s] & some) << power


@array_step
def _keep_best(weight, sizes, n_high, code, best, n_best, best_code):
    """Record the best subset of each size so far; the last of equals is kept."""
    for s in range(weight.shape[0]):
        size = n_high + sizes[s]
        found = np.int64(weight[s])
        if found >= best[size]:
            if found > best[size]:
                best[size] = found
                n_best[size] = 0
            n_best[size] += 1
            best_code[size] = code + s


@array_step
def _keep_most_alike(weight, sizes, n_high, code, like, best, n_best, best_code):
    """Record the best subset of each size that shares most members with ``like`` of that size."""
    for s in range(weight.shape[0]):
        size = n_high + sizes[s]
        found = np.int64(weight[s])
        if found > best[size]:
            best[size], n_best[size], best_code[size] = found, 1, code + s
        elif found == best[size]:
            n_best[size] += 1
            shared = count_ones(np.uint64((code + s) & like[size]))
            if shared >= count_ones(np.uint64(best_code[size] & like[size])):
                best_code[size] = code + s


@array_step
def _lowest_bit(number):
    place = 0
    while not (number >> place) & 1:
        place += 1
    return place


@array_step
def _enter_all(part, n_part, start, gains, keeps, leads):
    for q in range(start.shape[0]):
        for j in range(start.shape[1]):
            leads[q, j] = start[q, j]
    n_in = 0
    for m in range(gains.shape[0] - 1, n_part - 1, -1):
        if (part >> (m - n_part)) & 1:
            _enter(leads, gains[m], keeps[m], m, leads)
            n_in += 1
    return n_in


@kernel
def search_part(
    part, n_part, n_low, start, gains, keeps, words, planes, mask, shift, like,
    best, n_best, best_code,
):  # fmt: skip
    """Try the ``2**n_part`` subsets whose numbers begin with the bits of ``part``.

    Of the best subsets of a size the last is kept; with ``like`` (one number for each size, or
    none) the last of those that share most members with it.
    """
    n_mid = n_part - n_low
    n_subsets = 1 << n_low
    # Entry i: leads after middle member i entered last; the last entry: before any entered.
    leads = np.empty((n_mid + 1, start.shape[0], start.shape[1]), np.uint64)
    n_in = _enter_all(part, n_part, start, gains, keeps, leads[n_mid])
    rows = np.empty((2 * n_low + 1) * n_subsets, np.uint64)
    right = np.empty(n_subsets, np.uint64)
    weight = np.empty(n_subsets, np.uint64)
    sizes = np.empty(n_subsets, np.int64)
    for s in range(n_subsets):
        sizes[s] = np.int64(count_ones(np.uint64(s)))
    for middle in range(1 << n_mid):
        last = n_mid
        if middle:
            last = _lowest_bit(middle)
            before = middle & (middle - 1)
            parent = _lowest_bit(before) if before else n_mid
            m = n_low + last
            _enter(leads[parent], gains[m], keeps[m], m, leads[last])
        _weigh(leads[last], n_low, gains, keeps, words, planes, mask, shift, rows, right, weight)
        n_high = n_in + np.int64(count_ones(np.uint64(middle)))
        code = ((part << n_mid) | middle) << n_low
        if len(like):
            _keep_most_alike(weight, sizes, n_high, code, like, best, n_best, best_code)
        else:
            _keep_best(weight, sizes, n_high, code, best, n_best, best_code)
