"""Cost-sensitive learning by weights: each sample is weighted by the cost of an error on it.

This works with any classifier that accepts weights. With two classes it is exact: minimising the
weighted error minimises the cost. With more classes, the cost of an error on a sample is taken to
be the sum over the classes it could be mistaken for.

References
----------
Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees. Wadsworth.
Section 4.4.

Elkan (2001). The foundations of cost-sensitive learning. Proceedings of the 17th International
Joint Conference on Artificial Intelligence, 973-978.

Ting (2002). An instance-weighting method to induce cost-sensitive trees. IEEE Transactions on
Knowledge and Data Engineering 14(3), 659-665.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from orfeon.base import class_factors, restored_on_failure
from orfeon.data.training_set import MAX_UNITS, are_counts, rows_with_copies
from orfeon.imbalance.cost_classifier import CostClassifier, inner_has, read_costs
from orfeon.trees import CARTClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import _fit_context, _safe_indexing
from orfeon.utils.types import Floats


@saved.attributes(class_weights_=saved.floats)
@documented()
class CostSensitiveClassifier(CostClassifier):
    """A classifier trained on samples weighted by the cost of an error on them.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier that accepts ``sample_weight``. By default an unpruned
        :class:`orfeon.CARTClassifier`.
    costs : "balanced", dict or array of shape (n_classes, n_classes), default="balanced"
        Costs of errors: inversely proportional to the class sizes; one positive number per class
        (1 for classes not named); or a matrix whose entry (i, j) is the cost of predicting class j
        for a sample of class i, in sorted order of the classes, with zeros on the diagonal.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed for every ``random_state`` of the estimator; None leaves them as given.

    Attributes
    ----------
    <classes>
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Cost by true class (row) and predicted class (column).
    class_weights_ : ndarray of shape (n_classes,)
        Factors on the sample weights of each class.
    estimator_ : classifier
        The fitted classifier.

    Notes
    -----
    With more than two classes a matrix is reduced to one cost per class, the sum of its row
    (Breiman et al. 1984; Ting 2002), because weights cannot express more. If costs depend on the
    predicted class, use :class:`CostThresholdClassifier`. The total weight does not change,
    whatever unit the costs are in (Ting 2002).

    Estimators without ``sample_weight`` are rejected. Resample for them, as imbalanced-learn does,
    or use :class:`CostThresholdClassifier`. In a pipeline, wrap the classifier, not the pipeline.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from orfeon import CostSensitiveClassifier
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> careful = CostSensitiveClassifier(LogisticRegression(), costs={1: 10.0}).fit(X, y)
    >>> int(careful.estimator.fit(X, y).predict(X).sum()), int(careful.predict(X).sum())
    (31, 114)
    >>> careful.class_weights_.round(2)
    array([0.53, 5.26])
    """

    class_weights_: Floats

    def __init__(
        self, estimator: Any = None, costs: Any = "balanced", *, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.random_state = random_state

    def _default(self) -> Any:
        return CARTClassifier()

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier to weighted samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples, in any form that the classifier accepts.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice. They are multiplied by the
            costs.

        Returns
        -------
        self
            The fitted classifier.
        """
        with restored_on_failure(self):
            self._train(X, y, sample_weight)
        return self

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        base = self._clone_base()
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(
                f"estimator={base} takes no sample_weight, which CostSensitiveClassifier needs; "
                "use CostThresholdClassifier, or wrap the classifier inside a pipeline."
            )
        X, y, weights, _, _ = self._read_samples(X, y, sample_weight)
        if are_counts(weights) and len(y) < weights.sum() <= max(MAX_UNITS, 10 * len(y)):
            # Multiplied by a cost, counts would no longer be copies, as most learners see them.
            copies = rows_with_copies(weights)
            X, y, weights = _safe_indexing(X, copies), y[copies], np.ones(len(copies))
        self.classes_, codes = self._find_classes(y)
        costs = read_costs(self.costs, self.classes_, codes, weights)
        free = self.classes_[costs.of_class == 0]
        if len(free):
            raise ValueError(
                f"costs={self.costs!r} is not allowed: errors on {free.tolist()} would cost "
                "nothing, so these samples would have no weight. Leave them out, or use "
                "CostThresholdClassifier."
            )
        self.cost_matrix_ = costs.matrix
        share = np.bincount(codes, weights=weights, minlength=len(self.classes_))
        whole = costs.of_class * (share.sum() / (share @ costs.of_class))
        rule = dict(zip(self.classes_.tolist(), whole.tolist(), strict=True))
        self.class_weights_ = class_factors(rule, self.classes_, codes, weights)
        self._keep(base.fit(X, y, sample_weight=weights * self.class_weights_[codes]))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        return np.asarray(self._inner_for(X).predict(X))

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the weighted distribution, not of the original one.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return np.asarray(self._inner_for(X).predict_proba(X))

    @available_if(inner_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms.
        """
        return np.asarray(self._inner_for(X).predict_log_proba(X))

    @available_if(inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Scores of the classifier.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Scores.
        """
        return np.asarray(self._inner_for(X).decision_function(X))
