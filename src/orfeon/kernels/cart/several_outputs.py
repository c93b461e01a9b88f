"""Growing trees of several outputs: one tree, whose splits decrease the impurity of all of them.

The statistics of a node are its weight, then the weight of each class of each output, or the moment
of each output. A score is the decrease of the summed impurity itself, so that it needs no output's
own criterion. ``work.table`` says how many outputs there are, whether classes are compared by
entropy, and whether cuts are random.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.constant_features import is_marked, mark_feature
from orfeon.kernels.cart.criteria import n_log_n
from orfeon.kernels.cart.grow import grow_open, open_root, search_node, split_node
from orfeon.kernels.cart.grow_batch import _grow_block, no_larger, no_marks, no_table
from orfeon.kernels.cart.node_sorting import small_node
from orfeon.kernels.cart.partition import partition_node
from orfeon.kernels.cart.random_cuts import random_threshold
from orfeon.kernels.cart.search import (
    LATER,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    first_record,
    keep_cut,
    next_candidate,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined, kernel, with_step

#: Scores by running sums are better by more than this.
_NEARLY_TIED = 1.0 + 1e-12


@array_step
def add_outputs(labels, weights, moments, row, stats):
    """Add a row to the statistics."""
    stats[0] += weights[row]
    for o in range(labels.shape[1]):
        stats[1 + np.int64(labels[row, o])] += weights[row]
    for o in range(moments.shape[1]):
        stats[1 + o] += moments[row, o]


@array_step
def sum_outputs(criterion, labels, weights, moments, rows, begin, end, stats):
    """Replaces ``sum_rows``."""
    for c in range(stats.shape[0]):
        stats[c] = 0
    for i in range(begin, end):
        add_outputs(labels, weights, moments, np.int64(rows[i]), stats)


@array_step
def purity(table, stats):
    """How pure a node is; children less their parent are the decrease of the impurity."""
    weight = float(stats[0])
    if table[1] > 0:
        total = -table[0] * n_log_n(weight)
        for c in range(1, stats.shape[0]):
            total += n_log_n(float(stats[c]))
        return total
    squares = 0.0
    for c in range(1, stats.shape[0]):
        squares += float(stats[c]) * float(stats[c])
    return squares / weight


@array_step
def purity_of_both(table, left, total):
    """The same of two children, one of which is ``left``."""
    on_left = float(left[0])
    on_right = float(total[0] - left[0])
    if table[1] > 0:
        score = -table[0] * (n_log_n(on_left) + n_log_n(on_right))
        for c in range(1, left.shape[0]):
            score += n_log_n(float(left[c])) + n_log_n(float(total[c] - left[c]))
        return score
    squares_left = 0.0
    squares_right = 0.0
    for c in range(1, left.shape[0]):
        there = float(total[c] - left[c])
        squares_left += float(left[c]) * float(left[c])
        squares_right += there * there
    return squares_left / on_left + squares_right / on_right


@array_step
def gain_is_score(criterion, score, total):
    """Replaces ``decrease``."""
    return score


@array_step
def scan_outputs(segments, first, last, shift, mask, labels, weights, moments, left, total, table,
                 min_leaf, bar):  # fmt: skip
    """Best cut of sorted records from ``left`` on: (purity of both sides, position or -1)."""
    by_class = labels.shape[1] > 0 and table[1] == 0
    most = total[0] - min_leaf
    whole = float(total[0])
    squares_left = 0.0
    rest = 0.0
    if by_class:
        for c in range(1, total.shape[0]):
            squares_left += float(left[c]) * float(left[c])
            rest += float(total[c]) * float(total[c] - 2 * left[c])
    position = np.int64(-1)
    current = segments[np.uint64(first)]
    for i in range(first, last - 1):
        row = np.int64(current & mask)
        w = weights[row]
        if by_class:
            # sum L^2 / WL + sum (T - L)^2 / WR = (W sum L^2 + WL rest) / (WL WR)
            for o in range(labels.shape[1]):
                c = 1 + np.int64(labels[row, o])
                here = left[c]
                left[c] = here + w
                squares_left += float(w) * float(2 * here + w)
                rest -= 2.0 * float(w) * float(total[c])
            left[0] += w
        else:
            add_outputs(labels, weights, moments, row, left)
        following = segments[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift) and min_leaf <= left[0] <= most:
            if by_class:
                on_left = float(left[0])
                score = (squares_left * whole + on_left * rest) / (on_left * (whole - on_left))
            else:
                score = purity_of_both(table, left, total)
            if score > bar:
                bar = score + abs(score) * (_NEARLY_TIED - 1.0)
                position = i
        current = following
    return bar, position


@array_step
def search_outputs(columns, sample, work, options, f, first, last, bar):
    """Best cut of a feature: its bar, with missing values on either side; keeps a better one."""
    segments = work.segments
    shift = columns.shift
    mask = columns.mask
    missing_rank = columns.n_values[f]
    left = work.left
    aside = work.aside
    known = last
    for c in range(left.shape[0]):
        left[c] = 0
        aside[c] = 0
    while known > first and np.int64(segments[known - 1] >> shift) == missing_rank:
        known -= 1
        row = np.int64(segments[known] & mask)
        add_outputs(sample.labels, sample.weights, sample.moments, row, aside)
    for side in range(1 if known == last else 2):
        if side == 1:
            for c in range(left.shape[0]):
                left[c] = aside[c]
        bar, position = scan_outputs(
            segments, first, known if side == 1 else last, shift, mask, sample.labels,
            sample.weights, sample.moments, left, work.total, work.table, options.min_leaf, bar,
        )  # fmt: skip
        if position >= 0:
            goes = np.int64(MISSING_LEFT if side == 1 else MISSING_RIGHT)
            if known == last:
                goes = np.int64(NONE_MISSING)
            keep_cut(
                work.choice, f, np.int64(segments[position] >> shift),
                np.int64(segments[position + 1] >> shift), goes,
            )  # fmt: skip
    return bar


@array_step
def cut_outputs(columns, sample, work, options, f, begin, end, bar, threshold):
    """One random cut of a feature: (varies, bar, threshold); keeps a better one."""
    base = np.uint64(f * columns.n_rows)
    missing_rank = columns.n_values[f]
    low = missing_rank
    high = np.int64(-1)
    n_missing = np.int64(0)
    for i in range(begin, end):
        rank = np.int64(columns.ranks[base + np.uint64(work.rows[i])])
        if rank == missing_rank:
            n_missing += 1
        else:
            low = min(low, rank)
            high = max(high, rank)
    goes = np.int64(NONE_MISSING)
    if n_missing > 0:
        goes = random_below(work.random, np.int64(2))
    at = np.inf
    cut = high
    if low < high:
        values = columns.values
        start = columns.value_start[f]
        at = random_threshold(work.random, values[start + low], values[start + high])
        cut = low
        while values[start + cut + 1] <= at:
            cut += 1
    elif n_missing == 0 or n_missing == end - begin:
        return False, bar, threshold
    else:
        goes = np.int64(MISSING_RIGHT)
    left = work.left
    for c in range(left.shape[0]):
        left[c] = 0
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        rank = np.int64(columns.ranks[base + np.uint64(row)])
        if rank <= cut or (rank == missing_rank and goes == MISSING_LEFT):
            add_outputs(sample.labels, sample.weights, sample.moments, row, left)
    if left[0] >= options.min_leaf and work.total[0] - left[0] >= options.min_leaf:
        score = purity_of_both(work.table, left, work.total)
        if score > bar:
            bar = score + abs(score) * (_NEARLY_TIED - 1.0)
            threshold = at
            keep_cut(work.choice, f, cut, cut, goes)
    return True, bar, threshold


@array_step
def begin_search(columns, work, begin, end, n_candidates):
    """What is done once for a node: nothing, where features are presorted."""


@array_step
def search_presorted(columns, sample, work, options, f, begin, end, small, bar):
    """Best cut of a feature: (varies, bar); keeps a better one."""
    first = first_record(columns, work, f, begin, end, small)
    last = first + end - begin
    if (work.segments[first] >> columns.shift) == (work.segments[last - 1] >> columns.shift):
        return False, bar
    return True, search_outputs(columns, sample, work, options, f, first, last, bar)


@inlined
def find_outputs(columns, sample, options, work, begin, end, n_candidates):
    """Replaces ``find_best``: (decrease of the impurity, threshold or ``LATER``)."""
    is_random = work.table[2] > 0
    choice = work.choice
    choice[0] = NO_SPLIT
    constant = work.counts.constant
    small = small_node(options.max_features, n_candidates)
    bar = -np.inf
    threshold = LATER
    seen = 0
    begin_search(columns, work, begin, end, n_candidates)
    for j in range(n_candidates):
        if options.in_order:
            f = work.candidates[j]
        else:
            f = next_candidate(work.candidates, work.random, j, n_candidates)
        if is_marked(constant, f):
            continue
        if is_random:
            varies, bar, threshold = cut_outputs(
                columns, sample, work, options, f, begin, end, bar, threshold
            )
        else:
            varies, bar = search_presorted(
                columns, sample, work, options, f, begin, end, small, bar
            )
        if not varies:
            mark_feature(constant, f)
            continue
        seen += 1
        if seen >= options.max_features and choice[0] != NO_SPLIT:
            break
    return bar - purity(work.table, work.total), threshold


@array_step
def describe_outputs(nodes, node, sample, options, rows, begin, end, parent_label):
    """Replaces ``describe_node``: sums the squared deviations of all outputs, in regression."""
    nodes.label[node] = 0
    targets = sample.targets
    if nodes.spread.shape[0] == 0:
        return
    spread = 0.0
    for o in range(targets.shape[1]):
        weight = 0.0
        total = 0.0
        for i in range(begin, end):
            row = rows[i]
            weight += float(sample.weights[row])
            total += float(sample.weights[row]) * targets[row, o]
        mean = total / weight if weight > 0 else 0.0
        for i in range(begin, end):
            row = rows[i]
            deviation = targets[row, o] - mean
            spread += float(sample.weights[row]) * deviation * deviation
    nodes.spread[node] = spread if end - begin > 1 else 0.0


@array_step
def may_split_outputs(nodes, node, depth, sample, options, rows, begin, end):
    """Replaces ``may_split``."""
    weight = nodes.stats[node, 0]
    if end - begin < 2 or depth >= options.max_depth:
        return False
    if weight < options.min_split or weight < 2 * options.min_leaf:
        return False
    first = rows[begin]
    for i in range(begin + 1, end):
        for o in range(sample.labels.shape[1]):
            if sample.labels[rows[i], o] != sample.labels[first, o]:
                return True
        for o in range(sample.targets.shape[1]):
            if sample.targets[rows[i], o] != sample.targets[first, o]:
                return True
    return False


@array_step
def no_packing(options, labels, weights, packed):
    """Replaces ``pack``."""


_searching = inlined(
    with_step(
        search_node, "search_node_outputs", find_split=find_outputs, decrease=gain_is_score,
        save_subset=no_table, save_projection=no_table,
    )
)  # fmt: skip
_partitioning = inlined(
    with_step(
        partition_node, "partition_node_outputs", sum_rows=sum_outputs, mark_sides=no_marks
    )
)  # fmt: skip
_splitting = inlined(
    with_step(
        split_node, "split_node_outputs", partition_node=_partitioning,
        describe_node=describe_outputs, may_split=may_split_outputs,
    )
)  # fmt: skip
_growing = array_step(
    with_step(grow_open, "grow_open_outputs", search_node=_searching, split_node=_splitting)
)
_opening = array_step(
    with_step(
        open_root, "open_root_outputs", sum_rows=sum_outputs, describe_node=describe_outputs,
        may_split=may_split_outputs,
    )
)  # fmt: skip
#: ``grow_best`` for several outputs.
grow_outputs = kernel(
    with_step(
        _grow_block, "grow_block_outputs", grow_open=_growing, open_root=_opening,
        pack=no_packing, enlarge=no_larger,
    )
)  # fmt: skip
