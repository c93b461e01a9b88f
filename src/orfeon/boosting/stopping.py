"""Early stopping by the loss on a validation set or by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.gradient import AdditiveModel, Followed, Sample, Stage, values_of
from orfeon.boosting.losses import Loss
from orfeon.data.training_set import hash_rows
from orfeon.ensembles.holdout import deal_folds
from orfeon.utils.types import Floats


class Patience:
    """Stops after ``n_rounds`` losses in a row without improvement."""

    def __init__(self, n_rounds: int, tol: float) -> None:
        self.n_rounds = n_rounds
        self.tol = tol
        self.losses: list[float] = []
        self.best = 0
        self._least_gain = 0.0

    def begin(self, loss: float) -> None:
        """Set the loss before the first round, which ``tol`` is relative to."""
        self._least_gain = self.tol * loss

    def ends(self, loss: float) -> bool:
        """Add the loss of a round, and return whether to stop."""
        if not self.losses or loss < self.losses[self.best - 1] - self._least_gain:
            self.best = len(self.losses) + 1
        self.losses.append(loss)
        return len(self.losses) - self.best >= self.n_rounds


class Validation:
    """The validation set and its scores so far."""

    def __init__(self, loss: Loss, sample: Sample, start: Floats) -> None:
        self.loss = loss
        self.sample = sample
        self.scores = sample.scores_from(start)

    @cached_property
    def _rows(self) -> Any:
        return self.sample.encoded()

    def update(self, stage: Stage) -> None:
        """Add the trees of a round, unless they were added in the round itself."""
        if not stage.is_followed:
            (values,) = values_of(stage.forest, self._rows, self.loss.n_scores)
            self.scores += values

    def after(self, stage: Stage) -> float:
        """The loss after a round."""
        self.update(stage)
        return self.loss_now()

    @property
    def followed(self) -> Followed:
        """What rounds may update."""
        return Followed(self._rows, self.scores)

    def replay(self, model: AdditiveModel) -> list[float]:
        """Replace the scores by those of a model, and return the loss after each of its rounds."""
        losses, offsets = [], self.sample.offsets
        for scores in model.staged(self._rows, None if offsets is None else offsets.T):
            self.scores = np.ascontiguousarray(scores.T)
            losses.append(self.loss_now())
        return losses

    def loss_now(self) -> float:
        return self.loss.value(self.sample.y, self.scores, self.sample.weights)


class Watch:
    """Patience applied to the validation loss."""

    def __init__(
        self, validation: Validation, patience: Patience, model: AdditiveModel | None = None
    ) -> None:
        self.validation = validation
        self.patience = patience
        self.ended = False
        patience.begin(validation.loss_now())
        for loss in [] if model is None else validation.replay(model):
            self.ended = self.ended or patience.ends(loss)

    def ends(self, stage: Stage) -> bool:
        """Measure the loss after a round, and return whether to stop."""
        self.ended = self.patience.ends(self.validation.after(stage))
        return self.ended


def cross_validated_rounds(
    folds: list[tuple[Iterator[Stage], Validation]],
    shares: Floats,
    n_rounds: int,
    patience: Patience,
    *,
    n_jobs: int = 1,
    after: Callable[[], bool] = lambda: False,
) -> bool:
    """Boost on all folds in parallel until their mean loss no longer falls; whether it stopped."""

    def advance(fold: tuple[Iterator[Stage], Validation]) -> float:
        rounds, validation = fold
        return validation.after(next(rounds))

    starts = np.array([validation.loss_now() for _, validation in folds])
    patience.begin(float(np.sum(shares * starts)))
    with ThreadPoolExecutor(n_jobs) as threads:
        side_by_side = map if n_jobs == 1 else threads.map
        for _ in range(n_rounds):
            losses = np.array(list(side_by_side(advance, folds)))
            if patience.ends(float(np.sum(shares * losses))):
                return True
            if after():
                return False
    return False


def draw_folds(
    sample: Sample, n_folds: int, rng: np.random.Generator, *, by_class: bool
) -> npt.NDArray[np.int64]:
    """Assign samples to random folds; copies share a fold."""
    # Ranks of the targets, so that their unit does not matter.
    ranks = np.unique(sample.y, return_inverse=True)[1]
    return deal_folds(
        hash_rows(sample.encoded(), ranks), ranks, sample.weights, n_folds, rng, by_class=by_class
    )
