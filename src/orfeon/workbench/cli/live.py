"""A live progress display: what is running, what is done, the time left, errors so far.

It is drawn on standard error if that is a terminal. However often it is updated, it draws a few
times a second, each time in a single write, so that nothing flickers. A file or a pipe gets a line
every ten seconds instead, and later every tenth of the time that has passed. It is a rich.live, not
a rich.progress: that would replace the bar alone (20 lines), in exchange for columns of our own for
budgets, errors and running tasks, and it leaves torn lines when the window gets narrower.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TextIO

from orfeon.utils.text import clock_text
from orfeon.workbench.cli.output import is_terminal, printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

#: Redraws per second.
_RATE = 5
#: Maximum width of a line. A terminal that is made narrower wraps longer lines.
_WIDEST = 100
#: Seconds of work before the time left is estimated.
_FIRST_ESTIMATE = 1.0
#: Least seconds between two lines of a log, and as a share of the time that has passed.
_LOGGED, _LOGGED_SHARE = 10.0, 0.1


@dataclass
class _State:
    """What the display shows."""

    title: str
    total: float = 0.0
    is_time: bool = False
    done: float = 0.0
    done_before: float = 0.0
    started: float = 0.0
    advanced: float = 0.0
    running: tuple[str, ...] = ()
    last: str = ""
    n_errors: int = 0
    last_error: str = ""
    seconds_left: float | None = None

    def estimate(self) -> float | None:
        """Seconds left at the last advance, or None while unknown."""
        fresh, elapsed = self.done - self.done_before, self.advanced - self.started
        if fresh <= 0 or elapsed < _FIRST_ESTIMATE:
            return None
        return elapsed / fresh * max(0.0, self.total - self.done)


class LiveDisplay:
    """Progress of long work: drawn on a terminal, a line now and then elsewhere.

    It may be updated from any thread. It is a context manager: leaving it removes the display and
    restores the cursor, also after Ctrl-C.
    """

    def __init__(
        self,
        title: str = "",
        *,
        quiet: bool = False,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state = _State(title=printable(title))
        self._stream = sys.stderr if file is None else file
        self._shown = not quiet and is_terminal(self._stream)
        self._is_logged = not quiet and not self._shown
        self._logged = 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._live: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def done(self) -> float:
        return self._state.done

    @property
    def total(self) -> float:
        """How much there is to do."""
        return self._state.total

    def start(self, total: float, done: float = 0, *, is_time: bool = False) -> None:
        """Start, or correct the total amount of work."""
        with self._lock:
            state = self._state
            state.total, state.is_time = float(total), is_time
            if self._live is None and not state.started:
                state.started = state.advanced = self._logged = self._clock()
                state.done = state.done_before = float(done)
        if self._shown and self._live is None:
            self._live = _make_live(self._stream, _Picture(self._snapshot))
            self._live.start(refresh=True)

    def running(self, names: Sequence[str]) -> None:
        """Show what is running."""
        with self._lock:
            self._state.running = tuple(map(printable, names))
        self._log()

    def advance(self, n: float = 1, text: str = "") -> None:
        """Count finished work."""
        with self._lock:
            state = self._state
            state.done += n
            state.advanced = self._clock()
            state.seconds_left = state.estimate()
            if text:
                state.last = printable(text)
        self._log()

    def reach(self, n_done: int, n_all: int, latest: str) -> None:
        """Show how much is done of how much, and the latest step."""
        self.start(n_all)
        if n_done > self.done:
            self.advance(n_done - self.done)
        self.running([latest])

    def time_left(self, seconds: float) -> None:
        """Set the time left, where it is known better than from the pace so far."""
        with self._lock:
            self._state.seconds_left = seconds
            self._state.advanced = self._clock()

    def error(self, text: str) -> None:
        """Count an error that does not stop the work."""
        with self._lock:
            self._state.n_errors += 1
            self._state.last_error = printable(text)

    def note(self, text: str) -> None:
        """Write a permanent line above the display."""
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(printable(text)))

    def close(self) -> None:
        """Remove the display for good."""
        live, self._live, self._shown, self._is_logged = self._live, None, False, False
        if live is not None:
            live.stop()

    def _log(self) -> None:
        """Write a line to a log if the last one was long ago."""
        with self._lock:
            state, now = self._state, self._clock()
            pause = max(_LOGGED, _LOGGED_SHARE * (now - state.started))
            if not self._is_logged or not state.total or now - self._logged < pause:
                return
            self._logged = now
        parts = dict(self._snapshot())
        parts["bar"] = parts["bar"].partition("|")[2]
        if "now" in parts:
            parts["now"] = f"now {parts['now']}"
        text = "; ".join(parts[kind] for kind in ("bar", "now", "errors") if kind in parts)
        title = f"{parts['title']}: " if "title" in parts else ""
        with contextlib.suppress(OSError, ValueError):  # the log is gone; the work continues
            print(f"{title}{text}", file=self._stream, flush=True)

    def _snapshot(self) -> Iterator[tuple[str, str]]:
        """The lines of the display: a kind and a text each."""
        with self._lock:
            state, now = self._state, self._clock()
            share = min(1.0, state.done / state.total) if state.total else 0.0
            left = state.seconds_left
            if left is not None:
                left = max(0.0, left - (now - state.advanced))
            lines = [
                ("title", state.title),
                ("bar", f"{share:.6f}|{_figures(state, share, now - state.started, left)}"),
                ("now", ", ".join(state.running)),
                ("done", state.last),
                ("errors", _errors(state)),
            ]
        return ((kind, text) for kind, text in lines if text)


def _figures(state: _State, share: float, elapsed: float, left: float | None) -> str:
    remaining = f"{clock_text(left)} left" if left is not None else "estimating"
    figures = f"{int(100 * share)}%  {clock_text(elapsed)} elapsed, {remaining}"
    return figures if state.is_time else f"{state.done:,.0f}/{state.total:,.0f}  {figures}"


def _errors(state: _State) -> str:
    if not state.n_errors:
        return ""
    if state.n_errors == 1:
        return f"1 error: {state.last_error}"
    return f"{state.n_errors:,} errors, last: {state.last_error}"


_STYLES = {"title": "bold", "now": "", "done": "dim", "errors": "red"}
_LABELS = {"now": "now   ", "done": "done  "}


class _Picture:
    """The display as Rich draws it; it remembers the widths of the lines."""

    def __init__(self, snapshot: Callable[[], Iterator[tuple[str, str]]]) -> None:
        self._snapshot = snapshot
        self.widths: list[int] = []

    def lines(self, width: int, ascii_only: bool) -> list[Text]:
        """The lines, none wider than the terminal."""
        from rich.text import Text

        # The last column stays empty: some terminals wrap when it is written.
        room = max(1, min(width - 1, _WIDEST))
        texts = []
        for kind, text in self._snapshot():
            if kind == "bar":
                line = _bar_line(text, room, ascii_only)
            else:
                line = Text(_LABELS.get(kind, "") + text, style=_STYLES[kind])
            line.truncate(room, overflow="crop" if ascii_only else "ellipsis")
            line.no_wrap = True
            texts.append(line)
        return texts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        lines = self.lines(options.max_width, options.ascii_only)
        self.widths = [line.cell_len for line in lines]
        yield from lines

    def folded_rows(self, width: int) -> int:
        """Rows added by a terminal of this width that wrapped the lines."""
        return sum((max(1, drawn) - 1) // max(1, width) for drawn in self.widths)


def _bar_line(text: str, room: int, ascii_only: bool) -> Text:
    from rich.text import Text

    share, figures = text.split("|", 1)
    length = min(30, room - len(figures) - 2)
    line = Text()
    if length >= 5:
        full = round(length * float(share))
        line.append(("#" if ascii_only else "█") * full, style="green")
        line.append(("-" if ascii_only else "░") * (length - full), style="dim")
        line.append("  ")
    return line.append(figures)


def _make_live(stream: TextIO, picture: _Picture) -> Any:
    """Rich's live display, fixed for terminals that are made narrower."""
    from rich.console import Console, ConsoleRenderable
    from rich.control import Control
    from rich.live import Live
    from rich.segment import ControlType

    class ResizableLive(Live):
        """Moves up by the rows that the lines take now, not by those drawn."""

        def process_renderables(
            self, renderables: list[ConsoleRenderable]
        ) -> list[ConsoleRenderable]:
            folded = picture.folded_rows(self.console.width)
            up = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))
            moved = Control(ControlType.CARRIAGE_RETURN, *up * folded)
            return [moved, *super().process_renderables(renderables)]

        def refresh(self) -> None:
            try:
                super().refresh()
            except (OSError, ValueError):  # the terminal is gone; the work continues
                picture.widths = []

    console = Console(file=stream, force_terminal=True, highlight=False, emoji=False, markup=False)
    return ResizableLive(
        picture,
        console=console,
        refresh_per_second=_RATE,
        transient=True,
        vertical_overflow="crop",
        # Output to a file or a pipe must not pass through the terminal.
        redirect_stdout=is_terminal(sys.stdout),
    )
