"""A server in the world: slow, endless, lying and oversized clients never take it down."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import re
import socket
import threading
import time

import pytest
from tests.shared import cases
from tests.workbench.serve.clients import is_alive, read_all, request, rows_of, serving, speak

from orfeon.workbench.serve import Limits, connections
from orfeon.workbench.serve.application import ScoringApplication

pytestmark = pytest.mark.tools

_SECONDS = 0.5
_LIMITS = Limits(
    max_bytes=20_000, max_rows=100, max_requests=4, max_connections=30, receive_timeout=_SECONDS
)


@pytest.fixture(scope="module")
def application(homes):
    return ScoringApplication(homes.served, _LIMITS)


@pytest.fixture(scope="module")
def address(application):
    with serving(application) as found:
        yield found


@pytest.fixture(scope="module")
def body(homes) -> bytes:
    return rows_of(homes.served.example_row())


@pytest.fixture(autouse=True)
def _stays_up(address, body, application):
    yield
    assert is_alive(address, body)
    assert application._n_running == 0
    assert application._bodies._held == 0


def connect(address, timeout: float = 10.0) -> socket.socket:
    return socket.create_connection(address, timeout=timeout)


def one_answer(connection: socket.socket) -> bytes:
    """A whole answer, in however many pieces it comes."""
    answer = b""
    while True:
        head, end, body = answer.partition(b"\r\n\r\n")
        answers = re.search(rb"content-length: (\d+)", head)
        if end and len(body) >= (int(answers[1]) if answers else 0):
            return answer
        piece = connection.recv(65536)
        assert piece, "the connection was closed"
        answer += piece


def closed_after(connection: socket.socket) -> tuple[float, bytes]:
    start = time.monotonic()
    answer = read_all(connection)
    return time.monotonic() - start, answer


def test_a_request_is_answered_and_the_connection_kept(address, body):
    with connect(address) as connection:
        for _ in range(3):
            connection.sendall(request(body, close=False))
            answer = one_answer(connection)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["predictions"]
            assert b"server:" not in answer


def test_requests_in_a_row_are_answered_in_a_row(address, body):
    answer = speak(address, request(body, close=False) * 3 + request(body))
    assert answer.count(b"HTTP/1.1 200 OK") == 4


def test_clients_that_do_not_finish_their_headers_are_closed(address):
    begun = [b"", b"\r\n", b"POST /predict HTTP/1.1\r\nHost: here\r\n", b"POST /pre", b"P"]
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(address)) for _ in begun]
        start = time.monotonic()
        for connection, data in zip(connections, begun, strict=True):
            connection.sendall(data)
        for connection, data in zip(connections, begun, strict=True):
            answer = read_all(connection)
            assert 0.5 * _SECONDS < time.monotonic() - start < _SECONDS + 3
            assert not data.strip() or answer.startswith(b"HTTP/1.1 408")


def seconds_until_closed(connection: socket.socket, data: bytes, pause: float = 0.0) -> float:
    """Send the same again and again, until the server has closed."""
    start = time.monotonic()
    try:
        while time.monotonic() - start < 20:
            connection.sendall(data)
            time.sleep(pause)
    except ConnectionError:
        pass
    return time.monotonic() - start


def test_headers_that_come_one_by_one_are_closed(address):
    with connect(address) as connection:
        connection.sendall(b"POST /predict HTTP/1.1\r\n")
        seconds = seconds_until_closed(connection, b"X-a: b\r\n", pause=0.05)
    assert 0.8 * _SECONDS < seconds < _SECONDS + 3


def test_a_body_that_does_not_come_is_a_408(address):
    with connect(address) as connection:
        connection.sendall(
            b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"rows"'
        )
        seconds, answer = closed_after(connection)
    assert answer.startswith(b"HTTP/1.1 408")
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]["kind"] == "timeout"
    assert 0.8 * _SECONDS < seconds < _SECONDS + 3


def test_a_body_that_comes_byte_by_byte_is_closed(address):
    with connect(address) as connection:
        connection.sendall(
            b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
            b"Content-Length: 10000\r\n\r\n"
        )
        seconds = seconds_until_closed(connection, b" ", pause=0.02)
    assert 0.8 * _SECONDS < seconds < _SECONDS + 3


def test_chunks_without_end_are_closed(address):
    head = (
        b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n"
    )
    with connect(address) as connection:
        connection.sendall(head + b"\r\n")
        chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
        assert seconds_until_closed(connection, chunk) < _SECONDS + 3
    with connect(address) as connection:
        connection.sendall(head + b"\r\n")
        assert seconds_until_closed(connection, b"1;x\r\na\r\n", pause=0.02) < _SECONDS + 3
    large = b"Connection: close\r\n\r\n5001\r\n" + b" " * 0x5001 + b"\r\n0\r\n\r\n"
    assert speak(address, head + large).startswith(b"HTTP/1.1 413")


def test_chunked_bodies_are_read(address, body):
    head = (
        b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    parts = [body[i : i + 10] for i in range(0, len(body), 10)]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    assert speak(address, head + chunks + b"0\r\n\r\n").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: -5\r\n",
        b"Content-Length: abc\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 20001\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Bad Header: x\r\n",
        b"X: \x00\r\n",
    ],
)
def test_lying_heads_are_refused(address, head):
    kind = b"Content-Type: application/json\r\n"
    answer = speak(address, b"POST /predict HTTP/1.1\r\nHost: h\r\n" + kind + head + b"\r\nabcde")
    assert answer[9:10] == b"4"
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]["kind"]


def test_a_body_longer_than_said_is_another_request_that_is_none(address, body):
    """It is refused after the answer to the first, or not at all: never in its place."""
    answer = speak(address, request(body, close=False) + b"garbage garbage\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    later = speak(address, request(body, close=False) * 3 + b"garbage garbage\r\n\r\n")
    assert later.count(b"HTTP/1.1 200") == 3
    with connect(address) as connection:
        connection.sendall(request(body, close=False))
        assert one_answer(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(b"garbage garbage\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "data",
    [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n",
     b"\x00" * 100, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ids=["words", "TLS", "another version", "zeros", "HTTP/2"],
)  # fmt: skip
def test_what_is_no_http_is_refused(address, data):
    answer = speak(address, data)
    assert answer.startswith(b"HTTP/1.1 4")
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]["kind"] in ("bad_http", "timeout")


def test_heads_without_end_are_refused(address):
    line = b"POST /predict HTTP/1.1\r\n"
    many = b"".join(b"X-%d: y\r\n" % i for i in range(200))
    answer = speak(address, line + many + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431")
    assert b"There are more than 100 headers." in answer
    assert speak(address, line + b"X: " + b"y" * 70_000).startswith(b"HTTP/1.1 431")
    whole = line + b"X: " + b"y" * 70_000 + b"\r\n\r\n"
    assert speak(address, whole).startswith(b"HTTP/1.1 431")
    long_path = speak(address, b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert long_path.startswith(b"HTTP/1.1 404")
    assert len(long_path) < 1000


def test_trailers_without_end_are_refused(address, application):
    head = (
        b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    )
    with connect(address) as connection:
        connection.sendall(head)
        assert seconds_until_closed(connection, b"T: x\r\n" * 1000) < _SECONDS + 3


def test_trailers_do_not_change_what_the_head_said(address, body):
    head = (
        b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    chunk = b"%x\r\n%s\r\n" % (len(body), body)
    trailers = b"0\r\nContent-Type: text/csv\r\nContent-Encoding: gzip\r\n\r\n"
    assert speak(address, head + chunk + trailers).startswith(b"HTTP/1.1 200")


def test_pieces_that_end_amid_a_head_are_no_long_head(address, body):
    """A client that sends the next request with the end of each may do so for ever."""
    one = request(body, close=False)
    n_requests = 70_000 // len(one) + 2
    with connect(address) as connection:
        connection.sendall(one[:20])
        for _ in range(n_requests):
            connection.sendall(one[20:] + one[:20])
            assert one_answer(connection).startswith(b"HTTP/1.1 200")


def test_thousands_of_requests_at_once_are_not_kept(address):
    """They would take a second to read in which nobody else is answered."""
    start = time.monotonic()
    for _ in range(20):
        speak(address, b"GET / HTTP/1.1\r\n\r\n" * 14_000)
    assert time.monotonic() - start < 2


def test_an_upgrade_does_not_lose_the_body_silently(address, body):
    head, _, _ = request(body).partition(b"\r\n\r\n")
    head = head.replace(b"Connection: close", b"Connection: Upgrade, HTTP2-Settings")
    answer = speak(address, head + b"\r\nUpgrade: h2c\r\n\r\n" + body)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"without the header Upgrade" in answer
    bare = b"GET /health HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"
    with connect(address) as connection:
        connection.sendall(bare)
        assert one_answer(connection).startswith(b"HTTP/1.1 200")


def test_a_large_body_is_refused_and_the_client_hears_of_it(address):
    answer = speak(
        address,
        request(b"x" * 30_000).replace(b"Connection: close\r\n", b"")
        + b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n",
    )
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"HTTP/1.1 200" in answer


def test_a_client_that_waits_for_leave_to_send_is_given_it(address, body):
    with connect(address) as connection:
        head, _, _ = request(body).partition(b"\r\n\r\n")
        connection.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert one_answer(connection).startswith(b"HTTP/1.1 100")
        connection.sendall(body)
        assert read_all(connection).startswith(b"HTTP/1.1 200")


def test_a_client_that_goes_away_leaves_nothing_behind(address, application, body):
    for n_bytes in (10, 100, 190, len(request(body)) - 1):
        with connect(address) as connection:
            connection.sendall(request(body)[:n_bytes])
    until = time.monotonic() + 5
    while application._n_running and time.monotonic() < until:
        time.sleep(0.01)
    assert application._n_running == 0


def test_more_requests_than_allowed_are_told_to_come_again(address, body):
    head, _, _ = request(body, close=False).partition(b"\r\n\r\n")
    held = [connect(address) for _ in range(_LIMITS.max_requests)]
    try:
        for connection in held:
            connection.sendall(head + b"\r\n\r\n")
        time.sleep(0.2)
        answer = speak(address, request(body))
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in answer
        for connection in held:
            connection.sendall(body)
            assert one_answer(connection).startswith(b"HTTP/1.1 200")
    finally:
        for connection in held:
            connection.close()


def test_more_connections_than_allowed_are_closed(address, body):
    held = [connect(address) for _ in range(_LIMITS.max_connections + 5)]
    try:
        time.sleep(0.2)
        with connect(address) as connection:
            assert one_answer(connection).startswith(b"HTTP/1.1 503")
    finally:
        for connection in held:
            connection.close()
    until = time.monotonic() + 5
    while not is_alive(address, body) and time.monotonic() < until:
        time.sleep(0.05)


def test_a_client_that_does_not_read_is_closed(homes, body, monkeypatch):
    """Its answers are not kept for ever."""
    monkeypatch.setattr(connections, "_SLOWEST", 1 << 24)
    large = rows_of(*[homes.served.example_row()] * 9000)
    app = ScoringApplication(homes.served, Limits(receive_timeout=_SECONDS))
    with serving(app, send_buffer=4096) as address:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(address)
            connection.sendall(request(large))
            time.sleep(_SECONDS + 0.7)
            head, _, found = read_all(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert len(found) < 60_000 < int(head.split(b"content-length: ")[1].split()[0])
        assert is_alive(address, body)


def test_a_client_that_reads_a_little_now_and_then_is_closed(homes, monkeypatch):
    """With a few bytes before each deadline it would hold its connection for hours."""
    monkeypatch.setattr(connections, "_SLOWEST", 1 << 24)
    large = rows_of(*[homes.served.example_row()] * 9000)
    app = ScoringApplication(homes.served, Limits(receive_timeout=_SECONDS))
    with serving(app, send_buffer=4096) as address, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(address)
        connection.sendall(request(large))
        start = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while connection.recv(512) and time.monotonic() - start < 20:
                time.sleep(_SECONDS / 5)
        assert time.monotonic() - start < _SECONDS + 5


def test_a_request_behind_a_long_one_waits_for_it(homes, body):
    """Of its body only the beginning is read meanwhile, which is no fault of its client."""
    app = ScoringApplication(homes.served, Limits(receive_timeout=_SECONDS))
    answer = app.scoring.answer

    def slowly(*given):
        time.sleep(_SECONDS + 1.2)
        app.scoring.answer = answer
        return answer(*given)

    app.scoring.answer = slowly
    app.scoring._small = 0
    large = rows_of(*[homes.served.example_row()] * 2000)
    assert len(large) > 100_000
    with serving(app) as address, connect(address) as connection:
        connection.sendall(request(body, close=False) + request(large))
        assert read_all(connection).count(b"HTTP/1.1 200") == 2


def test_many_at_the_same_time_are_all_answered(homes, body):
    app = ScoringApplication(homes.served, Limits())
    expected: bytes = b""
    with serving(app) as address:
        expected = speak(address, request(body)).split(b"\r\n\r\n", 1)[1]

        def client(_: int) -> set[bytes]:
            found = set()
            with connect(address) as connection:
                for _ in range(cases(20)):
                    connection.sendall(request(body, close=False))
                    found.add(one_answer(connection).partition(b"\r\n\r\n")[2])
            return found

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            assert set().union(*pool.map(client, range(16))) == {expected}


def test_what_is_being_answered_is_finished_when_the_server_ends(homes, body):
    class Slow(ScoringApplication):
        pass

    app = Slow(homes.served, Limits())
    answer = app.scoring.answer
    began = threading.Event()

    def slowly(*given):
        began.set()
        time.sleep(0.5)
        return answer(*given)

    app.scoring.answer = slowly
    app.scoring._small = 0
    with connect_while_ending(app, body, began) as connection:
        assert read_all(connection).startswith(b"HTTP/1.1 200")


class connect_while_ending:  # noqa: N801
    """A connection whose request is being answered when its server is told to end."""

    def __init__(self, app, body, began):
        self._given = app, body, began

    def __enter__(self):
        app, body, began = self._given
        with serving(app) as address:
            self._connection = connect(address)
            self._connection.sendall(request(body, close=False))
            assert began.wait(5)
        return self._connection

    def __exit__(self, *_):
        self._connection.close()
