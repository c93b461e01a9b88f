"""The best split of a node of a Newton tree, by histograms.

A word of a histogram holds the hessian of a bin's rows above their moment, which may be negative:
adding a row is one addition. If the weight of leaves is limited, a second plane holds weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.kernels.cart.search import ABSENT, MISSING_LEFT, MISSING_RIGHT, NONE_MISSING
from orfeon.kernels.cart.subset import sort_by_key
from orfeon.kernels.gradient.interactions import allow_features, has_feature
from orfeon.kernels.gradient.newton_scores import NOT_ALLOWED, TIED, bar_above, score_of, soft
from orfeon.kernels.histogram.splits import run_over_values
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step, loop_step

#: Bits of the moment in a word.
SHIFT = 32
_HALF = 1 << (SHIFT - 1)
#: In place of a score: all rows are in one bin, or the node may not use the feature.
CONSTANT = np.nan
#: In place of a score without limits, which are never negative.
_NO_CUT = -1.0


@record
class NewtonSearch:
    """Histograms, and the penalties and limits of :class:`Rule` in the units of a tree's sums."""

    histograms: Any  # int64; one after the other
    length: int  # of a plane of a histogram
    is_wide: int  # whether a second plane holds weights
    l2: float
    l1: float
    min_hessian: int
    min_leaf: int
    min_split: int
    min_gain: float
    cat_smooth: float
    max_onehot: int
    is_plain: int
    interactions: int
    signs: Any
    groups: Any
    total: Any  # int64 (2, 2): word and weight of the two nodes under search
    bounds: Any  # float64 (2, 2) of their values
    allowed: Any  # uint64 (2, words): features they may use
    sums: Any  # int64 (2, 256) running sums of words, and of weights
    order: Any
    key: Any


@array_step
def hessian_of(search, word):
    return (word + _HALF) >> SHIFT


@array_step
def moment_in(word):
    return word - (((word + _HALF) >> SHIFT) << SHIFT)


@array_step
def describe_open(search, tree, side, node):
    """Write the sums and the limits of a node that is to be searched."""
    for k in range(2):
        search.total[side, k] = tree.stats[node, k]
        search.bounds[side, k] = tree.bounds[node, k]
    at = node if search.interactions else 0
    allow_features(search.interactions, search.groups, tree.paths[at], search.allowed[side])


@loop_step
def best_plain(sums, n, l2, hessian, moment, least):
    """Best score of a cut after any of the bins, from running sums of words."""
    # Comparing by bits vectorises: floats of at least 0 order like their bits.
    most = hessian - least
    top = np.float64(_NO_CUT).view(np.int64)
    for i in range(n):
        word = sums[np.uint64(i)]
        above = (word + _HALF) >> SHIFT
        on_left = float(above)
        moment_left = float(word - (above << SHIFT))
        moment_right = moment - moment_left
        left = on_left + l2
        right = hessian - on_left + l2
        crossed = moment_left * moment_left * right + moment_right * moment_right * left
        score = crossed / (left * right)
        score = score if (on_left >= least) & (on_left <= most) else _NO_CUT
        top = max(top, np.float64(score).view(np.int64))
    score = np.int64(top).view(np.float64)
    return score if score >= 0.0 else NOT_ALLOWED


@loop_step
def best_counted(sums, weights, n, l2, hessian, moment, weight, least, fewest):
    """``best_plain`` with a minimum weight of both sides."""
    most = hessian - least
    heaviest = weight - fewest
    top = np.float64(_NO_CUT).view(np.int64)
    for i in range(n):
        word = sums[np.uint64(i)]
        held = weights[np.uint64(i)]
        above = (word + _HALF) >> SHIFT
        on_left = float(above)
        moment_left = float(word - (above << SHIFT))
        moment_right = moment - moment_left
        left = on_left + l2
        right = hessian - on_left + l2
        crossed = moment_left * moment_left * right + moment_right * moment_right * left
        score = crossed / (left * right)
        fits = (on_left >= least) & (on_left <= most) & (held >= fewest) & (held <= heaviest)
        score = score if fits else _NO_CUT
        top = max(top, np.float64(score).view(np.int64))
    score = np.int64(top).view(np.float64)
    return score if score >= 0.0 else NOT_ALLOWED


