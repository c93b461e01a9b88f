"""Why a model of trees decided as it did: its members, their paths, its samples, and what if."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from orfeon.inspection.counterfactuals import Counterfactual, counterfactual
from orfeon.inspection.neighbourhood import _one_row, row_weights
from orfeon.inspection.shapley import shap_values
from orfeon.inspection.tree_sum_types import NoTreeSumError, TreeSum
from orfeon.inspection.tree_sums import additive_output
from orfeon.members import unpruned
from orfeon.rendering.numbers import number_text
from orfeon.utils.text import listed
from orfeon.utils.types import Floats

#: Features, samples and members that are written out, at most.
_FEATURES, _SAMPLES = 5, 3


@dataclass(frozen=True)
class Reason:
    """How a feature contributed to a decision.

    Parameters
    ----------
    name : str
        The feature.
    value : object
        Its value in the row.
    effect : float
        Its Shapley value, for the decision.
    n_members : int
        Members that test it on the row's path.
    low, high : float
        While it stays above ``low`` and up to ``high``, and the other features as they are, no path
        changes; infinite where there is no limit, and NaN for a category.
    """

    name: str
    value: Any
    effect: float
    n_members: int
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.name} = {_text(self.value)}: {self.effect:+.3g}, {self._range()}"

    def _range(self) -> str:
        if self.low != self.low:
            return "a category"
        if self.low == -np.inf and self.high == np.inf:
            return "on no path"
        if self.low == -np.inf:
            return f"no path changes up to {number_text(self.high)}"
        if self.high == np.inf:
            return f"no path changes above {number_text(self.low)}"
        return f"no path changes from {number_text(self.low)} to {number_text(self.high)}"


@dataclass(frozen=True, eq=False)
class Why:
    """The reasons of one decision.

    Parameters
    ----------
    decision : object
        The class, or the number, that the model predicts.
    output, expected : float
        The output for the decision, and what it was before any feature was known; they differ by
        the sum of all effects.
    what : str
        What the output is.
    votes : dict or None
        Members that vote for each class; None where members do not vote.
    member_votes : ndarray of shape (n_members,) or None
        The class that each member votes for.
    reasons : tuple of Reason
        All features on some path, the largest effect first.
    n_members : int
        Number of members.
    samples : tuple of (int, object, float)
        Index, class or target, and weight of the training samples that weigh most; empty without
        a training set.
    nearest : Counterfactual or None
        A small change that would change the decision.
    """

    decision: Any
    output: float
    expected: float
    what: str
    votes: dict[Any, int] | None
    member_votes: npt.NDArray[Any] | None
    reasons: tuple[Reason, ...]
    n_members: int
    samples: tuple[tuple[int, Any, float], ...] = ()
    nearest: Counterfactual | None = None

    def members_for(self, name: Any) -> npt.NDArray[np.int64]:
        """Members that vote for a class.

        Parameters
        ----------
        name : object
            The class.

        Returns
        -------
        ndarray of int
            Their indices.
        """
        if self.member_votes is None:
            raise ValueError(f"members do not vote for a {self.what}.")
        return np.flatnonzero(self.member_votes == name)

    def _sentences(self) -> list[tuple[str, list[str]]]:
        """Headings, and the lines below them."""
        if self.votes is None:
            first = f"Decision: {_text(self.decision)} ({self.what} {self.output:.3g})"
            lines = []
        else:
            first = f"Decision: {_text(self.decision)}"
            counts = sorted(self.votes.items(), key=lambda pair: -pair[1])
            voted = listed(f"{count} for {_text(name)}" for name, count in counts if count)
            lines = [f"{self.n_members} members vote: {voted}"]
        found = [(first, lines)]
        effects = [
            f"{one}; tested by {one.n_members} of {self.n_members}"
            for one in self.reasons[:_FEATURES]
        ]
        head = f"From {self.expected:.3g} (expected {self.what}) to {self.output:.3g}"
        found.append((head, effects))
        if self.samples:
            lines = [
                f"row {row} ({_text(label)}): {100 * weight:.1f}%"
                for row, label, weight in self.samples[:_SAMPLES]
            ]
            found.append(("Training samples that weigh most", lines))
        if self.nearest is not None:
            kind = "Nearest change" if self.nearest.is_nearest else "A small change"
            found.append((f"{kind} that decides otherwise", [str(self.nearest)]))
        return found

    def __repr__(self) -> str:
        lines = []
        for head, below in self._sentences():
            lines += [head, *(f"  {line}" for line in below)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = []
        for head, below in self._sentences():
            items = "".join(f"<li>{escape(line)}</li>" for line in below)
            parts.append(f"<p><b>{escape(head)}</b></p>" + (f"<ul>{items}</ul>" if items else ""))
        return f"<div>{''.join(parts)}</div>"


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, str | bool | np.bool_):
        return str(value)
    return number_text(float(value))


def why(
    model: Any,
    row: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: Any = None,
    fixed: Any = (),
) -> Why:
    """Explain the decision of a tree or an ensemble of trees for a row.

    Parameters
    ----------
    model : estimator
        Fitted, as for :func:`shap_values`.
    row : array of shape (n_features,), or data frame of one row
        The row.
    X, y, sample_weight : optional
        The training set, as given to ``fit``: then the samples that weigh most are named, for
        models of orfeon that average or vote, and X gives the scales of the features.
    target, fixed : optional
        The class of the counterfactual, and features that it must not change.

    Returns
    -------
    Why
        Numbers, which print as sentences and show as a list in notebooks.

    See Also
    --------
    shap_values : The effects for many rows.
    row_weights : The weights of all training samples.
    counterfactual : How the other decision is found.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.inspection import why
    >>> given = load_iris(as_frame=True)
    >>> X, y = given.data, given.target_names[given.target]
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> found = why(forest, X.iloc[[70]], X, y)
    >>> found.decision, found.votes["versicolor"] > 60, found.reasons[0].name
    ('versicolor', True, 'petal length (cm)')
    >>> found.nearest.after
    'virginica'
    """
    one = _one_row(row)
    described = additive_output(model, "auto", one)
    values = shap_values(model, one)
    decision = np.asarray(model.predict(one))[0]
    of_decision = values
    sign = 1.0
    if values.n_outputs > 1:
        of_decision = values.for_class(_plain(decision))
    elif described.classes is not None and decision != described.classes[0]:
        sign = -1.0  # a score below 0 is for the first class
    effects = sign * of_decision.values[0]
    member_votes = _member_votes(model, one) if is_classifier(model) else None
    votes = None
    if member_votes is not None:
        names, counts = np.unique(member_votes, return_counts=True)
        votes = dict(zip(names.tolist(), counts.tolist(), strict=True))
    n_members = sum(len(part.forest) for part in described.parts)
    reasons = _reasons(described, one, values.data[0], effects)
    nearest = None
    if is_classifier(model) and len(model.classes_) > 1:
        try:
            nearest = counterfactual(model, one, target=target, X=X, fixed=fixed)
        except NoTreeSumError:  # the trees do not test the features themselves
            if target is not None:
                raise
    return Why(
        _plain(decision), sign * float(of_decision.outputs[0]),
        sign * float(of_decision.base_values), described.what, votes, member_votes, reasons,
        n_members, _samples(model, one, X, y, sample_weight), nearest,
    )  # fmt: skip


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _member_votes(model: Any, one: Any) -> npt.NDArray[Any] | None:
    """The class that each member votes for; None where there are no members that vote."""
    from orfeon.members import adapt

    try:
        members = adapt(model)
        codes = members.answers(one)[:, 0]
    except (TypeError, ValueError):
        return None
    return None if members.classes is None else np.asarray(members.classes)[codes]


def _samples(model: Any, one: Any, X: Any, y: Any, weights: Any) -> Any:
    """The training samples that weigh most."""
    from orfeon.ensembles.voting import AveragingRegressorMixin, VotingClassifierMixin
    from orfeon.trees.base import BaseTree

    averages = isinstance(
        unpruned(model), BaseTree | VotingClassifierMixin | AveragingRegressorMixin
    )
    if X is None or y is None or not averages:
        return ()
    try:
        found = row_weights(model, X, y, one, sample_weight=weights)
    except TypeError:  # its members are not trees of orfeon
        return ()
    order = np.argsort(-found.weights, kind="stable")[:20]
    return tuple(
        (int(k), _plain(found.y[k]), float(found.weights[k])) for k in order if found.weights[k] > 0
    )


def _reasons(
    described: Any, one: Any, given: npt.NDArray[Any], effects: Floats
) -> tuple[Reason, ...]:
    """The features on the paths of a row."""
    d = described.n_features
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    counts = np.zeros(d, np.int64)
    for part in described.parts:
        _follow_paths(part, part.encode(one), low, high, counts)
    order = np.argsort(-np.abs(effects), kind="stable")
    has_steps = len(given) != d
    return tuple(
        Reason(
            described.names[j], None if has_steps else _plain(given[j]), float(effects[j]),
            int(counts[j]), float(low[j]), float(high[j]),
        )
        for j in order
        if counts[j] > 0
    )  # fmt: skip


def _follow_paths(part: TreeSum, row: Floats, low: Floats, high: Floats, counts: Any) -> None:
    """Narrow the ranges in which no path changes, and count the trees that test a feature."""
    forest = part.forest
    tested = np.zeros((len(forest), len(low)), bool)
    parent = forest.parents()
    tree = np.arange(len(forest))
    at = forest.apply(row)[0] + forest.tree_start[:-1]
    while len(at):
        above = parent[at]
        inside = above >= 0
        at, above, tree = at[inside], above[inside], tree[inside]
        column = forest.feature[above]
        player = np.asarray(part.players)[column]
        tested[tree, player] = True
        second = at - (above - forest._relative(above)) != forest.first_child[above]
        cut = forest.threshold[above]
        ordered = (forest.n_categories[column] == 0) & ~np.isnan(row[0, column])
        own = np.asarray(part.players)[np.minimum(column, len(part.players) - 1)] == column
        np.maximum.at(low, player[ordered & second & own], cut[ordered & second & own])
        np.minimum.at(high, player[ordered & ~second & own], cut[ordered & ~second & own])
        unordered = player[~ordered | ~own]
        low[unordered] = high[unordered] = np.nan
        at = above
    counts += tested.sum(axis=0)
