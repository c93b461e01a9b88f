"""Weights over mislabels, the pairs of an example and a class that is not its own.

They are what AdaBoost.M2 and boosting with output codes act on: a member is judged by how well it
tells the right class of an example from each wrong one, not only by whether it is right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.boosting.adaboost import TINY

Floats = npt.NDArray[np.float64]


class MislabelWeights:
    """Weights of the mislabels of some examples, which sum to 1.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Class codes.
    weights : ndarray of shape (n_rows,)
        Weights of the examples, on any scale; each is spread equally over their mislabels.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.mislabels import MislabelWeights
    >>> mislabels = MislabelWeights(np.array([0, 2]), np.array([1.0, 3.0]), 3)
    >>> mislabels.weights
    array([[0.   , 0.125, 0.125],
           [0.375, 0.375, 0.   ]])
    >>> mislabels.of_examples
    array([0.25, 0.75])
    """

    def __init__(self, labels: npt.NDArray[np.integer], weights: Floats, n_classes: int) -> None:
        spread = np.repeat(weights[:, None].astype(np.float64), n_classes, axis=1)
        spread[np.arange(len(labels)), labels] = 0.0
        self.labels = labels
        self.weights: Floats = spread / spread.sum() if n_classes > 1 else spread

    @property
    def of_examples(self) -> Floats:
        """Weight of all mislabels of each example."""
        return np.asarray(self.weights.sum(axis=1))

    def own(self, supports: Floats) -> Floats:
        """What is said of each example's own class, of shape (n_rows, 1).

        Parameters
        ----------
        supports : ndarray of shape (n_rows, n_classes)
            Support of each class.

        Returns
        -------
        ndarray of shape (n_rows, 1)
            Support of the right class.
        """
        return np.asarray(supports[np.arange(len(self.labels)), self.labels][:, None])

    def pseudo_loss(self, supports: Floats) -> float:
        """Half of the weighted mean of 1 - h(x, y) + h(x, wrong).

        Parameters
        ----------
        supports : ndarray of shape (n_rows, n_classes)
            Plausibility h of each class, from 0 to 1.

        Returns
        -------
        float
            From 0 to 1; a constant h has 1/2.
        """
        return float(0.5 * (self.weights * (1.0 - self.own(supports) + supports)).sum())

    def multiply(self, factors: Floats) -> None:
        """Multiply the weights, and make them sum to 1 again.

        Parameters
        ----------
        factors : ndarray of shape (n_rows, n_classes)
            Positive factors; those of right classes do not matter.
        """
        present = self.weights > 0
        weights = self.weights * factors
        weights /= weights.sum()
        weights[present & (weights < TINY)] = TINY  # from 0 they could not rise again
        self.weights = weights
