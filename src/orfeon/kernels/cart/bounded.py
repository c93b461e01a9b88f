"""The best cut of a large node without sorting it: count, bound, search what is left.

The node's ranks are cut into bins, and one pass over its rows counts the classes in each. The
gain is convex in the class weights on the left, so within a bin it is at most that of a corner of
the box that these weights span there. Few bins can hold a better cut than the best border of two
bins; only their rows are sorted. ``docs/bounds.md`` has the proof.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.node_sorting import sort_records
from orfeon.kernels.cart.scan import TIED
from orfeon.utils.jit import array_step

#: The most bins, and about how many rows share one.
MOST_BINS = 1024
_ROWS_PER_BIN = 4
#: The most ranks to count one by one.
MOST_FINE = 4096
#: Bins with bounds this close to the best border are searched: more than rounding can hide.
_MARGIN = 1.0 - 1e-9
#: What a search found: the feature is constant, it has missing values, or neither.
CONSTANT, HAS_MISSING, SEARCHED = 0, 1, 2


@array_step
def gather_ranks(ranks, base, stride, rows, begin, end, near):
    """Copy the ranks of a node's rows, in their order: (least, greatest)."""
    first = np.uint64(begin)
    low = np.uint64(0xFFFFFFFFFFFFFFFF)
    high = np.uint64(0)
    for i in range(end - begin):
        rank = np.uint64(ranks[base + stride * np.uint64(rows[first + np.uint64(i)])])
        near[np.uint64(i)] = rank
        low = min(low, rank)
        high = max(high, rank)
    return low, high


