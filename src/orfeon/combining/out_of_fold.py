"""Training samples for estimators of any kind, their folds, and out-of-fold predictions.

For each fold the estimators are trained on all others and predict it (Wolpert 1992). Folds depend
on the content of the samples, not on their order, and copies of a sample share a fold, so that no
estimator has seen a copy of what it predicts.

References
----------
Wolpert (1992). Stacked generalization. Neural Networks 5(2), 241-259.
Ting and Witten (1999). Issues in stacked generalization. Journal of Artificial Intelligence
Research 10, 271-289.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.parallel import Parallel, delayed

from orfeon.combining.fitting import Method, fit_weighted, is_frozen, query, seeded_clone
from orfeon.data.training_set import hash_rows
from orfeon.ensembles.holdout import deal_folds, hash_samples
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.scikit_learn import _num_samples, _safe_indexing
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Integers


class Split(NamedTuple):
    """Rows to train on, and rows to predict; no row is in both."""

    train: Integers
    test: Integers


def fold_numbers(
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats | None,
    n_folds: int,
    rng: np.random.Generator,
    *,
    by_class: bool,
) -> Integers:
    """Random folds of samples; copies share a fold."""
    # By the ranks of the targets, so that their unit does not matter.
    ranks = np.unique(y, return_inverse=True)[1]
    given = np.ones(len(ranks)) if weights is None else weights
    return deal_folds(hash_samples(X, ranks), ranks, given, n_folds, rng, by_class=by_class)


def splits_of(fold: Integers) -> list[Split]:
    """Each fold against all others; empty folds are left out."""
    return [Split(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]


def check_splits(splits: Iterable[tuple[Any, Any]], n_rows: int) -> list[Split]:
    """Check a user's splits: each row is tested once, by models that have not seen it."""
    rows = np.arange(n_rows)
    found = [Split(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in splits]
    for train, test in found:
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                f"cv has row {both[0]} in both parts of a split; rows to test must not be in the "
                "training part."
            )
        if not len(train):
            raise ValueError("cv has a split without rows to train on; each needs at least one.")
    times = np.bincount(np.concatenate([rows[:0], *(test for _, test in found)]), minlength=n_rows)
    if (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise ValueError(
            f"cv tests row {row} {times[row]} times; every row must be tested once, as by KFold. "
            "Splitters that leave rows out or repeat them cannot be used."
        )
    return found


def check_leaves_samples(splits: Iterable[Split]) -> None:
    """Reject folds of which one is all there is."""
    if not all(len(split.train) for split in splits):
        raise ValueError(
            "all samples are copies of 1 sample, so nothing is left to train on when it is "
            "predicted; give at least two different ones."
        )


def out_of_fold(
    estimators: Sequence[Any],
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats | None = None,
    n_folds: int = 5,
    rng: np.random.Generator | None = None,
    method: Method = "predict_proba",
    *,
    splits: Sequence[Split] | None = None,
    classes: npt.NDArray[Any] | None = None,
    names: Sequence[str] | None = None,
    n_jobs: int | None = None,
    prefer: str | None = None,
    after: Callable[[], object] | None = None,
) -> Floats:
    """Predictions of samples by estimators that were not trained on them.

    A class that an estimator has not seen has probability 0.
    """
    rng = np.random.default_rng() if rng is None else rng
    are_classifiers = is_classifier(estimators[0])
    if not are_classifiers:
        classes = None
    elif classes is None:
        classes = np.unique(y)
    if splits is None:
        splits = splits_of(fold_numbers(X, y, weights, n_folds, rng, by_class=are_classifiers))
    check_leaves_samples(splits)
    called = [type(e).__name__ for e in estimators] if names is None else names
    if classes is not None:
        _check_known(estimators, classes, called)
    seeds = rng.integers(0, 2**63, size=(len(estimators), len(splits)))
    n_outputs = 1 if classes is None else len(classes)
    answers = np.full((len(estimators), len(y), n_outputs), np.nan)
    tasks = [(t, f) for t in range(len(estimators)) for f in range(len(splits))]
    calls = (
        delayed(_answer)(
            estimators[t], X, y, weights, splits[f], int(seeds[t, f]), classes, method, called[t]
        )
        for t, f in tasks
    )
    at_once = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    with joblib_results(at_once, calls) as found:
        for (t, f), answer in zip(tasks, found, strict=True):
            answers[t, splits[f].test] = answer
            if after is not None:
                after()
    return answers


def _check_known(
    estimators: Sequence[Any], classes: npt.NDArray[Any], names: Sequence[str]
) -> None:
    """Reject fitted classifiers with a class that the samples do not have."""
    for name, estimator in zip(names, estimators, strict=True):
        if is_frozen(estimator):
            known = np.asarray(estimator.classes_).tolist()
            if not set(known) <= set(classes.tolist()):
                raise ValueError(
                    f"{name} was fitted to the classes {known}, but the samples have "
                    f"{classes.tolist()}; give samples of all classes."
                )


def _answer(
    estimator: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats | None,
    split: Split,
    seed: int,
    classes: npt.NDArray[Any] | None,
    method: Method,
    name: str,
) -> Floats:
    given = None if weights is None else weights[split.train]
    fitted = fit_weighted(
        seeded_clone(estimator, seed),
        _safe_indexing(X, split.train),
        y[split.train],
        given,
        name=name,
    )
    return query(fitted, _safe_indexing(X, split.test), classes, method)


@dataclass(frozen=True, eq=False)
class Units:
    """Training samples for estimators of any kind.

    Whole-number weights are copies. The samples are in an order of content, so that the estimators
    do not depend on the order of the rows; or, for a user's splits, in that of the rows.
    """

    table: Any
    encoded: Floats
    y: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    weights: Floats
    rows: Integers
    n_given: int
    n_classes: int
    seeds: np.random.SeedSequence

    def __len__(self) -> int:
        return len(self.y)

    @property
    def ranks(self) -> Integers:
        """Class codes, or the ranks of the targets."""
        return np.unique(self.y, return_inverse=True)[1]

    @property
    def copies(self) -> Integers:
        """A number for each sample that its copies share."""
        return np.unique(hash_rows(self.encoded, self.ranks), return_inverse=True)[1]

    @property
    def is_constant(self) -> bool:
        """Whether all samples have the same class or target."""
        return bool((self.y == self.y[0]).all())

    def generator(self, *keys: int) -> np.random.Generator:
        return np.random.default_rng(branch(self.seeds, Purpose.STACKING, *keys))

    def seed(self, *keys: int) -> int:
        word = branch(self.seeds, Purpose.STACKING, *keys).generate_state(1, np.uint64)[0]
        return int(word >> np.uint64(1))

    def fold_numbers(self, n_folds: int, *keys: int) -> Integers:
        """Folds by content, copies together and classes spread over all folds."""
        ranks = self.ranks
        return deal_folds(
            hash_rows(self.encoded, ranks), ranks, self.weights, n_folds, self.generator(*keys),
            by_class=self.n_classes > 0,
        )  # fmt: skip

    def on_given_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values in the order of the given rows, NaN for those of weight 0."""
        whole = np.full((self.n_given, *values.shape[1:]), np.nan)
        whole[self.rows] = values
        return whole


def are_informative(
    trained: npt.NDArray[np.bool_], queried: npt.NDArray[np.bool_], units: Units
) -> bool:
    """Whether predictions of unseen samples are worth learning from.

    A model that has seen no sample of a class never predicts it. If every model predicts the last
    sample of a class, all predictions are wrong, and a final estimator would learn to contradict
    them. So it is in regression with two samples, each predicted as the value of the other.
    """
    if not units.n_classes:
        return len(np.unique(units.copies)) > 2
    n_informative = 0
    for label in np.unique(units.y):
        of_it = units.y == label
        n_informative += bool((trained[:, of_it].any(axis=1) & queried[:, of_it].any(axis=1)).any())
    return n_informative > 1


def folds_are_informative(splits: Sequence[Split], units: Units) -> bool:
    trained, queried = np.zeros((2, len(splits), len(units)), dtype=bool)
    for f, split in enumerate(splits):
        trained[f, split.train] = queried[f, split.test] = True
    return are_informative(trained, queried, units)


def read_splits(cv: Any, units: Units, X: Any, groups: Any = None) -> list[Split]:
    """The folds of ``cv``, as indices of the units."""
    if groups is not None and _num_samples(groups) != units.n_given:
        raise ValueError(
            f"groups has {_num_samples(groups)} values and X has {units.n_given} rows; one value "
            "for each row is expected."
        )
    if cv is None or isinstance(cv, Integral):
        return splits_of(units.fold_numbers(5 if cv is None else int(cv)))
    if hasattr(cv, "split"):
        rows, first = np.unique(units.rows, return_index=True)
        if len(rows) < units.n_given:
            X = _safe_indexing(X, rows)
        # Some splitters take no groups.
        grouped = () if groups is None else (_safe_indexing(groups, rows),)
        found = check_splits(cv.split(X, units.labels[first], *grouped), len(rows))
        found = [Split(rows[train], rows[test]) for train, test in found]
    else:
        found = check_splits(cv, units.n_given)
    parts = [tuple(np.flatnonzero(np.isin(units.rows, part)) for part in split) for split in found]
    return [Split(*part) for part in parts if len(part[1])]
