"""Records of wins of all pairs of methods, counted from the errors of another table.

As in print, errors are compared to a tenth of a point: methods that are printed alike draw.

A record agrees when no data set clearly changes sides: where ours and the published errors name
different winners, the differences between the two methods must themselves agree, within one point
or two standard errors, as single errors must.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de
Madrid. Table 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.comparison import REDUCED, Report, verdict_text
from orfeon.workbench.reproduction.published import PublishedCell, WinRecord, config_text
from orfeon.workbench.reproduction.rules import LEAST_TOLERANCE

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

_SENTENCE = (
    "A record agrees when no data set changes sides by more than one point or two standard errors."
)


@dataclass(frozen=True)
class PairRecord:
    """Wins, draws and losses of a method against another, ours beside the published."""

    method: str
    rival: str
    ours: WinRecord
    published: WinRecord
    changed: tuple[str, ...]
    clearly_changed: tuple[str, ...]
    is_comparable: bool = True

    @property
    def agrees(self) -> bool | None:
        """Whether no data set clearly changes sides; None for fewer members than published."""
        return not self.clearly_changed if self.is_comparable else None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        published = {f"published_{name}": n for name, n in self.published._asdict().items()}
        return {
            "method": self.method, "versus": self.rival, **self.ours._asdict(), **published,
            "changed": " ".join(self.changed), "clearly_changed": " ".join(self.clearly_changed),
            "agrees": self.agrees,
        }  # fmt: skip


def name_of(cell: PublishedCell) -> str:
    """A method with its settings."""
    return " ".join(part for part in (cell.method, config_text(cell.config)) if part)


def count_wins(errors: Mapping[str, float], rivals: Mapping[str, float]) -> WinRecord:
    """The record of a method against a rival."""
    sides = [_side(errors[name], rivals[name]) for name in errors]
    return WinRecord(sides.count(1), sides.count(0), sides.count(-1))


def _side(error: float, rival: float) -> int:
    """1 where the error is smaller as it is printed, -1 where it is larger."""
    return int(np.sign(round(rival, 1) - round(error, 1)))


def pair_records(found: Reproduction) -> list[PairRecord]:
    """The records of all pairs of methods that were run."""
    by_method: dict[str, dict[str, PublishedCell]] = {}
    for cell in found.cells:
        if found.values(cell):
            by_method.setdefault(name_of(cell), {})[cell.dataset] = cell
    return [
        _pair(found, one, other, by_method[one], by_method[other])
        for one, other in combinations(by_method, 2)
        if by_method[one].keys() & by_method[other].keys()
    ]


def _pair(
    found: Reproduction,
    method: str,
    rival: str,
    cells: Mapping[str, PublishedCell],
    rivals: Mapping[str, PublishedCell],
) -> PairRecord:
    datasets = [name for name in cells if name in rivals]
    ours, theirs = (
        {name: float(np.mean(list(found.values(its[name]).values()))) for name in datasets}
        for its in (cells, rivals)
    )
    published, of_rival = ({name: its[name].value for name in datasets} for its in (cells, rivals))
    changed = [
        name
        for name in datasets
        if _side(ours[name], theirs[name]) != _side(published[name], of_rival[name])
    ]
    return PairRecord(
        method, rival, count_wins(ours, theirs), count_wins(published, of_rival), tuple(changed),
        tuple(name for name in changed if not _differences_agree(found, cells[name], rivals[name])),
        all(found.is_comparable(cell) for its in (cells, rivals) for cell in its.values()),
    )  # fmt: skip


def _differences_agree(found: Reproduction, cell: PublishedCell, rival: PublishedCell) -> bool:
    """Whether the difference of the two methods is the published one, by the rule of errors."""
    ours, theirs = found.values(cell), found.values(rival)
    splits = sorted(ours.keys() & theirs.keys())
    differences = [ours[split] - theirs[split] for split in splits]
    difference = float(np.mean(differences)) - (cell.value - rival.value)
    tolerance = LEAST_TOLERANCE
    if len(differences) > 1:
        # The spread of the published differences is not printed: it is taken to be like ours.
        spread = float(np.std(differences, ddof=1))
        error = spread * math.sqrt(1 / len(differences) + 1 / cell.n_splits)
        tolerance = max(tolerance, 2 * error)
    return abs(difference) <= tolerance + 1e-9


def report_records(found: Reproduction) -> Report:
    pairs = pair_records(found)
    lines = [["method", "versus", "ours", "published", "changed", ""]]
    lines += [
        [pair.method, pair.rival, str(pair.ours), str(pair.published), str(len(pair.changed)),
         verdict_text(pair.agrees)
         + f" on {', '.join(pair.clearly_changed)}" * (pair.agrees is False)]
        for pair in pairs
    ]  # fmt: skip
    n_datasets = len({cell.dataset for cell in found.cells})
    compared = [pair for pair in pairs if pair.agrees is not None]
    n_agreeing = sum(bool(pair.agrees) for pair in compared)
    counted = f"{n_agreeing} of {len(compared)} records agree." if compared else ""
    if len(compared) < len(pairs):
        n_reduced = len(pairs) - len(compared)
        counted = f"{counted} {n_reduced} records are not comparable: {REDUCED}.".strip()
    text = "\n\n".join(
        [
            f"Wins/draws/losses on {n_datasets} data sets, and on how many the winner is not the "
            f"published one:\n{aligned(lines, to_the_right={2, 3, 4})}",
            f"{_SENTENCE}\n{counted}",
        ]
    )
    return Report(text, tuple(pair.to_dict() for pair in pairs))
