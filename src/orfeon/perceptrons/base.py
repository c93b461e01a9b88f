"""What parallel perceptrons for classes and for numbers share: reading, training, going on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from orfeon.ensembles.perturbation import member_generator
from orfeon.ensembles.units import as_units
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.inputs import Inputs
from orfeon.perceptrons.p_delta import Course, LearningRate, Mode, PDelta, Rule, Solution
from orfeon.progress import CallbackSupport, Progress, report_progress
from orfeon.tabular import TabularEstimator, TrainingData, class_factors
from orfeon.trees.limits import LIMITS

Floats = npt.NDArray[np.float64]

PERCEPTRONS: dict[str, list[Any]] = {
    "n_perceptrons": [Interval(Integral, 1, None, closed="left")],
    "mode": [StrOptions({"batch", "incremental"})],
    "rule": [StrOptions({"p_delta", "auer"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [StrOptions({"invscaling", "adaptive", "constant"})],
    "eta0": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"})],
    "margin": [Interval(Real, 0.0, None, closed="left")],
    "tune_margin": ["boolean"],
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


@dataclass(frozen=True)
class Problem:
    """What one parallel perceptron learns.

    Parameters
    ----------
    targets : ndarray of shape (n_rows,)
        -1 and 1, or numbers between.
    rows : ndarray, optional
        Which of the examples are in it; all by default.
    """

    targets: Floats
    rows: npt.NDArray[np.int64] | None = None

    def of(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The rows of an array that are in the problem."""
        return array if self.rows is None else array[self.rows]


