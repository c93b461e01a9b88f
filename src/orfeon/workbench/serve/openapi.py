"""The OpenAPI document of a service, made from the columns and classes of its model."""

from __future__ import annotations

import csv
import io
from typing import Any

from orfeon import __version__
from orfeon.workbench.serve.answers import ARROW
from orfeon.workbench.serve.limits import Limits
from orfeon.workbench.serve.served_model import ServedModel

_ARROW = ARROW.decode("ascii")

#: Meanings of error statuses.
REFUSALS = {
    400: "The body or the query cannot be read.",
    408: "The body was not sent in time.",
    413: "The body has too many bytes.",
    415: "The content type is not supported, or the body is compressed.",
    421: "The header `Host` names a host that is not allowed.",
    422: "The rows do not fit the model, or are too many; `where` names the row and column.",
    503: "The service is busy; `Retry-After` says when to try again.",
}


def openapi_document(served: ServedModel, limits: Limits) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{served.name}: predictions",
            "version": __version__,
            "description": _description(served, limits),
        },
        "paths": {
            "/predict": {"post": _predict(served, limits)},
            "/model": {"get": _get("Description of the model", "model", _json_content(_object()))},
            "/health": {"get": _get("Whether the service is up", "health", _json_content(_HEALTH))},
            "/metrics": {"get": _get("Counters", "metrics", _text_content("text/plain"))},
            "/openapi.json": {"get": _get("This document", "openapi", _json_content(_object()))},
            "/": {"get": _get("A page to try the model", "page", _text_content("text/html"))},
            "/docs": {"get": _get("A page of this document", "docs", _text_content("text/html"))},
        },
        "components": {
            "schemas": {
                "Row": _row(served),
                "Cells": _cells(served),
                "Rows": _rows(limits),
                "Predictions": _predictions(served),
                "Error": _ERROR,
            }
        },
    }


_HEALTH: dict[str, Any] = {
    "type": "object",
    "required": ["status", "model", "pid"],
    "properties": {
        "status": {"const": "ok"},
        "model": {"type": "string"},
        "pid": {"type": "integer"},
    },
}
_ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message", "where"],
            "properties": {
                "kind": {"type": "string", "description": "Code for programs."},
                "message": {"type": "string", "description": "Message for people."},
                "where": {
                    "type": ["object", "null"],
                    "properties": {
                        "row": {"type": ["integer", "null"]},
                        "column": {"type": ["string", "null"]},
                    },
                },
            },
        }
    },
}


def _description(served: ServedModel, limits: Limits) -> str:
    what = "a class" if served.task == "classification" else "a number"
    target = "" if served.preparation is None else f" ({served.preparation.target})"
    early = ""
    if served.early_decision is not None:
        early = " Members vote in order until the decision is certain."
    return (
        f"Predicts {what}{target} from {len(served.columns)} columns.{early} A request has at "
        f"most {limits.max_rows:,} rows and {limits.max_bytes:,} bytes, and is sent within "
        f"{limits.receive_timeout:g} seconds."
    )


def _get(summary: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "summary": summary,
        "operationId": name,
        "responses": {"200": {"description": summary, "content": content}},
    }


def _object() -> dict[str, Any]:
    return {"type": "object"}


def _json_content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _text_content(kind: str) -> dict[str, Any]:
    return {kind: {"schema": {"type": "string"}}}


def _predict(served: ServedModel, limits: Limits) -> dict[str, Any]:
    row = served.example_row()
    text = {"type": "string", "maxLength": limits.max_bytes}
    predictions = {"$ref": "#/components/schemas/Predictions"}
    error = _json_content({"$ref": "#/components/schemas/Error"})
    parameters = []
    if served.has_probabilities:
        parameters = [
            {
                "name": "probabilities",
                "in": "query",
                "description": "Whether to add the probability of each class.",
                "schema": {"type": "boolean", "default": False},
            }
        ]
    parameters += [
        {
            "name": "explain",
            "in": "query",
            "description": "How many of the features that matter most to name for each row.",
            "schema": {"type": "integer", "minimum": 0, "maximum": 100, "default": 0},
        },
        {
            "name": "interval",
            "in": "query",
            "description": "Adds intervals, or sets of classes, that hold this share of the true "
            "values. The status is 422 if the model has no predictions on samples it did not see.",
            "schema": {
                "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
            },
        },
    ]  # fmt: skip
    return {
        "summary": "Predict rows",
        "operationId": "predict",
        "parameters": parameters,
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": "#/components/schemas/Rows"},
                    "example": {"rows": [row]},
                },
                "text/csv": {"schema": text, "example": csv_example(row)},
                _ARROW: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        "responses": {
            "200": {
                "description": "One prediction per row, in the same order.",
                "content": {
                    **_json_content(predictions),
                    **_text_content("text/csv"),
                    _ARROW: {"schema": {"type": "string", "format": "binary"}},
                },
            },
            **{
                str(status): {"description": meaning, "content": error}
                for status, meaning in REFUSALS.items()
            },
        },
    }


def _row(served: ServedModel) -> dict[str, Any]:
    return {
        "type": "object",
        "description": "One cell per column, by name; other names are ignored.",
        "required": [column.name for column in served.columns],
        "properties": {column.name: column.schema() for column in served.columns},
    }


def _cells(served: ServedModel) -> dict[str, Any]:
    n_columns = len(served.columns)
    return {
        "type": "array",
        "description": "One cell per column, in the order of /model.",
        "prefixItems": [column.schema() for column in served.columns],
        "items": False,
        "minItems": n_columns,
        "maxItems": n_columns,
    }


def _rows(limits: Limits) -> dict[str, Any]:
    sizes = {"type": "array", "minItems": 1, "maxItems": limits.max_rows}
    return {
        "type": "object",
        "required": ["rows"],
        "additionalProperties": False,
        "properties": {
            "rows": {
                "anyOf": [
                    {**sizes, "items": {"$ref": "#/components/schemas/Row"}},
                    {**sizes, "items": {"$ref": "#/components/schemas/Cells"}},
                ]
            }
        },
    }


def _predictions(served: ServedModel) -> dict[str, Any]:
    prediction: dict[str, Any] = {"type": "number"}
    if served.classes:
        prediction = {"enum": served.classes}
    document: dict[str, Any] = {
        "type": "object",
        "required": ["predictions"],
        "properties": {"predictions": {"type": "array", "items": prediction}},
    }
    if served.has_probabilities:
        document["properties"]["classes"] = {"const": served.classes}
        document["properties"]["probabilities"] = {
            "type": "array",
            "description": "Class probabilities, in the order of `classes`.",
            "items": {"type": "array", "items": {"type": "number"}},
        }
    texts = {"type": "array", "items": {"type": "string"}}
    document["properties"]["reasons"] = {
        **texts, "description": "Features with their Shapley values, the largest first.",
    }  # fmt: skip
    if served.classes:
        document["properties"]["set"] = {
            **texts, "description": "Classes with `|` between them.",
        }  # fmt: skip
    else:
        for end in ("low", "high"):
            document["properties"][end] = {"type": "array", "items": {"type": "number"}}
    if served.early_decision is not None:
        document["properties"]["n_queried"] = {
            "type": "array",
            "description": f"How many of {served.n_members} members voted.",
            "items": {"type": "integer"},
        }
    return document


def csv_example(row: dict[str, Any]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(row)
    writer.writerow(["" if cell is None else cell for cell in row.values()])
    return text.getvalue()
