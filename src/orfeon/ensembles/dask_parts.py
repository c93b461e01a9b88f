"""Dask collections, partition by partition: training and prediction run where the data are.

The partitions are read twice: once to agree on features, categories and classes, and once to train.
Only these and the members are sent, never the samples. Dask is imported only where one of its
collections is given.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from orfeon.data.schema import MAX_CATEGORIES, Schema
from orfeon.data.training_set import check_length
from orfeon.utils.scikit_learn import _num_samples


def is_dask(data: Any) -> bool:
    """Whether data are a Dask collection: an array, a data frame, a bag."""
    base = sys.modules.get("dask.base")  # only a program that imported Dask has a collection
    return base is not None and bool(base.is_dask_collection(data))


@dataclass(frozen=True)
class Part:
    """The samples of one partition, not computed yet."""

    number: int
    X: Any
    y: Any
    sample_weight: Any


def read_parts(X: Any, y: Any, sample_weight: Any = None) -> list[Part]:
    """Split collections into their partitions."""
    rows = in_rows(X)
    blocks = _blocks(rows, "X")
    targets = _aligned(y, rows, len(blocks), "y")
    weights: list[Any] = [None] * len(blocks)
    if sample_weight is not None:
        weights = _aligned(sample_weight, rows, len(blocks), "sample_weight")
    both = zip(blocks, targets, weights, strict=True)
    return [Part(number, *part) for number, part in enumerate(both)]


def in_rows(X: Any) -> Any:
    """The same collection, split by rows only."""
    if not _is_array(X):
        return X
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; a Dask array of rows and columns is expected.")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def rows_of_part(part: Any) -> Any:
    """The rows of a part as estimators take them."""
    if hasattr(part, "shape"):
        return part
    rows = list(part)
    if rows and isinstance(rows[0], Mapping):
        return importlib.import_module("pandas").DataFrame(rows)
    return [list(row) for row in rows]


def values_of_part(part: Any) -> Any:
    """Targets or weights of a part, in an array."""
    return part if hasattr(part, "shape") else np.asarray(list(part))


def _is_array(data: Any) -> bool:
    return hasattr(data, "rechunk")


def _blocks(data: Any, name: str) -> list[Any]:
    if not hasattr(data, "to_delayed"):
        raise TypeError(
            f"{name} is a Dask {type(data).__name__}; arrays, data frames, series and bags are "
            "taken part by part."
        )
    return list(np.ravel(data.to_delayed()))


def _aligned(values: Any, rows: Any, n_parts: int, name: str) -> list[Any]:
    """The parts of targets or weights; arrays of known lengths are cut as the rows are."""
    if not is_dask(values):
        raise TypeError(
            f"X is a Dask collection and {name} is a {type(values).__name__}; {name} must be a "
            "Dask collection too, in the partitions of X."
        )
    if (
        _is_array(values)
        and _is_array(rows)
        and not _has_unknown(values)
        and not _has_unknown(rows)
    ):
        if values.shape[0] != rows.shape[0]:
            raise ValueError(
                f"X has {rows.shape[0]} rows and {name} has {values.shape[0]} values; one value "
                "for each row is expected."
            )
        values = values.rechunk({0: rows.chunks[0]})
    blocks = _blocks(values, name)
    if len(blocks) != n_parts:
        raise ValueError(
            f"X has {n_parts} partitions and {name} has {len(blocks)}; they must be cut at the "
            "same rows. Take both from one collection, or repartition them."
        )
    return blocks


def _has_unknown(array: Any) -> bool:
    return bool(np.isnan(np.asarray(array.chunks[0], dtype=np.float64)).any())


@dataclass(frozen=True)
class Look:
    """Features and classes of a part, from a first pass over it."""

    n_rows: int
    n_features: int
    names: npt.NDArray[Any] | None
    schema: Schema | None
    classes: npt.NDArray[Any] | None


NOTHING = Look(0, 0, None, None, None)


def look_at_parts(ensemble: Any, parts: Sequence[Part]) -> list[Look]:
    looks = _on_parts(_look, ensemble, parts, [()] * len(parts))
    schemas = [look.schema for look in looks if look.schema is not None]
    masks = np.array([schema.is_categorical for schema in schemas])
    if len(schemas) and _same_features(schemas) and (masks != masks[0]).any():
        # If all values of a feature are numbers or missing in one part, another part may still have
        # strings.
        chosen = np.logical_or.reduce(masks).tolist()
        looks = _on_parts(_look, ensemble, parts, [(chosen,)] * len(parts))
    return looks


def agree(looks: Sequence[Look]) -> Look:
    """The common features and classes of the parts; parts that do not fit are rejected."""
    filled = [look for look in looks if look.n_rows]
    if not filled:
        raise ValueError("X has no rows that count: all partitions are empty or of weight zero.")
    first = filled[0]
    for look in filled:
        if look.n_features != first.n_features or not np.array_equal(
            _listed(look.names), _listed(first.names)
        ):
            raise ValueError(
                f"partitions of X differ in their features: {first.n_features} "
                f"{_listed(first.names)} and {look.n_features} {_listed(look.names)}."
            )
    schemas = [look.schema for look in filled if look.schema is not None]
    classes = [look.classes for look in filled if look.classes is not None]
    return Look(
        sum(look.n_rows for look in filled),
        first.n_features,
        first.names,
        _one_schema(schemas) if schemas else None,
        _one_set(classes) if classes else None,
    )


def train_parts(ensemble: Any, parts: Sequence[Part], firsts: Sequence[int]) -> list[Any]:
    return _on_parts(_train, ensemble, parts, [(first,) for first in firsts])


def _on_parts(
    work: Callable[..., Any], ensemble: Any, parts: Sequence[Part], given: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """Apply a function to each part, by Dask's current scheduler."""
    dask = importlib.import_module("dask")
    # A function of the module: members, data and threads are not sent along.
    shared = dask.delayed(_bare(ensemble), pure=False, traverse=False)
    run = dask.delayed(_with_number, pure=False)
    tasks = [
        run(work, part.number, shared, part.X, part.y, part.sample_weight, *more)
        for part, more in zip(parts, given, strict=True)
    ]
    return list(dask.compute(*tasks))


