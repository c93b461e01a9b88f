"""Members in order, with their errors and the sizes that can be kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orfeon.members.vote_input import (
    Source,
    is_deprecated_matrix,
    read_ensemble,
    read_votes,
    without_vote_options,
)
from orfeon.members.votes import Selection, Task
from orfeon.ordering.rule import Arrangement, Rule, error_curve
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers
from orfeon.utils.user_warning import warn_user

if TYPE_CHECKING:
    from orfeon.ordering.auto_size import SizeChoice

Keep = float | int | Literal["auto", "rule"]

#: The share that is kept by default.
FIFTH = 0.2


@saved.attributes(
    rule=saved.subclass("Rule"),
    order=saved.indices,
    criterion=saved.floats,
    error_curve=saved.floats,
    n_classes=saved.integer(0),
    own_size=saved.one_of(saved.none, saved.integer(1)),
    subsets=saved.one_of(saved.none, saved.tuple_of(saved.indices)),
    member_weights=saved.one_of(saved.none, saved.finite_floats),
    has_own_weights=saved.boolean,
)
@dataclass(frozen=True, eq=False, repr=False)
class Order:
    """Members in order, with the errors of the first 1, 2, ... members.

    Parameters
    ----------
    rule : Rule
        The rule that ordered them.
    order : ndarray of shape (n_members,)
        The members, best first.
    criterion : ndarray of shape (n_members,)
        The rule's value at each choice.
    error_curve : ndarray of shape (n_members,)
        Error of the first 1, 2, ... members on the selection samples: the share of wrong votes, or
        the mean squared error.
    n_classes : int
        Number of classes, 0 in regression.
    own_size : int or None
        The size that the rule suggests, if it does.
    subsets : tuple of ndarray or None
        The members kept at sizes 1, 2, ... where these are not the first ones of ``order``.
    member_weights : ndarray of shape (n_members,) or None
        Weights of the votes in the order of ``order``, where they are not all the same.
    has_own_weights : bool
        Whether these weights come from the rule and not from the ensemble.
    source : Source or None
        The votes, for the automatic size; not pickled.

    Notes
    -----
    Errors are those of the plain vote of the members. Ensembles that average class supports, such
    as scikit-learn's forests, may decide otherwise on some samples.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier, order
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0).fit(X, y)
    >>> ordered = order(bag, X, y, rule="margin_distance")
    >>> ordered.order[:5], ordered.error_curve[[19, -1]].round(3)
    (array([80, 62, 18, 43, 28]), array([0.04 , 0.093]))
    """

    rule: Rule
    order: Integers
    criterion: Floats
    error_curve: Floats
    n_classes: int
    own_size: int | None = None
    subsets: tuple[Integers, ...] | None = None
    member_weights: Floats | None = None
    has_own_weights: bool = False
    source: Source | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[int]:
        return iter(self.order.tolist())

    def __repr__(self) -> str:
        best = int(np.argmin(self.error_curve))
        return (
            f"<Order of {len(self)} members by {self.rule!r}: error {self.error_curve[-1]:.4g} "
            f"with all, {self.error_curve[best]:.4g} with the first {best + 1}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__, source=None)
        state.pop("_automatic", None)
        return state

    def members(self, keep: Keep) -> Integers:
        """Indices of the members that are kept, best first; ``keep`` as for :meth:`size`."""
        size = self.size(keep)
        return (self.order[:size] if self.subsets is None else self.subsets[size - 1]).copy()

    def size(self, keep: Keep | Any) -> int:
        """How many members are kept.

        Parameters
        ----------
        keep : float, int, "auto" or "rule"
            A share of the members, up to 1.0; a number of members; ``"rule"``: the size that the
            ordering rule suggests; ``"auto"``: the size with the lowest cross-validated error.

        Returns
        -------
        int
            From 1 to the number of members.
        """
        if isinstance(keep, str):
            return self._named_size(keep)
        if not isinstance(keep, bool | np.bool_):
            if isinstance(keep, int | np.integer) and 1 <= keep <= len(self):
                return int(keep)
            if isinstance(keep, float | np.floating) and 0 < keep <= 1:
                return share_of(float(keep), len(self))
        raise ValueError(
            f"keep={keep!r} is not allowed; give a share above 0 and up to 1.0, a number of "
            f'members from 1 to {len(self)}, "auto" or "rule".'
        )

    def _named_size(self, keep: str) -> int:
        if keep == "auto":
            return self._automatic.size
        if keep != "rule":
            raise ValueError(
                f'keep={keep!r} is not allowed; give a share, a number, "auto" or "rule".'
            )
        if self.own_size is None:
            raise ValueError(
                f'keep="rule" needs a rule with a size of its own; {self.rule!r} has none. Use '
                'rule="orientation", "clustering", "meta_tree", "kappa_hull", "gasen", "utility", '
                '"output_clustering" or BoostingBased(stop=True), or a share such as keep=0.2.'
            )
        return self.own_size

    def size_choice(self, *, n_folds: int = 10) -> SizeChoice:
        """The automatic size, with the curve whose minimum it is.

        Parameters
        ----------
        n_folds : int, default=10
            Number of folds of the cross-validation.

        Returns
        -------
        SizeChoice
            Size and cross-validated error curve; with a single sample the size is all members.
        """
        from orfeon.ordering.auto_size import choose_size

        if self.source is None:
            raise ValueError(
                'keep="auto" needs the votes, which this order no longer has; call order() again.'
            )
        return choose_size(self.source, self.rule, n_folds=n_folds)

    @cached_property
    def _automatic(self) -> SizeChoice:
        return self.size_choice()

    @property
    def suggestions(self) -> dict[str, int]:
        """Suggested sizes by name.

        ``"fifth"`` is the usual share; ``"minimum"`` has the lowest error on the selection samples,
        and is far too small when the members were trained on them; ``"rule"`` the rule's own
        size, if it has one; ``"auto"`` the cross-validated one.
        """
        sizes = {"fifth": self.size(FIFTH), "minimum": int(np.argmin(self.error_curve)) + 1}
        if self.own_size is not None:
            sizes["rule"] = self.own_size
        if self.source is not None:
            sizes["auto"] = self.size("auto")
        return sizes

    def test_curve(
        self,
        ensemble: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        no_vote: Any = None,
    ) -> Floats:
        """Error of the first 1, 2, ... members on other samples.

        Parameters
        ----------
        ensemble : fitted ensemble, or list of fitted estimators
            All the members that were ordered.
        X, y, sample_weight
            The samples, their labels or targets, and their weights.
        no_vote : optional
            Deprecated, for :meth:`test_curve_votes`.

        Returns
        -------
        ndarray of shape (n_members,)
            Errors.
        """
        if is_deprecated_matrix(ensemble, X, "test_curve"):
            return self.test_curve_votes(ensemble, y, sample_weight, no_vote=no_vote)
        without_vote_options({"no_vote": no_vote}, "test_curve_votes")
        return self._curve(read_ensemble(ensemble, X, y, sample_weight))

    def test_curve_votes(
        self, votes: Any, y: Any, sample_weight: Any = None, *, no_vote: Any = None
    ) -> Floats:
        """Error of the first 1, 2, ... members, from their votes on other samples.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Votes in the members' original order, labels as in ``y``; or predictions.
        y, sample_weight
            Labels or targets of the samples, and their weights.
        no_vote : optional
            The entry of ``votes`` that marks a missing vote.

        Returns
        -------
        ndarray of shape (n_members,)
            Errors.
        """
        task: Task = "classification" if self.n_classes else "regression"
        return self._curve(read_votes(votes, y, sample_weight, no_vote=no_vote, task=task))

    def _curve(self, source: Source) -> Floats:
        n_members = source.selection.n_members
        if n_members != len(self):
            raise ValueError(f"there are votes of {n_members} members; {len(self)} were ordered.")
        return error_curve(source.selection, self.order, self.subsets, self.member_weights)

    def plot(self, ax: Any = None, *, keep: Keep | None = FIFTH, label: str | None = None) -> Any:
        """Draw the error curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        keep : float, int, "auto", "rule" or None, default=0.2
            The size to mark.
        label : str, optional
            Name of the curve; by default that of the rule.

        Returns
        -------
        matplotlib Axes
            With the curve.
        """
        from orfeon.ordering.plot import plot_error_curve

        return plot_error_curve(self, ax, keep, label)

    def without_source(self) -> Order:
        """The same order without the votes, so without an automatic size."""
        return replace(self, source=None)


def share_of(share: float, n_members: int) -> int:
    """Number of members in a share."""
    return max(1, int(np.floor(share * n_members + 0.5)))


def order_source(source: Source, rule: Rule) -> Order:
    """Order members by votes that have been read."""
    selection = source.selection
    rule.check(is_regression=selection.is_regression)
    found = rule.arrange(selection)
    pass_on_warning(found)
    return _complete(found, rule, selection, source)


def _complete(found: Arrangement, rule: Rule, selection: Selection, source: Source | None) -> Order:
    curve = found.error_curve
    if curve is None:
        curve = error_curve(selection, found.order, found.subsets, found.member_weights)
    weights = found.member_weights
    if weights is None and selection.member_weights is not None:
        weights = selection.member_weights[found.order]
    return Order(
        rule, found.order, found.criterion, curve, selection.n_classes, found.own_size,
        found.subsets, weights, found.member_weights is not None, source,
    )  # fmt: skip


def pass_on_warning(found: Arrangement) -> None:
    """Warn as the rule suggests."""
    if found.warning is not None:
        warn_user(found.warning)


def with_order(smaller: Any, kept: Integers, found: Order | None) -> Any:
    """Set the attributes of a pruned ensemble that describe its order."""
    if isinstance(smaller, list | tuple) or hasattr(smaller, "subset"):
        return smaller
    smaller.kept_ = kept
    if found is not None:
        smaller.order_ = found.without_source()
        smaller.error_curve_ = found.error_curve
    else:  # those of an earlier pruning no longer hold
        vars(smaller).pop("order_", None)
        vars(smaller).pop("error_curve_", None)
    return smaller
