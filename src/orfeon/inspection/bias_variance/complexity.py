"""Errors against complexity: training and test error, and the bias and variance behind them.

A simple model errs because it cannot follow the data: its bias is large. A complex one follows each
training sample too closely: its variance is large. So the training error falls with complexity, and
the test error falls and then rises.

References
----------
Hastie, Tibshirani and Friedman (2009). The elements of statistical learning. Springer, section 7.2.

Recarey (2021). Métodos de ensamblado en Machine Learning. Figures 1.1 and 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from orfeon.inspection.bias_variance.definitions import Definition
from orfeon.inspection.bias_variance.parts import BiasVariance
from orfeon.inspection.bias_variance.repeated_trainings import resample_with_training_errors
from orfeon.inspection.display import check_choice
from orfeon.inspection.retraining import shared_seed
from orfeon.rendering.display import Display
from orfeon.rendering.figure import look_of, put_legend, put_title
from orfeon.rendering.palette import INK, MUTED_INK
from orfeon.rendering.texts import plain
from orfeon.utils.seeding import RandomState
from orfeon.utils.types import Floats

Show = Literal["errors", "parts"]
#: With more values not every one has a label on the axis.
_NAMED = 12


@dataclass(frozen=True, eq=False)
class ComplexityCurve:
    """Training error, test error and its parts against a parameter of an estimator.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    values : tuple
        Its values, the simplest model first.
    training_errors : ndarray of shape (n_values, n_trainings)
        Error of each training on its own sample.
    parts : tuple of BiasVariance
        Test error and its parts at each value.

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.datasets import Friedman1
    >>> from orfeon.inspection import complexity_curve
    >>> curve = complexity_curve(
    ...     CARTRegressor(), Friedman1(), parameter="max_depth", values=(1, 4, 12),
    ...     n_train=100, n_test=200, n_repetitions=10, random_state=0,
    ... )
    >>> curve.best, [bool(errors[0] > errors[2]) for errors in (curve.training_error, curve.bias)]
    (4, [True, True])
    """

    parameter: str
    values: tuple[Any, ...]
    training_errors: Floats
    parts: tuple[BiasVariance, ...]

    @property
    def training_error(self) -> Floats:
        """Mean training error at each value."""
        return np.asarray(self.training_errors.mean(axis=1))

    @property
    def test_error(self) -> Floats:
        """Mean test error at each value."""
        return self._each("error")

    @property
    def bias(self) -> Floats:
        """Bias at each value; in regression the squared bias."""
        return self._each("bias")

    @property
    def variance(self) -> Floats:
        """Variance at each value."""
        return self._each("variance")

    @property
    def noise(self) -> Floats:
        """Noise at each value."""
        return self._each("noise")

    @property
    def best(self) -> Any:
        """The value with the lowest test error; the simplest if tied."""
        return self.values[int(np.argmin(self.test_error))]

    @property
    def is_regression(self) -> bool:
        """Whether errors are mean squared errors."""
        return self.parts[0].definition == "squared_error"

    def _each(self, part: str) -> Floats:
        return np.array([getattr(one, part) for one in self.parts])


def complexity_curve(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    parameter: str,
    values: Sequence[Any],
    definition: Definition | None = None,
    unbiased: bool = False,
    n_repetitions: int = 50,
    random_state: RandomState = None,
    **options: Any,
) -> ComplexityCurve:
    """Train an estimator repeatedly for several values of a parameter, and measure its errors.

    Parameters
    ----------
    estimator : classifier or regressor
        Cloned, never modified.
    data, y, n_repetitions, random_state, **options
        As for :func:`resample_predictions`. All values have the same samples and test set.
    parameter : str
        The parameter that makes the estimator more complex, such as "max_depth"; of an inner
        estimator too, as in "kneighborsclassifier__n_neighbors".
    values : sequence
        Its values, the simplest model first.
    definition, unbiased
        As for :func:`bias_variance_decomposition`; by default "kohavi_wolpert", and
        "squared_error" in regression.

    Returns
    -------
    ComplexityCurve
        Errors and their parts at each value.

    See Also
    --------
    sklearn.model_selection.validation_curve : Training and test scores by cross-validation.

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.datasets import Friedman1
    >>> from orfeon.inspection import complexity_curve
    >>> curve = complexity_curve(
    ...     CARTRegressor(), Friedman1(), parameter="max_leaf_nodes", values=(2, 12, 100),
    ...     n_test=200, n_repetitions=20, random_state=0,
    ... )
    >>> bool(curve.bias[0] > curve.bias[2]), bool(curve.variance[0] < curve.variance[2])
    (True, True)
    >>> curve.best
    12
    """
    if not len(values):
        raise ValueError("values is empty; at least one value of the parameter is needed.")
    if parameter not in estimator.get_params():
        raise ValueError(
            f"parameter={parameter!r} is not allowed: {type(estimator).__name__} has "
            f"{', '.join(sorted(estimator.get_params()))}."
        )
    training, parts, seed = [], [], shared_seed(random_state)
    for value in values:
        resampled, errors = resample_with_training_errors(
            clone(estimator).set_params(**{parameter: value}), data, y,
            n_repetitions=n_repetitions, random_state=seed, **options,
        )  # fmt: skip
        training.append(errors)
        parts.append(resampled.decompose(definition, unbiased=unbiased))
    return ComplexityCurve(parameter, tuple(values), np.array(training), tuple(parts))


class ComplexityDisplay(Display):
    """Errors against complexity: training and test error, or the parts of the test error.

    Parameters
    ----------
    curve : ComplexityCurve
        The measurements, see :func:`complexity_curve`.

    Attributes
    ----------
    <axes>
    lines_ : dict of str to Line2D
        The curves.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import CARTClassifier
    >>> from orfeon.datasets import TwoNorm
    >>> from orfeon.inspection import ComplexityDisplay
    >>> display = ComplexityDisplay.from_estimator(
    ...     CARTClassifier(), TwoNorm(), parameter="max_depth", values=(1, 3, 9), n_test=200,
    ...     n_repetitions=10, random_state=0,
    ... )
    >>> list(display.lines_), list(display.plot(show="parts").lines_)
    (['training error', 'test error'], ['bias', 'variance', 'noise', 'test error'])
    >>> matplotlib.pyplot.close("all")
    """

    _size = (6.0, 4.2)

    lines_: dict[str, Any]

    def __init__(self, curve: ComplexityCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        data: Any,
        y: Any = None,
        *,
        show: Show = "errors",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Train an estimator repeatedly for several values of a parameter, and draw.

        Parameters
        ----------
        estimator, data, y, **options
            As for :func:`complexity_curve`; ``parameter`` and ``values`` must be given.
        show : {"errors", "parts"}, default="errors"
            As for :meth:`plot`.
        <ax>
        """
        return cls(complexity_curve(estimator, data, y, **options)).plot(ax, show=show)

    def plot(self, ax: Any = None, *, show: Show = "errors") -> Self:
        """Draw the picture.

        Parameters
        ----------
        show : {"errors", "parts"}, default="errors"
            Training and test error, each training error with a band of one standard deviation; or
            bias, variance and noise, which add up to the test error.
        <ax>
        """
        check_choice("show", show, ("errors", "parts"))
        ax = self._begin(ax)
        curve, unit = self.curve, 1.0 if self.curve.is_regression else 100.0
        places = np.arange(len(curve.values))
        bias = "squared bias" if curve.is_regression else "bias"
        shown = {"training error": curve.training_error}
        if show == "parts":
            shown = {bias: curve.bias, "variance": curve.variance, "noise": curve.noise}
        self.lines_ = {}
        for number, (name, errors) in enumerate(shown.items()):
            look = look_of(number)
            (self.lines_[name],) = ax.plot(
                places, unit * errors, color=look.colour, marker=look.marker, markersize=4.5,
                linestyle=look.linestyle, linewidth=1.4, label=name,
            )  # fmt: skip
        if show == "errors":
            middle, spread = unit * curve.training_error, unit * curve.training_errors.std(axis=1)
            colour = self.lines_["training error"].get_color()
            ax.fill_between(
                places, middle - spread, middle + spread, color=colour, alpha=0.15, linewidth=0
            )
        (self.lines_["test error"],) = ax.plot(
            places, unit * curve.test_error, color=INK, linewidth=1.8, label="test error"
        )
        self._mark_best(unit)
        self._label(show)
        return self._finish()

    def _mark_best(self, unit: float) -> None:
        curve = self.curve
        best = int(np.argmin(curve.test_error))
        self.ax_.plot(
            [best], [unit * curve.test_error[best]], "o", color=INK, markersize=7,
            markerfacecolor="white", markeredgewidth=1.6, zorder=3, label="_best",
        )  # fmt: skip
        self.ax_.axvline(best, color=MUTED_INK, linestyle=":", linewidth=0.9, zorder=1)

    def _label(self, show: Show) -> None:
        ax, curve = self.ax_, self.curve
        every = -(-len(curve.values) // _NAMED)
        places = np.arange(0, len(curve.values), every)
        ax.set_xticks(places, [plain(str(curve.values[place])) for place in places])
        ax.set_xlabel(plain(curve.parameter))
        ax.set_ylabel("mean squared error" if curve.is_regression else "error, %")
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]) if show == "parts" else 0.0)
        least = float(curve.test_error.min())
        number = f"{least:.3g}" if curve.is_regression else f"{100 * least:.1f}%"
        put_title(
            ax,
            f"Lowest test error: {number} with {plain(curve.parameter)}={plain(str(curve.best))}",
        )
        put_legend(ax)
