"""The rounds of gradient tree boosting, over arrays.

A round fits one tree per score to the negative gradient of the loss, computes the leaf values that
minimise the loss, and adds them times the learning rate (Friedman 2001). Newton trees are fitted to
the first and second derivatives. Trees may see a random part of the samples (Friedman 2002) and of
the features.

Copies of a sample become one row with a weight, so that copies and weights give the same bits.
Scores are summed tree by tree in training and in prediction, so that both agree to the last bit and
a warm start equals a single run.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.

Friedman (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis 38(4),
367-378.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.boosting.losses import LARGEST_STEP, Loss
from orfeon.boosting.newton_leaves import newton_leaf_values
from orfeon.boosting.one_side_sampling import OneSide, one_side_weights
from orfeon.data.training_set import TrainingSet, are_counts, hash_rows, same_rows
from orfeon.ensembles.perturbation import member_generator
from orfeon.ensembles.subspace import draw_features
from orfeon.forest import Forest
from orfeon.growth.newton import ExactNewtonTrees, Newton, NewtonTrees, Update
from orfeon.growth.newton_vectors import VectorNewtonTrees
from orfeon.growth.residuals import ResidualTrees
from orfeon.kernels.cart import leaf_sums
from orfeon.kernels.gradient.exact_round import GIVEN
from orfeon.kernels.gradient.leaf_updates import add_values
from orfeon.utils import saved
from orfeon.utils.row_threads import PART, SMALL_PART, RowThreads
from orfeon.utils.types import Floats

_NO_WEIGHTS = np.zeros(0)
#: Rounds predicted at a time by staged methods.
_STAGED_AT_ONCE = 32
#: Copies are drawn from a list if they are at most so many times as many as the samples.
MOST_LISTED = 8
#: Rounds whose seeds are drawn at a time.
_SEEDS_AT_ONCE = 64


class Sample(NamedTuple):
    """Encoded rows, targets or class codes, weights, and the number of copies of each row."""

    X: Any  # numbers of any type and layout, or sparse rows
    y: npt.NDArray[Any]
    weights: Floats
    copies: Floats | None = None  # one each by default
    rows: npt.NDArray[np.int64] | None = None  # of X, all by default
    offsets: Floats | None = None  # added to the scores, of shape (n_scores, n_samples)

    @property
    def n_samples(self) -> int:
        """Number of samples, counting copies."""
        return len(self.y) if self.copies is None else int(self.copies.sum())

    def take(self, mask: npt.NDArray[np.bool_]) -> Sample:
        copies = None if self.copies is None else self.copies[mask]
        rows = np.flatnonzero(mask) if self.rows is None else self.rows[mask]
        offsets = None if self.offsets is None else self.offsets[:, mask]
        return Sample(self.X, self.y[mask], self.weights[mask], copies, rows, offsets)

    def encoded(self) -> Any:
        """The rows of the samples as trees take them: a copy, unless they are all of X."""
        X = self.X if self.rows is None else self.X[self.rows]
        return X if issparse(X) else np.ascontiguousarray(X, dtype=np.float64)

    def scores_from(self, start: Floats) -> Floats:
        """Scores of shape (n_scores, n_samples) before the first round."""
        scores = np.repeat(start[:, None], len(self.y), axis=1)
        return scores if self.offsets is None else scores + self.offsets

    def with_encoded_rows(self) -> Sample:
        """The same samples, their rows read once and for all."""
        return self._replace(X=self.encoded(), rows=None)


@saved.attributes(start=saved.finite_floats, forest=saved.instance("Forest"))
class AdditiveModel:
    """A constant and trees whose values are added to it."""

    def __init__(self, start: Floats, forest: Forest) -> None:
        self.start = start
        self.forest = forest

    @property
    def n_scores(self) -> int:
        return len(self.start)

    @property
    def n_trees_of_round(self) -> int:
        """One for each score, or one with the values of all."""
        return 1 if self.forest.n_outputs > 1 else self.n_scores

    @property
    def n_rounds(self) -> int:
        return len(self.forest) // self.n_trees_of_round

    def prefix(self, n_rounds: int) -> AdditiveModel:
        """The model after its first rounds."""
        if n_rounds == self.n_rounds:
            return self
        return AdditiveModel(
            self.start, self.forest.subset(np.arange(n_rounds * self.n_trees_of_round))
        )

    def scores(self, X: Any, offsets: Floats | None = None) -> Floats:
        """Scores of shape (n_rows, n_scores): the constant, then the offsets, then the trees."""
        scores = np.tile(self.start, (X.shape[0], 1))
        if offsets is not None:
            scores += offsets
        self.forest.add_predictions(X, _NO_WEIGHTS, scores)
        return scores

    def staged(self, X: Any, offsets: Floats | None = None) -> Iterator[Floats]:
        k, n_trees = self.n_trees_of_round, len(self.forest)
        scores = np.repeat(self.start[:, None], X.shape[0], axis=1)
        if offsets is not None:
            scores += offsets.T
        for first in range(0, n_trees, _STAGED_AT_ONCE * k):
            some = self.forest.subset(np.arange(first, min(first + _STAGED_AT_ONCE * k, n_trees)))
            for values in values_of(some, X, k):
                scores += values
                yield scores.T.copy()


def values_of(forest: Forest, X: Any, n_trees: int) -> Floats:
    """What each round of some trees adds to each score of each row."""
    at = forest.apply(X).T + forest.tree_start[:-1, None]
    if forest.n_outputs > 1:
        return np.asarray(forest.value[at].transpose(0, 2, 1))
    return np.asarray(forest.value[at, 0]).reshape(-1, n_trees, X.shape[0])


class Stage(NamedTuple):
    """Result of a round: its trees, what tells the gains of their splits, and the training loss."""

    forest: Any  # a Forest; None in a search for the number of rounds
    means: Floats | None  # mean residual of each node, of trees fitted to residuals
    loss: float
    gains: Floats | None = None  # of the split of each node, of Newton trees
    is_followed: bool = False  # whether the scores of a validation set have got the trees, too


class Followed(NamedTuple):
    """Encoded rows of a validation set, and their scores of shape (n_scores, n_rows)."""

    rows: Any
    scores: Floats


@dataclass(frozen=True)
class Boosting:
    """Everything that is the same in all rounds."""

    loss: Loss
    trees: ResidualTrees | NewtonTrees
    sample: Sample
    learning_rate: float
    sequence: np.random.SeedSequence
    n_drawn: int | None = None
    features: tuple[int, int] | None = None
    threads: RowThreads = field(default_factory=RowThreads)
    newton: Newton | None = None  # of Newton trees
    one_side: OneSide | None = None

    def rounds(
        self,
        scores: Floats,
        first: int = 0,
        followed: Followed | None = None,
        *,
        is_search: bool = False,
    ) -> Iterator[Stage]:
        """Yield rounds without end, updating ``scores`` in place.

        The scores of a validation set are updated with them, where that costs little; rounds tell.
        In a search for the number of rounds, such rounds have neither trees nor a loss.
        """
        grow = self._round if self.newton is None else self._newton_round
        if self._is_one_call:
            grow = self._updater(followed, is_search)
        for at, seeds in self._seeds(first):
            # The caller checks the loss for scores that diverge.
            with np.errstate(over="ignore", invalid="ignore"):
                stage = grow(scores, at, seeds)
            yield stage

    @property
    def _n_trees(self) -> int:
        """Trees of a round."""
        return 1 if isinstance(self.trees, VectorNewtonTrees) else self.loss.n_scores

    @property
    def _is_one_call(self) -> bool:
        """Whether rounds need nothing but what one kernel computes."""
        return (
            self.loss.kernel_kind != GIVEN
            and isinstance(self.trees, ExactNewtonTrees)
            and self.trees.can_update(self._n_trees)
            and self.one_side is None
            and len(self.sample.y) <= PART
        )

    def _updater(self, followed: Followed | None, is_search: bool) -> Callable[..., Stage]:
        """Rounds in one call each."""
        trees: Any = self.trees
        y = self.sample.y.astype(np.float64)
        if followed is None or not trees.knows_codes(followed.rows):
            followed = None
        held = Followed(np.zeros((0, 0)), np.zeros((0, 0))) if followed is None else followed
        is_kept = followed is None or not is_search

        def grow(scores: Floats, at: int, seeds: npt.NDArray[np.uint64]) -> Stage:
            weights, candidates = self._draw(at)
            update = Update(
                self.loss.kernel_kind, y, scores, self.learning_rate, LARGEST_STEP, *held
            )
            grown = trees.update(update, weights, seeds, candidates, is_kept=is_kept)
            if grown is None:
                return Stage(None, None, np.nan, is_followed=True)
            return Stage(grown.forest, None, self._loss(scores), grown.gains, followed is not None)

        return grow

    def _seeds(self, first: int) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
        """Yield the number of each round and the seeds of its trees."""
        k = self._n_trees
        rng = np.random.Generator(np.random.PCG64(self.sequence))
        rng.integers(0, 2**64 - 1, size=first * k, dtype=np.uint64)
        while True:
            drawn = rng.integers(0, 2**64 - 1, size=(_SEEDS_AT_ONCE, k), dtype=np.uint64)
            for seeds in drawn:
                yield first, seeds
                first += 1

    def _round(self, scores: Floats, at: int, seeds: npt.NDArray[np.uint64]) -> Stage:
        weights, candidates = self._draw(at)
        y = self.sample.y
        residuals = self._residuals(scores, weights)
        weights = self._draw_one_side(at, residuals, weights)
        trees: Any = self.trees
        forest, leaves = trees.grow(residuals, weights, seeds, candidates)
        means = forest.value[:, 0].copy()
        if len(seeds) > 1:
            leaves = leaves + forest.tree_start[:-1, None].astype(np.int32)
        values = self.loss.leaf_values(y, scores, weights, residuals, leaves, len(forest.nodes))
        del residuals  # its memory is used again for the losses
        return Stage(forest, means, self._add(forest, leaves, values, scores))

    def _newton_round(self, scores: Floats, at: int, seeds: npt.NDArray[np.uint64]) -> Stage:
        assert self.newton is not None
        weights, candidates = self._draw(at)
        gradients, hessians = self._derivatives(scores, weights)
        weights = self._draw_one_side(at, gradients, weights)
        trees: Any = self.trees
        forest, leaves, gains, bounds = trees.grow_newton(
            gradients, hessians, weights, seeds, candidates
        )
        if forest.n_outputs > 1:
            self._add_vectors(forest, leaves[0], scores)
            return Stage(forest, None, self._loss(scores), gains)
        if len(seeds) > 1:
            leaves = leaves + forest.tree_start[:-1, None].astype(np.int32)
        values = newton_leaf_values(
            self.loss, self.newton, self.sample.y, scores, weights, gradients, hessians, leaves,
            bounds, len(forest.nodes),
        )  # fmt: skip
        del gradients, hessians  # their memory is used again for the losses
        return Stage(forest, None, self._add(forest, leaves, values, scores), gains)

    def _add(
        self, forest: Forest, leaves: npt.NDArray[np.int32], values: Floats, scores: Floats
    ) -> float:
        """Write the values of the leaves, and add them to the scores; returns the new loss."""
        values *= self.learning_rate
        forest.value[:, 0] = values
        y, weights = self.sample.y, self.sample.weights
        losses = np.empty(len(y) if self.loss.has_row_losses else 0)

        def add(part: slice) -> None:
            add_values(leaves, values, part.start, part.stop, scores)
            if self.loss.has_row_losses:
                losses[part] = self.loss.row_losses(y[part], scores[:, part], weights[part])

        if len(y) <= SMALL_PART:
            add(slice(0, len(y)))
        else:
            self.threads.each(add, len(y))
        return self._mean_loss(losses) if self.loss.has_row_losses else self._loss(scores)

    def _mean_loss(self, losses: Floats) -> float:
        """The loss of all samples, from those of each; sums do not depend on threads."""
        weights = self.sample.weights
        if len(weights) <= PART:
            return float(losses.sum() / weights.sum())
        total, held = 0.0, 0.0
        for k in range(0, len(weights), PART):
            weight = float(weights[k : k + PART].sum())
            held += weight
            if weight > 0.0:
                total += weight * float(losses[k : k + PART].sum() / weight)
        return total / held

    def _add_vectors(self, forest: Forest, leaves: npt.NDArray[np.int32], scores: Floats) -> None:
        """``_add`` of a tree that has its values, one for each score."""
        values = np.clip(forest.value, -LARGEST_STEP, LARGEST_STEP) * self.learning_rate
        forest.value[:] = values
        scores += values[leaves].T

    def _derivatives(self, scores: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Negative gradients and second derivatives."""
        y = self.sample.y
        if not self.loss.is_by_row or len(y) <= SMALL_PART:
            return self.loss.derivatives(y, scores, weights)
        gradients, hessians = np.empty(scores.shape), np.empty(scores.shape)

        def write(part: slice) -> None:
            gradients[:, part], hessians[:, part] = self.loss.derivatives(
                y[part], scores[:, part], weights[part]
            )

        self.threads.each(write, len(y))
        return gradients, hessians

    def _residuals(self, scores: Floats, weights: Floats) -> Floats:
        y = self.sample.y
        if not self.loss.is_by_row or len(y) <= SMALL_PART:
            return self.loss.negative_gradient(y, scores, weights)
        residuals = np.empty(scores.shape)

        def write(part: slice) -> None:
            residuals[:, part] = self.loss.negative_gradient(
                y[part], scores[:, part], weights[part]
            )

        self.threads.each(write, len(y))
        return residuals

    def _loss(self, scores: Floats) -> float:
        """The loss of all samples."""
        y, weights = self.sample.y, self.sample.weights
        if not self.loss.is_by_row or len(y) <= PART:
            return self.loss.value(y, scores, weights)

        def sums(part: slice) -> tuple[float, float]:
            weight = float(weights[part].sum())
            if weight == 0.0:
                return 0.0, 0.0
            return weight, weight * self.loss.value(y[part], scores[:, part], weights[part])

        parts = self.threads.map(sums, len(y))
        return sum(loss for _, loss in parts) / sum(weight for weight, _ in parts)

    def _draw(self, at: int) -> tuple[Floats, npt.NDArray[np.int64] | None]:
        """Draw the weights of a round, and the features of its trees."""
        if self.n_drawn is None and self.features is None:
            return self.sample.weights, None
        rng = member_generator(self.sequence, at)
        weights, candidates = self.sample.weights, None
        if self.n_drawn is not None:
            drawn = self._draw_weights(self.n_drawn, rng)
            # A draw of nothing but zero weights is no training set.
            weights = drawn if drawn.any() else weights
        if self.features is not None:
            n_trees = range(self._n_trees)
            candidates = np.stack([draw_features(*self.features, rng) for _ in n_trees])
        return weights, candidates

    def _draw_one_side(self, at: int, gradients: Floats, weights: Floats) -> Floats:
        """Weights of the samples that a round's gradients choose."""
        if self.one_side is None:
            return weights
        rng = member_generator(self.sequence, at)
        return one_side_weights(gradients, weights, self.sample.copies, self.one_side, rng)

    def _draw_weights(self, n_drawn: int, rng: np.random.Generator) -> Floats:
        """Draw samples without replacement, as weights."""
        weights, copies = self.sample.weights, self.sample.copies
        if copies is not None:
            each = self._draw_copies(copies, n_drawn, rng)
            return weights * each / copies
        rows = rng.choice(len(weights), n_drawn, replace=False, shuffle=False)
        drawn = np.zeros(len(weights))
        drawn[rows] = weights[rows]
        return drawn

    def _draw_copies(
        self, copies: Floats, n_drawn: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """How many copies of each sample are among those drawn without replacement."""
        n_samples = self.sample.n_samples
        if n_samples > MOST_LISTED * len(copies):
            return rng.multivariate_hypergeometric(copies.astype(np.int64), n_drawn)
        # Where most samples are alone, drawing from a list takes a twentieth of the time.
        drawn = rng.choice(n_samples, n_drawn, replace=False, shuffle=False)
        return np.bincount(self._owners[drawn], minlength=len(copies))

    @cached_property
    def _owners(self) -> npt.NDArray[np.int64]:
        """The sample that each copy is of."""
        assert self.sample.copies is not None
        return np.repeat(np.arange(len(self.sample.y)), self.sample.copies.astype(np.int64))


def split_gains(forest: Forest, means: Floats) -> Floats:
    """Decrease of the weighted sum of squared residuals by each split."""
    weight = forest.node_weight
    assert weight is not None
    inner = np.flatnonzero(forest.n_children)
    root = forest.tree_start[np.searchsorted(forest.tree_start, inner, "right") - 1]
    left = root + forest.first_child[inner]
    difference = means[left] - means[left + 1]
    gains = np.zeros(len(weight))
    gains[inner] = weight[left] * weight[left + 1] / weight[inner] * difference * difference
    return gains


def fill_inner_values(forest: Forest) -> None:
    """Set the value of each inner node to the mean of its leaves, in place."""
    weight = forest.node_weight
    assert weight is not None
    is_leaf = forest.is_leaf
    total = np.empty(len(weight))
    for k in range(forest.n_outputs):
        leaf_sums.node_weights(
            forest.tree_start, forest.first_child, forest.n_children,
            weight[is_leaf] * forest.value[is_leaf, k], total,
        )  # fmt: skip
        forest.value[~is_leaf, k] = total[~is_leaf] / weight[~is_leaf]


#: Whole-number weights with a lower sum are copies.
MOST_COPIES = 1e9


def gather_samples(
    data: TrainingSet, offsets: Floats | None = None, n_threads: int = 1
) -> tuple[Sample, str, npt.NDArray[np.int64]]:
    """The samples with copies merged into one row, a hash of them, and which each row became."""
    X, weights = data.X, data.sample_weights
    hashes = hash_rows(X, data.y, n_threads)
    if offsets is not None and (offsets != offsets[:, :1]).any():
        hashes = hash_rows(offsets.T, hashes)  # copies have the same offsets
    # Samples of equal content and weight are alike: their order does not matter.
    is_even = bool((weights == weights[0]).all())
    order = np.argsort(hashes) if is_even else np.lexsort((weights, hashes))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    y, weights, hashes = data.y[order], weights[order], hashes[order]
    copies = None
    if are_counts(weights) and weights.sum() < MOST_COPIES:
        copies = weights
        first = _first_copies(X, order, y, hashes, offsets)
        if len(first) < len(order):
            copies = np.add.reduceat(weights, first)
            place = np.searchsorted(first, place, side="right") - 1
            order, y, hashes = order[first], y[first], hashes[first]
    factors = 1.0 if data.class_factors is None else data.class_factors[y]
    if copies is None:
        sample = Sample(X, y, _scaled(weights * factors, np.ones(len(y))), rows=order)
    else:
        own = _scaled(factors * np.ones(len(y)), copies)
        some = None if (copies == 1).all() else copies
        sample = Sample(X, y, own * copies, some, order)
    if offsets is not None:
        sample = sample._replace(offsets=np.ascontiguousarray(offsets[:, order]))
    digest = sha256(hashes)
    digest.update(np.ascontiguousarray(sample.weights))
    if sample.offsets is not None:
        digest.update(sample.offsets)
    return sample, digest.hexdigest(), place


def _first_copies(
    X: Any,
    order: npt.NDArray[np.int64],
    y: npt.NDArray[Any],
    hashes: npt.NDArray[np.uint64],
    offsets: Floats | None = None,
) -> npt.NDArray[np.int64]:
    """Index of the first copy of each sample, among rows in the order of their hashes."""
    again = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1
    equal = same_rows(X[order[again]], X[order[again - 1]]) & (y[again] == y[again - 1])
    if offsets is not None:
        equal &= (offsets[:, order[again]] == offsets[:, order[again - 1]]).all(axis=0)
    again = again[equal]
    return np.delete(np.arange(len(hashes)), again)


def _scaled(weights: Floats, copies: Floats) -> Floats:
    """Weights of one copy: whole numbers as they are, others scaled to a mean of about 1."""
    if are_counts(weights) and np.sum(weights * copies) < MOST_COPIES:
        return weights
    if (weights == weights[0]).all():
        return np.ones(len(weights))
    # By powers of two, which are exact; first to where the mean cannot overflow.
    weights = weights * np.exp2(-np.round(np.log2(weights.max())))
    mean = np.sum(weights * copies) / copies.sum()
    return np.asarray(weights * np.exp2(-np.round(np.log2(mean))))
