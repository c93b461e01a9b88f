"""Error curves and the picture of an order: what is drawn, where, and what it is called."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.ordering import order_votes
from orfeon.ordering.plot import draw_error_curve, show_sizes
from orfeon.rendering.figure import LOOKS, scale_members

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def ordered():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 60)
    votes = np.where(rng.random((10, 60)) < 0.5, y, rng.integers(0, 3, (10, 60)))
    return order_votes(votes, y, rule="orientation")


@pytest.fixture(scope="module")
def of_numbers():
    rng = np.random.default_rng(6)
    y = rng.normal(size=30)
    return order_votes(y + rng.normal(size=(8, 30)), y, rule="reduce_error")


def drawn(line):
    return np.column_stack(line.get_data()).tolist()


def test_errors_of_votes_are_drawn_in_per_cent(ordered):
    ax = ordered.plot()
    curve, whole, kept = ax.lines
    expected = [[n + 1, 100 * error] for n, error in enumerate(ordered.error_curve)]
    assert drawn(curve) == expected
    assert set(whole.get_ydata()) == {100 * ordered.error_curve[-1]}
    assert drawn(kept) == [[2, 100 * ordered.error_curve[1]]]
    assert kept.get_marker() == "o"
    assert kept.get_color() == curve.get_color()
    assert ax.get_xlabel() == "members kept"
    assert ax.get_ylabel() == "selection error, %"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "orientation",
        "all 10 members",
    ]
    assert [text.get_text() for text in ax.texts] == ["2 kept"]
    assert ax.texts[0].xy == (2, 100 * ordered.error_curve[1])
    assert ax.get_xlim() == (1, 10)
    two, all_ten = 100 * ordered.error_curve[[1, -1]]
    assert ax.get_title().replace("\n", " ") == (
        f"Selection error: {two:.3g}% with 2 of 10 members, {all_ten:.3g}% with all"
    )


def test_errors_of_numbers_are_drawn_as_they_are(of_numbers):
    ax = of_numbers.plot(keep=3)
    curve, whole, kept = ax.lines
    assert drawn(curve) == [[n + 1, error] for n, error in enumerate(of_numbers.error_curve)]
    assert set(whole.get_ydata()) == {of_numbers.error_curve[-1]}
    assert drawn(kept) == [[3, of_numbers.error_curve[2]]]
    assert ax.get_ylabel() == "selection error (squared)"
    assert "%" not in ax.get_title()
    assert curve.get_label() == "reduce error"


@pytest.mark.parametrize("keep", [1, 1.0, 0.35, "auto", "rule"])
def test_the_size_that_is_kept_is_marked(keep, ordered):
    size = ordered.size(keep)
    ax = ordered.plot(keep=keep)
    assert drawn(ax.lines[2]) == [[size, 100 * ordered.error_curve[size - 1]]]
    assert ax.texts[0].get_text() == f"{size} kept"


def test_nothing_is_marked_when_nothing_is_kept(ordered):
    ax = ordered.plot(keep=None)
    assert len(ax.lines) == 2
    assert len(ax.texts) == 0


def test_curves_can_be_compared_in_one_picture(ordered):
    figure, ax = pyplot.subplots()
    assert ordered.plot(ax, keep=None, label="first") is ax
    ordered.plot(ax=ax, keep=None, label="second")
    assert pyplot.get_fignums() == [figure.number]
    # All orders end at the same error, which is drawn once.
    assert [line.get_label() for line in ax.lines] == ["first", "all 10 members", "second"]
    assert ax.lines[0].get_color() != ax.lines[2].get_color()
    assert ax.lines[0].get_linestyle() != ax.lines[2].get_linestyle()
    assert ax.get_title() == ""  # which would be that of one of them


def test_a_new_figure_is_made_when_none_is_given(ordered):
    pyplot.close("all")
    first, second = ordered.plot(), ordered.plot()
    assert first.figure is not second.figure
    assert len(pyplot.get_fignums()) == 2


def test_one_member_has_a_picture_too():
    ax = order_votes([[0, 1]], [0, 0]).plot()
    assert drawn(ax.lines[0]) == [[1, 50]]
    assert ax.get_xlim() == (1, 2)


def test_sizes_that_cannot_be_kept_are_refused(ordered):
    with pytest.raises(ValueError, match=r"keep=11 is not allowed; .* from 1 to 10"):
        ordered.plot(keep=11)
    with pytest.raises(ValueError, match="keep='fifth' is not allowed"):
        ordered.plot(keep="fifth")


# -- what pictures of curves share -----------------------------------------------------------------


def test_curves_look_different_one_after_the_other():
    _, ax = pyplot.subplots()
    for number in range(len(LOOKS)):
        draw_error_curve(ax, np.array([3.0, 2.0]), f"{number}", whole="all", mark=2, note="best")
    curves = [line for line in ax.lines if line.get_label().isdigit()]
    assert len(curves) == len(LOOKS)
    assert len({line.get_color() for line in curves}) == len(LOOKS)
    assert sum(line.get_label() == "all" for line in ax.lines) == 1


@pytest.mark.parametrize(("mark", "side"), [(2, "left"), (6, "left"), (7, "right"), (10, "right")])
def test_notes_are_written_towards_the_middle(mark, side):
    _, ax = pyplot.subplots()
    errors = np.linspace(5.0, 4.0, 10)
    draw_error_curve(ax, errors, "a", mark=mark, note="here")
    (note,) = ax.texts
    assert note.get_ha() == side
    assert note.xy == (mark, errors[mark - 1])


def test_a_band_is_as_high_as_the_spread():
    _, ax = pyplot.subplots()
    draw_error_curve(ax, np.array([5.0, 4.0]), "a", spread=np.array([1.0, 0.5]))
    heights = np.array(ax.collections[0].get_datalim(ax.transData).intervaly)
    assert heights.tolist() == [3.5, 6.0]


def test_axes_have_room_for_all_curves_but_their_first_errors():
    _, ax = pyplot.subplots()
    draw_error_curve(ax, np.concatenate([[90.0, 80.0], np.full(38, 20.0)]), "long")
    draw_error_curve(ax, np.array([30.0, 10.0]), "short")
    show_sizes(ax)
    assert ax.get_xlim() == (1, 40)
    low, high = ax.get_ylim()
    assert 0 < low < 10
    assert 30 < high < 40
    _, flat = pyplot.subplots()
    draw_error_curve(flat, np.zeros(3), "never wrong")
    show_sizes(flat)
    low, high = flat.get_ylim()
    assert low < 0 < high


def test_on_a_logarithmic_axis_first_errors_and_notes_are_where_they_are_seen():
    _, ax = pyplot.subplots()
    scale_members(ax, 1000, "log")
    errors = np.concatenate([[90.0], np.full(9, 30.0), np.full(990, 20.0)])
    # With 100 of 1000 members it is two thirds of the way, and there is more room on its left.
    draw_error_curve(ax, errors, "a", mark=100, note="here")
    show_sizes(ax, "log")
    assert ax.texts[0].get_ha() == "right"
    assert ax.get_xscale() == "log"
    # The first member's error is large, but it is not a twentieth of the axis.
    assert ax.get_ylim()[1] > 90
