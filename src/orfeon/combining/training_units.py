"""Training samples as estimators of any kind take them, and the folds that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.combining.out_of_fold import Split, check_splits, splits_of
from orfeon.data.training_set import hash_rows
from orfeon.ensembles.holdout import deal_folds
from orfeon.utils.scikit_learn import _num_samples, _safe_indexing
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Units:
    """Training samples as estimators of any kind take them.

    Whole-number weights are copies. The order is one of content, so that the same samples give the
    same estimators however they were written down; or that in which the rows were given.
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
        """A number for each unit that copies of one sample share."""
        return np.unique(hash_rows(self.encoded, self.ranks), return_inverse=True)[1]

    @property
    def is_constant(self) -> bool:
        """Whether all have the same class, or the same target: there is nothing to learn."""
        return bool((self.y == self.y[0]).all())

    def generator(self, *keys: int) -> np.random.Generator:
        """A random generator for one use of stacking and its kin."""
        return np.random.default_rng(branch(self.seeds, Purpose.STACKING, *keys))

    def seed(self, *keys: int) -> int:
        """A seed for one use of stacking and its kin."""
        word = branch(self.seeds, Purpose.STACKING, *keys).generate_state(1, np.uint64)[0]
        return int(word >> np.uint64(1))

    def fold_numbers(self, n_folds: int, *keys: int) -> Integers:
        """Part the units into folds by content, copies together, classes spread over all folds."""
        ranks = self.ranks
        return deal_folds(
            hash_rows(self.encoded, ranks), ranks, self.weights, n_folds, self.generator(*keys),
            by_class=self.n_classes > 0,
        )  # fmt: skip

    def on_given_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the units as values of the rows given."""
        whole = np.full((self.n_given, *values.shape[1:]), np.nan)
        whole[self.rows] = values
        return whole


def can_be_learnt_from(
    trained: npt.NDArray[np.bool_], queried: npt.NDArray[np.bool_], units: Units
) -> bool:
    """Whether what models say of samples they have not seen is more than the opposite of them.

    A model that has met no sample of a class denies it to all. Where every model was asked about
    the last sample of its class, the answers are wrong throughout, and what learns from them
    learns to contradict. In regression it is so with two samples, each of which is told the value
    of the other.
    """
    if not units.n_classes:
        return len(np.unique(units.copies)) > 2
    n_told = 0
    for label in np.unique(units.y):
        of_it = units.y == label
        n_told += bool((trained[:, of_it].any(axis=1) & queried[:, of_it].any(axis=1)).any())
    return n_told > 1


def folds_can_be_learnt_from(splits: Sequence[Split], units: Units) -> bool:
    """The same of folds."""
    trained, queried = np.zeros((2, len(splits), len(units)), dtype=bool)
    for f, split in enumerate(splits):
        trained[f, split.train] = queried[f, split.test] = True
    return can_be_learnt_from(trained, queried, units)


def read_splits(cv: Any, units: Units, X: Any, groups: Any = None) -> list[Split]:
    """The folds that ``cv`` asks for, over the units."""
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
