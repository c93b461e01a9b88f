"""Training examples as estimators of any kind take them, and the folds that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from orfeon.combining.out_of_fold import Split, check_splits, splits_of
from orfeon.ensembles.setting_aside import deal_folds
from orfeon.ensembles.units import hash_rows
from orfeon.seeding import Purpose, branch

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """Training examples as estimators of any kind take them.

    Whole-number weights are copies. The order is one of content, so that the same examples give the
    same estimators however they were written down; or that in which the rows were given.

    Parameters
    ----------
    table : ndarray or data frame of shape (n_units, n_attributes)
        What members are fitted to.
    encoded : ndarray of shape (n_units, n_attributes)
        The same in numbers, by the schema.
    y : ndarray of shape (n_units,)
        Class codes, or targets.
    labels : ndarray of shape (n_units,)
        Classes as they were given, or targets.
    weights : ndarray of shape (n_units,)
        Weights, 1 on average.
    rows : ndarray of shape (n_units,)
        Which of the rows given each unit is.
    n_given : int
        How many rows were given.
    n_classes : int
        Number of classes, 0 in regression.
    seeds : numpy.random.SeedSequence
        Source of all randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.training_units import Units
    >>> X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1])
    >>> units = Units(X, X, y, y, np.ones(3), np.array([2, 2, 0]), 3, 2, np.random.SeedSequence(0))
    >>> units.copies.tolist(), units.on_given_rows(y / 2)
    ([0, 0, 1], array([0.5, nan, 0. ]))
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
        """A number for each unit that copies of one example share."""
        return np.unique(hash_rows(self.encoded, self.ranks), return_inverse=True)[1]

    @property
    def is_constant(self) -> bool:
        """Whether all have the same class, or the same target: there is nothing to learn."""
        return bool((self.y == self.y[0]).all())

    def generator(self, *keys: int) -> np.random.Generator:
        """A random generator for one use of stacking and its kin.

        Parameters
        ----------
        *keys : int
            Which use.

        Returns
        -------
        numpy.random.Generator
            Its own.
        """
        return np.random.default_rng(branch(self.seeds, Purpose.STACKING, *keys))

    def seed(self, *keys: int) -> int:
        """A seed for one use of stacking and its kin.

        Parameters
        ----------
        *keys : int
            Which use, or which member.

        Returns
        -------
        int
            The seed.
        """
        word = branch(self.seeds, Purpose.STACKING, *keys).generate_state(1, np.uint64)[0]
        return int(word >> np.uint64(1))

    def fold_numbers(self, n_folds: int, *keys: int) -> Integers:
        """Part the units into folds by content, copies together, classes spread over all folds.

        Parameters
        ----------
        n_folds : int
            How many.
        *keys : int
            Which of several ways to do it at random.

        Returns
        -------
        ndarray of shape (n_units,)
            Fold of each unit.
        """
        ranks = self.ranks
        return deal_folds(
            hash_rows(self.encoded, ranks), ranks, self.weights, n_folds, self.generator(*keys),
            by_class=self.n_classes > 0,
        )  # fmt: skip

    def on_given_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the units as values of the rows given.

        Parameters
        ----------
        values : ndarray of shape (n_units, ...)
            Copies of a row have the same.

        Returns
        -------
        ndarray of shape (n_given, ...)
            NaN for rows of weight 0.
        """
        whole = np.full((self.n_given, *values.shape[1:]), np.nan)
        whole[self.rows] = values
        return whole


def can_be_learnt_from(
    trained: npt.NDArray[np.bool_], asked: npt.NDArray[np.bool_], units: Units
) -> bool:
    """Whether what models say of examples they have not seen is more than the opposite of them.

    A model that has met no example of a class denies it to all. Where every model was asked about
    the last example of its class, the answers are wrong throughout, and what learns from them
    learns to contradict. In regression it is so with two examples, each of which is told the value
    of the other.

    Parameters
    ----------
    trained : ndarray of bool of shape (n_models, n_units)
        Which examples each model was trained on.
    asked : ndarray of bool of shape (n_models, n_units)
        Which it is asked about.
    units : Units
        The examples.

    Returns
    -------
    bool
        Whether there are two classes at least of which some model was asked that has met them; or
        three examples at least.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.training_units import Units, can_be_learnt_from
    >>> X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> def units(n):
    ...     rows = np.arange(n)
    ...     seeds = np.random.SeedSequence(0)
    ...     return Units(X[:n], X[:n], y[:n], y[:n], np.ones(n), rows, n, 2, seeds)
    >>> one_each = [np.eye(n, dtype=bool) for n in (2, 4)]
    >>> [can_be_learnt_from(~asked, asked, units(len(asked))) for asked in one_each]
    [False, True]
    """
    if not units.n_classes:
        return len(np.unique(units.copies)) > 2
    n_told = 0
    for label in np.unique(units.y):
        of_it = units.y == label
        n_told += bool((trained[:, of_it].any(axis=1) & asked[:, of_it].any(axis=1)).any())
    return n_told > 1


def folds_can_be_learnt_from(splits: Sequence[Split], units: Units) -> bool:
    """The same of folds.

    Parameters
    ----------
    splits : sequence of Split
        What models are trained on and asked about.
    units : Units
        The examples.

    Returns
    -------
    bool
        Whether what they say can be learnt from.
    """
    trained, asked = np.zeros((2, len(splits), len(units)), dtype=bool)
    for f, split in enumerate(splits):
        trained[f, split.train] = asked[f, split.test] = True
    return can_be_learnt_from(trained, asked, units)


def read_splits(cv: Any, units: Units, X: Any, groups: Any = None) -> list[Split]:
    """The folds that ``cv`` asks for, over the units.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        A number of folds, drawn by content, 5 for None; or splits of the rows given.
    units : Units
        The examples; in the order of the rows unless ``cv`` is a number.
    X : table
        The rows given, for splitters.
    groups : array of shape (n_given,), optional
        What splitters keep together, such as :class:`sklearn.model_selection.GroupKFold`.

    Returns
    -------
    list of Split
        The folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from orfeon.combining.training_units import Units, read_splits
    >>> X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1])
    >>> units = Units(X, X, y, y, np.ones(3), np.array([0, 0, 1]), 2, 2, np.random.SeedSequence(0))
    >>> [test.tolist() for _, test in read_splits(KFold(2), units, X[1:])]
    [[0, 1], [2]]
    """
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
        # Some splitters take no groups, and need not.
        grouped = () if groups is None else (_safe_indexing(groups, rows),)
        found = check_splits(cv.split(X, units.labels[first], *grouped), len(rows))
        found = [Split(rows[train], rows[test]) for train, test in found]
    else:
        found = check_splits(cv, units.n_given)
    parts = [tuple(np.flatnonzero(np.isin(units.rows, part)) for part in split) for split in found]
    return [Split(*part) for part in parts if len(part[1])]
