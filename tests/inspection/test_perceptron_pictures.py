"""Pictures of parallel perceptrons: what is drawn, where, and what it is called."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from orfeon import ParallelPerceptronClassifier, PPBoostClassifier, PPTSSClassifier, PPTSSSampler
from orfeon.datasets import make_gaussian_clouds
from orfeon.inspection import (
    PerceptronCategories,
    PerceptronCategoriesDisplay,
    SelectionHistoryDisplay,
    perceptron_categories,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

GAMMA = "\N{GREEK SMALL LETTER GAMMA}"
CATEGORIES = ("redundant", "borderline", "quasi-noisy", "noisy")


@pytest.fixture(scope="module")
def clouds():
    return make_gaussian_clouds(1000, random_state=0)


@pytest.fixture(scope="module")
def plain(clouds):
    return ParallelPerceptronClassifier(random_state=0).fit(*clouds)


@pytest.fixture(scope="module")
def selective(clouds):
    return PPTSSClassifier(random_state=0).fit(*clouds)


@pytest.fixture
def by_hand():
    """One perceptron, x0 + x1 = 0, with a margin of 1, and a sample of each category."""
    return PerceptronCategories(
        points=np.array([[4.0, 4.0], [-4.0, -4.0], [0.4, 0.4], [-4.0, 4.0], [4.0, 3.0]]),
        is_positive=np.array([True, False, True, False, False]),
        categories=np.array(["redundant", "redundant", "borderline", "quasi-noisy", "noisy"]),
        selected=np.array([False, False, True, True, False]),
        slopes=np.array([[1.0, 1.0]]),
        offsets=np.zeros(1),
        gamma=1.0,
        names=("x0", "x1"),
        classes=("well", "ill"),
    )


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def picture_of(figure):
    """The pixels of a figure."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]


# -- the data --------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [
    {}, {"standardize": False}, {"divide_inputs": False}, {"n_perceptrons": 5},
    {"standardize": False, "divide_inputs": False},
])  # fmt: skip
def test_lines_are_in_the_units_of_the_features(settings, clouds):
    X, y = clouds
    X = X * [50.0, 0.01] + [1000.0, -3.0]
    model = ParallelPerceptronClassifier(random_state=1, max_iter=50, **settings).fit(X, y)
    found = perceptron_categories(model, X, y)
    sign = np.where(y == 1, 1.0, -1.0)[:, None]
    np.testing.assert_allclose(sign * found.activations(X), model.margins(X, y), atol=1e-10)
    assert found.slopes.shape == (settings.get("n_perceptrons", 3), 2)


def test_categories_are_those_of_the_estimator(clouds, plain, selective):
    X, y = clouds
    found = perceptron_categories(plain, X, y)
    assert (found.categories == plain.categories(X, y)).all()
    assert sum(found.count(category) for category in CATEGORIES) == 1000
    assert found.count("redundant") > 500  # most of two clouds that hardly touch
    assert found.selected is None
    assert found.gamma == plain.margin_[0]
    assert (found.is_positive == (y == 1)).all()
    assert (found.points == X).all()
    found = perceptron_categories(selective, X, y)
    assert (found.categories == selective.estimator_.categories(X, y)).all()
    assert (np.flatnonzero(found.selected) == selective.selected_).all()


def test_what_is_quasi_noisy_is_asked_for_or_that_of_the_selection(clouds):
    X, y = clouds
    model = PPTSSClassifier(
        ParallelPerceptronClassifier(init="unit"), quasi_noisy="vote", max_rounds=2, random_state=0
    ).fit(X, y)
    counts = {
        which: perceptron_categories(model, X, y, quasi_noisy=which).count("quasi-noisy")
        for which in (None, "vote", "all")
    }
    assert counts[None] == counts["vote"] > counts["all"]


def test_the_class_of_interest_can_be_named(clouds, plain):
    X, y = clouds
    found = perceptron_categories(plain, X, y, pos_label=0)
    assert (found.is_positive == (y == 0)).all()
    assert found.classes == ("1", "0")
    assert (found.categories == plain.categories(X, y, pos_label=0)).all()
    other = PPTSSClassifier(pos_label=0, max_rounds=1, random_state=0).fit(X, y)
    assert perceptron_categories(other, X, y).classes == ("1", "0")


