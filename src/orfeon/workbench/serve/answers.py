"""Bodies of responses: JSON, CSV or an Arrow stream."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from orfeon.workbench.serve.errors import RequestError
from orfeon.workbench.serve.served_model import Answer, ServedModel

JSON = b"application/json"
CSV = b"text/csv"
ARROW = b"application/vnd.apache.arrow.stream"
#: Media types that a client can accept, and the type of the response.
_ACCEPTED = {form: form for form in (JSON, CSV, ARROW)} | {b"text/*": CSV, b"application/*": JSON}


def answer_type(accept: bytes) -> bytes:
    """The media type of the response, by the header ``Accept``."""
    if not accept or accept in (JSON, b"*/*"):
        return JSON
    best, found = 0.0, JSON
    for part in accept.split(b","):
        name, *parameters = (word.strip().lower() for word in part.split(b";"))
        quality = _quality(parameters)
        if name in _ACCEPTED and quality > best:
            best, found = quality, _ACCEPTED[name]
    return found


def _quality(parameters: list[bytes]) -> float:
    """The quality value ``q`` of a media type, from 0 to 1."""
    for parameter in parameters:
        if parameter.startswith(b"q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def write_answer(served: ServedModel, answer: Answer, form: bytes) -> bytes:
    if form == JSON:
        return _json(served, answer)
    columns: dict[str, list[Any]] = {"prediction": answer.predictions.tolist()}
    if answer.probabilities is not None:
        for label, shares in zip(served.classes, answer.probabilities.T.tolist(), strict=True):
            columns[f"probability_{label}"] = shares
    if answer.n_queried is not None:
        columns["n_queried"] = answer.n_queried.tolist()
    columns |= _evidence(answer)
    return _csv(columns) if form == CSV else _arrow(columns)


def _evidence(answer: Answer) -> dict[str, Any]:
    found = dict(answer.intervals or {})
    return found if answer.reasons is None else {**found, "reasons": answer.reasons}


def _json(served: ServedModel, answer: Answer) -> bytes:
    document: dict[str, Any] = {"predictions": answer.predictions.tolist()}
    if answer.probabilities is not None:
        document["classes"] = served.classes
        document["probabilities"] = answer.probabilities.tolist()
    if answer.n_queried is not None:
        document["n_queried"] = answer.n_queried.tolist()
    document |= _evidence(answer)
    return json.dumps(document, allow_nan=False).encode("ascii")


def _csv(columns: dict[str, list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode("utf-8", "replace")


def _arrow(columns: dict[str, list[Any]]) -> bytes:
    try:
        import pyarrow
    except ImportError:
        raise RequestError(
            406, "unsupported_media_type",
            'This service cannot write Arrow: pip install "orfeon[parquet]" adds it.',
        ) from None  # fmt: skip
    table = pyarrow.table(columns)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())
