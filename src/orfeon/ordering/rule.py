"""What an ordering rule is, and the rules by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import Selection
from orfeon.utils import saved
from orfeon.utils.registry import RuleNames

#: The rules by name: module and class.
_HOMES = {
    "reduce_error": ("reduce_error", "ReduceError"),
    "complementarity": ("complementarity", "Complementarity"),
    "margin_distance": ("margin_distance", "MarginDistance"),
    "orientation": ("orientation", "Orientation"),
    "boosting_based": ("boosting_based", "BoostingBased"),
    "individual_error": ("individual_error", "IndividualError"),
    "kappa": ("kappa", "Kappa"),
    "random": ("random_order", "RandomOrder"),
    "meta_tree": ("meta_tree", "MetaTree"),
    "clustering": ("clustering", "Clustering"),
}
#: Names of the rules.
RULES = tuple(_HOMES)
_NAMES: RuleNames[Rule] = RuleNames("orfeon.ordering", _HOMES)


@dataclass(frozen=True, eq=False)
class Arrangement:
    """What a rule makes of the members.

    Parameters
    ----------
    order : ndarray of shape (n_members,)
        The members, best first; where the subsets of different sizes are not nested, in the order
        in which they first appear.
    criterion : ndarray of shape (n_members,)
        The rule's value at each choice.
    subsets : tuple of ndarray, optional
        The members kept at sizes 1, 2, ... where these are not the first ones of ``order``.
    own_size : int, optional
        The size that the rule itself suggests.
    member_weights : ndarray of shape (n_members,), optional
        Weights of the votes, in the order of ``order``, where the rule gives some.
    error_curve : ndarray of shape (n_members,), optional
        Error of the members kept at sizes 1, 2, ..., where the rule knows it already.
    warning : str, optional
        What the user should know of this order. Rules do not warn themselves: they are run many
        times, and in threads.

    Examples
    --------
    >>> from orfeon.ordering import Orientation, read_selection
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]]
    >>> found = Orientation().arrange(read_selection(votes, [0, 0, 0, 0, 0]))
    >>> found.order, found.own_size, found.warning
    (array([2, 3, 0, 1]), 1, None)
    """

    order: npt.NDArray[np.int64]
    criterion: npt.NDArray[np.float64]
    subsets: tuple[npt.NDArray[np.int64], ...] | None = None
    own_size: int | None = None
    member_weights: npt.NDArray[np.float64] | None = None
    error_curve: npt.NDArray[np.float64] | None = None
    warning: str | None = None


@saved.attributes(saved.anything)
@dataclass(frozen=True)
class Rule(ABC):
    """A way to put members in order; its fields are its options.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from orfeon import order
    >>> from orfeon.ordering import Arrangement, Rule
    >>> @dataclass(frozen=True)
    ... class LastFirst(Rule):
    ...     name = "last_first"
    ...     def arrange(self, selection):
    ...         n_members = selection.n_members
    ...         return Arrangement(np.arange(n_members)[::-1], np.zeros(n_members))
    >>> order([[0, 1], [0, 0], [1, 0]], y=[0, 0], rule=LastFirst()).order
    array([2, 1, 0])
    """

    #: The word for it.
    name: ClassVar[str]
    #: Whether it can order members that predict numbers.
    for_regression: ClassVar[bool] = False

    @abstractmethod
    def arrange(self, selection: Selection) -> Arrangement:
        """Put the members in order.

        Parameters
        ----------
        selection : Selection
            What they say of the selection samples.

        Returns
        -------
        Arrangement
            The order.
        """

    def check(self, *, is_regression: bool) -> None:
        """Refuse a problem that the rule is not made for.

        Parameters
        ----------
        is_regression : bool
            Whether the members predict numbers.
        """
        if is_regression and not self.for_regression:
            able = ", ".join(n for n in RULES if _NAMES.kind(n).for_regression)
            raise ValueError(
                f"rule={self.name!r} needs classes, and these members predict numbers; rules for "
                f"regression are {able}."
            )


def check_switches(rule: Rule, *names: str) -> None:
    """Refuse options of a rule that are neither true nor false."""
    for name in names:
        value = getattr(rule, name)
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={value!r} is not allowed; use True or False.")


def as_rule(rule: str | Rule, **options: Any) -> Rule:
    """The rule of a name."""
    return _NAMES.rule(rule, Rule, options)


def first_appearances(subsets: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The members in the order in which they first appear in growing subsets."""
    members, place = np.unique(np.concatenate(subsets), return_index=True)
    return np.asarray(members[np.argsort(place)])
