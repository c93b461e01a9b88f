"""Mixtures of experts: a gate, or a tree of gates, weights the experts by the features.

Gates and experts are trained together by the EM algorithm: each expert learns the part of the
problem that it is best at, and the gates learn where that part is.

References
----------
Jacobs, Jordan, Nowlan and Hinton (1991). Adaptive mixtures of local experts. Neural Computation
3(1), 79-87.
Jordan and Jacobs (1994). Hierarchical mixtures of experts and the EM algorithm. Neural Computation
6(2), 181-214.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, ClassVar, Literal

from orfeon.combining.mixture_base import (
    EXPERT_TEXTS,
    EXPERTS,
    BaseExpertsClassifier,
    BaseExpertsRegressor,
    BaseMixtureOfExperts,
)
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Integers

_N_EXPERTS: dict[str, list[Any]] = {"n_experts": [Interval(Integral, 1, None, closed="left")]}


class OneGate(BaseMixtureOfExperts):
    """A mixture with one gate."""

    n_experts: int

    def _tree_of_gates(self) -> tuple[int, int]:
        return self.n_experts, 1


@documented(EXPERT_TEXTS)
class MixtureOfExpertsClassifier(OneGate, BaseExpertsClassifier):
    """Classifiers that divide a problem among themselves by a gate.

    Parameters
    ----------
    <expert_classifier>
    n_experts : int, default=4
        Number of experts.
    <fitting>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    <fitted>

    See Also
    --------
    MixtureOfExpertsRegressor : For regression.
    HierarchicalExpertsClassifier : With a tree of gates.

    Notes
    -----
    <notes>

    Examples
    --------
    Two classes that take two lines to separate:

    >>> import numpy as np
    >>> from orfeon import MixtureOfExpertsClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = MixtureOfExpertsClassifier(n_experts=2, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> model.gate_proba([[-2.0, 1.0], [2.0, 1.0]]).round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = EXPERTS | _N_EXPERTS

    def __init__(
        self,
        expert: Any = None,
        n_experts: int = 4,
        *,
        alpha: float = 1.0,
        n_init: int = 3,
        max_iter: int = 200,
        tol: float = 1e-4,
        categorical_features: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.expert = expert
        self.n_experts = n_experts
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


@documented(EXPERT_TEXTS)
class MixtureOfExpertsRegressor(OneGate, BaseExpertsRegressor):
    """Regressors that divide a problem among themselves by a gate.

    Each expert is a Gaussian with a mean that depends on the features, and a variance of its own.

    Parameters
    ----------
    <expert_regressor>
    n_experts : int, default=4
        Number of experts.
    <fitting>

    Attributes
    ----------
    <own_variances>
    <fitted>

    See Also
    --------
    MixtureOfExpertsClassifier : For classification.
    HierarchicalExpertsRegressor : With a tree of gates.

    Notes
    -----
    <notes>

    <variances>

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import MixtureOfExpertsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (300, 1))
    >>> y = np.abs(X[:, 0]) + rng.normal(0, 0.1, 300)
    >>> model = MixtureOfExpertsRegressor(n_experts=2, alpha=0.1, random_state=0).fit(X, y)
    >>> predicted, deviation = model.predict([[-0.5], [0.0], [0.5]], return_std=True)
    >>> predicted.round(2), deviation.round(2)
    (array([0.51, 0.03, 0.5 ]), array([0.1 , 0.1 , 0.09]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = EXPERTS | _N_EXPERTS

    def __init__(
        self,
        expert: Any = None,
        n_experts: int = 4,
        *,
        alpha: float = 1.0,
        n_init: int = 3,
        max_iter: int = 200,
        tol: float = 1e-4,
        categorical_features: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.expert = expert
        self.n_experts = n_experts
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


_TREE: dict[str, list[Any]] = {
    "depth": [Interval(Integral, 1, None, closed="left")],
    "n_branches": [Interval(Integral, 2, None, closed="left")],
    "gating": [StrOptions({"soft", "hard"})],
}
#: More experts than this are surely a mistake.
_MOST_EXPERTS = 1 << 12


class TreeOfGates(BaseMixtureOfExperts):
    """A mixture with a tree of gates."""

    depth: int
    n_branches: int

    def _tree_of_gates(self) -> tuple[int, int]:
        if self.depth * math.log(self.n_branches) > math.log(_MOST_EXPERTS) + 1e-9:
            raise ValueError(
                f"depth={self.depth} and n_branches={self.n_branches} make "
                f"{self.n_branches}**{self.depth} experts; at most {_MOST_EXPERTS} are allowed."
            )
        return self.n_branches, self.depth

    def choose(self, X: Any) -> Integers:
        """The expert that each row reaches along the branches of the largest shares.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Indices of experts.
        """
        return self.gates_.chosen(self._read_rows(X)[1])


@documented(EXPERT_TEXTS)
class HierarchicalExpertsClassifier(TreeOfGates, BaseExpertsClassifier):
    """Classifiers that divide a problem among themselves by a tree of gates.

    Parameters
    ----------
    <expert_classifier>
    <tree_of_gates>
    <fitting>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    <fitted>

    See Also
    --------
    HierarchicalExpertsRegressor : For regression.
    MixtureOfExpertsClassifier : With a single gate, which is ``depth=1``.

    Notes
    -----
    <notes>

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import HierarchicalExpertsClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    >>> y = np.sin(6 * X[:, 0]) > X[:, 1]
    >>> model = HierarchicalExpertsClassifier(alpha=0.1, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    >>> [level.shape for level in model.gates_.levels]
    [(1, 2, 3), (2, 2, 3)]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = EXPERTS | _TREE

    def __init__(
        self,
        expert: Any = None,
        *,
        depth: int = 2,
        n_branches: int = 2,
        gating: Literal["soft", "hard"] = "soft",
        alpha: float = 1.0,
        n_init: int = 3,
        max_iter: int = 200,
        tol: float = 1e-4,
        categorical_features: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.expert = expert
        self.depth = depth
        self.n_branches = n_branches
        self.gating = gating
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


@documented(EXPERT_TEXTS)
class HierarchicalExpertsRegressor(TreeOfGates, BaseExpertsRegressor):
    """Regressors that divide a problem among themselves by a tree of gates.

    Each expert is a Gaussian with a mean that depends on the features, and a variance of its own.

    Parameters
    ----------
    <expert_regressor>
    <tree_of_gates>
    <fitting>

    Attributes
    ----------
    <own_variances>
    <fitted>

    See Also
    --------
    HierarchicalExpertsClassifier : For classification.
    MixtureOfExpertsRegressor : With a single gate, which is ``depth=1``.

    Notes
    -----
    <notes>

    <variances>

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import HierarchicalExpertsRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (600, 1))
    >>> y = np.sin(5 * X[:, 0])
    >>> model = HierarchicalExpertsRegressor(alpha=0.1, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = EXPERTS | _TREE

    def __init__(
        self,
        expert: Any = None,
        *,
        depth: int = 2,
        n_branches: int = 2,
        gating: Literal["soft", "hard"] = "soft",
        alpha: float = 1.0,
        n_init: int = 3,
        max_iter: int = 200,
        tol: float = 1e-4,
        categorical_features: Any = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.expert = expert
        self.depth = depth
        self.n_branches = n_branches
        self.gating = gating
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
