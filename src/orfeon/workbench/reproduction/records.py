"""Results of ours: what a fit says of one cell, and how fits are kept in a store.

A store has one row for each fit: its configuration, its seed, its times, and the results of all its
cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from orfeon.errors import UserError
from orfeon.workbench.reproduction.curve import Curve
from orfeon.workbench.reproduction.fold_outcome import FoldOutcome
from orfeon.workbench.reproduction.published import config_text, read_config
from orfeon.workbench.reproduction.runs import Cell, Result

if TYPE_CHECKING:
    from orfeon.workbench.store import RunRow

Key = tuple[str, str, str, str, int, int]


@dataclass(frozen=True)
class Record:
    """What one fit says of one cell.

    Parameters
    ----------
    table, dataset, method : str
        What was reproduced.
    config : dict of str to str
        The settings of the cell.
    members : int
        Number of members that were trained.
    split : int
        Number of the split.
    result : float, Curve, FoldOutcome or mapping of str to float
        An error in percent on the set that the table is about; the errors at all sizes, for cells
        that ask for the best of them; what is right class by class, for cells about a fold of a
        cross-validation; or figures by the name of their measure.
    seconds : float
        Time to train and to predict; cells that share one fit share it.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Record
    >>> record = Record("martinez-3.2", "waveform", "cart", {}, 1, 0, 30.1, 0.02)
    >>> record.key, record.error
    (('martinez-3.2', 'waveform', 'cart', '', 1, 0), 30.1)
    """

    table: str
    dataset: str
    method: str
    config: dict[str, str] = field(hash=False)
    members: int
    split: int
    result: Result = field(hash=False)
    seconds: float

    @property
    def key(self) -> Key:
        """What no two records share."""
        config = config_text(self.config)
        return (self.table, self.dataset, self.method, config, self.members, self.split)

    @property
    def error(self) -> float:
        """Percent of wrong samples, of all members where there is a curve; else NaN."""
        if isinstance(self.result, Curve):
            return self.result.percent(len(self.result))
        if isinstance(self.result, FoldOutcome):
            return self.result.error
        return math.nan if isinstance(self.result, Mapping) else self.result

    @property
    def curve(self) -> Curve | None:
        """The errors at all sizes, where they were kept."""
        return self.result if isinstance(self.result, Curve) else None

    @property
    def outcome(self) -> FoldOutcome | None:
        """What is right class by class, of a fold."""
        return self.result if isinstance(self.result, FoldOutcome) else None


def cell_name(cell: Cell) -> str:
    """A cell in one line, as a store has it."""
    return " ".join(part for part in cell if part)


def encode_result(result: Result) -> Any:
    """A result as plain JSON."""
    if isinstance(result, Curve):  # "n_examples", as in the stores of 0.1
        return {"curve": {"wrong": list(result.wrong), "n_examples": result.n_samples}}
    if isinstance(result, FoldOutcome):
        return {"outcome": asdict(result)}
    if isinstance(result, Mapping):
        return {"figures": dict(result)}
    return result


def decode_result(found: Any) -> Result:
    """A result from plain JSON, as :func:`encode_result` makes it."""
    if not isinstance(found, Mapping):
        return float(found)
    ((kind, content),) = found.items()
    if kind == "curve":
        return Curve(tuple(content["wrong"]), content["n_examples"])
    if kind == "outcome":
        return FoldOutcome(**content)
    if kind == "figures":
        return {name: float(figure) for name, figure in content.items()}
    raise ValueError(f"the kind of a result must be curve, outcome or figures, got {kind!r}")


def records_of(row: RunRow) -> Iterator[Record]:
    """The records of all cells of a fit."""
    try:
        configuration = row.configuration
        for name, found in row.result.items():
            table, method, *config = name.split(" ")
            yield Record(
                table, configuration["dataset"], method, read_config(" ".join(config)),
                configuration["members"], configuration["split"], decode_result(found), row.seconds,
            )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"the row {row.key!r} of the store was not written by a reproduction ({error!r}); "
            "choose another store."
        ) from error
