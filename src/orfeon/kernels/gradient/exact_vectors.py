"""Growing a symmetric tree for several scores at once: each leaf holds a value for each of them.

A split's score is summed over the nodes of a level and over the scores, each of which has moments
and hessians of its own. The sums of a row, a node or a code are a *vector*: moments, then hessians,
in lanes of four, then the hessian of all scores and the weight. They are whole numbers below 2^53
in floats, so they are exact, and do not depend on the order of the rows.

The loops over levels, features and nodes are those of
:mod:`orfeon.kernels.gradient.exact_symmetric`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.choice import MISSING_LEFT, MISSING_RIGHT, NONE_MISSING
from orfeon.kernels.cart.search import keep_cut
from orfeon.kernels.cart.subset import sort_by_key
from orfeon.kernels.gradient import exact_symmetric
from orfeon.kernels.gradient.exact_grow import BEGIN, END, FEATURE, NODE, make_leaf, may_split
from orfeon.kernels.gradient.exact_search import HESSIAN, MOMENT, WEIGHT, keep_subset
from orfeon.kernels.gradient.exact_symmetric import MAY_SPLIT, mark_codes
from orfeon.kernels.gradient.interactions import allow_features, extend_paths, has_feature
from orfeon.kernels.gradient.newton_scores import bar_above, soft
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step, merged_step, with_step

#: Sums are added in so many lanes, in the same order on every machine.
LANES = 4
#: Places of the other sums behind the lanes, and how many columns they take.
ALL, COUNT, N_OTHER = 0, 1, 4
#: Columns of the limits of a slot: its own score, that by the cut under trial, the least hessian.
OWN, NOW, LEAST = range(3)


@record
class Vectors:
    """The sample of a tree, and its scratch; float64, a vector in each row."""

    weights: Any  # int64; 0 = absent
    of_row: Any
    of_node: Any
    of_left: Any  # of each slot, on the left of the cut under trial
    of_slot: Any
    of_code: Any  # zero between searches
    limits: Any  # of each slot
    key: Any  # (n_scores, n_codes); orders of the categories
    sums: Any  # of the scores of all slots, by order and split
    n_scores: int


@merged_step
def add_vector(source, i, target, k):
    """Add a row of ``source`` to one of ``target``."""
    for at in range(0, source.shape[1], LANES):
        j = np.uint64(at)
        a = source[i, j] + target[k, j]
        b = source[i, j + np.uint64(1)] + target[k, j + np.uint64(1)]
        c = source[i, j + np.uint64(2)] + target[k, j + np.uint64(2)]
        d = source[i, j + np.uint64(3)] + target[k, j + np.uint64(3)]
        target[k, j] = a
        target[k, j + np.uint64(1)] = b
        target[k, j + np.uint64(2)] = c
        target[k, j + np.uint64(3)] = d


@array_step
def fill_vector(target, k, value):
    for j in range(target.shape[1]):
        target[k, j] = value


@array_step
def copy_vector(source, i, target, k):
    for j in range(source.shape[1]):
        target[k, j] = source[i, j]


@merged_step
def score_of_one(moment, hessian, of_moment, of_hessian, l2, l1):
    """Both sides' score, of one of the scores."""
    left = soft(moment, l1)
    right = soft(of_moment - moment, l1)
    below_left = hessian + l2
    below_right = (of_hessian - hessian) + l2
    return (left * left * below_right + right * right * below_left) / (below_left * below_right)


@merged_step
def score_of_all(left, whole, k, l2, l1):
    """Both sides' score of a slot, summed over the scores."""
    half = np.uint64((left.shape[1] - N_OTHER) >> 1)
    s0 = s1 = s2 = s3 = 0.0
    for at in range(0, half, LANES):
        j = np.uint64(at)
        h = j + half
        s0 += score_of_one(left[k, j], left[k, h], whole[k, j], whole[k, h], l2, l1)
        j += np.uint64(1)
        h += np.uint64(1)
        s1 += score_of_one(left[k, j], left[k, h], whole[k, j], whole[k, h], l2, l1)
        j += np.uint64(1)
        h += np.uint64(1)
        s2 += score_of_one(left[k, j], left[k, h], whole[k, j], whole[k, h], l2, l1)
        j += np.uint64(1)
        h += np.uint64(1)
        s3 += score_of_one(left[k, j], left[k, h], whole[k, j], whole[k, h], l2, l1)
    return (s0 + s1) + (s2 + s3)


