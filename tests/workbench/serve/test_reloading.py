"""A model that was replaced is gone with the last request that it answers."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import weakref

import pytest
from tests.workbench.serve.clients import request, rows_of
from tests.workbench.serve.test_connections import connect, one_answer

from orfeon.workbench.serve import Limits, draining, process
from orfeon.workbench.serve.reloading import ApplicationMaker, ReplaceableApplication


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.fixture
def running(homes_file, monkeypatch, no_collector):
    """A single worker as the command runs it; it is given as (app, address, what SIGHUP does)."""
    acts, servers = [], []

    @contextlib.contextmanager
    def on_hangup(act):
        acts.append(act)
        yield

    class Server(draining.DrainingServer):
        def run(self, sockets=None):
            servers.append(self)
            super().run(sockets)

    monkeypatch.setattr(process, "on_hangup", on_hangup)
    monkeypatch.setattr(process, "has_terminal", lambda: False)
    monkeypatch.setattr(draining, "DrainingServer", Server)
    maker = ApplicationMaker(homes_file, Limits(), None)
    app = ReplaceableApplication(maker())
    with process.open_socket("127.0.0.1", 0) as opened:
        address = opened.getsockname()[:2]
        thread = threading.Thread(target=process.run, args=(maker, opened), kwargs={"app": app})
        thread.start()
        wait_until(lambda: servers and servers[0].started)
        yield app, address, acts[0]
        servers[0].should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def wait_until(holds) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_model_that_was_replaced_is_gone(running):
    app, address, reload = running
    body = rows_of(app._app.served.example_row())
    for _ in range(3):  # the first one, which was frozen, and others
        with connect(address) as connection:
            connection.sendall(request(body, close=False))
            assert one_answer(connection).startswith(b"HTTP/1.1 200")
            for path in (b"/", b"/health", b"/nothing"):
                connection.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path)
                one_answer(connection)
        model, served = weakref.ref(app._app.served.model), weakref.ref(app._app.served)
        reload()
        wait_until(lambda gone=(model, served): not any(each() for each in gone))


@pytest.mark.tools
def test_a_long_request_is_finished_by_the_model_that_began_it(running):
    app, address, reload = running
    body = rows_of(app._app.served.example_row())
    served, began = weakref.ref(app._app.served), threading.Event()
    slow_down(app._app.scoring, began)
    with connect(address) as connection:
        connection.sendall(request(body, close=False) * 3)
        assert began.wait(5)
        reload()
        wait_until(lambda: app._app.served is not served())
        found = b""
        while found.count(b"HTTP/1.1 200") < 3:
            found += one_answer(connection)
    wait_until(lambda: served() is None)


def slow_down(scoring, began) -> None:
    """Have answers be made in threads, and take their time."""
    answer = type(scoring).answer
    held = weakref.proxy(scoring)

    def slowly(*given):
        began.set()
        time.sleep(0.5)
        return answer(held, *given)

    scoring.answer, scoring._small = slowly, 0
