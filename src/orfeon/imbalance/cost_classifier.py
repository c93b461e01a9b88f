"""Base of the two wrappers that make a classifier cost-sensitive, and the costs of errors.

One weights the training samples (:mod:`orfeon.imbalance.cost_weights`), the other moves the
decision threshold (:mod:`orfeon.imbalance.cost_threshold`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularEstimator, check_n_features
from orfeon.data.frames import check_shape
from orfeon.ensembles.base import seed_estimator
from orfeon.forest import Forest
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.scikit_learn import HasMethods, StrOptions
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import AnyIntegers, Floats


def inner_has(method: str) -> Callable[[Any], bool]:
    """Condition for ``available_if``: the wrapped classifier has a method."""

    def find(wrapper: Any) -> bool:
        return hasattr(getattr(wrapper, "estimator_", wrapper._given()), method)

    return find


@saved.attributes(
    schema_=None,
    n_features_in_=saved.optional(saved.integer(1)),
    cost_matrix_=saved.matrix,
    estimator_=saved.one_of(saved.none, saved.estimator),
)
class CostClassifier(TabularClassifierMixin, MetaEstimatorMixin, TabularEstimator):  # type: ignore[misc]
    """Wraps a classifier and takes the costs of errors into account."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "costs": [StrOptions({"balanced"}), dict, "array-like"],
        "random_state": LIMITS["random_state"],
    }

    estimator: Any
    costs: Any
    estimator_: Any
    cost_matrix_: Floats

    @abstractmethod
    def _default(self) -> Any:
        """The classifier to wrap when none is given."""

    def _given(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def _clone_base(self) -> Any:
        """A clone of the classifier, seeded if ``random_state`` is given."""
        base = clone(self._given())
        if is_regressor(base):
            raise ValueError(
                f"estimator={base} is not a classifier; {type(self).__name__} needs one."
            )
        if self.random_state is not None:
            word = seed_sequence(self.random_state).generate_state(1, np.uint64)[0]
            seed_estimator(base, int(word))
        return base

    def _read_samples(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Any:
        if X is None or np.isscalar(X) or hasattr(X, "shape"):
            check_shape(tuple(getattr(X, "shape", ())))
        return super()._read_samples(X, y, sample_weight, reset=reset)

    def _keep(self, fitted: Any) -> None:
        self.estimator_ = fitted
        self.n_classes_ = len(self.classes_)
        self.__dict__.pop("n_features_in_", None)
        if hasattr(fitted, "n_features_in_"):
            self.n_features_in_ = fitted.n_features_in_

    def _inner(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _inner_for(self, X: Any) -> Any:
        """The fitted classifier, after checking the number of features of X."""
        inner = self._inner()
        # The wrapped classifier compares the column names of frames itself.
        has_names = hasattr(self, "feature_names_in_") and hasattr(X, "columns")
        if has_names or not hasattr(self, "n_features_in_"):
            return inner
        # Lists and the like are left to the wrapped classifier.
        check_n_features(self, X)
        return inner

    @property
    def forest_(self) -> Forest:
        """The trees of the wrapped classifier, if they are orfeon's."""
        forest: Forest = self._inner().forest_
        return forest

    @property
    def feature_importances_(self) -> Floats:
        """Feature importances of the wrapped classifier."""
        return np.asarray(self._inner().feature_importances_)

    @available_if(inner_has("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each tree of the wrapped classifier.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray
            Node indices, as the wrapped classifier returns them.
        """
        return np.asarray(self._inner_for(X).apply(X))

    @available_if(inner_has("decision_path"))  # type: ignore[untyped-decorator]
    def decision_path(self, X: Any) -> Any:
        """Nodes that each row passes in the trees of the wrapped classifier.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        object
            As the wrapped classifier returns it.
        """
        return self._inner_for(X).decision_path(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._given())
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags


@dataclass(frozen=True)
class Costs:
    """Cost by true and predicted class, and by true class."""

    matrix: Floats
    of_class: Floats


def read_costs(costs: Any, classes: npt.NDArray[Any], codes: AnyIntegers, weights: Floats) -> Costs:
    if isinstance(costs, str | dict):
        of_class = (
            _balanced(classes, codes, weights)
            if isinstance(costs, str)
            else _of_classes(costs, classes)
        )
        matrix = np.tile(of_class[:, None], len(classes))
        np.fill_diagonal(matrix, 0.0)
    else:
        matrix = _matrix(costs, classes)
        of_class = matrix.sum(axis=1)
    if len(classes) == 1:  # there are no errors
        return Costs(matrix, np.ones(1))
    if not of_class.any():
        raise ValueError(f"costs={costs!r} is not allowed: at least one error must cost something.")
    return Costs(matrix, of_class)


def _balanced(classes: npt.NDArray[Any], codes: AnyIntegers, weights: Floats) -> Floats:
    sizes = np.bincount(codes, weights=weights, minlength=len(classes))
    if not sizes.all():
        raise ValueError(
            f"costs='balanced' needs samples of every class; y has none of "
            f"{classes[sizes == 0].tolist()}."
        )
    return np.asarray(weights.sum() / (len(classes) * sizes))


def _of_classes(costs: dict[Any, Any], classes: npt.NDArray[Any]) -> Floats:
    known = classes.tolist()
    unknown = [label for label in costs if label not in known]
    if unknown:
        raise ValueError(
            f"costs names {unknown[0]!r}, which is not a class of y; the classes are {known}."
        )
    for label, cost in costs.items():
        if not isinstance(cost, Real) or not 0 <= float(cost) < np.inf:
            raise _cost_error(f"costs[{label!r}]", cost)
    return np.array([float(costs.get(label, 1.0)) for label in known])


def _matrix(costs: Any, classes: npt.NDArray[Any]) -> Floats:
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"costs must be a matrix of numbers: {error}.") from error
    n = len(classes)
    if matrix.shape != (n, n):
        raise ValueError(
            f"costs has the shape {matrix.shape}; with the classes {classes.tolist()} a matrix of "
            f"shape {(n, n)} is expected, in that order: a row for each true class, a column for "
            "each predicted one."
        )
    for i, j in np.argwhere(~((matrix >= 0) & (matrix < np.inf))):
        raise _cost_error(f"costs[{i}][{j}]", matrix[i, j])
    for i in np.flatnonzero(matrix.diagonal()):
        raise ValueError(
            f"costs[{i}][{i}]={matrix[i, i]:g} is not allowed: a correct decision costs 0. "
            "Subtract from each row its entry on the diagonal; it changes no decision."
        )
    return matrix


def _cost_error(name: str, cost: Any) -> ValueError:
    return ValueError(f"{name}={cost} is not allowed: costs are finite and not negative.")