@merged_step
def score_with(left, whole, limits, k, l2, l1, min_leaf):
    """Score of a slot by its vector on the left: of its own, unless it may be split so."""
    n = np.uint64(left.shape[1] - N_OTHER)
    w = n + np.uint64(COUNT)
    score = score_of_all(left, whole, k, l2, l1)
    least = limits[k, LEAST]
    fits = (left[k, n] >= least) & (whole[k, n] - left[k, n] >= least)
    fits &= (left[k, w] >= min_leaf) & (whole[k, w] - left[k, w] >= min_leaf)
    # In nodes of a few rows a branch would often be mispredicted.
    return score if fits else limits[k, OWN]


@array_step
def reset_slots(rule, sample, work, tree, groups, n_slots, f):
    """Put all rows on the right, and mark the slots that may use a feature; the sum of scores."""
    total = 0.0
    for k in range(n_slots):
        slot = work.frontier[k]
        node = slot[NODE]
        may = may_split(tree, rule, node, np.int64(0), slot[BEGIN], slot[END])
        if rule.interactions:
            allow_features(rule.interactions, groups, tree.paths[node], work.allowed)
            may &= has_feature(work.allowed, f)
        slot[MAY_SPLIT] = np.int64(may)
        fill_vector(sample.of_left, k, 0.0)
        sample.limits[k, OWN] = tree.gain[node]
        sample.limits[k, NOW] = tree.gain[node]
        # Sums of slots that must not be split never reach the least hessian.
        sample.limits[k, LEAST] = float(rule.min_hessian) if may else np.inf
        total += tree.gain[node]
    return total


@array_step
def score_slots(rule, sample, n_slots):
    """Score all slots by their vectors on the left; the sum."""
    score = 0.0
    for j in range(n_slots):
        k = np.uint64(j)
        sample.limits[k, NOW] = score_with(
            sample.of_left, sample.of_slot, sample.limits, k, rule.l2, rule.l1,
            float(rule.min_leaf),
        )  # fmt: skip
        score += sample.limits[k, NOW]
    return score


@array_step
def scan_records(segments, leaf_of_row, of_row, left, whole, limits, first, last, shift, mask, l2,
                 l1, min_leaf, score, best):  # fmt: skip
    """The best cut of sorted records for all slots: (score, its last record)."""
    bar = bar_above(best)
    position = np.int64(-1)
    current = segments[first]
    for i in range(first, last - 1):
        row = np.uint64(current & mask)
        k = np.uint64(leaf_of_row[row])
        add_vector(of_row, row, left, k)
        new = score_with(left, whole, limits, k, l2, l1, min_leaf)
        score += new - limits[k, NOW]
        limits[k, NOW] = new
        following = segments[np.uint64(i + 1)]
        if score > bar and (following >> shift) != (current >> shift):
            best = score
            bar = bar_above(best)
            position = i
        current = following
    return best, position


@array_step
def move_records(segments, leaf_of_row, of_row, left, first, last, mask):
    """Put the rows of some records on the left."""
    for i in range(first, last):
        row = np.uint64(segments[np.uint64(i)] & mask)
        add_vector(of_row, row, left, np.uint64(leaf_of_row[row]))


@array_step
def search_sorted(columns, rule, sample, work, tree, groups, f, n_slots, n_rows, sign, best):
    """The best cut of a sorted feature for all slots: its score; keeps a better one."""
    segments = work.segments
    first = columns.segment[f] * columns.n_rows
    last = first + n_rows
    shift = columns.shift
    known = last
    while known > first and np.int64(segments[known - 1] >> shift) == columns.n_values[f]:
        known -= 1
    goes = np.int64(NONE_MISSING if known == last else MISSING_RIGHT)
    for side in range(1 if known == last else 2):
        score = reset_slots(rule, sample, work, tree, groups, n_slots, f)
        end = last
        if side == 1:  # missing values go first
            move_records(
                segments, tree.leaf_of_row, sample.of_row, sample.of_left, known, last, columns.mask
            )
            end = known
        # Many features are mostly at their least value: scores matter only after all of its rows.
        begin = first
        while begin < end - 1 and (segments[begin + 1] >> shift) == (segments[first] >> shift):
            begin += 1
        move_records(
            segments, tree.leaf_of_row, sample.of_row, sample.of_left, first, begin, columns.mask
        )
        if side == 1 or begin > first:
            score = score_slots(rule, sample, n_slots)
        best, found = scan_records(
            segments, tree.leaf_of_row, sample.of_row, sample.of_left, sample.of_slot,
            sample.limits, begin, end, shift, columns.mask, rule.l2, rule.l1, float(rule.min_leaf),
            score, best,
        )  # fmt: skip
        if found >= 0:
            cut = np.int64(segments[found] >> shift)
            following = np.int64(segments[found + 1] >> shift)
            keep_cut(work.choice, f, cut, following, np.int64(MISSING_LEFT) if side == 1 else goes)
    return best


