"""Samples of a plane by category for parallel perceptrons, and the selection of a training set.

Each sample is redundant, noisy, borderline or quasi-noisy, by its distance from the perceptrons'
lines.

References
----------
Cantador (2005). Aplicación de perceptrones paralelos y AdaBoost a problemas de clasificación de
muestra extrema. Universidad Autónoma de Madrid. Figure 5.1.1.

Cantador and Dorronsoro (2005). Parallel perceptrons, activation margins and imbalanced training set
pruning. IbPRIA 2005, 43-50.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.data.training_set import check_length
from orfeon.perceptrons.categories import QuasiNoisy, class_code
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.pptss import PPTSSClassifier
from orfeon.rendering.display import Display
from orfeon.rendering.figure import put_legend, put_title
from orfeon.rendering.palette import INK, MUTED_INK, class_colours
from orfeon.rendering.texts import plain
from orfeon.utils.types import Floats, Integers, Mask

_BLUE, _ORANGE, _GREEN, _, _, _VERMILLION = class_colours(6)
#: Colour and size in square points by category; the least informative is drawn first and smallest.
_LOOKS = {
    "redundant": ("#9AA3AD", 10.0),
    "borderline": (_BLUE, 20.0),
    "quasi-noisy": (_ORANGE, 34.0),
    "noisy": (_VERMILLION, 34.0),
}
#: Marker, and what is added to its size, by whether it is the class of interest.
_MARKERS = {False: ("o", 0.0), True: ("^", 10.0)}
#: Strength of samples that were left out, redundant and others.
_FAINT, _LESS_FAINT = 0.5, 0.8
_GAMMA = "\N{GREEK SMALL LETTER GAMMA}"


@dataclass(frozen=True, eq=False)
class PerceptronCategories:
    """The samples of a plane by category, and the perceptrons in it.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
        The samples; missing values are at the mean, as for the perceptrons.
    is_positive : ndarray of bool of shape (n_rows,)
        Which are of the class of interest.
    categories : ndarray of str of shape (n_rows,)
        "redundant", "noisy", "borderline" or "quasi-noisy".
    selected : ndarray of bool of shape (n_rows,) or None
        Which the perceptrons were trained on; None without a selection.
    slopes : ndarray of shape (n_perceptrons, 2)
        The activation of perceptron h at a point x is ``slopes[h] @ x + offsets[h]``.
    offsets : ndarray of shape (n_perceptrons,)
        The offsets.
    gamma : float
        The margin: the band of a perceptron is where its absolute activation is smaller.
    names : tuple of (str, str)
        Names of the features.
    classes : tuple of (str, str)
        Names of the classes, the class of interest last.

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
        """Number of samples of a category."""
        return int((self.categories == category).sum())

    def activations(self, points: npt.ArrayLike) -> Floats:
        """Activations at points, a column per perceptron; positive towards the second class."""
        return np.asarray(np.asarray(points, dtype=np.float64) @ self.slopes.T + self.offsets)


