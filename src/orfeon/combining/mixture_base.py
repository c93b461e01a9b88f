"""Base of mixtures of experts: the EM algorithm, fitting from several starts, predicting.

The E step gives each expert the share of each sample that it is responsible for; the M step fits
gates and experts to their shares. No step lowers the penalised log-likelihood, as long as the fits
of the M step gain something.

References
----------
Jordan and Jacobs (1994). Hierarchical mixtures of experts and the EM algorithm. Neural Computation
6(2), 181-214.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from threadpoolctl import threadpool_limits

from orfeon.base import (
    TabularClassifierMixin,
    TabularEstimator,
    TabularRegressorMixin,
    class_codes,
    restored_on_failure,
)
from orfeon.combining.fitting import check_kind, is_frame
from orfeon.combining.gating import Gates, in_fewer_directions, responsibilities
from orfeon.combining.local_models import (
    ClassifierLearner,
    Experts,
    GaussianExperts,
    Learner,
    LinearLearner,
    RegressorLearner,
    SoftmaxLearner,
)
from orfeon.data.training_set import TrainingSet, check_length
from orfeon.growth.blocks import run_in_blocks
from orfeon.perceptrons.base import in_samples
from orfeon.perceptrons.inputs import Inputs
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.progress import CallbackSupport, report_progress
from orfeon.utils.scikit_learn import HasMethods, Interval, _fit_context, _safe_indexing
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Integers

#: Tolerance of the fits within the M step, as a share of that of the iterations.
_INNER = 1e-1


@dataclass(frozen=True)
class Mixture:
    """Gates and experts, and the likelihood after each iteration."""

    gates: Gates
    experts: Any
    curve: Floats
    converged: bool

    @property
    def value(self) -> float:
        """The highest log-likelihood, that of these gates and experts."""
        return float(self.curve.max())

    def expanded(self, basis: Floats) -> Mixture:
        """The mixture for all inputs, from one for some directions."""
        gates, experts = self.gates.expanded(basis), self.experts.expanded(basis)
        return replace(self, gates=gates, experts=experts)


def evaluate(gates: Gates, experts: Any, learner: Learner, weights: Floats) -> tuple[float, Floats]:
    """The E step, and the penalised log-likelihood."""
    log_shares = gates.log_shares(learner.inputs)
    posterior, log_likelihood = responsibilities(log_shares, learner.log_densities(experts))
    penalty = gates.penalty(learner.alpha) + learner.penalty(experts)
    return float(((weights * log_likelihood).sum() - penalty) / weights.sum()), posterior


def maximise(
    gates: Gates, learner: Learner, weights: Floats, *, tol: float, max_iter: int
) -> Mixture:
    """Iterate E and M steps from a start."""
    inner = _INNER * tol
    experts = learner.fit(weights[:, None] * np.exp(gates.log_shares(learner.inputs)), None, inner)
    value, posterior = evaluate(gates, experts, learner, weights)
    curve = [value]
    for _ in range(max_iter):
        shares = weights[:, None] * posterior
        new_gates = gates.fitted(learner.inputs, shares, alpha=learner.alpha, tol=inner)
        new_experts = learner.fit(shares, experts, inner)
        value, posterior = evaluate(new_gates, new_experts, learner, weights)
        gain = value - curve[-1]
        if gain >= 0:
            gates, experts = new_gates, new_experts
        curve.append(value)
        if gain < tol:
            return Mixture(gates, experts, np.array(curve), True)
    return Mixture(gates, experts, np.array(curve), False)


#: Standard deviation of the inputs of the softmax in the random gates at the start.
_STEEPNESS = 1.0

EXPERTS: dict[str, list[Any]] = {
    "expert": [HasMethods(["fit", "predict"]), None],
    "alpha": [Interval(Real, 0.0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "categorical_features": LIMITS["categorical_features"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "random_state": LIMITS["random_state"],
}

#: Texts that mixtures of experts share, for their docstrings.
EXPERT_TEXTS = {
    "expert_classifier": """
    expert : classifier, optional
        The expert, cloned for each; it needs ``predict_proba``, and ``sample_weight`` in ``fit``.
        By default softmax (logistic) regression.
""",
    "expert_regressor": """
    expert : regressor, optional
        The expert, cloned for each; it needs ``sample_weight`` in ``fit``. By default linear
        (ridge) regression.
