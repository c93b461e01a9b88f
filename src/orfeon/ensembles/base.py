"""What all ensembles of independent members share: one fit, warm start, and the members' answers.

A method says how it perturbs the training set for a member (:meth:`IndependentEnsemble._perturb`)
and what its base learner is; everything else is here.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context, clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from orfeon.ensembles.perturbation import Examples, Perturbation
from orfeon.ensembles.training import EstimatorTraining, Recipe, Trained, TreeTraining
from orfeon.ensembles.units import MAX_UNITS, as_units
from orfeon.forest import Forest
from orfeon.growth.blocks import MOST, run_in_blocks
from orfeon.importance import impurity_importances
from orfeon.members import EstimatorMembers, LazyView, concatenate
from orfeon.progress import CallbackSupport, Progress, report_progress
from orfeon.seeding import seed_sequence
from orfeon.tabular import TabularEstimator, _check_length, are_counts
from orfeon.trees.base import BaseTree
from orfeon.trees.limits import LIMITS

Floats = npt.NDArray[np.float64]

#: Where someone watches, a block has about this many examples, so that there is something to see.
_WATCHED = 1 << 18

#: What members were drawn by that were chosen from among others: nothing that can be drawn again.
CHOSEN = "chosen from among others"

ENSEMBLE: dict[str, list[Any]] = {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "random_state": LIMITS["random_state"],
}
ESTIMATOR: dict[str, list[Any]] = {"estimator": [HasMethods(["fit", "predict"]), None]}


class IndependentEnsemble(CallbackSupport, TabularEstimator):
    """Members trained independently of each other, each on its own perturbation of the examples.

    Subclasses give :meth:`_perturb` and :meth:`_base`.
    """

    #: Whether the method needs a base learner that takes weights.
    _needs_weights: ClassVar[bool] = False
    #: Members that are trained by one call, at most.
    _most_in_block: ClassVar[int] = MOST
    #: Whether each member needs the one before, so that there is one block of them.
    _is_sequential: ClassVar[bool] = False
    #: The parameter that says how many members there are.
    _size_parameter: ClassVar[str] = "n_estimators"
    #: The parameters that decide what is drawn for a member.
    _draws_by: ClassVar[tuple[str, ...]] = ()

    members_: Any
    estimator_: Any
    n_estimators: int
    warm_start: bool
    n_jobs: int | None
    verbose: int

    # -- what a method says --------------------------------------------------------------------

    @abstractmethod
    def _perturb(self, examples: Examples, rng: np.random.Generator, member: int) -> Perturbation:
        """What one member is trained on."""

    @abstractmethod
    def _base(self) -> Any:
        """The base learner, not fitted: a tree of ours goes through the engine."""

    def _prepare(self, examples: Examples, members: range) -> None:
        """Check the parameters against the examples before any member is trained."""

    def _training(self, data: Any, recipe: Recipe) -> Callable[[slice], Trained]:
        """What trains a block of members."""
        if isinstance(self.estimator_, BaseTree):
            self.estimator_._prepare(data)
            return TreeTraining(self.estimator_, data, recipe, self._classes)
        return EstimatorTraining(self.estimator_, data, recipe)

    def _only_draws(self, examples: Examples) -> bool:
        """Whether weights decide nothing but which examples are drawn."""
        return False

    def _leaves_out(self) -> bool:
        """Whether it must be known which examples each member saw."""
        return False

    def _finish(self, data: Any, recipe: Recipe, seen: npt.NDArray[np.bool_] | None) -> None:
        """What is left to do once the members are there."""

    @property
    def _n_members(self) -> int:
        return int(getattr(self, self._size_parameter))

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The examples; with trees as members, missing values and categories are welcome.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights: 0 is the same as leaving the example out, 2 as giving it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        before = _Before.of(self)
        with before.restored_on_failure(self):
            self.estimator_ = self._base()
            self._check_base()
            data, examples = self._read_all(X, y, sample_weight)
            first = before.check(self, self._n_members)
            if not first:
                self._sequence = seed_sequence(self.random_state)
            members = range(first, self._n_members)
            self._history = [*before.history, (members, self._drawing_key(examples))]
            self._check_weights(examples)
            self._prepare(examples, members)
        recipe = Recipe(examples, self._perturb, self._sequence, self._leaves_out())
        with report_progress(
            self, len(members), self.verbose, X=X, y=y, sample_weight=sample_weight
        ) as progress:
            blocks = self._train(data, recipe, members, progress)
            parts = [block.members for block in blocks if block.members is not None]
            self.members_ = concatenate([before.members, *parts] if first else parts)
            if len(self.members_) < members.stop:  # a callback, or the method itself, ended it
                came = range(first, len(self.members_))
                self._history[-1] = (came, f"{self._history[-1][1]}, ended early")
            seen = None
            if recipe.keep_seen:
                earlier = self._seen_before(recipe)
                seen = np.concatenate([*earlier, *(block.seen for block in blocks)])
            self._finish(data, recipe, seen)
        return self

    def _train(
        self, data: Any, recipe: Recipe, members: range, progress: Progress
    ) -> list[Trained]:
        """Train some members in blocks."""
        watched = self.verbose or getattr(self, "_skl_callbacks", None)
        most = self._most_in_block
        if watched and most == MOST:
            most = max(1, min(MOST, _WATCHED // len(recipe.examples)))
        if self._is_sequential:
            most = max(1, len(members))
        return run_in_blocks(
            self._training(data, recipe), members, None if self._is_sequential else self.n_jobs,
            progress.update_and_ask if watched else None, most=most, prefer=self._prefer,
        )  # fmt: skip

    def _drawing_key(self, examples: Examples) -> str:
        """A word for all that decides what is drawn for a member, besides its own generator."""
        names = (*self._draws_by, "class_weight")
        how = [(name, getattr(self, name, None)) for name in names]
        return str(joblib.hash((how, examples.digest)))

    def _seen_before(self, recipe: Recipe) -> list[Any]:
        """What the members of the fits before saw of these examples: drawn again, where possible.

        Members that were drawn in another way, or from other examples, may have seen any of them.
        """
        *earlier, (_, key) = self._history
        if any(other != key for _, other in earlier):
            warnings.warn(
                "warm_start=True with other examples, or drawn in another way, than before: what "
                "the earlier members saw of them is not known, so they do not take part in "
                "out-of-bag estimates.",
                UserWarning,
                stacklevel=5,
            )
        seen = []
        for members, other in earlier:
            if other == key:
                drawn = recipe.draw(slice(members.start, members.stop))[2] if members else []
                seen += [recipe.seen(drawn)] if drawn else []
            else:
                seen.append(np.ones((len(members), len(recipe.examples)), dtype=bool))
        return seen

    @property
    def _classes(self) -> npt.NDArray[Any]:
        """The classes, none in regression."""
        return np.asarray(getattr(self, "classes_", ()))

    @property
    def _prefer(self) -> Any:
        return "threads" if self._has_trees else "processes"

    @property
    def _has_trees(self) -> bool:
        return isinstance(self.estimator_, BaseTree)

    def _check_base(self) -> None:
        """Refuse a base learner of the other kind."""
        base, mine = self.estimator_, is_classifier(self)
        if isinstance(base, BaseTree):
            base._validate_params()  # it is not fitted itself, so nobody else would
        if (mine and is_regressor(base)) or (not mine and is_classifier(base)):
            kind = "classifier" if mine else "regressor"
            raise ValueError(f"estimator={base} is not a {kind}; {type(self).__name__} needs one.")

    def _check_weights(self, examples: Examples) -> None:
        """Refuse weights that the base learner cannot take."""
        if self._has_trees or has_fit_parameter(self.estimator_, "sample_weight"):
            return
        who = type(self.estimator_).__name__
        if self._needs_weights:
            raise ValueError(
                f"estimator={self.estimator_} takes no sample_weight, which {type(self).__name__} "
                "needs; BaggingClassifier and BaggingRegressor do without."
            )
        if not are_counts(examples.weights) and not self._only_draws(examples):
            raise ValueError(
                f"sample_weight has fractions, and {who} takes no weights; give whole numbers, or "
                "another base learner."
            )

    def _read_all(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True
    ) -> tuple[Any, Examples]:
        """The training set for the members, and for the perturbations."""
        if self._has_trees:
            data, digest = as_units(self._read(X, y, sample_weight, reset=reset))
            examples = Examples(
                data.y, data.weighted_by_class, data.n_classes, data.schema.n_attributes,
                data.rows, data.n_given, data.weights, digest,
            )  # fmt: skip
            return data, examples
        rows, y, weights, taken, n_given = self._read_examples(X, y, sample_weight, reset=reset)
        rows = self._check_rows(rows, reset=reset)
        _check_length(y, rows.shape[0])
        if are_counts(weights) and len(y) < weights.sum() <= max(MAX_UNITS, 10 * len(y)):
            copies = np.repeat(np.arange(len(y)), weights.astype(np.int64))
            rows, y, taken = _safe_indexing(rows, copies), y[copies], taken[copies]
            weights = np.ones(len(y))
        codes, n_classes, factors = self._code_target(y, weights)
        weighted = weights if factors is None else weights * factors[codes]
        examples = Examples(
            codes, weighted, n_classes, self.n_features_in_, taken, n_given, weights,
            joblib.hash((rows, codes, weights)),
        )  # fmt: skip
        return rows, examples

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Rows for base learners of any kind: data frames stay data frames."""
        if hasattr(X, "iloc"):
            if reset:
                self.n_features_in_ = X.shape[1]
            elif X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
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

    # -- asking the members --------------------------------------------------------------------

    def _rows(self, X: Any) -> Any:
        """Rows to predict, as the members take them."""
        check_is_fitted(self, "members_")
        return self._encode(X) if self._has_trees else self._check_rows(X, reset=False)

    def _ask(self, ask: Callable[[Any], npt.NDArray[Any]], rows: Any, axis: int) -> Any:
        """Ask the members about rows, in threads when they are many; ``axis`` is the rows' own."""
        n_rows = rows.shape[0]
        if self.n_jobs in (None, 1) or n_rows * len(self.members_) < 1 << 18:
            return ask(rows)
        from joblib import Parallel, delayed, effective_n_jobs

        n_parts = min(4 * effective_n_jobs(self.n_jobs), max(1, n_rows // 64))
        cuts = np.linspace(0, n_rows, n_parts + 1).astype(np.int64)
        parts = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(ask)(rows[a:b] if self._has_trees else _slice(rows, a, b))
            for a, b in pairwise(cuts)
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
        X : array or data frame of shape (n_rows, n_attributes)
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
        X : array or data frame of shape (n_rows, n_attributes)
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
    def estimators_(self) -> Any:
        """The members as estimators of their own, made when they are asked for."""
        check_is_fitted(self, "members_")
        if isinstance(self.members_, EstimatorMembers):
            return self.members_.estimators
        return LazyView(len(self.members_), self._member)

    @property
    def estimators_features_(self) -> list[npt.NDArray[np.int64]]:
        """Attributes that each member was trained on, where members are not trees."""
        check_is_fitted(self, "members_")
        chosen = getattr(self.members_, "attributes", None)
        everything = np.arange(self.n_features_in_)
        return [everything] * len(self.members_) if chosen is None else list(chosen)

    def _member(self, index: int) -> Any:
        tree = clone(self.estimator_)
        tree.forest_ = self.members_.subset([index])
        self._hand_over(tree)
        return tree

    def _hand_over(self, member: Any) -> None:
        """Let a member know the attributes and the classes."""
        for name in ("schema_", "n_features_in_", "feature_names_in_", "classes_", "n_classes_"):
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))

    def __len__(self) -> int:
        check_is_fitted(self, "members_")
        return len(self.members_)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each attribute: by impurity decrease, or by permutation where asked for."""
        check_is_fitted(self, "members_")
        permuted = getattr(self, "permutation_importances_", None)
        if permuted is not None:
            return np.asarray(permuted.mean)
        if isinstance(self.members_, Forest):
            return impurity_importances(self.members_, self.estimator_._impurity)
        return self._mean_importances()

    def _mean_importances(self) -> Floats:
        """Importances of members of any kind, averaged."""
        members = self.members_
        if not all(hasattr(e, "feature_importances_") for e in members.estimators):
            raise AttributeError(
                f"the members of this {type(self).__name__} have no feature_importances_."
            )
        total = np.zeros(self.n_features_in_)
        for attributes, estimator in zip(
            self.estimators_features_, members.estimators, strict=True
        ):
            total[attributes] += estimator.feature_importances_
        return total / len(members)


def _slice(X: Any, first: int, last: int) -> Any:
    return X.iloc[first:last] if hasattr(X, "iloc") else X[first:last]


class _Before:
    """What a warm start goes on from."""

    def __init__(self, members: Any, state: dict[str, Any]) -> None:
        self.members = members
        self.history: list[tuple[range, str]] = state.get("_history", [])
        self._state = state

    @classmethod
    def of(cls, ensemble: IndependentEnsemble) -> _Before:
        """Take note of a fitted ensemble before it is fitted again."""
        warm = getattr(ensemble, "warm_start", False) and hasattr(ensemble, "members_")
        return cls(ensemble.members_, dict(ensemble.__dict__)) if warm else cls(None, {})

    @contextmanager
    def restored_on_failure(self, ensemble: IndependentEnsemble) -> Iterator[None]:
        """Give a warm ensemble back as it was when what it is given is refused."""
        try:
            yield
        except BaseException:
            if self.members is not None:
                ensemble.__dict__.clear()
                ensemble.__dict__.update(self._state)
            raise

    def check(self, ensemble: IndependentEnsemble, n_members: int) -> int:
        """How many members are kept; refuses fewer members than there are, and other data."""
        if self.members is None:
            return 0
        refusal, size = None, ensemble._size_parameter
        if n_members < len(self.members):
            refusal = (
                f"{size}={n_members} is less than the {len(self.members)} members there are; "
                "warm_start=True only adds some. Use warm_start=False to begin anew."
            )
        elif not self._fits(ensemble):
            refusal = (
                "warm_start=True goes on with the attributes, the classes and the kind of members "
                "of the fit before, and these are others; use warm_start=False to begin anew."
            )
        elif ensemble._is_sequential and any(key == CHOSEN for _, key in self.history):
            refusal = (
                "the members there are were chosen from among others, and this method trains each "
                "on what those before it got wrong; use warm_start=False to begin anew."
            )
        if refusal is not None:
            raise ValueError(refusal)
        if n_members == len(self.members):
            warnings.warn(
                f"warm_start=True and {size}={n_members}, as many as there are: no member is "
                "trained.",
                UserWarning,
                stacklevel=4,
            )
        return len(self.members)

    def _fits(self, ensemble: IndependentEnsemble) -> bool:
        """Whether members, attributes and classes are still of the same kind."""
        classes = (getattr(ensemble, "classes_", ()), self._state.get("classes_", ()))
        names = ("schema_", "n_features_in_")
        same = all(getattr(ensemble, name, None) == self._state.get(name) for name in names)
        of_trees = not isinstance(self.members, EstimatorMembers)
        return same and of_trees == ensemble._has_trees and np.array_equal(*classes)
