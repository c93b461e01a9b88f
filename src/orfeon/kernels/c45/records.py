"""What C4.5's kernels work on.

Related arrays are kept as one array of records, and records in few tuples: the compiler's time
goes with the number of arrays that its functions pass on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: A feature of the table: its place among the sorted records, -1 when it is categorical.
FEATURE = np.dtype(
    [("segment", "<i8"), ("n_values", "<i8"), ("value_start", "<i8"), ("has_missing", "<i8")]
)
#: The best test on a feature at the node that is searched; no split information, no test.
#: ``tested`` is the last node whose path upwards had the feature in it.
TEST = np.dtype(
    [("gain", "<f8"), ("info", "<f8"), ("cut", "<i8"), ("width", "<i8"), ("tested", "<i8")]
)
#: A sample in the node that is searched: its weight, the same if its class is 1 else 0, and
#: where weights are whole numbers both in one word, ``weight << 32 | ones``.
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
#: The weight of a category, or group of categories, and the branch a category takes.
CATEGORY = np.dtype([("weight", "<f8"), ("branch", "<i8")])
#: A node of the tree being grown. ``cut`` is the greatest rank of the first branch, or where the
#: branch table begins; ``begin`` and ``end`` are the node's place among the samples.
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
        ("whole", "<i8"),
        ("waiting", "<i8"),
    ]
)
#: A sample in a node: its row and its share, the product of the branch fractions on its way.
MEMBER = np.dtype([("row", "<i8"), ("share", "<f8")])
#: A child of the node that is split: its samples, where the next one goes, its known fraction.
CHILD = np.dtype([("size", "<i8"), ("put", "<i8"), ("fraction", "<f8")])
#: A finished node.
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
    """How trees are grown."""

    n_classes: int
    min_weight: float  # in at least two branches
    ratio: bool  # gain ratio instead of gain
    penalty: bool  # on thresholds
    grouping: bool  # of categories
    shuffle: bool  # the order in which features are tried, which decides ties
    max_features: int
    max_depth: int


class Search(NamedTuple):
    """Scratch of the search for a test."""

    samples: Any  # of SAMPLE, by row
    tests: Any  # of TEST, by feature
    sums: Any  # of SUMS, by class
    categories: Any  # of CATEGORY
    histogram: Any  # class weights of each category
    groups: Any  # by feature: the branch of each category, when they are grouped
    known: Any  # class weights of the known values
    candidates: Any  # the features to look at
    table: Any  # n ln n
    random: Any


class Tree(NamedTuple):
    """The tree being grown, parents before children, the children of a node together."""

    nodes: Any  # of GROWN
    value: Any  # class weights
    branches: Any
    used: Any  # nodes, branch entries, waiting nodes, 1 + unknown samples of a split under way


class Work(NamedTuple):
    """The samples of all nodes that wait to be searched."""

    members: Any  # of MEMBER
    spare_members: Any
    segments: Any  # records of every ordered feature, one feature after the other
    spare: Any
    weights: Any  # by row, in the whole tree
    shares: Any  # by row, in the node that is split
    branch: Any  # by row
    children: Any  # of CHILD
