"""Grouping the categories of a feature into few branches (C4.5's option ``-s``).

Every category that occurs starts as a group. Groups with the same single class are joined; then,
greedily, the pair whose union gives the best gain ratio, as long as that improves. While fewer than
three groups are large enough to be branches, the largest takes no more categories; while fewer than
two are, a pair is joined even without improvement. With plain gain, joining never improves and goes
on until two groups are left. Categories that do not occur share one empty branch.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.c45.information import EPSILON, PER_BIT, SLACK, TINY, x_ln_x
from orfeon.utils.jit import array_step, inlined

#: A union must improve the gain ratio by this.
LEAST_IMPROVEMENT = 1e-5


@array_step
def entropy_of(histogram, group):
    """Entropy of one group, in nats times weight."""
    weight = 0.0
    terms = 0.0
    for c in range(histogram.shape[1]):
        weight += histogram[group, c]
        terms += x_ln_x(histogram[group, c])
    return x_ln_x(weight) - terms


@array_step
def entropy_of_union(histogram, first, second):
    weight = 0.0
    terms = 0.0
    for c in range(histogram.shape[1]):
        joint = histogram[first, c] + histogram[second, c]
        weight += joint
        terms += x_ln_x(joint)
    return x_ln_x(weight) - terms


@array_step
def worth(gain, info, ratio):
    """Gain ratio or gain of a test; negative without gain or information."""
    if ratio:
        if gain >= -TINY and info > EPSILON:
            return gain / info
        return -EPSILON
    return gain


@array_step
def join(histogram, categories, n_values, first, second, last):
    """Add a group to another; the last group takes its number."""
    for c in range(histogram.shape[1]):
        histogram[first, c] += histogram[second, c]
        histogram[second, c] = histogram[last, c]
    categories[first]["weight"] += categories[second]["weight"]
    categories[second]["weight"] = categories[last]["weight"]
    for v in range(n_values):
        if categories[v]["branch"] == second:
            categories[v]["branch"] = first
        elif categories[v]["branch"] == last:
            categories[v]["branch"] = second


@inlined
def gather_present(histogram, categories, n_values):
    """Make one group of each category that occurs; returns the number of groups."""
    n_groups = np.int64(0)
    for v in range(n_values):
        if categories[v]["weight"] > 0.0:
            for c in range(histogram.shape[1]):
                histogram[n_groups, c] = histogram[v, c]
            categories[n_groups]["weight"] = categories[v]["weight"]
            categories[v]["branch"] = n_groups
            n_groups += 1
        else:
            categories[v]["branch"] = n_values
    return n_groups


@array_step
def only_class(histogram, group):
    """The class of a group that has only one, otherwise -1."""
    found = -1
    for c in range(histogram.shape[1]):
        if histogram[group, c] > 0.0:
            if found >= 0:
                return -1
            found = c
    return found


@array_step
def join_single_classes(histogram, categories, n_values, n_groups):
    first = np.int64(0)
    while first < n_groups - 1:
        c = only_class(histogram, first)
        second = first + 1
        while c >= 0 and second < n_groups:
            if only_class(histogram, second) == c:
                join(histogram, categories, n_values, first, second, n_groups - 1)
                n_groups -= 1
            else:
                second += 1
        first += 1
    return n_groups


@array_step
def best_union(histogram, categories, n_groups, barred, entropy, after, split, weight, least_gain,
               ratio, forced):  # fmt: skip
    """The pair of groups to join next: (value, first, second), first = -1 if there is none."""
    # ``after`` is the entropy of the current groups, ``split`` their split information.
    best = 0.0
    best_gain = -EPSILON
    best_first = -1
    best_second = -1
    for first in range(n_groups - 1):
        for second in range(first + 1, n_groups):
            if first == barred or second == barred:
                continue
            joint = (
                after
                - entropy_of(histogram, first)
                - entropy_of(histogram, second)
                + entropy_of_union(histogram, first, second)
            )
            gain = (entropy - joint) * PER_BIT / weight
            one = categories[first]["weight"]
            other = categories[second]["weight"]
            merged = split + x_ln_x(one) + x_ln_x(other) - x_ln_x(one + other)
            value = worth(gain, merged * PER_BIT / weight, ratio)
            enough = gain >= least_gain - TINY and best_gain < least_gain - TINY
            if enough or value >= best - TINY or (best_first < 0 and forced):
                best = value
                best_gain = gain
                best_first = first
                best_second = second
    return best, best_first, best_second


@array_step
def measure(histogram, categories, n_groups, unknown):
    """Entropy left within the groups and their split information, in nats times weight."""
    after = 0.0
    terms = x_ln_x(unknown)
    weight = unknown
    for group in range(n_groups):
        after += entropy_of(histogram, group)
        terms += x_ln_x(categories[group]["weight"])
        weight += categories[group]["weight"]
    return after, x_ln_x(weight) - terms


@array_step
def largest_group(categories, n_groups, min_weight):
    """The number of groups large enough for a branch, and the largest group."""
    n_large = 0
    largest = 0
    for group in range(n_groups):
        n_large += np.int64(categories[group]["weight"] >= min_weight - SLACK)
        if categories[group]["weight"] > categories[largest]["weight"]:
            largest = group
    return n_large, largest


@inlined
def known_entropy(histogram, n_values):
    known = 0.0
    terms = 0.0
    for c in range(histogram.shape[1]):
        total = 0.0
        for v in range(n_values):
            total += histogram[v, c]
        known += total
        terms += x_ln_x(total)
    return x_ln_x(known) - terms


@array_step
def group_values(histogram, categories, n_values, weight, unknown, min_weight, ratio):
    """Group the categories in ``histogram`` and ``categories``, both overwritten."""
    # ``weight`` is that of the node, ``unknown`` that of missing values. Writes each category's
    # branch; returns (gain, split information, number of branches), all 0 without a test.
    entropy = known_entropy(histogram, n_values)
    present = gather_present(histogram, categories, n_values)
    n_groups = join_single_classes(histogram, categories, n_values, present)
    after, split = measure(histogram, categories, n_groups, unknown)
    gain = (entropy - after) * PER_BIT / weight
    value = worth(gain, split * PER_BIT / weight, ratio)
    least_gain = gain / 2.0
    while n_groups > 2:
        n_large, barred = largest_group(categories, n_groups, min_weight)
        if n_large >= 3:
            barred = -1
        forced = not ratio or n_large < 2
        best, first, second = best_union(
            histogram, categories, n_groups, barred, entropy, after, split, weight, least_gain,
            ratio, forced,
        )  # fmt: skip
        if not forced and (first < 0 or best < value + LEAST_IMPROVEMENT):
            break
        value = best
        join(histogram, categories, n_values, first, second, n_groups - 1)
        n_groups -= 1
        after, split = measure(histogram, categories, n_groups, unknown)
    n_large, _ = largest_group(categories, n_groups, min_weight)
    if value <= TINY or n_large < 2:
        return 0.0, 0.0, np.int64(0)
    n_absent = np.int64(0)
    for v in range(n_values):
        if categories[v]["branch"] == n_values:
            categories[v]["branch"] = n_groups
            n_absent = 1
    gain = (entropy - after) * PER_BIT / weight
    return gain, split * PER_BIT / weight, n_groups + n_absent
