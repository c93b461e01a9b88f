"""Base of the boosted ensembles: fit, warm start, early stopping.

A method defines its base learner and its :class:`orfeon.boosting.loop.Scheme`.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy, deepcopy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.base import restored_on_failure
from orfeon.boosting.learners import EstimatorLearner, ProvidesLearner, Sampling, TreeLearner
from orfeon.boosting.loop import (
    HALF,
    LEAST_SHARE,
    Learner,
    MemberOutput,
    Round,
    Run,
    Scheme,
    boost,
)
from orfeon.boosting.stopping import Patience
from orfeon.boosting.vote_sums import Tally
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR
from orfeon.ensembles.decision import OWN
from orfeon.ensembles.ensemble import CHOSEN, Ensemble, OwnEnsemble, WarmStart
from orfeon.ensembles.holdout import hash_samples, set_aside
from orfeon.ensembles.perturbation import member_generator
from orfeon.ensembles.probabilities import CALIBRATE
from orfeon.forest import Forest
from orfeon.forest.importance import impurity_importances
from orfeon.members.members import concatenate
from orfeon.members.protocol import unless_equal
from orfeon.rules.rule import CombiningRule, rules_for
from orfeon.trees.base import BaseTree
from orfeon.utils import saved
from orfeon.utils.progress import Progress, report_progress
from orfeon.utils.scikit_learn import Interval, StrOptions, _fit_context
from orfeon.utils.seeding import Purpose, seed_sequence
from orfeon.utils.types import Floats, Integers, Mask
from orfeon.utils.user_warning import AdvisedWarning, warn_user

STOPPING: dict[str, list[Any]] = {
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
    "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
}
#: Boosters whose members vote can decide by other rules than their own.
VOTED: dict[str, list[Any]] = {
    "combine": [StrOptions({OWN, *rules_for("classification")}), CombiningRule],
    **CALIBRATE,
}
#: The same for boosters whose members predict numbers.
AVERAGED: dict[str, list[Any]] = {
    "combine": [StrOptions({OWN, *rules_for("regression")}), CombiningRule]
}
EarlyStopping = Literal["validation", "oob"]
SAMPLING: dict[str, list[Any]] = {"sampling": [StrOptions({"weights", "resample"})]}
BOOSTED: dict[str, list[Any]] = {**ENSEMBLE, **ESTIMATOR, **SAMPLING, **STOPPING}


@saved.attributes(
    _sequence=saved.seed_sequence,
    _history=saved.history,
    _origin=saved.optional(saved.instance("Origin")),
    _made_by=saved.dict_of(saved.string, saved.anything),
    _run=None,  # it holds the training samples
    member_weights_=saved.array("f8", 1, 2),
    errors_=saved.floats,
    validation_errors_=saved.optional(saved.floats),
)
class BoostedEnsemble(Ensemble):
    """Members trained one after the other, each focusing on the errors of those before it.

    Subclasses define :meth:`_base` and :meth:`_scheme`, and inherit how to decide.
    """

    _is_sequential: ClassVar[bool] = True
    _member_output: ClassVar[MemberOutput]
    #: Whether members that are trees may be trained on sparse rows.
    _reads_sparse: ClassVar[bool] = False
    #: Advice if members are too weak, or too strong.
    _stronger: ClassVar[str] = "such as a deeper tree"
    _weaker: ClassVar[str] = "such as a tree with max_depth"

    member_weights_: Floats
    errors_: Floats
    validation_errors_: Floats
    _run: Run | None
    _made_by: dict[str, Any]
    sampling: Sampling
    n_iter_no_change: int | None
    validation_fraction: float
    tol: float
    early_stopping: EarlyStopping = "validation"

    if TYPE_CHECKING:

        def _tally(self, n_rows: int) -> Tally: ...
        def _outputs_of(self, members: Any, rows: Any) -> npt.NDArray[Any]: ...
        def _loss(self, tally: Tally, y: npt.NDArray[Any], weights: Floats) -> float: ...

    # -- what a method defines ----------------------------------------------------------------

    @abstractmethod
    def _base(self) -> Any:
        """The base learner, not fitted: our trees go through the engine."""

    @abstractmethod
    def _scheme(self, samples: TrainingSet) -> Scheme:
        """The two formulas, with the weights of the first round."""

    def _takes_sparse(self) -> bool:
        base = self._base() if self._reads_sparse else None
        return isinstance(base, BaseTree) and base._takes_sparse()

    def _take_from(self, scheme: Any, n_kept: int) -> None:
        """Take what else a scheme knows of the members kept."""

    def _read_all(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        samples = super()._read_all(X, y, sample_weight, reset=reset)
        if not isinstance(self.estimator_, ProvidesLearner):
            return samples
        # As for trees, in an order that depends on the content only.
        return samples.take(np.lexsort((samples.weights, hash_samples(samples.X, samples.y))))

    def _learner(self, samples: TrainingSet) -> Learner:
        if self._has_trees:
            self.estimator_._prepare(samples)
            return TreeLearner(self.estimator_, samples, self.sampling, self._classes)
        if isinstance(self.estimator_, ProvidesLearner):
            return self.estimator_._boosting_learner(samples, self.sampling, self._classes)
        return EstimatorLearner(self.estimator_, samples.X, samples.n_classes, self.sampling)

    def _explain(self, run: Run) -> AdvisedWarning | None:
        """A warning about how a run ended."""
        name = type(self).__name__
        labels = run.scheme.labels
        if run.has_failed:
            error = run.results[-1].error
            if error == 0:
                if (labels == labels[:1]).all():
                    return None
                return AdvisedWarning(
                    f"{name}: every member makes no error on the training samples, so there was "
                    "nothing to boost and the ensemble is one of them alone.",
                    self._advice("weaker"),
                )
            who = "the first member" if run.attempts == 1 else f"the last of {run.attempts} members"
            return AdvisedWarning(
                f"{name}: {who} errs on {error:.3g} of the weight, which is no better than chance; "
                "the ensemble is this member alone.",
                self._advice("stronger"),
            )
        alone = run.n_kept == 1 and self._n_members > 1 and bool((labels != labels[:1]).any())
        if alone and run.results[-1].error == 0 and run.results[-1].ends:
            return AdvisedWarning(
                f"{name}: the first member makes no error on the training samples, so there was "
                "nothing to boost and the ensemble is this member alone.",
                self._advice("weaker"),
            )
        if run.gave_up:
            is_perfect = run.results[-1].error == 0
            why = "made no error" if is_perfect else "were no better than chance"
            return AdvisedWarning(
                f"{name}: {run.n_failed} members in a row {why}, so boosting "
                f"ended with {_count(run.n_kept)} of the {self._n_members} requested.",
                self._advice("weaker" if is_perfect else "stronger"),
            )
        # With early stopping, fewer members are expected.
        by_itself = run.results[-1].ends and self.n_iter_no_change is None
        return self._explain_few(run) if by_itself else None

    def _explain_few(self, run: Run) -> AdvisedWarning | None:
        """A warning about a run that its own rule ended with few members."""
        labels, last = run.scheme.labels, run.results[-1]
        if run.n_kept >= self._least_share * self._n_members or (labels == labels[:1]).all():
            return None
        few = (
            f"{type(self).__name__}: boosting ended with {_count(run.n_kept)} of the "
            f"{self._n_members} requested, because"
        )
        if last.error == 0:
            finding = f"{few} the last one makes no error on the training samples."
            return AdvisedWarning(finding, self._advice("weaker"))
        if last.keep:  # of several problems, some ended in each way
            return AdvisedWarning(
                f"{few} on each problem a member makes no error, or is no better than chance.",
                "Give another estimator.",
            )
        return AdvisedWarning(
            f"{few} the next one errs on {last.error:.3g} of the weight, which is no better than "
            "chance.",
            self._advice("stronger"),
        )

    @property
    def _least_share(self) -> float:
        """A run that ends by itself with a smaller share of the members requested warns."""
        return LEAST_SHARE

    def _advice(self, wanted: Literal["stronger", "weaker"]) -> str:
        """Advice for members that are too weak, or too strong."""
        such = self._stronger if wanted == "stronger" else self._weaker
        return f"Give a {wanted} estimator, {such}."

    @property
    def n_estimators_(self) -> int:
        """Number of members; fewer than requested where a run ended early."""
        return len(self)

    def _adapted(self) -> OwnBoostedEnsemble:
        self._check_members_vote()
        return OwnBoostedEnsemble(self)

    def _keep_members(self, index: npt.NDArray[np.int64]) -> None:
        self.members_ = self.members_.subset(index)
        self.member_weights_ = self.member_weights_[index]
        self.errors_ = self.errors_[index]

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature by impurity decrease, members weighted by their votes."""
        check_is_fitted(self, "members_")
        votes = np.abs(self.member_weights_).reshape(len(self.member_weights_), -1).mean(axis=1)
        if isinstance(self.members_, Forest):
            return impurity_importances(self.members_, self.estimator_._impurity, votes)
        return self._mean_importances(votes)

    @property
    def estimator_weights_(self) -> Floats:
        """``member_weights_``, by the name that scikit-learn's AdaBoost gives them."""
        check_is_fitted(self, "members_")
        return self.member_weights_

    @property
    def estimator_errors_(self) -> Floats:
        """``errors_``, by the name that scikit-learn's AdaBoost gives them."""
        check_is_fitted(self, "members_")
        return self.errors_

    def _check_learnt(self) -> None:
        """Raise if no member was better than chance: there is no bound then."""
        if self.errors_[0] >= HALF:
            raise AttributeError(
                f"there is no bound: the only member of this {type(self).__name__} errs "
                f"on {self.errors_[0]:.3g} of the weight, which is no better than chance."
            )

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the members, one after the other.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; with trees as members, missing values and categories are supported.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        before = WarmStart.of(self)
        with restored_on_failure(self):
            self.estimator_ = self._base()
            self._check_base()
            self._check_rule()
            self._check_stopping()
            samples = self._read_all(X, y, sample_weight)
            first = before.check(self, self._n_members)
            if first:
                self._check_same_settings()
                self._check_same_samples(before, samples)
            else:
                self._sequence = seed_sequence(self.random_state)
            training, validation = self._part(samples)
            known = deepcopy(self._run) if first else None
            had_ended = known is not None and known.ended
            run = Run(self._scheme(training)) if known is None else known
            with report_progress(
                self, self._n_members - first, self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                if self._stops_out_of_bag and run.out_of_bag is None:
                    patience = Patience(cast(int, self.n_iter_no_change), self.tol)
                    run.out_of_bag = OutOfBag(patience, self._tally(len(training)))
                rounds = _Rounds(self, run, before if first else None, validation)
                self._train(rounds, training, progress)
            rounds.finish()
            self._history = [(range(len(self.members_)), samples.digest)]
            self._forget_decider()
            self._learn_by_folds(X, y, sample_weight)
            self._check_decider()
            # Only a warm start needs the weights.
            self._run = run if self.warm_start else None
            self._made_by = self._run_settings()
        answers = self._explain(run)
        if had_ended:
            warn_user(
                f"{type(self).__name__}: the run had ended with {_count(first)}, so none was added."
            )
        elif answers is not None:
            warn_user(answers)
        return self

    def _train(self, rounds: _Rounds, training: TrainingSet, progress: Progress) -> None:
        """Train members until there are enough, or the run ends."""
        if rounds.n_members >= self._n_members or rounds.run.ended:
            return
        learner = self._learner(training)
        for one in boost(rounds.run, learner, self._sequence):
            rounds.add(one)
            if rounds.run.out_of_bag is not None:
                assert isinstance(learner, TreeLearner | EstimatorLearner)
                answers, vote = self._outputs_of(one.member, training.X)[0], one.result.vote
                rounds.stopped = rounds.run.out_of_bag.ends(
                    answers, vote, learner.drawn[-1], training
                )
            progress.update(1)
            if rounds.stopped:
                rounds.run.ended = True
                break
            if rounds.n_members >= self._n_members or progress.stop_requested:
                break

    @property
    def _stops_out_of_bag(self) -> bool:
        return self.n_iter_no_change is not None and self.early_stopping == "oob"

    def _check_stopping(self) -> None:
        """Only members trained on drawn samples leave some out."""
        if not self._stops_out_of_bag:
            return
        if self.sampling != "resample":
            raise ValueError(
                f'early_stopping="oob" needs sampling="resample", not {self.sampling!r}: members '
                "trained with weights leave no sample out."
            )
        if isinstance(self.estimator_, ProvidesLearner):
            raise ValueError(
                f'early_stopping="oob" is not available for {type(self.estimator_).__name__}; use '
                '"validation".'
            )

    def _run_settings(self) -> dict[str, Any]:
        """The parameters that a run cannot change on its way, each as a word."""
        free = {self._size_parameter, "n_jobs", "verbose", "warm_start", "random_state", "combine"}
        given = self.get_params(deep=False)
        return {name: _value_key(given[name]) for name in given if name not in free}

    def _check_same_settings(self) -> None:
        """A run continues with the settings that it started with."""
        now, then = self._run_settings(), self._made_by
        others = [name for name in now if now[name] != then.get(name)]
        if others:
            raise ValueError(
                f"warm_start=True continues with the previous run, and {', '.join(others)} "
                f"cannot change; set {'it' if len(others) == 1 else 'them'} back, or "
                "use warm_start=False to start over."
            )

    def _check_same_samples(self, before: WarmStart, samples: TrainingSet) -> None:
        """A run continues from its own weights, which belong to its own samples."""
        ((_, digest),) = before.history
        if getattr(self, "_run", None) is None or digest != samples.digest:
            raise ValueError(
                f"warm_start=True continues with the weights that {type(self).__name__} gave to "
                "the samples of the previous fit, which must be the same and fitted with "
                "warm_start=True too; use warm_start=False to start over."
            )

    def _part(self, samples: TrainingSet) -> tuple[TrainingSet, TrainingSet | None]:
        """The samples to train on, and those set aside where early stopping wants some."""
        if self.n_iter_no_change is None or self._stops_out_of_bag:
            return samples, None
        rng = member_generator(self._sequence, Purpose.SETTING_ASIDE)
        held = set_aside(
            samples.X, samples.y, samples.sample_weights, self.validation_fraction, rng,
            by_class=samples.n_classes > 0,
        )  # fmt: skip
        if not held.any():
            warn_that_none_is_set_aside(self, len(samples))
            return samples, None
        return samples.take(np.flatnonzero(~held)), samples.take(np.flatnonzero(held))


def warn_that_none_is_set_aside(ensemble: Any, n_samples: int) -> None:
    """Warn that the validation set for early stopping is empty."""
    warn_user(
        f"validation_fraction={ensemble.validation_fraction} sets none of the {n_samples} "
        "samples aside, so nothing determines when to stop: boosting continues up to "
        f"{ensemble._size_parameter}={ensemble._n_members}."
    )


def _count(n_members: int) -> str:
    return "1 member" if n_members == 1 else f"{n_members} members"


def _value_key(value: Any) -> str:
    """A key that is the same for equal values of a parameter."""
    try:
        return str(joblib.hash(value))
    except Exception:  # not picklable
        return f"object {id(value)}"


class OutOfBag:
    """The vote on each training sample of the members that were trained without it."""

    def __init__(self, patience: Patience, tally: Tally) -> None:
        self.tally = tally
        self.patience = patience
        patience.begin(1.0)  # tol is absolute here

    def ends(self, answers: npt.NDArray[Any], vote: float, drawn: Mask, data: TrainingSet) -> bool:
        """Add a member, and return whether to stop."""
        self.tally.add(answers, np.where(drawn, 0.0, vote))
        # A sample that no member was trained without counts as wrong: the first members are not
        # compared on the few samples that they left out.
        wrong = (self.tally.decide() != data.y) | (np.asarray(self.tally.total) == 0)
        return self.patience.ends(float(np.average(wrong, weights=data.sample_weights)))


class _Rounds:
    """Collects the members of a fit, and their error on the validation set."""

    def __init__(
        self,
        ensemble: BoostedEnsemble,
        run: Run,
        before: WarmStart | None,
        validation: TrainingSet | None,
    ) -> None:
        self.ensemble = ensemble
        self.run = run
        self.parts: list[Any] = [] if before is None else [before.members]
        self.n_members = self.n_before = 0 if before is None else len(before.members)
        known: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))
        if before is not None:
            known = (ensemble.member_weights_, ensemble.errors_)
        self.votes, self.errors = (list(numbers) for numbers in known)
        self.validation = validation
        self.stopped = False
        self.patience: Patience | None = None
        if validation is not None:
            assert ensemble.n_iter_no_change is not None
            self.patience = Patience(ensemble.n_iter_no_change, ensemble.tol)
            self.patience.begin(1.0)  # tol is absolute here
            self.rows = validation.X
            self.tally = ensemble._tally(len(validation))
            if before is not None:
                answers = ensemble._outputs_of(before.members, self.rows)
                for one, vote in zip(answers, self.votes, strict=True):
                    self._validate(one, vote)

    def add(self, one: Round) -> None:
        self.parts.append(one.member)
        self.n_members += 1
        self.votes.append(one.result.vote)
        self.errors.append(one.result.error)
        if self.validation is not None:
            self._validate(self.ensemble._outputs_of(one.member, self.rows)[0], one.result.vote)

    def _validate(self, answers: npt.NDArray[Any], vote: Any) -> None:
        assert self.validation is not None
        assert self.patience is not None
        self.tally.add(answers, vote)
        loss = self.ensemble._loss(self.tally, self.validation.y, self.validation.sample_weights)
        self.stopped = self.patience.ends(loss)

    def finish(self) -> None:
        """Set the members of the ensemble: all, or up to the best with early stopping."""
        ensemble = self.ensemble
        if self.n_members == self.n_before:  # nothing was trained
            return
        members = concatenate(self.parts)
        watch = self.run.out_of_bag
        patience = watch.patience if watch is not None else self.patience
        n_kept = patience.best if self.stopped and patience is not None else len(members)
        ensemble.members_ = members.subset(range(n_kept)) if n_kept < len(members) else members
        ensemble.member_weights_ = np.array(self.votes[:n_kept])
        ensemble.errors_ = np.array(self.errors[:n_kept])
        ensemble._take_from(self.run.scheme, n_kept)
        ensemble.__dict__.pop("validation_errors_", None)
        if patience is not None:
            ensemble.validation_errors_ = np.array(patience.losses)


@dataclass(frozen=True, eq=False)
class OwnBoostedEnsemble(OwnEnsemble):
    """A fitted booster, whose members have unequal votes."""

    @property
    def member_weights(self) -> Floats | None:
        """Weight of each member in the vote; None when all weigh the same."""
        return unless_equal(self.ensemble._vote_weights())

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("each of its members was trained on all the samples, weighted")

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        smaller._keep_members(index)
        smaller._keep_decider(index)
        smaller.n_estimators = len(index)
        smaller.warm_start = False
        # The sample weights are those after all members, so a warm start is impossible.
        smaller._run = None
        smaller._history = [(range(len(index)), CHOSEN)]
        smaller.__dict__.pop("validation_errors_", None)
        return smaller
