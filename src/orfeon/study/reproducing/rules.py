"""When our figure agrees with the published one: a rule for each kind of figure.

Rules are fixed before anything is run, the same for all cells of a kind.
"""

from __future__ import annotations

import abc
import typing
from dataclasses import dataclass

if typing.TYPE_CHECKING:
    from orfeon.study.reproducing.comparison import Comparison

#: Percentage points by which two means may always differ.
LEAST_TOLERANCE = 1.0
#: Far below any printed digit: a difference of exactly the tolerance agrees despite rounding.
_ROUNDING = 1e-9


class Rule(typing.Protocol):
    """Says whether our figure agrees with the published one."""

    @property
    def decimals(self) -> int:
        """How many decimals the figures are shown with."""

    @property
    def sentence(self) -> str:
        """The rule in words."""

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees."""

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ, in a word."""


class Difference(abc.ABC):
    """Two figures agree when they differ by no more than a tolerance; part of several rules.

    Examples
    --------
    >>> from orfeon.study.reproducing.rules import Difference, Factor, Points, Within
    >>> [issubclass(rule, Difference) for rule in (Points, Within, Factor)]
    [True, True, False]
    """

    decimals: int

    @abc.abstractmethod
    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        float
        """

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        bool
        """
        return abs(ours.difference) <= self.tolerance(ours) + _ROUNDING

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        str
        """
        return f"{self.tolerance(ours):.{self.decimals}f}"


@dataclass(frozen=True)
class Points(Difference):
    """Two means agree within a percentage point or two standard errors of their difference.

    Examples
    --------
    >>> from orfeon.study import Comparison
    >>> from orfeon.study.reproducing import PublishedCell
    >>> from orfeon.study.reproducing.rules import Points
    >>> cell = PublishedCell("martinez-3.2", "sonar", "cart", {}, 30.1, 4.0, 50)
    >>> ours = Comparison(cell, 31.5, 4.4, 50)
    >>> Points().agrees(ours), Points().tolerance_text(ours)
    (True, '1.7')
    """

    decimals: int = 1

    @property
    def sentence(self) -> str:
        """The rule in words."""
        return "A mean agrees within one point or two standard errors of the difference."

    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        float
        """
        return ours.tolerance


@dataclass(frozen=True)
class Within(Difference):
    """Two figures agree when they differ by no more than a fixed number.

    Parameters
    ----------
    most : float
        The number; 0 for figures that must be equal.
    sentence : str
        The rule in words.
    decimals : int, default=0
        How many decimals the figures are shown with.

    Examples
    --------
    >>> from orfeon.study import Comparison
    >>> from orfeon.study.reproducing import PublishedCell
    >>> from orfeon.study.reproducing.rules import Within
    >>> leaves = PublishedCell("j48", "wine", "c45", {}, 5, None, 1, metric="n_leaves")
    >>> rule = Within(0, "Sizes agree when they are equal.")
    >>> [rule.agrees(Comparison(leaves, size, None, 1)) for size in (5, 6)]
    [True, False]
    """

    most: float
    sentence: str
    decimals: int = 0

    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        float
        """
        return self.most


@dataclass(frozen=True)
class Factor:
    """Two positive figures agree when neither is more than so many times the other.

    Parameters
    ----------
    most : float
        More than 1.
    sentence : str
        The rule in words.
    decimals : int, default=2
        How many decimals the figures are shown with.

    Examples
    --------
    >>> from orfeon.study import Comparison
    >>> from orfeon.study.reproducing import PublishedCell
    >>> from orfeon.study.reproducing.rules import Factor
    >>> ratio = PublishedCell("martinez-3.7", "waveform", "bagging", {}, 9.1, None, 1)
    >>> rule = Factor(2, "Ratios agree within a factor of two.")
    >>> [rule.agrees(Comparison(ratio, ours, None, 1)) for ours in (4.5, 4.6, 18.2, 18.3)]
    [False, True, True, False]
    """

    most: float
    sentence: str
    decimals: int = 2

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        bool
        """
        larger = max(ours.mean, ours.published.value)
        smaller = min(ours.mean, ours.published.value)
        return 0 < larger <= self.most * smaller + _ROUNDING

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ.

        Parameters
        ----------
        ours : Comparison
            The two figures.

        Returns
        -------
        str
        """
        return f"x{self.most:g}"


POINTS = Points()
