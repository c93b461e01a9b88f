"""Connections with limits: slow, endless and oversized requests are closed.

uvicorn waits without a limit for headers and for clients that do not read. Here the limits of the
application hold: time for the headers and the whole request, bytes of both, number of headers and
connections, and time to read the response.
"""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from orfeon.workbench.serve.bodies import busy
from orfeon.workbench.serve.draining import has_bytes
from orfeon.workbench.serve.errors import RequestError
from orfeon.workbench.serve.limits import Limits

#: Bytes of the request line and the headers.
MAX_HEAD = 1 << 16
#: Headers of a request, trailers included.
MAX_HEADERS = 100
#: Pipelined requests of a client: each takes time and memory as soon as it is read, and a few
#: hundred kilobytes hold thousands.
MAX_WAITING = 100
#: Bytes per second at which a client must read a response, after the time that all have.
_SLOWEST = 1 << 16
#: Seconds without a byte after which a connection is closed when the service ends. Requests sent
#: before are answered with ``Connection: close``.
_QUIET = 1.0
#: Bytes for sizes and extensions of chunks; no honest request needs more.
_MAX_EXTRA = 1 << 20


class GuardedConnection(HttpToolsProtocol):
    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        limits = getattr(self.app, "limits", None)
        self._limits = limits if isinstance(limits, Limits) else Limits()
        #: When the current request began, None between requests.
        self._since: float | None = None
        self._has_head = False
        self._n_received = 0
        self._n_head = self._n_trailers = 0
        #: Why the parser was stopped; None if the request is not valid HTTP.
        self._refusal: RequestError | None = None
        #: Unread bytes of responses, when their number last changed, and their deadline.
        self._unread = (0, 0.0, 0.0)
        #: Whether to stop reading, because a rejected request follows one that is being answered.
        self._is_last = False
        self._watch: asyncio.TimerHandle | None = None

    # -- what happens to a connection ----------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Start the watch; close at once if there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.max_connections:
            self._refuse(busy())
            return
        self._since = self.loop.time()
        self._watch_again()
        if self._is_ending:
            self.shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._is_last:
            return
        if self._since is None:
            self._since = self.loop.time()
            self._n_received = 0
        self._n_received += len(data)
        super().data_received(data)
        if self._since is None or self.transport.is_closing():
            return
        if not self._has_head and self._n_received > MAX_HEAD:
            self._refuse(_long_head())
        elif self._n_received > 2 * self._limits.max_bytes + _MAX_EXTRA:
            self.transport.abort()

    # -- events of the parser ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= MAX_WAITING:
            self._stop(busy())
        super().on_message_begin()
        if self._since is None:  # the bytes so far belong to the previous request
            self._n_received = 0
        self._since = self.loop.time()
        self._has_head = False
        self._n_head = self._n_trailers = 0

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a header; trailers are counted and ignored."""
        self._n_trailers += self._has_head
        if len(self.headers) + self._n_trailers >= MAX_HEADERS:
            self._stop(
                RequestError(431, "too_large", f"There are more than {MAX_HEADERS} headers.")
            )
        self._count_head(len(name) + len(value))
        if not self._has_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        # After an upgrade the parser stops, and the body would be lost.
        if self.parser.should_upgrade() and self._has_body():
            self._stop(
                RequestError(
                    400,
                    "bad_http",
                    "The request has a body and asks for another protocol, but only HTTP/1.1 is "
                    "supported: send it without the header Upgrade.",
                )
            )
        self._has_head = True
        before = self.cycle
        super().on_headers_complete()
        if self._is_ending and self.cycle is not before:
            if before is not None and not before.response_started:
                before.keep_alive = True  # only the last of pipelined requests closes it
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._since = None
        super().on_message_complete()

    def _has_body(self) -> bool:
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
            for name, value in self.headers
        )

    def _count_head(self, n_bytes: int) -> None:
        self._n_head += n_bytes
        if self._n_head > MAX_HEAD:
            self._stop(_long_head())

    def _stop(self, refusal: RequestError) -> NoReturn:
        """Stop the parser; the client gets the reason."""
        self._refusal = refusal
        raise refusal

    # -- watching ------------------------------------------------------------------------------

    def _watch_again(self) -> None:
        pause = min(1.0, self._limits.receive_timeout / 4)
        self._watch = self.loop.call_later(pause, self._look)

    def _look(self) -> None:
        """Close the connection if its client sends or reads too slowly."""
        self._watch = None
        now = self.loop.time()
        if self._reads_too_slowly(now):
            self.transport.abort()
            return
        if self._since is not None and self.flow.read_paused:
            self._since = now  # we do not read, so the client is not late
        # The application itself reports a late body, so it gets a little more time.
        limit = self._limits.receive_timeout + (1.0 if self._has_head else 0.0)
        if self._since is not None and now - self._since > limit:
            self._time_out()
            if self.transport.is_closing():
                return
        self._watch_again()

    def _reads_too_slowly(self, now: float) -> bool:
        """Whether the client has stopped reading responses, or reads too slowly."""
        n_unread = self.transport.get_write_buffer_size()
        n_before, since, until = self._unread
        if n_unread != n_before:
            since = now
        if n_before == 0:
            until = now + self._limits.receive_timeout
        until += max(0, n_unread - n_before) / _SLOWEST
        self._unread = (n_unread, since, until)
        is_stuck = now - since > self._limits.receive_timeout
        return n_unread > 0 and (is_stuck or now > until)

    def _time_out(self) -> None:
        if self._has_head:
            self.transport.abort()
            return
        seconds = self._limits.receive_timeout
        if self._n_received:
            self._refuse(
                RequestError(408, "timeout", f"No complete request after {seconds:g} seconds.")
            )
        else:
            self._close_idle()

    # -- closing -------------------------------------------------------------------------------

    @property
    def _is_ending(self) -> bool:
        return getattr(self.server_state, "is_ending", False)

    def shutdown(self) -> None:
        """Answer requests that have begun, then close, because the service ends."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_started:
            cycle.keep_alive = False
        self.loop.call_later(_QUIET, self._close_if_quiet)

    def _close_if_quiet(self) -> None:
        if self.transport.is_closing():
            return
        is_answering = self.cycle is not None and not self.cycle.response_complete
        is_reading = self._since is not None and self._n_received > 0
        if not is_answering and not is_reading:
            self._close_idle()
        self.loop.call_later(_QUIET / 4, self._close_if_quiet)

    def timeout_keep_alive_handler(self) -> None:
        self._close_idle()

    def _close_idle(self) -> None:
        """Close, unless there are bytes that the event loop will read next."""
        if not self.transport.is_closing() and not has_bytes(
            self.transport.get_extra_info("socket")
        ):
            self.transport.close()

    # -- rejecting -----------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Reject a request at which the parser stopped, in the format of all errors."""
        invalid = RequestError(400, "bad_http", "This is not a valid HTTP/1.1 request.")
        self._refuse(self._refusal or invalid)

    def _refuse(self, refusal: RequestError) -> None:
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            # The rejected request follows a complete one, which is still being answered: an error
            # now would be taken for its response.
            cycle.keep_alive = False
            self._since, self._is_last = None, True
            return
        body = refusal.body()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode("ascii")),
            (b"connection", b"close"),
            *refusal.headers,
        ]
        head = [STATUS_LINE[refusal.status]]
        for name, value in headers:
            head += [name, b": ", value, b"\r\n"]
        # In the middle of a response the error would be taken for a part of it, and before pending
        # responses for the first of them.
        is_amid = cycle is not None and cycle.response_started and not cycle.response_complete
        if not is_amid and not self.pipeline:
            self.transport.write(b"".join([*head, b"\r\n", body]))
        self.transport.close()


def _long_head() -> RequestError:
    return RequestError(431, "too_large", f"The headers are longer than {MAX_HEAD:,} bytes.")
