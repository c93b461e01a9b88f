"""The class of interest, the positive one, among two."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.imbalance.metrics import least_weighty

Floats = npt.NDArray[np.float64]


def class_code(pos_label: Any, classes: npt.NDArray[Any]) -> int:
    """The code of a class that a user names.

    Parameters
    ----------
    pos_label : object
        The class.
    classes : ndarray of shape (n_classes,)
        All classes.

    Returns
    -------
    int
        Its place among them.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.perceptrons.class_of_interest import class_code
    >>> class_code("ill", np.array(["ill", "well"]))
    0
    """
    places = np.flatnonzero(classes == pos_label)
    if len(places) != 1:
        raise ValueError(f"pos_label={pos_label!r} is not among the classes {classes.tolist()}.")
    return int(places[0])


def code_of_interest(
    codes: npt.NDArray[Any], weights: Floats, classes: npt.NDArray[Any], pos_label: Any = None
) -> int:
    """The code of the class of interest: the one that is named, else the one of least weight.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Class of each example.
    weights : ndarray of shape (n_rows,)
        Weights of the examples.
    classes : ndarray of shape (n_classes,)
        All classes.
    pos_label : object, optional
        The class, where it is named.

    Returns
    -------
    int
        Its place among the classes; of classes that weigh the same, the last.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.perceptrons.class_of_interest import code_of_interest
    >>> codes, classes = np.array([0, 1, 1]), np.array(["ill", "well"])
    >>> code_of_interest(codes, np.ones(3), classes), code_of_interest(
    ...     codes, np.array([3.0, 1.0, 1.0]), classes)
    (0, 1)
    """
    if pos_label is not None:
        return class_code(pos_label, classes)
    return least_weighty(np.bincount(codes, weights, len(classes)).astype(np.float64))


def check_two_classes(estimator: Any, classes: npt.NDArray[Any]) -> None:
    """Refuse more than two classes.

    Parameters
    ----------
    estimator : estimator
        Who refuses.
    classes : ndarray of shape (n_classes,)
        The classes.
    """
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. y has {len(classes)} classes; put "
            f"{type(estimator).__name__} into sklearn.multiclass.OneVsRestClassifier, which makes "
            "one of each class against the others."
        )
