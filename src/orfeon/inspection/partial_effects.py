"""How the output depends on some features: partial dependence, single rows, and local effects.

A tree is visited once by all rows and all points of the grid together: a test of a feature of the
grid divides the points, another test divides the rows. Prediction at every point, as other
libraries do it, would route each row once for each point.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.
Goldstein, Kapelner, Bleich and Pitkin (2015). Peeking inside the black box. Journal of
Computational and Graphical Statistics 24(1), 44-65.
Apley and Zhu (2020). Visualizing the effects of predictor variables in black box supervised
learning models. Journal of the Royal Statistical Society B 82(4), 1059-1086.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.inspection.display import check_choice, check_positive
from orfeon.inspection.reading import read_weights
from orfeon.inspection.tree_sum_types import AdditiveOutput, Output, TreeSum
from orfeon.inspection.tree_sums import additive_output
from orfeon.kernels.routing import partial
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

Kind = Literal["average", "individual", "both"]


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """The output as a function of some features.

    Parameters
    ----------
    grid : tuple of ndarray
        Values of each feature.
    average : ndarray of shape (n_values, ..., n_outputs)
        Mean output over the rows, for each point of the grid.
    individual : ndarray of shape (n_rows, n_values, ..., n_outputs) or None
        The output for each row.
    names : tuple of str
        Names of the features.
    classes : ndarray or None
        The classes in the order of the outputs.
    what : str
        What the output is.

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.inspection import partial_dependence
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = CARTRegressor().fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> found = partial_dependence(tree, X, 0)
    >>> found.grid[0].tolist(), found.average[:, 0].tolist()
    ([0.0, 1.0], [0.5, 2.5])
    """

    grid: tuple[npt.NDArray[Any], ...]
    average: Floats
    individual: Floats | None
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    what: str


def partial_dependence(
    model: Any,
    X: Any,
    features: Any,
    *,
    grid: Any = None,
    grid_resolution: int = 100,
    percentiles: tuple[float, float] = (0.05, 0.95),
    kind: Kind = "average",
    output: Output = "auto",
    sample_weight: Any = None,
) -> PartialDependence:
    """Mean output when some features are set to each value of a grid.

    Parameters
    ----------
    model : estimator or Forest
        Fitted, as for :func:`shap_values`.
    X : array or data frame of shape (n_rows, n_features)
        Rows whose other features stay as they are.
    features : int, str, or sequence of these
        One feature, or several together, by position or by name.
    grid : sequence, or sequence of sequences, optional
        Values of the feature, or of each; by default all values where there are few, and all
        categories, else values at equal distances between the percentiles.
    grid_resolution : int, default=100
        Maximum number of values of a feature, by default.
    percentiles : tuple of float, default=(0.05, 0.95)
        Where the values begin and end, as shares of the rows.
    kind : {"average", "individual", "both"}, default="average"
        Whether to keep the curve of each row (individual conditional expectation).
    output : {"auto", "supports", "votes", "raw"}, default="auto"
        As for :func:`shap_values`.
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows in the average.

    Returns
    -------
    PartialDependence
        The grid and the outputs.

    See Also
    --------
    accumulated_effects : The same where features are correlated.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import partial_dependence
    >>> X, y = make_friedman1(300, random_state=0)
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> found = partial_dependence(forest, X, [3, 4], grid_resolution=5)
    >>> found.average.shape
    (5, 5, 1)
    >>> changed = X.copy()
    >>> changed[:, [3, 4]] = found.grid[0][2], found.grid[1][4]
    >>> bool(abs(found.average[2, 4, 0] - forest.predict(changed).mean()) < 1e-12)
    True
    """
    check_choice("kind", kind, ("average", "individual", "both"))
    check_positive("grid_resolution", grid_resolution)
    described = additive_output(model, output, X)
    chosen = positions_of(features, described.names)
    columns = [_column(X, j) for j in chosen]
    n_rows = len(columns[0])
    weights = read_weights(sample_weight, n_rows)
    if grid is None:
        values = tuple(default_grid(one, grid_resolution, percentiles) for one in columns)
    else:
        values = _given_grid(grid, len(chosen))
    points = list(product(*values))
    shape = tuple(len(one) for one in values)
    average = np.tile(described.start, (len(points), 1))
    keeps = kind != "average"
    individual = None
    if keeps:
        individual = np.tile(described.start, (n_rows, len(points), 1))
    for part in described.parts:
        rows, places = part.encode(X), _encoded_grid(part, X, chosen, points)
        mean, each = _of_part(part, rows, weights, *places, described.n_outputs, keeps)
        average += mean
        if individual is not None and each is not None:
            individual += each
    if individual is not None:
        individual = individual.reshape(n_rows, *shape, -1)
    return PartialDependence(
        values, average.reshape(*shape, -1), individual,
        tuple(described.names[j] for j in chosen), described.classes, described.what,
    )  # fmt: skip


def positions_of(features: Any, names: tuple[str, ...]) -> list[int]:
    """Positions of features given by position or by name."""
    many = features if isinstance(features, Sequence | np.ndarray) else [features]
    given = [features] if isinstance(features, str) else list(many)
    if not given:
        raise ValueError("features is empty; give one feature or more.")
    found = []
    for one in given:
        if isinstance(one, str):
            if one not in names:
                from orfeon.utils.text import nearest_names

                raise ValueError(f"features has {one!r}{nearest_names(one, names)}, which is no "
                                 f"feature of the model.")  # fmt: skip
            found.append(names.index(one))
        elif not isinstance(one, int | np.integer) or not -len(names) <= one < len(names):
            raise ValueError(
                f"features has {one!r}; the {len(names)} features are numbered from 0 to "
                f"{len(names) - 1}."
            )
        else:
            found.append(int(one) % len(names))
    if len(set(found)) < len(found):
        raise ValueError(f"features={features!r} has a feature twice.")
    return found


def _column(X: Any, feature: int) -> npt.NDArray[Any]:
    """A column of rows, as given."""
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, feature])
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        return np.asarray(X[X.columns[feature]])
    if isinstance(X, np.ndarray):
        return X[:, feature]
    return np.array([row[feature] for row in X], dtype=object)


def default_grid(
    column: npt.NDArray[Any], resolution: int, percentiles: tuple[float, float]
) -> npt.NDArray[Any]:
    """Values of a feature: all of a few, all categories, or numbers at equal distances."""
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise ValueError(
            f"percentiles={percentiles!r} is not allowed: give two shares of the rows, the lower "
            "one first."
        )
    known = [value for value in column.tolist() if value is not None and value == value]
    if not known:
        raise ValueError("a feature has no known value in X; give its grid.")
    if any(isinstance(value, str | bool) for value in known):
        return np.array(sorted(set(known), key=str), dtype=object)
    numbers = np.asarray(known, dtype=np.float64)
    distinct = np.unique(numbers)
    if len(distinct) <= resolution:
        return distinct
    # As scikit-learn's partial dependence chooses them.
    from scipy.stats.mstats import mquantiles

    begin, end = mquantiles(numbers, prob=percentiles)
    if np.allclose(begin, end):
        begin, end = distinct[0], distinct[-1]
    return np.linspace(begin, end, resolution)


def _given_grid(grid: Any, n_features: int) -> tuple[npt.NDArray[Any], ...]:
    alone = n_features == 1 and not (len(grid) == 1 and np.ndim(grid[0]) == 1)
    given = [grid] if alone else list(grid)
    if len(given) != n_features:
        raise ValueError(f"grid has values of {len(given)} features; there are {n_features}.")
    found = tuple(np.asarray(one) for one in given)
    if any(one.ndim != 1 or not len(one) for one in found):
        raise ValueError("grid must hold one value or more for each feature.")
    return found


def _encoded_grid(
    part: TreeSum, X: Any, chosen: list[int], points: list[Any]
) -> tuple[Floats, Integers, bool]:
    """Encoded values of the columns that change, their places, and whether others change too."""
    first = part.encode(_first_rows(X, chosen, points[:1], 1))
    base = np.repeat(first, len(points), axis=0)
    encoded = part.encode(_first_rows(X, chosen, points, len(points)))
    same = (encoded == base) | (np.isnan(encoded) & np.isnan(base))
    players = np.asarray(part.players)
    mine = np.isin(players, chosen)
    entangled = not bool(same[:, ~mine].all())
    columns = np.flatnonzero(mine)
    place = np.full(encoded.shape[1], -1, np.int64)
    place[columns] = np.arange(len(columns))
    return np.ascontiguousarray(encoded[:, columns]), place, entangled


def _first_rows(X: Any, chosen: list[int], points: list[Any], n: int) -> Any:
    """The first row of X, once for each point, with the values of the point."""
    if hasattr(X, "iloc"):
        rows = X.iloc[np.zeros(n, int)].copy().reset_index(drop=True)
        for k, j in enumerate(chosen):
            name = X.columns[j]
            values = [point[k] for point in points]
            rows[name] = _as_column(values, X[name])
        return rows
    first = np.asarray(X[:1], dtype=_row_type(X))
    rows = np.repeat(first, n, axis=0)
    for k, j in enumerate(chosen):
        rows[:, j] = [point[k] for point in points]
    return rows


def _as_column(values: list[Any], like: Any) -> Any:
    """Values as a column of the same kind."""
    import pandas as pd

    if isinstance(like.dtype, pd.CategoricalDtype):
        return pd.Categorical(values, dtype=like.dtype)
    if like.dtype.kind in "biu" and all(value == int(value) for value in values):
        return pd.Series(values, dtype=like.dtype)
    return pd.Series(values)


def _row_type(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return np.result_type(X.dtype, np.float64) if X.dtype.kind in "fiub" else object
    return object if any(isinstance(value, str) or value is None for value in X[0]) else None


def _of_part(
    part: TreeSum,
    rows: Floats,
    weights: Floats,
    grid: Floats,
    place: Integers,
    entangled: bool,
    n_outputs: int,
    keeps: bool,
) -> tuple[Floats, Floats | None]:
    """The mean of a part at each point, and what it is for each row."""
    if entangled:
        raise ValueError(
            "the steps of the pipeline mix features, so one feature cannot be changed on its own; "
            "explain the last step, model[-1], on rows transformed by model[:-1]."
        )
    part.check(rows)
    n_points = len(grid)
    split = part.in_part(rows) | _meets_split(part, grid, place, rows.shape[1])
    whole = np.flatnonzero(~split)
    each = np.zeros((len(rows), n_points, n_outputs)) if keeps else None
    mean = np.zeros((1, n_points, n_outputs))
    args = (*part.tests, part.values, part.column, kernel_view(np.ascontiguousarray(rows)))
    if each is not None:
        partial.add_predictions_at(*args, whole, weights, grid, place, each)
    else:
        partial.add_means_at(*args, whole, weights, grid, place, mean)
    for row in np.flatnonzero(split).tolist():  # missing values that go down several branches
        changed = np.repeat(rows[row : row + 1], n_points, axis=0)
        changed[:, place >= 0] = grid
        one = np.zeros((n_points, n_outputs))
        part.add_predictions(changed, one)
        if each is not None:
            each[row] = one
        else:
            mean[0] += weights[row] * one
    if each is not None:
        for weight, one in zip(weights, each, strict=True):
            mean[0] += weight * one
    return mean[0] / weights.sum(), each


def _meets_split(part: TreeSum, grid: Floats, place: Integers, n_columns: int) -> bool:
    """Whether a point of the grid goes down several branches."""
    if not len(grid):
        return False
    rows = np.zeros((len(grid), n_columns))
    rows[:, place >= 0] = grid
    known = part.in_part(rows)
    return bool(known.any())


# -- accumulated local effects ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AccumulatedEffects:
    """The effect of a feature, accumulated over intervals from those rows that lie in them.

    Parameters
    ----------
    edges : ndarray of shape (n_intervals + 1,)
        Ends of the intervals.
    effect : ndarray of shape (n_intervals + 1, n_outputs)
        The accumulated effect at each end; its mean over the rows is 0.
    counts : ndarray of shape (n_intervals,)
        Weight of the rows in each interval.
    name : str
        The feature.
    classes : ndarray or None
        The classes in the order of the outputs.
    what : str
        What the output is.

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.inspection import accumulated_effects
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = CARTRegressor().fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> found = accumulated_effects(tree, X, 0)
    >>> found.edges.tolist(), found.effect[:, 0].tolist()
    ([0.0, 1.0], [-1.0, 1.0])
    """

    edges: Floats
    effect: Floats
    counts: Floats
    name: str
    classes: npt.NDArray[Any] | None
    what: str


def accumulated_effects(
    model: Any,
    X: Any,
    feature: Any,
    *,
    n_intervals: int = 40,
    output: Output = "auto",
    sample_weight: Any = None,
) -> AccumulatedEffects:
    """Accumulated local effects of an ordered feature.

    Each row moves only from one end of its interval to the other, so the model never predicts rows
    unlike those of X, as it does in partial dependence where features are correlated.

    Parameters
    ----------
    model : estimator or Forest
        Fitted, as for :func:`shap_values`.
    X : array or data frame of shape (n_rows, n_features)
        Rows.
    feature : int or str
        A numeric feature; rows in which it is missing are left out.
    n_intervals : int, default=40
        Maximum number of intervals, with about equal numbers of rows.
    output : {"auto", "supports", "votes", "raw"}, default="auto"
        As for :func:`shap_values`.
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    AccumulatedEffects
        Ends of the intervals, and the effect there.

    Examples
    --------
    >>> from orfeon import GradientBoostingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import accumulated_effects
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = GradientBoostingRegressor(random_state=0).fit(X, y)
    >>> found = accumulated_effects(model, X, 3, n_intervals=10)  # its true slope is 10
    >>> slope = (found.effect[-1, 0] - found.effect[0, 0]) / (found.edges[-1] - found.edges[0])
    >>> bool(8 < slope < 11)
    True
    """
    check_positive("n_intervals", n_intervals)
    described = additive_output(model, output, X)
    (at,) = positions_of(feature, described.names)[:1]
    column = _column(X, at)
    if any(isinstance(value, str) for value in column.tolist()):
        raise ValueError(
            f"feature {described.names[at]!r} has categories, which have no order; use "
            "partial_dependence."
        )
    values = column.astype(np.float64)
    weights = read_weights(sample_weight, len(values))
    known = np.flatnonzero(~np.isnan(values) & (weights > 0))
    if not len(known):
        raise ValueError(f"feature {described.names[at]!r} is missing in all rows.")
    ends = np.linspace(0, 1, n_intervals + 1)
    edges = np.unique(np.quantile(values[known], ends, method="inverted_cdf"))
    interval = np.clip(np.searchsorted(edges, values[known], side="left") - 1, 0, None)
    counts: Floats = np.bincount(interval, weights[known], max(len(edges) - 1, 1)).astype(float)
    change = np.zeros((len(counts), described.n_outputs))
    if len(edges) > 1:
        for part in described.parts:
            change += _changes(part, X, at, known, interval, edges, weights, described)
        change /= np.where(counts > 0, counts, 1.0)[:, None]
    effect = np.vstack([np.zeros(described.n_outputs), np.cumsum(change, axis=0)])[: len(edges)]
    if len(edges) > 1:
        middle = (effect[1:] + effect[:-1]) / 2
        effect = effect - counts @ middle / counts.sum()
    return AccumulatedEffects(
        edges, effect, counts, described.names[at], described.classes, described.what
    )


def _changes(
    part: TreeSum,
    X: Any,
    at: int,
    known: Integers,
    interval: Integers,
    edges: Floats,
    weights: Floats,
    described: AdditiveOutput,
) -> Floats:
    """Sum of the changes of the rows of each interval from its lower end to its upper."""
    rows = part.encode(X)
    grid, place, entangled = _encoded_grid(part, X, [at], [(edge,) for edge in edges])
    total = np.zeros((len(edges) - 1, described.n_outputs))
    for k in np.unique(interval):
        chosen = known[interval == k]
        mean, _ = _of_part(
            part, rows[chosen], weights[chosen], grid[k : k + 2], place, entangled,
            described.n_outputs, False,
        )  # fmt: skip
        total[k] = (mean[1] - mean[0]) * weights[chosen].sum()
    return total
