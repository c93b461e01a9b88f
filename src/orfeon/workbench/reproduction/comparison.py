"""Our figures beside the published ones, and whether they agree.

An error or accuracy agrees when the two means differ by at most one percentage point, or by at most
two standard errors of their difference; other figures have rules of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.published import ERROR, Kept, PublishedCell, config_text
from orfeon.workbench.reproduction.rules import LEAST_TOLERANCE, POINTS, Rule

#: Why figures are not comparable.
REDUCED = "they were run with fewer members or smaller grids than published"


@dataclass(frozen=True)
class Comparison:
    """A figure of ours beside the published one; errors and accuracies are in percent.

    Parameters
    ----------
    published : PublishedCell
        The published figure.
    mean : float
        Our mean.
    std : float or None
        Our standard deviation over the splits; None for a single split.
    n_splits : int
        Our number of splits, or of repetitions of a cross-validation.
    kept : Kept, optional
        Where the error is the lowest over all sizes, the size at which we find it.
    rule : Rule, optional
        Decides whether the two agree; by default the one of errors and accuracies.
    is_comparable : bool, default=True
        False for a quick run with fewer members than published, or a smaller grid.

    Notes
    -----
    Only errors and accuracies agree or differ. Sizes are only shown: a curve is flat near its
    minimum, so the size at which it is found is partly chance.

    A standard deviation that is not printed is taken to be like ours, and ours like the printed
    one when we have a single split. Without either only one percentage point is tolerated.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell
    >>> cell = PublishedCell("martinez-3.2", "sonar", "cart", {}, 30.1, 4.0, 50)
    >>> ours = Comparison.of(cell, [28.4, 33.0, 26.1, 29.5, 31.8])
    >>> round(ours.mean, 2), round(ours.standard_error, 2), round(ours.tolerance, 2), ours.agrees
    (29.76, 1.35, 2.7, True)
    """

    published: PublishedCell
    mean: float
    std: float | None
    n_splits: int
    kept: Kept | None = None
    rule: Rule = POINTS
    is_comparable: bool = True

    def __post_init__(self) -> None:
        if self.n_splits < 1:
            raise ValueError(f"n_splits must be at least 1, got {self.n_splits}")
        if not math.isfinite(self.mean):
            raise ValueError(f"mean must be a finite number, got {self.mean}")

    @classmethod
    def of(
        cls,
        published: PublishedCell,
        values: Sequence[float],
        kept: Kept | None = None,
        rule: Rule = POINTS,
        *,
        is_comparable: bool = True,
    ) -> Comparison:
        """Compare the errors or accuracies on some splits with a published one.

        Parameters
        ----------
        published : PublishedCell
            The published figure.
        values : sequence of float
            Ours on each split, in percent.
        kept : Kept, optional
            The size at which these are our errors, where it was chosen.
        rule : Rule, optional
            Decides whether they agree.
        is_comparable : bool, default=True
            Whether ours was run as published.

        Returns
        -------
        Comparison
            The two, side by side.
        """
        if not values:
            raise ValueError("values must hold that of at least one split, got none")
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        mean = float(np.mean(values))
        return cls(published, mean, std, len(values), kept, rule, is_comparable)

    @property
    def difference(self) -> float:
        """Ours minus the published, in percentage points."""
        return self.mean - self.published.value

    @property
    def standard_error(self) -> float:
        """Standard error of the difference; 0 when no standard deviation is known."""
        known = [std for std in (self.std, self.published.std) if std is not None]
        if not known:
            return 0.0
        ours, theirs = known[0], known[-1]
        return math.sqrt(ours**2 / self.n_splits + theirs**2 / self.published.n_splits)

    @property
    def tolerance(self) -> float:
        """Largest difference of two errors or accuracies that agrees, in percentage points."""
        return max(LEAST_TOLERANCE, 2 * self.standard_error)

    @property
    def agrees(self) -> bool:
        """Whether the two agree by their rule."""
        return self.rule.agrees(self)

    @property
    def verdict(self) -> str:
        """Whether the two agree, as it is printed."""
        return verdict_text(self.agrees if self.is_comparable else None)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON.

        Returns
        -------
        dict
            The cell, the two figures, their difference and whether they agree.

        Examples
        --------
        >>> from orfeon.workbench import Comparison
        >>> from orfeon.workbench.reproduction import PublishedCell
        >>> cell = PublishedCell("martinez-3.2", "sonar", "cart", {}, 30.1, 4.0, 50)
        >>> found = Comparison(cell, 29.7, 4.4, 50).to_dict()
        >>> found["ours"], found["published"], found["agrees"]
        (29.7, 30.1, True)
        """
        cell = self.published
        found = {
            "dataset": cell.dataset, "method": cell.method, "config": config_text(cell.config),
            "metric": cell.metric, "n_splits": self.n_splits,
            "ours": self.mean, "std": self.std,
            "published": cell.value, "published_std": cell.std,
            "difference": self.difference, "standard_error": self.standard_error,
            "tolerance": self.rule.tolerance_text(self),
            "agrees": self.agrees if self.is_comparable else None,
        }  # fmt: skip
        if self.kept is not None and cell.kept is not None:
            found |= {
                "kept": self.kept.n_classifiers,
                "published_kept": cell.kept.n_classifiers,
            }
        return found


