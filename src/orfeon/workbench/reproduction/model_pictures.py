"""Figures that show a model or a theory, each a Display of `orfeon.inspection` or drawn here."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import orfeon

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.figures import FigureSettings

#: A folder of data sets.
Folder = str | os.PathLike[str] | None


def panels(n_panels: int, n_columns: int = 3, size: tuple[float, float] = (4.2, 3.3)) -> Any:
    """A figure of some panels, and their axes."""
    from orfeon.rendering.figure import new_figure

    n_columns = min(n_columns, n_panels)
    n_rows = -(-n_panels // n_columns)
    figure = new_figure("A figure", (size[0] * n_columns, size[1] * n_rows + 0.5))
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax in axes[n_panels:]:
        ax.remove()
    return figure, axes[:n_panels]


def _sample(figure: FigureSettings, n_samples: int, seed: int = 0) -> tuple[Any, Any]:
    X, y = orfeon.datasets.problem(figure.datasets[0]).sample(n_samples, random_state=seed)
    return X, y


def _bag_and_boost(figure: FigureSettings, members: int) -> tuple[dict[str, Any], Any, Any]:
    X, y = _sample(figure, 300)
    tree = orfeon.CARTClassifier(pruning="cv")
    models: dict[str, Any] = {
        "bagging": orfeon.BaggingClassifier(tree, members, random_state=0),
        "boosting": orfeon.AdaBoostClassifier(
            tree, members, algorithm="m1", on_failure="bootstrap", min_weight=1e-8, random_state=0
        ),
    }
    return {name: model.fit(X, y) for name, model in models.items()}, X, y


def _kappa_errors(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.inspection import KappaErrorDisplay

    models, X, y = _bag_and_boost(figure, members)
    return KappaErrorDisplay.from_estimator(models, X, y).figure_


def _margins(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.inspection import MarginDistributionDisplay

    models, X, y = _bag_and_boost(figure, members)
    sizes = [size for size in figure.options["sizes"] if size <= members]
    return MarginDistributionDisplay.from_estimator(models, X, y, sizes=sizes).figure_


def _switching_theory(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.inspection import SwitchingTheoryDisplay

    return SwitchingTheoryDisplay.from_rates(max_members=members).figure_


def _mapped(figure: FigureSettings, members: int) -> Any:
    """Class-switching at the figure's rate, or bagging without one."""
    rate = figure.options.get("rate")
    if rate is None:
        return orfeon.BaggingClassifier(n_estimators=members, random_state=0)
    tree = orfeon.C45Classifier(pruning=False, mdl_penalty=False, min_samples_leaf=1)
    return orfeon.ClassSwitchingClassifier(tree, members, switch_rate=rate, random_state=0)


def _maps(figure: FigureSettings, members: int, data: Folder, *, margins: bool = False) -> Any:
    from orfeon.inspection import MapMosaicDisplay, map_mosaic

    problem = orfeon.datasets.problem(figure.datasets[0])
    sizes = [
        size for size in figure.options["samples"] if size <= 3000 or members == figure.members
    ]
    samples = {f"{n:,} samples": problem.sample(n, random_state=0) for n in sizes}
    n_members = [size for size in (1, 11, 101, 1001) if size <= members]
    options = {"kind": "margins"} if margins else {"true_classes": problem}
    mosaic = map_mosaic(_mapped(figure, members), samples, n_members=n_members, **options)
    shown: dict[str, Any] = {"grey": True} if margins else {}
    if margins and members == figure.members:  # few members make too many curves
        shown["levels"] = (0.1, 0.2, 0.4)
    return MapMosaicDisplay(mosaic).plot(title=figure.title, **shown).figure_


