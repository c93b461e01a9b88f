"""Members trained on the partitions of a Dask collection, where the data are.

The partitions are gone through twice: once to agree on features, categories and classes, and once
to train. Only these and the members travel, never the samples.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from orfeon.data.schema import MAX_CATEGORIES, Schema
from orfeon.data.training_set import check_length
from orfeon.ensembles.dask_parts import Part, rows_of_part, values_of_part
from orfeon.utils.scikit_learn import _num_samples


@dataclass(frozen=True)
class Look:
    """What a first look at a part tells."""

    n_rows: int
    n_features: int
    names: npt.NDArray[Any] | None
    schema: Schema | None
    classes: npt.NDArray[Any] | None


NOTHING = Look(0, 0, None, None, None)


def look_at_parts(ensemble: Any, parts: Sequence[Part]) -> list[Look]:
    """Look at all parts, each where it is."""
    looks = _on_parts(_look, ensemble, parts, [()] * len(parts))
    schemas = [look.schema for look in looks if look.schema is not None]
    masks = np.array([schema.is_categorical for schema in schemas])
    if len(schemas) and _same_features(schemas) and (masks != masks[0]).any():
        # A part whose values of a feature are all numbers, or missing, cannot know that
        # another has strings there.
        chosen = np.logical_or.reduce(masks).tolist()
        looks = _on_parts(_look, ensemble, parts, [(chosen,)] * len(parts))
    return looks


def agree(looks: Sequence[Look]) -> Look:
    """What the parts are together."""
    told = [look for look in looks if look.n_rows]
    if not told:
        raise ValueError("X has no rows that count: all partitions are empty or of weight zero.")
    first = told[0]
    for look in told:
        if look.n_features != first.n_features or not np.array_equal(
            _listed(look.names), _listed(first.names)
        ):
            raise ValueError(
                f"partitions of X have other features: {first.n_features} "
                f"{_listed(first.names)} and {look.n_features} {_listed(look.names)}."
            )
    schemas = [look.schema for look in told if look.schema is not None]
    classes = [look.classes for look in told if look.classes is not None]
    return Look(
        sum(look.n_rows for look in told),
        first.n_features,
        first.names,
        _one_schema(schemas) if schemas else None,
        _one_set(classes) if classes else None,
    )


def train_parts(ensemble: Any, parts: Sequence[Part], firsts: Sequence[int]) -> list[Any]:
    """Train the members of all parts, each where it is."""
    return _on_parts(_train, ensemble, parts, [(first,) for first in firsts])


def _on_parts(
    work: Callable[..., Any], ensemble: Any, parts: Sequence[Part], given: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """Do something with each part, by whatever scheduler Dask uses now."""
    dask = importlib.import_module("dask")
    # One for all: the members, data and threads of a process are not sent along.
    shared = dask.delayed(_bare(ensemble), pure=False, traverse=False)
    run = dask.delayed(_with_number, pure=False)
    tasks = [
        run(work, part.number, shared, part.X, part.y, part.sample_weight, *more)
        for part, more in zip(parts, given, strict=True)
    ]
    return list(dask.compute(*tasks))


def _bare(ensemble: Any) -> Any:
    bare = copy(ensemble)
    bare.n_jobs, bare.verbose = None, 0  # a worker has its own threads, and nobody looks
    return bare


def _with_number(work: Callable[..., Any], number: int, ensemble: Any, *given: Any) -> Any:
    """Work on a part; errors say which one."""
    X, y, weight, *more = given
    try:
        rows, values = rows_of_part(X), values_of_part(y)
        check_length(values, _num_samples(rows))
        weights = None if weight is None else values_of_part(weight)
        return work(ensemble, rows, values, weights, *more)
    except (ValueError, TypeError) as error:
        raise type(error)(f"Partition {number}: {error}") from error


def _look(ensemble: Any, X: Any, y: Any, weights: Any, categorical: Any = None) -> Look:
    if not len(y) or (weights is not None and len(weights) and not np.any(weights)):
        return NOTHING
    reader = copy(ensemble)
    X, y, *_ = reader._read_samples(X, y, weights, reset=True)
    schema = None
    if reader._has_trees:
        chosen = reader._categorical_features() if categorical is None else categorical
        schema = Schema.learn(X, chosen)
        reader.n_features_in_ = schema.n_features
    else:
        reader._check_rows(X, reset=True)
    classes = np.unique(y) if is_classifier(ensemble) else None
    names = getattr(reader, "feature_names_in_", None)
    return Look(len(y), reader.n_features_in_, names, schema, classes)


def _train(ensemble: Any, X: Any, y: Any, weights: Any, first: int) -> Any:
    return ensemble._train_chunk(X, y, weights, first, reset=False)


def _listed(names: Any) -> list[str]:
    return [] if names is None else list(names)


def _same_features(schemas: Sequence[Schema]) -> bool:
    return all(schema.n_features == schemas[0].n_features for schema in schemas)


def _one_schema(schemas: Sequence[Schema]) -> Schema:
    """The features with the categories of all parts."""
    merged: list[Any] = []
    for j, in_parts in enumerate(zip(*(schema.categories for schema in schemas), strict=True)):
        if in_parts[0] is None:
            merged.append(None)
            continue
        # True is not 1 here; they are told apart again where a feature has both.
        found = {(isinstance(one, bool), one): one for some in in_parts for one in some or ()}
        if len(found) > MAX_CATEGORIES:
            raise ValueError(
                f"Feature {schemas[0].name(j)!r} has {len(found)} categories; at most "
                f"{MAX_CATEGORIES} are allowed. Group its rare values or leave it out."
            )
        values = sorted(
            found.values(), key=lambda v: (isinstance(v, str), not isinstance(v, bool), v)
        )
        merged.append(tuple(values))
    return Schema(tuple(merged), schemas[0].names)


def _one_set(classes: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    are_strings = {isinstance(found.tolist()[0], str) for found in classes}
    if len(are_strings) > 1:
        raise ValueError(
            "y has strings in some partitions and numbers in others; classes are all of one kind."
        )
    return np.unique(np.concatenate(classes))
