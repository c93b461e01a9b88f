"""Base of pruned classifiers and regressors: train, order the members, keep the first ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.base import transactional
from orfeon.ensembles.with_selection import EnsembleWithSelection
from orfeon.forest import Forest
from orfeon.members import unpruned
from orfeon.members.vote_input import read_ensemble
from orfeon.ordering.order_type import Keep, Order, order_source
from orfeon.ordering.random_order import RandomOrder
from orfeon.ordering.rule import Rule, as_rule
from orfeon.utils import saved
from orfeon.utils.scikit_learn import Interval, StrOptions, _fit_context
from orfeon.utils.seeding import Purpose, branch, seed_sequence
from orfeon.utils.types import Floats


def ensemble_has(method: str) -> Callable[[Any], bool]:
    """Whether the ensemble of a pruned one has a method, fitted or not."""

    def find(pruned: Any) -> bool:
        inner = getattr(pruned, "ensemble_", pruned.estimator)
        return hasattr(pruned._base() if inner is None else inner, method)

    return find


@saved.attributes(
    kept_=saved.indices,
    ensemble_=saved.estimator,
    order_=saved.instance("Order"),
    n_features_in_=saved.optional(saved.integer(1)),
    feature_names_in_=saved.optional(saved.labels),
)
class PrunedEnsemble(EnsembleWithSelection):
    """Train an ensemble, order its members, keep the first ones."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EnsembleWithSelection._parameter_constraints,
        "rule": [str, Rule],
        "keep": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto", "rule"}),
        ],
        "on": [
            StrOptions({"train", "out_of_bag", "validation", "examples"}, deprecated={"examples"})
        ],
    }

    rule: str | Rule
    keep: Keep
    ensemble_: Any
    order_: Order
    kept_: npt.NDArray[np.int64]
    n_features_in_: int

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the ensemble, order its members and keep the first ones.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples, in any form the ensemble accepts.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice. For an ensemble without
            support for weights, whole-number weights become copies of samples.

        Returns
        -------
        self
            The fitted, pruned ensemble.
        """
        rule = as_rule(self.rule)
        whole = self._prepared()
        rule.check(is_regression=is_regressor(self))
        is_open = isinstance(rule, RandomOrder) and rule.random_state is None
        if is_open and self.random_state is not None:
            rule = RandomOrder(_seed_of_order(self.random_state))
        samples = self._train(whole, X, y, sample_weight)
        source = read_ensemble(
            whole, *samples, on="train" if self.on == "validation" else self.on,
            was_trained_on=self._was_trained_on(whole),
        )  # fmt: skip
        found = order_source(source, rule)
        self.kept_ = found.members(self.keep)
        assert source.ensemble is not None
        self.ensemble_ = source.ensemble.subset(self.kept_)
        self.order_ = found.without_source()
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.ensemble_, name):
                setattr(self, name, getattr(self.ensemble_, name))
            else:
                self.__dict__.pop(name, None)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Decision of the kept members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes or predictions.
        """
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.predict(X))

    @property
    def error_curve_(self) -> Floats:
        """Error of the first 1, 2, ... members on the selection samples."""
        check_is_fitted(self, "ensemble_")
        return self.order_.error_curve

    @property
    def estimators_(self) -> Any:
        """The kept members."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.estimators_

    @property
    def forest_(self) -> Forest:
        """The kept members as a forest, where they are trees of orfeon."""
        check_is_fitted(self, "ensemble_")
        forest: Forest = self.ensemble_.forest_
        return forest

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature for the kept members, where the ensemble has it."""
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.feature_importances_)

    @available_if(ensemble_has("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each of the kept trees.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
            Node indices within each tree.
        """
        check_is_fitted(self, "ensemble_")
        return np.asarray(self.ensemble_.apply(X))

    @available_if(ensemble_has("decision_path"))  # type: ignore[untyped-decorator]
    def decision_path(self, X: Any) -> tuple[Any, npt.NDArray[np.int64]]:
        """Nodes that each row passes through, in all of the kept trees.

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
        check_is_fitted(self, "ensemble_")
        nodes, starts = self.ensemble_.decision_path(X)
        return nodes, np.asarray(starts)

    @available_if(ensemble_has("staged_predict"))  # type: ignore[untyped-decorator]
    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Decision of the first 1, 2, ... of the kept members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        iterator of ndarray of shape (n_rows,)
            Classes or predictions. A rule that weights the votes raises an error, as ``ensemble_``
            does not know these weights.
        """
        stages: Iterator[npt.NDArray[Any]] = unpruned(self).staged_predict(X)
        return stages

    def __len__(self) -> int:
        check_is_fitted(self, "ensemble_")
        return len(self.kept_)

    def _kept_ensemble(self) -> Any:
        """The members that were kept, for :func:`orfeon.members.unpruned`."""
        check_is_fitted(self, "ensemble_")
        if self.order_.has_own_weights:
            raise ValueError(
                f"the rule of this {type(self).__name__} weights the votes, and its members do not "
                "know these weights; pass its ensemble_, in which all votes count equally."
            )
        return self.ensemble_


def _seed_of_order(random_state: Any) -> int:
    """A seed that no member uses."""
    root = seed_sequence(random_state)
    return int(branch(root, Purpose.ORDERING).generate_state(1)[0])
