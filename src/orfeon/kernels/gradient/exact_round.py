"""A round of Newton boosting over every threshold in one call.

On small tables calls cost more than trees. So one call computes the derivatives of the common
losses, grows the trees of all scores, computes the values of their leaves, and adds these to the
scores of the samples and of a validation set. Of other losses it only grows the trees.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.records import Columns
from orfeon.kernels.gradient import log_loss, softmax
from orfeon.kernels.gradient.exact_grow import Sample, Tree, grow
from orfeon.kernels.gradient.exact_search import HESSIAN, MOMENT, Work
from orfeon.kernels.gradient.exact_symmetric import grow_symmetric
from orfeon.kernels.gradient.newton_scores import Rule, soft
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step, kernel

#: Losses: derivatives and values of leaves are computed elsewhere, or here.
GIVEN, SQUARED_ERROR, LOG_LOSS, MULTINOMIAL = range(4)

#: In place of a number of nodes.
NO_SPACE, NOT_FINITE = -1, -2
#: Sums of second derivatives stay below two to this power, so that a float holds them exactly.
_HESSIAN_BITS = 52
#: Sums of gradients stay below two to this power, in 64-bit integers.
_MOMENT_BITS = 61
#: A derivative keeps all bits of a float if there is room.
_FLOAT_BITS = 53
#: Squares of larger powers of two would not be floats.
_MOST_BITS = 400


@record
class Weights:
    """The weights of a round: as they are, and as integers."""

    real: Any
    whole: Any  # int64; 0 = absent
    total: int
    scale: float  # integer units per unit of weight
    is_exact: int  # whether all are whole numbers
    are_ones: int


@record
class Loss:
    kind: int
    largest_step: float
    learning_rate: float
    y: Any  # float64; targets or class codes
    l2: float
    l1: float


@record
class Round:
    """What a round computes; trees one after the other."""

    scores: Any  # (n_scores, n_rows), like the next three
    gradients: Any
    hessians: Any
    leaves: Any  # int32, from 0 in each tree
    starts: Any  # of the trees, and the end of the last
    value: Any  # of each node
    moments: Any  # of leaves; scratch
    curvatures: Any
    pairs: Any  # int64; scratch
    highest: Any  # of each row; scratch
    sums: Any


@array_step
def exponent_above(size):
    """Exponent of a power of two above a number."""
    return np.int64(math.frexp(size)[1]) if size > 0.0 else np.int64(0)


@array_step
def code_pairs(gradients, hessians, t, weights, pairs):
    """Write moment and hessian of each row as integers; their units per unit."""
    n_rows = gradients.shape[1]
    most = 0.0
    steepest = hessians[t, 0]
    for i in range(n_rows):
        row = np.uint64(i)
        most = max(most, abs(gradients[t, row]))
        steepest = max(steepest, hessians[t, row])
    bits = np.int64(0)
    while (weights.total >> bits) > 0:
        bits += 1
    above = exponent_above(most)
    to_moment = min(_MOMENT_BITS - above - bits, _FLOAT_BITS - above, _MOST_BITS)
    to_hessian = min(_HESSIAN_BITS - exponent_above(steepest) - bits, _MOST_BITS)
    moment_scale = math.ldexp(1.0, int(to_moment))
    hessian_scale = math.ldexp(1.0, int(to_hessian))
    for i in range(n_rows):
        row = np.uint64(i)
        at = row << np.uint64(1)
        gradient = gradients[t, row] * moment_scale
        hessian = hessians[t, row] * hessian_scale
        whole = weights.whole[row]
        if weights.is_exact:  # a weight of two equals the row twice, to the bit
            pairs[at] = np.int64(np.rint(gradient)) * whole
            pairs[at + np.uint64(1)] = np.int64(max(np.rint(hessian), 1.0)) * whole
        else:
            pairs[at] = np.int64(np.rint(gradient * float(whole)))
            least = 1.0 if whole > 0 else 0.0
            pairs[at + np.uint64(1)] = np.int64(max(np.rint(hessian * float(whole)), least))
    return hessian_scale * weights.scale, moment_scale * weights.scale


@array_step
def write_derivatives(loss, now):
    """Write the derivatives of a known loss; returns whether they are finite."""
    y = loss.y
    if loss.kind == SQUARED_ERROR:
        for i in range(y.shape[0]):
            row = np.uint64(i)
            now.gradients[0, row] = y[row] - now.scores[0, row]
            now.hessians[0, row] = 1.0
    elif loss.kind == LOG_LOSS:
        log_loss.write_derivatives(y, now.scores[0], now.gradients[0], now.hessians[0])
    elif loss.kind == MULTINOMIAL:
        n_classes = now.scores.shape[0]
        scale = float(n_classes) / float(max(n_classes - 1, 1))
        softmax.write_derivatives(
            y, now.scores, scale, now.gradients, now.hessians, now.highest, now.sums
        )
    else:  # checked before
        return True
    total = 0.0
    for k in range(now.gradients.shape[0]):
        for i in range(y.shape[0]):
            total += abs(now.gradients[k, np.uint64(i)])
    return total < np.inf


@array_step
def leaf_of(columns, tree, branches, X, row):
    """The leaf of an encoded row."""
    node = np.int64(0)
    while tree.n_children[node]:
        f = np.int64(tree.feature[node])
        x = X[row, f]
        if x != x:
            side = np.int64(tree.missing[node])
        elif columns.kind[f] == CATEGORICAL:
            side = np.int64(branches[np.int64(tree.threshold[node]) + np.int64(x)])
        else:
            side = np.int64(x > tree.threshold[node])
        node = np.int64(tree.first_child[node]) + side
    return node


@array_step
def describe_nodes(rule, tree, value, n_nodes, hessian_unit, moment_unit):
    """Write the value of each node by its sums; gains and bounds in units of the loss."""
    of_score = moment_unit * moment_unit / hessian_unit
    of_value = moment_unit / hessian_unit
    for node in range(n_nodes):
        moment = float(tree.stats[node, MOMENT])
        best = soft(moment, rule.l1) / (float(tree.stats[node, HESSIAN]) + rule.l2)
        best = min(max(best, tree.bounds[node, 0]), tree.bounds[node, 1])
        value[node] = best / of_value
        tree.gain[node] /= of_score
        for k in range(2):
            tree.bounds[node, k] /= of_value


@array_step
def fit_leaves(loss, weights, now, tree, t, base, n_nodes):
    """Write the values of the leaves of a tree: penalised Newton steps times the learning rate."""
    for node in range(n_nodes):
        now.moments[node] = 0.0
        now.curvatures[node] = 0.0
    for i in range(now.leaves.shape[1]):
        row = np.uint64(i)
        leaf = np.uint64(now.leaves[t, row])
        now.moments[leaf] += now.gradients[t, row] * weights.real[row]
        now.curvatures[leaf] += now.hessians[t, row] * weights.real[row]
    for node in range(n_nodes):
        moment = now.moments[node]
        hessian = now.curvatures[node]
        gentle = soft(moment, loss.l1)
        below = hessian + loss.l2
        if loss.kind == SQUARED_ERROR:
            value = moment / hessian if hessian > 0.0 else 0.0
            if moment != 0.0:
                value *= gentle / moment
            elif loss.l1 > 0.0:
                value *= 0.0
            if hessian > 0.0:
                value *= hessian / below
        elif abs(gentle) >= loss.largest_step * below:
            value = np.sign(gentle) * loss.largest_step
        else:
            value = gentle / below
        value = min(max(value, tree.bounds[node, 0]), tree.bounds[node, 1])
        now.value[base + node] = value * loss.learning_rate


@kernel
def newton_round(columns, rule, weights, work, tree, signs, groups, seeds, candidates, loss, now, X,
                 held, held_scores):  # fmt: skip
    """Grow the trees of a round from the fields of the records; returns their number of nodes.

    ``rule`` is in units of the loss and per unit of weight, ``candidates`` has a row for each tree.
    Returns a negative number if gradients are not finite, or if there is too little space for
    branch tables; nothing has changed then.
    """
    columns = Columns(*columns)
    weights = Weights(*weights)
    loss = Loss(*loss)
    now = Round(*now)
    if not write_derivatives(loss, now):
        return np.int64(NOT_FINITE)
    used = work[20]
    first_branch = np.int64(0)
    base = np.int64(0)
    now.starts[0] = 0
    for t in range(seeds.shape[0]):
        hessian_unit, moment_unit = code_pairs(now.gradients, now.hessians, t, weights, now.pairs)
        least = rule[2] * hessian_unit * (1.0 - 1e-9)
        own = Rule(
            rule[0] * hessian_unit, rule[1] * moment_unit,
            # Twice as much still fits into an integer.
            max(1, np.int64(math.ceil(min(least, 2.0**61)))), rule[3], rule[4],
            rule[5] * (moment_unit * moment_unit / hessian_unit), rule[6] * hessian_unit, *rule[7:],
        )  # fmt: skip
        branches = work[19][first_branch:]
        some = Tree(
            tree[0][base:], tree[1][base:], tree[2][base:], tree[3][base:], tree[4][base:],
            tree[5][base:], tree[6][base:], tree[7][base:], tree[8], tree[9], now.leaves[t],
        )  # fmt: skip
        candidate = work[4]
        for k in range(candidate.shape[0]):
            candidate[k] = candidates[t, k]
        sample = Sample(now.pairs, weights.whole)
        scratch = Work(*work[:19], branches, used, work[21], work[22])
        if own.is_symmetric:
            n_nodes = grow_symmetric(columns, own, sample, scratch, some, signs, groups, seeds[t])
        else:
            n_nodes = grow(columns, own, sample, scratch, some, signs, groups, seeds[t])
        if used[1]:
            return np.int64(NO_SPACE)
        describe_nodes(own, some, now.value[base:], n_nodes, hessian_unit, moment_unit)
        if not weights.are_ones:
            for row in range(columns.n_rows):
                if weights.whole[row] == 0:
                    now.leaves[t, row] = leaf_of(columns, some, branches, X, row)
        if loss.kind != GIVEN:
            fit_leaves(loss, weights, now, some, t, base, n_nodes)
        for node in range(n_nodes):
            f = some.feature[node]
            if some.n_children[node] and columns.kind[f] == CATEGORICAL:
                some.threshold[node] += float(first_branch)
        first_branch += used[0]
        base += n_nodes
        now.starts[t + 1] = base
    used[0] = first_branch
    if loss.kind == GIVEN:
        return base
    branches = work[19]
    for t in range(seeds.shape[0]):
        begin = now.starts[t]
        for i in range(now.leaves.shape[1]):
            row = np.uint64(i)
            now.scores[t, row] += now.value[begin + np.int64(now.leaves[t, row])]
        if held.shape[0]:
            some = Tree(
                tree[0][begin:], tree[1][begin:], tree[2][begin:], tree[3][begin:],
                tree[4][begin:], tree[5][begin:], tree[6][begin:], tree[7][begin:], tree[8],
                tree[9], now.leaves[t],
            )  # fmt: skip
            for i in range(held.shape[0]):
                held_scores[t, i] += now.value[begin + leaf_of(columns, some, branches, held, i)]
    return base
