"""Margins: by how many votes an ensemble is right.

The margin of a sample is the weight of the votes for its class minus that of the votes for the
wrong class with the most votes, as a share of all votes: 1 where all members are right, -1 where
all agree on one wrong class. Boosting keeps raising the smallest margins after the training error
is zero. The edge is the share of votes that is wrong, for any class.

References
----------
Schapire, Freund, Bartlett and Lee (1998). Boosting the margin: a new explanation for the
effectiveness of voting methods. The Annals of Statistics 26(5), 1651-1686.

Breiman (1999). Prediction games and arcing algorithms. Neural Computation 11(7), 1493-1517.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from orfeon.inspection.display import EnsemblesDisplay, check_not_empty
from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_class_votes
from orfeon.members.vote_input import On, Source
from orfeon.members.votes import NO_VOTE, Selection, read_selection, whole_weights
from orfeon.rendering.figure import look_of, put_legend, put_title
from orfeon.rendering.palette import INK
from orfeon.rendering.texts import plain
from orfeon.utils.types import Floats, Integers

Sizes = Sequence[int] | npt.NDArray[np.integer[Any]]

#: Margins that differ by less are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins and edges of samples in a vote.

    Parameters
    ----------
    margins : ndarray of shape (n_rows,)
        From -1 to 1; NaN on rows without weight or without a vote.
    edges : ndarray of shape (n_rows,)
        Share of the votes that is wrong, from 0 to 1; NaN on the same rows.
    weights : ndarray of shape (n_rows,)
        Sample weights.
    n_members : int
        Number of members.

    Examples
    --------
    >>> from orfeon.inspection import margins
    >>> votes = [["a", "a", "c"], ["a", "b", "c"], ["a", "a", "a"], ["b", "c", "b"]]
    >>> found = margins(votes, y=["a", "b", "c"])
    >>> found.margins, found.edges
    (array([ 0.5 , -0.25,  0.25]), array([0.25, 0.75, 0.5 ]))
    >>> found.minimum, found.share_at_most([-0.5, 0.0, 0.25]).round(2)
    (-0.25, array([0.  , 0.33, 0.67]))
    """

    margins: Floats
    edges: Floats
    weights: Floats
    n_members: int

    @property
    def _counts(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.margins)

    @property
    def minimum(self) -> float:
        """The smallest margin of a sample that counts; NaN if none does."""
        counts = self._counts
        return float(self.margins[counts].min()) if counts.any() else float("nan")

    @property
    def mean(self) -> float:
        """The weighted mean margin; NaN if no sample counts."""
        counts = self._counts
        if not counts.any():
            return float("nan")
        return float(np.average(self.margins[counts], weights=self.weights[counts]))

    def share_at_most(self, at: npt.ArrayLike) -> Floats:
        """Share of the sample weight with a margin of at most each value; NaN if none counts."""
        values, shares = self.steps()
        wanted = np.asarray(at, dtype=np.float64) + _ROUNDING
        if not len(values):
            return np.full(wanted.shape, np.nan)
        below = np.searchsorted(values, wanted, side="right")
        return np.asarray(np.concatenate([[0.0], shares])[below])

    def steps(self) -> tuple[Floats, Floats]:
        """The margins that occur, ascending, and the share of weight up to each; the last is 1."""
        counts = self._counts
        values, place = np.unique(self.margins[counts], return_inverse=True)
        cumulated = np.cumsum(np.bincount(place, self.weights[counts]))
        return values, cumulated / cumulated[-1:]


