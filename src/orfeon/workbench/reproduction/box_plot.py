"""Box plot of the scores of all methods on five folds of the training part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orfeon.workbench.reproduction.conclusions import fold_scores

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

_ENSEMBLES = ("bagging", "random_forest", "adaboost", "stacking")
_TITLES = {"adult": "Adult", "mnist": "binary digits", "used_cars_vw": "prices of Volkswagens"}


def recarey_box_plot(found: Reproduction) -> Any:
    """Draw the scores on five folds, a box for each method."""
    from orfeon.rendering.figure import new_figure
    from orfeon.rendering.palette import class_colours

    scores = fold_scores(found)
    if not scores:
        raise ValueError("found must hold scores on folds, got none")
    # Sorting is stable: within the two kinds methods stay in the order of the table.
    methods = sorted(scores, key=lambda method: method in _ENSEMBLES)
    figure = new_figure("A box plot", (7.2, 1.4 + 0.36 * len(methods)))
    ax = figure.add_subplot()
    blue, orange = class_colours(2)
    for place, method in enumerate(methods):
        colour = orange if method in _ENSEMBLES else blue
        ax.boxplot(
            [scores[method]], positions=[place], widths=0.6, orientation="horizontal",
            patch_artist=True, showfliers=False, manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
            medianprops={"color": "black"}, whiskerprops={"color": colour},
            capprops={"color": colour},
        )  # fmt: skip
        ax.plot(scores[method], [place] * len(scores[method]), "o", color=colour, markersize=3.5)
    ax.set_yticks(range(len(methods)), [method.replace("_", " ") for method in methods])
    ax.invert_yaxis()
    is_price = found.protocol.settings["main"]["metric"] == "r2"
    ax.set_xlabel("R² (%)" if is_price else "accuracy (%)")
    ax.grid(axis="x", alpha=0.3)
    name = _TITLES[found.cells[0].dataset]
    ax.set_title(f"{name[0].upper()}{name[1:]}: five folds of the training part")
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
