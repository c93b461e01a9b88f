"""Bagging whose members are put in a better order, and the first of them kept.

The order is chosen on the training set. All rules order the members of one bag, so that one fit
fills the cells of all rules and shares, for training errors as well as for test errors.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de
Madrid. Chapter 5.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import orfeon
from orfeon.ordering.orientation import NEAR_DIAGONAL
from orfeon.workbench.reproduction.curve import Curve
from orfeon.workbench.reproduction.partitions import Partition
from orfeon.workbench.reproduction.runs import Cell, Results, Run, error_percent

#: Shares of the members that are kept, in percent.
_SHARES = (10, 20, 40)
_RULES = ("reduce_error", "complementarity", "margin_distance", "orientation", "boosting_based")
_POOL_RULES = ("reduce_error", "margin_distance", "boosting_based")
_POOLS = (11, 25, 51, 75, 101, 151, 201, 251, 501, 751, 1000)
_TRAIN, _TEST, _BY_POOL = "martinez-5.7", "martinez-5.8", "martinez-5.4"


def pruned_bag(members: int, random_state: int, n_jobs: int | None) -> Any:
    """Bagging of CART trees that are pruned by cross-validation."""
    tree = orfeon.CARTClassifier(pruning="cv")
    return orfeon.BaggingClassifier(
        tree, n_estimators=members, random_state=random_state, n_jobs=n_jobs
    )


def codes_with_unseen(ensemble: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Indices into the classes of an ensemble."""
    codes = np.searchsorted(ensemble.classes_, y)
    known = ensemble.classes_[np.minimum(codes, len(ensemble.classes_) - 1)] == y
    return np.where(known, codes, len(ensemble.classes_))


def _percent(fraction: float) -> float:
    return round(100.0 * float(fraction), 10)


def _shares_kept(bag: Any, split: Partition) -> Results:
    """Training and test errors of the bag, and of the first members in each order."""
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    results = {
        Cell(_TRAIN, "bagging", "keep=100%"): error_percent(
            bag.predict(split.X_train), split.y_train
        ),
        Cell(_TEST, "bagging", "keep=100%"): error_percent(bag.predict(split.X_test), split.y_test),
    }
    for rule in _RULES:
        order = orfeon.order(votes, y=y, rule=rule)
        test_curve = order.test_curve(votes_test, y=y_test)
        for share in _SHARES:
            last = order.size(share / 100) - 1
            config = f"keep={share}%"
            results[Cell(_TRAIN, rule, config)] = _percent(order.error_curve[last])
            results[Cell(_TEST, rule, config)] = _percent(test_curve[last])
    return results


def _first_pools(bag: Any, split: Partition) -> Results:
    """Test errors at all sizes, of the first members of the bag put in order among themselves."""
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    results = {}
    for pool, rule in product(_POOLS, _POOL_RULES):
        if pool <= len(votes):
            order = orfeon.order(votes[:pool], y=y, rule=rule)
            wrong = np.rint(order.test_curve(votes_test[:pool], y=y_test) * len(y_test))
            curve = Curve(tuple(wrong.astype(int).tolist()), len(y_test))
            results[Cell(_BY_POOL, rule, f"initial_size={pool}")] = curve
    return results


#: 200 trees in five orders: training errors and test errors of the first 10, 20 and 40 percent.
ORDERED_BAGGING = Run(
    "ordered bagging",
    tuple(
        cell
        for table in (_TRAIN, _TEST)
        for cell in (
            Cell(table, "bagging", "keep=100%"),
            *(Cell(table, rule, f"keep={share}%") for rule, share in product(_RULES, _SHARES)),
        )
    ),
    200,
    pruned_bag,
    _shares_kept,
    expected_warning=NEAR_DIAGONAL,
)
#: 1000 trees: the first 11, the first 25 and so on are ordered, and errors kept at all sizes.
ORDERED_POOLS = Run(
    "ordered pools",
    tuple(
        Cell(_BY_POOL, rule, f"initial_size={pool}") for pool, rule in product(_POOLS, _POOL_RULES)
    ),
    1000,
    pruned_bag,
    _first_pools,
)
