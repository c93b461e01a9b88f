"""Random splits into training and test sets, the same for every method and every run.

Split ``k`` of a problem depends on its name and on ``k`` alone: not on how many splits are asked
for, nor on which were drawn before.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.datasets import list_problems, problem
from orfeon.datasets._problem import ClassificationProblem
from orfeon.datasets.folder import DataSet, data_file, has_data_file, read_data
from orfeon.workbench.reproduction.published import Sizes


class Partition(NamedTuple):
    """A training set and a test set.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Partitions, Sizes
    >>> split = Partitions("waveform", Sizes(300, 5000)).draw(0)
    >>> split.X_train.shape, split.y_test.shape
    ((300, 21), (5000,))
    """

    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]


def is_synthetic(name: str) -> bool:
    """Whether a classification problem is drawn from a known distribution.

    Parameters
    ----------
    name : str
        Name of the problem.

    Returns
    -------
    bool
        Whether it is; otherwise its samples are read from a file.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import is_synthetic
    >>> is_synthetic("waveform"), is_synthetic("wine")
    (True, False)
    """
    return name in list_problems() and isinstance(problem(name), ClassificationProblem)


def seeded(name: str, number: int) -> np.random.Generator:
    """Randomness of a split that depends on its problem and its number alone."""
    return np.random.default_rng([zlib.crc32(name.encode()), number])


def digest_of(name: str, folder: str | os.PathLike[str] | None = None) -> str:
    """A word that changes with the content of the file of a data set."""
    return hashlib.sha256(data_file(name, folder).read_bytes()).hexdigest()


def split_rows(
    y: npt.ArrayLike, sizes: Sizes, random_state: np.random.Generator, *, stratified: bool = True
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Choose training and test rows at random.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The classes.
    sizes : Sizes
        How many rows of each kind; both numbers are met exactly.
    random_state : numpy.random.Generator
        Source of randomness.
    stratified : bool, default=True
        Whether each class has its share of both sets, to within one sample.

    Returns
    -------
    train, test : ndarray of int
        Rows, in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.workbench.reproduction import Sizes, split_rows
    >>> y = np.repeat(["a", "b"], [40, 20])
    >>> train, test = split_rows(y, Sizes(30, 30), np.random.default_rng(0))
    >>> np.unique(y[train], return_counts=True)[1].tolist()
    [20, 10]
    """
    labels = np.asarray(y)
    n_train, n_test = sizes
    if min(sizes) < 1 or n_train + n_test > len(labels):
        raise ValueError(
            f"sizes must be at least one each and at most {len(labels)} rows together, got {sizes}"
        )
    order = random_state.permutation(len(labels))
    if not stratified:
        return order[:n_train], order[n_train : n_train + n_test]
    train = _stratified(labels, order, n_train, random_state)
    rest = order[~np.isin(order, train)]
    return train, _stratified(labels, rest, n_test, random_state)


def _stratified(
    labels: npt.NDArray[Any],
    rows: npt.NDArray[np.intp],
    n_chosen: int,
    random_state: np.random.Generator,
) -> npt.NDArray[np.intp]:
    """The first rows of each class, as many as its share; the largest remainders are rounded up."""
    _, codes, counts = np.unique(labels[rows], return_inverse=True, return_counts=True)
    quota, remainder = np.divmod(counts * n_chosen, len(rows))
    n_left = n_chosen - int(quota.sum())
    # Random among equal remainders, so that no class is favoured over the splits.
    largest = np.lexsort((random_state.random(len(counts)), -remainder))[:n_left]
    quota[largest] += 1
    chosen = np.zeros(len(rows), dtype=bool)
    for code, n_rows in enumerate(quota):
        chosen[np.flatnonzero(codes == code)[:n_rows]] = True
    return rows[chosen]


