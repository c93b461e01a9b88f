"""Friedman's three regression problems.

scikit-learn's generators draw the samples. Added are the noise of the literature as the default,
and the regression function, which is the best prediction.

References
----------
Friedman (1991). Multivariate adaptive regression splines. Annals of Statistics 19(1), 1-67.

Breiman (1996). Bagging predictors. Machine Learning 24(2), 123-140.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import sklearn.datasets

from orfeon.datasets._checks import RandomState, as_generator, check_integer
from orfeon.datasets._documentation import documented
from orfeon.datasets._problem import RegressionProblem
from orfeon.utils.types import Floats


class _Friedman(RegressionProblem):
    def sample(
        self, n_samples: int = 300, *, random_state: RandomState = None
    ) -> tuple[Floats, Floats]:
        n_samples = check_integer("n_samples", n_samples, 1)
        # scikit-learn's generators do not take numpy's Generator.
        seed = int(as_generator(random_state).integers(2**32))
        return self._draw(n_samples, seed)

    @abstractmethod
    def _draw(self, n_samples: int, seed: int) -> tuple[Floats, Floats]:
        """Draw samples with scikit-learn's generator."""


@dataclass(frozen=True, kw_only=True)
class Friedman1(_Friedman):
    """y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise, x uniform in the unit cube.

    Features after the fifth do not matter.

    Parameters
    ----------
    n_features : int, default=10
        Number of features, at least 5.
    noise : float, default=1.0
        Standard deviation of the noise.

    Examples
    --------
    >>> from orfeon.datasets import Friedman1
    >>> Friedman1(n_features=5).predict([[0.5, 1.0, 0.5, 0.0, 1.0]])
    array([15.])
    """

    n_features: int = 10
    noise: float = 1.0

    def __post_init__(self) -> None:
        check_integer("n_features", self.n_features, 5)
        super().__post_init__()

    def _draw(self, n_samples: int, seed: int) -> tuple[Floats, Floats]:
        X, y = sklearn.datasets.make_friedman1(
            n_samples, n_features=self.n_features, noise=self.noise, random_state=seed
        )
        return X, y

    def _regression_function(self, points: Floats) -> Floats:
        x1, x2, x3, x4, x5 = points[:, :5].T
        result: Floats = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
        return result


class _Circuit(_Friedman):
    @property
    def n_features(self) -> int:
        """Number of columns of X: 4."""
        return 4


@dataclass(frozen=True, kw_only=True)
class Friedman2(_Circuit):
    """Impedance of a circuit: y = sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2) + noise.

    x1 is uniform in (0, 100), x2 in (40 pi, 560 pi), x3 in (0, 1) and x4 in (1, 11).

    Parameters
    ----------
    noise : float, default=125.0
        Standard deviation of the noise; the default is a third of the signal's.

    Examples
    --------
    >>> from orfeon.datasets import Friedman2
    >>> Friedman2().predict([[30.0, 200.0, 0.2, 5.0]]).round(3)
    array([49.999])
    """

    noise: float = 125.0

    def _draw(self, n_samples: int, seed: int) -> tuple[Floats, Floats]:
        X, y = sklearn.datasets.make_friedman2(n_samples, noise=self.noise, random_state=seed)
        return X, y

    def _regression_function(self, points: Floats) -> Floats:
        x1, x2, x3, x4 = points.T
        result: Floats = np.hypot(x1, x2 * x3 - 1 / (x2 * x4))
        return result


@dataclass(frozen=True, kw_only=True)
class Friedman3(_Circuit):
    """Phase of a circuit: y = arctan((x2 x3 - 1 / (x2 x4)) / x1) + noise.

    x1 is uniform in (0, 100), x2 in (40 pi, 560 pi), x3 in (0, 1) and x4 in (1, 11).

    Parameters
    ----------
    noise : float, default=0.1
        Standard deviation of the noise; the default is about a third of the signal's.

    Examples
    --------
    >>> from orfeon.datasets import Friedman3
    >>> Friedman3().predict([[40.0, 200.0, 0.2, 5.0]]).round(3)
    array([0.785])
    """

    noise: float = 0.1

    def _draw(self, n_samples: int, seed: int) -> tuple[Floats, Floats]:
        X, y = sklearn.datasets.make_friedman3(n_samples, noise=self.noise, random_state=seed)
        return X, y

    def _regression_function(self, points: Floats) -> Floats:
        x1, x2, x3, x4 = points.T
        result: Floats = np.arctan((x2 * x3 - 1 / (x2 * x4)) / x1)
        return result


@documented
def make_friedman1(
    n_samples: int = 300,
    *,
    n_features: int = 10,
    noise: float = 1.0,
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Draw samples of Friedman's first regression problem, see :class:`Friedman1`.

    Parameters
    ----------
    <n_samples>
    n_features, noise
        Parameters of :class:`Friedman1`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        The targets.

    Examples
    --------
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(300, random_state=0)
    >>> X.shape, y.shape
    ((300, 10), (300,))
    """
    problem = Friedman1(n_features=n_features, noise=noise)
    return problem.sample(n_samples, random_state=random_state)


@documented
def make_friedman2(
    n_samples: int = 300, *, noise: float = 125.0, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw samples of Friedman's second regression problem, see :class:`Friedman2`.

    Parameters
    ----------
    <n_samples>
    noise
        Parameters of :class:`Friedman2`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, 4)
        The features.
    y : ndarray of shape (n_samples,)
        The targets.

    Examples
    --------
    >>> from orfeon.datasets import make_friedman2
    >>> X, y = make_friedman2(300, random_state=0)
    >>> X.shape, y.shape
    ((300, 4), (300,))
    """
    return Friedman2(noise=noise).sample(n_samples, random_state=random_state)


@documented
def make_friedman3(
    n_samples: int = 300, *, noise: float = 0.1, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw samples of Friedman's third regression problem, see :class:`Friedman3`.

    Parameters
    ----------
    <n_samples>
    noise
        Parameters of :class:`Friedman3`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, 4)
        The features.
    y : ndarray of shape (n_samples,)
        The targets.

    Examples
    --------
    >>> from orfeon.datasets import make_friedman3
    >>> X, y = make_friedman3(300, random_state=0)
    >>> X.shape, y.shape
    ((300, 4), (300,))
    """
    return Friedman3(noise=noise).sample(n_samples, random_state=random_state)
