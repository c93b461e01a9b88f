"""A round of Newton boosting of several scores by one tree, in one call."""

from __future__ import annotations

import math

import numpy as np

from orfeon.kernels.cart.records import Columns
from orfeon.kernels.gradient.exact_grow import Tree
from orfeon.kernels.gradient.exact_round import (
    GIVEN,
    NO_SPACE,
    NOT_FINITE,
    Loss,
    Round,
    Weights,
    exponent_above,
    leaf_of,
    write_derivatives,
)
from orfeon.kernels.gradient.exact_search import Work
from orfeon.kernels.gradient.exact_vectors import ALL, COUNT, N_OTHER, Vectors, grow_vectors
from orfeon.kernels.gradient.newton_scores import Rule, soft
from orfeon.utils.jit import array_step, kernel

#: Sums of derivatives stay below two to this power, so that a float holds them exactly.
_SUM_BITS = 51
#: Squares of larger powers of two would not be floats.
_MOST_BITS = 400


@array_step
def code_vectors(gradients, hessians, weights, of_row):
    """Write the vector of each row, of whole numbers; their units per unit."""
    n_scores = gradients.shape[0]
    half = (of_row.shape[1] - N_OTHER) >> 1
    most = 0.0
    steepest = 0.0
    for i in range(gradients.shape[1]):
        total = 0.0
        for q in range(n_scores):
            most = max(most, abs(gradients[q, i]))
            total += hessians[q, i]
        steepest = max(steepest, total)
    bits = np.int64(0)
    while (weights.total >> bits) > 0:
        bits += 1
    moment_scale = math.ldexp(1.0, int(min(_SUM_BITS - exponent_above(most) - bits, _MOST_BITS)))
    to_hessian = min(_SUM_BITS - exponent_above(steepest) - bits, _MOST_BITS)
    hessian_scale = math.ldexp(1.0, int(to_hessian))
    for i in range(gradients.shape[1]):
        row = np.uint64(i)
        whole = float(weights.whole[row])
        # A weight of two equals the row twice, to the bit, where all weights are whole numbers.
        inside = 1.0 if weights.is_exact else whole
        outside = whole if weights.is_exact else 1.0
        least = 1.0 if whole > 0.0 else 0.0
        total = 0.0
        for q in range(half):
            moment = 0.0
            hessian = 1.0  # of lanes beyond the scores, so that nothing is divided by 0
            if q < n_scores:
                moment = np.rint(gradients[q, row] * moment_scale * inside)
                hessian = max(np.rint(hessians[q, row] * hessian_scale * inside), least)
                total += hessian
            of_row[row, q] = moment * outside
            of_row[row, half + q] = hessian * outside
        for j in range(N_OTHER):
            of_row[row, 2 * half + j] = 0.0
        of_row[row, 2 * half + ALL] = total * outside
        of_row[row, 2 * half + COUNT] = whole
    return hessian_scale * weights.scale, moment_scale * weights.scale


@array_step
def describe_nodes(rule, loss, sample, tree, value, n_nodes, hessian_unit, moment_unit):
    """Write the values of each node by its vector, and the gains in units of the loss."""
    half = (sample.of_node.shape[1] - N_OTHER) >> 1
    for node in range(n_nodes):
        tree.gain[node] /= moment_unit * moment_unit / hessian_unit
        for q in range(sample.n_scores):
            moment = soft(sample.of_node[node, q], rule.l1)
            step = moment / (sample.of_node[node, half + q] + rule.l2)
            step /= moment_unit / hessian_unit
            step = min(max(step, -loss.largest_step), loss.largest_step)
            value[node, q] = step * loss.learning_rate


@array_step
def add_values(columns, loss, now, tree, branches, value, held, held_scores):
    """Add the values of the leaves to the scores of the samples and of a validation set."""
    for q in range(now.scores.shape[0]):
        for i in range(now.leaves.shape[1]):
            row = np.uint64(i)
            now.scores[q, row] += value[np.uint64(now.leaves[0, row]), q]
    for i in range(held.shape[0]):
        leaf = leaf_of(columns, tree, branches, held, i)
        for q in range(now.scores.shape[0]):
            held_scores[q, i] += value[leaf, q]


@kernel
def vector_round(columns, rule, weights, work, tree, signs, groups, seeds, candidates, loss, now, X,
                 held, held_scores, vectors, value):  # fmt: skip
    """Grow the tree of a round from the fields of the records; returns its number of nodes.

    As :func:`orfeon.kernels.gradient.exact_round.newton_round`.
    """
    columns = Columns(*columns)
    weights = Weights(*weights)
    loss = Loss(*loss)
    now = Round(*now)
    work = Work(*work)
    tree = Tree(*tree, now.leaves[0])
    sample = Vectors(weights.whole, *vectors)
    if not write_derivatives(loss, now):
        return np.int64(NOT_FINITE)
    hessian_unit, moment_unit = code_vectors(now.gradients, now.hessians, weights, sample.of_row)
    least = rule[2] * hessian_unit * (1.0 - 1e-9)
    own = Rule(
        rule[0] * hessian_unit, rule[1] * moment_unit,
        max(1, np.int64(math.ceil(min(least, 2.0**61)))), rule[3], rule[4],
        rule[5] * (moment_unit * moment_unit / hessian_unit), rule[6] * hessian_unit, *rule[7:],
    )  # fmt: skip
    for k in range(work.candidates.shape[0]):
        work.candidates[k] = candidates[0, k]
    n_nodes = grow_vectors(columns, own, sample, work, tree, signs, groups, seeds[0])
    if work.used[1]:
        return np.int64(NO_SPACE)
    describe_nodes(own, loss, sample, tree, value, n_nodes, hessian_unit, moment_unit)
    now.starts[0] = 0
    now.starts[1] = n_nodes
    if not weights.are_ones:
        for row in range(columns.n_rows):
            if weights.whole[row] == 0:
                now.leaves[0, row] = leaf_of(columns, tree, work.branches, X, row)
    if loss.kind != GIVEN:
        add_values(columns, loss, now, tree, work.branches, value, held, held_scores)
    return n_nodes
