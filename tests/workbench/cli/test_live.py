"""The live display: what it says, on a true terminal too, and that it keeps still elsewhere."""

from __future__ import annotations

import io
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.workbench.cli.terminal import Screen

from orfeon.workbench.cli.live import LiveDisplay


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def told(display: LiveDisplay) -> dict[str, str]:
    return dict(display._snapshot())


# -- what it says ----------------------------------------------------------------------------------


def test_the_time_left_follows_from_the_pace_and_runs_down_between_steps():
    clock = Clock()
    display = LiveDisplay("study", quiet=True, clock=clock)
    display.start(10)
    assert told(display)["bar"].endswith("0/10  0%  0:00 elapsed, estimating")
    clock.now += 20
    display.advance(2, "bagging")
    assert told(display)["bar"].endswith("2/10  20%  0:20 elapsed, 1:20 left")
    clock.now += 5
    assert told(display)["bar"].endswith("2/10  20%  0:25 elapsed, 1:15 left")
    clock.now += 100
    assert told(display)["bar"].endswith("0:00 left")


def test_what_was_done_before_counts_as_done_but_not_for_the_pace():
    clock = Clock()
    display = LiveDisplay(quiet=True, clock=clock)
    display.start(100, done=90)
    clock.now += 10
    display.advance(5)
    assert told(display)["bar"].endswith("95/100  95%  0:10 elapsed, 0:10 left")
    display.start(200)
    display.advance(5)
    assert (display.done, display.total) == (100, 200)
    assert told(display)["bar"].endswith("100/200  50%  0:10 elapsed, 1:40 left")


def test_a_time_left_that_is_known_better_is_told():
    clock = Clock()
    display = LiveDisplay(quiet=True, clock=clock)
    display.start(100)
    display.time_left(3675)
    clock.now += 15
    assert told(display)["bar"].endswith("1:01:00 left")


def test_what_runs_what_is_done_and_errors_are_told():
    display = LiveDisplay("study", quiet=True)
    display.start(3)
    display.running(["bagging, fold 1", "boosting, fold \x1b[2J"])
    display.advance(1, "tree, fold 1: 12%")
    display.advance(1)
    display.error("one")
    assert told(display)["errors"] == "1 error: one"
    display.error("two")
    lines = told(display)
    assert lines["now"] == "bagging, fold 1, boosting, fold \\x1b[2J"
    assert lines["done"] == "tree, fold 1: 12%"
    assert lines["errors"] == "2 errors, last: two"


