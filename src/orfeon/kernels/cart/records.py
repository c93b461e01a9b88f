"""Records that the growing kernels share."""

from __future__ import annotations

from typing import Any

from orfeon.kernels.record import record


@record
class Columns:
    """A presorted table; flat arrays, feature after feature."""

    records: Any
    ranks: Any
    segment: Any
    kind: Any
    n_values: Any
    value_start: Any
    values: Any  # by rank
    shift: Any
    mask: Any
    n_rows: int


@record
class Sample:
    labels: Any  # uint16 class codes
    weights: Any  # int64, 0 = absent
    packed: Any  # uint64 weight and class in one word, for the packed criteria
    moments: Any  # int64 weight times target, for regression
    targets: Any  # float64, for regression


@record
class Options:
    criterion: int
    n_stats: int
    uses_segments: int  # whether the search needs sorted records
    max_depth: int
    max_leaves: int
    min_split: int
    min_leaf: int
    min_decrease: float
    max_features: int
    n_best: int
    n_combined: int
    in_order: int  # whether features are visited in order, so that the first wins ties
    n_drawn: int  # the most samples that decide a split
    deletion: float  # share of the greatest loss below which a feature is deleted
    tie: int  # weights closer than this are tied when a node is labelled
    stop: Any  # its first word becomes 1 if the result is no longer wanted


@record
class Nodes:
    threshold: Any
    feature: Any
    first_child: Any
    n_children: Any
    missing: Any
    label: Any
    stats: Any  # int64 sums
    spread: Any  # float64 sum of squared deviations, for regression


@record
class Counts:
    """Scratch for searching without sorted records."""

    uses_words: Any  # whether some features are searched by counting
    words: Any  # of the node's rows, in their order
    field: Any  # place of each class in the words
    field_total: Any  # weight of each field
    left_classes: Any  # class weights on the left, in 32 bits
    total_classes: Any
    cells: Any  # weights by code and class
    bins: Any  # sums of words by code or by bin of ranks; zero between searches
    seen: Any  # codes that occur, a bit each; zero between searches
    near: Any  # ranks of the node's rows, in their order
    marked: Any  # bins to be searched
    first_fine: Any  # where their ranks begin in ``fine``
    within: Any  # mask of the bits of a rank within its bin
    fine: Any  # sums of words by rank; zero between searches
    listed_ranks: Any  # in marked bins, with their sums
    listed_words: Any
    digits: Any  # for sorting
    beside: Any  # the ranks beside a cut
    constant: Any  # features constant in the node, a bit each
    open_constant: Any  # the same for the nodes of ``open``
    frontier_constant: Any
    delayed: Any  # node and the ranks beside the cut, for thresholds to be looked up


@record
class Work:
    """Scratch of one thread, for trees of one table."""

    segments: Any  # records of every sorted feature, grouped by node, then a buffer
    rows: Any  # grouped by node
    spare_rows: Any
    goes_left: Any
    candidates: Any  # features the tree may use, shuffled at every node
    total: Any
    left: Any
    aside: Any  # statistics of missing values, or of the best left side so far
    count: Any  # by category or rank
    histogram: Any  # by category or rank; for sums of two numbers four times
    present: Any
    key: Any
    chosen: Any  # categories of the best subset so far
    trial: Any  # those of the subset under trial
    projected: Any  # values of the linear combination under trial
    term_feature: Any  # best linear combination so far, then the one under trial
    term_weight: Any
    choice: Any  # feature, cut, next, missing goes left
    top_score: Any
    top_choice: Any
    random: Any
    open: Any  # node, begin, end and depth of the nodes to search
    frontier: Any  # begin, end, node, depth and choice of the nodes searched
    frontier_gain: Any
    frontier_threshold: Any
    table: Any  # n log2 n
    counts: Any


@record
class Arenas:
    """Storage for branch tables and linear combinations of finished searches."""

    branches: Any
    term_start: Any
    term_feature: Any
    term_weight: Any
    used: Any  # branches, projections, terms; then 1 if something did not fit
