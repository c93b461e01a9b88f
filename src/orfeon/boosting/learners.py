"""Training one member of a boosted ensemble, with weights or on a weighted bootstrap sample."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import class_factors
from orfeon.boosting.loop import Learner, MemberOutput
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import seed_estimator
from orfeon.ensembles.perturbation import draw_seed
from orfeon.forest import Forest
from orfeon.growth import split_halves
from orfeon.growth.reweighted import ReweightedTrees
from orfeon.members.members import EstimatorMembers
from orfeon.trees.base import BaseTree, MemberSamples
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.utils.jit import kernel_view
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.types import Floats, Mask

Sampling = Literal["weights", "resample"]

#: Maximum number of redraws if a sample has one class only.
_REDRAWS = 100


@runtime_checkable
class ProvidesLearner(Protocol):
    """A base learner with a faster way to train members than fitting clones."""

    def _boosting_learner(
        self, samples: TrainingSet, sampling: Sampling, classes: npt.NDArray[Any]
    ) -> Learner: ...


def weighted_bootstrap(
    weights: Floats, n_draws: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw with replacement in proportion to the weights, and return counts."""
    cumulative = np.cumsum(weights)
    # Rounding could draw beyond the last sample of positive weight.
    points = rng.random(n_draws) * cumulative[-1]
    drawn = np.searchsorted(cumulative, points, side="right")
    last = int(np.flatnonzero(weights)[-1])
    return np.bincount(np.minimum(drawn, last), minlength=len(weights))


def draw_sample(
    weights: Floats,
    labels: npt.NDArray[Any],
    n_classes: int,
    rng: np.random.Generator,
    n_draws: int | None = None,
) -> npt.NDArray[np.int64]:
    """A weighted bootstrap sample, with at least two classes if possible."""
    n_draws = len(weights) if n_draws is None else n_draws
    counts = weighted_bootstrap(weights, n_draws, rng)
    for _ in range(_REDRAWS if n_classes > 1 else 0):
        drawn = labels[counts > 0]
        if (drawn != drawn[0]).any():
            break
        counts = weighted_bootstrap(weights, n_draws, rng)
    return counts


def with_target(data: TrainingSet, y: npt.NDArray[Any], n_classes: int) -> TrainingSet:
    """The same training set with another target, sharing the presorted table."""
    other = replace(data, y=y, n_classes=n_classes, class_factors=None)
    other.__dict__["table"] = data.table
    return other


@dataclass(frozen=True)
class TreeLearner:
    """Grows trees from a table that is sorted once."""

    base: BaseTree
    data: TrainingSet
    sampling: Sampling = "weights"
    classes: npt.NDArray[Any] | None = None
    #: Which samples the last member was trained on, if they were drawn.
    drawn: list[Mask] = field(default_factory=list)

    def train(
        self,
        weights: Floats,
        labels: npt.NDArray[Any],
        rng: np.random.Generator,
        n_present: int | None = None,
    ) -> Forest:
        seed = np.uint64(rng.bit_generator.random_raw())
        n_samples = float(len(weights) if n_present is None else n_present)
        given: npt.NDArray[Any]
        if self.sampling == "resample":
            given = draw_sample(weights, labels, self.data.n_classes, rng, int(n_samples))
            self.drawn[:] = [given > 0]
        elif (weights == weights[0]).all():  # integers are fastest
            given = np.ones(len(weights), np.int64)
        else:
            given = weights * (n_samples / weights.sum())
        rule = getattr(self.base, "class_weight", None)
        if rule is not None:
            real = given.astype(np.float64)
            real = real * class_factors(rule, self._classes(), labels, real)[labels]
            given = real * (n_samples / real.sum())
        if self._regrown is not None and n_present is None:
            return self._regrown.grow(labels, given, seed)
        halves = None
        if isinstance(self.base, IGPTreeClassifier):
            halves = split_halves(labels, rng, given)[None]
        samples = MemberSamples(
            np.array([seed], dtype=np.uint64), given[None], labels[None], n_samples,
            weighs_classes=rule is not None, halves=halves,
        )  # fmt: skip
        return self.base._grow(self.data, samples)[0]

    @cached_property
    def _regrown(self) -> ReweightedTrees | None:
        """Faster growth for unpruned classification trees; None for others."""
        growth = self.base._plain_growth(self.data, float(len(self.data.y)))
        if growth is None or self.data.n_classes == 0:
            return None
        return ReweightedTrees(self.data.table, self.data.n_classes, growth)

    def _classes(self) -> npt.NDArray[Any]:
        return np.arange(self.data.n_classes) if self.classes is None else self.classes

    def predict_train(self, member: Forest, what: MemberOutput) -> npt.NDArray[Any]:
        if what == "supports":
            return np.asarray(member.supports(self.data.X)[0])
        if what == "votes" and self._regrown is not None and self._is_plain:
            return self._regrown.votes(member, self._rows)
        return member.predict(self.data.X)

    @cached_property
    def _rows(self) -> Floats:
        return kernel_view(np.ascontiguousarray(self.data.X))

    @cached_property
    def _is_plain(self) -> bool:
        """Whether all features are ordered, and nothing is missing or sparse."""
        if issparse(self.data.X) or not self.data.schema.all_ordered:
            return False
        return not bool(np.isnan(self.data.X).any())


