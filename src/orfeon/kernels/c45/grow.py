"""Growing C4.5 trees: any number of branches, samples with missing values in all of them.

A node owns a range of samples and of every ordered feature's sorted records. The node being split
lies on top, so its children take its place; they need more room if samples with missing values are
copied. Children that will not be split leave their records out.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.c45.gain_ratio import NO_TEST, choose_test
from orfeon.kernels.c45.information import SLACK, rounded
from orfeon.kernels.c45.partition import (
    LEAST_SHARE,
    assign_places,
    partition_portions,
    partition_segments,
)
from orfeon.kernels.c45.records import CHILD, GROWN, PORTION, Tree, Work
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import array_step, inlined, step

#: Features whose values number at least this share of the samples do not count in the average gain.
MANY_VALUES = 0.3


@step
def make_tree(n_nodes, n_branches, n_classes):
    return Tree(
        np.empty(n_nodes, GROWN),
        np.empty((n_nodes, n_classes)),
        np.empty(n_branches, np.uint16),
        np.zeros(4, np.int64),
    )


@step
def enlarge_tree(tree, more):
    larger = make_tree(
        2 * tree.nodes.shape[0] + more, 2 * tree.branches.shape[0] + more, tree.value.shape[1]
    )
    for i in range(tree.used[0]):
        larger.nodes[i] = tree.nodes[i]
        for c in range(tree.value.shape[1]):
            larger.value[i, c] = tree.value[i, c]
    for i in range(tree.used[1]):
        larger.branches[i] = tree.branches[i]
    for i in range(4):
        larger.used[i] = tree.used[i]
    return larger


@step
def make_work(columns, capacity, widest):
    n_ordered = columns.records.shape[0] // columns.n_rows
    return Work(
        np.empty(capacity, PORTION),
        np.empty(capacity, PORTION),
        np.empty(n_ordered * capacity, columns.records.dtype),
        np.empty(capacity, columns.records.dtype),
        np.empty(columns.n_rows),
        np.empty(columns.n_rows),
        np.empty(columns.n_rows, np.uint16),
        np.empty(widest, CHILD),
    )


@step
def enlarge_work(columns, work, needed):
    old = work.portions.shape[0]
    capacity = max(2 * old, needed)
    larger = make_work(columns, capacity, np.int64(0))
    for i in range(old):
        larger.portions[i] = work.portions[i]
        for s in range(columns.records.shape[0] // columns.n_rows):
            larger.segments[s * capacity + i] = work.segments[s * old + i]
    return Work(
        larger.portions, larger.spare_portions, larger.segments, larger.spare,
        work.weights, work.shares, work.branch, work.children,
    )  # fmt: skip


@array_step
def load_root(columns, candidates, work):
    """Fill the root with the rows of positive weight; returns their number."""
    n_rows = columns.n_rows
    weights = work.weights
    m = np.int64(0)
    for i in range(n_rows):
        if weights[i] > 0.0:
            work.portions[m]["row"] = i
            work.portions[m]["share"] = 1.0
            m += 1
    capacity = work.portions.shape[0]
    segments = work.segments
    for k in range(candidates.shape[0]):
        s = columns.features[candidates[k]]["segment"]
        if s < 0:
            continue
        put = np.uint64(s * capacity)
        for i in range(s * n_rows, (s + 1) * n_rows):
            record = columns.records[i]
            segments[put] = record
            put += np.uint64(weights[record & columns.mask] > 0.0)
    return m


@array_step
def load_weights(samples, work, begin, end):
    """Copy the weights of a node's samples to where the search reads them."""
    for i in range(begin, end):
        row = work.portions[i]["row"]
        share = work.portions[i]["share"]
        w = rounded(work.weights[row] * share)
        work.shares[row] = share
        samples[row]["weight"] = w
        samples[row]["ones"] = w if samples[row]["label"] == 1 else 0.0


@inlined
def middle_rank(columns, f, low, high):
    """The greatest rank whose value is at most the midpoint of two values."""
    start = columns.features[f]["value_start"]
    middle = 0.5 * columns.values[start + low] + 0.5 * columns.values[start + high]
    first = low
    last = high
    while last - first > 1:
        between = (first + last) // 2
        if columns.values[start + between] <= middle:
            first = between
        else:
            last = between
    return first


