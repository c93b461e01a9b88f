"""Two spherical Gaussian classes: densities, posteriors and the exact Bayes error.

With equal spreads the best boundary is a hyperplane and the error is a normal tail. With unequal
spreads it is a sphere around the tighter class, and the squared distance of a Gaussian point to its
centre follows a non-central chi-squared distribution.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import ncx2

from orfeon.datasets._problem import DensityProblem
from orfeon.utils.types import Floats, Integers


def log_spherical_density(points: Floats, mean: Floats, spread: float = 1.0) -> Floats:
    """Logarithm of the density of N(mean, spread^2 I) at each point."""
    differences = (points - mean) / spread
    squared = np.einsum("ij,ij->i", differences, differences)
    result: Floats = -0.5 * squared - points.shape[1] * math.log(spread * math.sqrt(2 * np.pi))
    return result


def _noncentral_chi2_cdf(x: Floats, degrees: int, noncentrality: Floats) -> Floats:
    """The distribution function, also far from the centre, where SciPy's is NaN.

    There the distance is nearly normal: the terms left out are of order degrees / noncentrality.
    """
    near = np.minimum(noncentrality, 1e8)
    root = np.sqrt(np.maximum(noncentrality, 1e8))
    far = ndtr(np.sqrt(x) - root - (degrees - 1) / (2 * root))
    result: Floats = np.where(noncentrality <= 1e8, ncx2.cdf(x, degrees, near), far)
    return result


@dataclass(frozen=True, kw_only=True)
class SphericalGaussians(DensityProblem):
    """Two classes, each a Gaussian with its own mean and its own spread in every direction."""

    @abstractmethod
    def _means(self) -> Floats:
        """The two means, of shape (2, n_features)."""

    def _spreads(self) -> tuple[float, float]:
        return 1.0, 1.0

    def _draw_given_classes(self, classes: Integers, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal((classes.size, self.n_features))
        result: Floats = self._means()[classes] + np.array(self._spreads())[classes, None] * noise
        return result

    def _log_densities(self, points: Floats) -> Floats:
        pairs = zip(self._means(), self._spreads(), strict=True)
        return np.column_stack([log_spherical_density(points, *pair) for pair in pairs])

    def bayes_error(self) -> float:
        if self.class_priors.min() == 0:
            return 0.0
        if math.isclose(*self._spreads(), rel_tol=1e-6):
            return self._error_of_hyperplane()
        return self._error_of_sphere()

    def _error_of_hyperplane(self) -> float:
        priors = self.class_priors
        means = self._means()
        separation = float(np.linalg.norm(means[1] - means[0])) / self._spreads()[0]
        if separation == 0:
            return float(priors.min())
        shift = math.log(priors[0] / priors[1]) / separation
        errors = ndtr([-separation / 2 - shift, -separation / 2 + shift])
        return float(priors @ errors)

    def _error_of_sphere(self) -> float:
        """Error when the tighter class is chosen inside a sphere.

        With precisions A > B, A|x - m_A|^2 - B|x - m_B|^2 is (A - B)|x - c|^2 less a constant,
        c = (A m_A - B m_B) / (A - B).
        """
        tight, wide = np.argsort(self._spreads())
        priors, means, spreads = self.class_priors, self._means(), np.array(self._spreads())
        precisions = 1 / spreads**2
        excess = precisions[tight] - precisions[wide]
        centre = (precisions[tight] * means[tight] - precisions[wide] * means[wide]) / excess
        log_odds = math.log(priors[tight] / priors[wide])
        log_odds += self.n_features * math.log(spreads[wide] / spreads[tight])
        distance = np.sum((means[tight] - means[wide]) ** 2)
        squared_radius = (2 * log_odds + precisions.prod() / excess * distance) / excess
        if squared_radius <= 0:  # the tighter class is too rare to be chosen anywhere
            return float(priors[tight])
        noncentrality = precisions * np.sum((means - centre) ** 2, axis=1)
        inside = _noncentral_chi2_cdf(squared_radius * precisions, self.n_features, noncentrality)
        return float(priors[tight] * (1 - inside[tight]) + priors[wide] * inside[wide])