def perceptron_categories(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    quasi_noisy: QuasiNoisy | None = None,
    pos_label: Any = None,
) -> PerceptronCategories:
    """Categories of samples of two features, and the lines of the perceptrons.

    Parameters
    ----------
    estimator : ParallelPerceptronClassifier or PPTSSClassifier
        Fitted to two ordered features and two classes.
    X : array or data frame of shape (n_rows, 2)
        Samples; for a PPTSSClassifier those it was fitted to.
    y : array of shape (n_rows,)
        Their classes.
    quasi_noisy : {"all", "vote"}, optional
        Whether a borderline negative sample is quasi-noisy if all perceptrons misclassify it, or if
        the vote does. By default as in a PPTSSClassifier, otherwise "all".
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
    """The perceptrons, and the rows that they were trained on if these were selected."""
    if isinstance(estimator, PPTSSClassifier):
        check_is_fitted(estimator, "estimator_")
        return estimator.estimator_, estimator.selected_
    if isinstance(estimator, ParallelPerceptronClassifier):
        check_is_fitted(estimator, "weights_")
        return estimator, None
    raise TypeError(
        f"estimator={estimator!r} is not allowed: it must be a ParallelPerceptronClassifier, like "
        "a member of a PPBoostClassifier, or a PPTSSClassifier."
    )


def _check_plane(perceptron: ParallelPerceptronClassifier) -> None:
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
    """Slopes and offsets in the units of the features; inputs are standardised and divided."""
    inputs, weights = perceptron.inputs_, perceptron.weights_[0]
    slopes = weights[:, :2] / (inputs.spreads * inputs.divisor)
    offsets = -weights[:, 2] / inputs.divisor
    if inputs.standardize:
        offsets = offsets - slopes @ inputs.centres
    return slopes, offsets


class PerceptronCategoriesDisplay(Display):
    """A plane with its samples by category, and the perceptrons' lines with their bands.

    Markers show classes and colours categories. Samples left out of a selected training set are
    faint. The line of a perceptron is where its prediction changes, the band around it where its
    activation is below gamma.

    Parameters
    ----------
    data : PerceptronCategories
        Categories from :func:`perceptron_categories`.

    Attributes
    ----------
    <axes>
    points_ : dict of (str, bool, bool) to PathCollection
        Samples by category, whether they are positive, and whether they were trained on.
    lines_ : list of Line2D
        One line per perceptron that has one in the picture.
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
    PPTSS trains on ... of 1,000 samples (... = ...)
    >>> len(display.lines_)
    3
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (6.4, 5.2)

    points_: dict[tuple[str, bool, bool], Any]
    lines_: list[Any]
    bands_: list[Any]

    def __init__(self, data: PerceptronCategories) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the categories of samples for fitted perceptrons.

        Parameters
        ----------
        estimator, X, y, **options
            As for :func:`perceptron_categories`.
        <ax>
        """
        return cls(perceptron_categories(estimator, X, y, **options)).plot(ax)

    def _draw(self) -> None:
        ax = self.ax_
        box = _box(self.data.points)
        ax.set(xlim=box[:, 0], ylim=box[:, 1])
        self.lines_, self.bands_ = [], []
        self._draw_perceptrons(box)
        self._draw_samples()
        ax.set_xlabel(plain(self.data.names[0]))
        ax.set_ylabel(plain(self.data.names[1]))
        put_title(ax, self._title())
        self._draw_legend()

    def _draw_perceptrons(self, box: Floats) -> None:
        gamma = self.data.gamma
        for slope, offset in zip(self.data.slopes, self.data.offsets, strict=True):
            if not slope.any():
                continue  # it predicts the same everywhere
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
            return f"Parallel perceptron: {n_redundant:,} of {n:,} samples are redundant {gamma}"
        return f"PPTSS trains on {int(data.selected.sum()):,} of {n:,} samples {gamma}"

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        def mark(marker: str, colour: str, label: str, **look: Any) -> Any:
            return Line2D(
                [], [], linestyle="", marker=marker, color=colour, label=label, markersize=6, **look
            )

        data = self.data
        entries = [
            mark("s", colour, f"{category} ({data.count(category):,})")
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
    """The lower and upper corner of a picture of points, with some room around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, 0.04 * (high - low), 0.5)
    return np.vstack([low - room, high + room])


def _segment(slope: Floats, offset: float, activation: float, box: Floats) -> Floats:
    """Ends of the line with this activation, outside the picture."""
    # In units of the picture, where right angles do not depend on scales.
    size = box[1] - box[0]
    across = slope * size
    missing = activation - float(slope @ box.mean(axis=0) + offset)
    nearest = 0.5 + across * (missing / float(across @ across))
    along = np.array([-across[1], across[0]]) / np.sqrt(float(across @ across))
    return np.asarray(box[0] + (nearest + np.outer([-1.0, 1.0], along)) * size)


# -- rounds of a selection -------------------------------------------------------------------------

#: Rounds up to which all sizes are written.
_MOST_NUMBERS = 12
#: Digits that fit in a row, with spaces between the numbers.
_MOST_DIGITS = 46
#: Share of the width, on either side, where a number is beside an axis.
_EDGE = 0.1
#: Shares of the height for accuracies and sizes.
_UPPER, _LOWER = 0.5, 0.38