@array_step
def mark_ordered(columns, work, f, begin, end, cut):
    """Branch of each row at a cut ``cut`` places after the first."""
    # Returns the rank of the cut, and how many rows have a missing value.
    branch = work.branch
    segments = work.segments
    mask = columns.mask
    unknown = columns.features[f]["n_values"]
    base = columns.features[f]["segment"] * work.portions.shape[0]
    at = base + begin + cut
    for i in range(base + begin, at + 1):
        branch[segments[i] & mask] = 0
    n_unknown = np.int64(0)
    for i in range(at + 1, base + end):
        row = segments[i] & mask
        if np.int64(segments[i] >> columns.shift) == unknown:
            branch[row] = ALL_BRANCHES
            n_unknown += 1
        else:
            branch[row] = 1
    low = np.int64(segments[at] >> columns.shift)
    high = np.int64(segments[at + 1] >> columns.shift)
    return middle_rank(columns, f, low, high), n_unknown


@array_step
def mark_categorical(columns, work, tree, f, begin, end, grouped, groups):
    """Branch of each row by category; stores the branch table, returns how many are missing."""
    branches = tree.branches
    start = tree.used[1]
    n_values = columns.features[f]["n_values"]
    for v in range(n_values):
        branches[start + v] = groups[f, v] if grouped else v
    tree.used[1] = start + n_values
    n_unknown = np.int64(0)
    for i in range(begin, end):
        row = work.portions[i]["row"]
        rank = np.int64(columns.ranks[f * columns.n_rows + row])
        if rank == n_values:
            work.branch[row] = ALL_BRANCHES
            n_unknown += 1
        else:
            work.branch[row] = branches[start + rank]
    return n_unknown


@array_step
def describe_children(samples, work, value, first, width, begin, end, n_unknown):
    """Class weights, number of samples and known fraction of a node's children."""
    children = work.children
    portions = work.portions
    branch = work.branch
    for k in range(width):
        children[k]["size"] = 0
        for c in range(value.shape[1]):
            value[first + k, c] = 0.0
    for i in range(begin, end):
        row = portions[i]["row"]
        k = branch[row]
        if k != ALL_BRANCHES:
            value[first + k, samples[row]["label"]] += samples[row]["weight"]
            children[k]["size"] += 1
    if n_unknown == 0:
        return
    known = 0.0
    for k in range(width):
        children[k]["fraction"] = 0.0
        for c in range(value.shape[1]):
            children[k]["fraction"] += value[first + k, c]
        known += children[k]["fraction"]
    for k in range(width):
        children[k]["fraction"] /= known
    for i in range(begin, end):
        row = portions[i]["row"]
        if branch[row] != ALL_BRANCHES:
            continue
        for k in range(width):
            share = rounded(portions[i]["share"] * children[k]["fraction"])
            if share > LEAST_SHARE:
                part = rounded(work.weights[row] * share)
                value[first + k, samples[row]["label"]] += part
                children[k]["size"] += 1


@array_step
def may_split(value, at, min_weight):
    """Whether a node has two classes and enough weight for two branches."""
    weight = 0.0
    n_present = 0
    for c in range(value.shape[1]):
        weight += value[at, c]
        n_present += np.int64(value[at, c] > 0.0)
    return n_present > 1 and weight >= 2.0 * min_weight - SLACK


@inlined
def mark_tested(features, rules, tests, nodes, at):
    """Stamp the categorical features tested above a node that a further test cannot split."""
    stamp = at + 1
    above = nodes[at]["parent"]
    while above >= 0:
        f = nodes[above]["feature"]
        single = not rules.grouping or features[f]["n_values"] <= 2
        if features[f]["segment"] < 0 and single:
            tests[f]["tested"] = stamp
        above = nodes[above]["parent"]
    return stamp


@inlined
def make_leaf(node, parent, depth, counted, at):
    node["feature"] = 0
    node["cut"] = 0
    node["first_child"] = at
    node["n_children"] = 0
    node["parent"] = parent
    node["depth"] = depth
    node["counted"] = counted


@array_step
def split(columns, rules, search, work, tree, at, f):
    """Write a node's test on feature ``f`` and make its children."""
    # ``work.children`` then holds the sizes of the children that may be split further, 0 for the
    # others. Returns how many samples go to all of them.
    node = tree.nodes[at]
    begin = node["begin"]
    end = node["end"]
    width = np.int64(2)
    if columns.features[f]["segment"] < 0:
        cut = tree.used[1]
        grouped = rules.grouping and columns.features[f]["n_values"] > 2
        n_unknown = mark_categorical(columns, work, tree, f, begin, end, grouped, search.groups)
        width = search.tests[f]["width"]
    else:
        cut, n_unknown = mark_ordered(columns, work, f, begin, end, search.tests[f]["cut"])
    first = tree.used[0]
    node["feature"] = f
    node["cut"] = cut
    node["first_child"] = first
    node["n_children"] = width
    counted = np.int64(node["counted"] != 0 and n_unknown == 0)
    for child in range(first, first + width):
        make_leaf(tree.nodes[child], at, node["depth"] + 1, counted, child)
    tree.used[0] = first + width
    describe_children(search.samples, work, tree.value, first, width, begin, end, n_unknown)
    for k in range(width):
        if node["depth"] + 1 >= rules.max_depth or not may_split(
            tree.value, first + k, rules.min_weight
        ):
            work.children[k]["size"] = 0
    return n_unknown


