"""Drawings: a box for each node, nothing on top of anything, texts inside their boxes."""

import inspect
import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.text import Text
from tests.rendering.builders import (
    GOLF_CLASSES,
    GOLF_SCHEMA,
    IRIS_CLASSES,
    IRIS_SCHEMA,
    MIXED_SCHEMA,
    chain_forest,
    combine,
    golf_forest,
    iris_forest,
    leaf,
    mixed_forest,
    plant,
    random_forest_of_one,
    regression_forest,
    split,
)

import orfeon.rendering
from orfeon.data.schema import Schema
from orfeon.rendering import plot_tree


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def boxes(ax):
    """The extent of each node's box in pixels."""
    return {
        int(patch.get_gid().removeprefix("node-")): patch.get_window_extent()
        for patch in ax.patches
        if patch.get_gid()
    }


def texts(ax):
    """Words and extents of all texts with words."""
    found = [t for t in ax.get_children() if isinstance(t, Text) and t.get_text()]
    return [(t.get_text(), t.get_window_extent()) for t in found]


def overlap(a, b):
    """Pixels by which two extents overlap in both directions."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5


def inside(inner, outer):
    return (
        inner.x0 >= outer.x0
        and inner.x1 <= outer.x1
        and inner.y0 >= outer.y0
        and inner.y1 <= outer.y1
    )


def check_drawing(ax, n_nodes):
    """A box for each node; boxes, branch texts and legend apart; other texts inside one box."""
    ax.figure.canvas.draw()
    extents = boxes(ax)
    assert len(extents) == n_nodes
    free = []
    for words, extent in texts(ax):
        if not any(inside(extent, box) for box in extents.values()):
            free.append((words, extent))
    things = [(f"node {i}", e) for i, e in extents.items()] + free
    for i, (name, extent) in enumerate(things):
        for other, another in things[i + 1 :]:
            assert not overlap(extent, another), f"{name!r} overlaps {other!r}"
    return [words for words, _ in free]


CASES = {
    "iris": (iris_forest(), {"schema": IRIS_SCHEMA, "class_names": IRIS_CLASSES}),
    "golf": (golf_forest(), {"schema": GOLF_SCHEMA, "class_names": GOLF_CLASSES}),
    "mixed": (mixed_forest(), {"schema": MIXED_SCHEMA, "show_missing": True}),
    "regression": (regression_forest(), {}),
    "leaf": (plant(leaf(3, 1), Schema.ordered(2), 2), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_boxes_as_many_as_nodes_and_nothing_overlaps(case):
    forest, options = CASES[case]
    check_drawing(plot_tree(forest, **options), len(forest.nodes))


@pytest.mark.parametrize("n_classes", [0, 4])
def test_random_trees_do_not_overlap(n_classes):
    for seed in range(8):
        forest = random_forest_of_one(np.random.default_rng([seed, n_classes]), n_classes)
        check_drawing(plot_tree(forest, show_missing=True), len(forest.nodes))


def test_the_words_on_branches_and_in_boxes():
    forest, options = CASES["iris"]
    ax = plot_tree(forest, **options)
    outside = check_drawing(ax, 9)
    assert outside == [
        "≤ 2.45", "> 2.45", "≤ 1.75", "> 1.75", "≤ 4.95", "> 4.95", "≤ 1.65", "> 1.65",
        *IRIS_CLASSES,
    ]  # fmt: skip
    words = [text for text, _ in texts(ax)]
    assert words.count("petal length") == 2
    assert "n = 6 · 67%" in words


@pytest.mark.parametrize("size", [(2.0, 2.0), (12.0, 3.0), (3.0, 12.0)])
def test_texts_follow_the_size_of_given_axes(size):
    figure, axes = pyplot.subplots(1, 2, figsize=size)
    forest, options = CASES["golf"]
    assert plot_tree(forest, ax=axes[1], **options) is axes[1]
    check_drawing(axes[1], 8)
    figure.set_size_inches(7.0, 5.0)
    check_drawing(axes[1], 8)


def test_zooming_enlarges_the_texts_too():
    ax = plot_tree(iris_forest())
    before = texts(ax)[0][1].width
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    ax.set_xlim(left, left + (right - left) / 2)
    ax.set_ylim(high - (high - low) / 2, high)
    ax.apply_aspect()
    assert texts(ax)[0][1].width == pytest.approx(2 * before, rel=0.1)


def test_what_is_below_max_depth_is_an_ellipsis():
    ax = plot_tree(iris_forest(), max_depth=2, schema=IRIS_SCHEMA, class_names=IRIS_CLASSES)
    check_drawing(ax, 5)
    dashed = [p.get_gid() for p in ax.patches if p.get_gid() and p.get_linestyle() == "--"]
    assert dashed == ["node-3"]
    assert "n = 54 · 91% · … 3 leaves" in [words for words, _ in texts(ax)]


def test_bars_have_the_lengths_of_the_shares():
    ax = plot_tree(plant(leaf(1, 3), Schema.ordered(1), 2))
    bar = ax.collections[0]
    widths = [path.get_extents().width for path in bar.get_paths()]
    assert widths[1] / widths[0] == pytest.approx(3.0)
    colours = {tuple(np.round(255 * colour[:3]).astype(int)) for colour in bar.get_facecolors()}
    assert colours == {(0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00)}


def test_dollars_and_long_names_are_only_words():
    schema = Schema.ordered(1, ["price in $ and $ {" + "x" * 100])
    forest = plant(split(0, 1.0, leaf(1, 0), leaf(0, 1)), schema, 2)
    ax = plot_tree(forest, schema=schema, class_names=["$\\frac{", "b" * 200])
    check_drawing(ax, 3)
    words = [text for text, _ in texts(ax)]
    assert "$\\frac{" in words
    assert max(len(word) for word in words) == 32


def test_linear_combinations_are_cut_after_three_terms():
    terms = {j: (-1.0) ** j * (j + 0.123456) for j in range(5)}
    forest = plant(combine(terms, 0.5, leaf(1, 0), leaf(0, 1)), Schema.ordered(5), 2)
    words = [text for text, _ in texts(plot_tree(forest))]
    assert "0.123 x0 - 1.12 x1 + 2.12 x2 + … (5 terms)" in words


def test_a_figure_of_its_own_has_texts_of_full_size():
    ax = plot_tree(iris_forest())
    ax.figure.canvas.draw()
    title = next(t for t in ax.get_children() if isinstance(t, Text) and t.get_text() == "x2")
    assert title.get_fontsize() == pytest.approx(10.0, rel=0.01)


def test_a_tree_deeper_than_the_recursion_limit_is_drawn():
    plot_tree(iris_forest())  # imports what drawing needs
    usual, limit = sys.getrecursionlimit(), len(inspect.stack()) + 120
    sys.setrecursionlimit(limit)
    try:
        ax = plot_tree(chain_forest(limit + 50))
    finally:
        sys.setrecursionlimit(usual)
    assert len(boxes(ax)) == 2 * (limit + 50) + 1
    assert max(ax.figure.get_size_inches()) == pytest.approx(80.0)
    ax.figure.draw_without_rendering()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "orfeon.rendering._canvas", raising=False)
    monkeypatch.delattr(orfeon.rendering, "_canvas", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"orfeon\[plot\]"):
        plot_tree(iris_forest())
