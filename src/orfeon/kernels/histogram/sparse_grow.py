"""Growing a Newton tree over sparse bins: :mod:`orfeon.kernels.histogram.newton_grow` by values.

The bin of zero is empty in a histogram, so that adding a row writes its values alone. It is the
node less the values of a feature, whose sums follow the bins; it is filled in while the feature is
searched. The trees are those of the dense bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.kernels.gradient.interactions import has_feature
from orfeon.kernels.gradient.newton_scores import NOT_ALLOWED
from orfeon.kernels.histogram import grow as plain
from orfeon.kernels.histogram import leaves, newton_grow
from orfeon.kernels.histogram.newton_grow import describe_leaf
from orfeon.kernels.histogram.newton_splits import CONSTANT, hessian_of, moment_in
from orfeon.kernels.histogram.newton_splits import best_score as dense_score
from orfeon.kernels.histogram.newton_splits import locate_split as locate_dense
from orfeon.kernels.histogram.nodes import FROM_PARENT, FROM_ROWS
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step, inlined, large_kernel, loop_step, with_step

#: Features of up to so many bins are searched bin by bin, without running sums in an array.
FEW_BINS = 16


@record
class SparseBins:
    """As ``Bins``, with the values of the rows instead of all codes."""

    offset: Any
    n_bins: Any
    is_categorical: Any
    low: Any
    high: Any
    n_rows: int
    starts: Any  # int64; where the values of each row begin
    places: Any  # uint32; in a histogram, of each value, row after row
    features: Any  # uint32; of each value
    zero_bin: Any  # int64; the bin of zero in each feature


@loop_step
def clear(histograms, begin, end):
    for i in range(begin, end):
        histograms[np.uint64(i)] = 0


@loop_step
def add_stored(starts, places, features, rows, values, at, begin, end, factor, histograms, to,
               sums):  # fmt: skip
    """Add the values of some rows to their bins, and to the sums of their features."""
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        value = factor * values[at + row]
        for k in range(starts[row], starts[row + np.uint64(1)]):
            histograms[to + np.uint64(places[np.uint64(k)])] += value
            histograms[sums + np.uint64(features[np.uint64(k)])] += value


@array_step
def add_rows(bins, search, work, begin, end, factor, slot):
    start = slot * search.length * (1 + search.is_wide)
    for plane in range(1 + search.is_wide):
        to = start + plane * search.length
        add_stored(
            bins.starts, bins.places, bins.features, work.rows, work.values,
            np.uint64(plane * bins.n_rows), begin, end, np.int64(factor), search.histograms,
            np.uint64(to), np.uint64(sums_at(bins, to)),
        )  # fmt: skip


@inlined
def sums_at(bins, start):
    """Where the sums of the features begin, after the bins of a plane."""
    return start + np.int64(bins.offset[bins.n_bins.shape[0]])


@array_step
def fill_zero(bins, search, side, start, f):
    """Fill in the bin of zero."""
    for plane in range(1 + search.is_wide):
        at = start + plane * search.length
        zeros = search.total[side, plane] - search.histograms[sums_at(bins, at) + f]
        search.histograms[at + np.int64(bins.offset[f]) + bins.zero_bin[f]] += zeros


@array_step
def empty_zero(bins, search, start, f):
    """Empty it again: a feature has the rows of the node, and the sum is of its values."""
    for plane in range(1 + search.is_wide):
        at = start + plane * search.length
        first = at + np.int64(bins.offset[f])
        zeros = -search.histograms[sums_at(bins, at) + f]
        for b in range(bins.n_bins[f] + 1):
            zeros += search.histograms[first + b]
        search.histograms[first + bins.zero_bin[f]] -= zeros


@array_step
def cannot_split(search, inside, weight):
    """Whether the values other than zero are too few for a leaf: each cut leaves some of them."""
    if hessian_of(search, inside) < search.min_hessian:
        return True
    return search.is_wide and weight < search.min_leaf


@array_step
def best_of_few(search, side, first, n, zero_bin, word_of_zero, weight_of_zero):
    """``best_plain`` or ``best_counted`` of a feature of few bins, some of whose rows are zero."""
    plane = search.length
    total = search.total[side, 0]
    weight = search.total[side, 1] if search.is_wide else np.int64(0)
    hessian = float(hessian_of(search, total))
    moment = float(moment_in(total))
    least = float(search.min_hessian)
    most = hessian - least
    missing = search.histograms[first + n]
    top = NOT_ALLOWED
    for side_of_missing in range(2 if missing != 0 else 1):
        running = np.int64(0)
        held = np.int64(0)
        if side_of_missing == 1:
            running = missing
            if search.is_wide:
                held = search.histograms[first + n + plane]
        for b in range(n):
            word = search.histograms[first + b]
            if b == zero_bin:
                word = word_of_zero
            if word == 0 and b > 0:  # the cut before it
                continue
            running += word
            if search.is_wide:
                held += weight_of_zero if b == zero_bin else search.histograms[first + b + plane]
                if held < search.min_leaf or weight - held < search.min_leaf:
                    continue
            on_left = float(hessian_of(search, running))
            if on_left < least or on_left > most:
                continue
            moment_left = float(moment_in(running))
            moment_right = moment - moment_left
            left = on_left + search.l2
            right = hessian - on_left + search.l2
            crossed = moment_left * moment_left * right + moment_right * moment_right * left
            top = max(top, crossed / (left * right))
    return top


@array_step
def best_score(bins, search, side, start, f):
    """Score of a feature; without its bins, where the sum of its values tells."""
    at = sums_at(bins, start) + f
    inside = search.histograms[at]
    if inside == 0 or not has_feature(search.allowed[side], f):
        return CONSTANT
    total = search.total[side, 0]
    if inside != total:  # otherwise there are no zeros
        weight = search.histograms[at + search.length] if search.is_wide else np.int64(0)
        if cannot_split(search, inside, weight):
            return NOT_ALLOWED
        if search.is_plain and bins.n_bins[f] <= FEW_BINS:
            return best_of_few(
                search, side, start + np.int64(bins.offset[f]), bins.n_bins[f], bins.zero_bin[f],
                total - inside, search.total[side, 1] - weight,
            )  # fmt: skip
    fill_zero(bins, search, side, start, f)
    score = dense_score(bins, search, side, start, f)
    empty_zero(bins, search, start, f)
    return score


@array_step
def locate_split(bins, search, side, start, f, best, sides, choice):
    """The bin of zero stays filled for ``sum_left``, which is next."""
    fill_zero(bins, search, side, start, f)
    locate_dense(bins, search, side, start, f, best, sides, choice)


_sum_dense = plain.sum_left


@inlined
def sum_left(bins, search, start, f, goes_left, entry):
    _sum_dense(bins, search, start, f, goes_left, entry)
    empty_zero(bins, search, start, f)


@inlined
def search_nodes(bins, limits, search, work, tree, residuals):
    job = work.job
    size = search.length * (1 + search.is_wide)
    for side in range(2):
        if job[side, 5] == FROM_ROWS and job[side, 0] >= 0:
            clear(search.histograms, job[side, 4] * size, (job[side, 4] + 1) * size)
            add_rows(bins, search, work, job[side, 1], job[side, 2], np.int64(1), job[side, 4])
    for side in range(2):
        if job[side, 5] == FROM_PARENT:
            small = 1 - side
            add_rows(bins, search, work, job[small, 1], job[small, 2], np.int64(-1), job[side, 4])
    if scores_on_demand(limits, work.candidates.shape[0]):
        return
    for side in range(2):
        if job[side, 0] >= 0:
            for f in range(work.is_candidate.shape[0]):
                if work.is_candidate[f]:
                    work.scores[side, f] = best_score(
                        bins, search, np.int64(side), job[side, 4] * size, np.int64(f)
                    )


@inlined
def scores_on_demand(limits, n):
    """Reading the histogram in its order saves more than leaving a part of it out."""
    return 4 * limits.max_features < n


@array_step
def bin_of(bins, f, row):
    """Bin of a row in a feature."""
    first = np.int64(bins.offset[f])
    low = bins.starts[row]
    last = bins.starts[row + 1]
    size = last - low
    while size > 0:
        half = size >> 1
        below = np.int64(bins.places[np.uint64(low + half)]) < first
        low = low + half + 1 if below else low
        size = size - half - 1 if below else half
    if low < last and np.int64(bins.places[np.uint64(low)]) <= first + bins.n_bins[f]:
        return np.int64(bins.places[np.uint64(low)]) - first
    return bins.zero_bin[f]


@array_step
def partition(bins, search, work, tree, residuals, f, begin, end):
    """Move the rows that go left to the front, keeping their order; returns the boundary."""
    put = np.int64(begin)
    aside = np.int64(0)
    for i in range(begin, end):
        row = work.rows[i]
        if work.goes_left[bin_of(bins, f, np.int64(row))]:
            work.rows[put] = row
            put += 1
        else:
            work.spare_rows[aside] = row
            aside += 1
    for i in range(aside):
        work.rows[put + i] = work.spare_rows[i]
    return put


_route_row = array_step(with_step(leaves.route_row, "route_sparse_row", bin_of=bin_of))
route_rows = array_step(with_step(leaves.route_rows, "route_sparse_rows", route_row=_route_row))


@array_step
def share_leaves(bins, search, work, tree, residuals, n_nodes):
    """Describe all leaves, and find the leaf of each row that the tree was not grown from."""
    for node in range(n_nodes):
        if tree.n_children[node] == 0:
            describe_leaf(search, work, tree, np.int64(node), residuals)
    if residuals.n_present < bins.n_rows:
        route_rows(bins, tree, residuals, np.int64(0), np.int64(bins.n_rows))


_choose_feature = array_step(
    with_step(
        newton_grow.choose_feature, "choose_sparse_feature", best_score=best_score,
        scores_on_demand=scores_on_demand,
    )
)  # fmt: skip
_choose_split = array_step(
    with_step(
        newton_grow.choose_split, "choose_sparse_split", choose_feature=_choose_feature,
        locate_split=locate_split, sum_left=sum_left,
    )
)  # fmt: skip
_split_node = inlined(with_step(newton_grow.split_node, "split_sparse_node", partition=partition))
_grow_open = inlined(
    with_step(
        newton_grow.grow_open, "grow_sparse_open", search_nodes=search_nodes,
        choose_split=_choose_split, split_node=_split_node,
    )
)  # fmt: skip
_grow = array_step(
    with_step(
        newton_grow.grow, "grow_sparse", grow_open=_grow_open, share_leaves=share_leaves
    )
)  # fmt: skip


@array_step
def no_help(bins, search, work, tree, residuals, thread, n_idle):
    """Replaces ``help_search``: threads share no tree of sparse bins."""


#: ``newton_grow.grow_tree`` for sparse bins.
grow_sparse_tree = large_kernel(
    with_step(
        newton_grow.grow_tree, "grow_sparse_tree", grow=_grow, help_search=no_help, Bins=SparseBins
    )
)
