"""The nearest row for which a model of trees decides otherwise.

Each leaf of a tree is a box: an interval of each ordered feature, and some categories of the
others. For one tree the nearest box of another class is found among all of them, and nothing nearer
exists. In an ensemble the boxes of all trees overlap, and the search is a heuristic: step by step
it moves to the box that wins most for its distance, and then takes back whatever is not needed.
That the class changes is checked by a prediction in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from orfeon.base import TabularEstimator
from orfeon.boosting.gradient_base import GradientBoosting
from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.inspection.neighbourhood import _one_row
from orfeon.inspection.partial_effects import positions_of
from orfeon.inspection.tree_sum_types import SHARES, AdditiveOutput, NoTreeSumError, TreeSum
from orfeon.inspection.tree_sums import additive_output
from orfeon.members import unpruned
from orfeon.rendering.numbers import number_text
from orfeon.utils.text import listed
from orfeon.utils.types import Floats, Integers

#: Boxes tried in a step, the nearest first; steps; and passes that take back what is not needed.
_BOXES, _STEPS, _PASSES = 3000, 25, 20
#: Numbers that hold the boxes of an ensemble; further trees only take part in the decision.
_NUMBERS = 4_000_000
#: Values of a feature tried between the old and the new one.
_VALUES = 64


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A row for which the model decides otherwise, near a given one.

    Parameters
    ----------
    row : ndarray of shape (n_features,)
        Its values.
    changes : dict of str to tuple
        Old and new value of each feature that changed.
    before, after : object
        The decision for the given row and for this one, by the model's ``predict``.
    distance : float
        Sum of the changes, each divided by the feature's scale; another category counts 1.
    is_nearest : bool
        Whether no nearer row exists: for one tree. Else a nearer one may exist.
    """

    row: npt.NDArray[Any]
    changes: dict[str, tuple[Any, Any]]
    before: Any
    after: Any
    distance: float
    is_nearest: bool

    def __str__(self) -> str:
        changed = listed(
            f"{name} were {_moved(old, new)}" for name, (old, new) in self.changes.items()
        )
        return f"It would be {self.after!s} if {changed}."


def _moved(old: Any, new: Any) -> str:
    """A change in words; branches include their upper end, so only a rise needs 'above'."""
    if isinstance(new, str) or isinstance(old, str) or old is None or old != old:
        return f"{_text(new)} instead of {_text(old)}"
    just = "just above " if new > old else ""
    return f"{just}{_text(new)} instead of {_text(old)}"


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return value if isinstance(value, str) else number_text(float(value))


def counterfactual(
    model: Any, row: Any, *, target: Any = None, X: Any = None, fixed: Iterable[Any] = ()
) -> Counterfactual | None:
    """Find a small change of a row for which a classifier decides otherwise.

    Parameters
    ----------
    model : estimator
        A fitted classifier, as for :func:`shap_values`.
    row : array of shape (n_features,), or data frame of one row
        The row.
    target : object, optional
        The class to reach; by default any other.
    X : array or data frame of shape (n_rows, n_features), optional
        Rows whose standard deviations are the scales of the features; by default half of the range
        of a feature's thresholds is.
    fixed : iterable of int or str
        Features that must not change.

    Returns
    -------
    Counterfactual or None
        The changed row; None if none was found. For one tree it is the nearest there is; for an
        ensemble a nearer one may exist.

    Notes
    -----
    A value that must exceed a threshold is the next larger number; the model has no other region in
    between. The model does not know whether such a change is possible in reality: list features
    that cannot change in ``fixed``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from orfeon import CARTClassifier
    >>> from orfeon.inspection import counterfactual
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier(max_depth=2, random_state=0).fit(X[:, [3]], y)
    >>> print(counterfactual(tree, [1.5]))
    It would be 2 if x0 were just above 1.75 instead of 1.5.
    """
    if not (isinstance(model, Forest) and model.n_classes) and not is_classifier(model):
        raise ValueError(f"{type(model).__name__} predicts numbers; counterfactuals need classes.")
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        raise NoTreeSumError(
            model, "its rows are transformed before the trees see them",
            "give its last step, model[-1], a row transformed by model[:-1]",
        )  # fmt: skip
    one = _one_row(row)
    described = additive_output(model, "auto", one)
    search = _Search.of(model, described, one, X, fixed)
    classes = np.asarray(getattr(model, "classes_", described.classes))
    before = search.decide(search.start[None])[0]
    wanted = [k for k in range(len(classes)) if k != before]
    if target is not None:
        if target not in classes.tolist():
            raise ValueError(f"target={target!r} is not a class: they are {classes.tolist()}.")
        wanted = [classes.tolist().index(target)]
        if wanted[0] == before:
            raise ValueError(f"target={target!r} is what the model decides for this row already.")
    found = [reached for k in wanted if (reached := search.towards(k)) is not None]
    if not found:
        return None
    best = min(found, key=search.cost_of)
    return search.as_answer(model, best, one)


