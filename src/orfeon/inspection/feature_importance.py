"""How much a model relies on each feature, with standard errors, in numbers and in a picture.

Two measures: the mean decrease of impurity at the splits of its trees, and the error added by
shuffling the values of a feature among samples that were not trained on.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted, column_or_1d

from orfeon.base import class_codes
from orfeon.boosting.base import BoostedEnsemble
from orfeon.data.schema import names_of
from orfeon.data.training_set import check_length
from orfeon.ensembles.ensemble import Ensemble
from orfeon.forest import Forest
from orfeon.forest.importance import impurity_importances
from orfeon.forest.permutation import oob_permutation_importances
from orfeon.inspection.display import check_choice, check_positive
from orfeon.inspection.reading import read_weights
from orfeon.members import adapt, unpruned
from orfeon.members.members import EstimatorMembers
from orfeon.members.protocol import Members
from orfeon.members.vote_input import present_name
from orfeon.rendering.display import Display
from orfeon.rendering.figure import fitting_rows, inches, put_title
from orfeon.rendering.palette import INK, class_colours
from orfeon.rendering.texts import in_lines, plain, small_size
from orfeon.trees.base import BaseTree
from orfeon.utils.scikit_learn import _check_sample_weight
from orfeon.utils.seeding import Purpose, RandomState, branch, seed_sequence
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import warn_user

Kind = Literal["impurity", "permutation"]
On = Literal["auto", "out_of_bag", "train"]

#: Width in inches of a new figure, and heights of a bar and of all else.
_WIDTH, _BAR, _ELSE = 4.8, 0.21, 1.1
#: Standard errors on either side of a bar's end.
_INTERVAL = 2.0


@dataclass(frozen=True, eq=False)
class Importances:
    """How much a model relies on each feature.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Mean over trees, or over shuffles.
    standard_error : ndarray of shape (n_features,)
        Standard error of that mean; NaN if unknown.
    each : ndarray of shape (n, n_features)
        The values that were averaged: one row per tree, or per shuffle. NaN for a tree without
        splits or without out-of-bag samples; no rows if only the mean is known.
    names : tuple of str
        Names of the features.
    kind : {"impurity", "permutation"}
        What was measured: shares of the decrease of impurity, which sum to one; or the error added
        by shuffling, as an error rate or, in regression, a mean squared error.
    on : {"splits", "out_of_bag", "train"}
        Where it was measured.
    is_regression : bool
        Whether the error is a squared one.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.inspection import importances
    >>> tree = CARTClassifier().fit([[0, 1], [1, 1], [2, 1]], ["no", "no", "yes"])
    >>> found = importances(tree)
    >>> found.kind, found.on, found.names, found.mean.tolist()
    ('impurity', 'splits', ('x0', 'x1'), [1.0, 0.0])
    """

    mean: Floats
    standard_error: Floats
    each: Floats
    names: tuple[str, ...]
    kind: Kind
    on: Literal["splits", "out_of_bag", "train"]
    is_regression: bool = False


def importances(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: Kind = "impurity",
    on: On = "auto",
    sample_weight: Any = None,
    n_repeats: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Importances:
    """Measure how much a fitted model relies on each feature.

    Parameters
    ----------
    ensemble : estimator
        Fitted: a tree or an ensemble of orfeon, or any estimator of scikit-learn.
    X : array or data frame of shape (n_rows, n_features), optional
        Samples whose features are shuffled: the training set for ``on="out_of_bag"``, preferably
        others for ``on="train"``.
    y : array of shape (n_rows,), optional
        Their classes or targets.
    kind : {"impurity", "permutation"}, default="impurity"
        Impurity decrease at the splits, which needs trees but no samples; or the error added by
        shuffling the values of the feature.
    on : {"auto", "out_of_bag", "train"}, default="auto"
        For permutations: whether each tree predicts the training samples that it did not see, or
        the whole model predicts the samples given, by scikit-learn's ``permutation_importance``.
        "auto" is out-of-bag if members left some of these samples out in training, as far as
        :mod:`orfeon.members` knows; it warns if an ensemble of orfeon was trained on all of them.
        Members of scikit-learn's ensembles other than its trees do not keep what they were trained
        on: there "auto" is "train", and "out_of_bag" assumes that these are the training samples,
        in their order.
    sample_weight : array of shape (n_rows,), optional
        Sample weights; for out-of-bag those given to ``fit``.
    n_repeats : int, optional
        Shuffles of each feature; by default 1 per tree, and 10 without trees.
    random_state : int, Generator, RandomState or None, default=None
        Source of the shuffles.
    n_jobs : int, optional
        Processes for ``on="train"``.

    Returns
    -------
    Importances
        Means with standard errors.

    See Also
    --------
    ImportanceDisplay : The picture.

    Notes
    -----
    Standard errors show how the mean depends on the trees, or shuffles, that were drawn, not on the
    samples. Impurity decreases are measured on the training samples, so features with many values
    look better than they are.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.inspection import importances
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 3))
    >>> y = (X[:, 1] > 0.5).astype(int)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> importances(forest).mean.round(1)
    array([0.1, 0.8, 0.1])
    >>> found = importances(forest, X, y, kind="permutation", random_state=0)
    >>> found.on, int(found.mean.argmax()), bool(found.mean[1] > 0.3)
    ('out_of_bag', 1, True)
    """
    on = present_name(on)
    _check_choices(kind, on, n_repeats)
    ensemble = unpruned(ensemble)
    if kind == "impurity":
        return _by_impurity(ensemble, X)
    known = getattr(ensemble, "permutation_importances_", None)
    if X is None and on != "train" and known is not None:
        each = known.per_tree
        return _summary(ensemble, X, each, known.mean, known.standard_error, "out_of_bag")
    if X is None or y is None:
        raise ValueError('X and y are missing: kind="permutation" shuffles samples.')
    out = None if on == "train" else _left_out(ensemble, X, y, sample_weight, on)
    if out is not None:
        return _out_of_bag(ensemble, X, y, sample_weight, out, n_repeats or 1, random_state)
    _warn_of_training_set(ensemble, X, y, sample_weight)
    from sklearn.inspection import permutation_importance

    is_regression = not is_classifier(ensemble)
    sequence = branch(seed_sequence(random_state), Purpose.LOOKING)
    found = permutation_importance(
        ensemble, X, y, n_repeats=n_repeats or 10, n_jobs=n_jobs, sample_weight=sample_weight,
        scoring="neg_mean_squared_error" if is_regression else "accuracy",
        random_state=int(sequence.generate_state(1)[0]),
    )  # fmt: skip
    return _summary(ensemble, X, found.importances.T, None, None, "train")


def _check_choices(kind: Any, on: Any, n_repeats: Any) -> None:
    check_choice("kind", kind, ("impurity", "permutation"))
    check_choice("on", on, ("auto", "out_of_bag", "train"))
    if n_repeats is not None:
        check_positive("n_repeats", n_repeats)


def _summary(
    ensemble: Any, X: Any, each: Floats, mean: Floats | None, error: Floats | None, on: Any
) -> Importances:
    if mean is None:
        mean = each.mean(axis=0)
    if error is None:
        error = _standard_error(each, None)
    kind: Kind = "impurity" if on == "splits" else "permutation"
    names = names_of(ensemble, len(mean), X)
    return Importances(mean, error, each, names, kind, on, is_regressor(ensemble))


def _standard_error(each: Floats, weights: Floats | None) -> Floats:
    """Standard error of the mean of rows without NaN."""
    taken = ~np.isnan(each).any(axis=1)
    some, n = each[taken], int(taken.sum())
    w = np.ones(n) if weights is None else weights[taken]
    if n < 2 or not w.any():
        return np.full(each.shape[1], np.nan)
    apart = some - np.average(some, axis=0, weights=w)
    squares = (w[:, None] * apart) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=0) * n / (n - 1)) / w.sum())


# -- impurity --------------------------------------------------------------------------------------


def _by_impurity(ensemble: Any, X: Any) -> Importances:
    if hasattr(ensemble, "__sklearn_tags__"):
        check_is_fitted(ensemble)
    found = _of_members(ensemble)
    if found is not None:
        each, weights = found
        taken = ~np.isnan(each).any(axis=1)
        mean = np.zeros(each.shape[1])
        if taken.any():
            w = None if weights is None else weights[taken]
            mean = np.average(each[taken], axis=0, weights=w)
        return _summary(ensemble, X, each, mean, _standard_error(each, weights), "splits")
    try:
        mean = np.asarray(ensemble.feature_importances_, dtype=np.float64)
    except AttributeError as error:
        raise TypeError(
            f"ensemble is of type {type(ensemble).__name__}, whose members have no splits to "
            'measure; use kind="permutation" and give samples.'
        ) from error
    unknown = np.full(len(mean), np.nan)
    return _summary(ensemble, X, np.zeros((0, len(mean))), mean, unknown, "splits")


def _of_members(ensemble: Any) -> tuple[Floats, Floats | None] | None:
    """Shares of each member, NaN if it has no split, and the members' weights."""
    if isinstance(ensemble, BaseTree):
        return _of_trees(ensemble.forest_, ensemble._impurity), None
    if isinstance(ensemble, Ensemble):
        usual = (Ensemble.feature_importances_, BoostedEnsemble.feature_importances_)
        if type(ensemble).feature_importances_ not in usual:
            return None  # in gradient boosting it is not a mean over trees
        if not isinstance(ensemble.members_, Forest | EstimatorMembers):
            return None
        votes = getattr(ensemble, "member_weights_", None)
        if votes is not None:
            votes = np.abs(votes).reshape(len(votes), -1).mean(axis=1)
        if isinstance(ensemble.members_, Forest):
            return _of_trees(ensemble.members_, ensemble.estimator_._impurity), votes
        members, columns = ensemble.members_.estimators, ensemble.estimators_features_
    else:
        members, votes = _scikit_learn_members(ensemble), None
        if members is None:
            return None
        columns = getattr(ensemble, "estimators_features_", [slice(None)] * len(members))
    if not all(hasattr(member, "feature_importances_") for member in members):
        return None
    each = np.zeros((len(members), ensemble.n_features_in_))
    for row, its, member in zip(each, columns, members, strict=True):
        row[its] += member.feature_importances_
    each[each.sum(axis=1) == 0] = np.nan
    return each, votes


