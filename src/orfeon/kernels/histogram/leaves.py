"""Residuals as integers before a tree is grown, and its leaves afterwards."""

from __future__ import annotations

import math

import numpy as np

from orfeon.kernels.histogram.bins import PER_WORD
from orfeon.kernels.histogram.nodes import moment_of, weight_of
from orfeon.utils.jit import array_step, inlined, kernel


@kernel
def to_fixed_point(targets, weights, low, scale, shift, is_wide, values):
    """Code each row as an integer: one packed word, or a weight and a moment."""
    # Returns the centre of the scores: the rounded mean of the packed residuals.
    n_rows = targets.shape[0]
    if is_wide:
        for row in range(n_rows):
            w = weights[row]
            values[row] = w
            moment = np.rint((targets[row] - low) * scale * float(w)) if w > 0 else 0.0
            values[n_rows + row] = np.int64(moment)
        return 0.0
    least = np.int64(low * scale)
    total = np.int64(0)
    for row in range(n_rows):
        w = weights[row]
        above = np.int64(np.rint(targets[row] * scale)) - least if w > 0 else np.int64(0)
        values[row] = (w << shift) + w * above
        total += values[row]
    return float((total & ((np.int64(1) << shift) - 1)) // max(total >> shift, np.int64(1)))


@inlined
def route_row(bins, tree, row):
    """The leaf of a row that the tree was not grown from."""
    node = np.int64(0)
    while tree.n_children[node]:
        f = np.int64(tree.feature[node])
        word = bins.codes[f // PER_WORD * bins.n_rows + row]
        b = np.int64((word >> np.uint64(8 * (f % PER_WORD))) & np.uint64(255))
        if bins.is_categorical[f]:
            branch = 1 - np.int64(tree.sides[node, b])
        elif b == bins.n_bins[f]:
            branch = np.int64(tree.missing[node])
        elif b <= tree.cut[node, 0]:
            branch = np.int64(0)
        elif b >= tree.cut[node, 1]:
            branch = np.int64(1)
        else:  # a bin that is empty in the node: the threshold may fall inside it
            branch = np.int64(bins.X[row, f] > tree.threshold[node])
        node = np.int64(tree.first_child[node]) + branch
    return node


@array_step
def refine_mean(rows, begin, end, targets, weights, weight, is_wide, mean, spread_bits):
    """Refine a rough leaf mean to full float precision, independent of the order of the rows."""
    # Deviations from the rough mean, below 2**spread_bits, are summed as integers. Within one leaf
    # they have more bits to spare than over all rows.
    scale = math.ldexp(1.0, min(61 - spread_bits - math.frexp(weight)[1], 1023))
    above = np.int64(0)
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        deviation = (targets[row] - mean) * scale
        if is_wide:
            above += np.int64(np.rint(deviation * float(weights[row])))
        else:  # a weight of two equals the row twice, to the bit
            above += weights[row] * np.int64(np.rint(deviation))
    return mean + float(above) / weight / scale


@array_step
def describe(bins, search, work, tree, n_nodes, targets, weights, scales, leaf_of_row):
    for node in range(n_nodes - 1, -1, -1):
        weight = float(weight_of(search, tree.stats[node, 0]))
        if tree.n_children[node]:
            total = 0.0
            for child in range(tree.first_child[node], tree.first_child[node] + 2):
                total += tree.value[child] * float(weight_of(search, tree.stats[child, 0]))
            tree.value[node] = total / weight
            continue
        moment = moment_of(search, tree.stats[node, 0], tree.stats[node, 1])
        begin = tree.segment[node, 0]
        end = tree.segment[node, 1]
        mean = (scales[0] * scales[1] + search.centre + moment / weight) / scales[1]
        if scales[2] < 1024:  # otherwise the difference of two residuals may overflow
            mean = refine_mean(
                work.rows, begin, end, targets, weights, weight, search.is_wide, mean, scales[2]
            )
        tree.value[node] = mean
        for i in range(begin, end):
            leaf_of_row[np.uint64(work.rows[np.uint64(i)])] = node
    if tree.segment[0, 1] < bins.n_rows:
        for row in range(bins.n_rows):
            if weights[row] == 0:
                leaf_of_row[row] = route_row(bins, tree, row)
