"""Losses that users write: a function that returns gradients and second derivatives.

The function is called with the targets and the raw predictions of all training samples, and with
their weights if it takes three arguments. It returns the derivative of each sample's loss by its
raw prediction, not multiplied by its weight, and the second derivative.

An object with such a ``__call__`` can have three more attributes: ``value(y, raw_predictions,
weights)``, the mean loss; ``start(y, weights)``, the constant to start from; and ``link``, which
says what a raw prediction is: the "identity", the "log" or the "logit" of the prediction.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logit

from orfeon.boosting.class_losses import ClassLoss
from orfeon.boosting.losses import LARGEST_STEP, Loss, sums_by_leaf
from orfeon.utils import saved
from orfeon.utils.types import AnyIntegers, Floats

#: Newton steps to the constant to start from.
_MOST_STEPS = 100
_LINKS = ("identity", "log", "logit")
_LEAST_SHARE = float(np.finfo(np.float64).eps)


def loss_name(function: Any) -> str:
    """The name that messages and model files give to the loss of a user."""
    if isinstance(function, CustomLoss | str):
        return function if isinstance(function, str) else function.name
    return str(getattr(function, "__name__", type(function).__name__))


@saved.attributes(function=None)  # model files hold no code, and predictions do not need it
@dataclass(frozen=True, eq=False)
class CustomLoss(Loss):
    """The loss of a user, for numbers.

    Leaf values are one Newton step, and 0 without curvature.
    """

    name: str
    link: str = "identity"
    function: Callable[..., Any] | None = field(default=None, repr=False)

    is_by_row: ClassVar[bool] = False
    _default_link: ClassVar[str] = "identity"
    _links: ClassVar[tuple[str, ...]] = _LINKS

    @classmethod
    def of(cls, function: Any) -> CustomLoss:
        """The loss that a function computes."""
        if isinstance(function, cls):
            return function
        name, link = loss_name(function), getattr(function, "link", cls._default_link)
        if link not in cls._links:
            raise ValueError(
                f"the link {link!r} of loss={name} is not allowed; it must be one of "
                f"{', '.join(map(repr, cls._links))}."
            )
        return cls(name, link, function)

    def __call__(self, y: Any, raw_predictions: Any, weights: Any) -> tuple[Floats, Floats]:
        """The gradient and the second derivatives, as the function has them."""
        residuals, curvature = self.derivatives(y, np.asarray(raw_predictions)[None], weights)
        return 0.0 - residuals[0], curvature[0]

    def __eq__(self, other: object) -> bool:
        """Whether the loss is the same, or may be: the function of a model file is not known."""
        if type(other) is not type(self) or (self.name, self.link) != (other.name, other.link):
            return False
        return self.function is other.function or None in (self.function, other.function)

    def __hash__(self) -> int:
        return hash((self.name, self.link))

    @property
    def has_value(self) -> bool:  # type: ignore[override]
        return callable(getattr(self.function, "value", None))

    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        given = getattr(self.function, "start", None)
        if given is None:
            return np.array([self._newton_start(y, weights)])
        constant = np.asarray(given(*_locked(y, weights)), dtype=np.float64)
        if constant.size != 1 or not np.isfinite(constant).all():
            raise ValueError(
                f"the start of loss={self.name} must be one finite number, not {constant!r}."
            )
        return constant.reshape(1)

    def _newton_start(self, y: npt.NDArray[Any], weights: Floats) -> float:
        """The constant without gradient, by Newton steps from 0 that are halved where they fail."""
        constant, pull, bend = 0.0, *self._sums(0.0, y, weights)
        for _ in range(_MOST_STEPS):
            if pull == 0 or bend <= 0:
                break
            step = pull / bend
            following = self._sums(constant + step, y, weights)
            while abs(following[0]) > abs(pull) and abs(step) > 1e-12 * (1.0 + abs(constant)):
                step /= 2.0
                following = self._sums(constant + step, y, weights)
            if abs(following[0]) >= abs(pull):
                break
            constant += step
            pull, bend = following
        return constant

    def _sums(self, constant: float, y: npt.NDArray[Any], weights: Floats) -> tuple[float, float]:
        residuals, curvature = self.derivatives(y, np.full((1, len(y)), constant), weights)
        return float(np.sum(weights * residuals[0])), float(np.sum(weights * curvature[0]))

    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        if not self.has_value:
            return np.nan
        assert self.function is not None
        mean = np.asarray(self.function.value(*_locked(y, scores[0], weights)))  # type: ignore[attr-defined]
        if mean.size != 1 or mean.dtype.kind not in "biuf":
            raise ValueError(
                f"the value of loss={self.name} must be one number, the weighted mean loss, not "
                f"an array of shape {mean.shape}."
            )
        return float(mean.reshape(()))

    def derivatives(
        self, y: npt.NDArray[Any], scores: Floats, weights: Floats
    ) -> tuple[Floats, Floats]:
        if self.function is None:
            raise ValueError(
                f"the function of loss={self.name} is not known, since model files hold no code; "
                "pass it again with set_params(loss=...) to fit."
            )
        given = (y, scores[0], weights) if _takes_weights(self.function) else (y, scores[0])
        found = self.function(*_locked(*given))
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise ValueError(
                f"loss={self.name} must return two arrays, the gradient and the second derivative "
                f"of each sample's loss, not {_described(found)}."
            )
        gradient = self._checked(found[0], "gradient", len(y))
        curvature = self._checked(found[1], "hessian", len(y))
        if (curvature < 0).any():
            raise ValueError(
                f"the hessian of loss={self.name} is negative for {int((curvature < 0).sum())} of "
                f"{len(y)} samples, and must be 0 or more: give an upper bound of the second "
                "derivative, such as 1, where the loss is not convex."
            )
        return 0.0 - gradient[None], curvature[None]  # without -0.0

    def _checked(self, values: Any, what: str, n_rows: int) -> Floats:
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the {what} of loss={self.name} must hold numbers.") from error
        if array.shape != (n_rows,):
            raise ValueError(
                f"the {what} of loss={self.name} has shape {array.shape}, and must have one number "
                f"for each sample: shape ({n_rows},)."
            )
        if not np.isfinite(array).all():
            raise ValueError(
                f"the {what} of loss={self.name} is not finite for "
                f"{int((~np.isfinite(array)).sum())} of {n_rows} samples."
            )
        return array

    def negative_gradient(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        return self.derivatives(y, scores, weights)[0]

    def hessian(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        return self.derivatives(y, scores, weights)[1]

    def leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        curvature = self.hessian(y, scores, weights)[0]
        pull = sums_by_leaf(leaves, residuals[0] * weights, n_leaves)
        bend = sums_by_leaf(leaves, curvature * weights, n_leaves)
        step = np.divide(pull, bend, out=np.zeros_like(pull), where=bend > 0)
        return self._limited(step)

    def _limited(self, steps: Floats) -> Floats:
        return steps

    def predictions(self, scores: Floats) -> Floats:
        with np.errstate(over="ignore"):
            if self.link == "log":
                return np.asarray(np.exp(scores[:, 0]))
            return np.asarray(expit(scores[:, 0]) if self.link == "logit" else scores[:, 0])

    def scores_of(self, predictions: Floats) -> Floats:
        values = np.asarray(predictions, dtype=np.float64)
        if self.link == "log":
            values = np.log(np.maximum(values, np.finfo(np.float64).tiny))
        if self.link == "logit":
            values = logit(np.clip(values, _LEAST_SHARE, 1.0 - _LEAST_SHARE))
        return np.ascontiguousarray(values)[None]


@dataclass(frozen=True, eq=False)
class CustomClassLoss(CustomLoss, ClassLoss):
    """The loss of a user, for two classes: targets are 0.0 and 1.0, scores are log odds."""

    link: str = "logit"
    _default_link: ClassVar[str] = "logit"
    _links: ClassVar[tuple[str, ...]] = ("logit",)

    def derivatives(
        self, y: npt.NDArray[Any], scores: Floats, weights: Floats
    ) -> tuple[Floats, Floats]:
        return super().derivatives(y.astype(np.float64), scores, weights)

    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        return super().start(y.astype(np.float64), weights)

    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        return super().value(y.astype(np.float64), scores, weights)

    def _limited(self, steps: Floats) -> Floats:
        return np.clip(steps, -LARGEST_STEP, LARGEST_STEP)

    def log_probabilities(self, scores: Floats) -> Floats:
        return np.asarray(log_expit(np.hstack([-scores, scores])))

    def probabilities(self, scores: Floats) -> Floats:
        return np.asarray(expit(np.hstack([-scores, scores])))


def _takes_weights(function: Any) -> bool:
    """Whether a third argument can be passed."""
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # without a signature, as some compiled functions
        return False
    return True


def _locked(*arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Views that cannot be written to."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"an array of shape {shape}" if shape is not None else f"a {type(value).__name__}"
