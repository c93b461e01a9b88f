"""Parallel perceptrons, for unbalanced samples above all: trained on what matters, and boosted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orfeon.perceptrons.boost import PPBoostClassifier
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.pptss import PPTSSClassifier
from orfeon.perceptrons.regression import ParallelPerceptronRegressor

if TYPE_CHECKING:
    from orfeon.perceptrons.sampler import PPTSSSampler as PPTSSSampler

__all__ = [
    "PPBoostClassifier",
    "PPTSSClassifier",
    "ParallelPerceptronClassifier",
    "ParallelPerceptronRegressor",
]


def __getattr__(name: str) -> Any:
    # It needs imbalanced-learn, and nothing else here does.
    if name == "PPTSSSampler":
        from orfeon.perceptrons.sampler import PPTSSSampler

        return PPTSSSampler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
