"""Ordered target statistics: categories as means of the target, without leakage.

A category is replaced by the mean target of the training samples that have it. If that mean
included the sample's own target, trees would read the target from it: a category that occurs once
would be its target. So the training samples are put in a random order, and each one sees only the
means of those before it. Rows to predict see the means of all training samples. There is one
order: means over several orders come close to leaving out one sample, and leak as that does.

Copies of a sample do not see each other either, so weights and copies give the same numbers.

References
----------
Micci-Barreca (2001). A preprocessing scheme for high-cardinality categorical attributes in
classification and prediction problems. SIGKDD Explorations 3(1), 27-32.

Prokhorenkova, Gusev, Vorobev, Dorogush and Gulin (2018). CatBoost: unbiased boosting with
categorical features. NeurIPS 31, 6639-6649.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import Schema
from orfeon.kernels.gradient.ordered_means import write_ordered_means
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers

#: Weight of the mean of all samples in the mean of a level, in samples.
STRENGTH = 5.0
#: With "auto", trees split features on subsets of levels up to this many,
MOST_IN_SUBSETS = 20
#: and up to this many (the bins of a histogram) if a level has this many samples on average: the
#: best subset is then no accident.
MOST_OF_FREQUENT, FREQUENT = 255, 200
#: Entries of a table of means besides the levels: of unseen levels, and of missing values.
_UNSEEN, _MISSING, _N_OTHERS = 0, 1, 2


@saved.attributes(
    features=saved.indices, first=saved.indices, means=saved.array("f8", 2, finite=True)
)
@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """Mean targets of the levels of some features, for rows to predict.

    The means of feature ``features[i]`` begin at ``first[i]``: one row for each level, one for
    levels not seen in training, which is the mean of all samples, and one for missing values. Each
    row has one mean for numbers and for two classes (the share of the second), otherwise the share
    of each class.
    """

    features: Integers
    first: Integers
    means: Floats

    @property
    def n_targets(self) -> int:
        """Number of means of each level."""
        return int(self.means.shape[1])

    def n_levels(self, index: int) -> int:
        return int(self.first[index + 1] - self.first[index]) - _N_OTHERS

    def extend(self, X: Floats) -> Floats:
        """Encoded rows with means in place of categories: the first one there, others at the end.

        Levels not seen in training have the code after the last.
        """
        rows = _wide_rows(X, self)
        for i, feature in enumerate(self.features):
            places = self.first[i] + _codes(X[:, feature], self.n_levels(i))
            _set_columns(rows, self, i, self.means[places])
        return rows


def n_targets(n_classes: int) -> int:
    """Number of means of each level: shares of classes, or one mean of numbers."""
    return n_classes if n_classes > 2 else 1


def extended_origin(n_features: int, features: Integers, n_classes: int) -> Integers:
    """The feature that each column of rows with statistics of some features comes from."""
    return np.append(np.arange(n_features), np.repeat(features, n_targets(n_classes) - 1))


def extended_schema(schema: Schema, features: Integers, classes: npt.NDArray[Any]) -> Schema:
    """The schema of rows with statistics of some features; ``classes`` are empty for numbers."""
    if not len(features):
        return schema
    of_means = set(features.tolist())
    known = [None if j in of_means else c for j, c in enumerate(schema.categories)]
    names = [schema.name(j) for j in range(schema.n_features)]
    extra = []
    for j in features:
        wordings = _wordings(names[j], classes)
        names[j] = wordings[0]
        extra += wordings[1:]
    return Schema((*known, *[None] * len(extra)), (*names, *extra))


def _wordings(name: str, classes: npt.NDArray[Any]) -> list[str]:
    """Names of the means of a feature."""
    if not len(classes):
        return [f"mean target by {name}"]
    return [f"share of {one} by {name}" for one in classes[-n_targets(len(classes)) :]]


def statistics_features(schema: Schema, encoding: str, n_samples: float) -> Integers:
    """The categorical features that are replaced by statistics."""
    if encoding == "subsets":
        return np.zeros(0, np.int64)
    many, chosen = schema.n_categories, schema.is_categorical
    if encoding == "auto":
        are_frequent = (many <= MOST_OF_FREQUENT) & (n_samples >= FREQUENT * many)
        chosen = (many > MOST_IN_SUBSETS) & ~are_frequent
    return np.flatnonzero(chosen)


@dataclass(frozen=True)
class OrderedSamples:
    """Training samples for which statistics are computed; copies are neighbours.

    ``n_samples`` counts copies, so that the mean of all samples weighs as ``strength`` of them.
    """

    X: Floats
    y: npt.NDArray[Any]
    weights: Floats
    n_classes: int
    n_samples: int

    @cached_property
    def first(self) -> Integers:
        """Where each run of copies begins, and the end."""
        same = self.y[1:] == self.y[:-1]
        for column in self.X.T:
            one, other = column[1:], column[:-1]
            same &= (one == other) | (np.isnan(one) & np.isnan(other))
        return np.concatenate([[0], np.flatnonzero(~same) + 1, [len(self.y)]]).astype(np.int64)

    def targets(self, k: int) -> Floats:
        """The numbers whose means are statistics: targets, or whether it is a class."""
        if not self.n_classes:
            return self.y
        code = k if self.n_classes > 2 else self.n_classes - 1
        return np.asarray(self.y == code, dtype=np.float64)

    def unit(self) -> float:
        """Weight of a sample."""
        return float(self.weights.sum() / self.n_samples)


def encode_in_order(
    samples: OrderedSamples,
    schema: Schema,
    features: Integers,
    rng: np.random.Generator,
) -> tuple[Floats, TargetStatistics]:
    """Training rows with statistics of the samples before them, and the statistics of all."""
    n_levels, many = schema.n_categories[features], n_targets(samples.n_classes)
    first = np.concatenate([[0], np.cumsum(n_levels + _N_OTHERS)]).astype(np.int64)
    statistics = TargetStatistics(features, first, np.empty((first[-1], many)))
    order = rng.permutation(len(samples.first) - 1)
    strength = STRENGTH * samples.unit()
    codes = [
        _codes(samples.X[:, feature], int(n)) for feature, n in zip(features, n_levels, strict=True)
    ]
    rows = _wide_rows(samples.X, statistics)
    for k in range(many):
        targets = samples.targets(k)
        centre = _weighted_mean(targets, samples.weights)
        deviations = targets - centre
        for i, own in enumerate(codes):
            table = statistics.means[first[i] : first[i + 1]]
            means = level_means(own, deviations, samples.weights, strength, len(table))
            table[:, k] = centre + means
            means = ordered_means(
                own, deviations, samples.weights, strength, len(table), order, samples.first
            )
            _set_column(rows, statistics, i, k, centre + means)
    return rows, statistics


def level_means(
    codes: Integers, deviations: Floats, weights: Floats, strength: float, n_codes: int
) -> Floats:
    """Mean deviation of each code, shrunken to 0."""
    total = np.bincount(codes, weights * deviations, n_codes)
    return np.asarray(total / (np.bincount(codes, weights, n_codes) + strength))


def ordered_means(
    codes: Integers,
    deviations: Floats,
    weights: Floats,
    strength: float,
    n_codes: int,
    order: Integers,
    first: Integers,
) -> Floats:
    """Shrunken mean deviation of the samples with the same code that come earlier in an order."""
    means, sums = np.empty(len(codes)), np.zeros((n_codes, 2))
    write_ordered_means(codes, first, order, deviations, weights, strength, sums, means)
    return means


def _weighted_mean(targets: Floats, weights: Floats) -> float:
    # From a value among them, so that a constant is its own mean to the last bit.
    origin = float(targets[0])
    return origin + float(np.sum(weights * (targets - origin)) / np.sum(weights))


def _codes(column: Floats, n_levels: int) -> Integers:
    """Places in a table of means."""
    return np.where(np.isnan(column), n_levels + _MISSING, column).astype(np.int64)


def _wide_rows(X: Floats, statistics: TargetStatistics) -> Floats:
    """A copy of rows with space for more means."""
    n_extra = len(statistics.features) * (statistics.n_targets - 1)
    rows = np.empty((len(X), X.shape[1] + n_extra))
    rows[:, : X.shape[1]] = X
    return rows


def _set_column(rows: Floats, statistics: TargetStatistics, i: int, k: int, means: Floats) -> None:
    """Write mean k of feature i."""
    n_more, m = statistics.n_targets - 1, len(statistics.features)
    at = statistics.features[i] if k == 0 else rows.shape[1] + (i - m) * n_more + k - 1
    rows[:, at] = means


def _set_columns(rows: Floats, statistics: TargetStatistics, i: int, means: Floats) -> None:
    for k in range(statistics.n_targets):
        _set_column(rows, statistics, i, k, means[:, k])
