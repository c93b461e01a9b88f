"""Maps of a plane: the class that a classifier predicts at each point of a grid, and how clearly.

The leaves of axis-parallel trees are rectangles, so an ensemble of them is painted leaf by leaf
(:mod:`orfeon.kernels.routing.paint`), with the same result as predicting each point, much faster.
All other models predict the points.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Universidad Autónoma de Madrid. Figures 4.2
and 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import column_or_1d

from orfeon.base import class_codes
from orfeon.boosting.vote_sums import VoteTally, with_ties
from orfeon.data.frames import default_name
from orfeon.data.schema import Categories, Schema
from orfeon.ensembles.decision import OWN
from orfeon.ensembles.ensemble import OwnEnsemble
from orfeon.forest import Forest
from orfeon.inspection.display import check_choice
from orfeon.inspection.reading import members_of
from orfeon.kernels.routing import paint
from orfeon.members import adapt
from orfeon.members.adapter import BareMembers, EnsembleInPipeline, FittedEstimators
from orfeon.members.protocol import Members
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

Of = Literal["auto", "votes", "probabilities"]
Range = tuple[float, float]
#: The range of each feature; None leaves it to the samples.
Box = tuple[Range | None, Range | None]

#: Points that a model predicts at once.
_POINTS = 8192

#: Weights of votes are counted in steps: all votes together have this many binary digits.
_DIGITS = 60
#: Ways to combine votes that predict the class with the most votes.
_PLAIN_VOTES = ("majority", "plurality", OWN)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassificationMap:
    """The class that a model predicts at each point of a grid.

    Parameters
    ----------
    x : ndarray of shape (n_columns,)
        Values of the first feature, ascending; 0, 1, 2... if it is categorical.
    y : ndarray of shape (n_rows,)
        Values of the second feature.
    codes : ndarray of int of shape (n_rows, n_columns)
        Predictions as indices into ``classes``; ``codes[i, j]`` is at ``(x[j], y[i])``.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    names : tuple of (str, str)
        Names of the features.
    categories : tuple of two tuples or None
        Categories of each feature, None if it is ordered.
    model : str
        The model, in words.

    Examples
    --------
    >>> from orfeon.datasets import Circle
    >>> from orfeon.inspection import classification_map
    >>> inside = classification_map(Circle(), box=((0, 1), (0, 1)), grid_resolution=5)
    >>> inside.codes
    array([[0, 0, 0, 0, 0],
           [0, 1, 1, 1, 0],
           [0, 1, 1, 1, 0],
           [0, 1, 1, 1, 0],
           [0, 0, 0, 0, 0]])
    """

    x: Floats
    y: Floats
    codes: Integers
    classes: npt.NDArray[Any]
    names: tuple[str, str] = (default_name(0), default_name(1))
    categories: tuple[Categories, Categories] = (None, None)
    model: str = ""

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The class at each point, of shape (n_rows, n_columns)."""
        return np.asarray(self.classes[self.codes])

    def disagreement(self, other: ClassificationMap) -> float:
        """Share of the points at which another map on the same grid has another class."""
        if not (np.array_equal(self.x, other.x) and np.array_equal(self.y, other.y)):
            raise ValueError(
                f"other has another grid, of {other.codes.shape[::-1]} points; the grid of this "
                f"map has {self.codes.shape[::-1]}. Give both the same box and grid_resolution."
            )
        return float(np.mean(self.labels != other.labels))


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginMap(ClassificationMap):
    """How clearly a model decides at each point of a grid.

    The class at a point is the one with the most votes or the highest probability.

    Parameters
    ----------
    x, y, codes, classes, names, categories, model
        As in :class:`ClassificationMap`.
    margins : ndarray of shape (n_rows, n_columns)
        With two classes the share of votes for the first minus that for the second, from -1 to 1;
        with more, the highest share minus the second highest, from 0 to 1. With one class, 1.
    of : {"votes", "probabilities"}
        What was compared.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.inspection import margin_map
    >>> bag = BaggingClassifier(n_estimators=11, random_state=0)
    >>> bag = bag.fit([[0, 0], [0, 1], [9, 0], [9, 1]] * 5, ["no", "no", "yes", "yes"] * 5)
    >>> found = margin_map(bag, box=((0, 9), (0, 1)), grid_resolution=2)
    >>> found.classes.tolist(), found.margins.tolist()
    (['no', 'yes'], [[1.0, -1.0], [1.0, -1.0]])
    """

    margins: Floats
    of: Literal["votes", "probabilities"] = "votes"