def test_what_is_missing_is_drawn_at_the_mean(clouds):
    X, y = clouds
    X = X.copy()
    X[3, 1] = np.nan
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    found = perceptron_categories(model, X, y)
    assert found.points[3].tolist() == [X[3, 0], pytest.approx(np.nanmean(X[:, 1]), abs=1e-12)]


def test_a_constant_feature_has_no_say_and_a_picture(clouds):
    X, y = clouds
    X = np.column_stack([X[:, 0], np.full(len(X), 7.0)])
    model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    display = PerceptronCategoriesDisplay.from_estimator(model, X, y)
    assert (display.data.slopes[:, 1] == 0).all()
    assert display.ax_.get_ylim() == (6.5, 7.5)
    assert all(np.ptp(line.get_xdata()) < 1e-12 for line in display.lines_)  # upright


# -- what is refused -------------------------------------------------------------------------------


def test_more_or_fewer_than_two_features_are_refused(clouds):
    X, y = clouds
    for columns, count in (([0], 1), ([0, 1, 0], 3)):
        model = ParallelPerceptronClassifier(max_iter=2, random_state=0).fit(X[:, columns], y)
        with pytest.raises(ValueError, match=rf"two ordered features, got {count} features"):
            PerceptronCategoriesDisplay.from_estimator(model, X[:, columns], y)


def test_categorical_features_are_refused(clouds):
    X, y = clouds
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    model = ParallelPerceptronClassifier(max_iter=2, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match=r"got 2 features \(1 of them categorical\)"):
        perceptron_categories(model, frame, y)


def test_more_or_fewer_than_two_classes_are_refused(clouds):
    X, y = clouds
    for labels, n_classes in ((y + (X[:, 0] > 0), 3), (np.zeros(len(y), int), 1)):
        model = ParallelPerceptronClassifier(max_iter=2, random_state=0).fit(X, labels)
        with pytest.raises(ValueError, match=rf"fitted to two classes, got {n_classes}"):
            perceptron_categories(model, X, labels)


def test_other_estimators_are_refused(clouds):
    X, y = clouds
    boosted = PPBoostClassifier(n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"PPBoostClassifier.* is not allowed"):
        perceptron_categories(boosted, X, y)
    with pytest.raises(TypeError, match=r"PPBoostClassifier.* is not allowed"):
        SelectionHistoryDisplay.from_estimator(boosted)
    member = boosted.estimators_[0]  # but its members are parallel perceptrons
    assert perceptron_categories(member, X, y).slopes.shape == (3, 2)


def test_estimators_that_are_not_fitted_are_refused(clouds):
    for estimator in (ParallelPerceptronClassifier(), PPTSSClassifier()):
        with pytest.raises(NotFittedError):
            perceptron_categories(estimator, *clouds)
    with pytest.raises(NotFittedError):
        SelectionHistoryDisplay.from_estimator(PPTSSClassifier())


def test_another_sample_than_that_of_the_selection_is_refused(clouds, selective):
    X, y = clouds
    last = int(selective.selected_[-1])
    with pytest.raises(ValueError, match=rf"X has {last} rows, and row {last} was selected"):
        perceptron_categories(selective, X[:last], y[:last])


# -- the picture of the categories -----------------------------------------------------------------


def test_every_sample_is_drawn_once_by_class_and_category(clouds, plain):
    X, y = clouds
    display = PerceptronCategoriesDisplay.from_estimator(plain, X, y)
    categories = plain.categories(X, y)
    for (category, is_positive, is_strong), drawn in display.points_.items():
        expected = X[(categories == category) & ((y == 1) == is_positive)]
        assert drawn.get_offsets().tolist() == expected.tolist()
        assert is_strong
        assert drawn.get_alpha() is None
    assert sum(len(drawn.get_offsets()) for drawn in display.points_.values()) == 1000
    colours = {
        (category, tuple(drawn.get_facecolor()[0]))
        for (category, _, _), drawn in display.points_.items()
    }
    assert len(colours) == len(CATEGORIES)  # the same for both classes, all different
    shapes = {
        (is_positive, len(drawn.get_paths()[0].vertices))
        for (_, is_positive, _), drawn in display.points_.items()
    }
    assert len(shapes) == 2


