"""The base of ordering rules, the rules by name, and what they share: error curves, ties, texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.utils import documentation, saved
from orfeon.utils.jit import kernel_view
from orfeon.utils.registry import RuleNames
from orfeon.utils.types import Floats, Integers

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
    "early_stopping": ("early_stopping", "EarlyStopping"),
    "kl_divergence": ("kl_divergence", "KLDivergence"),
    "kappa_hull": ("kappa_hull", "KappaHull"),
    "gasen": ("gasen", "GASEN"),
    "output_clustering": ("output_clustering", "OutputClustering"),
    "utility": ("utility", "Utility"),
}
#: Names of the rules.
ORDERING_RULES = tuple(_HOMES)
_NAMES: RuleNames[Rule] = RuleNames("orfeon.ordering", _HOMES)
#: Numbers that differ by less than this, relative to their size, differ by rounding only.
TOLERANCE = 1e-12

#: Texts of parameters that several functions share.
_TEXTS = {
    "ensemble": """
    ensemble : fitted ensemble, or list of fitted estimators
        An ensemble of orfeon; scikit-learn's bagging, random forests, extra-trees, AdaBoost and
        voting; a pipeline that ends in one of these; or fitted classifiers or regressors. It is not
        modified.
""",
    "votes": """
    votes : array of shape (n_members, n_samples)
        Label that each member votes for, or its prediction, on each selection sample.
""",
    "y_of_votes": """
    y : array of shape (n_samples,)
        True labels or targets of the selection samples.
""",
    "rule": """
    rule : str or Rule, default="margin_distance"
        "reduce_error", "complementarity", "margin_distance", "orientation", "boosting_based",
        "individual_error", "kappa", "kappa_hull", "kl_divergence", "early_stopping", "gasen",
        "utility", "random", "meta_tree", "clustering" or "output_clustering"; or a rule with its
        options. Regressors can be ordered by the first two, "individual_error", "early_stopping",
        "gasen", "utility", "output_clustering" (which orders nothing else) and "random".
""",
    "keep": """
    keep : float, int, "auto", "rule" or array of int, default=0.2
        A share of the members; their number; ``"auto"``, the size with the lowest cross-validated
        error; ``"rule"``, the size that the rule suggests; or the members themselves, such as a
        subset that a search found. Where all members were trained on all samples, as in
        class-switching, or where it is not known on which, as in scikit-learn's bagging of
        estimators other than trees, ``"auto"`` keeps too few members unless ``X`` was set aside.
""",
    "on": """
    on : {"train", "out_of_bag"}, default="train"
        Whether all members vote on all samples, or only on those they were not trained on; then
        ``X``, ``y`` and ``sample_weight`` must be the training set.
""",
    "sample_weight": """
    sample_weight : array of shape (n_samples,), optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.
""",
    "no_vote": """
    no_vote : optional
        The entry of ``votes`` that marks a missing vote.
""",
    "task": """
    task : {"classification", "regression"}, optional
        By default regression when ``y`` holds numbers with fractions.
""",
}

#: Fills the shared texts into the docstring of a function.
documented = documentation.documented(_TEXTS)


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The order that a rule finds.

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
        The size that the rule suggests.
    member_weights : ndarray of shape (n_members,), optional
        Weights of the votes, in the order of ``order``, where the rule sets them.
    error_curve : ndarray of shape (n_members,), optional
        Error of the members kept at sizes 1, 2, ..., where the rule has computed it.
    warning : str, optional
        A message for the user. Rules do not warn themselves: they run many times, and in threads.

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
    """A way to order members; its fields are its options.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from orfeon.ordering import Arrangement, Rule, order_votes
    >>> @dataclass(frozen=True)
    ... class LastFirst(Rule):
    ...     name = "last_first"
    ...     def arrange(self, selection):
    ...         n_members = selection.n_members
    ...         return Arrangement(np.arange(n_members)[::-1], np.zeros(n_members))
    >>> order_votes([[0, 1], [0, 0], [1, 0]], [0, 0], rule=LastFirst()).order
    array([2, 1, 0])
    """

    #: Its name.
    name: ClassVar[str]
    #: Whether it can order members that predict numbers.
    for_regression: ClassVar[bool] = False
    #: Whether it can order members that vote for classes.
    for_classification: ClassVar[bool] = True

    @abstractmethod
    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members by their votes on the selection samples."""

    def check(self, *, is_regression: bool) -> None:
        """Reject members that the rule cannot order."""
        if not is_regression and not self.for_classification:
            able = ", ".join(n for n in ORDERING_RULES if _NAMES.kind(n).for_classification)
            raise ValueError(
                f"rule={self.name!r} needs members that predict numbers, and these vote for "
                f"classes; rules for classification are {able}."
            )
        if is_regression and not self.for_regression:
            able = ", ".join(n for n in ORDERING_RULES if _NAMES.kind(n).for_regression)
            raise ValueError(
                f"rule={self.name!r} needs classes, and these members predict numbers; rules for "
                f"regression are {able}."
            )


