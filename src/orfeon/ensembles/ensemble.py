"""Base of all ensembles: reads samples, queries members, and remembers earlier fits.

Neither the training set nor the bootstrap samples are kept. A digest identifies the samples of the
fit, and each member's generator can redraw its bootstrap sample.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from orfeon.base import TabularEstimator, check_n_features
from orfeon.data.training_set import (
    TrainingSet,
    check_length,
    copies,
    n_samples,
    seen_with_copies,
)
from orfeon.ensembles.decision import slice_rows
from orfeon.forest import Forest
from orfeon.forest.importance import impurity_importances
from orfeon.members.members import EstimatorMembers, LazyView
from orfeon.members.protocol import Members, MembersNotVotingError
from orfeon.trees.base import BaseTree
from orfeon.utils import saved
from orfeon.utils.progress import CallbackSupport
from orfeon.utils.row_threads import PART
from orfeon.utils.scikit_learn import _check_feature_names
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Integers, Mask
from orfeon.utils.user_warning import warn_user

#: Minimum number of votes for which members are queried in threads.
_FEWEST_IN_THREADS = 1 << 18


@saved.attributes(
    schema_=saved.optional(saved.instance("Schema")),  # only trees need it
    estimator_=saved.one_of(saved.none, saved.estimator),
    members_=saved.instance(
        "Forest", "CommitteeMembers", "EstimatorMembers", "PoolMembers", "ProblemMembers"
    ),
)
class Ensemble(CallbackSupport, TabularEstimator):
    """Members of one kind whose outputs are combined.

    Subclasses train the members and combine their outputs.
    """

    #: The parameter that sets the number of members.
    _size_parameter: ClassVar[str] = "n_estimators"
    #: Whether the decision is a vote, or the mean, of the members.
    _decides_by_vote: ClassVar[bool] = True
    #: Whether each member needs the one before.
    _is_sequential: ClassVar[bool] = False

    members_: Any
    estimator_: Any
    n_estimators: int
    warm_start: bool
    n_jobs: int | None
    verbose: int

    @property
    def _n_members(self) -> int:
        return int(getattr(self, self._size_parameter))

    # -- reading the samples ------------------------------------------------------------------

    @property
    def _classes(self) -> npt.NDArray[Any]:
        """The classes; none in regression, and with several outputs."""
        if self._output_classes:
            return np.asarray(())
        return np.asarray(getattr(self, "classes_", ()))

    @property
    def _prefer(self) -> Any:
        return "threads" if self._has_trees else "processes"

    @property
    def _has_trees(self) -> bool:
        return isinstance(self.estimator_, BaseTree)

    @property
    def _takes_encoded(self) -> bool:
        return self._has_trees

    def _check_base(self) -> None:
        """Reject a regressor in a classifier, and the reverse."""
        base, mine = self.estimator_, is_classifier(self)
        if isinstance(base, BaseTree):
            base._validate_params()  # it is never fitted itself, so nothing else checks it
        if (mine and is_regressor(base)) or (not mine and is_classifier(base)):
            kind = "classifier" if mine else "regressor"
            raise ValueError(f"estimator={base} is not a {kind}; {type(self).__name__} needs one.")

    def _read_all(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        """The training set, each copy a sample of its own."""
        if self._has_trees:
            given = self._read(X, y, sample_weight, reset=reset)
            n_jobs = getattr(self, "n_jobs", None) if len(given) >= PART else 1
            return given.in_canonical_order(joblib.effective_n_jobs(n_jobs))
        rows, y, weights, taken, n_given = self._read_samples(X, y, sample_weight, reset=reset)
        rows = self._check_rows(rows, reset=reset)
        check_length(y, rows.shape[0])
        codes, n_classes, factors = self._code_target(y, weights)
        samples = TrainingSet(
            rows, codes, weights, n_classes, factors, taken, n_given, n_samples(weights)
        ).as_copies()
        digest = joblib.hash((samples.X, samples.y, samples.sample_weights))
        return replace(samples, digest=digest)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Rows for base learners of any kind: data frames stay data frames."""
        if hasattr(X, "iloc"):
            if reset:
                self.n_features_in_ = X.shape[1]
                return X
            _check_feature_names(self, X, reset=False)
            check_n_features(self, X)
            return X
        return validate_data(
            self, X, reset=reset, accept_sparse=["csr", "csc"], dtype=None,
            ensure_all_finite=False,
        )  # fmt: skip

    def _categorical_features(self) -> Any:
        return self.estimator_.categorical_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = getattr(self, "estimator", None)
        if hasattr(given, "__sklearn_tags__") and not isinstance(given, BaseTree):
            inner = get_tags(given).input_tags
            tags.input_tags.allow_nan = inner.allow_nan
            tags.input_tags.sparse = inner.sparse
        return tags

    # -- querying the members ------------------------------------------------------------------

    def _vote_weights(self) -> Floats | None:
        """Weights of the members' votes, None when they are equal.

        Raises an error if the decision is not a vote of single members.
        """
        if self.n_outputs_ > 1:
            raise TypeError(
                f"this {type(self).__name__} has {self.n_outputs_} outputs, and its members do not "
                "vote for one class, so they cannot be ordered, left out or queried individually."
            )
        if not self._decides_by_vote:
            raise TypeError(
                f"{type(self).__name__} does not decide by a vote of its members, each on its own, "
                "so they cannot be ordered, left out or queried individually."
            )
        return None

    def _check_one_output(self, what: str) -> None:
        if self.n_outputs_ > 1:
            raise ValueError(
                f"{what} need one output, and this {type(self).__name__} has {self.n_outputs_}; "
                "predict and predict_proba give all."
            )

    def _adapted(self) -> Members:
        """Its members one by one, for :func:`orfeon.members.adapt`."""
        self._check_members_vote()
        return OwnEnsemble(self)

    def _check_members_vote(self) -> None:
        """Raise an error if the members do not vote."""
        check_is_fitted(self, "members_")
        try:
            self._vote_weights()
        except TypeError as error:
            reason = "it does not decide by a vote of its members, each on its own"
            raise MembersNotVotingError(str(error), type(self).__name__, reason) from error

    def _check_rule(self) -> None:
        """Reject a rule that does not apply here."""

    def _check_decider(self) -> None:
        """Reject a rule with options for another number of members."""

    def _forget_decider(self) -> None:
        """Discard what the rule learnt about other members."""

    def _learn_by_folds(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Let the combining rule learn, if it has not yet."""

    def _keep_decider(self, index: npt.NDArray[np.int64]) -> None:
        """Keep what the rule learnt about some of the members."""

    def _forget_estimates(self) -> None:
        """Discard estimates for other members."""

    def _set_size(self, n_members: int) -> None:
        """Set the parameters of an ensemble of which some members were kept."""
        setattr(self, self._size_parameter, n_members)
        self.warm_start = False

    def _rows(self, X: Any) -> Any:
        """Rows to predict, as the members take them."""
        check_is_fitted(self, "members_")
        return self._encode(X) if self._has_trees else self._check_rows(X, reset=False)

    def _query(self, query: Callable[[Any], npt.NDArray[Any]], rows: Any, axis: int) -> Any:
        """Query the members, in threads for many rows; ``axis`` is that of the rows."""
        n_rows = rows.shape[0]
        if self.n_jobs in (None, 1) or n_rows * len(self.members_) < _FEWEST_IN_THREADS:
            return query(rows)
        from joblib import Parallel, delayed, effective_n_jobs

        n_parts = min(4 * effective_n_jobs(self.n_jobs), max(1, n_rows // 64))
        cuts = np.linspace(0, n_rows, n_parts + 1).astype(np.int64)
        parts = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(query)(slice_rows(rows, a, b)) for a, b in pairwise(cuts)
        )
        return np.concatenate(parts, axis=axis)

    # -- looking at the members ----------------------------------------------------------------

    @property
    def forest_(self) -> Forest:
        """The members as a forest, where they are trees."""
        check_is_fitted(self, "members_")
        if not isinstance(self.members_, Forest):
            raise AttributeError(
                f"this {type(self).__name__} has no forest_: its members are not single trees."
            )
        return self.members_

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
            Node indices within each tree.
        """
        rows = self._rows(X)
        return self.forest_.apply(rows)

    def decision_path(self, X: Any) -> tuple[Any, npt.NDArray[np.int64]]:
        """Nodes that each row passes through, in all trees.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            Ones where a row passes through a node; the nodes of all trees, one after the other.
        ndarray of shape (n_trees + 1,)
            Where the nodes of each tree begin.
        """
        rows = self._rows(X)
        forest = self.forest_
        return forest.decision_path(rows), forest.tree_start

    @property
    def n_outputs_(self) -> int:
        """Number of outputs."""
        check_is_fitted(self, "members_")
        if self._output_classes:
            return len(self._output_classes)
        return self.members_.n_outputs if isinstance(self.members_, Forest) else 1

    @property
    def estimators_(self) -> Any:
        """The members as estimators, created on access."""
        check_is_fitted(self, "members_")
        if isinstance(self.members_, EstimatorMembers):
            return self.members_.estimators
        return LazyView(len(self.members_), self._member)

    @property
    def estimators_features_(self) -> list[npt.NDArray[np.int64]]:
        """Features that each member uses: all features if members are trees of orfeon.

        So ``member.predict(X[:, features])`` works for members of any kind.
        """
        check_is_fitted(self, "members_")
        chosen = getattr(self.members_, "features", None)
        everything = np.arange(self.n_features_in_)
        return [everything] * len(self.members_) if chosen is None else list(chosen)

    def _member(self, index: int) -> Any:
        tree = clone(self.estimator_)
        tree.forest_ = self.members_.subset([index])
        self._hand_over(tree)
        return tree

    def _hand_over(self, member: Any) -> None:
        """Set the features and classes of a member."""
        for name in ("schema_", "n_features_in_", "feature_names_in_", "classes_", "n_classes_"):
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))

    def __len__(self) -> int:
        check_is_fitted(self, "members_")
        return len(self.members_)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature: impurity decrease, or permutation if requested."""
        check_is_fitted(self, "members_")
        permuted = getattr(self, "permutation_importances_", None)
        if permuted is not None:
            return np.asarray(permuted.mean)
        if isinstance(self.members_, Forest):
            return impurity_importances(self.members_, self.estimator_._impurity)
        return self._mean_importances()

    def _mean_importances(self, weights: Floats | None = None) -> Floats:
        """Importances of members of any kind, averaged."""
        members = self.members_
        if not all(hasattr(e, "feature_importances_") for e in members.estimators):
            raise AttributeError(
                f"the members of this {type(self).__name__} have no feature_importances_."
            )
        each = np.zeros((len(members), self.n_features_in_))
        chosen = self.estimators_features_
        for row, features, estimator in zip(each, chosen, members.estimators, strict=True):
            row[features] += estimator.feature_importances_
        return np.asarray(np.average(each, axis=0, weights=weights))


@dataclass(frozen=True, eq=False)
class OwnEnsemble(Members):
    """A fitted ensemble of orfeon."""

    @property
    def n_members(self) -> int:
        return len(self.ensemble.members_)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        return self.ensemble.classes_ if is_classifier(self.ensemble) else None

    @property
    def averages_supports(self) -> bool:
        return getattr(self.ensemble, "_simple_rule", "") == "soft"

    def answers(self, X: Any) -> npt.NDArray[Any]:
        query = self.ensemble.predictions if self.classes is None else self.ensemble.votes
        return np.asarray(query(X))

    def _supports(self, X: Any) -> Floats:
        rows = self.ensemble._rows(X)
        return np.asarray(self.ensemble._query(self.ensemble.members_.supports, rows, 1))

    def _drawn(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        if not hasattr(self.ensemble, "in_bag"):
            raise self._no_out_of_bag("each of its members saw all the samples")
        return np.asarray(self.ensemble.in_bag(X, y, sample_weight) > 0)

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        seen = self._drawn(X, y, sample_weight)
        rows = self.ensemble._rows(X)
        group = copies(rows, np.unique(np.ravel(y), return_inverse=True)[1])
        return seen_with_copies(seen, group)

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        smaller.members_ = self.ensemble.members_.subset(index)
        smaller._keep_decider(index)
        smaller._forget_estimates()
        smaller._set_size(len(index))
        # A member's index no longer identifies its generator: it cannot be redrawn, and members
        # added later get new generators.
        before = origin_of(self.ensemble)
        smaller._origin = before._replace(members=tuple(before.members[t] for t in index))
        smaller._history = [(range(len(index)), CHOSEN)]
        smaller._sequence = branch(self.ensemble._sequence, Purpose.MEMBERS_AFTER_A_SUBSET)
        return smaller


#: The key of members chosen from others: they cannot be redrawn.
CHOSEN = "chosen from among others"


@saved.attributes(
    sequence=saved.seed_sequence, history=saved.history, members=saved.tuple_of(saved.integer(0))
)
class Origin(NamedTuple):
    """Origin of members that were chosen from a larger ensemble."""

    sequence: np.random.SeedSequence
    history: list[tuple[range, str]]
    members: tuple[int, ...]


def origin_of(ensemble: Any) -> Origin:
    """Origin of the members of a fitted ensemble: a larger one, or its own fit."""
    known: Origin | None = getattr(ensemble, "_origin", None)
    if known is not None:
        return known
    return Origin(ensemble._sequence, ensemble._history, tuple(range(len(ensemble.members_))))


def was_trained_on(ensemble: Any, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether an ensemble of orfeon was fitted to exactly these samples."""
    if not isinstance(ensemble, Ensemble) or not getattr(ensemble, "_history", None):
        return False
    try:
        samples = copy(ensemble)._read_all(X, y, sample_weight)
    except (TypeError, ValueError):  # another table: it cannot be the training set
        return False
    key_of = getattr(ensemble, "_drawing_key", lambda given: given.digest)
    history = origin_of(ensemble).history
    return any(key.split(",")[0] == key_of(samples) for _, key in history)


