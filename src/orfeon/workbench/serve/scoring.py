"""From the body of a request to the body of its response."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from orfeon.errors import UserError
from orfeon.workbench.serve.answers import ARROW, CSV, JSON, write_answer
from orfeon.workbench.serve.arrow_rows import read_arrow
from orfeon.workbench.serve.bodies import Asked, RequestHead
from orfeon.workbench.serve.csv_rows import read_csv
from orfeon.workbench.serve.errors import RequestError
from orfeon.workbench.serve.json_rows import JSONRows
from orfeon.workbench.serve.limits import Limits
from orfeon.workbench.serve.served_model import Answer, ServedModel

#: Bytes times members up to which a prediction takes a few milliseconds at most, so that no other
#: thread is needed.
_SMALL = 1 << 22
_SMALL_BYTES = 1 << 14
#: Threads for longer predictions. More would compete for Python's lock and the cores.
_N_THREADS = 2


class _Work:
    """A prediction to make in a thread; if it is dropped, its body is freed."""

    def __init__(
        self, answer: Callable[[bytes, RequestHead], bytes], body: bytes, head: RequestHead
    ) -> None:
        self._answer = answer
        self._body: bytes | None = body
        self._head = head

    def __call__(self) -> bytes:
        assert self._body is not None
        return self._answer(self._body, self._head)

    def drop(self) -> None:
        self._body = None


class Scoring:
    """Turns bodies of requests into bodies of responses."""

    def __init__(self, served: ServedModel, limits: Limits) -> None:
        self.served = served
        self._limits = limits
        self._json = JSONRows(served.columns, limits.max_rows)
        self._threads: ThreadPoolExecutor | None = None
        self._small = min(_SMALL_BYTES, _SMALL // max(1, served.n_members))
        self.n_rows = 0

    def warm_up(self) -> None:
        self.served.warm_up()

    def close(self, *, cancel: bool = True) -> None:
        """Stop the threads."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=cancel)

    async def score(
        self, body: bytes, head: RequestHead, when_done: Callable[[], None] = lambda: None
    ) -> bytes:
        """The body of the response; long predictions run in a thread, within the time limit."""
        if self.served.is_quick and len(body) <= self._small:
            try:
                return self.answer(body, head)
            finally:
                when_done()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_N_THREADS, thread_name_prefix="orfeon-scoring")
        work = _Work(self.answer, body, head)
        ended = self._threads.submit(work)
        loop = asyncio.get_running_loop()

        def end(_: Any) -> None:
            work.drop()
            with contextlib.suppress(RuntimeError):  # the loop ended before the work
                loop.call_soon_threadsafe(when_done)

        ended.add_done_callback(end)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(ended), self._limits.predict_timeout)
        except TimeoutError:
            raise RequestError(
                503, "slow_prediction",
                f"The prediction took longer than {self._limits.predict_timeout:g} seconds. Send "
                "fewer rows at a time.",
                headers=[(b"retry-after", b"5")],
            ) from None  # fmt: skip

    def answer(self, body: bytes, head: RequestHead) -> bytes:
        """The body of the response."""
        served = self.served
        if head.asked.probabilities and not served.has_probabilities:
            raise RequestError(
                422, "no_probabilities",
                f"{served.name} gives no probabilities: it predicts "
                f"{'numbers' if served.task == 'regression' else 'classes only'}.",
            )  # fmt: skip
        try:
            answer = self._predict(self._rows(body, head.form), head.asked)
            self.n_rows += len(answer.predictions)
            return write_answer(served, answer, head.answer)
        except MemoryError:
            raise RequestError(
                503, "busy", "Not enough memory for this many rows at the moment.",
                headers=[(b"retry-after", b"5")],
            ) from None  # fmt: skip

    def _predict(self, rows: Any, asked: Asked) -> Answer:
        try:
            answer = self.served.predict(rows, probabilities=asked.probabilities)
            answer = self._with_evidence(answer, rows, asked)
        except (ValueError, TypeError, UserError) as error:
            if self.served.is_quick:
                raise
            # Models without a schema check their rows themselves.
            raise RequestError(
                422, "refused", f"The model rejects these rows: {str(error)[:500]}"
            ) from error
        if answer.predictions.dtype.kind == "f":
            lost = np.flatnonzero(~np.isfinite(answer.predictions))
            if len(lost):  # JSON cannot hold them, and all formats must agree
                raise RequestError(
                    422, "not_finite", "The prediction is not a finite number.", row=int(lost[0])
                )
        return answer

    def _with_evidence(self, answer: Answer, rows: Any, asked: Asked) -> Answer:
        """The answer with intervals and reasons, if they are wanted."""
        try:
            if asked.interval is not None:
                answer = answer._replace(intervals=self.served.intervals(rows, asked.interval))
            if asked.explain:
                found = self.served.reasons(rows, answer.predictions, asked.explain)
                answer = answer._replace(reasons=found)
        except UserError as error:
            raise RequestError(422, "no_evidence", str(error)[:500]) from error
        return answer

    def _rows(self, body: bytes, form: bytes) -> Any:
        served = self.served
        if form == JSON:
            cells = self._json.read(body)
            if len(cells) == 1:
                return served.row(cells[0])
            return served.rows(list(zip(*cells, strict=True)))
        if form == CSV:
            return served.rows(read_csv(body, served.columns, self._limits.max_rows))
        assert form == ARROW
        read: Any = read_arrow(body, served.columns, self._limits.max_rows, quick=served.is_quick)
        return served.from_arrays(read) if served.is_quick else served.rows(read)
