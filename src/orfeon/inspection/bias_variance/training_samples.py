"""Where the samples come from that an estimator is trained on again and again.

References
----------
Kohavi and Wolpert (1996). Bias plus variance decomposition for zero-one loss functions. Proceedings
of the 13th International Conference on Machine Learning, 275-283.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import floor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from orfeon.inspection.bias_variance.repeated_trainings import Seeds, whole_number
from orfeon.utils.scikit_learn import _safe_indexing

Sampling = Literal["fresh", "subsample", "bootstrap"]
Rows = tuple[Any, npt.NDArray[Any]]

#: Samples of a training sample and of the test set of a problem, unless told otherwise.
_N_TRAIN, _N_TEST = 300, 1000


class TrainingSamples(ABC):
    """Where training samples come from, and the test set that goes with them."""

    sampling: Sampling
    n_train: int
    n_test: int

    @abstractmethod
    def test_set(self) -> Rows:
        """The samples that predictions are made for; the same each time."""

    @abstractmethod
    def draw(self, seed: int) -> Rows:
        """A training sample."""


class FreshSamples(TrainingSamples):
    """Samples of a problem that can be sampled at will."""

    sampling: Sampling = "fresh"

    def __init__(self, problem: Any, n_train: int, n_test: int, seeds: Seeds) -> None:
        self.problem = problem
        self.n_train, self.n_test = n_train, n_test
        self._test_seed = seeds.of_test_set()

    def test_set(self) -> Rows:
        """The samples that predictions are made for: one more sample of the problem."""
        return self._sample(self.n_test, self._test_seed)

    def draw(self, seed: int) -> Rows:
        """A training sample."""
        return self._sample(self.n_train, seed)

    def _sample(self, n_samples: int, seed: int) -> Rows:
        sample = getattr(self.problem, "sample", self.problem)
        X, y = sample(n_samples, random_state=seed)
        return X, np.asarray(y)


class DataSetSamples(TrainingSamples):
    """Samples of a data set, part of which is set aside as the test set."""

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
        """The samples that are set aside."""
        return self._take(self._test)

    def draw(self, seed: int) -> Rows:
        """A training sample of the pool."""
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
    """Find out where training samples are to come from."""
    if sampling not in (None, "fresh", "subsample", "bootstrap"):
        raise ValueError(
            f'sampling={sampling!r} is not allowed; use "fresh", "subsample" or "bootstrap".'
        )
    # A data frame has sample, too, and gives something else.
    is_problem = hasattr(data, "sample") and hasattr(data, "predict")
    if isinstance(data, str | type) or data is None:
        raise TypeError(
            f"data={data!r} is not allowed: it is a problem such as TwoNorm(), a function that "
            "gives samples, or the samples of a data set, with y."
        )
    if is_problem or callable(data):
        if y is not None:
            raise ValueError(
                f"y is given, and data={data!r} is no data set: it is sampled at will, and has "
                "labels or targets of its own."
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
            'sampling="fresh" needs a problem that can be sampled at will; a data set has '
            '"subsample" and "bootstrap".'
        )
    return _of_data_set(
        data, y, "subsample" if sampling is None else sampling, n_train, n_test, seeds
    )


def _of_data_set(
    X: Any, y: Any, sampling: Sampling, n_train: float | None, n_test: float | None, seeds: Seeds
) -> DataSetSamples:
    """Samples of a data set, of the sizes that are asked for or usual."""
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
    """The labels, as far as they are known before any training."""
    if y is not None:
        return np.unique(np.asarray(y))
    n_classes = getattr(data, "n_classes", None)
    return np.unique(y_test) if n_classes is None else np.arange(n_classes)


def places_of_classes(some: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Places of the classes of a training sample, which need not have all of them."""
    strange = set(some.tolist()) - set(classes.tolist())
    if strange:
        raise ValueError(
            f"a training sample has the class {strange.pop()!r}, and the test set only "
            f"{classes.tolist()}; make n_test larger."
        )
    return np.searchsorted(classes, some).astype(np.int64)


def _share_of(name: str, value: Any, whole: int, most: int | None) -> int:
    """A number of samples: whole, or as a share of those there are."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
    elif 0.0 < value <= 1.0 and not isinstance(value, bool):
        number = max(1, floor(value * whole + 0.5))
    else:
        number = 0
    if number < 1 or (most is not None and number > most):
        limit = "" if most is None else f" and no more than {most}"
        raise ValueError(
            f"{name}={value!r} is not allowed: it is a whole number, 1 or more{limit}, or a share "
            f"of the {whole} samples that there are."
        )
    return number
