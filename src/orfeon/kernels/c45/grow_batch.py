"""Growing and pruning a block of C4.5 trees in one call without the GIL."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orfeon.kernels.c45.gain_ratio import NO_TEST, choose_test
from orfeon.kernels.c45.grow import grow_tree, make_tree, make_work, middle_rank, start_tree
from orfeon.kernels.c45.information import GRAINS, TINY, rounded
from orfeon.kernels.c45.prune import collapse, make_pruning_work, prune_tree
from orfeon.kernels.c45.records import CATEGORY, FINISHED, SAMPLE, SUMS, TEST, Search
from orfeon.kernels.rng import seed_state
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import array_step, inlined, kernel, step

#: Scale of the parent's class weights in a leaf without samples: negligible, but in proportion.
EMPTY_SCALE = 2.0**-200


class PruningOptions(NamedTuple):
    collapse: bool  # subtrees that make as many training errors as a leaf
    prune: bool
    raising: bool


class Kept(NamedTuple):
    nodes: Any  # of FINISHED
    value: Any
    branches: Any


@step
def make_search(columns, rules, n_candidates, widest, table):
    return Search(
        np.zeros(columns.n_rows, SAMPLE),
        np.zeros(columns.features.shape[0], TEST),
        np.empty(rules.n_classes, SUMS),
        np.empty(widest + 1, CATEGORY),
        np.zeros((widest + 1, rules.n_classes)),
        np.empty((columns.features.shape[0] if rules.grouping else 0, widest), np.uint16),
        np.empty(rules.n_classes),
        np.empty(n_candidates, np.int64),
        table,
        np.empty(1, np.uint64),
    )


@step
def make_kept(n_nodes, n_branches, n_classes):
    return Kept(
        np.empty(n_nodes, FINISHED),
        np.empty((n_nodes, n_classes)),
        np.empty(n_branches, np.uint16),
    )


@step
def enlarge_kept(kept, n_kept, n_table, tree):
    n_nodes = n_kept + tree.used[0]
    n_branches = n_table + tree.used[1]
    if n_nodes <= kept.nodes.shape[0] and n_branches <= kept.branches.shape[0]:
        return kept
    larger = make_kept(
        max(2 * kept.nodes.shape[0], n_nodes),
        max(2 * kept.branches.shape[0], n_branches),
        kept.value.shape[1],
    )
    for i in range(n_kept):
        larger.nodes[i] = kept.nodes[i]
        for c in range(kept.value.shape[1]):
            larger.value[i, c] = kept.value[i, c]
    for i in range(n_table):
        larger.branches[i] = kept.branches[i]
    return larger


@array_step
def value_at_most(columns, f, rank, weights):
    """The greatest value of rank at most ``rank`` among the rows of positive weight."""
    records = columns.records
    first = columns.features[f]["segment"] * columns.n_rows
    last = first + columns.n_rows
    while last - first > 1:
        between = (first + last) // 2
        if np.int64(records[between] >> columns.shift) <= rank:
            first = between
        else:
            last = between
    while weights[records[first] & columns.mask] <= 0.0:
        first -= 1
    found = np.int64(records[first] >> columns.shift)
    # Adding zero turns negative zero into zero.
    return columns.values[columns.features[f]["value_start"] + found] + 0.0


@array_step
def majority(value, at, parent_label):
    """The heaviest class; a tie takes the parent's label if tied, else the first class."""
    best = np.int64(0)
    total = 0.0
    for c in range(value.shape[1]):
        total += value[at, c]
        if value[at, c] > value[at, best]:
            best = np.int64(c)
    least = value[at, best] - TINY * total
    if parent_label >= 0 and value[at, parent_label] >= least:
        return parent_label
    for c in range(best):
        if value[at, c] >= least:
            return np.int64(c)
    return best


@array_step
def describe(kept, to, parent, value, at, unit):
    """Class weights and label of a node; one without samples takes its parent's."""
    n_classes = value.shape[1]
    total = 0.0
    for c in range(n_classes):
        kept.value[to, c] = value[at, c] * unit
        total += value[at, c]
    label = np.int64(-1)
    if parent >= 0:
        label = np.int64(kept.nodes[parent]["label"])
        if total == 0.0:
            for c in range(n_classes):
                kept.value[to, c] = kept.value[parent, c] * EMPTY_SCALE
    kept.nodes[to]["label"] = majority(kept.value, to, label)


@array_step
def keep_tree(columns, weights, tree, kept, base, n_table, unit):
    """Write the nodes that pruning left, parents first; returns the nodes and branches written."""
    # ``waiting`` lists the tree's node at each place; ``parent`` becomes the place of its parent.
    nodes = tree.nodes
    nodes[0]["waiting"] = 0
    nodes[0]["parent"] = -1 - base
    n_queued = np.int64(1)
    done = np.int64(0)
    while done < n_queued:
        at = nodes[done]["waiting"]
        f = nodes[at]["feature"]
        width = nodes[at]["n_children"]
        to = base + done
        describe(kept, to, base + nodes[at]["parent"], tree.value, at, unit)
        kept.nodes[to]["n_children"] = width
        kept.nodes[to]["feature"] = f if width > 0 else 0
        kept.nodes[to]["first_child"] = n_queued if width > 0 else done
        kept.nodes[to]["missing"] = ALL_BRANCHES if width > 0 else 0
        threshold = np.inf
        if width > 0 and columns.features[f]["segment"] < 0:
            threshold = float(n_table)
            for v in range(columns.features[f]["n_values"]):
                kept.branches[n_table] = tree.branches[nodes[at]["cut"] + v]
                n_table += 1
        elif width > 0:
            threshold = value_at_most(columns, f, nodes[at]["cut"], weights)
        kept.nodes[to]["threshold"] = threshold
        for child in range(nodes[at]["first_child"], nodes[at]["first_child"] + width):
            nodes[child]["parent"] = done
            nodes[n_queued]["waiting"] = child
            n_queued += 1
        done += 1
    return n_queued, n_table


