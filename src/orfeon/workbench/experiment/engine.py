"""The run engine of studies and reproductions: it runs what the store does not have yet.

Each run has a key, unique in its study. Runs whose keys are in the store are skipped, so a stopped
study or reproduction is resumed by running it again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from orfeon.workbench.store import RunRow, StoredStudy
from orfeon.workbench.tasks import parallel

#: Seconds after which the keys of the store are read again: another process may add to it.
_LOOK_AGAIN = 10.0


class Keyed(Protocol):
    """A task that names its run."""

    @property
    def key(self) -> str:
        """The key of its run in the store."""


AnyTask = TypeVar("AnyTask", bound=Keyed)
AnyRow = TypeVar("AnyRow", bound=RunRow)


@dataclass
class Engine:
    """Runs tasks here, in processes or on a cluster; each result is stored before it counts."""

    study: StoredStudy
    n_jobs: int | None = None
    cluster: Any = None
    _stored: set[str] = field(init=False, default_factory=set)
    _looked: float = field(init=False, default=-math.inf)

    def missing(self, tasks: Iterable[AnyTask]) -> list[AnyTask]:
        """The tasks that the store has no runs of."""
        if time.perf_counter() - self._looked > _LOOK_AGAIN:
            self._stored |= self.study.keys()
            self._looked = time.perf_counter()
        return [task for task in tasks if task.key not in self._stored]

    def run(
        self,
        function: Callable[[AnyTask], AnyRow],
        tasks: Iterable[AnyTask],
        *,
        begun: Callable[[AnyTask], None] | None = None,
        done: Callable[[AnyRow], None] | None = None,
    ) -> None:
        """Run tasks; ``begun`` is called as each is handed out, ``done`` once its row is stored."""
        handed_out = tasks if begun is None else _noticed(tasks, begun)
        rows = parallel.run_all(function, handed_out, n_jobs=self.n_jobs, cluster=self.cluster)
        with closing(rows):  # type: ignore[type-var]
            for row in rows:
                self.study.put(row)
                self._stored.add(row.key)
                if done is not None:
                    done(row)


def _noticed(tasks: Iterable[AnyTask], begun: Callable[[AnyTask], None]) -> Iterator[AnyTask]:
    for task in tasks:
        begun(task)
        yield task
