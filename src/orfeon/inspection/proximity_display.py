"""Pictures of a forest as a neighbourhood: which rows are near each other, and which are outliers.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
Breiman and Cutler (2003). Manual on setting up, using, and understanding random forests v4.0.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from orfeon.forest.neighbourhood import checked_proximities, outlier_scores, proximities
from orfeon.inspection.display import check_choice
from orfeon.inspection.neighbourhood import RowClasses
from orfeon.rendering.display import Display
from orfeon.rendering.figure import (
    inches,
    put_colour_bar,
    put_legend,
    put_title,
)
from orfeon.rendering.palette import EDGE, INK, class_colours
from orfeon.rendering.texts import fitting_size, put_names
from orfeon.utils.types import Floats, Integers

Kind = Literal["matrix", "plane"]

#: Share of the pairs of rows within the range of the colours.
_IN_RANGE = 0.99
#: Points between the matrix and the colours of the classes.
_STRIP = 4.5
#: Outliers whose row numbers are written.
_MOST_NAMED = 5
#: Rows up to which all eigenvectors are computed at once.
_FEW = 500


def scaling_coordinates(proximities: Floats) -> tuple[Floats, Floats]:
    """Points of a plane whose distances are similar to those of the rows.

    Two rows of proximity p are at a squared distance of 2 (1 - p); classical scaling finds the
    plane with the largest variation.
    """
    from sklearn.decomposition import KernelPCA  # importing it takes long

    n_rows = len(proximities)
    if n_rows < 3:
        raise ValueError(f"proximities has {n_rows} rows; a plane needs three or more.")
    solver = "dense" if n_rows <= _FEW else "arpack"
    scaling = KernelPCA(2, kernel="precomputed", eigen_solver=solver, random_state=0)
    points = scaling.fit_transform(proximities)
    mean = proximities.mean(axis=0)
    whole = float(np.trace(proximities) - 2 * mean.sum() + n_rows * mean.mean())
    return points, scaling.eigenvalues_ / max(whole, np.finfo(np.float64).tiny)


class ProximityDisplay(Display):
    """Proximities between rows: as a matrix sorted by class, or as distances in a plane.

    Parameters
    ----------
    proximities : array or sparse array of shape (n_rows, n_rows)
        Share of the trees in which two rows reach the same leaf.
    y : array of shape (n_rows,), optional
        Classes of the rows.

    Attributes
    ----------
    <axes>
    order_ : ndarray of shape (n_rows,)
        The order of the rows in the matrix: by class, and in each class those nearest to all
        others first.

    See Also
    --------
    proximities : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import ProximityDisplay
    >>> X, y = make_waveform(150, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> display = ProximityDisplay.from_estimator(forest, X, y)
    >>> display.proximities.shape
    (150, 150)
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (4.8, 4.6)

    order_: Integers

    def __init__(self, proximities: npt.ArrayLike | sparse.csr_array, y: Any = None) -> None:
        near = checked_proximities(proximities)
        if not near.shape[0]:
            raise ValueError("proximities has shape (0, 0); there is nothing to draw.")
        self.proximities: Floats = near.toarray() if sparse.issparse(near) else near
        self._classes = RowClasses(y, len(self.proximities))

    @classmethod
    def from_estimator(
        cls, ensemble: Any, X: Any, y: Any = None, *, kind: Kind = "matrix", ax: Any = None
    ) -> Self:
        """Draw the proximities of rows in an ensemble of trees.

        Parameters
        ----------
        ensemble : Forest, tree, or ensemble of trees
            Of orfeon, or of scikit-learn with ``apply``; fitted.
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,), optional
            Their classes.
        kind : {"matrix", "plane"}, default="matrix"
            All pairs of rows, or points whose distances are similar to those of the rows.
        <ax>
        """
        return cls(proximities(ensemble, X), y).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: Kind = "matrix") -> Self:
        """Draw the picture.

        Parameters
        ----------
        kind : {"matrix", "plane"}, default="matrix"
            As for :meth:`from_estimator`.
        <ax>
        """
        check_choice("kind", kind, ("matrix", "plane"))
        self._begin(ax)
        self.order_ = self._sorted()
        if kind == "matrix":
            self._draw_matrix()
        else:
            self._draw_plane()
        return self._finish()

    def _sorted(self) -> Integers:
        codes = self._classes.codes
        within = np.zeros(len(codes))
        for code in np.unique(codes):
            rows = np.flatnonzero(codes == code)
            within[rows] = self.proximities[np.ix_(rows, rows)].mean(axis=1)
        return np.lexsort((-within, codes))

    def _draw_matrix(self) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        ax, n_rows = self.ax_, len(self.proximities)
        pairs = self.proximities[~np.eye(n_rows, dtype=bool)]
        highest = float(np.quantile(pairs, _IN_RANGE)) if len(pairs) else 1.0
        blue = class_colours(1)[0]
        image = ax.imshow(
            self.proximities[np.ix_(self.order_, self.order_)], vmin=0.0,
            vmax=highest if highest > 0 else 1.0, interpolation="nearest", aspect="equal",
            cmap=LinearSegmentedColormap.from_list("near", ["#FFFFFF", blue, "#00243A"]),
        )  # fmt: skip
        image.cmap.colorbar_extend = "max" if highest < 1 else "neither"
        put_colour_bar(image, ax, "share of trees with both rows in one leaf")
        self._part_classes()
        put_title(ax, "Proximities of rows" + ", sorted by class" * bool(self._classes.names))

    def _part_classes(self) -> None:
        """Lines between the classes, and their names at the edges."""
        ax, classes = self.ax_, self._classes
        if not classes.names:
            ax.set(xlabel="rows", ylabel="rows")
            return
        ends = np.cumsum(np.bincount(classes.codes, minlength=len(classes.names)))
        for end in ends[:-1]:
            for line in (ax.axhline, ax.axvline):
                line(end - 0.5, color=INK, linewidth=0.6)
        starts = np.concatenate([[0], ends[:-1]])
        middle = (starts + ends - 1) / 2
        names = [f"class {name}" for name in classes.names]
        # The smallest class must have room for its name.
        room = 0.6 * inches(self.figure_)[0] * np.min(ends - starts) / ends[-1]
        size = fitting_size(max(map(len, names)), float(room))
        ax.set_xticks(middle, names, fontsize=size)
        ax.set_yticks(middle, names, fontsize=size, rotation=90, va="center")
        ax.tick_params(length=0, pad=7)
        for start, end, (_, _, colour, _) in zip(starts, ends, classes, strict=True):
            self._draw_strip(start - 0.5, end - 0.5, colour)

    def _draw_strip(self, start: float, end: float, colour: str) -> None:
        """The colour of a class beside its rows and below its columns."""
        from matplotlib.transforms import ScaledTranslation

        ax, scale = self.ax_, self.figure_.dpi_scale_trans
        below = ax.get_xaxis_transform() + ScaledTranslation(0, -_STRIP / 72, scale)
        beside = ax.get_yaxis_transform() + ScaledTranslation(-_STRIP / 72, 0, scale)
        for place, where in ((((start, end), (0, 0)), below), (((0, 0), (start, end)), beside)):
            ax.plot(
                *place, color=colour, linewidth=4, transform=where, clip_on=False,
                solid_capstyle="butt", scalex=False, scaley=False,
            )  # fmt: skip

    def _draw_plane(self) -> None:
        ax, classes = self.ax_, self._classes
        points, shares = scaling_coordinates(self.proximities)
        size = float(np.clip(5000.0 / len(points), 6.0, 24.0))
        drawn = classes.draw(ax, points, s=size, zorder=3)
        for axis, share, place in zip(
            (ax.xaxis, ax.yaxis), shares, ("first", "second"), strict=True
        ):
            axis.set_label_text(f"{place} coordinate ({100 * share:.0f}% of the variation)")
        ax.xaxis.label.set_size("small")
        ax.yaxis.label.set_size("small")
        ax.tick_params(labelsize="small")
        if classes.names:
            put_legend(ax, handles=drawn, handlelength=1.8)
        put_title(
            ax, "Rows that share leaves are near each other\nclassical scaling of proximities"
        )


