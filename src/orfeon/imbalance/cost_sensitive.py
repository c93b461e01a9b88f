"""What errors cost, and what classifiers that mind it share.

Costs come as one number for each class, or as a matrix whose entry (i, j) is the cost of predicting
class j for an example of class i. Two wrappers make any classifier mind them: by the weights of the
training examples (:mod:`orfeon.imbalance.cost_weights`), or by the threshold of the decision
(:mod:`orfeon.imbalance.cost_threshold`).
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
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.ensembles.training import seed_estimator
from orfeon.forest import Forest
from orfeon.frames import check_shape
from orfeon.seeding import seed_sequence
from orfeon.tabular import TabularClassifierMixin, TabularEstimator
from orfeon.trees.limits import LIMITS

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Costs:
    """The costs of errors.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Cost of predicting the class of the column for an example of the class of the row.
    of_class : ndarray of shape (n_classes,)
        Cost of an error on an example of each class; where it depends on the error, their sum.
    """

    matrix: Floats
    of_class: Floats


def read_costs(costs: Any, classes: npt.NDArray[Any], codes: Codes, weights: Floats) -> Costs:
    """Read costs as they are given, and refuse what are none.

    Parameters
    ----------
    costs : "balanced", dict or array of shape (n_classes, n_classes)
        Costs inversely proportional to the sizes of the classes; one for each class, 1 for those
        that are not named; or a matrix, in the order of the sorted classes.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    codes : ndarray of shape (n_rows,)
        Class of each example, as an index into ``classes``.
    weights : ndarray of shape (n_rows,)
        Sample weights.

    Returns
    -------
    Costs
        Finite, not negative, not all zero, and zero where nothing is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.imbalance.cost_sensitive import read_costs
    >>> classes, codes = np.array(["ill", "well"]), np.array([0, 1, 1, 1])
    >>> read_costs({"ill": 5.0}, classes, codes, np.ones(4)).matrix
    array([[0., 5.],
           [1., 0.]])
    >>> read_costs("balanced", classes, codes, np.ones(4)).of_class.round(3)
    array([2.   , 0.667])
    """
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


def _balanced(classes: npt.NDArray[Any], codes: Codes, weights: Floats) -> Floats:
    sizes = np.bincount(codes, weights=weights, minlength=len(classes))
    if not sizes.all():
        raise ValueError(
            f"costs='balanced' needs examples of every class; y has none of "
            f"{classes[sizes == 0].tolist()}."
        )
    return np.asarray(weights.sum() / (len(classes) * sizes))


def _of_classes(costs: dict[Any, Any], classes: npt.NDArray[Any]) -> Floats:
    known = classes.tolist()
    unknown = [label for label in costs if label not in known]
    if unknown:
        raise ValueError(f"costs names {unknown[0]!r}, which is no class of y; they are {known}.")
    for label, cost in costs.items():
        if not isinstance(cost, Real) or not 0 <= float(cost) < np.inf:
            raise _no_cost(f"costs[{label!r}]", cost)
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
        raise _no_cost(f"costs[{i}][{j}]", matrix[i, j])
    for i in np.flatnonzero(matrix.diagonal()):
        raise ValueError(
            f"costs[{i}][{i}]={matrix[i, i]:g} is not allowed: a right decision costs 0. Subtract "
            "from each row its entry on the diagonal; it changes no decision."
        )
    return matrix


def _no_cost(name: str, cost: Any) -> ValueError:
    return ValueError(f"{name}={cost} is not allowed: costs are finite and not negative.")


def _inner_has(method: str) -> Callable[[Any], bool]:
    """Whether the classifier inside has a method, fitted or not."""

    def find(wrapper: Any) -> bool:
        return hasattr(getattr(wrapper, "estimator_", wrapper._given()), method)

    return find


class CostClassifier(TabularClassifierMixin, MetaEstimatorMixin, TabularEstimator):  # type: ignore[misc]
    """A classifier inside another one that minds what errors cost."""

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
        """The classifier inside when none is given."""

    def _given(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def _clone_base(self) -> Any:
        """The classifier to be fitted; its randomness is fixed where that is asked for."""
        base = clone(self._given())
        if is_regressor(base):
            raise ValueError(
                f"estimator={base} is not a classifier; {type(self).__name__} needs one."
            )
        if self.random_state is not None:
            word = seed_sequence(self.random_state).generate_state(1, np.uint64)[0]
            seed_estimator(base, int(word))
        return base

    def _read_examples(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Any:
        if X is None or np.isscalar(X) or hasattr(X, "shape"):
            check_shape(tuple(getattr(X, "shape", ())))
        return super()._read_examples(X, y, sample_weight, reset=reset)

    def _keep(self, fitted: Any) -> None:
        """Take over the fitted classifier, and what it knows of the attributes."""
        self.estimator_ = fitted
        self.n_classes_ = len(self.classes_)
        if hasattr(fitted, "n_features_in_"):
            self.n_features_in_ = fitted.n_features_in_

    def _inner(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    @property
    def forest_(self) -> Forest:
        """The trees of the classifier inside, where it has some of orfeon's."""
        forest: Forest = self._inner().forest_
        return forest

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each attribute for the classifier inside, where it tells."""
        return np.asarray(self._inner().feature_importances_)

    @available_if(_inner_has("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each tree of the classifier inside.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray
            Node indices, as the classifier inside gives them.
        """
        return np.asarray(self._inner().apply(X))

    @available_if(_inner_has("decision_path"))  # type: ignore[untyped-decorator]
    def decision_path(self, X: Any) -> Any:
        """Nodes that each row passes through in the trees of the classifier inside.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        object
            As the classifier inside gives it.
        """
        return self._inner().decision_path(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._given())
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags = inner.classifier_tags
            tags.classifier_tags.multi_label = False
        return tags
