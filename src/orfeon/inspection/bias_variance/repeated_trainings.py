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
from orfeon.utils.progress import ProgressBar
from orfeon.utils.seeding import Purpose, RandomState, branch, seed_sequence

if TYPE_CHECKING:
    from orfeon.inspection.bias_variance.training_samples import TrainingSamples

Answer = TypeVar("Answer")

#: Streams of random numbers: the test set, and each repetition.
_TEST, _REPETITION = 0, 1


@dataclass(frozen=True, eq=False)
class Seeds:
    """Seeds of the test set and of each repetition."""

    entropy: Any
    key: tuple[int, ...]

    @classmethod
    def of(cls, random_state: RandomState) -> Seeds:
        """Seeds of a ``random_state``; a generator is drawn from."""
        root = branch(seed_sequence(random_state), Purpose.REPEATING)
        return cls(root.entropy, root.spawn_key)

    def of_test_set(self) -> int:
        """Seed of the test set."""
        return self._words(_TEST)[0]

    def of_repetition(self, repetition: int) -> tuple[int, int]:
        """Seeds of a training sample and of the estimator that is trained on it."""
        return self._words(_REPETITION, repetition)

    def _words(self, *key: int) -> tuple[int, int]:
        sequence = np.random.SeedSequence(self.entropy, spawn_key=(*self.key, *key))
        first, second = sequence.generate_state(2)
        return int(first) % 2**31, int(second) % 2**31


def repeat_trainings(
    estimator: Any,
    samples: TrainingSamples,
    n_repetitions: int,
    query: Callable[[Any], Answer],
    seeds: Seeds,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Answer]:
    """Train copies of an estimator, each on another sample, and ask each of them."""
    n_repetitions = whole_number("n_repetitions", n_repetitions)

    def train(block: slice) -> Answer:
        of_sample, of_estimator = seeds.of_repetition(block.start)
        X, y = samples.draw(of_sample)
        copy = clone(estimator)
        seed_unseeded(copy, of_estimator)
        return query(copy.fit(X, y))

    label = f"Trainings of {type(estimator).__name__}"
    with ProgressBar(n_repetitions, verbose=verbose, label=label) as bar:
        return run_in_blocks(
            train, range(n_repetitions), n_jobs, bar.update if verbose else None, most=1
        )


def seed_unseeded(estimator: Any, seed: int) -> None:
    """Fix every ``random_state`` that is None, of an estimator and of those inside it."""
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
    """Refuse what is no whole number of at least 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} is not allowed: it is a whole number, 1 or more.")
    return int(value)