def _scikit_learn_members(ensemble: Any) -> Any:
    """The trees of a scikit-learn ensemble that votes with equal weights, or averages."""
    try:
        members = adapt(ensemble)
    except (TypeError, ValueError):
        return None
    if members.member_weights is not None:
        return None
    return getattr(ensemble, "estimators_", None)


def _of_trees(forest: Forest, criterion: str) -> Floats:
    each = np.array(
        [impurity_importances(forest.subset([t]), criterion) for t in range(len(forest))]
    )
    each[~each.any(axis=1)] = np.nan
    return each


# -- permutation -----------------------------------------------------------------------------------


def _left_out(ensemble: Any, X: Any, y: Any, sample_weight: Any, on: On) -> Mask | None:
    """Which samples each member did not see; None if unknown and not required."""
    try:
        return adapt(ensemble).out_of_bag(
            X, column_or_1d(y), sample_weight, must_verify=on == "auto"
        )
    except (TypeError, ValueError):  # each saw all of them, or it is not the training set
        if on == "auto":
            return None
        raise


def _warn_of_training_set(ensemble: Any, X: Any, y: Any, sample_weight: Any) -> None:
    from orfeon.ensembles.ensemble import was_trained_on

    if was_trained_on(ensemble, X, y, sample_weight):
        warn_user(
            f"{type(ensemble).__name__} was trained on these samples and fits them closely: "
            "importances by permutation are unreliable. Give samples it was not trained on."
        )


