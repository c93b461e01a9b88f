"""PPTSS as a classifier: a parallel perceptron, and the samples it was trained on."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from orfeon.base import restored_on_failure
from orfeon.data.training_set import TrainingSet
from orfeon.perceptrons.categories import QuasiNoisy
from orfeon.perceptrons.class_of_interest import check_two_classes, code_of_interest
from orfeon.perceptrons.p_delta import Course, Solution, rated_weight
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.selection import ONE_CLASS, Selection, select_samples
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.progress import CallbackSupport, Progress, report_progress
from orfeon.utils.scikit_learn import Interval, StrOptions, _fit_context
from orfeon.utils.seeding import branch, seed_sequence
from orfeon.utils.types import Floats, Integers

#: What is known of a round.
_ROUND = ("n_selected", "geometric_mean", "positive_accuracy", "negative_accuracy")

SELECTION: dict[str, list[Any]] = {
    "estimator": [ParallelPerceptronClassifier, None],
    "keep_quasi_noisy": ["boolean"],
    "quasi_noisy": [StrOptions({"all", "vote"})],
    "max_rounds": [Interval(Integral, 1, None, closed="left")],
    "random_state": LIMITS["random_state"],
}


@saved.attributes(
    classes_=saved.labels,
    n_features_in_=saved.integer(1),
    feature_names_in_=saved.optional(saved.labels),
    positive_class_=saved.label,
    estimator_=saved.one_of(saved.none, saved.estimator),
    selected_=saved.indices,
    history_=saved.dict_of(saved.string, saved.anything),
    best_round_=saved.integer(0),
    ended_=saved.string,
)
@documented()
class PPTSSClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Parallel perceptron that selects its training set, for a rare class of interest.

    Parameters
    ----------
    estimator : ParallelPerceptronClassifier, optional
        How parallel perceptrons are trained; with its defaults by default.
    keep_quasi_noisy : bool, default=False
        Whether borderline negative samples that are wrong stay in the training set.
    quasi_noisy : {"all", "vote"}, default="all"
        Whether such a sample is one that all perceptrons, or that their vote is wrong about.
    max_rounds : int, default=50
        Rounds at most.
    <class_of_interest>
    <verbose>
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything; None leaves it to that of ``estimator``.

    Attributes
    ----------
    estimator_ : ParallelPerceptronClassifier
        The parallel perceptron of the best round.
    selected_ : ndarray of shape (n_selected,)
        Rows of the training set that it was trained on, in increasing order.
    history_ : dict of ndarray of shape (n_rounds,)
        How many samples each round was trained on, copies counted, and how it did on the whole
        training set: "n_selected", "geometric_mean", "positive_accuracy", "negative_accuracy". The
        last round is the first in which g or the accuracy on the class of interest fell, unless
        ``ended_`` says otherwise.
    best_round_ : int
        The round that was kept.
    ended_ : str
        Why there was no further round.
    positive_class_ : object
        The class of interest.
    classes_ : ndarray of shape (2,)
        The classes.

    See Also
    --------
    PPTSSSampler : The same selection in front of any classifier.
    ParallelPerceptronClassifier : What is trained.

    Notes
    -----
    ``quasi_noisy="all"`` is the text of the source. With ``"vote"`` more negative samples are left
    out, as :class:`PPBoostClassifier` counts them.

    g and the accuracies are measured on the whole training set, and each round goes on from the
    weights and the margin of the one before, at the learning rate of the first. Two classes only:
    for more, put it into scikit-learn's ``OneVsRestClassifier``.

    Examples
    --------
    One sample in twenty is positive:

    >>> from orfeon import ParallelPerceptronClassifier, PPTSSClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.imbalance import geometric_mean
    >>> X, y = make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=0)
    >>> X_test, y_test = make_gaussian_clouds(5000, priors=(0.95, 0.05), random_state=1)
    >>> plain = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    >>> selective = PPTSSClassifier(random_state=0).fit(X, y)
    >>> [round(geometric_mean(y_test, m.predict(X_test)), 2) for m in (plain, selective)]
    [0.75, 0.88]
    >>> selective.history_["n_selected"], selective.best_round_
    (array([1000,  265,   77,   21,    5]), 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SELECTION,
        "pos_label": "no_validation",
        "verbose": ["verbose"],
    }

    estimator_: ParallelPerceptronClassifier
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        estimator: ParallelPerceptronClassifier | None = None,
        *,
        keep_quasi_noisy: bool = False,
        quasi_noisy: QuasiNoisy = "all",
        max_rounds: int = 50,
        pos_label: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.keep_quasi_noisy = keep_quasi_noisy
        self.quasi_noisy = quasi_noisy
        self.max_rounds = max_rounds
        self.pos_label = pos_label
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train, leave out what does not matter, and go on with the rest.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,)
            Two classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        base = ParallelPerceptronClassifier() if self.estimator is None else clone(self.estimator)
        with restored_on_failure(self):
            data = base._begin(X, y, sample_weight)
            check_two_classes(self, base.classes_)
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(base, name):
                    setattr(self, name, getattr(base, name))
            positive = code_of_interest(data.y, data.sample_weights, self.classes_, self.pos_label)
            self.positive_class_ = self.classes_[positive]
            with report_progress(
                self, self.max_rounds, self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                found = self._select(base, data, 1.0 if positive == 1 else -1.0, progress)
                self.estimator_ = base
                self.selected_ = np.unique(data.rows[found.rows])
                columns = zip(*found.rounds, strict=True)
                self.history_ = {
                    name: np.array(column) for name, column in zip(_ROUND, columns, strict=True)
                }
                self.best_round_, self.ended_ = found.best, found.ended
        return self

    def _select(
        self,
        base: ParallelPerceptronClassifier,
        data: TrainingSet,
        positive: float,
        progress: Progress,
    ) -> Selection:
        """The rounds; the base takes over the best."""
        given = base.random_state if self.random_state is None else self.random_state
        seeds = seed_sequence(given)
        inputs, weights = base.inputs_.of(data.X), data.weights
        # All rounds have the learning rate of the first.
        rated_as = rated_weight(inputs, weights)
        courses: list[Course] = []

        def train(rows: Integers, start: Solution | None) -> Solution:
            its_seeds = branch(seeds, len(courses))
            begun = [] if start is None else [Solution(start.weights, start.margin)]
            few = rows if len(rows) < len(inputs) else slice(None)  # all need not be copied
            (course,) = base._train(
                inputs[few], data.y[few], weights[few], its_seeds, begun, rated_as=rated_as
            )
            courses.append(course)
            return course.solution

        if len(self.classes_) == 1:
            base._take([])
            everything = np.arange(len(data.y))
            return Selection([(len(data.y), 1.0, 1.0, 1.0)], rows=everything, ended=ONE_CLASS)
        found = select_samples(
            inputs, np.where(data.y == 1, 1.0, -1.0), data.sample_weights, train,
            positive=positive,
            keep_quasi_noisy=self.keep_quasi_noisy, quasi_noisy=self.quasi_noisy,
            max_rounds=self.max_rounds, after=progress.update_and_check,
        )  # fmt: skip
        base._take([courses[found.best]])
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class that most perceptrons vote for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def decision_function(self, X: Any) -> Floats:
        """How the perceptrons vote, see :class:`ParallelPerceptronClassifier`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The mean vote for the second class, and less than a vote's worth of certainty.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def predict_proba(self, X: Any) -> Floats:
        """Smoothed shares of the votes, see :class:`ParallelPerceptronClassifier`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Shares, in the order of ``classes_``.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)