def classification_map(
    model: Any,
    X: Any = None,
    *,
    box: Box | None = None,
    grid_resolution: int | tuple[int, int] = 300,
    room: float = 0.05,
    n_members: int | None = None,
) -> ClassificationMap:
    """Predict the class at each point of a grid over two features.

    Parameters
    ----------
    model : classifier, ensemble, list of fitted classifiers, or function
        Fitted to two features: anything with ``predict``, a function that returns the classes of
        rows, or members that vote, see :func:`orfeon.members.adapt`.
    X : array or data frame of shape (n_rows, 2), optional
        Samples that the grid covers; not needed with a ``box``.
    box : tuple of ((float, float), (float, float)), optional
        Lowest and highest value of each feature. By default those of ``X`` plus ``room``.
    grid_resolution : int or tuple of (int, int), default=300
        Number of points along each feature. A categorical one has one point per category.
    room : float, default=0.05
        Room around ``X``, as a share of its width and height.
    n_members : int, optional
        Use only this many members of an ensemble, the first ones.

    Returns
    -------
    ClassificationMap
        The classes at the points.

    See Also
    --------
    margin_map : How clearly.
    ClassificationMapDisplay : The picture.

    Examples
    --------
    >>> from orfeon import ClassSwitchingClassifier
    >>> from orfeon.datasets import Circle
    >>> from orfeon.inspection import classification_map
    >>> circle, square = Circle(), ((0, 1), (0, 1))
    >>> X, y = circle.sample(300, random_state=0)
    >>> model = ClassSwitchingClassifier(n_estimators=1001, random_state=0).fit(X, y)
    >>> known = classification_map(circle, box=square)
    >>> for n in (1, 1001):
    ...     print(round(classification_map(model, box=square, n_members=n).disagreement(known), 2))
    0.3...
    0.0...
    """
    plane = Plane.over(model, X, box, grid_resolution, room)
    if n_members is not None:
        model = _first_members(model, n_members)
    members = None if _is_function(model) else _voters(model)
    if members is not None and (_can_paint(members, plane) or not hasattr(model, "predict")):
        assert members.classes is not None
        found = _count(members, plane)
        return _map_of(plane, found.codes, members.classes, _in_words(model, members))
    codes, classes = _predict(model, plane)
    return _map_of(plane, codes, classes, _in_words(model, members))


def margin_map(
    model: Any,
    X: Any = None,
    *,
    box: Box | None = None,
    grid_resolution: int | tuple[int, int] = 300,
    room: float = 0.05,
    n_members: int | None = None,
    of: Of = "auto",
) -> MarginMap:
    """Measure how clearly a model decides at each point of a grid over two features.

    Parameters
    ----------
    model : classifier, ensemble, or list of fitted classifiers
        Fitted to two features.
    X, box, grid_resolution, room, n_members
        As in :func:`classification_map`.
    of : {"auto", "votes", "probabilities"}, default="auto"
        What to compare: the members' votes, or the class probabilities of the whole model. "auto"
        is what the model decides by.

    Returns
    -------
    MarginMap
        Classes and margins at the points.

    See Also
    --------
    MarginMapDisplay : The picture.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_diagonal
    >>> from orfeon.inspection import margin_map
    >>> X, y = make_diagonal(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=101, random_state=0).fit(X, y)
    >>> found = margin_map(bag, box=((0, 1), (0, 1)), grid_resolution=3)
    >>> found.margins.shape, found.of
    ((3, 3), 'votes')
    >>> found.margins[0, 2], found.margins[2, 0]
    (np.float64(1.0), np.float64(-1.0))
    """
    check_choice("of", of, ("auto", "votes", "probabilities"))
    plane = Plane.over(model, X, box, grid_resolution, room)
    if n_members is not None:
        model = _first_members(model, n_members)
    members = members_of(model, "margins of votes") if of == "votes" else _voters(model)
    if of != "probabilities" and members is not None:
        assert members.classes is not None
        found, classes, compared = _count(members, plane), members.classes, "votes"
    else:
        found, classes, compared = *_probabilities(model, plane), "probabilities"
    plain = _map_of(plane, found.codes, classes, _in_words(model, members))
    margins = found.margins.reshape(plain.codes.shape)
    return MarginMap(**vars(plain), margins=margins, of=compared)  # type: ignore[arg-type]


