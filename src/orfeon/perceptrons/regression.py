"""The parallel perceptron regressor: the prediction is the mean vote.

References
----------
Auer, Burgsteiner and Maass (2008). A learning rule for very simple universal approximators
consisting of a single layer of perceptrons. Neural Networks 21(5), 786-795.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from orfeon.base import TabularRegressorMixin, restored_on_failure
from orfeon.data.training_set import TrainingSet
from orfeon.perceptrons import p_delta
from orfeon.perceptrons.base import PERCEPTRONS, BaseParallelPerceptron, Problem
from orfeon.perceptrons.p_delta import LearningRate, Mode, Rule, TuneMargin
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, _fit_context
from orfeon.utils.types import Floats
from orfeon.utils.user_warning import warn_user

#: Learning rate of all perceptrons together, relative to that of a classifier.
_RATE_OF_ALL = 3.0


@saved.attributes(target_range_=saved.tuple_of(saved.number()))
@documented(p_delta="auer", p_delta_margin="0.12")
class ParallelPerceptronRegressor(TabularRegressorMixin, BaseParallelPerceptron):
    """Mean vote of many perceptrons trained together.

    Parameters
    ----------
    n_perceptrons : int, default=51
        Number of perceptrons; there is one more possible prediction than perceptrons.
    rho : float, optional
        Sums of votes are clipped to plus and minus this, which represent the largest and smallest
        training target; ``n_perceptrons`` by default.
    epsilon : float, default=0.02
        Predictions within this share of the target range count as correct.
    <p_delta>
    eta0 : float or "auto", default="auto"
        Initial learning rate; "auto" is 0.03, or 21 divided by the total weight if that is less,
        divided by the number of perceptrons.
    <p_delta_margin>
    init : float or "unit", default="unit"
        Initial weights: uniform between ``-init`` and ``init``, or random vectors of length 1.
    <p_delta_running>
    <categorical_features>
    <p_delta_continuing>
    <verbose>
    <random_state>

    Attributes
    ----------
    target_range_ : tuple of float
        Smallest and largest training target; predictions stay in this range.
    <p_delta_fitted>

    See Also
    --------
    ParallelPerceptronClassifier : For classification.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import ParallelPerceptronRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (500, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1]
    >>> model = ParallelPerceptronRegressor(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 1)
    0.8
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in PERCEPTRONS.items() if name != "n_jobs"},
        "rho": [Interval(Real, 0.0, None, closed="neither"), None],
        "epsilon": [Interval(Real, 0.0, 1.0, closed="left")],
    }

    target_range_: tuple[float, float]
    _shaping: ClassVar[tuple[str, ...]] = (*BaseParallelPerceptron._shaping, "rho")

    def __init__(
        self,
        n_perceptrons: int = 51,
        *,
        rho: float | None = None,
        epsilon: float = 0.02,
        mode: Mode = "batch",
        rule: Rule = "auer",
        max_iter: int = 250,
        learning_rate: LearningRate = "invscaling",
        eta0: float | Literal["auto"] = "auto",
        margin: float = 0.05,
        tune_margin: TuneMargin = True,
        margin_weight: float = 0.12,
        standardize: bool = True,
        divide_inputs: bool = True,
        init: float | Literal["unit"] = "unit",
        early_stopping: bool = False,
        categorical_features: Any = "auto",
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_perceptrons = n_perceptrons
        self.rho = rho
        self.epsilon = epsilon
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
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _tolerance(self) -> dict[str, float]:
        rho = self.n_perceptrons if self.rho is None else self.rho
        return {"tolerance": 2.0 * float(self.epsilon), "rho": float(rho)}

    def _auto_rate(self, total_weight: float) -> float:
        # Perceptrons that vote alike move together, and the output moves with all.
        return _RATE_OF_ALL * p_delta.stable_rate(total_weight) / self.n_perceptrons

    def _learn_target(self, data: TrainingSet) -> None:
        self.target_range_ = (float(data.y.min()), float(data.y.max()))

    def _check_target(self, data: TrainingSet) -> None:
        low, high = self.target_range_
        if data.y.min() < low or data.y.max() > high:
            warn_user(
                f"y has values from {data.y.min():g} to {data.y.max():g}, but predictions stay in "
                f"the range of the first training set, {low:g} to {high:g}. Start over with "
                "warm_start=False."
            )

    @property
    def _n_problems(self) -> int:
        return 1

    def _problem(self, index: int, y: npt.NDArray[Any]) -> Problem:
        low, high = self.target_range_
        if low == high:
            return Problem(np.zeros(len(y)))
        # Outputs cannot go beyond the targets of the first chunk.
        return Problem(np.clip((y - low) / (high - low) * 2.0 - 1.0, -1.0, 1.0))

    def _known_target(self, y: Any) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = self._read_target(y)
        return target

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for ``max_iter`` epochs.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,)
            Targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted regressor.
        """
        with restored_on_failure(self):
            self._fit(X, y, sample_weight)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for one epoch on a chunk of samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The chunk. The first one sets the features, their standardisation, and the range of
            the targets.
        y : array of shape (n_rows,)
            Its targets.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
            The regressor.
        """
        with restored_on_failure(self):
            self._fit_chunk(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the mean vote, scaled to the range of the targets.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        signs = p_delta.signs(p_delta.activations(self._inputs(X), self.weights_[0]))
        rho = self._made_with["rho"] or signs.shape[1]  # as trained
        share = np.clip(signs.sum(axis=1) / rho, -1.0, 1.0) / 2.0 + 0.5
        low, high = self.target_range_
        # Rounding could leave the range.
        return np.asarray(np.clip(low * (1.0 - share) + high * share, low, high))
