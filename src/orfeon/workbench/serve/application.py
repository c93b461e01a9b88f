"""The scoring service as an ASGI application."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from orfeon.errors import UserError
from orfeon.workbench.serve.bodies import CLOSE, BodyReader, ClientGoneError, busy, read_head
from orfeon.workbench.serve.errors import RequestError, shown
from orfeon.workbench.serve.hosts import AllowedHosts, host_name
from orfeon.workbench.serve.limits import Limits
from orfeon.workbench.serve.openapi import openapi_document
from orfeon.workbench.serve.page import documentation_page, model_page, page_policy
from orfeon.workbench.serve.scoring import Scoring
from orfeon.workbench.serve.served_model import ServedModel, load_served

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError as error:
    raise ImportError(
        'The scoring service needs starlette and uvicorn: pip install "orfeon[serve]".'
    ) from error

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_logger = logging.getLogger("orfeon.workbench.serve")

#: Responses must not be cached, sniffed, or embedded by other sites.
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_JSON = b"application/json"
_KINDS = {404: "not_found", 405: "method_not_allowed"}


class ScoringApplication(Starlette):
    """The scoring service: made by :func:`create_app`."""

    def __init__(
        self, served: ServedModel, limits: Limits, allowed_hosts: AllowedHosts | None = None
    ) -> None:
        self.served = served
        self._allowed_hosts = allowed_hosts
        self.limits = limits
        self.scoring = Scoring(served, limits)
        self._bodies = BodyReader(limits)
        self._n_running = 0
        self._began = time.monotonic()
        self._n_answers: dict[int, int] = {}
        document = openapi_document(served, limits)
        pages = [model_page(served), documentation_page(served, document)]
        self.texts = {
            "/openapi.json": ("application/json", _json(document)),
            "/model": ("application/json", _json(model_document(served))),
            "/": ("text/html; charset=utf-8", pages[0]),
            "/docs": ("text/html; charset=utf-8", pages[1]),
        }
        self.policies = {path: page_policy(text) for path, (_, text) in self.texts.items()}
        # Routes must not refer to the application: in a reference cycle it and its model would
        # outlive the last request until the next garbage collection.
        routes = [
            Route(path, functools.partial(_text, path=path), methods=["GET"]) for path in self.texts
        ]
        routes += [
            Route("/health", _health, methods=["GET"]),
            Route("/metrics", _metrics, methods=["GET"]),
            Route("/predict", _never, methods=["POST"]),
        ]
        super().__init__(
            routes=routes, lifespan=_lifespan,
            exception_handlers={HTTPException: _refuse, Exception: _fail},
        )  # fmt: skip
        # It would redirect clients to any host in their Host header.
        self.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; predictions bypass the router, which is slow."""
        if self._allowed_hosts is not None and scope["type"] == "http":
            try:
                self._allowed_hosts.check(scope["headers"], scope["http_version"])
            except RequestError as error:
                await _send(send, error.status, error.body(), _JSON, error.headers)
                return
        if scope["type"] == "http" and scope["path"] == "/predict" and scope["method"] == "POST":
            await self._predict(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await super().__call__(scope, receive, send)

    async def _predict(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, kind = 200, _JSON
        headers: Sequence[tuple[bytes, bytes]] = ()
        self._n_running += 1
        try:
            if self._n_running > self.limits.max_requests:
                raise busy()
            head = read_head(scope["headers"], scope["query_string"])
            body = await self._bodies.read(receive, head.n_bytes)
            release = functools.partial(self._bodies.release, len(body))
            answer = await self.scoring.score(body, head, release)
            kind = head.answer
        except RequestError as error:
            status, answer, headers = error.status, error.body(), error.headers
        except ClientGoneError:
            return
        except Exception:
            _logger.exception("a request could not be answered")
            defect = _defect()
            status, answer, headers = defect.status, defect.body(), defect.headers
        finally:
            self._n_running -= 1
        self._n_answers[status] = self._n_answers.get(status, 0) + 1
        await _send(send, status, answer, kind, headers)

    def metrics(self) -> str:
        """Counters of this process, in the text form of Prometheus."""
        worker = f'worker="{os.getpid()}"'
        lines = [
            "# HELP orfeon_requests_total Requests for predictions, by status of the response.",
            "# TYPE orfeon_requests_total counter",
            *(
                f'orfeon_requests_total{{{worker},status="{status}"}} {count}'
                for status, count in sorted(self._n_answers.items())
            ),
            "# HELP orfeon_rows_total Predicted rows.",
            "# TYPE orfeon_rows_total counter",
            f"orfeon_rows_total{{{worker}}} {self.scoring.n_rows}",
            "# HELP orfeon_requests_running Requests in progress.",
            "# TYPE orfeon_requests_running gauge",
            f"orfeon_requests_running{{{worker}}} {self._n_running}",
            "# HELP orfeon_up_seconds Time since the process was ready.",
            "# TYPE orfeon_up_seconds gauge",
            f"orfeon_up_seconds{{{worker}}} {time.monotonic() - self._began:.3f}",
        ]
        return "\n".join(lines) + "\n"


def create_app(
    model: Any,
    *,
    preparation: Any = None,
    limits: Limits | None = None,
    early_decision: float | None = None,
    memory_map: bool = True,
    allowed_hosts: Iterable[str] | AllowedHosts | None = None,
) -> ScoringApplication:
    """Make the scoring service of a model, for a server of your own.

    Kernels are compiled before it returns, so the first request is as fast as all others.

    Parameters
    ----------
    model : path or estimator
        A model file or a fitted estimator. Files with estimators saved by skops are rejected; if
        you trust one, pass ``orfeon.load(path)``.
    preparation : Preparation, optional
        For an estimator: how to prepare raw tables. A model file has its own.
    limits : Limits, optional
        Limits on requests.
    early_decision : float, optional
        Query members in order until the decision is certain with this confidence, above 0 and at
        most 1; with 1 decisions are exactly those of all members. By default all members vote.
    memory_map : bool, default=True
        Whether the arrays stay in the file, so that processes share them. The file must then not
        be changed in place; replacing it by renaming is safe.
    allowed_hosts : iterable of str, optional
        Names and addresses allowed in the header ``Host``, with any port, such as
        ``["localhost", "127.0.0.1"]``; ``"*"`` allows all. Other hosts get status 421, which
        prevents DNS rebinding. By default nothing is checked: set it unless a proxy does.

    Returns
    -------
    Starlette
        An ASGI application.

    See Also
    --------
    orfeon.combining.early_decision : Early decision.

    Notes
    -----
    The server of ``orfeon serve`` also closes slow clients. A server of your own must itself handle
    clients that never finish their headers; all other limits are checked by the application.

    Examples
    --------
    >>> import asyncio, httpx
    >>> from orfeon import StumpClassifier
    >>> from orfeon.workbench.serve import create_app
    >>> app = create_app(StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> async def ask(rows):
    ...     wire = httpx.ASGITransport(app)
    ...     async with httpx.AsyncClient(transport=wire, base_url="http://here") as client:
    ...         return (await client.post("/predict", json={"rows": rows})).json()
    >>> asyncio.run(ask([[0.9], [0.2]]))
    {'predictions': ['yes', 'no']}
    """
    if isinstance(model, str | os.PathLike):
        if preparation is not None:
            raise ValueError("preparation must not be given for a model file, which has its own.")
        served = load_served(model, early_decision=early_decision, memory_map=memory_map)
    elif hasattr(model, "predict") and not isinstance(model, type):
        name = type(model).__name__
        facts = {"model": name}
        served = ServedModel(
            model, preparation, early_decision=early_decision, name=name, facts=facts
        )
    else:
        raise UserError(f"model={shown(str(model))} is neither a model file nor an estimator.")
    app = ScoringApplication(served, limits or Limits(), _hosts(allowed_hosts))
    app.scoring.warm_up()
    return app


def model_document(served: ServedModel) -> dict[str, Any]:
    """The model as ``/model`` describes it."""
    preparation = served.preparation
    return {
        "name": served.name,
        "task": served.task,
        "target": None if preparation is None else preparation.target,
        "classes": served.classes,
        "has_probabilities": served.has_probabilities,
        "early_decision": served.early_decision,
        "n_members": served.n_members,
        "columns": [column.facts() for column in served.columns],
        "inside": {
            name: value
            for name, value in served.facts.items()
            if name not in ("classes", "feature_names", "n_members")
        },
    }


def _hosts(given: Iterable[str] | AllowedHosts | None) -> AllowedHosts | None:
    if given is None or isinstance(given, AllowedHosts):
        return given
    if isinstance(given, str):
        raise ValueError(f"allowed_hosts={given!r} is not allowed; it must be a list of names.")
    return AllowedHosts(frozenset(map(host_name, given)))


def _json(document: Any) -> str:
    return json.dumps(document, default=str)


def _response(text: str, kind: str, headers: dict[str, str] | None = None) -> Response:
    response = Response(text, headers=headers, media_type=kind)
    response.raw_headers.extend(_HEADERS)
    return response


def _defect() -> RequestError:
    return RequestError(500, "defect", "Internal error of the service; see its log.", headers=CLOSE)


async def _send(
    send: Send, status: int, body: bytes, kind: bytes, headers: Sequence[tuple[bytes, bytes]]
) -> None:
    length = (b"content-length", str(len(body)).encode("ascii"))
    every = [(b"content-type", kind), length, *_HEADERS, *headers]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})