def test_what_was_left_out_is_hollow_and_faint(clouds, selective):
    X, y = clouds
    display = PerceptronCategoriesDisplay.from_estimator(selective, X, y)
    drawn = {True: [], False: []}
    for (_, _, is_strong), points in display.points_.items():
        drawn[is_strong] += points.get_offsets().tolist()
        assert (len(points.get_facecolor()) == 1) == is_strong
        assert (points.get_alpha() is None) == is_strong
    assert sorted(drawn[True]) == sorted(X[selective.selected_].tolist())
    assert len(drawn[True]) == len(selective.selected_) < 200
    assert len(drawn[True]) + len(drawn[False]) == 1000


def test_lines_and_bands_are_where_activations_say(clouds, plain):
    X, y = clouds
    display = PerceptronCategoriesDisplay.from_estimator(plain, X, y)
    data, gamma = display.data, plain.margin_[0]
    assert len(display.lines_) == len(display.bands_) == 3
    for perceptron, (line, band) in enumerate(zip(display.lines_, display.bands_, strict=True)):
        on_line = data.activations(np.column_stack(line.get_data()))[:, perceptron]
        np.testing.assert_allclose(on_line, 0.0, atol=1e-12)
        corners = data.activations(band.get_xy()[:4])[:, perceptron]
        np.testing.assert_allclose(corners, [-gamma, -gamma, gamma, gamma], atol=1e-12)


def test_lines_go_through_the_picture_from_edge_to_edge(by_hand):
    display = PerceptronCategoriesDisplay(by_hand).plot()
    (line,), (band,) = display.lines_, display.bands_
    low, high = display.ax_.get_xlim()
    assert (low, high) == pytest.approx((-4.32, 4.32))
    # From one corner to the other, and the picture is square in its own units.
    ends = np.sort(np.column_stack(line.get_data()), axis=0)
    assert (ends[0] <= low).all()
    assert (ends[1] >= high).all()
    assert band.get_path().contains_point((-2.0, 2.9))
    assert not band.get_path().contains_point((-2.0, 3.1))


def test_scales_that_differ_do_not_bend_a_band(clouds):
    X, y = clouds
    model = ParallelPerceptronClassifier(random_state=0).fit(X * [1e6, 1e-6], y)
    display = PerceptronCategoriesDisplay.from_estimator(model, X * [1e6, 1e-6], y)
    grid = np.column_stack([g.ravel() for g in np.meshgrid(
        np.linspace(*display.ax_.get_xlim(), 21), np.linspace(*display.ax_.get_ylim(), 21)
    )])  # fmt: skip
    inside = np.abs(display.data.activations(grid)) < model.margin_[0]
    assert 0.1 < inside.mean() < 0.9
    for perceptron, band in enumerate(display.bands_):
        assert (band.get_path().contains_points(grid) == inside[:, perceptron]).all()


def test_a_perceptron_that_says_the_same_everywhere_has_no_line(by_hand):
    never = replace(by_hand, slopes=np.array([[1.0, 1.0], [0.0, 0.0]]), offsets=np.ones(2))
    display = PerceptronCategoriesDisplay(never).plot()
    assert len(display.lines_) == 1
    assert "2 perceptrons" in legend_of(display.ax_)


def test_the_picture_of_categories_says_what_is_seen(by_hand):
    ax = PerceptronCategoriesDisplay(by_hand).plot().ax_
    assert ax.get_title() == f"PPTSS trains on 2 of 5 samples ({GAMMA} = 1)"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    assert legend_of(ax) == [
        "redundant (2)", "borderline (1)", "quasi-noisy (1)", "noisy (1)", "class well",
        "class ill, of interest", "selected", "left out", "1 perceptron",
        f"activation below the margin {GAMMA}",
    ]  # fmt: skip


def test_where_nothing_was_selected_the_picture_says_what_is_redundant(by_hand):
    ax = PerceptronCategoriesDisplay(replace(by_hand, selected=None, gamma=0.04567)).plot().ax_
    title = f"Parallel perceptron: 2 of 5 samples are redundant ({GAMMA} = 0.0457)"
    assert ax.get_title() == title
    assert not {"selected", "left out"} & set(legend_of(ax))


