"""Put the members of an ensemble in a better order: ``order()`` and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orfeon.ensembles.dask_parts import is_dask
from orfeon.members.votes import On, Selection, Source, Task, read_selection, read_source
from orfeon.ordering.curves import error_curve
from orfeon.ordering.gram import gram_of_chunks, read_chunks
from orfeon.ordering.rule import Arrangement, Rule, as_rule
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers
from orfeon.utils.user_warning import warn_user

if TYPE_CHECKING:
    from orfeon.ordering.auto_size import SizeChoice

Keep = float | int | Literal["auto", "rule"]

#: The share that is kept when nothing else is said.
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
    """Members in order, and what is known of the sub-ensembles of the first ones.

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
        The size that the rule itself suggests, if it does.
    subsets : tuple of ndarray or None
        The members kept at sizes 1, 2, ... where these are not the first ones of ``order``.
    member_weights : ndarray of shape (n_members,) or None
        Weights of the votes in the order of ``order``, where they are not all the same.
    has_own_weights : bool
        Whether these come from the rule, so that the ensemble does not know them.
    source : Source or None
        The votes, and the samples if an ensemble was given, for the automatic size; it is not
        pickled.

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
        """The members that are kept.

        Parameters
        ----------
        keep : float, int, "auto" or "rule"
            How many: see :meth:`size`.

        Returns
        -------
        ndarray
            Their indices, best first.
        """
        size = self.size(keep)
        return (self.order[:size] if self.subsets is None else self.subsets[size - 1]).copy()

    def size(self, keep: Keep | Any) -> int:
        """How many members are kept.

        Parameters
        ----------
        keep : float, int, "auto" or "rule"
            A share of the members, up to 1.0; a number of members; ``"rule"``: the size that the
            ordering rule suggests; ``"auto"``: the size with the least cross-validated error.

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
                'rule="orientation", "clustering", "meta_tree" or BoostingBased(stop=True), or a '
                "share such as keep=0.2."
            )
        return self.own_size

    def size_choice(self, *, n_folds: int = 10) -> SizeChoice:
        """The automatic size, with the curve that it was read from.

        Parameters
        ----------
        n_folds : int, default=10
            Number of parts that the samples are cut into for the cross-validation.

        Returns
        -------
        SizeChoice
            Size, which is all members when a single sample tells nothing of it, and
            cross-validated error curve.
        """
        from orfeon.ordering.auto_size import choose_size

        if self.source is None:
            raise ValueError(
                'keep="auto" needs the votes, which this order no longer has; use order() on them.'
            )
        return choose_size(self.source, self.rule, n_folds=n_folds)

    @cached_property
    def _automatic(self) -> SizeChoice:
        """The automatic size, found once."""
        return self.size_choice()

    @property
    def suggestions(self) -> dict[str, int]:
        """Sizes by the way they are found.

        ``"fifth"`` is the usual share, ``"minimum"`` the least error on the selection samples,
        which comes far too early when the members were trained on them, ``"rule"`` the rule's own
        size if it has one, ``"auto"`` the cross-validated one.
        """
        sizes = {"fifth": self.size(FIFTH), "minimum": int(np.argmin(self.error_curve)) + 1}
        if self.own_size is not None:
            sizes["rule"] = self.own_size
        if self.source is not None:
            sizes["auto"] = self.size("auto")
        return sizes

    def test_curve(
        self,
        members_or_votes: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        no_vote: Any = None,
    ) -> Floats:
        """Error of the first 1, 2, ... members on other samples.

        Parameters
        ----------
        members_or_votes : array of shape (n_members, n_samples), or ensemble
            What the members say of them, in the members' own order: labels as in ``y``. Or the
            whole ensemble, with ``X``.
        X : array or data frame of shape (n_samples, n_features), optional
            The samples, when an ensemble is given.
        y : array of shape (n_samples,)
            Their labels or targets.
        sample_weight : array of shape (n_samples,), optional
            Their weights.
        no_vote : optional
            What stands for a member that does not vote.

        Returns
        -------
        ndarray of shape (n_members,)
            Errors.
        """
        task: Task | None = "classification" if self.n_classes else "regression"
        task = task if X is None else None
        read = read_source(
            members_or_votes, X, y, sample_weight, no_vote=no_vote, task=task
        ).selection
        if read.n_members != len(self):
            raise ValueError(
                f"members_or_votes has {read.n_members} members; {len(self)} were ordered."
            )
        return error_curve(read, self.order, self.subsets, self.member_weights)

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
        """The same order without the votes, for models that are kept.

        Returns
        -------
        Order
            Which knows no automatic size any more.
        """
        return replace(self, source=None)


def share_of(share: float, n_members: int) -> int:
    """A share of the members in whole members."""
    return max(1, int(np.floor(share * n_members + 0.5)))


def order(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    rule: str | Rule = "margin_distance",
    on: On = "train",
    sample_weight: Any = None,
    no_vote: Any = None,
    task: Task | None = None,
    **options: Any,
) -> Order:
    """Put the members of an ensemble in a better order.

    Parameters
    ----------
    members_or_votes : array of shape (n_members, n_samples), fitted ensemble or list of estimators
        What each member says of each selection sample; or the ensemble (of orfeon, or
        scikit-learn's bagging, forests, AdaBoost and voting), or fitted estimators, with ``X``.
    X : array or data frame of shape (n_samples, n_features), optional
        The selection samples, when an ensemble is given. Usually its training set. A Dask
        collection is read where it is: see :func:`orfeon.ordering.order_partitions`.
    y : array of shape (n_samples,)
        Labels or targets of the selection samples.
    rule : str or Rule, default="margin_distance"
        "reduce_error", "complementarity", "margin_distance", "orientation", "boosting_based",
        "individual_error", "kappa", "random", "meta_tree" or "clustering"; or a rule with its
        options. The first two, "individual_error" and "random" also order regressors.
    on : {"train", "out_of_bag"}, default="train"
        Whether all members vote on all samples, or only on those they were not trained on; then
        ``X``, ``y`` and ``sample_weight`` are the training set.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples: 0 is the same as leaving one out, 2 as giving it twice.
    no_vote : optional
        What stands in a matrix of votes for a member that does not vote.
    task : {"classification", "regression"}, optional
        For a matrix of votes; by default regression when ``y`` holds numbers with fractions.
    **options
        Options of the rule, such as ``p`` of "margin_distance". For a Dask collection also
        ``max_bytes`` and ``with_votes`` of :func:`orfeon.ordering.order_partitions`.

    Returns
    -------
    Order
        The permutation, its error curve, the rule's values and sizes.

    Examples
    --------
    >>> from orfeon import order
    >>> votes = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]]
    >>> ordered = order(votes, y=[0, 0, 0, 0], rule="reduce_error")
    >>> ordered.order, ordered.error_curve
    (array([3, 0, 2, 1]), array([0.25, 0.  , 0.25, 0.  ]))
    """
    if is_dask(X):
        from orfeon.ordering.partitioned import order_partitions, refuse_for_partitions

        refuse_for_partitions(on, no_vote, task)
        return order_partitions(
            members_or_votes, X, y, rule=rule, sample_weight=sample_weight, **options
        )
    chosen = as_rule(rule, **options)
    source = read_source(members_or_votes, X, y, sample_weight, on=on, no_vote=no_vote, task=task)
    return order_source(source, chosen)


def order_source(source: Source, rule: Rule) -> Order:
    """Order members whose votes were read."""
    selection = source.selection
    rule.check(is_regression=selection.is_regression)
    found = rule.arrange(selection)
    pass_on_warning(found)
    return _complete(found, rule, selection, source)


def pass_on_warning(found: Arrangement) -> None:
    """Tell the user what the rule has to say."""
    if found.warning is not None:
        warn_user(found.warning)


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


def order_chunks(
    chunks: Callable[[], Iterable[Any]] | Iterable[Any],
    *,
    rule: str | Rule = "margin_distance",
    no_vote: Any = None,
    **options: Any,
) -> Order:
    """Order members by samples that come in chunks, however many there are.

    The samples are gone through twice: for the sums that the rule needs, and for the error curve.
    The result is that of :func:`order` on all of them.

    Parameters
    ----------
    chunks : callable, or sequence of tuple
        ``(votes, y)`` or ``(votes, y, sample_weight)`` for some samples each, votes of shape
        (n_members, n_samples), weights that are whole numbers; or a function that gives them anew
        each time it is called, so that they need not be in memory together.
    rule : str or Rule, default="margin_distance"
        "margin_distance", which keeps a number for each pair of members, or "orientation".
    no_vote : optional
        What stands for a member that does not vote.
    **options
        Options of the rule.

    Returns
    -------
    Order
        The order.

    Examples
    --------
    >>> from orfeon.ordering import order_chunks
    >>> first = ([[0, 1], [0, 0], [1, 0]], [0, 0])
    >>> second = ([[1, 0, 0], [1, 1, 0], [0, 0, 1]], [0, 0, 0])
    >>> order_chunks([first, second]).order
    array([0, 2, 1])
    """
    chosen = as_rule(rule, **options)
    arrange = getattr(chosen, "arrange_sums", None)
    if arrange is None:
        raise ValueError(
            f"rule={chosen.name!r} needs all votes at once; margin_distance and orientation can "
            "order members by chunks."
        )
    if callable(chunks):
        again = chunks
    else:
        kept = list(chunks)
        again = partial(iter, kept)
    read = partial(read_selection, no_vote=no_vote, task="classification")
    gram = gram_of_chunks(again(), read, with_products=chosen.name == "margin_distance")
    found: Arrangement = arrange(gram)
    pass_on_warning(found)
    wrong = np.zeros(len(gram))
    classes: set[Any] = set()
    for selection in read_chunks(again(), read):
        wrong += error_curve(selection, found.order) * selection.total_weight
        classes.update(np.asarray(selection.classes).tolist())
    curve = np.rint(wrong) / gram.total_weight
    return Order(chosen, found.order, found.criterion, curve, len(classes), found.own_size)
