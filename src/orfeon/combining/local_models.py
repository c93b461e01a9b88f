"""The experts of a mixture: softmax or linear regressions, or estimators of any kind.

A *learner* holds the training samples and fits all experts in the M step, each with its
responsibilities as sample weights. The *experts* are what it returns, and predict.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from orfeon.combining.fitting import fit_weighted, query, seeded_clone
from orfeon.combining.gating import expand, fit_softmax, log_softmax
from orfeon.utils import saved
from orfeon.utils.types import Floats

#: Minimum probability of a class by an estimator, so that its logarithm is finite.
_LEAST_PROBABILITY = 1e-9
#: Minimum share of an estimator in a sample: one without any samples starts again from all.
_LEAST_SHARE = 1e-9
#: Minimum variance of a Gaussian, as a share of that of the target.
_LEAST_VARIANCE = 1e-12


# -- experts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Experts(ABC):
    """All experts of a mixture, fitted."""

    @abstractmethod
    def answers(self, X: Any, inputs: Floats) -> Floats:
        """Class probabilities or means of each expert for each row."""

    @abstractmethod
    def log_densities(self, answers: Floats, y: npt.NDArray[Any]) -> Floats:
        """Logarithms of the densities of some targets, by the experts' answers."""

    @abstractmethod
    def only(self, expert: int) -> Experts:
        """One of the experts alone."""

    def expanded(self, basis: Floats) -> Experts:
        """The experts for all inputs, from experts for some directions."""
        return self


@saved.attributes(weights=saved.array("f8", 3, finite=True))
@dataclass(frozen=True)
class SoftmaxExperts(Experts):
    weights: Floats

    def answers(self, X: Any, inputs: Floats) -> Floats:
        n_experts, n_classes, n_inputs = self.weights.shape
        scores = inputs @ self.weights.reshape(-1, n_inputs).T
        return np.asarray(np.exp(log_softmax(scores.reshape(-1, n_experts, n_classes))))

    def log_densities(self, answers: Floats, y: npt.NDArray[Any]) -> Floats:
        return _log_of_class(answers, y, np.finfo(np.float64).tiny)

    def only(self, expert: int) -> SoftmaxExperts:
        return SoftmaxExperts(self.weights[expert : expert + 1])

    def expanded(self, basis: Floats) -> SoftmaxExperts:
        return SoftmaxExperts(expand(self.weights, basis))


@saved.attributes(
    variances=saved.floats,
    weights=saved.one_of(saved.none, saved.array("f8", 2, finite=True)),
    estimators=saved.tuple_of(saved.estimator),
)
@dataclass(frozen=True)
class GaussianExperts(Experts):
    """Means that are linear functions or those of estimators, each with a variance of its own."""

    variances: Floats
    weights: Floats | None = None
    estimators: tuple[Any, ...] = ()

    def answers(self, X: Any, inputs: Floats) -> Floats:
        if self.weights is not None:
            return np.asarray(inputs @ self.weights.T)
        return np.column_stack([query(e, X, None, "predict")[:, 0] for e in self.estimators])

    def log_densities(self, answers: Floats, y: npt.NDArray[Any]) -> Floats:
        squares = (y[:, None] - answers) ** 2 / self.variances
        return np.asarray(-0.5 * (np.log(2 * np.pi * self.variances) + squares))

    def only(self, expert: int) -> GaussianExperts:
        one = slice(expert, expert + 1)
        weights = None if self.weights is None else self.weights[one]
        return GaussianExperts(self.variances[one], weights, self.estimators[one])

    def expanded(self, basis: Floats) -> GaussianExperts:
        if self.weights is None:
            return self
        return replace(self, weights=expand(self.weights, basis))

    def in_units(self, centre: float, spread: float) -> GaussianExperts:
        """The experts for a target that is not standardised."""
        weights = self.weights
        if weights is not None:
            weights = weights * spread
            weights[:, -1] -= centre  # the last input is -1
        return GaussianExperts(self.variances * spread**2, weights, self.estimators)


@saved.attributes(estimators=saved.tuple_of(saved.estimator, at_least=1), classes=saved.labels)
@dataclass(frozen=True)
class ClassifierExperts(Experts):
    estimators: tuple[Any, ...]
    classes: npt.NDArray[Any]

    def answers(self, X: Any, inputs: Floats) -> Floats:
        answers = [query(e, X, self.classes, "predict_proba") for e in self.estimators]
        return np.stack(answers, axis=1)

    def log_densities(self, answers: Floats, y: npt.NDArray[Any]) -> Floats:
        return _log_of_class(answers, y, _LEAST_PROBABILITY)

    def only(self, expert: int) -> ClassifierExperts:
        return ClassifierExperts(self.estimators[expert : expert + 1], self.classes)


def _log_of_class(answers: Floats, y: npt.NDArray[Any], least: float) -> Floats:
    """Logarithms of the probabilities of the rows' classes."""
    return np.log(np.maximum(answers[np.arange(len(y)), :, y], least))


# -- learners --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learner(ABC):
    """The training samples, and how experts are fitted to shares of them."""

    inputs: Floats
    y: npt.NDArray[Any]
    alpha: float

    @abstractmethod
    def fit(self, shares: Floats, before: Any, tol: float) -> Any:
        """The M step: fit each expert with its responsibilities as weights."""

    @abstractmethod
    def log_densities(self, experts: Any) -> Floats:
        """Logarithms of the densities of the samples' targets, by each expert."""

    def penalty(self, experts: Any) -> float:
        """The penalty on the experts' parameters in the log-likelihood."""
        return 0.0


