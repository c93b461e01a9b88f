"""The command ``orfeon serve``: a model file as a small scoring service."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from argparse import ArgumentTypeError
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from orfeon.cli import options as types
from orfeon.cli.output import print_json, say
from orfeon.cli.parser import command_parser
from orfeon.cli.saved_models import model_failures, refuse_pickles
from orfeon.errors import UserError
from orfeon.wording import counted, duration_text

if TYPE_CHECKING:
    from orfeon.serving.process import ApplicationMaker
    from orfeon.serving.reloading import ReplaceableApplication

_DESCRIPTION = """\
Answers requests for predictions over HTTP until it is told to stop (Ctrl-C, or SIGTERM: what is
being answered is finished). The model is read once and checked; several workers share one copy of
it in memory. The kernels are compiled before the port is opened. SIGHUP loads the file anew, one
worker after the other, and closes no connection; a file that cannot be served is reported and
changes nothing. In a terminal SIGHUP, which says that it was closed, ends the service.

  POST /predict       rows as JSON, CSV or an Arrow stream; a prediction for each
  GET  /              a page to try the model
  GET  /docs          a page of all requests; /openapi.json for programs
  GET  /model         what the model is; /health, /metrics

Only this machine can reach it unless --host says otherwise. There is no password and no
encryption: put a proxy that has them before it where others can reach it.

The header Host of a request must name localhost, 127.0.0.1, [::1], the --host, or a name given with
--allow-host; others get status 421. This stops DNS rebinding, by which a web page could read
predictions through your browser. With --host 0.0.0.0 or ::, any IP address and the name of this
machine are allowed too.

A cell depends on nothing but itself: a word where a number is needed is refused, with its row and
column, and never taken as missing. Categories that training did not see count as missing.

With --json the address is printed as a JSON document once the service is there.
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
    """Say what the command takes."""
    parser = command_parser(
        subparsers, "serve", "answer requests for predictions", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=types.existing_file, metavar="MODEL", help="a model file")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="NAME",
        help="the interface; 0.0.0.0 is all of them; default: %(default)s, this machine only",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=_port, default=8000, metavar="N",
        help="0 is any that is free; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", type=_host, action="append", default=[], metavar="NAME",
        help="also answer requests for this host; may be repeated; * allows all",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=types.count, default=1, metavar="N",
        help="processes that answer; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--early-decision", type=types.share, nargs="?", const=1.0, metavar="CONFIDENCE",
        help="ask members only until the decision is certain: exactly, or with a confidence such "
        "as 0.99; requests for probabilities ask all",
    )  # fmt: skip
    _add_limits(parser)
    parser.add_argument("--access-log", action="store_true", help="write every request to stderr")
    types.add_output_options(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-rows", type=types.count, default=10_000, metavar="N",
        help="rows of a request; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--max-bytes", type=types.count, default=8 * _MEGABYTE, metavar="N",
        help="bytes of a request; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--max-requests", type=types.count, default=256, metavar="N",
        help="requests that a worker answers at the same time, others get 503; default: "
        "%(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=types.duration, default=10.0, metavar="TIME",
        help="in which a client must have sent its request; default: 10s",
    )  # fmt: skip
    parser.add_argument(
        "--predict-timeout", type=types.duration, default=30.0, metavar="TIME",
        help="after which a client is told that its rows take too long; default: 30s",
    )  # fmt: skip


def _port(text: str) -> int:
    if not text.strip().isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is no port: it is a whole number from 0 to 65535")
    return int(text)


def _host(text: str) -> str:
    from orfeon.serving.hosts import host_name

    try:
        return host_name(text)
    except ValueError:
        raise ArgumentTypeError(
            f"{text!r} is no host: it is a name or an IP address, without scheme and port, or *"
        ) from None


def run(options: argparse.Namespace) -> int:
    """Serve until told to stop."""
    from orfeon.serving import process
    from orfeon.serving.copies import folder_of_copies
    from orfeon.serving.hosts import hosts_of
    from orfeon.serving.limits import Limits

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
        maker = process.ApplicationMaker(
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
                raise UserError("the service could not be started.") from ending
        finally:
            stop.set()
    say("Ended.", quiet=options.quiet)
    return 0


def _tell(options: argparse.Namespace, where: str) -> None:
    """Say that the service is there."""
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
        "Ctrl-C ends it.",
        quiet=options.quiet or options.json,
    )


def _prepare(maker: ApplicationMaker, options: argparse.Namespace) -> ReplaceableApplication | None:
    """Compile the kernels, and meet a file that cannot be served, before there are workers.

    A single worker is this process; several make the application for themselves.
    """
    from orfeon.serving.reloading import ReplaceableApplication

    say(f"Preparing {options.model.name} ...", quiet=options.quiet)
    start = time.perf_counter()
    with model_failures(options.model):
        app = maker.of_now()()
    if not app.served.is_quick:
        say(
            f"{type(app.served.model).__name__} takes data frames: some milliseconds a request.",
            quiet=options.quiet,
        )
    seconds = time.perf_counter() - start
    if seconds > 5:
        say(f"Ready to start after {duration_text(seconds)}.", quiet=options.quiet)
    # Nothing else may refer to it, or its model would stay when another takes its place.
    return ReplaceableApplication(app) if options.workers == 1 else None


def _warn_of_strangers(host: str) -> None:
    """Say loudly who can reach the service; --quiet does not silence it."""
    if host in _LOCAL:
        return
    print(
        f"orfeon serve: WARNING: --host {host}: everybody who can reach this machine can ask for "
        "predictions, and see what the model is. There is no password and no encryption.",
        file=sys.stderr,
        flush=True,
    )


def _address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
