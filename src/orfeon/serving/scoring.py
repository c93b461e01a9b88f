"""From the body of a request to the body of its answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from orfeon.errors import UserError
from orfeon.serving.answers import ARROW, CSV, JSON, write_answer
from orfeon.serving.arrow_rows import read_arrow
from orfeon.serving.bodies import Asked
from orfeon.serving.csv_rows import read_csv
from orfeon.serving.errors import RequestError
from orfeon.serving.json_rows import JSONRows
from orfeon.serving.limits import Limits
from orfeon.serving.served_model import ServedModel

#: Bytes times members up to which an answer is quicker than handing it to another thread, or
#: quick enough (some milliseconds) not to keep other clients waiting.
_SMALL = 1 << 22
_SMALL_BYTES = 1 << 14
#: Threads that answer the others. More would wait for Python's lock, and for the cores.
_N_THREADS = 2


class Scoring:
    """Answers requests.

    Parameters
    ----------
    served : ServedModel
        Who answers.
    limits : Limits
        What may be asked.

    Examples
    --------
    >>> from orfeon import StumpClassifier
    >>> from orfeon.serving.bodies import read_head
    >>> from orfeon.serving.limits import Limits
    >>> from orfeon.serving.scoring import Scoring
    >>> from orfeon.serving.served_model import ServedModel
    >>> served = ServedModel(StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> scoring = Scoring(served, Limits())
    >>> asked = read_head([(b"content-type", b"application/json")], b"")
    >>> scoring.answer(b'{"rows": [[0.9], [0.2]]}', asked)
    b'{"predictions": ["yes", "no"]}'
    """

    def __init__(self, served: ServedModel, limits: Limits) -> None:
        self.served = served
        self._limits = limits
        self._json = JSONRows(served.columns, limits.max_rows)
        self._threads: ThreadPoolExecutor | None = None
        self._small = min(_SMALL_BYTES, _SMALL // max(1, served.n_members))
        self.n_rows = 0

    def warm_up(self) -> None:
        """Answer some rows, so that nobody waits for what is done only once."""
        self.served.warm_up()

    def close(self) -> None:
        """Let the threads end."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    async def score(self, body: bytes, asked: Asked) -> bytes:
        """The body of the answer; long work is done in a thread, within the limit of time.

        Parameters
        ----------
        body : bytes
            The body of the request.
        asked : Asked
            What its head says.

        Returns
        -------
        bytes
        """
        if self.served.is_quick and len(body) <= self._small:
            return self.answer(body, asked)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_N_THREADS, thread_name_prefix="orfeon-scoring")
        work = asyncio.get_running_loop().run_in_executor(self._threads, self.answer, body, asked)
        try:
            return await asyncio.wait_for(work, self._limits.predict_timeout)
        except TimeoutError:
            raise RequestError(
                503, "slow_prediction",
                f"There was no answer within {self._limits.predict_timeout:g} seconds. Send fewer "
                "rows at a time.",
                headers=[(b"retry-after", b"5")],
            ) from None  # fmt: skip

    def answer(self, body: bytes, asked: Asked) -> bytes:
        """The body of the answer.

        Parameters
        ----------
        body : bytes
            The body of the request.
        asked : Asked
            What its head says.

        Returns
        -------
        bytes
        """
        served = self.served
        if asked.probabilities and not served.has_probabilities:
            raise RequestError(
                422, "no_probabilities",
                f"{served.name} gives no probabilities: it predicts "
                f"{'numbers' if served.task == 'regression' else 'classes only'}.",
            )  # fmt: skip
        rows = self._rows(body, asked.form)
        try:
            answer = served.predict(rows, probabilities=asked.probabilities)
        except MemoryError:
            raise RequestError(
                503, "busy", "There is not enough memory for this many rows at the moment.",
                headers=[(b"retry-after", b"5")],
            ) from None  # fmt: skip
        except (ValueError, TypeError, UserError) as error:
            if served.is_quick:
                raise
            # What other packages take is theirs to say.
            raise RequestError(
                422, "refused", f"The model refuses these rows: {str(error)[:500]}"
            ) from error
        self.n_rows += len(answer.predictions)
        return write_answer(served, answer, asked.answer)

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
