"""Ensembles of IGP trees: a new random split into halves is all the perturbation they need.

References
----------
Martínez-Muñoz and Suárez (2004). Using all data to generate decision tree ensembles. IEEE
Transactions on Systems, Man and Cybernetics C 34(4), 393-397.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, IndependentEnsemble
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.voting import CLASS_WEIGHT, CLASSIFIER, VotingClassifierMixin
from orfeon.growth import split_halves
from orfeon.trees import IGPTreeClassifier
from orfeon.trees.base import CRITERION, LIMITS, TIES, Criterion, Ties
from orfeon.utils.documentation import documented

#: Parameters that are passed to each tree.
OF_TREES = ("criterion", "max_depth", "min_weight_fraction_leaf", "ties", "categorical_features")


class OfIGPTrees(VotingClassifierMixin, IndependentEnsemble):
    """An ensemble whose members are grown from a random split into halves."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **CLASSIFIER,
        **{name: LIMITS[name] for name in OF_TREES if name in LIMITS},
        "criterion": CRITERION,
        "ties": TIES,
    }

    def _base(self) -> Any:
        return IGPTreeClassifier(**{name: getattr(self, name) for name in OF_TREES})

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        return Perturbation(halves=split_halves(samples.y, rng))


@documented(n_estimators="100")
class IGPEnsembleClassifier(OfIGPTrees):
    """Vote of IGP trees, each grown and pruned with its own split of the samples into halves.

    All samples are used for every tree, and none is altered.

    Parameters
    ----------
    <n_estimators>
    <criterion>
    <max_depth>
    <least_weight_of_half>
    <tie_rule>
    <categorical_features>
    <combine>
    <calibrate>
    <class_weight>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>

    Examples
    --------
    >>> from orfeon import IGPEnsembleClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(IGPEnsembleClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.76
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OfIGPTrees._parameter_constraints,
        **CLASS_WEIGHT,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Criterion = "gini",
        max_depth: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        ties: Ties = "random",
        categorical_features: Any = "auto",
        combine: Combine = "majority",
        calibrate: Method | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ties = ties
        self.categorical_features = categorical_features
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
