"""What pictures share: looks, scales, titles, legends and names, and life without matplotlib."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys

import numpy as np
import pytest
from tests.shared import cases

from orfeon import inspection
from orfeon.rendering.figure import (
    LOOKS,
    axes_for,
    look_of,
    put_colour_bar,
    put_legend,
    put_title,
    scale_members,
)
from orfeon.rendering.texts import columns_of, fitting_size, in_lines, plain, put_names

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

DISPLAYS = sorted(name for name in inspection.__all__ if name.endswith("Display"))


# -- displays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_are_made_and_drawn_in_the_same_way(name):
    display = getattr(inspection, name)
    made = {its for its in vars(display) if its.startswith("from_")}
    made |= {its for base in display.__mro__ for its in vars(base) if its.startswith("from_")}
    assert made & {"from_estimator", "from_votes", "from_predictions"}
    assert all(inspect.ismethod(getattr(display, its)) for its in made)
    for its in made:
        where = {"figure"} if name == "MapMosaicDisplay" else {"ax", "options"}
        assert where & set(inspect.signature(getattr(display, its)).parameters), its
    # A mosaic has many axes, and is drawn in a figure.
    axes, where = ("axes_", "figure") if name == "MapMosaicDisplay" else ("ax_", "ax")
    for feature in (axes, "figure_"):
        assert f"\n{feature} : " in inspect.cleandoc(display.__doc__)
    parameters = inspect.signature(display.plot).parameters
    assert list(parameters)[1] == where
    assert parameters[where].default is None
    assert "Self" in str(inspect.signature(display.plot).return_annotation)


def test_new_figures_make_room_for_their_texts():
    made = axes_for("A picture", None, (3.0, 2.0)).figure
    assert isinstance(made.get_layout_engine(), ConstrainedLayoutEngine)
    given = pyplot.subplots()[1]
    assert axes_for("A picture", given, (3.0, 2.0)) is given


def test_what_is_no_axes_is_refused():
    with pytest.raises(TypeError, match="ax is of type str; matplotlib Axes are needed"):
        inspection.CondorcetDisplay.from_member_errors(ax="x")
    several = pyplot.subplots(1, 2)[1]
    with pytest.raises(TypeError, match=r"type ndarray; .* choose one, such as ax\[0\]"):
        inspection.CondorcetDisplay.from_member_errors(ax=several)


@pytest.mark.tools
def test_without_matplotlib_the_data_are_there_and_the_error_says_what_to_install():
    script = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from orfeon import inspection
from orfeon.datasets import Circle
assert all(hasattr(inspection, name) for name in inspection.__all__)
votes, y = [[0, 1, 0], [1, 1, 0]], [0, 1, 1]
found = inspection.diversity(votes, y=y)
data = inspection.PerceptronCategories(
    points=np.zeros((1, 2)), is_positive=np.ones(1, bool), categories=np.array(["noisy"]),
    selected=None, slopes=np.ones((1, 2)), offsets=np.zeros(1), gamma=1.0, names=("x0", "x1"),
    classes=("a", "b"),
)
circle = inspection.classification_map(Circle(), box=((0, 1), (0, 1)), grid_resolution=5)
print(round(found.disagreement, 3), len(data.points), circle.codes.sum())
for display in (
    inspection.DiversityDisplay(found),
    inspection.KappaErrorDisplay(inspection.kappa_error(votes, y=y)),
    inspection.ErrorCurveDisplay(inspection.error_curves(votes, y=y)),
    inspection.PerceptronCategoriesDisplay(data),
    inspection.SelectionHistoryDisplay([2], [1], [1], 0, "it was enough"),
    inspection.ClassificationMapDisplay(circle),
    inspection.MapMosaicDisplay(inspection.MapMosaic(((circle,),), ("one",), ("row",))),
):
    try:
        display.plot()
    except ImportError as error:
        assert str(error).endswith("pip install 'orfeon[plot]'.")
        print(str(error).split()[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "0.333 1 9", "DiversityDisplay", "KappaErrorDisplay", "ErrorCurveDisplay",
        "PerceptronCategoriesDisplay", "SelectionHistoryDisplay", "ClassificationMapDisplay",
        "MapMosaicDisplay",
    ]  # fmt: skip


# -- looks and scales ------------------------------------------------------------------------------


def test_forty_nine_looks_are_different_and_the_first_seven_in_all_respects():
    assert [look_of(number) for number in range(7)] == list(LOOKS)
    for part in zip(*LOOKS, strict=True):
        assert len(set(part)) == 7
    looks = [look_of(number) for number in range(49)]
    for one, other in itertools.combinations(looks, 2):
        assert (one.colour, one.marker) != (other.colour, other.marker)
        assert (one.colour, one.linestyle) != (other.colour, other.linestyle)


def test_the_second_ensemble_looks_the_same_in_all_pictures():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    votes = {
        name: np.where(rng.random((12, 40)) < right, y, 1 - y)
        for name, right in (("a", 0.8), ("b", 0.7), ("c", 0.6))
    }
    curves = inspection.ErrorCurves(tuple(
        inspection.ErrorCurve(name, "test", next(iter(inspection.error_curves(v, y=y))).errors)
        for name, v in votes.items()
    ))  # fmt: skip
    errors = inspection.ErrorCurveDisplay(curves).plot().lines_
    margins = inspection.MarginDistributionDisplay.from_votes(votes, y)
    kappa = inspection.KappaErrorDisplay.from_votes(votes, y)
    diversity = inspection.DiversityDisplay.from_votes(votes, y)
    for number, name in enumerate(votes):
        look = look_of(number)
        of_margins = margins.ax_.get_legend().legend_handles[number]
        for line in (errors[name, "test"], of_margins, diversity.marks_[name]):
            assert (line.get_color(), line.get_marker()) == (look.colour, look.marker)
        assert margins.lines_[name, 12].get_color() == look.colour
        assert kappa.centroids_[name].get_marker() == look.marker
        assert matplotlib.colors.to_hex(kappa.clouds_[name].get_facecolor()[0]).upper() == (
            look.colour
        )


@pytest.mark.parametrize(("n_members", "scale", "expected"), [
    (299, "auto", "linear"), (300, "auto", "log"), (1000, "linear", "linear"), (5, "log", "log"),
])  # fmt: skip
def test_the_axis_of_hundreds_of_members_is_logarithmic(n_members, scale, expected):
    figure, ax = pyplot.subplots()
    scale_members(ax, n_members, scale)
    assert ax.get_xscale() == expected
    assert ax.get_xlim() == (1, n_members)
    figure.canvas.draw()
    labels = [*ax.get_xticklabels(), *ax.get_xticklabels(minor=True)]
    inside = [label for label in labels if 1 <= label.get_position()[0] <= n_members]
    written = [label.get_text() for label in inside if label.get_text()]
    assert len(written) >= 3
    assert all(text.isdigit() for text in written)  # neither 2.5 members nor powers


# -- titles, legends, names ------------------------------------------------------------------------


@pytest.mark.parametrize("width", [3.5, 7.0])
def test_titles_and_legends_stay_within_the_picture(width):
    figure, ax = pyplot.subplots(figsize=(width, 3.5), layout="constrained")
    for number in range(5):
        ax.plot([3.0, 2.0, 1.0], label=f"a rule of some name {number}: 19.6% with 71")
    ax.set_xlabel("members")
    put_title(
        ax, "Lowest test error: 20.1% with 90 of 200 members (margin distance), 21.1% with all"
    )
    legend = put_legend(ax)
    figure.canvas.draw()
    for artist in (ax.title, legend):
        box = artist.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
    # The legend is below the label of the axis.
    assert legend.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0
    assert legend._ncols == (1 if width < 5 else 2)
    assert (ax.get_title().count("\n") > 0) == (width < 5)
    # Letters of a column of a journal are small.
    assert (ax.title.get_fontsize() < 10) == (width < 5)


def test_no_word_is_alone_in_the_last_line_of_a_title():
    _, ax = pyplot.subplots(figsize=(3.5, 3.0))
    put_title(ax, "one two three four five six seven eight nine ten eleven twelve thirteen")
    lengths = [len(line) for line in ax.get_title().split("\n")]
    assert len(lengths) == 2
    assert min(lengths) > 0.7 * max(lengths)


def test_lines_of_a_title_stay_apart_and_its_width_can_be_given():
    _, ax = pyplot.subplots(figsize=(6.0, 3.0))
    put_title(ax, "first\nsecond and third")
    assert ax.get_title() == "first\nsecond and third"
    put_title(ax, "first\nsecond and third", width=70.0)
    assert ax.get_title() == "first\nsecond and\nthird"
    assert in_lines("first\n\nlast", 500.0, 10.0) == "first\n\nlast"


@pytest.mark.parametrize(("labels", "width", "expected"), [
    (["a class"] * 4, 1000.0, 4),
    (["a class"] * 4, 240.0, 2),  # not three and one
    (["a class"] * 5, 240.0, 3),
    (["a class"] * 4, 50.0, 1),
    (["a name of forty letters, or so, it seems", "b", "c", "d"], 320.0, 2),
    ([], 100.0, 1),
])  # fmt: skip
def test_legends_have_as_many_columns_as_there_is_room_for(labels, width, expected):
    assert columns_of(labels, width) == expected


def test_entries_of_a_legend_can_be_given():
    _, ax = pyplot.subplots()
    ax.plot([1, 2], label="not this")
    legend = put_legend(ax, handles=[Line2D([], [], label="this")], title="Of these")
    assert [text.get_text() for text in legend.get_texts()] == ["this"]
    assert legend.get_title().get_text() == "Of these"


def test_letters_shrink_only_as_far_as_they_can_be_read():
    usual = fitting_size(3, 5.0)
    assert usual == pytest.approx(8.33)
    assert usual > fitting_size(20, 1.0) > fitting_size(100, 1.0) == pytest.approx(0.6 * usual)


def test_dollars_are_no_formulas():
    figure, ax = pyplot.subplots()
    put_title(ax, plain("from 1$ to \\frac{2}$"))
    figure.canvas.draw()
    assert ax.get_title() == "from 1\\$ to \\frac{2}\\$"


def test_texts_of_colour_bars_are_no_longer_than_the_axes_are_high():
    figure, ax = pyplot.subplots(figsize=(3.5, 2.5), layout="constrained")
    bar = put_colour_bar(ax.imshow([[0, 1]]), ax, "share of the trees with both rows in one leaf")
    figure.canvas.draw()
    assert bar.ax.yaxis.label.get_window_extent().height <= figure.bbox.height
    assert bar.ax.get_ylabel().count("\n") == 1


@pytest.mark.parametrize("seed", range(cases(8)))
def test_names_are_over_no_other_and_inside(seed):
    rng = np.random.default_rng(seed)
    figure, ax = pyplot.subplots(figsize=(4.8, 3.6), layout="constrained")
    ax.set(xlim=(0, 100), ylim=(0, 100), xlabel="rows")
    points = np.column_stack([rng.uniform(0, 100, 6), rng.uniform(60, 75, 6)])
    points[1] = points[0] + [0.5, 0.5]  # nearly the same
    put_names(ax, [f"row {number}" for number in range(100, 106)], points)
    put_legend(ax, handles=[Line2D([], [], label=f"a legend of some lines {k}") for k in range(6)])
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 6
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    frame = ax.get_window_extent()
    assert all(frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 for box in boxes)


def test_names_stay_beside_their_points_where_there_is_room():
    _, ax = pyplot.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    put_names(ax, ["left", "middle", "right"], [(0, 5), (5, 5), (10, 5)])
    assert [text.get_ha() for text in ax.texts] == ["left", "left", "right"]
    assert [text.xyann[1] for text in ax.texts] == [0.0, 0.0, 0.0]
