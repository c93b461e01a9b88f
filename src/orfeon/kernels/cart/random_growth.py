"""Growing trees of random cuts, in the order of :mod:`orfeon.kernels.cart.grow`.

One function of arrays does everything without counting references: most nodes hold a handful of
rows, and counting would take as long as cutting.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, MISSING_KEY, key_of
from orfeon.kernels.cart.criteria import VARIANCE, decrease
from orfeon.kernels.cart.grow import NO_LIMIT, UNDECIDED, majority
from orfeon.kernels.cart.random_cuts import search_cuts
from orfeon.kernels.cart.search import ABSENT, MISSING_LEFT, NO_SPLIT, NONE_MISSING
from orfeon.utils.jit import array_step, inlined


@array_step
def save_categories(chosen, n_categories, branches, used):
    start = used[0]
    if start + n_categories > branches.shape[0]:
        used[3] = 1
        return np.int64(0)
    for code in range(n_categories):
        branches[start + code] = UNDECIDED if chosen[code] == ABSENT else 1 - chosen[code]
    used[0] = start + n_categories
    return start


@array_step
def next_entry(max_leaves, frontier_gain, waiting):
    entry = waiting - 1
    if max_leaves < NO_LIMIT:
        for k in range(waiting - 1):
            if frontier_gain[k] > frontier_gain[entry]:
                entry = k
    return entry


@array_step
def partition_by_key(keys, base, cut, missing_left, rows, spare, begin, end):
    put = np.uint64(begin)
    aside = np.uint64(0)
    beyond = MISSING_KEY if missing_left else cut
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        key = keys[base + np.uint64(row)]
        side = np.uint64(key <= cut) | np.uint64(key == beyond)
        rows[put] = row
        spare[aside] = row
        put += side
        aside += np.uint64(1) - side
    for i in range(np.int64(aside)):
        rows[put + np.uint64(i)] = spare[i]
    return np.int64(put)


@array_step
def partition_by_category(ranks, base, n_categories, branches, start, missing_left, rows, spare,
                          begin, end):  # fmt: skip
    put = np.int64(begin)
    aside = np.int64(0)
    for i in range(begin, end):
        row = rows[i]
        code = np.int64(ranks[base + np.uint64(row)])
        if code == n_categories:
            to_left = missing_left
        else:
            to_left = branches[start + code] == 0
        if to_left:
            rows[put] = row
            put += 1
        else:
            spare[aside] = row
            aside += 1
    for i in range(aside):
        rows[put + i] = spare[i]
    return put


@array_step
def add_leaves(criterion, node, n_nodes, frontier_left, entry, threshold, feature, first_child,
               n_children, missing, stats):  # fmt: skip
    """Add two leaves with their statistics under a node; returns the heavier branch."""
    first_child[node] = n_nodes
    for child in range(n_nodes, n_nodes + 2):
        threshold[child] = np.inf
        feature[child] = 0
        first_child[child] = child
        n_children[child] = 0
        missing[child] = 0
    on_left = np.int64(0)
    on_right = np.int64(0)
    for c in range(stats.shape[1]):
        stats[n_nodes, c] = frontier_left[entry, c]
        stats[n_nodes + 1, c] = stats[node, c] - frontier_left[entry, c]
        if c == 0 or criterion != VARIANCE:
            on_left += stats[n_nodes, c]
            on_right += stats[n_nodes + 1, c]
    return np.int64(on_right > on_left)


@array_step
def finish_leaf(criterion, node, rows, begin, end, weights, targets, spread):
    """Sum of squared deviations of a node that stays a leaf, in regression."""
    if criterion != VARIANCE:
        return
    weight = 0.0
    total = 0.0
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        weight += float(weights[row])
        total += float(weights[row]) * targets[row]
    mean = targets[rows[begin]] if end - begin == 1 else total / weight
    squares = 0.0
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        deviation = targets[row] - mean
        squares += float(weights[row]) * deviation * deviation
    spread[node] = squares


@array_step
def label_node(criterion, tie, parent_label, node, rows, begin, end, targets, label, stats):
    """Label a new node; returns its weight and whether it is impure."""
    if criterion == VARIANCE:
        label[node] = 0
        for i in range(begin + 1, end):
            if targets[rows[i]] != targets[rows[begin]]:
                return stats[node, 0], True
        return stats[node, 0], False
    label[node] = majority(stats[node], tie, parent_label)
    weight = np.int64(0)
    present = 0
    for c in range(stats.shape[1]):
        weight += stats[node, c]
        present += np.int64(stats[node, c] > 0)
    return weight, present > 1


@inlined
def split_entry(kinds, ranks, n_values, keys, n_rows, weights, targets, criterion, max_depth,
                min_split, min_leaf, tie, rows, spare, opened, frontier, frontier_threshold,
                frontier_left, branches, threshold, feature, first_child, n_children,
                missing, label, stats, spread, entry, n_nodes):  # fmt: skip
    """Split a waiting node; ``opened`` lists the children that may be split again."""
    begin = frontier[entry, 0]
    end = frontier[entry, 1]
    node = frontier[entry, 2]
    depth = frontier[entry, 3] + 1
    f = frontier[entry, 4]
    start = frontier[entry, 5]
    goes = frontier[entry, 7]
    cut = frontier_threshold[entry]
    base = np.uint64(f * n_rows)
    if kinds[f] == CATEGORICAL:
        middle = partition_by_category(
            ranks, base, n_values[f], branches, start, goes == MISSING_LEFT, rows, spare, begin,
            end,
        )  # fmt: skip
    else:
        middle = partition_by_key(
            keys, base, key_of(cut), goes == MISSING_LEFT, rows, spare, begin, end
        )
    heavier = add_leaves(
        criterion, node, n_nodes, frontier_left, entry, threshold, feature, first_child,
        n_children, missing, stats,
    )  # fmt: skip
    n_children[node] = 2
    missing[node] = heavier if goes == NONE_MISSING else 1 - goes
    feature[node] = f
    threshold[node] = cut
    if kinds[f] == CATEGORICAL:
        threshold[node] = float(start)
        for code in range(n_values[f]):
            if branches[start + code] == UNDECIDED:
                branches[start + code] = heavier
    n_open = np.int64(0)
    for side in range(1, -1, -1):
        child = n_nodes + side
        first = middle if side else begin
        last = end if side else middle
        weight, impure = label_node(
            criterion, tie, np.int64(label[node]), child, rows, first, last, targets, label, stats
        )
        if (
            impure and last - first > 1 and depth < max_depth and weight >= min_split
            and weight >= 2 * min_leaf
        ):  # fmt: skip
            opened[n_open, 0] = child
            opened[n_open, 1] = first
            opened[n_open, 2] = last
            opened[n_open, 3] = depth
            n_open += 1
        else:
            finish_leaf(criterion, child, rows, first, last, weights, targets, spread)
    return n_open


@array_step
def grow_cuts(kinds, ranks, n_values, keys, n_rows, labels, weights, packed, moments, targets,
              criterion, max_depth, max_leaves, min_split, min_leaf, min_decrease, max_features,
              tie, rows, spare, cells, words, candidates, total, left, best_left, count, histogram,
              present, trial, chosen, choice, random, opened, frontier, frontier_gain,
              frontier_threshold, frontier_left, branches, used, threshold, feature, first_child,
              n_children, missing, label, stats, spread, n_nodes, n_open, n_leaves):  # fmt: skip
    """Grow on from the nodes listed in ``opened``; returns the number of nodes."""
    waiting = np.int64(0)
    while True:
        for k in range(n_open):
            node = opened[k, 0]
            begin = opened[k, 1]
            end = opened[k, 2]
            for c in range(total.shape[0]):
                total[c] = stats[node, c]
            score, cut = search_cuts(
                criterion, max_features, min_leaf, n_rows, kinds, n_values, ranks, keys, packed,
                labels, weights, moments, targets, rows, spare, cells, words, candidates, total,
                left, best_left, count, histogram, present, trial, chosen, choice, random, begin,
                end,
            )  # fmt: skip
            f = choice[0]
            gain = decrease(criterion, score, total)
            if f == NO_SPLIT or gain < min_decrease:
                finish_leaf(criterion, node, rows, begin, end, weights, targets, spread)
                continue
            frontier[waiting, 0] = begin
            frontier[waiting, 1] = end
            frontier[waiting, 2] = node
            frontier[waiting, 3] = opened[k, 3]
            frontier[waiting, 4] = f
            frontier[waiting, 7] = choice[3]
            if kinds[f] == CATEGORICAL:
                frontier[waiting, 5] = save_categories(chosen, n_values[f], branches, used)
            for c in range(total.shape[0]):
                frontier_left[waiting, c] = best_left[c]
            frontier_gain[waiting] = gain
            frontier_threshold[waiting] = cut
            waiting += 1
        if waiting == 0 or n_leaves >= max_leaves or used[3]:
            break
        entry = next_entry(max_leaves, frontier_gain, waiting)
        n_open = split_entry(
            kinds, ranks, n_values, keys, n_rows, weights, targets, criterion, max_depth,
            min_split, min_leaf, tie, rows, spare, opened, frontier, frontier_threshold,
            frontier_left, branches, threshold, feature, first_child, n_children, missing,
            label, stats, spread, entry, n_nodes,
        )  # fmt: skip
        waiting -= 1
        for k in range(8):
            frontier[entry, k] = frontier[waiting, k]
        for c in range(total.shape[0]):
            frontier_left[entry, c] = frontier_left[waiting, c]
        frontier_gain[entry] = frontier_gain[waiting]
        frontier_threshold[entry] = frontier_threshold[waiting]
        n_nodes += 2
        n_leaves += 1
    for k in range(waiting):
        finish_leaf(
            criterion, frontier[k, 2], rows, frontier[k, 0], frontier[k, 1], weights, targets,
            spread,
        )  # fmt: skip
    return n_nodes


@inlined
def grow_random_open(
    columns, sample, options, work, arenas, nodes, n_nodes, n_open, n_leaves, n_candidates
):
    return grow_cuts(
        columns.kind, columns.ranks, columns.n_values, columns.values.view(np.int64),
        columns.n_rows, sample.labels, sample.weights, sample.packed, sample.moments,
        sample.targets, options.criterion, options.max_depth, options.max_leaves,
        options.min_split, options.min_leaf, options.min_decrease, options.max_features,
        options.tie, work.rows, work.spare_rows, work.projected.view(np.int64), work.cut_words,
        work.candidates, work.total, work.left, work.aside, work.count, work.histogram,
        work.present, work.trial, work.chosen, work.choice, work.random, work.open, work.frontier,
        work.frontier_gain, work.frontier_threshold, work.frontier_left, arenas.branches,
        arenas.used, nodes.threshold, nodes.feature, nodes.first_child, nodes.n_children,
        nodes.missing, nodes.label, nodes.stats, nodes.spread, n_nodes, n_open, n_leaves,
    )  # fmt: skip
