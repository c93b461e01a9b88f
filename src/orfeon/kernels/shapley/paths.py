"""Exact Shapley values of trees, whose missing features follow the training samples.

The game of a leaf with value v is v times a product over the features of its path: o (the row
follows all tests of the feature) for a known feature, z (share of the training samples) for an
unknown one. Its Shapley values are integrals of polynomials (Owen's multilinear extension)

    phi_j = v * integral over t from 0 to 1 of (o_j - z_j) * product over i != j of f_i(t),
    f_i(t) = t * o_i + (1 - t) * z_i

which Gauss's quadrature with half as many points as features gives exactly. On the way down a
tree, ``reach`` holds the product of all f at each point; on the way up, ``below`` sums it over the
leaves, times their values. Where a feature is tested again, its f is replaced: the edge then takes
the difference of the ``odds`` (o - z) / f below and above it. A tree of L leaves and at most D
features on a path costs a row L D operations, as in Yu et al. (2022), whose polynomials are
evaluated at other points.

Rows are processed in blocks, the innermost loop runs over them.

References
----------
Lundberg et al. (2020). From local explanations to global understanding with explainable AI for
trees. Nature Machine Intelligence 2, 56-67.
Yu et al. (2022). Linear TreeShap. Advances in Neural Information Processing Systems 35.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.utils.jit import array_step, kernel, with_step


@array_step
def branches_of(node, x, feature, threshold, missing, is_categorical, branches, n_rows, taken):
    """The branch that each row of a block takes at a node."""
    j = feature[node]
    cut = threshold[node]
    values = x[j]
    default = np.int32(missing[node])
    if is_categorical[j]:
        start = np.int64(cut)
        for r in range(n_rows):
            value = values[r]
            known = value == value
            taken[r] = np.int32(branches[start + np.int64(value)]) if known else default
    else:
        for r in range(n_rows):
            value = values[r]
            above = np.int32(1) if value > cut else np.int32(0)
            taken[r] = above if value == value else default


@array_step
def followed(taken, branch, share, n_rows, follows):
    """Whether rows take a branch: 1, 0, or its share where they take all of them."""
    b = np.int32(branch)
    for r in range(n_rows):
        one = 1.0 if taken[r] == b else 0.0
        follows[r] = share if taken[r] == np.int32(65_535) else one


@array_step
def multiplied(values, factors, n_rows):
    for r in range(n_rows):
        values[r] *= factors[r]


@array_step
def descend_first(follows, z, points, n_points, above, reach, odds, delta, n_rows):
    """One level down, on a feature that is tested for the first time."""
    for q in range(n_points):
        t = points[q]
        low = (1.0 - t) * z
        high = t + low
        odds_high = (1.0 - z) / high
        odds_low = -1.0 / (1.0 - t) if z > 0.0 else 0.0
        for r in range(n_rows):
            is_in = follows[r] != 0.0
            one = odds_high if is_in else odds_low
            odds[q, r] = one
            delta[q, r] = one
            reach[q, r] = above[q, r] * (high if is_in else low)


@array_step
def descend_again(follows, z, before, z_before, odds_before, points, n_points, above, reach, odds,
                  delta, n_rows):  # fmt: skip
    """One level down, on a feature that was tested ``before``."""
    for q in range(n_points):
        t = points[q]
        low = (1.0 - t) * z
        high = t + low
        odds_high = (1.0 - z) / high
        odds_low = -1.0 / (1.0 - t) if z > 0.0 else 0.0
        low_before = (1.0 - t) * z_before
        high_before = t + low_before
        stays_in = high / high_before
        goes_out = low / high_before
        is_out = low / low_before if low_before > 0.0 else 0.0
        for r in range(n_rows):
            is_in = follows[r] != 0.0
            one = odds_high if is_in else odds_low
            odds[q, r] = one
            delta[q, r] = one - odds_before[q, r]
            outside = goes_out if before[r] != 0.0 else is_out
            reach[q, r] = above[q, r] * (stays_in if is_in else outside)


@array_step
def descend_first_in_part(follows, z, points, n_points, above, reach, odds, delta, n_rows):
    """The same for rows that may take several branches in part."""
    for q in range(n_points):
        t = points[q]
        low = (1.0 - t) * z
        for r in range(n_rows):
            f = t * follows[r] + low
            one = (follows[r] - z) / f if f > 0.0 else 0.0
            odds[q, r] = one
            delta[q, r] = one
            reach[q, r] = above[q, r] * f


@array_step
def descend_again_in_part(follows, z, before, z_before, odds_before, points, n_points, above,
                          reach, odds, delta, n_rows):  # fmt: skip
    """The same for rows that may take several branches in part."""
    for q in range(n_points):
        t = points[q]
        low = (1.0 - t) * z
        low_before = (1.0 - t) * z_before
        for r in range(n_rows):
            f = t * follows[r] + low
            one = (follows[r] - z) / f if f > 0.0 else 0.0
            odds[q, r] = one
            delta[q, r] = one - odds_before[q, r]
            f_before = t * before[r] + low_before
            reach[q, r] = above[q, r] * f / f_before if f_before > 0.0 else 0.0


@array_step
def at_leaf(values, node, n_columns, weights, n_points, reach, below, n_rows):
    """What a leaf adds at each point."""
    for k in range(n_columns):
        v = values[node, k]
        for q in range(n_points):
            w = v * weights[q]
            for r in range(n_rows):
                below[k, q, r] = w * reach[q, r]


@array_step
def sum_below(below, n_columns, n_points, above, is_first, n_rows):
    """Add the sums of a child to those of its parent."""
    for k in range(n_columns):
        for q in range(n_points):
            if is_first:
                for r in range(n_rows):
                    above[k, q, r] = below[k, q, r]
            else:
                for r in range(n_rows):
                    above[k, q, r] += below[k, q, r]


@array_step
def give_feature(j, level, below, odds, delta, latest, tested, n_players, n_columns, column,
                 n_points, phi, n_rows):  # fmt: skip
    """The feature of an edge gets its part of the leaves below."""
    for k in range(n_columns):
        for q in range(n_points):
            for r in range(n_rows):
                phi[j, column + k, r] += below[level, k, q, r] * delta[level, q, r]


@array_step
def give_pairs(j, level, below, odds, delta, latest, tested, n_players, n_columns, column, n_points,
               phi, n_rows):  # fmt: skip
    """The same, and each pair of the feature with one above it gets half of its interaction."""
    give_feature(
        j * n_players + j, level, below, odds, delta, latest, tested, n_players, n_columns, column,
        n_points, phi, n_rows,
    )  # fmt: skip
    for other in range(1, level):
        i = tested[other]
        if latest[i] != other:
            continue
        cell = j * n_players + i
        for k in range(n_columns):
            for q in range(n_points):
                for r in range(n_rows):
                    both = delta[level, q, r] * odds[other, q, r]
                    phi[cell, column + k, r] += 0.5 * below[level, k, q, r] * both


@array_step
def widest_path(tree_start, t, player, first_child, n_children, count, stack, place):
    """Number of different features on a path of a tree, at most, and its depth."""
    base = tree_start[t]
    depth = 0
    distinct = 0
    most = 0
    deepest = 0
    stack[0] = 0
    place[0] = 0
    while depth >= 0:
        at = base + stack[depth]
        if place[depth] < n_children[at]:
            if place[depth] == 0:
                if count[player[at]] == 0:
                    distinct += 1
                count[player[at]] += 1
            child = first_child[at] + place[depth]
            place[depth] += 1
            depth += 1
            stack[depth] = child
            place[depth] = 0
            most = max(most, distinct)
            deepest = max(deepest, depth)
        else:
            if n_children[at] > 0:
                count[player[at]] -= 1
                if count[player[at]] == 0:
                    distinct -= 1
            depth -= 1
    return most, deepest


@kernel
def path_sizes(tree_start, player, first_child, n_children, n_players, sizes):
    """Number of different features on the widest path of each tree, and its depth."""
    most = 0
    for t in range(tree_start.shape[0] - 1):
        most = max(most, tree_start[t + 1] - tree_start[t])
    count = np.zeros(n_players, np.int64)
    stack = np.empty(most + 1, np.int64)
    place = np.empty(most + 1, np.int64)
    for t in range(tree_start.shape[0] - 1):
        width, depth = widest_path(
            tree_start, t, player, first_child, n_children, count, stack, place
        )
        sizes[t, 0] = width
        sizes[t, 1] = depth


first_step = descend_first
again_step = descend_again
give_step = give_feature


def _add_path_values(tree_start, feature, player, threshold, first_child, n_children, missing,
                     is_categorical, branches, part, share, values, column, sizes, points, weights,
                     X, first, last, block, n_players, out):  # fmt: skip
    """Add the Shapley values of rows to ``out`` (rows, players or their pairs, outputs)."""
    # ``part`` holds the part of a row that takes all branches of a node, ``share`` that of an
    # unknown row. The players are features, or groups of them.
    n_columns = values.shape[1]
    n_cells = out.shape[1]
    n_outputs = out.shape[2]
    n_features = X.shape[1]
    levels = 1
    most = 1
    for t in range(sizes.shape[0]):
        levels = max(levels, sizes[t, 1] + 1)
        most = max(most, (sizes[t, 0] + 1) // 2)
    x = np.empty((n_features, block))
    phi = np.empty((n_cells, n_outputs, block))
    taken = np.empty((levels, block), np.int32)
    follows = np.empty((levels, block))
    z = np.empty(levels)
    reach = np.empty((levels, most, block))
    odds = np.empty((levels, most, block))
    delta = np.empty((levels, most, block))
    below = np.empty((levels, n_columns, most, block))
    node_at = np.empty(levels, np.int64)
    child_at = np.empty(levels, np.int64)
    tested = np.empty(levels, np.int64)
    before = np.empty(levels, np.int64)
    latest = np.full(n_players, -1, np.int64)
    for begin in range(first, last, block):
        n_rows = min(block, last - begin)
        for j in range(n_features):
            for r in range(n_rows):
                x[j, r] = X[begin + r, j]
        phi[:] = 0.0
        for t in range(tree_start.shape[0] - 1):
            base = tree_start[t]
            if n_children[base] == 0:
                continue
            n_points = (sizes[t, 0] + 1) // 2
            level = 0
            node_at[0] = base
            child_at[0] = 0
            reach[0] = 1.0
            branches_of(
                base, x, feature, threshold, missing, is_categorical, branches, n_rows, taken[0]
            )
            while level >= 0:
                at = node_at[level]
                place = child_at[level]
                if place < n_children[at]:
                    j = player[at]
                    child = base + first_child[at] + place
                    child_at[level] += 1
                    p = latest[j]
                    level += 1
                    node_at[level] = child
                    child_at[level] = 0
                    tested[level] = j
                    before[level] = p
                    latest[j] = level
                    followed(taken[level - 1], place, part[child], n_rows, follows[level])
                    z[level] = share[child]
                    if p < 0:
                        first_step(
                            follows[level], z[level], points[n_points], n_points, reach[level - 1],
                            reach[level], odds[level], delta[level], n_rows,
                        )  # fmt: skip
                    else:
                        z[level] *= z[p]
                        multiplied(follows[level], follows[p], n_rows)
                        again_step(
                            follows[level], z[level], follows[p], z[p], odds[p], points[n_points],
                            n_points, reach[level - 1], reach[level], odds[level], delta[level],
                            n_rows,
                        )  # fmt: skip
                    if n_children[child] == 0:
                        at_leaf(
                            values, child, n_columns, weights[n_points], n_points, reach[level],
                            below[level], n_rows,
                        )  # fmt: skip
                    else:
                        branches_of(
                            child, x, feature, threshold, missing, is_categorical, branches, n_rows,
                            taken[level],
                        )  # fmt: skip
                    continue
                if level > 0:
                    j = tested[level]
                    give_step(
                        j, level, below, odds, delta, latest, tested, n_players, n_columns,
                        column[t], n_points, phi, n_rows,
                    )  # fmt: skip
                    sum_below(
                        below[level], n_columns, n_points, below[level - 1],
                        child_at[level - 1] == 1, n_rows,
                    )  # fmt: skip
                    latest[j] = before[level]
                level -= 1
        for r in range(n_rows):
            for cell in range(n_cells):
                for k in range(n_outputs):
                    out[begin + r, cell, k] += phi[cell, k, r]


_IN_PART: dict[str, Any] = {
    "first_step": descend_first_in_part,
    "again_step": descend_again_in_part,
}
add_path_values = kernel(with_step(_add_path_values, "add_path_values"))
add_path_values_in_part = kernel(with_step(_add_path_values, "add_path_values_in_part", **_IN_PART))
add_pair_values = kernel(with_step(_add_path_values, "add_pair_values", give_step=give_pairs))
add_pair_values_in_part = kernel(
    with_step(_add_path_values, "add_pair_values_in_part", give_step=give_pairs, **_IN_PART)
)
