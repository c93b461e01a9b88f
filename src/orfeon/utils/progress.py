"""Progress of long fits: a bar on the terminal, and scikit-learn's callbacks where it has them.

A fit reports how many members it will train and, after each block, how many are done: to the bar of
``verbose=1``, and to the callbacks attached with ``set_callbacks`` (scikit-learn 1.9 and later).
The bar is not rich.progress: that needs a thread per bar and 0.1 s to import, allows one bar at a
time where ensembles are nested, and writes nothing in a log file until the end.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TextIO

from orfeon.utils.text import clock_text

if TYPE_CHECKING:

    class CallbackSupport:
        """Base of estimators to which callbacks can be attached."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Attach callbacks; none removes them."""
            return self
else:
    try:
        from sklearn.callback import CallbackSupportMixin as CallbackSupport
    except ImportError:

        class CallbackSupport:
            """Base of estimators, without callbacks in this release of scikit-learn."""


#: Seconds between two drawings of a bar on a terminal.
_REDRAW = 0.1
#: Characters of the bar itself.
_BAR = 20


class ProgressBar:
    """A bar on a terminal; elsewhere, a line at every tenth of the work.

    It may be updated from any thread. If the stream cannot be written to, it
    falls silent: a bar never makes a fit fail.
    """

    def __init__(
        self,
        total: int,
        *,
        verbose: int | bool = 1,
        label: str = "",
        file: TextIO | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if total < 0:
            raise ValueError(
                f"total={total} is not allowed: it must be a number of members, 0 or more."
            )
        if verbose < 0:
            raise ValueError(f"verbose={verbose} is not allowed: it must be 0 or more.")
        self.total = total
        self.done = 0
        self.label = label
        stream = sys.stderr if file is None else file
        self._stream = stream if verbose and total else None
        self._is_terminal = self._stream is not None and self._stream.isatty()
        self._clock = clock
        self._lock = threading.Lock()
        self._start = clock()
        self._drawn_at = -float("inf")
        self._drawn_done = 0

    def __enter__(self) -> Self:
        if self._is_terminal:
            with self._lock:
                self._draw(self._clock())
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        """Count members that are done."""
        if n < 0:
            raise ValueError(f"n={n} is not allowed: members cannot be undone.")
        with self._lock:
            self.done += n
            if self._stream is None:
                return
            now = self._clock()
            if self._is_terminal:
                is_due = now - self._drawn_at >= _REDRAW
            else:
                is_due = 10 * self.done // self.total > 10 * self._drawn_done // self.total
            if is_due:
                self._draw(now)

    def close(self) -> None:
        """Draw the final state and end the line; a second call does nothing."""
        with self._lock:
            if self._is_terminal or self.done > self._drawn_done:
                self._draw(self._clock(), is_last=True)
            if self._is_terminal:
                self._write("\n")
            self._stream, self._is_terminal = None, False

    def _draw(self, now: float, is_last: bool = False) -> None:
        line = self._line(now - self._start, is_last)
        if self._is_terminal:
            # The last column stays empty: some terminals wrap when it is written.
            width = max(shutil.get_terminal_size().columns - 1, 1)
            self._write(f"\r{line[:width]:<{width}}")
        else:
            self._write(line + "\n")
        self._drawn_at, self._drawn_done = now, self.done

    def _line(self, elapsed: float, is_last: bool) -> str:
        share = min(self.done / self.total, 1.0)
        filled = int(_BAR * share)
        parts = [
            self.label,
            f"{self.done}/{self.total} [{'#' * filled:-<{_BAR}}] {int(100 * share):3d}%",
        ]
        if self.done and elapsed > 0:
            parts.append(_rate(self.done / elapsed))
        if is_last or share == 1.0:
            parts.append(f"in {clock_text(elapsed)}")
        elif self.done:
            parts.append(f"{clock_text(elapsed * (1.0 - share) / share)} left")
        return "  ".join(part for part in parts if part)

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a closed stream is a ValueError
            self._stream, self._is_terminal = None, False


def _rate(per_second: float) -> str:
    if per_second < 1:
        return f"{1 / per_second:.1f} s each"
    return f"{per_second:,.{1 if per_second < 10 else 0}f}/s"


class Progress:
    """Receives the progress of a fit; made by :func:`report_progress`.

    It may be updated from any thread of the process that fits.
    """

    def __init__(self, bar: ProgressBar | None = None, callbacks: _Callbacks | None = None) -> None:
        self._bar = bar
        self._callbacks = callbacks

    def update(self, n: int = 1, fitted: Callable[[], Mapping[str, Any]] | None = None) -> None:
        """Report finished members."""
        if self._callbacks is not None:
            self._callbacks.update(n, fitted)
        if self._bar is not None:
            self._bar.update(n)

    def update_and_check(self, n: int = 1) -> bool:
        """Report finished members, and return whether to stop."""
        self.update(n)
        return self.stop_requested

    @property
    def has_listener(self) -> bool:
        """Whether there is a bar or a callback."""
        return self._bar is not None or self._callbacks is not None

    @property
    def stop_requested(self) -> bool:
        """Whether a callback requested to stop."""
        return self._callbacks is not None and self._callbacks.stop_requested


class _Callbacks:
    """The callbacks of one fit: the root task is the fit, each member is a subtask."""

    def __init__(self, estimator: Any, total: int, given: Mapping[str, Any]) -> None:
        self.stop_requested = False
        self._estimator = estimator
        self._left = total
        self._given = given
        # A callback may itself report progress.
        self._lock = threading.RLock()

    def begin(self) -> None:
        self._root = self._estimator._init_callback_context(max_subtasks=self._left)
        self._root.call_on_fit_task_begin(estimator=self._estimator, **self._given)

    def update(self, n: int, fitted: Callable[[], Mapping[str, Any]] | None) -> None:
        with self._lock:
            for last in reversed(range(min(n, self._left))):
                self._left -= 1
                member = self._root.subcontext(task_name="member")
                member.call_on_fit_task_begin(estimator=self._estimator, **self._given)
                stop = member.call_on_fit_task_end(
                    estimator=self._estimator,
                    reconstruction_attributes=None if last else fitted,
                    **self._given,
                )
                self.stop_requested = self.stop_requested or stop

    def end(self) -> None:
        # Nothing to reconstruct: the estimator itself is fitted by now.
        self._root.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes={}, **self._given
        )

    def teardown(self) -> None:
        from sklearn.callback import with_callbacks  # exists, or there would be no callbacks

        # Teardown is what the decorator does after any method, however it ended. It forgets the
        # fit then, so that a decorated fit does not do it a second time.
        with_callbacks(lambda estimator: None)(self._estimator)


@contextmanager
def report_progress(
    estimator: Any,
    total: int,
    verbose: int | bool = 0,
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
) -> Iterator[Progress]:
    """Report the progress of a fit to the callbacks of the estimator, and on a bar."""
    bar = None
    if verbose:
        bar = ProgressBar(total, verbose=verbose, label=type(estimator).__name__)
    callbacks = None
    # Without callbacks nothing is prepared for them: that would take longer than a small fit.
    if getattr(estimator, "_skl_callbacks", None) and hasattr(estimator, "_init_callback_context"):
        given = {"X": X, "y": y, "metadata": {}}
        if sample_weight is not None:
            given["metadata"] = {"sample_weight": sample_weight}
        callbacks = _Callbacks(estimator, total, given)
    progress = Progress(bar, callbacks)
    try:
        if callbacks is not None:
            callbacks.begin()
        if bar is not None:
            bar.__enter__()
        yield progress
        if callbacks is not None:
            callbacks.end()
    finally:
        if bar is not None:
            bar.close()
        if callbacks is not None:
            callbacks.teardown()
