"""Every picture of the package fits a column of a paper, and a page of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import orfeon
from orfeon import inspection
from orfeon.datasets import Circle, Friedman1, TwoNorm

matplotlib.use("agg")

import matplotlib.pyplot as plt

#: Width and height in inches: a column of a paper, low and square, and its page.
SIZES = [(3.5, 2.6), (3.5, 3.5), (7.0, 4.0)]
#: Shares of the figure that the axes keep.
HEIGHT, WIDTH = 1 / 3, 1 / 2
#: Height in points of the smallest letters.
SMALLEST = 5.0
#: Inches by which letters may touch the edge.
TOUCH = 0.015

Draw = Callable[[Any], Any]


@cache
def _twonorm() -> dict[str, Any]:
    X, y = TwoNorm().sample(200, random_state=0)
    X_test, y_test = TwoNorm().sample(300, random_state=1)
    bag = orfeon.BaggingClassifier(n_estimators=31, random_state=0).fit(X, y)
    tree = orfeon.CARTClassifier(max_depth=3)
    boosting = orfeon.AdaBoostClassifier(tree, n_estimators=31, random_state=0).fit(X, y)
    return {"X": X, "y": y, "Xt": X_test, "yt": y_test, "bag": bag, "boosting": boosting}


@cache
def _iris() -> tuple[pd.DataFrame, Any, Any]:
    given = load_iris(as_frame=True)
    X, y = given.data, given.target_names[given.target]
    return X, y, orfeon.RandomForestClassifier(n_estimators=50, random_state=0).fit(X, y)


@cache
def _plane() -> tuple[Any, Any, Any]:
    X, y = Circle().sample(200, random_state=0)
    return X, y, orfeon.BaggingClassifier(n_estimators=31, random_state=0).fit(X, y)


@cache
def _breast_cancer() -> tuple[Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y, orfeon.RandomForestClassifier(n_estimators=15, random_state=0).fit(X, y)


@cache
def _selection() -> Any:
    given = _twonorm()
    return orfeon.PPTSSClassifier(random_state=0).fit(given["X"], given["y"])


@cache
def _resampled() -> Any:
    learners = {
        "tree": orfeon.CARTClassifier(),
        "bagging": orfeon.BaggingClassifier(n_estimators=5),
        "AdaBoost with a rather long name": orfeon.AdaBoostClassifier(n_estimators=5),
    }
    return {
        name: inspection.resample_predictions(
            learner, TwoNorm(), n_train=60, n_test=60, n_repetitions=6, random_state=0
        )
        for name, learner in learners.items()
    }


def _curves(ax: Any) -> Any:
    given = _twonorm()
    return inspection.ErrorCurveDisplay.from_estimator(
        given["bag"], given["X"], given["y"], given["Xt"], given["yt"], ax=ax
    )


def _curves_of_orders(ax: Any) -> Any:
    given = _twonorm()
    return inspection.ErrorCurveDisplay.from_estimator(
        given["bag"], given["X"], given["y"], given["Xt"], given["yt"],
        orders=["reduce_error", "margin_distance", "complementarity"], n_random_orders=5,
        random_state=0, ax=ax,
    )  # fmt: skip


def _both() -> dict[str, Any]:
    return {name: _twonorm()[name] for name in ("bag", "boosting")}


def _held_out() -> tuple[Any, Any]:
    return _twonorm()["Xt"], _twonorm()["yt"]


def _pairs(ax: Any) -> Any:
    return inspection.PairwiseDiversityDisplay.from_estimator(
        _twonorm()["bag"], *_held_out(), measure="q_statistic", ax=ax
    )


def _walk(ax: Any) -> Any:
    return inspection.EnsembleWalkDisplay.from_estimator(
        _twonorm()["bag"], *_held_out(), n_random_orders=5, random_state=0, ax=ax
    )


def _coincidence(ax: Any) -> Any:
    few = orfeon.prune(_twonorm()["bag"], *_held_out(), keep=list(range(9)))
    return inspection.CoincidenceDisplay.from_estimator(few, *_held_out(), ax=ax)


def _classes(ax: Any) -> Any:
    X, y, bag = _plane()
    return inspection.ClassificationMapDisplay.from_estimator(
        bag, X, y, true_classes=Circle(), ax=ax
    )


def _classes_of_flowers(ax: Any) -> Any:
    X, y, _ = _iris()
    X = X[["petal length (cm)", "petal width (cm)"]]
    forest = orfeon.RandomForestClassifier(n_estimators=15, random_state=0).fit(X, y)
    return inspection.ClassificationMapDisplay.from_estimator(forest, X, y, ax=ax)


def _margins(ax: Any) -> Any:
    X, y, bag = _plane()
    return inspection.MarginMapDisplay.from_estimator(bag, X, y, ax=ax)


def _bounds(ax: Any) -> Any:
    given = _twonorm()
    return inspection.BoostingBoundsDisplay.from_estimator(
        given["boosting"], given["X"], given["y"], ax=ax
    )


def _bounds_on_new_samples(ax: Any) -> Any:
    given = _twonorm()
    return inspection.GeneralizationBoundsDisplay.from_estimator(
        given["boosting"], given["X"], given["y"], *_held_out(), vc_dimension=20, ax=ax
    )


def _measured_correlations(ax: Any) -> Any:
    rng = np.random.default_rng(0)
    answers = rng.normal(size=(30, 20, 50)) + rng.normal(size=(30, 1, 50))
    return inspection.CorrelatedMeanDisplay.from_answers(answers, ax=ax)


def _correlations_of_members(ax: Any) -> Any:
    return inspection.MemberCorrelationDisplay.from_estimator(
        orfeon.RandomForestRegressor(n_estimators=5), Friedman1(), values=[1, 2, 4, 8],
        n_train=50, n_test=20, n_repetitions=4, random_state=0, ax=ax,
    )  # fmt: skip


def _parts(definition: str) -> Draw:
    return lambda ax: inspection.BiasVarianceDisplay.from_resampled(
        _resampled(), definition=definition, n_resamples=20, random_state=0, ax=ax
    )


def _long_names(ax: Any) -> Any:
    return inspection.ImportanceDisplay.from_estimator(_breast_cancer()[2], ax=ax)


def _permuted(ax: Any) -> Any:
    X, y, forest = _iris()
    return inspection.ImportanceDisplay.from_estimator(
        forest, X, y, kind="permutation", random_state=0, ax=ax
    )


def _nearness(kind: str) -> Draw:
    X, y, forest = _iris()
    return lambda ax: inspection.ProximityDisplay.from_estimator(forest, X, y, kind=kind, ax=ax)


def _outliers(ax: Any) -> Any:
    X, y, forest = _iris()
    return inspection.OutlierDisplay.from_estimator(forest, X, y, ax=ax)


def _weights_of_rows(ax: Any) -> Any:
    X, y, forest = _iris()
    return inspection.ForestWeightsDisplay.from_estimator(forest, X, y, X.iloc[100], ax=ax)


def _weights_in_the_plane(ax: Any) -> Any:
    X, y, bag = _plane()
    return inspection.ForestWeightsDisplay.from_estimator(bag, X, y, X[100], ax=ax)


def _categories(ax: Any) -> Any:
    X, y, _ = _plane()
    fitted = orfeon.PPTSSClassifier(random_state=0).fit(X, y)
    return inspection.PerceptronCategoriesDisplay.from_estimator(fitted, X, y, ax=ax)


def _explained(kind: str, **options: Any) -> Draw:
    def draw(ax: Any) -> Any:
        X, _, forest = _breast_cancer()
        display = getattr(inspection, f"{kind}Display")
        return display.from_estimator(forest, X[:80], ax=ax, **options)

    return draw


def _dependence_of_flowers(ax: Any) -> Any:
    X, _, forest = _iris()
    return inspection.PartialDependenceDisplay.from_estimator(forest, X, 2, kind="both", ax=ax)


#: How each picture is drawn; the text before the comma is its class.
Y_HELD = np.linspace(0, 5, 300)
PICTURES: dict[str, Draw] = {
    "AccumulatedEffectsDisplay": _explained("AccumulatedEffects", feature="worst area"),
    "BiasVarianceDisplay, Kohavi-Wolpert": _parts("kohavi_wolpert"),
    "BiasVarianceDisplay, Domingos": _parts("domingos"),
    "BoostingBoundsDisplay": _bounds,
    "ClassificationMapDisplay, circle": _classes,
    "ClassificationMapDisplay, flowers": _classes_of_flowers,
    "CoincidenceDisplay": _coincidence,
    "ComplexityDisplay": lambda ax: inspection.ComplexityDisplay.from_estimator(
        orfeon.CARTRegressor(),
        Friedman1(),
        parameter="max_leaf_nodes",
        values=(2, 4, 8, 16, 32),
        n_train=50,
        n_test=20,
        n_repetitions=3,
        random_state=0,
        show="parts",
        ax=ax,
    ),
    "GeneralizationBoundsDisplay": _bounds_on_new_samples,
    "IntervalDisplay": lambda ax: inspection.IntervalDisplay.from_intervals(
        Y_HELD,
        np.stack([Y_HELD - 0.5, Y_HELD + np.linspace(-0.1, 1, 300)], axis=1),
        coverage=0.9,
        ax=ax,
    ),
    "CondorcetDisplay": lambda ax: inspection.CondorcetDisplay.from_member_errors(ax=ax),
    "CondorcetDisplay, measured": lambda ax: inspection.CondorcetDisplay.from_estimator(
        _twonorm()["bag"], *_held_out(), ax=ax
    ),
    "CorrelatedMeanDisplay": lambda ax: inspection.CorrelatedMeanDisplay.from_correlations(ax=ax),
    "CorrelatedMeanDisplay, measured": _measured_correlations,
    "DiversityDisplay": lambda ax: inspection.DiversityDisplay.from_estimator(
        _both(), *_held_out(), ax=ax
    ),
    "EnsembleWalkDisplay": _walk,
    "ErrorCurveDisplay": _curves,
    "ErrorCurveDisplay, orders": _curves_of_orders,
    "ForestWeightsDisplay, rows": _weights_of_rows,
    "ForestWeightsDisplay, plane": _weights_in_the_plane,
    "ImportanceDisplay, long names": _long_names,
    "ImportanceDisplay, permutation": _permuted,
    "KappaErrorDisplay": lambda ax: inspection.KappaErrorDisplay.from_estimator(
        _both(), *_held_out(), ax=ax
    ),
    "MarginDistributionDisplay": lambda ax: inspection.MarginDistributionDisplay.from_estimator(
        _both(), *_held_out(), ax=ax
    ),
    "MarginMapDisplay": _margins,
    "MemberCorrelationDisplay": _correlations_of_members,
    "OutlierDisplay": _outliers,
    "PairwiseDiversityDisplay": _pairs,
    "PartialDependenceDisplay, curves": _dependence_of_flowers,
    "PartialDependenceDisplay, map": _explained(
        "PartialDependence", features=["worst area", "worst concave points"], grid_resolution=10
    ),
    "PerceptronCategoriesDisplay": _categories,
    "BrierDisplay": lambda ax: inspection.BrierDisplay.from_estimator(_both(), *_held_out(), ax=ax),
    "ReliabilityDisplay": lambda ax: inspection.ReliabilityDisplay.from_estimator(
        _both(), *_held_out(), ax=ax
    ),
    "ProximityDisplay, matrix": lambda ax: _nearness("matrix")(ax),
    "ProximityDisplay, plane": lambda ax: _nearness("plane")(ax),
    "ShapBeeswarmDisplay": _explained("ShapBeeswarm"),
    "ShapDependenceDisplay": _explained(
        "ShapDependence", feature="worst area", colour_by="worst concave points"
    ),
    "ShapWaterfallDisplay": _explained("ShapWaterfall", row=3),
    "SelectionHistoryDisplay": lambda ax: inspection.SelectionHistoryDisplay.from_estimator(
        _selection(), ax=ax
    ),
}

#: Pictures of several panels, which have figures of their own.
PANELS = {"MapMosaicDisplay", "SwitchingTheoryDisplay"}


def test_every_display_of_the_package_is_drawn_here() -> None:
    displays = {name for name in inspection.__all__ if name.endswith("Display")}
    assert {name.split(",")[0] for name in PICTURES} | PANELS == displays


def drawn_texts(figure: Any) -> list[Any]:
    """Texts that are seen: neither empty, nor numbers of ticks beyond the limits."""
    unseen = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in [*axis.majorTicks, *axis.minorTicks]:
            if not low <= tick.get_loc() <= high:
                unseen |= {tick.label1, tick.label2}
    return [
        text for text in figure.findobj(matplotlib.text.Text)
        if text.get_visible() and text.get_text().strip() and text not in unseen
    ]  # fmt: skip


def outside(figure: Any) -> list[str]:
    """Texts that leave a figure that was laid out."""
    pixels = TOUCH * figure.dpi
    return [
        text.get_text() for text in drawn_texts(figure)
        if (box := text.get_window_extent()).x0 < -pixels or box.y0 < -pixels
        or box.x1 > figure.bbox.width + pixels or box.y1 > figure.bbox.height + pixels
    ]  # fmt: skip


def over_each_other(ax: Any) -> list[str]:
    """Names beside bars that touch the next, and a legend over the label of the axis."""
    names = [label for label in ax.get_yticklabels() if label.get_text().strip()]
    boxes = [name.get_window_extent() for name in names]
    found = [
        name.get_text() for name, one, other in zip(names, boxes, boxes[1:], strict=False)
        if min(one.y1, other.y1) - max(one.y0, other.y0) > 0.25 * one.height
    ]  # fmt: skip
    legend = ax.get_legend() if ax.get_xlabel() else None
    if legend and legend.get_window_extent().overlaps(ax.xaxis.label.get_window_extent()):
        found.append("legend")
    return found


#: Usual runs draw where there is least room; other tests draw all pictures at their own sizes.
ROOMY = {size: [pytest.mark.thorough] for size in SIZES[1:]}


@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=ROOMY.get(size, ()), id=f"{size[0]}x{size[1]}")
             for size in SIZES],
)  # fmt: skip
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_fit_columns_and_pages(name: str, size: tuple[float, float]) -> None:
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    try:
        PICTURES[name](ax)
        figure.draw_without_rendering()
        assert outside(figure) == []
        assert over_each_other(ax) == []
        assert min(text.get_fontsize() for text in drawn_texts(figure)) >= SMALLEST
        place, label = ax.get_window_extent(), ax.yaxis.label.get_window_extent()
        if ax.get_ylabel():
            assert place.y0 < label.y0 + label.height / 2 < place.y1
        width, height = ax.get_window_extent().size / figure.dpi
        assert height >= HEIGHT * size[1]
        # Squares are as wide as they are high.
        assert width >= WIDTH * (size[0] if ax.get_aspect() == "auto" else min(size))
    finally:
        plt.close(figure)