class BaseParallelPerceptron(CallbackSupport, TabularEstimator):
    """One parallel perceptron, or several, on the same inputs.

    Subclasses say what they learn: :meth:`_problems`, and what counts as right: :meth:`_judging`.
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
    tune_margin: bool
    margin_weight: float
    standardize: bool
    divide_inputs: bool
    init: float | Literal["unit"]
    early_stopping: bool
    warm_start: bool
    n_jobs: int | None
    verbose: int
    # Of classifiers only.
    class_weight: Any
    classes_: npt.NDArray[Any]

    # -- what a kind of parallel perceptron says -----------------------------------------------

    @abstractmethod
    def _problems(self, y: npt.NDArray[Any], n_classes: int) -> list[Problem]:
        """What the parallel perceptrons learn, one after the other."""

    @abstractmethod
    def _judging(self) -> dict[str, float]:
        """Tolerance and rho of the rule."""

    @abstractmethod
    def _learn_target(self, data: TrainingData) -> None:
        """Take note of what the targets of the first training set are."""

    def _check_settings(self) -> None:
        """Refuse settings that scikit-learn's own validation cannot."""

    # -- fitting -------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Train for all epochs, from drawn weights or from those of the fit before."""
        self._check_settings()
        goes_on = self.warm_start and hasattr(self, "_solutions")
        if goes_on:
            self._check_same_perceptrons("warm_start=True goes on from the fit before")
        data = self._read_units(X, y, sample_weight, begins=not goes_on)
        if not goes_on:
            self._learn_inputs(data)
        starts = self._solutions if goes_on else []
        # What was learnt is the start; rates and curves begin anew.
        starts = [Solution(known.weights, known.margin) for known in starts]
        total = self.max_iter * max(1, len(self._problems(data.y, data.n_classes)))
        with report_progress(
            self, total, self.verbose, X=X, y=y, sample_weight=sample_weight
        ) as progress:
            courses = self._train(
                self.inputs_.of(data.X), data.y, data.weighted_by_class, data.n_classes,
                data.seeds, starts, progress=progress,
            )  # fmt: skip
            self._take(courses)
        return self

    def _fit_chunk(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """One more epoch, on some examples."""
        self._check_settings()
        begins = not hasattr(self, "_solutions")
        if not begins:
            self._check_same_perceptrons("partial_fit goes on from what was learnt before")
        data = self._read_units(X, y, sample_weight, begins=begins)
        if begins:
            self._learn_inputs(data)
        seeds, starts = data.seeds, []
        if not begins:
            starts = self._solutions
            # Each chunk has randomness of its own.
            key = (*seeds.spawn_key, self.n_iter_)
            seeds = np.random.SeedSequence(seeds.entropy, spawn_key=key)
        courses = self._train(
            self.inputs_.of(data.X), data.y, data.weighted_by_class, data.n_classes, seeds, starts,
            n_epochs=1,
        )  # fmt: skip
        self._take(courses, adds=not begins)
        return self

    def _check_same_perceptrons(self, why: str) -> None:
        """Refuse settings that would make other perceptrons of those that there are."""
        now = self._shaping_settings()
        changed = [name for name in now if now[name] != self._made_with[name]]
        if changed:
            name = changed[0]
            raise ValueError(
                f"{why}, and {name} cannot change on the way from {self._made_with[name]!r} to "
                f"{now[name]!r}; set it back, or fit anew with warm_start=False."
            )

    def _shaping_settings(self) -> dict[str, Any]:
        names = ("n_perceptrons", "standardize", "divide_inputs", "multi_class")
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def _read_units(
        self, X: Any, y: Any, sample_weight: Any, *, begins: bool = True
    ) -> TrainingData:
        """The examples in an order of their own, weights of whole numbers as copies."""
        units = as_units(self._read(X, y, sample_weight, reset=begins))[0]
        if units.class_factors is None:
            return units
        # By sums in this order, which does not depend on that of the rows.
        factors = class_factors(self.class_weight, self.classes_, units.y, units.weights)
        return replace(units, class_factors=factors)

    def _learn_inputs(self, data: TrainingData) -> None:
        """Learn from a training set what the inputs and the targets are."""
        self._learn_target(data)
        self.inputs_ = Inputs.learn(
            data.X, data.schema, data.weights, standardize=self.standardize,
            divide=self.divide_inputs,
        )  # fmt: skip

    def _rule(self, total_weight: float) -> PDelta:
        """The rule, for examples of this total weight."""
        rate = p_delta.stable_rate(total_weight) if self.eta0 == "auto" else float(self.eta0)
        return PDelta(
            self.mode, self.rule, self.learning_rate, rate, self.tune_margin,
            float(self.margin_weight), stop_when_right=self.early_stopping, **self._judging(),
        )  # fmt: skip

    def _train(
        self,
        inputs: Floats,
        y: npt.NDArray[Any],
        weights: Floats,
        n_classes: int,
        seeds: np.random.SeedSequence,
        starts: list[Solution],
        *,
        n_epochs: int | None = None,
        progress: Progress | None = None,
    ) -> list[Course]:
        """Train a parallel perceptron for each problem; with no starts, from drawn weights."""

        def train_one(index: int, problem: Problem) -> Course:
            rng = member_generator(seeds, index)
            its_weights = problem.of(weights)
            drawn = p_delta.draw_weights(self.n_perceptrons, inputs.shape[1], self.init, rng)
            start = starts[index] if starts else Solution(drawn, float(self.margin))
            return p_delta.train(
                problem.of(inputs), problem.targets, its_weights, start,
                self._rule(float(its_weights.sum())), n_epochs or self.max_iter, rng,
                None if progress is None or not progress.is_heard else progress.update_and_ask,
            )  # fmt: skip

        problems = list(enumerate(self._problems(y, n_classes)))
        if len(problems) < 2:
            return [train_one(*one) for one in problems]
        jobs = Parallel(n_jobs=getattr(self, "n_jobs", None), require="sharedmem")
        return list(jobs(delayed(train_one)(*one) for one in problems))

    def _take(self, courses: list[Course], *, adds: bool = False) -> None:
        """Take over what was learnt."""
        self._solutions = [course.solution for course in courses]
        self._made_with = self._shaping_settings()
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
        self.n_iter_ = max((solution.n_epochs for solution in self._solutions), default=0)

    # -- looking at it -------------------------------------------------------------------------

    def _inputs(self, X: Any) -> Floats:
        """The inputs for rows of a table."""
        check_is_fitted(self, "weights_")
        return self.inputs_.of(self._encode(X))

    def energy(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The energy J that training descends, summed over the problems.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Examples.
        y : array of shape (n_rows,)
            Their classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        float
            J.
        """
        inputs = self._inputs(X)
        targets = self._known_target(y, len(inputs))
        weights = np.ones(len(inputs))
        if sample_weight is not None:
            weights = self._read_weights(sample_weight, targets)
        problems = self._problems(targets, len(getattr(self, "classes_", ())))
        rule = self._rule(1.0)
        return float(
            sum(
                p_delta.energy(
                    problem.of(inputs), problem.targets, problem.of(weights), solution, rule
                )
                for problem, solution in zip(problems, self._solutions, strict=True)
            )
        )

    @abstractmethod
    def _known_target(self, y: Any, n_rows: int) -> npt.NDArray[Any]:
        """Classes as codes, or targets as the perceptrons see them."""


def _as_curves(curves: list[Floats]) -> Floats:
    """One curve as it is; several as rows, NaN after the end of the shorter ones."""
    if len(curves) == 1:
        return curves[0]
    table = np.full((len(curves), max(map(len, curves), default=0)), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: len(curve)] = curve
    return table