class OutlierDisplay(Display):
    """How far each row is from the other rows of its class, and which are outliers.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        Outlier scores, see :func:`outlier_scores`.
    y : array of shape (n_rows,), optional
        Classes of the rows.
    threshold : float, default=10.0
        The score above which a row is an outlier.

    Attributes
    ----------
    <axes>
    outliers_ : ndarray of int
        The outliers, the highest score first.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from orfeon.inspection import OutlierDisplay, outlier_scores
    >>> near = np.array([[1.0, 0.8, 0.7, 0.0], [0.8, 1.0, 0.9, 0.1],
    ...                  [0.7, 0.9, 1.0, 0.0], [0.0, 0.1, 0.0, 1.0]])
    >>> display = OutlierDisplay(outlier_scores(near)).plot()
    >>> display.outliers_, display.ax_.get_title()
    (array([3]), '1 of 4 rows is far from all others')
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (4.8, 3.6)

    outliers_: Integers

    def __init__(self, scores: npt.ArrayLike, y: Any = None, *, threshold: float = 10.0) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        if self.scores.ndim != 1 or not np.isfinite(self.scores).all():
            raise ValueError(
                f"scores has shape {self.scores.shape}; a finite number for each row is expected."
            )
        self.threshold = float(threshold)
        above = np.flatnonzero(self.scores > self.threshold)
        self.outliers_ = above[np.argsort(-self.scores[above], kind="stable")]
        self._classes = RowClasses(y, len(self.scores))

    @classmethod
    def from_estimator(
        cls, ensemble: Any, X: Any, y: Any = None, *, threshold: float = 10.0, ax: Any = None
    ) -> Self:
        """Draw the outlier scores of rows in an ensemble of trees.

        Parameters
        ----------
        ensemble : Forest, tree, or ensemble of trees
            Of orfeon, or of scikit-learn with ``apply``; fitted.
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,), optional
            Their classes; by default all rows are of one class.
        threshold : float, default=10.0
            The score above which a row is an outlier.
        <ax>
        """
        near = proximities(ensemble, X)
        codes = RowClasses(y, len(near)).codes
        return cls(outlier_scores(near, codes), y, threshold=threshold).plot(ax)

    def _draw(self) -> None:
        ax = self.ax_
        classes, n_rows = self._classes, len(self.scores)
        place = np.empty(n_rows)
        place[np.argsort(classes.codes, kind="stable")] = np.arange(n_rows)
        size = float(np.clip(5000.0 / max(n_rows, 1), 6.0, 22.0))
        drawn = classes.draw(ax, np.column_stack([place, self.scores]), s=size, zorder=3)
        line = ax.axhline(
            self.threshold, color=INK, linestyle="--", linewidth=0.9,
            label=f"above {self.threshold:g}: worth a look",
        )  # fmt: skip
        ax.margins(y=0.08)
        named = self.outliers_[:_MOST_NAMED]
        at = np.column_stack([place[named], self.scores[named]])
        put_names(ax, [f"row {row}" for row in named], at)
        ax.set_xticks([])
        ax.set_xlabel("rows, class by class" if classes.names else "rows")
        ax.set_ylabel("outlier score")
        n = len(self.outliers_)
        whose = "all others" if not classes.names else "its class" if n == 1 else "their class"
        found = f"{n:,} of {n_rows:,} rows {'is' if n == 1 else 'are'} far from {whose}"
        put_title(ax, found)
        # There are no tick labels below the axis.
        put_legend(ax, handles=[*drawn, line] if classes.names else [line], below=20.0)
        ax.grid(axis="y", color=EDGE, linewidth=0.3)