def verdict_text(agrees: bool | None) -> str:
    """Whether two figures agree, as it is printed; None for what was not run as published."""
    return "not comparable" if agrees is None else "agrees" if agrees else "DIFFERS"


class PairedDifference(NamedTuple):
    """Mean difference between two methods on the same splits, and its standard error.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import PairedDifference
    >>> print(PairedDifference(mean=-0.31, standard_error=0.12, n_splits=50))
    -0.31 ± 0.12
    """

    mean: float
    standard_error: float
    n_splits: int

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.standard_error:.2f}"


def paired_difference(values: Mapping[int, float], others: Mapping[int, float]) -> PairedDifference:
    """Compare two methods on the splits that both have seen.

    Parameters
    ----------
    values, others : mapping of int to float
        Errors or accuracies of the two methods by the number of the split.

    Returns
    -------
    PairedDifference
        The first method's minus the second's. The standard error is that of the mean over
        these splits, which share samples: it means little for new data.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import paired_difference
    >>> paired_difference({0: 20.0, 1: 22.0, 2: 25.0}, {0: 21.0, 1: 22.5, 3: 30.0})
    PairedDifference(mean=-0.75, standard_error=0.25, n_splits=2)
    """
    common = sorted(values.keys() & others.keys())
    if len(common) < 2:
        raise ValueError(f"at least two splits must be common to both methods, got {len(common)}")
    differences = np.array([values[split] - others[split] for split in common])
    spread = float(np.std(differences, ddof=1))
    return PairedDifference(float(differences.mean()), spread / math.sqrt(len(common)), len(common))


class _Column(NamedTuple):
    title: str
    text: Callable[[Comparison], str]
    to_the_right: bool = False


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """Set our errors or accuracies beside the published ones as text.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The cells.

    Returns
    -------
    str
        A line for each cell, below a header: means and standard deviations over the splits, and
        the largest difference that agrees. Accuracies also have their names and the standard
        errors of their differences. Numbers of members that were chosen are shown last.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell, comparison_table
    >>> cell = PublishedCell("martinez-3.2", "sonar", "cart", {}, 30.1, 4.0, 50)
    >>> print(comparison_table([Comparison(cell, 29.7, 4.4, 50)]))
    dataset  method  config  splits  ours        published   difference  tolerance
    sonar    cart                50  29.7 ± 4.4  30.1 ± 4.0        -0.4        1.7  agrees
    """
    columns = _columns(
        measured=any(comparison.published.metric != ERROR for comparison in comparisons),
        folded=any(comparison.published.n_folds > 1 for comparison in comparisons),
        sized=any(comparison.kept is not None for comparison in comparisons),
    )
    lines = [[column.text(comparison) for column in columns] for comparison in comparisons]
    return aligned(
        [[column.title for column in columns], *lines],
        to_the_right={j for j, column in enumerate(columns) if column.to_the_right},
    )