def _map_of(
    plane: Plane, codes: npt.NDArray[Any], classes: npt.NDArray[Any], model: str
) -> ClassificationMap:
    x, y = plane.coordinates
    first, second = plane.schema.categories
    return ClassificationMap(
        x=x, y=y, codes=codes.reshape(len(y), len(x)).astype(np.int64), classes=classes,
        names=(plane.schema.name(0), plane.schema.name(1)), categories=(first, second),
        model=model,
    )  # fmt: skip


# -- predictions at the points ---------------------------------------------------------------------


class _Found(NamedTuple):
    codes: npt.NDArray[Any]
    margins: Floats


def _compared(sums: Floats, total: float) -> _Found:
    """Decisions by the largest of some sums (n_points, n_classes), the first if tied."""
    sums = with_ties(sums, total)
    if sums.shape[1] == 1:
        apart = sums[:, 0]
    elif sums.shape[1] == 2:
        apart = sums[:, 0] - sums[:, 1]
    else:
        ascending = np.partition(sums, -2, axis=1)
        apart = ascending[:, -1] - ascending[:, -2]
    margins = apart / total if total > 0 else np.zeros(len(sums))
    return _Found(np.argmax(sums, axis=1), np.clip(margins, -1.0, 1.0))


def _is_function(model: Any) -> bool:
    return callable(model) and not hasattr(model, "predict")


def _voters(model: Any) -> Members | None:
    """The members, if the model decides by their votes."""
    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        raise ValueError(
            f"model is a regressor, {type(model).__name__}; a map shows what a classifier predicts."
        )
    try:
        members = adapt(model)
    except NotFittedError:
        raise
    except (TypeError, ValueError):  # it has none, or they do not vote
        return None
    if members.classes is None:
        raise ValueError("model has regressors as members; a map shows what classifiers predict.")
    return members if _is_vote(members) else None


def _is_vote(members: Members) -> bool:
    """Whether the ensemble predicts the class with the most votes, perhaps weighted."""
    if isinstance(members, EnsembleInPipeline):
        return _is_vote(members.last)
    if isinstance(members, FittedEstimators | BareMembers):
        return True
    if isinstance(members, OwnEnsemble):
        how = getattr(members.ensemble, "combine", "majority")
        return isinstance(how, str) and how in _PLAIN_VOTES
    from orfeon.members.scikit_learn import AdaBoostOfScikitLearn

    return isinstance(members, AdaBoostOfScikitLearn) or not hasattr(
        members.ensemble, "predict_proba"
    )


def _first_members(model: Any, n_members: int) -> Any:
    members = adapt(model)
    if not is_whole(n_members) or not 1 <= n_members <= members.n_members:
        raise ValueError(
            f"n_members={n_members!r} is not allowed: it must be a whole number from 1 to "
            f"{members.n_members}."
        )
    return model if n_members == members.n_members else members.subset(np.arange(n_members))


def _count(members: Members, plane: Plane) -> _Found:
    weights = members.member_weights
    votes = np.ones(members.n_members) if weights is None else weights
    total = float(np.abs(votes).sum())
    forest = _forest(members)
    if forest is not None and _can_paint(members, plane):
        return _compared(painted_votes(forest, *plane.coordinates, votes), total)
    parts = []
    for rows in plane.blocks():
        tally = VoteTally(len(rows), members.n_classes)
        for answers, vote in zip(members.answers(rows), votes, strict=True):
            tally.add(answers, vote)
        parts.append(tally.sums)
    return _compared(np.concatenate(parts), total)


def _forest(members: Members) -> Forest | None:
    if isinstance(members, BareMembers):
        inside = members.ensemble
    else:
        inside = members.ensemble.members_ if isinstance(members, OwnEnsemble) else None
    return inside if isinstance(inside, Forest) else None


