"""A server that ends answers whatever has reached it, and closes only what is idle."""

from __future__ import annotations

import socket
import sys
import threading
import time
import types

import pytest
from tests.workbench.serve.clients import read_all, request, rows_of, serving
from tests.workbench.serve.test_connections import connect, one_answer

from orfeon.workbench.serve import Limits
from orfeon.workbench.serve.application import ScoringApplication
from orfeon.workbench.serve.connections import GuardedConnection

pytestmark = pytest.mark.tools


class Ending:
    """A server, and a thread that ends it while clients still speak."""

    def __init__(self, app):
        self._serving = serving(app)
        self.address = self._serving.__enter__()
        self._thread = threading.Thread(target=self._serving.__exit__, args=(None, None, None))

    def begin(self, seconds: float = 0.4) -> None:
        """Tell the server to end, and wait until it has begun to."""
        self._thread.start()
        time.sleep(seconds)

    def wait(self) -> None:
        self._thread.join(20)
        assert not self._thread.is_alive()


@pytest.fixture
def app(homes):
    return ScoringApplication(homes.served, Limits())


@pytest.fixture
def ending(app):
    made = Ending(app)
    yield made
    if made._thread.ident is None:
        made.begin()
    made.wait()


@pytest.fixture(scope="module")
def body(homes) -> bytes:
    return rows_of(homes.served.example_row())


def is_last(answer: bytes) -> bool:
    return answer.startswith(b"HTTP/1.1 200") and b"\r\nconnection: close\r\n" in answer


def test_a_kept_connection_may_ask_once_more(ending, body):
    with connect(ending.address) as asked, connect(ending.address) as fresh:
        asked.sendall(request(body, close=False))
        assert not is_last(one_answer(asked))
        ending.begin()
        for connection in (asked, fresh):
            connection.sendall(request(body, close=False))
            assert is_last(read_all(connection))


def test_a_request_that_has_begun_is_answered(ending, body):
    whole = request(body, close=False)
    with connect(ending.address) as head, connect(ending.address) as half:
        head.sendall(whole[:20])
        half.sendall(whole[:-5])
        ending.begin(1.6)  # longer than idle connections are left open
        head.sendall(whole[20:])
        half.sendall(whole[-5:])
        assert is_last(read_all(head))
        assert is_last(read_all(half))


def test_requests_in_a_row_are_all_answered(ending, body):
    with connect(ending.address) as connection:
        time.sleep(0.1)
        ending.begin()
        connection.sendall(request(body, close=False) * 3)
        answer = read_all(connection)
    assert answer.count(b"HTTP/1.1 200") == 3
    assert answer.count(b"connection: close") == 1


def test_idle_connections_are_closed_soon(ending):
    with connect(ending.address) as connection:
        time.sleep(0.1)
        ending.begin(0)
        start = time.monotonic()
        assert read_all(connection) == b""
        ending.wait()
    assert 0.5 < time.monotonic() - start < 5


def test_clients_that_wait_at_the_port_are_answered(ending, app, body):
    """Those whom the kernel has accepted while the server was busy, until it ended."""
    answer = app.scoring.answer

    def block(*given):
        app.scoring.answer = answer
        time.sleep(0.6)
        return answer(*given)

    app.scoring.answer = block
    with connect(ending.address) as first:
        first.sendall(request(body))
        time.sleep(0.1)
        ending._thread.start()
        waiting = [connect(ending.address) for _ in range(20)]
        for number, connection in enumerate(waiting):
            if number % 2:
                connection.sendall(request(body, close=False))
        assert is_last(read_all(first))
        for number, connection in enumerate(waiting):
            if not number % 2:
                connection.sendall(request(body, close=False))
            assert is_last(read_all(connection))
            connection.close()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such filter")
def test_nobody_connects_to_a_server_that_ends(ending, body):
    with connect(ending.address) as connection:
        ending.begin(0.15)
        with pytest.raises(OSError, match=r"refused|timed out"):  # and never a reset later
            connect(ending.address, timeout=0.5)
        connection.sendall(request(body))
        assert is_last(read_all(connection))


def test_a_connection_with_bytes_to_read_is_not_idle():
    here, there = socket.socketpair()
    closed: list[bool] = []
    connection = object.__new__(GuardedConnection)
    connection._has_head, connection._n_received, connection._limits = False, 0, Limits()
    connection.transport = types.SimpleNamespace(
        is_closing=lambda: False, close=lambda: closed.append(True), get_extra_info=lambda _: here
    )
    with here, there:
        there.sendall(b"G")
        connection.timeout_keep_alive_handler()
        connection._time_out()
        assert not closed
        here.recv(1)
        connection.timeout_keep_alive_handler()
        assert closed


def test_a_connection_whose_client_was_just_in_time_is_still_watched():
    """One that sends its first byte at the deadline is no less slow after it."""
    here, there = socket.socketpair()
    connection = object.__new__(GuardedConnection)
    connection._limits, connection._unread = Limits(receive_timeout=1.0), (0, 0.0, 0.0)
    connection._has_head, connection._n_received, connection._since = False, 0, 0.0
    connection.flow = types.SimpleNamespace(read_paused=False)
    connection.loop = types.SimpleNamespace(time=lambda: 9.0, call_later=lambda *given: given)
    connection.transport = types.SimpleNamespace(
        is_closing=lambda: False, get_write_buffer_size=lambda: 0, get_extra_info=lambda _: here
    )
    with here, there:
        there.sendall(b"P")
        connection._look()
    assert connection._watch is not None
