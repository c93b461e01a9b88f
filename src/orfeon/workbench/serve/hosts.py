"""Allowed hosts: the defence against DNS rebinding.

A web page of another site can make its own name resolve to an address of this machine. The browser
then treats the service as part of that site and lets the page read the answers; but the header
``Host`` still has the site's name.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field

from orfeon.workbench.serve.errors import RequestError, shown

#: Names and addresses of this machine that need no name server.
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\Z")
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:[0-9]*)?\Z")
#: Most headers that are remembered as allowed.
_MOST_KNOWN = 64


def host_name(text: str) -> str:
    """A host name or IP address in canonical form; ValueError if it is neither."""
    plain = text.strip().lower()
    if plain == "*":
        return plain
    try:
        address = ipaddress.ip_address(plain.removeprefix("[").removesuffix("]"))
    except ValueError:
        name = plain.removesuffix(".")
        if not _NAME.match(name):
            raise ValueError(f"{text!r} is not a host name or an IP address.") from None
        return name
    return str(address)


@dataclass(frozen=True)
class AllowedHosts:
    """The names and addresses that a request may name in its header ``Host``, with any port."""

    names: frozenset[str]
    any_address: bool = False
    _known: set[bytes] = field(default_factory=set, init=False, compare=False, repr=False)

    def check(self, headers: Iterable[tuple[bytes, bytes]], http_version: str) -> None:
        """Reject a request for another host."""
        if "*" in self.names:
            return
        given = [value for name, value in headers if name == b"host"]
        if len(given) == 1 and given[0] in self._known:
            return
        if not given and http_version == "1.0":  # Host is optional, and browsers do not use it
            return
        if len(given) != 1:
            found = "no Host header" if not given else f"{len(given)} Host headers"
            raise RequestError(400, "bad_http", f"The request has {found}; it must have one.")
        if not self._is_allowed(given[0].decode("latin-1")):
            host = shown(given[0].decode("latin-1"))
            raise RequestError(
                421, "wrong_host",
                f"The service does not answer for the host {host}. Use an address that it "
                "listens on, or allow the name: orfeon serve --allow-host NAME.",
            )  # fmt: skip
        if len(self._known) < _MOST_KNOWN:
            self._known.add(given[0])

    def _is_allowed(self, host: str) -> bool:
        found = _HOST.match(host)
        try:
            name = host_name(found[1]) if found else "*"
        except ValueError:
            return False
        if name in self.names:
            return True
        return self.any_address and _is_address(name)


def hosts_of(host: str, opened: socket.socket, more: Iterable[str] = ()) -> AllowedHosts:
    """What ``orfeon serve`` allows: loopback names, what it is bound to, and what the user adds.

    A service that listens on all interfaces is reached by any address of the machine, and by the
    machine's own name.
    """
    bound = opened.getsockname()[0].partition("%")[0]
    names = {host_name(name) for name in (*LOOPBACK, bound, *more)}
    is_open = ipaddress.ip_address(bound).is_unspecified
    for name in (host, socket.gethostname()) if is_open else (host,):
        try:
            names.add(host_name(name))
        except ValueError:
            continue  # such as fe80::1%eth0, which no client can use
    return AllowedHosts(frozenset(names), any_address=is_open)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
