"""C4.5's pruning: replace a subtree by a leaf or by its largest branch if that errs no more.

The training errors of a leaf are treated as a sample, and its error rate is the upper limit of a
confidence interval. Nodes are visited children first. Raising a branch sends the node's other
samples down that branch, and everything below is evaluated again.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann. Chapter 4.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from orfeon.kernels.c45.information import EPSILON, SLACK, rounded
from orfeon.kernels.c45.partition import LEAST_SHARE
from orfeon.kernels.c45.records import CHILD, PORTION
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import array_step, inlined, kernel, step

#: A simpler tree may err by this many samples more.
LENIENCE = 0.1
#: A node during pruning: estimated errors, whether still to be evaluated, its range of samples, and
#: the true range while others are tried there. ``queue`` and ``touched`` are lists of nodes.
PRUNED_NODE = np.dtype(
    [
        ("errors", "<f8"),
        ("dirty", "<i8"),
        ("begin", "<i8"),
        ("end", "<i8"),
        ("true_begin", "<i8"),
        ("true_end", "<i8"),
        ("queue", "<i8"),
        ("touched", "<i8"),
    ]
)


class Limit(NamedTuple):
    """The upper confidence limit."""

    confidence: float
    squared_deviate: float  # of the normal distribution at that confidence
    saturation: float  # share of the right samples added if nearly all are wrong


class PruningWork(NamedTuple):
    """Scratch of pruning."""

    nodes: Any  # of PRUNED_NODE
    extra: Any  # class weights that the leaves of a raised branch would gain, and a spare row
    portions: Any  # of PORTION: the samples of all nodes, growing at the end
    used: Any  # number of portions
    branch: Any  # by row
    children: Any  # of CHILD


@step
def make_pruning_work(n_nodes, n_rows, n_classes, widest):
    return PruningWork(
        np.empty(n_nodes, PRUNED_NODE),
        np.zeros((n_nodes + 1, n_classes)),
        np.empty(2 * n_rows, PORTION),
        np.zeros(1, np.int64),
        np.empty(n_rows, np.uint16),
        np.empty(widest, CHILD),
    )


@kernel
def extra_errors_of_many(weight, errors, limit):
    """``extra_errors`` from one error on: normal approximation with continuity correction."""
    seen = errors + 0.5
    if seen >= weight:
        return limit.saturation * max(weight - errors, 0.0)
    z = limit.squared_deviate
    root = math.sqrt(z * (seen * (1.0 - seen / weight) + z / 4.0))
    return weight * (seen + z / 2.0 + root) / (weight + z) - errors


@kernel
def extra_errors(weight, errors, limit):
    """Errors to add to those seen among ``weight`` samples to reach the upper limit."""
    if errors >= 0.9999:
        return extra_errors_of_many(weight, errors, limit)
    none = weight * (1.0 - math.exp(math.log(limit.confidence) / weight))
    if errors < SLACK:
        return none
    return none + errors * (extra_errors_of_many(weight, 1.0, limit) - none)


@array_step
def estimated_errors(value, at, extra, more, limit):
    """Estimated errors of a leaf with class weights ``value[at] + extra[more]``."""
    weight = 0.0
    most = 0.0
    for c in range(value.shape[1]):
        w = value[at, c] + extra[more, c]
        weight += w
        most = max(most, w)
    if weight < SLACK:
        return 0.0
    return weight - most + extra_errors(weight, weight - most, limit)


@array_step
def collapse(tree, pruning):
    """Turn a subtree into a leaf if it makes as many training errors as one."""
    nodes = pruning.nodes
    for at in range(tree.used[0] - 1, -1, -1):
        weight = 0.0
        most = 0.0
        for c in range(tree.value.shape[1]):
            weight += tree.value[at, c]
            most = max(most, tree.value[at, c])
        nodes[at]["errors"] = weight - most
        width = tree.nodes[at]["n_children"]
        if width == 0:
            continue
        below = 0.0
        first = tree.nodes[at]["first_child"]
        for k in range(first, first + width):
            below += nodes[k]["errors"]
        if below >= weight - most - EPSILON:
            tree.nodes[at]["n_children"] = 0
        else:
            nodes[at]["errors"] = below


@array_step
def branch_of(columns, tree, at, row):
    f = tree.nodes[at]["feature"]
    cut = tree.nodes[at]["cut"]
    rank = np.int64(columns.ranks[f * columns.n_rows + row])
    if rank == columns.features[f]["n_values"]:
        return np.int64(ALL_BRANCHES)
    if columns.features[f]["segment"] < 0:
        return np.int64(tree.branches[cut + rank])
    return np.int64(rank > cut)


@step
def enlarge_portions(pruning):
    return PruningWork(
        pruning.nodes, pruning.extra, np.empty(2 * pruning.portions.shape[0], PORTION),
        pruning.used, pruning.branch, pruning.children,
    )  # fmt: skip


@array_step
def count_branches(columns, tree, pruning, weights, at):
    """Branch of each sample of a node, size and fraction of each child."""
    # Returns how many samples have a missing value.
    portions = pruning.portions
    children = pruning.children
    width = tree.nodes[at]["n_children"]
    for k in range(width):
        children[k]["size"] = 0
        children[k]["fraction"] = 0.0
    n_unknown = np.int64(0)
    known = 0.0
    for i in range(pruning.nodes[at]["begin"], pruning.nodes[at]["end"]):
        row = portions[i]["row"]
        k = branch_of(columns, tree, at, row)
        pruning.branch[row] = k
        if k == ALL_BRANCHES:
            n_unknown += 1
        else:
            w = rounded(weights[row] * portions[i]["share"])
            children[k]["size"] += 1
            children[k]["fraction"] += w
            known += w
    if known > 0.0:
        for k in range(width):
            children[k]["fraction"] /= known
    return n_unknown


@array_step
def sort_by_child(tree, pruning, at):
    """Sort the samples of a node by child, without missing values."""
    portions = pruning.portions
    nodes = pruning.nodes
    begin = nodes[at]["begin"]
    n = nodes[at]["end"] - begin
    first = tree.nodes[at]["first_child"]
    spare = pruning.used[0]
    place = begin
    for k in range(tree.nodes[at]["n_children"]):
        nodes[first + k]["begin"] = place
        nodes[first + k]["end"] = place
        place += pruning.children[k]["size"]
    for i in range(n):
        portions[spare + i] = portions[begin + i]
    for i in range(spare, spare + n):
        child = first + np.int64(pruning.branch[portions[i]["row"]])
        portions[nodes[child]["end"]] = portions[i]
        nodes[child]["end"] += 1


@array_step
def copy_to_children(tree, pruning, at):
    """Append copies of a node's samples for its children; missing values go to all."""
    portions = pruning.portions
    nodes = pruning.nodes
    first = tree.nodes[at]["first_child"]
    top = pruning.used[0]
    for k in range(tree.nodes[at]["n_children"]):
        nodes[first + k]["begin"] = top
        for i in range(nodes[at]["begin"], nodes[at]["end"]):
            row = portions[i]["row"]
            branch = np.int64(pruning.branch[row])
            share = portions[i]["share"]
            if branch == ALL_BRANCHES:
                share = rounded(share * pruning.children[k]["fraction"])
            elif branch != k:
                continue
            if share > LEAST_SHARE:
                portions[top]["row"] = row
                portions[top]["share"] = share
                top += 1
        nodes[first + k]["end"] = top
    pruning.used[0] = top


