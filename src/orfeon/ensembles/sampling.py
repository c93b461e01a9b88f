"""Drawing examples: with or without replacement, in proportion to their weights, or balanced."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.ensembles.perturbation import Examples

Counts = npt.NDArray[np.int64]


def sample_size(max_samples: float | None, n_examples: int, name: str = "max_samples") -> int:
    """How many examples are drawn."""
    if max_samples is None:
        return n_examples
    if isinstance(max_samples, int | np.integer):
        if max_samples > n_examples:
            raise ValueError(
                f"{name}={max_samples} is more than the {n_examples} training examples; give at "
                "most that many, or a share up to 1.0."
            )
        return int(max_samples)
    return max(1, round(max_samples * n_examples))


def draw_with_replacement(examples: Examples, rng: np.random.Generator, n_drawn: int) -> Counts:
    """A bootstrap sample: how often each example was drawn."""
    place = rng.random(n_drawn)
    if examples.are_equal:
        rows = (place * len(examples)).astype(np.int64)
    else:
        rows = np.searchsorted(examples.cumulative, place * examples.cumulative[-1], side="right")
    # A place just below the end may be rounded onto it.
    return np.bincount(np.minimum(rows, len(examples) - 1), minlength=len(examples))


def draw_without_replacement(examples: Examples, rng: np.random.Generator, n_drawn: int) -> Counts:
    """A subsample: ones for the examples drawn, zeros for the others."""
    present = examples.weights > 0
    n_drawn = min(n_drawn, int(present.sum()))
    waiting = np.full(len(examples), np.inf)
    np.divide(rng.standard_exponential(len(examples)), examples.weights, out=waiting, where=present)
    counts = np.zeros(len(examples), np.int64)
    counts[np.argpartition(waiting, n_drawn - 1)[:n_drawn]] = 1
    return counts


def deal_balanced(
    examples: Examples, rng: np.random.Generator, n_members: int, n_drawn: int
) -> npt.NDArray[np.uint32]:
    """Balanced bootstrap samples: over all of them, every example is drawn equally often.

    As many decks of all the examples as are needed are put together, shuffled and dealt out
    (Davison, Hinkley and Schechtman 1986; for bagging Christensen 2003).
    """
    n_rows, n_cards = len(examples), n_members * n_drawn
    if examples.are_equal:
        decks, rest = divmod(n_cards, n_rows)
        copies = np.full(n_rows, decks)
        copies[rng.permutation(n_rows)[:rest]] += 1
    else:
        # Evenly spaced places along the weights laid end to end, from a random start.
        ends = examples.cumulative / examples.cumulative[-1] * n_cards
        ends[-1] = n_cards
        copies = np.diff(np.floor(ends + rng.random()), prepend=0.0).astype(np.int64)
        copies[-1] += n_cards - copies.sum()
    cards = np.repeat(np.arange(n_rows, dtype=np.uint32), copies)
    rng.shuffle(cards)
    dealt = cards.reshape(n_members, n_drawn)
    return np.stack([np.bincount(hand, minlength=n_rows).astype(np.uint32) for hand in dealt])
