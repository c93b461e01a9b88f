"""Arbitration: a referee predicts where each classifier is right; the most trusted one decides.

A referee is a model trained on whether its classifier was right on samples that it had not seen.
Where classifiers are competent in different regions, this selects the competent one, which a vote
of the others would overrule.

References
----------
Ortega, Koppel and Argamon (2001). Arbitrating among competing classifiers using learned referees.
Knowledge and Information Systems 3(4), 470-490.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.parallel import Parallel, delayed

from orfeon.combining.composition import COMPOSITION_TEXTS, CalibratedClassifiers, Named, prefer
from orfeon.combining.fitting import add_columns, check_kind, fit_weighted, query, seeded_clone
from orfeon.combining.out_of_fold import Split, Units
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.scikit_learn import HasMethods, StrOptions
from orfeon.utils.types import Floats

Decision = Literal["most_trusted", "weighted"]

#: The classes of a referee: wrong and right.
_VERDICTS = np.array([0, 1])


@saved.attributes(
    right_=saved.matrix,
    _seen=saved.tuple_of(saved.string),
    referees_=saved.list_of(saved.estimator, at_least=1),
)
@documented(COMPOSITION_TEXTS)
class ArbiterClassifier(CalibratedClassifiers):
    """Classifiers, each with a referee; the one that its referee trusts most decides.

    Parameters
    ----------
    estimators : list of (name, classifier) or None, default=None
        The classifiers; "drop" leaves one out, and a :class:`sklearn.frozen.FrozenEstimator` is
        used as it is. By default a tree pruned by cross-validation, a random forest and a parallel
        perceptron.
    referee : classifier, optional
        Learns where a classifier is right, cloned for each; it needs ``predict_proba``. By default
        a :class:`orfeon.CARTClassifier` pruned by cross-validation, with at least 10 samples in
        each leaf.
    decision : {"most_trusted", "weighted"}, default="most_trusted"
        Whether the most trusted classifier decides, or the class probabilities of all classifiers
        are averaged with their trust as weights.
    see_answers : bool, default=True
        Whether a referee sees the predictions of its classifier, besides the features.
    cv : int, splitter or iterable of splits, default=5
        Folds that show where the classifiers are right.
    <running>

    Attributes
    ----------
    <fitted>
    referees_ : list of classifiers
        Their referees, with the classes 0 and 1: wrong and right.
    right_ : ndarray of shape (n_rows, n_estimators)
        1 where the out-of-fold prediction of a classifier was right, 0 where it was wrong; NaN for
        rows of weight 0.
    <classes>
    <features>

    See Also
    --------
    MixtureOfExpertsClassifier : Trains experts together with the gate that weights them.
    StackingClassifier : Learns from the predictions, not from where they are right.

    Notes
    -----
    Of equally trusted classifiers the first decides. In the paper referees see the inner state of
    their classifier; here they see its class probabilities, which classifiers of all kinds have.

    Examples
    --------
    Three models that see one feature each. On the left the class depends on the feature of the
    first, on the right on that of the second:

    >>> import numpy as np
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from orfeon import ArbiterClassifier, CARTClassifier
    >>> def seeing(feature):
    ...     only = make_column_transformer(("passthrough", [feature]))
    ...     return make_pipeline(only, CARTClassifier(max_depth=1))
    >>> X = np.random.default_rng(0).uniform(-1, 1, (1000, 4))
    >>> y = np.where(X[:, 0] < 0, X[:, 1] > 0, X[:, 2] > 0)
    >>> models = [("one", seeing(1)), ("two", seeing(2)), ("three", seeing(3))]
    >>> arbiter = ArbiterClassifier(models, random_state=0).fit(X[:500], y[:500])
    >>> [round(model.score(X[500:], y[500:]), 2) for model in (*arbiter.estimators_, arbiter)]
    [0.7, 0.75, 0.51, 0.99]
    >>> arbiter.choose([[-0.5, 0.5, -0.5, 0.0], [0.5, 0.5, -0.5, 0.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CalibratedClassifiers._parameter_constraints,
        "referee": [HasMethods(["fit", "predict_proba"]), None],
        "decision": [StrOptions({"most_trusted", "weighted"})],
        "see_answers": ["boolean"],
    }

    referees_: list[Any]
    right_: Floats
    _seen: tuple[str, ...]

    def __init__(
        self,
        estimators: Any = None,
        referee: Any = None,
        *,
        decision: Decision = "most_trusted",
        see_answers: bool = True,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.referee = referee
        self.decision = decision
        self.see_answers = see_answers
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _default(self) -> Named:
        from orfeon.ensembles import RandomForestClassifier
        from orfeon.perceptrons import ParallelPerceptronClassifier
        from orfeon.trees import CARTClassifier

        return [
            ("tree", CARTClassifier(pruning="cv")),
            ("forest", RandomForestClassifier()),
            ("perceptron", ParallelPerceptronClassifier()),
        ]

    def _given_referee(self) -> Any:
        if self.referee is not None:
            return self.referee
        from orfeon.trees import CARTClassifier

        return CARTClassifier(pruning="cv", min_samples_leaf=10)

    def _estimators_inside(self) -> list[Any]:
        return [*super()._estimators_inside(), self._given_referee()]

    def _check_settings(self, members: Named) -> None:
        if self.referee is not None:
            check_kind(self.referee, classifier=True, name="referee")

    def _n_fits(self, members: Named, n_splits: int) -> int:
        return super()._n_fits(members, n_splits) + len(members)

    # -- referees ------------------------------------------------------------------------------

    def _learn_from_answers(
        self,
        answers: Floats,
        units: Units,
        splits: Sequence[Split],
        after: Callable[[], object],
    ) -> None:
        right = answers.argmax(axis=2) == units.y
        self.right_ = np.asarray(units.on_given_rows(right.T.astype(np.float64)))
        self._seen = tuple(f"says_{label}" for label in self.classes_) if self.see_answers else ()
        referee = self._given_referee()
        calls = (
            delayed(fit_weighted)(
                seeded_clone(referee, units.seed(3, t)),
                self._seen_by_referee(units.table, answers[t]),
                right[t].astype(np.int64), units.weights, name="referee",
            )
            for t in range(len(answers))
        )  # fmt: skip
        self.referees_ = []
        at_once = Parallel(
            n_jobs=self.n_jobs, prefer=prefer([("referee", referee)]), return_as="generator"
        )
        with joblib_results(at_once, calls) as found:
            for one in found:
                self.referees_.append(one)
                after()

    def _seen_by_referee(self, table: Any, answer: Floats) -> Any:
        return add_columns(table, answer, self._seen) if self._seen else table

    def _consult(self, X: Any) -> tuple[Floats, Floats]:
        """Predictions of the classifiers, and their trust, of shape (n_members, n_rows)."""
        rows = self._rows(X)
        answers = self._query(self.estimators_, rows, "predict_proba")
        trust = [
            query(referee, self._seen_by_referee(rows, answer), _VERDICTS, "predict_proba")[:, 1]
            for referee, answer in zip(self.referees_, answers, strict=True)
        ]
        return answers, np.stack(trust)

    def trust(self, X: Any) -> Floats:
        """Probability that each classifier is right, predicted by its referee.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_estimators)
            Probabilities.
        """
        return np.ascontiguousarray(self._consult(X)[1].T)

    def choose(self, X: Any) -> npt.NDArray[np.int64]:
        """Index of the most trusted classifier for each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Indices into ``estimators_``.
        """
        return np.asarray(self._consult(X)[1].argmax(axis=0))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the most trusted classifier, or averages weighted by trust.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        answers, trust = self._consult(X)
        if self.decision == "most_trusted":
            return np.asarray(answers[trust.argmax(axis=0), np.arange(answers.shape[1])])
        total = trust.sum(axis=0)
        weights = np.where(total > 0, trust, 1.0)
        return np.asarray(np.einsum("tn,tnk->nk", weights / weights.sum(axis=0), answers))