@dataclass(frozen=True)
class EstimatorLearner:
    """Fits any scikit-learn estimator."""

    base: Any
    X: Any
    n_classes: int
    sampling: Sampling = "weights"
    #: Which samples the last member was trained on, if they were drawn.
    drawn: list[Mask] = field(default_factory=list)

    def train(
        self,
        weights: Floats,
        labels: npt.NDArray[Any],
        rng: np.random.Generator,
        n_present: int | None = None,
    ) -> EstimatorMembers:
        estimator = clone(self.base)
        seed_estimator(estimator, int(draw_seed(rng)))
        if self.sampling == "weights" and has_fit_parameter(estimator, "sample_weight"):
            rows = np.flatnonzero(weights)
            present = weights[rows]
            given = present * (len(present) / present.sum())
            estimator.fit(self._take(rows), labels[rows], sample_weight=given)
        else:
            counts = draw_sample(weights, labels, self.n_classes, rng, n_present)
            self.drawn[:] = [counts > 0]
            rows = np.repeat(np.arange(len(labels)), counts)
            estimator.fit(self._take(rows), labels[rows])
        return EstimatorMembers([estimator], self.n_classes)

    def _take(self, rows: npt.NDArray[np.int64]) -> Any:
        n_rows = self.X.shape[0]
        if len(rows) == n_rows and np.array_equal(rows, np.arange(n_rows)):
            return self.X
        return _safe_indexing(self.X, rows)

    def predict_train(self, member: EstimatorMembers, what: MemberOutput) -> npt.NDArray[Any]:
        if what == "votes":
            return np.asarray(member.votes(self.X)[0])
        answers = member.supports(self.X)[0]
        return np.asarray(answers[:, 0] if what == "predictions" else answers)


def binary_learner(
    base: Any, samples: TrainingSet, sampling: Sampling
) -> TreeLearner | EstimatorLearner:
    """Learner for members that separate two groups of classes."""
    if isinstance(getattr(base, "class_weight", None), dict):
        raise ValueError(
            f"estimator has class_weight={base.class_weight}, but it is trained on two groups of "
            'classes, not on the classes; use class_weight="balanced", or pass sample_weight to '
            "fit."
        )
    if not isinstance(base, BaseTree):
        return EstimatorLearner(base, samples.X, 2, sampling)
    base._prepare(samples)
    binary = with_target(samples, (samples.y > 0).astype(np.int64), 2)
    return TreeLearner(base, binary, sampling, np.array([0, 1]))
