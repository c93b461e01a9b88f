"""The frame of the command: what it lists, how fast it starts, and what it says of mistakes."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import orfeon
from orfeon.errors import UserError
from orfeon.workbench.cli import COMMANDS, available_commands, main
from orfeon.workbench.cli.guard import Terminated, guarded

# -- the list of commands --------------------------------------------------------------------------


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"orfeon {orfeon.__version__}\n"


def test_help_names_every_command_that_is_there_and_the_exit_codes(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name in available_commands():
        assert re.search(rf"^ +{name} +\w", text, re.MULTILINE), name
    assert "130  interrupted" in text


def test_a_command_without_a_module_is_left_out(monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "sing", "not yet written")
    assert "sing" not in available_commands()
    assert main(["sing"]) == 2
    assert "unknown command 'sing'" in capsys.readouterr().err


def test_nothing_given_shows_the_help_and_is_a_mistake(capsys):
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: orfeon")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["warmpu"], "orfeon: error: unknown command 'warmpu' (did you mean 'warmup'?)."),
        (
            ["--versoin"],
            "orfeon: error: unknown option '--versoin' (did you mean '--version'?).",
        ),
        (
            ["warmup", "--familly", "trees"],
            "orfeon warmup: error: unknown option '--familly' (did you mean '--family'?).",
        ),
        (["warmup", "trees"], "orfeon warmup: error: unexpected argument 'trees'."),
        (["warmup", "--fam", "trees"], "orfeon warmup: error: unknown option '--fam'"),
        (["warmup", "--family"], "orfeon warmup: error: argument --family: expected one argument."),
    ],
)
def test_a_slip_is_one_sentence_with_the_nearest_name(arguments, message, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("command", available_commands())
def test_every_command_has_a_page_with_examples_and_exit_codes(command, capsys):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: orfeon {command}")
    assert f"  orfeon {command}" in text.split("Examples:")[1]
    assert "Exit codes:" in text
    assert "--json" in text


def test_asking_for_the_version_imports_no_command_and_nothing_heavy():
    code = (
        "import sys; from orfeon.workbench.cli import main; main(['--version']); main(['--help']);"
        "heavy = {'numpy', 'numba', 'sklearn', 'pandas', 'rich', 'sqlalchemy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_the_version_takes_less_than_three_tenths_of_a_second():
    def seconds(*arguments: str) -> float:
        # Time of the processor, not of the clock: other work on the machine is no matter.
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = os.times()
        return (after.children_user + after.children_system) - (
            before.children_user + before.children_system
        )

    found = min(seconds("-m", "orfeon", "--version") for _ in range(3))
    # About 0.05 s, and Python alone 0.01 s; where that is slow, so may this be.
    alone = min(seconds("-c", "import argparse") for _ in range(3))
    assert found < max(0.3, 6 * alone)


# -- exit codes ------------------------------------------------------------------------------------


def ends_with(error: BaseException, *arguments: str) -> int:
    def run(arguments: list[str]) -> int:
        raise error

    return guarded(run, ["fit", *arguments])


def test_what_a_command_returns_is_the_exit_code():
    assert guarded(lambda arguments: 0, ["fit"]) == 0


def test_a_mistake_of_the_user_is_a_sentence_and_2(capsys):
    assert ends_with(UserError("--target: no column 'x'.")) == 2
    assert capsys.readouterr().err == "orfeon fit: error: --target: no column 'x'.\n"


def test_debug_shows_where_a_mistake_was_found(capsys):
    assert ends_with(UserError("no column 'x'."), "--debug") == 2
    text = capsys.readouterr().err
    assert text.startswith("Traceback")
    assert text.endswith("orfeon fit: error: no column 'x'.\n")


def test_a_defect_is_1_and_its_traceback_is_in_a_file(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert ends_with(ZeroDivisionError("by nothing"), "wine.csv") == 1
    text = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: by nothing" in text
    assert "Traceback" not in text
    (file,) = tmp_path.iterdir()
    assert str(file) in text
    written = file.read_text()
    assert f"orfeon {orfeon.__version__}" in written
    assert "orfeon fit wine.csv" in written
    assert "ZeroDivisionError: by nothing" in written


def test_a_defect_shows_its_traceback_where_no_file_can_be_written(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "not there"))
    assert ends_with(ZeroDivisionError("by nothing")) == 1
    text = capsys.readouterr().err
    assert text.startswith("Traceback")
    assert "The traceback is above" in text


def test_debug_shows_the_traceback_of_a_defect_and_writes_no_file(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert ends_with(ZeroDivisionError("by nothing"), "--debug") == 1
    assert capsys.readouterr().err.startswith("Traceback")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "", "out.csv"), "out.csv: there is no space left on the disk"),
        (PermissionError(errno.EACCES, "", "/x"), "/x: permission denied."),
        (FileNotFoundError(errno.ENOENT, "", "d.csv"), "d.csv: no such file or folder."),
        (OSError(errno.ENOSPC, ""), "There is no space left on the disk"),
        (MemoryError("Unable to allocate 8 GiB"), "not enough memory. Unable"),
    ],
)
def test_what_the_system_refuses_is_told_in_a_sentence(error, message, capsys, monkeypatch):
    monkeypatch.setattr("orfeon.workbench.cli.guard._leave_closed_pipe", lambda: None)
    assert ends_with(error) == 2
    assert capsys.readouterr().err.startswith(f"orfeon fit: error: {message}")


def test_other_errors_of_the_system_are_defects(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert ends_with(OSError(errno.EBADF, "bad descriptor")) == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "orfeon fit: interrupted.\n"),
        (Terminated(signal.SIGTERM), 143, "orfeon fit: terminated.\n"),
    ],
)
def test_interrupted_and_terminated(error, code, message, capsys):
    assert ends_with(error) == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(("given", "code"), [(None, 0), (3, 3), ("a sentence", 2)])
def test_a_command_may_exit_by_itself(given, code):
    assert ends_with(SystemExit(given)) == code


def test_control_characters_of_messages_are_shown_not_obeyed(capsys):
    ends_with(UserError("no column '\x1b[2Jx'."))
    assert capsys.readouterr().err == "orfeon fit: error: no column '\\x1b[2Jx'.\n"


@pytest.mark.filterwarnings("always")
def test_warnings_are_sentences_told_once_and_those_for_developers_are_not(capsys):
    def run(arguments: list[str]) -> int:
        for _ in range(2):
            warnings.warn("few rows", UserWarning, stacklevel=1)
            warnings.warn("will go", FutureWarning, stacklevel=1)
        return 0

    before = warnings.showwarning
    assert guarded(run, ["fit"]) == 0
    assert capsys.readouterr().err == "orfeon fit: warning: few rows\n"
    assert warnings.showwarning is before


def test_handlers_of_signals_are_as_before_afterwards_and_threads_may_run_commands():
    before = signal.getsignal(signal.SIGTERM)
    found = []
    guarded(lambda arguments: found.append(signal.getsignal(signal.SIGTERM)) or 0, [])
    assert found[0] is not before
    assert signal.getsignal(signal.SIGTERM) is before
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(guarded(lambda arguments: 7, [])))
    thread.start()
    thread.join()
    assert codes == [7]


# -- true processes --------------------------------------------------------------------------------

SLEEPER = """
import sys, time
from orfeon.workbench.cli.guard import guarded
def run(arguments):
    try:
        print("ready", flush=True)
        time.sleep(30)
    finally:
        print("tidied", flush=True)
    return 0