def check_switches(rule: Rule, *names: str) -> None:
    """Reject options of a rule that are not booleans."""
    for name in names:
        value = getattr(rule, name)
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={value!r} is not allowed; use True or False.")


def as_rule(rule: str | Rule, **options: Any) -> Rule:
    return _NAMES.rule(rule, Rule, options)


def first_appearances(subsets: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The members in the order in which they first appear in growing subsets."""
    members, place = np.unique(np.concatenate(subsets), return_index=True)
    return np.asarray(members[np.argsort(place)])


def first_of_least(values: npt.NDArray[np.float64], allowed: npt.NDArray[np.bool_]) -> int:
    """Index of the smallest allowed value, the first one in a tie."""
    index = np.flatnonzero(allowed)
    some = values[index]
    least = some.min()
    return int(index[np.argmax(some <= least + TOLERANCE * abs(least))])


# -- error curves ----------------------------------------------------------------------------------


def kernel_arrays(selection: Selection) -> tuple[npt.NDArray[Any], ...]:
    """Votes, labels, weights and vote weights for the kernels, and room for the scores."""
    return (
        kernel_view(np.ascontiguousarray(selection.answers, dtype=np.int32)),
        kernel_view(np.ascontiguousarray(selection.y, dtype=np.int64)),
        kernel_view(np.ascontiguousarray(selection.weights)),
        kernel_view(np.ascontiguousarray(selection.vote_weights)),
        np.zeros((selection.n_samples, selection.n_classes)),
    )


def error_curve(
    selection: Selection,
    order: Integers,
    subsets: Sequence[Integers] | None = None,
    member_weights: Floats | None = None,
) -> Floats:
    """Error of the first 1, 2, ... members.

    Parameters
    ----------
    selection : Selection
        The votes.
    order : ndarray of shape (n_members,)
        The members, in order.
    subsets : sequence of ndarray, optional
        The members kept at each size, where they are not the first ones of the order.
    member_weights : ndarray of shape (n_members,), optional
        Weights of the votes in the order of ``order``; by default those of the selection.

    Returns
    -------
    ndarray of shape (n_members,)
        Weighted share of the samples on which the vote is wrong, or the mean squared error of the
        mean prediction. A sample without votes counts as wrong; in regression its prediction is the
        mean target.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.ordering import error_curve, read_selection
    >>> votes = [[0, 1, 1], [0, 0, 1], [1, 0, 1]]
    >>> error_curve(read_selection(votes, [0, 0, 1]), np.array([0, 1, 2])).round(2)
    array([0.33, 0.  , 0.  ])
    """
    if member_weights is not None:
        own = np.empty(selection.n_members)
        own[order] = member_weights
        selection = replace(selection, member_weights=own)
    if selection.is_regression:
        if subsets is not None:
            return np.array([_squared_error_curve(selection, s)[-1] for s in subsets])
        return _squared_error_curve(selection, order)
    if subsets is not None:
        return _error_of_subsets(selection, subsets)
    votes, y, weights, vote_weights, score = kernel_arrays(selection)
    wrong = np.empty(len(order), np.int64)
    kernels.vote_curve(votes, order.astype(np.int64), y, weights, vote_weights, score, wrong)
    return np.asarray(wrong / selection.total_weight)


def _error_of_subsets(selection: Selection, subsets: Sequence[Integers]) -> Floats:
    """Errors of subsets, each computed from the members that differ from the subset before."""
    everyone = np.arange(selection.n_samples)
    score = np.zeros((selection.n_samples, selection.n_classes))
    wrong = np.empty(len(subsets))
    before: Integers = np.zeros(0, np.int64)
    answered, vote_weights = selection.answered, selection.vote_weights
    for u, subset in enumerate(subsets):
        gone, come = np.setdiff1d(before, subset), np.setdiff1d(subset, before)
        for members, sign in ((gone, -1.0), (come, 1.0)):
            for t in members:
                voted = everyone[answered[t]]
                score[voted, selection.answers[t, voted]] += sign * vote_weights[t]
        decided = np.where(score.max(axis=1) > 0, score.argmax(axis=1), -1)
        wrong[u] = (decided != selection.y) @ selection.weights
        before = subset
    return wrong / selection.total_weight


def trivial_errors(selection: Selection) -> Floats:
    """Squared error of each sample when the mean target is predicted."""
    mean = np.average(selection.y, weights=selection.weights)
    return np.asarray((mean - selection.y) ** 2)


def _squared_error_curve(selection: Selection, order: Integers) -> Floats:
    sums, counts = np.zeros(selection.n_samples), np.zeros(selection.n_samples)
    losses = trivial_errors(selection)
    curve = np.empty(len(order))
    for u, t in enumerate(order):
        known = selection.answered[t]
        weight = selection.vote_weights[t]
        sums[known] += weight * selection.answers[t, known]
        counts[known] += weight
        decided = counts > 0
        losses[decided] = (sums[decided] / counts[decided] - selection.y[decided]) ** 2
        curve[u] = losses @ selection.weights / selection.total_weight
    return curve
