"""Limits on requests to the service."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real


@dataclass(frozen=True)
class Limits:
    """Limits on requests, for each worker process.

    Parameters
    ----------
    max_bytes : int, default=8 MiB
        Length of a body.
    max_rows : int, default=10,000
        Rows of a request.
    max_requests : int, default=256
        Concurrent requests; others get status 503.
    max_connections : int, default=512
        Open connections; others are closed at once.
    receive_timeout : float, default=10
        Seconds for a client to send its request; and to read the response, plus one second per
        64 KiB.
    predict_timeout : float, default=30
        Seconds for a prediction; slower ones get status 503.

    Examples
    --------
    >>> from orfeon.workbench.serve import Limits
    >>> Limits(max_rows=100).max_rows
    100
    >>> Limits(max_rows=0)
    Traceback (most recent call last):
    ...
    ValueError: max_rows=0 is not allowed; it must be a positive integer.
    """

    max_bytes: int = 8 << 20
    max_rows: int = 10_000
    max_requests: int = 256
    max_connections: int = 512
    receive_timeout: float = 10.0
    predict_timeout: float = 30.0

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if field.name.startswith("max_"):
                is_allowed = isinstance(given, Integral) and not isinstance(given, bool)
                if not is_allowed or given < 1:
                    raise ValueError(
                        f"{field.name}={given!r} is not allowed; it must be a positive integer."
                    )
            elif (
                isinstance(given, bool)
                or not isinstance(given, Real)
                or not 0 < float(given) < math.inf
            ):
                raise ValueError(
                    f"{field.name}={given!r} is not allowed; it must be above 0 seconds."
                )
