"""What a method does to the training set for each member: the one thing that tells methods apart.

A perturbation is drawn from a member's own random generator, over samples in an order that depends
on their content alone (see :mod:`orfeon.ensembles.canonical_order`). So the model does not depend
on the order of the rows, on the number of threads, or on whether a sample of weight 2 was given as
two copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.seeding import branch
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class Samples:
    """The training samples as the methods see them."""

    labels: npt.NDArray[Any]
    weights: Floats
    n_classes: int
    n_features: int
    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    n_given: int = 0
    sample_weights: Floats = field(default_factory=lambda: np.zeros(0))
    digest: Any = None

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def are_equal(self) -> bool:
        """Whether all weigh the same."""
        return bool((self.weights == self.weights[0]).all())

    @cached_property
    def cumulative(self) -> Floats:
        """Running sums of the weights, to draw samples in proportion to them."""
        return np.cumsum(self.weights)

    @cached_property
    def class_shares(self) -> Floats:
        """Share of each class in the weight of the samples."""
        shares = np.bincount(self.labels, weights=self.weights, minlength=self.n_classes)
        return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class Perturbation:
    """What one member is trained on; what is not given is left as it is."""

    weights: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None
    features: npt.NDArray[np.int64] | None = None
    halves: npt.NDArray[np.uint8] | None = None


def member_generator(sequence: np.random.SeedSequence, member: int) -> np.random.Generator:
    """The random generator of one member, whoever trains it and whenever."""
    return np.random.Generator(np.random.PCG64(branch(sequence, member)))


def draw_seed(rng: np.random.Generator) -> np.uint64:
    """The seed of a member's own choices, such as ties between equally good splits."""
    return np.uint64(rng.integers(0, 2**64 - 1, dtype=np.uint64))
