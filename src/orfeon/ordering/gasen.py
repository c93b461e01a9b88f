"""GASEN: the members' weights are evolved, and members above the mean weight are kept.

A genetic algorithm searches for the weights that minimise the error of the members' vote (or mean
prediction) on the selection samples. The weights only choose the members: those kept vote with
equal weights.

References
----------
Zhou, Wu and Tang (2002). Ensembling neural networks: many could be better than all. Artificial
Intelligence 137(1-2), 239-263.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from orfeon.members.votes import Selection
from orfeon.ordering.genetic import bred, check_number, check_probability
from orfeon.ordering.rule import Arrangement, Rule, trivial_errors
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class GASEN(Rule):
    """Members by weights that a genetic algorithm finds; those above the mean weight are kept.

    The size that the rule suggests is the number of members above the mean weight.

    Parameters
    ----------
    population_size : int, default=50
        Number of vectors of weights.
    n_generations : int, default=100
        How often the population is replaced.
    crossover : float, default=0.65
        Probability that two parents mix their weights.
    mutation : float, default=0.01
        Probability that a weight is drawn again.
    random_state : int, RandomState, Generator or None, default=0
        Seed of all random choices.

    Notes
    -----
    The first weights are uniform on [0, 1]. The fitness of a vector is one over its error plus half
    a sample. Parents are drawn in proportion to their fitness, and their weights are distributed at
    random among their children; two copies of the fittest vector survive unchanged.

    It works best with samples that the members were not trained on: ``on="out_of_bag"``, or
    ``on="validation"`` of :class:`~orfeon.PrunedClassifier`.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier, order
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 50, random_state=0).fit(X, y)
    >>> ordered = order(bag, X, y, rule="gasen", on="out_of_bag")
    >>> ordered.own_size, ordered.error_curve[[ordered.own_size - 1, -1]].round(3)
    (25, array([0.19 , 0.207]))
    """

    name: ClassVar[str] = "gasen"
    for_regression: ClassVar[bool] = True

    population_size: int = 50
    n_generations: int = 100
    crossover: float = 0.65
    mutation: float = 0.01
    random_state: Any = 0

    def __post_init__(self) -> None:
        check_number("population_size", self.population_size, 3)
        check_number("n_generations", self.n_generations, 1)
        check_probability("crossover", self.crossover)
        check_probability("mutation", self.mutation)

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is their weight; weights sum to 1."""
        rng = np.random.default_rng(seed_sequence(self.random_state))
        first = rng.random((self.population_size, selection.n_members))
        rates = self.crossover, self.mutation
        with threadpool_limits(limits=1, user_api="blas"):
            evolution = _Evolution(selection, first)
            for _ in range(self.n_generations):
                evolution.replace(bred(evolution, self.population_size, *rates, rng, _redrawn))
        weights = evolution.strings[evolution.fittest]
        total = weights.sum()
        weights = weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
        order = np.argsort(-weights, kind="stable")
        own_size = max(1, int((weights > weights.mean()).sum()))
        return Arrangement(order, weights[order], own_size=own_size)


class _Evolution:
    """A population of weights and its fitness."""

    def __init__(self, selection: Selection, strings: Floats) -> None:
        self._selection = selection
        self.replace(strings)

    def replace(self, strings: npt.NDArray[Any]) -> None:
        """Replace the population, and compute its fitness."""
        self.strings = strings
        self.fitness: Floats = fitness(self._selection, strings)
        self.fittest = int(np.argmax(self.fitness))


def fitness(selection: Selection, weights: Floats) -> Floats:
    """One over the error of each vector of weights, plus half a sample."""
    half = 0.5 / selection.n_samples
    if selection.is_regression:
        half *= float(np.average(trivial_errors(selection), weights=selection.weights))
    return np.asarray(1.0 / (weighted_errors(selection, weights) + half + np.finfo(float).tiny))


def weighted_errors(selection: Selection, weights: Floats) -> Floats:
    """Error of the members' vote, or mean squared error, with each vector of weights."""
    if selection.is_regression:
        known = selection.answered
        sums = weights @ np.where(known, selection.answers, 0.0)
        shares = weights @ known.astype(np.float64)
        losses = np.where(
            shares > 0,
            (sums / np.where(shares > 0, shares, 1.0) - selection.y) ** 2,
            trivial_errors(selection),
        )
        return np.asarray(losses @ selection.weights / selection.total_weight)
    most, decided = np.zeros((len(weights), selection.n_samples)), np.array(-1)
    for c in range(selection.n_classes):
        support = weights @ (selection.answers == c).astype(np.float64)
        decided = np.where(support > most, c, decided)
        most = np.maximum(most, support)
    return np.asarray((decided != selection.y) @ selection.weights / selection.total_weight)


def _redrawn(children: Floats, where: npt.NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    return np.where(where, rng.random(children.shape), children)
