"""The command ``orfeon serve``: serve the predictions of a model file over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from argparse import ArgumentTypeError
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from orfeon.errors import UserError
from orfeon.utils.text import counted, duration_text
from orfeon.workbench.cli import options as types
from orfeon.workbench.cli.options import command_parser
from orfeon.workbench.cli.output import print_json, say
from orfeon.workbench.cli.saved_models import model_failures, refuse_pickles

if TYPE_CHECKING:
    from orfeon.workbench.serve.reloading import ApplicationMaker, ReplaceableApplication

_DESCRIPTION = """\
Serves predictions over HTTP until stopped with Ctrl-C or SIGTERM; requests in progress are
finished. The model is read and checked once, and all workers share one copy of it in memory. The
kernels are compiled before the port is opened. SIGHUP reloads the file, one worker after the other,
without closing connections; if the new file cannot be served, this is reported and the old model
stays. If orfeon was started in a terminal, SIGHUP means that it was closed, and ends the service.

  POST /predict       predictions for rows sent as JSON, CSV or an Arrow stream
  GET  /              a page to try the model
  GET  /docs          documentation of all requests; /openapi.json for programs
  GET  /model         a description of the model; also /health and /metrics

Only this machine can reach the service unless --host says otherwise. It has no password and no
encryption: before you open it to others, put a proxy that provides them in front.

The Host header of a request must name localhost, 127.0.0.1, [::1], the --host, or a name given with
--allow-host; other requests get status 421. This prevents DNS rebinding, by which a web page could
read predictions through your browser. With --host 0.0.0.0 or ::, any IP address and the name of
this machine are allowed too.

Each value is checked by itself: a string where a number is expected is rejected, with its row and
column, and never treated as missing. Categories not seen in training count as missing values.

With --json, the address is printed as a JSON document once the service is running.
"""

_EXAMPLES = """\
orfeon serve model.orfeon
orfeon serve model.orfeon --port 9000 --workers 2
orfeon serve model.orfeon --early-decision --max-rows 1000
orfeon serve model.orfeon --host 0.0.0.0 --allow-host model.example.org
curl -H 'Content-Type: text/csv' --data-binary @new.csv http://127.0.0.1:8000/predict
"""

_LOCAL = ("127.0.0.1", "::1", "localhost")
_MEGABYTE = 1 << 20


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers, "serve", "serve predictions over HTTP", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="NAME",
        help="interface to listen on; 0.0.0.0 for all; default: %(default)s, this machine only",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=_port, default=8000, metavar="N",
        help="port to listen on; 0 for any free one; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", type=_host, action="append", default=[], metavar="NAME",
        help="also accept requests for this host; may be repeated; * accepts all",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=types.count, default=1, metavar="N",
        help="number of worker processes; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--early-decision", type=types.share, nargs="?", const=1.0, metavar="CONFIDENCE",
        help="stop voting once the decision is certain, or has a confidence such as 0.99; requests "
        "for probabilities use all members",
    )  # fmt: skip
    _add_limits(parser)
    parser.add_argument(
        "--access-log", action="store_true", help="log every request to standard error"
    )
    types.add_output_options(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-rows", type=types.count, default=10_000, metavar="N",
        help="maximum rows per request; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--max-bytes", type=types.count, default=8 * _MEGABYTE, metavar="N",
        help="maximum bytes per request; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--max-requests", type=types.count, default=256, metavar="N",
        help="maximum simultaneous requests per worker, others get status 503; default: "
        "%(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=types.duration, default=10.0, metavar="TIME",
        help="time limit for receiving a request; default: 10s",
    )  # fmt: skip
    parser.add_argument(
        "--predict-timeout", type=types.duration, default=30.0, metavar="TIME",
        help="time limit for predicting the rows of a request; default: 30s",
    )  # fmt: skip


def _port(text: str) -> int:
    if not text.strip().isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port: give a whole number from 0 to 65535")
    return int(text)


def _host(text: str) -> str:
    from orfeon.workbench.serve.hosts import host_name

    try:
        return host_name(text)
    except ValueError:
        raise ArgumentTypeError(
            f"{text!r} is not a host: give a name or an IP address without scheme and port, or *"
        ) from None


def run(options: argparse.Namespace) -> int:
    """Serve until stopped."""
    from orfeon.workbench.serve import process
    from orfeon.workbench.serve.copies import folder_of_copies
    from orfeon.workbench.serve.hosts import hosts_of
    from orfeon.workbench.serve.limits import Limits
    from orfeon.workbench.serve.reloading import ApplicationMaker

    process.check_installed()
    refuse_pickles(options.model)
    limits = Limits(
        max_bytes=options.max_bytes,
        max_rows=options.max_rows,
        max_requests=options.max_requests,
        max_connections=max(512, 2 * options.max_requests),
        receive_timeout=options.timeout,
        predict_timeout=options.predict_timeout,
    )
    with (
        folder_of_copies() if options.workers > 1 else nullcontext() as copies,
        process.open_socket(options.host, options.port) as opened,
    ):
        hosts = hosts_of(options.host, opened, options.allow_host)
        maker = ApplicationMaker(
            options.model.resolve(), limits, options.early_decision, copies, hosts
        )
        where = _address(options.host, opened.getsockname()[1])
        app = _prepare(maker, options)
        _warn_of_strangers(options.host)
        stop = threading.Event()
        process.when_listening(opened, lambda: _tell(options, where), stop)
        try:
            process.run(
                maker, opened, app=app, workers=options.workers, access_log=options.access_log
            )
        except (KeyboardInterrupt, SystemExit) as ending:
            if isinstance(ending, SystemExit) and ending.code not in (None, 0):
                raise UserError("The service could not be started.") from ending
        finally:
            stop.set()
    say("Stopped.", quiet=options.quiet)
    return 0


def _tell(options: argparse.Namespace, where: str) -> None:
    """Print the address once the service is running."""
    if options.json:
        facts = {
            "model": str(options.model),
            "address": where,
            "workers": options.workers,
            "pid": os.getpid(),
        }
        print_json(facts)
        sys.stdout.flush()
    say(
        f"{options.model.name} is served at {where} ({counted(options.workers, 'worker')}). "
        "Ctrl-C stops it.",
        quiet=options.quiet or options.json,
    )


def _prepare(maker: ApplicationMaker, options: argparse.Namespace) -> ReplaceableApplication | None:
    """Compile the kernels, and reject a file that cannot be served, before workers start.

    A single worker is this process; several workers each make their own application.
    """
    from orfeon.workbench.serve.reloading import ReplaceableApplication

    say(f"Preparing {options.model.name} ...", quiet=options.quiet)
    start = time.perf_counter()
    with model_failures(options.model):
        app = maker.snapshot()()
    if not app.served.is_quick:
        say(
            f"{type(app.served.model).__name__} needs data frames: expect a few ms per request.",
            quiet=options.quiet,
        )
    seconds = time.perf_counter() - start
    if seconds > 5:
        say(f"Prepared in {duration_text(seconds)}.", quiet=options.quiet)
    # Nothing else may refer to it, or its model would stay in memory after a reload.
    return ReplaceableApplication(app) if options.workers == 1 else None


def _warn_of_strangers(host: str) -> None:
    """Warn if other machines can reach the service, even with --quiet."""
    if host in _LOCAL:
        return
    print(
        f"orfeon serve: WARNING: --host {host}: anyone who can reach this machine can request "
        "predictions and see what the model is. There is no password and no encryption.",
        file=sys.stderr,
        flush=True,
    )


def _address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