@dataclass(frozen=True)
class SoftmaxLearner(Learner):
    """Fits softmax regressions."""

    n_classes: int

    def fit(self, shares: Floats, before: Any, tol: float) -> SoftmaxExperts:
        shape = (shares.shape[1], self.n_classes, self.inputs.shape[1])
        starts = np.zeros(shape) if before is None else before.weights
        is_class = np.eye(self.n_classes)[self.y]
        fits = [
            fit_softmax(self.inputs, is_class * mine[:, None], start, alpha=self.alpha, tol=tol)
            for mine, start in zip(shares.T, starts, strict=True)
        ]
        return SoftmaxExperts(np.stack(fits))

    def log_densities(self, experts: SoftmaxExperts) -> Floats:
        rows = np.arange(len(self.y))
        logs = [log_softmax(self.inputs @ w.T)[rows, self.y] for w in experts.weights]
        return np.column_stack(logs)

    def penalty(self, experts: SoftmaxExperts) -> float:
        """Half of alpha times the sum of squared weights, without those of the last input."""
        return 0.5 * self.alpha * float((experts.weights[:, :, :-1] ** 2).sum())


@dataclass(frozen=True)
class GaussianLearner(Learner):
    """Fits variances; subclasses fit the means. The target has mean 0 and variance 1.

    A variance is that of the residuals and of alpha more residuals of 1, so that a few samples on
    a line do not attract an expert of unlimited density.
    """

    def _variance(self, shares: Floats, residuals: Floats, squared_weights: float) -> float:
        """The variance that maximises the penalised likelihood."""
        total = float(shares.sum()) + self.alpha
        if total <= 0:
            return 1.0
        squares = float((shares * residuals**2).sum()) + self.alpha * (squared_weights + 1.0)
        return max(squares / total, _LEAST_VARIANCE)

    def log_densities(self, experts: GaussianExperts) -> Floats:
        return experts.log_densities(self._means(experts), self.y)

    def penalty(self, experts: GaussianExperts) -> float:
        """Minus the logarithm of the prior of variances and weights, but for a constant."""
        squared = np.zeros(len(experts.variances))
        if experts.weights is not None:
            squared = (experts.weights[:, :-1] ** 2).sum(axis=1)
        terms = (squared + 1.0) / experts.variances + np.log(experts.variances)
        return 0.5 * self.alpha * float(terms.sum())

    @abstractmethod
    def _means(self, experts: GaussianExperts) -> Floats:
        """The experts' means for the samples."""


@dataclass(frozen=True)
class LinearLearner(GaussianLearner):
    """Fits linear functions with Gaussian residuals."""

    def fit(self, shares: Floats, before: Any, tol: float) -> GaussianExperts:
        weights = np.stack([self._ridge(mine) for mine in shares.T])
        variances = [
            self._variance(mine, self.y - self.inputs @ w, float((w[:-1] ** 2).sum()))
            for mine, w in zip(shares.T, weights, strict=True)
        ]
        return GaussianExperts(np.array(variances), weights)

    def _ridge(self, shares: Floats) -> Floats:
        """Weighted ridge regression, whose last weight is not penalised."""
        penalties = np.full(self.inputs.shape[1], self.alpha)
        penalties[-1] = 0.0
        if self.alpha > 0:
            weighted = self.inputs * shares[:, None]
            try:
                factor = cho_factor(weighted.T @ self.inputs + np.diag(penalties))
                return np.asarray(cho_solve(factor, weighted.T @ self.y))
            except LinAlgError:
                pass
        # The smallest of the solutions, if there are many.
        root = np.sqrt(shares)
        rows = np.vstack([self.inputs * root[:, None], np.diag(np.sqrt(penalties))])
        targets = np.concatenate([self.y * root, np.zeros(len(penalties))])
        return np.asarray(np.linalg.lstsq(rows, targets, rcond=None)[0])

    def _means(self, experts: GaussianExperts) -> Floats:
        return experts.answers(None, self.inputs)


@dataclass(frozen=True)
class RegressorLearner(GaussianLearner):
    """Fits regressors of any kind, with Gaussian residuals."""

    X: Any
    targets: Floats
    centre: float
    spread: float
    estimator: Any
    seeds: tuple[int, ...]

    def fit(self, shares: Floats, before: Any, tol: float) -> GaussianExperts:
        fits = _fit_all(self.estimator, self.X, self.targets, shares, self.seeds)
        plain = GaussianExperts(np.ones(len(fits)), None, fits)
        residuals = (self.y[:, None] - self._means(plain)).T
        variances = [
            self._variance(mine, own, 0.0) for mine, own in zip(shares.T, residuals, strict=True)
        ]
        return GaussianExperts(np.array(variances), None, fits)

    def _means(self, experts: GaussianExperts) -> Floats:
        return (experts.answers(self.X, self.inputs) - self.centre) / self.spread


@dataclass(frozen=True)
class ClassifierLearner(Learner):
    """Fits classifiers of any kind."""

    X: Any
    classes: npt.NDArray[Any]
    estimator: Any
    seeds: tuple[int, ...]

    def fit(self, shares: Floats, before: Any, tol: float) -> ClassifierExperts:
        fits = _fit_all(self.estimator, self.X, self.classes[self.y], shares, self.seeds)
        return ClassifierExperts(fits, self.classes)

    def log_densities(self, experts: ClassifierExperts) -> Floats:
        return experts.log_densities(experts.answers(self.X, self.inputs), self.y)


def _fit_all(
    estimator: Any, X: Any, y: npt.NDArray[Any], shares: Floats, seeds: tuple[int, ...]
) -> tuple[Any, ...]:
    least = _LEAST_SHARE * shares.sum(axis=1)
    return tuple(
        fit_weighted(seeded_clone(estimator, seed), X, y, np.maximum(mine, least), name="expert")
        for mine, seed in zip(shares.T, seeds, strict=True)
    )