sys.exit(guarded(run, ["study"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (signal.SIGINT, 130, "orfeon study: interrupted.\n"),
        (signal.SIGTERM, 143, "orfeon study: terminated.\n"),
    ],
)
def test_signals_let_a_command_tidy_up(number, code, message):
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (code, "tidied\n", message)


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def test_a_reader_that_goes_away_ends_the_command_quietly():
    code = (
        "import sys; from orfeon.workbench.cli.guard import guarded\n"
        "def run(arguments):\n"
        "    for number in range(1_000_000): print(number)\n"
        "    return 0\n"
        "sys.exit(guarded(run, ['datasets']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().strip() == b"0"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is needed")
def test_a_full_disk_under_standard_output_is_a_sentence():
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "orfeon", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert ended.returncode == 2
    assert ended.stderr == (
        "orfeon: error: There is no space left on the disk: free some, or write elsewhere.\n"
    )


def test_standard_output_may_be_closed_or_speak_ascii_only():
    code = (
        "import sys; from orfeon.workbench.cli.guard import guarded\n"
        "sys.exit(guarded(lambda arguments: print('0.5 ± 0.1'), []) or 0)"
    )
    ascii_only = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert (ascii_only.returncode, ascii_only.stdout) == (0, "0.5 \\xb1 0.1\n")
    if os.name != "nt":
        closed = subprocess.run(
            f"exec '{sys.executable}' -m orfeon --version >&-",
            shell=True,
            capture_output=True,
            text=True,
        )
        assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.parametrize(("options", "told"), [([], True), (["--quiet"], False)])
def test_quiet_commands_do_not_tell_of_kernels(options, told, monkeypatch, caplog):
    def run(given):
        logging.getLogger("orfeon").warning("compiling kernels")
        return 0

    monkeypatch.setattr("orfeon.workbench.cli.warmup.run", run)
    assert main(["warmup", *options]) == 0
    assert ("compiling kernels" in caplog.text) == told
    assert logging.getLogger("orfeon").level == logging.NOTSET
