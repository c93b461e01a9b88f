"""Figures 3.1 to 3.3 of Recarey (2021): box plots of the scores on folds of the training part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orfeon.workbench.reproduction.conclusions import by_median, fold_scores

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

_ENSEMBLES = ("bagging", "random_forest", "adaboost", "stacking")
_TITLES = {"adult": "Adult", "mnist": "Binary digits", "used_cars_vw": "Prices of Volkswagens"}


def recarey_box_plot(found: Reproduction) -> Any:
    """Draw the scores on folds, a box for each method, in the order of their medians."""
    from orfeon.rendering.figure import new_figure
    from orfeon.rendering.palette import class_colours

    scores = by_median(fold_scores(found))
    if not scores:
        raise ValueError("found must hold scores on folds, got none: run it with folds=True")
    figure = new_figure("A box plot", (7.2, 1.4 + 0.36 * len(scores)))
    ax = figure.add_subplot()
    blue, orange = class_colours(2)
    for place, (method, its) in enumerate(scores.items()):
        colour = orange if method in _ENSEMBLES else blue
        ax.boxplot(
            [its], positions=[place], widths=0.6, orientation="horizontal",
            patch_artist=True, showfliers=False, manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
            medianprops={"color": "black"}, whiskerprops={"color": colour},
            capprops={"color": colour},
        )  # fmt: skip
        ax.plot(its, [place] * len(its), "o", color=colour, markersize=3.5)
    ax.set_yticks(range(len(scores)), [method.replace("_", " ") for method in scores])
    ax.invert_yaxis()
    settings = found.protocol.settings
    ax.set_xlabel("R² (%)" if settings["main"]["metric"] == "r2" else "accuracy (%)")
    ax.grid(axis="x", alpha=0.3)
    n_folds = settings["study"]["score_folds"]
    ax.set_title(f"{_TITLES[found.cells[0].dataset]}: {n_folds} folds of the training part")
    _add_legend(figure, blue, orange)
    return figure


def _add_legend(figure: Any, blue: str, orange: str) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=blue, alpha=0.35, edgecolor=blue, label="single model"),
        Patch(facecolor=orange, alpha=0.35, edgecolor=orange, label="ensemble"),
    ]
    # Boxes can be anywhere in the axes.
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
