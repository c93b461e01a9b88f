"""Cascade generalisation: each model sees the features and the predictions of earlier models.

The class probabilities that a model predicts become features for the next one, which so learns
combinations of features that it could not express itself. Models of low variance, such as linear
ones, come first, and those of low bias last.

References
----------
Gama and Brazdil (2000). Cascade generalization. Machine Learning 41(3), 315-343.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularRegressorMixin
from orfeon.combining.composition import (
    COMPOSITION_TEXTS,
    Composition,
    Given,
    MembersTransformerMixin,
    Named,
)
from orfeon.combining.fitting import Method, add_columns, answer_columns, answer_names, query
from orfeon.combining.out_of_fold import Split, Units, folds_are_informative
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import _check_feature_names_in
from orfeon.utils.types import Floats

#: The additive model: stumps on all samples and features, for all rounds.
_ADDITIVE: dict[str, Any] = {
    "order": 1, "learning_rate": 0.1, "n_estimators": 100, "subsample": 1.0,
    "max_features": None, "tree_method": "exact", "early_stopping": False,
}  # fmt: skip

_TEXTS = {
    "cv_and_in_sample": """
    cv : int, splitter or iterable of splits, default=5
        Folds for the new features of the training samples: each sample is predicted by models that
        have not seen it.
    in_sample : bool, default=False
        Whether models trained on all samples predict them instead, as in the paper. That is faster
        by the number of folds, but a model that memorises its samples then misleads all that
        follow.
""",
    "constructed": """
    constructed_ : ndarray of shape (n_rows, n_constructed)
        New features of the training samples, as the models saw them; NaN for samples of weight 0.
    constructed_names_ : list of str
        Their names.
