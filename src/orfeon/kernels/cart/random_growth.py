"""Growing trees of random cuts, in the order of :mod:`orfeon.kernels.cart.grow`.

A node is searched and its items are partitioned when it is created; then it waits to be split. One
function of arrays does everything without counting references: most nodes hold a handful of rows,
and counting would take as long as cutting.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.unsorted import CATEGORY_CODES
from orfeon.kernels.cart.criteria import VARIANCE, best_possible, decrease, split_score
from orfeon.kernels.cart.grow import NO_LIMIT, UNDECIDED, majority
from orfeon.kernels.cart.random_cuts import gather_words, partition_items, row_of_item
from orfeon.kernels.cart.random_records import (
    BEGIN,
    BEYOND,
    BRANCHES,
    CUT,
    DEPTH,
    END,
    FEATURE,
    GOES,
    IS_CODED,
    MIDDLE,
    N_PRESENT,
    NODE,
    PLACE,
    SPLIT_FEATURE,
    SPLIT_GOES,
)
from orfeon.kernels.cart.random_search import form_of, number_classes, search_cuts
from orfeon.kernels.cart.search import NO_SPLIT, NONE_MISSING
from orfeon.utils.jit import array_step, inlined, merged_step

bound_of = merged_step(best_possible)
gain_of = merged_step(decrease)
label_of = merged_step(majority)


@merged_step
def best_of_two_targets(targets, weights, moments, items, begin, end, left, total):
    """Score of separating the only two targets of a node; +inf if there are more."""
    one = targets[row_of_item(items[np.uint64(begin)])]
    other = one
    left[0] = 0
    left[1] = 0
    for i in range(begin, end):
        row = row_of_item(items[np.uint64(i)])
        target = targets[row]
        if target == one:
            left[0] += weights[row]
            left[1] += moments[row]
        elif other == one:
            other = target
        elif target != other:
            return np.inf
    return split_score(np.int64(VARIANCE), left, total)


@merged_step
def save_categories(present, sides, n_present, n_categories, branches, used):
    """Store the sides of the present categories as a branch table; returns where it starts."""
    start = used[0]
    if start + n_categories > branches.shape[0]:
        used[3] = 1
        return np.int64(0)
    for code in range(n_categories):
        branches[start + code] = UNDECIDED
    for i in range(n_present):
        if present[i] < n_categories:
            branches[start + present[i]] = sides[i]
    used[0] = start + n_categories
    return start


@merged_step
def finish_leaf(criterion, node, items, begin, end, weights, targets, spread):
    """Sum of squared deviations of a node that stays a leaf, in regression."""
    if criterion != VARIANCE:
        return
    weight = 0.0
    total = 0.0
    for i in range(begin, end):
        row = row_of_item(items[np.uint64(i)])
        weight += float(weights[row])
        total += float(weights[row]) * targets[row]
    first = targets[row_of_item(items[np.uint64(begin)])]
    mean = first if end - begin == 1 else total / weight
    squares = 0.0
    for i in range(begin, end):
        row = row_of_item(items[np.uint64(i)])
        deviation = targets[row] - mean
        squares += float(weights[row]) * deviation * deviation
    spread[node] = squares


@merged_step
def is_impure(criterion, items, begin, end, targets, stats):
    if criterion == VARIANCE:
        first = targets[row_of_item(items[np.uint64(begin)])]
        for i in range(begin + 1, end):
            if targets[row_of_item(items[np.uint64(i)])] != first:
                return True
        return False
    present = np.int64(0)
    for c in range(stats.shape[0]):
        present += np.int64(stats[c] > 0)
    return present > 1


@inlined
def make_leaf(tree, node):
    tree.threshold[node] = np.inf
    tree.feature[node] = 0
    tree.first_child[node] = node
    tree.n_children[node] = 0
    tree.missing[node] = 0
    tree.label[node] = 0


@inlined
def describe_leaf(sample, limits, tree, items, node, begin, end, depth, parent_label):
    """Label a node whose statistics are known; returns its weight and whether it may be split."""
    weight = tree.stats[node, 0]
    if limits.criterion != VARIANCE:
        tree.label[node] = label_of(tree.stats[node], limits.tie, parent_label)
        for c in range(1, tree.stats.shape[1]):
            weight += tree.stats[node, c]
    may_split = (
        end - begin > 1
        and depth < limits.max_depth
        and weight >= limits.min_split
        and weight >= 2 * limits.min_leaf
        and is_impure(limits.criterion, items, begin, end, sample.targets, tree.stats[node])
    )
    if not may_split:
        finish_leaf(
            limits.criterion, node, items, begin, end, sample.weights, sample.targets, tree.spread
        )
    return weight, may_split


@inlined
def open_node(frontier, n_open, node, begin, end, depth):
    frontier.opened[n_open, 0] = node
    frontier.opened[n_open, 1] = begin
    frontier.opened[n_open, 2] = end
    frontier.opened[n_open, 3] = depth


@inlined
def open_root(sample, limits, scratch, frontier, tree, m):
    """Make the root of the first ``m`` items; returns the number of open nodes, 0 or 1."""
    zero = np.int64(0)
    for c in range(tree.stats.shape[1]):
        tree.stats[0, c] = 0
    for i in range(m):
        row = row_of_item(scratch.items[np.uint64(i)])
        if limits.criterion == VARIANCE:
            tree.stats[0, 0] += sample.weights[row]
            tree.stats[0, 1] += sample.moments[row]
        else:
            tree.stats[0, np.int64(sample.labels[row])] += sample.weights[row]
    make_leaf(tree, zero)
    _, may_split = describe_leaf(
        sample, limits, tree, scratch.items, zero, zero, m, zero, np.int64(-1)
    )
    open_node(frontier, zero, zero, zero, m, zero)
    for w in range(frontier.inherited.shape[0]):
        frontier.inherited[w] = 0
    return np.int64(may_split)


@inlined
def search_node(features, sample, limits, scratch, cells, frontier, tree, k, waiting):
    """Search an open node and partition its items; returns how many nodes wait then."""
    node = frontier.opened[k, 0]
    begin = frontier.opened[k, 1]
    end = frontier.opened[k, 2]
    n = end - begin
    criterion = limits.criterion
    items = scratch.items
    choice = scratch.choice
    total = scratch.total
    for w in range(frontier.inherited.shape[0]):
        scratch.constant[w] = frontier.inherited[w]
    if criterion == VARIANCE:
        n_classes = np.int64(2)
        total[0] = tree.stats[node, 0]
        total[1] = tree.stats[node, 1]
        bound = best_of_two_targets(
            sample.targets, sample.weights, sample.moments, items, begin, end, scratch.left, total
        )
    else:
        n_classes = number_classes(
            tree.stats[node], scratch.local, scratch.classes, total, scratch.left
        )
        bound = bound_of(criterion, total)
    weight, bits, form = form_of(criterion, n_classes, total)
    gather_words(
        form, bits, sample.light, scratch.local, sample.weights, sample.moments, items, begin, n,
        scratch.words, scratch.labels,
    )  # fmt: skip
    score, threshold = search_cuts(
        features, limits, scratch, cells, form, bits, n_classes, weight, bound, begin, n
    )
    f = choice[FEATURE]
    gain = gain_of(criterion, score, total)
    if f == NO_SPLIT or gain < limits.min_decrease:
        finish_leaf(
            criterion, node, items, begin, end, sample.weights, sample.targets, tree.spread
        )
        return waiting
    if choice[IS_CODED]:
        middle = partition_items(
            cells.codes, choice[PLACE], np.uint8(choice[CUT]), np.uint8(choice[BEYOND]), items,
            scratch.spare, begin, n,
        )  # fmt: skip
    else:
        middle = partition_items(
            cells.keys, choice[PLACE], choice[CUT], choice[BEYOND], items, scratch.spare, begin, n
        )
    entry = frontier.entries[waiting]
    entry[BEGIN] = begin
    entry[MIDDLE] = middle
    entry[END] = end
    entry[NODE] = node
    entry[DEPTH] = frontier.opened[k, 3]
    entry[SPLIT_FEATURE] = f
    entry[SPLIT_GOES] = choice[GOES]
    if features.kind[f] >= CATEGORY_CODES:
        entry[BRANCHES] = save_categories(
            scratch.best_present, scratch.best_sides, choice[N_PRESENT], features.n_values[f],
            tree.branches, tree.used,
        )  # fmt: skip
    left = frontier.left[waiting]
    if criterion == VARIANCE:
        left[0] = scratch.best_left[0]
        left[1] = scratch.best_left[1]
    else:
        for c in range(left.shape[0]):
            left[c] = 0
        for c in range(n_classes):
            left[scratch.classes[c]] = scratch.best_left[c]
    for w in range(scratch.constant.shape[0]):
        frontier.constant[waiting, w] = scratch.constant[w]
    frontier.gain[waiting] = gain
    frontier.threshold[waiting] = threshold
    return waiting + 1


@inlined
def next_entry(max_leaves, gain, waiting):
    entry = waiting - 1
    if max_leaves < NO_LIMIT:
        for k in range(waiting - 1):
            if gain[k] > gain[entry]:
                entry = k
    return entry


@inlined
def split_node(features, sample, limits, items, frontier, tree, k, n_nodes):
    """Split a waiting node; ``frontier.opened`` lists the children that may be split again."""
    entry = frontier.entries[k]
    left = frontier.left[k]
    begin = entry[BEGIN]
    middle = entry[MIDDLE]
    end = entry[END]
    node = entry[NODE]
    depth = entry[DEPTH] + 1
    f = entry[SPLIT_FEATURE]
    goes = entry[SPLIT_GOES]
    for w in range(frontier.inherited.shape[0]):
        frontier.inherited[w] = frontier.constant[k, w]
    for c in range(left.shape[0]):
        tree.stats[n_nodes, c] = left[c]
        tree.stats[n_nodes + 1, c] = tree.stats[node, c] - left[c]
    n_open = np.int64(0)
    on_left = np.int64(0)
    on_right = np.int64(0)
    for side in range(1, -1, -1):
        child = n_nodes + side
        first = middle if side else begin
        last = end if side else middle
        make_leaf(tree, child)
        weight, may_split = describe_leaf(
            sample, limits, tree, items, child, first, last, depth, np.int64(tree.label[node])
        )
        on_left, on_right = weight, on_left
        if may_split:
            open_node(frontier, n_open, child, first, last, depth)
            n_open += 1
    heavier = np.int64(on_right > on_left)
    tree.first_child[node] = n_nodes
    tree.n_children[node] = 2
    tree.missing[node] = heavier if goes == NONE_MISSING else 1 - goes
    tree.feature[node] = f
    tree.threshold[node] = frontier.threshold[k]
    if features.kind[f] >= CATEGORY_CODES:
        start = entry[BRANCHES]
        tree.threshold[node] = float(start)
        for code in range(features.n_values[f]):
            if tree.branches[start + code] == UNDECIDED:
                tree.branches[start + code] = heavier
    return n_open


@inlined
def drop_entry(frontier, k, waiting):
    """Drop an entry of the frontier; the last one takes its place."""
    last = waiting - 1
    if k < last:
        for c in range(frontier.entries.shape[1]):
            frontier.entries[k, c] = frontier.entries[last, c]
        for c in range(frontier.left.shape[1]):
            frontier.left[k, c] = frontier.left[last, c]
        for w in range(frontier.constant.shape[1]):
            frontier.constant[k, w] = frontier.constant[last, w]
        frontier.gain[k] = frontier.gain[last]
        frontier.threshold[k] = frontier.threshold[last]
    return last


@array_step
def grow_cuts(features, sample, limits, scratch, cells, frontier, tree, m):
    """Grow a tree from the first ``m`` items; returns the number of nodes."""
    # Stops early if the table of branches is full (``tree.used[3]``).
    n_open = open_root(sample, limits, scratch, frontier, tree, m)
    n_nodes = np.int64(1)
    n_leaves = np.int64(1)
    waiting = np.int64(0)
    while True:
        for k in range(n_open):
            waiting = search_node(
                features, sample, limits, scratch, cells, frontier, tree, k, waiting
            )
        if waiting == 0 or n_leaves >= limits.max_leaves or tree.used[3]:
            break
        k = next_entry(limits.max_leaves, frontier.gain, waiting)
        n_open = split_node(
            features, sample, limits, scratch.items, frontier, tree, k, n_nodes
        )
        waiting = drop_entry(frontier, k, waiting)
        n_nodes += 2
        n_leaves += 1
    for k in range(waiting):
        entry = frontier.entries[k]
        finish_leaf(
            limits.criterion, entry[NODE], scratch.items, entry[BEGIN], entry[END],
            sample.weights, sample.targets, tree.spread,
        )  # fmt: skip
    return n_nodes
