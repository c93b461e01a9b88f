"""Exact Shapley values of models of trees: what each feature adds to the prediction of a row.

The Shapley value of a feature is the change of the expected output when its value becomes known,
averaged over all orders in which features can become known. For trees it needs no sampling
(Lundberg et al. 2020).

References
----------
Lundberg et al. (2020). From local explanations to global understanding with explainable AI for
trees. Nature Machine Intelligence 2, 56-67.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from scipy.special import beta

from orfeon.inspection.tree_sum_types import AdditiveOutput, NoTreeSumError, Output, TreeSum
from orfeon.inspection.tree_sums import additive_output
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.kernels.shapley import background as by_background
from orfeon.kernels.shapley import paths
from orfeon.utils.jit import kernel_view
from orfeon.utils.row_threads import RowThreads
from orfeon.utils.types import Floats, Integers

#: Rows that go through a tree together.
_BLOCK = 128
#: The same for background rows, whose groups are counted.
_BACKGROUND_BLOCK = 1024
#: Numbers held by a block of pairs, at most.
_NUMBERS = 1 << 21


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """What each feature adds to the output for each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_outputs)
        Shapley values; one column for each class where there are several outputs. With
        interactions there is a second axis of features: off the diagonal half of the interaction of
        two features, on it what is left of the feature's own value.
    base_values : float or ndarray of shape (n_outputs,)
        The expected output before any feature is known. With the values of a row it sums to the
        output for the row.
    data : ndarray of shape (n_rows, n_features)
        The rows, as given.
    names : tuple of str
        Names of the features.
    classes : ndarray or None
        The classes in the order of the outputs, or the class of a single score.
    what : str
        What the output is.

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.inspection import shap_values
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = CARTRegressor().fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> found = shap_values(tree, X)
    >>> found.base_values, found.values.tolist()
    (1.5, [[-1.0, -0.5], [-1.0, 0.5], [1.0, -0.5], [1.0, 0.5]])
    >>> found.outputs.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """

    values: Floats
    base_values: Any
    data: npt.NDArray[Any]
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None = None
    what: str = "prediction"

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(np.size(self.base_values))

    @property
    def has_interactions(self) -> bool:
        """Whether the values are those of pairs of features."""
        return self.values.ndim - (np.ndim(self.base_values) > 0) == 3

    @property
    def outputs(self) -> Floats:
        """The output for each row: the base value plus the values of all features."""
        axes = (1, 2) if self.has_interactions else (1,)
        return np.asarray(self.base_values + self.values.sum(axis=axes))

    def __len__(self) -> int:
        return len(self.values)

    def for_class(self, name: Any) -> Self:
        """The values of one class.

        Parameters
        ----------
        name : object
            The class.

        Returns
        -------
        ShapleyValues
            With one output.
        """
        known = [] if self.classes is None else self.classes.tolist()
        if name not in known:
            allowed = f"the classes are {known}" if known else "the model predicts numbers"
            raise ValueError(f"name={name!r} is not a class: {allowed}.")
        at = known.index(name)
        assert self.classes is not None
        if self.n_outputs == 1:
            return self
        return replace(
            self, values=self.values[..., at], base_values=float(self.base_values[at]),
            classes=self.classes[at : at + 1],
        )  # fmt: skip

    def to_shap(self) -> Any:
        """The values for the plots of the package shap.

        Returns
        -------
        shap.Explanation
            The same values; ``shap.plots`` draws them.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError(
                "to_shap needs the package shap, which is not installed: pip install shap. The "
                "displays of orfeon.inspection work without it."
            ) from error
        many = self.n_outputs > 1 and self.classes is not None
        base = np.tile(np.asarray(self.base_values), (len(self), 1))
        return shap.Explanation(
            values=self.values,
            base_values=base if np.ndim(self.base_values) else base[:, 0],
            data=self.data,
            feature_names=list(self.names),
            output_names=[str(one) for one in self.classes] if many else None,  # type: ignore[union-attr]
        )


