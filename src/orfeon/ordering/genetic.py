"""Genetic search: subsets of the members evolve as strings of bits.

Each string has a bit for every member: whether it is in the subset. Fitter strings have more
children. Children mix the bits of two parents, and sometimes a bit flips.

References
----------
Goldberg (1989). Genetic algorithms in search, optimization and machine learning. Addison-Wesley.
Martínez-Muñoz, Hernández-Lobato and Suárez (2009). An analysis of ensemble pruning techniques based
on ordered aggregation. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
245-259.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from orfeon.members.vote_input import (
    Source,
    is_deprecated_matrix,
    read_ensemble,
    read_votes,
    without_vote_options,
)
from orfeon.members.votes import Selection
from orfeon.ordering.contests import Contests, check_equal_votes, find_contests
from orfeon.ordering.reduce_error import ReduceError
from orfeon.ordering.rule import documented
from orfeon.utils.progress import ProgressBar
from orfeon.utils.seeding import RandomState, seed_sequence
from orfeon.utils.types import Floats, Integers, Mask

#: Copies of the fittest string that survive unchanged.
_ELITE = 2
#: Strings of the start that the reduce-error solution replaces.
_SEED_COPIES = 2
#: Leads computed at once, to limit memory.
_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class GeneticHistory:
    """How a population evolved: one value for the start and for each generation after it."""

    best_fitness: Floats
    mean_fitness: Floats
    best_error: Floats
    mean_error: Floats


@dataclass(frozen=True, eq=False)
class GeneticSearch:
    """The fittest subset that a genetic search found.

    Parameters
    ----------
    subset : ndarray of shape (n_kept,)
        Its members, in ascending order.
    error : float
        Error of its vote on the selection samples.
    fitness : float
        Its fitness.
    history : GeneticHistory
        How the population evolved.

    Examples
    --------
    >>> from orfeon.ordering import search_genetic_votes
    >>> votes, y = [[0, 0, 1], [0, 1, 0], [1, 0, 0]], [0, 0, 0]
    >>> search = search_genetic_votes(votes, y, n_generations=10, random_state=0)
    >>> search.subset, search.error, search.fitness
    (array([0, 1, 2]), 0.0, 1.0)
    """

    subset: Integers
    error: float
    fitness: float
    history: GeneticHistory


@documented
def search_genetic(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    no_vote: Any = None,
    population_size: int = 200,
    n_generations: int = 200,
    crossover: float = 0.65,
    mutation: float = 0.005,
    seeded: bool = False,
    start: Literal["diagonal", "random"] = "diagonal",
    random_state: RandomState = None,
    verbose: int | bool = 0,
) -> GeneticSearch:
    """Search for a subset of the members whose vote has a low error, by a genetic algorithm.

    The fitness of a string of T bits is ``1 / (1 + error + zeros / (2 T N))``, where the error is
    the share of the N selection samples on which the vote of its members is wrong, and zeros
    counts the members left out. All zeros together weigh half a sample, so they only decide
    between subsets of equal error: the larger one is fitter. The empty string has error 1.

    Parents are drawn with probabilities proportional to their fitness. Two parents have two
    children, which share out the parents' bits at random (uniform crossover) or are copies; then
    each bit may flip. The children replace the population, except for two copies of its fittest
    string, the first of equally fit ones.

    Parameters
    ----------
    <ensemble>
    X : array or data frame of shape (n_samples, n_features)
        The selection samples.
    y : array of shape (n_samples,)
        Their labels.
    <sample_weight>
        N is then their sum, or the number of samples where that is more.
    no_vote : optional
        Deprecated, for :func:`search_genetic_votes`.
    population_size : int, default=200
        Number of strings.
    n_generations : int, default=200
        How often the population is replaced.
    crossover : float, default=0.65
        Probability that two parents mix their bits.
    mutation : float, default=0.005
        Probability that a bit flips.
    seeded : bool, default=False
        Whether two copies of the reduce-error solution replace the last two strings of the start:
        as many first members of the reduce-error order as have the lowest error, the larger number
        if tied.
    start : {"diagonal", "random"}, default="diagonal"
        The first strings. ``"diagonal"``: string i has member i only. With more strings than
        members it starts again with the first member; with more members than strings the remaining
        members are added from the first string on, so that each is in some string. ``"random"``:
        each bit at random.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random choices.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Returns
    -------
    GeneticSearch
        The fittest subset, which is at least as fit as any string of the start.

    See Also
    --------
    search_genetic_votes : The same from a matrix of votes.
    search_exhaustive : Tries all subsets of a few tens of members.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.ordering import search_genetic
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0).fit(X, y)
    >>> search = search_genetic(bag, X, y, n_generations=50, random_state=0)
    >>> search.history.best_error[[0, 10, 50]].round(3)
    array([0.063, 0.047, 0.033])
    """
    options: dict[str, Any] = {
        "population_size": population_size, "n_generations": n_generations, "crossover": crossover,
        "mutation": mutation, "seeded": seeded, "start": start, "random_state": random_state,
        "verbose": verbose,
    }  # fmt: skip
    if is_deprecated_matrix(ensemble, X, "search_genetic"):
        return search_genetic_votes(
            ensemble, y, sample_weight=sample_weight, no_vote=no_vote, **options
        )
    without_vote_options({"no_vote": no_vote}, "search_genetic_votes")
    return _search(read_ensemble(ensemble, X, y, sample_weight), **options)


@documented
def search_genetic_votes(
    votes: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    no_vote: Any = None,
    population_size: int = 200,
    n_generations: int = 200,
    crossover: float = 0.65,
    mutation: float = 0.005,
    seeded: bool = False,
    start: Literal["diagonal", "random"] = "diagonal",
    random_state: RandomState = None,
    verbose: int | bool = 0,
) -> GeneticSearch:
    """Search the subsets of the members of a matrix of votes by a genetic algorithm.

    Parameters
    ----------
    <votes>
    <y_of_votes>
    <sample_weight>
    <no_vote>
        A subset is wrong on a sample where none of its members votes.
    population_size, n_generations, crossover, mutation, seeded, start, random_state, verbose
        As for :func:`search_genetic`.

    Returns
    -------
    GeneticSearch
        The fittest subset, which is at least as fit as any string of the start.

    Examples
    --------
    >>> from orfeon.ordering import search_genetic_votes
    >>> votes = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    >>> search_genetic_votes(votes, [0, 0, 0], n_generations=10, random_state=0).subset
    array([0, 1, 2])
    """
    return _search(
        read_votes(votes, y, sample_weight, no_vote=no_vote),
        population_size=population_size, n_generations=n_generations, crossover=crossover,
        mutation=mutation, seeded=seeded, start=start, random_state=random_state, verbose=verbose,
    )  # fmt: skip


def _search(
    source: Source,
    *,
    population_size: int,
    n_generations: int,
    crossover: float,
    mutation: float,
    seeded: bool,
    start: str,
    random_state: RandomState,
    verbose: int | bool,
) -> GeneticSearch:
    check_number("population_size", population_size, _ELITE + 1)
    check_number("n_generations", n_generations, 1)
    check_probability("crossover", crossover)
    check_probability("mutation", mutation)
    if start not in ("diagonal", "random"):
        raise ValueError(f'start={start!r} is not allowed; use "diagonal" or "random".')
    if not isinstance(seeded, bool | np.bool_):
        raise ValueError(f"seeded={seeded!r} is not allowed; use True or False.")
    selection = check_equal_votes(source.selection)
    scorer = _Fitness(find_contests(selection), _n_equal(selection))
    rng = np.random.Generator(np.random.PCG64(seed_sequence(random_state)))
    strings = _first(start, population_size, selection.n_members, rng)
    if seeded:
        strings[-_SEED_COPIES:] = _reduce_error_solution(selection, scorer)
    evolution = _Evolution(scorer, strings)
    bar = ProgressBar(n_generations, verbose=verbose, label="Genetic search")
    # The products are small: threads would spend more time waiting than working.
    with bar, threadpool_limits(limits=1, user_api="blas"):
        for _ in range(n_generations):
            evolution.replace(bred(evolution, population_size, crossover, mutation, rng))
            bar.update(1)
    return evolution.result()


def check_number(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name}={value!r} is not allowed; it must be a whole number, {least} or more."
        )


def check_probability(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name}={value!r} is not allowed; it must be a probability, from 0 to 1.")


def _n_equal(selection: Selection) -> float:
    """The N of the fitness: as many samples of weight 1 weigh as much as the selection."""
    # If weights sum to 1, for example, a zero must not outweigh a sample.
    return max(selection.total_weight * selection.step, float(selection.n_samples))


class _Fitness:
    """Errors and fitness of strings."""

    def __init__(self, contests: Contests, n_samples: float) -> None:
        self._contests = contests
        # Sums of few ones are exact in single precision, in any order.
        self._signs = contests.signs.astype(np.float32)
        self._zero = 1.0 / (2.0 * contests.n_members * n_samples)

    def errors(self, strings: Mask) -> Floats:
        """Share of the weight on which the vote of each string's members is wrong."""
        total = self._contests.total_weight
        size = max(1, _ENTRIES // max(1, self._signs.shape[1]))
        blocks = [strings[i : i + size] for i in range(0, len(strings), size)]
        right = np.concatenate([self._right(block) for block in blocks])
        return np.asarray((total - right) / total)

    def _right(self, strings: Mask) -> Integers:
        """Weight of the samples on which the vote is right."""
        contests = self._contests
        wins = strings.astype(np.float32) @ self._signs >= contests.needed
        won = np.ones((len(strings), len(contests.weights)), bool)
        for here in contests.rounds:
            won[:, : here.stop - here.start] &= wins[:, here]
        right = contests.always_right + won @ contests.weights
        return np.where(strings.any(axis=1), right, 0)

    def fitness(self, strings: Mask, errors: Floats) -> Floats:
        """Fitness of strings whose errors are known."""
        zeros = strings.shape[1] - strings.sum(axis=1)
        return np.asarray(1.0 / (1.0 + errors + zeros * self._zero))


class _Evolution:
    """A population, its fitness, and its history."""

    def __init__(self, scorer: _Fitness, strings: Mask) -> None:
        self._scorer = scorer
        self._past: list[tuple[float, float, float, float]] = []
        self.replace(strings)

    def replace(self, strings: Mask) -> None:
        """Replace the population, and record its fitness."""
        self.strings = strings
        errors = self._scorer.errors(strings)
        self.fitness = self._scorer.fitness(strings, errors)
        self.fittest = int(np.argmax(self.fitness))
        self._past.append(
            (
                float(self.fitness[self.fittest]),
                float(self.fitness.mean()),
                float(errors[self.fittest]),
                float(errors.mean()),
            )
        )

    def result(self) -> GeneticSearch:
        """The fittest string of the population, with the history."""
        history = GeneticHistory(*np.array(self._past).T)
        return GeneticSearch(
            subset=np.flatnonzero(self.strings[self.fittest]),
            error=float(history.best_error[-1]),
            fitness=float(history.best_fitness[-1]),
            history=history,
        )


def _first(start: str, n_strings: int, n_members: int, rng: np.random.Generator) -> Mask:
    """The strings to start from."""
    if start == "random":
        return rng.random((n_strings, n_members)) < 0.5
    strings = np.zeros((n_strings, n_members), dtype=bool)
    places = np.arange(max(n_strings, n_members))
    strings[places % n_strings, places % n_members] = True
    return strings


def _reduce_error_solution(selection: Selection, scorer: _Fitness) -> Mask:
    """The first members of the reduce-error order with the lowest error, as a string."""
    order = ReduceError().arrange(selection).order
    prefixes = np.zeros((len(order), len(order)), dtype=bool)
    prefixes[:, order] = np.tri(len(order), dtype=bool)
    errors = scorer.errors(prefixes)
    return np.asarray(prefixes[np.flatnonzero(errors == errors.min())[-1]])


class Population(Protocol):
    """Strings of bits or weights, their fitness, and which is the fittest."""

    strings: npt.NDArray[Any]
    fitness: Floats
    fittest: int


def _flipped(children: npt.NDArray[Any], where: Mask, rng: np.random.Generator) -> npt.NDArray[Any]:
    return children ^ where


def bred(
    evolution: Population,
    n_strings: int,
    crossover: float,
    mutation: float,
    rng: np.random.Generator,
    mutated: Callable[..., npt.NDArray[Any]] = _flipped,
) -> npt.NDArray[Any]:
    """The next population: copies of the fittest string, then children."""
    n_pairs = -(-(n_strings - _ELITE) // 2)
    wheel = np.cumsum(evolution.fitness)
    drawn = np.searchsorted(wheel, rng.random((2, n_pairs)) * wheel[-1], side="right")
    parents = evolution.strings[np.minimum(drawn, len(wheel) - 1)]  # rounding may reach the end
    n_members = parents.shape[2]
    swapped = rng.random((n_pairs, n_members)) < 0.5
    swapped &= rng.random((n_pairs, 1)) < crossover
    children = np.where(swapped, parents[::-1], parents)
    children = mutated(children, rng.random(children.shape) < mutation, rng)
    elite = np.tile(evolution.strings[evolution.fittest], (_ELITE, 1))
    return np.vstack([elite, children.reshape(-1, n_members)[: n_strings - _ELITE]])
