"""Parallel perceptrons as a classifier."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import combinations, islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from orfeon.base import (
    KnownClassesMixin,
    TabularClassifierMixin,
    class_codes,
    class_factors,
    restored_on_failure,
)
from orfeon.boosting.learners import Sampling
from orfeon.data.training_set import TrainingSet, check_length
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.base import PERCEPTRONS, BaseParallelPerceptron, Problem
from orfeon.perceptrons.categories import NAMES, QuasiNoisy, categorise
from orfeon.perceptrons.class_of_interest import class_code, code_of_interest
from orfeon.perceptrons.learner import PerceptronLearner
from orfeon.perceptrons.p_delta import LearningRate, Mode, Rule
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions, _fit_context, _ovr_decision_function
from orfeon.utils.types import Floats

MultiClass = Literal["one_vs_rest", "one_vs_one"]


@saved.attributes(
    minority_class_=saved.label,
    _class_factors=saved.optional(saved.one_of(saved.none, saved.floats)),
)
@documented(p_delta_margin="0.12")
class ParallelPerceptronClassifier(
    KnownClassesMixin, TabularClassifierMixin, BaseParallelPerceptron
):
    """Majority vote of a few perceptrons that are trained together.

    Parameters
    ----------
    n_perceptrons : int, default=3
        Number of perceptrons; odd, so that there is a majority.
    <p_delta>
    eta0 : float or "auto", default="auto"
        Initial learning rate; "auto" is 0.01, or 7 over the weight of the samples if that is less.
    <p_delta_margin>
    init : float or "unit", default=0.2
        Initial weights: uniform between minus this and this, or vectors of length 1 in any
        direction.
    <p_delta_running>
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        With more than two classes: a parallel perceptron for each class against the others, or for
        each pair of classes.
    <class_factors>
    <categorical_features>
    <p_delta_continuing>
    n_jobs : int, optional
        Threads, with more than two classes. The model does not depend on it.
    <verbose>
    <random_state>

    Attributes
    ----------
    <classes>
    minority_class_ : object
        The class of least weight in training, which counts as the class of interest; the second one
        when two weigh the same.
    <p_delta_fitted>

    See Also
    --------
    PPTSSClassifier : Trains on the samples that matter only.
    PPBoostClassifier : Boosts parallel perceptrons.
    ParallelPerceptronRegressor : For numbers.

    Notes
    -----
    Each epoch moves the weights w of the perceptrons down the energy ::

        J = 1/4 sum over h of (|w_h|^2 - 1)^2
          + sum over wrong x and the h to blame of |w_h x|
          + margin_weight * sum over x and the h not to blame of max(0, margin - |w_h x|)

    where with ``rule="p_delta"`` the last sum is over right x only; in batch mode weights are made
    vectors of length 1 instead of the first term. An activation of 0 says +1. The margin is
    widened by a quarter of the learning rate for each sample of which no activation that counts
    is within it, narrowed by three quarters of it for each other, and never below 0. Weights that
    are not whole numbers are taken relative to their mean.

    What the source leaves open (mu, the scale of inputs and weights, its rule's variant) was
    settled once for all data sets, by how near the published results come: that is why
    ``rule="auer"``, ``margin_weight=0.12`` and ``init=0.2``. Inputs that depend on each other
    linearly leave directions in which nothing is learnt, and the unit vectors may turn there: a
    ``margin_weight`` of 0.3 then helps.

    A callback that asks to stop ends the training of all problems, those of later classes at their
    first report.

    Updates are sums over the samples, as published. ``eta0="auto"`` is the published 0.01 up to
    700 samples and falls as there are more, for longer sums need smaller steps.

    Examples
    --------
    >>> from orfeon import ParallelPerceptronClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    >>> round(model.score(X_test, y_test), 3)
    0.962
    >>> from collections import Counter
    >>> sorted(Counter(model.categories(X, y).tolist()).items())
    [('borderline', 42), ('redundant', 258)]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PERCEPTRONS,
        "multi_class": [StrOptions({"one_vs_rest", "one_vs_one"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    minority_class_: Any
    _class_factors: Floats | None
    _shaping: ClassVar[tuple[str, ...]] = (*BaseParallelPerceptron._shaping, "multi_class")

    def __init__(
        self,
        n_perceptrons: int = 3,
        *,
        mode: Mode = "batch",
        rule: Rule = "auer",
        max_iter: int = 250,
        learning_rate: LearningRate = "invscaling",
        eta0: float | Literal["auto"] = "auto",
        margin: float = 0.05,
        tune_margin: bool = True,
        margin_weight: float = 0.12,
        standardize: bool = True,
        divide_inputs: bool = True,
        init: float | Literal["unit"] = 0.2,
        early_stopping: bool = False,
        multi_class: MultiClass = "one_vs_rest",
        class_weight: Any = None,
        categorical_features: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_perceptrons = n_perceptrons
        self.mode = mode
        self.rule = rule
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.margin = margin
        self.tune_margin = tune_margin
        self.margin_weight = margin_weight
        self.standardize = standardize
        self.divide_inputs = divide_inputs
        self.init = init
        self.early_stopping = early_stopping
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # -- what is learnt ------------------------------------------------------------------------

    def _check_settings(self) -> None:
        if self.n_perceptrons % 2 == 0:
            raise ValueError(
                f"n_perceptrons={self.n_perceptrons} is even, and a vote could be a draw; give an "
                f"odd number, such as {self.n_perceptrons + 1}."
            )

    def _judging(self) -> dict[str, float]:
        # The output is -1 or 1: any tolerance below 2 tells right from wrong.
        return {"tolerance": 0.5, "rho": 1.0}

    @property
    def _is_pairwise(self) -> bool:
        """Whether each pair of classes has a parallel perceptron, as it was trained."""
        made_with = getattr(self, "_made_with", None)
        how = self.multi_class if made_with is None else made_with["multi_class"]
        return self.n_classes_ > 2 and bool(how == "one_vs_one")

    @property
    def _n_problems(self) -> int:
        n_classes = self.n_classes_
        if n_classes <= 2:
            return n_classes - 1
        return n_classes * (n_classes - 1) // 2 if self._is_pairwise else n_classes

    def _problem(self, index: int, y: npt.NDArray[Any]) -> Problem:
        if not self._is_pairwise:
            positive = 1 if self.n_classes_ == 2 else index
            return Problem(np.where(y == positive, 1.0, -1.0))
        first, second = next(islice(combinations(range(self.n_classes_), 2), index, None))
        rows = np.flatnonzero((y == first) | (y == second))
        return Problem(np.where(y[rows] == second, 1.0, -1.0), rows)

    def _learn_target(self, data: TrainingSet) -> None:
        code = code_of_interest(data.y, data.sample_weights, self.classes_)
        self.minority_class_ = self.classes_[code]

    def _read_units(
        self, X: Any, y: Any, sample_weight: Any, *, begins: bool = True
    ) -> TrainingSet:
        units = super()._read_units(X, y, sample_weight, begins=begins)
        self._class_factors = None
        if self.class_weight is not None:
            # By sums in this order, which does not depend on that of the rows.
            self._class_factors = class_factors(
                self.class_weight, self.classes_, units.y, units.sample_weights
            )
        return replace(units, class_factors=self._class_factors)

    def _weigh_classes(self, targets: npt.NDArray[Any], weights: Floats) -> Floats:
        factors = self._class_factors
        return weights if factors is None else weights * factors[targets]

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for ``max_iter`` epochs.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Weights, which multiply what a sample asks for: 0 is the same as leaving it out, 2 as
            giving it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        with restored_on_failure(self):
            goes_on = self.warm_start and hasattr(self, "_solutions")
            if not goes_on:
                self.__dict__.pop("_made_with", None)
            self._known_classes = self.classes_ if goes_on else None
            self._fit(X, y, sample_weight)
        return self

    def _begin(self, X: Any, y: Any, sample_weight: Any, *, in_order: bool = False) -> TrainingSet:
        """Read samples, and learn from them what the inputs are, but do not train."""
        self._validate_params()
        self._check_settings()
        self._known_classes = None
        read = self._read if in_order else self._read_units
        data = read(X, y, sample_weight)
        self._learn_inputs(data)
        return data

    def _boosting_learner(
        self, samples: TrainingSet, sampling: Sampling, classes: npt.NDArray[Any]
    ) -> PerceptronLearner:
        """What trains members of a boosted ensemble."""
        return PerceptronLearner(self, samples, sampling, classes)

    def _trained_copy(
        self,
        inputs: Floats,
        codes: npt.NDArray[Any],
        weights: Floats,
        seeds: np.random.SeedSequence,
    ) -> ParallelPerceptronClassifier:
        """Another one that reads tables as this one does, trained on these inputs."""
        other = copy(self)
        other._take(other._train(inputs, codes, weights, seeds, []))
        return other

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch, on some of the samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The chunk. The first one says what the features are and how they are standardized.
        y : array of shape (n_rows,)
            Its classes.
        classes : array, optional
            All the classes; needed in the first call.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
            The classifier.
        """
        with restored_on_failure(self):
            self._expect_classes(classes, begins=not hasattr(self, "_solutions"))
            self._fit_chunk(X, y, sample_weight)
        return self

    # -- decisions -----------------------------------------------------------------------------

    def _leanings(self, inputs: Floats) -> Floats:
        """Sum of signs for each row and problem, and less than 1 more for their certainty."""
        leanings = np.empty((len(inputs), len(self.weights_)))
        for problem, weights in enumerate(self.weights_):
            activations = p_delta.activations(inputs, weights)
            certainty = activations.mean(axis=1)
            leanings[:, problem] = p_delta.signs(activations).sum(axis=1)
            leanings[:, problem] += certainty / (1.5 * (1.0 + np.abs(certainty)))
        return leanings

    def _decisions(self, inputs: Floats) -> Floats:
        leanings = self._leanings(inputs)
        if self._is_pairwise:
            return np.asarray(_ovr_decision_function(leanings > 0, leanings, self.n_classes_))
        means: Floats = leanings / self.weights_.shape[1]
        return means[:, 0] if self.n_classes_ == 2 else means

    def _decide(self, inputs: Floats) -> npt.NDArray[np.int64]:
        """Class codes."""
        if self.n_classes_ == 1:
            return np.zeros(len(inputs), np.int64)
        decisions = self._decisions(inputs)
        return decisions.argmax(axis=1) if decisions.ndim == 2 else (decisions > 0).astype(np.int64)

    def _shares(self, inputs: Floats) -> Floats:
        """Smoothed shares of the votes."""
        if self.n_classes_ == 1:
            return np.ones((len(inputs), 1))
        if self._is_pairwise:
            shares = self._decisions(inputs) + 0.5  # sums of certainties are within a third
        else:
            n = self.weights_.shape[1]
            shares = (self._leanings(inputs) + n + 1) / (2 * n + 2)
        if self.n_classes_ == 2:
            return np.hstack([1.0 - shares, shares])
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _activations_and_margin(self, inputs: Floats) -> Floats:
        """With two classes: activations, and the margin in a last column."""
        if self.n_classes_ == 1:  # there is no perceptron, and the first class is right
            return np.tile([-1.0, 0.0], (len(inputs), 1))
        activations = p_delta.activations(inputs, self.weights_[0])
        return np.column_stack([activations, np.full(len(inputs), self.margin_[0])])

    def decision_function(self, X: Any) -> Floats:
        """How the perceptrons vote, and by how much where votes are equal.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes, the mean vote for the second, between -1 and 1, moved by less than a
            vote's worth by the mean activation; otherwise the same for each class against the
            others, or the votes of the pairs.
        """
        return self._decisions(self._inputs(X))

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
        codes = self._decide(self._inputs(X))
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the votes, smoothed as if there were one perceptron more on each side.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``; largest for the predicted class.
        """
        return self._shares(self._inputs(X))

    # -- looking at the samples ---------------------------------------------------------------

    def _known_target(self, y: Any) -> npt.NDArray[Any]:
        return class_codes(self._read_target(y), self.classes_)

    def _margins(self, X: Any, y: Any) -> tuple[Floats, npt.NDArray[Any]]:
        """Margins (n_rows, n_problems, n_perceptrons), and targets (n_rows, n_problems)."""
        inputs = self._inputs(X)
        codes = self._known_target(y)
        check_length(codes, len(inputs))
        margins = np.full((len(inputs), *self.weights_.shape[:2]), np.nan)
        targets = np.full((len(inputs), len(self.weights_)), np.nan)
        everywhere = np.arange(len(inputs))
        for index, weights in enumerate(self.weights_):
            problem = self._problem(index, codes)
            rows = everywhere if problem.rows is None else problem.rows
            activations = p_delta.activations(problem.of(inputs), weights)
            margins[rows, index] = problem.targets[:, None] * activations
            targets[rows, index] = problem.targets
        return margins, targets

    def margins(self, X: Any, y: Any) -> Floats:
        """Activation of each perceptron, positive where it is right.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Samples.
        y : array of shape (n_rows,)
            Their classes.

        Returns
        -------
        ndarray of shape (n_rows, n_perceptrons) or (n_rows, n_problems, n_perceptrons)
            Distances from the perceptrons' planes, in units of the inputs. With more than two
            classes there are several problems; NaN where a pair of classes does not concern a row.
        """
        margins, _ = self._margins(X, y)
        return margins[:, 0] if self.n_classes_ == 2 else margins

    def categories(
        self, X: Any, y: Any, *, quasi_noisy: QuasiNoisy = "all", pos_label: Any = None
    ) -> npt.NDArray[np.str_]:
        """What each sample is to the perceptrons.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Samples.
        y : array of shape (n_rows,)
            Their classes.
        quasi_noisy : {"all", "vote"}, default="all"
            Whether a borderline sample of the class that is not of interest is quasi-noisy when
            all perceptrons are wrong about it, or when the vote is.
        pos_label : object, optional
            With two classes, the class of interest; ``minority_class_`` by default. With more, each
            class is of interest in its problem, and of a pair the second.

        Returns
        -------
        ndarray of str of shape (n_rows,) or (n_rows, n_problems)
            "redundant": most perceptrons are right by more than ``margin_``; "noisy": most are
            wrong by more; "borderline": the others, of which some are "quasi-noisy". With more than
            two classes, one for each problem, empty where it does not concern the row.
        """
        margins, targets = self._margins(X, y)
        positive = 1.0
        if self.n_classes_ == 2:
            label = self.minority_class_ if pos_label is None else pos_label
            positive = 1.0 if class_code(label, self.classes_) == 1 else -1.0
        found = np.full(targets.shape, "", NAMES.dtype)
        for index, gamma in enumerate(self.margin_):
            rows = np.flatnonzero(~np.isnan(targets[:, index]))
            codes = categorise(
                margins[rows, index], gamma, targets[rows, index], positive, quasi_noisy
            )
            found[rows, index] = NAMES[codes]
        return found[:, 0] if self.n_classes_ == 2 else found
