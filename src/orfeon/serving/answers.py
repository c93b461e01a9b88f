"""Answers as they are sent: JSON, CSV or an Arrow stream."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from orfeon.serving.errors import RequestError
from orfeon.serving.served_model import Answer, ServedModel

JSON = b"application/json"
CSV = b"text/csv"
ARROW = b"application/vnd.apache.arrow.stream"
#: What a client can say that it accepts, and what it then gets.
_ACCEPTED = {form: form for form in (JSON, CSV, ARROW)} | {b"text/*": CSV, b"application/*": JSON}


def answer_type(accept: bytes) -> bytes:
    """In which form a client wants its answer.

    Parameters
    ----------
    accept : bytes
        What it says that it accepts.

    Returns
    -------
    bytes
        The one that is liked best of CSV, Arrow and JSON, of equals the first; JSON where none is
        named. ``text/*`` is CSV, ``application/*`` JSON.

    Examples
    --------
    >>> from orfeon.serving.answers import answer_type
    >>> answer_type(b"text/csv"), answer_type(b"*/*"), answer_type(b"application/json, text/csv")
    (b'text/csv', b'application/json', b'application/json')
    >>> answer_type(b"text/csv;q=0.1, application/json;q=0.9"), answer_type(b"text/*")
    (b'application/json', b'text/csv')
    """
    if not accept or accept in (JSON, b"*/*"):
        return JSON
    best, found = 0.0, JSON
    for part in accept.split(b","):
        name, *parameters = (word.strip().lower() for word in part.split(b";"))
        liking = _liking(parameters)
        if name in _ACCEPTED and liking > best:
            best, found = liking, _ACCEPTED[name]
    return found


def _liking(parameters: list[bytes]) -> float:
    """How much a form is liked, from 0, not at all, to 1."""
    for parameter in parameters:
        if parameter.startswith(b"q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def write_answer(served: ServedModel, answer: Answer, form: bytes) -> bytes:
    r"""An answer as it is sent.

    Parameters
    ----------
    served : ServedModel
        Who answers.
    answer : Answer
        What it says.
    form : bytes
        The content type.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from orfeon import StumpClassifier
    >>> from orfeon.serving.answers import CSV, JSON, write_answer
    >>> from orfeon.serving.served_model import ServedModel
    >>> served = ServedModel(StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> answer = served.predict(served.row([0.9]), probabilities=True)
    >>> write_answer(served, answer, JSON)
    b'{"predictions": ["yes"], "classes": ["no", "yes"], "probabilities": [[0.0, 1.0]]}'
    >>> write_answer(served, answer, CSV)
    b'prediction,probability_no,probability_yes\nyes,0.0,1.0\n'
    """
    if form == JSON:
        return _json(served, answer)
    columns: dict[str, list[Any]] = {"prediction": answer.predictions.tolist()}
    if answer.probabilities is not None:
        for label, shares in zip(served.classes, answer.probabilities.T.tolist(), strict=True):
            columns[f"probability_{label}"] = shares
    if answer.n_asked is not None:
        columns["n_asked"] = answer.n_asked.tolist()
    return _csv(columns) if form == CSV else _arrow(columns)


def _json(served: ServedModel, answer: Answer) -> bytes:
    document: dict[str, Any] = {"predictions": answer.predictions.tolist()}
    if answer.probabilities is not None:
        document["classes"] = served.classes
        document["probabilities"] = answer.probabilities.tolist()
    if answer.n_asked is not None:
        document["n_asked"] = answer.n_asked.tolist()
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
            'This service writes no Arrow: it needs pip install "orfeon[parquet]".',
        ) from None  # fmt: skip
    table = pyarrow.table(columns)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())
