"""A server that ends without losing a request that has reached it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import selectors
import socket
import struct
import sys
import time
from collections.abc import Sequence
from typing import Any

import uvicorn

#: Seconds in which clients that wait at the port are accepted, at least and at most. Of some the
#: handshake is still under way.
_ACCEPTING = (0.1, 5.0)
#: Beyond 1,024 open files there is only poll.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
_SO_ATTACH_FILTER = 26
#: Instructions of a packet filter: drop what has the flag SYN, which asks for a connection.
_DROP_SYN = ((0x30, 0, 0, 13), (0x45, 0, 1, 2), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))


class DrainingServer(uvicorn.Server):
    """A server that first accepts who waits at the port, and then answers all that is sent.

    uvicorn closes the port at once, which resets the connections that the kernel has accepted for
    it, and closes connections whose client is sending a request.
    """

    #: Whether nobody else will accept those who wait at the port.
    closes_port = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what is under way; connections end by themselves after that."""
        self.server_state.is_ending = True  # type: ignore[attr-defined]  # connections see it
        if self.closes_port:
            await _accept_waiting(sockets or ())
        await super().shutdown(sockets)


async def _accept_waiting(sockets: Sequence[socket.socket]) -> None:
    for opened in sockets:
        refuse_new_connections(opened)
    begin = time.monotonic()
    least, most = _ACCEPTING
    while time.monotonic() < begin + most:
        await asyncio.sleep(0.01)
        if time.monotonic() > begin + least and not any(map(has_bytes, sockets)):
            return


def has_bytes(connection: Any) -> bool:
    """Whether there is something to read, or a connection to accept, that nobody has seen yet."""
    with _Selector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))


def refuse_new_connections(opened: socket.socket) -> None:
    """Have the kernel take no further connections at a port, and keep those that it has.

    Who comes later is refused when the port is closed. Where there is no such filter, a client that
    comes in the last microseconds is reset.
    """
    if sys.platform != "linux":
        return
    program = b"".join(struct.pack("HBBI", *each) for each in _DROP_SYN)
    held = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HP", len(_DROP_SYN), ctypes.addressof(held))
    with contextlib.suppress(OSError):
        opened.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)
