"""Cost-sensitive decisions: predict the class with the lowest expected cost.

With class probabilities p and costs C, predicting class j costs sum over i of p_i C[i, j] on
average. With two classes this is a threshold: class 1 is predicted if its probability is above
C[0, 1] / (C[0, 1] + C[1, 0]). The classifier itself does not change, so the costs may be known
late, but its probabilities must be good.

References
----------
Domingos (1999). MetaCost: a general method for making classifiers cost-sensitive. Proceedings of
the 5th International Conference on Knowledge Discovery and Data Mining, 155-164.

Elkan (2001). The foundations of cost-sensitive learning. Proceedings of the 17th International
Joint Conference on Artificial Intelligence, 973-978.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from orfeon.base import restored_on_failure
from orfeon.data.training_set import are_counts, fractions_error, rows_with_copies
from orfeon.ensembles.bagging import BaggingClassifier
from orfeon.imbalance.cost_classifier import CostClassifier, read_costs
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions, _fit_context, _safe_indexing
from orfeon.utils.types import Floats, Integers


@saved.attributes(threshold_=saved.optional(saved.number()))
@documented()
class CostThresholdClassifier(CostClassifier):
    """A classifier that predicts the class with the lowest expected cost.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier with ``predict_proba``. By default :class:`orfeon.BaggingClassifier`, whose
        vote shares are finer than the probabilities of one tree (as in MetaCost).
    costs : "balanced", dict or array of shape (n_classes, n_classes), default="balanced"
        Costs of errors: inversely proportional to the class sizes; one number per class (1 for
        classes not named); or a matrix whose entry (i, j) is the cost of predicting class j for a
        sample of class i, in sorted order of the classes, with zeros on the diagonal.
    cv : None, "prefit", int, splitter or iterable of splits, default=None
        None fits the classifier and uses its probabilities as they are. "prefit" uses a classifier
        that is already fitted; so does None with a :class:`sklearn.frozen.FrozenEstimator`.
        Anything else calibrates the probabilities by cross-validation
        (:class:`sklearn.calibration.CalibratedClassifierCV`), for which ``decision_function`` is
        enough.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Method of calibration.
    n_jobs : int, optional
        Folds of the calibration fitted in parallel, through joblib. The result does not depend on
        it.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed for every ``random_state`` of the estimator; None leaves them as given.

    Attributes
    ----------
    <classes>
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Cost by true class (row) and predicted class (column).
    threshold_ : float
        With two classes: ``classes_[1]`` is predicted if its probability is above this.
    estimator_ : classifier
        The fitted classifier.

    Notes
    -----
    Ties go to the first class. With equal costs the most probable class is predicted.

    With two classes, :class:`sklearn.model_selection.FixedThresholdClassifier` with
    ``threshold=threshold_`` is the same, except for probabilities exactly at the threshold. If you
    do not know the costs, :class:`sklearn.model_selection.TunedThresholdClassifierCV` tunes the
    threshold for any scorer, such as :data:`orfeon.imbalance.scorers.geometric_mean_scorer`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from orfeon import CostThresholdClassifier
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> careful = CostThresholdClassifier(LogisticRegression(), costs={1: 9.0}).fit(X, y)
    >>> careful.threshold_
    0.1
    >>> int(careful.estimator_.predict(X).sum()), int(careful.predict(X).sum())
    (31, 100)

    Without costs, tune the threshold for the geometric mean of the accuracies:

    >>> from sklearn.model_selection import TunedThresholdClassifierCV
    >>> from orfeon.imbalance import geometric_mean_scorer
    >>> tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=geometric_mean_scorer)
    >>> round(float(tuned.fit(X, y).best_threshold_), 2)
    0.23
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CostClassifier._parameter_constraints,
        "cv": ["cv_object", StrOptions({"prefit"})],
        "method": [StrOptions({"sigmoid", "isotonic"})],
        "n_jobs": [Integral, None],
    }

    threshold_: float

    def __init__(
        self,
        estimator: Any = None,
        costs: Any = "balanced",
        *,
        cv: Any = None,
        method: Literal["sigmoid", "isotonic"] = "sigmoid",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.cv = cv
        self.method = method
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _default(self) -> Any:
        return BaggingClassifier()

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier, and calibrate its probabilities if ``cv`` is given.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples, in any form that the classifier accepts.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out.

        Returns
        -------
        self
            The fitted classifier.
        """
        with restored_on_failure(self):
            self._train(X, y, sample_weight)
        return self

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        base = self._source()
        X, y, weights, rows, n_given = self._read_samples(X, y, sample_weight)
        self.classes_, codes = self._known(base, y)
        self.cost_matrix_ = read_costs(self.costs, self.classes_, codes, weights).matrix
        self.__dict__.pop("threshold_", None)
        if len(self.classes_) == 2:
            first, second = self.cost_matrix_[0, 1], self.cost_matrix_[1, 0]
            self.threshold_ = float(first / (first + second))
        takes_weights = has_fit_parameter(base, "sample_weight")
        if not takes_weights and not isinstance(base, FrozenEstimator):
            X, y, rows = _copies(base, X, y, weights, rows)
            sample_weight = None
        if self._calibrates:
            if takes_weights and get_config()["enable_metadata_routing"]:
                base.set_fit_request(sample_weight=True)
            splits = _kept_splits(self.cv, rows, n_given)
            base = CalibratedClassifierCV(base, method=self.method, cv=splits, n_jobs=self.n_jobs)
        given = {} if sample_weight is None else {"sample_weight": weights}
        self._keep(base.fit(X, y, **given))

    @property
    def _calibrates(self) -> bool:
        return self.cv is not None and not isinstance(self.cv, str)

    def _source(self) -> Any:
        """The classifier to fit, or the fitted one, frozen."""
        if isinstance(self.cv, str):
            if self.estimator is None:
                raise ValueError('cv="prefit" needs a fitted estimator; estimator is None.')
            check_is_fitted(self.estimator)
            base: Any = FrozenEstimator(self.estimator)
        else:
            base = self._clone_base()
        enough = self._calibrates and hasattr(base, "decision_function")
        if not hasattr(base, "predict_proba") and not enough:
            raise ValueError(
                f"estimator={self.estimator} has no predict_proba, which CostThresholdClassifier "
                "needs; with cv=5 its decision_function is calibrated to probabilities."
            )
        return base

    def _known(self, base: Any, y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Integers]:
        """The classes (those of a prefitted classifier), and the codes of y."""
        found, codes = self._find_classes(y)
        if not isinstance(base, FrozenEstimator):
            return found, codes
        known = np.asarray(base.classes_)
        unknown = np.setdiff1d(found, known)
        if len(unknown):
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which the fitted estimator does not "
                f"know; it knows {known.tolist()}."
            )
        return known, np.searchsorted(known, found)[codes]

    def expected_costs(self, X: Any) -> Floats:
        """Expected cost of predicting each class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Expected costs, in the order of ``classes_``.
        """
        return np.asarray(self.predict_proba(X) @ self.cost_matrix_)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class with the lowest expected cost.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; ties go to the first.
        """
        shares = self.predict_proba(X)
        # Subtracting the maximum of each row changes no decision. If costs do not depend on the
        # prediction, one term is left in each sum, which is exact, so ties are ties.
        differences = self.cost_matrix_ - self.cost_matrix_.max(axis=1, keepdims=True)
        return np.asarray(self.classes_[np.argmin(shares @ differences, axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the classifier; costs do not change them.

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


def _copies(
    base: Any, X: Any, y: npt.NDArray[Any], weights: Floats, rows: Integers
) -> tuple[Any, npt.NDArray[Any], Integers]:
    """Replace whole-number weights by copies, for a classifier without ``sample_weight``."""
    if (weights == 1).all():
        return X, y, rows
    if not are_counts(weights):
        raise fractions_error(type(base).__name__)
    copies = rows_with_copies(weights)
    return _safe_indexing(X, copies), y[copies], rows[copies]


def _kept_splits(cv: Any, rows: Integers, n_given: int) -> Any:
    """Translate splits given as row indices to the rows that are left, and their copies."""
    if isinstance(cv, int | np.integer) or hasattr(cv, "split"):
        return cv
    numbers = np.arange(n_given)
    return [
        tuple(np.flatnonzero(np.isin(rows, numbers[np.asarray(part)])) for part in split)
        for split in cv
    ]
