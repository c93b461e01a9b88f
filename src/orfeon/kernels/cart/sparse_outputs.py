"""Growing trees of several outputs from sparse columns: the trees of the dense table.

The zeros of a node are one block, as in :mod:`orfeon.kernels.cart.sparse_search`.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.grow import grow_open, open_root, search_node, split_node
from orfeon.kernels.cart.grow_batch import _grow_block, no_larger, no_table
from orfeon.kernels.cart.plain_search import visit_candidates
from orfeon.kernels.cart.random_cuts import random_threshold
from orfeon.kernels.cart.search import MISSING_LEFT, MISSING_RIGHT, NONE_MISSING, keep_cut
from orfeon.kernels.cart.several_outputs import (
    _NEARLY_TIED,
    add_outputs,
    describe_outputs,
    find_outputs,
    gain_is_score,
    judge_outputs,
    may_split_outputs,
    no_packing,
    purity_of_both,
    search_sorted_outputs,
    sum_outputs,
)
from orfeon.kernels.cart.sparse_batch import (
    load_present,
    make_sparse_work,
    no_segments,
    partition_sparse,
)
from orfeon.kernels.cart.sparse_search import FEWEST_MARKED, gather, mark_zeros, note_places
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined, kernel, with_step


@array_step
def begin_sparse(columns, work, begin, end, n_candidates):
    note_places(work.rows, begin, end, work.counts.near)
    if n_candidates >= FEWEST_MARKED:
        mark_zeros(
            columns.ranks, np.int64(columns.kind.shape[0]), columns.n_rows, work.rows, begin, end,
            work.counts.seen, work.counts.constant,
        )  # fmt: skip


@array_step
def known_records(columns, sample, options, work, first, m, missing_rank):
    """Sum the rows of missing values to ``work.aside``; the number of the other records."""
    known = np.int64(m)
    for c in range(work.aside.shape[0]):
        work.aside[c] = 0
    while known > 0 and np.int64(work.segments[first + known - 1] >> columns.shift) == missing_rank:
        known -= 1
        row = np.int64(work.segments[first + known] & columns.mask)
        add_outputs(
            options.criterion, sample.labels, sample.weights, sample.moments, row, work.aside
        )
    return known


@array_step
def sum_zeros(columns, sample, options, work, first, known):
    """Write the statistics of a node's zeros: those of the node less those of all records."""
    zeros = work.histogram[0]
    for c in range(zeros.shape[0]):
        work.left[c] = 0
    for k in range(first, first + known):
        row = np.int64(work.segments[k] & columns.mask)
        add_outputs(
            options.criterion, sample.labels, sample.weights, sample.moments, row, work.left
        )
    for c in range(zeros.shape[0]):
        zeros[c] = work.total[c] - work.left[c] - work.aside[c]


@array_step
def scan_with_zeros(columns, sample, options, work, f, first, m, bar):
    """``scan_outputs`` of records and a block of zeros: (bar, ranks beside the cut or -1)."""
    segments = work.segments
    labels = sample.labels
    weights = sample.weights
    left = work.left
    zeros = work.histogram[0]
    total = work.total
    table = work.table
    min_leaf = options.min_leaf
    zero_rank = np.int64(columns.ranks[f])
    by_class = labels.shape[1] > 0 and table[1] == 0
    most = total[0] - min_leaf
    whole = float(total[0])
    squares_left = 0.0
    rest = 0.0
    if by_class:
        for c in range(1, total.shape[0]):
            squares_left += float(left[c]) * float(left[c])
            rest += float(total[c]) * float(total[c] - 2 * left[c])
    cut = np.int64(-1)
    following = np.int64(-1)
    previous = np.int64(-1)
    k = np.int64(0)
    waits = True  # the block of zeros
    while k < m or waits:
        rank = zero_rank
        row = np.int64(0)
        if k < m:
            record = segments[np.uint64(first + k)]
            rank = np.int64(record >> columns.shift)
            row = np.int64(record & columns.mask)
        is_block = waits and (k == m or rank > zero_rank)
        if is_block:
            rank = zero_rank
        if previous >= 0 and rank != previous and min_leaf <= left[0] <= most:
            if by_class:
                on_left = float(left[0])
                score = (squares_left * whole + on_left * rest) / (on_left * (whole - on_left))
            else:
                score = purity_of_both(table, left, total)
            if score > bar:
                bar = score + abs(score) * (_NEARLY_TIED - 1.0)
                cut = previous
                following = rank
        previous = rank
        if is_block:
            waits = False
            left[0] += zeros[0]
            for c in range(1, total.shape[0]):
                w = zeros[c]
                here = left[c]
                left[c] = here + w
                if by_class:
                    squares_left += float(w) * float(2 * here + w)
                    rest -= 2.0 * float(w) * float(total[c])
            continue
        k += 1
        if not by_class:
            add_outputs(options.criterion, labels, weights, sample.moments, row, left)
            continue
        w = weights[row]
        for o in range(labels.shape[1]):
            c = 1 + np.int64(labels[row, o])
            here = left[c]
            left[c] = here + w
            squares_left += float(w) * float(2 * here + w)
            rest -= 2.0 * float(w) * float(total[c])
        left[0] += w
    return bar, cut, following