@dataclass(frozen=True, eq=False)
class _Search:
    """The boxes of the leaves, and what it costs to get into them."""

    described: AdditiveOutput
    part: TreeSum
    schema: Schema | None
    calibrated: Any
    start: Floats
    scale: Floats
    is_fixed: npt.NDArray[np.bool_]
    is_single: bool
    low: Floats
    high: Floats
    accepts: dict[int, npt.NDArray[np.bool_]]
    takes_missing: npt.NDArray[np.bool_]
    leaves: Integers

    @classmethod
    def of(cls, model: Any, described: AdditiveOutput, one: Any, X: Any, fixed: Any) -> _Search:
        part = described.parts[0]
        inner = _inner(model)
        schema = getattr(inner, "schema_", None)
        knows_codes = isinstance(schema, Schema) or not part.forest.n_categories.any()
        if (
            len(described.parts) > 1
            or not knows_codes
            or not np.array_equal(part.players, np.arange(part.forest.n_features))
        ):
            raise NoTreeSumError(
                model, "its trees do not test the features themselves",
                "use a model whose trees test the features as they are",
            )  # fmt: skip
        is_output = described.what in SHARES or isinstance(inner, GradientBoosting)
        decides = getattr(inner, "calibrator_", None) is not None and is_output
        start = part.encode(one)[0]
        forest = part.forest
        per_tree = forest.n_nodes * forest.n_features
        n_trees = max(1, int(np.searchsorted(np.cumsum(per_tree), _NUMBERS)))
        some = forest if n_trees >= len(forest) else forest.subset(np.arange(n_trees))
        is_fixed = np.zeros(forest.n_features, bool)
        given = list(fixed)
        if given:
            is_fixed[positions_of(given, described.names)] = True
        scale = _scales(forest, None if X is None else part.encode(X))
        return cls(
            described, part, schema if isinstance(schema, Schema) else None,
            inner if decides else None, start, scale, is_fixed,
            not isinstance(inner, TabularEstimator | Forest),
            *_boxes(some),
        )  # fmt: skip

    # -- decisions ---------------------------------------------------------------------------------

    def outputs(self, rows: Floats) -> Floats:
        """What the decision is made by: shares, probabilities where they are calibrated, scores."""
        out = np.tile(self.described.start, (len(rows), 1))
        self.part.add_predictions(np.ascontiguousarray(rows), out)
        if self.calibrated is not None:
            return np.asarray(self.calibrated._as_probabilities(out, len(self.calibrated.members_)))
        return out

    def decide(self, rows: Floats) -> Integers:
        if self.has_one_tree:
            return np.asarray(self.part.forest.predict(rows), dtype=np.int64)
        out = self.outputs(rows)
        if out.shape[1] == 1:
            return (out[:, 0] > 0).astype(np.int64)
        return np.asarray(np.argmax(out, axis=1))

    @property
    def has_one_tree(self) -> bool:
        forest = self.part.forest
        return len(forest) == 1 and forest.n_classes > 0

    def margins(self, rows: Floats, target: int) -> Floats:
        """How far the target is ahead of all other classes."""
        out = self.outputs(rows)
        if out.shape[1] == 1:
            return out[:, 0] if target else -out[:, 0]
        others = np.delete(out, target, axis=1)
        return np.asarray(out[:, target] - others.max(axis=1))

    def cost_of(self, row: Floats) -> float:
        return float(self._costs(row[None])[0])

    def _costs(self, rows: Floats) -> Floats:
        """Distance of rows from the start."""
        moved = np.abs(rows - self.start) / self.scale
        unknown = np.isnan(rows) != np.isnan(self.start)
        both = np.isnan(rows) & np.isnan(self.start)
        categorical = self.part.forest.n_categories > 0
        other = (rows != self.start) & ~both
        moved = np.where(categorical | unknown, other.astype(np.float64), moved)
        return np.asarray(np.where(both, 0.0, moved).sum(axis=1))

    # -- moving into boxes -------------------------------------------------------------------------

    def moved_into(self, row: Floats, leaves: Integers) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The nearest points of some boxes, and whether they can be reached."""
        low, high = self.low[leaves], self.high[leaves]
        rows = np.tile(row, (len(leaves), 1))
        unknown = np.isnan(rows)
        filled = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 1.0, 0.0))
        needed = unknown & ~self.takes_missing[leaves]
        rows = np.where(needed, filled, rows)
        with np.errstate(invalid="ignore"):
            rows = np.where(rows <= low, self._above(low), rows)
            rows = np.where(rows > high, self._at_most(high), rows)
        for j, accepted in self.accepts.items():
            allowed = accepted[leaves]
            code = row[j]
            fits = self.takes_missing[leaves, j] if np.isnan(code) else allowed[:, int(code)]
            rows[:, j] = np.where(fits, code, np.argmax(allowed, axis=1))
            rows[~fits & ~allowed.any(axis=1), j] = np.nan
        differs = (rows != self.start) & ~(np.isnan(rows) & np.isnan(self.start))
        possible = ~(differs & self.is_fixed).any(axis=1) & (low < high).all(axis=1)
        for j in self.accepts:
            possible &= ~np.isnan(rows[:, j]) | np.isnan(row[j])
        return rows, possible

    def _above(self, low: Floats) -> Floats:
        """The next larger numbers that the model can tell apart."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.is_single:
                return np.asarray(np.nextafter(low, np.inf))
            single = low.astype(np.float32)
            return np.where(single > low, single, np.nextafter(single, np.float32(np.inf))).astype(
                np.float64
            )

    def _at_most(self, high: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.is_single:
                return high
            single = high.astype(np.float32)
            below = np.nextafter(single, np.float32(-np.inf))
            return np.where(single <= high, single, below).astype(np.float64)

    def towards(self, target: int) -> Floats | None:
        """A row that the model gives to the target, encoded."""
        if self.has_one_tree:
            return self._nearest_leaf(target)
        row = self.start.copy()
        for _ in range(_STEPS):
            leaves = self._promising(row, target)
            rows, possible = self.moved_into(row, leaves)
            rows = rows[possible]
            costs = self._costs(rows)
            order = np.argsort(costs, kind="stable")[:_BOXES]
            rows, costs = rows[order], costs[order]
            if not len(rows):
                return None
            now = float(self.margins(row[None], target)[0])
            margins = self.margins(rows, target)
            done = self.decide(rows) == target
            if done.any():
                return self._without_excess(rows[np.argmax(done)], target)  # the cheapest
            spent = costs - self.cost_of(row)
            gain = (margins - now) / np.maximum(spent, 1e-3)
            best = int(np.argmax(gain))
            if margins[best] <= now:
                return None
            row = rows[best]
        return None

    def _nearest_leaf(self, target: int) -> Floats | None:
        leaves = self.leaves[self.part.forest.label[self.leaves] == target]
        rows, possible = self.moved_into(self.start, leaves)
        rows = rows[possible]
        if not len(rows):
            return None
        return np.asarray(rows[np.argmin(self._costs(rows))])

    def _promising(self, row: Floats, target: int) -> Integers:
        """Leaves that would help the target more than those that the row reaches."""
        part = self.part
        n_outputs = len(self.described.start)
        tree = np.searchsorted(part.forest.tree_start, self.leaves, side="right") - 1
        reached = part.forest.apply(row[None])[0] + part.forest.tree_start[:-1]

        def help_of(at: Integers, of: Integers) -> Floats:
            values = part.values[at]
            if n_outputs == 1:
                return np.asarray(values[:, 0] if target else -values[:, 0])
            if values.shape[1] == 1:
                return np.where(part.column[of] == target, values[:, 0], -values[:, 0])
            mine = values[:, target]
            return np.asarray(mine - np.delete(values, target, axis=1).max(axis=1))

        own = help_of(reached, np.arange(len(reached)))
        better = help_of(self.leaves, tree) > own[tree] + 1e-15
        return self.leaves[better]

    def _without_excess(self, row: Floats, target: int) -> Floats:
        """Take back each change as far as the decision allows."""
        for _ in range(_PASSES):
            before = row.copy()
            changed = np.flatnonzero((row != self.start) & ~(np.isnan(row) & np.isnan(self.start)))
            order = changed[np.argsort(-self._each_cost(row)[changed])]
            for j in order:
                row = self._nearer(row, int(j), target)
            if np.array_equal(before, row, equal_nan=True):
                break
        return row

    def _each_cost(self, row: Floats) -> Floats:
        return np.asarray(np.nan_to_num(np.abs(row - self.start) / self.scale, nan=1.0))

    def _nearer(self, row: Floats, j: int, target: int) -> Floats:
        """The row with the value of one feature as near to the start as possible."""
        old, new = self.start[j], row[j]
        values = np.array([old])
        forest = self.part.forest
        if forest.n_categories[j] == 0 and not np.isnan(old):
            at = (forest.feature == j) & (forest.n_children > 0)
            cuts = np.unique(forest.threshold[at])
            inside = cuts[(cuts >= min(old, new)) & (cuts <= max(old, new))]
            ends = self._above(inside) if new > old else self._at_most(inside)[::-1]
            if len(ends) > _VALUES:
                ends = ends[np.linspace(0, len(ends) - 1, _VALUES).astype(int)]
            values = np.concatenate([values, ends])
        rows = np.tile(row, (len(values), 1))
        rows[:, j] = values
        done = self.decide(rows) == target
        return rows[np.argmax(done)] if done.any() else row

    # -- the answer --------------------------------------------------------------------------------

    def as_answer(self, model: Any, row: Floats, one: Any) -> Counterfactual | None:
        old, new = self.start[None], row[None]
        if self.schema is not None:
            old, new = self.schema.decode(old), self.schema.decode(new)
        changed = np.flatnonzero((row != self.start) & ~(np.isnan(row) & np.isnan(self.start)))
        names = self.described.names
        changes = {names[j]: (_plain(old[0, j]), _plain(new[0, j])) for j in changed}
        altered = _altered(one, changed, new[0])
        before, after = (_plain(np.asarray(model.predict(given))[0]) for given in (one, altered))
        if before == after:
            return None
        values = altered.to_numpy()[0] if hasattr(altered, "to_numpy") else np.asarray(altered)[0]
        return Counterfactual(values, changes, before, after, self.cost_of(row), self.has_one_tree)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _inner(model: Any) -> Any:
    """The estimator that encodes rows."""
    if isinstance(model, Pipeline):
        return _inner(model.steps[-1][1])
    model = getattr(model, "ensemble_", model)
    if not hasattr(model, "schema_") and hasattr(model, "estimator_"):
        return _inner(model.estimator_)
    return unpruned(model)


def _altered(one: Any, changed: Integers, values: Any) -> Any:
    """A copy of a table of one row with some values replaced."""
    if hasattr(one, "iloc"):
        copy = one.copy()
        for j in changed:
            name = copy.columns[j]
            value = values[j]
            if not isinstance(value, str) and copy[name].dtype.kind in "iub":
                copy[name] = copy[name].astype(np.float64)
            copy[name] = np.array([value], dtype=object if isinstance(value, str) else None)
        return copy
    copy = np.array(one, dtype=None if np.asarray(one).dtype.kind in "fO" else np.float64)
    for j in changed:
        copy[0, j] = values[j]
    return copy


def _scales(forest: Forest, rows: Floats | None) -> Floats:
    """What a change of each feature is divided by."""
    scale = np.ones(forest.n_features)
    inner = forest.n_children > 0
    for j in range(forest.n_features):
        if rows is not None:
            known = rows[~np.isnan(rows[:, j]), j]
            found = float(known.std()) if len(known) else 0.0
        else:
            cuts = forest.threshold[inner & (forest.feature == j)]
            found = float(np.ptp(cuts)) / 2 if len(cuts) else 0.0
        scale[j] = found if found > 0 else 1.0
    return scale


def _boxes(forest: Forest) -> tuple[Any, ...]:
    """The box of each node, and the leaves."""
    n_nodes, d = len(forest.nodes), forest.n_features
    low, high = np.full((n_nodes, d), -np.inf), np.full((n_nodes, d), np.inf)
    takes = np.ones((n_nodes, d), bool)
    categorical = np.flatnonzero(forest.n_categories)
    accepts = {int(j): np.ones((n_nodes, forest.n_categories[j]), bool) for j in categorical}
    parent = forest.parents()
    depth = forest.node_depth
    order = np.argsort(depth, kind="stable")
    for at in np.split(order, np.searchsorted(depth[order], np.arange(1, depth.max() + 1)))[1:]:
        above = parent[at]
        place = at - (above - forest._relative(above)) - forest.first_child[above]
        j, cut = forest.feature[above], forest.threshold[above]
        low[at], high[at], takes[at] = low[above], high[above], takes[above]
        takes[at, j] &= forest.missing[above] == place
        ordered = forest.n_categories[j] == 0
        first, second = at[ordered & (place == 0)], at[ordered & (place == 1)]
        f, s = j[ordered & (place == 0)], j[ordered & (place == 1)]
        high[first, f] = np.minimum(high[first, f], cut[ordered & (place == 0)])
        low[second, s] = np.maximum(low[second, s], cut[ordered & (place == 1)])
        for feature, accepted in accepts.items():
            accepted[at] = accepted[above]
            mine = j == feature
            tables = cut[mine].astype(np.int64)[:, None] + np.arange(accepted.shape[1])
            accepted[at[mine]] &= forest.branches[tables] == place[mine][:, None]
    return low, high, accepts, takes, np.flatnonzero(forest.is_leaf)
