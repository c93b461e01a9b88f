"""C4.5's choice of a test at a node: information gain, gain ratio and the penalty on thresholds.

Only the best cut of an ordered feature is kept; its gain then pays ``log2(number of cuts) / W``,
the cost of encoding which one it is (Release 8). Missing values scale the gain by the known share
and count as a separate branch in the split information.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
Quinlan (1996). Improved use of continuous attributes in C4.5. JAIR 4, 77-90.
"""

from __future__ import annotations

import math

import numpy as np

from orfeon.kernels.c45.cuts import best_cut, best_cut_counted, best_cut_counted_two, best_cut_two
from orfeon.kernels.c45.information import EPSILON, PER_BIT, SLACK, TINY, x_ln_x
from orfeon.kernels.c45.value_groups import group_values
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined

#: An ordered feature must leave this share of the average class weight on both sides...
LEAST_ON_EACH_SIDE = 0.1
#: ...but never more than this.
MOST_REQUIRED = 25.0
NO_TEST = -1


@array_step
def class_entropy(totals):
    """Entropy of some class weights, in nats times weight."""
    weight = 0.0
    terms = 0.0
    for c in range(totals.shape[0]):
        weight += totals[c]
        terms += x_ln_x(totals[c])
    return x_ln_x(weight) - terms


@array_step
def sum_known(segments, begin, end, mask, samples, totals):
    for c in range(totals.shape[0]):
        totals[c] = 0.0
    for i in range(begin, end):
        row = segments[i] & mask
        totals[samples[row]["label"]] += samples[row]["weight"]
    known = 0.0
    for c in range(totals.shape[0]):
        known += totals[c]
    return known


@inlined
def least_on_each_side(known, n_classes, min_weight):
    least = LEAST_ON_EACH_SIDE * known / n_classes
    if least <= min_weight:
        return min_weight
    return min(least, max(MOST_REQUIRED, min_weight))


@array_step
def evaluate_ordered(columns, rules, search, segments, begin, end, f, totals, weight, counted):
    """Write gain, split information and cut of an ordered feature, if it has a test."""
    # ``begin`` and ``end`` index the flat ``segments``; ``totals`` and ``weight`` are the node's.
    shift = columns.shift
    mask = columns.mask
    samples = search.samples
    known_end = end
    if columns.features[f]["has_missing"]:
        unknown = columns.features[f]["n_values"]
        while known_end > begin and np.int64(segments[known_end - 1] >> shift) == unknown:
            known_end -= 1
    if known_end - begin < 2 or (segments[known_end - 1] ^ segments[begin]) >> shift == 0:
        return
    known = weight
    if known_end < end:
        totals = search.known
        known = sum_known(segments, begin, known_end, mask, samples, totals)
    if known < 2.0 * rules.min_weight - SLACK:
        return
    least = least_on_each_side(known, rules.n_classes, rules.min_weight)
    tie = TINY * weight
    if rules.n_classes == 2 and counted:
        after, at, n_cuts, below = best_cut_counted_two(
            segments, begin, known_end, shift, mask, samples, np.int64(known),
            np.int64(totals[1]), least, tie, search.table,
        )  # fmt: skip
    elif rules.n_classes == 2:
        after, at, n_cuts, below = best_cut_two(
            segments, begin, known_end, shift, mask, samples, known, totals[1], least, tie
        )
    elif counted:
        after, at, n_cuts, below = best_cut_counted(
            segments, begin, known_end, shift, mask, samples, totals, least, tie, search.table,
            search.sums,
        )  # fmt: skip
    else:
        after, at, n_cuts, below = best_cut(
            segments, begin, known_end, shift, mask, samples, totals, least, tie, search.sums
        )
    if at < 0:
        return
    gain = class_entropy(totals) - after
    if rules.penalty:
        gain -= math.log(float(n_cuts))
    if gain * PER_BIT <= tie:
        return
    split = x_ln_x(weight) - x_ln_x(below) - x_ln_x(known - below)
    if known_end < end:
        split -= x_ln_x(weight - known)
    search.tests[f]["gain"] = gain * PER_BIT / weight
    search.tests[f]["info"] = split * PER_BIT / weight
    search.tests[f]["cut"] = at - begin


@array_step
def count_values(columns, search, portions, begin, end, f):
    """Class weights of each category among some samples; returns the weight of missing values."""
    n_values = columns.features[f]["n_values"]
    histogram = search.histogram
    samples = search.samples
    n_classes = histogram.shape[1]
    for v in range(n_values + 1):
        for c in range(n_classes):
            histogram[v, c] = 0.0
    base = f * columns.n_rows
    for i in range(begin, end):
        row = np.uint64(portions[i]["row"])
        rank = columns.ranks[np.uint64(base) + row]
        histogram[rank, np.uint64(samples[row]["label"])] += samples[row]["weight"]
    unknown = 0.0
    for v in range(n_values + 1):
        unknown = 0.0
        for c in range(n_classes):
            unknown += histogram[v, c]
        search.categories[v]["weight"] = unknown
    return unknown


