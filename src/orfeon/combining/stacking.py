"""Stacked generalisation: a final estimator learns from the predictions of other models.

Models of any kind are trained on the samples (level 0). Their predictions for samples that they
have not seen form a second table (level 1), from which a final estimator learns which model to
trust, and when. A model that predicted samples it has memorised would seem to make no errors.

scikit-learn stacks by cross-validation. Here level-1 data may also be out-of-bag, at the cost of
one fit instead of one per fold; folds keep copies of a sample together and do not depend on the
order of the rows; and the final estimator may be a tree that chooses a model.

References
----------
Wolpert (1992). Stacked generalization. Neural Networks 5(2), 241-259.
Breiman (1996). Stacked regressions. Machine Learning 24(1), 49-64.
Ting and Witten (1999). Issues in stacked generalization. Journal of Artificial Intelligence
Research 10, 271-289.
Todorovski and Džeroski (2003). Combining classifiers with meta decision trees. Machine Learning
50(3), 223-249.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularRegressorMixin
from orfeon.combining.composition import COMPOSITION_TEXTS, Named
from orfeon.combining.fitting import Method, dense_needed, query, seeded_clone
from orfeon.combining.level_one import LevelOne
from orfeon.combining.meta_decision_tree import MetaDecisionTree
from orfeon.combining.out_of_fold import Units
from orfeon.combining.stacking_base import Stacking
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import HasMethods, StrOptions
from orfeon.utils.types import Floats

StackMethod = Literal["auto", "predict_proba", "predict"]

#: Candidate penalties, as shares of the sum of squares of a level-1 column.
_PENALTIES = np.logspace(-5, 1, 13)


def final_has(method: str) -> Callable[[Any], bool]:
    """Whether the final estimator of a stack has a method, fitted or not."""

    def find(stack: Any) -> bool:
        final = getattr(stack, "final_estimator_", stack.final_estimator)
        if final is None or isinstance(final, str | MetaDecisionTree):
            return method == "predict_proba"
        return hasattr(final, method)

    return find


_TEXTS = {
    "estimators_of_stack": """
        "drop" leaves one out, and a :class:`sklearn.frozen.FrozenEstimator` is used as it is. An
        ensemble in place of the list stacks its members, with ``cv="out_of_bag"``.
""",
    "stack_cv": """
    cv : int, splitter, iterable of splits, "prefit" or "out_of_bag", default=5
        Where predictions of unseen samples come from. A number of folds: the models are refitted
        without each. Splits of the rows: each row is tested once. "prefit": the models are fitted,
        and have not seen the samples. "out_of_bag": the models are ensembles whose members leave
        samples out, and the members that did not see a sample predict it; a frozen one must have
        been fitted to these samples.
""",
    "passthrough": """
    passthrough : bool, default=False
        Whether the final estimator also sees the features.
""",
    "level_one": """
    final_estimator_ : estimator
        Fitted to the models' predictions.
    level_one_ : ndarray of shape (n_rows, n_columns)
        The predictions that it was fitted to; NaN for rows of weight 0, and for those that no
        member left out.
    answer_names_ : list of str
        Names of its columns.
