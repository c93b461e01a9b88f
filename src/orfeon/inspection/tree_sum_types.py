"""Sums over trees: what a leaf adds to the outputs of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.forest.routing import check_codes, check_rows
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.types import Floats, Integers

Output = Literal["auto", "supports", "votes", "raw"]

#: Outputs that are shares of the classes.
SHARES = ("share of the votes", "mean class share", "share of the weighted votes", "weighted mean")
INSTEAD = (
    "use shap.Explainer(model.predict, X) of the package shap, or "
    'orfeon.inspection.importances(model, X, y, kind="permutation")'
)


class NoTreeSumError(TypeError):
    """A model's output is no sum over trees."""

    def __init__(self, model: Any, reason: str, instead: str = INSTEAD) -> None:
        name = model if isinstance(model, str) else type(model).__name__
        super().__init__(f"{name} has no exact explanation by its trees: {reason}; {instead}.")
        self.args_of = (name, reason, instead)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args_of


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A forest, and what its leaves add to the outputs."""

    #: The tests.
    forest: Forest
    #: What each leaf adds; of shape (n_nodes, n_columns).
    values: Floats
    #: The output to which the first of these columns is added; of shape (n_trees,).
    column: Integers
    #: Weight of the training samples in each node, if known; of shape (n_nodes,).
    cover: Floats | None
    #: Turns rows into numbers as the trees take them.
    encode: Callable[[Any], Floats]
    #: The feature that each column of encoded rows belongs to; of shape (n_columns_of_rows,).
    players: Integers
    #: Whether each tree votes: then a row must not go down several branches.
    is_vote: bool = False

    @cached_property
    def tests(self) -> tuple[Any, ...]:
        """The tests of all nodes, as kernels take them."""
        forest, whole = self.forest, np.ascontiguousarray
        return (
            forest.tree_start, whole(forest.feature), whole(forest.threshold),
            whole(forest.first_child), forest.n_children, forest.missing, forest.n_categories > 0,
            forest.branches,
        )  # fmt: skip

    @cached_property
    def player_at(self) -> Integers:
        """The feature of X that each node tests."""
        return np.asarray(self.players, dtype=np.int64)[self.forest.feature]

    @cached_property
    def shares(self) -> Floats | None:
        """Share of each node in the training samples of its parent."""
        if self.cover is None:
            return None
        parent = self.forest.parents()
        inner = np.flatnonzero(parent >= 0)
        above = parent[inner]
        total = np.bincount(above, self.cover[inner], len(parent))
        shares = np.ones(len(parent))
        equal = 1.0 / self.forest.n_children[above]
        known = total[above] > 0
        shares[inner] = np.where(
            known, self.cover[inner] / np.where(known, total[above], 1.0), equal
        )
        return shares

    def in_part(self, rows: Floats) -> npt.NDArray[np.bool_]:
        """Which encoded rows may go down several branches of some node."""
        forest = self.forest
        found = np.zeros(len(rows), bool)
        of_missing = np.unique(forest.feature[forest.missing == ALL_BRANCHES])
        if len(of_missing):
            found |= np.isnan(rows[:, of_missing]).any(axis=1)
        for j, codes in self._split_codes.items():
            found |= np.isin(rows[:, j], codes)
        return found

    @cached_property
    def _split_codes(self) -> dict[int, Integers]:
        """Codes of categories that go down all branches of some node, by feature."""
        forest, found = self.forest, {}
        if not (forest.branches == ALL_BRANCHES).any():
            return {}
        for j in np.flatnonzero(forest.n_categories):
            at = np.flatnonzero((forest.feature == j) & (forest.n_children > 0))
            start = forest.threshold[at].astype(np.int64)
            tables = forest.branches[start[:, None] + np.arange(forest.n_categories[j])]
            codes = np.flatnonzero((tables == ALL_BRANCHES).any(axis=0))
            if len(codes):
                found[int(j)] = codes
        return found

    def add_predictions(self, rows: Floats, out: Floats) -> None:
        """Add the sums of encoded rows to ``out``, of shape (n_rows, n_outputs)."""
        forest = self.forest
        leaves = forest.apply(rows)
        for t, start in enumerate(forest.tree_start[:-1]):
            k = slice(self.column[t], self.column[t] + self.values.shape[1])
            out[:, k] += self.values[start + leaves[:, t]]
        several = np.flatnonzero(self.in_part(rows))
        if len(several):
            self._check_no_vote(several)
            out[several] += self._in_part(rows[several], leaves[several], out.shape[1])

    def _in_part(self, rows: Floats, leaves: Integers, n_outputs: int) -> Floats:
        """What the leaves that rows reach in part add, less what those that were counted added."""
        from orfeon.kernels.routing import fractional

        forest, more = self.forest, np.zeros((len(rows), n_outputs))
        one = np.empty((len(rows), self.values.shape[1]))
        for t, start in enumerate(forest.tree_start[:-1]):
            fractional.supports_fractional(
                forest.feature, forest.threshold, forest.first_child, forest.n_children,
                forest.missing, self.cover, self.values, *forest._tests(), t,  # type: ignore[call-arg]
                forest.tree_start, rows, one,
            )  # fmt: skip
            k = slice(self.column[t], self.column[t] + self.values.shape[1])
            more[:, k] += one - self.values[start + leaves[:, t]]
        return more

    def _check_no_vote(self, several: Integers) -> None:
        if self.is_vote:
            raise ValueError(
                f"row {several[0]} has missing values that go down several branches of a tree, "
                "whose vote is then not a sum over leaves; fill them in, or use "
                'output="supports" where the model has it.'
            )

    def check(self, rows: Floats) -> npt.NDArray[np.bool_]:
        """Check encoded rows; returns which go down several branches."""
        check_rows(self.forest, rows)
        check_codes(self.forest, rows)
        several = self.in_part(rows)
        if self.is_vote and several.any():
            self._check_no_vote(np.flatnonzero(several))
        return several


@dataclass(frozen=True, eq=False)
class AdditiveOutput:
    """The output of a model: a constant, and sums over trees."""

    #: What is added.
    parts: tuple[TreeSum, ...]
    #: The constant; of shape (n_outputs,).
    start: Floats
    #: What the output is.
    what: str
    #: The classes, in the order of the outputs; that of the one output of a binary score.
    classes: npt.NDArray[Any] | None
    #: Names of the features.
    names: tuple[str, ...]

    @property
    def n_outputs(self) -> int:
        return len(self.start)

    @property
    def n_features(self) -> int:
        return len(self.names)

    def predict(self, X: Any) -> Floats:
        """The outputs of rows, of shape (n_rows, n_outputs)."""
        out: Floats | None = None
        for part in self.parts:
            rows = part.encode(X)
            if out is None:
                out = np.tile(self.start, (len(rows), 1))
            part.add_predictions(rows, out)
        assert out is not None
        return out


def one_model(models: Sequence[AdditiveOutput], weights: Floats) -> AdditiveOutput:
    """A weighted mean of outputs."""
    total = weights / weights.sum()
    parts = [
        replace(part, values=part.values * share)
        for one, share in zip(models, total, strict=True)
        for part in one.parts
    ]
    start = np.sum([one.start * share for one, share in zip(models, total, strict=True)], axis=0)
    first = models[0]
    return AdditiveOutput(tuple(parts), start, "weighted mean", first.classes, first.names)


def after_transform(found: AdditiveOutput, transform: Callable[[Any], Any]) -> AdditiveOutput:
    """The output of rows that are transformed first."""

    def both(encode: Callable[[Any], Floats]) -> Callable[[Any], Floats]:
        return lambda X: encode(transform(X))

    parts = tuple(replace(part, encode=both(part.encode)) for part in found.parts)
    return replace(found, parts=parts)


def leaf_votes(forest: Forest, weights: Floats | None = None) -> Floats:
    """The vote of each node, as a row with one entry that is not 0."""
    votes = np.zeros((len(forest.nodes), forest.n_classes))
    each = 1.0 if weights is None else np.repeat(weights, forest.n_nodes)
    votes[np.arange(len(votes)), forest.label] = each
    return votes


def own_part(
    forest: Forest, values: Floats, encode: Any, *, of_scores: bool = False, **more: Any
) -> TreeSum:
    """A sum over trees of orfeon that all add to the same outputs."""
    if len(forest.projections[1]):
        raise NoTreeSumError(
            "A forest of oblique trees",
            "a test of several features at once belongs to none of them",
        )
    if forest.n_outputs > 1 and not of_scores:
        raise NoTreeSumError(
            "A forest of several outputs", "explanations are of one output: fit a model for each"
        )
    known = forest.n_classes > 0 or forest.leaf_weight is not None
    given = {
        "column": np.zeros(len(forest), np.int64),
        "players": np.arange(forest.n_features),
        **more,
    }
    values = np.ascontiguousarray(values, dtype=np.float64)
    return TreeSum(
        forest, values, cover=forest.weights() if known else None, encode=encode, **given
    )


def check_numbers(model: Any, output: Output) -> None:
    if output in ("supports", "votes"):
        raise ValueError(
            f"output={output!r} is not allowed: {type(model).__name__} predicts numbers; use "
            '"auto".'
        )


def shares_output(
    forest: Forest, encode: Any, classes: Any, output: Output, usual: Output
) -> AdditiveOutput:
    """Shares of the votes, or mean class shares."""
    kind = usual if output in ("auto", "raw") else output
    is_vote = kind == "votes"
    values = leaf_votes(forest) if is_vote else forest._shares()
    part = own_part(forest, values / len(forest), encode, is_vote=is_vote)
    what = "share of the votes" if is_vote else "mean class share"
    return AdditiveOutput((part,), np.zeros(forest.n_classes), what, np.asarray(classes), ())
