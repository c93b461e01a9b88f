"""Growing trees of random cuts, in the order of :mod:`orfeon.kernels.cart.grow`.

A node is searched and its items are partitioned when it is created; then it waits to be split. One
function of arrays does everything without counting references: most nodes hold a handful of rows,
and counting would take as long as cutting.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.coding import CATEGORY_CODES
from orfeon.kernels.cart.criteria import VARIANCE, best_possible, decrease, split_score
from orfeon.kernels.cart.grow import NO_LIMIT, STOP, UNDECIDED, majority
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
    IS_IMPURE,
    LABEL,
    MIDDLE,
    N_PRESENT,
    NODE,
    PLACE,
    SPLIT_FEATURE,
    SPLIT_GOES,
    WEIGHT,
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
def has_targets(items, begin, end, targets):
    """Whether there are several targets."""
    first = targets[row_of_item(items[np.uint64(begin)])]
    for i in range(begin + 1, end):
        if targets[row_of_item(items[np.uint64(i)])] != first:
            return True
    return False


@merged_step
def sum_classes_of(stats):
    """Weight of a node, and whether it has several classes."""
    weight = np.int64(0)
    present = np.int64(0)
    for c in range(stats.shape[0]):
        weight += np.int64(stats[c])
        present += np.int64(stats[c] > 0)
    return weight, present > 1


@merged_step
def child_label(stats, classes, tie, parent, parent_label):
    """The class of greatest weight; among ties the parent's label, else the first."""
    # As :func:`orfeon.kernels.cart.grow.majority`, for classes that are numbered in the parent;
    # ``parent`` is the number of the parent's label, -1 if that does not occur.
    best = np.int64(0)
    for c in range(1, stats.shape[0]):
        if stats[c] > stats[best]:
            best = np.int64(c)
    of_parent = stats[parent] if parent >= 0 else np.int64(0)
    if stats[best] - of_parent <= tie:
        return parent_label
    for c in range(best):
        if stats[best] - stats[c] <= tie:
            return classes[c]
    return classes[best]


@inlined
def make_leaf(tree, node):
    tree.threshold[node] = np.inf
    tree.feature[node] = 0
    tree.first_child[node] = node
    tree.n_children[node] = 0
    tree.missing[node] = 0


@inlined
def may_split(limits, n, depth, weight):
    return (
        n > 1
        and depth < limits.max_depth
        and weight >= limits.min_split
        and weight >= 2 * limits.min_leaf
    )


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
    tree.label[0] = 0
    if limits.criterion == VARIANCE:
        weight = np.int64(tree.stats[0, 0])
        impure = has_targets(scratch.items, zero, m, sample.targets)
    else:
        tree.label[0] = label_of(tree.stats[0], limits.tie, np.int64(-1))
        weight, impure = sum_classes_of(tree.stats[0])
    for w in range(frontier.inherited.shape[0]):
        frontier.inherited[w] = 0
    if impure and may_split(limits, m, zero, weight):
        open_node(frontier, zero, zero, zero, m, zero)
        return np.int64(1)
    finish_leaf(
        limits.criterion, zero, scratch.items, zero, m, sample.weights, sample.targets, tree.spread
    )
    return zero


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
    for w in range(frontier.inherited.shape[0]):
        scratch.constant[w] = frontier.inherited[w]
    if criterion == VARIANCE:
        n_classes = np.int64(2)
        scratch.total[0] = tree.stats[node, 0]
        scratch.total[1] = tree.stats[node, 1]
    else:
        n_classes = number_classes(tree.stats[node], scratch.local, scratch.classes, scratch.total)
    total = scratch.total[:n_classes]
    left = scratch.left[:n_classes]
    if criterion == VARIANCE:
        bound = best_of_two_targets(
            sample.targets, sample.weights, sample.moments, items, begin, end, left, total
        )
    else:
        bound = bound_of(criterion, total)
    weight, bits, form = form_of(criterion, total)
    gather_words(
        form, bits, sample.light, n_classes == tree.stats.shape[1], scratch.local, sample.weights,
        sample.moments, items, begin, n, scratch.words, scratch.labels,
    )  # fmt: skip
    score, threshold = search_cuts(
        features, limits, scratch, cells, form, bits, left, total, weight, bound, begin, n
    )
    f = choice[FEATURE]
    gain = gain_of(criterion, score, total)
    if f == NO_SPLIT or gain < limits.min_decrease:
        finish_leaf(criterion, node, items, begin, end, sample.weights, sample.targets, tree.spread)
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
    on_left = frontier.left[waiting]
    best_left = scratch.best_left[:n_classes]
    if criterion == VARIANCE:
        on_left[0] = best_left[0]
        on_left[1] = best_left[1]
        entry[LABEL] = 0
        entry[LABEL + 1] = 0
        entry[WEIGHT] = best_left[0]
        entry[WEIGHT + 1] = total[0] - best_left[0]
        entry[IS_IMPURE] = np.int64(has_targets(items, begin, middle, sample.targets))
        entry[IS_IMPURE + 1] = np.int64(has_targets(items, middle, end, sample.targets))
    else:
        best_right = scratch.best_right[:n_classes]
        for c in range(on_left.shape[0]):
            on_left[c] = 0
        for c in range(n_classes):
            on_left[scratch.classes[c]] = best_left[c]
            best_right[c] = total[c] - best_left[c]
        label = np.int64(tree.label[node])
        parent = scratch.local[label] if tree.stats[node, label] > 0 else np.int64(-1)
        entry[LABEL] = child_label(best_left, scratch.classes, limits.tie, parent, label)
        entry[LABEL + 1] = child_label(best_right, scratch.classes, limits.tie, parent, label)
        entry[WEIGHT], impure = sum_classes_of(best_left)
        entry[IS_IMPURE] = np.int64(impure)
        entry[WEIGHT + 1], impure = sum_classes_of(best_right)
        entry[IS_IMPURE + 1] = np.int64(impure)
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
        tree.stats[n_nodes + 1, c] = np.int64(tree.stats[node, c]) - left[c]
    n_open = np.int64(0)
    for side in range(1, -1, -1):
        child = n_nodes + side
        first = middle if side else begin
        last = end if side else middle
        make_leaf(tree, child)
        tree.label[child] = entry[LABEL + side]
        if entry[IS_IMPURE + side] and may_split(limits, last - first, depth, entry[WEIGHT + side]):
            open_node(frontier, n_open, child, first, last, depth)
            n_open += 1
        else:
            finish_leaf(
                limits.criterion, child, items, first, last, sample.weights, sample.targets,
                tree.spread,
            )  # fmt: skip
    heavier = np.int64(entry[WEIGHT + 1] > entry[WEIGHT])
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
        if waiting == 0 or n_leaves >= limits.max_leaves or tree.used[3] or limits.stop[STOP]:
            break
        k = next_entry(limits.max_leaves, frontier.gain, waiting)
        n_open = split_node(features, sample, limits, scratch.items, frontier, tree, k, n_nodes)
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
