"""Growing trees of several outputs: one tree, whose splits decrease the impurity of all of them.

The statistics of a node are its weight, then the weight of each class of each output, or the moment
of each output. A score is the decrease of the summed impurity itself, so that it needs no output's
own criterion. ``work.table`` says how many outputs there are, whether classes are compared by
entropy, and whether cuts are random.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.criteria import n_log_n
from orfeon.kernels.cart.grow import grow_open, open_root, search_node, split_node
from orfeon.kernels.cart.grow_batch import _grow_block, no_larger, no_marks, no_table
from orfeon.kernels.cart.partition import partition_node
from orfeon.kernels.cart.plain_search import (
    cut_ordered,
    search_ordered,
    search_sorted,
    visit_candidates,
)
from orfeon.utils.jit import array_step, inlined, kernel, with_step

#: Scores by running sums are better by more than this.
_NEARLY_TIED = 1.0 + 1e-12


@array_step
def add_outputs(criterion, labels, weights, moments, row, stats):
    """Replaces ``add_row``."""
    stats[0] += weights[row]
    for o in range(labels.shape[1]):
        stats[1 + np.int64(labels[row, o])] += weights[row]
    for o in range(moments.shape[1]):
        stats[1 + o] += moments[row, o]


@array_step
def sum_outputs(criterion, labels, weights, packed, moments, rows, begin, end, stats):
    """Replaces ``sum_rows``."""
    for c in range(stats.shape[0]):
        stats[c] = 0
    for i in range(begin, end):
        add_outputs(criterion, labels, weights, moments, np.int64(rows[i]), stats)


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
def scan_outputs(columns, sample, options, work, f, begin, first, last, bar):
    """Best cut of sorted records from ``work.left`` on: (purity of both sides, position or -1)."""
    segments = work.segments
    shift = columns.shift
    labels = sample.labels
    weights = sample.weights
    left = work.left
    total = work.total
    min_leaf = options.min_leaf
    by_class = labels.shape[1] > 0 and work.table[1] == 0
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
        row = np.int64(current & columns.mask)
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
            add_outputs(options.criterion, labels, weights, sample.moments, row, left)
        following = segments[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift) and min_leaf <= left[0] <= most:
            if by_class:
                on_left = float(left[0])
                score = (squares_left * whole + on_left * rest) / (on_left * (whole - on_left))
            else:
                score = purity_of_both(work.table, left, total)
            if score > bar:
                bar = score + abs(score) * (_NEARLY_TIED - 1.0)
                position = i
        current = following
    return bar, position


@array_step
def judge_outputs(columns, options, work, f, begin, bar):
    """Replaces ``judge_cut``."""
    left = work.left
    if left[0] >= options.min_leaf and work.total[0] - left[0] >= options.min_leaf:
        score = purity_of_both(work.table, left, work.total)
        if score > bar:
            return score + abs(score) * (_NEARLY_TIED - 1.0), True
    return bar, False


search_sorted_outputs = array_step(
    with_step(search_sorted, "search_sorted_outputs", scan_side=scan_outputs, add_row=add_outputs)
)
_search_ordered = array_step(
    with_step(search_ordered, "search_ordered_outputs", search_sorted=search_sorted_outputs)
)
_cut_ordered = array_step(
    with_step(cut_ordered, "cut_ordered_outputs", judge_cut=judge_outputs, add_row=add_outputs)
)


@array_step
def search_outputs(columns, sample, options, work, f, begin, end, small, bar, threshold):
    """Replaces ``search_feature``."""
    if work.table[2] > 0:
        return _cut_ordered(columns, sample, options, work, f, begin, end, bar, threshold)
    varies, bar = _search_ordered(columns, sample, options, work, f, begin, end, small, bar)
    return varies, bar, threshold


visiting = inlined(
    with_step(visit_candidates, "visit_candidates_outputs", search_feature=search_outputs)
)


@inlined
def find_outputs(columns, sample, options, work, begin, end, n_candidates):
    """Replaces ``find_best``: (decrease of the impurity, threshold or ``LATER``)."""
    bar, threshold = visiting(columns, sample, options, work, begin, end, n_candidates)
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