""",
}


@saved.attributes(constructed_=saved.matrix)
class Cascade(MembersTransformerMixin, Composition):
    """Base of cascades."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Composition._parameter_constraints,
        "in_sample": ["boolean"],
    }

    in_sample: bool
    constructed_: Floats
    _method: ClassVar[Method] = "predict_proba"

    # -- fitting -------------------------------------------------------------------------------

    def _splits(self, units: Units, X: Any, groups: Any) -> list[Split]:
        if self.in_sample:
            return []
        splits = super()._splits(units, X, groups)
        return splits if folds_are_informative(splits, units) else []

    def _n_fits(self, members: Named, n_splits: int) -> int:
        return len(members) + (len(members) - 1) * n_splits

    def _train(
        self,
        members: Named,
        units: Units,
        splits: Sequence[Split],
        given: Given,
        after: Callable[[], object],
    ) -> None:
        table, fitted, constructed = units.table, [], [np.empty((len(units), 0))]
        for level, (name, estimator) in enumerate(members):
            one: Named = [(name, estimator)]
            fitted += self._fit_members(one, table, units, first=level, after=after)
            if level == len(members) - 1:
                break
            if splits:
                answers = self._out_of_fold(
                    one, table, units, splits, self._method, first=level, after=after
                )[0]
            else:
                answers = query(fitted[-1], table, self._classes, self._method)
            constructed.append(answer_columns(answers))
            table = add_columns(table, constructed[-1], self._names_of(name))
        self._keep_members(members, fitted)
        self.constructed_ = np.asarray(units.on_given_rows(np.concatenate(constructed, axis=1)))

    def _names_of(self, name: str) -> list[str]:
        return answer_names([name], self._classes)

    # -- predicting ----------------------------------------------------------------------------

    @property
    def constructed_names_(self) -> list[str]:
        """Names of the new features."""
        check_is_fitted(self, "estimators_")
        kept = [name for name, fitted in self.named_estimators_.items() if fitted != "drop"]
        return [new for name in kept[:-1] for new in self._names_of(name)]

    def _levels(self, X: Any) -> Iterator[tuple[Any, Any, Floats]]:
        """Each model with the table that it sees, and the new features in that table."""
        table = self._rows(X)
        kept = [name for name, fitted in self.named_estimators_.items() if fitted != "drop"]
        n_rows = table.shape[0]
        constructed = np.empty((n_rows, 0))
        for level, (name, estimator) in enumerate(zip(kept, self.estimators_, strict=True)):
            yield estimator, table, constructed
            if level < len(kept) - 1:
                new = answer_columns(query(estimator, table, self._classes, self._method))
                constructed = np.concatenate([constructed, new], axis=1)
                table = add_columns(table, new, self._names_of(name))

    def _last(self, X: Any) -> tuple[Any, Any, Floats]:
        *_, last = self._levels(X)
        return last

    def construct(self, X: Any) -> Floats:
        """The new features of some rows: predictions of all models but the last.

        On the training samples they are too optimistic; use ``constructed_`` for those.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_constructed)
            Class probabilities (of two classes, those of the second) or predictions.
        """
        return self._last(X)[2]

    def transform(self, X: Any) -> Floats:
        """The same as :meth:`construct`; see :meth:`fit_transform_out_of_fold`."""
        return self.construct(X)

    def _out_of_fold_columns(self, X: Any, sample_weight: Any) -> Floats:
        return self._out_of_fold_or_fitted(
            self.constructed_, sample_weight, lambda: self.construct(X)
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the new features.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features; they are only checked.

        Returns
        -------
        ndarray of str
            ``constructed_names_``.
        """
        names = self.constructed_names_
        _check_feature_names_in(self, input_features)
        return np.array(names, dtype=object)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        estimator, table, _ = self._last(X)
        return np.asarray(estimator.predict(table))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predictions of each model, from the first to the last.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Classes or predictions.
        """
        for estimator, table, _ in self._levels(X):
            yield np.asarray(estimator.predict(table))


def _last_has_probabilities(cascade: Any) -> bool:
    """Whether the last model has ``predict_proba``, fitted or not."""
    if hasattr(cascade, "estimators_"):
        return hasattr(cascade.estimators_[-1], "predict_proba")
    kept = [e for _, e in cascade._given() if not isinstance(e, str)]
    return bool(kept) and hasattr(kept[-1], "predict_proba")


@documented(COMPOSITION_TEXTS | _TEXTS)
class CascadeClassifier(TabularClassifierMixin, Cascade):
    """Classifiers in sequence; each one also sees the predictions of those before it.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The classifiers, in the order of the cascade; "drop" leaves one out. By default boosted
        stumps, which add up the effects of single features, and a random forest.
    <cv_and_in_sample>
    <running>

    Attributes
    ----------
    <fitted>
    <constructed>
    <classes>
    <features>

    See Also
    --------
    StackingClassifier : The last classifier learns from all others at once.

    Notes
    -----
    New features accumulate: the third classifier sees the predictions of both before it. A
    classifier without ``predict_proba`` adds 1 for the class it predicts and 0 for the others. With
    two classes one feature is added, the probability of the second.

    Out of fold, the new features of the training samples come from classifiers trained on fewer
    samples than those that predict new rows. Classifiers whose probabilities depend much on the
    number of samples, such as perceptrons, lose as much by this as unbiased features gain; boosted
    stumps do not.

    Examples
    --------
    With a linear model before it, a tree learns an oblique border:

    >>> from orfeon import C45Classifier, CascadeClassifier, ParallelPerceptronClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> models = [("line", ParallelPerceptronClassifier()), ("tree", C45Classifier())]
    >>> cascade = CascadeClassifier(models, random_state=0).fit(X, y)
    >>> alone = C45Classifier().fit(X, y)
    >>> [round(model.score(X_test, y_test), 2) for model in (alone, cascade)]
    [0.77, 0.97]
    >>> cascade.constructed_names_
    ['line_1']
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        cv: Any = 5,
        in_sample: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.in_sample = in_sample
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.boosting import GradientBoostingClassifier
        from orfeon.ensembles import RandomForestClassifier

        additive = GradientBoostingClassifier(max_depth=1, **_ADDITIVE)
        return [("additive", additive), ("forest", RandomForestClassifier())]

    @available_if(_last_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the last classifier.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        estimator, table, _ = self._last(X)
        return query(estimator, table, self.classes_, "predict_proba")

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Class probabilities of each classifier, from the first to the last.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities; 1 for the predicted class where a classifier has none.
        """
        for estimator, table, _ in self._levels(X):
            yield query(estimator, table, self.classes_, "predict_proba")


@documented(COMPOSITION_TEXTS | _TEXTS)
class CascadeRegressor(TabularRegressorMixin, Cascade):
    """Regressors in sequence; each one also sees the predictions of those before it.

    Parameters
    ----------
    estimators : list of (name, regressor) or None, default=None
        The regressors, in the order of the cascade; "drop" leaves one out. By default boosted
        stumps, which add up the effects of single features, and a random forest.
    <cv_and_in_sample>
    <running>

    Attributes
    ----------
    <fitted>
    <constructed>
    <features>

    Notes
    -----
    The paper is on classification; in regression the new feature is the prediction.

    Examples
    --------
    >>> from orfeon import CascadeRegressor, RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> alone = RandomForestRegressor(random_state=0).fit(X, y)
    >>> cascade = CascadeRegressor(random_state=0).fit(X, y)
    >>> [round(model.score(X_test, y_test), 2) for model in (alone, cascade)]
    [0.71, 0.79]
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        cv: Any = 5,
        in_sample: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.in_sample = in_sample
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.boosting import GradientBoostingRegressor
        from orfeon.ensembles import RandomForestRegressor

        additive = GradientBoostingRegressor(max_depth=1, **_ADDITIVE)
        return [("additive", additive), ("forest", RandomForestRegressor())]
