"""Boosting by filtering, over arrays: the majority of three classifiers.

If each of three classifiers errs with probability e on the samples filtered for it, their majority
errs with probability 3 e² - 2 e³, which is less than e if e is below one half. Each of the three
may itself be such a majority.

References
----------
Schapire (1990). The strength of weak learnability. Machine Learning 5(2), 197-227.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from orfeon.boosting.learners import weighted_bootstrap
from orfeon.ensembles.perturbation import member_generator
from orfeon.utils.types import Floats, Integers, Mask


def filtering_error(error: float, depth: int = 1) -> float:
    """Error of the majority of three that each err at a rate on the samples filtered for them.

    Parameters
    ----------
    error : float
        The rate of each single classifier, from 0 to 1.
    depth : int, default=1
        Number of levels: 3 to this power is the number of single classifiers.

    Returns
    -------
    float
        ``3 e² - 2 e³``, applied as often. For two classes and three rates that are equal it is
        exact; where they are at most e, and e is at most one half, it is an upper bound.

    Examples
    --------
    >>> from orfeon.boosting import filtering_error
    >>> [round(filtering_error(0.3, depth), 4) for depth in range(4)]
    [0.3, 0.216, 0.1198, 0.0396]
    """
    if not 0 <= error <= 1:
        raise ValueError(f"error={error} is not allowed: it must be a rate from 0 to 1.")
    if depth < 0:
        raise ValueError(f"depth={depth} is not allowed: it must be 0 or more.")
    for _ in range(depth):
        error = error * error * (3 - 2 * error)
    return error


def decide(votes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The majority of three, of three threes, and so on."""
    while votes.ndim > 1:
        first, second, third = votes[..., 0, :], votes[..., 1, :], votes[..., 2, :]
        votes = np.where(second == third, second, first)
    return votes


# -- where samples come from ----------------------------------------------------------------------


class Source(Protocol):
    """Supplies the training samples of a classifier."""

    def parts(self) -> tuple[Source, Source, Source]:
        """The sources of the three classifiers, before filtering."""

    def half(self, wrong: Mask) -> Source | None:
        """Equal weights of wrong and correct samples; None if none is wrong."""

    def only(self, chosen: Mask) -> Source | None:
        """The chosen samples only; None if there are none."""

    def sample(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Counts or weights to train with, of shape (n_rows,)."""

    def error(self, wrong: Mask) -> float:
        """Weighted share of wrong samples."""

    def __len__(self) -> int:
        """Number of different samples."""


@dataclass(frozen=True)
class Stream:
    """Samples in random order, each used once."""

    rows: Integers
    weights: npt.NDArray[Any]
    share: float = 1 / 3

    def __len__(self) -> int:
        return len(self.rows)

    def parts(self) -> tuple[Stream, Stream, Stream]:
        ends = np.cumsum(self.weights[self.rows])
        total = ends[-1]
        # A sample belongs to the part that contains its middle.
        middles = ends - self.weights[self.rows] / 2
        cuts = total * np.array([self.share, self.share + (1 - self.share) / 2])
        a, b = np.searchsorted(middles, cuts)
        a = max(int(a), 1)
        pieces = np.split(self.rows, [a, max(a, int(b))])
        one, two, three = (replace(self, rows=piece) for piece in pieces)
        return one, two, three

    def half(self, wrong: Mask) -> Stream | None:
        """The first wrong and the first correct samples, with equal weight."""
        mine = wrong[self.rows]
        if not mine.any():
            return None
        if mine.all():
            return self
        ends = [np.cumsum(self.weights[self.rows[side]]) for side in (mine, ~mine)]
        most = min(ends[0][-1], ends[1][-1])
        keep = np.zeros(len(self.rows), bool)
        for side, end in zip((mine, ~mine), ends, strict=True):
            within = end <= most
            within[0] = True
            keep[side] = within
        return replace(self, rows=self.rows[keep])

    def only(self, chosen: Mask) -> Stream | None:
        rows = self.rows[chosen[self.rows]]
        return replace(self, rows=rows) if len(rows) else None

    def sample(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        given = np.zeros_like(self.weights)
        given[self.rows] = self.weights[self.rows]
        return given

    def error(self, wrong: Mask) -> float:
        weights = self.weights[self.rows]
        return float(weights[wrong[self.rows]].sum() / weights.sum())


@dataclass(frozen=True)
class Distribution:
    """The training set as a distribution to draw from with replacement."""

    weights: Floats
    n_draws: int | None = None

    def __len__(self) -> int:
        return int(np.count_nonzero(self.weights))

    def parts(self) -> tuple[Distribution, Distribution, Distribution]:
        return self, self, self

    def half(self, wrong: Mask) -> Distribution | None:
        bad, good = self.weights[wrong].sum(), self.weights[~wrong].sum()
        if bad == 0:
            return None
        if good == 0:
            return self
        middle = (bad + good) / 2
        return replace(self, weights=self.weights * np.where(wrong, middle / bad, middle / good))

    def only(self, chosen: Mask) -> Distribution | None:
        part = np.where(chosen, self.weights, 0.0)
        if not part.any():
            return None
        return replace(self, weights=part * (self.weights.sum() / part.sum()))

    def sample(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Counts of the samples drawn, or weights; equal weights as counts."""
        if self.n_draws is not None:
            return weighted_bootstrap(self.weights, self.n_draws, rng)
        if (self.weights == self.weights[0]).all():
            return np.ones(len(self.weights), np.int64)
        return np.asarray(self.weights * (len(self.weights) / self.weights.sum()))

    def error(self, wrong: Mask) -> float:
        return float(self.weights[wrong].sum() / self.weights.sum())


# -- learning --------------------------------------------------------------------------------------


class Decided(NamedTuple):
    """Members that decide, as indices of shape (3, ..., 3), and their predicted class codes."""

    who: Integers
    votes: npt.NDArray[Any]


@dataclass
class Filtering:
    """Learns from three filtered sources, and so on down to single classifiers."""

    labels: npt.NDArray[Any]
    train: Callable[[npt.NDArray[Any], int], tuple[Any, npt.NDArray[Any]]]
    sequence: np.random.SeedSequence
    least: int = 1
    stops: Callable[[], bool] = lambda: False
    members: list[Any] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)

    def learn(self, source: Source, depth: int, number: int = 0) -> Decided:
        if depth == 0:
            return self._learn_one(source, number)
        step = 3 ** (depth - 1)
        fresh = source.parts()
        one = self.learn(fresh[0], depth - 1, number)
        second = fresh[1].half(one.votes != self.labels)
        if second is None or self._is_over(second):
            return Decided(np.stack([one.who] * 3), one.votes)
        two = self.learn(second, depth - 1, number + step)
        third = fresh[2].only(one.votes != two.votes)
        if third is None or self._is_over(third):
            return Decided(np.stack([one.who, two.who, one.who]), one.votes)
        three = self.learn(third, depth - 1, number + 2 * step)
        votes = decide(np.stack([one.votes, two.votes, three.votes]))
        return Decided(np.stack([one.who, two.who, three.who]), votes)

    def _is_over(self, source: Source) -> bool:
        return len(source) < self.least or self.stops()

    def _learn_one(self, source: Source, number: int) -> Decided:
        # A child generator: the member's own is used for its training.
        rng = member_generator(self.sequence, number).spawn(1)[0]
        given = source.sample(rng)
        member, votes = self.train(given, number)
        self.members.append(member)
        self.errors.append(source.error(votes != self.labels))
        self.sizes.append(float(given.sum()))
        return Decided(np.array(len(self.members) - 1), votes)
