"""The training set of every method, from any X, y and weights.

Integer weights are numbers of copies, and each copy is a separate sample: a bootstrap sample may
hold one copy and not another. Samples are ordered by content, so the same samples give the same
model in any order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.data.presorted import Table, copy_groups
from orfeon.data.schema import Schema
from orfeon.data.sparse import SparseTable
from orfeon.utils.row_threads import RowThreads
from orfeon.utils.scikit_learn import _check_sample_weight, _safe_indexing
from orfeon.utils.types import Floats, Integers, Words

#: Maximum number of copies made of samples with integer weights, unless it is ten per row.
MAX_UNITS = 10_000_000
#: Weights with this sum or more do not count copies: every float this large is an integer.
_RELATIVE = float(1 << 53)
#: Whole-number weights with this sum or more are not treated as counts.
_MOST_COUNTED = float(1 << 31)
#: Weights all below this are rescaled: their sums and quotients would underflow.
_SMALLEST_UNIT = 2.0**-64
#: Minimum weight as a share of the largest: products with it stay normal floats.
_SMALLEST_SHARE = 2.0**-100
#: Maximum number of copies made for an estimator without sample weights.
_MOST_COPIES = 100_000_000


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Samples to train on, checked: encoded for trees, or as the base learner takes them.

    :attr:`weights` are ``sample_weights`` times class weights. ``rows`` are the positions of the
    samples among the ``n_given`` rows passed to ``fit``.
    """

    X: Any
    y: npt.NDArray[Any]
    sample_weights: Floats
    n_classes: int = 0
    class_factors: Floats | None = None
    rows: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    n_given: int = 0
    #: Number of samples before selection, copies included.
    n_samples: float = 0.0
    #: Empty if X is not encoded.
    schema: Schema = field(default_factory=lambda: Schema(()))
    seeds: np.random.SeedSequence = field(default_factory=lambda: np.random.SeedSequence(0))
    #: Hash of the samples, the same in any order of the rows.
    digest: str = ""
    #: Number of classes of each output, if there are several.
    output_classes: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def weights(self) -> Floats:
        """Sample weights times class weights."""
        if self.class_factors is None:
            return self.sample_weights
        if self.y.ndim == 2:
            # The product over the outputs; their factors follow each other.
            first = np.cumsum([0, *self.output_classes[:-1]])
            own = self.class_factors[self.y + first]
            each = normal_weights(np.asarray(own.prod(axis=1), dtype=np.float64))
            total = float(np.sum(self.sample_weights * each))
            return np.asarray(self.sample_weights * on_grid(each, self.sample_weights, total))
        return np.asarray(self.sample_weights * self.class_factors[self.y])

    @cached_property
    def are_equal(self) -> bool:
        """Whether all samples weigh the same."""
        return bool((self.weights == self.weights[0]).all())

    @cached_property
    def cumulative(self) -> Floats:
        """Running sums of the weights, for drawing samples in proportion to them."""
        return np.cumsum(self.weights)

    @cached_property
    def class_shares(self) -> Floats:
        """Share of each class in the weight of the samples."""
        shares = np.bincount(self.y, weights=self.weights, minlength=self.n_classes)
        return np.asarray(shares / shares.sum())

    @property
    def relative_weights(self) -> Floats:
        """Sample weights scaled so that a sample, or each of its copies, weighs 1 on average."""
        given = self.sample_weights
        if (given == given[0]).all():
            return np.ones(len(given))
        return np.asarray(given / (given.sum() / self.n_samples))

    @cached_property
    def table(self) -> Any:
        """The features, sorted for growing trees: a Table, or a SparseTable."""
        if issparse(self.X):
            return SparseTable(self.X, self.schema)
        return Table(self.X, self.schema)

    @cached_property
    def groups(self) -> Integers:
        """Group of each sample: copies of a sample share one."""
        return copy_groups(self.table, self.y)

    def take(self, rows: Integers, n_threads: int = 1) -> Self:
        return replace(
            self, X=_take_rows(self.X, rows, n_threads), y=self.y[rows], rows=self.rows[rows],
            sample_weights=self.sample_weights[rows],
        )  # fmt: skip

    def as_copies(self) -> Self:
        """Integer weights as copies, each a separate sample."""
        weights = self.sample_weights
        if not are_counts(weights) or weights.sum() > max(MAX_UNITS, 10 * len(weights)):
            return self
        if len(weights) == weights.sum():
            return self
        copies = self.take(np.repeat(np.arange(len(weights)), weights.astype(np.int64)))
        return replace(copies, sample_weights=np.ones(len(copies)))

    def in_canonical_order(self, n_threads: int = 1) -> Self:
        """Like :meth:`as_copies`, in an order that depends only on their content."""
        hashes = hash_rows(self.X, self.y, n_threads)
        order = _stable_order(hashes, self.sample_weights)
        weights = self.sample_weights[order]
        if are_counts(weights) and weights.sum() <= max(MAX_UNITS, 10 * len(weights)):
            order = np.repeat(order, weights.astype(np.int64))
            weights = np.ones(len(order))
        digest = sha256(hashes[order].tobytes() + weights.tobytes()).hexdigest()
        return replace(self.take(order, n_threads), sample_weights=weights, digest=digest)


