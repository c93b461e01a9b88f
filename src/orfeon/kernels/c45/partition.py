"""Partitioning the samples and records of a node by child, stably, so that records stay sorted.

Samples with a missing value are copied to every child with its fraction.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.c45.information import rounded
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import array_step

#: Smaller shares are dropped.
LEAST_SHARE = 1e-6


@array_step
def assign_places(children, width):
    """Write where each child's samples begin; returns how many samples there are."""
    total = np.int64(0)
    for k in range(width):
        children[k]["put"] = total
        total += children[k]["size"]
    return total


@array_step
def partition_portions(portions, spare, branch, children, begin, end, width):
    """Sort a node's samples by child, copying those with a missing value."""
    total = assign_places(children, width)
    for i in range(begin, end):
        row = portions[i]["row"]
        share = portions[i]["share"]
        first = np.int64(branch[row])
        unknown = first == ALL_BRANCHES
        if unknown:
            first = np.int64(0)
        for k in range(first, width if unknown else first + 1):
            part = rounded(share * children[k]["fraction"]) if unknown else share
            if children[k]["size"] > 0 and part > LEAST_SHARE:
                put = children[k]["put"]
                spare[put]["row"] = row
                spare[put]["share"] = part
                children[k]["put"] = put + 1
    for i in range(total):
        portions[begin + i] = spare[i]


@array_step
def partition_records(segments, spare, begin, end, mask, branch, shares, children, width):
    """Sort one feature's records by child, copying those with a missing value."""
    total = assign_places(children, width)
    for i in range(begin, end):
        record = segments[i]
        k = branch[record & mask]
        if k != ALL_BRANCHES:
            if children[k]["size"] > 0:
                spare[children[k]["put"]] = record
                children[k]["put"] += 1
            continue
        share = shares[record & mask]
        for child in range(width):
            part = rounded(share * children[child]["fraction"])
            if children[child]["size"] > 0 and part > LEAST_SHARE:
                spare[children[child]["put"]] = record
                children[child]["put"] += 1
    for i in range(total):
        segments[begin + i] = spare[i]


@array_step
def partition_in_two(segments, spare, begin, end, mask, branch):
    """Sort one feature's records by two children, without missing values."""
    put = np.uint64(begin)
    aside = np.uint64(0)
    for i in range(begin, end):
        record = segments[np.uint64(i)]
        second = np.uint64(branch[record & mask])
        segments[put] = record
        spare[aside] = record
        put += np.uint64(1) - second
        aside += second
    for i in range(np.int64(aside)):
        segments[put] = spare[np.uint64(i)]
        put += np.uint64(1)


@array_step
def keep_child(segments, begin, end, mask, branch, kept):
    """Keep the records of one child, without missing values."""
    put = np.uint64(begin)
    for i in range(begin, end):
        record = segments[np.uint64(i)]
        segments[put] = record
        put += np.uint64(branch[record & mask] == kept)


@array_step
def partition_segments(features, mask, candidates, work, begin, end, width, all_known):
    capacity = work.portions.shape[0]
    children = work.children
    n_open = 0
    last_open = np.int64(0)
    for k in range(width):
        if children[k]["size"] > 0:
            n_open += 1
            last_open = np.int64(k)
    segments = work.segments
    spare = work.spare
    branch = work.branch
    for k in range(candidates.shape[0]):
        s = features[candidates[k]]["segment"]
        if s < 0:
            continue
        base = s * capacity
        if all_known and n_open == 1:
            keep_child(segments, base + begin, base + end, mask, branch, last_open)
        elif all_known and width == 2:
            partition_in_two(segments, spare, base + begin, base + end, mask, branch)
        else:
            partition_records(
                segments, spare, base + begin, base + end, mask, branch, work.shares, children,
                width,
            )  # fmt: skip