class WarmStart:
    """The fit that a warm start continues."""

    def __init__(self, members: Any, state: dict[str, Any]) -> None:
        self.members = members
        self.history: list[tuple[range, str]] = []
        if members is not None:
            self.history = state.get("_history", [])
        self._state = state

    @classmethod
    def of(cls, ensemble: Ensemble) -> WarmStart:
        """Record a fitted ensemble before it is fitted again."""
        warm = getattr(ensemble, "warm_start", False) and hasattr(ensemble, "members_")
        return cls(ensemble.members_ if warm else None, dict(ensemble.__dict__))

    def check(self, ensemble: Ensemble, n_members: int) -> int:
        """Number of members kept; rejects a smaller ensemble, and other data."""
        if self.members is None:
            return 0
        refusal, size = None, ensemble._size_parameter
        if n_members < len(self.members):
            refusal = (
                f"{size}={n_members} is less than the {len(self.members)} existing members; "
                "warm_start=True only adds members. Use warm_start=False to start over."
            )
        elif not self._fits(ensemble):
            refusal = (
                "warm_start=True continues with the features, the classes and the kind of members "
                "of the previous fit, but these differ; use warm_start=False to start over."
            )
        elif ensemble._is_sequential and any(key == CHOSEN for _, key in self.history):
            refusal = (
                "the existing members were chosen from others, and this method trains each member "
                "on the errors of those before it; use warm_start=False to start over."
            )
        if refusal is not None:
            raise ValueError(refusal)
        if n_members == len(self.members):
            warn_that_none_is_added(size, n_members)
        return len(self.members)

    def _fits(self, ensemble: Ensemble) -> bool:
        """Whether members, features and classes are still of the same kind."""
        classes = (getattr(ensemble, "classes_", ()), self._state.get("classes_", ()))
        names = ("schema_", "n_features_in_")
        same = all(getattr(ensemble, name, None) == self._state.get(name) for name in names)
        first = getattr(self.members, "rounds", [self.members])[0]  # of several in each round
        of_trees = not isinstance(first, EstimatorMembers)
        return same and of_trees == ensemble._has_trees and _are_equal(*classes)


def _are_equal(one: Any, other: Any) -> bool:
    """Whether classes are the same: of one output, or of each of several."""
    if isinstance(one, list) != isinstance(other, list):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    return np.array_equal(one, other)


def warn_that_none_is_added(size: str, n_members: int) -> None:
    """Warn that a warm start has nothing to train."""
    warn_user(
        f"warm_start=True and {size}={n_members}, as many members as there are: none is trained."
    )
