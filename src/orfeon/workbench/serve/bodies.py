"""The head of a request, and its body, read within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from orfeon.workbench.serve.answers import ARROW, CSV, JSON, answer_type
from orfeon.workbench.serve.errors import RequestError, shown
from orfeon.workbench.serve.limits import Limits

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

#: Makes the client close the connection and stop sending.
CLOSE = ((b"connection", b"close"),)
_FORMS = (JSON, CSV, ARROW)
_MAX_QUERY = 2000
#: Features that explain a prediction, at most.
_MOST_REASONS = 100


class Asked(NamedTuple):
    """What a client wants beside the predictions."""

    probabilities: bool = False
    explain: int = 0
    interval: float | None = None


class RequestHead(NamedTuple):
    """What the service needs of the headers and the query."""

    form: bytes
    answer: bytes
    n_bytes: int | None
    asked: Asked


class ClientGoneError(Exception):
    """The client closed the connection."""


def read_head(headers: Iterable[tuple[bytes, bytes]], query: bytes) -> RequestHead:
    kind = encoding = b""
    accepted: list[bytes] = []
    n_bytes = None
    for name, value in headers:
        if name == b"content-type":
            kind = value
        elif name == b"content-length":
            if not value.isdigit():
                raise RequestError(400, "bad_http", "The content length is not a number.")
            n_bytes = int(value)
        elif name == b"accept":
            accepted.append(value)
        elif name == b"content-encoding":
            encoding = value.strip().lower()
    if encoding not in (b"", b"identity"):
        raise RequestError(
            415, "compressed",
            f"The body is compressed by {_text(encoding)}; send it uncompressed.",
            headers=[(b"accept-encoding", b"identity")],
        )  # fmt: skip
    form = kind if kind == JSON else _form(kind)
    return RequestHead(form, answer_type(b",".join(accepted)), n_bytes, _asked(query))


def _form(kind: bytes) -> bytes:
    name, *parameters = (part.strip().lower() for part in kind.split(b";"))
    if name not in _FORMS:
        found = f"The content type is {_text(name)}" if name else "There is no content type"
        raise RequestError(
            415, "unsupported_media_type",
            f"{found}; use {JSON.decode()}, {CSV.decode()} or {ARROW.decode()}.",
            headers=[(b"accept", b", ".join(_FORMS))],
        )  # fmt: skip
    for parameter in parameters:
        if parameter.startswith(b"charset=") and parameter[8:].strip(b'"') not in (
            b"utf-8", b"utf8", b"us-ascii",
        ):  # fmt: skip
            raise RequestError(
                415, "unsupported_media_type",
                f"The charset of the body is {_text(parameter[8:])}; use UTF-8.",
            )  # fmt: skip
    return name


def _text(value: bytes) -> str:
    return shown(value.decode("latin-1"))


def _asked(query: bytes) -> Asked:
    if not query:
        return Asked()
    if query == b"probabilities=true":
        return Asked(probabilities=True)
    if len(query) > _MAX_QUERY:
        raise RequestError(400, "bad_parameter", "The query is too long.")
    found: dict[str, Any] = {}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in _READERS or name in found:
            known = ", ".join(repr(one) for one in _READERS)
            what = "given twice" if name in found else f"unknown; those known are {known}"
            raise RequestError(
                400, "bad_parameter", f"The parameter {shown(name)} is {what}.", column=None
            )
        read, allowed = _READERS[name]
        found[name] = read(value)
        if found[name] is None:
            raise RequestError(
                400, "bad_parameter", f"{name}={shown(value)} is not allowed; use {allowed}."
            )
    return Asked(**found)


def _truth(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text)


def _few(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) < 4
    return int(text) if is_number and int(text) <= _MOST_REASONS else None


def _share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0.0 < share < 1.0 else None


#: How the parameters are read, and what is allowed.
_READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "probabilities": (_truth, "true or false"),
    "explain": (_few, f"a whole number from 0 to {_MOST_REASONS}"),
    "interval": (_share, "a share between 0 and 1, such as 0.9"),
}


class BodyReader:
    """Reads bodies, and limits the bytes of all bodies in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0
        #: Bytes of all bodies together, so that a few clients cannot fill the memory.
        self._most = 8 * limits.max_bytes

    async def read(self, receive: Receive, n_bytes: int | None) -> bytes:
        """Read a body, whose bytes count as held until :meth:`release`."""
        limits = self._limits
        if n_bytes is not None and n_bytes > limits.max_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(limits.receive_timeout):
                return await self._read(receive)
        except TimeoutError:
            raise RequestError(
                408, "timeout",
                f"The body was not complete after {limits.receive_timeout:g} seconds.",
                headers=CLOSE,
            ) from None  # fmt: skip

    def release(self, n_bytes: int) -> None:
        self._held -= n_bytes

    async def _read(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        n_bytes, is_last = 0, False
        try:
            while not is_last:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                part: bytes = message.get("body", b"")
                is_last = not message.get("more_body", False)
                parts.append(part)
                n_bytes += len(part)
                self._held += len(part)
                if n_bytes > self._limits.max_bytes:
                    raise self._too_large()
                if self._held > self._most:
                    raise busy()
            return parts[0] if len(parts) == 1 else b"".join(parts)
        except BaseException:
            self.release(n_bytes)
            raise

    def _too_large(self) -> RequestError:
        return RequestError(
            413, "too_large",
            f"The body is longer than {self._limits.max_bytes:,} bytes. Send the rows in parts.",
        )  # fmt: skip


def busy() -> RequestError:
    return RequestError(
        503, "busy", "Too many requests at the same time; try again in a second.",
        headers=[(b"retry-after", b"1")],
    )  # fmt: skip