def _take_rows(X: Any, rows: Integers, n_threads: int) -> Any:
    """Some of the rows of a table; those of a large array in threads."""
    if n_threads == 1 or not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
        return _safe_indexing(X, rows)
    taken = np.empty((len(rows), X.shape[1]), X.dtype)

    def take(part: slice) -> None:
        # The rows are in range; to check them first, NumPy would copy what it takes.
        X.take(rows[part], axis=0, out=taken[part], mode="clip")

    RowThreads(n_threads).each(take, len(rows))
    return taken


def _stable_order(hashes: npt.NDArray[np.uint64], weights: Floats) -> Integers:
    """The order by hash, then by weight; equal samples stay in theirs."""
    order = np.argsort(hashes)  # several times as fast, and stable where no two are equal
    ordered = hashes[order]
    return np.lexsort((weights, hashes)) if (ordered[1:] == ordered[:-1]).any() else order


def read_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Check sample weights and scale them by :func:`normal_weights`."""
    weights: Floats = _check_sample_weight(
        sample_weight, np.empty((n_rows, 1)), dtype=np.float64, ensure_non_negative=True
    )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight has values up to {weights.max():g}, whose sum overflows; "
            "divide the weights by a power of ten."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every sample; at least one weight must be positive."
        )
    return normal_weights(weights)


def normal_weights(weights: Floats) -> Floats:
    """Weights whose products and sums neither overflow nor underflow."""
    largest, present = float(weights.max(initial=0.0)), weights > 0
    is_large = float(weights.sum()) >= _RELATIVE
    if largest == 0 or (are_counts(weights) and not is_large):
        return weights
    if (weights[present] == largest).all():
        return present.astype(np.float64)
    if is_large or largest < _SMALLEST_UNIT:
        exponent = 1 - int(np.frexp(largest)[1])
        with np.errstate(under="ignore"):
            weights = np.ldexp(weights, exponent)
        largest = float(np.ldexp(largest, exponent))
    return np.where(present, np.maximum(weights, _SMALLEST_SHARE * largest), 0.0)


def on_grid(factors: Floats, weights: Floats, total: float) -> Floats:
    """Factors of weights rounded to a grid, so that weights of copies sum exactly."""
    # A grid of 2**-50 of their total; without copies one of 2**-50 of the largest will do.
    counted = are_counts(weights) and weights.sum() < _MOST_COUNTED
    step = np.exp2(np.ceil(np.log2(total if counted else factors.max())) - 50)
    return np.asarray(np.where(factors > 0, np.maximum(np.rint(factors / step), 1), 0) * step)


def n_samples(weights: Floats) -> float:
    """Number of samples that weights stand for: integers count copies, others one each."""
    return float(weights.sum()) if are_counts(weights) else float(len(weights))


def relative_weights(weights: Floats) -> Floats:
    """Weights without a unit: integers count copies, others are scaled to a mean of 1."""
    if are_counts(weights):
        return weights
    if (weights == weights[0]).all():
        return np.ones(len(weights))
    return np.asarray(weights / weights.mean())


def are_counts(weights: Floats) -> bool:
    """Whether all weights are integers, and so count copies."""
    return np.array_equal(weights, np.rint(weights))


def rows_with_copies(weights: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Row indices, each repeated by its weight."""
    n_copies = weights.sum()
    if n_copies > _MOST_COPIES:
        raise ValueError(
            f"sample_weight counts {n_copies:,.0f} copies, and an estimator that takes no weights "
            f"gets at most {_MOST_COPIES:,}; pass smaller weights, or another estimator."
        )
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def fractions_error(
    who: str, instead: str = "or another estimator", name: str = "sample_weight"
) -> ValueError:
    """The error for fractional weights of an estimator that takes only copies."""
    return ValueError(
        f"{name} has fractions, but {who} takes no weights; pass whole numbers, {instead}."
    )


