"""Records of C4.5's kernels: few structured arrays and tuples.

Compile time grows with the number of arrays passed between functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: A feature of the table; ``segment`` is its place among the sorted records, -1 if categorical.
FEATURE = np.dtype(
    [("segment", "<i8"), ("n_values", "<i8"), ("value_start", "<i8"), ("has_missing", "<i8")]
)
#: The best test on a feature at the current node; ``info`` (split information) is 0 if there is
#: none. ``tested`` is the last node with a test on the feature above it.
TEST = np.dtype(
    [("gain", "<f8"), ("info", "<f8"), ("cut", "<i8"), ("width", "<i8"), ("tested", "<i8")]
)
#: A sample at the current node: its weight, the same if its class is 1 else 0, and, if weights are
#: integers, both in one word, ``weight << 32 | ones``.
SAMPLE = np.dtype([("weight", "<f8"), ("ones", "<f8"), ("packed", "<u8"), ("label", "<i8")])
#: Running sums of a class on both sides of a cut.
SUMS = np.dtype(
    [
        ("low", "<f8"),
        ("high", "<f8"),
        ("low_term", "<f8"),
        ("high_term", "<f8"),
        ("low_count", "<i8"),
        ("high_count", "<i8"),
    ]
)
#: Weight of a category or group of categories, and the branch of a category.
CATEGORY = np.dtype([("weight", "<f8"), ("branch", "<i8")])
#: A node of the tree being grown. ``cut`` is the greatest rank of the first branch, or where the
#: branch table begins; ``begin`` and ``end`` delimit its samples; ``counted`` is 1 if all their
#: weights are integers.
GROWN = np.dtype(
    [
        ("feature", "<i8"),
        ("cut", "<i8"),
        ("first_child", "<i8"),
        ("n_children", "<i8"),
        ("parent", "<i8"),
        ("depth", "<i8"),
        ("begin", "<i8"),
        ("end", "<i8"),
        ("counted", "<i8"),
        ("waiting", "<i8"),
    ]
)
#: The portion of a sample in a node: its row, and the product of the branch fractions on its path.
PORTION = np.dtype([("row", "<i8"), ("share", "<f8")])
#: A child of the node being split: samples, where the next one goes, fraction of known values.
CHILD = np.dtype([("size", "<i8"), ("put", "<i8"), ("fraction", "<f8")])
FINISHED = np.dtype(
    [
        ("threshold", "<f8"),
        ("feature", "<i4"),
        ("first_child", "<i4"),
        ("n_children", "<u2"),
        ("missing", "<u2"),
        ("label", "<i4"),
    ]
)


class Columns(NamedTuple):
    """A table; flat arrays, feature after feature."""

    features: Any  # of FEATURE
    records: Any  # rank << shift | row, sorted, of every ordered feature
    ranks: Any
    values: Any
    shift: Any
    mask: Any
    n_rows: int


class Rules(NamedTuple):
    n_classes: int
    min_weight: float  # in at least two branches
    ratio: bool  # gain ratio instead of gain
    penalty: bool  # on thresholds
    grouping: bool  # of categories
    shuffle: bool  # the order of the features, which decides ties
    max_features: int
    max_depth: int
    stop: Any  # its word becomes 1 if the result is no longer wanted


class Search(NamedTuple):
    """Scratch of the search for a test."""

    samples: Any  # of SAMPLE, by row
    tests: Any  # of TEST, by feature
    sums: Any  # of SUMS, by class
    categories: Any  # of CATEGORY
    histogram: Any  # class weights of each category
    groups: Any  # by feature: the branch of each category, if they are grouped
    known: Any  # class weights of the known values
    candidates: Any  # features to search
    table: Any  # n ln n
    random: Any


class Tree(NamedTuple):
    """The tree being grown, parents before children, the children of a node together."""

    nodes: Any  # of GROWN
    value: Any  # class weights
    branches: Any
    used: Any  # nodes, branch entries, waiting nodes, 1 + missing values of a split under way


class Work(NamedTuple):
    """The samples of all nodes that wait to be searched."""

    portions: Any  # of PORTION
    spare_portions: Any
    segments: Any  # records of every ordered feature, one feature after the other
    spare: Any
    weights: Any  # by row, in the whole tree
    shares: Any  # by row, in the node being split
    branch: Any  # by row
    children: Any  # of CHILD
