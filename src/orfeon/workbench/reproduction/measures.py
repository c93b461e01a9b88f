"""How the cells of a table are measured, by the names that TOML files use.

A measure takes a fitted model, the split it was fitted on and the cells that it fills, and returns
their results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

import orfeon
from orfeon.workbench.reproduction.published import read_config
from orfeon.workbench.reproduction.results import Cell, Curve, FoldOutcome, Results
from orfeon.workbench.reproduction.splits import POSITIVE, Partition

Cells = Sequence[Cell]
#: Figures by the name of their metric, by the settings of the cell.
Figures = dict[str, dict[str, float]]
#: The settings of a cell that holds scores on folds; no published table has it.
FOLDS = "folds"
#: The least of so many times is taken: what disturbs a measurement only makes it longer.
_TIMES = 3


def error_percent(predictions: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Share of wrong predictions, in percent."""
    return _percent(np.mean(np.asarray(predictions) != np.asarray(y)))


def _percent(share: Any) -> float:
    return round(100.0 * float(share), 10)


def _number(cell: Cell, name: str) -> int:
    return int(read_config(cell.config)[name].rstrip("%"))


def _test_error(model: Any, split: Partition, cells: Cells) -> Results:
    return dict.fromkeys(cells, error_percent(model.predict(split.X_test), split.y_test))


def _first_members(model: Any, split: Partition, cells: Cells) -> Results:
    """A model that stopped early votes with the members it has."""
    errors = [
        error_percent(predictions, split.y_test)
        for predictions in model.staged_predict(split.X_test)
    ]
    return {cell: errors[min(_number(cell, "T"), len(errors)) - 1] for cell in cells}


def _committees(model: Any, split: Partition, cells: Cells) -> Results:
    """9 trees are the first 3 of the first 3 committees, 99 are all of the 11 x 9."""
    parts = {9: model.first(3, 3), 99: model}
    return {
        cell: error_percent(parts[_number(cell, "T")].predict(split.X_test), split.y_test)
        for cell in cells
    }


