"""One fit and the cells it fills; and a protocol, which is made of such fits."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.workbench.reproduction.curve import Curve
from orfeon.workbench.reproduction.designs import Design
from orfeon.workbench.reproduction.fold_outcome import FoldOutcome
from orfeon.workbench.reproduction.partitions import Partition
from orfeon.workbench.reproduction.published import PublishedCell, read_config
from orfeon.workbench.reproduction.rules import POINTS, Rule

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.comparison import Comparison
    from orfeon.workbench.reproduction.report import Report
    from orfeon.workbench.reproduction.reproduction import Reproduction
    from orfeon.workbench.reproduction.significance import Tested


class Cell(NamedTuple):
    """A cell of a published table, whatever the data set.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Cell
    >>> Cell("martinez-5.8", "orientation", "keep=20%").method
    'orientation'
    """

    table: str
    method: str
    config: str


#: What a fit says of a cell: an error in percent, the errors at all sizes, what it has right, or
#: figures by the name of their measure.
Result = float | Curve | FoldOutcome | Mapping[str, float]
Results = Mapping[Cell, Result]
#: From the number of members, the seed and the number of threads to an estimator.
Build = Callable[[int, int, int | None], Any]
#: From a fitted estimator and the split it was fitted on to the results.
Measure = Callable[[Any, Partition], Results]


@dataclass(frozen=True)
class Run:
    """One fit, which fills one cell or several, of one table or several.

    Parameters
    ----------
    name : str
        What is fitted.
    cells : tuple of Cell
        The cells that it fills.
    members : int
        Number of members that are trained.
    build : callable
        Makes the estimator from ``members``, ``random_state`` and ``n_jobs``.
    measure : callable
        Gives the results of the cells from the fitted estimator and the split.
    expected_warning : str, optional
        Pattern of a warning that the published settings are known to cause.
    on_request : bool, default=False
        Whether it is so slow that it is only run when its method is named.
    pool_setting : str, default="initial_size"
        The setting of a cell that says how many members it needs, where it is about the first ones.

    Examples
    --------
    >>> from orfeon.workbench import PROTOCOLS
    >>> [(run.name, run.members) for run in PROTOCOLS["martinez-3.2"].runs]
    [('cart', 1), ('igp_tree', 1)]
    """

    name: str
    cells: tuple[Cell, ...]
    members: int
    build: Build
    measure: Measure
    expected_warning: str | None = None
    on_request: bool = False
    pool_setting: str = "initial_size"

    def at_most(self, members: int) -> Run:
        """The same run with fewer members.

        Parameters
        ----------
        members : int
            Largest number of members.

        Returns
        -------
        Run
            Without the cells of pools that are larger than that.

        Examples
        --------
        >>> from orfeon.workbench import PROTOCOLS
        >>> (run,) = PROTOCOLS["martinez-5.4"].runs
        >>> len(run.cells), run.members, len(run.at_most(100).cells), run.at_most(100).members
        (33, 1000, 12, 100)
        """
        members = min(members, self.members)
        settings = [read_config(cell.config) for cell in self.cells]
        pools = [int(found.get(self.pool_setting, 1)) for found in settings]
        cells = [cell for cell, pool in zip(self.cells, pools, strict=True) if pool <= members]
        return replace(self, members=members, cells=tuple(cells))


def _points(cell: PublishedCell) -> Rule:
    return POINTS


@dataclass(frozen=True)
class Protocol:
    """How a published table was made.

    Parameters
    ----------
    table : str
        The table.
    design : RandomSplits or CrossValidation
        How training and test sets are drawn.
    runs : tuple of Run
        The fits that fill its cells.
    seeded_as : str, optional
        The table whose seeds are used, by default its own: tables that share their fits must
        share their seeds.
    conclude : callable, optional
        Says in words and numbers what follows from all cells together.
    quick_datasets : tuple of str, optional
        The data sets of a quick run that names none; all by default.
    follows_from : str, optional
        The table whose cells are run, where this one only counts them.
    is_timed : bool, default=False
        Whether it is about seconds: then nothing else is run at the same time.
    rule : callable, optional
        Gives the rule by which a cell agrees; by default that of errors and accuracies.
    compare : callable, optional
        Gives the comparisons of a reproduction, where they are not of its cells one by one.
    report : callable, optional
        Gives the report of a reproduction, where it is not a table of such comparisons.
    tested : Tested, optional
        Which methods are tested for significance against which.
    title : str, optional
        What is in the table, in a few words.
    alias : str, optional
        Another name of the table.
    quick_runs : tuple of Run, optional
        The fits of a quick run, where fewer members do not make it quick; their names differ.
    quick_note : str, optional
        What is quick about them.

    Examples
    --------
    >>> from orfeon.workbench import PROTOCOLS
    >>> PROTOCOLS["martinez-3.2"].design.files["german"]
    'german_numeric'
    """

    table: str
    design: Design
    runs: tuple[Run, ...]
    seeded_as: str | None = None
    conclude: Callable[[Reproduction], str] | None = None
    quick_datasets: tuple[str, ...] = ()
    follows_from: str | None = None
    is_timed: bool = False
    rule: Callable[[PublishedCell], Rule] = _points
    compare: Callable[[Reproduction], list[Comparison]] | None = None
    report: Callable[[Reproduction], Report] | None = None
    tested: Tested | None = None
    title: str = ""
    alias: str = ""
    quick_runs: tuple[Run, ...] = ()
    quick_note: str = ""

    @property
    def source(self) -> str:
        """The table whose cells are run: its own, or the one that it follows from."""
        return self.follows_from or self.table

    @property
    def family(self) -> str:
        """The table that names the results: tables of a family share seeds, and so fits."""
        return self.seeded_as or self.source

    @property
    def on_request(self) -> frozenset[str]:
        """The methods that are only run when they are named."""
        return frozenset(
            cell.method
            for run in self.runs
            for cell in run.cells
            if run.on_request and cell.table == self.source
        )

    def random_state(self, split: int) -> int:
        """Seed of all fits on a split.

        Parameters
        ----------
        split : int
            Number of the split.

        Returns
        -------
        int
            The same for every method.

        Examples
        --------
        >>> from orfeon.workbench import PROTOCOLS
        >>> protocol = PROTOCOLS["martinez-3.2"]
        >>> protocol.random_state(0) == protocol.random_state(1)
        False
        """
        seed = zlib.crc32(self.family.encode())
        words = np.random.SeedSequence([seed, split])
        return int(words.generate_state(1)[0] >> 1)


def error_percent(predictions: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Share of wrong predictions, in percent."""
    wrong = np.asarray(predictions) != np.asarray(y)
    return round(100.0 * float(np.mean(wrong)), 10)
