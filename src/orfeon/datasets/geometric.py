"""Problems whose class is the region a point lies in: diagonal, circle and nested spheres.

Without label noise the classes do not overlap, so the Bayes error is zero.

References
----------
Martínez-Muñoz and Suárez (2005). Switching class labels to generate classification ensembles.
Pattern Recognition 38(10), 1483-1494. (diagonal)

Hastie, Tibshirani and Friedman (2009). The elements of statistical learning, second edition.
Springer, section 10.1. (nested spheres)
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from orfeon.datasets._checks import (
    RandomState,
    as_generator,
    check_integer,
    check_points,
    check_real,
)
from orfeon.datasets._documentation import documented
from orfeon.datasets._problem import ClassificationProblem
from orfeon.utils.types import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class RegionProblem(ClassificationProblem):
    """Two classes, each a region; then each label may be flipped by noise.

    The priors are those of the regions, before the noise.
    """

    label_noise: float = 0.0

    def __post_init__(self) -> None:
        check_real("label_noise", self.label_noise, above=0, below=0.5, closed="left")
        super().__post_init__()

    def sample(
        self, n_samples: int = 300, *, random_state: RandomState = None
    ) -> tuple[Floats, Integers]:
        rng = as_generator(random_state)
        X, regions = super().sample(n_samples, random_state=rng)
        flipped = rng.random(regions.size) < self.label_noise
        return X, np.where(flipped, 1 - regions, regions)

    def posterior(self, X: npt.ArrayLike) -> Floats:
        regions = self._region(check_points(X, self.n_features))
        second = np.where(regions == 1, 1 - self.label_noise, self.label_noise)
        return np.column_stack([1 - second, second])

    def bayes_error(self) -> float:
        return float(self.label_noise)

    @abstractmethod
    def _region(self, points: Floats) -> Integers:
        """The region, 0 or 1, of each point."""

    @abstractmethod
    def _candidates(self, n: int, region: int, rng: np.random.Generator) -> Floats:
        """Draw points whose distribution inside ``region`` is right; some may lie outside it."""

    def _draw_given_classes(self, classes: Integers, rng: np.random.Generator) -> Floats:
        X = np.empty((classes.size, self.n_features))
        for region in range(self.n_classes):
            rows = np.flatnonzero(classes == region)
            X[rows] = self._draw_in_region(rows.size, region, rng)
        return X

    def _draw_in_region(self, n: int, region: int, rng: np.random.Generator) -> Floats:
        """Draw by rejection, so that a label never disagrees with its point by rounding."""
        accepted = np.empty((0, self.n_features))
        while accepted.shape[0] < n:
            candidates = self._candidates(2 * (n - accepted.shape[0]), region, rng)
            accepted = np.vstack([accepted, candidates[self._region(candidates) == region]])
        return accepted[:n]


@dataclass(frozen=True, kw_only=True)
class Diagonal(RegionProblem):
    """Uniform points of the unit square; class 1 is above the diagonal x2 = x1.

    Parameters
    ----------
    priors : sequence of float, optional
        Probabilities of the two regions; equal by default.
    label_noise : float, default=0.0
        Probability with which a label is flipped, below 1/2.

    Examples
    --------
    >>> from orfeon.datasets import Diagonal
    >>> Diagonal().predict([[0.2, 0.7], [0.7, 0.2]])
    array([1, 0])
    """

    @property
    def n_features(self) -> int:
        """Number of columns of X: 2."""
        return 2

    def _region(self, points: Floats) -> Integers:
        return (points[:, 1] > points[:, 0]).astype(np.int64)

    def _candidates(self, n: int, region: int, rng: np.random.Generator) -> Floats:
        return rng.random((n, 2))


@dataclass(frozen=True, kw_only=True)
class Circle(RegionProblem):
    """Uniform points of the unit square; class 1 is inside a circle around its centre.

    Parameters
    ----------
    radius : float, optional
        Radius of the circle, at most 1/2. By default 1 / sqrt(2 pi), about 0.399, so that the
        circle has half of the square's area.
    priors : sequence of float, optional
        Probabilities of the two regions; by default the areas outside and inside the circle.
    label_noise : float, default=0.0
        Probability with which a label is flipped, below 1/2.

    Examples
    --------
    >>> from orfeon.datasets import Circle
    >>> Circle().predict([[0.5, 0.5], [0.1, 0.1]])
    array([1, 0])
    >>> Circle(radius=0.25).class_priors.round(3)
    array([0.804, 0.196])
    """

    radius: float = 1 / math.sqrt(2 * math.pi)

    def __post_init__(self) -> None:
        check_real("radius", self.radius, above=0, below=0.5, closed="right")
        super().__post_init__()

    @property
    def n_features(self) -> int:
        """Number of columns of X: 2."""
        return 2

    def _own_priors(self) -> tuple[float, ...]:
        inside = math.pi * self.radius**2
        return 1 - inside, inside

    def _region(self, points: Floats) -> Integers:
        distances = np.hypot(points[:, 0] - 0.5, points[:, 1] - 0.5)
        return (distances <= self.radius).astype(np.int64)

    def _candidates(self, n: int, region: int, rng: np.random.Generator) -> Floats:
        points = rng.random((n, 2))
        if region == 1:  # only the square around the circle, which may be a small part of the whole
            points = 0.5 + self.radius * (2 * points - 1)
        return points


@dataclass(frozen=True, kw_only=True)
class NestedSpheres(RegionProblem):
    """Standard Gaussian points; class 1 is outside the sphere that holds half of them.

    The squared radius is the median of the chi-squared distribution with d degrees of freedom,
    9.34 for d = 10. A single feature carries little information: one stump errs on about 46%.

    Parameters
    ----------
    n_features : int, default=10
        Number of features, d.
    priors : sequence of float, optional
        Probabilities of the two regions, inside and outside; equal by default.
    label_noise : float, default=0.0
        Probability with which a label is flipped, below 1/2.

    Examples
    --------
    >>> from orfeon.datasets import NestedSpheres
    >>> NestedSpheres(n_features=2).predict([[0.5, 0.5], [1.0, 1.0]])
    array([0, 1])
    """

    n_features: int = 10

    def __post_init__(self) -> None:
        check_integer("n_features", self.n_features, 1)
        super().__post_init__()

    def _region(self, points: Floats) -> Integers:
        squared = np.einsum("ij,ij->i", points, points)
        return np.asarray(squared > chi2.median(self.n_features), dtype=np.int64)

    def _candidates(self, n: int, region: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((n, self.n_features))


@documented
def make_diagonal(
    n_samples: int = 300,
    *,
    priors: Sequence[float] | None = None,
    label_noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[Floats, Integers]:
    """Draw points of the unit square, cut by its diagonal, see :class:`Diagonal`.

    Parameters
    ----------
    <n_samples>
    priors, label_noise
        Parameters of :class:`Diagonal`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The features.
    y : ndarray of shape (n_samples,)
        The classes, 0 or 1.

    Examples
    --------
    >>> from orfeon.datasets import make_diagonal
    >>> X, y = make_diagonal(300, random_state=0)
    >>> bool(((X[:, 1] > X[:, 0]) == y).all())
    True
    """
    problem = Diagonal(priors=priors, label_noise=label_noise)
    return problem.sample(n_samples, random_state=random_state)


@documented
def make_circle(
    n_samples: int = 300,
    *,
    radius: float = 1 / math.sqrt(2 * math.pi),
    priors: Sequence[float] | None = None,
    label_noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[Floats, Integers]:
    """Draw points of the unit square, with a circle in it, see :class:`Circle`.

    Parameters
    ----------
    <n_samples>
    radius, priors, label_noise
        Parameters of :class:`Circle`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The features.
    y : ndarray of shape (n_samples,)
        The classes, 0 (outside) or 1 (inside).

    Examples
    --------
    >>> from orfeon.datasets import make_circle
    >>> X, y = make_circle(300, priors=(0.0, 1.0), random_state=0)
    >>> bool((((X - 0.5) ** 2).sum(axis=1) < 0.16).all())
    True
    """
    problem = Circle(radius=radius, priors=priors, label_noise=label_noise)
    return problem.sample(n_samples, random_state=random_state)


@documented
def make_nested_spheres(
    n_samples: int = 2000,
    *,
    n_features: int = 10,
    priors: Sequence[float] | None = None,
    label_noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[Floats, Integers]:
    """Draw Gaussian points, labelled by their distance to the origin, see :class:`NestedSpheres`.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    n_features, priors, label_noise
        Parameters of :class:`NestedSpheres`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        The classes, 0 (inside) or 1 (outside).

    Examples
    --------
    >>> from orfeon.datasets import make_nested_spheres
    >>> X, y = make_nested_spheres(300, random_state=0)
    >>> bool((((X**2).sum(axis=1) > 9.34) == y).all())
    True
    """
    problem = NestedSpheres(n_features=n_features, priors=priors, label_noise=label_noise)
    return problem.sample(n_samples, random_state=random_state)