@array_step
def evaluate_categorical(columns, rules, search, portions, begin, end, f, weight):
    """Write gain and split information of a categorical feature, if it has a test."""
    unknown = count_values(columns, search, portions, begin, end, f)
    n_values = columns.features[f]["n_values"]
    categories = search.categories
    histogram = search.histogram
    tests = search.tests
    if rules.grouping and n_values > 2:
        gain, info, width = group_values(
            histogram, categories, n_values, weight, unknown, rules.min_weight, rules.ratio
        )
        tests[f]["gain"] = gain
        tests[f]["info"] = info
        tests[f]["width"] = width
        for v in range(n_values):
            search.groups[f, v] = categories[v]["branch"]
        return
    n_large = 0
    for v in range(n_values):
        n_large += np.int64(categories[v]["weight"] >= rules.min_weight - SLACK)
    if n_large < 2:
        return
    totals = search.known
    after = 0.0
    split = x_ln_x(weight) - x_ln_x(unknown)
    for c in range(rules.n_classes):
        totals[c] = 0.0
    for v in range(n_values):
        terms = 0.0
        for c in range(rules.n_classes):
            totals[c] += histogram[v, c]
            terms += x_ln_x(histogram[v, c])
        bag = x_ln_x(categories[v]["weight"])
        after += bag - terms
        split -= bag
    tests[f]["gain"] = (class_entropy(totals) - after) * PER_BIT / weight
    tests[f]["info"] = split * PER_BIT / weight
    tests[f]["width"] = n_values


@inlined
def shuffle(candidates, state):
    n = candidates.shape[0]
    for k in range(n - 1):
        other = k + random_below(state, n - k)
        kept = candidates[k]
        candidates[k] = candidates[other]
        candidates[other] = kept


@inlined
def average_gain(features, tests, candidates, n_looked, many_values):
    """Mean gain of the tests on features without too many values; infinite if there are none."""
    total = 0.0
    n = 0
    for k in range(n_looked):
        f = candidates[k]
        few = features[f]["segment"] >= 0 or features[f]["n_values"] < many_values
        if few and tests[f]["info"] > 0.0:
            total += tests[f]["gain"]
            n += 1
    return total / n if n > 0 else np.inf


@inlined
def best_test(rules, tests, candidates, n_looked, average):
    """The feature of greatest gain ratio among those of at least average gain, or ``NO_TEST``."""
    # The first of equals wins. Without the ratio, the feature of greatest gain.
    least_gain = average - EPSILON if rules.ratio else -EPSILON
    least_info = EPSILON if rules.ratio else 0.0
    best = np.int64(NO_TEST)
    best_worth = 0.0
    for k in range(n_looked):
        f = candidates[k]
        if tests[f]["info"] <= least_info or tests[f]["gain"] < least_gain:
            continue
        worth = tests[f]["gain"]
        if rules.ratio:
            worth /= tests[f]["info"]
        if best == NO_TEST or worth > best_worth + TINY:
            best = f
            best_worth = worth
    return best


@array_step
def choose_test(columns, rules, search, segments, capacity, portions, begin, end, totals, weight,
                counted, stamp, many_values):  # fmt: skip
    """The feature with the best test at a node, or ``NO_TEST``."""
    # Categorical features tested above carry the node's ``stamp``: they are constant here. With
    # ``max_features``, the search goes on until a feature has a test.
    tests = search.tests
    candidates = search.candidates
    if rules.shuffle:
        shuffle(candidates, search.random)
    n_looked = 0
    n_found = 0
    last = candidates.shape[0]
    for k in range(candidates.shape[0]):
        if n_looked >= rules.max_features and n_found > 0:
            last = k
            break
        f = candidates[k]
        segment = columns.features[f]["segment"]
        tests[f]["info"] = 0.0
        if segment >= 0:
            base = segment * capacity
            evaluate_ordered(
                columns, rules, search, segments, base + begin, base + end, f, totals, weight,
                counted,
            )  # fmt: skip
        elif tests[f]["tested"] != stamp:
            evaluate_categorical(columns, rules, search, portions, begin, end, f, weight)
        else:
            continue
        n_found += np.int64(tests[f]["info"] > 0.0)
        n_looked += 1
    average = average_gain(columns.features, tests, candidates, last, many_values)
    return best_test(rules, tests, candidates, last, average)
