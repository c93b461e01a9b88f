"""Base classes of synthetic problems: distributions whose Bayes rule and error are known."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from orfeon.datasets._checks import (
    RandomState,
    as_generator,
    check_integer,
    check_points,
    check_priors,
    check_real,
)
from orfeon.utils.types import Floats, Integers


class BayesErrorEstimate(NamedTuple):
    """A Bayes error measured on a sample, with its standard error.

    Examples
    --------
    >>> from orfeon.datasets import BayesErrorEstimate
    >>> BayesErrorEstimate(error=0.023, standard_error=0.0005).error
    0.023
    """

    error: float
    standard_error: float


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """A distribution of (x, y) whose best rule is known.

    Examples
    --------
    >>> from orfeon.datasets import Problem, problem
    >>> waveform = problem("waveform")
    >>> isinstance(waveform, Problem), waveform.n_features, round(waveform.bayes_error(), 2)
    (True, 21, 0.13)
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns of X."""

    @abstractmethod
    def sample(
        self, n_samples: int = 300, *, random_state: RandomState = None
    ) -> tuple[Floats, npt.NDArray[Any]]:
        """Draw independent samples.

        Parameters
        ----------
        n_samples : int, default=300
            Number of samples.
        random_state : int, Generator, RandomState or None, default=None
            Source of randomness.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The features.
        y : ndarray of shape (n_samples,)
            The classes, 0 to K - 1, or the targets of a regression problem.
        """

    @abstractmethod
    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Apply the Bayes rule, which has the smallest possible expected loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The most probable class, the first one if tied, or the expected target.
        """

    @abstractmethod
    def bayes_error(self) -> float:
        """Expected loss of the Bayes rule, computed from the distribution.

        Returns
        -------
        float
            The probability of an error, or the mean squared error.
        """

    @abstractmethod
    def _losses(self, y: npt.NDArray[Any], predictions: npt.NDArray[Any]) -> Floats: ...

    def estimate_bayes_error(
        self, n_samples: int = 100_000, *, random_state: RandomState = None
    ) -> BayesErrorEstimate:
        """Measure the loss of the Bayes rule on a sample.

        Parameters
        ----------
        n_samples : int, default=100_000
            Number of samples.
        random_state : int, Generator, RandomState or None, default=None
            Source of randomness.

        Returns
        -------
        BayesErrorEstimate
            The mean loss, ``error``, and its ``standard_error``.
        """
        X, y = self.sample(n_samples, random_state=random_state)
        losses = self._losses(y, self.predict(X))
        return BayesErrorEstimate(
            float(losses.mean()), float(losses.std()) / math.sqrt(losses.size)
        )


@dataclass(frozen=True, kw_only=True)
class ClassificationProblem(Problem):
    """A problem whose y is a class, drawn first, by the priors; then x is drawn given the class.

    Parameters
    ----------
    priors : sequence of float, optional
        Probability of each class. By default the problem's own.

    Examples
    --------
    >>> from orfeon.datasets import ClassificationProblem, TwoNorm
    >>> rare = TwoNorm(priors=(0.9, 0.1))
    >>> isinstance(rare, ClassificationProblem), rare.n_classes, rare.class_priors.tolist()
    (True, 2, [0.9, 0.1])
    """

    n_classes: ClassVar[int] = 2
    priors: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.priors is not None:
            object.__setattr__(self, "priors", check_priors(self.priors, self.n_classes))

    @property
    def class_priors(self) -> Floats:
        """Probability of each class: ``priors``, or the problem's own."""
        return np.array(self._own_priors() if self.priors is None else self.priors)

    def sample(
        self, n_samples: int = 300, *, random_state: RandomState = None
    ) -> tuple[Floats, Integers]:
        n_samples = check_integer("n_samples", n_samples, 1)
        rng = as_generator(random_state)
        classes = rng.choice(self.n_classes, size=n_samples, p=self.class_priors).astype(np.int64)
        return self._draw_given_classes(classes, rng), classes

    @abstractmethod
    def posterior(self, X: npt.ArrayLike) -> Floats:
        """Probability of each class given x.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """

    def predict(self, X: npt.ArrayLike) -> Integers:
        labels: Integers = np.argmax(self.posterior(X), axis=1).astype(np.int64)
        return labels

    def _own_priors(self) -> tuple[float, ...]:
        return (1 / self.n_classes,) * self.n_classes

    @abstractmethod
    def _draw_given_classes(self, classes: Integers, rng: np.random.Generator) -> Floats: ...

    def _losses(self, y: npt.NDArray[Any], predictions: npt.NDArray[Any]) -> Floats:
        return np.asarray(y != predictions, dtype=np.float64)


class DensityProblem(ClassificationProblem):
    """A classification problem given by the density of the features in each class."""

    def log_densities(self, X: npt.ArrayLike) -> Floats:
        """Logarithm of each class's density at each point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            ``log p(x | class)``, the priors not included.
        """
        return self._log_densities(check_points(X, self.n_features))

    def posterior(self, X: npt.ArrayLike) -> Floats:
        result: Floats = softmax(self.log_densities(X) + self._log_priors(), axis=1)
        return result

    @abstractmethod
    def _log_densities(self, points: Floats) -> Floats:
        """Log-densities at valid points."""

    def _log_priors(self) -> Floats:
        with np.errstate(divide="ignore"):  # a class of prior 0 has posterior 0
            result: Floats = np.log(self.class_priors)
        return result


@dataclass(frozen=True, kw_only=True)
class RegressionProblem(Problem):
    """A problem whose y is a known function of x plus Gaussian noise.

    Parameters
    ----------
    noise : float
        Standard deviation of the noise.

    Examples
    --------
    >>> from orfeon.datasets import Friedman1, RegressionProblem
    >>> smooth = Friedman1(noise=0.5)
    >>> isinstance(smooth, RegressionProblem), smooth.bayes_error()
    (True, 0.25)
    """

    noise: float

    def __post_init__(self) -> None:
        noise = check_real("noise", self.noise, above=0, below=math.inf, closed="left")
        object.__setattr__(self, "noise", noise)

    @abstractmethod
    def sample(
        self, n_samples: int = 300, *, random_state: RandomState = None
    ) -> tuple[Floats, Floats]: ...

    def predict(self, X: npt.ArrayLike) -> Floats:
        return self._regression_function(check_points(X, self.n_features))

    def bayes_error(self) -> float:
        return self.noise**2

    @abstractmethod
    def _regression_function(self, points: Floats) -> Floats:
        """Noiseless targets at valid points."""

    def _losses(self, y: npt.NDArray[Any], predictions: npt.NDArray[Any]) -> Floats:
        return np.asarray((y - predictions) ** 2, dtype=np.float64)
