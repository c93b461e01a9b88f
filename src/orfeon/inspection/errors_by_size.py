"""Error against the number of members: on training, test and out-of-bag samples, ordered or not.

Bagging's members come in random order, and the error falls and flattens as they are added. In a
better order it falls faster, drops below the error of all members, and rises back to it at the end.

References
----------
Martínez-Muñoz, Hernández-Lobato and Suárez (2009). An analysis of ensemble pruning techniques based
on ordered aggregation. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
245-259.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from orfeon.inspection.reading import (
    Orders,
    as_order,
    check_members,
    named_orders,
    read_answers,
    read_orders,
)
from orfeon.members.protocol import NoOutOfBagError
from orfeon.members.vote_input import Source
from orfeon.members.votes import Selection, Task, whole_weights
from orfeon.ordering.order_type import Order
from orfeon.ordering.rule import error_curve, trivial_errors
from orfeon.utils.seeding import RandomState, seed_sequence
from orfeon.utils.types import Floats, Integers

On = str

#: The first samples, if members may not have been trained on them.
THESE = "these samples"

#: Names of the orders that no rule made.
OWN, RANDOM = "own order", "random order"
_WHAT = "error curves"


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The error of the first 1, 2, ... members.

    Parameters
    ----------
    name : str
        The order of the members, or the ensemble.
    on : str
        The samples: "training", "out-of-bag", "test", "these samples" if it is unknown whether
        members were trained on them, or a name of your own.
    errors : ndarray of shape (n_members,)
        Error rate, or mean squared error. Samples on which none of the members votes yet are left
        out; NaN if that leaves none.
    spread : ndarray of shape (n_members,), optional
        Standard deviation over several random orders, of which ``errors`` is the mean.
    is_ordered : bool, default=False
        Whether the members were reordered.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import ErrorCurve
    >>> curve = ErrorCurve("margin distance", "test", np.array([0.3, 0.1, 0.2]))
    >>> curve.best_size, curve.least, curve.whole
    (2, 0.1, 0.2)
    """

    name: str
    on: On
    errors: Floats
    spread: Floats | None = None
    is_ordered: bool = False

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def best_size(self) -> int:
        """The smallest number of members with the lowest error."""
        return int(np.nanargmin(self.errors)) + 1

    @property
    def least(self) -> float:
        """The lowest error."""
        return float(np.nanmin(self.errors))

    @property
    def whole(self) -> float:
        """The error of all members."""
        return float(self.errors[-1])


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """Error curves of one or more orders or ensembles.

    Parameters
    ----------
    curves : tuple of ErrorCurve
        The curves.
    is_regression : bool
        Whether errors are mean squared errors.

    Examples
    --------
    >>> from orfeon.inspection import error_curves
    >>> votes = [[0, 1, 1], [0, 1, 1], [1, 0, 0]]
    >>> found = error_curves(votes, y=[0, 0, 0], orders="reduce_error")
    >>> [(curve.name, curve.on) for curve in found]
    [('own order', 'these samples'), ('reduce error', 'these samples')]
    >>> found["reduce error", "these samples"].errors.round(2)
    array([0.33, 0.  , 0.67])
    """

    curves: tuple[ErrorCurve, ...]
    is_regression: bool = False

    def __iter__(self) -> Iterator[ErrorCurve]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    def __getitem__(self, name_and_on: tuple[str, On]) -> ErrorCurve:
        for curve in self.curves:
            if (curve.name, curve.on) == name_and_on:
                return curve
        there = [(curve.name, curve.on) for curve in self.curves]
        raise KeyError(f"{name_and_on!r} is not among the curves {there}")