@array_step
def add_codes(ranks, base, rows, of_row, of_code, begin, end):
    """Add the vectors of some rows by code."""
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        add_vector(of_row, row, of_code, np.uint64(ranks[base + row]))


@array_step
def clear_codes(work, of_code, n):
    for i in range(n):
        fill_vector(of_code, work.present[i], 0.0)


@array_step
def list_codes(columns, rule, sample, work, f, n_rows):
    """List the codes of all rows; orders many categories by each score. How many there are."""
    mark_codes(columns, work, f, n_rows)
    n = np.int64(0)
    for code in range(columns.n_values[f] + 1):
        if work.cells[code, WEIGHT] != 0:
            work.present[n] = code
            work.cells[code, WEIGHT] = 0
            n += 1
    if columns.kind[f] != CATEGORICAL or n <= rule.max_onehot:
        return n
    of_code = sample.of_code
    base = np.uint64(f * columns.n_rows)
    add_codes(columns.ranks, base, work.rows, sample.of_row, of_code, np.int64(0), n_rows)
    half = (of_code.shape[1] - N_OTHER) >> 1
    for q in range(sample.n_scores):
        for i in range(n):
            code = work.present[i]
            sample.key[q, code] = of_code[code, q] / (of_code[code, half + q] + rule.cat_smooth)
    clear_codes(work, of_code, n)
    return n


@array_step
def add_splits(rule, sample, work, k, n_splits, alone, missing, begin):
    """Add the scores of a slot by each split of the listed codes."""
    # ``missing``: the code that is on the left of every split, or -1.
    left = sample.of_left
    of_code = sample.of_code
    fill_vector(left, k, 0.0)
    if missing >= 0:
        copy_vector(of_code, missing, left, k)
    for i in range(n_splits):
        code = work.present[i]
        if alone:
            copy_vector(of_code, code, left, k)
        else:
            add_vector(of_code, np.uint64(code), left, np.uint64(k))
        sample.sums[begin + i] += score_with(
            left, sample.of_slot, sample.limits, np.uint64(k), rule.l2, rule.l1,
            float(rule.min_leaf),
        )  # fmt: skip


@array_step
def search_codes(columns, rule, sample, work, tree, groups, f, n_slots, n_rows, sign, best):
    """``search_sorted`` of few values or categories: the score, and whether they vary."""
    n = list_codes(columns, rule, sample, work, f, n_rows)
    if n < 2:
        return best, False
    is_categorical = columns.kind[f] == CATEGORICAL
    alone = is_categorical and n <= rule.max_onehot
    is_ordered = is_categorical and not alone
    missing = np.int64(-1)
    if not is_categorical and work.present[n - 1] == columns.n_values[f]:
        missing = np.int64(columns.n_values[f])
    # Many categories are tried in the order of each score; numbers also with missing values left.
    n_orders = np.int64(1 + np.int64(missing >= 0))
    if is_ordered:
        n_orders = np.int64(sample.n_scores)
    n_splits = n if alone else n - 1
    for i in range(n_orders * n):
        sample.sums[i] = 0.0
    reset_slots(rule, sample, work, tree, groups, n_slots, f)
    total = 0.0
    base = np.uint64(f * columns.n_rows)
    for k in range(n_slots):
        slot = work.frontier[k]
        if not slot[MAY_SPLIT]:
            total += sample.limits[k, OWN]
            continue
        add_codes(
            columns.ranks, base, work.rows, sample.of_row, sample.of_code, slot[BEGIN], slot[END]
        )
        for q in range(n_orders):
            if is_ordered:
                sort_by_key(work.present, n, sample.key[q])
            is_second = q == 1 and missing >= 0
            add_splits(
                rule, sample, work, np.int64(k), n - 2 if is_second else n_splits, alone,
                missing if is_second else np.int64(-1), np.int64(q * n),
            )  # fmt: skip
        clear_codes(work, sample.of_code, n)
    position = np.int64(-1)
    order = np.int64(0)
    for q in range(n_orders):
        for i in range(n - 2 if q == 1 and missing >= 0 else n_splits):
            if total + sample.sums[q * n + i] > bar_above(best):
                best = total + sample.sums[q * n + i]
                position = i
                order = np.int64(q)
    if position < 0:
        return best, True
    if is_ordered:
        sort_by_key(work.present, n, sample.key[order])
    if is_categorical:
        keep_subset(columns, work, f, n, position if alone else np.int64(0), position)
    else:
        goes = np.int64(MISSING_RIGHT if missing >= 0 else NONE_MISSING)
        if order == 1:
            goes = np.int64(MISSING_LEFT)
        keep_cut(work.choice, f, work.present[position], work.present[position + 1], goes)
    return best, True


