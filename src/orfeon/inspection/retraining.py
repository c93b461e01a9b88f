"""Training again and again, each time on another sample of a problem or of a data set.

Each repetition has its own seed, so neither the number of jobs nor that of repetitions changes its
result, and two estimators with the same ``random_state`` are trained on the same samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from orfeon.growth.blocks import run_in_blocks
from orfeon.utils.progress import ProgressBar
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.seeding import Purpose, RandomState, branch, seed_sequence

Sampling = Literal["fresh", "subsample", "bootstrap"]
Rows = tuple[Any, npt.NDArray[Any]]
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
        root = branch(seed_sequence(random_state), Purpose.REPEATING)
        return cls(root.entropy, root.spawn_key)

    def of_test_set(self) -> int:
        return self._words(_TEST)[0]

    def of_repetition(self, repetition: int) -> tuple[int, int]:
        """Seeds of a training sample and of the estimator that is trained on it."""
        return self._words(_REPETITION, repetition)

    def _words(self, *key: int) -> tuple[int, int]:
        sequence = np.random.SeedSequence(self.entropy, spawn_key=(*self.key, *key))
        first, second = sequence.generate_state(2)
        return int(first) % 2**31, int(second) % 2**31


def shared_seed(random_state: RandomState) -> int:
    """One seed for all learners, also if none was given."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(seed_sequence(random_state).generate_state(1)[0])


def repeat_trainings(
    estimator: Any,
    samples: TrainingSamples,
    n_repetitions: int,
    query: Callable[..., Answer],
    seeds: Seeds,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    with_samples: bool = False,
) -> list[Answer]:
    """Train copies of an estimator, each on another sample, and query each of them.

    With ``with_samples`` the query also gets the training sample.
    """
    n_repetitions = whole_number("n_repetitions", n_repetitions)

    def train(block: slice) -> Answer:
        of_sample, of_estimator = seeds.of_repetition(block.start)
        X, y = samples.draw(of_sample)
        copy = clone(estimator)
        seed_unseeded(copy, of_estimator)
        return query(copy.fit(X, y), *((X, y) if with_samples else ()))

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
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} is not allowed: it must be a whole number, 1 or more.")
    return int(value)


#: Default sizes of a training sample and of the test set of a problem.
_N_TRAIN, _N_TEST = 300, 1000


class TrainingSamples(ABC):
    """Where training samples come from, and the test set that goes with them."""

    sampling: Sampling
    n_train: int
    n_test: int

    @abstractmethod
    def test_set(self) -> Rows:
        """The samples to predict; the same each time."""

    @abstractmethod
    def draw(self, seed: int) -> Rows:
        """A training sample."""


class FreshSamples(TrainingSamples):
    sampling: Sampling = "fresh"

    def __init__(self, problem: Any, n_train: int, n_test: int, seeds: Seeds) -> None:
        self.problem = problem
        self.n_train, self.n_test = n_train, n_test
        self._test_seed = seeds.of_test_set()

    def test_set(self) -> Rows:
        return self._sample(self.n_test, self._test_seed)

    def draw(self, seed: int) -> Rows:
        return self._sample(self.n_train, seed)

    def _sample(self, n_samples: int, seed: int) -> Rows:
        sample = getattr(self.problem, "sample", self.problem)
        X, y = sample(n_samples, random_state=seed)
        return X, np.asarray(y)


class DataSetSamples(TrainingSamples):
    def __init__(
        self,
        X: Any,
        y: npt.NDArray[Any],
        sampling: Sampling,
        n_train: int,
        n_test: int,
        seeds: Seeds,
    ) -> None:
        self.X, self.y = X, y
        self.sampling = sampling
        self.n_train, self.n_test = n_train, n_test
        shuffled = np.random.default_rng(seeds.of_test_set()).permutation(len(y))
        self._test, self._pool = np.sort(shuffled[:n_test]), np.sort(shuffled[n_test:])

    def test_set(self) -> Rows:
        return self._take(self._test)

    def draw(self, seed: int) -> Rows:
        rng = np.random.default_rng(seed)
        with_replacement = self.sampling == "bootstrap"
        return self._take(np.sort(rng.choice(self._pool, self.n_train, replace=with_replacement)))

    def _take(self, rows: npt.NDArray[np.int64]) -> Rows:
        return _safe_indexing(self.X, rows), self.y[rows]