def error_curves(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    votes_test: Any = None,
    sample_weight: Any = None,
    sample_weight_test: Any = None,
    orders: Orders | None = None,
    n_random_orders: int = 0,
    random_state: RandomState = None,
    out_of_bag: bool | None = None,
    no_vote: Any = None,
    task: Task | None = None,
    staged: bool | None = None,
    name: str | None = None,
) -> ErrorCurves:
    """Error of the first 1, 2, ... members on training, out-of-bag and test samples.

    Parameters
    ----------
    members_or_votes : array of shape (n_members, n_samples), fitted ensemble or list of estimators
        Predictions of each member for each training sample; or the ensemble, of orfeon or
        scikit-learn, with ``X``.
    X : array or data frame of shape (n_samples, n_features), optional
        The training samples, for an ensemble.
    y : array of shape (n_samples,)
        Their labels or targets.
    X_test, y_test : optional
        Test samples; without them there is no test curve.
    votes_test : array of shape (n_members, n_test_samples), optional
        Instead of ``X_test``, with a matrix of votes.
    sample_weight, sample_weight_test : array, optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.
    orders : dict, sequence, str, Rule or Order, optional
        Orders to compare with the members' own: rules, which order them on the training samples,
        :class:`orfeon.ordering.Order` objects, or permutations. A dict names them.
    n_random_orders : int, default=0
        Above 0, a curve with the mean and standard deviation over this many random orders is
        added beside the members' own order.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random orders.
    out_of_bag : bool, optional
        Whether to add an out-of-bag curve, of votes on training samples that members did not see.
        By default it is added if the samples are recognised as the training set. Members of
        scikit-learn's ensembles other than its trees do not keep what they were trained on: there
        True means that you know it is the training set.
    no_vote, task
        As for :func:`orfeon.order`, for a matrix of votes.
    staged : bool, optional
        Whether to use the ensemble's own ``staged_predict`` instead of a vote or mean of its
        members. By default only if members cannot predict on their own, as in gradient boosting;
        then there are no other orders and no out-of-bag curve.
    name : str, optional
        What the samples of ``X``, or of the votes, are called. By default "training" if an
        ensemble of orfeon was fitted to them or there are test samples, otherwise "these samples".

    Returns
    -------
    ErrorCurves
        The curves; those of the members' own order first, then those of random orders.

    Notes
    -----
    Without ``staged``, errors are those of the plain vote or mean of the members, weighted in
    boosting. Ensembles that combine them otherwise, such as scikit-learn's forests, which average
    probabilities, may predict differently for some samples.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import error_curves
    >>> X, y = make_waveform(1300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0)
    >>> bag = bag.fit(X[:300], y[:300])
    >>> found = error_curves(
    ...     bag, X[:300], y[:300], X[300:], y[300:], orders="margin_distance", random_state=0
    ... )
    >>> ordered = found["margin distance", "test"]
    >>> ordered.best_size < 50, ordered.least < ordered.whole
    (True, True)
    """
    if (X_test is not None or votes_test is not None) != (y_test is not None):
        raise ValueError("y_test goes with X_test or votes_test: give both or neither.")
    if name is None:
        name = _called(members_or_votes, X, y, sample_weight, y_test is not None)
    if _decides_by_stages(members_or_votes, staged):
        if y is None or X is None:
            raise ValueError(f"{'y' if y is None else 'X'} is missing: {_WHAT} need samples.")
        _refuse_beside_stages(orders, n_random_orders, out_of_bag)
        return _staged_curves(
            members_or_votes,
            (name, X, y, sample_weight),
            ("test", X_test, y_test, sample_weight_test),
        )
    source = read_answers(
        members_or_votes, X, y, sample_weight, what=_WHAT, no_vote=no_vote, task=task
    )
    seen: list[tuple[On, Selection]] = [(name, source.selection)]
    left_out = _left_out(source, out_of_bag)
    if left_out is not None:
        seen.append(("out-of-bag", left_out))
    if y_test is not None:
        queried = members_or_votes if votes_test is None else votes_test
        of_votes: Task = "regression" if source.selection.is_regression else "classification"
        test = read_answers(
            queried, X_test, y_test, sample_weight_test, what=_WHAT, no_vote=no_vote,
            task=of_votes if X_test is None else None,
        ).selection  # fmt: skip
        check_members(test.n_members, source.selection.n_members, "votes_test")
        seen.append(("test", test))
    return _all_curves(seen, read_orders(orders, source), n_random_orders, random_state)


