"""The waveform problem: three classes of noisy mixtures of triangular waves.

References
----------
Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees. Wadsworth,
pages 49-55.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr

from orfeon.datasets._checks import RandomState
from orfeon.datasets._documentation import documented
from orfeon.datasets._problem import DensityProblem
from orfeon.datasets._spherical import log_spherical_density
from orfeon.utils.types import Floats, Integers

_N_POINTS = 21
_PEAKS = np.array([7, 15, 11])
_MIXED = np.array([[0, 1], [0, 2], [1, 2]])  # the two waves that each class mixes


def _waves() -> Floats:
    """The three waves: height 6, slope 1, on the points 1 to 21."""
    positions = np.arange(1, _N_POINTS + 1)
    waves: Floats = np.maximum(6.0 - np.abs(positions - _PEAKS[:, None]), 0.0)
    return waves


@dataclass(frozen=True, kw_only=True)
class Waveform(DensityProblem):
    """Mixtures u h + (1 - u) h' of two of three triangular waves, with unit Gaussian noise.

    The waves h1, h2 and h3 have height 6 and peaks at the points 7, 15 and 11 of 21; u is uniform
    in (0, 1). Class 0 mixes h1 and h2, class 1 mixes h1 and h3, class 2 mixes h2 and h3. The Bayes
    error is 13.3%; the book that introduced the problem gives about 14%. (Other texts number the
    waves differently, which only renames the classes.)

    Parameters
    ----------
    priors : sequence of float, optional
        Probabilities of the three classes; equal by default.

    Examples
    --------
    >>> from orfeon.datasets import Waveform
    >>> problem = Waveform()
    >>> X, y = problem.sample(300, random_state=0)
    >>> X.shape
    (300, 21)
    >>> round(problem.bayes_error(), 4)
    0.1329
    """

    n_classes: ClassVar[int] = 3

    @property
    def n_features(self) -> int:
        """Number of columns of X: 21."""
        return _N_POINTS

    def _draw_given_classes(self, classes: Integers, rng: np.random.Generator) -> Floats:
        ends = _waves()[_MIXED[classes]]
        u = rng.random((classes.size, 1))
        noise = rng.standard_normal((classes.size, _N_POINTS))
        result: Floats = u * ends[:, 0] + (1 - u) * ends[:, 1] + noise
        return result

    def _log_densities(self, points: Floats) -> Floats:
        return _log_mixture_densities(points, _waves())

    def bayes_error(self) -> float:
        # Noise orthogonal to the plane of the three waves does not depend on the class, so the
        # largest joint density is integrated over that plane only, with an error below 1e-5.
        waves = _waves()
        basis, _ = np.linalg.qr((waves[1:] - waves[0]).T)
        corners = (waves - waves[0]) @ basis
        step, reach = 0.04, 7.0
        axes = [
            np.arange(low - reach, high + reach, step)
            for low, high in zip(corners.min(axis=0), corners.max(axis=0), strict=True)
        ]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        log_joint = _log_mixture_densities(grid, corners) + self._log_priors()
        return float(1 - np.exp(log_joint.max(axis=1)).sum() * step**2)


def _log_mixture_densities(points: Floats, waves: Floats) -> Floats:
    """Log-density of each class, for waves in any number of dimensions."""
    return np.column_stack(
        [_log_segment_density(points, waves[first], waves[second]) for first, second in _MIXED]
    )


def _log_segment_density(points: Floats, start: Floats, end: Floats) -> Floats:
    """Log-density of a uniform point of a segment plus unit Gaussian noise.

    Along the segment, of length L, a point at distance t from the start has density
    (Phi(t) - Phi(t - L)) / L; across it the noise is alone.
    """
    length = float(np.linalg.norm(end - start))
    direction = (end - start) / length
    along = (points - start) @ direction
    foot = start + along[:, None] * direction
    across = log_spherical_density(points, foot) + 0.5 * math.log(2 * math.pi)
    # The mass of an interval is taken in the lower tail, where it does not cancel.
    near_end = along > length / 2
    upper = np.where(near_end, length - along, along)
    log_upper = log_ndtr(upper)
    # The ratio of the two tails grows with ``upper``; the bound keeps rounding errors below it.
    largest = log_ndtr(-length / 2) - log_ndtr(length / 2)
    log_ratio = np.minimum(log_ndtr(upper - length) - log_upper, largest)
    result: Floats = across + log_upper + np.log1p(-np.exp(log_ratio)) - math.log(length)
    return result


@documented
def make_waveform(
    n_samples: int = 300,
    *,
    priors: Sequence[float] | None = None,
    random_state: RandomState = None,
) -> tuple[Floats, Integers]:
    """Draw samples of the waveform problem, see :class:`Waveform`.

    Parameters
    ----------
    <n_samples>
    priors
        Parameters of :class:`Waveform`.
    <random_state>

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        The features.
    y : ndarray of shape (n_samples,)
        The classes, 0, 1 or 2.

    Examples
    --------
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 21), [0, 1, 2])
    """
    return Waveform(priors=priors).sample(n_samples, random_state=random_state)
