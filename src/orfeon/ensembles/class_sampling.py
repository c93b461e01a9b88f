"""Class weights by drawing: each member sees fewer samples of the lighter classes.

An unpruned tree gives every sample its own leaf, whatever its weight, so weights hardly change its
predictions. Drawing samples in proportion to their weights works for every base learner; drawn
without replacement, no copies are memorised, and the members together still see all samples.

References
----------
Zadrozny, Langford and Abe (2003). Cost-sensitive learning by cost-proportionate sample weighting.
ICDM, 435-442.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.out_of_bag import LeavingOut


def draw_by_class(samples: TrainingSet, rng: np.random.Generator) -> npt.NDArray[Any] | None:
    """The weights of one member's samples, 0 for those not drawn; None without class weights.

    All samples of the heaviest class are drawn, and a share of each other class in proportion to
    its weight. All members get the same number, so limits given as shares mean the same for all.
    """
    given = samples.sample_weights
    if np.array_equal(samples.weights, given):
        return None
    factors = np.zeros(samples.n_classes)
    factors[samples.y] = samples.weights / given
    n_samples = np.bincount(samples.y, minlength=samples.n_classes)
    n_drawn = np.floor(n_samples * (factors / factors.max()) + 0.5).astype(np.int64)
    drawn = np.ones(len(samples), np.int64)
    if (n_drawn < n_samples).any():
        # Shuffled, then class by class: the first ones of each class are drawn.
        order = rng.permutation(len(samples))
        order = order[np.argsort(samples.y[order], kind="stable")]
        place = np.arange(len(order)) - np.repeat(np.cumsum(n_samples) - n_samples, n_samples)
        drawn[order] = place < n_drawn[samples.y[order]]
    return drawn if (given == given[0]).all() else drawn * given


class DrawsByClass(LeavingOut):
    """Ensembles whose members leave samples out by class."""

    def _drawing_key(self, samples: TrainingSet) -> str:
        key = super()._drawing_key(samples)
        # Members in files of version 0.1 saw all classes in full; their out-of-bag samples must not
        # be redrawn in this way.
        return key if getattr(self, "class_weight", None) is None else f"{key} by class"