async def _text(request: Request, path: str) -> Response:
    kind, text = request.app.texts[path]
    return _response(text, kind, {"content-security-policy": request.app.policies[path]})


async def _health(request: Request) -> Response:
    facts = {"status": "ok", "model": request.app.served.name, "pid": os.getpid()}
    return _response(_json(facts), "application/json")


async def _metrics(request: Request) -> Response:
    return _response(request.app.metrics(), "text/plain; version=0.0.4; charset=utf-8")


async def _never(request: Request) -> Response:
    """Registered for the router to reject other methods; predictions bypass it."""
    raise NotImplementedError


async def _refuse(request: Request, error: Exception) -> Response:
    """Errors of the router, in the format of all others."""
    assert isinstance(error, HTTPException)
    path = shown(request.scope["path"])  # request.url depends on the header Host
    message = f"{path} does not exist."
    if error.status_code == 405:
        message = f"{path} does not support {request.method}."
    refusal = RequestError(error.status_code, _KINDS.get(error.status_code, "refused"), message)
    response = _response(refusal.body().decode(), "application/json")
    response.status_code = error.status_code
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _fail(request: Request, error: Exception) -> Response:
    response = _response(_defect().body().decode(), "application/json")
    response.status_code = 500
    return response


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    try:
        yield
    finally:
        assert isinstance(app, ScoringApplication)
        app.scoring.close()