def curves_of_orders(
    orders: Orders,
    members_or_votes: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    no_vote: Any = None,
    n_random_orders: int = 0,
    random_state: RandomState = None,
) -> ErrorCurves:
    """Error curves of existing orders.

    Parameters
    ----------
    orders : dict of str to Order, sequence of Order, or Order
        Orders of the same members. Their error curves on the selection samples are the training
        curves.
    members_or_votes, X, y, sample_weight, no_vote : optional
        Test samples, as for :meth:`orfeon.ordering.Order.test_curve`; without them there are no
        test curves.
    n_random_orders : int, default=0
        As for :func:`error_curves`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random orders.

    Returns
    -------
    ErrorCurves
        The curves; those of the members' own order first, if the votes are known.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> from orfeon.inspection import curves_of_orders
    >>> votes = [[0, 1, 1], [0, 1, 1], [1, 0, 0]]
    >>> greedy = order_votes(votes, [0, 0, 0], rule="reduce_error")
    >>> [(curve.name, curve.best_size) for curve in curves_of_orders({"greedy": greedy})]
    [('own order', 1), ('greedy', 2)]
    """
    named = {name: as_order(one) for name, one in named_orders(orders).items()}
    if not named:
        raise ValueError("orders is empty; give at least one Order.")
    curves: list[ErrorCurve] = []
    sources = [order.source for order in named.values() if order.source is not None]
    if sources:
        before: list[tuple[On, Selection]] = [("training", sources[0].selection)]
        curves += _all_curves(before, {}, n_random_orders, random_state)
    curves += [ErrorCurve(n, "training", o.error_curve, None, True) for n, o in named.items()]
    is_regression = all(order.n_classes == 0 for order in named.values())
    if members_or_votes is not None or y is not None:
        of_votes: Task = "regression" if is_regression else "classification"
        test = read_answers(
            members_or_votes, X, y, sample_weight, what=_WHAT, no_vote=no_vote,
            task=of_votes if X is None else None,
        ).selection  # fmt: skip
        for order in named.values():
            check_members(len(order), test.n_members, "orders")
        curves += _all_curves([("test", test)], named, n_random_orders, random_state)
    return ErrorCurves(tuple(curves), is_regression)


def _called(given: Any, X: Any, y: Any, sample_weight: Any, has_others: bool) -> On:
    """Name of the first samples, which are called training samples only if that is known."""
    from orfeon.ensembles.ensemble import was_trained_on
    from orfeon.members import unpruned

    if has_others or (X is not None and was_trained_on(unpruned(given), X, y, sample_weight)):
        return "training"
    return THESE


def _left_out(source: Source, wanted: bool | None) -> Selection | None:
    """The votes on samples that members did not see, if wanted and known."""
    if wanted is False or not source.selection.is_complete:
        return None
    if wanted and source.find_left_out is None:
        raise ValueError(
            "out_of_bag=True needs an ensemble; in a matrix of votes use no_vote= for entries on "
            "samples that the member was trained on."
        )
    if wanted and source.find_left_out is not None:
        try:
            source.find_left_out()
        except NoOutOfBagError as error:
            raise ValueError(f"out_of_bag=True is not allowed: {error.what}.") from error
        source = replace(source, was_trained_on=True)  # according to the user
    return source.left_out


def _all_curves(
    seen: list[tuple[On, Selection]],
    orders: Mapping[str, Order],
    n_random_orders: int,
    random_state: RandomState,
) -> ErrorCurves:
    """Curves of all orders on all samples; the members' own and random ones come first."""
    if n_random_orders < 0:
        raise ValueError(f"n_random_orders={n_random_orders} is not allowed; it must be 0 or more.")
    n_members = seen[0][1].n_members
    generator = np.random.default_rng(seed_sequence(random_state))
    drawn = [generator.permutation(n_members) for _ in range(n_random_orders)]
    own = np.arange(n_members)
    curves = [ErrorCurve(OWN, on, _curve(selection, own)) for on, selection in seen]
    for on, selection in seen if drawn else ():
        each = np.array([_curve(selection, one) for one in drawn])
        curves.append(ErrorCurve(RANDOM, on, each.mean(axis=0), each.std(axis=0)))
    for name, order in orders.items():
        curves += [ErrorCurve(name, on, _ordered(order, seen_), None, True) for on, seen_ in seen]
    return ErrorCurves(tuple(curves), seen[0][1].is_regression)