@array_step
def send_to_children(columns, tree, pruning, weights, at):
    """Give the children of a node their samples; returns whether there was room."""
    n_unknown = count_branches(columns, tree, pruning, weights, at)
    more = pruning.nodes[at]["end"] - pruning.nodes[at]["begin"]
    more += n_unknown * (tree.nodes[at]["n_children"] - 1)
    if pruning.used[0] + more > pruning.portions.shape[0]:
        return False
    if n_unknown == 0:
        sort_by_child(tree, pruning, at)
    else:
        copy_to_children(tree, pruning, at)
    return True


@array_step
def sum_samples(pruning, at, search, weights, sums, into):
    portions = pruning.portions
    for c in range(sums.shape[1]):
        sums[into, c] = 0.0
    for i in range(pruning.nodes[at]["begin"], pruning.nodes[at]["end"]):
        row = portions[i]["row"]
        w = rounded(weights[row] * portions[i]["share"])
        sums[into, search.samples[row]["label"]] += w


@step
def send_down_subtree(columns, tree, pruning, search, weights, root):
    """Send the samples of a node down its subtree, recount them and mark all to be evaluated."""
    # Returns the last node of the subtree, or -1 if there was no room for the samples.
    nodes = pruning.nodes
    nodes[0]["queue"] = root
    n_queued = 1
    done = 0
    last = root
    while done < n_queued:
        at = nodes[done]["queue"]
        done += 1
        last = max(last, at)
        nodes[at]["dirty"] = 1
        sum_samples(pruning, at, search, weights, tree.value, at)
        width = tree.nodes[at]["n_children"]
        if width > 0:
            if not send_to_children(columns, tree, pruning, weights, at):
                return np.int64(-1)
            for k in range(width):
                nodes[n_queued]["queue"] = tree.nodes[at]["first_child"] + k
                n_queued += 1
    return last


