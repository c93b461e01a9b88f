"""Residuals as integers before a tree is grown, and its leaves afterwards."""

from __future__ import annotations

import math

import numpy as np

from orfeon.kernels.histogram.bins import PER_WORD
from orfeon.kernels.histogram.nodes import moment_of, weight_of
from orfeon.utils.jit import array_step, inlined, kernel


@kernel
def to_fixed_point(targets, weights, low, scale, shift, is_wide, begin, end, values, rows):
    """Code some rows as integers: one packed word, or a weight and a moment; list them."""
    # Returns the sums of both planes.
    n_rows = np.uint64(targets.shape[0])
    total = np.int64(0)
    second = np.int64(0)
    least = 0.0 if is_wide else np.rint(low * scale)
    for i in range(begin, end):
        row = np.uint64(i)
        rows[row] = i
        w = np.int64(weights[row])
        if is_wide:
            moment = np.rint((targets[row] - low) * scale * float(w)) if w > 0 else 0.0
            values[row] = w
            values[n_rows + row] = np.int64(moment)
            total += w
            second += np.int64(moment)
        else:
            above = np.rint(targets[row] * scale) - least if w > 0 else 0.0
            values[row] = (w << shift) + w * np.int64(above)
            total += values[row]
    return total, second


@inlined
def bin_of(bins, f, row):
    """Bin of a row in a feature."""
    word = bins.codes[f // PER_WORD * bins.n_rows + row]
    return np.int64((word >> np.uint64(8 * (f % PER_WORD))) & np.uint64(255))


@array_step
def route_row(bins, tree, row):
    """The leaf of a row that the tree was not grown from, or -1 if its bin does not tell."""
    node = np.int64(0)
    while tree.n_children[node]:
        f = np.int64(tree.feature[node])
        b = bin_of(bins, f, row)
        if bins.is_categorical[f]:
            branch = 1 - np.int64(tree.sides[node, b])
        elif b == bins.n_bins[f]:
            branch = np.int64(tree.missing[node])
        elif b <= tree.cut[node, 0]:
            branch = np.int64(0)
        elif b >= tree.cut[node, 1]:
            branch = np.int64(1)
        else:  # a bin that is empty in the node: the threshold may fall inside it
            return np.int64(-1)
        node = np.int64(tree.first_child[node]) + branch
    return node


@array_step
def route_rows(bins, tree, residuals, begin, end):
    for row in range(begin, end):
        if residuals.weights[row] == 0:
            residuals.leaf_of_row[row] = route_row(bins, tree, row)


@array_step
def deviations(rows, begin, end, targets, mean, scale):
    """Sum of the deviations from a mean, as integers."""
    above = np.int64(0)
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        above += np.int64(np.rint((targets[row] - mean) * scale))
    return above


@array_step
def weighted_deviations(rows, begin, end, targets, weights, is_wide, mean, scale):
    above = np.int64(0)
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        deviation = (targets[row] - mean) * scale
        if is_wide:
            above += np.int64(np.rint(deviation * float(weights[row])))
        else:  # a weight of two equals the row twice, to the bit
            above += weights[row] * np.int64(np.rint(deviation))
    return above


@array_step
def describe_leaf(search, work, tree, node, residuals):
    """Write the mean of a leaf to full float precision, and the leaf of its rows."""
    weight = float(weight_of(search, tree.stats[node, 0]))
    moment = moment_of(search, tree.stats[node, 0], tree.stats[node, 1])
    begin = tree.segment[node, 0]
    end = tree.segment[node, 1]
    for i in range(begin, end):
        residuals.leaf_of_row[np.uint64(work.rows[np.uint64(i)])] = node
    units = residuals.low * residuals.scale + search.centre + moment / weight
    mean = units / residuals.scale
    spread_bits = residuals.spread_bits
    if spread_bits < 1024:  # otherwise the difference of two residuals may overflow
        # Deviations from the rough mean, below 2**spread_bits, are summed as integers. Within one
        # leaf they have more bits to spare than over all rows, and their order does not matter.
        scale = math.ldexp(1.0, min(61 - spread_bits - math.frexp(weight)[1], 1023))
        if residuals.is_unit:
            above = deviations(work.rows, begin, end, residuals.targets, mean, scale)
        else:
            above = weighted_deviations(
                work.rows, begin, end, residuals.targets, residuals.weights, search.is_wide, mean,
                scale,
            )  # fmt: skip
        mean += float(above) / weight / scale
    tree.value[node] = mean


@array_step
def describe_inner(search, tree, n_nodes):
    """Write the means of the inner nodes, from those of the leaves."""
    for node in range(n_nodes - 1, -1, -1):
        if tree.n_children[node]:
            total = 0.0
            for child in range(tree.first_child[node], tree.first_child[node] + 2):
                total += tree.value[child] * float(weight_of(search, tree.stats[child, 0]))
            tree.value[node] = total / float(weight_of(search, tree.stats[node, 0]))
