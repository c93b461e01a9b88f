"""A forest as a neighbourhood: the training samples behind the prediction of one row.

References
----------
Meinshausen (2006). Quantile regression forests. Journal of Machine Learning Research 7, 983-999.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from orfeon.data.schema import Schema
from orfeon.data.training_set import check_length
from orfeon.ensembles.out_of_bag import LeavingOut
from orfeon.forest.neighbourhood import forest_of, forest_weights
from orfeon.inspection.display import check_choice, check_positive
from orfeon.inspection.maps_display import MARKERS, darker
from orfeon.members import unpruned
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    fitting_rows,
    inches,
    put_colour_bar,
    put_legend,
    put_title,
)
from orfeon.rendering.palette import EDGE, INK, MUTED_INK, class_colours
from orfeon.rendering.texts import plain
from orfeon.utils.scikit_learn import _check_sample_weight
from orfeon.utils.types import Floats

Kind = Literal["auto", "plane", "bars"]

#: Area in square points of the marker of a sample without weight, and what the heaviest adds.
_LEAST, _LARGEST = 5.0, 170.0
#: Share of the width of a figure that is beside bars and their names.
_BARS = 0.62
#: Height in inches of title, axis and legend, above and below bars.
_BESIDE_BARS = 1.35


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The training samples behind a prediction.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        Weight of each sample; they sum to one.
    y : ndarray of shape (n_samples,)
        Classes or targets.
    is_regression : bool
        Whether they are targets.
    points : ndarray of shape (n_samples, 2) or None
        The samples, if they have two ordered features.
    row : ndarray of shape (2,) or None
        The predicted row.
    names : tuple of str
        Names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.inspection import RowWeights
    >>> found = RowWeights(np.array([0.5, 0.25, 0.25]), np.array(["a", "b", "a"]), False)
    >>> found.prediction(), round(found.n_effective, 2)
    ({'a': 0.75, 'b': 0.25}, 2.67)
    """

    weights: Floats
    y: npt.NDArray[Any]
    is_regression: bool
    points: Floats | None = None
    row: Floats | None = None
    names: tuple[str, ...] = ()

    def prediction(self) -> Any:
        """The weighted prediction: the share of each class, or the mean target."""
        if self.is_regression:
            return float(self.weights @ self.y.astype(np.float64))
        classes, codes = np.unique(self.y, return_inverse=True)
        shares = np.bincount(codes, self.weights, len(classes))
        return dict(zip(classes.tolist(), shares.tolist(), strict=True))

    @property
    def n_effective(self) -> float:
        """Equivalent number of samples with equal weights: 1 / sum of squared weights."""
        squares = float(self.weights @ self.weights)
        return 1.0 / squares if squares > 0 else 0.0


def row_weights(
    ensemble: Any, X: Any, y: Any, row: Any, *, sample_weight: Any = None
) -> RowWeights:
    """Weight of each training sample in the prediction of an ensemble of trees for one row.

    Parameters
    ----------
    ensemble : tree, or ensemble of trees, of orfeon
        Fitted.
    X, y, sample_weight
        The training set, as given to ``fit``.
    row : array of shape (n_features,), or data frame of one row
        The row to predict.

    Returns
    -------
    RowWeights
        The weights W(x_i, x), and the samples.

    Examples
    --------
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> from orfeon.inspection import row_weights
    >>> X, y = make_friedman1(200, random_state=0)
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> found = row_weights(forest, X, y, X[7] + 0.01)
    >>> bool(abs(found.prediction() - forest.predict(X[7:8] + 0.01)[0]) < 1e-9)
    True
    """
    ensemble = unpruned(ensemble)
    forest = forest_of(ensemble)
    if forest is None or forest is ensemble:
        raise TypeError(
            f"ensemble is of type {type(ensemble).__name__}; sample weights need a tree of "
            "orfeon, or an ensemble of such trees."
        )
    one = _one_row(row)
    target = column_or_1d(y)
    if isinstance(ensemble, LeavingOut):
        weights = ensemble.training_weights(one, X, y, sample_weight)[0]
    else:
        samples = ensemble._encode(X)
        seen = _check_sample_weight(sample_weight, samples, dtype=np.float64)
        counts = np.broadcast_to(seen, (len(forest), len(samples)))
        weights = forest_weights(forest, samples, ensemble._encode(one), counts)[0]
    check_length(target, len(weights))
    schema: Schema = ensemble.schema_
    names = tuple(schema.name(j) for j in range(schema.n_features))
    is_plane = len(names) == 2 and schema.all_ordered
    return RowWeights(
        weights,
        target,
        is_regressor(ensemble),
        ensemble._encode(X) if is_plane else None,
        ensemble._encode(one)[0] if is_plane else None,
        names,
    )