""",
    "tree_of_gates": """
    depth : int, default=2
        Levels of gates.
    n_branches : int, default=2
        Branches of each gate: there are ``n_branches ** depth`` experts.
    gating : {"soft", "hard"}, default="soft"
        How ``predict`` uses the gates. "soft" averages the predictions of all experts by their
        shares. "hard" follows the branch with the largest share from gate to gate, and queries only
        the expert at its end. Training is the same.
""",
    "own_variances": """
    variances_ : ndarray of shape (n_experts,)
        Variance of the target about each expert's prediction.
""",
    "fitting": """
    alpha : float, default=1.0
        Strength of the penalty on squared weights, for standardised inputs.
        Smaller values leave the gates sharper, which suits many samples of few features.
    n_init : int, default=3
        Number of random starts; the result with the highest likelihood is kept.
    max_iter : int, default=200
        Maximum number of EM iterations from each start.
    tol : float, default=1e-4
        The iterations end when one gains less than this in log-likelihood per sample.
    <categorical_features>
    n_jobs : int, optional
        Threads for the random starts, through joblib. The mixture does not depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of all random choices, also of those of ``expert`` where its own is None.
""",
    "fitted": """
    gates_ : Gates
        The gates.
    experts_ : Experts
        The experts; with ``expert``, those fitted are in its ``estimators``.
    inputs_ : Inputs
        How rows become inputs of gates and linear experts: standardised, missing values at the
        mean, categories as 0 and 1, and a last one of -1.
    log_likelihood_curve_ : ndarray of shape (n_iterations + 1,)
        Log-likelihood per sample, less the penalty, at the start and after each iteration. It
        rises, except in a last step with an ``expert`` that does not maximise the likelihood; the
        mixture before that step is kept then.
    n_iter_ : int
        Iterations from the start that was kept.
    converged_ : bool
        Whether the iterations ended by ``tol``.
""",
    "notes": """
    Sample weights multiply the log-likelihood: 0 leaves a sample out, 2 is two copies; fractions
    are taken relative to their mean. Neither the order of the rows nor copies in place of weights
    change a bit of the model. The last bits of a prediction may depend on the other rows, as
    products of matrices do.

    Mixtures are for simple experts: trees and other learners that can fit anything keep all the
    samples that they were responsible for at the start.
""",
    "variances": """
    A few samples on a line would attract an expert of unlimited density. So ``alpha`` is also a
    prior on the variances, as if there were that many more samples, each off by the standard
    deviation of the target.
