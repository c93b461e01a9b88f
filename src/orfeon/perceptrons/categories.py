"""Categories of training samples (redundant, noisy, borderline, quasi-noisy); the positive class.

References
----------
Cantador and Dorronsoro (2005). Parallel perceptrons, activation margins and imbalanced training set
pruning. IbPRIA 2005, 43-50.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.metrics import least_weighty
from orfeon.utils.types import Floats

QuasiNoisy = Literal["all", "vote"]

#: The categories, by their codes.
NAMES = np.array(["redundant", "noisy", "borderline", "quasi-noisy"])
REDUNDANT, NOISY, BORDERLINE, QUASI_NOISY = range(4)


def categorise(
    margins: Floats,
    gamma: float,
    targets: Floats,
    positive: float = 1.0,
    quasi_noisy: QuasiNoisy = "all",
) -> npt.NDArray[np.int8]:
    """Return the category of each sample, as an index into ``NAMES``."""
    if quasi_noisy not in ("all", "vote"):
        raise ValueError(f'quasi_noisy={quasi_noisy!r} is not allowed; give "all" or "vote".')
    n_perceptrons = margins.shape[1]
    most = n_perceptrons // 2 + 1
    is_negative = targets != positive
    # An activation of 0 votes for class 1, whichever class is positive.
    wrong = ((margins < 0) | ((margins == 0) & (targets[:, None] < 0))).sum(axis=1)
    n_wrong = n_perceptrons if quasi_noisy == "all" else most
    codes = np.full(len(margins), BORDERLINE, np.int8)
    codes[is_negative & (wrong >= n_wrong)] = QUASI_NOISY
    codes[(margins > gamma).sum(axis=1) >= most] = REDUNDANT
    codes[(margins < -gamma).sum(axis=1) >= most] = NOISY
    return codes


def class_code(pos_label: Any, classes: npt.NDArray[Any]) -> int:
    places = np.flatnonzero(classes == pos_label)
    if len(places) != 1:
        raise ValueError(f"pos_label={pos_label!r} is not among the classes {classes.tolist()}.")
    return int(places[0])


def code_of_interest(
    codes: npt.NDArray[Any], weights: Floats, classes: npt.NDArray[Any], pos_label: Any = None
) -> int:
    """Return the code of ``pos_label``, or of the class with the lowest weight."""
    if pos_label is not None:
        return class_code(pos_label, classes)
    return least_weighty(np.bincount(codes, weights, len(classes)).astype(np.float64))


def check_two_classes(estimator: Any, classes: npt.NDArray[Any]) -> None:
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. y has {len(classes)} classes; wrap "
            f"{type(estimator).__name__} in sklearn.multiclass.OneVsRestClassifier."
        )