def codes_with_unseen(ensemble: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Indices into the classes of an ensemble; their number for a class that it has not seen."""
    codes = np.searchsorted(ensemble.classes_, y)
    known = ensemble.classes_[np.minimum(codes, len(ensemble.classes_) - 1)] == y
    return np.where(known, codes, len(ensemble.classes_))


def odd_size(size: int, n_members: int) -> int:
    """The size, or the next one if it is even: an even number of votes can be tied."""
    return min(size | 1, n_members)


def _in_order(
    bag: Any, split: Partition, cells: Cells, *, training_tables: Sequence[str] = ()
) -> Results:
    """Errors of the bag, and of the first members in each order, on training or test samples.

    Of the first members an odd number is taken.
    """
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    results: dict[Cell, float] = {}
    for rule in dict.fromkeys(cell.method for cell in cells):
        its = [cell for cell in cells if cell.method == rule]
        if rule == "bagging":
            sides = {True: (split.X_train, split.y_train), False: (split.X_test, split.y_test)}
            whole = {side: error_percent(bag.predict(X), of) for side, (X, of) in sides.items()}
            results |= {cell: whole[cell.table in training_tables] for cell in its}
            continue
        order = orfeon.ordering.order_votes(votes, y, rule=rule)
        curves = {True: order.error_curve, False: order.test_curve_votes(votes_test, y_test)}
        for cell in its:
            size = odd_size(order.size(_number(cell, "keep") / 100), len(votes))
            results[cell] = _percent(curves[cell.table in training_tables][size - 1])
    return results


def _pools(bag: Any, split: Partition, cells: Cells) -> Results:
    """Test errors at all sizes, of the first members of the bag ordered among themselves."""
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    results = {}
    for cell in cells:
        pool = _number(cell, "initial_size")
        if pool <= len(votes):
            order = orfeon.ordering.order_votes(votes[:pool], y, rule=cell.method)
            wrong = np.rint(order.test_curve_votes(votes_test[:pool], y_test) * len(y_test))
            results[cell] = Curve(tuple(wrong.astype(int).tolist()), len(y_test))
    return results


def _error_and_leaves(ensemble: Any, split: Partition, cells: Cells) -> Results:
    """The test error, and the mean number of leaves of the members."""
    leaves = [float(member.get_n_leaves()) for member in ensemble.estimators_]
    figures = {
        "error": error_percent(ensemble.predict(split.X_test), split.y_test),
        "n_leaves": float(np.mean(leaves)),
    }
    return dict.fromkeys(cells, figures)


def _above_limit(ensemble: Any, split: Partition, cells: Cells) -> Results:
    """Share of members that err on more test samples than a guess does, (K - 1) / K."""
    wrong = ensemble.votes(split.X_test) != codes_with_unseen(ensemble, split.y_test)
    n_classes, n_samples = len(ensemble.classes_), wrong.shape[1]
    above = np.mean(wrong.sum(axis=1) * n_classes > (n_classes - 1) * n_samples)
    share = _percent(above)
    return {cell: {"members_above_limit": share} for cell in cells}


def _searches(bag: Any, split: Partition, cells: Cells, **options: Any) -> Results:
    """Errors and sizes of a bag, and of the subsets that reduce-error and genetic search choose."""
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    order = orfeon.ordering.order_votes(votes, y, rule="reduce_error")
    # The largest of the sizes with the least training error.
    least = len(votes) - int(np.argmin(order.error_curve[::-1]))
    search = partial(
        orfeon.ordering.search_genetic_votes, votes, y, random_state=bag.random_state, **options
    )
    subsets: dict[str, Callable[[], Any]] = {
        "bagging": lambda: np.arange(len(votes)),
        "reduce_error": lambda: order.order[:least],
        "genetic": lambda: search().subset,
        "genetic_seeded": lambda: search(seeded=True).subset,
    }
    found = {}
    for cell in cells:
        members = subsets[cell.method]()
        errors = [
            _percent(
                orfeon.ordering.order_votes(of[members], labels, rule="random").error_curve[-1]
            )
            for of, labels in ((votes, y), (votes_test, y_test))
        ]
        found[cell] = {
            "training error": errors[0], "error": errors[1], "n_trees": float(len(members)),
        }  # fmt: skip
    return found


def _description(model: Any, split: Partition, cells: Cells) -> Results:
    """What a problem is like; discrete are categories, and whole numbers of at most ten values."""
    X, y = np.vstack([split.X_train, split.X_test]), np.concatenate([split.y_train, split.y_test])
    n_discrete = sum(_is_discrete(column) for column in X.T)
    figures = {
        "n_samples": float(len(y)),
        "positive_percent": _percent(np.mean(y == POSITIVE)),
        "n_continuous": float(X.shape[1] - n_discrete),
        "n_discrete": float(n_discrete),
    }
    return dict.fromkeys(cells, figures)


def _is_discrete(column: npt.NDArray[Any]) -> bool:
    known = {value for value in column.tolist() if value is not None and value == value}
    return any(isinstance(value, str) for value in known) or (
        len(known) <= 10 and all(value == int(value) for value in known)
    )


def _fold_outcome(model: Any, split: Partition, cells: Cells) -> Results:
    return dict.fromkeys(cells, FoldOutcome.of(model, split))


def _tree_size(tree: Any, whole: Partition, cells: Cells) -> Results:
    n_wrong = np.sum(tree.predict(whole.X_train) != whole.y_train)
    figures = {
        "n_leaves": float(tree.get_n_leaves()),
        "n_nodes": float(tree.forest_.n_nodes[0]),
        "training_errors": float(n_wrong),
    }
    return dict.fromkeys(cells, figures)


# -- seconds ---------------------------------------------------------------------------------------


def least_seconds(function: Callable[[], Any]) -> float:
    """How long a function takes, on one thread, once it is compiled."""
    function()
    times = []
    with threadpool_limits(limits=1):
        for _ in range(_TIMES):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return min(times)


class Timed:
    """An estimator that is fitted only to see how long it takes."""

    seconds: float

    def __init__(self, build: Callable[[], Any]) -> None:
        self.build = build

    def get_params(self) -> dict[str, Any]:
        """The estimator and its parameters."""
        estimator = self.build()
        return {"timed": estimator, **estimator.get_params()}

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit the estimator several times."""
        self.seconds = least_seconds(lambda: self.build().fit(X, y))
        return self


def _seconds_to_fit(timed: Any, split: Partition, cells: Cells) -> Results:
    return {cell: {"seconds": timed.seconds} for cell in cells}


def _seconds_to_order(bag: Any, split: Partition, cells: Cells) -> Results:
    """Seconds to order the first members of a bag by each rule."""
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)

    def ordered(size: int, rule: str) -> Callable[[], Any]:
        return lambda: orfeon.ordering.order_votes(votes[:size], y, rule=rule)

    return {
        cell: {"seconds": least_seconds(ordered(_number(cell, "T"), cell.method))}
        for cell in cells
        if _number(cell, "T") <= len(votes)
    }


