"""Connections that keep nobody waiting: slow, endless and oversized requests are closed.

uvicorn waits for headers and for clients that do not read as long as these like. Here a connection
has the limits of the application: time for the headers and for the whole request, bytes of both,
how many headers, how many connections, and how long an answer may lie about unread.
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
#: Requests that a client may send before it has the answers to those before them: each costs time
#: and memory as soon as it is read, and some hundred kilobytes hold thousands.
MAX_WAITING = 100
#: Bytes a second that a client must take of an answer, beside the time that all have.
_SLOWEST = 1 << 16
#: Seconds without a byte after which a connection is closed when the service ends. What is sent
#: before is answered, with the header that says that nothing else will be.
_QUIET = 1.0
#: Chunks have sizes and extensions of their own; more than as many bytes are no honest request.
_MAX_EXTRA = 1 << 20


class GuardedConnection(HttpToolsProtocol):
    """A connection with the limits of its application."""

    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        limits = getattr(self.app, "limits", None)
        self._limits = limits if isinstance(limits, Limits) else Limits()
        #: When the request that is being sent began, None between requests.
        self._since: float | None = None
        self._has_head = False
        self._n_received = 0
        self._n_head = self._n_trailers = 0
        #: Why what the parser was stopped at is refused; None if it is no HTTP.
        self._refusal: RequestError | None = None
        #: Bytes of answers that the client has not taken, when their number changed last, and when
        #: they must be gone.
        self._unread = (0, 0.0, 0.0)
        #: Whether nothing more is read: what was refused comes after an answer that is still owed.
        self._is_last = False
        self._watch: asyncio.TimerHandle | None = None

    # -- what happens to a connection ----------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Begin to watch; close at once if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.max_connections:
            self._refuse(busy())
            return
        self._since = self.loop.time()
        self._watch_again()
        if self._is_ending:
            self.shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the watch."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request, within the limits."""
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

    # -- what the parser finds -----------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        if len(self.pipeline) >= MAX_WAITING:
            self._stop(busy())
        super().on_message_begin()
        if self._since is None:  # bytes of the request before it are not its own
            self._n_received = 0
        self._since = self.loop.time()
        self._has_head = False
        self._n_head = self._n_trailers = 0

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer: these come after all was decided, and change nothing."""
        self._n_trailers += self._has_head
        if len(self.headers) + self._n_trailers >= MAX_HEADERS:
            self._stop(
                RequestError(431, "too_large", f"There are more than {MAX_HEADERS} headers.")
            )
        self._count_head(len(name) + len(value))
        if not self._has_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """All headers are there."""
        # The parser takes what follows for the other protocol, and the body would be lost.
        if self.parser.should_upgrade() and self._has_body():
            self._stop(
                RequestError(
                    400,
                    "bad_http",
                    "The request asks for another protocol, and has a body. Only HTTP/1.1 is "
                    "spoken here: send it without the header Upgrade.",
                )
            )
        self._has_head = True
        before = self.cycle
        super().on_headers_complete()
        if self._is_ending and self.cycle is not before:
            if before is not None and not before.response_started:
                before.keep_alive = True  # of requests in a row only the last one ends it
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """The request is there."""
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
        """End the parser amid its bytes; the client is told why."""
        self._refusal = refusal
        raise refusal

    # -- watching ------------------------------------------------------------------------------

    def _watch_again(self) -> None:
        pause = min(1.0, self._limits.receive_timeout / 4)
        self._watch = self.loop.call_later(pause, self._look)

    def _look(self) -> None:
        """Close the connection if its client is too slow to send, or to read."""
        self._watch = None
        now = self.loop.time()
        if self._reads_too_slowly(now):
            self.transport.abort()
            return
        if self._since is not None and self.flow.read_paused:
            self._since = now  # it is we who do not take its bytes
        # The application itself answers that a body is late; it is given a little more time.
        limit = self._limits.receive_timeout + (1.0 if self._has_head else 0.0)
        if self._since is not None and now - self._since > limit:
            self._time_out()
            if self.transport.is_closing():
                return
        self._watch_again()

    def _reads_too_slowly(self, now: float) -> bool:
        """Whether the client has stopped to take its answers, or takes them too slowly."""
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
                RequestError(408, "timeout", f"There was no request after {seconds:g} seconds.")
            )
        else:
            self._close_idle()

    # -- closing -------------------------------------------------------------------------------

    @property
    def _is_ending(self) -> bool:
        return getattr(self.server_state, "is_ending", False)

    def shutdown(self) -> None:
        """Answer what the client has begun to send, and then close: the service ends."""
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
        """Close a connection that was idle for long."""
        self._close_idle()

    def _close_idle(self) -> None:
        """Close, unless there are bytes of a request that the loop will read next."""
        if not self.transport.is_closing() and not has_bytes(
            self.transport.get_extra_info("socket")
        ):
            self.transport.close()

    # -- refusing ------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser was stopped at, or what is no HTTP, as all else is refused."""
        is_none = RequestError(400, "bad_http", "This is no request of HTTP/1.1.")
        self._refuse(self._refusal or is_none)

    def _refuse(self, refusal: RequestError) -> None:
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            # What is refused came after a whole request. That one is answered, and is the last: a
            # refusal now would be taken for its answer.
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
        # A refusal amid an answer would be taken for a part of it, and one before answers that are
        # still to come for the first of these.
        is_amid = cycle is not None and cycle.response_started and not cycle.response_complete
        if not is_amid and not self.pipeline:
            self.transport.write(b"".join([*head, b"\r\n", body]))
        self.transport.close()


def _long_head() -> RequestError:
    return RequestError(431, "too_large", f"The headers are longer than {MAX_HEAD:,} bytes.")