@loop_step
def best_limited(search, sums, weights, n, moment, hessian, weight, sign, low, high, above):
    """``best_plain`` with every penalty and limit, of cuts with more hessian than ``above``."""
    l1 = search.l1
    l2 = search.l2
    least = float(search.min_hessian)
    most = hessian - least
    any_weight = search.is_wide == 0
    fewest = search.min_leaf
    heaviest = weight - fewest
    direction = float(sign)
    largest = np.int64((1 << 63) - 1)
    top = -largest
    for i in range(n):
        word = sums[np.uint64(i)]
        held = weights[np.uint64(i)]
        whole = (word + _HALF) >> SHIFT
        on_left = float(whole)
        moment_left = float(word - (whole << SHIFT))
        moment_right = moment - moment_left
        left = on_left + l2
        right = hessian - on_left + l2
        value_left = min(max(soft(moment_left, l1) / left, low), high)
        value_right = min(max(soft(moment_right, l1) / right, low), high)
        # In the order of ``score_of``, to the last bit.
        score_left = 2.0 * (moment_left * value_left - l1 * abs(value_left))
        score_left -= left * value_left * value_left
        score_right = 2.0 * (moment_right * value_right - l1 * abs(value_right))
        score_right -= right * value_right * value_right
        score = score_left + score_right
        fits = (on_left >= least) & (on_left <= most) & (on_left > above)
        fits &= any_weight | ((held >= fewest) & (held <= heaviest))
        fits &= direction * (value_right - value_left) >= 0.0
        bits = np.float64(score).view(np.int64)
        # The bits of negative numbers, flipped, order like numbers, too.
        bits ^= (bits >> 63) & largest
        top = max(top, bits if fits else -largest)
    if top == -largest:
        return NOT_ALLOWED
    top ^= (top >> 63) & largest
    return np.int64(top).view(np.float64)


@array_step
def score_at_place(search, side, i, sign):
    """Score of the cut after a running sum; -inf if it is not allowed."""
    word = search.sums[0, i]
    total = search.total[side, 0]
    on_left = hessian_of(search, word)
    whole = hessian_of(search, total)
    if on_left < search.min_hessian or whole - on_left < search.min_hessian:
        return NOT_ALLOWED
    if search.is_wide:
        weight = search.sums[1, i]
        if weight < search.min_leaf or search.total[side, 1] - weight < search.min_leaf:
            return NOT_ALLOWED
    return score_of(
        search, float(moment_in(word)), float(on_left), float(moment_in(total)), float(whole),
        sign, search.bounds[side, 0], search.bounds[side, 1],
    )  # fmt: skip


@array_step
def best_of_sums(search, side, n, sign, above):
    """Best score of the running sums with more hessian than ``above``."""
    if search.is_plain:  # missing values alone on the left are as good as alone on the right
        total = search.total[side, 0]
        hessian = float(hessian_of(search, total))
        moment = float(moment_in(total))
        least = float(search.min_hessian)
        if search.is_wide:
            return best_counted(
                search.sums[0], search.sums[1], n, search.l2, hessian, moment,
                search.total[side, 1], least, search.min_leaf,
            )  # fmt: skip
        return best_plain(search.sums[0], n, search.l2, hessian, moment, least)
    return best_limited(
        search, search.sums[0], search.sums[1], n, float(moment_in(search.total[side, 0])),
        float(hessian_of(search, search.total[side, 0])), search.total[side, 1], sign,
        search.bounds[side, 0], search.bounds[side, 1], float(above),
    )  # fmt: skip


