"""What the samples of a plane are to parallel perceptrons, in numbers and in a picture.

Each is redundant, noisy, borderline or quasi-noisy, by its distance from the perceptrons' lines.

References
----------
Cantador (2005). Aplicación de perceptrones paralelos y AdaBoost a problemas de clasificación de
muestra extrema. Universidad Autónoma de Madrid. Figure 5.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.data.training_set import check_length
from orfeon.inspection._fitting import make_room
from orfeon.perceptrons.categories import QuasiNoisy
from orfeon.perceptrons.class_of_interest import class_code
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.pptss import PPTSSClassifier
from orfeon.rendering.figure import axes_for, put_legend, put_title
from orfeon.rendering.palette import INK, MUTED_INK, class_colours
from orfeon.rendering.texts import plain
from orfeon.utils.types import Floats, Mask

_BLUE, _ORANGE, _GREEN, _, _, _VERMILLION = class_colours(6)
#: By category: colour, and size in square points. What tells least is drawn first and smallest.
_LOOKS = {
    "redundant": ("#9AA3AD", 10.0),
    "borderline": (_BLUE, 20.0),
    "quasi-noisy": (_ORANGE, 34.0),
    "noisy": (_VERMILLION, 34.0),
}
#: Marker of the class of interest, and of the other; and what is added to its size.
_MARKERS = {False: ("o", 0.0), True: ("^", 10.0)}
#: How much of its colour a sample has that was left out, if it is redundant, and if it is not.
_FAINT, _LESS_FAINT = 0.5, 0.8
_GAMMA = "\N{GREEK SMALL LETTER GAMMA}"
#: Width and height in inches of a new figure.
_SIZE = (6.4, 5.2)


@dataclass(frozen=True, eq=False)
class PerceptronCategories:
    """The samples of a plane, and the perceptrons in it.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
        The samples; a missing value is at the mean, where the perceptrons see it.
    is_positive : ndarray of bool of shape (n_rows,)
        Which are of the class of interest.
    categories : ndarray of str of shape (n_rows,)
        "redundant", "noisy", "borderline" or "quasi-noisy".
    selected : ndarray of bool of shape (n_rows,) or None
        Which the perceptrons were trained on; None where nothing was selected.
    slopes : ndarray of shape (n_perceptrons, 2)
        Of perceptron h, whose activation at a point x is ``slopes[h] @ x + offsets[h]``.
    offsets : ndarray of shape (n_perceptrons,)
        The rest of it.
    gamma : float
        The margin: the band of a perceptron is where its activation is less, whatever its sign.
    names : tuple of (str, str)
        Names of the features.
    classes : tuple of (str, str)
        Names of the classes, that of interest last.

    Examples
    --------
    >>> from orfeon import ParallelPerceptronClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.inspection import perceptron_categories
    >>> X, y = make_gaussian_clouds(200, random_state=0)
    >>> model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    >>> found = perceptron_categories(model, X, y)
    >>> found.points.shape, found.names, found.selected is None
    ((200, 2), ('x0', 'x1'), True)
    """

    points: Floats
    is_positive: Mask
    categories: npt.NDArray[np.str_]
    selected: Mask | None
    slopes: Floats
    offsets: Floats
    gamma: float
    names: tuple[str, str]
    classes: tuple[str, str]

    def count(self, category: str) -> int:
        """How many samples are of a category.

        Parameters
        ----------
        category : {"redundant", "noisy", "borderline", "quasi-noisy"}
            The category.

        Returns
        -------
        int
            Their number.
        """
        return int((self.categories == category).sum())

    def activations(self, points: npt.ArrayLike) -> Floats:
        """Activations of the perceptrons at points of the plane.

        Parameters
        ----------
        points : array of shape (n_points, 2)
            Points, in the units of the features.

        Returns
        -------
        ndarray of shape (n_points, n_perceptrons)
            Positive on the side of the second class.
        """
        return np.asarray(np.asarray(points, dtype=np.float64) @ self.slopes.T + self.offsets)


def perceptron_categories(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    quasi_noisy: QuasiNoisy | None = None,
    pos_label: Any = None,
) -> PerceptronCategories:
    """What samples of two features are to perceptrons, and where these are.

    Parameters
    ----------
    estimator : ParallelPerceptronClassifier or PPTSSClassifier
        Fitted to two ordered features and two classes.
    X : array or data frame of shape (n_rows, 2)
        Samples; for a PPTSSClassifier those it was fitted to, for it knows their rows.
    y : array of shape (n_rows,)
        Their classes.
    quasi_noisy : {"all", "vote"}, optional
        Whether a borderline negative sample is quasi-noisy when all perceptrons are wrong about
        it, or when the vote is. By default as in a PPTSSClassifier, and "all" otherwise.
    pos_label : object, optional
        The class of interest; by default that of the estimator.

    Returns
    -------
    PerceptronCategories
        Points, categories, and lines in the units of the features.

    Examples
    --------
    >>> from orfeon import PPTSSClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.inspection import perceptron_categories
    >>> X, y = make_gaussian_clouds(1000, random_state=0)
    >>> model = PPTSSClassifier(random_state=0).fit(X, y)
    >>> found = perceptron_categories(model, X, y)
    >>> int(found.selected.sum()) < 200, found.count("redundant") > 800, found.slopes.shape
    (True, True, (3, 2))
    """
    perceptron, selected = _fitted(estimator)
    _check_plane(perceptron)
    encoded = perceptron._encode(X)
    label = pos_label
    if label is None:
        label = getattr(estimator, "positive_class_", perceptron.minority_class_)
    positive = class_code(label, perceptron.classes_)
    which: QuasiNoisy = getattr(estimator, "quasi_noisy", "all")
    if quasi_noisy is not None:
        which = quasi_noisy
    codes = perceptron._known_target(y)
    check_length(codes, len(encoded))
    slopes, offsets = _lines(perceptron)
    name = perceptron.schema_.name
    return PerceptronCategories(
        np.where(np.isnan(encoded), perceptron.inputs_.centres, encoded),
        codes == positive,
        perceptron.categories(X, y, quasi_noisy=which, pos_label=label),
        None if selected is None else _mask(selected, len(encoded)),
        slopes,
        offsets,
        float(perceptron.margin_[0]),
        (name(0), name(1)),
        (str(perceptron.classes_[1 - positive]), str(perceptron.classes_[positive])),
    )


def _fitted(estimator: Any) -> tuple[ParallelPerceptronClassifier, Any]:
    """The perceptrons, and the rows that they were trained on where these were selected."""
    if isinstance(estimator, PPTSSClassifier):
        check_is_fitted(estimator, "estimator_")
        return estimator.estimator_, estimator.selected_
    if isinstance(estimator, ParallelPerceptronClassifier):
        check_is_fitted(estimator, "weights_")
        return estimator, None
    raise TypeError(
        f"estimator={estimator!r} is not allowed: it is a ParallelPerceptronClassifier, such as a "
        "member of a PPBoostClassifier, or a PPTSSClassifier."
    )


def _check_plane(perceptron: ParallelPerceptronClassifier) -> None:
    """Refuse what cannot be drawn in a plane."""
    codes = perceptron.inputs_.codes
    if codes != (None, None):
        kinds = ["ordered" if its is None else "categorical" for its in codes]
        raise ValueError(
            "estimator must be fitted to two ordered features, got "
            f"{len(kinds)} features ({kinds.count('categorical')} of them categorical)."
        )
    if perceptron.n_classes_ != 2:
        raise ValueError(
            f"estimator must be fitted to two classes, got {perceptron.n_classes_}: "
            f"{perceptron.classes_.tolist()}."
        )


def _mask(rows: npt.NDArray[np.int64], n_rows: int) -> Mask:
    if len(rows) and rows[-1] >= n_rows:
        raise ValueError(
            f"X has {n_rows} rows, and row {rows[-1]} was selected: X must be the training set of "
            "the PPTSSClassifier."
        )
    selected = np.zeros(n_rows, bool)
    selected[rows] = True
    return selected


def _lines(perceptron: ParallelPerceptronClassifier) -> tuple[Floats, Floats]:
    """Weights of inputs, which are standardised and divided, as slopes over the features."""
    inputs, weights = perceptron.inputs_, perceptron.weights_[0]
    slopes = weights[:, :2] / (inputs.spreads * inputs.divisor)
    offsets = -weights[:, 2] / inputs.divisor
    if inputs.standardize:
        offsets = offsets - slopes @ inputs.centres
    return slopes, offsets


class PerceptronCategoriesDisplay:
    """A plane with its samples by category, and the perceptrons' lines with their bands.

    Markers tell the classes and colours the categories. Where the training set was selected, what
    was left out is faint. The line of a perceptron is where it changes its mind, and the band
    about it where its activation is below gamma.

    Parameters
    ----------
    data : PerceptronCategories
        What is drawn, see :func:`perceptron_categories`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    points_ : dict of (str, bool, bool) to PathCollection
        Samples by category, whether they are positive, and whether they are drawn strongly.
    lines_ : list of Line2D
        A line for each perceptron that has one in the picture.
    bands_ : list of Polygon
        Their bands.

    See Also
    --------
    SelectionHistoryDisplay : The rounds of a selection.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import PPTSSClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.inspection import PerceptronCategoriesDisplay
    >>> X, y = make_gaussian_clouds(1000, random_state=0)
    >>> model = PPTSSClassifier(random_state=0).fit(X, y)
    >>> display = PerceptronCategoriesDisplay.from_estimator(model, X, y)
    >>> print(display.ax_.get_title())
    PPTSS trains on ... of 1000 samples (... = ...)
    >>> len(display.lines_)
    3
    >>> matplotlib.pyplot.close(display.figure_)
    """

    ax_: Any
    figure_: Any
    points_: dict[tuple[str, bool, bool], Any]
    lines_: list[Any]
    bands_: list[Any]

    def __init__(self, data: PerceptronCategories) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        quasi_noisy: QuasiNoisy | None = None,
        pos_label: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw what samples are to fitted perceptrons.

        Parameters
        ----------
        estimator : ParallelPerceptronClassifier or PPTSSClassifier
            Fitted to two ordered features and two classes.
        X : array or data frame of shape (n_rows, 2)
            Samples; for a PPTSSClassifier those it was fitted to.
        y : array of shape (n_rows,)
            Their classes.
        quasi_noisy : {"all", "vote"}, optional
            Which samples are quasi-noisy, see :func:`perceptron_categories`.
        pos_label : object, optional
            The class of interest; by default that of the estimator.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PerceptronCategoriesDisplay
            What was drawn.
        """
        data = perceptron_categories(estimator, X, y, quasi_noisy=quasi_noisy, pos_label=pos_label)
        return cls(data).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PerceptronCategoriesDisplay
            The display, with what was drawn.
        """
        self.ax_ = ax = axes_for(type(self).__name__, ax, _SIZE)
        self.figure_ = ax.figure
        box = _box(self.data.points)
        ax.set(xlim=box[:, 0], ylim=box[:, 1])
        self.lines_, self.bands_ = [], []
        self._draw_perceptrons(box)
        self._draw_samples()
        ax.set_xlabel(plain(self.data.names[0]))
        ax.set_ylabel(plain(self.data.names[1]))
        put_title(ax, self._title())
        self._draw_legend()
        make_room(self.ax_)
        return self

    def _draw_perceptrons(self, box: Floats) -> None:
        gamma = self.data.gamma
        for slope, offset in zip(self.data.slopes, self.data.offsets, strict=True):
            if not slope.any():
                continue  # it says the same everywhere
            line, low, high = (_segment(slope, offset, a, box) for a in (0.0, -gamma, gamma))
            edges = np.vstack([low, high[::-1]])
            self.bands_ += self.ax_.fill(*edges.T, color=_GREEN, alpha=0.13, linewidth=0, zorder=0)
            self.lines_ += self.ax_.plot(*line.T, color=INK, linewidth=1.3, zorder=3.5)

    def _draw_samples(self) -> None:
        data = self.data
        strong = np.ones(len(data.points), bool) if data.selected is None else data.selected
        self.points_ = {}
        for is_strong, category, is_positive in product((False, True), _LOOKS, _MARKERS):
            shown = (data.categories == category) & (data.is_positive == is_positive)
            shown &= strong == is_strong
            if shown.any():
                colour, size = _LOOKS[category]
                marker, more = _MARKERS[is_positive]
                look: dict[str, Any] = {"facecolors": colour, "edgecolors": "white"}
                if not is_strong:
                    look = {"facecolors": "none", "edgecolors": colour}
                    look["alpha"] = _FAINT if category == "redundant" else _LESS_FAINT
                elif data.selected is not None:
                    size, look["edgecolors"] = 24.0, INK
                self.points_[category, is_positive, is_strong] = self.ax_.scatter(
                    *data.points[shown].T, s=size + more, marker=marker, linewidths=0.6,
                    zorder=3 + is_strong, **look,
                )  # fmt: skip

    def _title(self) -> str:
        data = self.data
        n, gamma = len(data.points), f"({_GAMMA} = {data.gamma:.3g})"
        if data.selected is None:
            n_redundant = data.count("redundant")
            return f"Parallel perceptron: {n_redundant} of {n} samples are redundant {gamma}"
        return f"PPTSS trains on {int(data.selected.sum())} of {n} samples {gamma}"

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        def mark(marker: str, colour: str, label: str, **look: Any) -> Any:
            return Line2D(
                [], [], linestyle="", marker=marker, color=colour, label=label, markersize=6, **look
            )

        data = self.data
        entries = [
            mark("s", colour, f"{category} ({data.count(category)})")
            for category, (colour, _) in _LOOKS.items()
        ]
        for is_positive, (marker, _) in _MARKERS.items():
            name = f"class {plain(data.classes[is_positive])}"
            entries.append(mark(marker, MUTED_INK, name + ", of interest" * is_positive))
        if data.selected is not None:
            entries.append(mark("o", MUTED_INK, "selected", markeredgecolor=INK))
            entries.append(mark("o", MUTED_INK, "left out", markerfacecolor="none", alpha=_FAINT))
        n = len(data.slopes)
        lines = "1 perceptron" if n == 1 else f"{n} perceptrons"
        entries.append(Line2D([], [], color=INK, linewidth=1.3, label=lines))
        band = f"activation below the margin {_GAMMA}"
        entries.append(Patch(color=_GREEN, alpha=0.3, linewidth=0, label=band))
        put_legend(self.ax_, handles=entries, handlelength=1.8)


def _box(points: Floats) -> Floats:
    """The lower and the upper corner of a picture of points, with some room about them."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, 0.04 * (high - low), 0.5)
    return np.vstack([low - room, high + room])


def _segment(slope: Floats, offset: float, activation: float, box: Floats) -> Floats:
    """Ends of the line with this activation, which are beyond the picture."""
    # In units of the picture, where what is at right angles does not depend on scales.
    size = box[1] - box[0]
    across = slope * size
    missing = activation - float(slope @ box.mean(axis=0) + offset)
    nearest = 0.5 + across * (missing / float(across @ across))
    along = np.array([-across[1], across[0]]) / np.sqrt(float(across @ across))
    return np.asarray(box[0] + (nearest + np.outer([-1.0, 1.0], along)) * size)
