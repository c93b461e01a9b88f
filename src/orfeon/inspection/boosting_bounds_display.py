"""The picture of AdaBoost's bounds: the training error, and how large theory lets it be.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.

Schapire, Freund, Bartlett and Lee (1998). Boosting the margin: a new explanation for the
effectiveness of voting methods. Annals of Statistics 26(5), 1651-1686.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.bounds import BoundsMixin, edge_bound, error_bound, vote_bound
from orfeon.inspection.display import check_not_empty
from orfeon.inspection.documentation import TEXTS
from orfeon.inspection.reading import read_class_votes, read_weights
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    Scale,
    check_scale,
    look_of,
    put_legend,
    put_title,
    scale_members,
)
from orfeon.rendering.palette import INK, MUTED_INK
from orfeon.utils.types import Floats

_PRODUCT = "product of 2\u221a(e(1 \u2212 e))"
_EDGES = "exp(\u22122 sum of squared edges)"
_NORMALISERS = "product of normalisers"
_PSEUDO = "by the pseudo-losses"


class BoostingBoundsDisplay(Display):
    """Training error of a boosted ensemble after each member, and its bounds.

    Parameters
    ----------
    bounds : dict of str to array of shape (n_rounds,)
        Bounds after each member, by name; those above 1 are useless and cut off.
    measured : array of shape (n_rounds,), optional
        The bounded quantity: the training error, or the share of samples with a small margin.
    member_errors : array of shape (n_rounds,), optional
        Weighted error of each member in its round.
    theta : float, default=0.0
        The margin of that share; 0 for the training error.

    Attributes
    ----------
    <axes>
    lines_ : dict of str to Line2D
        The bounds by name, "measured" and "member errors".

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import AdaBoostClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.inspection import BoostingBoundsDisplay
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> display = BoostingBoundsDisplay.from_estimator(model, X, y)
    >>> bool((display.measured <= model.error_bounds_).all())
    True
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _texts = TEXTS
    _size = (6.0, 4.2)

    lines_: dict[str, Any]

    def __init__(
        self,
        bounds: Mapping[str, npt.ArrayLike],
        measured: npt.ArrayLike | None = None,
        member_errors: npt.ArrayLike | None = None,
        theta: float = 0.0,
    ) -> None:
        check_not_empty("bounds", bounds)
        self.bounds = {name: np.asarray(bound, np.float64) for name, bound in bounds.items()}
        self.measured = None if measured is None else np.asarray(measured, np.float64)
        self.member_errors = None
        if member_errors is not None:
            self.member_errors = np.asarray(member_errors, np.float64)
        self.theta = theta

    @classmethod
    def from_errors(
        cls,
        member_errors: npt.ArrayLike,
        training_errors: npt.ArrayLike | None = None,
        *,
        scale: Scale = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw the bounds that follow from the errors of the members.

        Parameters
        ----------
        member_errors : array of shape (n_rounds,)
            Weighted error of each member in its round.
        training_errors : array of shape (n_rounds,), optional
            Training error after each member.
        <scale>
        <ax>
        """
        bounds = {_PRODUCT: error_bound(member_errors), _EDGES: edge_bound(member_errors)}
        return cls(bounds, training_errors, member_errors).plot(ax, scale=scale)

    @classmethod
    def from_estimator(
        cls,
        booster: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        theta: float = 0.0,
        scale: Scale = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw the training error of a boosted ensemble and its bounds.

        Parameters
        ----------
        booster : fitted ensemble
            One with ``error_bounds_``: AdaBoostClassifier, PoolBoostClassifier,
            AdaBoostM2Classifier or AdaBoostOCClassifier; or scikit-learn's AdaBoostClassifier of
            two classes with ``learning_rate=1``.
        X, y, sample_weight
            Its training samples.
        theta : float, default=0.0
            Above 0, for AdaBoostClassifier and PoolBoostClassifier: draw the share of samples with
            a margin of at most this and its bound, instead of the training error. The margin is the
            right votes minus the wrong ones over all votes.
        <scale>
        <ax>
        """
        if theta > 0:
            return cls._of_margins(booster, X, y, sample_weight, theta).plot(ax, scale=scale)
        if theta < 0:
            raise ValueError(f"theta={theta} is not allowed: it must be from 0 to 1.")
        bounds, errors = _bounds_of(booster)
        labels = column_or_1d(y)
        weights = read_weights(sample_weight, len(labels))
        measured = [
            float(((answers != labels) @ weights) / weights.sum())
            for answers in booster.staged_predict(X)
        ]
        return cls(bounds, measured, errors).plot(ax, scale=scale)

    @classmethod
    def _of_margins(cls, booster: Any, X: Any, y: Any, sample_weight: Any, theta: float) -> Self:
        if not isinstance(booster, BoundsMixin):
            raise TypeError(
                f"booster={booster!r} is not allowed with theta={theta}: bounds of margins are "
                "known for AdaBoostClassifier and PoolBoostClassifier."
            )
        booster.margin_bound(theta)  # raises if there is none
        votes = read_class_votes(booster, X, y, sample_weight, what="margins").selection
        sums = np.cumsum(booster.member_weights_[:, None] * votes.correctness, axis=0)
        margins = sums / np.cumsum(booster.member_weights_)[:, None]
        # Rounding may put a margin of exactly theta above it.
        small = (margins <= theta + 1e-12) @ votes.weights / votes.total_weight
        bound = vote_bound(booster.errors_, booster.member_weights_, theta)
        return cls({f"bound for margins up to {theta:g}": bound}, small, booster.errors_, theta)

    def plot(self, ax: Any = None, *, scale: Scale = "auto") -> Self:
        """Draw the picture.

        Parameters
        ----------
        <scale>
        <ax>
        """
        check_scale(scale)
        ax = self._begin(ax)
        self.lines_ = {}
        n_rounds = max(len(bound) for bound in self.bounds.values())
        for number, (name, bound) in enumerate(self.bounds.items()):
            look = look_of(number)
            self._line(name, bound, name, color=look.colour, linestyle=look.linestyle)
        what = "training error" if self.theta == 0 else f"margin of at most {self.theta:g}"
        if self.measured is not None:
            self._line("measured", self.measured, what, color=INK, drawstyle="steps-post")
        if self.member_errors is not None:
            self._line(
                "member errors", self.member_errors, f"{self._of_members} of each member",
                color=MUTED_INK, linestyle="", marker=".", markersize=3.5,
            )  # fmt: skip
        ax.set(xlabel="members", ylabel="training samples, %", ylim=(-2, 102))
        scale_members(ax, n_rounds, scale)
        put_title(ax, self._title(what, n_rounds))
        put_legend(ax)
        return self._finish()

    @property
    def _of_members(self) -> str:
        return "pseudo-loss" if _PSEUDO in self.bounds else "weighted error"

    def _line(self, name: str, values: Floats, label: str, **look: Any) -> None:
        rounds = np.arange(1, len(values) + 1)
        look = {"linewidth": 1.5, **look}
        (self.lines_[name],) = self.ax_.plot(rounds, 100 * values, label=label, **look)

    def _title(self, what: str, n_rounds: int) -> str:
        bound = min(float(bound[-1]) for bound in self.bounds.values())
        known = f"its bound is {_percent(bound)}" if bound < 1 else "its bound is useless"
        after = f"After {n_rounds:,} members"
        if self.measured is None:
            return f"The {what} after {n_rounds:,} members: {known}"
        found = _percent(float(self.measured[-1]))
        if self.theta > 0:
            return f"{after} the share with a {what} is {found}; {known}"
        return f"{after} the {what} is {found}; {known}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share == 0 or share >= 0.0005 else "less than 0.1%"


def _bounds_by_errors(booster: Any) -> dict[str, Floats]:
    """The bounds by the product and by the edges; the second needs the optimal votes."""
    try:
        return {_PRODUCT: booster.error_bounds_, _EDGES: booster.edge_bounds_}
    except AttributeError:
        return {_NORMALISERS: booster.error_bounds_}


def _bounds_of(booster: Any) -> tuple[dict[str, Floats], Floats]:
    """Bounds of a fitted ensemble by name, and the errors of its members."""
    check_is_fitted(booster)
    if isinstance(booster, BoundsMixin):
        return _bounds_by_errors(booster), booster.errors_
    if hasattr(type(booster), "error_bounds_"):
        return {_PSEUDO: booster.error_bounds_}, booster.errors_
    errors = getattr(booster, "estimator_errors_", None)
    is_plain = getattr(booster, "learning_rate", None) == 1 and len(booster.classes_) == 2
    if errors is None or not is_plain:
        raise TypeError(
            f"booster={booster!r} is not allowed: bounds are known for AdaBoostClassifier, "
            "PoolBoostClassifier, AdaBoostM2Classifier and AdaBoostOCClassifier, and for "
            "scikit-learn's AdaBoostClassifier of two classes with learning_rate=1."
        )
    kept = np.asarray(errors, np.float64)[: len(booster.estimators_)]
    return {_PRODUCT: error_bound(kept), _EDGES: edge_bound(kept)}, kept
