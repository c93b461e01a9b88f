"""Members trained on parts of the data: for tables too large for one model, or for memory.

Each part trains its own members, and all of them vote ("pasting votes together"). Parts come as the
random partitions of a table, chunk by chunk from an iterator, or through ``partial_fit``.

References
----------
Breiman (1999). Pasting small votes for classification in large databases and on-line. Machine
Learning 36(1), 85-103.

Chan and Stolfo (1995). A comparative evaluation of voting and meta-learning on partitioned data.
ICML, 90-98.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context, clone
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval

from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR
from orfeon.ensembles.combination import Combine
from orfeon.ensembles.documentation import documented
from orfeon.ensembles.leaving_out import LEAVING_OUT, Importance, LeavingOut
from orfeon.ensembles.perturbation import Examples, Perturbation, member_generator
from orfeon.ensembles.sampling import draw_with_replacement
from orfeon.ensembles.training import EstimatorTraining, Recipe, Trained, TreeTraining
from orfeon.ensembles.voting import (
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.growth.blocks import run_in_blocks
from orfeon.members import concatenate
from orfeon.seeding import Purpose, seed_sequence
from orfeon.tabular import KnownClassesMixin, TrainingData
from orfeon.trees import CARTClassifier, CARTRegressor


@dataclass(frozen=True)
class _PartTraining:
    """Trains members on the examples that they see only, however many there are in all."""

    base: Any
    data: Any
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
        examples = self.recipe.examples
        rows = np.flatnonzero(perturbation.weights)
        few = replace(examples, labels=examples.labels[rows], weights=examples.weights[rows])
        counts = perturbation.weights[rows]
        recipe = replace(
            self.recipe,
            examples=few,
            perturb=lambda examples, rng, member: Perturbation(weights=counts),
            keep_seen=False,
        )
        one = slice(member, member + 1)
        if isinstance(self.data, TrainingData):
            data = self.data
            part = replace(
                data, X=data.X[rows], y=data.y[rows], weights=data.weights[rows],
                rows=data.rows[rows],
            )  # fmt: skip
            return TreeTraining(self.base, part, recipe, self.classes)(one).members
        part = _safe_indexing(self.data, rows)
        return EstimatorTraining(self.base, part, recipe)(one).members


class _Partitioned(LeavingOut):
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

    def _prepare(self, examples: Examples, members: range) -> None:
        n_parts = min(self.n_partitions, len(examples))
        rng = member_generator(self._sequence, Purpose.PARTING_DATA)
        self._part = rng.permutation(len(examples)) % n_parts
        self.n_chunks_ = self.n_partitions

    def _finish(self, data: Any, recipe: Recipe, seen: npt.NDArray[np.bool_] | None) -> None:
        super()._finish(data, recipe, seen)
        del self._part

    def _only_draws(self, examples: Examples) -> bool:
        return self.n_estimators > 1

    def _perturb(self, examples: Examples, rng: np.random.Generator, member: int) -> Perturbation:
        # More partitions than examples: the last ones begin again.
        part = (member // self.n_estimators) % (self._part.max() + 1)
        mine = np.flatnonzero(self._part == part)
        few = replace(examples, labels=examples.labels[mine], weights=examples.weights[mine])
        drawn = self._counts(few, rng)
        counts = np.zeros(len(examples), drawn.dtype)
        counts[mine] = drawn
        return Perturbation(weights=counts)

    def _counts(self, part: Examples, rng: np.random.Generator) -> npt.NDArray[Any]:
        """How often each example of a part is in a member's sample, or its weight.

        One member alone sees the part as it is; several have bootstrap samples of it.
        """
        if self.n_estimators == 1:
            return np.ones(len(part), np.int64) if part.are_equal else part.weights
        return draw_with_replacement(part, rng, len(part))

    def _training(self, data: Any, recipe: Recipe) -> Callable[[slice], Trained]:
        return _PartTraining(self.estimator_, data, recipe, self._classes)

    # -- chunk by chunk ------------------------------------------------------------------------

    def fit_chunks(self, chunks: Iterable[Any], classes: Any = None) -> Self:
        """Train members chunk by chunk, with no more than one chunk in memory.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, sample_weight)
            The parts of the data, one after the other.
        classes : array, optional
            All the classes, for a classifier: no chunk alone need have them all.

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

    def _add_chunk(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Train the members of one more chunk."""
        begins = not hasattr(self, "members_")
        if self._must_learn:
            raise ValueError(
                f"combine={self.combine!r} learns from answers on examples that members did not "
                "see, and no chunk is kept to ask them about; use fit, or another rule."
            )
        self._expect_classes(classes, begins)
        if begins:
            self.estimator_ = self._base()
            self._check_base()
            self._sequence = seed_sequence(self.random_state)
            self.n_chunks_ = 0
        data, examples = self._read_all(X, y, sample_weight, reset=begins)
        recipe = Recipe(examples, self._perturb_chunk, self._sequence, False)
        self._check_weights(examples)
        first = 0 if begins else len(self.members_)
        train = super()._training(data, recipe)
        members = range(first, first + self.n_estimators)
        blocks = run_in_blocks(train, members, self.n_jobs, prefer=self._prefer)
        parts = [block.members for block in blocks]
        self.members_ = concatenate(parts if begins else [self.members_, *parts])
        self.n_chunks_ += 1
        self._history = []  # there is no one training set any more
        self._forget_decider()
        self._forget_estimates()
        return self

    def _perturb_chunk(
        self, examples: Examples, rng: np.random.Generator, member: int
    ) -> Perturbation:
        return Perturbation(weights=self._counts(examples, rng))

    def _expect_classes(self, classes: Any, begins: bool) -> None:
        """Take note of the classes to come; regressors have none."""


@documented(estimator="an unpruned :class:`orfeon.CARTClassifier`")
class PartitionedClassifier(KnownClassesMixin, VotingClassifierMixin, _Partitioned):
    """Vote of classifiers trained on disjoint parts of the data.

    Parameters
    ----------
    <estimator>
    n_partitions : int, default=10
        Random parts that ``fit`` makes of the examples.
    n_estimators : int, default=1
        Members trained on each part or chunk: one on all its examples, several on bootstrap samples
        of it.
    <combine>
    <leaving_out>
    n_jobs : int, optional
        Threads (processes for base learners other than trees), through joblib. The model does not
        depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState or None, default=None
        Fixes everything.

    Attributes
    ----------
    n_chunks_ : int
        Parts or chunks seen.
    <members>
    <classes>
    <oob_classes>

    Notes
    -----
    With ``partial_fit`` and ``fit_chunks`` the first chunk says what the attributes are: a category
    that only later chunks have is taken as missing, so give data frames their full categorical
    types.

    Examples
    --------
    >>> from orfeon import PartitionedClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(3000, random_state=0)
    >>> pasted = PartitionedClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(pasted.oob_error_, 2)
    0.19
    >>> chunks = ((X[i : i + 500], y[i : i + 500]) for i in range(0, 3000, 500))
    >>> len(PartitionedClassifier(random_state=0).fit_chunks(chunks, classes=[0, 1, 2]))
    6
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Partitioned._parameter_constraints,
        **CLASSIFIER,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_partitions: int = 10,
        n_estimators: int = 1,
        combine: Combine = "majority",
        oob_score: bool = False,
        importance: Importance = "impurity",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_partitions = n_partitions
        self.n_estimators = n_estimators
        self.combine = combine
        self.oob_score = oob_score
        self.importance = importance
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train members on random parts of the examples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The examples; with trees as members, missing values and categories are welcome.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the example out, 2 as giving it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        self._forget()
        super().fit(X, y, sample_weight)
        return self

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train members on one more chunk.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The chunk.
        y : array of shape (n_rows,)
            Its classes.
        classes : array, optional
            All the classes; needed in the first call.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
            The ensemble, with ``n_estimators`` members more.
        """
        return self._add_chunk(X, y, classes, sample_weight)


@documented(estimator="an unpruned :class:`orfeon.CARTRegressor`")
class PartitionedRegressor(AveragingRegressorMixin, _Partitioned):
    """Mean of regressors trained on disjoint parts of the data.

    Parameters
    ----------
    <estimator>
    n_partitions : int, default=10
        Random parts that ``fit`` makes of the examples.
    n_estimators : int, default=1
        Members trained on each part or chunk: one on all its examples, several on bootstrap samples
        of it.
    <combine_numbers>
    <leaving_out>
    n_jobs : int, optional
        Threads (processes for base learners other than trees), through joblib. The model does not
        depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState or None, default=None
        Fixes everything.

    Attributes
    ----------
    n_chunks_ : int
        Parts or chunks seen.
    <members>
    <oob_predictions>

    Examples
    --------
    >>> from orfeon import PartitionedRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(2000, random_state=0)
    >>> pasted = PartitionedRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> round(pasted.oob_score_, 2)
    0.77
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Partitioned._parameter_constraints,
        **REGRESSOR,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_partitions: int = 10,
        n_estimators: int = 1,
        combine: Combine = "mean",
        oob_score: bool = False,
        importance: Importance = "impurity",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_partitions = n_partitions
        self.n_estimators = n_estimators
        self.combine = combine
        self.oob_score = oob_score
        self.importance = importance
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor() if self.estimator is None else clone(self.estimator)

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train members on one more chunk.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The chunk.
        y : array of shape (n_rows,)
            Its targets.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
            The ensemble, with ``n_estimators`` members more.
        """
        return self._add_chunk(X, y, None, sample_weight)
