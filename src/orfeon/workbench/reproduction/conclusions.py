"""What the errors of ordered bagging say together: which order is best, and which beats bagging.

Our errors are counted as they would be printed, to a tenth of a point, so that they are tied as
often as the published ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.comparison import Comparison
from orfeon.workbench.reproduction.published import config_text

_WHOLE = "bagging"
#: Method and settings.
_Place = tuple[str, str]


class Standing(NamedTuple):
    """On how many data sets an order and a share stand out.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Standing
    >>> Standing("orientation", "keep=20%", best=5, best_published=4, below=17, below_published=18)
    Standing(method='orientation', config='keep=20%', best=5, best_published=4, below=17, ...)
    """

    method: str
    config: str
    best: int
    best_published: int
    below: int | None
    below_published: int | None


def ordering_standings(comparisons: Sequence[Comparison]) -> list[Standing]:
    """Count the data sets on which each order and share is best, and on which it beats bagging.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The cells of some data sets, the same cells for each.

    Returns
    -------
    list of Standing
        In the order of the cells. ``best`` counts the data sets on which no other cell has a
        smaller error (tied ones all count), ``below`` those on which the error is smaller than
        that of the whole of bagging; None for bagging itself, or if it is not among the cells.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell, ordering_standings
    >>> def cell(method, keep, value, ours):
    ...     config = {"keep": keep}
    ...     published = PublishedCell("martinez-5.8", "wine", method, config, value, None, 100)
    ...     return Comparison(published, ours, 1.0, 100)
    >>> ordering_standings([cell("bagging", "100%", 6.5, 6.2), cell("orientation", "20%", 5, 6.3)])
    [Standing(method='bagging', config='keep=100%', best=1, best_published=0, below=None, ...),
     Standing(method='orientation', config='keep=20%', best=0, best_published=1, below=0, ...)]
    """
    ours = _by_dataset(comparisons, lambda comparison: round(comparison.mean, 1))
    published = _by_dataset(comparisons, lambda comparison: comparison.published.value)
    places = dict.fromkeys(place for errors in ours for place in errors)
    return [
        Standing(
            *place, _n_best(ours, place), _n_best(published, place),
            _n_below(ours, place), _n_below(published, place),
        )
        for place in places
    ]  # fmt: skip


def _by_dataset(
    comparisons: Sequence[Comparison], error: Callable[[Comparison], float]
) -> list[dict[_Place, float]]:
    found: dict[str, dict[_Place, float]] = {}
    for comparison in comparisons:
        cell = comparison.published
        place = (cell.method, config_text(cell.config))
        found.setdefault(cell.dataset, {})[place] = error(comparison)
    return list(found.values())


def _n_best(datasets: Sequence[Mapping[_Place, float]], place: _Place) -> int:
    return sum(errors[place] == min(errors.values()) for errors in datasets)


def _n_below(datasets: Sequence[Mapping[_Place, float]], place: _Place) -> int | None:
    whole = next((other for other in datasets[0] if other[0] == _WHOLE), None)
    if whole is None or whole == place:
        return None
    return sum(errors[place] < errors[whole] for errors in datasets)


def ordering_conclusions(comparisons: Sequence[Comparison]) -> str:
    """The standings of all orders and shares as text, ours beside the published.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The cells of some data sets, the same cells for each.

    Returns
    -------
    str
        A line for each order and share, below a title and a header.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell, ordering_conclusions
    >>> config = {"keep": "20%"}
    >>> cell = PublishedCell("martinez-5.8", "wine", "orientation", config, 5.0, None, 100)
    >>> print(ordering_conclusions([Comparison(cell, 4.9, 1.0, 100)]))
    Number of data sets, of 1, where a cell is the best (ties included) and below bagging:
    method       config    best  published  below  published
    orientation  keep=20%     1          1      -          -
    """
    n_datasets = len({comparison.published.dataset for comparison in comparisons})
    header = ["method", "config", "best", "published", "below", "published"]
    lines = [
        ["-" if part is None else str(part) for part in significance]
        for significance in ordering_standings(comparisons)
    ]
    return (
        f"Number of data sets, of {n_datasets}, where a cell is the best (ties included) and below "
        f"bagging:\n{aligned([header, *lines], to_the_right={2, 3, 4, 5})}"
    )
