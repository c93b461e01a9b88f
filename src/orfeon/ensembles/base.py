"""What all ensembles of independent members share: one fit, in blocks of members.

A method says how it perturbs the training set for a member (:meth:`IndependentEnsemble._perturb`)
and what its base learner is; everything else is here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import has_fit_parameter

from orfeon.data.training_set import TrainingSet, are_counts, fractions_error
from orfeon.ensembles.ensemble import Ensemble
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.provenance import WarmStart
from orfeon.ensembles.training import EstimatorTraining, Recipe, Trained, TreeTraining
from orfeon.growth.blocks import MOST, run_in_blocks
from orfeon.members.members import concatenate
from orfeon.trees.base import BaseTree
from orfeon.trees.limits import LIMITS
from orfeon.utils import saved
from orfeon.utils.progress import Progress, report_progress
from orfeon.utils.scikit_learn import HasMethods, Interval, _fit_context
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.transactional_fit import restored_on_failure
from orfeon.utils.user_warning import warn_user

#: Where someone watches, a block has about this many samples, so that there is something to see.
_WATCHED = 1 << 18

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

    Subclasses give :meth:`_perturb` and :meth:`_base`.
    """

    #: Whether the method needs a base learner that takes weights.
    _needs_weights: ClassVar[bool] = False
    #: Members that are trained by one call, at most.
    _most_in_block: ClassVar[int] = MOST
    #: The parameters that decide what is drawn for a member.
    _draws_by: ClassVar[tuple[str, ...]] = ()

    # -- what a method says --------------------------------------------------------------------

    @abstractmethod
    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        """What one member is trained on."""

    @abstractmethod
    def _base(self) -> Any:
        """The base learner, not fitted: a tree of ours goes through the engine."""

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        """Check the parameters against the samples before any member is trained."""

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        """What trains a block of members."""
        if isinstance(self.estimator_, BaseTree):
            self.estimator_._prepare(recipe.samples)
            return TreeTraining(self.estimator_, recipe, self._classes)
        return EstimatorTraining(self.estimator_, recipe)

    def _only_draws(self, samples: TrainingSet) -> bool:
        """Whether weights decide nothing but which samples are drawn."""
        return False

    def _leaves_out(self) -> bool:
        """Whether it must be known which samples each member saw."""
        return False

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        """What is left to do once the members are there."""

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; with trees as members, missing values and categories are welcome.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the sample out, 2 as giving it twice.

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
                if len(self.members_) < members.stop:  # a callback, or the method itself, ended it
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
        """Train some members in blocks."""
        watched = self.verbose or getattr(self, "_skl_callbacks", None)
        most = self._most_in_block
        if watched and most == MOST:
            most = max(1, min(MOST, _WATCHED // len(recipe.samples)))
        if self._is_sequential:
            most = max(1, len(members))
        return run_in_blocks(
            self._training(recipe), members, None if self._is_sequential else self.n_jobs,
            progress.update_and_check if watched else None, most=most, prefer=self._prefer,
        )  # fmt: skip

    def _drawing_key(self, samples: TrainingSet) -> str:
        """A word for all that decides what is drawn for a member, besides its own generator."""
        names = (*self._draws_by, "class_weight")
        how = [(name, getattr(self, name, None)) for name in names]
        return str(joblib.hash((how, samples.digest)))

    def _seen_before(self, recipe: Recipe) -> list[Any]:
        """What the members of the fits before saw of these samples: drawn again, where possible.

        Members that were drawn in another way, or from other samples, may have seen any of them.
        """
        *earlier, (_, key) = self._history
        if any(other != key for _, other in earlier):
            learns = ""
            if getattr(self, "_must_learn", False):
                learns = f", and combine={getattr(self, 'combine', None)!r} gives them no say"
            warn_user(
                "warm_start=True with other samples, or drawn in another way, than before: what "
                "the earlier members saw of them is not known, so they do not take part in "
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
        """Refuse weights that the base learner cannot take."""
        if self._has_trees or has_fit_parameter(self.estimator_, "sample_weight"):
            return
        if self._needs_weights:
            raise ValueError(
                f"estimator={self.estimator_} takes no sample_weight, which {type(self).__name__} "
                "needs; BaggingClassifier and BaggingRegressor do without."
            )
        if not are_counts(samples.weights) and not self._only_draws(samples):
            by_class = getattr(self, "class_weight", None) is not None
            raise fractions_error(
                type(self.estimator_).__name__, "or another base learner",
                "class_weight" if by_class else "sample_weight",
            )  # fmt: skip