@array_step
def first_of_sums(search, side, n, best, sign, above):
    """The first running sum that reaches the best score, with more hessian than ``above``."""
    for i in range(n):
        if hessian_of(search, search.sums[0, i]) > above:
            score = score_at_place(search, side, i, sign)
            if score + TIED * abs(score) >= best:
                return np.int64(i)
    return np.int64(-1)


@array_step
def run_over_categories(search, first, n):
    """Sums of the splits of the categories, in order: (categories present, splits)."""
    # Missing values are a category. Few categories are each compared with all others; else the
    # splits are prefixes of the order by moment / hessian.
    present = np.int64(0)
    for b in range(n + 1):
        word = search.histograms[first + b]
        if word != 0:
            search.order[present] = b
            below = float(hessian_of(search, word)) + search.cat_smooth
            search.key[b] = float(moment_in(word)) / below
            present += 1
    alone = present <= search.max_onehot
    if not alone:
        sort_by_key(search.order, present, search.key)
    for plane in range(1 + search.is_wide):
        total = np.int64(0)
        for i in range(present):
            here = search.histograms[first + plane * search.length + search.order[i]]
            total = here if alone else total + here
            search.sums[plane, i] = total
    return present, present if alone else present - 1


@array_step
def is_constant(search, side, first, n):
    """Whether all rows of the node are in one bin, counting missing values as a bin."""
    for b in range(n + 1):
        word = search.histograms[first + b]
        if word != 0:
            return word == search.total[side, 0]
    return True


@array_step
def best_score(bins, search, side, start, f):
    first = start + np.int64(bins.offset[f])
    n = bins.n_bins[f]
    if not has_feature(search.allowed[side], f) or is_constant(search, side, first, n):
        return CONSTANT
    none = np.int64(0)
    if bins.is_categorical[f]:
        _, n_splits = run_over_categories(search, first, n)
        return best_of_sums(search, side, n_splits, none, none)
    sign = search.signs[f]
    run_over_values(search, first, n, False)
    score = best_of_sums(search, side, n, sign, none)
    missing = search.histograms[first + n]
    if missing != 0:
        run_over_values(search, first, n, True)
        score = max(score, best_of_sums(search, side, n, sign, hessian_of(search, missing)))
    return score


@array_step
def locate_categories(search, side, first, n, best, sides):
    """Write the side of each bin by the split that reaches the best score."""
    present, n_splits = run_over_categories(search, first, n)
    none = np.int64(0)
    last = first_of_sums(search, side, n_splits, best, none, none)
    begin = last if present <= search.max_onehot else none
    for b in range(n + 1):
        sides[b] = ABSENT
    for i in range(present):
        sides[search.order[i]] = 1 if begin <= i <= last else 0


@array_step
def locate_split(bins, search, side, start, f, best, sides, choice):
    """Find the split that reaches the best score of a feature."""
    # ``choice``: feature, last bin on the left, first on the right, where missing values go. For a
    # categorical feature ``sides`` receives the side of each bin.
    first = start + np.int64(bins.offset[f])
    n = bins.n_bins[f]
    missing = hessian_of(search, search.histograms[first + n])
    choice[0] = f
    choice[3] = MISSING_RIGHT if missing > 0 else NONE_MISSING
    if bins.is_categorical[f]:
        locate_categories(search, side, first, n, best, sides)
        if missing > 0:
            choice[3] = sides[n]
        return
    sign = search.signs[f]
    run_over_values(search, first, n, False)
    cut = first_of_sums(search, side, n, best, sign, np.int64(0))
    if cut < 0:
        choice[3] = MISSING_LEFT
        run_over_values(search, first, n, True)
        cut = first_of_sums(search, side, n, best, sign, missing)
    following = cut + 1
    while following < n and search.histograms[first + following] == 0:
        following += 1
    choice[1] = cut
    choice[2] = following


@array_step
def is_better(score, best):
    return score > bar_above(best)
