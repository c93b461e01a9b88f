"""Growing a Newton tree over binned features: :mod:`orfeon.kernels.histogram.grow` with other sums.

Only the steps that know what a word holds are replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orfeon.kernels.cart.search import NO_SPLIT, next_candidate
from orfeon.kernels.gradient.interactions import clear_words, extend_paths
from orfeon.kernels.gradient.newton_scores import (
    best_value,
    least_score,
    own_score,
    score_at,
    write_bounds,
)
from orfeon.kernels.histogram import grow as plain
from orfeon.kernels.histogram import nodes, parts
from orfeon.kernels.histogram.grow import sum_left, threshold_of
from orfeon.kernels.histogram.newton_splits import (
    SHIFT,
    NewtonSearch,
    best_score,
    describe_open,
    hessian_of,
    is_better,
    locate_split,
    moment_in,
)
from orfeon.kernels.histogram.nodes import (
    BEGIN,
    CUT,
    DEPTH,
    END,
    FEATURE,
    FOLLOWING,
    MISSING,
    NODE,
    SLOT,
    free_slot,
    mark_bins,
)
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step, inlined, kernel, large_kernel, with_step


@record
class NewtonTree:
    threshold: Any
    feature: Any
    first_child: Any
    n_children: Any
    missing: Any
    cut: Any  # int64 (n, 2): last bin on the left, first bin on the right
    sides: Any  # uint8 (n, 256): whether each bin of a categorical feature goes left
    stats: Any  # int64 (n, 2): word, and weight if leaves are limited
    segment: Any  # int64 (n, 2): begin and end of the rows
    bounds: Any  # of the values of the node and of all below
    gain: Any  # of each split
    paths: Any  # features above each node, a bit each
    weight: Any  # int64; of each leaf


@kernel
def code_derivatives(gradients, hessians, weights, moment_scale, hessian_scale, is_exact, is_wide,
                     begin, end, values, rows):  # fmt: skip
    """Code some rows as words, and weights in a second plane; list them; their sums."""
    n_rows = np.uint64(gradients.shape[0])
    total = np.int64(0)
    second = np.int64(0)
    for i in range(begin, end):
        row = np.uint64(i)
        rows[row] = i
        w = np.int64(weights[row])
        word = np.int64(0)
        if w > 0 and is_exact:  # a weight of two equals the row twice, to the bit
            hessian = np.int64(max(np.rint(hessians[row] * hessian_scale), 1.0))
            word = w * ((hessian << SHIFT) + np.int64(np.rint(gradients[row] * moment_scale)))
        elif w > 0:
            hessian = np.int64(max(np.rint(hessians[row] * hessian_scale * float(w)), 1.0))
            word = (hessian << SHIFT) + np.int64(np.rint(gradients[row] * moment_scale * float(w)))
        values[row] = word
        total += word
        if is_wide:
            values[n_rows + row] = w
            second += w
    return total, second


@array_step
def may_split(tree, limits, search, targets, rows, node, depth):
    n_rows = tree.segment[node, 1] - tree.segment[node, 0]
    if n_rows < 2 or depth >= limits.max_depth:
        return False
    if search.is_wide:
        weight = tree.stats[node, 1]
        if weight < search.min_split or weight < 2 * search.min_leaf:
            return False
    return hessian_of(search, tree.stats[node, 0]) >= 2 * search.min_hessian


@array_step
def make_leaf(tree, node, begin, end):
    nodes.make_leaf(tree, node, begin, end)
    tree.gain[node] = 0.0


@inlined
def scores_on_demand(limits, n):
    """Whether features are scored when they are drawn, and not before."""
    return limits.max_features < n


@array_step
def choose_feature(bins, limits, search, work, side, least):
    n = work.candidates.shape[0]
    is_lazy = scores_on_demand(limits, n)
    start = work.job[side, 4] * search.length * (1 + search.is_wide)
    best = least
    chosen = np.int64(NO_SPLIT)
    seen = 0
    for j in range(n):
        f = next_candidate(work.candidates, work.random, j, n)
        score = best_score(bins, search, side, start, f) if is_lazy else work.scores[side, f]
        if score != score:  # constant
            continue
        if is_better(score, best):
            best = score
            chosen = f
        seen += 1
        if seen >= limits.max_features and chosen != NO_SPLIT:
            break
    return chosen, best


@array_step
def choose_split(bins, limits, search, work, tree, targets, side, waiting):
    """Choose the split of a node under search and add the node to the frontier if it has one."""
    node = work.job[side, 0]
    slot = work.job[side, 4]
    start = slot * search.length * (1 + search.is_wide)
    hessian = float(hessian_of(search, tree.stats[node, 0]))
    moment = float(moment_in(tree.stats[node, 0]))
    low = tree.bounds[node, 0]
    high = tree.bounds[node, 1]
    least = least_score(search, moment, hessian, low, high)
    f, best = choose_feature(bins, limits, search, work, side, least)
    if f == NO_SPLIT:
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
    work.gain[waiting] = best - own_score(search, moment, hessian, low, high)
    work.threshold[waiting] = threshold_of(bins, f, work.choice[1], work.choice[2])
    return waiting + 1


write_test = array_step(with_step(nodes.write_test, "write_newton_test", weight_of=hessian_of))


@array_step
def value_of(search, tree, node, parent):
    word = tree.stats[node, 0]
    return best_value(
        search, float(moment_in(word)), float(hessian_of(search, word)), tree.bounds[parent, 0],
        tree.bounds[parent, 1],
    )  # fmt: skip


@array_step
def score_of_value(search, tree, node, value):
    word = tree.stats[node, 0]
    return score_at(search, float(moment_in(word)), float(hessian_of(search, word)), value)


@inlined
def split_node(bins, search, work, tree, residuals, entry, threshold, n_nodes):
    """Write the test of a waiting node, partition its rows and make its two children."""
    node = entry[NODE]
    write_test(bins, search, work, tree, entry, threshold, n_nodes)
    begin = entry[BEGIN]
    end = entry[END]
    middle = partition(bins, search, work, tree, residuals, entry[FEATURE], begin, end)
    make_leaf(tree, n_nodes, begin, middle)
    make_leaf(tree, n_nodes + 1, middle, end)
    left = value_of(search, tree, n_nodes, node)
    right = value_of(search, tree, n_nodes + 1, node)
    own = own_score(
        search, float(moment_in(tree.stats[node, 0])),
        float(hessian_of(search, tree.stats[node, 0])), tree.bounds[node, 0], tree.bounds[node, 1],
    )  # fmt: skip
    split = score_of_value(search, tree, n_nodes, left)
    split += score_of_value(search, tree, n_nodes + 1, right)
    tree.gain[node] = split - own
    write_bounds(search, tree.bounds, node, n_nodes, search.signs[entry[FEATURE]], left, right)
    if search.interactions:
        extend_paths(tree.paths, node, n_nodes, entry[FEATURE])


@array_step
def describe_leaf(search, work, tree, node, residuals):
    """Write the leaf of each row, and the weight of the leaf."""
    weight = np.int64(0)
    for i in range(tree.segment[node, 0], tree.segment[node, 1]):
        row = np.uint64(work.rows[np.uint64(i)])
        residuals.leaf_of_row[row] = node
        weight += residuals.weights[row]
    tree.weight[node] = weight


@array_step
def describe_inner(search, tree, n_nodes):
    """Inner nodes need nothing more."""


# -- the steps that call those above ---------------------------------------------------------------

search_block = array_step(
    with_step(parts.search_block, "search_newton_block", best_score=best_score)
)
do_part = array_step(
    with_step(
        parts.do_part, "do_newton_part", search_block=search_block, describe_leaf=describe_leaf
    )
)
share = array_step(with_step(parts.share, "share_newton", do_part=do_part))
share_rows = array_step(with_step(parts.share_rows, "share_newton_rows", share=share))
partition = array_step(with_step(parts.partition, "partition_newton", share_rows=share_rows))
share_leaves = array_step(
    with_step(parts.share_leaves, "share_newton_leaves", share=share, share_rows=share_rows)
)
help_search = array_step(with_step(parts.help_search, "help_newton", do_part=do_part))
search_nodes = inlined(
    with_step(plain.search_nodes, "search_newton_nodes", share=share, share_rows=share_rows)
)
_opening: dict[str, Callable[..., Any]] = {
    "may_split": may_split, "describe_open": describe_open, "make_leaf": make_leaf,
}  # fmt: skip
open_children = array_step(with_step(nodes.open_children, "open_newton_children", **_opening))
open_root_plain = array_step(with_step(nodes.open_root, "open_newton_root", **_opening))


@array_step
def open_root(limits, search, work, tree, residuals):
    tree.bounds[0, 0] = -np.inf
    tree.bounds[0, 1] = np.inf
    clear_words(tree.paths[0])
    return open_root_plain(limits, search, work, tree, residuals)


grow_open = inlined(
    with_step(
        plain.grow_open, "grow_newton_open", search_nodes=search_nodes, choose_split=choose_split,
        split_node=split_node, open_children=open_children,
    )
)  # fmt: skip
grow = array_step(
    with_step(
        plain.grow, "grow_newton", open_root=open_root, grow_open=grow_open,
        share_leaves=share_leaves, describe_inner=describe_inner,
    )
)  # fmt: skip
grow_tree = large_kernel(
    with_step(
        plain.grow_tree, "grow_newton_tree", grow=grow, help_search=help_search,
        Search=NewtonSearch, Tree=NewtonTree,
    )
)  # fmt: skip
