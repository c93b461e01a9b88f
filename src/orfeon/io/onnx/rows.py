"""Inputs of an exported model, and their encoding as numbers, codes of categories and NaN."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import Categories, Schema
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import DOUBLE, FLOAT, ML, ROWS, Graph

#: The name of the input where there is only one.
MATRIX = "X"


def input_names(schema: Schema) -> list[str]:
    """Names of the inputs: one matrix, or one per feature if some have strings as categories."""
    if schema.levels is not None:
        raise NoOnnxFormError(
            "an ordered categorical feature",
            "a tensor has no order of categories",
            "pass the codes of the categories as numbers and train again",
        )
    if not any(_has_strings(categories) for categories in schema.categories):
        return [MATRIX]
    names = [schema.name(j) for j in range(schema.n_features)]
    odd = [name for name in names if not name or name.startswith("/")]
    if odd:
        raise NoOnnxFormError(
            f"the feature {odd[0]!r}",
            "inputs have the names of features, which must not be empty or begin with a slash",
            "rename the column and train again",
        )
    return names


def _has_strings(categories: Categories) -> bool:
    return categories is not None and any(isinstance(c, str) for c in categories)


def decoded_inputs(schema: Schema, encoded: npt.NDArray[np.float64]) -> dict[str, Any]:
    columns = [_decoded(encoded[:, j], c) for j, c in enumerate(schema.categories)]
    if any(_has_strings(categories) for categories in schema.categories):
        return dict(zip(input_names(schema), columns, strict=True))
    return {MATRIX: np.ascontiguousarray(np.hstack(columns), dtype=np.float64)}


def _decoded(codes: npt.NDArray[np.float64], categories: Categories) -> npt.NDArray[Any]:
    if categories is None:
        return codes[:, None]
    place = np.nan_to_num(codes, nan=-1.0).astype(np.int64)
    if not _has_strings(categories):
        return np.array([*categories, np.nan], dtype=np.float64)[place][:, None]
    unknown = ""
    while unknown in categories:  # a string not seen in training counts as missing
        unknown += "?"
    return np.array([*categories, unknown], dtype=object)[place][:, None]


def add_rows(graph: Graph, schema: Schema, *, in_single_precision: bool = False) -> str:
    """Add the inputs, and their encoding."""
    names = input_names(schema)
    if names == [MATRIX] and not any(_has_strings(c) for c in schema.categories):
        rows = graph.add_input(MATRIX, np.float64, [ROWS, schema.n_features])
        if not schema.all_ordered:
            columns = [
                graph.add("Gather", rows, graph.constant(np.array([j])), axis=1)
                for j in range(schema.n_features)
            ]
            rows = _joined(graph, _encoded(graph, columns, schema))
    else:
        kinds = [object if _has_strings(c) else np.float64 for c in schema.categories]
        given = zip(names, kinds, strict=True)
        columns = [graph.add_input(name, kind, [ROWS, 1]) for name, kind in given]
        rows = _joined(graph, _encoded(graph, columns, schema))
    if in_single_precision:
        rows = graph.add("Cast", graph.add("Cast", rows, to=FLOAT), to=DOUBLE)
    return rows


def _encoded(graph: Graph, columns: list[str], schema: Schema) -> list[str]:
    return [
        column if categories is None else _code(graph, column, categories, schema.name(j))
        for j, (column, categories) in enumerate(zip(columns, schema.categories, strict=True))
    ]


def _joined(graph: Graph, columns: Iterable[str]) -> str:
    parts = list(columns)
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _code(graph: Graph, column: str, categories: Categories, name: str) -> str:
    """Codes of categories; NaN for missing values and categories not seen in training."""
    assert categories is not None
    are_strings = {isinstance(c, str) for c in categories}
    if len(are_strings) == 2:
        raise NoOnnxFormError(
            f"the feature {name!r}",
            "its categories are both strings and numbers, and a tensor has one type",
            "convert all of them to strings and train again",
        )
    if not categories:  # training saw none, so all values are missing
        return graph.add("Mul", column, graph.constant(np.array(np.nan)))
    if len({isinstance(c, bool) for c in categories}) == 2:
        raise NoOnnxFormError(
            f"the feature {name!r}",
            "its categories are both booleans and numbers, which a tensor cannot distinguish",
            "convert all of them to strings and train again",
        )
    has_strings = are_strings == {True}
    keys = np.array(categories, dtype=object) if has_strings else _numbers(categories, name)
    return graph.add(
        "LabelEncoder", column, domain=ML, keys_tensor=keys,
        values_tensor=np.arange(len(categories), dtype=np.float64),
        default_tensor=np.array([np.nan]),
    )  # fmt: skip


def _numbers(categories: tuple[Any, ...], name: str) -> npt.NDArray[np.float64]:
    """Categories as doubles, which represent all integers only up to 2^53."""
    keys = [float(category) for category in categories]
    if any(key != category for key, category in zip(keys, categories, strict=True)):
        raise NoOnnxFormError(
            f"the feature {name!r}",
            "some of its categories are integers too large for doubles, which the input holds",
            "convert all of them to strings and train again",
        )
    return np.array(keys)
