"""The service answers only for the hosts that are meant: DNS rebinding does not reach it."""

from __future__ import annotations

import socket
import types

import pytest
from tests.workbench.serve.clients import ask, rows_of

from orfeon.workbench.serve import create_app
from orfeon.workbench.serve.errors import RequestError
from orfeon.workbench.serve.hosts import AllowedHosts, host_name, hosts_of

_PATHS = ["/", "/docs", "/openapi.json", "/model", "/health", "/metrics", "/nothing"]


def is_allowed(allowed: AllowedHosts, *hosts: str, version: str = "1.1") -> bool:
    try:
        allowed.check([(b"host", host.encode("latin-1")) for host in hosts], version)
    except RequestError:
        return False
    return True


def bound_to(address: str) -> types.SimpleNamespace:
    return types.SimpleNamespace(getsockname=lambda: (address, 8000))


@pytest.fixture(scope="module")
def guarded(wave_model):
    return create_app(wave_model, allowed_hosts=["localhost", "127.0.0.1", "::1"])


@pytest.mark.parametrize("path", _PATHS)
def test_all_pages_are_for_the_hosts_that_are_meant(guarded, path):
    refused = ask(guarded, b"", path=path, method="GET", host="evil.example")
    assert (refused.status, refused.kind) == (421, "wrong_host")
    assert "'evil.example'" in refused.message
    assert "--allow-host" in refused.message
    found = ask(guarded, b"", path=path, method="GET", host="localhost:8000")
    assert found.status == (404 if path == "/nothing" else 200)


def test_predictions_are_for_the_hosts_that_are_meant(guarded):
    body = rows_of(guarded.served.example_row())
    assert ask(guarded, body, host="evil.example:8000").status == 421
    for host in ("LOCALHOST", "localhost.:1", "127.0.0.1:9", "[::1]", "[0:0::1]:8000"):
        assert ask(guarded, body, host=host).status == 200, host


@pytest.mark.parametrize(
    "host",
    ["", " ", "evil.example", "localhost.evil.example", "evil.example:localhost", "localhost:x",
     "127.0.0.1.evil.example", "localhost/", "localhost@evil.example", "[::1", "::1", "[evil]",
     "127.0.0.2", "0.0.0.0", "*", "localhost,evil.example", "localhöst", "local host"],
)  # fmt: skip
def test_other_hosts_are_refused(host):
    allowed = hosts_of("127.0.0.1", bound_to("127.0.0.1"))
    assert is_allowed(allowed, "127.0.0.1:8000")
    assert not is_allowed(allowed, host)
    assert is_allowed(hosts_of("127.0.0.1", bound_to("127.0.0.1"), ["*"]), host)


def test_a_request_names_one_host():
    allowed = hosts_of("127.0.0.1", bound_to("127.0.0.1"))
    assert not is_allowed(allowed)
    assert is_allowed(allowed, version="1.0")
    assert not is_allowed(allowed, "localhost", "evil.example")
    assert not is_allowed(allowed, "localhost", "localhost")


def test_a_service_on_all_interfaces_is_reached_by_address_and_by_its_own_name():
    for address in ("0.0.0.0", "::"):
        allowed = hosts_of(address, bound_to(address), ["model.example.org"])
        own = socket.gethostname()
        for host in ("10.0.0.7:8000", "[fe80::1]:80", "localhost", own, "model.example.org"):
            assert is_allowed(allowed, host), host
        assert not is_allowed(allowed, "evil.example")


def test_what_the_service_is_bound_to_is_allowed_by_name_and_by_address():
    allowed = hosts_of("model.lan", bound_to("10.0.0.7"))
    assert is_allowed(allowed, "model.lan:8000")
    assert is_allowed(allowed, "10.0.0.7")
    assert not is_allowed(allowed, "10.0.0.8")


def test_names_are_compared_in_one_form():
    assert host_name("Model.Example.Org.") == "model.example.org"
    assert host_name("[0:0:0:0:0:0:0:1]") == "::1"
    for wrong in ("http://a", "a:80", "a/b", "", "a b", "bücher.example", "*.example.org"):
        with pytest.raises(ValueError, match="not a host name"):
            host_name(wrong)


def test_headers_that_were_seen_are_not_kept_without_end():
    allowed = AllowedHosts(frozenset(["localhost"]))
    for port in range(1000):
        assert is_allowed(allowed, f"localhost:{port}")
    assert len(allowed._known) < 100


def test_a_list_of_hosts_is_no_string(wave_model):
    with pytest.raises(ValueError, match="allowed_hosts='localhost'"):
        create_app(wave_model, allowed_hosts="localhost")


@pytest.mark.parametrize("host", ["a/b", "a?b", "a#b", "[", "a b"])
def test_a_strange_host_changes_no_page_where_hosts_are_not_checked(wave, host):
    assert ask(wave, b"", path="/model", method="GET", host=host).status == 200
    missing = ask(wave, b"", path="/nothing", method="GET", host=host)
    assert missing.status == 404
    assert missing.message == "'/nothing' does not exist."


def test_pages_from_elsewhere_are_given_no_leave_to_read(wave):
    """A browser asks first, and nobody says yes; what it needs not ask for is refused."""
    origin = "http://evil.example"
    body = rows_of(wave.served.example_row())
    leave = ask(wave, b"", method="OPTIONS", origin=origin, access_control_request_method="POST")
    assert leave.status == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert ask(wave, body, kind, origin=origin).status == 415
    for answer in (leave, ask(wave, body, origin=origin), ask(wave, b"", path="/", method="GET")):
        assert not any(name.startswith("access-control") for name in answer.headers)
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