def test_features_and_classes_have_the_estimator_s_names(clouds, plain):
    ax = PerceptronCategoriesDisplay.from_estimator(plain, *clouds).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    assert legend_of(ax)[4:7] == ["class 0", "class 1, of interest", "3 perceptrons"]


def test_names_of_features_and_classes_are_written_as_they_are(clouds):
    X, y = clouds
    frame = pd.DataFrame(X, columns=["price in $", "$ a day"])
    model = ParallelPerceptronClassifier(random_state=0).fit(frame, np.where(y, "_ill", "well"))
    display = PerceptronCategoriesDisplay.from_estimator(model, frame, np.where(y, "_ill", "well"))
    assert display.ax_.get_xlabel() == r"price in \$"
    assert "class _ill, of interest" in legend_of(display.ax_)
    assert picture_of(display.figure_).shape[2] == 3


def test_given_axes_are_drawn_on(clouds, plain, selective):
    figure, axes = pyplot.subplots(1, 2)
    display = PerceptronCategoriesDisplay.from_estimator(plain, *clouds, ax=axes[0])
    assert display.ax_ is axes[0]
    history = SelectionHistoryDisplay.from_estimator(selective, ax=axes[1])
    assert history.ax_ is axes[1]
    assert display.figure_ is history.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]


def test_new_figures_fit_a_page_and_nothing_is_cut_off(clouds, selective):
    for display, size in (
        (PerceptronCategoriesDisplay.from_estimator(selective, *clouds), (6.4, 5.2)),
        (SelectionHistoryDisplay.from_estimator(selective), (6.4, 4.4)),
    ):
        figure = display.figure_
        assert tuple(figure.get_size_inches()) == size
        pixels = picture_of(figure)
        assert pixels.shape == (round(100 * size[1]), 640, 3)
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert (edge == 255).all()  # titles and legends are inside
        bounds = figure.bbox
        for artist in (display.ax_.title, display.ax_.get_legend()):
            extent = artist.get_window_extent()
            assert 0 <= extent.x0 < extent.x1 <= bounds.x1
            assert 0 <= extent.y0 < extent.y1 <= bounds.y1


# -- the picture of the rounds ---------------------------------------------------------------------


def test_rounds_are_drawn_as_the_history_has_them(selective):
    display = SelectionHistoryDisplay.from_estimator(selective)
    history = selective.history_
    drawn = {name: line.get_ydata().tolist() for name, line in display.lines_.items()}
    assert drawn == {
        "g": (100 * history["geometric_mean"]).tolist(),
        "acc+": (100 * history["positive_accuracy"]).tolist(),
        "samples": history["n_selected"].tolist(),
    }
    rounds = list(range(len(history["geometric_mean"])))
    assert len(rounds) > 2
    assert all(line.get_xdata().tolist() == rounds for line in display.lines_.values())
    assert display.size_ax_.get_yscale() == "log"
    assert display.ax_.get_yscale() == "linear"
    assert display.lines_["samples"].axes is display.size_ax_


def test_the_round_that_is_kept_is_marked(selective):
    display = SelectionHistoryDisplay.from_estimator(selective)
    (kept,) = display.ax_.patches
    assert kept.get_x() == pytest.approx(selective.best_round_ - 0.2)
    assert kept.get_width() == pytest.approx(0.4)


def test_the_picture_of_the_rounds_says_what_is_seen():
    display = SelectionHistoryDisplay(
        [1000, 271, 75, 20], [0.802, 0.85, 0.8714, 0.87], [0.65, 0.73, 0.77, 0.77], 2,
        "g or acc+ fell",
    ).plot()  # fmt: skip
    ax = display.ax_
    assert ax.get_title() == (
        "Round 2 of PPTSS is kept: 75 of 1,000 samples, g from 80.2 to 87.1%\n"
        "It ended because g or acc+ fell"
    )
    assert legend_of(ax) == ["g", "acc+", "training samples", "kept"]
    assert ax.get_xlabel() == "round (0: all training samples)"
    assert ax.get_ylabel() == "on all training samples, %"
    assert display.size_ax_.get_ylabel() == "trained on (log scale)"
    assert [text.get_text() for text in display.size_ax_.texts] == ["1,000", "271", "75", "20"]
    assert display.ax_.get_yticks().tolist() == [60, 70, 80, 90, 100]
    assert display.size_ax_.get_yticks().tolist() == [1, 10, 100, 1000]