@array_step
def bin_shift(n, low, high):
    """By how many bits to shift ranks, less the least, to get bins."""
    most = np.uint64(min(np.int64(MOST_BINS), max(np.int64(16), n // _ROWS_PER_BIN)))
    shift = np.uint64(0)
    if high - low < np.uint64(min(np.int64(MOST_BINS), n)):
        return shift
    while ((high - low) >> shift) >= most:
        shift += np.uint64(1)
    return shift


@array_step
def count_bins(near, n, low, shift, words, bins):
    for i in range(n):
        at = (np.uint64(near[np.uint64(i)]) - low) >> shift
        bins[at] += words[np.uint64(i)]


@array_step
def best_border(bins, n_bins, total, min_leaf, best):
    """Best cut between two bins: (score, bin on its left or -1)."""
    high = np.uint64(32)
    half = np.uint64(0xFFFFFFFF)
    weight = total[0] + total[1]
    whole = float(weight)
    ones = float(total[1])
    most = weight - min_leaf
    bar = best * TIED
    border = np.int64(-1)
    accumulated = np.uint64(0)
    for b in range(n_bins - 1):
        accumulated += bins[np.uint64(b)]
        weight_left = np.int64(accumulated & half)
        excess = float(np.int64(accumulated >> high)) * whole - float(weight_left) * ones
        shares = float(weight_left) * float(weight - weight_left)
        if excess * excess > bar * shares and weight_left >= min_leaf and weight_left <= most:
            best = excess * excess / shares
            bar = best * TIED
            border = b
    return best, border


@array_step
def exceeds(weight_left, ones_left, whole, ones, floor):
    """Whether the gain of class weights on the left exceeds ``floor``."""
    excess = ones_left * whole - weight_left * ones
    return excess * excess > floor * weight_left * (whole - weight_left)


@array_step
def mark_bins(bins, n_bins, total, floor, all_corners, marked):
    """Mark the bins that may hold a cut better than ``floor``; returns how many."""
    # Two corners of the box are the borders of the bin. They are among the cuts compared, unless
    # they leave too little weight on a side.
    whole = float(total[0] + total[1])
    ones = float(total[1])
    weight_left = 0.0
    ones_left = 0.0
    n_marked = 0
    for b in range(n_bins):
        word = bins[np.uint64(b)]
        more = float(np.int64(word & np.uint64(0xFFFFFFFF)))
        more_ones = float(np.int64(word >> np.uint64(32)))
        zeros_first = exceeds(weight_left + more - more_ones, ones_left, whole, ones, floor)
        ones_first = exceeds(weight_left + more_ones, ones_left + more_ones, whole, ones, floor)
        found = floor <= 0.0 or zeros_first or ones_first
        if all_corners:
            found |= exceeds(weight_left, ones_left, whole, ones, floor)
            found |= exceeds(weight_left + more, ones_left + more_ones, whole, ones, floor)
        found &= more > 1.0
        marked[np.uint64(b)] = found
        n_marked += np.int64(found)
        weight_left += more
        ones_left += more_ones
    return n_marked


@array_step
def place_marked(marked, n_bins, shift, first_fine, within):
    """Give the ranks of each marked bin their places, and all others one place."""
    put = np.uint64(0)
    for b in range(n_bins):
        is_marked = np.uint64(marked[np.uint64(b)])
        first_fine[np.uint64(b)] = put if is_marked else np.uint64(MOST_FINE)
        within[np.uint64(b)] = ((np.uint64(1) << shift) - np.uint64(1)) * is_marked
        put += is_marked << shift


@array_step
def list_by_counting(near, n, low, shift, words, marked, n_bins, first_fine, within, fine,
                     listed_ranks, listed_words):  # fmt: skip
    """List the ranks in marked bins in order, with their summed words; returns how many."""
    place_marked(marked, n_bins, shift, first_fine, within)
    for i in range(n):
        above = np.uint64(near[np.uint64(i)]) - low
        b = above >> shift
        fine[np.uint64(first_fine[b]) + (above & np.uint64(within[b]))] += words[np.uint64(i)]
    fine[np.uint64(MOST_FINE)] = 0
    m = np.uint64(0)
    for b in range(n_bins):
        if not marked[np.uint64(b)]:
            continue
        first = np.uint64(first_fine[np.uint64(b)])
        for k in range(np.int64(np.uint64(1) << shift)):
            word = fine[first + np.uint64(k)]
            fine[first + np.uint64(k)] = 0
            listed_ranks[m] = low + (np.uint64(b) << shift) + np.uint64(k)
            listed_words[m] = word
            m += np.uint64(word != np.uint64(0))
    return np.int64(m)


@array_step
def list_by_sorting(near, rows, begin, n, low, shift, packed, marked, segments, record_shift,
                    mask, digits, listed_ranks, listed_words):  # fmt: skip
    """As ``list_by_counting``, for ranks too far apart to be counted one by one."""
    first = np.uint64(begin)
    put = np.uint64(0)
    for i in range(n):
        rank = near[np.uint64(i)]
        segments[put] = (segments.dtype.type(rank) << record_shift) | segments.dtype.type(
            rows[first + np.uint64(i)]
        )
        put += np.uint64(marked[(np.uint64(rank) - low) >> shift])
    at = sort_records(segments, record_shift, np.int64(0), np.int64(put), digits)
    m = np.int64(-1)
    previous = np.uint64(0xFFFFFFFFFFFFFFFF)
    for i in range(at, at + np.int64(put)):
        record = segments[np.uint64(i)]
        rank = np.uint64(record >> record_shift)
        if rank != previous:
            m += 1
            listed_ranks[np.uint64(m)] = rank
            listed_words[np.uint64(m)] = 0
            previous = rank
        listed_words[np.uint64(m)] += packed[record & mask]
    return m + 1


@array_step
def search_listed(listed_ranks, listed_words, n_listed, low, shift, bins, n_bins, marked, total,
                  min_leaf, best, beside):  # fmt: skip
    """Best of the borders and of the cuts between listed ranks: (score, border or -1)."""
    # In order, as if all cuts were scanned. ``beside`` receives the ranks beside a cut within a
    # bin; its border is -2.
    high = np.uint64(32)
    half = np.uint64(0xFFFFFFFF)
    weight = total[0] + total[1]
    whole = float(weight)
    ones = float(total[1])
    most = weight - min_leaf
    bar = best * TIED
    border = np.int64(-1)
    accumulated = np.uint64(0)
    p = np.uint64(0)
    end = np.uint64(n_listed)
    for b in range(n_bins):
        beyond = low + (np.uint64(b + 1) << shift)
        inside = accumulated
        accumulated += bins[np.uint64(b)]
        while marked[np.uint64(b)] and p < end and np.uint64(listed_ranks[p]) < beyond:
            inside += listed_words[p]
            p += np.uint64(1)
            if p == end or np.uint64(listed_ranks[p]) >= beyond:
                continue  # the border of the bin
            weight_left = np.int64(inside & half)
            excess = float(np.int64(inside >> high)) * whole - float(weight_left) * ones
            shares = float(weight_left) * float(weight - weight_left)
            if excess * excess > bar * shares and weight_left >= min_leaf and weight_left <= most:
                best = excess * excess / shares
                bar = best * TIED
                border = np.int64(-2)
                beside[0] = listed_ranks[p - np.uint64(1)]
                beside[1] = listed_ranks[p]
        if b == n_bins - 1:
            break
        weight_left = np.int64(accumulated & half)
        excess = float(np.int64(accumulated >> high)) * whole - float(weight_left) * ones
        shares = float(weight_left) * float(weight - weight_left)
        if excess * excess > bar * shares and weight_left >= min_leaf and weight_left <= most:
            best = excess * excess / shares
            bar = best * TIED
            border = b
    return best, border


@array_step
def ranks_beside(near, n, beyond, beside):
    """The greatest rank below ``beyond`` and the least of the others."""
    limit = np.uint32(beyond)
    below = np.uint32(0)
    above = np.uint32(0xFFFFFFFF)
    for i in range(n):
        rank = near[np.uint64(i)]
        below = max(below, rank if rank < limit else np.uint32(0))
        above = min(above, rank if rank >= limit else np.uint32(0xFFFFFFFF))
    beside[0] = np.int64(below)
    beside[1] = np.int64(above)


@array_step
def search_bounded(ranks, base, stride, missing_rank, rows, words, packed, begin, end, near, bins,
                   marked, first_fine, within, fine, listed_ranks, listed_words, segments,
                   record_shift, mask, digits, total, min_leaf, best, beside):  # fmt: skip
    """Best cut of two classes: (what was found, score, whether it is better).

    ``beside`` receives the ranks beside it. Cuts compare as if all were scanned in order.
    """
    n = end - begin
    low, high = gather_ranks(ranks, base, stride, rows, begin, end, near)
    if low == high:
        return np.int64(CONSTANT), best, False
    if np.int64(high) == missing_rank:
        return np.int64(HAS_MISSING), best, False
    shift = bin_shift(n, low, high)
    n_bins = np.int64((high - low) >> shift) + 1
    count_bins(near, n, low, shift, words, bins)
    highest, border = best_border(bins, n_bins, total, min_leaf, best)
    floor = highest * _MARGIN if highest > 0.0 else 0.0
    n_marked = np.int64(0)
    if shift > np.uint64(0):  # else each rank has its own bin
        n_marked = mark_bins(bins, n_bins, total, floor, min_leaf > 1, marked)
    if n_marked > 0:
        if (n_marked << np.int64(shift)) <= min(n, np.int64(MOST_FINE)):
            m = list_by_counting(
                near, n, low, shift, words, marked, n_bins, first_fine, within, fine,
                listed_ranks, listed_words,
            )  # fmt: skip
        else:
            m = list_by_sorting(
                near, rows, begin, n, low, shift, packed, marked, segments, record_shift,
                mask, digits, listed_ranks, listed_words,
            )  # fmt: skip
        highest, border = search_listed(
            listed_ranks, listed_words, m, low, shift, bins, n_bins, marked, total, min_leaf,
            best, beside,
        )  # fmt: skip
    for b in range(n_bins):
        bins[np.uint64(b)] = 0
    if border >= 0:
        ranks_beside(near, n, low + (np.uint64(border + 1) << shift), beside)
    return np.int64(SEARCHED), highest, border != -1
