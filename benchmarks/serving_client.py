"""A client that sends requests as fast as it can, where wrk is not installed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Load(NamedTuple):
    """What a load gave: answers, seconds, errors, and milliseconds to wait for an answer."""

    n: int
    seconds: float
    errors: int
    p50: float
    p99: float
    most: float


def run_client(port: int, bodies: Path, connections: int, seconds: float) -> Load:
    """Ask for rows over some connections at the same time."""
    requests = [
        b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        for body in bodies.read_bytes().splitlines()
    ]
    return asyncio.run(_run(port, requests, connections, seconds))


async def _run(port: int, requests: list[bytes], connections: int, seconds: float) -> Load:
    start = time.perf_counter()
    waits: list[float] = []
    errors = await asyncio.gather(
        *(_query(port, requests, start + seconds, waits) for _ in range(connections))
    )
    taken = time.perf_counter() - start
    middle, late, most = 1000 * np.quantile(waits or [0.0], [0.5, 0.99, 1.0])
    return Load(len(waits), taken, sum(errors), float(middle), float(late), float(most))


async def _query(port: int, requests: list[bytes], until: float, waits: list[float]) -> int:
    """Ask one after the other; gives how many were not answered with 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    n_errors = at = 0
    try:
        while (begin := time.perf_counter()) < until:
            writer.write(requests[at % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            n_errors += not head.startswith(b"HTTP/1.1 200")
            waits.append(time.perf_counter() - begin)
            at += 1
    except (OSError, asyncio.IncompleteReadError):
        n_errors += 1
    finally:
        writer.close()
    return n_errors
