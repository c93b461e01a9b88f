"""Base of the parallel perceptrons: reading samples, training, and continuing a fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularEstimator
from orfeon.data.training_set import TrainingSet, are_counts, check_length
from orfeon.ensembles.perturbation import member_generator
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.blame import Blame
from orfeon.perceptrons.inputs import Inputs
from orfeon.perceptrons.p_delta import (
    Course,
    LearningRate,
    Mode,
    PDelta,
    Rule,
    Solution,
    TuneMargin,
)
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.progress import CallbackSupport, Progress, report_progress
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.seeding import branch
from orfeon.utils.types import Floats

PERCEPTRONS: dict[str, list[Any]] = {
    "n_perceptrons": [Interval(Integral, 1, None, closed="left")],
    "mode": [StrOptions({"batch", "incremental"})],
    "rule": [StrOptions({"p_delta", "auer"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [StrOptions({"invscaling", "adaptive", "constant"})],
    "eta0": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"})],
    "margin": [Interval(Real, 0.0, None, closed="left")],
    "tune_margin": ["boolean", StrOptions({"mean"})],
    "margin_weight": [Interval(Real, 0.0, None, closed="left")],
    "standardize": ["boolean"],
    "divide_inputs": ["boolean"],
    "init": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"unit"})],
    "early_stopping": ["boolean"],
    "categorical_features": LIMITS["categorical_features"],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "random_state": LIMITS["random_state"],
}

#: Energy of inputs, targets and sample weights, for a solution and a rule.
Energy = Callable[[Floats, Floats, Floats, Solution, PDelta], float]


@dataclass(frozen=True)
class Problem:
    """Targets of one parallel perceptron, and the rows it is trained on (None: all)."""

    targets: Floats
    rows: npt.NDArray[np.int64] | None = None

    def of(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array if self.rows is None else array[self.rows]


@saved.attributes(
    inputs_=saved.instance("Inputs"),
    _solutions=saved.list_of(saved.instance("Solution"), at_least=1),
    _made_with=saved.dict_of(saved.string, saved.anything),
    weights_=saved.array("f8", 3, finite=True),
    margin_=saved.floats,
    energy_curve_=saved.array("f8", 1, 2),
    error_curve_=saved.array("f8", 1, 2),
    n_iter_=saved.integer(0),
)
class BaseParallelPerceptron(CallbackSupport, TabularEstimator):
    """One or several parallel perceptrons on the same inputs.

    Subclasses define the targets (:meth:`_problem`) and the tolerance (:meth:`_tolerance`).
    """

    inputs_: Inputs
    weights_: Floats
    margin_: Floats
    energy_curve_: Floats
    error_curve_: Floats
    n_iter_: int
    _solutions: list[Solution]
    _made_with: dict[str, Any]

    n_perceptrons: int
    mode: Mode
    rule: Rule
    max_iter: int
    learning_rate: LearningRate
    eta0: Any
    margin: float
    tune_margin: TuneMargin
    margin_weight: float
    standardize: bool
    divide_inputs: bool
    init: float | Literal["unit"]
    early_stopping: bool
    warm_start: bool
    n_jobs: int | None
    verbose: int
    blame: Blame = "all"

    #: Parameters that a fitted parallel perceptron cannot change.
    _shaping: ClassVar[tuple[str, ...]] = ("n_perceptrons", "standardize", "divide_inputs")

    # -- defined by subclasses -----------------------------------------------------------------

    @property
    @abstractmethod
    def _n_problems(self) -> int:
        """Number of parallel perceptrons."""

    @abstractmethod
    def _problem(self, index: int, y: npt.NDArray[Any]) -> Problem:
        """The problem that one parallel perceptron solves."""

    @abstractmethod
    def _tolerance(self) -> dict[str, float]:
        """Tolerance and rho of the rule."""

    @abstractmethod
    def _auto_rate(self, total_weight: float) -> float:
        """Learning rate if ``eta0`` is "auto"."""

    @abstractmethod
    def _learn_target(self, data: TrainingSet) -> None:
        """Store what prediction needs to know of the first training set's targets."""

    def _check_target(self, data: TrainingSet) -> None:
        """Check the targets of a later training set."""

    def _check_settings(self) -> None:
        """Reject settings that ``_parameter_constraints`` cannot describe."""

    # -- fitting -------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        known = self._solutions if self.warm_start and hasattr(self, "_solutions") else []
        data = self._read_next(
            X,
            y,
            sample_weight,
            begins=not known,
            why="warm_start=True continues from the previous fit",
        )
        # Weights and margins carry over; learning rates and curves start over.
        starts = [Solution(solution.weights, solution.margin) for solution in known]
        total = self.max_iter * max(1, self._n_problems)
        with report_progress(
            self, total, self.verbose, X=X, y=y, sample_weight=sample_weight
        ) as progress:
            courses = self._train(
                self.inputs_.of(data.X), data.y, data.weights, data.seeds, starts,
                progress=progress,
            )  # fmt: skip
            self._take(courses)

    def _fit_chunk(self, X: Any, y: Any, sample_weight: Any) -> None:
        known = getattr(self, "_solutions", [])
        begins = not hasattr(self, "_solutions")
        data = self._read_next(
            X, y, sample_weight, begins=begins, is_chunk=True,
            why="partial_fit continues from the previous call",
        )  # fmt: skip
        seeds = data.seeds
        if not begins:  # another random order for each chunk
            seeds = branch(seeds, self.n_iter_)
        courses = self._train(
            self.inputs_.of(data.X), data.y, data.weights, seeds, known, n_epochs=1
        )
        self._take(courses, adds=not begins)

    def _read_next(
        self, X: Any, y: Any, sample_weight: Any, *, begins: bool, why: str, is_chunk: bool = False
    ) -> TrainingSet:
        """Read samples; the first call also learns the inputs and the range of the targets."""
        self._check_settings()
        if not begins:
            self._check_same_perceptrons(why)
        data = self._read_units(X, y, sample_weight, begins=begins)
        if begins:
            self._learn_inputs(data, is_chunk=is_chunk)
        else:
            self._check_target(data)
        return data

    def _check_same_perceptrons(self, why: str) -> None:
        for name, then in self._made_with.items():
            now = getattr(self, name)
            if now != then:
                raise ValueError(
                    f"{why}, so {name} cannot change from {then!r} to {now!r}; set it back, or "
                    "start over with warm_start=False."
                )

    def _read_units(
        self, X: Any, y: Any, sample_weight: Any, *, begins: bool = True
    ) -> TrainingSet:
        """The samples in canonical order, weights in units of a sample."""
        samples = self._read(X, y, sample_weight, reset=begins).in_canonical_order()
        return replace(samples, sample_weights=in_samples(samples.sample_weights))

    def _learn_inputs(self, data: TrainingSet, *, is_chunk: bool = False) -> None:
        self._learn_target(data)
        # A feature that is constant in the first chunk may vary in the next.
        self.inputs_ = Inputs.learn(
            data.X, data.schema, data.sample_weights, standardize=self.standardize,
            divide=self.divide_inputs, ignore_constants=not is_chunk,
        )  # fmt: skip

    def _rule(self, total_weight: float) -> PDelta:
        rate = self._auto_rate(total_weight) if self.eta0 == "auto" else float(self.eta0)
        return PDelta(
            self.mode, self.rule, self.learning_rate, rate, self.tune_margin,
            float(self.margin_weight), stop_when_right=self.early_stopping, blame=self.blame,
            **self._tolerance(),
        )  # fmt: skip

    def _train(
        self,
        inputs: Floats,
        y: npt.NDArray[Any],
        weights: Floats,
        seeds: np.random.SeedSequence,
        starts: list[Solution],
        *,
        n_epochs: int | None = None,
        rated_as: float | None = None,
        progress: Progress | None = None,
    ) -> list[Course]:
        """Train a parallel perceptron for each problem; without ``starts``, from random weights.

        ``rated_as`` replaces the total weight that sets the automatic learning rate.
        """

        def train_one(index: int) -> Course:
            problem = self._problem(index, y)
            rng = member_generator(seeds, index)
            its_inputs, its_weights = problem.of(inputs), problem.of(weights)
            drawn = p_delta.draw_weights(self.n_perceptrons, inputs.shape[1], self.init, rng)
            start = starts[index] if starts else Solution(drawn, float(self.margin))
            total = p_delta.rated_weight(its_inputs, its_weights) if rated_as is None else rated_as
            return p_delta.train(
                its_inputs, problem.targets, its_weights, start, self._rule(total),
                n_epochs or self.max_iter, rng,
                progress.update_and_check if progress and progress.has_listener else None,
            )  # fmt: skip

        if self._n_problems < 2:
            return [train_one(index) for index in range(self._n_problems)]
        jobs = Parallel(n_jobs=getattr(self, "n_jobs", None), require="sharedmem")
        return list(jobs(delayed(train_one)(index) for index in range(self._n_problems)))

    def _take(self, courses: list[Course], *, adds: bool = False) -> None:
        """Set the fitted attributes."""
        self._solutions = [course.solution for course in courses]
        self._made_with = {name: getattr(self, name) for name in self._shaping}
        shape = (len(courses), self.n_perceptrons, self.inputs_.n_inputs)
        units = [solution.unit_weights for solution in self._solutions]
        self.weights_ = np.array(units).reshape(shape)
        self.margin_ = np.array([solution.margin for solution in self._solutions])
        energies = _as_curves([course.energies for course in courses])
        errors = _as_curves([course.error_shares for course in courses])
        if adds:
            energies = np.concatenate([self.energy_curve_, energies], axis=-1)
            errors = np.concatenate([self.error_curve_, errors], axis=-1)
        self.energy_curve_, self.error_curve_ = energies, errors
        self.n_iter_ = self.energy_curve_.shape[-1]

    # -- inspection ----------------------------------------------------------------------------

    def _inputs(self, X: Any) -> Floats:
        check_is_fitted(self, "weights_")
        return self.inputs_.of(self._encode(X))

    def energy(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Energy J that training minimises, summed over the problems.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Samples.
        y : array of shape (n_rows,)
            Their classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        float
            J, with the class weights of training.
        """
        return self._sum_energies(p_delta.energy, X, y, sample_weight)

    def _sum_energies(self, energy: Energy, X: Any, y: Any, sample_weight: Any) -> float:
        inputs = self._inputs(X)
        targets = self._known_target(y)
        check_length(targets, len(inputs))
        weights = np.ones(len(inputs))
        if sample_weight is not None:
            weights = in_samples(self._read_weights(sample_weight, targets))
        weights = self._weigh_classes(targets, weights)
        rule = self._rule(1.0)
        total = 0.0
        for index, solution in enumerate(self._solutions):
            problem = self._problem(index, targets)
            total += energy(
                problem.of(inputs), problem.targets, problem.of(weights), solution, rule
            )
        return total

    @abstractmethod
    def _known_target(self, y: Any) -> npt.NDArray[Any]:
        """Class codes or numeric targets."""

    def _weigh_classes(self, targets: npt.NDArray[Any], weights: Floats) -> Floats:
        """Multiply sample weights by class weights, if there are any."""
        return weights


def in_samples(weights: Floats) -> Floats:
    """Whole-number weights as they are; others scaled to mean 1 over those above zero."""
    if are_counts(weights):
        return weights
    return np.asarray(weights * (np.count_nonzero(weights) / weights.sum()))


def _as_curves(curves: list[Floats]) -> Floats:
    """One curve, or several as rows padded with NaN."""
    if len(curves) == 1:
        return curves[0]
    table = np.full((len(curves), max(map(len, curves), default=0)), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: len(curve)] = curve
    return table
