"""The rounds of a fit of gradient boosting, and the fitted attributes they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.boosting.gradient import AdditiveModel, Stage, fill_inner_values, split_gains
from orfeon.forest import Forest
from orfeon.utils.types import Floats


class GradientRun:
    """Collects the rounds of a fit, after those of a warm start."""

    def __init__(self, start: Floats) -> None:
        self.start = start
        self.n_before = 0
        self.losses: list[float] = []
        self._forests: list[Forest] = []
        self._means: list[Floats] = []
        self._new_gains: list[Floats] = []
        self._gains = np.zeros(0)

    @classmethod
    def after(cls, model: AdditiveModel, losses: Floats, gains: Floats) -> GradientRun:
        """Begin with the rounds of a model."""
        run = cls(model.start)
        run.n_before = model.n_rounds
        run.losses = list(losses)
        run._forests, run._gains = [model.forest], gains
        return run

    @property
    def n_rounds(self) -> int:
        return len(self.losses)

    def add(self, stage: Stage) -> None:
        self._forests.append(stage.forest)
        if stage.means is not None:
            self._means.append(stage.means)
        if stage.gains is not None:
            self._new_gains.append(stage.gains)
        self.losses.append(stage.loss)

    def fitted(self, n_rounds: int) -> dict[str, Any]:
        """Fitted attributes of an estimator with the first rounds."""
        forest, gains = Forest.concatenate(self._forests), self._gains
        if self._means:
            earlier = np.zeros(len(gains))
            new = split_gains(forest, np.concatenate([earlier, *self._means]))[len(gains) :]
            gains = np.concatenate([gains, new])
        gains = np.concatenate([gains, *self._new_gains])
        if self._means or self._new_gains:
            fill_inner_values(forest)
        model = AdditiveModel(self.start, forest).prefix(n_rounds)
        return {
            "_model": model,
            "_gains": gains[: len(model.forest.nodes)],
            "members_": model.forest,
            "init_": self.start,
            "n_estimators_": n_rounds,
            "train_loss_": np.array(self.losses[:n_rounds]),
        }
