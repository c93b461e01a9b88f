"""How much predictions change with each feature: most for samples near the border of classes.

Training on the samples of high sensitivity alone is one way to select a training set: they are
those that the border runs through.

References
----------
Engelbrecht and Cloete (1998). Selective learning using sensitivity analysis. International Joint
Conference on Neural Networks, 1150-1155.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from orfeon.utils.types import Floats


def input_sensitivity(estimator: Any, X: Any, *, step: float = 0.1) -> Floats:
    """Change of the predicted probabilities per standard deviation of each feature.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier with ``predict_proba``.
    X : array of shape (n_rows, n_features)
        Samples with numeric features.
    step : float, default=0.1
        Distance from the sample to both sides, in standard deviations of the feature in `X`.
        Trees and perceptrons predict steps, so for them it is the width of the border.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Largest absolute change over the classes; 0 for constant features.

    Examples
    --------
    The border runs between x = 0 and x = 1, where the probability changes most:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from orfeon.imbalance import input_sensitivity
    >>> X = np.column_stack([np.linspace(-3, 3, 7), [0, 1, 0, 1, 0, 1, 0]])
    >>> model = LogisticRegression().fit(X, X[:, 0] > 0)
    >>> input_sensitivity(model, X).round(2)[:, 0]
    array([0.04, 0.1 , 0.31, 0.51, 0.51, 0.32, 0.11])
    """
    if not 0 < step < np.inf:
        raise ValueError(f"step={step!r} is not allowed; give a number above 0.")
    rows = check_array(X, dtype=np.float64)
    spreads = rows.std(axis=0)
    found = np.zeros(rows.shape)
    for feature in np.flatnonzero(spreads):
        sides = []
        for sign in (1.0, -1.0):
            moved = rows.copy()
            moved[:, feature] += sign * step * spreads[feature]
            sides.append(np.asarray(estimator.predict_proba(moved)))
        found[:, feature] = np.abs(sides[0] - sides[1]).max(axis=1) / (2.0 * step)
    return found
