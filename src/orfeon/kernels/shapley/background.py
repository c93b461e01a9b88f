"""Exact Shapley values of trees, whose missing features come from background rows.

A row and a background row meet in a leaf if each test of its path is passed by one of the two. The
features of the path are then of three kinds: both rows pass, only the row does (a of them), or only
the background row does (b of them). The Shapley values of the first kind are 0, and with the value
v of the leaf those of the others are

    v (a - 1)! b! / (a + b)!    and    -v a! (b - 1)! / (a + b)!

(Lundberg et al. 2020). So a leaf needs of each row only the set of features whose tests it passes,
as bits of a word. Rows of equal sets are alike, and are counted instead of visited.

References
----------
Lundberg et al. (2020). From local explanations to global understanding with explainable AI for
trees. Nature Machine Intelligence 2, 56-67.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.bits import count_ones
from orfeon.kernels.shapley.paths import branches_of
from orfeon.utils.jit import array_step, kernel

#: More features on a path have no bits.
MOST_FEATURES = 64
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@array_step
def passed_first(taken, branch, bit, above, passed, n_rows):
    """The sets of a child whose feature is new on the path."""
    b = np.int32(branch)
    for r in range(n_rows):
        passed[r] = above[r] | (bit if taken[r] == b else np.uint64(0))


@array_step
def passed_again(taken, branch, bit, above, passed, n_rows):
    """The sets of a child whose feature was tested before."""
    b = np.int32(branch)
    for r in range(n_rows):
        passed[r] = above[r] & ~(np.uint64(0) if taken[r] == b else bit)


@array_step
def group(sets, first, last, slots, stamps, stamp, shift, group_of, members, counts):
    """Number the different sets; their number."""
    n_groups = 0
    mask = np.uint64(slots.shape[0] - 1)
    for r in range(first, last):
        word = sets[r]
        at = (word * _GOLDEN) >> shift
        while stamps[at] == stamp and members[slots[at]] != word:
            at = (at + np.uint64(1)) & mask
        if stamps[at] != stamp:
            stamps[at] = stamp
            slots[at] = n_groups
            members[n_groups] = word
            counts[n_groups] = 0
            n_groups += 1
        g = slots[at]
        counts[g] += 1
        group_of[r - first] = g
    return n_groups


@array_step
def meet(own, full, theirs, counts, n_theirs, plus, minus, parts):
    """Sums over the background rows for each feature of the path; whether there are any."""
    # Where both meet, the background row passes all that the row fails.
    needed = full & ~own
    b = np.int64(count_ones(needed))
    down = 0.0
    found = False
    for s in range(parts.shape[0]):
        parts[s] = 0.0
    for g in range(n_theirs):
        other = theirs[g]
        if other & needed != needed or other == own:
            continue
        found = True
        only_own = own & ~other
        a = np.int64(count_ones(only_own))
        up = counts[g] * plus[a, b]
        down += counts[g] * minus[a, b]
        for s in range(parts.shape[0]):
            parts[s] += up * np.float64((only_own >> np.uint64(s)) & np.uint64(1))
    if found:
        for s in range(parts.shape[0]):
            if (needed >> np.uint64(s)) & np.uint64(1):
                parts[s] = -down
    return found


@kernel
def add_background_values(tree_start, feature, player, threshold, first_child, n_children, missing,
                          is_categorical, branches, values, column, sizes, plus, minus, background,
                          X, first, last, block, n_players, out):  # fmt: skip
    """Add the Shapley values of rows, summed over background rows, to ``out``."""
    n_columns = values.shape[1]
    n_features = X.shape[1]
    n_back = background.shape[0]
    levels = 1
    for t in range(sizes.shape[0]):
        levels = max(levels, sizes[t, 1] + 1)
    total = n_back + block
    bits = 1
    while (1 << bits) < 2 * total:
        bits += 1
    shift = np.uint64(64 - bits)
    slots = np.zeros(1 << bits, np.int64)
    stamps = np.zeros(1 << bits, np.int64)
    stamp = 0
    x = np.empty((n_features, total))
    taken = np.empty((levels, total), np.int32)
    passed = np.empty((levels, total), np.uint64)
    theirs = np.empty(n_back, np.uint64)
    their_counts = np.empty(n_back, np.int64)
    ours = np.empty(block, np.uint64)
    our_counts = np.empty(block, np.int64)
    group_of = np.empty(total, np.int64)
    meets = np.empty(block, np.bool_)
    node_at = np.empty(levels, np.int64)
    child_at = np.empty(levels, np.int64)
    is_new = np.empty(levels, np.bool_)
    slot_of = np.full(n_players, -1, np.int64)
    player_at = np.empty(64, np.int64)
    parts = np.empty((block, 64))
    for j in range(n_features):
        for r in range(n_back):
            x[j, r] = background[r, j]
    for begin in range(first, last, block):
        n_rows = min(block, last - begin)
        both = n_back + n_rows
        for j in range(n_features):
            for r in range(n_rows):
                x[j, n_back + r] = X[begin + r, j]
        for t in range(tree_start.shape[0] - 1):
            base = tree_start[t]
            if n_children[base] == 0:
                continue
            level = 0
            n_slots = 0
            node_at[0] = base
            child_at[0] = 0
            passed[0] = np.uint64(0)
            branches_of(
                base, x, feature, threshold, missing, is_categorical, branches, both, taken[0]
            )
            while level >= 0:
                at = node_at[level]
                place = child_at[level]
                if place < n_children[at]:
                    j = player[at]
                    child = base + first_child[at] + place
                    child_at[level] += 1
                    level += 1
                    node_at[level] = child
                    child_at[level] = 0
                    is_new[level] = slot_of[j] < 0
                    if slot_of[j] < 0:
                        slot_of[j] = n_slots
                        player_at[n_slots] = j
                        n_slots += 1
                        bit = np.uint64(1) << np.uint64(slot_of[j])
                        passed_first(
                            taken[level - 1], place, bit, passed[level - 1], passed[level], both
                        )
                    else:
                        bit = np.uint64(1) << np.uint64(slot_of[j])
                        passed_again(
                            taken[level - 1], place, bit, passed[level - 1], passed[level], both
                        )
                    if n_children[child] > 0:
                        branches_of(
                            child, x, feature, threshold, missing, is_categorical, branches, both,
                            taken[level],
                        )  # fmt: skip
                        continue
                    full = ~np.uint64(0) >> np.uint64(64 - n_slots)
                    stamp += 1
                    n_theirs = group(
                        passed[level], 0, n_back, slots, stamps, stamp, shift, group_of, theirs,
                        their_counts,
                    )  # fmt: skip
                    stamp += 1
                    n_ours = group(
                        passed[level], n_back, both, slots, stamps, stamp, shift, group_of, ours,
                        our_counts,
                    )  # fmt: skip
                    for g in range(n_ours):
                        meets[g] = meet(
                            ours[g], full, theirs, their_counts, n_theirs, plus, minus,
                            parts[g, :n_slots],
                        )  # fmt: skip
                    for r in range(n_rows):
                        g = group_of[r]
                        if not meets[g]:
                            continue
                        for s in range(n_slots):
                            one = parts[g, s]
                            if one != 0.0:
                                for k in range(n_columns):
                                    out[begin + r, player_at[s], column[t] + k] += (
                                        one * values[child, k]
                                    )
                    continue
                if level > 0 and is_new[level]:
                    slot_of[player[node_at[level - 1]]] = -1
                    n_slots -= 1
                level -= 1
