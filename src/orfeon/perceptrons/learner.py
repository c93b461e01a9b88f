"""Training parallel perceptrons as members of a boosted ensemble, on inputs that are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from orfeon.base import class_factors
from orfeon.boosting.learners import Sampling, draw_sample
from orfeon.boosting.loop import MemberOutput
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.perturbation import draw_seed
from orfeon.members.members import EstimatorMembers
from orfeon.utils.types import Floats

if TYPE_CHECKING:
    from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier


class PerceptronLearner:
    """Trains parallel perceptrons, which all see features standardized in the same way."""

    def __init__(
        self,
        base: ParallelPerceptronClassifier,
        samples: TrainingSet,
        sampling: Sampling,
        classes: npt.NDArray[Any],
    ) -> None:
        self.class_weight, self.classes = base.class_weight, classes
        # Here classes are codes; what their weights are about are the classes themselves.
        self.base = clone(base).set_params(class_weight=None)
        data = self.base._begin(samples.X, samples.y, samples.sample_weights, in_order=True)
        self.inputs = self.base.inputs_.of(data.X)
        # Not all classes need be among samples of which some were set aside.
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
        """Train a parallel perceptron."""
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
        """Predictions of a parallel perceptron on the training samples."""
        (one,) = member.estimators
        if what == "votes":
            return np.asarray(one._decide(self.inputs))
        if what == "supports":
            return np.asarray(one._shares(self.inputs))
        return np.asarray(one._activations_and_margin(self.inputs))
