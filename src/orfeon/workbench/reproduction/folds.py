"""Repeated stratified cross-validation of two-class problems, the same for every method.

The folds of a repetition depend on the name of the problem and on the number of the repetition
alone. Each fold is a split like any other: the fold is its test set, the rest its training set.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.datasets.folder import DataSet, data_file, has_data_file, read_data
from orfeon.workbench.reproduction.fold_outcome import NEGATIVE, POSITIVE
from orfeon.workbench.reproduction.partitions import Partition, digest_of, seeded


def deal_folds(
    y: npt.ArrayLike, n_folds: int, random_state: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Deal the rows to folds at random, class by class.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The classes.
    n_folds : int
        Number of folds.
    random_state : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        The fold of each row. The folds differ by at most one sample, and by at most one of each
        class.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.workbench.reproduction import deal_folds
    >>> y = np.repeat(["a", "b"], [14, 6])
    >>> fold = deal_folds(y, 5, np.random.default_rng(0))
    >>> np.bincount(fold).tolist(), np.bincount(fold[y == "b"]).tolist()
    ([4, 4, 4, 4, 4], [1, 1, 1, 1, 2])
    """
    labels = np.asarray(y)
    if not 2 <= n_folds <= len(labels):
        raise ValueError(f"n_folds must be from 2 to {len(labels)}, the rows; got {n_folds}")
    rows = random_state.permutation(len(labels))
    # Class after class, each where the last one ended: the sizes differ by no more than one.
    rows = rows[np.argsort(labels[rows], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[rows] = np.arange(len(labels)) % n_folds
    return fold


@dataclass
class Folds:
    r"""The folds of one problem, of as many repetitions as are asked for.

    Parameters
    ----------
    name : str
        Name of the problem.
    positive : tuple of str
        The classes that are "positive" together; all others are "negative".
    n_folds : int, default=10
        Number of folds of a repetition.
    file : str, optional
        Name of the file, by default ``name``.
    folder : path, optional
        Folder of the files, by default that of the environment variable ``ORFEON_DATA``.

    Examples
    --------
    Split 3 of five folds is the fourth fold of the first repetition:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from orfeon.workbench.reproduction import Folds
    >>> with TemporaryDirectory() as folder:
    ...     lines = [f"{row},{'abc'[row % 3]}" for row in range(60)]
    ...     _ = (Path(folder) / "letters.csv").write_text("\n".join(["u,class", *lines]))
    ...     folds = Folds("letters", ("b",), n_folds=5, folder=folder)
    ...     split = folds.draw(3)
    >>> folds.describe(3), len(split.y_train), sorted(split.y_test.tolist())[-5:]
    ('repetition 0 fold 3', 48, ['negative', 'positive', 'positive', 'positive', 'positive'])
    """

    name: str
    positive: tuple[str, ...]
    n_folds: int = 10
    file: str | None = None
    folder: str | os.PathLike[str] | None = None
    _data: DataSet | None = field(init=False, repr=False, default=None)

    def describe(self, split: int) -> str:
        """Name a split.

        Parameters
        ----------
        split : int
            Its number, from 0 on; folds are counted through all repetitions.

        Returns
        -------
        str
            The numbers of its repetition and of its fold.
        """
        repetition, fold = divmod(split, self.n_folds)
        return f"repetition {repetition} fold {fold}"

    def is_available(self) -> bool:
        """Whether the file of the problem is there."""
        return has_data_file(self.file or self.name, self.folder)

    def load(self) -> None:
        """Read the file, and refuse one whose classes are not those of the problem."""
        if self._data is not None:
            return
        path = data_file(self.file or self.name, self.folder)
        X, y = read_data(path)
        absent = sorted(set(self.positive) - set(y.tolist()))
        if absent:
            raise ValueError(f"{path} has no samples of the classes {', '.join(absent)}.")
        is_positive = np.isin(y, self.positive)
        n_least = min(int(is_positive.sum()), int((~is_positive).sum()))
        if n_least < self.n_folds:
            raise ValueError(
                f"{path} has {n_least} samples of one class; the {self.n_folds} folds of "
                f"{self.name} need one each."
            )
        self._data = DataSet(X, np.where(is_positive, POSITIVE, NEGATIVE))

    def digest(self) -> str:
        """A word that changes with the content of the file."""
        return digest_of(self.file or self.name, self.folder)

    def settings(self) -> dict[str, Any]:
        """What folds are drawn from, and how, as plain values."""
        return {
            "from": f"{self.file or self.name}.csv",
            "n_folds": self.n_folds,
            "stratified": True,
            "positive": list(self.positive),
        }

    def draw(self, split: int) -> Partition:
        """One fold, and the rest to train on.

        Parameters
        ----------
        split : int
            Its number, from 0 on; folds are counted through all repetitions.

        Returns
        -------
        Partition
            Training and test sets.
        """
        if split < 0:
            raise ValueError(f"split must not be negative, got {split}")
        self.load()
        assert self._data is not None
        X, y = self._data
        repetition, number = divmod(split, self.n_folds)
        tested = deal_folds(y, self.n_folds, seeded(self.name, repetition)) == number
        return Partition(X[~tested], y[~tested], X[tested], y[tested])
