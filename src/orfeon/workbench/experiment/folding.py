"""How a study divides its samples: outer folds that judge, inner folds that choose.

Outer folds are those of a repeated cross-validation, or random splits as in the theses that the
reproductions follow. Inside the training part of each there is a cross-validation of its own, and
nothing of the outer test part is seen there.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError, UserError

Rows = npt.NDArray[np.int64]
Kind = Literal["cv", "splits"]


class Split(NamedTuple):
    """Rows to train on and rows to test on."""

    train: Rows
    test: Rows


@dataclass(frozen=True)
class Folding:
    """The outer and inner folds of a study."""

    y: npt.NDArray[Any]
    is_stratified: bool
    seed: int
    kind: Kind = "cv"
    n_folds: int = 5
    n_inner_folds: int = 3
    test_share: float = 1 / 3
    groups: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            raise ArgumentError("n_folds", f"must be at least 2; got {self.n_folds}.")
        if self.n_inner_folds < 2:
            raise ArgumentError("n_inner_folds", f"must be at least 2; got {self.n_inner_folds}.")
        if not 0 < self.test_share < 1:
            raise ArgumentError("test_share", f"must lie between 0 and 1; got {self.test_share}.")
        n_parts = len(self.y) if self.groups is None else len(np.unique(self.groups))
        what = "rows" if self.groups is None else "groups"
        if n_parts < max(self.n_folds, 2 * self.n_inner_folds):
            raise ArgumentError(
                "n_folds",
                f"{n_parts} {what} are too few for {self.n_folds} folds and {self.n_inner_folds} "
                "inner folds; use fewer folds, or more data.",
            )
        try:
            self.both(0)
        except ValueError as error:
            raise UserError(
                f"These rows cannot be split this way: {error}. Try another n_folds (--folds), "
                "n_inner_folds (--inner-folds) or test_share (--test-share)."
            ) from error

    def repetition(self, unit: int) -> int:
        """The repetition that an outer fold is in."""
        return unit // self.n_folds if self.kind == "cv" else unit

    def outer(self, unit: int) -> Split:
        """An outer fold."""
        state = self._state(self.repetition(unit))
        if self.kind == "splits":
            return self._random_split(state)
        return self._folds(np.arange(len(self.y)), self.n_folds, state)[unit % self.n_folds]

    def inner(self, unit: int) -> list[Split]:
        """The folds inside the training part of an outer fold."""
        return self._folds(self.outer(unit).train, self.n_inner_folds, self._state(unit, 1))

    def both(self, unit: int) -> tuple[Split, list[Split]]:
        """An outer fold and its inner ones, kept for the next call."""
        known: dict[int, tuple[Split, list[Split]]] = self.__dict__.setdefault("_known", {})
        found = known.get(unit)
        if found is None:
            found = (self.outer(unit), self.inner(unit))
            known.clear()  # runs come one outer fold after another
            known[unit] = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_known"}

    def _state(self, *keys: int) -> int:
        return int(np.random.SeedSequence([self.seed, *keys]).generate_state(1)[0])

    def _folds(self, rows: Rows, n_folds: int, state: int) -> list[Split]:
        """Folds among some rows."""
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        y = self.y[rows]
        groups = None if self.groups is None else self.groups[rows]
        # A class with fewer samples than folds is missing from some of them; nothing to be done.
        by_class = self.is_stratified and np.bincount(y).max() >= n_folds
        if groups is not None:
            kind = StratifiedGroupKFold if by_class else GroupKFold
        else:
            kind = StratifiedKFold if by_class else KFold
        splitter = kind(n_folds, shuffle=True, random_state=state)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            parts = list(splitter.split(np.zeros(len(rows)), y, groups))
        return [Split(rows[train], rows[test]) for train, test in parts]

    def _can_keep_shares(self, n_test: int) -> bool:
        """Whether either side of a random split has room for every class."""
        counts = np.bincount(self.y)
        n_classes = int((counts > 0).sum())
        room = min(n_test, len(self.y) - n_test)
        return int(counts[counts > 0].min()) > 1 and room >= n_classes

    def _random_split(self, state: int) -> Split:
        """A random split; of classes with a single sample some go to either side."""
        from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

        rows = np.arange(len(self.y))
        n_test = max(1, round(self.test_share * len(rows)))
        if self.groups is not None:
            splitter = GroupShuffleSplit(1, test_size=self.test_share, random_state=state)
            train, test = next(splitter.split(rows, groups=self.groups))
        elif self.is_stratified and self._can_keep_shares(n_test):
            kind = StratifiedShuffleSplit(1, test_size=n_test, random_state=state)
            train, test = next(kind.split(rows, self.y))
        else:
            train, test = next(ShuffleSplit(1, test_size=n_test, random_state=state).split(rows))
        return Split(np.sort(train), np.sort(test))