""",
}


@documented(COMPOSITION_TEXTS | _TEXTS)
class StackingClassifier(TabularClassifierMixin, Stacking):
    """A classifier that learns from the predictions of other classifiers.

    Parameters
    ----------
    estimators : list of (name, classifier), ensemble or None, default=None
        The classifiers. By default a tree pruned by cross-validation, a random forest, gradient
        boosting and a parallel perceptron; with ``cv="out_of_bag"`` a random forest, bagging and
        extra-trees.
        <estimators_of_stack>
    final_estimator : classifier, "meta_tree", MetaDecisionTree or None, default=None
        Learns from their predictions. By default logistic regression, or gradient boosting with
        ``passthrough``; "meta_tree" is a tree that chooses a classifier by how confident each one
        is.
    <stack_cv>
    stack_method : {"auto", "predict_proba", "predict"}, default="auto"
        What classifiers predict: probabilities; classes, as one column each; or probabilities
        where a classifier has them.
    <passthrough>
    <running>

    Attributes
    ----------
    <fitted>
    <level_one>
    <classes>
    <features>

    See Also
    --------
    CascadeClassifier : Each classifier sees the predictions of those before it.

    Notes
    -----
    Copies of a sample (weights above one, repeated rows) share a fold, unless splits are given.
    Classifiers that take no weights reject fractional ones. With a single class nothing is stacked;
    with so few samples that no two classes were predicted by models that know them, the result is
    the mean of the models. The last bits of a row's probabilities may depend on the other rows.

    Fitted classifiers must not have seen the samples. Ensembles of orfeon know their training set
    and are rejected if it is this one; others cause a warning if they make no error.

    Members of one ensemble are similar, and their vote is hard to beat: the prediction of a member
    that saw a sample is replaced by the mean of those that did not, and the penalty of the default
    logistic regression grows with their number. In classification the result is about as good as
    the vote; in regression it can be better, since a mean of trees shrinks towards the mean target.

    With the same splits, logistic regression and classifiers with probabilities, the predictions
    are those of :class:`sklearn.ensemble.StackingClassifier`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from orfeon import BaggingClassifier, StackingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> models = [("bayes", GaussianNB()), ("bagging", BaggingClassifier())]
    >>> stack = StackingClassifier(models, random_state=0).fit(X, y)
    >>> [round(model.score(X_test, y_test), 3) for model in [*stack.estimators_, stack]]
    [0.796, 0.774, 0.815]
    >>> stack.answer_names_[:4]
    ['bayes_0', 'bayes_1', 'bayes_2', 'bagging_0']

    Ensembles that leave samples out need no folds:

    >>> from orfeon import RandomForestClassifier
    >>> models = [("forest", RandomForestClassifier()), ("bagging", BaggingClassifier())]
    >>> stack = StackingClassifier(models, cv="out_of_bag", random_state=0).fit(X, y)
    >>> round(stack.score(X_test, y_test), 2)
    0.8
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Stacking._parameter_constraints,
        "final_estimator": [
            HasMethods(["fit", "predict"]),
            StrOptions({"meta_tree"}),
            MetaDecisionTree,
            None,
        ],
        "stack_method": [StrOptions({"auto", "predict_proba", "predict"})],
    }

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = 5,
        stack_method: StackMethod = "auto",
        passthrough: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.passthrough = passthrough
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.boosting import GradientBoostingClassifier
        from orfeon.ensembles import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
        from orfeon.perceptrons import ParallelPerceptronClassifier
        from orfeon.trees import CARTClassifier

        forest = ("forest", RandomForestClassifier())
        if self._is("out_of_bag"):
            extra = ExtraTreesClassifier(bootstrap=True)
            return [forest, ("bagging", BaggingClassifier()), ("extra_trees", extra)]
        return [
            ("tree", CARTClassifier(pruning="cv")),
            forest,
            ("boosting", GradientBoostingClassifier()),
            ("perceptron", ParallelPerceptronClassifier()),
        ]

    def _default_final(self, table: Any, weights: Floats) -> Any:
        if self.passthrough:
            from orfeon.boosting import GradientBoostingClassifier

            return GradientBoostingClassifier()
        from sklearn.linear_model import LogisticRegression

        # T equal weights cost a T-th of the penalty of one weight of the same sum. Similar members
        # would be fitted to their noise, so the penalty is T times as large.
        n_alike = table.shape[1] if self._queried == "members" else 1
        return LogisticRegression(C=1.0 / n_alike, max_iter=1000)

    def _check_method(self, members: Named) -> Method:
        if self.stack_method == "predict":
            return "predict"
        for name, estimator in members:
            without = not self._is_one_ensemble and not hasattr(estimator, "predict_proba")
            if self.stack_method == "predict_proba" and without:
                raise ValueError(
                    f'stack_method="predict_proba", but {name}={estimator} has no predict_proba; '
                    'use "auto", which takes its predicted classes.'
                )
        return "predict_proba"

    # -- the final estimator -------------------------------------------------------------------

    def _learn(self, level: LevelOne, units: Units, known: npt.NDArray[np.intp]) -> Any:
        final = self.final_estimator
        if not isinstance(final, str | MetaDecisionTree):
            return super()._learn(level, units, known)
        tree: MetaDecisionTree = seeded_clone(
            MetaDecisionTree() if isinstance(final, str) else final, units.seed(2)
        )
        return tree.learn(
            level.answers[:, known], units.y[known], units.weights[known],
            answered=level.answered[:, known], groups=units.copies[known],
            features=(units.encoded[known], self.schema_) if self.passthrough else None,
        )  # fmt: skip

    @property
    def _tree_sees_features(self) -> bool:
        return self.passthrough and isinstance(self.final_estimator, str | MetaDecisionTree)

    def _takes_sparse(self) -> bool:
        return super()._takes_sparse() and not self._tree_sees_features

    def _check_sparse(self) -> None:
        super()._check_sparse()
        if self._tree_sees_features:
            raise dense_needed("a meta decision tree that sees the features")

    def _check_final(self) -> None:
        if not isinstance(self.final_estimator, MetaDecisionTree):
            super()._check_final()

    def choose(self, X: Any) -> npt.NDArray[np.int64]:
        """Which classifier the meta decision tree chooses for each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Indices into ``estimators_``, or into the members of the ensemble.
        """
        check_is_fitted(self, "final_estimator_")
        return self._chosen(X)[0]

    def _chosen(self, X: Any) -> tuple[npt.NDArray[np.int64], Floats]:
        """Which classifiers are chosen, and the predictions of all."""
        if not isinstance(self.final_estimator_, MetaDecisionTree):
            raise ValueError(
                f"final_estimator={self.final_estimator} does not choose a classifier; use "
                'final_estimator="meta_tree".'
            )
        answers = self._answers(self._rows(X))
        features = (self._encode(X), self.schema_) if self.passthrough else None
        return self.final_estimator_.choose(answers, features=features), answers

    def predict(self, X: Any) -> npt.NDArray[Any]:
        check_is_fitted(self, "final_estimator_")
        if isinstance(self.final_estimator_, MetaDecisionTree):
            return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
        return super().predict(X)

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the final estimator, or of the classifier that it chooses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self, "final_estimator_")
        if isinstance(self.final_estimator_, MetaDecisionTree):
            chosen, answers = self._chosen(X)
            return np.asarray(answers[chosen, np.arange(len(chosen))])
        return query(self.final_estimator_, self._seen_by_final(X), self.classes_, "predict_proba")

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Scores of the final estimator.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Scores.
        """
        check_is_fitted(self, "final_estimator_")
        return np.asarray(self.final_estimator_.decision_function(self._seen_by_final(X)))


@documented(COMPOSITION_TEXTS | _TEXTS)
class StackingRegressor(TabularRegressorMixin, Stacking):
    """A regressor that learns from the predictions of other regressors.

    Parameters
    ----------
    estimators : list of (name, regressor), ensemble or None, default=None
        The regressors. By default a tree pruned by cross-validation, a random forest and gradient
        boosting; with ``cv="out_of_bag"`` a random forest, bagging and extra-trees.
        <estimators_of_stack>
    final_estimator : regressor or None, default=None
        Learns from their predictions. By default ridge regression with a penalty chosen by
        leave-one-out cross-validation, or gradient boosting with ``passthrough``.
    <stack_cv>
    <passthrough>
    <running>

    Attributes
    ----------
    <fitted>
    <level_one>
    <features>

    Notes
    -----
    Candidate penalties are shares of the sum of squares of the predictions, so that the unit of the
    target does not matter.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from orfeon import CARTRegressor, RandomForestRegressor, StackingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> models = [("line", LinearRegression()), ("forest", RandomForestRegressor())]
    >>> stack = StackingRegressor(models, random_state=0).fit(X, y)
    >>> [round(model.score(X_test, y_test), 2) for model in [*stack.estimators_, stack]]
    [0.72, 0.72, 0.81]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Stacking._parameter_constraints,
        "final_estimator": [HasMethods(["fit", "predict"]), None],
    }

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = 5,
        passthrough: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.passthrough = passthrough
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.boosting import GradientBoostingRegressor
        from orfeon.ensembles import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor
        from orfeon.trees import CARTRegressor

        forest = ("forest", RandomForestRegressor())
        if self._is("out_of_bag"):
            extra = ExtraTreesRegressor(bootstrap=True)
            return [forest, ("bagging", BaggingRegressor()), ("extra_trees", extra)]
        tree = CARTRegressor(pruning="cv")
        return [("tree", tree), forest, ("boosting", GradientBoostingRegressor())]

    def _default_final(self, table: Any, weights: Floats) -> Any:
        if self.passthrough:
            from orfeon.boosting import GradientBoostingRegressor

            return GradientBoostingRegressor()
        from sklearn.linear_model import RidgeCV

        centred = table - np.average(table, axis=0, weights=weights)
        squares = float(np.mean(weights @ centred**2))
        return RidgeCV(_PENALTIES * (squares if squares > 0 else 1.0))
