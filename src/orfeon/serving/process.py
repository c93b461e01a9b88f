"""The processes that answer: one, or several that share a port and the model's memory."""

from __future__ import annotations

import gc
import inspect
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.serving.limits import Limits
from orfeon.serving.reloading import Reload, ReplaceableApplication, has_terminal, on_hangup
from orfeon.writing import atomic_write

#: Connections that wait to be accepted.
_BACKLOG = 1024
#: Seconds that an idle connection is kept.
_KEEP_ALIVE = 15
#: Seconds after which a process that does not answer is replaced; nothing else is done meanwhile.
_UNHEALTHY = 10
#: Seconds that a new process has to be ready, when all it needs was made and checked before.
_READY = 120
_logger = logging.getLogger("orfeon.serving")
_MISSING = 'The scoring service needs starlette and uvicorn: pip install "orfeon[serve]".'


@dataclass(frozen=True)
class ApplicationMaker:
    """Makes the application in the process that answers; it is handed over as plain values.

    Parameters
    ----------
    path : pathlib.Path
        The model file.
    limits : Limits
        What may be asked.
    early_decision : float or None
        As of :func:`orfeon.serving.create_app`.
    copies : pathlib.Path, optional
        A folder of our own for a copy of the file, which several processes map and nobody else
        writes to. Without it the file is read into memory.
    """

    path: Path
    limits: Limits
    early_decision: float | None
    copies: Path | None = None

    def of_now(self) -> ApplicationMaker:
        """Whoever makes the application of the file as it is now, whatever is written to it later.

        Returns
        -------
        ApplicationMaker
            With a copy for its file; itself where there is no folder for copies.
        """
        if self.copies is None:
            return self
        return replace(self, path=_own_copy(self.path, self.copies))

    def __call__(self) -> Any:
        """The application, ready to answer."""
        from orfeon.serving.application import create_app

        _end_with_parent()
        app = create_app(
            self.path,
            limits=self.limits,
            early_decision=self.early_decision,
            memory_map=self.copies is not None,
        )
        # What is here now stays: looking through it for garbage again and again would only make
        # some clients wait.
        gc.collect()
        gc.freeze()
        return app


def _end_with_parent() -> None:
    """End a worker whose command was killed, so that nobody is left behind with the port."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _own_copy(path: Path, folder: Path) -> Path:
    """The copy of a file as it is now: made once, under a name that tells its state."""
    state = path.stat()
    copy = folder / f"{state.st_ino}-{state.st_mtime_ns}-{state.st_size}" / path.name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        with atomic_write(copy) as file, path.open("rb") as source:
            shutil.copyfileobj(source, file)
    return copy


def check_installed() -> None:
    """Refuse where the packages of the extra are missing.

    Examples
    --------
    >>> from orfeon.serving.process import check_installed
    >>> check_installed()
    """
    try:
        import httptools  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError(f"{_MISSING} There is no {error.name}.") from error


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that is bound, and does not listen yet: clients are refused until all is ready.

    Parameters
    ----------
    host : str
        Name or number of the interface.
    port : int
        The port; 0 for any that is free.

    Returns
    -------
    socket.socket

    Examples
    --------
    >>> from orfeon.serving.process import open_socket
    >>> with open_socket("127.0.0.1", 0) as opened:
    ...     opened.getsockname()[0]
    '127.0.0.1'
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UserError(f"--host {host}: there is no such interface ({error}).") from error
    try:
        if sys.platform != "win32":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.set_inheritable(True)
    except OSError as error:
        opened.close()
        raise UserError(
            f"--host {host} --port {port}: it cannot be bound ({error.strerror}). Does another "
            "service have it? Name another port, or 0 for any that is free."
        ) from error
    return opened


def run(
    maker: ApplicationMaker,
    opened: socket.socket,
    *,
    app: Any = None,
    workers: int = 1,
    access_log: bool = False,
) -> None:
    """Answer until told to stop; what is being answered then is finished.

    Parameters
    ----------
    maker : ApplicationMaker
        Makes the application.
    opened : socket.socket
        Where clients come from.
    app : application, optional
        One that was made already, for a single process.
    workers : int, default=1
        Processes.
    access_log : bool, default=False
        Whether every request is written to standard error.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from orfeon.serving.connections import GuardedConnection

    settings: dict[str, Any] = {
        "http": GuardedConnection,
        "ws": "none",
        "lifespan": "on",
        "workers": workers,
        "log_config": _logging(access_log),
        "access_log": access_log,
        "proxy_headers": False,
        "server_header": False,
        "backlog": _BACKLOG,
        "timeout_keep_alive": _KEEP_ALIVE,
        "timeout_graceful_shutdown": _grace(maker.limits),
    }
    known = inspect.signature(uvicorn.Config).parameters
    if "timeout_worker_healthcheck" in known:
        settings["timeout_worker_healthcheck"] = _UNHEALTHY
    if workers == 1:
        replaceable = ReplaceableApplication(app or maker())
        server = uvicorn.Server(uvicorn.Config(replaceable, **settings))

        def end() -> None:
            server.should_exit = True

        reload = Reload(maker, replaceable.replace)
        with on_hangup(end if has_terminal() else reload.begin):
            server.run(sockets=[opened])
        return
    config = uvicorn.Config(maker.of_now(), factory=True, **settings)
    more: dict[str, Any] = {}
    if "target" in inspect.signature(Multiprocess).parameters:  # older releases of uvicorn
        more["target"] = uvicorn.Server(config).run
    _supervisor(Multiprocess)(maker, config, sockets=[opened], **more).run()


