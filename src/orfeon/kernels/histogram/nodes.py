"""Nodes of a tree over binned features: rows, tests and children."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.kernels.cart.search import ABSENT, NONE_MISSING
from orfeon.kernels.histogram.bins import PER_WORD
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step

#: Columns of the frontier.
BEGIN, END, NODE, DEPTH, SLOT, FEATURE, CUT, FOLLOWING, MISSING, LEFT, LEFT_MOMENT = range(11)
N_COLUMNS = 11
#: Scratch histograms at the end of the store, for nodes whose histogram is not kept.
N_SPARE = 2
#: How the histogram of a node under search is made: not, from its rows, or from its parent's.
NOT_MADE, FROM_ROWS, FROM_PARENT = 0, 1, 2


@record
class Limits:
    max_depth: int
    max_leaves: int
    max_features: int
    min_split: int
    min_leaf: int
    min_decrease: float


@record
class Tree:
    threshold: Any
    feature: Any
    first_child: Any
    n_children: Any
    missing: Any
    cut: Any  # int64 (n, 2): last bin on the left, first bin on the right
    sides: Any  # uint8 (n, 256): whether each bin of a categorical feature goes left
    stats: Any  # int64 (n, 2): packed word, or weight and moment
    value: Any
    segment: Any  # int64 (n, 2): begin and end of the rows


@record
class Work:
    """Scratch of one thread."""

    rows: Any  # grouped by node
    spare_rows: Any
    values: Any  # int64; packed word, or weight and moment, of each row
    ordered: Any  # the values in the order of ``rows``
    goes_left: Any  # uint8 by bin
    candidates: Any  # int64; features the tree may use, shuffled at every node
    is_candidate: Any
    block_used: Any  # uint8 by word of features: whether any is a candidate
    scores: Any  # float64 (2, n_features), of the two nodes under search
    choice: Any
    random: Any
    frontier: Any
    gain: Any
    threshold: Any
    slots: Any  # free histograms, then their number
    job: Any  # of the two nodes under search: node or -1, begin, end, depth, slot, source, is lazy
    task: Any  # what threads share: kind, begin, end, feature, where right rows begin, part size
    counts: Any  # rows of each part that go left, then of all parts before
    board: Any  # words shared with helpers; empty without helpers


@record
class Residuals:
    targets: Any
    weights: Any  # int64
    is_unit: int  # whether all weights are 1
    n_present: int  # rows of positive weight
    word: int  # sum of the values
    second: int  # of their second plane
    low: float  # the residual coded as zero
    scale: float  # fixed-point units per unit of residual
    spread_bits: int  # exponent of a power of two above the range of the residuals
    leaf_of_row: Any


@array_step
def weight_of(search, word):
    return word if search.is_wide else word >> search.shift


@array_step
def moment_of(search, word, second):
    """Moment above the centre."""
    if search.is_wide:
        return float(second)
    return float(word & search.mask) - float(word >> search.shift) * search.centre


@array_step
def make_leaf(tree, node, begin, end):
    tree.threshold[node] = np.inf
    tree.feature[node] = 0
    tree.first_child[node] = node
    tree.n_children[node] = 0
    tree.missing[node] = 0
    tree.segment[node, 0] = begin
    tree.segment[node, 1] = end


@array_step
def may_split(tree, limits, search, targets, rows, node, depth):
    begin = tree.segment[node, 0]
    end = tree.segment[node, 1]
    weight = weight_of(search, tree.stats[node, 0])
    if end - begin < 2 or depth >= limits.max_depth:
        return False
    if weight < limits.min_split or weight < 2 * limits.min_leaf:
        return False
    first = targets[rows[begin]]
    for i in range(begin + 1, end):
        if targets[rows[i]] != first:
            return True
    return False


@array_step
def take_slot(work, spare):
    """A free histogram, or the scratch one number ``spare`` if none is free."""
    last = work.slots.shape[0] - 1
    n = work.slots[last]
    if n == 0:
        return np.int64(last + spare)
    work.slots[last] = n - 1
    return work.slots[n - 1]


@array_step
def free_slot(work, slot):
    last = work.slots.shape[0] - 1
    if 0 <= slot < last:
        work.slots[work.slots[last]] = slot
        work.slots[last] += 1


@array_step
def mark_bins(bins, tree, node, f, choice, goes_left):
    """Write whether each bin goes left; ``ABSENT`` if not decided yet."""
    n = bins.n_bins[f]
    if bins.is_categorical[f]:
        for b in range(n + 1):
            goes_left[b] = tree.sides[node, b]
        return
    for b in range(n):
        goes_left[b] = 1 if b <= choice[1] else 0
    goes_left[n] = ABSENT if choice[3] == NONE_MISSING else choice[3]


@array_step
def write_test(bins, search, work, tree, entry, threshold, n_nodes):
    """Write the test of a waiting node, and the sides of its bins to ``work.goes_left``."""
    node = entry[NODE]
    f = entry[FEATURE]
    for k in range(2):
        tree.stats[n_nodes, k] = entry[LEFT + k]
        tree.stats[n_nodes + 1, k] = tree.stats[node, k] - entry[LEFT + k]
    on_left = weight_of(search, tree.stats[n_nodes, 0])
    on_right = weight_of(search, tree.stats[n_nodes + 1, 0])
    heavier = 1 if on_right > on_left else 0
    tree.threshold[node] = threshold
    tree.feature[node] = f
    tree.first_child[node] = n_nodes
    tree.n_children[node] = 2
    tree.cut[node, 0] = entry[CUT]
    tree.cut[node, 1] = entry[FOLLOWING]
    work.choice[1] = entry[CUT]
    work.choice[3] = entry[MISSING]
    mark_bins(bins, tree, node, f, work.choice, work.goes_left)
    for b in range(bins.n_bins[f] + 1):
        if work.goes_left[b] == ABSENT:
            work.goes_left[b] = 1 - heavier
        if bins.is_categorical[f]:
            tree.sides[node, b] = work.goes_left[b]
    tree.missing[node] = 1 - work.goes_left[bins.n_bins[f]]


@array_step
def describe_open(search, tree, side, node):
    """Write the sums of a node that is to be searched."""
    search.weight[side] = float(weight_of(search, tree.stats[node, 0]))
    search.moment[side] = moment_of(search, tree.stats[node, 0], tree.stats[node, 1])


@array_step
def open_children(limits, search, work, tree, targets, first, depth, slot):
    """List which children to search and how their histograms are made; returns how many."""
    # The smaller child's histogram is built from its rows even if only the larger one is open.
    job = work.job
    n_open = 0
    for side in range(2):
        child = first + side
        is_open = may_split(tree, limits, search, targets, work.rows, child, depth)
        job[side, 0] = child if is_open else -1
        job[side, 1] = tree.segment[child, 0]
        job[side, 2] = tree.segment[child, 1]
        job[side, 3] = depth
        job[side, 5] = NOT_MADE
        describe_open(search, tree, np.int64(side), child)
        n_open += is_open
    small = 0 if job[0, 2] - job[0, 1] <= job[1, 2] - job[1, 1] else 1
    large = 1 - small
    if slot >= 0 and job[large, 0] >= 0:
        job[large, 4] = slot
        job[large, 5] = FROM_PARENT
        job[small, 4] = take_slot(work, np.int64(0))
        job[small, 5] = FROM_ROWS
        return n_open
    free_slot(work, slot)
    for side in range(2):
        if job[side, 0] >= 0:
            job[side, 4] = take_slot(work, side)
            job[side, 5] = FROM_ROWS
    return n_open


@array_step
def open_root(limits, search, work, tree, residuals):
    """List the rows of positive weight and make the root; returns whether it is open."""
    zero = np.int64(0)
    m = np.int64(0)
    weights = residuals.weights
    if residuals.n_present < weights.shape[0]:  # otherwise all rows are listed already
        for i in range(weights.shape[0]):
            work.rows[np.uint64(m)] = i
            m += np.int64(weights[i] != 0)
    m = residuals.n_present
    tree.stats[0, 0] = residuals.word
    tree.stats[0, 1] = residuals.second
    make_leaf(tree, zero, zero, m)
    for k in range(work.slots.shape[0] - 1):
        work.slots[k] = k
    work.slots[work.slots.shape[0] - 1] = work.slots.shape[0] - 1
    for f in range(work.is_candidate.shape[0]):
        work.is_candidate[f] = 0
    for block in range(work.block_used.shape[0]):
        work.block_used[block] = 0
    for k in range(work.candidates.shape[0]):
        f = work.candidates[k]
        work.is_candidate[f] = 1
        work.block_used[f // PER_WORD] = 1
    for side in range(2):
        work.job[side, 0] = -1
        work.job[side, 5] = NOT_MADE
    if not may_split(tree, limits, search, residuals.targets, work.rows, zero, zero):
        return np.int64(0)
    work.job[0, 0] = 0
    work.job[0, 1] = 0
    work.job[0, 2] = m
    work.job[0, 3] = 0
    work.job[0, 4] = take_slot(work, zero)
    work.job[0, 5] = FROM_ROWS
    describe_open(search, tree, zero, zero)
    return np.int64(1)
