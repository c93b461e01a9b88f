"""Pictures of diversity and of kappa and error: what is drawn, where, and what it is called."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from orfeon import BaggingClassifier
from orfeon.inspection.diversity_display import DiversityDisplay, PairwiseDiversityDisplay
from orfeon.inspection.diversity_measures import MEASURES, diversity
from orfeon.inspection.diversity_of_pairs import pairwise_diversity
from orfeon.inspection.kappa_errors import KappaError, KappaErrorDisplay, kappa_error

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import PathCollection, PolyCollection  # noqa: E402

MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def votes():
    """Two ensembles on 200 samples, good members that agree and bad ones that do not."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    common = rng.integers(0, 3, 200)
    members = {}
    for name, skill, share in (("alike", 0.8, 0.7), ("diverse", 0.6, 0.0)):
        own = rng.integers(0, 3, (12, 200))
        guess = np.where(rng.random(own.shape) < share, common, own)
        members[name] = np.where(rng.random(own.shape) < skill, y, guess)
    return members, y


@pytest.fixture(scope="module")
def bag(waveform):
    return BaggingClassifier(n_estimators=8, random_state=0).fit(*waveform)


def cloud_of(n_members, seed=0):
    """Points that are not of any members, as many as there are pairs."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(n_members, 1))
    kappa, error = rng.normal(0.4, 0.1, len(pairs)), rng.normal(0.2, 0.02, len(pairs))
    return KappaError(
        kappa, error, pairs, n_members, (kappa.mean(), error.mean()), (kappa.std(), error.std())
    )


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def assert_nothing_is_cut_off(display):
    """All texts, and the legend, are inside the figure: its edge is white."""
    figure = display.figure_
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (edge == 255).all()
    for artist in (display.ax_.title, display.ax_.xaxis.label, display.ax_.get_legend()):
        if artist is not None:
            extent = artist.get_window_extent()
            assert figure.bbox.x0 <= extent.x0
            assert extent.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= extent.y0
            assert extent.y1 <= figure.bbox.y1


# -- the kappa-error diagram -----------------------------------------------------------------------


def test_a_point_for_each_pair_and_a_mark_for_the_centroid(votes):
    members, y = votes
    display = KappaErrorDisplay.from_votes(members, y)
    assert list(display.clouds_) == ["alike", "diverse"]
    for name, drawn in display.clouds_.items():
        cloud = kappa_error(members[name], y=y)
        np.testing.assert_array_equal(
            drawn.get_offsets(), np.column_stack([cloud.kappa, 100 * cloud.error])
        )
        assert isinstance(drawn, PathCollection)
        centre = display.centroids_[name].get_xydata()[0]
        assert centre == pytest.approx([cloud.kappa.mean(), 100 * cloud.error.mean()])


def test_the_diagram_says_what_is_seen(votes):
    members, y = votes
    display = KappaErrorDisplay.from_votes(members, y)
    ax = display.ax_
    assert ax.get_title() == "Kappa-error diagram: one point per pair of members"
    assert ax.get_xlabel() == "kappa of the pair (0: chance, 1: always agree)"
    assert ax.get_ylabel() == "mean error of the pair, %"
    kappa, error = display.clouds["alike"].centroid
    assert legend_of(ax)[0] == f"alike: kappa {kappa:.2f}, error {100 * error:.1f}%"
    assert ax.get_legend().get_title().get_text() == "centroids"


def test_a_single_ensemble_is_named(bag, waveform, votes):
    display = KappaErrorDisplay.from_estimator(bag, *waveform)
    assert display.ax_.get_title() == "Kappa-error diagram: 28 pairs of 8 members"
    assert legend_of(display.ax_)[0].startswith("BaggingClassifier: kappa 0.")
    named = KappaErrorDisplay.from_estimator(bag, *waveform, name="bag", on="out_of_bag")
    assert list(named.clouds) == ["bag"]
    assert named.clouds["bag"].centroid[1] > display.clouds["BaggingClassifier"].centroid[1]
    members, y = votes
    assert list(KappaErrorDisplay.from_votes(members["alike"], y).clouds) == ["members"]
    sampled = KappaErrorDisplay.from_votes(members, y, max_pairs=10, random_state=0)
    assert [len(cloud.get_offsets()) for cloud in sampled.clouds_.values()] == [10, 10]


def test_ensembles_differ_in_colour_and_marker_also_on_axes_that_are_drawn_on_again(votes):
    members, y = votes
    together = KappaErrorDisplay.from_votes(members, y)
    first = KappaErrorDisplay.from_votes(members["alike"], y, name="alike")
    second = KappaErrorDisplay.from_votes(members["diverse"], y, name="diverse", ax=first.ax_)
    for one, other in (
        together.centroids_.values(),
        (first.centroids_["alike"], second.centroids_["diverse"]),
    ):
        assert one.get_marker() != other.get_marker()
        assert one.get_markerfacecolor() != other.get_markerfacecolor()
    assert legend_of(first.ax_) == legend_of(together.ax_)
    assert first.ax_.get_title() == together.ax_.get_title()
    assert pyplot.get_fignums() == [together.figure_.number, first.figure_.number]


def test_large_clouds_are_densities_with_hexagons_of_one_size():
    few, many, more = cloud_of(200), cloud_of(202), cloud_of(210, seed=1)
    assert (len(few), len(many)) == (19900, 20301)
    display = KappaErrorDisplay({"few": few, "many": many, "more": more}).plot()
    assert isinstance(display.clouds_["few"], PathCollection)
    assert display.clouds_["few"].get_rasterized()
    hexagons = []
    for name, cloud in (("many", many), ("more", more)):
        drawn = display.clouds_[name]
        assert isinstance(drawn, PolyCollection)
        assert drawn.get_rasterized()
        assert drawn.get_array().sum() == len(cloud)
        hexagons.append(np.ptp(drawn.get_paths()[0].vertices, axis=0))
    np.testing.assert_allclose(*hexagons)
    assert display.ax_.get_title() == "Kappa-error diagram: darker where there are more pairs"
    alone = KappaErrorDisplay(many).plot()
    assert alone.ax_.get_title() == (
        "Kappa-error diagram: 20,301 pairs of 202 members, darker: more"
    )
    as_points = KappaErrorDisplay(many).plot(density_above=30_000)
    assert isinstance(as_points.clouds_["members"], PathCollection)


def test_a_density_of_members_that_are_all_the_same():
    cloud = cloud_of(210)
    same = replace(cloud, kappa=np.ones(len(cloud)), error=np.full(len(cloud), 0.1))
    display = KappaErrorDisplay(same).plot()
    assert display.clouds_["members"].get_array().sum() == len(cloud)


# -- the ten measures ------------------------------------------------------------------------------


def test_marks_are_where_the_measures_say(votes):
    members, y = votes
    display = DiversityDisplay.from_votes(members, y)
    for name, marks in display.marks_.items():
        found = diversity(members[name], y=y).as_dict()
        for place, (its, measure) in zip(marks.get_xdata(), MEASURES.items(), strict=True):
            least, most = measure.lowest, measure.highest
            distance = found[its] - least if measure.grows else most - found[its]
            assert place == pytest.approx(distance / (most - least))
        assert np.round(marks.get_ydata()).tolist() == list(range(10))
    alike, diverse = (display.marks_[name].get_xdata() for name in ("alike", "diverse"))
    assert (diverse > alike)[[0, 1, 2, 4, 5, 6]].all()
    assert not (diverse > alike)[[3, 7, 8]].any()  # which know that they are worse


def test_measures_have_their_names_arrows_scales_and_numbers(votes):
    members, y = votes
    display = DiversityDisplay.from_votes(members, y)
    ax = display.ax_
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[0] == "Q statistic ↓"
    assert names[2] == "disagreement ↑"
    assert names == [f"{measure.label} {measure.arrow}" for measure in MEASURES.values()]
    assert ax.get_title() == "Ten measures of diversity: alike and diverse"
    assert legend_of(ax) == ["alike", "diverse"]
    texts = [text.get_text() for text in ax.texts]
    assert "← similar" in texts
    assert "diverse →" in texts
    numbers = [text for text in texts if len(text.lstrip(MINUS)) == 5]
    found = [diversity(members[name], y=y).as_dict() for name in members]
    expected = [f"{value:.3f}".replace("-", MINUS) for its in found for value in its.values()]
    assert numbers == expected
    # The scales: least diverse on the left, most on the right.
    ends = {(text.xy[0], text.xy[1]): text.get_text() for text in ax.texts if text.xy[0] in (0, 1)}
    assert [ends[side, 0] for side in (0, 1)] == ["1", f"{MINUS}1"]
    assert [ends[side, 4] for side in (0, 1)] == ["0", "0.25"]
    assert [ends[side, 7] for side in (0, 1)] == ["0.25", "0"]


def test_titles_of_one_ensemble_and_of_many(bag, waveform, votes):
    one = DiversityDisplay.from_estimator(bag, *waveform)
    assert one.ax_.get_title() == "Ten measures of diversity: 8 members"
    assert legend_of(one.ax_) == ["BaggingClassifier"]
    members, y = votes
    found = diversity(members["alike"], y=y)
    many = DiversityDisplay({f"ensemble {n}": found for n in range(6)}).plot()
    assert many.ax_.get_title() == "Ten measures of diversity: 6 ensembles"
    assert not [text for text in many.ax_.texts if len(text.get_text().lstrip(MINUS)) == 5]
    looks = {(mark.get_color(), mark.get_marker()) for mark in many.marks_.values()}
    assert len(looks) == len({marker for _, marker in looks}) == 6


def test_what_is_not_defined_has_a_dash_and_no_mark():
    display = DiversityDisplay.from_votes(np.ones((3, 5), int), np.ones(5, int))
    places = display.marks_["members"].get_xdata()
    assert np.flatnonzero(np.isnan(places)).tolist() == [0, 1, 5, 8]
    assert [text.get_text() for text in display.ax_.texts].count("\N{EN DASH}") == 4


# -- pairs in colour -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["q_statistic", "disagreement", "kappa"])
def test_the_matrix_is_that_of_the_measure(measure, votes):
    members, y = votes
    display = PairwiseDiversityDisplay.from_votes(members["alike"], y, measure=measure)
    matrix = getattr(pairwise_diversity(members["alike"], y=y), measure)
    shown = display.image_.get_array()
    assert (shown.mask == np.eye(12, dtype=bool)).all()
    assert (shown.data == matrix)[~shown.mask].all()
    off = matrix[np.triu_indices(12, 1)]
    assert display.image_.get_clim() == (off.min(), off.max())
    bright = display.image_.cmap(1.0 if measure == "disagreement" else 0.0)
    dark = display.image_.cmap(0.0 if measure == "disagreement" else 1.0)
    assert sum(bright[:3]) > 1.5 > 1 > sum(dark[:3])  # the brighter, the more diverse


def test_the_matrix_says_what_is_seen(bag, waveform):
    display = PairwiseDiversityDisplay.from_estimator(bag, *waveform, measure="double_fault")
    mean = diversity(bag, *waveform).double_fault
    assert display.ax_.get_title() == f"Double fault of 8 members, mean {mean:.3g}"
    assert display.colorbar_.ax.get_ylabel() == "double fault (less is more diverse)"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("member", "member")
    outside = PairwiseDiversityDisplay.from_estimator(bag, *waveform, on="out_of_bag")
    assert outside.ax_.get_title().startswith("Disagreement of 8 members, mean 0.")


def test_pairs_without_a_value_have_no_colour():
    perfect = np.ones((3, 5), int)
    display = PairwiseDiversityDisplay.from_votes(perfect, np.ones(5, int), measure="q_statistic")
    assert display.image_.get_array().mask.all()
    assert display.image_.get_clim() == (-1.0, 1.0)
    assert display.ax_.get_title() == "Q statistic of 3 members, mean nan"
    display.figure_.canvas.draw()


# -- all of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [
    None, (3.5, 3.8), *(pytest.param(size, marks=pytest.mark.thorough)
                        for size in [(5.0, 4.0), (7.0, 4.0)]),
])  # fmt: skip
def test_nothing_is_cut_off_at_the_widths_of_papers(size, votes):
    members, y = votes
    four = {**members, "random forest": members["alike"], "class-switching": members["diverse"]}
    displays = [
        KappaErrorDisplay({name: kappa_error(its, y=y) for name, its in four.items()}),
        DiversityDisplay({name: diversity(its, y=y) for name, its in four.items()}),
        DiversityDisplay({name: diversity(its, y=y) for name, its in members.items()}),
        PairwiseDiversityDisplay(pairwise_diversity(members["alike"], y=y)),
    ]
    for display in displays:
        ax = None
        if size is not None:
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        assert_nothing_is_cut_off(display.plot(ax))


def test_numbers_do_not_cross_each_other(votes):
    members, y = votes
    four = {f"ensemble {n}": diversity(members["diverse"], y=y) for n in range(4)}
    display = DiversityDisplay(four).plot()
    display.figure_.canvas.draw()
    in_row = [text for text in display.ax_.texts if text.xy[1] == 0]
    extents = sorted((text.get_window_extent() for text in in_row), key=lambda box: box.x0)
    assert len(extents) == 6  # the ends of the scale, and a number for each ensemble
    assert all(one.x1 < other.x0 for one, other in pairwise(extents))


def test_displays_draw_on_given_axes(votes, bag, waveform):
    members, y = votes
    figure, axes = pyplot.subplots(1, 3)
    drawn = [
        KappaErrorDisplay.from_votes(members, y, ax=axes[0]),
        DiversityDisplay.from_votes(members, y, ax=axes[1]),
        PairwiseDiversityDisplay.from_estimator(bag, *waveform, ax=axes[2]),
    ]
    assert [display.ax_ for display in drawn] == list(axes)
    assert {display.figure_ for display in drawn} == {figure}
    assert pyplot.get_fignums() == [figure.number]


def test_bad_input_is_refused(votes):
    members, y = votes
    pairs = pairwise_diversity(members["alike"], y=y)
    with pytest.raises(ValueError, match="measure='entropy' is not allowed; use one of"):
        PairwiseDiversityDisplay(pairs, "entropy")
    with pytest.raises(ValueError, match="measured is empty"):
        DiversityDisplay({})
    with pytest.raises(ValueError, match="clouds is empty"):
        KappaErrorDisplay.from_votes({}, y)
