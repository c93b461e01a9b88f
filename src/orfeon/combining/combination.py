"""Any rule over any members: an ensemble, fitted estimators, or a matrix of votes or supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import column_or_1d

from orfeon.base import class_codes
from orfeon.data.training_set import check_length
from orfeon.ensembles.decision import only_left_out
from orfeon.ensembles.ensemble import was_trained_on
from orfeon.members import Members, adapt
from orfeon.members.vote_input import (
    On,
    checked_on,
    codes_of_labels,
    is_deprecated_matrix,
    without_vote_options,
)
from orfeon.members.votes import (
    NO_VOTE,
    Task,
    has_fractions,
    read_matrix,
    read_selection,
    whole_weights,
)
from orfeon.rules.decider import Decider
from orfeon.rules.rule import CombiningRule, as_combining_rule
from orfeon.utils import saved
from orfeon.utils.scikit_learn import _num_samples, _safe_indexing
from orfeon.utils.types import Floats

#: Votes or supports that are held at once.
_ANSWERS = 1 << 23


@saved.attributes(
    rule=saved.subclass("CombiningRule"),
    decider=saved.subclass("CombiningRule", "Decider"),
    classes=saved.one_of(saved.none, saved.labels),
    ensemble=saved.anything,
    no_vote=saved.one_of(saved.none, saved.label),
)
@dataclass(frozen=True, eq=False)
class Combination:
    """The votes of members, combined by a rule that has learnt what it needs.

    Parameters
    ----------
    rule : CombiningRule
        The rule.
    decider : Decider
        What the rule has learnt, such as weights.
    classes : ndarray or None
        The classes, sorted; None in regression.
    ensemble : Members, optional
        The members that vote on rows; without them, votes are given instead of rows.
    no_vote : optional
        The entry of a matrix of votes that marks a missing vote.

    Examples
    --------
    >>> from orfeon.combining import combine_votes
    >>> votes = [["ill", "well", "ill"], ["ill", "well", "well"], ["ill", "ill", "well"]]
    >>> jury = combine_votes(votes)
    >>> jury.predict(votes), jury.classes
    (array(['ill', 'well', 'well'], dtype='<U4'), array(['ill', 'well'], dtype='<U4'))
    """

    rule: CombiningRule
    decider: Decider
    classes: npt.NDArray[Any] | None
    ensemble: Members | None = None
    no_vote: Any = None

    def _to_state(self) -> dict[str, Any]:
        """The attributes in model files: the ensemble itself in place of its adapter."""
        return {**vars(self), "ensemble": None if self.ensemble is None else self.ensemble.ensemble}

    @classmethod
    def _from_state(cls, fields: dict[str, Any]) -> Combination:
        classes, given = fields["classes"], fields["ensemble"]
        ensemble = None if given is None else adapt(given)
        if ensemble is not None:
            known = None if ensemble.classes is None else ensemble.classes.tolist()
            if known != (None if classes is None else classes.tolist()):
                raise ValueError("classes must be those of its ensemble.")
            if fields["decider"].n_members not in (None, ensemble.n_members):
                raise ValueError("its rule was fitted to another number of members.")
        return cls(**{**fields, "ensemble": ensemble})

    def __repr__(self) -> str:
        whose = "answers" if self.ensemble is None else f"{self.ensemble.n_members} members"
        what = "numbers" if self.classes is None else f"{len(self.classes)} classes"
        return f"<{self.rule!r} over {whose} for {what}>"

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the share of each class in the combination.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows; for votes or supports, a matrix of the same kind: of shape (n_members, n_rows) or
            (n_members, n_rows, n_classes).

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes``.
        """
        if self.classes is None:
            raise AttributeError("members that predict numbers have no class probabilities.")
        return self._decide(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Combined predictions.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows; for votes or supports, a matrix of the same kind.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes, the first of those that are tied; or numbers.
        """
        if self.classes is None:
            return self._decide(X)
        return np.asarray(self.classes[np.argmax(self.predict_proba(X), axis=1)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R² in regression; ``X`` as for :meth:`predict`."""
        score = r2_score if self.classes is None else accuracy_score
        return float(score(y, self.predict(X), sample_weight=sample_weight))

    def _decide(self, X: Any) -> Floats:
        """Shares or predictions, a block of rows at a time."""
        if self.ensemble is None:
            if np.ndim(X) == 3:
                return self._conclude(np.asarray(X, dtype=np.float64))
            return self._conclude(_codes(X, self.classes, self.no_vote))
        X = X if hasattr(X, "shape") or isinstance(X, list) else np.asarray(X)
        n_rows = _num_samples(X)
        step = max(1, _ANSWERS // (self.ensemble.n_members * max(self.ensemble.n_classes, 1)))
        if n_rows <= step:
            return self._conclude(_query(self.ensemble, X, self.rule))
        parts = [np.arange(a, min(a + step, n_rows)) for a in range(0, n_rows, step)]
        answers = (_query(self.ensemble, _safe_indexing(X, part), self.rule) for part in parts)
        return np.concatenate([self._conclude(one) for one in answers])

    def _conclude(self, answers: npt.NDArray[Any]) -> Floats:
        if self.classes is None:
            return self.decider.predict(answers)
        return self.decider.shares(answers, len(self.classes))


def combine(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    rule: str | CombiningRule | None = None,
    on: On = "train",
    sample_weight: Any = None,
    **options: Any,
) -> Combination:
    """Combine the members of a fitted ensemble by another rule.

    Parameters
    ----------
    ensemble : fitted ensemble, or list of fitted estimators
        An ensemble of orfeon, scikit-learn's bagging, forests, AdaBoost and voting, or fitted
        estimators.
    X : array or data frame of shape (n_samples, n_features), optional
        The samples that the rule learns from. Rules that do not learn need none.
    y : array of shape (n_samples,), optional
        Their labels or targets.
    rule : str or CombiningRule, optional
        For classes "majority" (the default), "plurality", "weighted", "naive_bayes", and over
        supports "soft", "product", "max", "min", "median", "trimmed_mean" and "model_averaging";
        for numbers "mean" (the default), "weighted", "max", "min", "median", "trimmed_mean" and
        "model_averaging". Or a rule with its options.
    on : {"train", "out_of_bag"}, default="train"
        Whether all members vote on all of these samples, which they must not have been trained on;
        or ``X`` is the training set, and members vote on the samples they did not see.
    sample_weight : array of shape (n_samples,), optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.
    **options
        Options of the rule, such as ``smoothing`` of "naive_bayes".

    Returns
    -------
    Combination
        It predicts for rows.

    See Also
    --------
    orfeon.combining.combine_votes : The same for a matrix of votes, predictions or supports.

    Examples
    --------
    A forest of scikit-learn, with trees weighted by their out-of-bag accuracy:

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from orfeon import combine
    >>> from orfeon.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> weighted = combine(forest, X, y, rule="weighted", on="out_of_bag")
    >>> X_new, y_new = make_twonorm(2000, random_state=1)
    >>> round(weighted.score(X_new, y_new), 3), weighted.decider.weights.shape
    (0.934, (50,))
    """
    if is_deprecated_matrix(ensemble, X, "combine", on):
        return combine_votes(ensemble, y, rule=rule, sample_weight=sample_weight, **options)
    chosen = _chosen(rule, without_vote_options(options, "combine_votes"), y)
    return _of_ensemble(adapt(ensemble), chosen, X, y, sample_weight, on)


def combine_votes(
    votes: Any,
    y: Any = None,
    *,
    rule: str | CombiningRule | None = None,
    sample_weight: Any = None,
    no_vote: Any = None,
    task: Task | None = None,
    **options: Any,
) -> Combination:
    """Combine a matrix of votes, predictions or class supports by a rule.

    Parameters
    ----------
    votes : array of shape (n_members, n_samples) or (n_members, n_samples, n_classes)
        Votes or predictions of each member; or class supports.
    y : array of shape (n_samples,), optional
        Labels or targets that the rule learns from. Rules that do not learn need none; with
        supports, ``y`` gives the names of the classes.
    rule : str or CombiningRule, optional
        As for :func:`orfeon.combine`.
    sample_weight : array of shape (n_samples,), optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.
    no_vote : optional
        The entry of ``votes`` that marks a missing vote.
    task : {"classification", "regression"}, optional
        By default regression when ``y``, or ``votes`` without ``y``, holds numbers with fractions.
    **options
        Options of the rule, such as ``smoothing`` of "naive_bayes".

    Returns
    -------
    Combination
        It predicts for other votes of the same members.

    Examples
    --------
    >>> from orfeon.combining import combine_votes
    >>> votes = [["a", "b", "a", "b"], ["b", "a", "b", "b"], ["b", "b", "b", "a"]]
    >>> jury = combine_votes(votes, ["a", "b", "a", "a"], rule="weighted")
    >>> jury.predict([["a"], ["b"], ["b"]])
    array(['a'], dtype='<U1')
    """
    chosen = _chosen(rule, options, y)
    if np.ndim(votes) == 3:
        return _of_supports(votes, chosen, y, sample_weight)
    return _of_answers(votes, chosen, y, sample_weight, no_vote, task)


def _chosen(
    rule: str | CombiningRule | None, options: dict[str, Any], y: Any
) -> CombiningRule | None:
    """The rule given, if any; one that learns needs labels."""
    if rule is None and not options:
        return None
    chosen = as_combining_rule("" if rule is None else rule, **options)
    if chosen.learns and y is None:
        raise ValueError(
            f"rule={chosen.name!r} learns from labelled samples that the members were not trained "
            "on; give their labels as y."
        )
    return chosen


def _by_default(rule: CombiningRule | None, n_classes: int, usual: str) -> CombiningRule:
    return as_combining_rule(usual if n_classes else "mean") if rule is None else rule


def _checked(decider: Decider, rule: CombiningRule, n_members: int) -> Decider:
    if decider.n_members not in (None, n_members):
        raise ValueError(
            f"rule={rule!r} has weights of {decider.n_members} members, but there are {n_members}."
        )
    return decider


def _query(ensemble: Members, X: Any, rule: CombiningRule) -> npt.NDArray[Any]:
    by_votes = ensemble.n_classes == 0 or rule.reads == "votes"
    return ensemble.answers(X) if by_votes else ensemble.supports(X)


def _of_ensemble(
    ensemble: Members,
    given: CombiningRule | None,
    X: Any,
    y: Any,
    sample_weight: Any,
    on: On,
) -> Combination:
    n_classes = ensemble.n_classes
    rule = _by_default(given, n_classes, "majority")
    if not rule.learns:
        decider = _checked(rule.learn(None, None, n_classes), rule, ensemble.n_members)
        return Combination(rule, decider, ensemble.classes, ensemble)
    answers, target, weights = _held_out(ensemble, rule, X, y, sample_weight, on)
    decider = rule.learn(answers, target, n_classes, weights, relative=True)
    return Combination(rule, decider, ensemble.classes, ensemble)


def _held_out(
    ensemble: Members, rule: CombiningRule, X: Any, y: Any, sample_weight: Any, on: On
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Any]:
    """Votes or supports that the rule can learn from, with labels and weights."""
    if X is None:
        raise ValueError("X is missing: an ensemble needs the samples that the rule learns from.")
    on = checked_on(on)
    labels = column_or_1d(y)
    answers = _query(ensemble, X, rule)
    check_length(labels, answers.shape[1])
    counts = whole_weights(sample_weight, len(labels))[0] > 0
    target = labels
    if ensemble.classes is not None:
        target = codes_of_labels(labels, ensemble.classes, counts)
    if on == "out_of_bag":
        out = ensemble.out_of_bag(X, labels, sample_weight)
        answers = only_left_out(answers, out, ensemble.n_classes)
    elif was_trained_on(ensemble.ensemble, X, y, sample_weight):
        raise ValueError(
            f"the {type(ensemble.ensemble).__name__} was trained on these samples, so "
            f"rule={rule.name!r} would learn from votes on training samples. Give samples that are "
            'new to it, or on="out_of_bag"; or train it with combine=, which finds held-out votes '
            "itself."
        )
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight)
    return answers[:, counts], target[counts], weights[counts]


def _of_supports(
    supports: Any, wanted: CombiningRule | None, y: Any, sample_weight: Any
) -> Combination:
    given = np.asarray(supports, dtype=np.float64)
    rule = _by_default(wanted, given.shape[2], "soft")
    if rule.reads != "supports":
        raise ValueError(
            f"rule={rule.name!r} counts votes, but supports of shape {given.shape} were given; "
            "give votes of shape (n_members, n_samples)."
        )
    n_classes = given.shape[2]
    classes = np.arange(n_classes) if y is None else np.unique(column_or_1d(y))
    if len(classes) != n_classes:
        raise ValueError(
            f"supports has {n_classes} classes and y has {len(classes)}: {classes.tolist()}; each "
            "class must be among y."
        )
    codes = None if y is None else class_codes(column_or_1d(y), classes)
    if codes is not None:
        check_length(codes, given.shape[1])
    decider = rule.learn(given, codes, n_classes, sample_weight, relative=True)
    return Combination(rule, _checked(decider, rule, len(given)), classes)


def _of_answers(
    answers: Any,
    wanted: CombiningRule | None,
    y: Any,
    sample_weight: Any,
    no_vote: Any,
    task: Task | None,
) -> Combination:
    if y is None:
        outputs, absent = read_matrix(answers, no_vote)
        answered = np.ravel(outputs) if absent is None else outputs[~absent]
        is_regression = has_fractions(answered) if task is None else task == "regression"
        classes = None if is_regression else np.unique(answered)
    else:
        read = read_selection(answers, y, sample_weight, no_vote=no_vote, task=task)
        classes = read.classes
    n_classes = 0 if classes is None else len(classes)
    rule = _by_default(wanted, n_classes, "majority")
    if classes is not None and rule.reads == "supports":
        raise ValueError(
            f"rule={rule.name!r} combines class supports, but votes were given; give supports of "
            'shape (n_members, n_samples, n_classes), or task="regression" if they are numbers.'
        )
    if not rule.learns:
        decider = _checked(rule.learn(None, None, n_classes), rule, np.shape(answers)[0])
        return Combination(rule, decider, classes, no_vote=no_vote)
    # Samples without votes are useless for an order, but here they count for class frequencies.
    labels = column_or_1d(y)
    target = np.asarray(labels, float) if classes is None else class_codes(labels, classes)
    outputs = _codes(answers, classes, no_vote)
    decider = rule.learn(outputs, target, n_classes, sample_weight, relative=True)
    return Combination(rule, decider, classes, no_vote=no_vote)


def _codes(answers: Any, classes: npt.NDArray[Any] | None, no_vote: Any) -> npt.NDArray[Any]:
    """Votes as class codes, or predictions as floats, for a decider."""
    outputs, absent = read_matrix(answers, no_vote)
    there = np.ones(outputs.shape, dtype=bool) if absent is None else ~absent
    if classes is None:
        return np.where(there, np.asarray(outputs, dtype=np.float64), np.nan)
    codes = np.full(outputs.shape, NO_VOTE, np.int64)
    codes[there] = class_codes(outputs[there], classes, "X has the vote")
    return codes
