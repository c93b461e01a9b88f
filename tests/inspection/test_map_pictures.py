"""Pictures of maps, and mosaics of them: what is drawn, where, and what it is called."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    IGPCommitteesClassifier,
)
from orfeon.datasets import Circle, Diagonal, make_circle
from orfeon.inspection.maps import ClassificationMap, classification_map, margin_map
from orfeon.inspection.maps_display import (
    ClassificationMapDisplay,
    MarginMapDisplay,
    draw_border,
    extent_of,
)
from orfeon.inspection.mosaic import MapMosaic, MapMosaicDisplay, map_mosaic

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

SQUARE = ((0.0, 1.0), (0.0, 1.0))


@pytest.fixture(scope="module")
def circle():
    return make_circle(200, random_state=0)


@pytest.fixture(scope="module")
def bag(circle):
    return BaggingClassifier(n_estimators=11, random_state=0).fit(*circle)


def by_hand(codes, classes=("a", "b")):
    codes = np.array(codes)
    return ClassificationMap(
        x=np.arange(codes.shape[1], dtype=float), y=np.arange(codes.shape[0], dtype=float),
        codes=codes, classes=np.array(classes),
    )  # fmt: skip


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def stays_inside(figure):
    """Nothing that is written reaches beyond the edges of the figure."""
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    return box.x0 > -0.05 and box.y0 > -0.05 and box.x1 < width + 0.05 and box.y1 < height + 0.05


# -- classes ---------------------------------------------------------------------------------------


def test_the_ground_has_a_pixel_for_each_point(bag, circle):
    X, y = circle
    display = ClassificationMapDisplay.from_estimator(bag, X, y, grid_resolution=(30, 20))
    assert (display.image_.get_array() == display.data.codes).all()
    left, right, bottom, top = display.image_.get_extent()
    step = display.data.x[1] - display.data.x[0]
    assert left == pytest.approx(display.data.x[0] - step / 2)
    assert right - left == pytest.approx(30 * step)
    assert (display.ax_.get_xlim(), display.ax_.get_ylim()) == ((left, right), (bottom, top))
    assert (
        display.ax_.get_title() == "Class predicted at each point\nby BaggingClassifier, 11 members"
    )
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x0", "x1")
    assert legend_of(display.ax_) == ["class 0", "class 1"]


def test_borders_run_between_pixels_of_different_classes():
    _, ax = pyplot.subplots()
    lines = draw_border(ax, by_hand([[0, 0, 1], [0, 1, 1]])).get_segments()
    found = {tuple(map(tuple, line.tolist())) for line in lines}
    assert found == {
        ((1.5, -0.5), (1.5, 0.5)),  # right of the second pixel below
        ((0.5, 0.5), (0.5, 1.5)),  # right of the first pixel above
        ((0.5, 0.5), (1.5, 0.5)),  # between the second pixels
    }
    # Three pixels in a row have one line.
    lines = draw_border(ax, by_hand([[0, 0, 0], [1, 1, 1]])).get_segments()
    assert [line.tolist() for line in lines] == [[[-0.5, 0.5], [2.5, 0.5]]]
    assert draw_border(ax, by_hand([[0, 0], [0, 0]])).get_segments() == []


def test_samples_are_where_they_are_with_a_marker_for_each_class(bag, circle):
    X, y = circle
    display = ClassificationMapDisplay.from_estimator(bag, X, y, grid_resolution=20)
    assert len(display.points_) == 2
    for code, drawn in enumerate(display.points_):
        assert (drawn.get_offsets() == X[y == code]).all()
    shapes = [drawn.get_paths()[0].vertices.shape for drawn in display.points_]
    assert shapes[0] != shapes[1]
    without = ClassificationMapDisplay.from_estimator(bag, X, grid_resolution=20)
    assert without.points_ == []
    assert legend_of(without.ax_) == ["class 0", "class 1"]


def test_parts_can_be_left_out(bag, circle):
    X, y = circle
    data = classification_map(bag, X, grid_resolution=20)
    display = ClassificationMapDisplay(data, X, y).plot(points=False, border=False, legend=False)
    assert display.border_ is None
    assert display.points_ == []
    assert display.ax_.get_legend() is None
    given = pyplot.subplots()[1]
    assert ClassificationMapDisplay(data).plot(given).ax_ is given


def test_the_truth_is_drawn_and_what_is_wrong_is_said(bag, circle):
    X, y = circle
    display = ClassificationMapDisplay.from_estimator(
        bag, X, y, true_classes=Circle(), box=SQUARE, grid_resolution=50
    )
    wrong = display.data.disagreement(classification_map(Circle(), box=SQUARE, grid_resolution=50))
    assert display.ax_.get_title().endswith(f"\n{100 * wrong:.1f}% of the area is wrong")
    assert "true border" in legend_of(display.ax_)


def test_categories_have_their_names_on_the_axis():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"kind": rng.choice(["a$", "b"], 60), "x": rng.random(60)})
    y = (table["kind"] == "b").to_numpy()
    model = BaggingClassifier(n_estimators=3, random_state=0).fit(table, y)
    display = ClassificationMapDisplay.from_estimator(model, table, y, grid_resolution=10)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == [r"a\$", "b"]
    assert set(np.vstack([p.get_offsets() for p in display.points_])[:, 0]) == {0.0, 1.0}
    assert stays_inside(display.figure_)


# -- margins ---------------------------------------------------------------------------------------


def test_margins_of_two_classes_have_a_scale_from_one_to_the_other(bag, circle):
    X, y = circle
    display = MarginMapDisplay.from_estimator(bag, X, y, grid_resolution=30)
    assert (display.image_.get_array() == display.data.margins).all()
    assert (display.colour_bar_.vmin, display.colour_bar_.vmax) == (-1, 1)
    assert display.colour_bar_.ax.get_ylabel() == "votes: class 0 minus class 1"
    colours = display.image_.cmap([0.0, 0.5, 1.0])
    assert colours[0][0] > colours[0][2]  # orange: the second class
    assert colours[1][:3].min() > 0.99  # white where votes are even
    assert colours[2][2] > colours[2][0]  # blue: the first
    assert display.ax_.get_title().startswith("How clearly each point is decided")


def test_more_classes_have_their_colours_the_stronger_the_clearer(circle):
    X, y = circle
    three = np.where(X[:, 0] > 0.6, 2, y)
    model = BaggingClassifier(n_estimators=11, random_state=0).fit(X, three)
    display = MarginMapDisplay.from_estimator(model, X, three, grid_resolution=30)
    ground = np.asarray(display.image_.get_array())
    assert ground.shape == (30, 30, 3)
    for code in range(3):
        of_class = display.data.codes == code
        margins, strength = display.data.margins[of_class], 1 - ground[of_class].min(axis=1)
        order = np.argsort(margins)
        assert (np.diff(strength[order]) >= -1e-12).all()
    assert (display.colour_bar_.vmin, display.colour_bar_.vmax) == (0, 1)
    assert "first class minus second" in display.colour_bar_.ax.get_ylabel()
    plain = MarginMapDisplay(display.data).plot(colour_bar=False)
    assert plain.colour_bar_ is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_grey_maps_show_the_margin_of_the_predicted_class_with_level_curves(circle, n_classes):
    X, y = circle
    labels = np.where(X[:, 0] > 0.6, 2, y) if n_classes == 3 else y
    model = BaggingClassifier(n_estimators=11, random_state=0).fit(X, labels)
    data = margin_map(model, X, grid_resolution=30)
    display = MarginMapDisplay(data).plot(grey=True, levels=[0.5, 0.25])
    assert (display.image_.get_array() == np.abs(data.margins)).all()
    assert display.levels_.levels.tolist() == [0.25, 0.5]
    assert (display.colour_bar_.vmin, display.colour_bar_.vmax) == (0, 1)
    shades = display.image_.cmap([0.0, 0.5, 1.0])[:, :3]
    assert (shades == shades[:, :1]).all()
    assert shades[0, 0] == 1 > shades[1, 0] > shades[2, 0]
    assert display.ax_.get_legend() is None  # no colour stands for a class
    in_colour = MarginMapDisplay(data).plot(levels=[0.5])
    # A curve of the level leaves clearer points on one side and others on the other.
    inside = np.abs(data.margins) > 0.5
    assert inside.any()
    assert not inside.all()
    assert len(in_colour.levels_.allsegs[0]) > 0
    assert MarginMapDisplay(data).plot().levels_ is None


def test_levels_that_are_no_margins_are_refused_and_flat_maps_have_none(circle):
    X, y = circle
    data = margin_map(CARTClassifier().fit(X, y), X, grid_resolution=10)
    with pytest.raises(ValueError, match=r"levels=\[0, 1\] is not allowed"):
        MarginMapDisplay(data).plot(levels=[0, 1])
    assert MarginMapDisplay(data).plot(levels=[0.5]).levels_ is None  # one tree is always sure


def test_a_grey_mosaic_has_one_scale(circle):
    models = {"bag": BaggingClassifier(n_estimators=11, random_state=0)}
    mosaic = map_mosaic(models, [circle], kind="margins", grid_resolution=20)
    display = MapMosaicDisplay(mosaic).plot(grey=True, levels=[0.5], border=True)
    scale = display.figure_.axes[1]
    assert scale.get_ylabel() == "votes: first class minus second"
    assert scale.get_ylim() == (0, 1)
    assert (display.axes_[0, 0].images[0].get_array() >= 0).all()


def test_probabilities_are_called_so(circle):
    display = MarginMapDisplay.from_estimator(
        LogisticRegression().fit(*circle), circle[0], grid_resolution=10
    )
    assert display.colour_bar_.ax.get_ylabel() == "probabilities: class 0 minus class 1"


# -- mosaics ---------------------------------------------------------------------------------------


def test_a_mosaic_of_models_has_a_column_for_each_and_a_row_for_each_data_set():
    models = {"tree": CARTClassifier(random_state=0), "theirs": DecisionTreeClassifier()}
    data = {
        "few": Circle().sample(50, random_state=0),
        "many": Circle().sample(500, random_state=0),
    }
    mosaic = map_mosaic(models, data, true_classes=Circle(), grid_resolution=40)
    assert (mosaic.row_names, mosaic.column_names) == (("few", "many"), ("tree", "theirs"))
    # All maps cover all data, so that they can be compared.
    assert all((one.x == mosaic.true_classes.x).all() for row in mosaic.maps for one in row)
    assert mosaic.true_classes.x[0] < min(X[:, 0].min() for X, _ in data.values())
    X, y = data["many"]
    tree = CARTClassifier(random_state=0).fit(X, y)
    box = tuple((at[0], at[-1]) for at in (mosaic.true_classes.x, mosaic.true_classes.y))
    again = classification_map(tree, box=box, grid_resolution=40)
    assert (mosaic.maps[1][0].codes == again.codes).all()
    assert mosaic.errors[1, 0] == again.disagreement(mosaic.true_classes)
    assert not hasattr(models["tree"], "forest_")  # clones were fitted


def test_sizes_are_the_first_members_of_one_fit():
    data = [Diagonal().sample(n, random_state=0) for n in (60, 300)]
    model = ClassSwitchingClassifier(random_state=0)
    mosaic = map_mosaic(model, data, n_members=[1, 11, 51], kind="margins", grid_resolution=30)
    assert mosaic.row_names == ("60 samples", "300 samples")
    assert mosaic.column_names == ("1 member", "11 members", "51 members")
    assert np.isnan(mosaic.errors).all()
    alone = ClassSwitchingClassifier(n_estimators=11, random_state=0).fit(*data[1])
    box = tuple((at[0], at[-1]) for at in (mosaic.maps[0][0].x, mosaic.maps[0][0].y))
    found = margin_map(alone, box=box, grid_resolution=30)
    assert (mosaic.maps[1][1].margins == found.margins).all()
    assert model.n_estimators == 1000


def test_committees_are_counted_by_their_own_parameter():
    data = [make_circle(60, random_state=0)]
    model = IGPCommitteesClassifier(n_estimators=2, random_state=0)
    mosaic = map_mosaic(model, data, n_members=[1, 3], grid_resolution=10)
    assert mosaic.maps[0][1].model == "IGPCommitteesClassifier, 3 members"


def test_the_picture_of_a_mosaic_says_what_is_what():
    data = [Diagonal().sample(n, random_state=0) for n in (30, 100)]
    model = ClassSwitchingClassifier(random_state=0)
    mosaic = map_mosaic(
        model, data, n_members=[1, 11, 51], true_classes=Diagonal(), grid_resolution=30
    )
    display = MapMosaicDisplay(mosaic).plot()
    assert display.axes_.shape == (2, 3)
    assert [ax.get_title() for ax in display.axes_[0]] == ["1 member", "11 members", "51 members"]
    assert [ax.get_ylabel() for ax in display.axes_[:, 0]] == ["30 samples", "100 samples"]
    written = [[ax.texts[0].get_text() for ax in row] for row in display.axes_]
    assert written == [[f"{100 * e:.1f}%" for e in row] for row in mosaic.errors]
    for row, axes in zip(mosaic.maps, display.axes_, strict=True):
        for one, ax in zip(row, axes, strict=True):
            assert (ax.images[0].get_array() == one.codes).all()
    answers = "Class predicted at each point by ClassSwitchingClassifier"
    assert display.figure_.get_suptitle() == answers
    (legend,) = display.figure_.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["class 0", "class 1", "true border", "%: area that is wrong"]
    assert stays_inside(display.figure_)


def test_a_mosaic_of_margins_has_one_scale_and_another_figure_may_be_given():
    data = [make_circle(60, random_state=0)]
    model = BaggingClassifier(random_state=0)
    mosaic = map_mosaic(model, data, n_members=[1, 11], kind="margins", grid_resolution=20)
    figure = pyplot.figure(figsize=(3.5, 2.5), layout="constrained")
    display = MapMosaicDisplay(mosaic).plot(figure, border=True, title="Two bags")
    assert display.figure_ is figure
    assert len(figure.axes) == 3
    assert figure.axes[2].get_ylabel() == "votes: class 0 minus class 1"
    assert figure.get_suptitle() == "Two bags"
    assert stays_inside(figure)
    part = pyplot.figure(figsize=(7, 3), layout="constrained").subfigures(1, 2)[0]
    assert MapMosaicDisplay(mosaic).plot(part, legend=False).axes_.shape == (1, 2)


def test_a_mosaic_of_votes_and_of_probabilities_says_so():
    data = [make_circle(60, random_state=0)]
    models = {"one": CARTClassifier(), "many": BaggingClassifier(n_estimators=5, random_state=0)}
    mosaic = map_mosaic(models, data, kind="margins", grid_resolution=10)
    assert [one.of for one in mosaic.maps[0]] == ["probabilities", "votes"]
    display = MapMosaicDisplay(mosaic).plot()
    assert display.figure_.axes[2].get_ylabel() == "votes or probabilities: class 0 minus class 1"
    alone = map_mosaic({"one": CARTClassifier()}, data, kind="margins", grid_resolution=10)
    display = MapMosaicDisplay(alone).plot()
    assert display.figure_.axes[1].get_ylabel() == "probabilities: class 0 minus class 1"


def test_a_mosaic_is_fitted_and_drawn_at_once():
    data = [make_circle(60, random_state=0)]
    model = BaggingClassifier(random_state=0)
    figure = pyplot.figure(layout="constrained")
    display = MapMosaicDisplay.from_estimator(
        model, data, n_members=[1, 3], kind="margins", true_classes=Circle(), grid_resolution=10,
        figure=figure,
    )  # fmt: skip
    expected = map_mosaic(
        model, data, n_members=[1, 3], kind="margins", true_classes=Circle(), grid_resolution=10
    )
    assert display.figure_ is figure
    assert (display.mosaic.errors == expected.errors).all()
    assert (display.mosaic.maps[0][1].margins == expected.maps[0][1].margins).all()


@pytest.mark.parametrize(("flags", "n_colours"), [((), 32), (("--margins",), 256)])
def test_the_cover_mosaic_is_drawn_in_few_colours(flags, n_colours, tmp_path, monkeypatch, capsys):
    Image = pytest.importorskip("PIL.Image")
    script = Path(__file__).resolve().parents[2] / "examples" / "cover_mosaic.py"
    path = tmp_path / "new" / "mosaic.png"
    monkeypatch.setattr(sys, "argv", [str(script), "--quick", "--out", str(path), *flags])
    runpy.run_path(str(script), run_name="__main__")
    assert f"Drawn in {path}" in capsys.readouterr().out
    with Image.open(path) as picture:
        assert picture.mode == "P"
        assert len(picture.getcolors()) <= n_colours
    assert path.stat().st_size < 100_000


def test_the_same_model_twice_gives_the_same_mosaic():
    data = [make_circle(60, random_state=0)]
    models = {
        "boosted": AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=5, random_state=3),
        "bagged": BaggingClassifier(n_estimators=5, random_state=3),
    }
    one, other = (map_mosaic(models, data, grid_resolution=30) for _ in range(2))
    for a, b in zip(one.maps[0], other.maps[0], strict=True):
        assert (a.codes == b.codes).all()


@pytest.mark.parametrize(("change", "message"), [
    ({"data": []}, "data is empty"),
    ({"data": [make_circle(30), make_circle(30)]}, "two sets of 30 samples"),
    ({"kind": "votes"}, "kind='votes' is not allowed"),
    ({"n_members": []}, r"n_members=\[\] is not allowed"),
    ({"n_members": [0, 3]}, "n_members="),
    ({"n_members": [1.5]}, "n_members="),
    ({"models": {"a": CARTClassifier(), "b": CARTClassifier()}, "n_members": [1]}, "2 models"),
])  # fmt: skip
def test_mosaics_that_cannot_be_made_are_refused(change, message):
    given = {"models": BaggingClassifier(n_estimators=3), "data": [make_circle(30)]} | change
    models, data = given.pop("models"), given.pop("data")
    with pytest.raises(ValueError, match=message):
        map_mosaic(models, data, grid_resolution=5, **given)


def test_rows_and_columns_need_names():
    one = by_hand([[0, 1]])
    with pytest.raises(ValueError, match="each needs one for each of the 1 column_names"):
        MapMosaic(((one, one),), ("r",), ("c",))
    with pytest.raises(ValueError, match="maps has 1 rows and row_names has 2"):
        MapMosaic(((one,),), ("r", "s"), ("c",))


# -- what pictures share ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", [3.5, pytest.param(7.0, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("kind", [ClassificationMapDisplay, MarginMapDisplay])
def test_pictures_fit_the_width_of_a_column_and_of_a_page(kind, width, circle):
    X, y = circle
    names = np.array(["a rather long name", "another long one", "short"])[
        np.where(X[:, 0] > 0.7, 2, y)
    ]
    model = ClassSwitchingClassifier(n_estimators=11, random_state=0).fit(X, names)
    figure, ax = pyplot.subplots(figsize=(width, 3.6), layout="constrained")
    display = kind.from_estimator(model, X, names, ax=ax, grid_resolution=50)
    assert stays_inside(display.figure_)
    ends = ax.get_window_extent().width / figure.dpi
    assert ends > 0.5 * width  # the legend and the scale leave room for the map


def test_a_map_of_one_column_has_a_width():
    assert extent_of(by_hand([[0], [1]])) == (-0.5, 0.5, -0.5, 1.5)


def test_samples_without_classes_are_refused(bag, circle):
    X, y = circle
    data = classification_map(bag, X, grid_resolution=5)
    with pytest.raises(ValueError, match="y is missing"):
        ClassificationMapDisplay(data, X)
    with pytest.raises(ValueError, match="X is missing"):
        ClassificationMapDisplay(data, y=y)
    with pytest.raises(ValueError, match="y has the class 7"):
        ClassificationMapDisplay(data, X, np.full(len(X), 7))
    with pytest.raises(ValueError, match="y has 3 values"):
        ClassificationMapDisplay(data, X, [0, 1, 0])
