"""Base of all ensembles of independent members: one fit, in blocks of members.

A method defines how it perturbs the training set for a member
(:meth:`IndependentEnsemble._perturb`) and what its base learner is; everything else is here. Trees
are grown a block at once, other estimators are fitted one by one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import class_factors, restored_on_failure
from orfeon.data.training_set import TrainingSet, are_counts, fractions_error, rows_with_copies
from orfeon.ensembles.ensemble import Ensemble, WarmStart
from orfeon.ensembles.perturbation import Perturbation, draw_seed, member_generator
from orfeon.growth import split_halves
from orfeon.growth.blocks import MOST, SHARING, run_in_blocks
from orfeon.members.members import EstimatorMembers, concatenate
from orfeon.trees.base import LIMITS, BaseTree, MemberSamples
from orfeon.trees.igp import IGPTreeClassifier
from orfeon.utils import saved
from orfeon.utils.progress import Progress, report_progress
from orfeon.utils.scikit_learn import HasMethods, Interval, _fit_context, _safe_indexing
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats
from orfeon.utils.user_warning import warn_user

#: When progress is shown, blocks have about this many samples, so it is updated often.
_WATCHED = 1 << 18
#: Otherwise about this many: each has its weights in every member of the block.
_KEPT = 1 << 20

#: What parameters may be with several outputs; the first is the default.
_OF_OUTPUTS: dict[str, tuple[Any, ...]] = {
    "combine": ("mean", "majority", "plurality", "soft"),
    "importance": ("impurity",),
    "calibrate": (None,),
    "quantiles": (False,),
}

ENSEMBLE: dict[str, list[Any]] = {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "random_state": LIMITS["random_state"],
}
ESTIMATOR: dict[str, list[Any]] = {"estimator": [HasMethods(["fit", "predict"]), None]}


@saved.attributes(
    _sequence=saved.seed_sequence,
    _history=saved.history,
    _origin=saved.optional(saved.instance("Origin")),
)
class IndependentEnsemble(Ensemble):
    """Members trained independently of each other, each on its own perturbation of the samples.

    Subclasses define :meth:`_perturb` and :meth:`_base`.
    """

    #: Whether the method needs a base learner that takes weights.
    _needs_weights: ClassVar[bool] = False
    #: Whether members see other weights and features alone, so that sparse rows and several outputs
    #: ask nothing of the method.
    _only_resamples: ClassVar[bool] = False
    #: Whether sparse rows ask nothing of the method, though several outputs do.
    _reads_sparse: ClassVar[bool] = False
    #: Maximum number of members trained by one call.
    _most_in_block: ClassVar[int] = MOST
    #: The parameters that determine what is drawn for a member.
    _draws_by: ClassVar[tuple[str, ...]] = ()

    # -- what a method defines ----------------------------------------------------------------

    @abstractmethod
    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        """What one member is trained on."""

    @abstractmethod
    def _base(self) -> Any:
        """The base learner, not fitted: our trees go through the engine."""

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        """Check the parameters against the samples before any member is trained."""

    def _takes_sparse(self) -> bool:
        base = self._base_tree() if self._only_resamples or self._reads_sparse else None
        return base is not None and base._takes_sparse()

    def _takes_outputs(self) -> bool:
        base = self._base_tree() if self._only_resamples else None
        return base is not None and base._takes_outputs()

    def _base_tree(self) -> BaseTree | None:
        """The base learner if it is a tree."""
        given = getattr(self, "estimator", None)
        if given is not None and not isinstance(given, BaseTree):  # of any kind, or a mistake
            return None
        base = self.estimator_ if hasattr(self, "estimator_") else self._base()
        return base if isinstance(base, BaseTree) else None

    def _needs_one_output(self) -> list[str]:
        return [
            f"{name}={value!r}"
            for name, allowed in _OF_OUTPUTS.items()
            if (value := getattr(self, name, allowed[0])) not in allowed
        ]

    def _check_outputs(self, n_outputs: int) -> None:
        """Reject what needs one output."""
        changed = self._needs_one_output()
        if getattr(self.estimator_, "class_weight", None) is not None:
            changed.append(f"class_weight={self.estimator_.class_weight!r}")
        if changed:
            raise ValueError(
                f"y has {n_outputs} outputs, and {', '.join(changed)} needs one: fit an ensemble "
                "for each output."
            )

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        """The function that trains a block of members."""
        if isinstance(self.estimator_, BaseTree):
            recipe.samples.table.n_threads = joblib.effective_n_jobs(getattr(self, "n_jobs", None))
            self.estimator_._prepare(recipe.samples)
            return TreeTraining(self.estimator_, recipe, self._classes)
        return EstimatorTraining(self.estimator_, recipe)

    def _only_draws(self, samples: TrainingSet) -> bool:
        """Whether weights only determine which samples are drawn."""
        return False

    def _leaves_out(self) -> bool:
        """Whether to record which samples each member saw."""
        return False

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        """Finish the fit after the members are trained."""

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; with trees as members, missing values and categories are supported.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Classes or targets; bagging, forests and extra-trees of trees take several outputs.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        before = WarmStart.of(self)
        with restored_on_failure(self):
            self.__dict__.pop("_origin", None)
            self.estimator_ = self._base()
            self._check_base()
            self._check_rule()
            samples = self._read_all(X, y, sample_weight)
            if samples.y.ndim > 1:
                self._check_outputs(samples.y.shape[1])
            first = before.check(self, self._n_members)
            if not first:
                self._sequence = seed_sequence(self.random_state)
            members = range(first, self._n_members)
            self._history = [*before.history, (members, self._drawing_key(samples))]
            self._check_weights(samples)
            self._prepare(samples, members)
            recipe = Recipe(samples, self._perturb, self._sequence, self._leaves_out())
            with report_progress(
                self, len(members), self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                blocks = self._train(recipe, members, progress)
                parts = [block.members for block in blocks if block.members is not None]
                self.members_ = concatenate([before.members, *parts] if first else parts)
                if len(self.members_) < members.stop:  # stopped by a callback or the method
                    came = range(first, len(self.members_))
                    self._history[-1] = (came, f"{self._history[-1][1]}, ended early")
                seen = None
                if recipe.keep_seen:
                    earlier = self._seen_before(recipe)
                    seen = np.concatenate([*earlier, *(block.seen for block in blocks)])
                self._forget_decider()
                self._finish(samples, seen)
                self._learn_by_folds(X, y, sample_weight)
                self._check_decider()
        return self

    def _train(self, recipe: Recipe, members: range, progress: Progress) -> list[Trained]:
        watched = self.verbose or getattr(self, "_skl_callbacks", None)
        most = self._most_in_block
        if most == MOST:
            n_samples = _WATCHED if watched else _KEPT
            most = max(1, min(MOST, n_samples // len(recipe.samples)))
            if self._only_resamples and not watched and not self._only_draws(recipe.samples):
                most = SHARING
        if self._is_sequential:
            most = max(1, len(members))
        return run_in_blocks(
            self._training(recipe), members, None if self._is_sequential else self.n_jobs,
            progress.update_and_check if watched else None, most=most, prefer=self._prefer,
        )  # fmt: skip

    def _drawing_key(self, samples: TrainingSet) -> str:
        """A key of everything that determines what is drawn for a member, except its generator."""
        names = (*self._draws_by, "class_weight")
        how = [(name, getattr(self, name, None)) for name in names]
        return str(joblib.hash((how, samples.digest)))

    def _seen_before(self, recipe: Recipe) -> list[Any]:
        """Which of these samples the members of earlier fits saw: redrawn where possible.

        Members that were drawn in another way, or from other samples, count as having seen all.
        """
        *earlier, (_, key) = self._history
        if any(other != key for _, other in earlier):
            learns = ""
            if getattr(self, "_must_learn", False):
                learns = f", and combine={getattr(self, 'combine', None)!r} ignores them"
            warn_user(
                "warm_start=True with other samples, or drawn in another way, than before: it is "
                "unknown which samples the earlier members saw, so they are left out of "
                f"out-of-bag estimates{learns}."
            )
        seen = []
        for members, other in earlier:
            if other == key:
                drawn = recipe.draw(slice(members.start, members.stop))[2] if members else []
                seen += [recipe.seen(drawn)] if drawn else []
            else:
                seen.append(np.ones((len(members), len(recipe.samples)), dtype=bool))
        return seen

    def _check_weights(self, samples: TrainingSet) -> None:
        """Reject weights that the base learner cannot take."""
        if self._has_trees or has_fit_parameter(self.estimator_, "sample_weight"):
            return
        if self._needs_weights:
            raise ValueError(
                f"estimator={self.estimator_} takes no sample_weight, which {type(self).__name__} "
                "needs; BaggingClassifier and BaggingRegressor do not need it."
            )
        if not are_counts(samples.weights) and not self._only_draws(samples):
            by_class = getattr(self, "class_weight", None) is not None
            raise fractions_error(
                type(self.estimator_).__name__, "or another base learner",
                "class_weight" if by_class else "sample_weight",
            )  # fmt: skip


Perturb = Callable[[TrainingSet, np.random.Generator, int], Perturbation]


class Trained(NamedTuple):
    """A block of trained members and, if requested, which samples each one saw."""

    members: Any
    seen: npt.NDArray[np.bool_] | None


@dataclass(frozen=True)
class Recipe:
    """The samples, perturbations and seeds that all members are trained from."""

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
        # Without weights all samples count once, as integers, which is fastest in the engine.
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
        """Apply the base learner's own class_weight to each member's samples."""
        n_members = max(len(weights), len(labels))
        weighted = np.empty((n_members, weights.shape[1]))
        for t in range(n_members):
            w = weights[t if len(weights) > 1 else 0].astype(np.float64)
            codes = labels[t if len(labels) > 1 else 0]
            w = w * class_factors(rule, self.classes, codes, w)[codes]
            weighted[t] = w * (n_samples / w.sum())
        return weighted


def _stack(rows: list[Any], default: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One row per member, or one for all if none has its own."""
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
        # Whole numbers are copies; the ensemble has rejected anything else.
        rows = rows_with_copies(np.asarray(weights))
        return estimator.fit(_take(X, rows, len(labels)), labels[rows])


def _take(X: Any, rows: npt.NDArray[np.int64], n_rows: int) -> Any:
    if len(rows) == n_rows and np.array_equal(rows, np.arange(n_rows)):
        return X
    return _safe_indexing(X, rows)


def seed_estimator(estimator: Any, seed: int) -> None:
    """Set every ``random_state`` of an estimator and of those inside it."""
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