# -- models side by side ---------------------------------------------------------------------------


def class_figures(
    predictions: npt.ArrayLike, y: npt.ArrayLike, named: Mapping[str, str] | None = None
) -> Figures:
    """Accuracies, recalls, precisions, F1 and Matthews' coefficient, in percent."""
    from sklearn.metrics import matthews_corrcoef, precision_recall_fscore_support

    y, predictions = np.asarray(y), np.asarray(predictions)
    classes = np.unique(np.concatenate([y, predictions]))
    parts = precision_recall_fscore_support(y, predictions, labels=classes, zero_division=0)
    by_class = dict(zip(("precision", "recall", "f1"), parts[:3], strict=True))
    by_class["accuracy"] = by_class["recall"]
    there = parts[3] > 0
    found: Figures = {
        "avg=macro": {name: _percent(np.mean(of[there])) for name, of in by_class.items()},
        "avg=weighted": {
            name: _percent(np.average(of, weights=parts[3])) for name, of in by_class.items()
        },
        "": {"mcc": _percent(matthews_corrcoef(y, predictions))},
    }
    for name, label in (named or {}).items():
        place = np.flatnonzero(classes == label)
        found[f"class={name}"] = {
            metric: _percent(of[place[0]]) if len(place) else 0.0 for metric, of in by_class.items()
        }
    return found


def price_figures(predictions: npt.ArrayLike, y: npt.ArrayLike) -> Figures:
    """Squared and absolute errors, and R2 in percent."""
    y = np.asarray(y, dtype=float)
    errors = np.asarray(predictions, dtype=float) - y
    mse = float(np.mean(errors**2))
    figures = {
        "mse": mse, "rmse": mse**0.5, "mae": float(np.mean(np.abs(errors))),
        "r2": _percent(1 - mse / float(np.var(y))),
    }  # fmt: skip
    return {"": figures}


def _class_scores(
    model: Any, split: Partition, cells: Cells, *, classes: Mapping[str, str] | None = None
) -> Results:
    """Figures of the test part, and the settings chosen where they were searched."""
    figures = class_figures(model.predict(split.X_test), split.y_test, classes)
    if hasattr(model, "best_index_"):
        figures[""]["chosen"] = float(model.best_index_)
    return {cell: figures[cell.config] for cell in cells}


def _price_errors(scored: Any, split: Partition, cells: Cells) -> Results:
    """Means over the folds of the training part: of roots, not roots of the mean."""
    folds = [price_figures(predictions, y)[""] for predictions, y in scored.folds_]
    means = {name: float(np.mean([fold[name] for fold in folds])) for name in folds[0]}
    scores = [fold["r2"] for fold in folds]
    return {cell: fold_figures(scores) if cell.config == FOLDS else means for cell in cells}


def _accuracy_of_folds(scored: Any, split: Partition, cells: Cells) -> Results:
    scores = [_percent(np.mean(predictions == y)) for predictions, y in scored.folds_]
    return dict.fromkeys(cells, fold_figures(scores))


def fold_figures(scores: Sequence[float]) -> dict[str, float]:
    """Scores on folds as figures by name."""
    return {f"fold_{number}": score for number, score in enumerate(scores, start=1)}


#: From a fitted model, the split and the cells to the results, with options of a TOML file.
MEASURES: dict[str, Callable[..., Results]] = {
    "test error": _test_error,
    "test error of the first members": _first_members,
    "test error of committees": _committees,
    "errors of the first members in order": _in_order,
    "curves of ordered pools": _pools,
    "fold outcome": _fold_outcome,
    "tree size": _tree_size,
    "test error and leaves": _error_and_leaves,
    "members above the limit": _above_limit,
    "searches": _searches,
    "description": _description,
    "seconds to fit": _seconds_to_fit,
    "seconds to order": _seconds_to_order,
    "class scores": _class_scores,
    "price errors of folds": _price_errors,
    "accuracy of folds": _accuracy_of_folds,
}
