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

from typing import Any, NamedTuple

import numpy as np

from orfeon.kernels.bits import count_ones
from orfeon.kernels.shapley.paths import Nodes, branches_of
from orfeon.utils.jit import array_step, kernel, step

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


class Groups(NamedTuple):
    """Equal sets of rows at a leaf, and a table in which sets are looked up."""

    slots: Any
    stamps: Any
    theirs: Any
    their_counts: Any
    ours: Any
    our_counts: Any
    group_of: Any
    meets: Any
    parts: Any


class Path(NamedTuple):
    """Rows, background first, and the sets that they pass at each level of the path."""

    x: Any
    taken: Any
    passed: Any
    node_at: Any
    child_at: Any
    is_new: Any
    slot_of: Any
    player_at: Any


@step
def new_groups(n_back, block):
    bits = 1
    while (1 << bits) < 2 * (n_back + block):
        bits += 1
    return Groups(
        np.zeros(1 << bits, np.int64), np.zeros(1 << bits, np.int64), np.empty(n_back, np.uint64),
        np.empty(n_back, np.int64), np.empty(block, np.uint64), np.empty(block, np.int64),
        np.empty(n_back + block, np.int64), np.empty(block, np.bool_), np.empty((block, 64)),
    ), np.uint64(64 - bits)  # fmt: skip


@step
def new_path(sizes, n_features, n_players, total):
    levels = 1
    for t in range(sizes.shape[0]):
        levels = max(levels, sizes[t, 1] + 1)
    return Path(
        np.empty((n_features, total)), np.empty((levels, total), np.int32),
        np.empty((levels, total), np.uint64), np.empty(levels, np.int64),
        np.empty(levels, np.int64), np.empty(levels, np.bool_), np.full(n_players, -1, np.int64),
        np.empty(64, np.int64),
    )  # fmt: skip


@array_step
def enter_child(trees, base, level, n_slots, path, both):
    """Enter the next child of the node above a level; the number of features on the path."""
    at = path.node_at[level - 1]
    place = path.child_at[level - 1]
    j = trees.player[at]
    path.child_at[level - 1] += 1
    path.node_at[level] = base + trees.first_child[at] + place
    path.child_at[level] = 0
    taken, above, passed = path.taken[level - 1], path.passed[level - 1], path.passed[level]
    path.is_new[level] = path.slot_of[j] < 0
    if path.is_new[level]:
        path.slot_of[j] = n_slots
        path.player_at[n_slots] = j
        n_slots += 1
        bit = np.uint64(1) << np.uint64(path.slot_of[j])
        passed_first(taken, place, bit, above, passed, both)
    else:
        bit = np.uint64(1) << np.uint64(path.slot_of[j])
        passed_again(taken, place, bit, above, passed, both)
    return n_slots


@array_step
def add_leaf(passed, child, n_slots, stamp, shift, groups, values, plus, minus, player_at, column,
             begin, n_rows, out):  # fmt: skip
    """Add what a leaf gives to each row, summed over the background rows."""
    n_columns = values.shape[1]
    n_back = groups.theirs.shape[0]
    full = ~np.uint64(0) >> np.uint64(64 - n_slots)
    n_theirs = group(
        passed, 0, n_back, groups.slots, groups.stamps, stamp, shift, groups.group_of,
        groups.theirs, groups.their_counts,
    )  # fmt: skip
    n_ours = group(
        passed, n_back, n_back + n_rows, groups.slots, groups.stamps, stamp + 1, shift,
        groups.group_of, groups.ours, groups.our_counts,
    )  # fmt: skip
    for g in range(n_ours):
        groups.meets[g] = meet(
            groups.ours[g], full, groups.theirs, groups.their_counts, n_theirs, plus, minus,
            groups.parts[g, :n_slots],
        )  # fmt: skip
    for r in range(n_rows):
        g = groups.group_of[r]
        if not groups.meets[g]:
            continue
        for s in range(n_slots):
            one = groups.parts[g, s]
            if one != 0.0:
                for k in range(n_columns):
                    out[begin + r, player_at[s], column + k] += one * values[child, k]


@kernel
def add_background_values(tree_start, feature, player, threshold, first_child, n_children, missing,
                          is_categorical, branches, values, column, sizes, plus, minus, background,
                          X, first, last, block, n_players, out):  # fmt: skip
    """Add the Shapley values of rows, summed over background rows, to ``out``."""
    trees = Nodes(
        tree_start, feature, player, threshold, first_child, n_children, missing, is_categorical,
        branches,
    )  # fmt: skip
    n_features = X.shape[1]
    n_back = background.shape[0]
    groups, shift = new_groups(n_back, block)
    path = new_path(sizes, n_features, n_players, n_back + block)
    stamp = 0
    for j in range(n_features):
        for r in range(n_back):
            path.x[j, r] = background[r, j]
    for begin in range(first, last, block):
        n_rows = min(block, last - begin)
        both = n_back + n_rows
        for j in range(n_features):
            for r in range(n_rows):
                path.x[j, n_back + r] = X[begin + r, j]
        for t in range(tree_start.shape[0] - 1):
            base = tree_start[t]
            if n_children[base] == 0:
                continue
            level = 0
            n_slots = 0
            path.node_at[0] = base
            path.child_at[0] = 0
            path.passed[0] = np.uint64(0)
            branches_of(
                base, path.x, feature, threshold, missing, is_categorical, branches, both,
                path.taken[0],
            )  # fmt: skip
            while level >= 0:
                if path.child_at[level] < n_children[path.node_at[level]]:
                    level += 1
                    n_slots = enter_child(trees, base, level, n_slots, path, both)
                    child = path.node_at[level]
                    if n_children[child] > 0:
                        branches_of(
                            child, path.x, feature, threshold, missing, is_categorical, branches,
                            both, path.taken[level],
                        )  # fmt: skip
                        continue
                    add_leaf(
                        path.passed[level], child, n_slots, stamp + 1, shift, groups, values, plus,
                        minus, path.player_at, column[t], begin, n_rows, out,
                    )  # fmt: skip
                    stamp += 2
                    continue
                if level > 0 and path.is_new[level]:
                    path.slot_of[player[path.node_at[level - 1]]] = -1
                    n_slots -= 1
                level -= 1