def _can_paint(members: Members, plane: Plane) -> bool:
    forest = _forest(members)
    return (
        forest is not None
        and forest.n_features == 2
        and forest._is_plain
        and plane.schema.all_ordered
    )


def painted_votes(
    forest: Forest, x: Floats, y: Floats, votes: npt.NDArray[Any] | None = None
) -> Floats:
    """Sums of the votes of axis-parallel trees at each point of a grid."""
    weights = np.ones(len(forest)) if votes is None else np.asarray(votes, dtype=np.float64)
    if weights.shape != (len(forest),) or forest.n_features != 2 or not forest._is_plain:
        raise ValueError(
            f"votes has shape {weights.shape} and forest has {len(forest)} trees over "
            f"{forest.n_features} features; one vote for each tree and two ordered features "
            "are expected."
        )
    step = 1.0
    if not np.array_equal(weights, np.rint(weights)):
        step = float(np.exp2(np.ceil(np.log2(np.abs(weights).sum())) - _DIGITS))
    steps = np.rint(weights / step).astype(np.int64)
    # The last class got all other votes.
    corners = np.zeros((max(forest.n_classes - 1, 0), len(y) + 1, len(x) + 1), np.int64)
    read = (*forest._words(), forest.tree_start, forest.label, steps)
    grid = (np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64))
    seen: list[Any] = [kernel_view(array) for array in (*read, *grid)]
    paint.paint_votes(*seen, corners)  # type: ignore[call-arg]
    counts = corners.cumsum(axis=1).cumsum(axis=2)[:, :-1, :-1]
    last = steps.sum() - counts.sum(axis=0)
    planes = np.concatenate([counts, last[None]])
    return np.ascontiguousarray(planes.reshape(len(planes), -1).T * step)


def _predict(model: Any, plane: Plane) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise TypeError(
            f"model is of type {type(model).__name__}, which has no predict and is not a function."
        )
    labels = np.concatenate([column_or_1d(predict(rows)) for rows in plane.blocks()])
    classes = getattr(model, "classes_", None)
    if classes is None:
        classes, codes = np.unique(labels, return_inverse=True)
        return codes, classes
    return class_codes(labels, np.asarray(classes)), np.asarray(classes)


def _probabilities(model: Any, plane: Plane) -> tuple[_Found, npt.NDArray[Any]]:
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"model is of type {type(model).__name__}, which has no members that vote and no "
            "predict_proba; only its classes can be mapped, not its margins."
        )
    shares = np.concatenate([np.asarray(model.predict_proba(rows)) for rows in plane.blocks()])
    return _compared(shares.astype(np.float64), 1.0), np.asarray(model.classes_)


def _in_words(model: Any, members: Members | None) -> str:
    """The model, for titles."""
    if _is_function(model):
        return str(getattr(model, "__name__", ""))
    name = type(model).__name__ if members is None else members._name
    n_members = getattr(model, "n_estimators", None) if members is None else members.n_members
    if n_members is None:
        return name
    return f"{name}, {n_members:,} member{'s' * (n_members != 1)}"