@dataclass(frozen=True, eq=False)
class MarginDistribution:
    """Margins of an ensemble as it grows.

    Parameters
    ----------
    stages : tuple of Margins
        Margins with the first few members, with more, and so on.

    Examples
    --------
    >>> from orfeon.inspection import margin_distribution
    >>> votes = [[0, 1], [0, 0], [0, 1], [1, 1]]
    >>> found = margin_distribution(votes, y=[0, 1], sizes=[1, 2, 4])
    >>> found.sizes, found.minimum
    (array([1, 2, 4]), array([1. , 0. , 0.5]))
    >>> found.share_at_most([0.0, 0.5])
    array([[0. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    stages: tuple[Margins, ...]

    @property
    def sizes(self) -> Integers:
        """Number of members at each stage."""
        return np.array([stage.n_members for stage in self.stages], dtype=np.int64)

    @property
    def minimum(self) -> Floats:
        """The smallest margin at each stage."""
        return np.array([stage.minimum for stage in self.stages])

    def share_at_most(self, at: npt.ArrayLike) -> Floats:
        """Share of the weight of samples with a margin of at most each value, a row per stage."""
        return np.array([stage.share_at_most(at) for stage in self.stages])


@documented()
def margins(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    on: On = "train",
    no_vote: Any = None,
    member_weights: Any = None,
) -> Margins:
    """Margins and edges of samples in the vote of all members.

    Parameters
    ----------
    <votes>
    <weights>
    <on>
    member_weights : array of shape (n_members,), optional
        Weights of the members in a matrix of votes; equal by default. Boosted ensembles have their
        own.

    Returns
    -------
    Margins
        Margins and edges of each sample, as shares of the votes it gets.

    See Also
    --------
    margin_distribution : The same for the first members.
    orfeon.inspection.switching_margins : Theory for class-switching ensembles.

    Examples
    --------
    >>> from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import margins
    >>> X, y = make_waveform(300, random_state=0)
    >>> tree = CARTClassifier(max_depth=3)
    >>> bag = BaggingClassifier(tree, n_estimators=100, random_state=0).fit(X, y)
    >>> boosted = AdaBoostClassifier(tree, n_estimators=100, random_state=0).fit(X, y)
    >>> round(margins(bag, X, y).minimum, 2), round(margins(boosted, X, y).minimum, 2)
    (-0.96, 0.26)
    """
    return margin_distribution(
        members_or_votes, X, y, sizes="whole", sample_weight=sample_weight, on=on,
        no_vote=no_vote, member_weights=member_weights,
    ).stages[0]  # fmt: skip


def margin_distribution(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    sizes: Sizes | Literal["whole"] | None = None,
    sample_weight: Any = None,
    on: On = "train",
    no_vote: Any = None,
    member_weights: Any = None,
) -> MarginDistribution:
    """Margins of samples in the vote of the first few members, of more, and of all.

    Parameters
    ----------
    members_or_votes, X, y, sample_weight, on, no_vote, member_weights
        As for :func:`margins`.
    sizes : sequence of int, or "whole", optional
        Numbers of members; by default 10, 100, 1,000 and so on, and all.

    Returns
    -------
    MarginDistribution
        Margins at each size, ascending.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import margin_distribution
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=200, random_state=0).fit(X, y)
    >>> found = margin_distribution(bag, X, y)
    >>> found.sizes
    array([ 10, 100, 200])
    >>> found.share_at_most(0.0).tolist()[-1]
    0.0
    """
    selection, rows, n_rows = _read(
        members_or_votes, X, y, sample_weight, on, no_vote, member_weights
    )
    weights = np.zeros(n_rows)
    weights[rows] = selection.weights * selection.step
    stages = []
    for size, margin, edge in _grow(selection, _check_sizes(sizes, selection.n_members)):
        spread = np.full((2, n_rows), np.nan)
        spread[:, rows] = margin, edge
        stages.append(Margins(spread[0], spread[1], weights, size))
    return MarginDistribution(tuple(stages))


def _check_sizes(sizes: Sizes | Literal["whole"] | None, n_members: int) -> list[int]:
    if sizes is None:
        decades = [10**power for power in range(1, len(str(n_members)))]
        return sorted({*decades, n_members})
    if isinstance(sizes, str) and sizes == "whole":
        return [n_members]
    given = np.asarray(sizes)
    if (
        given.dtype.kind not in "iu" or given.ndim != 1 or not len(given)
        or given.min() < 1 or given.max() > n_members
    ):  # fmt: skip
        raise ValueError(
            f'sizes={sizes!r} is not allowed; give whole numbers from 1 to {n_members}, or "whole".'
        )
    return sorted({int(size) for size in given})


def _read(
    given: Any, X: Any, y: Any, sample_weight: Any, on: On, no_vote: Any, member_weights: Any
) -> tuple[Selection, Integers, int]:
    """Votes on the rows that count, their indices, and the number of all rows."""
    if member_weights is not None and X is not None:
        raise ValueError(
            "member_weights is for a matrix of votes; an ensemble knows the weights of its members."
        )
    # Read all votes first: rows on which no member votes out of bag must be kept.
    first: On = "train" if on == "out_of_bag" and X is not None else on
    source = read_class_votes(given, X, y, sample_weight, what="margins", on=first, no_vote=no_vote)
    if member_weights is not None:
        source = Source(
            read_selection(given, y, sample_weight, no_vote=no_vote, member_weights=member_weights)
        )
    selection, n_rows = source.selection, len(column_or_1d(y))
    rows = _rows_that_count(source, given, X, y, sample_weight, no_vote, n_rows)
    if on == "out_of_bag" and source.find_left_out is not None:
        answered = np.where(source.find_left_out(), selection.answers, NO_VOTE)
        selection = replace(selection, answers=answered.astype(selection.answers.dtype))
    return selection, rows, n_rows


def _rows_that_count(
    source: Source, given: Any, X: Any, y: Any, sample_weight: Any, no_vote: Any, n_rows: int
) -> Integers:
    """Rows of the selection among those given: of positive weight, and with a vote."""
    rows = np.flatnonzero(whole_weights(sample_weight, n_rows)[0])
    if len(rows) == source.selection.n_samples:
        return rows
    if source.ensemble is not None:
        return np.asarray(rows[(source.ensemble.answers(X)[:, rows] >= 0).any(axis=0)])
    # Read with row numbers as weights, so that the rows that are kept can be identified.
    numbers = np.zeros(n_rows)
    numbers[rows] = rows + 1
    return read_selection(given, y, numbers, no_vote=no_vote).weights - 1


def _grow(selection: Selection, sizes: list[int]) -> Iterator[tuple[int, Floats, Floats]]:
    """Margins and edges after some numbers of members."""
    everyone = np.arange(selection.n_samples)
    votes = np.zeros((selection.n_samples, selection.n_classes))
    total = np.zeros(selection.n_samples)
    weights = selection.vote_weights
    is_complete = selection.is_complete
    for t in range(sizes[-1]):
        answers = selection.answers[t]
        voted = everyone if is_complete else np.flatnonzero(answers >= 0)
        votes[voted, answers[voted]] += weights[t]
        total[voted] += weights[t]
        if t + 1 in sizes:
            right = votes[everyone, selection.y]
            wrong = votes.copy()
            wrong[everyone, selection.y] = 0.0
            all_votes = np.where(total > 0, total, np.nan)
            yield t + 1, (right - wrong.max(axis=1)) / all_votes, (total - right) / all_votes


#: Line styles of the sizes, from the whole ensemble down.
_STYLES = ("-", "--", (0, (1, 1)), (0, (5, 1, 1, 1)))


class MarginDistributionDisplay(EnsemblesDisplay):
    """Cumulative distribution of the margins of one or more ensembles as they grow.

    One colour per ensemble, one line style per size. A mark shows the smallest margin of the whole
    ensemble. Left of 0 the vote is wrong.

    Parameters
    ----------
    distributions : dict of str to MarginDistribution
        Margins by the name of the ensemble, see :func:`margin_distribution`.

    Attributes
    ----------
    <axes>
    lines_ : dict of (str, int) to Line2D
        The curve of each ensemble at each size.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import MarginDistributionDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> tree = CARTClassifier(max_depth=3)
    >>> ensembles = {
    ...     "bagging": BaggingClassifier(tree, n_estimators=50, random_state=0).fit(X, y),
    ...     "boosting": AdaBoostClassifier(tree, n_estimators=50, random_state=0).fit(X, y),
    ... }
    >>> display = MarginDistributionDisplay.from_estimator(ensembles, X, y)
    >>> sorted(display.lines_)
    [('bagging', 10), ('bagging', 50), ('boosting', 10), ('boosting', 50)]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _measure = staticmethod(margin_distribution)
    _votes_name = "votes"

    lines_: dict[tuple[str, int], Any]

    def __init__(self, distributions: Mapping[str, MarginDistribution]) -> None:
        check_not_empty("distributions", distributions)
        self.distributions = {str(name): one for name, one in distributions.items()}

    def _draw(self) -> None:
        ax = self.ax_
        self.lines_ = {}
        for number, (name, distribution) in enumerate(self.distributions.items()):
            look = look_of(number)
            for place, stage in enumerate(reversed(distribution.stages)):
                values, shares = stage.steps()
                (self.lines_[name, stage.n_members],) = ax.plot(
                    np.concatenate([[-1.0], values, [1.0]]),
                    100.0 * np.concatenate([[0.0], shares, [1.0]]),
                    drawstyle="steps-post", color=look.colour, linestyle=_style(place),
                    linewidth=1.2 if place else 1.7, label=f"{name}, {stage.n_members}",
                )  # fmt: skip
            ax.plot(
                [distribution.stages[-1].minimum], [0.0], look.marker, color=look.colour,
                markersize=7, markeredgecolor="white", clip_on=False, zorder=4,
                label=f"_least of {name}",
            )  # fmt: skip
        self._label()

    def _label(self) -> None:
        ax = self.ax_
        ax.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
        ax.set_xlim(-1.0, 1.0)
        ax.set_ylim(0.0, 100.0)
        ax.set_xlabel("margin, at most")
        ax.set_ylabel("share of samples, %")
        least = ", ".join(
            f"{plain(name)} {_signed(distribution.stages[-1].minimum)}"
            for name, distribution in self.distributions.items()
        )
        put_title(ax, f"Smallest margin with all members (marked): {least}")
        put_legend(ax, handles=self._handles())

    def _handles(self) -> list[Any]:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=look_of(k).colour, marker=look_of(k).marker, label=plain(name))
            for k, name in enumerate(self.distributions)
        ]
        # Ensembles that stopped early have other sizes in the same style.
        sizes: dict[int, dict[int, None]] = {}
        for distribution in self.distributions.values():
            for k, size in enumerate(reversed(distribution.sizes.tolist())):
                sizes.setdefault(k, {})[size] = None
        for k, numbers in sizes.items():
            written = " or ".join(f"{n:,}" for n in numbers)
            label = f"{written} member{'s' if max(numbers) > 1 else ''}"
            handles.append(
                Line2D([], [], color=INK, linewidth=1.2, linestyle=_style(k), label=label)
            )
        return handles


def _style(place: int) -> Any:
    """Line style of a size, the whole ensemble being 0."""
    return _STYLES[place % len(_STYLES)]


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "\N{MINUS SIGN}")
