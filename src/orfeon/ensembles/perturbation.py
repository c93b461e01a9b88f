"""What a method does to the training set for each member: the one thing that tells methods apart.

A perturbation is drawn from a member's own random generator, over examples in an order that depends
on their content alone (see :mod:`orfeon.ensembles.units`). So the model does not depend on the
order of the rows, on the number of threads, or on whether an example of weight 2 was given as two
copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.seeding import branch

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Examples:
    """The training examples as the methods see them.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Class codes or targets.
    weights : ndarray of shape (n_rows,)
        Weights, those of the classes among them; ones unless they are fractional.
    n_classes : int
        Number of classes, 0 in regression.
    n_attributes : int
        Number of attributes.
    rows : ndarray of shape (n_rows,), optional
        Which of the rows given each is; copies of one row share a number.
    n_given : int, optional
        How many rows were given, those of weight 0 among them.
    sample_weights : ndarray of shape (n_rows,), optional
        The weights without those of the classes; errors are weighted by these.
    digest : object, optional
        The same for the same examples, and hardly for others.
    """

    labels: npt.NDArray[Any]
    weights: Floats
    n_classes: int
    n_attributes: int
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
        """Running sums of the weights, to draw examples in proportion to them."""
        return np.cumsum(self.weights)

    @cached_property
    def class_shares(self) -> Floats:
        """Share of each class in the weight of the examples."""
        shares = np.bincount(self.labels, weights=self.weights, minlength=self.n_classes)
        return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class Perturbation:
    """What one member is trained on; what is not given is left as it is.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,), optional
        How often each example was drawn (integers), or its weight (floats); 0 leaves it out.
    labels : ndarray of shape (n_rows,), optional
        Altered class codes or targets.
    attributes : ndarray of shape (n_chosen,), optional
        Attributes that the member may use.
    halves : ndarray of shape (n_rows,), optional
        For IGP trees: the half, 1 or 2, of each example.
    """

    weights: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None
    attributes: npt.NDArray[np.int64] | None = None
    halves: npt.NDArray[np.uint8] | None = None


def member_generator(sequence: np.random.SeedSequence, member: int) -> np.random.Generator:
    """The random generator of one member, whoever trains it and whenever.

    Parameters
    ----------
    sequence : numpy.random.SeedSequence
        The root of the ensemble.
    member : int
        Which member.

    Returns
    -------
    numpy.random.Generator
        Its own generator.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.ensembles.perturbation import member_generator
    >>> root = np.random.SeedSequence(0)
    >>> bool(member_generator(root, 3).random() == member_generator(root, 3).random())
    True
    """
    return np.random.Generator(np.random.PCG64(branch(sequence, member)))


def draw_seed(rng: np.random.Generator) -> np.uint64:
    """The seed of a member's own choices, such as ties between equally good splits.

    Parameters
    ----------
    rng : numpy.random.Generator
        The member's generator, before anything else is drawn from it.

    Returns
    -------
    numpy.uint64
        The seed.
    """
    return np.uint64(rng.integers(0, 2**64 - 1, dtype=np.uint64))
