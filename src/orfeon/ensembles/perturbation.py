"""Perturbations: the change of the training set for each member that defines a method.

A perturbation is drawn from the member's own random generator, over samples in an order that
depends on their content alone (:meth:`orfeon.data.training_set.TrainingSet.in_canonical_order`).
So the model does not depend on the order of the rows, on the number of threads, or on whether a
sample of weight 2 was given as two copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.training_set import TrainingSet
from orfeon.utils.seeding import branch
from orfeon.utils.types import Integers


@dataclass(frozen=True)
class Perturbation:
    """What one member is trained on; None leaves the training set as it is."""

    weights: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None
    features: npt.NDArray[np.int64] | None = None
    halves: npt.NDArray[np.uint8] | None = None


def member_generator(sequence: np.random.SeedSequence, member: int) -> np.random.Generator:
    """The random generator of one member; it does not depend on when or where it is trained."""
    return np.random.Generator(np.random.PCG64(branch(sequence, member)))


def draw_seed(rng: np.random.Generator) -> np.uint64:
    """The seed of a member's own choices, such as ties between equally good splits."""
    return np.uint64(rng.integers(0, 2**64 - 1, dtype=np.uint64))


def sample_size(max_samples: float | None, n_samples: int, name: str = "max_samples") -> int:
    if max_samples is None:
        return n_samples
    if isinstance(max_samples, int | np.integer):
        if max_samples > n_samples:
            raise ValueError(
                f"{name}={max_samples} is more than the {n_samples} training samples; give at "
                "most that many, or a share up to 1.0."
            )
        return int(max_samples)
    return max(1, round(max_samples * n_samples))


def draw_with_replacement(samples: TrainingSet, rng: np.random.Generator, n_drawn: int) -> Integers:
    """A bootstrap sample: how often each sample was drawn."""
    place = rng.random(n_drawn)
    if samples.are_equal:
        rows = (place * len(samples)).astype(np.int64)
    else:
        rows = np.searchsorted(samples.cumulative, place * samples.cumulative[-1], side="right")
    counts = np.bincount(rows, minlength=len(samples))
    if len(counts) > len(samples):  # a position just below the end was rounded up to it
        counts[-2] += counts[-1]
        counts = counts[:-1]
    return counts


def draw_without_replacement(
    samples: TrainingSet, rng: np.random.Generator, n_drawn: int
) -> Integers:
    """A subsample: ones for the samples drawn, zeros for the others."""
    present = samples.weights > 0
    n_drawn = min(n_drawn, int(present.sum()))
    waiting = np.full(len(samples), np.inf)
    np.divide(rng.standard_exponential(len(samples)), samples.weights, out=waiting, where=present)
    counts = np.zeros(len(samples), np.int64)
    counts[np.argpartition(waiting, n_drawn - 1)[:n_drawn]] = 1
    return counts


def deal_balanced(
    samples: TrainingSet, rng: np.random.Generator, n_members: int, n_drawn: int
) -> npt.NDArray[np.uint32]:
    """Balanced bootstrap samples: over all members, every sample is drawn equally often.

    Enough copies of all the samples are concatenated, shuffled and dealt out
    (Davison, Hinkley and Schechtman 1986; for bagging Christensen 2003).
    """
    n_rows, n_cards = len(samples), n_members * n_drawn
    if samples.are_equal:
        decks, rest = divmod(n_cards, n_rows)
        copies = np.full(n_rows, decks)
        copies[rng.permutation(n_rows)[:rest]] += 1
    else:
        # Evenly spaced positions along the cumulative weights, from a random start.
        ends = samples.cumulative / samples.cumulative[-1] * n_cards
        ends[-1] = n_cards
        copies = np.diff(np.floor(ends + rng.random()), prepend=0.0).astype(np.int64)
        copies[-1] += n_cards - copies.sum()
    cards = np.repeat(np.arange(n_rows, dtype=np.uint32), copies)
    rng.shuffle(cards)
    dealt = cards.reshape(n_members, n_drawn)
    return np.stack([np.bincount(hand, minlength=n_rows).astype(np.uint32) for hand in dealt])