@array_step
def raised_errors(columns, tree, pruning, search, weights, at, largest, limit):
    """Estimated errors of the largest branch with all samples of its parent; no missing values."""
    nodes = pruning.nodes
    extra = pruning.extra
    none = extra.shape[0] - 1
    n_touched = 0
    i = nodes[at]["begin"]
    while i < nodes[at]["end"]:
        if i == nodes[largest]["begin"]:
            i = nodes[largest]["end"]
            continue
        row = pruning.portions[i]["row"]
        leaf = largest
        while tree.nodes[leaf]["n_children"] > 0:
            leaf = tree.nodes[leaf]["first_child"] + branch_of(columns, tree, leaf, row)
        gained = 0.0
        for c in range(extra.shape[1]):
            gained += extra[leaf, c]
        if gained == 0.0:
            nodes[n_touched]["touched"] = leaf
            n_touched += 1
        extra[leaf, search.samples[row]["label"]] += weights[row]
        i += 1
    errors = nodes[largest]["errors"]
    for k in range(n_touched):
        leaf = nodes[k]["touched"]
        errors += estimated_errors(tree.value, leaf, extra, leaf, limit)
        errors -= estimated_errors(tree.value, leaf, extra, none, limit)
        for c in range(extra.shape[1]):
            extra[leaf, c] = 0.0
    return errors


@array_step
def raised_errors_fractional(columns, tree, pruning, search, weights, at, largest, limit):
    """Like ``raised_errors`` with missing values: all samples are distributed anew, at the end."""
    nodes = pruning.nodes
    top = pruning.used[0]
    n = nodes[at]["end"] - nodes[at]["begin"]
    if top + n > pruning.portions.shape[0]:
        return -1.0
    for i in range(n):
        pruning.portions[top + i] = pruning.portions[nodes[at]["begin"] + i]
    pruning.used[0] = top + n
    nodes[largest]["true_begin"] = nodes[largest]["begin"]
    nodes[largest]["true_end"] = nodes[largest]["end"]
    nodes[largest]["begin"] = top
    nodes[largest]["end"] = top + n
    nodes[0]["queue"] = largest
    n_queued = 1
    done = 0
    errors = 0.0
    spare = pruning.extra.shape[0] - 1
    while done < n_queued:
        node = nodes[done]["queue"]
        done += 1
        width = tree.nodes[node]["n_children"]
        first = tree.nodes[node]["first_child"]
        if width == 0:
            sum_samples(pruning, node, search, weights, pruning.extra, spare)
            for c in range(tree.value.shape[1]):
                pruning.extra[node, c] = 0.0
            errors += estimated_errors(pruning.extra, node, pruning.extra, spare, limit)
            continue
        for child in range(first, first + width):
            nodes[child]["true_begin"] = nodes[child]["begin"]
            nodes[child]["true_end"] = nodes[child]["end"]
            nodes[n_queued]["queue"] = child
            n_queued += 1
        if not send_to_children(columns, tree, pruning, weights, node):
            return -1.0
    for k in range(n_queued):
        node = nodes[k]["queue"]
        nodes[node]["begin"] = nodes[node]["true_begin"]
        nodes[node]["end"] = nodes[node]["true_end"]
    for c in range(tree.value.shape[1]):
        pruning.extra[spare, c] = 0.0
    pruning.used[0] = top
    return errors