def read_training_samples(
    data: Any,
    y: Any,
    sampling: Sampling | None,
    n_train: float | None,
    n_test: float | None,
    seeds: Seeds,
) -> TrainingSamples:
    if sampling not in (None, "fresh", "subsample", "bootstrap"):
        raise ValueError(
            f'sampling={sampling!r} is not allowed; use "fresh", "subsample" or "bootstrap".'
        )
    # A data frame has another method called sample.
    is_problem = hasattr(data, "sample") and hasattr(data, "predict")
    if isinstance(data, str | type) or data is None:
        raise TypeError(
            f"data={data!r} is not allowed: it must be a problem such as TwoNorm(), a function "
            "that returns samples, or the samples of a data set, with y."
        )
    if is_problem or callable(data):
        if y is not None:
            raise ValueError(
                f"y is given, but data={data!r} is not a data set: it has its own labels or "
                "targets."
            )
        if sampling not in (None, "fresh"):
            raise ValueError(
                f"sampling={sampling!r} is for data sets; a problem gives fresh samples."
            )
        sizes = (
            whole_number("n_train", _N_TRAIN if n_train is None else n_train),
            whole_number("n_test", _N_TEST if n_test is None else n_test),
        )
        return FreshSamples(data, *sizes, seeds)
    if sampling == "fresh":
        raise ValueError(
            'sampling="fresh" needs a problem that can be sampled; a data set has '
            '"subsample" and "bootstrap".'
        )
    return _of_data_set(
        data, y, "subsample" if sampling is None else sampling, n_train, n_test, seeds
    )


def _of_data_set(
    X: Any, y: Any, sampling: Sampling, n_train: float | None, n_test: float | None, seeds: Seeds
) -> DataSetSamples:
    if y is None:
        raise ValueError("y is missing: a data set has labels or targets.")
    check_consistent_length(X, y)
    labels = column_or_1d(y)
    n_aside = _share_of("n_test", 1 / 3 if n_test is None else n_test, len(labels), len(labels) - 1)
    n_pool = len(labels) - n_aside
    most = n_pool if sampling == "subsample" else None
    default = 0.5 if sampling == "subsample" else n_pool
    n_drawn = _share_of("n_train", default if n_train is None else n_train, n_pool, most)
    return DataSetSamples(X, labels, sampling, n_drawn, n_aside, seeds)


def known_classes(data: Any, y: Any, y_test: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The labels, as far as they are known before training."""
    if y is not None:
        return np.unique(np.asarray(y))
    n_classes = getattr(data, "n_classes", None)
    return np.unique(y_test) if n_classes is None else np.arange(n_classes)


def places_of_classes(some: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Positions of the classes of a training sample, which need not have all of them."""
    strange = set(some.tolist()) - set(classes.tolist())
    if strange:
        raise ValueError(
            f"a training sample has the class {strange.pop()!r}, and the test set only "
            f"{classes.tolist()}; increase n_test."
        )
    return np.searchsorted(classes, some).astype(np.int64)


def _share_of(name: str, value: Any, whole: int, most: int | None) -> int:
    """A number of samples: whole, or as a share of all."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
    elif 0.0 < value <= 1.0 and not isinstance(value, bool):
        number = max(1, floor(value * whole + 0.5))
    else:
        number = 0
    if number < 1 or (most is not None and number > most):
        limit = "" if most is None else f" and no more than {most}"
        raise ValueError(
            f"{name}={value!r} is not allowed: it must be a whole number, 1 or more{limit}, or a "
            f"share of the {whole} samples."
        )
    return number
