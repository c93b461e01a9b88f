"""What a model has right on a fold, class by class, and what all folds say together.

The accuracies are averaged over the folds first, and g is the geometric mean of the averages: so
the published figures come out, and a fold without a single hit does not make g zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.workbench.reproduction.partitions import Partition

#: The class of interest, which is the smaller one, and all others.
POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True)
class FoldOutcome:
    """Numbers of samples of each class, and of those that a model has right.

    Parameters
    ----------
    right_positive, n_positive : int
        Of the positive class.
    right_negative, n_negative : int
        Of the negative class.
    n_train : int
        Number of training samples.
    n_selected : int, optional
        Number of training samples that the model kept, for a model that selects.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import FoldOutcome
    >>> fold = FoldOutcome(right_positive=8, n_positive=10, right_negative=81, n_negative=90,
    ...                    n_train=900, n_selected=45)
    >>> fold.accuracy, fold.positive_accuracy, fold.negative_accuracy, fold.selected
    (89.0, 80.0, 90.0, 5.0)
    """

    right_positive: int
    n_positive: int
    right_negative: int
    n_negative: int
    n_train: int
    n_selected: int | None = None

    def __post_init__(self) -> None:
        for name in ("positive", "negative"):
            right, n_samples = getattr(self, f"right_{name}"), getattr(self, f"n_{name}")
            if n_samples < 1 or not 0 <= right <= n_samples:
                raise ValueError(
                    f"right_{name} must be from 0 to n_{name}, and that at least 1; "
                    f"got {right} and {n_samples}"
                )
        n_selected = self.n_train if self.n_selected is None else self.n_selected
        if self.n_train < 1 or not 0 <= n_selected <= self.n_train:
            raise ValueError(
                f"n_selected must be from 0 to n_train, and that at least 1; "
                f"got {self.n_selected} and {self.n_train}"
            )

    @classmethod
    def of(cls, model: Any, split: Partition) -> FoldOutcome:
        """Test a model.

        Parameters
        ----------
        model : classifier
            Fitted; one that selects training samples has their rows in ``selected_``.
        split : Partition
            The sets it was trained on and is tested on, of the classes "positive" and "negative".

        Returns
        -------
        FoldOutcome
            Its hits.
        """
        right = np.asarray(model.predict(split.X_test)) == split.y_test
        positive = split.y_test == POSITIVE
        selected = getattr(model, "selected_", None)
        return cls(
            right_positive=int(np.sum(right & positive)),
            n_positive=int(np.sum(positive)),
            right_negative=int(np.sum(right & ~positive)),
            n_negative=int(np.sum(~positive)),
            n_train=len(split.y_train),
            n_selected=None if selected is None else len(selected),
        )

    @property
    def accuracy(self) -> float:
        """Percent of all samples that are right."""
        n_right = self.right_positive + self.right_negative
        return 100.0 * n_right / (self.n_positive + self.n_negative)

    @property
    def error(self) -> float:
        """Percent of all samples that are wrong."""
        return round(100.0 - self.accuracy, 10)

    @property
    def positive_accuracy(self) -> float:
        """Percent of the positive samples that are right."""
        return 100.0 * self.right_positive / self.n_positive

    @property
    def negative_accuracy(self) -> float:
        """Percent of the negative samples that are right."""
        return 100.0 * self.right_negative / self.n_negative

    @property
    def selected(self) -> float | None:
        """Percent of the training samples that were kept; None for a model that keeps all."""
        return None if self.n_selected is None else 100.0 * self.n_selected / self.n_train


def _mean(values: Sequence[float]) -> float:
    return round(math.fsum(values) / len(values), 10)


def _mean_accuracy(folds: Sequence[FoldOutcome]) -> float:
    return _mean([fold.accuracy for fold in folds])


def _mean_positive_accuracy(folds: Sequence[FoldOutcome]) -> float:
    return _mean([fold.positive_accuracy for fold in folds])


def _mean_negative_accuracy(folds: Sequence[FoldOutcome]) -> float:
    return _mean([fold.negative_accuracy for fold in folds])


def g_of_mean_accuracies(folds: Sequence[FoldOutcome]) -> float:
    """Geometric mean of the averaged accuracies on the two classes, in percent."""
    return round(math.sqrt(_mean_positive_accuracy(folds) * _mean_negative_accuracy(folds)), 10)


#: What the folds of a repetition say together, by the name of the measure.
METRICS: dict[str, Callable[[Sequence[FoldOutcome]], float]] = {
    "accuracy": _mean_accuracy,
    "acc+": _mean_positive_accuracy,
    "acc-": _mean_negative_accuracy,
    "g": g_of_mean_accuracies,
}