@array_step
def search_sparse_outputs(columns, sample, options, work, f, begin, end, bar):
    """Best cut of a feature: (varies, bar); keeps a better one."""
    first, m = gather(columns, work.segments, work.counts.near, work.rows, f, begin, end)
    if m == 0:
        return False, bar
    if m == end - begin:
        return search_sorted_outputs(
            columns, sample, options, work, f, begin, first, first + m, bar
        )
    known = known_records(columns, sample, options, work, first, m, columns.n_values[f])
    sum_zeros(columns, sample, options, work, first, known)
    # First with missing values on the right, where their records are, then on the left.
    for side in range(1 if known == m else 2):
        for c in range(work.left.shape[0]):
            work.left[c] = work.aside[c] if side == 1 else 0
        bar, cut, following = scan_with_zeros(
            columns, sample, options, work, f, first, known if side == 1 else m, bar
        )
        if cut >= 0:
            goes = np.int64(MISSING_LEFT if side == 1 else MISSING_RIGHT)
            if known == m:
                goes = np.int64(NONE_MISSING)
            keep_cut(work.choice, f, cut, following, goes)
    return True, bar


@array_step
def cut_sparse_outputs(columns, sample, options, work, f, begin, end, bar, threshold):
    """One random cut of a feature: (varies, bar, threshold); keeps a better one."""
    first, m = gather(columns, work.segments, work.counts.near, work.rows, f, begin, end)
    missing_rank = columns.n_values[f]
    zero_rank = np.int64(columns.ranks[f])
    known = known_records(columns, sample, options, work, first, m, missing_rank)
    n_missing = m - known
    low = missing_rank
    high = np.int64(-1)
    if known > 0:
        low = np.int64(work.segments[first] >> columns.shift)
        high = np.int64(work.segments[first + known - 1] >> columns.shift)
    if m < end - begin:
        low = min(low, zero_rank)
        high = max(high, zero_rank)
    goes = np.int64(NONE_MISSING)
    if n_missing > 0:
        goes = random_below(work.random, np.int64(2))
    at = np.inf
    cut = high
    if low < high:
        values = columns.values
        start = columns.value_start[f]
        at = random_threshold(work.random, values[start + low], values[start + high])
        cut = low
        while values[start + cut + 1] <= at:
            cut += 1
    elif n_missing == 0 or n_missing == end - begin:
        return False, bar, threshold
    else:
        goes = np.int64(MISSING_RIGHT)
    sum_zeros(columns, sample, options, work, first, known)
    left = work.left
    for c in range(left.shape[0]):
        left[c] = work.aside[c] if goes == MISSING_LEFT and n_missing > 0 else 0
        if m < end - begin and zero_rank <= cut:
            left[c] += work.histogram[0, c]
    for k in range(first, first + known):
        if np.int64(work.segments[k] >> columns.shift) <= cut:
            row = np.int64(work.segments[k] & columns.mask)
            add_outputs(options.criterion, sample.labels, sample.weights, sample.moments, row, left)
    score, is_kept = judge_outputs(columns, options, work, f, begin, bar)
    if is_kept:
        keep_cut(work.choice, f, cut, cut, goes)
        return True, score, at
    return True, bar, threshold


@array_step
def search_one_sparse(columns, sample, options, work, f, begin, end, small, bar, threshold):
    """Replaces ``search_feature``."""
    if work.table[2] > 0:
        return cut_sparse_outputs(columns, sample, options, work, f, begin, end, bar, threshold)
    varies, bar = search_sparse_outputs(columns, sample, options, work, f, begin, end, bar)
    return varies, bar, threshold


_visiting = inlined(
    with_step(
        visit_candidates, "visit_candidates_sparse_outputs", begin_node=begin_sparse,
        search_feature=search_one_sparse,
    )
)  # fmt: skip
_finding = inlined(with_step(find_outputs, "find_sparse_outputs", visiting=_visiting))
_searching = inlined(
    with_step(
        search_node, "search_node_sparse_outputs", find_split=_finding, decrease=gain_is_score,
        save_subset=no_table, save_projection=no_table,
    )
)  # fmt: skip
_partitioning = inlined(
    with_step(partition_sparse, "partition_sparse_outputs", sum_rows=sum_outputs)
)
_splitting = inlined(
    with_step(
        split_node, "split_node_sparse_outputs", partition_node=_partitioning,
        partition_segments=no_segments, describe_node=describe_outputs,
        may_split=may_split_outputs,
    )
)  # fmt: skip
_growing = array_step(
    with_step(grow_open, "grow_open_sparse_outputs", search_node=_searching, split_node=_splitting)
)
_opening = array_step(
    with_step(
        open_root, "open_root_sparse_outputs", load_rows=load_present, sum_rows=sum_outputs,
        describe_node=describe_outputs, may_split=may_split_outputs,
    )
)  # fmt: skip
#: ``grow_outputs`` for sparse columns.
grow_sparse_outputs = kernel(
    with_step(
        _grow_block, "grow_block_sparse_outputs", grow_open=_growing, open_root=_opening,
        make_work=make_sparse_work, pack=no_packing, enlarge=no_larger,
    )
)  # fmt: skip