# -- the grid --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plane:
    """A grid of points over two features, numbered row by row from the lowest."""

    coordinates: tuple[Floats, Floats]
    schema: Schema
    frame: Any

    @classmethod
    def over(
        cls,
        model: Any,
        X: Any,
        box: Box | None,
        grid_resolution: int | tuple[int, int],
        room: float,
    ) -> Self:
        model = _one_of(model)
        n_features = getattr(model, "n_features_in_", getattr(model, "n_features", 2))
        if n_features != 2:
            raise ValueError(f"model has {n_features} features; a map needs a model of two.")
        sizes = _checked_sizes(grid_resolution)
        schema = _schema(model, X)
        values = None if X is None else schema.encode(X)
        ranges = _ranges(schema, values, box, room)
        coordinates = [
            np.linspace(*ends, n) if its is None else np.arange(len(its), dtype=np.float64)
            for ends, n, its in zip(ranges, sizes, schema.categories, strict=True)
        ]
        return cls((coordinates[0], coordinates[1]), schema, _frame(model, X))

    def __len__(self) -> int:
        return len(self.coordinates[0]) * len(self.coordinates[1])

    def blocks(self) -> Iterator[Any]:
        """The points, some at a time, as the model takes them."""
        n_columns = len(self.coordinates[0])
        for first in range(0, len(self), _POINTS):
            at = np.arange(first, min(first + _POINTS, len(self)))
            x, y = self._column(0, at % n_columns), self._column(1, at // n_columns)
            if self.frame is None:
                yield np.column_stack([x, y])
            else:
                yield self.frame({self.schema.name(0): x, self.schema.name(1): y})

    def _column(self, feature: int, at: Integers) -> npt.NDArray[Any]:
        categories = self.schema.categories[feature]
        if categories is None:
            return self.coordinates[feature][at]
        return np.array(categories, dtype=object)[at]


def is_whole(number: Any) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def _one_of(model: Any) -> Any:
    """One of the estimators of a list, which all have the same features."""
    if isinstance(model, Sequence) and not isinstance(model, str) and len(model):
        return model[0][1] if isinstance(model[0], tuple | list) else model[0]
    return model


def _checked_sizes(grid_resolution: Any) -> tuple[int, int]:
    sizes = (grid_resolution,) * 2 if is_whole(grid_resolution) else grid_resolution
    is_pair = isinstance(sizes, tuple | list) and len(sizes) == 2
    if not is_pair or not all(is_whole(n) and n >= 2 for n in sizes):
        raise ValueError(
            f"grid_resolution={grid_resolution!r} is not allowed: it must be a whole number of "
            "points from 2 on, or two of them."
        )
    return int(sizes[0]), int(sizes[1])


def _schema(model: Any, X: Any) -> Schema:
    """The two features as the model knows them, or as they are in the samples."""
    for owner in (model, getattr(model, "ensemble_", None)):  # the latter of a pruned one
        known = getattr(owner, "schema_", None)
        if isinstance(known, Schema):
            return known
    schema = Schema.ordered(2) if X is None else Schema.learn(X)
    if schema.n_features != 2:
        raise ValueError(f"X has {schema.n_features} columns; a map needs two.")
    names = getattr(model, "feature_names_in_", None)
    return schema if names is None else replace(schema, names=tuple(names))


def _frame(model: Any, X: Any) -> Any:
    """The type of data frame that the model takes, None for arrays."""
    named = hasattr(model, "feature_names_in_")
    if hasattr(X, "columns") and (named or not hasattr(model, "n_features_in_")):
        return type(X)
    if not named:
        return None
    import pandas  # the model was fitted to a data frame

    return pandas.DataFrame


def _ranges(schema: Schema, values: Floats | None, box: Box | None, room: float) -> list[Range]:
    if not 0 <= room < np.inf:
        raise ValueError(f"room={room} is not allowed: it must be a share of the width, 0 or more.")
    given: Box = (None, None) if box is None else box
    if len(given) != 2 or not all(ends is None or np.shape(ends) == (2,) for ends in given):
        raise ValueError(
            f"box={box!r} is not allowed: it must be ((x low, x high), (y low, y high)) in numbers."
        )
    found = []
    for j, ends in enumerate(given):
        name = schema.name(j)
        if schema.categories[j] is not None:
            ends = (0.0, 1.0)  # it has categories instead of a range
        elif ends is None:
            ends = _covering(None if values is None else values[:, j], name, room)
        low, high = float(ends[0]), float(ends[1])
        with np.errstate(over="ignore"):
            if not (low < high and np.isfinite(high - low)):
                raise ValueError(
                    f"the box of {name} goes from {low:g} to {high:g}; it needs two finite "
                    "numbers, the lower first."
                )
        found.append((low, high))
    return found


def _covering(values: Floats | None, name: str, room: float) -> Range:
    if values is None:
        raise ValueError(f"X and the box of {name} are missing: a map needs one or the other.")
    present = values[~np.isnan(values)]
    if not len(present):
        raise ValueError(f"X has no value of {name}; set what the map covers with box=.")
    low, high = float(present.min()), float(present.max())
    more = room * (high - low) if high > low else 0.5
    return low - more, high + more
