"""Double-bagging: the samples that a member leaves out give it discriminant variables.

References
----------
Hothorn and Lausen (2003). Double-bagging: combining classifiers by bootstrap aggregation. Pattern
Recognition 36(6), 1303-1309.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from orfeon.calibration.methods import Method
from orfeon.data.schema import Schema
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import (
    ENSEMBLE,
    ESTIMATOR,
    IndependentEnsemble,
    Recipe,
    Trained,
    TreeTraining,
)
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.perturbation import Perturbation, draw_with_replacement
from orfeon.ensembles.voting import CLASS_WEIGHT, CLASSIFIER, VotingClassifierMixin
from orfeon.forest import Forest
from orfeon.trees import CARTClassifier
from orfeon.trees.base import BaseTree
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats


def discriminants(X: Floats, y: npt.NDArray[np.integer[Any]]) -> Floats:
    """Coefficients of the linear discriminant variables of some samples."""
    complete = ~np.isnan(X).any(axis=1)
    X, y = X[complete], y[complete]
    none = np.zeros((X.shape[1], 0))
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2 or len(y) <= len(classes) or not X.size:
        return none
    scale = np.abs(X).max(axis=0)  # scales huge and tiny values to about one
    X = X / np.where(scale > 0, scale, 1.0)
    if not any(np.ptp(X[codes == c], axis=0).any() for c in range(len(classes))):
        return none
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of collinear features
        analysis = LinearDiscriminantAnalysis().fit(X, y)
        coefficients: Floats = analysis.scalings_[:, : len(classes) - 1] / scale[:, None]
    coefficients[scale == 0] = 0.0
    return coefficients if np.isfinite(coefficients).all() else none


def combine(X: Floats, coefficients: Floats) -> Floats:
    """Values of linear combinations, summed in the same order as in trees."""
    values = np.zeros((len(X), coefficients.shape[1]))
    for x, row in zip(X.T, coefficients, strict=True):
        values += x[:, None] * row
    return values


def as_projections(
    forest: Forest, coefficients: Floats, features: npt.NDArray[np.int64], schema: Schema
) -> Forest:
    """A tree over features and discriminant variables as one over the features alone."""
    n_features, (n_combined, n_variables) = schema.n_features, coefficients.shape
    nodes = forest.nodes.copy()
    is_variable = (forest.n_children > 0) & (nodes["feature"] >= n_features)
    nodes["feature"][is_variable] = -1 - (nodes["feature"][is_variable] - n_features)
    return replace(
        forest,
        nodes=nodes,
        n_categories=schema.n_categories,
        projections=(
            np.arange(n_variables + 1, dtype=np.int64) * n_combined,
            np.tile(features, n_variables).astype(np.int32),
            np.ascontiguousarray(coefficients.T).ravel(),
        ),
    )


@dataclass(frozen=True)
class _DoubleTraining:
    """Grows trees on features and discriminant variables, each on its own table."""

    base: BaseTree
    recipe: Recipe
    classes: npt.NDArray[Any]

    def __call__(self, block: slice) -> Trained:
        """Grow the trees of a block."""
        _, _, drawn = self.recipe.draw(block)
        members = range(block.start, block.stop)
        trees = [self._grow(t, p) for t, p in zip(members, drawn, strict=True)]
        return Trained(Forest.concatenate(trees), None)

    def _grow(self, member: int, perturbation: Perturbation) -> Forest:
        data = self.recipe.samples
        assert perturbation.weights is not None
        out = perturbation.weights == 0
        ordered = np.flatnonzero(~data.schema.is_categorical)
        numbers = data.X[:, ordered]
        coefficients = discriminants(numbers[out], data.y[out])
        more = coefficients.shape[1]
        schema = Schema((*data.schema.categories, *[None] * more))
        extended = replace(
            data, X=np.hstack([data.X, combine(numbers, coefficients)]), schema=schema
        )
        train = TreeTraining(self.base, replace(self.recipe, samples=extended), self.classes)
        grown = train(slice(member, member + 1))
        return as_projections(grown.members, coefficients, ordered, data.schema)


@documented(estimator="an unpruned :class:`orfeon.CARTClassifier`", n_estimators="100")
class DoubleBaggingClassifier(VotingClassifierMixin, IndependentEnsemble):
    """Vote of trees grown from bootstrap samples, with discriminant variables from the rest.

    For each member, a linear discriminant analysis of the samples that its bootstrap sample left
    out yields up to K - 1 further variables for K classes. The tree is grown on the bootstrap
    sample, with the features and these variables.

    Parameters
    ----------
    estimator : estimator, optional
        The base learner, a tree of orfeon. By default an unpruned
        :class:`orfeon.CARTClassifier`.
    <n_estimators>
    <combine>
    <calibrate>
    <class_weight>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>

    Notes
    -----
    The discriminant analysis ignores categorical features and samples with missing values; the
    discriminant variables of the latter are missing too. There is no out-of-bag estimate: the
    samples that a member leaves out are those its variables are computed from.

    Examples
    --------
    >>> from orfeon import DoubleBaggingClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> X_test, y_test = make_twonorm(2000, random_state=1)
    >>> round(DoubleBaggingClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **CLASSIFIER,
        **CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        combine: Combine = "majority",
        calibrate: Method | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)

    def _check_base(self) -> None:
        if not self._has_trees:
            raise ValueError(
                f"estimator={self.estimator} is not a tree of orfeon; double-bagging needs one, "
                "such as CARTClassifier() or C45Classifier()."
            )
        super()._check_base()

    def _only_draws(self, samples: TrainingSet) -> bool:
        return True

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        return Perturbation(weights=draw_with_replacement(samples, rng, len(samples)))

    def _training(self, recipe: Recipe) -> Callable[[slice], Trained]:
        return _DoubleTraining(self.estimator_, recipe, self.classes_)
