"""The neural network of published tables: three hidden units, one step per sample.

scikit-learn's network is the same with ``batch_size=1``, but takes minutes for what takes seconds
here: its steps are made for larger networks.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from orfeon.kernels.perceptron.network import gradient_epoch
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats


class SmallNetwork(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A network with one hidden layer for two classes, trained by stochastic gradient descent.

    Parameters
    ----------
    n_hidden : int, default=3
        Number of hidden units, which are rectified sums.
    rate : float, default=1e-3
        Length of a step.
    n_epochs : int, default=2000
        Number of epochs; each visits the samples in a new random order.
    random_state : int or None, default=None
        Seed of the initial weights and the orders.

    Examples
    --------
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.workbench.reproduction.network import SmallNetwork
    >>> X, y = make_twonorm(200, random_state=0)
    >>> round(SmallNetwork(random_state=0).fit(X, y).score(X, y), 2)
    1.0
    """

    def __init__(
        self, n_hidden: int = 3, rate: float = 1e-3, n_epochs: int = 2000, random_state: Any = None
    ) -> None:
        self.n_hidden = n_hidden
        self.rate = rate
        self.n_epochs = n_epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train for all epochs.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Numbers, best standardised.
        y : array of shape (n_samples,)
            One or two classes.

        Returns
        -------
        self
            The trained network.
        """
        X, y = validate_data(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(f"y has {len(self.classes_)} classes; SmallNetwork takes two.")
        inputs, targets = _extended(X), (codes == 1).astype(np.float64)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        # Glorot's ranges, as scikit-learn's network draws them.
        at_input = np.sqrt(6.0 / (X.shape[1] + self.n_hidden))
        at_output = np.sqrt(6.0 / (self.n_hidden + 1))
        self.hidden_ = rng.uniform(-at_input, at_input, (self.n_hidden, inputs.shape[1]))
        self.output_ = rng.uniform(-at_output, at_output, self.n_hidden + 1)
        active = np.empty(self.n_hidden)
        for _ in range(self.n_epochs):
            order = rng.permutation(len(inputs))
            gradient_epoch(
                inputs, targets, order, self.hidden_, self.output_, float(self.rate), active
            )
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log-odds.
        """
        check_is_fitted(self, "output_")
        active = np.maximum(_extended(validate_data(self, X, reset=False)) @ self.hidden_.T, 0.0)
        return np.asarray(active @ self.output_[:-1] + self.output_[-1])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The more likely class.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        likely = (self.decision_function(X) > 0) & (len(self.classes_) == 2)
        return np.asarray(self.classes_[likely.astype(np.int64)])


def _extended(X: Floats) -> Floats:
    return np.column_stack([X, np.ones(len(X))])
