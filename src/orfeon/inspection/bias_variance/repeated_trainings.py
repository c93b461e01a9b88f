"""Training an estimator again and again, each time on another sample.

Each repetition has a seed of its own, so that neither the number of jobs nor that of repetitions
changes what comes out of it, and two estimators that are given the same ``random_state`` are
trained on the same samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from orfeon.growth.blocks import run_in_blocks
from orfeon.progress import ProgressBar
from orfeon.seeding import Purpose, RandomState, branch, seed_sequence

if TYPE_CHECKING:
    from orfeon.inspection.bias_variance.training_samples import TrainingSamples

Answer = TypeVar("Answer")

#: Streams of random numbers: the test set, and each repetition.
_TEST, _REPETITION = 0, 1


@dataclass(frozen=True, eq=False)
class Seeds:
    """Seeds of the test set and of each repetition.

    Parameters
    ----------
    entropy : int or sequence of int
        Of the root of all randomness.
    key : tuple of int
        Its place among others.

    Examples
    --------
    >>> from orfeon.inspection.bias_variance.repeated_trainings import Seeds
    >>> one, other = Seeds.of(0), Seeds.of(0)
    >>> one.of_repetition(3) == other.of_repetition(3) != one.of_repetition(4)
    True
    """

    entropy: Any
    key: tuple[int, ...]

    @classmethod
    def of(cls, random_state: RandomState) -> Seeds:
        """Seeds of a ``random_state``; a generator is drawn from.

        Parameters
        ----------
        random_state : int, Generator, RandomState or None
            Source of randomness.

        Returns
        -------
        Seeds
            The seeds.
        """
        root = branch(seed_sequence(random_state), Purpose.REPEATING)
        return cls(root.entropy, root.spawn_key)

    def of_test_set(self) -> int:
        """Seed of the test set.

        Returns
        -------
        int
            The seed.
        """
        return self._words(_TEST)[0]

    def of_repetition(self, repetition: int) -> tuple[int, int]:
        """Seeds of a training sample and of the estimator that is trained on it.

        Parameters
        ----------
        repetition : int
            Which, from 0.

        Returns
        -------
        tuple of (int, int)
            The two seeds.
        """
        return self._words(_REPETITION, repetition)

    def _words(self, *key: int) -> tuple[int, int]:
        sequence = np.random.SeedSequence(self.entropy, spawn_key=(*self.key, *key))
        first, second = sequence.generate_state(2)
        return int(first) % 2**31, int(second) % 2**31


def repeat_trainings(
    estimator: Any,
    samples: TrainingSamples,
    n_repetitions: int,
    ask: Callable[[Any], Answer],
    seeds: Seeds,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Answer]:
    """Train copies of an estimator, each on another sample, and ask each of them.

    Parameters
    ----------
    estimator : estimator
        Copied, never changed. Whatever ``random_state`` in it is None has a seed of its own in
        each repetition; what is set stays.
    samples : TrainingSamples
        Where the samples come from.
    n_repetitions : int
        How many.
    ask : callable
        Called with each fitted copy, perhaps in a thread.
    seeds : Seeds
        Of each repetition.
    n_jobs : int, optional
        Trainings at once, in threads unless a joblib context says otherwise.
    verbose : int, default=0
        Whether there is a bar.

    Returns
    -------
    list
        The answers, in the order of the repetitions.

    Examples
    --------
    >>> from orfeon import StumpClassifier
    >>> from orfeon.datasets import TwoNorm
    >>> from orfeon.inspection.bias_variance.repeated_trainings import Seeds, repeat_trainings
    >>> from orfeon.inspection.bias_variance.training_samples import FreshSamples
    >>> seeds = Seeds.of(0)
    >>> samples = FreshSamples(TwoNorm(), 100, 50, seeds)
    >>> X, _ = samples.test_set()
    >>> said = repeat_trainings(StumpClassifier(), samples, 3, lambda tree: tree.predict(X), seeds)
    >>> [len(labels) for labels in said]
    [50, 50, 50]
    """
    n_repetitions = whole_number("n_repetitions", n_repetitions)

    def train(block: slice) -> Answer:
        of_sample, of_estimator = seeds.of_repetition(block.start)
        X, y = samples.draw(of_sample)
        copy = clone(estimator)
        seed_unseeded(copy, of_estimator)
        return ask(copy.fit(X, y))

    label = f"Trainings of {type(estimator).__name__}"
    with ProgressBar(n_repetitions, verbose=verbose, label=label) as bar:
        return run_in_blocks(
            train, range(n_repetitions), n_jobs, bar.update if verbose else None, most=1
        )


def seed_unseeded(estimator: Any, seed: int) -> None:
    """Fix every ``random_state`` that is None, of an estimator and of those inside it.

    Parameters
    ----------
    estimator : estimator
        Changed in place.
    seed : int
        Where the seeds come from.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.inspection.bias_variance.repeated_trainings import seed_unseeded
    >>> bag = BaggingClassifier(CARTClassifier(random_state=7))
    >>> seed_unseeded(bag, 0)
    >>> bag.random_state is None, bag.estimator.random_state
    (False, 7)
    """
    given = estimator.get_params(deep=True)
    names = sorted(n for n in given if n == "random_state" or n.endswith("__random_state"))
    words = np.random.SeedSequence(seed).generate_state(len(names))
    unset = {
        name: int(word) % 2**31
        for name, word in zip(names, words, strict=True)
        if given[name] is None
    }
    estimator.set_params(**unset)


def whole_number(name: str, value: Any) -> int:
    """Refuse what is no whole number of at least 1.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : object
        What was given.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> from orfeon.inspection.bias_variance.repeated_trainings import whole_number
    >>> whole_number("n_test", 0.5)
    Traceback (most recent call last):
    ...
    ValueError: n_test=0.5 is not allowed: it is a whole number, 1 or more.
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} is not allowed: it is a whole number, 1 or more.")
    return int(value)
