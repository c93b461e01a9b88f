"""Trees pruned by cost-complexity, with the price of a leaf chosen by cross-validation.

For every tree kept, one more is grown per fold from the same presorted table. Folds keep copies of
a sample together (*groups*); otherwise trees would be tested on samples they were grown from and
would hardly be pruned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.grow import STOP, grow_open, node_weight, open_root
from orfeon.kernels.cart.grow_batch import (
    Block,
    append_nodes,
    begin_tree,
    copy_nodes,
    enlarge,
    grow_open_sorting,
    keep_only,
    list_candidates,
    make_arenas,
    make_nodes,
    make_options,
    make_work,
    pack,
    results,
    row_of,
    sample_of,
)
from orfeon.kernels.cart.prune import weakest_links
from orfeon.kernels.cart.records import Columns
from orfeon.kernels.record import record
from orfeon.kernels.rng import random_below
from orfeon.kernels.routing.route import branch_of
from orfeon.utils.jit import kernel, large_kernel, step, with_step

#: Whether a single leaf may be chosen, is not chosen, or does not belong to the path.
LEAF_ALLOWED, LEAF_AVOIDED, PATH_ENDS_WITH_A_SPLIT = 0, 1, 2


@record
class Choice:
    """Scratch for choosing the price of a leaf."""

    is_categorical: Any
    fold: Any  # of each row
    cost: Any  # of each node as a leaf
    node_alpha: Any  # of the fold's tree, relative to its weight
    main_alpha: Any  # of the tree grown on all samples
    alphas: Any  # its breakpoints
    risks: Any
    leaves: Any  # at its breakpoints
    prices: Any  # between its breakpoints, relative to its weight
    loss: Any  # summed over the folds, for each price
    squared_loss: Any
    fold_alphas: Any
    fold_leaves: Any
    n_main: Any
    n_steps: Any
    total_weight: Any  # of all samples


@step
def assign_folds(group, labels, weights, n_classes, n_folds, random, fold):
    """Deal the present groups to folds at random, class by class; returns the number of folds."""
    # Groups are numbered by content, so the order of the rows does not matter.
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
    """Cost of each node as a leaf: the weight it gets wrong, or its sum of squares."""
    for node in range(n_nodes):
        if options.criterion == VARIANCE:
            cost[node] = nodes.spread[node]
        else:
            weight = node_weight(options, nodes.stats[node])
            cost[node] = float(weight - nodes.stats[node, nodes.label[node]])


@step
def add_fold_losses(options, sample, nodes, arenas, choice, X, weights, v, mean_unit):
    """Add the losses on fold ``v`` of its tree pruned at each price."""
    # The pruned tree predicts with the first node on the path that is cut at the price. Prices are
    # visited from the highest, so each row walks its path once.
    loss = choice.loss
    squared_loss = choice.squared_loss
    for i in range(X.shape[0]):
        if weights[i] == 0 or choice.fold[i] != v:
            continue
        w = float(weights[i])
        node = np.int64(0)
        for k in range(choice.n_steps - 1, -1, -1):
            while nodes.n_children[node] > 0 and choice.node_alpha[node] > choice.prices[k]:
                branch = branch_of(
                    node, X, i, nodes.feature, nodes.threshold, nodes.missing,
                    choice.is_categorical, arenas.branches, arenas.term_start,
                    arenas.term_feature, arenas.term_weight,
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
def choose_step(choice, n_samples, one_standard_error, keep_a_split):
    """The step of least mean loss, or the smallest tree within one standard error of it."""
    loss = choice.loss
    last = choice.n_steps - 1
    if keep_a_split != LEAF_ALLOWED and last > 0 and choice.leaves[last] == 1:
        last -= 1
    best = last
    for k in range(last, -1, -1):
        if loss[k] < loss[best]:
            best = k
    if not one_standard_error:
        return best
    mean = loss[best] / choice.total_weight
    spread = choice.squared_loss[best] / choice.total_weight - mean * mean
    allowed = (mean + np.sqrt(max(spread, 0.0) / n_samples)) * choice.total_weight
    for k in range(last, best, -1):
        if loss[k] <= allowed * (1.0 + 1e-12):
            return k
    return best


@step
def begin_path(options, choice, nodes, n_nodes, main, keep_a_split):
    """Keep the tree grown on all samples, its breakpoints, and the prices between them."""
    copy_nodes(main, np.int64(0), nodes, n_nodes)
    leaf_costs(options, nodes, n_nodes, choice.cost)
    choice.n_main = n_nodes
    choice.total_weight = float(node_weight(options, nodes.stats[0]))
    alphas = choice.alphas
    n_steps = weakest_links(
        main.first_child, main.n_children, choice.cost, n_nodes, choice.main_alpha, alphas,
        choice.risks, choice.leaves,
    )  # fmt: skip
    choice.n_steps = n_steps
    for k in range(n_steps):
        choice.loss[k] = 0.0
        choice.squared_loss[k] = 0.0
        following = alphas[k + 1] if k + 1 < n_steps else np.inf
        choice.prices[k] = np.sqrt(alphas[k] * following) / choice.total_weight if k > 0 else 0.0
    last = n_steps - 2
    if keep_a_split == PATH_ENDS_WITH_A_SPLIT and last > 0 and choice.leaves[last + 1] == 1:
        # Without the single leaf no breakpoint follows the last one.
        choice.prices[last] = alphas[last] / choice.total_weight


@step
def test_fold(options, sample, nodes, n_nodes, arenas, choice, X, weights, v, mean_unit):
    """Prune the tree that did not see fold ``v`` at every price, and test it on the fold."""
    leaf_costs(options, nodes, n_nodes, choice.cost)
    weakest_links(
        nodes.first_child, nodes.n_children, choice.cost, n_nodes, choice.node_alpha,
        choice.fold_alphas, choice.risks, choice.fold_leaves,
    )  # fmt: skip
    total = float(node_weight(options, nodes.stats[0]))
    for node in range(n_nodes):
        choice.node_alpha[node] /= total
    add_fold_losses(options, sample, nodes, arenas, choice, X, weights, v, mean_unit)


@step
def summarise(choice, n_samples):
    """Breakpoints relative to the weight, mean losses, their standard errors, leaves."""
    path = np.empty((4, choice.n_steps))
    for k in range(choice.n_steps):
        mean = choice.loss[k] / choice.total_weight
        spread = choice.squared_loss[k] / choice.total_weight - mean * mean
        path[0, k] = choice.alphas[k] / choice.total_weight
        path[1, k] = mean
        path[2, k] = np.sqrt(max(spread, 0.0) / n_samples)
        path[3, k] = float(choice.leaves[k])
    return path


@step
def make_choice(columns, max_nodes):
    n_rows = columns.n_rows
    is_categorical = np.empty(columns.kind.shape[0], np.bool_)
    for f in range(columns.kind.shape[0]):
        is_categorical[f] = columns.kind[f] == CATEGORICAL
    return Choice(
        is_categorical, np.zeros(n_rows, np.int64), np.empty(max_nodes), np.empty(max_nodes),
        np.empty(max_nodes), np.empty(max_nodes + 1), np.empty(max_nodes + 1),
        np.empty(max_nodes + 1, np.int64), np.empty(max_nodes + 1), np.empty(max_nodes + 1),
        np.empty(max_nodes + 1), np.empty(max_nodes + 1), np.empty(max_nodes + 1, np.int64),
        np.int64(0), np.int64(0), 1.0,
    )  # fmt: skip


@kernel
def grow_cross_validated(records, ranks, segment, kind, n_values, value_start, values, shift, mask,
                         n_rows, settings, labels, weights, moments, targets, limits, min_decrease,
                         seeds, candidates, table, X, group, folds, one_standard_error,
                         keep_a_split, mean_unit, unit):  # fmt: skip
    """Grow and prune ``len(seeds)`` trees."""
    # Also returns, for the last tree, the summary of its choice and the step taken.
    columns = Columns(
        records, ranks, segment, kind, n_values, value_start, values, shift, mask, n_rows
    )
    block = Block(labels, weights, moments, targets, limits, min_decrease, seeds, candidates)
    options = make_options(settings)
    n_trees = seeds.shape[0]
    regression = targets.shape[1] > 0
    n_candidates = candidates.shape[1]
    max_nodes = 2 * min(n_rows, options.max_leaves) + 1
    work = make_work(columns, options, n_candidates, table, max_nodes)
    nodes = make_nodes(max_nodes, options.n_stats, regression)
    main = make_nodes(max_nodes, options.n_stats, regression)
    kept = make_nodes(np.int64(1024), options.n_stats, regression)
    arenas = make_arenas(np.int64(0), np.int64(0), np.int64(0))
    choice = make_choice(columns, max_nodes)
    before = np.zeros(4, np.int64)
    packed = np.empty(n_rows, np.uint64)
    fold_weights = np.empty(n_rows, np.int64)
    place = np.empty(max_nodes, np.int64)
    starts = np.zeros(n_trees + 1, np.int64)
    taken = np.int64(0)
    for t in range(n_trees):
        if settings[STOP]:
            break
        begin_tree(block, options, work, t)
        own_weights = weights[row_of(weights, t)]
        sample = sample_of(block, t, fold_weights, packed)
        n_classes = np.int64(0) if regression else options.n_stats
        n_folds = assign_folds(
            group, sample.labels, own_weights, n_classes, folds, work.random, choice.fold
        )
        # The first tree sees every fold; the others each leave one out.
        for v in range(-1, n_folds if n_folds > 1 else 0):
            if v >= 0 and (choice.n_steps == 1 or settings[STOP]):
                break
            for i in range(n_rows):
                fold_weights[i] = own_weights[i] if choice.fold[i] != v else 0
            pack(options, sample.labels, fold_weights, packed)
            for k in range(4):
                before[k] = arenas.used[k]
            state = work.random[0]
            while True:
                work.random[0] = state
                list_candidates(block, work, t)
                n_open = open_root(columns, sample, options, work, nodes, n_candidates)
                n_nodes = grow_open(
                    columns, sample, options, work, arenas, nodes, np.int64(1), n_open,
                    np.int64(1), n_candidates,
                )  # fmt: skip
                if not arenas.used[3] or settings[STOP]:
                    break
                arenas = enlarge(arenas, before, work, options)
            if v < 0:
                begin_path(options, choice, nodes, n_nodes, main, keep_a_split)
                continue
            test_fold(
                options, sample, nodes, n_nodes, arenas, choice, X, own_weights, v, mean_unit[t]
            )
            for k in range(3):
                arenas.used[k] = before[k]  # the fold's tree is not kept
        taken = np.int64(0)
        if n_folds > 1:
            n_samples = choice.total_weight / unit[t]
            taken = choose_step(choice, n_samples, one_standard_error, keep_a_split)
        cut = choice.main_alpha <= choice.alphas[taken]
        left = keep_only(main, choice.n_main, cut, place)
        kept = append_nodes(kept, starts[t], main, left, n_trees - 1 - t)
        starts[t + 1] = starts[t] + left
    path = summarise(choice, choice.total_weight / unit[n_trees - 1])
    return results(starts, kept, arenas), path, taken


grow_cross_validated_sorting = large_kernel(
    with_step(grow_cross_validated, "grow_cross_validated_sorting", grow_open=grow_open_sorting)
)
