"""Cost-sensitive learning by weights: a sample weighs what an error on it costs.

Any classifier that takes weights can so be made to mind costs. With two classes it is exact: a
classifier that minimises the weighted error minimises the cost. With more, the cost of an error on
a sample is taken to be the sum of what its errors may cost, whichever of them is made.

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
from orfeon.imbalance.cost_classifier import CostClassifier, inner_has
from orfeon.imbalance.costs import read_costs
from orfeon.trees import CARTClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import _fit_context, _safe_indexing
from orfeon.utils.types import Floats


@saved.attributes(class_weights_=saved.floats)
@documented()
class CostSensitiveClassifier(CostClassifier):
    """A classifier trained on samples weighted by what an error on them costs.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier that takes ``sample_weight``. By default an unpruned
        :class:`orfeon.CARTClassifier`.
    costs : "balanced", dict or array of shape (n_classes, n_classes), default="balanced"
        What errors cost: inversely proportional to the sizes of the classes; a positive number for
        each class, 1 for those that are not named; or a matrix whose entry (i, j) is the cost of
        predicting class j for a sample of class i, in the order of the sorted classes, with
        zeros on the diagonal.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes every ``random_state`` of the estimator; with None they are as they were given.

    Attributes
    ----------
    <classes>
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Costs of predicting the class of the column for a sample of the class of the row.
    class_weights_ : ndarray of shape (n_classes,)
        What the weights of the samples of each class are multiplied by.
    estimator_ : classifier
        The fitted classifier.

    Notes
    -----
    A matrix for more than two classes is reduced to one cost for each class, the sum of its row
    (Breiman et al. 1984; Ting 2002): weights cannot say more. If the cost depends on the class
    that is predicted, :class:`CostThresholdClassifier` minds all of the matrix. The weights sum to
    as much as before, whatever unit the costs are in (Ting 2002).

    An estimator without weights is refused. Resample the samples for it, as imbalanced-learn does,
    or move the threshold with :class:`CostThresholdClassifier`. In a pipeline, wrap the classifier
    and not the pipeline.

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
        """Train the classifier on weighted samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples, as the classifier takes them.
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
                "CostThresholdClassifier does without, and in a pipeline the classifier itself is "
                "wrapped."
            )
        X, y, weights, _, _ = self._read_samples(X, y, sample_weight)
        if are_counts(weights) and len(y) < weights.sum() <= max(MAX_UNITS, 10 * len(y)):
            # Times a cost they would count no more: to most learners, two copies are two samples.
            copies = rows_with_copies(weights)
            X, y, weights = _safe_indexing(X, copies), y[copies], np.ones(len(copies))
        self.classes_, codes = self._find_classes(y)
        costs = read_costs(self.costs, self.classes_, codes, weights)
        free = self.classes_[costs.of_class == 0]
        if len(free):
            raise ValueError(
                f"costs={self.costs!r} is not allowed: errors on {free.tolist()} would cost "
                "nothing, so its samples would weigh nothing. Leave them out, or use "
                "CostThresholdClassifier."
            )
        self.cost_matrix_ = costs.matrix
        share = np.bincount(codes, weights=weights, minlength=len(self.classes_))
        whole = costs.of_class * (share.sum() / (share @ costs.of_class))
        rule = dict(zip(self.classes_.tolist(), whole.tolist(), strict=True))
        self.class_weights_ = class_factors(rule, self.classes_, codes, weights)
        self._keep(base.fit(X, y, sample_weight=weights * self.class_weights_[codes]))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the classifier decides.

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
        """Class probabilities among the weighted samples, not among those to be expected.

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
