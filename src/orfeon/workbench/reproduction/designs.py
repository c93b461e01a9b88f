"""How training and test sets are drawn: random splits, or repeated cross-validation."""

from __future__ import annotations

import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orfeon.workbench.reproduction.folds import Folds
from orfeon.workbench.reproduction.partitions import Partition, Partitions
from orfeon.workbench.reproduction.published import published_folds, published_sizes

_Folder = str | os.PathLike[str] | None


class Problem(typing.Protocol):
    """A problem that can be split again and again."""

    name: str

    def describe(self, split: int) -> str:
        """Name a split."""

    def is_available(self) -> bool:
        """Whether there is all that it needs."""

    def load(self) -> None:
        """Read its file, if it has one."""

    def digest(self) -> str | None:
        """A word that changes with the content of its file; None without one."""

    def settings(self) -> Mapping[str, Any]:
        """What splits are drawn from, and how."""

    def draw(self, split: int) -> Partition:
        """One split."""


class Design(typing.Protocol):
    """Makes the problems of a table."""

    def problem(self, table: str, dataset: str, folder: _Folder = None) -> Problem:
        """The splits of a data set."""


@dataclass(frozen=True)
class RandomSplits:
    """Training and test sets of the published sizes, drawn at random.

    Parameters
    ----------
    stratified : bool
        Whether splits keep the shares of the classes.
    files : mapping of str to str
        Names of the data files that differ from those of the data sets.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import RandomSplits
    >>> RandomSplits(stratified=True).problem("martinez-4.2", "waveform").sizes
    Sizes(n_train=300, n_test=5000)
    """

    stratified: bool
    files: Mapping[str, str] = field(default_factory=dict, hash=False)

    def problem(self, table: str, dataset: str, folder: _Folder = None) -> Partitions:
        """The splits of a data set.

        Parameters
        ----------
        table, dataset : str
            The table and one of its data sets.
        folder : path, optional
            Folder of the files, by default that of the environment variable ``ORFEON_DATA``.

        Returns
        -------
        Partitions
            Nothing is read yet.
        """
        sizes = published_sizes(table)[dataset]
        return Partitions(dataset, sizes, self.stratified, self.files.get(dataset), folder)


@dataclass(frozen=True)
class CrossValidation:
    """Stratified folds of two-class problems, as many as published.

    Parameters
    ----------
    positive : mapping of str to tuple of str
        The classes that are positive, by data set.
    files : mapping of str to str
        Names of the data files that differ from those of the data sets.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import CrossValidation
    >>> CrossValidation({"glass": ("headlamps",)}).problem("cantador-6.3.1", "glass").n_folds
    10
    """

    positive: Mapping[str, tuple[str, ...]] = field(hash=False)
    files: Mapping[str, str] = field(default_factory=dict, hash=False)

    def problem(self, table: str, dataset: str, folder: _Folder = None) -> Folds:
        """The folds of a data set.

        Parameters
        ----------
        table, dataset : str
            The table and one of its data sets.
        folder : path, optional
            Folder of the files, by default that of the environment variable ``ORFEON_DATA``.

        Returns
        -------
        Folds
            Nothing is read yet.
        """
        file, n_folds = self.files.get(dataset), published_folds(table)
        return Folds(dataset, self.positive[dataset], n_folds, file, folder)
