"""Growing a regression tree over binned features.

The algorithm is that of :mod:`orfeon.kernels.cart.grow`, but the search reads histograms. That of
the smaller child is built from its rows; that of the larger is the parent's minus it.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.search import NO_SPLIT, midpoint, next_candidate
from orfeon.kernels.histogram.leaves import describe_inner
from orfeon.kernels.histogram.nodes import (
    BEGIN,
    CUT,
    DEPTH,
    END,
    FEATURE,
    FOLLOWING,
    FROM_ROWS,
    LEFT,
    LEFT_MOMENT,
    MISSING,
    N_COLUMNS,
    NODE,
    NOT_MADE,
    SLOT,
    Limits,
    Residuals,
    Tree,
    Work,
    free_slot,
    make_leaf,
    mark_bins,
    moment_of,
    open_children,
    open_root,
    weight_of,
    write_test,
)
from orfeon.kernels.histogram.parts import (
    GATHER,
    SEARCH,
    help_search,
    partition,
    share,
    share_leaves,
    share_rows,
)
from orfeon.kernels.histogram.splits import (
    CONSTANT,
    NO_CUT,
    TIED,
    Bins,
    Search,
    best_score,
    locate_split,
    score_of,
)
from orfeon.kernels.rng import seed_state
from orfeon.utils.jit import array_step, inlined, large_kernel


@array_step
def best_possible(tree, search, work, targets, node):
    """Score of separating the only two residuals of a node; +inf if there are more."""
    begin = tree.segment[node, 0]
    one = targets[work.rows[begin]]
    other = one
    word = np.int64(0)
    second = np.int64(0)
    n_rows = targets.shape[0]
    for i in range(begin, tree.segment[node, 1]):
        row = np.int64(work.rows[i])
        target = targets[row]
        if target == one:
            word += work.values[row]
            if search.is_wide:
                second += work.values[n_rows + row]
        elif other == one:
            other = target
        elif target != other:
            return np.inf
    total = tree.stats[node, 0]
    whole = moment_of(search, total, tree.stats[node, 1])
    on_left = float(weight_of(search, word))
    return score_of(
        on_left, moment_of(search, word, second), float(weight_of(search, total)), whole
    )


@array_step
def choose_feature(bins, limits, search, work, side, bound):
    n = work.candidates.shape[0]
    is_lazy = limits.max_features < n
    start = work.job[side, 4] * search.length * (1 + search.is_wide)
    best = -np.inf
    chosen = np.int64(NO_SPLIT)
    seen = 0
    for j in range(n):
        f = next_candidate(work.candidates, work.random, j, n)
        score = best_score(bins, search, side, start, f) if is_lazy else work.scores[side, f]
        if score == CONSTANT:
            continue
        if score > NO_CUT and score > best * TIED:
            best = score
            chosen = f
        seen += 1
        if best >= bound or (seen >= limits.max_features and chosen != NO_SPLIT):
            break
    return chosen, best


@inlined
def sum_left(bins, search, start, f, goes_left, entry):
    first = start + np.int64(bins.offset[f])
    entry[LEFT] = 0
    entry[LEFT_MOMENT] = 0
    for b in range(bins.n_bins[f] + 1):
        if goes_left[b] == 1:
            entry[LEFT] += search.histograms[first + b]
            if search.is_wide:
                entry[LEFT_MOMENT] += search.histograms[first + search.length + b]


@inlined
def threshold_of(bins, f, cut, following):
    """Midpoint of the values on both sides of a cut; +inf if only missing values are beyond it."""
    if bins.is_categorical[f]:
        return 0.0
    if following == bins.n_bins[f]:
        return np.inf
    first = np.int64(bins.offset[f])
    return midpoint(bins.high[first + cut], bins.low[first + following])


@array_step
def choose_split(bins, limits, search, work, tree, targets, side, waiting):
    """Choose the split of a node under search and add the node to the frontier if it has one."""
    node = work.job[side, 0]
    slot = work.job[side, 4]
    start = slot * search.length * (1 + search.is_wide)
    bound = best_possible(tree, search, work, targets, node)
    f, best = choose_feature(bins, limits, search, work, side, bound)
    gain = best - search.moment[side] * search.moment[side] / search.weight[side]
    if f == NO_SPLIT or gain < limits.min_decrease:
        free_slot(work, slot)
        return waiting
    is_row = node if bins.is_categorical[f] else 0
    locate_split(bins, search, side, start, f, best, tree.sides[is_row], work.choice)
    mark_bins(bins, tree, node, f, work.choice, work.goes_left)
    entry = work.frontier[waiting]
    entry[BEGIN] = work.job[side, 1]
    entry[END] = work.job[side, 2]
    entry[NODE] = node
    entry[DEPTH] = work.job[side, 3]
    entry[SLOT] = slot if slot < work.slots.shape[0] - 1 else -1
    entry[FEATURE] = f
    entry[CUT] = work.choice[1]
    entry[FOLLOWING] = work.choice[2]
    entry[MISSING] = work.choice[3]
    sum_left(bins, search, start, f, work.goes_left, entry)
    work.gain[waiting] = gain
    work.threshold[waiting] = threshold_of(bins, f, work.choice[1], work.choice[2])
    return waiting + 1


@inlined
def next_to_split(limits, work, waiting):
    """The entry to split next: the last, or that of greatest gain if leaves are limited."""
    entry = waiting - 1
    if limits.max_leaves < NO_LIMIT:
        for k in range(waiting - 1):
            if work.gain[k] > work.gain[entry]:
                entry = k
    return entry


@inlined
def search_nodes(bins, limits, search, work, tree, residuals):
    job = work.job
    for side in range(2):
        if job[side, 5] == FROM_ROWS:
            share_rows(
                bins, search, work, tree, residuals, np.int64(GATHER), job[side, 1], job[side, 2]
            )
    job[0, 6] = limits.max_features < work.candidates.shape[0]
    n_blocks = np.int64(work.block_used.shape[0])
    share(bins, search, work, tree, residuals, np.int64(SEARCH), n_blocks)


@inlined
def split_node(bins, search, work, tree, residuals, entry, threshold, n_nodes):
    """Write the test of a waiting node, partition its rows and make its two children."""
    write_test(bins, search, work, tree, entry, threshold, n_nodes)
    begin = entry[BEGIN]
    end = entry[END]
    middle = partition(bins, search, work, tree, residuals, entry[FEATURE], begin, end)
    make_leaf(tree, n_nodes, begin, middle)
    make_leaf(tree, n_nodes + 1, middle, end)


@inlined
def grow_open(bins, limits, search, work, tree, residuals, n_open):
    n_nodes = np.int64(1)
    n_leaves = np.int64(1)
    waiting = np.int64(0)
    targets = residuals.targets
    while True:
        if n_leaves >= limits.max_leaves:
            break
        if n_open > 0:
            search_nodes(bins, limits, search, work, tree, residuals)
            for side in range(1, -1, -1):
                if work.job[side, 0] >= 0:
                    waiting = choose_split(bins, limits, search, work, tree, targets, side, waiting)
                elif work.job[side, 5] != NOT_MADE:
                    free_slot(work, work.job[side, 4])
        if waiting == 0:
            break
        k = next_to_split(limits, work, waiting)
        entry = work.frontier[k]
        split_node(bins, search, work, tree, residuals, entry, work.threshold[k], n_nodes)
        n_open = open_children(
            limits, search, work, tree, targets, n_nodes, entry[DEPTH] + 1, entry[SLOT]
        )
        waiting -= 1
        for c in range(N_COLUMNS):
            entry[c] = work.frontier[waiting, c]
        work.gain[k] = work.gain[waiting]
        work.threshold[k] = work.threshold[waiting]
        n_nodes += 2
        n_leaves += 1
    return n_nodes


@array_step
def grow(bins, limits, search, work, tree, residuals, seed):
    seed_state(work.random, seed)
    n_open = open_root(limits, search, work, tree, residuals)
    n_nodes = grow_open(bins, limits, search, work, tree, residuals, n_open)
    share_leaves(bins, search, work, tree, residuals, n_nodes)
    describe_inner(search, tree, n_nodes)
    return n_nodes


@large_kernel
def grow_tree(bins, limits, search, work, tree, residuals, seed, thread, n_idle):
    """Grow one tree from the fields of the records; returns its number of nodes.

    Threads from number 1 on help the one that grows it, until there was no work ``n_idle`` times;
    ``search`` must hold a thread's own scratch. One kernel does both: it is compiled and loaded
    once, and the parts of tasks are in it once.
    """
    if thread > 0:
        help_search(
            Bins(*bins), Search(*search), Work(*work), Tree(*tree), Residuals(*residuals), thread,
            n_idle,
        )  # fmt: skip
        return np.int64(0)
    return grow(
        Bins(*bins), Limits(*limits), Search(*search), Work(*work), Tree(*tree),
        Residuals(*residuals), seed,
    )  # fmt: skip
