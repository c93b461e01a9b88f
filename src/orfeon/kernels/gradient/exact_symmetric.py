"""Growing a symmetric Newton tree over every threshold: all nodes of a level have the same test.

A level's test is the one of highest score, summed over its nodes. A node that must not be split by
it, because too little would be on a side, keeps its samples together and takes part in the next
level. So the tree is an ordinary one, with fewer tests than nodes.

The nodes of a level are *slots*: rows of the frontier. Sorted features are scanned once for all of
them, as their sums change one row at a time; features of few values slot by slot.

References
----------
Prokhorenkova, Gusev, Vorobev, Dorogush and Gulin (2018). CatBoost: unbiased boosting with
categorical features. Advances in Neural Information Processing Systems 31.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, SORTED
from orfeon.kernels.cart.choice import MISSING_LEFT, MISSING_RIGHT, NO_SPLIT, NONE_MISSING
from orfeon.kernels.cart.partition import partition_by_code, partition_by_rank
from orfeon.kernels.cart.search import keep_cut, next_candidate
from orfeon.kernels.cart.subset import sort_by_key
from orfeon.kernels.gradient.exact_grow import (
    BEGIN,
    CUT,
    END,
    FEATURE,
    FOLLOWING,
    MISSING,
    NODE,
    add_children,
    load_rows,
    make_leaf,
    may_split,
    save_subset,
    sum_side,
    write_test,
)
from orfeon.kernels.gradient.exact_search import (
    HESSIAN,
    MOMENT,
    WEIGHT,
    add_row,
    clear,
    keep_subset,
)
from orfeon.kernels.gradient.interactions import allow_features, clear_words, has_feature
from orfeon.kernels.gradient.newton_scores import (
    LEAST_GAIN,
    NOT_ALLOWED,
    bar_above,
    own_score,
    score_of,
)
from orfeon.kernels.rng import seed_state
from orfeon.utils.jit import array_step

#: Columns of a slot while tests are searched; before them are those of the frontier.
MAY_SPLIT, LEFT = 3, 4
#: Columns of a slot in floats: its sums, its own score, and that by the cut under trial.
OF_MOMENT, OF_HESSIAN, OWN, NOW = range(4)


@array_step
def score_with(rule, tree, node, left, sign):
    """Score of a node by its sums on the left: of its own, unless it may be split so."""
    hessian = tree.stats[node, HESSIAN]
    weight = tree.stats[node, WEIGHT]
    least = rule.min_hessian
    on_left = left[LEFT + HESSIAN]
    of_left = left[LEFT + WEIGHT]
    own = tree.gain[node]
    if on_left < least or hessian - on_left < least:
        return own
    if of_left < rule.min_leaf or weight - of_left < rule.min_leaf:
        return own
    score = score_of(
        rule, float(left[LEFT + MOMENT]), float(on_left), float(tree.stats[node, MOMENT]),
        float(hessian), sign, tree.bounds[node, 0], tree.bounds[node, 1],
    )  # fmt: skip
    return own if score == NOT_ALLOWED else score


@array_step
def reset_slots(rule, work, tree, groups, n_slots, f):
    """Put all rows on the right, and mark the slots that may use a feature; the sum of scores."""
    total = 0.0
    for k in range(n_slots):
        slot = work.frontier[k]
        node = slot[NODE]
        for c in range(3):
            slot[LEFT + c] = 0
        slot[MAY_SPLIT] = may_split(tree, rule, node, np.int64(0), slot[BEGIN], slot[END])
        if rule.interactions:
            allow_features(rule.interactions, groups, tree.paths[node], work.allowed)
            slot[MAY_SPLIT] &= np.int64(has_feature(work.allowed, f))
        level = work.level[k]
        level[OF_MOMENT] = float(tree.stats[node, MOMENT])
        # Sums of slots that must not be split never reach the least hessian.
        level[OF_HESSIAN] = float(tree.stats[node, HESSIAN]) if slot[MAY_SPLIT] else -1.0
        level[OWN] = tree.gain[node]
        level[NOW] = tree.gain[node]
        total += tree.gain[node]
    return total


@array_step
def scan_slots(columns, rule, sample, work, tree, first, last, sign, score, best):
    """The best cut of sorted records for all slots: (score, its last record)."""
    shift = columns.shift
    mask = columns.mask
    pairs = sample.pairs
    one = np.uint64(1)
    bar = bar_above(best)
    position = np.int64(-1)
    current = work.segments[first]
    for i in range(first, last - 1):
        row = np.uint64(current & mask)
        k = np.uint64(tree.leaf_of_row[row])
        slot = work.frontier[k]
        at = row << one
        slot[LEFT + MOMENT] += pairs[at]
        slot[LEFT + HESSIAN] += pairs[at + one]
        slot[LEFT + WEIGHT] += sample.weights[row]
        if slot[MAY_SPLIT]:
            new = score_with(rule, tree, slot[NODE], slot, sign)
            score += new - work.level[k, NOW]
            work.level[k, NOW] = new
        following = work.segments[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift) and score > bar:
            best = score
            bar = bar_above(best)
            position = i
        current = following
    return best, position


@array_step
def plain_score(moment, hessian, of_moment, of_hessian, own, l2, least):
    """``score_with`` without limits on values and weights."""
    on_left = float(hessian)
    on_right = of_hessian - on_left
    moment_left = float(moment)
    moment_right = of_moment - moment_left
    below_left = on_left + l2
    below_right = on_right + l2
    crossed = moment_left * moment_left * below_right + moment_right * moment_right * below_left
    score = crossed / (below_left * below_right)
    # In nodes of a few rows a branch would often be mispredicted.
    return score if (on_left >= least) & (on_right >= least) else own


@array_step
def scan_plain(work, leaf_of_row, pairs, n_slots, first, last, shift, mask, l2, least, score, best):
    """``scan_slots`` without limits on values and weights."""
    # Arrays are read from the records once: in the loop that would take most of the time.
    segments = work.segments
    left = work.frontier
    level = work.level
    one = np.uint64(1)
    bar = bar_above(best)
    position = np.int64(-1)
    current = segments[first]
    begin = first
    # Many features are mostly at their least value: scores matter only after all of its rows.
    while begin < last - 1 and (segments[np.uint64(begin + 1)] >> shift) == (current >> shift):
        row = np.uint64(segments[np.uint64(begin)] & mask)
        at = row << one
        k = np.uint64(leaf_of_row[row])
        left[k, LEFT + MOMENT] += pairs[at]
        left[k, LEFT + HESSIAN] += pairs[at + one]
        begin += 1
    if begin > first:
        score = 0.0
        for j in range(n_slots):
            k = np.uint64(j)
            new = plain_score(
                left[k, LEFT + MOMENT], left[k, LEFT + HESSIAN], level[k, OF_MOMENT],
                level[k, OF_HESSIAN], level[k, OWN], l2, least,
            )  # fmt: skip
            score += new
            level[k, NOW] = new
    current = segments[begin]
    for i in range(begin, last - 1):
        row = np.uint64(current & mask)
        at = row << one
        k = np.uint64(leaf_of_row[row])
        moment = left[k, LEFT + MOMENT] + pairs[at]
        hessian = left[k, LEFT + HESSIAN] + pairs[at + one]
        left[k, LEFT + MOMENT] = moment
        left[k, LEFT + HESSIAN] = hessian
        new = plain_score(
            moment, hessian, level[k, OF_MOMENT], level[k, OF_HESSIAN], level[k, OWN], l2, least
        )
        score += new - level[k, NOW]
        level[k, NOW] = new
        following = segments[np.uint64(i + 1)]
        if score > bar and (following >> shift) != (current >> shift):
            best = score
            bar = bar_above(best)
            position = i
        current = following
    return best, position


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
        score = reset_slots(rule, work, tree, groups, n_slots, f)
        end = last
        if side == 1:  # missing values go first
            for i in range(known, last):
                row = segments[i] & columns.mask
                slot = work.frontier[np.uint64(tree.leaf_of_row[np.uint64(row)])]
                add_row(sample.pairs, sample.weights, row, slot[LEFT:])
            score = 0.0
            for k in range(n_slots):
                slot = work.frontier[k]
                if slot[MAY_SPLIT]:
                    work.level[k, NOW] = score_with(rule, tree, slot[NODE], slot, sign)
                score += work.level[k, NOW]
            end = known
        if end - first < 2:
            continue
        if rule.is_plain and rule.min_leaf <= 1:
            best, found = scan_plain(
                work, tree.leaf_of_row, sample.pairs, n_slots, first, end, shift, columns.mask,
                rule.l2, float(rule.min_hessian), score, best,
            )  # fmt: skip
        else:
            best, found = scan_slots(
                columns, rule, sample, work, tree, first, end, sign, score, best
            )
        if found >= 0:
            cut = np.int64(segments[found] >> shift)
            following = np.int64(segments[found + 1] >> shift)
            keep_cut(work.choice, f, cut, following, np.int64(MISSING_LEFT) if side == 1 else goes)
    return best


@array_step
def mark_codes(columns, work, f, n_rows):
    """Mark the codes of all rows."""
    base = np.uint64(f * columns.n_rows)
    rows = work.rows
    ranks = columns.ranks
    cells = work.cells
    for i in range(n_rows):
        cells[np.uint64(ranks[base + np.uint64(rows[np.uint64(i)])]), WEIGHT] = 1


@array_step
def fill_codes(columns, sample, work, f, begin, end, is_counted):
    """Add the sums of some rows by code; their weights if they are counted."""
    base = np.uint64(f * columns.n_rows)
    one = np.uint64(1)
    rows = work.rows
    ranks = columns.ranks
    cells = work.cells
    pairs = sample.pairs
    weights = sample.weights
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        code = np.uint64(ranks[base + row])
        cells[code, MOMENT] += pairs[row << one]
        cells[code, HESSIAN] += pairs[(row << one) + one]
        if is_counted:
            cells[code, WEIGHT] += weights[row]


@array_step
def list_codes(columns, rule, work, f):
    """List the codes of all rows, in the order of their splits; returns how many."""
    n = np.int64(0)
    for code in range(columns.n_values[f] + 1):
        cell = work.cells[code]
        if cell[WEIGHT] != 0:
            work.present[n] = code
            if columns.kind[f] == CATEGORICAL:
                below = float(cell[HESSIAN]) + rule.cat_smooth
                work.key[code] = float(cell[MOMENT]) / below
            n += 1
            clear(cell)
    if columns.kind[f] == CATEGORICAL and n > rule.max_onehot:
        sort_by_key(work.present, n, work.key)
    return n


@array_step
def add_splits(rule, work, tree, slot, n, n_splits, alone, missing, sign, begin):
    """Add the scores of a slot by each split of the listed codes."""
    # ``missing``: the code that is on the left of every split, or -1.
    node = slot[NODE]
    for c in range(3):
        slot[LEFT + c] = 0
    if missing >= 0:
        for c in range(3):
            slot[LEFT + c] = work.cells[missing, c]
    score = score_with(rule, tree, node, slot, sign)
    for i in range(n_splits):
        cell = work.cells[work.present[i]]
        if alone:
            for c in range(3):
                slot[LEFT + c] = cell[c]
            score = score_with(rule, tree, node, slot, sign)
        elif cell[HESSIAN] != 0:
            for c in range(3):
                slot[LEFT + c] += cell[c]
            score = score_with(rule, tree, node, slot, sign)
        work.sums[begin + i] += score


@array_step
def add_plain_splits(work, k, n, n_splits, alone, missing, l2, least, begin):
    """``add_splits`` without limits on values and weights."""
    cells = work.cells
    present = work.present
    sums = work.sums
    level = work.level[k]
    moment = level[OF_MOMENT]
    hessian = level[OF_HESSIAN]
    own = level[OWN]
    left = np.int64(0)
    left_moment = np.int64(0)
    if missing >= 0:
        left = cells[missing, HESSIAN]
        left_moment = cells[missing, MOMENT]
    score = plain_score(left_moment, left, moment, hessian, own, l2, least)
    for i in range(n_splits):
        code = np.uint64(present[np.uint64(i)])
        here = cells[code, HESSIAN]
        if alone:
            score = plain_score(cells[code, MOMENT], here, moment, hessian, own, l2, least)
        elif here != 0:
            left += here
            left_moment += cells[code, MOMENT]
            score = plain_score(left_moment, left, moment, hessian, own, l2, least)
        sums[np.uint64(begin + i)] += score


@array_step
def search_codes(columns, rule, sample, work, tree, groups, f, n_slots, n_rows, sign, best):
    """``search_sorted`` of few values or categories: the score, and whether they vary."""
    is_categorical = columns.kind[f] == CATEGORICAL
    if is_categorical:  # their order depends on the sums of all rows
        fill_codes(columns, sample, work, f, np.int64(0), n_rows, True)
    else:
        mark_codes(columns, work, f, n_rows)
    n = list_codes(columns, rule, work, f)
    if n < 2:
        return best, False
    n_codes = columns.n_values[f] + 1
    alone = is_categorical and n <= rule.max_onehot
    missing = np.int64(-1)
    if not is_categorical and work.present[n - 1] == columns.n_values[f]:
        missing = np.int64(columns.n_values[f])
    n_splits = n if alone else n - 1
    n_left = n - 2 if missing >= 0 else np.int64(0)
    for i in range(n_splits):
        work.sums[i] = 0.0
    for i in range(n_left):
        work.sums[n_codes + i] = 0.0
    reset_slots(rule, work, tree, groups, n_slots, f)
    total = 0.0
    none = np.int64(-1)
    is_plain = rule.is_plain and rule.min_leaf <= 1
    for k in range(n_slots):
        slot = work.frontier[k]
        if not slot[MAY_SPLIT]:
            total += work.level[k, NOW]
            continue
        fill_codes(columns, sample, work, f, slot[BEGIN], slot[END], not is_plain)
        if is_plain:
            least = float(rule.min_hessian)
            add_plain_splits(work, k, n, n_splits, alone, none, rule.l2, least, np.int64(0))
            if n_left > 0:
                add_plain_splits(work, k, n, n_left, False, missing, rule.l2, least, n_codes)
        else:
            add_splits(rule, work, tree, slot, n, n_splits, alone, none, sign, np.int64(0))
            if n_left > 0:
                add_splits(rule, work, tree, slot, n, n_left, False, missing, sign, n_codes)
        for i in range(n):
            clear(work.cells[work.present[i]])
    position = none
    for i in range(n_splits):
        if total + work.sums[i] > bar_above(best):
            best = total + work.sums[i]
            position = i
    goes = np.int64(MISSING_RIGHT if missing >= 0 else NONE_MISSING)
    for i in range(n_left):
        if total + work.sums[n_codes + i] > bar_above(best):
            best = total + work.sums[n_codes + i]
            position = i
            goes = np.int64(MISSING_LEFT)
    if position >= 0:
        if is_categorical:
            keep_subset(columns, work, f, n, position if alone else np.int64(0), position)
        else:
            keep_cut(work.choice, f, work.present[position], work.present[position + 1], goes)
    return best, True


@array_step
def find_test(columns, rule, sample, work, tree, signs, groups, n_slots, n_rows):
    """The best test of a level, over ``max_features`` features that vary."""
    work.choice[0] = NO_SPLIT
    best = 0.0
    for k in range(n_slots):
        best += tree.gain[work.frontier[k, NODE]]
    best += max(rule.min_gain, LEAST_GAIN * abs(best))
    seen = 0
    n_candidates = work.candidates.shape[0]
    for j in range(n_candidates):
        f = next_candidate(work.candidates, work.random, j, n_candidates)
        if columns.kind[f] == SORTED:
            first = columns.segment[f] * columns.n_rows
            ahead = work.segments[first] >> columns.shift
            if ahead == (work.segments[first + n_rows - 1] >> columns.shift):
                continue
            best = search_sorted(
                columns, rule, sample, work, tree, groups, f, n_slots, n_rows, signs[f], best
            )
        else:
            best, varies = search_codes(
                columns, rule, sample, work, tree, groups, f, n_slots, n_rows, signs[f], best
            )
            if not varies:
                continue
        seen += 1
        if seen >= rule.max_features and work.choice[0] != NO_SPLIT:
            break


@array_step
def write_left(columns, sample, work, slot, cut):
    """Partition the rows of a slot by the test of the level; returns the boundary."""
    f = work.choice[0]
    goes = work.choice[3]
    base = np.uint64(f * columns.n_rows)
    one = np.uint64(1)
    if columns.kind[f] == CATEGORICAL:
        return partition_by_code(
            columns.ranks, base, one, columns.n_values[f], work.branches, cut,
            goes == MISSING_LEFT, work.rows, work.spare_rows, slot[BEGIN], slot[END],
        )  # fmt: skip
    beyond = columns.n_values[f] if goes == MISSING_LEFT else work.choice[1]
    return partition_by_rank(
        columns.ranks, base, one, work.choice[1], beyond, work.rows, work.spare_rows, slot[BEGIN],
        slot[END],
    )  # fmt: skip


@array_step
def open_slot(rule, sample, work, tree, k, node, begin, end):
    """Make a slot of a node."""
    slot = work.frontier[k]
    slot[BEGIN] = begin
    slot[END] = end
    slot[NODE] = node
    tree.gain[node] = own_score(
        rule, float(tree.stats[node, MOMENT]), float(tree.stats[node, HESSIAN]),
        tree.bounds[node, 0], tree.bounds[node, 1],
    )  # fmt: skip
    for i in range(begin, end):
        tree.leaf_of_row[np.uint64(work.rows[np.uint64(i)])] = k


@array_step
def score_split(rule, sample, work, tree, slot, k, n_nodes, middle, sign):
    """Sum the sides of a slot; the score, that of the node itself if it must not be split so."""
    node = slot[NODE]
    sum_side(sample, work, tree, node, slot[BEGIN], middle, slot[END])
    for c in range(3):
        slot[LEFT + c] = work.left[c]
    if slot[BEGIN] < middle < slot[END]:
        return score_with(rule, tree, node, slot, sign)
    return tree.gain[node]


@array_step
def split_slot(columns, rule, sample, work, tree, signs, groups, k, n_slots, n_nodes):
    """Split a slot by the test of the level, if it may be; returns the number of nodes then."""
    slot = work.frontier[k]
    node = slot[NODE]
    begin = slot[BEGIN]
    end = slot[END]
    f = work.choice[0]
    if not may_split(tree, rule, node, np.int64(0), begin, end):
        return n_nodes
    if rule.interactions:
        allow_features(rule.interactions, groups, tree.paths[node], work.allowed)
        if not has_feature(work.allowed, f):
            return n_nodes
    cut = work.choice[1]
    if columns.kind[f] == CATEGORICAL:
        cut = save_subset(work, columns.n_values[f])
        if work.used[1]:
            return n_nodes
    middle = write_left(columns, sample, work, slot, cut)
    own = tree.gain[node]
    score = score_split(rule, sample, work, tree, slot, k, n_nodes, middle, signs[f])
    if score == own:
        if columns.kind[f] == CATEGORICAL:
            work.used[0] -= columns.n_values[f]
        return n_nodes
    slot[FEATURE] = f
    slot[CUT] = cut
    slot[FOLLOWING] = work.choice[2]
    slot[MISSING] = work.choice[3]
    add_children(rule, work, tree, signs, slot, middle, n_nodes)
    write_test(columns, work, tree, slot, n_nodes)
    tree.gain[node] = score - own
    open_slot(rule, sample, work, tree, k, n_nodes, begin, middle)
    open_slot(rule, sample, work, tree, n_slots, n_nodes + 1, middle, end)
    return n_nodes + 2


@array_step
def sum_root(sample, work, tree, m):
    """Sum all rows."""
    clear(tree.stats[0])
    for i in range(m):
        add_row(sample.pairs, sample.weights, work.rows[np.uint64(i)], tree.stats[0])


@array_step
def grow_symmetric(columns, rule, sample, work, tree, signs, groups, seed):
    """Grow a symmetric tree; returns its number of nodes."""
    seed_state(work.random, seed)
    zero = np.int64(0)
    m = load_rows(columns, sample, work, zero)
    sum_root(sample, work, tree, m)
    make_leaf(tree, zero, zero, m)
    tree.bounds[0, 0] = -np.inf
    tree.bounds[0, 1] = np.inf
    clear_words(tree.paths[0])
    work.used[0] = 0
    work.used[1] = 0
    open_slot(rule, sample, work, tree, zero, zero, zero, m)
    n_slots = np.int64(1)
    n_nodes = np.int64(1)
    depth = zero
    while depth < rule.max_depth and m > 0:
        find_test(columns, rule, sample, work, tree, signs, groups, n_slots, m)
        if work.choice[0] == NO_SPLIT:
            break
        for k in range(n_slots):
            n_after = split_slot(
                columns, rule, sample, work, tree, signs, groups, np.int64(k), n_slots, n_nodes
            )
            n_slots += np.int64(n_after > n_nodes)
            n_nodes = n_after
        if work.used[1]:
            break
        depth += 1
    for k in range(n_slots):
        slot = work.frontier[k]
        node = slot[NODE]
        tree.gain[node] = 0.0
        for i in range(slot[BEGIN], slot[END]):
            tree.leaf_of_row[np.uint64(work.rows[np.uint64(i)])] = node
    return n_nodes
