"""Coverage of intervals, and its picture."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon import RandomForestRegressor
from orfeon.datasets import make_friedman1
from orfeon.inspection import IntervalDisplay, interval_coverage

plt = pytest.importorskip("matplotlib.pyplot")


def test_groups_are_counted_as_in_a_loop():
    rng = np.random.default_rng(0)
    y, low = rng.normal(size=97), rng.normal(size=97) - 1
    interval = np.stack([low, low + rng.uniform(1, 3, 97)], axis=1)
    weights = rng.uniform(0.5, 2, 97)
    found = interval_coverage(y, interval, n_bins=4, sample_weight=weights)
    middle = interval.mean(axis=1)
    held = [a <= target <= b for target, (a, b) in zip(y, interval, strict=True)]
    assert found.coverage == pytest.approx(np.average(held, weights=weights))
    assert found.width == pytest.approx(np.average(np.diff(interval)[:, 0], weights=weights))
    for k in range(4):
        last = found.edges[k + 1] if k < 3 else np.inf
        mine = (middle >= found.edges[k]) & (middle < last)
        expected = np.average(np.array(held)[mine], weights=weights[mine])
        assert found.bin_coverage[k] == pytest.approx(expected)
        assert found.bin_weight[k] == pytest.approx(weights[mine].sum() / weights.sum())
    assert np.array_equal(found.is_within, held)


def test_equal_intervals_are_one_group():
    found = interval_coverage([0.0, 5.0], [[-1, 1], [-1, 1]])
    assert found.bin_coverage.tolist() == [0.5]


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"interval has shape \(3,\).*\(3, 2\)"):
        interval_coverage([1.0, 2.0, 3.0], [1, 2, 3])
    with pytest.raises(ValueError, match=r"y has shape \(0,\)"):
        interval_coverage([], np.empty((0, 2)))
    with pytest.raises(ValueError, match="n_bins"):
        interval_coverage([1.0], [[0, 2]], n_bins=0)


def test_the_picture_has_each_interval_and_each_target():
    X, y = make_friedman1(100, random_state=0)
    X_test, y_test = make_friedman1(60, random_state=1)
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    display = IntervalDisplay.from_estimator(forest, X_test, y_test, coverage=0.8, n_bins=3)
    segments = display.intervals_.get_segments()
    assert len(segments) == 60
    drawn = np.array(sorted((s[0][1], s[1][1]) for s in segments))
    expected = sorted(map(tuple, forest.predict_interval(X_test, 0.8)))
    assert drawn == pytest.approx(np.array(expected))
    n_held = len(display.held_.get_offsets())
    assert n_held == round(60 * display.data.coverage)
    assert n_held + len(display.missed_.get_offsets()) == 60
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == [f"{100 * share:.0f}%" for share in display.data.bin_coverage]
    assert "80% asked for" in display.ax_.get_title()
    plt.close(display.figure_)
    few = IntervalDisplay.from_intervals(y_test, forest.predict_interval(X_test), n_shown=10)
    assert len(few.intervals_.get_segments()) == 10
    assert few.data.coverage == pytest.approx(interval_coverage(y_test, few.data.interval).coverage)
    plt.close(few.figure_)
