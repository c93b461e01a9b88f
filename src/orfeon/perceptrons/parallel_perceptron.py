"""The parallel perceptron classifier, and its use as a member of a boosted ensemble."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import combinations, islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from orfeon.base import (
    KnownClassesMixin,
    TabularClassifierMixin,
    class_codes,
    class_factors,
    restored_on_failure,
)
from orfeon.boosting.learners import Sampling, draw_sample
from orfeon.boosting.loop import MemberOutput
from orfeon.data.training_set import TrainingSet, check_length
from orfeon.ensembles.perturbation import draw_seed
from orfeon.members.members import EstimatorMembers
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.base import PERCEPTRONS, BaseParallelPerceptron, Problem
from orfeon.perceptrons.blame import Blame
from orfeon.perceptrons.categories import (
    NAMES,
    QuasiNoisy,
    categorise,
    class_code,
    code_of_interest,
)
from orfeon.perceptrons.p_delta import LearningRate, Mode, Rule, TuneMargin
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions, _fit_context, _ovr_decision_function
from orfeon.utils.types import Floats

MultiClass = Literal["one_vs_rest", "one_vs_one"]


@saved.attributes(
    minority_class_=saved.label,
    _class_factors=saved.optional(saved.one_of(saved.none, saved.floats)),
)
@documented(p_delta="p_delta", p_delta_margin="0.12")
class ParallelPerceptronClassifier(
    KnownClassesMixin, TabularClassifierMixin, BaseParallelPerceptron
):
    """Majority vote of a few perceptrons trained together.

    Parameters
    ----------
    n_perceptrons : int, default=3
        Number of perceptrons; odd, so that there are no ties.
    <p_delta>
    blame : {"all", "nearest", "fewest"}, default="all"
        Which of the perceptrons that voted wrongly are moved when the vote is wrong: all; the one
        with the smallest activation; or the fewest that change the vote, by smallest activation.
    eta0 : float or "auto", default="auto"
        Initial learning rate; "auto" is 0.01 for a total weight of up to 1,000, and 6.48 divided by
        the total weight beyond.
    <p_delta_margin>
    init : float or "unit", default=0.1
        Initial weights: uniform between ``-init`` and ``init``, or random vectors of length 1.
    <p_delta_running>
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        With more than two classes: one parallel perceptron per class, or per pair of classes.
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
        The class with the lowest training weight (the last one if tied), taken as the positive
        class.
    <p_delta_fitted>

    See Also
    --------
    PPTSSClassifier : Selects its training samples.
    PPBoostClassifier : Boosts parallel perceptrons.
    ParallelPerceptronRegressor : For regression.

    Notes
    -----
    Each epoch moves the weights w of the perceptrons down the energy ::

        J = 1/4 sum over h of (|w_h|^2 - 1)^2
          + sum over wrong x and the h to blame of |w_h x|
          + margin_weight * sum over x and the h not to blame of max(0, margin - |w_h x|)

    where h is to blame for a wrong x if it votes for the wrong class; with ``rule="p_delta"`` the
    last sum is over correct x and all h. Batch mode normalises the weights to length 1 instead of
    using the first term. An activation of 0 votes +1. The margin widens by a quarter of the
    learning rate for each sample that no perceptron has within it, and narrows by three quarters
    of it for every other, but not below 0. Fractional weights are taken relative to their mean.

    ``rule="p_delta"`` is the rule that Cantador studied, and ``eta0="auto"`` his learning rates:
    0.01, and 0.001 for 6,480 samples, because updates are sums over the samples. He leaves mu, the
    initial weights and the scale of the inputs open; the defaults were chosen once for all of his
    data sets. ``tune_margin="mean", margin_weight=1.4, init=0.3`` comes closer to his figures. With
    linearly dependent inputs, ``margin_weight=0.3`` helps: weights drift in directions in which
    there is nothing to learn.

    Examples
    --------
    >>> from orfeon import ParallelPerceptronClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
    >>> round(model.score(X_test, y_test), 3)
    0.968
    >>> from collections import Counter
    >>> sorted(Counter(model.categories(X, y).tolist()).items())
    [('borderline', 68), ('redundant', 232)]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PERCEPTRONS,
        "blame": [StrOptions({"all", "nearest", "fewest"})],
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
        rule: Rule = "p_delta",
        blame: Blame = "all",
        max_iter: int = 250,
        learning_rate: LearningRate = "invscaling",
        eta0: float | Literal["auto"] = "auto",
        margin: float = 0.05,
        tune_margin: TuneMargin = True,
        margin_weight: float = 0.12,
        standardize: bool = True,
        divide_inputs: bool = True,
        init: float | Literal["unit"] = 0.1,
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
        self.blame = blame
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

    # -- fitting -------------------------------------------------------------------------------

    def _check_settings(self) -> None:
        if self.n_perceptrons % 2 == 0:
            raise ValueError(
                f"n_perceptrons={self.n_perceptrons} is even, so votes could be tied; give an odd "
                f"number, such as {self.n_perceptrons + 1}."
            )

    def _tolerance(self) -> dict[str, float]:
        # Outputs are -1 or 1, so any tolerance below 2 does.
        return {"tolerance": 0.5, "rho": 1.0}

    def _auto_rate(self, total_weight: float) -> float:
        return p_delta.published_rate(total_weight)

    @property
    def _is_pairwise(self) -> bool:
        """Whether there is one problem per pair of classes, by the setting of the last fit."""
        made_with = getattr(self, "_made_with", None)
        how = self.multi_class if made_with is None else made_with["multi_class"]
        return self.n_classes_ > 2 and bool(how == "one_vs_one")

    @property
    def _n_problems(self) -> int:
        n_classes: int = self.n_classes_
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
            # Summed in canonical order, so that the order of the rows does not matter.
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
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        with restored_on_failure(self):
            continues = self.warm_start and hasattr(self, "_solutions")
            if not continues:
                self.__dict__.pop("_made_with", None)
            self._known_classes = self.classes_ if continues else None
            self._fit(X, y, sample_weight)
        return self

    def _begin(self, X: Any, y: Any, sample_weight: Any, *, in_order: bool = False) -> TrainingSet:
        """Read samples and learn the inputs, without training."""
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
        return PerceptronLearner(self, samples, sampling, classes)

    def _trained_copy(
        self,
        inputs: Floats,
        codes: npt.NDArray[Any],
        weights: Floats,
        seeds: np.random.SeedSequence,
    ) -> ParallelPerceptronClassifier:
        """A copy with the same inputs, trained on these samples."""
        other = copy(self)
        other._take(other._train(inputs, codes, weights, seeds, []))
        return other

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on a chunk of samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The chunk. The first one sets the features and their standardisation.
        y : array of shape (n_rows,)
            Its classes.
        classes : array, optional
            All the classes; required in the first call.
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

    def _vote_sums(self, inputs: Floats) -> Floats:
        """Sum of votes for each row and problem; the mean activation, squashed, breaks ties."""
        sums = np.empty((len(inputs), len(self.weights_)))
        for problem, weights in enumerate(self.weights_):
            activations = p_delta.activations(inputs, weights)
            certainty = activations.mean(axis=1)
            sums[:, problem] = p_delta.signs(activations).sum(axis=1)
            sums[:, problem] += certainty / (1.5 * (1.0 + np.abs(certainty)))
        return sums

    def _decisions(self, inputs: Floats) -> Floats:
        sums = self._vote_sums(inputs)
        if self._is_pairwise:
            return np.asarray(_ovr_decision_function(sums > 0, sums, self.n_classes_))
        means: Floats = sums / self.weights_.shape[1]
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
            shares = (self._vote_sums(inputs) + n + 1) / (2 * n + 2)
        if self.n_classes_ == 2:
            return np.hstack([1.0 - shares, shares])
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _activations_and_margin(self, inputs: Floats) -> Floats:
        """With two classes: activations, and the margin as last column."""
        if self.n_classes_ == 1:  # no perceptron: always the first class
            return np.tile([-1.0, 0.0], (len(inputs), 1))
        activations = p_delta.activations(inputs, self.weights_[0])
        return np.column_stack([activations, np.full(len(inputs), self.margin_[0])])

    def decision_function(self, X: Any) -> Floats:
        """Mean vote of the perceptrons, with the mean activation breaking ties.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes, the mean vote for the second, between -1 and 1, shifted by less than
            one vote by the mean activation. Otherwise the same for each class against the rest, or
            the votes of the pairs.
        """
        return self._decisions(self._inputs(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class that most perceptrons vote for.

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
        """Vote shares, smoothed as if each side had one more perceptron.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``; the predicted class has the largest.
        """
        return self._shares(self._inputs(X))

    # -- energy, margins and categories --------------------------------------------------------

    def energy(
        self, X: Any, y: Any, sample_weight: Any = None, *, as_printed: bool = False
    ) -> float:
        """Energy J that training minimises, summed over the problems.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Samples.
        y : array of shape (n_rows,)
            Their classes.
        sample_weight : array of shape (n_rows,), optional
            Weights.
        as_printed : bool, default=False
            Whether the norms count a half, and the margin only for perceptrons that vote for the
            sample's class, as Cantador prints J. The rule is minus the gradient of the other form.

        Returns
        -------
        float
            J, with the class weights of training.
        """
        energy = p_delta.printed_energy if as_printed else p_delta.energy
        return self._sum_energies(energy, X, y, sample_weight)

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
            Distances from the hyperplanes, in units of the inputs. With more than two classes
            there are several problems; NaN where a row is of neither class of a pair.
        """
        margins, _ = self._margins(X, y)
        return margins[:, 0] if self.n_classes_ == 2 else margins

    def categories(
        self, X: Any, y: Any, *, quasi_noisy: QuasiNoisy = "all", pos_label: Any = None
    ) -> npt.NDArray[np.str_]:
        """Category of each sample: redundant, noisy, borderline or quasi-noisy.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Samples.
        y : array of shape (n_rows,)
            Their classes.
        quasi_noisy : {"all", "vote"}, default="all"
            Whether a borderline negative sample is quasi-noisy when all perceptrons misclassify it,
            or when their vote does.
        pos_label : object, optional
            With two classes, the positive class; ``minority_class_`` by default. With more, each
            class is positive in its problem, and the second class of a pair.

        Returns
        -------
        ndarray of str of shape (n_rows,) or (n_rows, n_problems)
            "redundant": most perceptrons are right by more than ``margin_``; "noisy": most are
            wrong by more; "borderline": the others, some of which are "quasi-noisy". With more than
            two classes, one per problem, empty where the row is of neither class of a pair.
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


class PerceptronLearner:
    """Trains the members of a boosted ensemble, all on the same standardised inputs."""

    def __init__(
        self,
        base: ParallelPerceptronClassifier,
        samples: TrainingSet,
        sampling: Sampling,
        classes: npt.NDArray[Any],
    ) -> None:
        self.class_weight, self.classes = base.class_weight, classes
        # Members see class codes, so the class weights, given by label, are applied here.
        self.base = clone(base).set_params(class_weight=None)
        data = self.base._begin(samples.X, samples.y, samples.sample_weights, in_order=True)
        self.inputs = self.base.inputs_.of(data.X)
        # The validation set may have taken the last samples of a class.
        self.n_classes = max(samples.n_classes, 1)
        self.base.classes_ = np.arange(self.n_classes)
        self.base.n_classes_ = self.n_classes
        self.sampling = sampling

    def train(
        self,
        weights: Floats,
        labels: npt.NDArray[Any],
        rng: np.random.Generator,
        n_present: int | None = None,
    ) -> EstimatorMembers:
        seeds = np.random.SeedSequence(int(draw_seed(rng)))
        n_samples = len(weights) if n_present is None else n_present
        if self.sampling == "resample":
            given = draw_sample(weights, labels, self.n_classes, rng, n_samples).astype(np.float64)
        else:
            given = weights * (n_samples / weights.sum())
        if self.class_weight is not None:
            given = given * class_factors(self.class_weight, self.classes, labels, given)[labels]
        member = self.base._trained_copy(self.inputs, labels, given, seeds)
        return EstimatorMembers([member], self.n_classes)

    def predict_train(self, member: EstimatorMembers, what: MemberOutput) -> npt.NDArray[Any]:
        (one,) = member.estimators
        if what == "votes":
            return np.asarray(one._decide(self.inputs))
        if what == "supports":
            return np.asarray(one._shares(self.inputs))
        return np.asarray(one._activations_and_margin(self.inputs))
