"""Parallel perceptrons, mainly for imbalanced classes: plain, selecting samples, and boosted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.perceptrons.boost import PPBoostClassifier
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.pptss import PPTSSClassifier
from orfeon.perceptrons.regression import ParallelPerceptronRegressor
from orfeon.utils.lazy import if_installed, lazy_names

#: Needs imbalanced-learn, so it is imported on first use.
_HOMES = {"PPTSSSampler": "sampler"}

if TYPE_CHECKING:
    from orfeon.perceptrons.sampler import PPTSSSampler as PPTSSSampler

__all__ = [
    "PPBoostClassifier",
    "PPTSSClassifier",
    "ParallelPerceptronClassifier",
    "ParallelPerceptronRegressor",
]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, *if_installed("imblearn", _HOMES)])