def _out_of_bag(
    ensemble: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    out: Mask,
    n_repeats: int,
    random_state: RandomState,
) -> Importances:
    """The error that shuffling adds to each member on the samples that it did not see."""
    target = column_or_1d(y)
    if not isinstance(ensemble, Ensemble) or not isinstance(ensemble.members_, Forest):
        weights = read_weights(sample_weight, len(target))
        members = adapt(ensemble)
        if members.classes is not None:
            target = class_codes(target, members.classes)
        sequence = branch(seed_sequence(random_state), Purpose.LOOKING)
        each = permuted_members(
            members, X, target, weights, out, n_repeats, np.random.default_rng(sequence)
        )
        taken = ~np.isnan(each).any(axis=1)
        return _summary(ensemble, X, each, each[taken].mean(axis=0), None, "out_of_bag")
    rows = ensemble._encode(X)
    check_length(target, len(rows))
    weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
    codes = np.zeros(len(rows), np.int64)
    if is_classifier(ensemble):
        codes[weights > 0] = class_codes(target[weights > 0], ensemble._classes)
    else:
        codes = np.where(weights > 0, target, 0.0).astype(np.float64)
    found = oob_permutation_importances(
        ensemble.members_, rows, codes, out, weights=weights, random_state=random_state,
        n_repeats=n_repeats,
    )  # fmt: skip
    mean, error = found.mean, found.standard_error
    return _summary(ensemble, X, found.per_tree, mean, error, "out_of_bag")


# -- the picture -----------------------------------------------------------------------------------


