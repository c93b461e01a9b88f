"""Clients of the service: one that calls the application, one that speaks bytes to a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import uvicorn

from orfeon.workbench.serve.connections import GuardedConnection
from orfeon.workbench.serve.draining import DrainingServer
from orfeon.workbench.serve.process import open_socket

JSON = "application/json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"


class Answered(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        return self.json["error"]["kind"]

    @property
    def message(self) -> str:
        return self.json["error"]["message"]


def ask(
    app: Any, body: bytes, kind: str = JSON, query: str = "", path: str = "/predict",
    method: str = "POST", **more: str,
) -> Answered:  # fmt: skip
    """Call the application with a whole body."""
    headers = {"content-type": kind, **{k.replace("_", "-"): v for k, v in more.items()}}
    return asyncio.run(_query(app, [body], headers, query, path, method))


def ask_in_parts(app: Any, parts: list[bytes], kind: str = JSON) -> Answered:
    """Call the application with a body that comes in parts."""
    return asyncio.run(_query(app, parts, {"content-type": kind}, "", "/predict", "POST"))


async def ask_all(app: Any, bodies: list[bytes]) -> list[Answered]:
    """Call the application with several bodies at the same time."""
    headers = {"content-type": JSON}
    asked = [_query(app, [body], headers, "", "/predict", "POST") for body in bodies]
    return await asyncio.gather(*asked)


async def _query(app, parts, headers, query, path, method) -> Answered:
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": query.encode(), "http_version": "1.1", "scheme": "http",
        "server": ("here", 80), "client": ("there", 1), "root_path": "",
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in headers.items() if v],
    }  # fmt: skip
    waiting = list(parts)

    async def receive() -> dict[str, Any]:
        part = waiting.pop(0) if waiting else b""
        return {"type": "http.request", "body": part, "more_body": bool(waiting)}

    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    head = sent[0]
    return Answered(
        head["status"],
        {k.decode().lower(): v.decode("latin-1") for k, v in head["headers"]},
        b"".join(message.get("body", b"") for message in sent[1:]),
    )


def rows_of(*rows: Any) -> bytes:
    return json.dumps({"rows": list(rows)}).encode()


@contextlib.contextmanager
def serving(app: Any, send_buffer: int | None = None) -> Iterator[tuple[str, int]]:
    """A server of the application in a thread, as ``orfeon serve`` starts it."""
    with open_socket("127.0.0.1", 0) as opened:
        if send_buffer is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        config = uvicorn.Config(
            app, http=GuardedConnection, ws="none", lifespan="on", log_config=None,
            proxy_headers=False, access_log=False, server_header=False,
        )  # fmt: skip
        server = DrainingServer(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            until = time.monotonic() + 20
            while not server.started and time.monotonic() < until:
                time.sleep(0.01)
            assert server.started
            yield opened.getsockname()[:2]
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def speak(address: tuple[str, int], data: bytes, *, timeout: float = 10.0) -> bytes:
    """Send bytes and give all that comes back until the server closes or nothing more comes."""
    with socket.create_connection(address, timeout=timeout) as connection:
        connection.sendall(data)
        return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def request(body: bytes, *, close: bool = True, path: str = "/predict", kind: str = JSON) -> bytes:
    """A request in bytes."""
    end = "Connection: close\r\n" if close else ""
    return (
        f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\n{end}\r\n"
    ).encode() + body


def is_alive(address: tuple[str, int], body: bytes) -> bool:
    """Whether the server still answers a plain request."""
    return speak(address, request(body)).startswith(b"HTTP/1.1 200")
