"""Processes that map a file share its memory; readers never see half of a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import orfeon
from orfeon.datasets import make_waveform

pytestmark = pytest.mark.tools

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    """A file of several megabytes, and rows."""
    X, y = make_waveform(1000, random_state=0)
    model = orfeon.RandomForestClassifier(400, random_state=0).fit(X, y)
    folder = tmp_path_factory.mktemp("shared")
    orfeon.save(model, folder / "forest.orfeon")
    return folder / "forest.orfeon", X, model.predict_proba(X)


def in_a_process(script: str, *arguments: Any) -> Any:
    """A process that runs a script, and waits to be told that it may end."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def kilobytes(pid: int, path: Path) -> dict[str, int]:
    """What the system says of the memory in which a process has a file."""
    found: dict[str, int] = {}
    is_ours = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        name, *values = line.split()
        if not name.endswith(":"):
            is_ours = line.endswith(str(path))
        elif is_ours and values[-1] == "kB":
            found[name[:-1]] = found.get(name[:-1], 0) + int(values[0])
    return found


LOADING = """
import sys, orfeon
model = orfeon.load(sys.argv[1], memory_map=True)
print(len(model), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="there is no /proc/PID/smaps")
def test_processes_share_one_copy(forest):
    path, X, probabilities = forest
    process = in_a_process(LOADING, path)
    try:
        mapped = orfeon.load(path, memory_map=True)
        assert (mapped.predict_proba(X) == probabilities).all()
        assert process.stdout.readline() == "400\n"
        size = path.stat().st_size / 1024
        assert size > 3000
        for pid in (process.pid, os.getpid()):
            memory = kilobytes(pid, path)
            assert memory["Rss"] > 0.9 * size  # all of it was read
            assert memory["Shared_Clean"] > 0.9 * size  # and is there once for both
            assert memory["Private_Dirty"] + memory["Private_Clean"] < 0.05 * size
            assert memory["Pss"] < 0.6 * size  # each has half of it to its account
    finally:
        process.communicate("")
    assert process.returncode == 0


SAVING = """
import itertools, sys, orfeon
models = [orfeon.load(path) for path in sys.argv[2:]]
print("saving", flush=True)
for model in itertools.cycle(models):
    orfeon.save(model, sys.argv[1])
"""


def test_a_reader_never_sees_half_of_a_file_and_a_killed_writer_leaves_a_whole_one(tmp_path):
    X, y = make_waveform(100, random_state=0)
    for n in (3, 30):
        orfeon.save(orfeon.BaggingClassifier(n_estimators=n).fit(X, y), tmp_path / f"{n}.orfeon")
    place = tmp_path / "model.orfeon"
    writer = in_a_process(SAVING, place, tmp_path / "3.orfeon", tmp_path / "30.orfeon")
    try:
        assert writer.stdout.readline() == "saving\n"
        while not place.exists():
            assert writer.poll() is None
        seen = [len(orfeon.load(place, memory_map=bool(n % 2))) for n in range(60)]
        assert set(seen) == {3, 30}
    finally:
        writer.kill()
        writer.communicate()
    assert len(orfeon.load(place)) in (3, 30)
    left = [path for path in tmp_path.iterdir() if path.name.endswith(".part")]
    assert len(left) <= 1  # what the writer was at when it was killed