""",
}


@saved.attributes(
    inputs_=saved.instance("Inputs"),
    gates_=saved.instance("Gates"),
    experts_=saved.instance("ClassifierExperts", "GaussianExperts", "SoftmaxExperts"),
    log_likelihood_curve_=saved.floats,
    n_iter_=saved.integer(0),
    converged_=saved.boolean,
)
class BaseMixtureOfExperts(CallbackSupport, TabularEstimator):
    """Base of mixtures of experts, flat or hierarchical, for classes or numbers."""

    #: Whether all experts predict, or the one at the end of the largest branches alone.
    gating: str = "soft"
    expert: Any
    alpha: float
    n_init: int
    max_iter: int
    tol: float
    n_jobs: int | None
    verbose: int
    gates_: Gates
    experts_: Experts
    inputs_: Inputs
    log_likelihood_curve_: Floats
    n_iter_: int
    converged_: bool

    # -- what a subclass defines ---------------------------------------------------------------

    @abstractmethod
    def _tree_of_gates(self) -> tuple[int, int]:
        """Branches of each gate, and levels of gates."""

    @abstractmethod
    def _learner(
        self, data: TrainingSet, inputs: Floats, table: Any, seeds: tuple[int, ...]
    ) -> Learner:
        """The samples, and how experts are fitted to them."""

    @abstractmethod
    def _check_expert(self) -> None:
        """Reject an expert of the wrong kind."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.expert, "__sklearn_tags__") and not isinstance(self.expert, type):
            tags.input_tags.allow_nan = get_tags(self.expert).input_tags.allow_nan
        return tags

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train gates and experts together.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported if ``expert`` supports them.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted mixture.
        """
        with restored_on_failure(self):
            self._check_expert()
            data = distinct_samples(self._read(X, y, sample_weight))
            self.inputs_ = Inputs.learn(
                data.X, data.schema, data.sample_weights, standardize=True, divide=False
            )
            table: Any = None
            if self.expert is not None:
                table = _safe_indexing(X, data.rows) if is_frame(X) else data.schema.decode(data.X)
            with report_progress(
                self, self.n_init, self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                self._keep_best(data, table, progress)
        return self

    def _keep_best(self, data: TrainingSet, table: Any, progress: Any) -> None:
        """Run the EM algorithm from each start, and keep the most likely result."""
        inputs, basis = in_fewer_directions(self.inputs_.of(data.X))
        n_branches, depth = self._tree_of_gates()

        def run(starts: slice) -> Mixture:
            root = branch(data.seeds, Purpose.EXPERTS, starts.start)
            rng = np.random.default_rng(root)
            gates = Gates.draw(n_branches, depth, inputs.shape[1], _STEEPNESS, rng)
            seeds = tuple(int(branch(root, e).generate_state(1)[0]) for e in range(gates.n_leaves))
            learner = self._learner(data, inputs, table, seeds)
            with self._one_thread():  # here too: limits do not reach worker processes
                return maximise(
                    gates, learner, data.sample_weights, tol=float(self.tol), max_iter=self.max_iter
                )

        with self._one_thread():
            found = run_in_blocks(
                run, range(self.n_init), self.n_jobs, progress.update_and_check, most=1
            )
        best = max(found, key=lambda mixture: mixture.value)  # the first of those
        self._take(best if basis is None else best.expanded(basis))

    def _one_thread(self) -> AbstractContextManager[Any]:
        """Limit BLAS to one thread: sums depend on their number, and small ones are slower."""
        return threadpool_limits(1, "blas") if self.expert is None else nullcontext()

    def _take(self, mixture: Mixture) -> None:
        self.gates_, self.experts_ = mixture.gates, mixture.experts
        self.log_likelihood_curve_ = mixture.curve
        self.n_iter_ = len(mixture.curve) - 1
        self.converged_ = mixture.converged

    # -- predicting ----------------------------------------------------------------------------

    def _read_rows(self, X: Any) -> tuple[Any, Floats]:
        """Rows for experts of any kind, and as inputs."""
        check_is_fitted(self, "gates_")
        encoded = self._encode(X)
        inputs = self.inputs_.of(encoded)
        rows = X
        if getattr(self.experts_, "estimators", ()) and not is_frame(X):
            rows = self.schema_.decode(encoded)
        return rows, inputs

    def _query(self, X: Any) -> tuple[Floats, Floats]:
        """Logarithms of the gates' shares, and the experts' predictions."""
        rows, inputs = self._read_rows(X)
        return self.gates_.log_shares(inputs), self.experts_.answers(rows, inputs)

    def _query_chosen(self, X: Any) -> tuple[Integers, Floats]:
        """The expert that decides for each row, and its prediction; no other is queried."""
        rows, inputs = self._read_rows(X)
        chosen = self.gates_.chosen(inputs)
        parts, order = [], []
        for expert in np.unique(chosen):
            mine = np.flatnonzero(chosen == expert)
            one = self.experts_.only(int(expert))
            parts.append(one.answers(_safe_indexing(rows, mine), inputs[mine])[:, 0])
            order.append(mine)
        answers = np.concatenate(parts)
        return chosen, answers[np.argsort(np.concatenate(order))]

    def gate_proba(self, X: Any) -> Floats:
        """Weight of each expert for each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_experts)
            Weights, which sum to 1.
        """
        check_is_fitted(self, "gates_")
        return np.exp(self.gates_.log_shares(self.inputs_.of(self._encode(X))))

    def responsibilities(self, X: Any, y: Any) -> Floats:
        """Posterior probability of each expert given the targets of the rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their classes or targets.

        Returns
        -------
        ndarray of shape (n_rows, n_experts)
            Probabilities.
        """
        log_shares, answers = self._query(X)
        target = self._known_target(y)
        check_length(target, len(answers))
        return responsibilities(log_shares, self.experts_.log_densities(answers, target))[0]

    @abstractmethod
    def _known_target(self, y: Any) -> npt.NDArray[Any]:
        """Classes as codes, or targets as numbers."""


class BaseExpertsClassifier(TabularClassifierMixin, BaseMixtureOfExperts):
    """A mixture of experts for classes."""

    def _check_expert(self) -> None:
        if self.expert is None:
            return
        check_kind(self.expert, classifier=True, name="expert")
        if not hasattr(self.expert, "predict_proba"):
            raise ValueError(
                f"expert={self.expert!r} has no predict_proba, which the likelihood needs; give a "
                "classifier that has it."
            )
        _check_takes_weights(self.expert)

    def _learner(
        self, data: TrainingSet, inputs: Floats, table: Any, seeds: tuple[int, ...]
    ) -> Learner:
        if self.expert is None:
            return SoftmaxLearner(inputs, data.y, float(self.alpha), data.n_classes)
        return ClassifierLearner(
            inputs, data.y, float(self.alpha), table, self.classes_, self.expert, seeds
        )

    def _known_target(self, y: Any) -> npt.NDArray[Any]:
        return class_codes(self._read_target(y), self.classes_)

    def expert_proba(self, X: Any) -> Floats:
        """Class probabilities of each expert.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_experts, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._query(X)[1]

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the experts, averaged with the weights of the gate.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        if self.gating == "hard":
            return self._query_chosen(X)[1]
        log_shares, answers = self._query(X)
        return np.asarray(np.einsum("ie,iek->ik", np.exp(log_shares), answers))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class, the first of those that are tied.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


