"""What classifiers share that have another one inside and mind what errors cost.

Two wrappers make any classifier mind costs: by the weights of the training samples
(:mod:`orfeon.imbalance.cost_weights`), or by the threshold of the decision
(:mod:`orfeon.imbalance.cost_threshold`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularEstimator
from orfeon.data.frames import check_shape
from orfeon.ensembles.base import seed_estimator
from orfeon.forest import Forest
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.scikit_learn import HasMethods, StrOptions
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats


def inner_has(method: str) -> Callable[[Any], bool]:
    """A condition on a wrapper: that the classifier inside has a method, fitted or not."""

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

    def _read_samples(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Any:
        if X is None or np.isscalar(X) or hasattr(X, "shape"):
            check_shape(tuple(getattr(X, "shape", ())))
        return super()._read_samples(X, y, sample_weight, reset=reset)

    def _keep(self, fitted: Any) -> None:
        """Take over the fitted classifier, and what it knows of the features."""
        self.estimator_ = fitted
        self.n_classes_ = len(self.classes_)
        self.__dict__.pop("n_features_in_", None)
        if hasattr(fitted, "n_features_in_"):
            self.n_features_in_ = fitted.n_features_in_

    def _inner(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _inner_for(self, X: Any) -> Any:
        """The classifier inside, for rows of as many features as it was fitted to."""
        inner = self._inner()
        # Frames are compared by their names, and the error of that names no estimator.
        has_names = hasattr(self, "feature_names_in_") and hasattr(X, "columns")
        if has_names or not hasattr(self, "n_features_in_"):
            return inner
        # What has no such shape is for the classifier inside to read or to refuse.
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return inner

    @property
    def forest_(self) -> Forest:
        """The trees of the classifier inside, where it has some of orfeon's."""
        forest: Forest = self._inner().forest_
        return forest

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature for the classifier inside, where it tells."""
        return np.asarray(self._inner().feature_importances_)

    @available_if(inner_has("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf that each row reaches in each tree of the classifier inside.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray
            Node indices, as the classifier inside gives them.
        """
        return np.asarray(self._inner_for(X).apply(X))

    @available_if(inner_has("decision_path"))  # type: ignore[untyped-decorator]
    def decision_path(self, X: Any) -> Any:
        """Nodes that each row passes through in the trees of the classifier inside.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        object
            As the classifier inside gives it.
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
