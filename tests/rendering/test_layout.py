"""Nodes stand apart, parents in the middle, and the order of the branches is kept."""

from itertools import pairwise

import numpy as np
import pytest

from orfeon.rendering.layout import horizontal_positions, vertical_positions

GAP = 3.0


def random_tree(rng, n_nodes):
    """Children of each node, numbered breadth first, between two and five a time."""
    children = [[]]
    for node in range(n_nodes):
        if node < len(children) and len(children) < n_nodes and rng.random() < 0.7:
            width = int(rng.integers(2, 6))
            children[node] = list(range(len(children), len(children) + width))
            children.extend([] for _ in range(width))
    return children


def depths_of(children):
    depths = [0] * len(children)
    for node, below in enumerate(children):
        for child in below:
            depths[child] = depths[node] + 1
    return depths


def test_nodes_of_a_level_keep_their_distance_and_order():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        children = random_tree(rng, 60)
        widths = rng.uniform(5, 80, len(children)).tolist()
        x = horizontal_positions(children, widths, GAP)
        depths = np.array(depths_of(children))
        for depth in range(depths.max() + 1):
            row = np.flatnonzero(depths == depth)  # breadth-first numbers run from left to right
            for left, right in pairwise(row):
                room = x[right] - x[left] - (widths[left] + widths[right]) / 2
                assert room >= GAP - 1e-9
        assert min(c - w / 2 for c, w in zip(x, widths, strict=True)) == pytest.approx(0.0)


def test_parents_stand_over_the_middle_of_their_children():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        children = random_tree(rng, 60)
        x = horizontal_positions(children, [10.0] * len(children), GAP)
        for node, below in enumerate(children):
            if below:
                assert x[node] == pytest.approx((x[below[0]] + x[below[-1]]) / 2)


def test_a_mirrored_tree_is_drawn_mirrored():
    x = horizontal_positions([[1, 2, 3], [4, 5], [], [], [], []], [10.0] * 6, 2.0)
    y = horizontal_positions([[1, 2, 3], [], [], [4, 5], [], []], [10.0] * 6, 2.0)
    assert [x[0] - x[i] for i in (1, 2, 3)] == pytest.approx([y[i] - y[0] for i in (3, 2, 1)])


def test_a_small_subtree_stands_midway_between_two_large_ones():
    fan = [[1, 2, 3], [4, 5, 6], [], [7, 8, 9], *[[] for _ in range(6)]]
    x = horizontal_positions(fan, [10.0] * 10, 2.0)
    assert x[2] == pytest.approx((x[1] + x[3]) / 2)


def test_subtrees_slide_under_each_other():
    """The left subtree is deep on its right; the shallow right one fits above its leaves."""
    deep = [[1, 2], [3, 4], [], [], [5, 6], [], []]
    x = horizontal_positions(deep, [10.0] * 7, 2.0)
    assert x == pytest.approx([17.0, 11.0, 23.0, 5.0, 17.0, 11.0, 23.0])


def test_a_comb_of_many_children_is_packed():
    x = horizontal_positions([list(range(1, 101)), *[[] for _ in range(100)]], [10.0] * 101, 2.0)
    assert np.diff(x[1:]) == pytest.approx(np.full(99, 12.0))


def test_rows_are_as_high_as_their_highest_node():
    assert vertical_positions([0, 1, 1, 2], [10.0, 20.0, 30.0, 5.0], 4.0) == [0.0, 14.0, 14.0, 48.0]


def test_a_chain_of_100_000_nodes_is_linear_work():
    n = 100_001
    children = [[i + 1, i + 2] if i % 2 == 0 and i + 2 < n else [] for i in range(n)]
    x = horizontal_positions(children, [10.0] * n, 2.0)
    assert x[-1] - x[-2] == pytest.approx(12.0)