@saved.attributes(_target_scale=saved.tuple_of(saved.number()))
class BaseExpertsRegressor(TabularRegressorMixin, BaseMixtureOfExperts):
    """A mixture of experts for numbers."""

    experts_: GaussianExperts
    _target_scale: tuple[float, float]

    def _check_expert(self) -> None:
        if self.expert is not None:
            check_kind(self.expert, classifier=False, name="expert")
            _check_takes_weights(self.expert)

    def _learner(
        self, data: TrainingSet, inputs: Floats, table: Any, seeds: tuple[int, ...]
    ) -> Learner:
        centre, spread = self._target_scale = _mean_and_deviation(data.y, data.sample_weights)
        scaled = (data.y - centre) / spread
        if self.expert is None:
            return LinearLearner(inputs, scaled, float(self.alpha))
        return RegressorLearner(
            inputs, scaled, float(self.alpha), table, data.y, centre, spread, self.expert, seeds
        )

    def _take(self, mixture: Mixture) -> None:
        centre, spread = self._target_scale
        experts = mixture.experts.in_units(centre, spread)
        # A density is per unit of the target.
        curve = mixture.curve - np.log(spread)
        super()._take(replace(mixture, experts=experts, curve=curve))

    def _known_target(self, y: Any) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = self._read_target(y)
        return target

    @property
    def variances_(self) -> Floats:
        """Variance of the target about each expert's prediction."""
        check_is_fitted(self, "gates_")
        return self.experts_.variances

    def expert_predict(self, X: Any) -> Floats:
        """Predictions of each expert.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_experts)
            Predictions.
        """
        return self._query(X)[1]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictions of the experts, averaged with the weights of the gate.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        return_std : bool, default=False
            Whether to return standard deviations too.

        Returns
        -------
        predictions : ndarray of shape (n_rows,)
            Means of the mixture.
        deviations : ndarray of shape (n_rows,)
            With ``return_std=True``: its standard deviations, from the variances of the experts and
            their disagreement.
        """
        if self.gating == "hard":
            chosen, means = self._query_chosen(X)
            return (means, np.sqrt(self.experts_.variances[chosen])) if return_std else means
        log_shares, answers = self._query(X)
        shares = np.exp(log_shares)
        means = (shares * answers).sum(axis=1)
        if not return_std:
            return means
        squares = (answers - means[:, None]) ** 2 + self.experts_.variances
        return means, np.sqrt((shares * squares).sum(axis=1))


# -- samples --------------------------------------------------------------------------------------


def distinct_samples(data: TrainingSet) -> TrainingSet:
    """Merge copies of a sample and add up their weights; the result is in an order of content."""
    order = np.lexsort((data.sample_weights, data.groups))
    groups, weights = data.groups[order], in_samples(data.sample_weights[order])
    first = np.flatnonzero(np.diff(groups, prepend=-1))
    rows = order[first]
    return replace(data.take(rows), sample_weights=np.add.reduceat(weights, first))


def _check_takes_weights(expert: Any) -> None:
    if not has_fit_parameter(expert, "sample_weight"):
        raise ValueError(
            f"expert={expert!r} takes no sample_weight in fit, which the M step needs; give an "
            "estimator that does."
        )


def _mean_and_deviation(y: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted mean and standard deviation of a target; 1 where it is constant."""
    total = weights.sum()
    mean = float((weights * y).sum() / total)
    deviation = float(np.sqrt((weights * (y - mean) ** 2).sum() / total))
    return mean, deviation if deviation > 0 else 1.0
