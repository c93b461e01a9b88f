"""A server that shuts down without losing a request."""

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

#: Shortest and longest time, in seconds, to accept clients that wait at the port; for some the
#: handshake is not finished yet.
_ACCEPTING = (0.1, 5.0)
#: select() supports only 1,024 open files.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
_SO_ATTACH_FILTER = 26
#: A packet filter that drops SYN packets, which request a connection.
_DROP_SYN = ((0x30, 0, 0, 13), (0x45, 0, 1, 2), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))


class DrainingServer(uvicorn.Server):
    """A server that accepts waiting clients and answers their requests before it shuts down.

    uvicorn closes the port at once, which resets connections that the kernel has already accepted,
    and closes connections whose client is sending a request.
    """

    #: Whether no other process accepts the clients that wait at the port.
    closes_port = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept waiting clients, then let connections finish."""
        self.server_state.is_ending = True  # type: ignore[attr-defined]  # read by connections
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
    """Whether a socket has bytes to read or a connection to accept."""
    with _Selector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))


def refuse_new_connections(opened: socket.socket) -> None:
    """Make the kernel ignore new connections to a port and keep existing ones.

    Later clients are refused when the port is closed. Without the filter, a client that connects in
    the last microseconds is reset.
    """
    if sys.platform != "linux":
        return
    program = b"".join(struct.pack("HBBI", *each) for each in _DROP_SYN)
    held = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HP", len(_DROP_SYN), ctypes.addressof(held))
    with contextlib.suppress(OSError):
        opened.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)