def _bare(ensemble: Any) -> Any:
    bare = copy(ensemble)
    bare.n_jobs, bare.verbose = None, 0  # a worker has its own threads and shows no progress
    return bare


def _with_number(work: Callable[..., Any], number: int, ensemble: Any, *given: Any) -> Any:
    """Process a part; errors name it."""
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
    levels = {schema.levels for schema in schemas}
    if len(levels) > 1:
        raise ValueError(
            "the partitions of X have ordered categories in different orders; give all of them one "
            "categorical type."
        )
    merged: list[Any] = []
    for j, in_parts in enumerate(zip(*(schema.categories for schema in schemas), strict=True)):
        if in_parts[0] is None:
            merged.append(None)
            continue
        # True is not 1 here; they are separated again where a feature has both.
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
    return Schema(tuple(merged), schemas[0].names, *levels)


def _one_set(classes: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    are_strings = {isinstance(found.tolist()[0], str) for found in classes}
    if len(are_strings) > 1:
        raise ValueError(
            "y has strings in some partitions and numbers in others; classes are all of one kind."
        )
    return np.unique(np.concatenate(classes))


def predict_lazily(ensemble: Any, X: Any, method: str) -> Any:
    """Call a prediction method of a fitted ensemble on a Dask collection, lazily."""
    dask = importlib.import_module("dask")
    model = copy(ensemble)
    model.n_jobs = None
    # Sent once, not with every partition.
    shared = dask.delayed(model, pure=False, traverse=False)
    empty = _nothing(ensemble, method)
    if hasattr(X, "rechunk"):
        return _of_array(in_rows(X), shared, method, empty)
    if hasattr(X, "divisions"):
        meta = _labelled(empty, X._meta.index[:0], ensemble, method)
        return X.map_partitions(_of_frame, shared, method, meta, meta=meta)
    if not hasattr(X, "map_partitions"):
        raise TypeError(
            f"X is a Dask {type(X).__name__}; arrays, data frames and bags are taken part by part."
        )
    return X.map_partitions(_of_list, shared, method)


def _nothing(ensemble: Any, method: str) -> npt.NDArray[Any]:
    """The result of the method for no rows."""
    if method != "predict":
        return np.zeros((0, len(ensemble.classes_)))
    return np.asarray(ensemble.classes_[:0]) if hasattr(ensemble, "classes_") else np.zeros(0)


def _of_array(X: Any, model: Any, method: str, empty: npt.NDArray[Any]) -> Any:
    if empty.ndim == 1:
        return X.map_blocks(_of_block, model, method, empty, drop_axis=1, meta=empty)
    chunks = (X.chunks[0], (empty.shape[1],))
    return X.map_blocks(_of_block, model, method, empty, chunks=chunks, meta=empty)


def _of_block(rows: Any, model: Any, method: str, empty: npt.NDArray[Any]) -> Any:
    return getattr(model, method)(rows) if len(rows) else empty


def _of_frame(rows: Any, model: Any, method: str, meta: Any) -> Any:
    if not len(rows):
        return meta
    answers = _labelled(getattr(model, method)(rows), rows.index, model, method)
    return answers if method != "predict" else answers.astype(meta.dtype)


def _labelled(answers: npt.NDArray[Any], index: Any, model: Any, method: str) -> Any:
    pandas = importlib.import_module("pandas")
    if method != "predict":
        return pandas.DataFrame(answers, index=index, columns=model.classes_.tolist())
    if not len(answers) and hasattr(model, "classes_"):  # the type is that of all classes
        return pandas.Series(model.classes_, name="prediction").iloc[:0].set_axis(index)
    return pandas.Series(answers, index=index, name="prediction")


def _of_list(part: Any, model: Any, method: str) -> list[Any]:
    rows = rows_of_part(part)
    return list(getattr(model, method)(rows)) if len(rows) else []
