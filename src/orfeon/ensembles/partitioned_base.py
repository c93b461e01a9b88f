"""Base of partitioned ensembles: members of parts, chunks and Dask partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from orfeon.base import restored_on_failure, transactional
from orfeon.data.training_set import TrainingSet, are_counts
from orfeon.ensembles.base import (
    ENSEMBLE,
    ESTIMATOR,
    EstimatorTraining,
    Recipe,
    Trained,
    TreeTraining,
)
from orfeon.ensembles.class_sampling import DrawsByClass, draw_by_class
from orfeon.ensembles.dask_parts import agree, is_dask, look_at_parts, read_parts, train_parts
from orfeon.ensembles.out_of_bag import LEAVING_OUT
from orfeon.ensembles.perturbation import Perturbation, draw_with_replacement, member_generator
from orfeon.growth.blocks import run_in_blocks
from orfeon.members.members import concatenate
from orfeon.trees.base import BaseTree
from orfeon.utils import saved
from orfeon.utils.scikit_learn import Interval
from orfeon.utils.seeding import Purpose, seed_sequence


@dataclass(frozen=True)
class _PartTraining:
    """Trains members on the samples that they see, whatever the total number."""

    base: Any
    recipe: Recipe
    classes: npt.NDArray[Any]

    def __call__(self, block: slice) -> Trained:
        """Train the members of a block."""
        _, _, drawn = self.recipe.draw(block)
        members = range(block.start, block.stop)
        parts = [self._train(t, p) for t, p in zip(members, drawn, strict=True)]
        return Trained(concatenate(parts), self.recipe.seen(drawn))

    def _train(self, member: int, perturbation: Perturbation) -> Any:
        assert perturbation.weights is not None
        samples = self.recipe.samples
        rows = np.flatnonzero(perturbation.weights)
        counts = perturbation.weights[rows]
        recipe = replace(
            self.recipe,
            samples=samples.take(rows),
            perturb=lambda samples, rng, member: Perturbation(weights=counts),
            keep_seen=False,
        )
        one = slice(member, member + 1)
        if isinstance(self.base, BaseTree):
            return TreeTraining(self.base, recipe, self.classes)(one).members
        return EstimatorTraining(self.base, recipe)(one).members


@saved.attributes(n_chunks_=saved.integer(1))
class PartitionedEnsemble(DrawsByClass):
    """Members of the parts of a training set."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: ENSEMBLE[name] for name in ENSEMBLE if name != "warm_start"},
        **ESTIMATOR,
        **LEAVING_OUT,
        "n_partitions": [Interval(Integral, 1, None, closed="left")],
    }

    _draws_by: ClassVar[tuple[str, ...]] = ("n_partitions", "n_estimators")

    warm_start = False
    estimator: Any
    n_partitions: int
    n_chunks_: int

    @property
    def _n_members(self) -> int:
        return int(self.n_partitions * self.n_estimators)

    def _set_size(self, n_members: int) -> None:
        """Keep the parameters, which describe the partition, not the number of members kept."""

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        n_parts = min(self.n_partitions, len(samples))
        rng = member_generator(self._sequence, Purpose.PARTING_DATA)
        self._part = rng.permutation(len(samples)) % n_parts
        self.n_chunks_ = self.n_partitions

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        super()._finish(samples, seen)
        del self._part

    def _only_draws(self, samples: TrainingSet) -> bool:
        return self.n_estimators > 1 or are_counts(samples.sample_weights)

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        # With more partitions than samples, the last ones reuse samples.
        part = (member // self.n_estimators) % (self._part.max() + 1)
        mine = np.flatnonzero(self._part == part)
        drawn = self._counts(samples.take(mine), rng)
        counts = np.zeros(len(samples), drawn.dtype)
        counts[mine] = drawn
        return Perturbation(weights=counts)

    def _counts(self, part: TrainingSet, rng: np.random.Generator) -> npt.NDArray[Any]:
        """How often each sample of a part is in a member's sample, or its weight.

        One member alone sees the part as it is, or what class weights leave of it; several have
        bootstrap samples of it.
        """
        if not part.weights.any():
            raise ValueError(
                f"class_weight={getattr(self, 'class_weight', None)} leaves a part without any "
                "weight; use fewer parts, or give no class a weight of 0."
            )
        if self.n_estimators == 1:
            drawn = draw_by_class(part, rng)
            if drawn is not None:
                return drawn
            return np.ones(len(part), np.int64) if part.are_equal else part.weights
        return draw_with_replacement(part, rng, len(part))

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        return _PartTraining(self.estimator_, recipe, self._classes)

    # -- chunk by chunk ------------------------------------------------------------------------

    @transactional
    def fit_chunks(self, chunks: Iterable[Any], classes: Any = None) -> Self:
        """Train members chunk by chunk, with no more than one chunk in memory.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, sample_weight)
            The parts of the data, one after the other.
        classes : array, optional
            All the classes, for a classifier: a single chunk need not contain them all.

        Returns
        -------
        self
            The fitted ensemble.
        """
        self._validate_params()
        self._forget()
        for chunk in chunks:
            X, y, *weight = chunk
            self._add_chunk(X, y, classes, weight[0] if weight else None)
        if not hasattr(self, "members_"):
            raise ValueError("chunks is empty; at least one chunk (X, y) is needed.")
        return self

    def _forget(self) -> None:
        for name in ("members_", "schema_", "classes_", "feature_names_in_", "_known_classes"):
            self.__dict__.pop(name, None)

    @transactional
    def _add_chunk(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Train the members of one more chunk."""
        begins = not hasattr(self, "members_")
        self._refuse_learning()
        self._expect_classes(classes, begins)
        if begins:
            self._begin()
        first = 0 if begins else len(self.members_)
        more = self._train_chunk(X, y, sample_weight, first, reset=begins)
        self._keep([more] if begins else [self.members_, more], self.n_chunks_ + 1)
        return self

    def _begin(self) -> None:
        """Prepare for the first chunk."""
        self.estimator_ = self._base()
        self._check_base()
        self._sequence = seed_sequence(self.random_state)
        self.n_chunks_ = 0

    def _refuse_learning(self) -> None:
        if self._must_learn:
            raise ValueError(
                f"combine={self.combine!r} learns from samples that members did not see, and no "
                "chunk is kept for that; use fit, or another rule."
            )

    def _train_chunk(self, X: Any, y: Any, sample_weight: Any, first: int, *, reset: bool) -> Any:
        """The members of a chunk; the first has this number."""
        samples = self._read_all(X, y, sample_weight, reset=reset)
        recipe = Recipe(samples, self._perturb_chunk, self._sequence, False)
        self._check_weights(samples)
        train = super()._training(recipe)
        members = range(first, first + self.n_estimators)
        blocks = run_in_blocks(train, members, self.n_jobs, prefer=self._prefer)
        return concatenate([block.members for block in blocks])

    def _keep(self, members: list[Any], n_chunks: int) -> None:
        self.members_ = concatenate(members)
        self.n_chunks_ = n_chunks
        self._history = []  # there is no single training set
        self._forget_decider()
        self._forget_estimates()

    def _perturb_chunk(
        self, samples: TrainingSet, rng: np.random.Generator, member: int
    ) -> Perturbation:
        return Perturbation(weights=self._counts(samples, rng))

    def _expect_classes(self, classes: Any, begins: bool) -> None:
        """Remember the classes to expect; regressors have none."""

    # -- partition by partition ----------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train members on random parts of the samples, or on the partitions of Dask collections.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; with trees as members, missing values and categories are supported. Each
            partition of a Dask array, data frame or bag of rows is a part, whatever
            ``n_partitions`` is, and its members are trained where it is stored.
        y : array of shape (n_rows,)
            Classes or targets; a Dask collection in the partitions of ``X`` if ``X`` is one.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        with restored_on_failure(self):
            self._forget()
            if is_dask(X):
                return self._fit_partitions(X, y, sample_weight)
            super().fit(X, y, sample_weight)
        return self

    def _fit_partitions(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._validate_params()
        if self.oob_score or self.importance == "permutation":
            wanted = "oob_score=True" if self.oob_score else "importance='permutation'"
            raise ValueError(
                f"{wanted} needs members to predict the partitions of others, which are not moved; "
                "measure the error on other samples."
            )
        self._refuse_learning()
        self._begin()
        parts = read_parts(X, y, sample_weight)
        looks = look_at_parts(self, parts)
        known = agree(looks)
        self.n_features_in_ = known.n_features
        if known.names is not None:
            self.feature_names_in_ = known.names
        if known.schema is not None:
            self.schema_ = known.schema
        self._expect_classes(known.classes, begins=True)
        filled = [part for part, look in zip(parts, looks, strict=True) if look.n_rows]
        firsts = range(0, len(filled) * self.n_estimators, self.n_estimators)
        members = train_parts(self, filled, firsts)
        self._set_classes(known.classes)
        self._keep(members, len(filled))
        return self

    def _set_classes(self, classes: Any) -> None:
        """Set the classes of all parts; regressors have none."""
