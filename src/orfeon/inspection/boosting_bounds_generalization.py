"""The picture of the bounds of boosting on new samples, beside measured errors.

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

from orfeon.boosting.generalization_bounds import (
    margin_generalization_bound,
    vc_generalization_bound,
)
from orfeon.inspection.display import check_not_empty
from orfeon.inspection.documentation import TEXTS
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

#: Margins that the margin bound is minimised over.
_THETAS = np.arange(1, 21) / 20


class GeneralizationBoundsDisplay(Display):
    """Errors of a weighted vote after each member, and their bounds on new samples.

    Parameters
    ----------
    bounds : dict of str to array of shape (n_rounds,)
        Bounds after each member, by name; values above 1 are vacuous.
    errors : dict of str to array of shape (n_rounds,), optional
        Errors after each member, by name.
    n_samples : int, optional
        Number of training samples, for the title.

    Attributes
    ----------
    <axes>
    lines_ : dict of str to Line2D
        The bounds and the errors, by name.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import AdaBoostClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.inspection import GeneralizationBoundsDisplay
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(1000, random_state=1)
    >>> model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> display = GeneralizationBoundsDisplay.from_estimator(
    ...     model, X, y, X_test, y_test, vc_dimension=6
    ... )
    >>> sorted(display.bounds)
    ['by the margins', 'by the number of members']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _texts = TEXTS
    _size = (6.0, 4.2)

    lines_: dict[str, Any]

    def __init__(
        self,
        bounds: Mapping[str, npt.ArrayLike],
        errors: Mapping[str, npt.ArrayLike] | None = None,
        n_samples: int | None = None,
    ) -> None:
        check_not_empty("bounds", bounds)
        self.bounds = {name: np.asarray(one, np.float64) for name, one in bounds.items()}
        self.errors = {name: np.asarray(one, np.float64) for name, one in (errors or {}).items()}
        self.n_samples = n_samples

    @classmethod
    def from_estimator(
        cls,
        booster: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        vc_dimension: float,
        delta: float = 0.05,
        scale: Scale = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw the errors of a boosted ensemble and their bounds.

        Parameters
        ----------
        booster : fitted ensemble
            One that decides by the largest share of a weighted vote and has
            ``staged_predict_proba``, such as AdaBoostClassifier.
        X, y
            Its training samples.
        X_test, y_test : optional
            New samples, whose error the bounds are about.
        vc_dimension : float
            VC dimension of the members, at least 1. Of T given classifiers it is at most log2(T).
        delta : float, default=0.05
            Probability with which each bound may fail.
        <scale>
        <ax>
        """
        check_is_fitted(booster)
        if not hasattr(booster, "staged_predict_proba"):
            raise TypeError(f"booster={booster!r} is not allowed: it has no staged_predict_proba.")
        labels = np.searchsorted(booster.classes_, column_or_1d(y))
        known: dict[str, Any] = {"n_classes": max(2, len(booster.classes_)), "delta": delta}
        penalties = [
            float(
                margin_generalization_bound(
                    0.0, theta, len(labels), vc_dimension=vc_dimension, **known
                )
            )
            for theta in _THETAS
        ]
        training, by_margins = [], []
        for shares in booster.staged_predict_proba(X):
            margins = _margins(shares, labels)
            training.append(float((shares.argmax(axis=1) != labels).mean()))
            below = (margins[:, None] <= _THETAS + 1e-12).mean(axis=0)
            by_margins.append(float((below + penalties).min()))
        by_members = vc_generalization_bound(
            training, len(labels), np.arange(1, len(training) + 1), vc_dimension, **known
        )
        errors = {"training error": training}
        if X_test is not None:
            true = column_or_1d(y_test)
            errors["test error"] = [
                float((answers != true).mean()) for answers in booster.staged_predict(X_test)
            ]
        bounds: dict[str, npt.ArrayLike] = {
            "by the number of members": by_members,
            "by the margins": by_margins,
        }
        return cls(bounds, errors, len(labels)).plot(ax, scale=scale)

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
        for number, (name, bound) in enumerate(self.bounds.items()):
            look = look_of(number)
            self._line(name, bound, f"bound {name}", color=look.colour, linestyle=look.linestyle)
        for (name, errors), colour in zip(self.errors.items(), (MUTED_INK, INK), strict=False):
            self._line(name, errors, name, color=colour, drawstyle="steps-post")
        ax.axhline(100, color=MUTED_INK, linewidth=0.8, linestyle=":")
        ax.set(xlabel="members", ylabel="new samples, %", yscale="log")
        n_rounds = max(len(bound) for bound in self.bounds.values())
        scale_members(ax, n_rounds, scale)
        put_title(ax, self._title())
        put_legend(ax)
        return self._finish()

    def _line(self, name: str, values: Floats, label: str, **look: Any) -> None:
        # An error of 0 has no place on a logarithmic axis.
        shown = np.where(values > 0, 100 * values, np.nan)
        rounds = np.arange(1, len(values) + 1)
        (self.lines_[name],) = self.ax_.plot(rounds, shown, label=label, linewidth=1.5, **look)

    def _title(self) -> str:
        least = min(float(bound[-1]) for bound in self.bounds.values())
        of = "" if self.n_samples is None else f" of {self.n_samples:,} samples"
        if least < 1:
            return f"The lower bound{of} ends at {100 * least:.0f}%"
        return f"Bounds{of} above 100% (dotted) say nothing"


def _margins(shares: Floats, labels: npt.NDArray[Any]) -> Floats:
    """Share of the right class minus the largest of another one."""
    everyone = np.arange(len(labels))
    rest = shares.copy()
    rest[everyone, labels] = -np.inf
    return np.asarray(shares[everyone, labels] - rest.max(axis=1, initial=0.0))