def _one_row(row: Any) -> Any:
    if hasattr(row, "columns"):
        if len(row) != 1:
            raise ValueError(f"row has {len(row)} rows; give one.")
        return row
    if hasattr(row, "to_frame"):  # a row of a data frame
        return row.to_frame().T.infer_objects()
    values = np.asarray(row, dtype=object if _has_strings(row) else None)
    if values.ndim == 2 and len(values) == 1:
        return values
    if values.ndim != 1:
        raise ValueError(
            f"row has shape {values.shape}; one row, of shape (n_features,), is expected."
        )
    return values[None, :]


def _has_strings(row: Any) -> bool:
    return any(isinstance(value, str) for value in np.ravel(np.asarray(row, dtype=object)))


class ForestWeightsDisplay(Display):
    """The training samples behind a forest's prediction of one row, by weight.

    With two ordered features they are points of a plane, larger if they weigh more; otherwise the
    heaviest are bars.

    Parameters
    ----------
    data : RowWeights
        Weights from :func:`row_weights`.

    Attributes
    ----------
    <axes>

    See Also
    --------
    forest_weights : The weights of all samples for many rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_circle
    >>> from orfeon.inspection import ForestWeightsDisplay
    >>> X, y = make_circle(300, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> display = ForestWeightsDisplay.from_estimator(forest, X, y, [0.5, 0.9])
    >>> round(sum(display.data.prediction().values()), 6)
    1.0
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (4.8, 4.6)

    def __init__(self, data: RowWeights) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        row: Any,
        *,
        sample_weight: Any = None,
        kind: Kind = "auto",
        n_shown: int = 15,
        ax: Any = None,
    ) -> Self:
        """Draw the weights of the training samples for one row.

        Parameters
        ----------
        ensemble, X, y, row, sample_weight
            As for :func:`row_weights`.
        kind : {"auto", "plane", "bars"}, default="auto"
            The picture; "auto" is a plane if there are two ordered features.
        n_shown : int, default=15
            Maximum number of samples with bars; fewer if their names do not fit.
        <ax>
        """
        data = row_weights(ensemble, X, y, row, sample_weight=sample_weight)
        return cls(data).plot(ax, kind=kind, n_shown=n_shown)

    def plot(self, ax: Any = None, *, kind: Kind = "auto", n_shown: int = 15) -> Self:
        """Draw the picture.

        Parameters
        ----------
        kind, n_shown
            As for :meth:`from_estimator`.
        <ax>
        """
        check_choice("kind", kind, ("auto", "plane", "bars"))
        if kind == "plane" and self.data.points is None:
            raise ValueError(
                f'kind="plane" needs two ordered features; there are {len(self.data.names)}. Use '
                'kind="bars".'
            )
        check_positive("n_shown", n_shown)
        ax = self._begin(ax)
        if kind != "bars" and self.data.points is not None:
            self._draw_plane()
        else:
            self._draw_bars(n_shown)
        put_title(ax, self._title())
        return self._finish()

    def _title(self) -> str:
        data = self.data
        counted = int((data.weights > 0).sum())
        used = f"{counted:,} of {len(data.weights):,} samples have a weight,"
        return f"{used}\nequivalent to {data.n_effective:.1f} of equal weight"

    def _draw_plane(self) -> None:
        from matplotlib.lines import Line2D

        data, ax = self.data, self.ax_
        assert data.points is not None
        assert data.row is not None
        size = _LEAST + _LARGEST * data.weights / max(float(data.weights.max()), 1e-300)
        known = ~np.isnan(data.points).any(axis=1)
        heavy = known & (data.weights > 0)
        ax.scatter(*data.points[known & ~heavy].T, s=_LEAST, color=EDGE, linewidths=0, zorder=1)
        if data.is_regression:
            self._draw_targets(heavy, size)
            entries = []
        else:
            entries = self._draw_classes(heavy, size)
        ax.plot(
            *data.row, marker="*", color="white", markeredgecolor=INK, markersize=13, zorder=5,
            linestyle="",
        )  # fmt: skip
        row = Line2D(
            [], [], marker="*", color="white", markeredgecolor=INK, markersize=11, linestyle="",
            label="the row",
        )  # fmt: skip
        ax.set_xlabel(plain(data.names[0]))
        ax.set_ylabel(plain(data.names[1]))
        put_legend(ax, handles=[*entries, row], handlelength=1.8)

    def _draw_classes(self, heavy: npt.NDArray[np.bool_], size: Floats) -> list[Any]:
        from matplotlib.lines import Line2D

        data, entries = self.data, []
        classes = RowClasses(data.y, len(data.y))
        shares = np.bincount(classes.codes, data.weights, len(classes.names))
        for code, name, colour, marker in classes:
            some = heavy & (classes.codes == code)
            assert data.points is not None
            self.ax_.scatter(
                *data.points[some].T, s=size[some], color=colour, marker=marker, alpha=0.8,
                edgecolors="white", linewidths=0.4, zorder=3,
            )  # fmt: skip
            label = f"class {name}: {100 * shares[code]:.0f}%"
            entries.append(
                Line2D([], [], linestyle="", marker=marker, color=colour, markersize=6, label=label)
            )
        return entries

    def _draw_targets(self, heavy: npt.NDArray[np.bool_], size: Floats) -> None:
        data = self.data
        assert data.points is not None
        drawn = self.ax_.scatter(
            *data.points[heavy].T, s=size[heavy], c=data.y[heavy].astype(np.float64),
            cmap="cividis", edgecolors="white", linewidths=0.4, zorder=3,
        )  # fmt: skip
        put_colour_bar(drawn, self.ax_, f"target (weighted mean {data.prediction():.4g})")

    def _draw_bars(self, n_shown: int) -> None:
        data, ax = self.data, self.ax_
        order = np.argsort(-data.weights, kind="stable")
        n_rows = min(n_shown, max(int((data.weights > 0).sum()), 1))
        rows = order[: fitting_rows(ax, n_rows, _BESIDE_BARS)]
        colours = [class_colours(1)[0]] * len(rows)
        entries: list[Any] = []
        texts = [f"row {row}" for row in rows]
        if data.is_regression:
            texts = [f"row {row} ({data.y[row]:.3g})" for row in rows]
        else:
            classes = RowClasses(data.y, len(data.y))
            looks = {code: (name, colour) for code, name, colour, _ in classes}
            colours = [looks[classes.codes[row]][1] for row in rows]
            texts = [f"row {row} ({looks[classes.codes[row]][0]})" for row in rows]
            entries = self._shares(classes)
        ax.barh(np.arange(len(rows)), data.weights[rows], color=colours, height=0.75)
        ax.set_yticks(np.arange(len(rows)), texts, fontsize="small")
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        together = f"weight (all shown: {100 * data.weights[rows].sum():.0f}%)"
        ax.set_xlabel(together)
        ax.spines[["top", "right"]].set_visible(False)
        if entries:
            width = 72 * _BARS * inches(self.figure_)[0]
            put_legend(ax, handles=entries, width=width, handlelength=1.8)
        else:
            text = f"weighted mean of all targets: {data.prediction():.4g}"
            ax.text(
                0.98, 0.03, text, transform=ax.transAxes, ha="right", fontsize="small",
                color=MUTED_INK,
            )  # fmt: skip

    def _shares(self, classes: RowClasses) -> list[Any]:
        from matplotlib.patches import Patch

        shares = np.bincount(classes.codes, self.data.weights, len(classes.names))
        return [
            Patch(color=colour, label=f"class {name}: {100 * shares[code]:.0f}%")
            for code, name, colour, _ in classes
        ]


class RowClasses:
    """Rows by class, each class with its colour and marker."""

    def __init__(self, y: Any, n_rows: int) -> None:
        self.names: list[str] = []
        self.codes = np.zeros(n_rows, np.int64)
        if y is None:
            return
        labels = column_or_1d(y)
        check_length(labels, n_rows)
        if type_of_target(labels).startswith("continuous"):
            raise ValueError("y holds numbers that are not classes; leave it out in regression.")
        found, self.codes = np.unique(labels, return_inverse=True)
        self.names = [plain(label) for label in found]

    def __iter__(self) -> Iterator[tuple[int, str, str, str]]:
        """Code, name, colour and marker of each class; one without a name if unknown."""
        names = self.names or [""]
        for code, (name, colour) in enumerate(zip(names, class_colours(len(names)), strict=True)):
            yield code, name, darker(colour), MARKERS[code % len(MARKERS)]

    def draw(self, ax: Any, points: npt.NDArray[np.float64], **look: Any) -> list[Any]:
        return [
            ax.scatter(
                *points[self.codes == code].T, color=colour, marker=marker, label=f"class {name}",
                edgecolors="white", linewidths=0.4, **look,
            )
            for code, name, colour, marker in self
        ]  # fmt: skip
