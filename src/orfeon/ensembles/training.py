"""Training a block of members: trees all at once through the engine, others one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import class_factors
from orfeon.data.training_set import TrainingSet, rows_with_copies
from orfeon.ensembles.perturbation import Perturbation, draw_seed, member_generator
from orfeon.growth import split_halves
from orfeon.members.members import EstimatorMembers
from orfeon.trees.base import BaseTree, MemberSamples
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.types import Floats

Perturb = Callable[[TrainingSet, np.random.Generator, int], Perturbation]


class Trained(NamedTuple):
    """A block of trained members, and which samples each of them saw, where that is asked for."""

    members: Any
    seen: npt.NDArray[np.bool_] | None


@dataclass(frozen=True)
class Recipe:
    """What all members of an ensemble are trained from."""

    samples: TrainingSet
    perturb: Perturb
    sequence: np.random.SeedSequence
    keep_seen: bool

    def draw(self, block: slice) -> tuple[list[np.random.Generator], list[Any], list[Perturbation]]:
        """Generators, seeds and perturbations of some members."""
        members = range(block.start, block.stop)
        generators = [member_generator(self.sequence, t) for t in members]
        seeds = [draw_seed(rng) for rng in generators]
        drawn = [
            self.perturb(self.samples, rng, t) for rng, t in zip(generators, members, strict=True)
        ]
        return generators, seeds, drawn

    def seen(self, drawn: list[Perturbation]) -> npt.NDArray[np.bool_] | None:
        """Which samples some members see, of shape (n_members, n_rows)."""
        if not self.keep_seen:
            return None
        everything = np.ones(len(self.samples), dtype=bool)
        return np.stack([everything if p.weights is None else p.weights > 0 for p in drawn])


@dataclass(frozen=True)
class TreeTraining:
    """Grows blocks of trees."""

    base: BaseTree
    recipe: Recipe
    classes: npt.NDArray[Any]

    def __call__(self, block: slice) -> Trained:
        """Grow the trees of a block."""
        generators, seeds, drawn = self.recipe.draw(block)
        forest, _ = self.base._grow(self.recipe.samples, self._samples(generators, seeds, drawn))
        return Trained(forest, self.recipe.seen(drawn))

    def _samples(
        self,
        generators: list[np.random.Generator],
        seeds: list[Any],
        drawn: list[Perturbation],
    ) -> MemberSamples:
        samples = self.recipe.samples
        labels = _stack([p.labels for p in drawn], samples.y)
        # Without weights all samples count once, in integers, which the engine likes best.
        once = np.ones(len(samples), np.int64) if samples.are_equal else samples.weights
        weights = _stack([p.weights for p in drawn], once)
        whole = np.issubdtype(weights.dtype, np.integer)
        n_samples = float(weights[0].sum()) if whole else float(len(samples))
        rule = getattr(self.base, "class_weight", None)
        if rule is not None:
            weights = self._weigh_classes(weights, labels, n_samples, rule)
        halves = None
        if isinstance(self.base, IGPTreeClassifier):
            halves = np.stack(
                [
                    split_halves(samples.y, rng, p.weights) if p.halves is None else p.halves
                    for rng, p in zip(generators, drawn, strict=True)
                ]
            )
        return MemberSamples(
            np.array(seeds, dtype=np.uint64),
            weights,
            labels,
            n_samples,
            weighs_classes=rule is not None,
            candidates=_rows([p.features for p in drawn]),
            halves=halves,
        )

    def _weigh_classes(
        self, weights: npt.NDArray[Any], labels: npt.NDArray[Any], n_samples: float, rule: Any
    ) -> Floats:
        """Multiply weights as the base's own rule for classes says, in each member's sample."""
        n_members = max(len(weights), len(labels))
        weighted = np.empty((n_members, weights.shape[1]))
        for t in range(n_members):
            w = weights[t if len(weights) > 1 else 0].astype(np.float64)
            codes = labels[t if len(labels) > 1 else 0]
            w = w * class_factors(rule, self.classes, codes, w)[codes]
            weighted[t] = w * (n_samples / w.sum())
        return weighted


def _stack(rows: list[Any], default: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One row for each member, or one for all when none has its own."""
    return default[None] if rows[0] is None else np.stack(rows)


def _rows(rows: list[Any]) -> npt.NDArray[np.int64] | None:
    return None if rows[0] is None else np.stack(rows).astype(np.int64)


@dataclass(frozen=True)
class EstimatorTraining:
    """Fits blocks of estimators of any kind."""

    base: Any
    recipe: Recipe

    def __call__(self, block: slice) -> Trained:
        """Fit the estimators of a block."""
        _, seeds, drawn = self.recipe.draw(block)
        fitted = [self._fit(int(s), p) for s, p in zip(seeds, drawn, strict=True)]
        features = [p.features for p in drawn]
        members = EstimatorMembers(
            fitted,
            self.recipe.samples.n_classes,
            None if features[0] is None else [np.asarray(a) for a in features],
        )
        return Trained(members, self.recipe.seen(drawn))

    def _fit(self, seed: int, perturbation: Perturbation) -> Any:
        samples = self.recipe.samples
        estimator = clone(self.base)
        seed_estimator(estimator, seed)
        labels = samples.y if perturbation.labels is None else perturbation.labels
        weights = samples.weights if perturbation.weights is None else perturbation.weights
        X = samples.X
        if perturbation.features is not None:
            X = _safe_indexing(X, perturbation.features, axis=1)
        if has_fit_parameter(estimator, "sample_weight"):
            rows = np.flatnonzero(weights)
            X, labels = _take(X, rows, len(labels)), labels[rows]
            weights = np.asarray(weights, dtype=np.float64)[rows]
            return estimator.fit(X, labels, sample_weight=weights)
        # Whole numbers are copies; the ensemble has seen to it that there is nothing else.
        rows = rows_with_copies(np.asarray(weights))
        return estimator.fit(_take(X, rows, len(labels)), labels[rows])


def _take(X: Any, rows: npt.NDArray[np.int64], n_rows: int) -> Any:
    if len(rows) == n_rows and np.array_equal(rows, np.arange(n_rows)):
        return X
    return _safe_indexing(X, rows)


def seed_estimator(estimator: Any, seed: int) -> None:
    """Fix every ``random_state`` of an estimator and of those inside it."""
    names = sorted(estimator.get_params(deep=True))
    names = [n for n in names if n == "random_state" or n.endswith("__random_state")]
    words = np.random.SeedSequence(seed).generate_state(len(names))
    estimator.set_params(**{n: int(w) % 2**31 for n, w in zip(names, words, strict=True)})


def set_nested_params(estimator: Any, **parameters: Any) -> None:
    """Set parameters of an estimator, where it has them, or else of those inside it."""
    names = estimator.get_params(deep=True)
    for wanted, value in parameters.items():
        found = [name for name in names if name.split("__")[-1] == wanted]
        depth = min((name.count("__") for name in found), default=0)
        estimator.set_params(**{name: value for name in found if name.count("__") == depth})
