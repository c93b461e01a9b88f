"""Tuples of arrays that the functions of random cuts share; inside a function they cost nothing."""

from __future__ import annotations

from typing import Any, NamedTuple


class Features(NamedTuple):
    """The arrays of an :class:`orfeon.data.unsorted.UnsortedTable`."""

    rows: Any
    codes: Any
    keys: Any
    kind: Any
    start: Any
    n_values: Any
    values: Any
    value_start: Any
    slices: Any
    slices_per_unit: Any


class Sample(NamedTuple):
    labels: Any  # uint16 class codes
    weights: Any  # int64, 0 = absent
    moments: Any  # int64 weight times target, for regression
    targets: Any  # float64, for regression
    light: Any  # whether the weights fit in the items


class Limits(NamedTuple):
    criterion: Any
    max_depth: Any
    max_leaves: Any
    max_features: Any
    min_split: Any
    min_leaf: Any
    min_decrease: Any
    tie: Any  # weights closer than this are tied when a node is labelled
    stop: Any  # its first word becomes 1 if the result is no longer wanted


class Cells(NamedTuple):
    """Values of candidate features in a node's rows; two halves, one of which holds the best."""

    keys: Any  # int64
    codes: Any  # uint8


class Scratch(NamedTuple):
    """Scratch of one thread, for nodes."""

    items: Any  # grouped by node
    spare: Any
    words: Any  # weights of the node's rows
    labels: Any  # and their classes, as numbered in the node
    candidates: Any  # features the tree may use, shuffled at every node
    constant: Any  # bits of the features known to be constant in the node
    local: Any  # the node's number of a class
    classes: Any  # the class of a number
    total: Any
    left: Any
    best_left: Any
    best_right: Any
    seen: Any  # by category
    present: Any  # categories
    sides: Any  # by category
    best_present: Any
    best_sides: Any  # in the order of best_present
    choice: Any  # the best cut so far; see below
    random: Any


#: Fields of ``choice``: the feature, where missing values go, the best cells' place and whether
#: they are codes, the cut, what is on the left beyond it, the number of categories.
FEATURE, GOES, PLACE, IS_CODED, CUT, BEYOND, N_PRESENT = 0, 1, 2, 3, 4, 5, 6


class Frontier(NamedTuple):
    """Nodes to search, and nodes searched that wait to be split."""

    opened: Any  # node, begin, end and depth of the nodes to search
    inherited: Any  # bits of the features that are constant in them
    entries: Any  # see below
    gain: Any
    threshold: Any
    left: Any  # statistics of the left sides
    constant: Any


#: Fields of an entry of the frontier.
BEGIN, MIDDLE, END, NODE, DEPTH, SPLIT_FEATURE, SPLIT_GOES, BRANCHES = 0, 1, 2, 3, 4, 5, 6, 7
#: Of the left child, and of the right one after it: label, weight, and whether it is impure.
LABEL, WEIGHT, IS_IMPURE, N_FIELDS = 8, 10, 12, 14


class Tree(NamedTuple):
    """The nodes of a growing tree (:class:`orfeon.kernels.cart.records.Nodes`)."""

    threshold: Any
    feature: Any
    first_child: Any
    n_children: Any
    missing: Any
    label: Any
    stats: Any
    spread: Any
    branches: Any
    used: Any
