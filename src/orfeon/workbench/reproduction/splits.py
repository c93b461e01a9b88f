"""Training and test sets, the same for every method and every run.

Split ``k`` of a problem depends on its name and on ``k`` alone: not on how many splits there are,
nor on which were drawn before. The same holds for the folds of a repetition of a cross-validation.
"""

from __future__ import annotations

import abc
import csv
import hashlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.datasets import list_problems, problem
from orfeon.datasets._problem import ClassificationProblem
from orfeon.datasets.folder import DataSet, data_file, has_data_file, read_data
from orfeon.workbench.reproduction.published import Sizes, published_folds, published_sizes
from orfeon.workbench.reproduction.recarey_data import PREPARED

#: The class of interest of a two-class problem, which is the smaller one, and all others.
POSITIVE, NEGATIVE = "positive", "negative"
_Folder = str | os.PathLike[str] | None


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
        Whether each class has its share of both sets, to within one sample. A class of a single
        sample is tested, not learnt.

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
    train = _stratified(labels, order, n_train, random_state, spares=True)
    rest = order[~np.isin(order, train)]
    return train, _stratified(labels, rest, n_test, random_state)


def _stratified(
    labels: npt.NDArray[Any],
    rows: npt.NDArray[np.intp],
    n_chosen: int,
    random_state: np.random.Generator,
    *,
    spares: bool = False,
) -> npt.NDArray[np.intp]:
    """The first rows of each class, as many as its share; the largest remainders are rounded up.

    With ``spares``, a class keeps one of its rows if possible, so a single sample is not chosen.
    """
    _, codes, counts = np.unique(labels[rows], return_inverse=True, return_counts=True)
    quota, remainder = np.divmod(counts * n_chosen, len(rows))
    n_left = n_chosen - int(quota.sum())
    is_used_up = (quota + 1 == counts) & spares
    # Random among equal remainders, so that no class is favoured over the splits.
    largest = np.lexsort((random_state.random(len(counts)), -remainder, is_used_up))[:n_left]
    quota[largest] += 1
    chosen = np.zeros(len(rows), dtype=bool)
    for code, n_rows in enumerate(quota):
        chosen[np.flatnonzero(codes == code)[:n_rows]] = True
    return rows[chosen]


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


class Problem(abc.ABC):
    """A problem that can be split again and again; by default its samples are those of a file."""

    name: str
    file: str | None = None
    folder: _Folder = None
    _data: DataSet | None = None

    @property
    def _file(self) -> str:
        return self.file or self.name

    @property
    def key(self) -> str:
        """What its fits are kept under: problems that are drawn in another way have another one."""
        return self.name

    def describe(self, split: int) -> str:
        """Name a split."""
        return f"split {split}"

    def is_available(self) -> bool:
        """Whether its file, if it has one, exists."""
        return has_data_file(self._file, self.folder)

    def load(self) -> None:
        """Read its file, if it has one, and reject one that does not fit."""
        if self._data is None:
            path = data_file(self._file, self.folder)
            self._data = self._checked(read_data(path), path)

    def _checked(self, data: DataSet, path: Any) -> DataSet:
        return data

    def digest(self) -> str | None:
        """A text that changes with the content of its file; None without one."""
        return hashlib.sha256(data_file(self._file, self.folder).read_bytes()).hexdigest()

    def _loaded(self) -> DataSet:
        self.load()
        assert self._data is not None
        return self._data

    @abc.abstractmethod
    def settings(self) -> dict[str, Any]:
        """What splits are drawn from, and how, as plain values."""

    @abc.abstractmethod
    def draw(self, split: int) -> Partition:
        """One split, by its number from 0 on."""


