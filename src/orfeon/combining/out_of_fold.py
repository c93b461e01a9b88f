"""Out-of-fold answers: of each sample, what estimators say that were not trained on it.

Samples are parted into folds; for each fold the estimators are trained on all others and asked
about it (Wolpert 1992). The folds depend on what the samples are, not on their order, and copies
of one sample are in the same fold, so that no estimator has seen a copy of what it is asked.

References
----------
Wolpert (1992). Stacked generalization. Neural Networks 5(2), 241-259.
Ting and Witten (1999). Issues in stacked generalization. Journal of Artificial Intelligence
Research 10, 271-289.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.parallel import Parallel, delayed

from orfeon.combining.fitting import Method, fit_weighted, fresh, is_frozen, query
from orfeon.ensembles.holdout import deal_folds, hash_samples
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.types import Floats, Integers


class Split(NamedTuple):
    """Rows to train on, and rows to ask about; no row is in both."""

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
    """Part samples into folds at random, copies of one together."""
    # By the ranks of the targets, so that their unit does not matter.
    ranks = np.unique(y, return_inverse=True)[1]
    given = np.ones(len(ranks)) if weights is None else weights
    return deal_folds(hash_samples(X, ranks), ranks, given, n_folds, rng, by_class=by_class)


def splits_of(fold: Integers) -> list[Split]:
    """Each fold against all others; folds without samples are left out."""
    return [Split(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]


def check_splits(splits: Iterable[tuple[Any, Any]], n_rows: int) -> list[Split]:
    """The splits of a user, checked: models that have not seen a row predict it, once."""
    rows = np.arange(n_rows)
    found = [Split(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in splits]
    for train, test in found:
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                f"cv has row {both[0]} in both parts of a split: its prediction would not "
                "be out of fold."
            )
        if not len(train):
            raise ValueError("cv has a split without rows to train on; each needs one at least.")
    times = np.bincount(np.concatenate([rows[:0], *(test for _, test in found)]), minlength=n_rows)
    if (times != 1).any():
        row = int(np.flatnonzero(times != 1)[0])
        raise ValueError(
            f"cv tests row {row} {times[row]} times; every row is tested once, as by KFold. "
            "Splitters that leave rows out, or repeat them, cannot be used."
        )
    return found


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
    """What estimators say of samples that they were not trained on.

    Notes
    -----
    Where all samples but those of a fold have one class, the answer is that class. A class that an
    estimator has not met has probability 0.
    """
    rng = np.random.default_rng() if rng is None else rng
    are_classifiers = is_classifier(estimators[0])
    if not are_classifiers:
        classes = None
    elif classes is None:
        classes = np.unique(y)
    if splits is None:
        splits = splits_of(fold_numbers(X, y, weights, n_folds, rng, by_class=are_classifiers))
    if not all(len(split.train) for split in splits):
        raise ValueError(
            "all samples are copies of 1 sample, so that nothing is left to train on when it is "
            "predicted; at least two different ones are needed."
        )
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
    """Refuse fitted classifiers that may decide for a class that is not among those there are."""
    for name, estimator in zip(names, estimators, strict=True):
        if is_frozen(estimator):
            known = np.asarray(estimator.classes_).tolist()
            if not set(known) <= set(classes.tolist()):
                raise ValueError(
                    f"{name} was fitted to the classes {known}, and classes are "
                    f"{classes.tolist()}; give all of them."
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
    """What one estimator says of one fold, trained on the others."""
    given = None if weights is None else weights[split.train]
    fitted = fit_weighted(
        fresh(estimator, seed), _safe_indexing(X, split.train), y[split.train], given, name=name
    )
    return query(fitted, _safe_indexing(X, split.test), classes, method)