find_test = array_step(
    with_step(
        exact_symmetric.find_test,
        "find_test_of_vectors",
        search_sorted=search_sorted,
        search_codes=search_codes,
    )
)


@array_step
def write_stats(sample, tree, node):
    """Write the hessian of all scores and the weight of a node, which limits are about."""
    n = sample.of_node.shape[1] - N_OTHER
    tree.stats[node, MOMENT] = 0
    tree.stats[node, HESSIAN] = np.int64(sample.of_node[node, n + ALL])
    tree.stats[node, WEIGHT] = np.int64(sample.of_node[node, n + COUNT])


@array_step
def sum_root(sample, work, tree, m):
    """Sum all rows."""
    fill_vector(sample.of_node, np.int64(0), 0.0)
    for i in range(m):
        row = np.uint64(work.rows[np.uint64(i)])
        add_vector(sample.of_row, row, sample.of_node, np.uint64(0))
    write_stats(sample, tree, np.int64(0))


@array_step
def open_slot(rule, sample, work, tree, k, node, begin, end):
    """Make a slot of a node."""
    slot = work.frontier[k]
    slot[BEGIN] = begin
    slot[END] = end
    slot[NODE] = node
    copy_vector(sample.of_node, node, sample.of_slot, k)
    half = (sample.of_node.shape[1] - N_OTHER) >> 1
    tree.gain[node] = 0.0
    for q in range(sample.n_scores):
        moment = soft(sample.of_node[node, q], rule.l1)
        tree.gain[node] += moment * moment / (sample.of_node[node, half + q] + rule.l2)
    for i in range(begin, end):
        tree.leaf_of_row[np.uint64(work.rows[np.uint64(i)])] = k


@array_step
def score_split(rule, sample, work, tree, slot, k, n_nodes, middle, sign):
    """Sum the sides of a slot; the score, that of the node itself if it must not be split so."""
    begin = slot[BEGIN]
    end = slot[END]
    of_node = sample.of_node
    is_left = middle - begin <= end - middle  # the smaller side is summed
    near = n_nodes if is_left else n_nodes + 1
    far = n_nodes + 1 if is_left else n_nodes
    fill_vector(of_node, near, 0.0)
    for i in range(begin if is_left else middle, middle if is_left else end):
        row = np.uint64(work.rows[np.uint64(i)])
        add_vector(sample.of_row, row, of_node, np.uint64(near))
    for j in range(of_node.shape[1]):
        of_node[far, j] = of_node[slot[NODE], j] - of_node[near, j]
    write_stats(sample, tree, n_nodes)
    write_stats(sample, tree, n_nodes + 1)
    own = tree.gain[slot[NODE]]
    if not begin < middle < end:
        return own
    copy_vector(of_node, n_nodes, sample.of_left, k)
    sample.limits[k, OWN] = own
    sample.limits[k, LEAST] = float(rule.min_hessian)
    return score_with(
        sample.of_left, sample.of_slot, sample.limits, np.uint64(k), rule.l2, rule.l1,
        float(rule.min_leaf),
    )  # fmt: skip


@array_step
def add_children(rule, work, tree, signs, slot, middle, n_nodes):
    """Make two leaves, whose vectors are known, under a node."""
    make_leaf(tree, n_nodes, slot[BEGIN], middle)
    make_leaf(tree, n_nodes + 1, middle, slot[END])
    if rule.interactions:
        extend_paths(tree.paths, slot[NODE], n_nodes, slot[FEATURE])


split_slot = array_step(
    with_step(
        exact_symmetric.split_slot,
        "split_slot_of_vectors",
        score_split=score_split,
        add_children=add_children,
        open_slot=open_slot,
    )
)
grow_vectors = array_step(
    with_step(
        exact_symmetric.grow_symmetric,
        "grow_vectors",
        sum_root=sum_root,
        open_slot=open_slot,
        find_test=find_test,
        split_slot=split_slot,
    )
)