@inlined
def largest_child(tree, at):
    """The child of greatest weight, the last of equals."""
    most = 0.0
    first = tree.nodes[at]["first_child"]
    largest = first
    for child in range(first, first + tree.nodes[at]["n_children"]):
        weight = 0.0
        for c in range(tree.value.shape[1]):
            weight += tree.value[child, c]
        if weight >= most - SLACK:
            most = weight
            largest = np.int64(child)
    return largest


@inlined
def load_portions(pruning, weights):
    m = np.int64(0)
    for row in range(weights.shape[0]):
        if weights[row] > 0.0:
            pruning.portions[m]["row"] = row
            pruning.portions[m]["share"] = 1.0
            m += 1
    pruning.nodes[0]["begin"] = 0
    pruning.nodes[0]["end"] = m
    pruning.used[0] = m


@inlined
def replace_by_child(tree, at, child):
    node = tree.nodes[at]
    node["feature"] = tree.nodes[child]["feature"]
    node["cut"] = tree.nodes[child]["cut"]
    node["n_children"] = tree.nodes[child]["n_children"]
    node["first_child"] = tree.nodes[child]["first_child"]


@inlined
def errors_below(tree, pruning, at):
    below = 0.0
    first = tree.nodes[at]["first_child"]
    for child in range(first, first + tree.nodes[at]["n_children"]):
        below += pruning.nodes[child]["errors"]
    return below


@array_step
def prune_nodes(columns, rules, tree, pruning, search, weights, limit, raising, fractional):
    """Cut and raise the branches of a tree; returns whether there was room for its samples."""
    # Cuts made before the room ran out stay when everything is evaluated again.
    nodes = pruning.nodes
    none = pruning.extra.shape[0] - 1
    for at in range(tree.used[0]):
        nodes[at]["dirty"] = np.int64(not raising)
    if raising:
        load_portions(pruning, weights)
        if send_down_subtree(columns, tree, pruning, search, weights, np.int64(0)) < 0:
            return False
    at = tree.used[0] - 1
    while at >= 0 and rules.stop[0] == 0:
        if nodes[at]["dirty"] == 0:
            at -= 1
            continue
        nodes[at]["dirty"] = 0
        as_leaf = estimated_errors(tree.value, at, pruning.extra, none, limit)
        nodes[at]["errors"] = as_leaf
        if tree.nodes[at]["n_children"] == 0:
            at -= 1
            continue
        below = errors_below(tree, pruning, at)
        raised = np.inf
        largest = largest_child(tree, at)
        if raising and fractional:
            raised = raised_errors_fractional(
                columns, tree, pruning, search, weights, at, largest, limit
            )
            if raised < 0.0:
                return False
        elif raising:
            raised = raised_errors(columns, tree, pruning, search, weights, at, largest, limit)
        allowed = LENIENCE + SLACK
        if as_leaf <= below + allowed and as_leaf <= raised + allowed:
            tree.nodes[at]["n_children"] = 0
        elif raised <= below + allowed:
            replace_by_child(tree, at, largest)
            at = send_down_subtree(columns, tree, pruning, search, weights, at)
            if at < 0:
                return False
            continue
        else:
            nodes[at]["errors"] = below
        at -= 1
    return True


@inlined
def prune_tree(columns, rules, tree, pruning, search, weights, limit, raising, fractional):
    """Prune a tree by its estimated errors; returns the scratch, which may have grown."""
    while not prune_nodes(
        columns, rules, tree, pruning, search, weights, limit, raising, fractional
    ):
        pruning = enlarge_portions(pruning)
        for i in range(pruning.extra.shape[0]):
            for c in range(pruning.extra.shape[1]):
                pruning.extra[i, c] = 0.0
    return pruning
