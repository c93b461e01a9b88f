"""The class of interest, the positive one, among two."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.metrics import least_weighty
from orfeon.utils.types import Floats


def class_code(pos_label: Any, classes: npt.NDArray[Any]) -> int:
    """The code of a class that a user names."""
    places = np.flatnonzero(classes == pos_label)
    if len(places) != 1:
        raise ValueError(f"pos_label={pos_label!r} is not among the classes {classes.tolist()}.")
    return int(places[0])


def code_of_interest(
    codes: npt.NDArray[Any], weights: Floats, classes: npt.NDArray[Any], pos_label: Any = None
) -> int:
    """The code of the class of interest: the one that is named, else the one of least weight."""
    if pos_label is not None:
        return class_code(pos_label, classes)
    return least_weighty(np.bincount(codes, weights, len(classes)).astype(np.float64))


def check_two_classes(estimator: Any, classes: npt.NDArray[Any]) -> None:
    """Refuse more than two classes."""
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. y has {len(classes)} classes; put "
            f"{type(estimator).__name__} into sklearn.multiclass.OneVsRestClassifier, which makes "
            "one of each class against the others."
        )