@pytest.mark.parametrize(("worst", "n_samples"), [
    (0.0, 2), (0.62, 64), (1.0, 6480), (0.0, 10**6), (1.0, 2),
])  # fmt: skip
def test_accuracies_are_above_sizes_whatever_they_are(worst, n_samples):
    display = SelectionHistoryDisplay(
        [n_samples, 2], [worst, 1.0], [worst, 1.0], 1, "no sample would be left"
    ).plot()
    display.figure_.canvas.draw()
    heights = {
        name: line.axes.transData.transform(line.get_xydata())[:, 1]
        for name, line in display.lines_.items()
    }
    lowest = min(heights["g"].min(), heights["acc+"].min())
    assert heights["samples"].max() < lowest
    inside = display.ax_.get_window_extent()
    assert inside.y0 < heights["samples"].min()
    assert max(heights["g"].max(), heights["acc+"].max()) < inside.y1
    assert all(0 <= tick <= 100 for tick in display.ax_.get_yticks())


def test_many_rounds_have_numbers_at_those_that_matter():
    sizes = np.arange(100, 70, -1)
    display = SelectionHistoryDisplay(
        sizes, np.full(30, 0.9), np.full(30, 0.8), 28, "max_rounds was reached"
    ).plot()
    assert [text.get_text() for text in display.size_ax_.texts] == ["100", "72"]
    assert all(float(tick).is_integer() for tick in display.ax_.get_xticks())


def test_a_single_round_has_a_picture_too(clouds):
    model = PPTSSClassifier(max_rounds=1, random_state=0).fit(*clouds)
    display = SelectionHistoryDisplay.from_estimator(model)
    assert display.ax_.get_xticks().tolist() == [0]
    # What is kept is a band, and not the picture.
    (kept,) = display.ax_.patches
    assert kept.get_width() < 0.2 * np.ptp(display.ax_.get_xlim())
    assert [text.get_text() for text in display.size_ax_.texts] == ["1,000"]
    assert display.ax_.get_title().endswith("It ended because max_rounds was reached")


@pytest.mark.parametrize("n_rounds", [2, 3, 7, 8, 9, 12])
def test_few_rounds_have_a_tick_each(n_rounds):
    display = SelectionHistoryDisplay(
        np.arange(n_rounds, 0, -1), np.full(n_rounds, 0.9), np.full(n_rounds, 0.8), 1, "it was so"
    ).plot()
    assert display.ax_.get_xticks().tolist() == list(range(n_rounds))
    assert len(display.size_ax_.texts) == n_rounds


@pytest.mark.parametrize(("n_rounds", "n_samples"), [
    pytest.param(n_rounds, n_samples, marks=() if is_usual else pytest.mark.thorough)
    for n_samples in (64, 6480, 123456, 1234567)
    for n_rounds in (1, 2, 4, 8, 12, 30)
    for is_usual in [n_samples == 1234567 or (n_samples == 64 and n_rounds in (1, 30))]
])  # fmt: skip
def test_numbers_cross_neither_the_axes_nor_each_other(n_rounds, n_samples):
    sizes = n_samples - np.arange(n_rounds)
    display = SelectionHistoryDisplay(
        sizes, np.full(n_rounds, 0.9), np.full(n_rounds, 0.8), n_rounds - 1, "it was so"
    ).plot()
    display.figure_.canvas.draw()
    inside = display.ax_.get_window_extent()
    extents = [text.get_window_extent() for text in display.size_ax_.texts]
    assert len(extents) >= min(n_rounds, 2)
    assert inside.x0 < extents[0].x0
    assert extents[-1].x1 < inside.x1
    assert all(one.x1 < other.x0 for one, other in pairwise(extents))


def test_a_sampler_shows_its_rounds_too(clouds, selective):
    sampler = PPTSSSampler(random_state=0)
    sampler.fit_resample(*clouds)
    display = SelectionHistoryDisplay.from_estimator(sampler)
    assert display.n_selected.tolist() == selective.history_["n_selected"].tolist()


# -- without matplotlib ----------------------------------------------------------------------------