def test_pipes_dumb_terminals_and_the_quiet_see_nothing(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    pipe, quiet, dumb = io.StringIO(), Terminal(), Terminal()
    for stream, silent, term in (
        (pipe, False, "xterm"),
        (quiet, True, "xterm"),
        (dumb, False, "dumb"),
    ):
        monkeypatch.setenv("TERM", term)
        with LiveDisplay("study", quiet=silent, file=stream) as display:
            display.start(2)
            display.advance(1, "one")
            display.note("a note")
        assert stream.getvalue() == ""


def test_a_log_gets_a_line_now_and_then():
    clock, log = Clock(), io.StringIO()
    with LiveDisplay("study of waves", file=log, clock=clock) as display:
        display.start(100)
        for _ in range(100):
            clock.now += 3
            display.running(["bagging"])
            display.advance()
    lines = log.getvalue().splitlines()
    assert lines[0] == "study of waves: 3/100  3%  0:12 elapsed, 4:48 left; now bagging"
    assert len(lines) < 300 / 10
    assert len(lines) > 10
    for quiet, seconds in ((True, 100), (False, 9)):
        log = io.StringIO()
        with LiveDisplay(file=log, quiet=quiet, clock=clock) as display:
            display.start(100)
            clock.now += seconds
            display.advance()
        assert log.getvalue() == ""


def test_telling_it_costs_microseconds_and_any_thread_may(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with LiveDisplay("study", file=Terminal()) as display:
        display.start(4000)

        def work() -> None:
            for _ in range(1000):
                display.advance(1, "text")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert display.done == 4000


def test_a_terminal_that_goes_away_does_not_stop_the_work(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    display = LiveDisplay("study", file=terminal)
    display.start(3)

    def gone(text: str) -> int:
        raise OSError(5, "Input/output error")

    terminal.write = gone  # type: ignore[method-assign]
    display.advance(1, "one")
    display._live.refresh()
    assert display.done == 1
    del terminal.write
    display.close()


def test_lines_fit_terminals_of_any_width(monkeypatch):
    from orfeon.workbench.cli.live import _Picture

    display = LiveDisplay("a long title " * 20, quiet=True)
    display.start(2000)
    display.running(["日本語の長い名前 " * 20])
    display.error("e" * 500)
    picture = _Picture(display._snapshot)
    for width in (1, 2, 5, 10, 40, 80, 300):
        for ascii_only in (False, True):
            widths = [line.cell_len for line in picture.lines(width, ascii_only)]
            assert max(widths) <= max(1, min(width - 1, 100))
    plain = picture.lines(80, True)[1].plain
    assert plain.isascii()


# -- a true terminal -------------------------------------------------------------------------------

# Each line of standard input is run; the answer on the other pipe says that it was, and drawn.
CHILD = """
import os, sys, time
from orfeon.workbench.cli import live
live._RATE = 0.001
d = live.LiveDisplay("study of wine")
for line in sys.stdin:
    exec(line.replace('\\\\n', chr(10)))
    if d._live is not None:
        d._live.refresh()
    os.write(int(sys.argv[1]), b"k")
"""


class Window:
    """A process on a terminal of its own."""

    def __init__(self, width: int, **environment: str) -> None:
        import pty

        self._master, slave = pty.openpty()
        answer, theirs = os.pipe()
        self.screen = Screen(width)
        self._slave, self._answer = slave, answer
        self.resize(width)
        variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(theirs)],
            stdin=subprocess.PIPE, stdout=slave, stderr=slave, pass_fds=[theirs], text=True,
            env={**variables, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environment},
        )  # fmt: skip
        os.close(theirs)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def do(self, statement: str) -> list[str]:
        self.send(statement)
        return self.answered()

    def send(self, statement: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(statement + "\n")
        self._process.stdin.flush()

    def answered(self) -> list[str]:
        assert os.read(self._answer, 1) == b"k"
        return self.read()

    def read(self) -> list[str]:
        import select

        while select.select([self._master], [], [], 0.05)[0]:
            self.screen.feed(os.read(self._master, 65536).decode())
        return self.screen.lines

    def resize(self, width: int) -> None:
        import fcntl
        import termios

        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        self.screen.resize(width)

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def close(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(20)
        for handle in (self._master, self._slave, self._answer):
            os.close(handle)
        return code


@pytest.fixture
def window(request: Any) -> Iterator[Window]:
    pytest.importorskip("pty", reason="terminals of Unix")
    opened = Window(90, **getattr(request, "param", {}))
    yield opened
    opened.close()


def test_the_display_is_drawn_in_place_and_taken_away(window):
    lines = window.do("d.start(40); d.running(['bagging, fold 1'])")
    assert lines[0] == "study of wine"
    assert lines[1].startswith("░" * 30 + "  0/40  0%")
    assert lines[2] == "now   bagging, fold 1"
    assert not window.screen.cursor_shown
    lines = window.do("d.advance(20, 'bagging, fold 1: 8%'); d.running(['tree'])")
    assert lines[1].startswith("█" * 15 + "░" * 15 + "  20/40  50%")
    assert lines[2:] == ["now   tree", "done  bagging, fold 1: 8%"]
    lines = window.do("d.note('a note [bold]'); d.error('tree: failed')")
    assert lines[0] == "a note [bold]"
    assert lines[1] == "study of wine"
    assert lines[5] == "1 error: tree: failed"
    lines = window.do("d.close(); print('after')")
    assert lines == ["a note [bold]", "after"]
    assert window.screen.cursor_shown


def test_what_others_print_stands_above(window):
    window.do("d.start(2)")
    window.do("print('to stdout')")
    lines = window.do("print('to stderr', file=sys.stderr)")
    assert lines[:3] == ["to stdout", "to stderr", "study of wine"]
    assert window.do("d.close()") == ["to stdout", "to stderr"]


def test_a_window_made_narrower_and_wider_keeps_one_clean_display(window):
    window.do("print('before'); d.start(2000); d.running(['a long name of a method'] * 5)")
    for width in (60, 25, 25, 110, 40, 12, 90):
        window.resize(width)
        lines = window.do("d.advance(7, 'bagging, repetition 3, fold 7: 8.25%, of 200 members')")
        assert lines[0] == "before"
        assert lines[1] == "study of wine"[: width - 2] + "…" if width < 15 else "study of wine"
        assert len(lines) == 5
        assert sum("now" in line for line in lines) == 1
        assert max(map(len, lines)) < width
    assert window.do("d.close()") == ["before"]


@pytest.mark.parametrize("window", [{"NO_COLOR": "1"}], indirect=True)
def test_no_color_is_honoured(window):
    window.do("d.start(2); d.advance(1, 'one'); d.error('x')")
    assert not window.screen.styles & {"31", "32"}


def test_colours_are_there_without_it(window):
    window.do("d.start(2); d.advance(1, 'one'); d.error('x')")
    assert {"31", "32"} <= window.screen.styles


def test_each_drawing_is_a_single_write(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("orfeon.workbench.cli.live._RATE", 0.001)

    class Counted(Terminal):
        writes = 0

        def write(self, text: str) -> int:
            self.writes += 1
            return super().write(text)

    terminal = Counted()
    with LiveDisplay("study", file=terminal) as display:
        display.start(3)
        display.advance(1, "one")
        before = terminal.writes
        display._live.refresh()
        assert terminal.writes == before + 1


def test_ctrl_c_takes_the_display_away_and_gives_the_cursor_back(window):
    window.do("from orfeon.workbench.cli.guard import guarded")
    window.do("def run(arguments):\\n    with d: d.start(2); d.note('kept'); time.sleep(30)")
    window.send("code = guarded(run, ['study'])")
    while "study of wine" not in window.read():
        assert window.is_running
    assert not window.screen.cursor_shown
    window.interrupt()
    assert window.answered() == ["kept", "orfeon study: interrupted."]
    assert window.screen.cursor_shown
    assert window.do("print(code)")[-1] == "130"