@dataclass
class Partitions(Problem):
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
    random_classes : bool, default=False
        Whether the classes of a synthetic problem are drawn at random although splits of files
        are stratified.
    as_numbers : tuple of str, optional
        Features of the file with two categories that are read as 0 and 1.
    minority : float, optional
        Share of the first class of a synthetic problem of two classes.

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
    folder: _Folder = None
    random_classes: bool = False
    as_numbers: tuple[str, ...] = ()
    minority: float | None = None
    _data: DataSet | None = field(init=False, repr=False, default=None)

    @property
    def key(self) -> str:
        """What its fits are kept under."""
        changes = ["random classes"] * (self.random_classes and is_synthetic(self.name))
        changes += [f"{name} as a number" for name in self.as_numbers]
        return " ".join([self.name, *changes])

    def is_available(self) -> bool:
        """Whether the file of a real problem is there; synthetic ones always are."""
        return is_synthetic(self.name) or super().is_available()

    def load(self) -> None:
        """Read the file of a real problem, and reject one that is too small."""
        if not is_synthetic(self.name):
            super().load()

    def _checked(self, data: DataSet, path: Any) -> DataSet:
        if len(data.y) < sum(self.sizes):
            raise ValueError(
                f"{path} has {len(data.y)} samples; the splits of {self.name} need "
                f"{sum(self.sizes)}."
            )
        return _with_numbers(data, path, self.as_numbers)

    def digest(self) -> str | None:
        """A text that changes with the content of the file; None for a synthetic problem."""
        return None if is_synthetic(self.name) else super().digest()

    def settings(self) -> dict[str, Any]:
        """What splits are drawn from, and how, as plain values."""
        return {
            "from": "distribution" if is_synthetic(self.name) else f"{self._file}.csv",
            "n_train": self.sizes.n_train,
            "n_test": self.sizes.n_test,
            "stratified": self.stratified and not (self.random_classes and is_synthetic(self.name)),
            **({"as_numbers": list(self.as_numbers)} if self.as_numbers else {}),
            **({} if self.minority is None else {"minority": self.minority}),
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
        X, y = self._loaded()
        train, test = split_rows(y, self.sizes, rng, stratified=self.stratified)
        return Partition(X[train], y[train], X[test], y[test])

    def _sample(self, n_rows: int, rng: np.random.Generator) -> DataSet:
        """Draw samples of a synthetic problem; stratified ones have equally many of each class."""
        shares = None if self.minority is None else (self.minority, 1 - self.minority)
        source = problem(self.name, **({} if shares is None else {"priors": shares}))
        if self.random_classes or not self.stratified:
            return DataSet(*source.sample(n_rows, random_state=rng))
        assert isinstance(source, ClassificationProblem)
        # Which class gets the odd sample is random.
        classes = (np.arange(n_rows) + rng.integers(source.n_classes)) % source.n_classes
        classes = rng.permutation(classes)
        return DataSet(source._draw_given_classes(classes, rng), classes)


def _with_numbers(data: DataSet, path: Any, names: tuple[str, ...]) -> DataSet:
    """Two categories as 0 and 1, in the order of the alphabet."""
    if not names:
        return data
    with Path(path).open(newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    X = data.X.copy()
    for name in names:
        column = X[:, header.index(name)]
        known = sorted({value for value in column if value is not None})
        if len(known) > 2:
            raise ValueError(f"{path}: {name} has {len(known)} categories; at most 2 are allowed.")
        column[:] = [None if value is None else float(known.index(value)) for value in column]
    return DataSet(X, data.y)


@dataclass
class Folds(Problem):
    r"""The folds of one problem, of as many repetitions as needed.

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
    folder: _Folder = None
    _data: DataSet | None = field(init=False, repr=False, default=None)

    def describe(self, split: int) -> str:
        """Name a split by the numbers of its repetition and its fold."""
        repetition, fold = divmod(split, self.n_folds)
        return f"repetition {repetition} fold {fold}"

    def _checked(self, data: DataSet, path: Any) -> DataSet:
        """Reject a file whose classes are not those of the problem."""
        absent = sorted(set(self.positive) - set(data.y.tolist()))
        if absent:
            raise ValueError(f"{path} has no samples of the classes {', '.join(absent)}.")
        is_positive = np.isin(data.y, self.positive)
        n_least = min(int(is_positive.sum()), int((~is_positive).sum()))
        if n_least < self.n_folds:
            raise ValueError(
                f"{path} has {n_least} samples of one class; the {self.n_folds} folds of "
                f"{self.name} need one each."
            )
        return DataSet(data.X, np.where(is_positive, POSITIVE, NEGATIVE))

    def settings(self) -> dict[str, Any]:
        """What folds are drawn from, and how, as plain values."""
        return {
            "from": f"{self._file}.csv",
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
        X, y = self._loaded()
        repetition, number = divmod(split, self.n_folds)
        tested = deal_folds(y, self.n_folds, seeded(self.name, repetition)) == number
        return Partition(X[~tested], y[~tested], X[tested], y[tested])


@dataclass
class WholeFile(Problem):
    """A problem whose file is the training set, and the test set too."""

    name: str
    folder: _Folder = None
    _data: DataSet | None = field(init=False, repr=False, default=None)

    def describe(self, split: int) -> str:
        """Name the only split."""
        return "whole"

    def settings(self) -> dict[str, Any]:
        """What the training set is, as plain values."""
        return {"from": f"{self.name}.csv", "whole": True}

    def draw(self, split: int) -> Partition:
        """The file, twice."""
        X, y = self._loaded()
        return Partition(X, y, X, y)


#: Share of the samples that the models of prepared files are tested on.
TEST_SHARE = 0.2


@dataclass
class FifthForTesting(Problem):
    """A prepared file, or some of its samples, of which a fifth is set aside at random.

    The samples are drawn at random, or ``in_order``: the first ones for the first split, the next
    ones for the second, and so on.
    """

    name: str
    folder: _Folder = None
    n_samples: int | None = None
    in_order: bool = False
    _data: DataSet | None = field(init=False, repr=False, default=None)

    @property
    def key(self) -> str:
        """What its fits are kept under."""
        if self.n_samples is None:
            return self.name
        return f"{self.name} {self.n_samples} samples" + " in order" * self.in_order

    def is_available(self) -> bool:
        """Whether the file is in the folder."""
        return PREPARED[self.name].available(self.folder) is not None

    def load(self) -> None:
        """Read and prepare the file."""
        if self._data is None:
            self._data = PREPARED[self.name].read(self.folder)

    def digest(self) -> str:
        """A text that changes with the prepared data."""
        X, y = self._loaded()
        return hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()

    def settings(self) -> dict[str, Any]:
        """What splits are drawn from, and how, as plain values."""
        files, prepare = PREPARED[self.name]
        return {
            "from": files[0], "prepared": prepare.__name__, "test_share": TEST_SHARE,
            **({} if self.n_samples is None else {"n_samples": self.n_samples}),
            **({"in_order": True} if self.in_order else {}),
        }  # fmt: skip

    def draw(self, split: int) -> Partition:
        """One split; the first one is printed, with the seed 1."""
        from sklearn.model_selection import train_test_split

        X, y = self._loaded()
        if self.n_samples is not None and self.n_samples < len(y):
            rows = np.roll(np.arange(len(y)), -split * self.n_samples)
            if not self.in_order:
                rows = seeded(self.name, split).permutation(len(y))
            X, y = X[rows[: self.n_samples]], y[rows[: self.n_samples]]
        parts = train_test_split(X, y, test_size=TEST_SHARE, random_state=1 + split)
        X_train, X_test, y_train, y_test = parts
        return Partition(X_train.astype(float), y_train, X_test.astype(float), y_test)


_AS_USUAL: Mapping[str, str] = {}
#: How the classes of synthetic problems can be drawn.
SYNTHETIC = ("stratified", "at random")
#: Settings of cells that can change how samples are drawn.
DRAWN_BY = ("n_train", "p_min")
#: How the training and test sets of a table can be drawn.
DESIGNS = ("random splits", "cross-validation", "whole files", "one fifth for testing")


@dataclass(frozen=True)
class Design:
    """How training and test sets are drawn: the part ``design`` of a TOML file."""

    kind: str
    stratified: bool = True
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    positive: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    #: How the classes of synthetic problems are drawn where files are stratified.
    synthetic: str = "stratified"
    as_numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    #: Settings of the cells that change how samples are drawn: "n_train" or "p_min".
    drawn_by: tuple[str, ...] = ()

    def problem(
        self, table: str, dataset: str, folder: _Folder = None, drawn: Mapping[str, str] = _AS_USUAL
    ) -> Problem:
        """The splits of a data set; nothing is read yet."""
        file = self.files.get(dataset)
        if self.kind == "random splits":
            sizes = published_sizes(table)[dataset]
            if "n_train" in drawn:
                sizes = sizes._replace(n_train=int(drawn["n_train"]))
            return Partitions(
                dataset, sizes, self.stratified, file, folder,
                self.synthetic == "at random", tuple(self.as_numbers.get(dataset, ())),
                float(drawn["p_min"]) if "p_min" in drawn else None,
            )  # fmt: skip
        if self.kind == "cross-validation":
            positive = tuple(self.positive[dataset])
            return Folds(dataset, positive, published_folds(table), file, folder)
        if self.kind == "whole files":
            return WholeFile(dataset, folder)
        n_samples = drawn.get("samples")
        in_order = "in_order" in drawn
        return FifthForTesting(
            dataset, folder, None if n_samples is None else int(n_samples), in_order
        )
