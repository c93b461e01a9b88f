"""How far probabilities can be trusted, drawn: reliability diagram, parts of the Brier score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from orfeon.inspection.display import check_not_empty
from orfeon.inspection.documentation import TEXTS
from orfeon.inspection.probability_quality import (
    BrierScore,
    ReliabilityCurve,
    brier_score,
    reliability_curve,
)
from orfeon.inspection.reading import named_ensembles
from orfeon.rendering.display import Display
from orfeon.rendering.palette import MUTED_INK, class_colours


class _ProbabilityDisplay(Display):
    """A measure of probabilities, drawn for one classifier or several."""

    _texts = TEXTS
    _measure: ClassVar[Callable[..., Any]]

    def __init__(self, measured: Mapping[str, Any]) -> None:
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw one or more classifiers.

        Parameters
        ----------
        <named ensembles>
        X, y : arrays
            Samples that the classifiers were not trained on, and their classes.
        **options
            As for :func:`reliability_curve` or :func:`brier_score`, which is drawn.
        <name>
        <ax>
        """
        named = named_ensembles(ensemble, name)
        given = {
            its: cls._measure(y, one.predict_proba(X), classes=one.classes_, **options)
            for its, one in named.items()
        }
        return cls(given).plot(ax)

    @classmethod
    def from_probabilities(
        cls, y: Any, probabilities: Any, *, name: str = "model", ax: Any = None, **options: Any
    ) -> Self:
        """Draw the probabilities of one model, or of several by name.

        Parameters
        ----------
        y : array of shape (n_samples,)
            Classes.
        probabilities : array, or dict of str to array
            Probabilities, or those of several models by name.
        **options
            As for :func:`reliability_curve` or :func:`brier_score`, which is drawn.
        name : str, default="model"
            Name of a single model.
        <ax>
        """
        several = isinstance(probabilities, Mapping)
        named = probabilities if several else {name: probabilities}
        return cls({its: cls._measure(y, p, **options) for its, p in named.items()}).plot(ax)


class ReliabilityDisplay(_ProbabilityDisplay):
    """Reliability diagram: how often a class occurs against its predicted probability.

    On the diagonal, probabilities equal frequencies. Above it the model is underconfident, below it
    overconfident. The area of a point is the share of the samples.

    Parameters
    ----------
    curves : dict of str to ReliabilityCurve
        What to draw, by name.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        A curve for each name.
    points_ : list of matplotlib PathCollection
        Its points.
    <axes>

    Examples
    --------
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_ringnorm
    >>> from orfeon.inspection import ReliabilityDisplay
    >>> X, y = make_ringnorm(300, random_state=0)
    >>> X_test, y_test = make_ringnorm(2000, random_state=1)
    >>> models = {
    ...     str(how): RandomForestClassifier(calibrate=how, random_state=0).fit(X, y)
    ...     for how in (None, "sigmoid")
    ... }
    >>> display = ReliabilityDisplay.from_estimator(models, X_test, y_test)
    >>> len(display.lines_)
    2
    >>> display.figure_.clear()
    """

    _size = (5.0, 4.8)
    _measure = staticmethod(reliability_curve)

    def __init__(self, curves: Mapping[str, ReliabilityCurve]) -> None:
        check_not_empty("curves", curves)
        self.curves = curves

    def _draw(self) -> None:
        self.ax_.plot([0, 1], [0, 1], color=MUTED_INK, linewidth=1, linestyle=":")
        self.lines_, self.points_ = [], []
        colours = class_colours(len(self.curves))
        for (name, curve), colour in zip(self.curves.items(), colours, strict=True):
            at = curve.probability, curve.frequency
            (line,) = self.ax_.plot(*at, color=colour, linewidth=1.5, label=name)
            self.lines_.append(line)
            size = 8 + 300 * curve.weight
            self.points_.append(self.ax_.scatter(*at, s=size, color=colour, alpha=0.6, linewidth=0))
        self.ax_.set(
            xlabel="probability predicted", ylabel="share that came true",
            xlim=(-0.02, 1.02), ylim=(-0.02, 1.02),
        )  # fmt: skip
        self.ax_.legend(loc="upper left", frameon=False)


class BrierDisplay(_ProbabilityDisplay):
    """Parts of the Brier score: what is lost by unreliable probabilities, and left unresolved.

    The length of a bar is the score apart from what happens within groups: reliability, and
    uncertainty minus resolution.

    Parameters
    ----------
    scores : dict of str to BrierScore
        What to draw, by name.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        Bars of the unresolved part, and of reliability.
    <axes>

    Examples
    --------
    >>> from orfeon.inspection import BrierDisplay
    >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
    >>> display = BrierDisplay.from_probabilities(y, {"mine": p})
    >>> len(display.bars_)
    2
    >>> display.figure_.clear()
    """

    _measure = staticmethod(brier_score)

    def __init__(self, scores: Mapping[str, BrierScore]) -> None:
        check_not_empty("scores", scores)
        self.scores = scores

    def _draw(self) -> None:
        scores = list(self.scores.values())
        place = np.arange(len(scores))
        unresolved = np.array([one.uncertainty - one.resolution for one in scores])
        reliability = np.array([one.reliability for one in scores])
        first, second = class_colours(2)
        self.bars_ = [
            self.ax_.barh(place, unresolved, color=first, label="not resolved"),
            self.ax_.barh(place, reliability, left=unresolved, color=second, label="not reliable"),
        ]
        self.ax_.set_yticks(place, list(self.scores))
        self.ax_.set(xlabel="Brier score")
        longest = max(one.reliability + one.uncertainty - one.resolution for one in scores)
        self.ax_.set_xlim(0, 1.02 * longest)
        # Above the bars, where a row is left free.
        self.ax_.set_ylim(len(scores) - 0.5, -1.5)
        self.ax_.legend(loc="upper right", ncols=2, frameon=False, fontsize="small")