class ImportanceDisplay(Display):
    """Importances of the features, the largest first, with their standard errors.

    Parameters
    ----------
    data : Importances
        Importances from :func:`importances`.

    Attributes
    ----------
    <axes>
    order_ : ndarray of int
        The features shown, from top to bottom.
    bars_ : BarContainer
        The bars.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import ImportanceDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(forest, X, y, kind="permutation", n_shown=5)
    >>> display.ax_.get_title()
    'Importance by permutation, out of bag (5 of 21 shown)'
    >>> matplotlib.pyplot.close(display.figure_)
    """

    order_: npt.NDArray[np.int64]
    bars_: Any

    def __init__(self, data: Importances) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any = None,
        y: Any = None,
        *,
        n_shown: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Measure and draw the importances of a fitted model.

        Parameters
        ----------
        ensemble, X, y, **options
            As for :func:`importances`.
        n_shown : int, default=20
            Maximum number of features to show; fewer if their names have no room.
        <ax>
        """
        return cls(importances(ensemble, X, y, **options)).plot(ax, n_shown=n_shown)

    def plot(self, ax: Any = None, *, n_shown: int = 20) -> Self:
        """Draw the picture.

        Parameters
        ----------
        n_shown : int, default=20
            Maximum number of features to show; fewer if their names have no room.
        <ax>
        """
        check_positive("n_shown", n_shown)
        data = self.data
        n = min(n_shown, len(data.mean))
        ax = self._begin(ax, (_WIDTH, _BAR * n + _ELSE))
        n = fitting_rows(ax, n, _ELSE)
        self.order_ = np.argsort(-data.mean, kind="stable")[:n]
        scale = 1.0 if data.kind == "permutation" and data.is_regression else 100.0
        error = _INTERVAL * scale * data.standard_error[self.order_]
        is_known = bool(np.isfinite(error).all())
        self.bars_ = ax.barh(
            np.arange(n), scale * data.mean[self.order_], xerr=error if is_known else None,
            color=class_colours(1)[0], height=0.72,
            error_kw={"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0},
        )  # fmt: skip
        ax.set_yticks(np.arange(n), [plain(data.names[j]) for j in self.order_], fontsize="small")
        ax.set_ylim(n - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.spines[["top", "right", "left"]].set_visible(False)
        room = 72 * 0.85 * inches(self.figure_)[0]
        ax.set_xlabel(in_lines(self._label(is_known), room, small_size()), fontsize="small")
        shown = f" ({n} of {len(data.mean)} shown)" if n < len(data.mean) else ""
        where = {"splits": "", "out_of_bag": ", out of bag", "train": ", samples given"}
        put_title(ax, f"Importance by {data.kind}{where[data.on]}{shown}")
        return self._finish()

    def _label(self, is_known: bool) -> str:
        data = self.data
        bars = f"\n(lines: \u00b1 {_INTERVAL:g} standard errors)" if is_known else ""
        if data.kind == "impurity":
            return f"share of the impurity decrease, %{bars}"
        where = "out-of-bag " if data.on == "out_of_bag" else ""
        if data.is_regression:
            return f"{where}squared error added by shuffling{bars}"
        return f"{where}error added by shuffling, %{bars}"


def permuted_members(
    members: Members,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats,
    out: npt.NDArray[np.bool_],
    n_repeats: int,
    generator: np.random.Generator,
) -> Floats:
    """Error added to each member on samples that it did not see, when a feature is shuffled."""
    counted = out * weights
    total = counted.sum(axis=1)

    def errors(given: Any) -> Floats:
        answers = members.answers(given)
        lost = (answers != y) if members.classes is not None else (answers - y) ** 2
        nothing = np.full(len(total), np.nan)
        lost = (lost * counted).sum(axis=1)
        return np.asarray(np.divide(lost, total, out=nothing, where=total > 0))

    before = errors(X)
    rows = np.flatnonzero(weights > 0)  # weight 0 means left out
    added = np.zeros((len(total), np.shape(X)[1]))
    for _ in range(n_repeats):
        shuffled = np.arange(len(y))
        shuffled[rows] = generator.permutation(rows)
        for column in range(added.shape[1]):
            added[:, column] += errors(_with_shuffled(X, column, shuffled)) - before
    return added / n_repeats


def _with_shuffled(X: Any, column: int, order: npt.NDArray[np.int64]) -> Any:
    if hasattr(X, "iloc"):
        changed = X.copy()
        values = X.iloc[:, column].iloc[order].set_axis(X.index)
        changed[X.columns[column]] = values
        return changed
    changed = np.array(X)
    changed[:, column] = changed[order, column]
    return changed
