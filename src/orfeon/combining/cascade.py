"""Cascade generalisation: each model sees the features and what the models before it say.

The class probabilities that a model gives a sample become new features of it, from which the
next model learns: combinations of features that its own language could not express. Models of
low variance come first, such as linear ones, and those of low bias last.

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
from orfeon.combining.composition import Composition, Given, Named
from orfeon.combining.fitting import Method, query
from orfeon.combining.out_of_fold import Split
from orfeon.combining.tables import answer_columns, answer_names, beside
from orfeon.combining.training_units import Units, folds_can_be_learnt_from
from orfeon.combining.transformer import MembersTransformerMixin
from orfeon.utils import saved
from orfeon.utils.scikit_learn import _check_feature_names_in
from orfeon.utils.types import Floats


@saved.attributes(constructed_=saved.matrix)
class Cascade(MembersTransformerMixin, Composition):
    """What cascades of classifiers and of regressors share."""

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
        return splits if folds_can_be_learnt_from(splits, units) else []

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
            table = beside(table, constructed[-1], self._names_of(name))
        self._keep_members(members, fitted)
        self.constructed_ = np.asarray(units.on_given_rows(np.concatenate(constructed, axis=1)))

    def _names_of(self, name: str) -> list[str]:
        """Names of the features that a model adds."""
        return answer_names([name], self._classes)

    # -- asking --------------------------------------------------------------------------------

    @property
    def constructed_names_(self) -> list[str]:
        """Names of the new features."""
        check_is_fitted(self, "estimators_")
        kept = [name for name, fitted in self.named_estimators_.items() if fitted != "drop"]
        return [new for name in kept[:-1] for new in self._names_of(name)]

    def _levels(self, X: Any) -> Iterator[tuple[Any, Any, Floats]]:
        """Each model with the table that it sees, and all new features in it."""
        table = self._rows(X)
        kept = [name for name, fitted in self.named_estimators_.items() if fitted != "drop"]
        n_rows = table.shape[0]
        constructed = np.empty((n_rows, 0))
        for level, (name, estimator) in enumerate(zip(kept, self.estimators_, strict=True)):
            yield estimator, table, constructed
            if level < len(kept) - 1:
                new = answer_columns(query(estimator, table, self._classes, self._method))
                constructed = np.concatenate([constructed, new], axis=1)
                table = beside(table, new, self._names_of(name))

    def _last(self, X: Any) -> tuple[Any, Any, Floats]:
        *_, last = self._levels(X)
        return last

    def construct(self, X: Any) -> Floats:
        """The new features of some rows: what all models but the last say.

        They predict their own training samples too well; for those there is ``constructed_``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_constructed)
            Probabilities of the classes, of the second only where there are two; or predictions.
        """
        return self._last(X)[2]

    def transform(self, X: Any) -> Floats:
        """The new features of some rows, as :meth:`construct` gives them.

        The models predict their own training samples too well; for those there is
        :meth:`fit_transform_out_of_fold`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_constructed)
            Probabilities of the classes, of the second only where there are two; or predictions.
        """
        return self.construct(X)

    def _out_of_fold_columns(self, X: Any, sample_weight: Any) -> Floats:
        return self._unseen(self.constructed_, sample_weight, lambda: self.construct(X))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the new features.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features, which are only checked.

        Returns
        -------
        ndarray of str
            Those of ``constructed_names_``.
        """
        names = self.constructed_names_
        _check_feature_names_in(self, input_features)
        return np.array(names, dtype=object)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the last model decides.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes or predictions.
        """
        estimator, table, _ = self._last(X)
        return np.asarray(estimator.predict(table))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """What each model decides, from the first to the last.

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


class CascadeClassifier(TabularClassifierMixin, Cascade):
    """Classifiers one after the other, each of which also sees what those before it say.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The classifiers, in the order of the cascade; "drop" in place of one leaves it out.
        By default boosted stumps, which add up effects of single features, and a random forest.
    cv : int, splitter or iterable of splits, default=5
        Folds by which the new features of the training samples are found, each by classifiers
        that have not seen the sample.
    in_sample : bool, default=False
        Whether they are found by classifiers that were trained on all samples, as published. It is
        as many times faster as there are folds; but one that remembers its samples then deceives
        all that follow.
    n_jobs : int, optional
        Classifiers that are trained at once, over the folds. The cascade does not depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything, also every ``random_state`` inside that is None.

    Attributes
    ----------
    estimators_ : list of classifiers
        Fitted; each to the features and the answers of those before it.
    named_estimators_ : Bunch
        The same by name.
    constructed_ : ndarray of shape (n_rows, n_constructed)
        New features of the rows given, with which the classifiers were trained; NaN for those of
        weight 0.
    constructed_names_ : list of str
        Their names.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    See Also
    --------
    StackingClassifier : The last classifier learns from all others at once.

    Notes
    -----
    All new features stay: the third classifier sees what both before it say. A classifier without
    ``predict_proba`` adds its decision, 1 for one class and 0 for the others. Of two classes one
    feature is added, the probability of the second.

    Out of fold, the new features of the training samples come from other classifiers than those
    of rows to predict, trained on fewer samples. Classifiers whose probabilities depend much on
    that, such as perceptrons, lose by it what they gain by honesty; boosted stumps do not.

    Examples
    --------
    A tree that cuts along axes learns an oblique border from a linear model:

    >>> from orfeon import C45Classifier, CascadeClassifier, ParallelPerceptronClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> models = [("line", ParallelPerceptronClassifier()), ("tree", C45Classifier())]
    >>> cascade = CascadeClassifier(models, random_state=0).fit(X, y)
    >>> alone = C45Classifier().fit(X, y)
    >>> [round(model.score(X_test, y_test), 2) for model in (alone, cascade)]
    [0.77, 0.95]
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

        additive = GradientBoostingClassifier(max_depth=1)
        return [("additive", additive), ("forest", RandomForestClassifier())]

    @available_if(_last_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities by the last classifier.

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
        """Class probabilities by each classifier, from the first to the last.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities, or the decision of a classifier that has none.
        """
        for estimator, table, _ in self._levels(X):
            yield query(estimator, table, self.classes_, "predict_proba")


class CascadeRegressor(TabularRegressorMixin, Cascade):
    """Regressors one after the other, each of which also sees what those before it predict.

    Parameters
    ----------
    estimators : list of (name, regressor) or None, default=None
        The regressors, in the order of the cascade; "drop" in place of one leaves it out.
        By default boosted stumps, which add up effects of single features, and a random forest.
    cv : int, splitter or iterable of splits, default=5
        Folds by which the new features of the training samples are found, each by regressors
        that have not seen the sample.
    in_sample : bool, default=False
        Whether they are found by regressors that were trained on all samples, as published.
    n_jobs : int, optional
        Regressors that are trained at once, over the folds. The cascade does not depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything, also every ``random_state`` inside that is None.

    Attributes
    ----------
    estimators_ : list of regressors
        Fitted; each to the features and the predictions of those before it.
    named_estimators_ : Bunch
        The same by name.
    constructed_ : ndarray of shape (n_rows, n_constructed)
        New features of the rows given, with which the regressors were trained; NaN for those of
        weight 0.
    constructed_names_ : list of str
        Their names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, when all are strings.

    Notes
    -----
    The publication is on classification; in regression the new feature is the prediction.

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

        additive = GradientBoostingRegressor(max_depth=1)
        return [("additive", additive), ("forest", RandomForestRegressor())]