@array_step
def load_sample(search, work, labels, weights, unit, max_count):
    """Load a tree's samples into ``search`` and ``work``; returns whether weights are counts."""
    samples = search.samples
    total = 0.0
    counted = True
    for i in range(labels.shape[0]):
        w = rounded(weights[i] / unit)
        if w == 0.0 and weights[i] > 0.0:
            w = 1.0 / GRAINS  # too small to load_weights, but present
        work.weights[i] = w
        samples[i]["label"] = labels[i]
        total += w
        counted &= w == np.floor(w)
    if not counted or total > max_count:
        return False
    for i in range(labels.shape[0]):
        n = np.uint64(work.weights[i])
        samples[i]["packed"] = (n << np.uint64(32)) | (n * np.uint64(labels[i] == 1))
    return True


@array_step
def has_missing(columns, candidates):
    for k in range(candidates.shape[0]):
        if columns.features[candidates[k]]["has_missing"]:
            return True
    return False


@inlined
def widest_test(columns):
    """The most branches a test may have: one more than there are categories."""
    widest = np.int64(2)
    for f in range(columns.features.shape[0]):
        if columns.features[f]["segment"] < 0:
            widest = max(widest, columns.features[f]["n_values"] + 1)
    return widest


@kernel
def grow_c45_block(columns, rules, options, limit, labels, weights, units, seeds, candidates,
                   table):  # fmt: skip
    """Grow ``len(seeds)`` trees; returns their starts, nodes and the size of the branch tables."""
    # The arrays from ``labels`` on have one row per tree or one for all; a unit weighs one sample.
    n_trees = seeds.shape[0]
    n_rows = columns.n_rows
    widest = widest_test(columns)
    search = make_search(columns, rules, candidates.shape[1], widest, table)
    work = make_work(columns, n_rows, widest)
    tree = make_tree(2 * n_rows + 2 * widest, 16 * widest, rules.n_classes)
    pruning = make_pruning_work(tree.nodes.shape[0], n_rows, rules.n_classes, widest)
    kept = make_kept(np.int64(256), np.int64(16), rules.n_classes)
    starts = np.zeros(n_trees + 1, np.int64)
    n_table = np.int64(0)
    for t in range(n_trees):
        if rules.stop[0]:
            break
        unit = units[t if units.shape[0] > 1 else 0]
        for k in range(candidates.shape[1]):
            search.candidates[k] = candidates[t if candidates.shape[0] > 1 else 0, k]
        seed_state(search.random, seeds[t])
        fractional = has_missing(columns, search.candidates)
        counted = load_sample(
            search, work, labels[t if labels.shape[0] > 1 else 0],
            weights[t if weights.shape[0] > 1 else 0], unit, table.shape[0] - 1,
        )  # fmt: skip
        tree, work = grow_tree(columns, rules, search, work, tree, counted, fractional, widest)
        if tree.nodes.shape[0] > pruning.nodes.shape[0]:
            pruning = make_pruning_work(tree.nodes.shape[0], n_rows, rules.n_classes, widest)
        if options.collapse:
            collapse(tree, pruning)
        if options.prune:
            pruning = prune_tree(
                columns,
                rules,
                tree,
                pruning,
                search,
                work.weights,
                limit,
                options.raising,
                fractional,
            )
        kept = enlarge_kept(kept, starts[t], n_table, tree)
        n_kept, n_table = keep_tree(columns, work.weights, tree, kept, starts[t], n_table, unit)
        starts[t + 1] = starts[t] + n_kept
    return starts, kept, n_table


@kernel
def evaluate_root(columns, rules, labels, weights, unit, table, thresholds):
    """Evaluate all features at the root, fill ``thresholds``; returns the tests and the choice."""
    n_features = columns.features.shape[0]
    widest = widest_test(columns)
    search = make_search(columns, rules, n_features, widest, table)
    work = make_work(columns, columns.n_rows, widest)
    tree = make_tree(np.int64(1), np.int64(1), rules.n_classes)
    for f in range(n_features):
        search.candidates[f] = f
    counted = load_sample(search, work, labels, weights, unit, table.shape[0] - 1)
    many_values = start_tree(columns, rules, search, work, tree, counted)
    if tree.used[2] == 0:
        return search.tests, np.int64(NO_TEST)
    weight = 0.0
    for c in range(rules.n_classes):
        weight += tree.value[0, c]
    chosen = choose_test(
        columns, rules, search, work.segments, work.portions.shape[0], work.portions, np.int64(0),
        tree.nodes[0]["end"], tree.value[0], weight, counted, np.int64(1), many_values,
    )  # fmt: skip
    for f in range(n_features):
        segment = columns.features[f]["segment"]
        if segment >= 0 and search.tests[f]["info"] > 0.0:
            at = segment * work.portions.shape[0] + search.tests[f]["cut"]
            low = np.int64(work.segments[at] >> columns.shift)
            high = np.int64(work.segments[at + 1] >> columns.shift)
            rank = middle_rank(columns, f, low, high)
            thresholds[f] = value_at_most(columns, f, rank, work.weights)
    return search.tests, chosen
