"""Trees pruned by cost-complexity, the price of a leaf chosen by cross-validation.

For every tree kept, one more is grown for each fold, all from the same presorted table. The folds
are dealt to *groups* of rows: copies of one example stay together, otherwise a tree would be
tested on examples it was grown from and would hardly be pruned.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.block import (
    append_nodes,
    copy_nodes,
    enlarge,
    keep_only,
    make_arenas,
    make_nodes,
    make_work,
    pack,
)
from orfeon.kernels.criteria import VARIANCE
from orfeon.kernels.grow import Columns, Options, Sample, grow_open, node_weight, open_root
from orfeon.kernels.jit import kernel, step
from orfeon.kernels.prune import weakest_links
from orfeon.kernels.rng import random_below, seed_state
from orfeon.kernels.route import branch_of


@step
def deal_folds(group, labels, weights, n_classes, n_folds, random, fold):
    """Deal the present groups to folds at random, class by class; returns the number of folds.

    Groups are numbered by content, not by row, so that the order of the rows does not matter.
    """
    n_rows = group.shape[0]
    n_groups = 0
    for i in range(n_rows):
        n_groups = max(n_groups, group[i] + 1)
    label = np.full(n_groups, -1)
    for i in range(n_rows):
        if weights[i] > 0 and label[group[i]] < 0:
            label[group[i]] = labels[i] if n_classes > 0 else 0
    order = np.empty(n_groups, np.int64)
    present = 0
    for g in range(n_groups):
        if label[g] >= 0:
            order[present] = g
            present += 1
    n_folds = min(n_folds, present)
    if n_folds < 2:
        return n_folds
    for i in range(present - 1, 0, -1):
        q = random_below(random, i + 1)
        order[i], order[q] = order[q], order[i]
    fold_of_group = np.zeros(n_groups, np.int64)
    dealt = 0
    for c in range(max(n_classes, 1)):
        for i in range(present):
            if label[order[i]] == c:
                fold_of_group[order[i]] = dealt % n_folds
                dealt += 1
    for i in range(n_rows):
        fold[i] = fold_of_group[group[i]]
    return n_folds


@step
def leaf_costs(options, nodes, n_nodes, cost):
    """What each node costs as a leaf: the weight it gets wrong, or its sum of squares."""
    for node in range(n_nodes):
        if options.criterion == VARIANCE:
            cost[node] = nodes.spread[node]
        else:
            weight = node_weight(options, nodes.stats[node])
            cost[node] = float(weight - nodes.stats[node, nodes.label[node]])


@step
def add_fold_losses(options, sample, nodes, arenas, is_categorical, node_alpha, prices, n_steps, X,
                    weights, fold, v, mean_unit, loss, squared_loss):  # fmt: skip
    """Losses on fold ``v`` of its tree pruned at each price.

    The tree pruned at a price answers with the first node on the way down that is cut at it. Prices
    are visited from the highest, so each row walks its path once.
    """
    for i in range(X.shape[0]):
        if weights[i] == 0 or fold[i] != v:
            continue
        w = float(weights[i])
        node = np.int64(0)
        for k in range(n_steps - 1, -1, -1):
            while nodes.n_children[node] > 0 and node_alpha[node] > prices[k]:
                branch = branch_of(
                    node, X, i, nodes.attribute, nodes.threshold, nodes.missing, is_categorical,
                    arenas.branches, arenas.term_start, arenas.term_attribute, arenas.term_weight,
                )  # fmt: skip
                node = nodes.first_child[node] + branch
            if options.criterion == VARIANCE:
                mean = float(nodes.stats[node, 1]) / float(nodes.stats[node, 0]) * mean_unit
                deviation = sample.targets[i] - mean
                loss[k] += w * deviation * deviation
                squared_loss[k] += w * deviation * deviation * deviation * deviation
            elif nodes.label[node] != sample.labels[i]:
                loss[k] += w
                squared_loss[k] += w


@step
def choose_step(loss, squared_loss, leaves, n_steps, total, n_examples, one_standard_error,
                keep_a_split):  # fmt: skip
    """The step of least mean loss, or the smallest tree within one standard error of it."""
    last = n_steps - 1
    if keep_a_split and n_steps > 1 and leaves[last] == 1:
        last -= 1
    best = last
    for k in range(last, -1, -1):
        if loss[k] < loss[best]:
            best = k
    if not one_standard_error:
        return best
    mean = loss[best] / total
    spread = squared_loss[best] / total - mean * mean
    allowed = (mean + np.sqrt(max(spread, 0.0) / n_examples)) * total
    for k in range(last, best, -1):
        if loss[k] <= allowed * (1.0 + 1e-12):
            return k
    return best


@kernel
def grow_cross_validated(records, ranks, segment, kind, n_values, value_start, values, shift, mask,
                         n_rows, settings, labels, weights, moments, targets, limits, min_decrease,
                         seeds, candidates, table, X, group, folds, one_standard_error,
                         keep_a_split, mean_unit, unit):  # fmt: skip
    """Grow and prune ``len(seeds)`` trees; arguments as for growing, then those of the choice.

    Also returns, for the last tree, the breakpoints (as shares of its weight), the mean losses and
    their standard errors, the leaves and the step taken.
    """
    columns = Columns(
        records, ranks, segment, kind, n_values, value_start, values, shift, mask, n_rows
    )
    options = Options(
        settings[0], settings[1], settings[2], settings[3], settings[4], np.int64(0), np.int64(0),
        0.0, settings[5], settings[6], settings[7], np.int64(0),
    )  # fmt: skip
    n_trees = seeds.shape[0]
    regression = targets.shape[1] > 0
    n_candidates = candidates.shape[1]
    max_nodes = 2 * min(n_rows, options.max_leaves) + 1
    work = make_work(columns, options, n_candidates, table, max_nodes)
    nodes = make_nodes(max_nodes, options.n_stats, regression)
    main = make_nodes(max_nodes, options.n_stats, regression)
    kept = make_nodes(np.int64(1024), options.n_stats, regression)
    arenas = make_arenas(np.int64(0), np.int64(0), np.int64(0))
    before = np.zeros(4, np.int64)
    packed = np.empty(n_rows, np.uint64)
    starts = np.zeros(n_trees + 1, np.int64)
    is_categorical = np.empty(kind.shape[0], np.bool_)
    for f in range(kind.shape[0]):
        is_categorical[f] = kind[f] == 2
    fold = np.zeros(n_rows, np.int64)
    fold_weights = np.empty(n_rows, np.int64)
    cost = np.empty(max_nodes)
    node_alpha = np.empty(max_nodes)
    main_alpha = np.empty(max_nodes)
    place = np.empty(max_nodes, np.int64)
    alphas = np.empty(max_nodes + 1)
    risks = np.empty(max_nodes + 1)
    leaves = np.empty(max_nodes + 1, np.int64)
    prices = np.empty(max_nodes + 1)
    loss = np.empty(max_nodes + 1)
    squared_loss = np.empty(max_nodes + 1)
    fold_alphas = np.empty(max_nodes + 1)
    fold_leaves = np.empty(max_nodes + 1, np.int64)
    n_main = np.int64(0)
    n_steps = np.int64(0)
    step = np.int64(0)
    whole = 1.0
    for t in range(n_trees):
        options.min_split = limits[t, 0]
        options.min_leaf = limits[t, 1]
        options.tie = limits[t, 2]
        options.criterion = limits[t, 3]
        options.min_decrease = min_decrease[t]
        own_labels = labels[t if labels.shape[0] > 1 else 0]
        own_weights = weights[t if weights.shape[0] > 1 else 0]
        sample = Sample(
            own_labels,
            fold_weights,
            packed,
            moments[t if moments.shape[0] > 1 else 0],
            targets[t if targets.shape[0] > 1 else 0],
        )
        seed_state(work.random, seeds[t])
        n_classes = np.int64(0) if regression else options.n_stats
        n_folds = deal_folds(group, own_labels, own_weights, n_classes, folds, work.random, fold)
        # The first tree sees every fold; the others each leave one out.
        for v in range(-1, n_folds if n_folds > 1 else 0):
            if v >= 0 and n_steps == 1:
                break
            for i in range(n_rows):
                fold_weights[i] = own_weights[i] if fold[i] != v else 0
            pack(options.criterion, own_labels, fold_weights, packed)
            for k in range(4):
                before[k] = arenas.used[k]
            state = work.random[0]
            while True:
                work.random[0] = state
                for k in range(n_candidates):
                    work.candidates[k] = candidates[t if candidates.shape[0] > 1 else 0, k]
                n_open = open_root(columns, sample, options, work, nodes, n_candidates)
                n_nodes = grow_open(
                    columns, sample, options, work, arenas, nodes, np.int64(1), n_open,
                    np.int64(1), n_candidates,
                )  # fmt: skip
                if not arenas.used[3]:
                    break
                arenas = enlarge(arenas, before, 16 * work.key.shape[0], np.int64(16))
            leaf_costs(options, nodes, n_nodes, cost)
            total = float(node_weight(options, nodes.stats[0]))
            if v < 0:
                whole = total
                n_main = n_nodes
                copy_nodes(main, np.int64(0), nodes, n_nodes)
                n_steps = weakest_links(
                    main.first_child, main.n_children, cost, n_main, main_alpha, alphas, risks,
                    leaves,
                )  # fmt: skip
                for k in range(n_steps):
                    loss[k] = 0.0
                    squared_loss[k] = 0.0
                    following = alphas[k + 1] / whole if k + 1 < n_steps else np.inf
                    prices[k] = np.sqrt(alphas[k] / whole * following) if k > 0 else 0.0
                if n_steps > 1:
                    prices[n_steps - 1] = np.inf
                continue
            weakest_links(
                nodes.first_child, nodes.n_children, cost, n_nodes, node_alpha, fold_alphas, risks,
                fold_leaves,
            )  # fmt: skip
            for node in range(n_nodes):
                node_alpha[node] /= total
            add_fold_losses(
                options, sample, nodes, arenas, is_categorical, node_alpha, prices, n_steps, X,
                own_weights, fold, v, mean_unit[t], loss, squared_loss,
            )  # fmt: skip
            for k in range(3):
                arenas.used[k] = before[k]
        step = np.int64(0)
        if n_folds > 1:
            step = choose_step(
                loss, squared_loss, leaves, n_steps, whole, whole / unit[t], one_standard_error,
                keep_a_split,
            )  # fmt: skip
        cut = main_alpha <= alphas[step]
        left = keep_only(main, n_main, cut, place)
        kept = append_nodes(kept, starts[t], main, left)
        starts[t + 1] = starts[t] + left
    path = np.empty((4, n_steps))
    for k in range(n_steps):
        path[0, k] = alphas[k] / whole
        path[1, k] = loss[k] / whole
        spread = squared_loss[k] / whole - path[1, k] * path[1, k]
        path[2, k] = np.sqrt(max(spread, 0.0) / (whole / unit[n_trees - 1]))
        path[3, k] = float(leaves[k])
    return (
        starts, kept.threshold, kept.attribute, kept.first_child, kept.n_children, kept.missing,
        kept.label, kept.stats, kept.spread, arenas.branches, arenas.term_start,
        arenas.term_attribute, arenas.term_weight, arenas.used, path, step,
    )  # fmt: skip