def shap_values(
    model: Any,
    X: Any,
    *,
    background: Any = None,
    output: Output = "auto",
    interactions: bool = False,
    n_jobs: int | None = None,
) -> ShapleyValues:
    """Exact Shapley values of a tree, a forest or a booster, of orfeon or scikit-learn.

    Parameters
    ----------
    model : estimator or Forest
        Fitted: trees, ensembles of trees that vote or average, pruned ones too, gradient boosting,
        AdaBoost, ensemble selection of these (of classifiers without raw scores), and pipelines
        that end in one; scikit-learn's trees, forests, bagging of trees, AdaBoostClassifier,
        gradient boosting with and without histograms, and soft voting of these.
    X : array or data frame of shape (n_rows, n_features)
        Rows to explain, as ``predict`` takes them; missing values and categories are supported.
    background : array or data frame of shape (n_background, n_features), optional
        Rows that supply the values of unknown features ("interventional"): a feature that is not
        known takes the value of each of them in turn. By default ("path-dependent") a row goes down
        both branches of a test of an unknown feature, in the shares of the training samples.
    output : {"auto", "supports", "votes", "raw"}, default="auto"
        What is explained. "auto" is what the model bases its decision on: the shares of the votes,
        mean class shares, or means. ``predict_proba`` smooths or calibrates these shares, which is
        no sum over trees; so is a probability of gradient boosting, whose raw score is explained.
        "supports" and "votes" choose for ensembles that have both.
    interactions : bool, default=False
        Whether to split the values by pairs of features.
    n_jobs : int, optional
        Threads that share the rows.

    Returns
    -------
    ShapleyValues
        Arrays, and the expected output.

    See Also
    --------
    ShapWaterfallDisplay : One prediction, feature by feature.
    ShapBeeswarmDisplay : The values of many rows.
    ShapDependenceDisplay : The values of one feature.

    Notes
    -----
    The two kinds answer different questions. Path-dependent values need no other data and follow
    correlations that the trees have seen, so a feature that only stands in for another may get a
    part of its value. Interventional values show what the model does with a value, whatever
    accompanies it, and a feature that no tree tests gets 0 in both.

    Where a missing value goes down all branches (C4.5), a known feature of this value follows them
    in their shares. Categories that were not seen in training count as missing.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import RandomForestClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import shap_values
    >>> X, y = make_waveform(300, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> found = shap_values(forest, X[:5])
    >>> found.values.shape, found.base_values.shape
    ((5, 21, 3), (3,))
    >>> np.allclose(found.outputs, forest.vote_shares(X[:5]), atol=1e-9)
    True
    >>> by_background = shap_values(forest, X[:5], background=X[100:150])
    >>> np.allclose(by_background.outputs, found.outputs, atol=1e-9)
    True
    """
    described = additive_output(model, output, X)
    work = _Work(described, interactions, 1 if n_jobs is None else int(effective_n_jobs(n_jobs)))
    start = described.start.copy()
    total: Floats | None = None
    for part in described.parts:
        rows = part.encode(X)
        others = None if background is None else part.encode(background)
        if others is not None and not len(others):
            raise ValueError("background is empty; give one row or more.")
        found = work.values_of(part, rows, others)
        total = found if total is None else total + found
        start += _expected(part, others, described.n_outputs)
    assert total is not None
    if interactions:
        total = _with_diagonal(total, described.n_features)
    if described.n_outputs == 1:
        total = total[..., 0]
    return ShapleyValues(
        np.ascontiguousarray(total),
        start if described.n_outputs > 1 else float(start[0]),
        _as_array(X),
        described.names,
        described.classes,
        described.what,
    )


def _as_array(X: Any) -> npt.NDArray[Any]:
    """Rows as given, as one array."""
    if hasattr(X, "to_numpy"):
        return np.asarray(X.to_numpy())
    return np.asarray(X)


def _with_diagonal(pairs: Floats, n_features: int) -> Floats:
    """Interactions whose pairs are stored once, and whose diagonal holds whole values."""
    shape = (len(pairs), n_features, n_features, pairs.shape[2])
    one_way = pairs.reshape(shape)
    own = np.einsum("rjjk->rjk", one_way).copy()
    both = one_way + one_way.swapaxes(1, 2)
    diagonal = np.arange(n_features)
    both[:, diagonal, diagonal] = 0.0
    both[:, diagonal, diagonal] = own - both.sum(axis=2)
    return np.asarray(both)