class SelectionHistoryDisplay(Display):
    """Rounds of a selection of the training set: g, acc+, and how many samples are left.

    Parameters
    ----------
    n_selected : array of shape (n_rounds,)
        Training samples of each round.
    geometric_mean : array of shape (n_rounds,)
        The geometric mean of the accuracies on the classes, on the whole training set.
    positive_accuracy : array of shape (n_rounds,)
        The accuracy on the class of interest.
    best_round : int
        The round that is kept.
    ended : str
        Why there was no further round.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the accuracies.
    size_ax_ : matplotlib Axes
        The axes of the sizes, on a logarithmic scale.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to Line2D
        "g", "acc+" and "samples".

    See Also
    --------
    PerceptronCategoriesDisplay : The samples that a round leaves out.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import PPTSSClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.inspection import SelectionHistoryDisplay
    >>> X, y = make_gaussian_clouds(1000, random_state=0)
    >>> model = PPTSSClassifier(random_state=0).fit(X, y)
    >>> display = SelectionHistoryDisplay.from_estimator(model)
    >>> print(display.ax_.get_title())
    Round ... of PPTSS is kept: ... of 1,000 samples, g from ... to ...%
    It ended because ...
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (6.4, 4.4)

    size_ax_: Any
    lines_: dict[str, Any]

    def __init__(
        self,
        n_selected: npt.ArrayLike,
        geometric_mean: npt.ArrayLike,
        positive_accuracy: npt.ArrayLike,
        best_round: int,
        ended: str,
    ) -> None:
        self.n_selected = np.asarray(n_selected)
        self.geometric_mean = np.asarray(geometric_mean)
        self.positive_accuracy = np.asarray(positive_accuracy)
        self.best_round = best_round
        self.ended = ended

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the rounds of a fitted selection.

        Parameters
        ----------
        estimator : PPTSSClassifier or PPTSSSampler
            Fitted.
        <ax>
        """
        # A sampler keeps the classifier that selected.
        fitted = getattr(estimator, "classifier_", estimator)
        if not isinstance(fitted, PPTSSClassifier):
            raise TypeError(
                f"estimator={estimator!r} is not allowed: it must be a fitted PPTSSClassifier or "
                "PPTSSSampler."
            )
        check_is_fitted(fitted, "history_")
        history = fitted.history_
        return cls(
            history["n_selected"], history["geometric_mean"], history["positive_accuracy"],
            fitted.best_round_, fitted.ended_,
        ).plot(ax)  # fmt: skip

    def _draw(self) -> None:
        ax = self.ax_
        self.size_ax_ = ax.twinx()
        rounds = np.arange(len(self.n_selected))
        self.lines_ = {}
        for name, values, colour, marker in (
            ("g", self.geometric_mean, _BLUE, "o"),
            ("acc+", self.positive_accuracy, _VERMILLION, "^"),
        ):
            (self.lines_[name],) = ax.plot(
                rounds, 100 * values, color=colour, marker=marker, linewidth=1.8, label=name
            )
        (self.lines_["samples"],) = self.size_ax_.plot(
            rounds, self.n_selected, color=MUTED_INK, marker="s", markersize=4, linestyle="--",
            linewidth=1.2, label="training samples",
        )  # fmt: skip
        self._label(rounds)

    def _label(self, rounds: Integers) -> None:
        ax, sizes = self.ax_, self.size_ax_
        kept = ax.axvspan(
            self.best_round - 0.2, self.best_round + 0.2, color="0.92", zorder=0, label="kept"
        )
        # A single round is as wide as one of several.
        room = 0.5 if len(rounds) > 1 else 1.5
        ax.set_xlim(-room, rounds[-1] + room)
        for at in self._numbered(rounds):
            # Near an axis, long numbers are shifted away from it.
            place = (at + room) / (rounds[-1] + 2 * room)
            side = "left" if place < _EDGE else "right" if place > 1 - _EDGE else "center"
            sizes.annotate(
                f"{self.n_selected[at]:,}", (at, self.n_selected[at]),
                xytext=({"left": -3, "center": 0, "right": 3}[side], 6),
                textcoords="offset points", ha=side, fontsize="small", color=MUTED_INK,
            )  # fmt: skip
        if len(rounds) <= _MOST_NUMBERS:
            ax.set_xticks(rounds)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        self._part_scales()
        ax.set_xlabel("round (0: all training samples)")
        ax.set_ylabel("on all training samples, %", loc="top")
        sizes.set_ylabel("trained on (log scale)", loc="bottom", color=MUTED_INK)
        first, best = 100 * self.geometric_mean[0], 100 * self.geometric_mean[self.best_round]
        put_title(
            ax,
            f"Round {self.best_round} of PPTSS is kept: {self.n_selected[self.best_round]:,} of "
            f"{self.n_selected[0]:,} samples, g from {first:.1f} to {best:.1f}%\n"
            f"It ended because {self.ended}",
        )
        put_legend(ax, handles=[*self.lines_.values(), kept])

    def _numbered(self, rounds: Integers) -> Integers:
        """Rounds whose sizes are written: all, if they fit."""
        n_digits = len(str(self.n_selected.max()))
        fit = len(rounds) <= _MOST_NUMBERS and len(rounds) * n_digits <= _MOST_DIGITS
        return rounds if fit else np.unique([0, self.best_round])

    def _part_scales(self) -> None:
        """Put accuracies above and sizes below, so that no lines cross."""
        lowest = 100 * min(self.geometric_mean.min(), self.positive_accuracy.min())
        lowest = 10.0 * np.floor(min(lowest, 90.0) / 10.0)
        height = (100.0 - lowest) / _UPPER
        self.ax_.set_ylim(100.0 - 1.05 * height, 100.0 + 0.05 * height)
        self.ax_.set_yticks([tick for tick in self.ax_.get_yticks() if lowest <= tick <= 100.0])
        decades = int(np.ceil(np.log10(max(self.n_selected.max(), 10))))
        self.size_ax_.set_yscale("log")
        self.size_ax_.set_ylim(0.8, 10.0 ** (decades / _LOWER))
        self.size_ax_.set_yticks(10.0 ** np.arange(decades + 1))
        self.size_ax_.minorticks_off()