def _columns(*, measured: bool, folded: bool, sized: bool) -> list[_Column]:
    """The columns of a table: with measures, of folds, with sizes that were chosen."""
    columns = [
        _Column("dataset", lambda ours: ours.published.dataset),
        _Column("method", lambda ours: ours.published.method),
        _Column("config", lambda ours: config_text(ours.published.config)),
        _Column("metric", lambda ours: ours.published.metric),
        _Column("repetitions" if folded else "splits", lambda ours: str(ours.n_splits), True),
        _Column("ours", lambda ours: _figure(ours.mean, ours.std, ours.rule)),
        _Column(
            "published",
            lambda ours: _figure(ours.published.value, ours.published.std, ours.rule),
        ),
        _Column("difference", lambda ours: f"{ours.difference:+.{ours.rule.decimals}f}", True),
        _Column("standard error", lambda ours: f"{ours.standard_error:.2f}", True),
        _Column("tolerance", lambda ours: ours.rule.tolerance_text(ours), True),
        _Column("", lambda ours: ours.verdict),
        _Column("kept", lambda ours: _size(ours.kept)),
        _Column("published", lambda ours: _size(ours.published.kept)),
    ]
    left_out = set() if measured else {"metric", "standard error"}
    last = len(columns) if sized else -2
    return [column for column in columns[:last] if column.title not in left_out]


def _size(kept: Kept | None) -> str:
    return "" if kept is None else str(kept)


def _figure(mean: float, std: float | None, rule: Rule) -> str:
    text = f"{mean:{3 + rule.decimals}.{rule.decimals}f}"
    return text if std is None else f"{text} ± {std:.{rule.decimals}f}"


def summary(comparisons: Sequence[Comparison]) -> str:
    """Count the cells that agree, and name those that do not.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The cells.

    Returns
    -------
    str
        One line, and another for each cell that differs.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell, summary
    >>> cell = PublishedCell("martinez-3.2", "sonar", "cart", {}, 30.1, 4.0, 50)
    >>> print(summary([Comparison(cell, 29.7, 4.4, 50), Comparison(cell, 26.0, 4.4, 50)]))
    1 of 2 cells agree.
    Differs: sonar cart, 26.0 instead of 30.1.
    """
    whole = [comparison for comparison in comparisons if comparison.is_comparable]
    differing = [comparison for comparison in whole if not comparison.agrees]
    n_cells, n_reduced = len(whole), len(comparisons) - len(whole)
    agreeing = f"{n_cells - len(differing)} of {n_cells} cells agree."
    return "\n".join(
        [agreeing] * bool(whole or not comparisons)
        + [f"{n_reduced} cells are not comparable: {REDUCED}."] * bool(n_reduced)
        + [
            f"Differs: {comparison.published}, {comparison.mean:.{comparison.rule.decimals}f} "
            f"instead of {comparison.published.value:.{comparison.rule.decimals}f}."
            for comparison in differing
        ]
    )


@dataclass(frozen=True)
class Report:
    """A text, and a line of plain values for each figure that agrees or not."""

    text: str
    cells: tuple[Mapping[str, Any], ...]

    @property
    def n_agreeing(self) -> int:
        """How many figures agree."""
        return sum(bool(cell["agrees"]) for cell in self.cells)

    @property
    def n_comparable(self) -> int:
        """How many figures agree or differ."""
        return sum(cell["agrees"] is not None for cell in self.cells)


def report_cells(comparisons: Sequence[Comparison]) -> Report:
    """Report figures that are compared one by one."""
    rules = dict.fromkeys(comparison.rule for comparison in comparisons)
    sentences = [rule.sentence for rule in rules if rule != POINTS]
    text = "\n\n".join(
        [comparison_table(comparisons), "\n".join([*sentences, summary(comparisons)])]
    )
    return Report(text, tuple(comparison.to_dict() for comparison in comparisons))
