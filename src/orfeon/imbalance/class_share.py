"""How the share of the minority in the training set changes a classifier.

The natural class distribution is seldom the best one to learn from. At a fixed number of training
samples, AUC often peaks near equal shares, and the error rate near the natural share. Here each
share is drawn from the training part of a split, without replacement, and evaluated on the test
part, which keeps its natural distribution. With costs, the cheapest share is the best class
ratio.

References
----------
Weiss and Provost (2003). Learning when training data are costly: the effect of class distribution
on tree induction. Journal of Artificial Intelligence Research 19, 315-354.
Chan and Stolfo (1998). Toward scalable learning with non-uniform class and cost distributions: a
case study in credit card fraud detection. Proceedings of the 4th International Conference on
Knowledge Discovery and Data Mining, 164-168.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from orfeon.imbalance.cost_classifier import read_costs
from orfeon.imbalance.metrics import minority_class
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.seeding import branch, seed_sequence
from orfeon.utils.types import Floats, Integers

#: The shares of Weiss and Provost; the natural one is added.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class ClassShareStudy:
    """Scores by share of the minority in the training set.

    Parameters
    ----------
    shares : ndarray of shape (n_shares,)
        Shares of the minority, increasing; the natural one is among them.
    natural_share : float
        Share of the minority in all samples.
    minority : object
        The minority class.
    n_train : int
        Number of samples of each training set.
    auc, error, cost : ndarray of shape (n_shares, n_repeats)
        Area under the ROC curve, error rate and mean cost of the test parts.
    """

    shares: Floats
    natural_share: float
    minority: Any
    n_train: int
    auc: Floats
    error: Floats
    cost: Floats

    @property
    def best_ratio(self) -> float:
        """Majority samples per minority sample at the share with the lowest mean cost."""
        share = self.shares[self.cost.mean(axis=1).argmin()]
        return float((1.0 - share) / share)


def class_share_study(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    shares: Sequence[float] = SHARES,
    costs: Any = None,
    n_repeats: int = 10,
    random_state: Any = None,
) -> ClassShareStudy:
    """Train at several shares of the minority, with the same number of samples each.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba`` or ``decision_function``; it is cloned.
    X : array or data frame of shape (n_rows, n_features)
        Samples.
    y : array of shape (n_rows,)
        Two classes.
    shares : sequence of float, default=(0.02, 0.05, 0.1, ..., 0.9, 0.95)
        Shares of the minority between 0 and 1; the natural share is added.
    costs : dict or matrix, optional
        Cost of an error by true class, or of predicting class j for class i, as in
        :class:`CostSensitiveClassifier`. By default every error costs 1.
    n_repeats : int, default=10
        Number of random splits, a quarter of the samples for testing.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the splits, the samples, and every ``random_state`` of the estimator that is None.

    Returns
    -------
    ClassShareStudy
        AUC, error rate, mean cost, and the best class ratio.

    Notes
    -----
    The number of training samples is the largest at which every share can be drawn, at most that
    of the minority of a training part divided by the largest share.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> from orfeon.imbalance import class_share_study
    >>> X, y = make_gaussian_clouds(2000, priors=(0.9, 0.1), random_state=0)
    >>> study = class_share_study(
    ...     CARTClassifier(min_samples_leaf=5, random_state=0), X, y, shares=(0.1, 0.3, 0.5),
    ...     costs={0: 1, 1: 10}, n_repeats=5, random_state=0,
    ... )
    >>> study.n_train, study.shares
    (298, array([0.0995, 0.1   , 0.3   , 0.5   ]))
    >>> study.auc.mean(axis=1).round(2), study.best_ratio
    (array([0.88, 0.88, 0.93, 0.95]), 1.0)
    """
    y = np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; class_share_study needs two.")
    given = np.asarray(list(shares), dtype=np.float64)
    if not len(given) or not ((given > 0) & (given < 1)).all():
        raise ValueError(f"shares={shares!r} is not allowed; give numbers between 0 and 1.")
    if n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats} is not allowed; give at least 1.")
    prices = np.ones((2, 2)) - np.eye(2)
    if costs is not None:
        prices = read_costs(costs, classes, codes, np.ones(len(y))).matrix
    minority = minority_class(y)
    is_minor = y == minority
    natural = float(is_minor.mean())
    wanted = np.unique([*given, natural])
    seeds = seed_sequence(random_state)
    splits = list(
        StratifiedShuffleSplit(
            n_repeats, test_size=0.25, random_state=int(seeds.generate_state(1)[0] >> 1)
        ).split(codes, codes)
    )
    n_train = min(_largest_size(is_minor[train], wanted) for train, _ in splits)
    scores = np.empty((3, len(wanted), n_repeats))
    for repeat, (train, test) in enumerate(splits):
        rng = np.random.default_rng(branch(seeds, repeat))
        orders = [rng.permutation(train[is_minor[train] == side]) for side in (True, False)]
        for place, share in enumerate(wanted):
            n_minor = _n_minor(share, n_train)
            rows = np.sort(np.concatenate([orders[0][:n_minor], orders[1][: n_train - n_minor]]))
            model = _seeded(estimator, rng).fit(_safe_indexing(X, rows), y[rows])
            scores[:, place, repeat] = _scores(
                model, _safe_indexing(X, test), codes[test], classes, prices
            )
    return ClassShareStudy(wanted, natural, minority, n_train, *scores)


def _seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """A clone whose open seeds are drawn, so that ``random_state`` fixes the whole study."""
    model = clone(estimator)
    names = sorted(name for name in model.get_params() if name.endswith("random_state"))
    open_seeds = [name for name in names if model.get_params()[name] is None]
    return model.set_params(**{name: int(rng.integers(2**31)) for name in open_seeds})


def _n_minor(share: float, n_train: int) -> int:
    """Minority samples among ``n_train``; at least one of each class."""
    return min(max(round(share * n_train), 1), n_train - 1)


def _largest_size(is_minor: npt.NDArray[np.bool_], shares: Floats) -> int:
    """The largest training set of which every share can be drawn."""
    n_minor, n_major = int(is_minor.sum()), int((~is_minor).sum())
    size = int(min((n_minor / shares).min(), (n_major / (1.0 - shares)).min()))
    while any(_n_minor(s, size) > n_minor or size - _n_minor(s, size) > n_major for s in shares):
        size -= 1
    if size < 2:
        raise ValueError(f"the minority has only {n_minor} training samples; give more samples.")
    return size


def _scores(
    model: Any,
    X: Any,
    codes: Integers,
    classes: npt.NDArray[Any],
    prices: Floats,
) -> tuple[float, float, float]:
    predicted = np.searchsorted(classes, model.predict(X))
    if hasattr(model, "predict_proba"):
        scores = model.predict_proba(X)[:, 1]
    else:
        scores = model.decision_function(X)
    auc = roc_auc_score(codes, scores)  # the same whichever class is positive
    return float(auc), float((predicted != codes).mean()), float(prices[codes, predicted].mean())
