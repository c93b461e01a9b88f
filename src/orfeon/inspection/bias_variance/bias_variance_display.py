"""Plot of bias and variance: the parts of the error of several learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from orfeon.inspection.bias_variance.definitions import Definition
from orfeon.inspection.bias_variance.intervals import (
    BiasVarianceIntervals,
    Over,
    bias_variance_intervals,
)
from orfeon.inspection.bias_variance.repeated_trainings import (
    ResampledPredictions,
    resample_predictions,
)
from orfeon.inspection.display import check_not_empty
from orfeon.inspection.documentation import TEXTS
from orfeon.inspection.retraining import shared_seed
from orfeon.rendering.display import Display
from orfeon.rendering.figure import put_legend, put_title, width_of
from orfeon.rendering.palette import INK, class_colours, mixed
from orfeon.rendering.texts import plain
from orfeon.utils.seeding import RandomState

_BLUE, _ORANGE = class_colours(2)
#: Width and height in inches of a new figure; the height is for the frame, and for each learner.
_WIDTH, _FRAME, _EACH = 6.0, 1.5, 0.5
#: By part, in the order of the bars: colour, and hatching that prints without colours.
_LOOKS = {
    "noise": ("#C9D1D9", ""),
    "bias": (mixed(_BLUE, "#FFFFFF", 0.85), "////"),
    "variance": (_ORANGE, "...."),
}
#: Distance of a part's whisker from the middle of the bar, as a share of its height.
_WHISKERS = {"bias": 0.22, "variance": -0.22}
#: Half the height of a bar.
_HALF = 0.3
#: Width of a letter in points, and the share of the width that names beside the bars may take.
_LETTER, _MOST_NAME = 5.6, 0.3
_NAMES = {
    "squared_error": "",
    "kohavi_wolpert": " by Kohavi and Wolpert",
    "kong_dietterich": " by Kong and Dietterich",
    "breiman": " by Breiman",
    "webb": " by Webb",
    "domingos": " by Domingos",
}


class _Bar(NamedTuple):
    """A part of a bar: where it begins, and how long it is."""

    start: float
    length: float

    @property
    def end(self) -> float:
        return self.start + self.length


class BiasVarianceDisplay(Display):
    """Noise, bias and variance of several learners, as bars that add up to their errors.

    One bar per learner, with noise, bias and variance side by side; negative parts are left of
    zero. Whiskers at the ends of bias and variance are their intervals, and a diamond is the error,
    the sum of all parts, with its interval.

    Parameters
    ----------
    intervals : dict of str to BiasVarianceIntervals
        Parts by learner, all by the same definition.

    Attributes
    ----------
    <axes>
    bars_ : dict of (str, str) to Rectangle
        By learner and part.
    whiskers_ : dict of (str, str) to ErrorbarContainer
        By learner and part, also "error".

    See Also
    --------
    bias_variance_decomposition : The parts of one learner.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import TwoNorm
    >>> from orfeon.inspection import BiasVarianceDisplay
    >>> display = BiasVarianceDisplay.from_estimators(
    ...     {"one tree": CARTClassifier(), "bagging": BaggingClassifier(n_estimators=11)},
    ...     TwoNorm(), definition="breiman", n_test=200, n_repetitions=20, random_state=0,
    ... )
    >>> print(display.ax_.get_title())
    Bias and variance by Breiman: lowest error with bagging
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _texts = TEXTS
    bars_: dict[tuple[str, str], Any]
    whiskers_: dict[tuple[str, str], Any]
    #: Width of the axes without the names, in points.
    _room: float

    def __init__(self, intervals: Mapping[str, BiasVarianceIntervals]) -> None:
        check_not_empty("intervals", intervals)
        definitions = {found.definition for found in intervals.values()}
        if len(definitions) > 1:
            raise ValueError(
                f"intervals are by several definitions, {sorted(definitions)}; only one can be "
                "compared."
            )
        self.intervals = dict(intervals)
        self.definition = definitions.pop()
        self._size = (_WIDTH, _FRAME + _EACH * len(intervals))

    @classmethod
    def from_predictions(
        cls,
        predictions: Mapping[str, Any],
        y: Any = None,
        *,
        random_state: RandomState = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the parts of learners from their predictions.

        Parameters
        ----------
        predictions : dict of str to array of shape (n_trainings, n_points)
            Labels or numbers that each learner predicts after each training.
        y, random_state, **options
            As for :func:`bias_variance_intervals`.
        <ax>
        """
        _check_named("predictions", predictions)
        seed = shared_seed(random_state)
        return cls({
            name: bias_variance_intervals(answers, y, random_state=seed, **options)
            for name, answers in predictions.items()
        }).plot(ax)  # fmt: skip

    @classmethod
    def from_resampled(
        cls,
        resampled: Mapping[str, ResampledPredictions],
        *,
        definition: Definition | None = None,
        random_state: RandomState = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the parts of learners that were trained repeatedly.

        Parameters
        ----------
        resampled : dict of str to ResampledPredictions
            By learner, see :func:`resample_predictions`.
        definition, random_state, **options
            As for :meth:`ResampledPredictions.intervals`.
        <ax>
        """
        _check_named("resampled", resampled)
        seed = shared_seed(random_state)
        return cls({
            name: one.intervals(definition, random_state=seed, **options)
            for name, one in resampled.items()
        }).plot(ax)  # fmt: skip

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        data: Any,
        y: Any = None,
        *,
        definition: Definition | None = None,
        unbiased: bool = False,
        over: Over = "both",
        confidence: float = 0.95,
        n_resamples: int = 500,
        random_state: RandomState = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Train several learners repeatedly on the same samples, and draw their parts.

        Parameters
        ----------
        estimators : dict of str to estimators
            The learners by name, not fitted.
        data, y, random_state, **options
            As for :func:`resample_predictions`.
        <definition>
        over, confidence, n_resamples
            As for :func:`bias_variance_intervals`.
        <ax>
        """
        _check_named("estimators", estimators)
        seed = shared_seed(random_state)
        resampled = {
            name: resample_predictions(estimator, data, y, random_state=seed, **options)
            for name, estimator in estimators.items()
        }
        return cls.from_resampled(
            resampled, definition=definition, unbiased=unbiased, over=over, confidence=confidence,
            n_resamples=n_resamples, random_state=seed, ax=ax,
        )  # fmt: skip

    @classmethod
    def from_estimator(cls, estimator: Any, data: Any, y: Any = None, **options: Any) -> Self:
        """Train a learner repeatedly, and draw its parts.

        Parameters
        ----------
        estimator : estimator
            The learner, not fitted.
        data, y, **options
            As for :meth:`from_estimators`.

        Returns
        -------
        BiasVarianceDisplay
            The display, drawn.
        """
        return cls.from_estimators({type(estimator).__name__: estimator}, data, y, **options)

    # -- drawing -----------------------------------------------------------------------------------

    def _draw(self) -> None:
        ax = self.ax_
        self.bars_, self.whiskers_ = {}, {}
        for place, name in enumerate(self.intervals):
            self._draw_bar(place, name)
        ax.axvline(0.0, color=INK, linewidth=0.8, zorder=2.5)
        self._name_bars()
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.margins(x=0.03)
        self._label()

    @property
    def _scale(self) -> float:
        return 1.0 if self.definition == "squared_error" else 100.0

    def _draw_bar(self, place: int, name: str) -> None:
        found = self.intervals[name]
        for part, bar in self._stacked(found).items():
            colour, hatch = _LOOKS[part]
            (self.bars_[name, part],) = self.ax_.barh(
                place, bar.length, left=bar.start, height=2 * _HALF, color=colour, hatch=hatch,
                edgecolor="white", linewidth=0.0, zorder=2,
            )  # fmt: skip
            if part in _WHISKERS:
                at = place - 2 * _HALF * _WHISKERS[part]
                self.whiskers_[name, part] = self._whisker(bar.end, at, found, part)
        error = self._scale * found.estimates["error"]
        self.whiskers_[name, "error"] = self._whisker(
            error, place, found, "error", fmt="D", markersize=4.5, markerfacecolor="white",
            markeredgewidth=1.2,
        )  # fmt: skip

    def _name_bars(self) -> None:
        """Names beside the bars, or above them if they would take too much width."""
        ax, names = self.ax_, [plain(name) for name in self.intervals]
        beside = _LETTER * max(len(name) for name in names)
        is_above = beside > _MOST_NAME * width_of(ax)
        self._room = width_of(ax) - (0.0 if is_above else beside)
        ax.set_yticks(range(len(names)), ["" if is_above else name for name in names])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(names) - 0.5, -0.75 if is_above else -0.5)  # the first on top
        for place, name in enumerate(names if is_above else ()):
            ax.annotate(
                name, (0.0, place - _HALF), xytext=(3, 1.5), textcoords="offset points",
                va="bottom", fontsize="small",
            )  # fmt: skip

    def _whisker(
        self, x: float, y: float, found: BiasVarianceIntervals, part: str, **look: Any
    ) -> Any:
        low, high = found.interval(part)
        return self.ax_.errorbar(
            x, y, xerr=self._scale * (high - low) / 2, color=INK, capsize=2.2, elinewidth=1.0,
            capthick=1.0, zorder=3, **{"fmt": "none", **look},
        )  # fmt: skip

    def _stacked(self, found: BiasVarianceIntervals) -> dict[str, _Bar]:
        """Positions of the parts: positive ones right of zero one after the other, others left."""
        reach = {True: 0.0, False: 0.0}
        bars = {}
        for part in _LOOKS:
            length = self._scale * found.estimates[part]
            bars[part] = _Bar(reach[length >= 0], length)
            reach[length >= 0] += length
        return bars

    def _label(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        is_squared, ax = self.definition == "squared_error", self.ax_
        ax.set_xlabel("mean squared error" if is_squared else "error, %")
        title = f"Bias and variance{_NAMES[self.definition]}"
        if len(self.intervals) > 1:
            best = min(self.intervals, key=lambda name: self.intervals[name].estimates["error"])
            title += f": lowest error with {plain(best)}"
        # Names beside the bars take width that the layout does not know yet.
        put_title(ax, title, width=max(20 * _LETTER, 1.1 * self._room))
        words = {part: part for part in _LOOKS}
        if is_squared:
            words["bias"] = "squared bias"
        if self.definition == "domingos":
            words |= {"noise": "net noise", "variance": "net variance"}
        handles: list[Any] = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=words[part])
            for part, (colour, hatch) in _LOOKS.items()
        ]
        level = next(iter(self.intervals.values())).confidence
        handles += [
            Line2D(
                [], [], color=INK, linewidth=1.0, marker=marker, markerfacecolor="white",
                markersize=5, label=label,
            )
            for marker, label in (("D", "error"), ("|", f"{100 * level:g}% interval"))
        ]  # fmt: skip
        put_legend(ax, handles=handles)


def _check_named(argument: str, given: Any) -> None:
    if not isinstance(given, Mapping) or not given:
        raise ValueError(
            f"{argument} must be a dict of learners by name, got {type(given).__name__}."
        )
