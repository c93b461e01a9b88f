"""Checks of forests in model files: no index out of bounds, no cost out of proportion.

Nodes refer to branch tables and projections by number. A small file in which all nodes refer to
one large table, or all nodes of a path to one long projection, would take much memory or time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from orfeon.data.schema import MAX_CATEGORIES
from orfeon.forest import Forest
from orfeon.io import limits
from orfeon.io.errors import require
from orfeon.utils.types import Integers

Fields = dict[str, Any]


def check_forest(fields: Fields) -> None:
    forest = Forest(**fields)
    require(len(forest.n_children) == len(forest.nodes), "n_children must have one entry per node.")
    if forest.n_classes == 0:
        # Trees of several outputs, or of boosting of several classes, know their weights.
        is_known = forest.leaf_weight is not None
        is_wide = is_known and forest.value.dtype == np.float64 and forest.value.shape[1] > 1
        is_right = is_wide or forest.value.shape[1:] == (1,)
        require(is_right, "value must have one column in regression.")
    if forest.n_categories.any():
        _check_tables(forest)
    forest.validate()
    if len(forest.projections[1]):
        _check_projections(forest)


def forest_from_state(fields: Fields) -> Forest:
    """The forest of checked arrays; nodes that share a branch table get one each."""
    forest = Forest(**fields)
    if not forest.n_categories.any():
        return forest
    at, first, width = tables_of(forest)
    if len(np.unique(first)) == len(first):
        return forest
    nodes, starts = forest.nodes.copy(), np.cumsum(width) - width
    entries = np.repeat(first - starts, width) + np.arange(width.sum())
    nodes["threshold"][at] = starts
    return replace(forest, nodes=nodes, branches=forest.branches[entries])


def tables_of(forest: Forest) -> tuple[Integers, Integers, Integers]:
    """The categorical tests of a forest: nodes, begins of their branch tables, and widths."""
    inner = np.flatnonzero(forest.n_children > 0)
    feature = forest.feature[inner]
    is_one = (feature >= 0) & (feature < forest.n_features)
    width = np.where(is_one, forest.n_categories[np.where(is_one, feature, 0)], 0)
    some = width > 0
    first = forest.threshold[inner[some]]
    require(
        ((first >= 0) & (first <= len(forest.branches))).all(),
        "a categorical test has its branches outside the table of branches.",
    )
    return inner[some], first.astype(np.int64), width[some]


def _check_tables(forest: Forest) -> None:
    """Branch tables must not overlap; repeated trees may share theirs, within a limit."""
    require(forest.n_categories.max() <= MAX_CATEGORIES, "a feature has too many categories.")
    _, first, width = tables_of(forest)
    starts, where, of = np.unique(first, return_index=True, return_inverse=True)
    ends = starts + width[where]
    is_apart = (starts[1:] >= ends[:-1]).all() and (first + width == ends[of]).all()
    require(is_apart, "branch tables overlap.")
    allowed = len(forest.branches) + limits.FREE_ENTRIES
    require(
        int(width.sum()) <= allowed,
        f"its nodes refer to branch tables of {int(width.sum())} entries; there are "
        f"{len(forest.branches)}.",
    )


def _check_projections(forest: Forest) -> None:
    """Limit the cost of a row: the terms of all projections on the costliest path of each tree."""
    n_terms = np.diff(forest.projections[0])
    is_projected = (forest.n_children > 0) & (forest.feature < 0)
    cost = np.zeros(len(forest.nodes), np.int64)
    cost[is_projected] = n_terms[-1 - forest.feature[is_projected].astype(np.int64)]
    worst = np.maximum.reduceat(sums_from_roots(forest, cost), forest.tree_start[:-1])
    allowed = limits.MAX_USES * forest.nbytes + limits.FREE_ENTRIES
    require(
        float(worst.sum(dtype=np.float64)) <= allowed,
        f"a row may pass projections of {int(worst.sum())} terms; there are {n_terms.sum()}.",
    )


def sums_from_roots(forest: Forest, cost: Integers) -> Integers:
    """Sums over each node and its ancestors, by doubling, so that deep trees are no problem."""
    above, total = forest.parents(), cost.copy()
    inside = np.flatnonzero(above >= 0)
    while len(inside):
        # Each sum covers twice as many nodes as before.
        total[inside] += total[above[inside]]
        above[inside] = above[above[inside]]
        inside = inside[above[inside] >= 0]
    return total
