"""Serving processes: one, or several that share a port and the model's memory."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Any

from orfeon.errors import UserError
from orfeon.workbench.serve.limits import Limits
from orfeon.workbench.serve.reloading import (
    ApplicationMaker,
    Reload,
    ReplaceableApplication,
    freeze_memory,
    has_terminal,
    on_hangup,
)

#: Connections that may wait to be accepted.
_BACKLOG = 1024
#: Seconds for which an idle connection is kept.
_KEEP_ALIVE = 15
_logger = logging.getLogger("orfeon.workbench.serve")
_NEEDED = 'The scoring service needs starlette and uvicorn: pip install "orfeon[serve]".'


def check_installed() -> None:
    try:
        import httptools  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError(f"{_NEEDED} {error.name} is not installed.") from error


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that is bound but does not listen yet: clients are refused until all is ready."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UserError(f"--host {host} is not an address of this machine ({error}).") from error
    try:
        if sys.platform != "win32":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.set_inheritable(True)
    except OSError as error:
        opened.close()
        raise UserError(
            f"--host {host} --port {port} cannot be bound ({error.strerror}). If another service "
            "uses it, choose another port, or 0 for any free one."
        ) from error
    return opened


def run(
    maker: ApplicationMaker,
    opened: socket.socket,
    *,
    app: ReplaceableApplication | None = None,
    workers: int = 1,
    access_log: bool = False,
) -> None:
    """Serve until a signal; running requests are finished."""
    from orfeon.workbench.serve.connections import GuardedConnection
    from orfeon.workbench.serve.workers import Workers

    settings: dict[str, Any] = {
        "http": GuardedConnection,
        "ws": "none",
        "lifespan": "off",
        "workers": workers,
        "log_config": _logging(access_log),
        "access_log": access_log,
        "proxy_headers": False,
        "server_header": False,
        "backlog": _BACKLOG,
        "timeout_keep_alive": _KEEP_ALIVE,
        "timeout_graceful_shutdown": _grace(maker.limits),
    }
    if workers == 1:
        _run_alone(maker, opened, app or ReplaceableApplication(maker()), settings)
    else:
        Workers(maker, settings, opened, workers).run()


def _run_alone(
    maker: ApplicationMaker,
    opened: socket.socket,
    app: ReplaceableApplication,
    settings: Mapping[str, Any],
) -> None:
    import uvicorn

    from orfeon.workbench.serve.draining import DrainingServer

    freeze_memory()
    server = DrainingServer(uvicorn.Config(app, **settings))

    def end() -> None:
        server.should_exit = True

    def replace(new: Any) -> None:
        app.replace(new)
        _logger.warning("the model was reloaded")

    reload = Reload(maker, replace)
    try:
        with on_hangup(end if has_terminal() else reload.begin):
            server.run(sockets=[opened])
    finally:
        app.close()


def when_listening(opened: socket.socket, act: Any, stop: threading.Event) -> threading.Thread:
    """Call a function once the port answers."""
    address = opened.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address[0], address[0])

    def wait() -> None:
        while not stop.wait(0.05):
            try:
                socket.create_connection((host, address[1]), timeout=5).close()
            except OSError:
                continue
            act()
            return

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def _grace(limits: Limits) -> int:
    """Seconds for running requests to finish."""
    return int(limits.receive_timeout + limits.predict_timeout) + 1


def _logging(access_log: bool) -> dict[str, Any]:
    """Internal errors go to standard error; errors of clients only to the clients."""
    level = "INFO" if access_log else "ERROR"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "orfeon serve: %(message)s"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "plain",
                "stream": "ext://sys.stderr",
            }
        },
        "loggers": {
            "uvicorn.error": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
            "uvicorn.access": {
                "handlers": ["stderr"] if access_log else [],
                "level": level,
                "propagate": False,
            },
            "orfeon": {"handlers": ["stderr"], "level": logging.WARNING, "propagate": False},
        },
    }
