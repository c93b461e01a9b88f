"""The critical-difference diagram: what is drawn, and that nothing lies over anything else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.statistics.demsar import AREAS, NAMES

from orfeon.statistics import CriticalDifferenceDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

TWELVE = [
    "single tree (CART)", "bagging", "random forest", "extremely randomised trees", "AdaBoost",
    "class-switching", "gradient boosting", "IGP committees", "stacking", "random subspaces",
    "wagging", "price of a name, $ and $",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def _twelve(n_datasets=20):
    shifts = [-2.0, 0.3, 0.5, 0.4, 0.55, 0.6, 0.7, 0.5, 0.65, 0.2, 0.1, 0.0]
    return np.random.default_rng(0).normal(size=(n_datasets, 12)) + shifts


def _boxes(display):
    display.figure_.canvas.draw()
    ax = display.ax_
    texts = [*ax.texts, ax.title, *ax.get_xticklabels()]
    return {text: text.get_window_extent() for text in texts if text.get_text()}


def test_bars_are_over_the_groups():
    display = CriticalDifferenceDisplay.from_scores(AREAS, names=NAMES, alpha=0.1)
    ends = [sorted(bar.get_xdata()) for bar in display.bars_]
    assert len(ends) == 2
    # A little longer than from rank to rank: 1.96 to 2.89, and 2.89 to 3.14.
    assert np.allclose(ends, [[1.964, 2.893], [2.893, 3.143]], atol=0.07)
    assert ends[0][0] < 1.964
    assert ends[1][1] > 3.143
    # They overlap, and are at different heights.
    assert display.bars_[0].get_ydata()[0] != display.bars_[1].get_ydata()[0]


def test_names_stand_with_their_ranks_the_better_half_on_the_left():
    display = CriticalDifferenceDisplay.from_scores(AREAS, names=NAMES)
    texts = {text.get_text(): text.get_ha() for text in display.ax_.texts}
    assert texts["C4.5+m+cf  1.96"] == "right"
    assert texts["C4.5+m  2.00"] == "right"
    assert texts["3.14  C4.5"] == "left"
    assert "critical difference 1.25" in texts


@pytest.mark.parametrize("size", [None, (3.5, 3.5), (7.0, 4.0)])
def test_no_texts_lie_over_others_with_twelve_methods(size):
    ax = None if size is None else pyplot.figure(figsize=size, layout="constrained").add_subplot()
    display = CriticalDifferenceDisplay.from_scores(_twelve(), names=TWELVE, ax=ax)
    boxes = _boxes(display)
    assert len(display.ax_.texts) == 13
    for (one, its), (other, others) in itertools.combinations(boxes.items(), 2):
        assert not its.overlaps(others), (one.get_text(), other.get_text())
    edge = display.figure_.bbox
    for text, box in boxes.items():
        is_inside = box.x0 >= edge.x0 - 1 and box.x1 <= edge.x1 + 1 and box.y0 >= edge.y0 - 1
        assert is_inside, text.get_text()


def test_names_are_names_and_long_ones_are_cut():
    names = ["a" * 100, "$x$", "c"]
    display = CriticalDifferenceDisplay.from_ranks([1.2, 2.0, 2.8], 9, names=names)
    texts = [text.get_text() for text in display.ax_.texts]
    assert "a" * 39 + "…  1.20" in texts
    assert r"\$x\$  2.00" in texts


def test_nothing_is_joined_where_all_differ():
    display = CriticalDifferenceDisplay.from_ranks([1.0, 2.0, 3.0], 100)
    assert display.bars_ == []


def test_a_difference_longer_than_the_line_is_written():
    display = CriticalDifferenceDisplay.from_ranks([1.4, 1.6], 3)
    texts = [text.get_text() for text in display.ax_.texts]
    assert "critical difference 1.13, longer than the line" in texts
    assert len(display.bars_) == 1


def test_it_is_drawn_where_it_is_told():
    figure, axes = pyplot.subplots(2)
    display = CriticalDifferenceDisplay.from_ranks([1.4, 1.6], 30, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    with pytest.raises(TypeError, match="ax is of type ndarray"):
        CriticalDifferenceDisplay.from_ranks([1.4, 1.6], 30, ax=axes)
