"""Ensembles of balanced subsets: each member sees the whole minority and a part of the majority.

Undersampling discards most of the majority. Here the majority is divided into parts instead, one
for each member, of the size that the class ratio requires. Every member sees the chosen class
ratio, and together they see every sample.

References
----------
Chan and Stolfo (1998). Toward scalable learning with non-uniform class and cost distributions: a
case study in credit card fraud detection. Proceedings of the 4th International Conference on
Knowledge Discovery and Data Mining, 164-168.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import Importance, LeavingOut
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.voting import CLASSIFIER, VotingClassifierMixin
from orfeon.imbalance.metrics import least_weighty
from orfeon.trees import CARTClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Integers


@dataclass(frozen=True)
class Division:
    """Rows of each class, and how many of them a member sees."""

    rows: tuple[Integers, ...]
    sizes: Integers

    @property
    def n_parts(self) -> Integers:
        counts = np.array([len(rows) for rows in self.rows])
        return -(-counts // self.sizes)


def divide(samples: TrainingSet, ratio: float) -> Division:
    labels = samples.y
    rows = tuple(np.flatnonzero(labels == k) for k in range(samples.n_classes))
    counts = np.array([len(mine) for mine in rows], dtype=np.int64)
    # Equal weights are counted, so that their unit does not matter.
    weights = None if samples.are_equal else samples.weights
    mass = np.bincount(labels, weights=weights, minlength=len(rows)).astype(np.float64)
    smallest = least_weighty(mass)
    wanted = np.rint(np.minimum(ratio * mass[smallest] * (counts / mass), counts))
    sizes = np.maximum(wanted.astype(np.int64), 1)
    sizes[smallest] = counts[smallest]
    return Division(rows, sizes)


@saved.attributes(n_parts_=saved.indices, part_sizes_=saved.indices)
@documented(estimator="an unpruned :class:`orfeon.CARTClassifier`")
class BalancedSubsetsClassifier(VotingClassifierMixin, LeavingOut):
    """Vote of classifiers trained on the whole minority and on parts of the majority.

    Parameters
    ----------
    <estimator>
    n_estimators : int, optional
        Number of members. By default as many as are needed to see every sample: the size of the
        largest class divided by the size of a part, rounded up.
    ratio : float, default=1.0
        Majority samples per minority sample in each member's training set. With several classes,
        those larger than this multiple of the smallest are divided; every member sees the others
        whole.
    sampling : {"partition", "random"}, default="partition"
        Whether members get disjoint parts of the majority, or each draws its part at random without
        replacement. When all parts of a class are used up, the next member starts another random
        partition; a short last part is filled up from the start of the partition.
    <combine>
    <calibrate>
    <fitting>

    Attributes
    ----------
    n_parts_ : ndarray of shape (n_classes,)
        Number of parts of each class; 1 where every member sees all of it.
    part_sizes_ : ndarray of shape (n_classes,)
        Number of samples of each class that a member sees.
    <members>
    <classes>
    <calibrated>

    Notes
    -----
    The smallest class is the one with the lowest weight; if tied, the last in sorted order. With a
    ratio below one all other classes are divided, however small, and the minority becomes the
    majority.

    A sample of weight 2 is two samples, which may be in different parts. Fractional weights are
    passed on to the members; a class is then as large as the sum of its weights, and its parts have
    equal numbers of samples.

    There is no out-of-bag error, because every member sees the whole minority; :meth:`in_bag`
    returns which samples each member saw.

    Chan and Stolfo combine the members by another classifier. For that, use
    :class:`sklearn.ensemble.StackingClassifier` with ``cv="prefit"`` over ``estimators_``, fitted
    to samples that the members were not trained on.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from orfeon import BaggingClassifier, BalancedSubsetsClassifier
    >>> from orfeon.imbalance import geometric_mean
    >>> X, y = make_classification(4000, weights=[0.95], class_sep=0.7, random_state=0)
    >>> subsets = BalancedSubsetsClassifier(random_state=0).fit(X[:2000], y[:2000])
    >>> len(subsets), subsets.part_sizes_
    (18, array([106, 106]))
    >>> bag = BaggingClassifier(n_estimators=18, random_state=0).fit(X[:2000], y[:2000])
    >>> [round(geometric_mean(y[2000:], e.predict(X[2000:])), 2) for e in (bag, subsets)]
    [0.49, 0.75]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **CLASSIFIER,
        "n_estimators": [*ENSEMBLE["n_estimators"], None],
        "ratio": [Interval(Real, 0.0, None, closed="neither")],
        "sampling": [StrOptions({"partition", "random"})],
    }

    _draws_by: ClassVar[tuple[str, ...]] = ("ratio", "sampling")

    # Every member sees the whole minority, so there are no out-of-bag estimates.
    oob_score = False
    importance: Importance = "impurity"

    estimator: Any
    n_parts_: Integers
    part_sizes_: Integers

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | None = None,
        *,
        ratio: float = 1.0,
        sampling: Literal["partition", "random"] = "partition",
        combine: Combine = "majority",
        calibrate: Method | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators  # type: ignore[assignment]
        self.ratio = ratio
        self.sampling = sampling
        self.combine = combine
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)

    @property
    def _n_members(self) -> int:
        n_members: int | None = self.n_estimators
        return int(self.n_parts_.max()) if n_members is None else int(n_members)

    def _read_all(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        samples = super()._read_all(X, y, sample_weight, reset=reset)
        self._division = divide(samples, self.ratio)
        self.n_parts_, self.part_sizes_ = self._division.n_parts, self._division.sizes
        return samples

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        self._orders: dict[int, tuple[int, Integers]] = {}

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        counts = np.zeros(len(samples), np.int64)
        for label, (rows, size) in enumerate(
            zip(self._division.rows, self._division.sizes, strict=True)
        ):
            if size == len(rows):
                counts[rows] = 1
            elif self.sampling == "random":
                counts[rng.choice(rows, size, replace=False)] = 1
            else:
                counts[self._part(label, member)] = 1
        return Perturbation(weights=counts if samples.are_equal else counts * samples.weights)

    def _part(self, label: int, member: int) -> Integers:
        """Rows of a class that a member sees; all members use the same partitions."""
        rows, size = self._division.rows[label], int(self._division.sizes[label])
        partition, part = divmod(member, int(self.n_parts_[label]))
        kept = self._orders.get(label)
        if kept is None or kept[0] != partition:
            sequence = branch(self._sequence, Purpose.PARTING_CLASSES, label, partition)
            # Members come in order, so one partition per class is worth keeping.
            kept = partition, np.random.default_rng(sequence).permutation(rows)
            self._orders[label] = kept
        # The last part wraps around to the start.
        return np.take(kept[1], np.arange(part * size, (part + 1) * size), mode="wrap")

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        super()._finish(samples, seen)
        del self._orders, self._division