def check_length(y: npt.NDArray[Any], n_rows: int) -> None:
    """Reject a target whose length differs from that of X."""
    if len(y) != n_rows:
        raise ValueError(
            f"y has {len(y)} values and X has {n_rows} rows; one value for each row is expected."
        )


#: Values hashed at once: with what is made of them, they fit in the cache.
_BLOCK = 1 << 15


def hash_rows(X: Any, y: npt.NDArray[Any], n_threads: int = 1) -> Words:
    """Hash of each sample's values and target."""
    n_rows, n_features = X.shape
    factors = _mix(np.arange(1, n_features + 2, dtype=np.uint64)) | np.uint64(1)
    y = np.asarray(y)
    if issparse(X):
        return _mix(_hash_target(y) * factors[-1] + _hash_stored(X, factors[:-1]))
    hashes = np.empty(n_rows, np.uint64)

    def write(rows: slice) -> None:
        words = _words(X[rows].T)
        words *= factors[:-1, None]
        own = words.sum(axis=0, dtype=np.uint64) + _hash_target(y[rows]) * factors[-1]
        hashes[rows] = _mix(own)

    RowThreads(n_threads).map(write, n_rows, max(1, _BLOCK // max(n_features, 1)))
    return hashes


def _hash_target(y: npt.NDArray[Any]) -> Words:
    if y.ndim == 1:
        return _words(y)
    factors = _mix(np.arange(1, y.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    return np.asarray(_mix((_words(y) * factors).sum(axis=1, dtype=np.uint64)))


def _hash_stored(X: Any, factors: Words) -> Words:
    """The same sum over the features of sparse rows: that of zeros, corrected where others are."""
    zero = _words(np.zeros(1))[0]
    changes = (_words(X.data) - zero) * factors[X.indices]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(changes, dtype=np.uint64)])
    own = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    return np.asarray(zero * factors.sum(dtype=np.uint64) + own)


def same_rows(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """Whether each row equals the row of another table in its place, missing values included."""
    if not issparse(one):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        return np.asarray(same.all(axis=1))
    equal = np.diff(one.indptr) == np.diff(other.indptr)
    one, other = one[equal], other[equal]
    differs = (one.data != other.data) & ~(np.isnan(one.data) & np.isnan(other.data))
    differs |= one.indices != other.indices
    row = np.repeat(np.arange(one.shape[0]), np.diff(one.indptr))
    equal[equal] = np.bincount(row, differs, one.shape[0]) == 0
    return np.asarray(equal)


def _mix(words: Words) -> Words:
    """Scramble the bits of some words (the finaliser of splitmix64)."""
    words = words ^ (words >> np.uint64(30))
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def _words(values: npt.NDArray[Any]) -> Words:
    """Numbers as words; equal numbers, and all missing values, have equal words."""
    numbers = np.array(values, dtype=np.float64, order="C")
    numbers += 0.0  # -0.0 becomes 0.0
    np.copyto(numbers, np.nan, where=np.isnan(numbers))
    return _mix(numbers.view(np.uint64))


def copies(rows: Any, y: npt.NDArray[Any]) -> Integers:
    """Group of each sample: copies of a sample share one."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf":
        return np.unique(hash_rows(rows, y), return_inverse=True)[1]
    if issparse(rows):
        plain = rows.tocsr().copy()
        plain.sum_duplicates()
        plain.eliminate_zeros()
        bounds = zip(plain.indptr, plain.indptr[1:], strict=False)
        spans = [slice(a, b) for a, b in bounds]
        values = [(plain.indices[s].tolist(), plain.data[s].tolist()) for s in spans]
    else:
        values = np.asarray(rows, dtype=object).tolist()
    # As text, missing values of all kinds are equal to themselves.
    known: dict[tuple[str, Any], int] = {}
    spelled = zip(map(repr, values), y.tolist(), strict=True)
    return np.array([known.setdefault(sample, len(known)) for sample in spelled])


def seen_with_copies(seen: npt.NDArray[np.bool_], group: Integers) -> npt.NDArray[np.bool_]:
    """Whether each member was trained on a row or on any copy of it."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.asarray(np.logical_or.reduceat(seen[:, order], starts, axis=1)[:, group])