@dataclass
class Partitions:
    """The splits of one problem.

    Synthetic problems are drawn afresh for each split; real ones are read from a folder.

    Parameters
    ----------
    name : str
        Name of the problem.
    sizes : Sizes
        Numbers of training and test samples.
    stratified : bool, default=True
        Whether splits keep the shares of the classes; of a synthetic problem, whether all classes
        have the same number of samples.
    file : str, optional
        Name of the file of a real problem, by default ``name``.
    folder : path, optional
        Folder of the files, by default that of the environment variable ``ORFEON_DATA``.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Partitions, Sizes
    >>> splits = Partitions("twonorm", Sizes(300, 5000))
    >>> splits.draw(3).y_train[:8].tolist() == splits.draw(3).y_train[:8].tolist()
    True
    """

    name: str
    sizes: Sizes
    stratified: bool = True
    file: str | None = None
    folder: str | os.PathLike[str] | None = None
    _data: DataSet | None = field(init=False, repr=False, default=None)

    def describe(self, split: int) -> str:
        """Name a split.

        Parameters
        ----------
        split : int
            Its number, from 0 on.

        Returns
        -------
        str
            The number and what it is of.
        """
        return f"split {split}"

    def is_available(self) -> bool:
        """Whether the file of a real problem is there; synthetic ones always are."""
        return is_synthetic(self.name) or has_data_file(self.file or self.name, self.folder)

    def load(self) -> None:
        """Read the file of a real problem, and refuse one that is too small.

        Examples
        --------
        >>> from orfeon.workbench.reproduction import Partitions, Sizes
        >>> Partitions("waveform", Sizes(300, 5000)).load()  # nothing to read
        """
        if self._data is not None or is_synthetic(self.name):
            return
        path = data_file(self.file or self.name, self.folder)
        data = read_data(path)
        if len(data.y) < sum(self.sizes):
            raise ValueError(
                f"{path} has {len(data.y)} samples; the splits of {self.name} need "
                f"{sum(self.sizes)}."
            )
        self._data = data

    def digest(self) -> str | None:
        """A word that changes with the content of the file; None for a synthetic problem."""
        return None if is_synthetic(self.name) else digest_of(self.file or self.name, self.folder)

    def settings(self) -> dict[str, Any]:
        """What splits are drawn from, and how, as plain values."""
        return {
            "from": "distribution" if is_synthetic(self.name) else f"{self.file or self.name}.csv",
            "n_train": self.sizes.n_train,
            "n_test": self.sizes.n_test,
            "stratified": self.stratified,
        }

    def draw(self, split: int) -> Partition:
        """One split.

        Parameters
        ----------
        split : int
            Its number, from 0 on.

        Returns
        -------
        Partition
            Training and test sets.

        Examples
        --------
        >>> from orfeon.workbench.reproduction import Partitions, Sizes
        >>> Partitions("threenorm", Sizes(100, 50)).draw(7).X_test.shape
        (50, 20)
        """
        if split < 0:
            raise ValueError(f"split must not be negative, got {split}")
        rng = seeded(self.name, split)
        if is_synthetic(self.name):
            drawn = [self._sample(n_rows, rng) for n_rows in self.sizes]
            return Partition(*drawn[0], *drawn[1])
        self.load()
        assert self._data is not None
        X, y = self._data
        train, test = split_rows(y, self.sizes, rng, stratified=self.stratified)
        return Partition(X[train], y[train], X[test], y[test])

    def _sample(self, n_rows: int, rng: np.random.Generator) -> DataSet:
        """Draw samples of a synthetic problem; stratified ones have equally many of each class."""
        source = problem(self.name)
        if not self.stratified:
            return DataSet(*source.sample(n_rows, random_state=rng))
        assert isinstance(source, ClassificationProblem)
        # Who gets the odd one out is drawn.
        classes = (np.arange(n_rows) + rng.integers(source.n_classes)) % source.n_classes
        classes = rng.permutation(classes)
        return DataSet(source._draw_given_classes(classes, rng), classes)