def _expected(part: TreeSum, others: Floats | None, n_outputs: int) -> Floats:
    """The expected output before any feature is known."""
    if others is not None:
        out = np.zeros((len(others), n_outputs))
        part.add_predictions(others, out)
        return np.asarray(out.mean(axis=0))
    shares, forest = part.shares, part.forest
    assert shares is not None
    reached = shares.copy()
    parent = forest.parents()
    depth = forest.node_depth
    order = np.argsort(depth, kind="stable")
    for at in np.split(order, np.searchsorted(depth[order], np.arange(1, depth.max() + 1)))[1:]:
        reached[at] *= reached[parent[at]]
    expected = np.zeros(n_outputs)
    leaf = np.flatnonzero(forest.is_leaf)
    tree = np.searchsorted(forest.tree_start, leaf, side="right") - 1
    for k in range(part.values.shape[1]):
        added = reached[leaf] * part.values[leaf, k]
        expected += np.bincount(part.column[tree] + k, added, n_outputs)
    return expected


# -- kernels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """How the values of rows are computed."""

    described: AdditiveOutput
    interactions: bool
    n_threads: int

    def values_of(self, part: TreeSum, rows: Floats, others: Floats | None) -> Floats:
        """Values of shape (n_rows, n_cells, n_outputs)."""
        several = part.check(rows)
        if others is None and part.shares is None:
            raise NoTreeSumError(
                "This model",
                "its trees do not record the weights of their nodes",
                "give rows as background=",
            )
        n_outputs = self.described.n_outputs
        drops_first = _sums_to_constant(part, n_outputs)
        if drops_first:  # the values of all outputs sum to 0
            part = replace(part, values=np.ascontiguousarray(part.values[:, 1:]))
        n_cells = self.described.n_features ** (2 if self.interactions else 1)
        out = np.zeros((len(rows), n_cells, n_outputs - drops_first))
        sizes = _sizes(part, self.described.n_features)
        rows = kernel_view(np.ascontiguousarray(rows))
        if others is not None and not self._counts(part, sizes, several, others):
            for other in others:
                self._by_paths(part, sizes, rows, several, _followed(part, other), out)
            out /= len(others)
        elif others is not None:
            self._by_counting(part, sizes, rows, others, out)
        else:
            assert part.shares is not None
            self._by_paths(part, sizes, rows, several, part.shares, out)
        if drops_first:
            out = np.concatenate([-out.sum(axis=2, keepdims=True), out], axis=2)
        return out

    def _counts(self, part: TreeSum, sizes: Integers, several: Any, others: Floats) -> bool:
        """Whether rows and background rows pass tests or do not, and can be counted."""
        split = part.check(others)
        widest = int(sizes[:, 0].max(initial=0))
        is_small = widest <= by_background.MOST_FEATURES
        return is_small and not (self.interactions or several.any() or split.any())

    def _by_paths(
        self,
        part: TreeSum,
        sizes: Integers,
        rows: Floats,
        several: Any,
        shares: Floats,
        out: Floats,
    ) -> None:
        n_features = self.described.n_features
        per_row = out.shape[1] * out.shape[2]
        block = max(8, min(_BLOCK, _NUMBERS // max(per_row, 1)))
        kinds: list[tuple[Any, npt.NDArray[np.bool_]]] = [
            (paths.add_pair_values if self.interactions else paths.add_path_values, ~several),
            (
                paths.add_pair_values_in_part
                if self.interactions
                else paths.add_path_values_in_part,
                several,
            ),
        ]
        own_shares = shares if part.shares is None else part.shares
        for kernel, chosen in kinds:
            if not chosen.any():
                continue
            some = rows if chosen.all() else np.ascontiguousarray(rows[chosen])
            found = out if chosen.all() else np.zeros((len(some), *out.shape[1:]))

            def add(
                slice_: slice, kernel: Any = kernel, some: Any = some, found: Any = found
            ) -> None:
                kernel(
                    *_tests(part), own_shares, shares, part.values, part.column, sizes,
                    *_quadrature(int(sizes[:, 0].max(initial=0))), some, slice_.start, slice_.stop,
                    min(block, slice_.stop - slice_.start), n_features, found,
                )  # fmt: skip

            RowThreads(self.n_threads).map(add, len(some), 2 * block)
            if found is not out:
                out[chosen] += found

    def _by_counting(
        self, part: TreeSum, sizes: Integers, rows: Floats, others: Floats, out: Floats
    ) -> None:
        plus, minus = _factorials(int(sizes[:, 0].max(initial=0)))
        given = kernel_view(np.ascontiguousarray(others))

        def add(slice_: slice) -> None:
            by_background.add_background_values(  # type: ignore[call-arg]
                *_tests(part), part.values, part.column, sizes, plus, minus, given, rows,
                slice_.start, slice_.stop, min(_BACKGROUND_BLOCK, slice_.stop - slice_.start),
                self.described.n_features, out,
            )  # fmt: skip

        RowThreads(self.n_threads).map(add, len(rows), _BACKGROUND_BLOCK)
        out /= len(others)


def _tests(part: TreeSum) -> tuple[Any, ...]:
    """The tests of all nodes, with the feature that each belongs to."""
    tree_start, feature, *others = part.tests
    return (tree_start, feature, part.player_at, *others)


def _sizes(part: TreeSum, n_features: int) -> Integers:
    """Different features on the widest path of each tree, and its depth."""
    sizes = np.empty((len(part.forest), 2), np.int64)
    tree_start, _, _, first_child, n_children, *_ = part.tests
    paths.path_sizes(tree_start, part.player_at, first_child, n_children, n_features, sizes)
    return sizes


def _sums_to_constant(part: TreeSum, n_outputs: int) -> bool:
    """Whether the leaves of a tree add the same to all outputs together, as shares do."""
    if n_outputs < 2 or part.values.shape[1] != n_outputs:
        return False
    leaf = part.forest.is_leaf
    sums = part.values[leaf].sum(axis=1)
    first = np.repeat(sums[np.cumsum(part.forest.n_leaves) - 1], part.forest.n_leaves)
    return bool((np.abs(sums - first) <= 1e-14 * np.abs(first)).all())


def _followed(part: TreeSum, row: Floats) -> Floats:
    """Share with which a row takes each branch, as if it came to every node."""
    forest = part.forest
    parent = forest.parents()
    inner = np.flatnonzero(parent >= 0)
    above = parent[inner]
    base = above - forest._relative(above)
    place = inner - base - forest.first_child[above]
    value = row[forest.feature[above]]
    cut = forest.threshold[above]
    unknown = np.isnan(value)
    branch = (value > cut).astype(np.int64)
    categorical = forest.n_categories[forest.feature[above]] > 0
    if categorical.any():
        tests = categorical & ~unknown
        entry = cut[tests].astype(np.int64) + value[tests].astype(np.int64)
        branch[tests] = forest.branches[entry]
    branch = np.where(unknown, forest.missing[above], branch)
    shares = np.ones(len(parent))
    own = 1.0 if part.shares is None else part.shares[inner]
    shares[inner] = np.where(branch == ALL_BRANCHES, own, branch == place)
    return shares


@cache
def _quadrature(widest: int) -> tuple[Floats, Floats]:
    """Points and weights of Gauss's quadrature between 0 and 1, one row for each number."""
    most = max(1, (widest + 1) // 2)
    points, weights = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for n in range(1, most + 1):
        at, weight = np.polynomial.legendre.leggauss(n)
        points[n, :n], weights[n, :n] = (at + 1.0) / 2.0, weight / 2.0
    return points, weights


@cache
def _factorials(widest: int) -> tuple[Floats, Floats]:
    """(a - 1)! b! / (a + b)! and a! (b - 1)! / (a + b)! for a and b of shape (a, b)."""
    n = np.arange(widest + 1.0)
    plus, minus = np.zeros((widest + 1, widest + 1)), np.zeros((widest + 1, widest + 1))
    plus[1:] = beta(n[1:, None], n + 1.0)
    minus[:, 1:] = beta(n[:, None] + 1.0, n[1:])
    return plus, minus
