"""Predictions for Dask collections, made partition by partition when they are asked for."""

from __future__ import annotations

import importlib
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.ensembles.dask_parts import in_rows, rows_of_part


def predict_lazily(ensemble: Any, X: Any, method: str) -> Any:
    """What a method of a fitted ensemble gives for the rows of a Dask collection."""
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
    """What the method gives for no rows."""
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
