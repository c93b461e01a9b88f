"""What a fit gives for one cell of a table, and how it is kept in a store.

A result is an error in percent; the errors at all sizes of an ensemble; what is right on a fold,
class by class; or figures by the name of their metric. A store has one row for each fit: its
configuration, its seed, its times, and the results of all its cells.

Curves hold numbers of wrong samples, so that sums over splits are exact and equal means are equal.
Accuracies on folds are averaged first, and g is the geometric mean of the averages: this gives the
published figures, and a fold without a single hit does not make g zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from orfeon.errors import UserError
from orfeon.workbench.reproduction.published import config_text, read_config
from orfeon.workbench.reproduction.splits import POSITIVE, Partition

if TYPE_CHECKING:
    from orfeon.workbench.store import RunRow


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


@dataclass(frozen=True)
class Curve:
    """Errors of the vote of the first member, of the first two, and so on.

    Parameters
    ----------
    wrong : tuple of int
        Number of samples that each vote gets wrong.
    n_samples : int
        Number of samples.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve
    >>> curve = Curve(wrong=(90, 84, 75), n_samples=300)
    >>> len(curve), curve.percent(3)
    (3, 25.0)
    """

    wrong: tuple[int, ...]
    n_samples: int

    def __post_init__(self) -> None:
        if not self.wrong or not 0 <= min(self.wrong) <= max(self.wrong) <= self.n_samples:
            raise ValueError(
                f"wrong must hold numbers from 0 to n_samples={self.n_samples}, at least one, "
                f"got {list(self.wrong)}"
            )

    def __len__(self) -> int:
        return len(self.wrong)

    def percent(self, size: int) -> float:
        """Error of the first members.

        Parameters
        ----------
        size : int
            How many, from 1 on.

        Returns
        -------
        float
            From 0 to 100.
        """
        if not 1 <= size <= len(self):
            raise ValueError(f"size must be from 1 to {len(self)}, got {size}")
        return round(100.0 * self.wrong[size - 1] / self.n_samples, 10)


def best_size(curves: Sequence[Curve]) -> int:
    """The number of members with the lowest mean error over the splits.

    Only odd numbers are looked at, as in print: an even number of votes can be tied, and the error
    then depends on how ties are decided.

    Parameters
    ----------
    curves : sequence of Curve
        One of each split, all of the same ensemble size and number of samples.

    Returns
    -------
    int
        The smallest of those that are equally good.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve, best_size
    >>> best_size([Curve((9, 0, 7, 6, 6), 20), Curve((5, 0, 3, 6, 5), 20)])
    3
    """
    kinds = {(len(curve), curve.n_samples) for curve in curves}
    if len(kinds) != 1:
        raise ValueError(
            "curves must all have the same members and samples, and there must be one at least; "
            f"got (members, samples) of {sorted(kinds)}"
        )
    total = np.sum([curve.wrong for curve in curves], axis=0)
    return 2 * int(np.argmin(total[::2])) + 1


@dataclass(frozen=True)
class FoldOutcome:
    """Numbers of samples of each class, and of those that a model gets right.

    Parameters
    ----------
    right_positive, n_positive : int
        Of the positive class.
    right_negative, n_negative : int
        Of the negative class.
    n_train : int
        Number of training samples.
    n_selected : int, optional
        Number of training samples that the model kept, for a model that selects.
    n_rounds : int, optional
        How often it selected.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import FoldOutcome
    >>> fold = FoldOutcome(right_positive=8, n_positive=10, right_negative=81, n_negative=90,
    ...                    n_train=900, n_selected=45)
    >>> fold.accuracy, fold.positive_accuracy, fold.negative_accuracy, fold.selected
    (89.0, 80.0, 90.0, 5.0)
    """

    right_positive: int
    n_positive: int
    right_negative: int
    n_negative: int
    n_train: int
    n_selected: int | None = None
    n_rounds: int | None = None

    def __post_init__(self) -> None:
        for name in ("positive", "negative"):
            right, n_samples = getattr(self, f"right_{name}"), getattr(self, f"n_{name}")
            if n_samples < 1 or not 0 <= right <= n_samples:
                raise ValueError(
                    f"right_{name} must be from 0 to n_{name}, and that at least 1; "
                    f"got {right} and {n_samples}"
                )
        n_selected = self.n_train if self.n_selected is None else self.n_selected
        if self.n_train < 1 or not 0 <= n_selected <= self.n_train:
            raise ValueError(
                f"n_selected must be from 0 to n_train, and that at least 1; "
                f"got {self.n_selected} and {self.n_train}"
            )

    @classmethod
    def of(cls, model: Any, split: Partition) -> FoldOutcome:
        """Test a model.

        Parameters
        ----------
        model : classifier
            Fitted; one that selects training samples has their rows in ``selected_``.
        split : Partition
            The sets it was trained on and is tested on, of the classes "positive" and "negative".

        Returns
        -------
        FoldOutcome
            Its hits.
        """
        right = np.asarray(model.predict(split.X_test)) == split.y_test
        positive = split.y_test == POSITIVE
        selected = getattr(model, "selected_", None)
        return cls(
            right_positive=int(np.sum(right & positive)),
            n_positive=int(np.sum(positive)),
            right_negative=int(np.sum(right & ~positive)),
            n_negative=int(np.sum(~positive)),
            n_train=len(split.y_train),
            n_selected=None if selected is None else len(selected),
            n_rounds=getattr(model, "best_round_", None),
        )

    @property
    def accuracy(self) -> float:
        """Percent of all samples that are right."""
        n_right = self.right_positive + self.right_negative
        return 100.0 * n_right / (self.n_positive + self.n_negative)

    @property
    def error(self) -> float:
        """Percent of all samples that are wrong."""
        return round(100.0 - self.accuracy, 10)

    @property
    def positive_accuracy(self) -> float:
        """Percent of the positive samples that are right."""
        return 100.0 * self.right_positive / self.n_positive

    @property
    def negative_accuracy(self) -> float:
        """Percent of the negative samples that are right."""
        return 100.0 * self.right_negative / self.n_negative

    @property
    def selected(self) -> float | None:
        """Percent of the training samples that were kept; None for a model that keeps all."""
        return None if self.n_selected is None else 100.0 * self.n_selected / self.n_train

    @property
    def n_used(self) -> int:
        """Number of training samples that were kept, or of all."""
        return self.n_train if self.n_selected is None else self.n_selected


def _mean(folds: Sequence[FoldOutcome], figure: str) -> float:
    return round(math.fsum(getattr(fold, figure) or 0 for fold in folds) / len(folds), 10)


def g_of_mean_accuracies(folds: Sequence[FoldOutcome]) -> float:
    """Geometric mean of the averaged accuracies on the two classes, in percent."""
    product = _mean(folds, "positive_accuracy") * _mean(folds, "negative_accuracy")
    return round(math.sqrt(product), 10)


#: Metrics of the folds of a repetition together.
METRICS: dict[str, Callable[[Sequence[FoldOutcome]], float]] = {
    "accuracy": lambda folds: _mean(folds, "accuracy"),
    "acc+": lambda folds: _mean(folds, "positive_accuracy"),
    "acc-": lambda folds: _mean(folds, "negative_accuracy"),
    "g": g_of_mean_accuracies,
    "n_train": lambda folds: _mean(folds, "n_used"),
    "n_rounds": lambda folds: _mean(folds, "n_rounds"),
}


#: What a fit gives for a cell.
Result = float | Curve | FoldOutcome | Mapping[str, float]
Results = Mapping[Cell, Result]
Key = tuple[str, str, str, str, int, int]


@dataclass(frozen=True)
class Record:
    """What one fit gives for one cell.

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
        about the best of them; what is right class by class, for cells about a fold of a
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
        """Percent of wrong samples, of all members where there is a curve; NaN without one."""
        if isinstance(self.result, Curve):
            return self.result.percent(len(self.result))
        if isinstance(self.result, FoldOutcome):
            return self.result.error
        if isinstance(self.result, Mapping):
            return self.result.get("error", math.nan)
        return self.result

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
    return " ".join(cell[:3] if cell.config else cell[:2])


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
