"""Quantile regression forests: which training samples share a leaf with a row.

The prediction of a forest is a weighted mean of the training targets, and its quantiles are those
of the same weights: each tree gives the samples in the row's leaf equal shares of its vote
(Meinshausen 2006). No matrix of weights is made: a row touches only the samples in its leaves.

References
----------
Meinshausen (2006). Quantile regression forests. Journal of Machine Learning Research 7, 983-999.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.kernels.leaf_quantiles import leaf_quantiles
from orfeon.uncertainty.ranks import is_a_number
from orfeon.utils import saved
from orfeon.utils.types import Bits, Floats, Integers


class _Entries(NamedTuple):
    """The in-bag samples of all leaves, one leaf after the other."""

    start: Integers
    ranks: Integers
    shares: Floats
    targets: Floats


@saved.attributes(
    rows=saved.indices,
    leaves=saved.array(("u2", "u4"), 2),
    weights=saved.array(("u1", "u2", "u4", "f8"), 2),
    targets=saved.array("f8", 1, finite=True),
    first_node=saved.indices,
)
@dataclass(frozen=True, eq=False)
class LeafSamples:
    """The leaf of each training sample in each tree."""

    #: Positions of the samples among the rows passed to ``fit``, ascending; of shape (n_samples,).
    rows: Integers
    #: Nodes within each tree; of shape (n_trees, n_samples).
    leaves: npt.NDArray[Any]
    #: How often, or with which weight, each tree was trained on the sample; of shape (n_trees,
    #: n_samples).
    weights: npt.NDArray[Any]
    #: The targets; of shape (n_samples,).
    targets: Floats
    #: Where the nodes of each tree begin, in the forest; of shape (n_trees + 1,).
    first_node: Integers

    @classmethod
    def of(
        cls,
        rows: Integers,
        leaves: Integers,
        weights: npt.NDArray[Any],
        targets: Floats,
        first_node: Integers,
    ) -> LeafSamples:
        """From the leaves of samples by trees, and their weights by trees and samples."""
        small = np.uint16 if int(leaves.max(initial=0)) < 1 << 16 else np.uint32
        return cls(
            rows.astype(np.int64),
            np.ascontiguousarray(leaves.T, small),
            np.ascontiguousarray(weights),
            targets.astype(np.float64),
            first_node.astype(np.int64),
        )

    @cached_property
    def _entries(self) -> _Entries:
        by_target = np.argsort(self.targets, kind="stable")
        rank = np.empty(len(by_target), np.int64)
        rank[by_target] = np.arange(len(by_target))
        counts = np.zeros(self.first_node[-1], np.int64)
        ranks, shares = [], []
        for t, (leaf, weight) in enumerate(zip(self.leaves, self.weights, strict=True)):
            present = np.flatnonzero(weight)
            own, mine = leaf[present], weight[present].astype(np.float64)
            order = np.argsort(own, kind="stable")
            n_nodes = int(self.first_node[t + 1] - self.first_node[t])
            total = np.bincount(own, weights=mine, minlength=n_nodes)
            counts[self.first_node[t] : self.first_node[t + 1]] = np.bincount(
                own, minlength=n_nodes
            )
            ranks.append(rank[present[order]])
            shares.append((mine / total[own])[order])
        start = np.concatenate([[0], np.cumsum(counts)])
        return _Entries(
            start, np.concatenate(ranks), np.concatenate(shares), self.targets[by_target]
        )

    def quantiles(self, leaves: Integers, levels: Floats, members: Bits | None = None) -> Floats:
        """Weighted quantiles of the training targets for some rows."""
        entries = self._entries
        n_rows, n_trees = leaves.shape
        if members is None:
            members = np.full((n_rows, (n_trees + 7) // 8), 255, np.uint8)
        found = np.empty((n_rows, len(levels)))
        leaf_quantiles(
            np.ascontiguousarray(leaves + self.first_node[:-1]), members, entries.start,
            entries.ranks, entries.shares, entries.targets, levels, found,
        )  # fmt: skip
        return found

    def own_quantiles(self, rows: Integers, members: Bits, levels: Floats) -> Floats:
        """Quantiles for training samples, by some of the trees."""
        samples = np.searchsorted(self.rows, rows)
        return self.quantiles(self.leaves[:, samples].T.astype(np.int64), levels, members)


def check_levels(quantiles: Any) -> tuple[Floats, npt.NDArray[np.int64] | None]:
    """Quantiles in ascending order, and the place of each one given; None for a single one."""
    if is_a_number(quantiles):
        given, is_one = np.array([float(quantiles)]), True
    else:
        given, is_one = np.asarray(quantiles), False
    right = given.ndim == 1 and len(given) and given.dtype.kind in "fiu"
    if not right or not ((given > 0) & (given < 1)).all():
        raise ValueError(
            f"quantiles={quantiles!r} is not allowed: give a number above 0 and below 1, or "
            "several, such as (0.05, 0.5, 0.95)."
        )
    levels, place = np.unique(given.astype(np.float64), return_inverse=True)
    return levels, None if is_one else place