def _supervisor(base: Any) -> Any:
    """Uvicorn's supervisor of several processes, which looks at a new model before it is loaded."""

    class Supervisor(base):  # type: ignore[misc]
        def __init__(self, maker: ApplicationMaker, config: Any, **given: Any) -> None:
            super().__init__(config, **given)
            self._maker = maker
            self._new: list[ApplicationMaker] = []
            # Asked now: after a hangup there is none.
            self._ends_with_terminal = has_terminal()
            self._reload = Reload(self._make_new, self._new.append)

        def _make_new(self) -> ApplicationMaker:
            new = self._maker.of_now()
            new()  # which compiles what it needs, and is refused where it cannot be served
            return new

        def handle_hup(self) -> None:
            if self._ends_with_terminal:
                self.handle_term()
            else:
                self._reload.begin()

        def keep_subprocess_alive(self) -> None:
            if self._new:
                # Processes that take the place of others later make the same.
                self.config.app = self._new[-1]
                self._new.clear()
                self.restart_all()
                _logger.warning("the model was loaded anew")
                if self._maker.copies is not None:
                    _forget_copies(self._maker.copies, self.config.app.path.parent)
            super().keep_subprocess_alive()

        def restart_all(self) -> None:
            # A loaded machine takes its time to start a process; the old ones answer meanwhile.
            before = getattr(self.config, "timeout_worker_healthcheck", None)
            self.config.timeout_worker_healthcheck = _READY
            try:
                super().restart_all()
            finally:
                self.config.timeout_worker_healthcheck = before

    return Supervisor


def _forget_copies(folder: Path, served: Path) -> None:
    """Delete the copies of models that nobody will map any more.

    The one that is served stays, and the last of the others: it may just be looked at.
    """
    others = (each for each in folder.iterdir() if each != served)
    for each in sorted(others, key=lambda each: each.stat().st_mtime_ns)[:-1]:
        shutil.rmtree(each, ignore_errors=True)


def when_listening(opened: socket.socket, tell: Any, stop: threading.Event) -> threading.Thread:
    """Call a function once the port answers.

    Parameters
    ----------
    opened : socket.socket
        The socket.
    tell : callable
        What is called.
    stop : threading.Event
        Set when there is nothing to wait for any more.

    Returns
    -------
    threading.Thread
        Which waits.
    """
    address = opened.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address[0], address[0])

    def wait() -> None:
        while not stop.wait(0.05):
            try:
                socket.create_connection((host, address[1]), timeout=5).close()
            except OSError:
                continue
            tell()
            return

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def _grace(limits: Limits) -> int:
    """Seconds in which what is being answered is finished."""
    return int(limits.receive_timeout + limits.predict_timeout) + 1


def _logging(access_log: bool) -> dict[str, Any]:
    """Defects go to standard error; what clients do wrong is told to them only."""
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