@inlined
def place_children(nodes, used, children, at):
    """Replace a node in the waiting list by its children that may be split."""
    first = nodes[at]["first_child"]
    begin = nodes[at]["begin"]
    n_waiting = used[2] - 1
    for k in range(nodes[at]["n_children"]):
        size = children[k]["size"]
        if size > 0:
            nodes[first + k]["begin"] = begin
            begin += size
            nodes[first + k]["end"] = begin
            nodes[n_waiting]["waiting"] = first + k
            n_waiting += 1
    used[2] = n_waiting


@array_step
def start_tree(columns, rules, search, work, tree, counted):
    """Make the root; returns the number of values from which a feature has too many."""
    m = load_root(columns, search.candidates, work)
    load_weights(search.samples, work, np.int64(0), m)
    for f in range(search.tests.shape[0]):
        search.tests[f]["tested"] = 0
    for i in range(4):
        tree.used[i] = 0
    tree.used[0] = 1
    make_leaf(tree.nodes[0], -1, 0, np.int64(counted), 0)
    tree.nodes[0]["begin"] = 0
    tree.nodes[0]["end"] = m
    tree.nodes[0]["waiting"] = 0
    total = 0.0
    for c in range(rules.n_classes):
        tree.value[0, c] = 0.0
    for i in range(m):
        row = work.portions[i]["row"]
        tree.value[0, search.samples[row]["label"]] += work.weights[row]
        total += work.weights[row]
    may = rules.max_depth > 0 and may_split(tree.value, np.int64(0), rules.min_weight)
    tree.used[2] = np.int64(may)
    for k in range(search.candidates.shape[0]):
        feature = columns.features[search.candidates[k]]
        few = feature["segment"] >= 0 or feature["n_values"] < MANY_VALUES * total
        if few and not rules.grouping:
            return MANY_VALUES * total
    return np.inf


@array_step
def split_waiting(columns, rules, search, work, tree, fractional, widest, many_values):
    """Search and split the waiting nodes, until none is left or room runs out."""
    # Returns 0, or -1 if the tree needs room for ``widest`` more nodes and branches, or the number
    # of samples that need room. ``fractional``: whether features have missing values.
    nodes = tree.nodes
    used = tree.used
    while used[2] > 0 and rules.stop[0] == 0:
        at = nodes[used[2] - 1]["waiting"]
        begin = nodes[at]["begin"]
        end = nodes[at]["end"]
        if used[3] == 0:
            if used[0] + widest > nodes.shape[0] or used[1] + widest > tree.branches.shape[0]:
                return np.int64(-1)
            if fractional:
                load_weights(search.samples, work, begin, end)
            totals = tree.value[at]
            weight = 0.0
            for c in range(totals.shape[0]):
                weight += totals[c]
            f = choose_test(
                columns, rules, search, work.segments, work.portions.shape[0], work.portions, begin,
                end, totals, weight, nodes[at]["counted"] != 0,
                mark_tested(columns.features, rules, search.tests, nodes, at), many_values,
            )  # fmt: skip
            if f == NO_TEST:
                used[2] -= 1
                continue
            used[3] = 1 + split(columns, rules, search, work, tree, at, f)
        width = nodes[at]["n_children"]
        needed = assign_places(work.children, width)
        if begin + needed > work.portions.shape[0]:
            return begin + needed
        if needed > 0:
            partition_portions(
                work.portions, work.spare_portions, work.branch, work.children, begin, end, width
            )
            partition_segments(
                columns.features, columns.mask, search.candidates, work, begin, end, width,
                used[3] == 1,
            )  # fmt: skip
        place_children(nodes, used, work.children, at)
        used[3] = 0
    return np.int64(0)


@inlined
def grow_tree(columns, rules, search, work, tree, counted, fractional, widest):
    """Grow one tree on the rows of positive ``work.weights``; returns the tree and the scratch."""
    many_values = start_tree(columns, rules, search, work, tree, counted)
    while True:
        lacking = split_waiting(columns, rules, search, work, tree, fractional, widest, many_values)
        if lacking == 0:
            break
        if lacking < 0:
            tree = enlarge_tree(tree, widest)
        else:
            work = enlarge_work(columns, work, lacking)
    return tree, work
