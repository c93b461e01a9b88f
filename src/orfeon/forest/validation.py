"""Checks that the arrays of a forest describe trees, so that kernels stay within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orfeon.data.schema import MAX_CATEGORIES
from orfeon.forest.joining import NODE, PER_NODE
from orfeon.kernels.routing import check

if TYPE_CHECKING:
    from orfeon.forest.forest import Forest


def check_forest(forest: Forest) -> None:
    """Raise ValueError if anything is out of bounds or inconsistent."""
    _check_lengths(forest)
    _check_values(forest)
    _check_projections(forest)
    start = forest.tree_start
    bad = check.check_nodes(
        start, forest.feature, forest.threshold, forest.first_child, forest.n_children,
        forest.missing, forest.label, forest.n_classes, forest.n_categories,
        len(forest.projections[0]) - 1, forest.branches,
    )  # fmt: skip
    if bad:
        tree = int(np.searchsorted(start, bad - 1, side="right") - 1)
        raise ValueError(f"node {bad - 1 - start[tree]} of tree {tree} is inconsistent.")


def _check_lengths(forest: Forest) -> None:
    start, n = forest.tree_start, len(forest.nodes)
    if start.ndim != 1 or len(start) < 2 or start[0] != 0 or start[-1] != n:
        raise ValueError(f"tree_start must run from 0 to the number of nodes ({n}).")
    if (np.diff(start) < 1).any():
        raise ValueError("tree_start must be increasing: every tree has at least one node.")
    if forest.nodes.dtype != NODE:
        raise ValueError(f"nodes has dtype {forest.nodes.dtype}; {NODE} is expected.")
    for name in PER_NODE:
        array = getattr(forest, name)
        many = 0 if name == "label" and forest.n_classes == 0 else n
        if array is not None and len(array) != many:
            raise ValueError(f"{name} has {len(array)} entries; there are {n} nodes.")
    leaves = int((forest.n_children == 0).sum())
    for name, allowed in (("leaf_weight", (leaves,)), ("leaf_impurity", (0, leaves))):
        array = getattr(forest, name)
        if array is not None and len(array) not in allowed:
            raise ValueError(f"{name} has {len(array)} entries; there are {leaves} leaves.")


def _check_values(forest: Forest) -> None:
    value, n_classes = forest.value, forest.n_classes
    if value.ndim != 2 or (n_classes and value.shape[1] != n_classes):
        expected = (len(forest.nodes), n_classes or 1)
        raise ValueError(f"value has shape {value.shape}; {expected} is expected.")
    if not np.isfinite(value).all() or (n_classes and (value < 0).any()):
        raise ValueError("value must be finite, and class weights must not be negative.")
    for name in ("leaf_weight", "leaf_impurity"):
        array = getattr(forest, name)
        if array is not None and not (array >= 0).all():
            raise ValueError(f"{name} must hold numbers that are not negative.")
    many = forest.n_categories
    if many.ndim != 1 or not len(many) or many.min() < 0 or many.max() > MAX_CATEGORIES:
        raise ValueError(
            f"n_categories must hold a number from 0 to {MAX_CATEGORIES} for each feature."
        )


def _check_projections(forest: Forest) -> None:
    start, feature, weight = forest.projections
    ends = len(start) > 0 and start[0] == 0 and start[-1] == len(feature)
    if not ends or (np.diff(start) < 1).any():
        raise ValueError("projections must start at 0, grow, and end at the number of terms.")
    if len(weight) != len(feature) or not np.isfinite(weight).all():
        raise ValueError("projections need one finite weight for each feature they name.")
    if len(feature) and (feature.min() < 0 or feature.max() >= forest.n_features):
        raise ValueError(f"projections name features outside 0..{forest.n_features - 1}.")