def _walk(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.inspection import EnsembleWalkDisplay

    models, X, y = _bag_and_boost(figure, members)
    drawn, axes = panels(2, 2, (5.0, 4.4))
    for ax, view in zip(axes, figure.options["views"], strict=True):
        EnsembleWalkDisplay.from_estimator(models["bagging"], X, y, view=view, ax=ax)
    axes[1].set_title("The same walks, seen along the last step of both")
    return drawn


def _angles(figure: FigureSettings, members: int, data: Folder) -> Any:
    """Angles of the members with the direction that the ensemble lacks."""
    models, X, y = _bag_and_boost(figure, members)
    order = orfeon.order(models["bagging"], X, y, rule="orientation")
    degrees, kept = np.degrees(order.criterion), order.own_size or 0
    drawn, (ax,) = panels(1, 1, (6.0, 4.0))
    edges = np.histogram_bin_edges(degrees, bins=max(10, members // 5))
    ax.hist(degrees[:kept], edges, color="#0072B2", label=f"the {kept} kept")
    ax.hist(degrees[kept:], edges, color="0.75", label="others",
            bottom=np.histogram(degrees[:kept], edges)[0])  # fmt: skip
    ax.axvline(90, color="black", linestyle="--", linewidth=1, label="right angle")
    ax.set(title=f"{figure.title}, {members} members", ylabel="members",
           xlabel="angle with what the ensemble lacks, degrees")  # fmt: skip
    ax.legend(frameon=False)
    return drawn


def _complexity(figure: FigureSettings, members: int, data: Folder) -> Any:
    """Errors, or their parts, of trees of more and more leaves; ``members`` are trainings."""
    from orfeon.inspection import ComplexityDisplay, complexity_curve

    curve = complexity_curve(
        orfeon.CARTRegressor(), orfeon.datasets.problem(figure.datasets[0]),
        parameter="max_leaf_nodes", values=(2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128), unbiased=True,
        n_train=200, n_test=300, n_repetitions=members, random_state=0,
    )  # fmt: skip
    return ComplexityDisplay(curve).plot(show=figure.options["show"]).figure_


def _member_correlation(figure: FigureSettings, members: int, data: Folder) -> Any:
    """Correlation of the trees of forests against the features that each split may use."""
    from orfeon.inspection import MemberCorrelationDisplay

    display = MemberCorrelationDisplay.from_estimator(
        orfeon.RandomForestRegressor(members), orfeon.datasets.problem(figure.datasets[0]),
        values=(1, 2, 4, 6, 8, 10), n_train=100, n_test=100, n_repetitions=members, random_state=0,
    )  # fmt: skip
    return display.figure_


def _categories(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.inspection import PerceptronCategoriesDisplay

    X, y = _sample(figure, 400)
    model = orfeon.ParallelPerceptronClassifier(random_state=0).fit(X, y)
    return PerceptronCategoriesDisplay.from_estimator(model, X, y).figure_


def _letter_margins(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.datasets.folder import data_file, read_data
    from orfeon.inspection import MarginDistributionDisplay

    X, y = read_data(data_file("letter", data))
    n_samples = figure.options["samples"] if members == figure.members else 1000
    rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
    X, y = X[rows], y[rows]
    tree = orfeon.C45Classifier()
    model = orfeon.AdaBoostClassifier(tree, members, algorithm="m1", random_state=0).fit(X, y)
    display = MarginDistributionDisplay.from_estimator({"AdaBoost": model}, X, y, sizes=[members])
    return display.figure_


def _lines_and_vote(figure: FigureSettings, members: int, data: Folder) -> Any:
    """The lines of three perceptrons, and the class that their vote gives each point."""
    from orfeon.inspection import ClassificationMapDisplay, perceptron_categories

    X, y = _sample(figure, 400)
    model = orfeon.ParallelPerceptronClassifier(random_state=0).fit(X, y)
    display = ClassificationMapDisplay.from_estimator(model, X, y)
    ax = display.ax_
    limits = (ax.get_xlim(), ax.get_ylim())
    grid = np.meshgrid(*(np.linspace(low, high, 50) for low, high in limits))
    found = perceptron_categories(model, X, y)
    for slope, offset in zip(found.slopes, found.offsets, strict=True):
        activation = slope[0] * grid[0] + slope[1] * grid[1] + offset
        ax.contour(*grid, activation, levels=[0.0], colors="black", linewidths=1.0)
    ax.set_title(figure.title)
    return display.figure_


def _training_error_and_bound(figure: FigureSettings, members: int, data: Folder) -> Any:
    from orfeon.inspection import BoostingBoundsDisplay

    X, y = _sample(figure, 300)
    model = orfeon.AdaBoostClassifier(n_estimators=members, random_state=0).fit(X, y)
    return BoostingBoundsDisplay.from_estimator(model, X, y).figure_


#: From the settings of a figure, the members and the folder of data sets to the figure.
MODEL_PICTURES: dict[str, Callable[[FigureSettings, int, Folder], Any]] = {
    "kappa and error": _kappa_errors,
    "margins": _margins,
    "margins on letter": _letter_margins,
    "theory of switching": _switching_theory,
    "maps": _maps,
    "margin maps": partial(_maps, margins=True),
    "walk": _walk,
    "angles": _angles,
    "complexity": _complexity,
    "correlation of members": _member_correlation,
    "categories": _categories,
    "lines and vote": _lines_and_vote,
    "training error and bound": _training_error_and_bound,
}
