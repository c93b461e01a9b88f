"""Tasks run here, in processes or on a cluster, with the same results.

The error of a failed task names it; the tasks of a worker process that dies are run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from orfeon.errors import UserError
from orfeon.utils.text import short
from orfeon.workbench.tasks.outcome import failure

if TYPE_CHECKING:
    from orfeon.workbench.tasks.cluster import Cluster

Task = TypeVar("Task")
Result = TypeVar("Result")

#: Letters of a task in a message.
_LONGEST_NAME = 120


def run_all(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    n_jobs: int | None = None,
    cluster: Cluster | None = None,
    prefer: Literal["processes", "threads"] = "processes",
    name: Callable[[Task], str] | None = None,
) -> Iterator[Result]:
    """Run a function on all tasks and yield the results as they come, in any order.

    The result must depend on the task only; then it is the same to the last bit wherever it is
    computed. Closing the iterator, or an interruption, cancels what has not begun and leaves no
    process behind. Processes that have done all their tasks wait ten seconds for another call.
    Several iterators may be open at once, each with processes of its own.
    """
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise UserError(f"n_jobs must be a number of processes, or -1 for all; got {n_jobs!r}.")
    if prefer not in ("processes", "threads"):
        raise UserError(f"prefer must be 'processes' or 'threads'; got {prefer!r}.")
    naming = task_name if name is None else name
    if cluster is not None:
        from orfeon.workbench.tasks.cluster_tasks import ClusterTasks

        return ClusterTasks(cluster, function, naming).run(tasks)
    if n_jobs in (None, 1):
        return _here(function, tasks, naming)
    from orfeon.workbench.tasks.local_tasks import ProcessTasks, ThreadTasks
    from orfeon.workbench.tasks.worker import Worker

    # A task that has tasks of its own runs them in threads: processes are as many as wanted.
    kind = ThreadTasks if prefer == "threads" or Worker.is_here else ProcessTasks
    return kind(function, naming, int(n_jobs or 1)).run(tasks)


def task_name(task: Any) -> str:
    """A short name of a task, for messages."""
    for attribute in ("key", "name"):
        named = getattr(task, attribute, None)
        if isinstance(named, str):
            return named
    if isinstance(task, tuple | list):
        parts = ", ".join(task_name(part) if _is_array(part) else repr(part) for part in task)
        return short(f"({parts})" if isinstance(task, tuple) else f"[{parts}]", _LONGEST_NAME)
    if _is_array(task):
        return f"array of shape {task.shape}"
    return short(repr(task), _LONGEST_NAME)


def _is_array(part: Any) -> bool:
    return hasattr(part, "shape")


def _here(
    function: Callable[[Task], Result], tasks: Iterable[Task], naming: Callable[[Task], str]
) -> Iterator[Result]:
    for task in tasks:
        try:
            result = function(task)
        except Exception as error:
            raise failure(error, task, naming) from error
        yield result
