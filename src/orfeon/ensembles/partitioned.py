"""Members trained on parts of the data, for tables too large for one model or for memory.

Each part trains its own members, and all members vote ("pasting votes together"). Parts come as the
random partitions of a table, chunk by chunk from an iterator, through ``partial_fit``, or as the
partitions of Dask collections, whose members are trained where the data are.

References
----------
Breiman (1999). Pasting small votes for classification in large databases and on-line. Machine
Learning 36(1), 85-103.

Chan and Stolfo (1995). A comparative evaluation of voting and meta-learning on partitioned data.
ICML, 90-98.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from orfeon.base import KnownClassesMixin
from orfeon.ensembles.dask_parts import is_dask, predict_lazily
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import Importance
from orfeon.ensembles.partitioned_base import PartitionedEnsemble
from orfeon.ensembles.voting import (
    CLASS_WEIGHT,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.trees import CARTClassifier, CARTRegressor
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import _fit_context

_TEXTS = {
    "parts": """
    n_partitions : int, default=10
        Random parts that ``fit`` makes of the samples; Dask collections have their own.
    n_estimators : int, default=1
        Members trained on each part or chunk: one on all its samples, several on bootstrap samples
        of it.
""",
}


@documented(_TEXTS, estimator="an unpruned :class:`orfeon.CARTClassifier`")
class PartitionedClassifier(KnownClassesMixin, VotingClassifierMixin, PartitionedEnsemble):
    """Vote of classifiers trained on disjoint parts of the data.

    Each part has ``n_estimators`` members of its own: with ``fit`` there are ``n_partitions`` times
    as many.

    Parameters
    ----------
    <estimator>
    <parts>
    <combine>
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. One member of a part sees all samples of its heaviest class, and of
        another class a random share in proportion to its weight; several draw their bootstrap
        samples in proportion to the weights. "balanced" uses the class sizes of all samples in
        ``fit``, and those of each chunk or Dask partition otherwise.
    <leaving_out>
    <n_jobs>
    <verbose>
    <random_state>

    Attributes
    ----------
    n_chunks_ : int
        Parts or chunks seen.
    <members>
    <classes>
    <oob_classes>

    Notes
    -----
    With ``partial_fit`` and ``fit_chunks`` the first chunk defines the features: a category that
    occurs only in later chunks is treated as missing, so start with a chunk that has them all. The
    partitions of Dask collections agree on categories and classes before members are trained; that
    reads them twice, unless they are persisted.

    Examples
    --------
    >>> from orfeon import PartitionedClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(3000, random_state=0)
    >>> pasted = PartitionedClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(pasted.oob_error_, 2)
    0.19
    >>> chunks = ((X[i : i + 500], y[i : i + 500]) for i in range(0, 3000, 500))
    >>> len(PartitionedClassifier(random_state=0).fit_chunks(chunks, classes=[0, 1, 2]))
    6
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PartitionedEnsemble._parameter_constraints,
        "combine": CLASSIFIER["combine"],
        **CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_partitions: int = 10,
        n_estimators: int = 1,
        combine: Combine = "majority",
        class_weight: Any = None,
        oob_score: bool = False,
        importance: Importance = "impurity",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_partitions = n_partitions
        self.n_estimators = n_estimators
        self.combine = combine
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.importance = importance
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)

    def _set_classes(self, classes: Any) -> None:
        self.classes_ = classes
        self.n_classes_ = len(classes)

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train members on one more chunk.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The chunk.
        y : array of shape (n_rows,)
            Its classes.
        classes : array, optional
            All the classes; needed in the first call.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
            The ensemble, with ``n_estimators`` more members.
        """
        return self._add_chunk(X, y, classes, sample_weight)

    def predict(self, X: Any) -> Any:
        """The class with the largest share by the rule ``combine``, by default of the votes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows; a Dask collection is predicted when the result is computed.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; the first of tied ones. For a Dask collection, another collection: an array, a
            series with the index of ``X``, or a bag.
        """
        return _query(self, X, "predict", super().predict)

    def predict_proba(self, X: Any) -> Any:
        """Class shares by the rule ``combine``; by default shares of the votes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows; a Dask collection is predicted when the result is computed.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``. For a Dask collection, another collection; a data
            frame has the classes as its columns.
        """
        return _query(self, X, "predict_proba", super().predict_proba)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows; a Dask collection is predicted when the result is computed.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms; minus infinity where a share is zero.
        """
        return _query(self, X, "predict_log_proba", super().predict_log_proba)


@documented(_TEXTS, estimator="an unpruned :class:`orfeon.CARTRegressor`")
class PartitionedRegressor(AveragingRegressorMixin, PartitionedEnsemble):
    """Mean of regressors trained on disjoint parts of the data.

    Each part has ``n_estimators`` members of its own: with ``fit`` there are ``n_partitions`` times
    as many.

    Parameters
    ----------
    <estimator>
    <parts>
    <combine_numbers>
    <leaving_out>
    <n_jobs>
    <verbose>
    <random_state>

    Attributes
    ----------
    n_chunks_ : int
        Parts or chunks seen.
    <members>
    <oob_predictions>

    Examples
    --------
    >>> from orfeon import PartitionedRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(2000, random_state=0)
    >>> pasted = PartitionedRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> round(pasted.oob_score_, 2)
    0.77
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PartitionedEnsemble._parameter_constraints,
        **REGRESSOR,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_partitions: int = 10,
        n_estimators: int = 1,
        combine: Combine = "mean",
        oob_score: bool = False,
        importance: Importance = "impurity",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_partitions = n_partitions
        self.n_estimators = n_estimators
        self.combine = combine
        self.oob_score = oob_score
        self.importance = importance
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor() if self.estimator is None else clone(self.estimator)

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train members on one more chunk.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The chunk.
        y : array of shape (n_rows,)
            Its targets.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
            The ensemble, with ``n_estimators`` more members.
        """
        return self._add_chunk(X, y, None, sample_weight)

    def predict(self, X: Any) -> Any:
        """The members' predictions combined by the rule ``combine``, by default their mean.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows; a Dask collection is predicted when the result is computed.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions. For a Dask collection, another collection: an array, a series with the
            index of ``X``, or a bag.
        """
        return _query(self, X, "predict", super().predict)


def _query(ensemble: Any, X: Any, method: str, query: Callable[[Any], Any]) -> Any:
    """Predict rows now, or when their partitions are computed."""
    if not is_dask(X):
        return query(X)
    check_is_fitted(ensemble, "members_")
    return predict_lazily(ensemble, X, method)
