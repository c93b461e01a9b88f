"""``orfeon serve``: starts when all is ready, tells who can reach it, ends as it is told."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.serving_reload import Clients
from tests.workbench.serve.clients import ask

from orfeon.workbench.cli import main
from orfeon.workbench.cli.serve import _address, _warn_of_strangers
from orfeon.workbench.serve import create_app, process
from orfeon.workbench.serve.copies import delete_old_copies


@contextlib.contextmanager
def answered(name: str) -> Iterator[None]:
    """Processes that are started hear a signal, also where nohup has the tests ignore it."""
    number = getattr(signal, name, None)
    if number is None:
        yield
        return
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


class Running:
    """The command in a process of its own, until it listens."""

    def __init__(self, model: Path, *more: str) -> None:
        command = [sys.executable, "-m", "orfeon", "serve", str(model), "--port", "0", *more]
        with answered("SIGHUP"):
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        self.lines: list[str] = []
        # Whoever waits for a line that never comes is told so, and does not wait for ever.
        self.patience = threading.Timer(180, self.process.kill)
        self.patience.start()

    def __enter__(self) -> Running:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r"served at (http://\S+)", line):
                self.address = found.group(1)
                return self
        raise AssertionError("".join(self.lines))

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.patience.cancel()

    def ask(self, path: str, body: bytes | None = None, host: str | None = None) -> object:
        headers = {"Content-Type": "application/json", **({"Host": host} if host else {})}
        request = urllib.request.Request(self.address + path, body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def clients(self, bodies: list[bytes], answers: list[object]) -> Clients:
        """Clients that ask all the time, and know the right answers."""
        right = frozenset(json.dumps(answer).encode() for answer in answers)
        port = int(self.address.rpartition(":")[2])
        made = Clients(port, bodies, [right] * len(bodies))
        made.start()
        return made

    def answers(self) -> bool:
        try:
            return bool(self.ask("/health"))
        except OSError:
            return False

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(30)
        self.lines += self.process.stderr.readlines()
        return code


@pytest.fixture(scope="module")
def row(place) -> bytes:
    row = {"size": 50.0, "rooms": 2, "code": "01", "built": "1990-01-05", "price": 150}
    return json.dumps({"rows": [row]}).encode()


@pytest.mark.tools
def test_two_workers_share_a_port_and_end_well(place, row, tmp_path):
    model = Path(shutil.copy(place / "bag.orfeon", tmp_path))
    more = ("--early-decision", "--allow-host", "model.example")
    with Running(model, "--workers", "2", *more) as running:
        answer = running.ask("/predict", row)
        assert answer["predictions"][0] in ("cheap", "dear")
        assert 1 <= answer["n_queried"][0] <= 15
        content = model.read_bytes()
        model.write_bytes(b"")  # whoever writes into the file takes nothing from those who serve it
        assert all(running.ask("/predict", row) == answer for _ in range(4))
        model.write_bytes(content)
        if hasattr(signal, "SIGHUP"):
            running.process.send_signal(signal.SIGHUP)
            wait_for(running, "the model was reloaded")
            assert running.ask("/predict", row) == answer
        pids = set()
        until = time.monotonic() + 60
        while len(pids) < 2 and time.monotonic() < until:
            pids.add(running.ask("/health")["pid"])
        assert len(pids) == 2
        assert running.process.pid not in pids
        with pytest.raises(urllib.error.HTTPError, match="421"):
            running.ask("/health", host="evil.example")
        assert running.ask("/health", host="model.example:80")
        # A worker that dies takes nobody with it, and another one comes.
        os.kill(min(pids), signal.SIGKILL)
        found: set[int] = set()
        while not found - pids and time.monotonic() < until + 60:
            time.sleep(0.3)
            found.add(running.ask("/health")["pid"])
        assert found - pids
        assert found & pids == {max(pids)}
        clients = running.clients([row], [answer])
        time.sleep(0.5)
        clients.tally.is_ending = True
        assert running.end(signal.SIGTERM) == 0
        clients.end()
        assert not clients.tally.reasons
        assert clients.tally.n_fresh > 5
    assert running.lines[0].startswith("Preparing bag.orfeon")
    assert running.lines[-1] == "Stopped.\n"
    assert "Traceback" not in "".join(running.lines)


@pytest.mark.tools
def test_programs_are_told_the_address_and_ctrl_c_ends_well(place, row, tmp_path):
    model = Path(shutil.copy(place / "price.orfeon", tmp_path))
    command = [sys.executable, "-m", "orfeon", "serve", str(model), "--json", "-q"]
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        told = json.loads("".join(running.stdout.readline() for _ in range(6)))
        assert told["address"].startswith("http://127.0.0.1:")
        assert told["pid"] == running.pid
        model.write_bytes(b"")  # it was read, and is not needed any more
        request = urllib.request.Request(
            f"{told['address']}/predict", row, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert isinstance(json.load(answer)["predictions"][0], float)
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=30) == ("", "")
        assert running.returncode == 0


def wait_for(running: Running, words: str) -> None:
    for line in running.process.stderr:
        running.lines.append(line)
        if words in line:
            return
    raise AssertionError("".join(running.lines))


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.tools
def test_a_hangup_loads_the_file_anew_and_a_bad_one_changes_nothing(place, row, tmp_path, workers):
    model = Path(shutil.copy(place / "bag.orfeon", tmp_path / "model.orfeon"))
    with Running(model, "--workers", str(workers)) as running:
        first = running.ask("/predict", row)
        assert first["predictions"][0] in ("cheap", "dear")
        second = ask(create_app(place / "price.orfeon"), row).json
        pids = {running.ask("/health")["pid"] for _ in range(20)}
        clients = running.clients([row], [first, second])
        other = Path(shutil.copy(place / "price.orfeon", tmp_path))
        os.replace(other, model)
        running.process.send_signal(signal.SIGHUP)
        wait_for(running, "the model was reloaded")
        assert all(running.ask("/predict", row) == second for _ in range(10))
        model.write_bytes(b"PK")
        running.process.send_signal(signal.SIGHUP)
        wait_for(running, "so the old model stays")
        assert running.ask("/predict", row) == second
        # The same processes answer, and nobody was reset.
        assert {running.ask("/health")["pid"] for _ in range(20)} & pids
        if workers == 1:
            clients.tally.is_ending = True
            assert running.end(signal.SIGTERM) == 0
        clients.end()
        assert not clients.tally.reasons
        assert min(clients.tally.n_fresh, clients.tally.n_kept) > 20
        if workers == 2:
            # A worker that comes later is given what was checked, and not what the file is now.
            before = running.ask("/health")["pid"]
            os.kill(before, signal.SIGKILL)
            found = {before}
            until = time.monotonic() + 60
            while len(found) < 3 and time.monotonic() < until:
                time.sleep(0.2)
                if running.answers():
                    found.add(running.ask("/health")["pid"])
            assert len(found) == 3
            assert isinstance(running.ask("/predict", row)["predictions"][0], float)
            # Workers end with a command that is killed, and give the port free.
            running.process.kill()
            until = time.monotonic() + 30
            while running.answers() and time.monotonic() < until:
                time.sleep(0.1)
            assert not running.answers()
    assert "Traceback" not in "".join(running.lines)


def test_copies_that_nobody_maps_any_more_are_deleted(tmp_path):
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        os.utime(folder, (number, number))
    delete_old_copies(tmp_path, tmp_path / "1")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["1", "3"]


def test_a_port_that_is_taken_is_a_mistake_of_the_user(place, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", str(place / "bag.orfeon"), "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert f"--port {port}" in error
    assert "another port" in error


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--port", "70000"], "is not a port"),
        (["--port", "x"], "is not a port"),
        (["--workers", "0"], "1 or more"),
        (["--max-rows", "0"], "1 or more"),
        (["--timeout", "0"], "greater than 0"),
        (["--early-decision", "2"], "at most 1"),
        (["--allow-host", "http://model.example"], "without scheme and port"),
        (["--host", "no.such.host.invalid", "--port", "0"], "is not an address of this machine"),
    ],
)
def test_wrong_options_are_told(place, capsys, more, message):
    assert main(["serve", str(place / "bag.orfeon"), *more]) == 2
    assert message in capsys.readouterr().err


def test_what_cannot_be_served_is_told_before_anything_starts(place, tmp_path, capsys):
    assert main(["serve", str(tmp_path / "none.orfeon")]) == 2
    assert "no file" in capsys.readouterr().err
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04.")
    assert main(["serve", str(tmp_path / "model.pkl"), "--port", "0"]) == 2
    assert "never loads pickles" in capsys.readouterr().err
    (tmp_path / "broken.orfeon").write_bytes(b"PK\x03\x04")
    assert main(["serve", str(tmp_path / "broken.orfeon"), "--port", "0"]) == 2
    capsys.readouterr()
    arguments = ["serve", str(place / "price.orfeon"), "--port", "0", "--early-decision"]
    assert main(arguments) == 2
    assert "cannot decide early" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "httptools"])
def test_a_missing_extra_is_named(place, capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["serve", str(place / "bag.orfeon"), "--port", "0"]) == 2
    assert 'pip install "orfeon[serve]"' in capsys.readouterr().err


def test_create_app_names_the_extra_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.delitem(sys.modules, "orfeon.workbench.serve.application", raising=False)
    import orfeon.workbench.serve

    with pytest.raises(ImportError, match=r'pip install "orfeon\[serve\]"'):
        orfeon.workbench.serve.__getattr__("create_app")


def test_strangers_are_warned_of_loudly(capsys):
    _warn_of_strangers("127.0.0.1")
    assert capsys.readouterr().err == ""
    _warn_of_strangers("0.0.0.0")
    error = capsys.readouterr().err
    assert "WARNING" in error
    assert "no password" in error


def test_the_service_is_local_unless_told_otherwise(place, monkeypatch, capsys):
    seen = {}

    def stop(host: str, port: int) -> socket.socket:
        seen["host"] = host
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "open_socket", stop)
    assert main(["serve", str(place / "bag.orfeon")]) == 130
    assert seen == {"host": "127.0.0.1"}
    capsys.readouterr()


def test_addresses_are_written_as_browsers_take_them():
    assert _address("::1", 80) == "http://[::1]:80"
    assert _address("127.0.0.1", 8000) == "http://127.0.0.1:8000"


def test_logs_are_plain_and_only_of_defects():
    assert process._logging(False)["loggers"]["uvicorn.access"]["handlers"] == []
    assert process._logging(True)["loggers"]["uvicorn.access"]["handlers"] == ["stderr"]
