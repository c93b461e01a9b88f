"""The base of calibrators of all classes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from orfeon.utils.types import Floats


class Calibrator(ABC):
    """From the class shares of rows to probabilities, one row at a time."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    @abstractmethod
    def method(self) -> str:
        """The name of the method."""

    @abstractmethod
    def probabilities(self, shares: Floats) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        shares : ndarray of shape (n_rows, n_classes)
            Class shares between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities above 0 that sum to 1.
        """