def _ordered(order: Order, selection: Selection) -> Floats:
    weights = order.member_weights if order.has_own_weights else None
    return _curve(selection, order.order, order.subsets, weights)


def _curve(
    selection: Selection,
    order: Integers,
    subsets: Sequence[Integers] | None = None,
    member_weights: Floats | None = None,
) -> Floats:
    """Error of the first members on the samples on which one of them votes."""
    errors = error_curve(selection, order, subsets, member_weights)
    if selection.is_complete:
        return errors
    # Samples without a vote were counted as wrong, or predicted by the mean: remove them.
    silent = _silence(selection, order if subsets is None else None, subsets)
    lost = trivial_errors(selection) if selection.is_regression else np.ones(selection.n_samples)
    total = selection.total_weight
    answered = total - silent @ selection.weights
    wrong = errors * total - silent @ (lost * selection.weights)
    if not selection.is_regression:
        wrong = np.rint(wrong)
    nothing = np.full(len(answered), np.nan)
    return np.asarray(np.divide(wrong, answered, out=nothing, where=answered > 0))


def _silence(
    selection: Selection, order: Integers | None, subsets: Sequence[Integers] | None
) -> npt.NDArray[np.bool_]:
    """At each size, the samples on which none of the members votes."""
    if order is not None:
        return np.asarray(~np.logical_or.accumulate(selection.answered[order], axis=0))
    return np.array([~selection.answered[some].any(axis=0) for some in subsets or ()])


# -- ensembles whose members do not predict on their own -------------------------------------------


def _decides_by_stages(given: Any, staged: bool | None) -> bool:
    can = hasattr(given, "staged_predict")
    if staged and not can:
        raise ValueError(
            f"staged=True needs an ensemble with staged_predict, got {type(given).__name__}."
        )
    if staged is not None or not can:
        return bool(staged)
    from orfeon.members import adapt

    try:
        adapt(given)
    except TypeError:  # its members cannot be queried individually
        return True
    return False


def _refuse_beside_stages(orders: Any, n_random_orders: int, out_of_bag: bool | None) -> None:
    for name, value in (
        ("orders", orders), ("n_random_orders", n_random_orders), ("out_of_bag", out_of_bag)
    ):  # fmt: skip
        if value:
            raise ValueError(
                f"{name}={value!r} is not allowed here: the ensemble predicts stage by stage, and "
                "its members do not predict on their own."
            )


def _staged_curves(ensemble: Any, *samples: tuple[On, Any, Any, Any]) -> ErrorCurves:
    curves = tuple(
        ErrorCurve(OWN, on, _staged_errors(ensemble, X, y, sample_weight))
        for on, X, y, sample_weight in samples
        if y is not None
    )
    return ErrorCurves(curves, not is_classifier(ensemble))


def _staged_errors(ensemble: Any, X: Any, y: Any, sample_weight: Any) -> Floats:
    y_true = column_or_1d(y)
    weights = whole_weights(sample_weight, len(y_true))[0]
    counts = weights > 0
    y_true, weights = y_true[counts], weights[counts]
    errors = []
    for answers in ensemble.staged_predict(X):
        if len(answers) != len(counts):
            raise ValueError(f"X has {len(answers)} rows and y has {len(counts)} values.")
        kept = np.asarray(answers)[counts]
        lost = kept != y_true if is_classifier(ensemble) else (kept - y_true) ** 2
        errors.append(lost @ weights / weights.sum())
    return np.array(errors, dtype=np.float64)
