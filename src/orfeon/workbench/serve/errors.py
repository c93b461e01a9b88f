"""Errors of requests, in one format for all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

#: Characters of a name or a value in a message.
_SHOWN = 60


class RequestError(Exception):
    """A request that the service rejects."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        row: int | None = None,
        column: str | None = None,
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.row = row
        self.column = column
        self.headers = tuple(headers)

    def document(self) -> dict[str, Any]:
        where = None
        if self.row is not None or self.column is not None:
            where = {"row": self.row, "column": self.column}
        return {"error": {"kind": self.kind, "message": self.message, "where": where}}

    def body(self) -> bytes:
        return json.dumps(self.document()).encode("ascii")


def shown(value: Any) -> str:
    """A value of a request as a short text for a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, word in ((dict, "an object"), (list, "a list"), (type(None), "null")):
        if isinstance(value, kind):
            return word
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of many digits"
    text = repr(value[: _SHOWN + 1]) if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
