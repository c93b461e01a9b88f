"""Output smearing: regressors trained on targets with noise added, the counterpart of flipping.

References
----------
Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40(3),
229-242.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR, IndependentEnsemble
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.voting import REGRESSOR, AveragingRegressorMixin
from orfeon.trees import CARTRegressor
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval


@documented(estimator="an unpruned :class:`orfeon.CARTRegressor`", n_estimators="100")
class OutputSmearingRegressor(AveragingRegressorMixin, IndependentEnsemble):
    """Mean of regressors, each trained on targets with Gaussian noise added.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    noise : float, default=1.0
        Standard deviation of the noise, in standard deviations of the targets.
    <combine_numbers>
    <fitting>

    Attributes
    ----------
    <members>

    Notes
    -----
    The noise of a member sums to zero over the samples, so the mean target does not change.

    Examples
    --------
    >>> from orfeon import OutputSmearingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(1000, random_state=1)
    >>> round(OutputSmearingRegressor(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.78
    """

    _reads_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **REGRESSOR,
        "noise": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        noise: float = 1.0,
        combine: Combine = "mean",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.noise = noise
        self.combine = combine
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor() if self.estimator is None else clone(self.estimator)

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        targets, weights = samples.y, samples.weights / samples.weights.sum()
        above = targets - targets.min()  # exactly zero if all are equal
        spread = float(np.sqrt(weights @ (above - weights @ above) ** 2))
        noise = rng.standard_normal(len(targets))
        return Perturbation(labels=targets + self.noise * spread * (noise - weights @ noise))
