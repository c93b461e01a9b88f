"""Folders of copies: gone with the command, and with the next one where it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from orfeon.workbench.serve import copies

pytestmark = pytest.mark.skipif(copies.fcntl is None, reason="there are no such locks")

_KILLED = """
import os, signal
from orfeon.workbench.serve.copies import folder_of_copies, own_copy
from pathlib import Path
with folder_of_copies() as folder:
    own_copy(Path(__import__("sys").argv[1]), folder)
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _own_place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def left(tmp_path):
    """The folder that a killed command has left."""
    (tmp_path / "model.orfeon").write_bytes(b"model")
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "model.orfeon")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    folder = tmp_path / os.path.basename(done.stdout.strip())
    assert len(list(folder.glob("*/model.orfeon"))) == 1
    return folder


def test_what_a_killed_command_has_left_is_removed_by_the_next(left):
    with copies.folder_of_copies() as folder:
        assert not left.exists()
        copies.remove_stale()
        assert folder.exists()  # its command lives
    assert not folder.exists()


def test_what_others_own_stays(left, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    left.rename(elsewhere)
    (tmp_path / "orfeon-serve-link").symlink_to(elsewhere)
    (tmp_path / "orfeon-serve-file").write_bytes(b"")
    (tmp_path / "orfeon-serve-new").mkdir()  # of a command that begins
    copies.remove_stale()
    assert len(list(tmp_path.glob("orfeon-serve-*"))) == 3
    assert elsewhere.exists()
    elsewhere.rename(left)
    with monkeypatch.context() as other_user:
        other_user.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
        copies.remove_stale()
        assert left.exists()
    copies.remove_stale()
    assert not left.exists()
