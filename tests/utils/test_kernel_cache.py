"""Compiled kernels on disk: read-only folders, no folder, damaged files."""

from __future__ import annotations

import logging
import shutil
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from orfeon.utils import kernel_cache as cache
from orfeon.utils.jit import kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def double(values):
    return values * 2


def fresh():
    """The kernel as a new process has it: nothing compiled, only what is on disk."""
    return kernel(double)


def used(function) -> tuple[int, int]:
    """Call it; how often it was read from disk, and how often compiled."""
    np.testing.assert_array_equal(function(np.arange(3.0)), [0.0, 2.0, 4.0])
    return sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kernels"))
    cache._warn_once.cache_clear()
    return tmp_path / "kernels"


@pytest.fixture
def warm(folder):
    """The file of the compiled kernel."""
    assert used(fresh()) == (0, 1)
    [path] = folder.rglob("*.nbc")
    return path


def test_a_kernel_is_compiled_once(warm):
    assert used(fresh()) == (1, 0)
    assert warm.name.startswith("test_kernel_cache.double-")
    assert cache._SOURCES in warm.name


def test_a_change_in_any_kernel_file_gives_other_names(tmp_path, monkeypatch):
    package = tmp_path / "orfeon"
    shutil.copytree(
        Path(cache.__file__).parents[1], package, ignore=shutil.ignore_patterns("*.nb*")
    )
    where = {"orfeon": package, "orfeon.kernels": package / "kernels"}
    monkeypatch.setattr(cache.resources, "files", where.__getitem__)
    before = cache.source_digest()
    assert before == cache._SOURCES  # neither the place nor the time of a copy counts
    for path in (package / "kernels" / "cart" / "scan.py", package / "data" / "sorting.py"):
        path.write_text(path.read_text() + "# changed\n")
        assert cache.source_digest() != before
        before = cache.source_digest()


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "a byte short": lambda content: content[:-1],
    "first byte": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "one bit of the code": lambda content: (
        content[: len(content) // 2]
        + bytes([content[len(content) // 2] ^ 4])
        + content[len(content) // 2 + 1 :]
    ),
    "zeros": lambda content: bytes(len(content)),
    "text": lambda content: b"not a kernel",
}


def test_a_damaged_file_is_compiled_again_and_replaced(warm):
    for name, damage in DAMAGES.items():
        warm.write_bytes(damage(warm.read_bytes()))
        assert used(fresh()) == (0, 1), name
        assert used(fresh()) == (1, 0), name


def test_a_file_that_no_longer_fits_numba_is_compiled_again(warm, monkeypatch):
    def rebuild(self, context, data):
        raise AttributeError("moved")

    monkeypatch.setattr(cache._Implementation, "rebuild", rebuild)
    assert used(fresh()) == (0, 1)


def test_a_folder_in_the_place_of_a_file_is_reported_once(warm, caplog):
    warm.unlink()
    warm.mkdir()
    with caplog.at_level(logging.WARNING, logger="orfeon"):
        assert used(fresh()) == (0, 1)
        assert used(fresh()) == (0, 1)
    assert len(caplog.records) == 1
    assert "cannot be written to" in caplog.text


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cache, "_temporary_folder", cache._temporary_folder.__wrapped__)
    return tmp_path


@pytest.fixture
def read_only(monkeypatch):
    """No folder can be written to, from now on."""
    monkeypatch.setattr(cache, "_is_writable", lambda folder: False)
    monkeypatch.setattr(cache, "_temporary_folder", lambda: None)
    monkeypatch.setattr(cache, "_chosen", cache._chosen.__wrapped__)


def test_kernels_of_a_read_only_folder_are_read(warm, read_only, caplog):
    with caplog.at_level(logging.WARNING, logger="orfeon"):
        assert used(fresh()) == (1, 0)
    assert caplog.records == []


def test_where_no_folder_can_be_written_to_kernels_are_compiled(folder, read_only, caplog):
    with caplog.at_level(logging.WARNING, logger="orfeon"):
        assert used(fresh()) == (0, 1)
        assert used(fresh()) == (0, 1)
    assert len(caplog.records) == 1
    assert "no folder can be written to" in caplog.text
    assert not folder.exists()


def test_where_only_the_temporary_folder_is_left_it_is_used(warm, temporary, monkeypatch, caplog):
    is_writable = cache._is_writable
    monkeypatch.setattr(
        cache,
        "_is_writable",
        lambda path: (
            temporary in path.parents and ("orfeon-kernels" in str(path)) and is_writable(path)
        ),
    )
    monkeypatch.setattr(cache, "_chosen", cache._chosen.__wrapped__)
    warm.unlink()
    with caplog.at_level(logging.WARNING, logger="orfeon"):
        assert used(fresh()) == (0, 1)
        assert used(fresh()) == (1, 0)
    assert caplog.records == []
    assert len(list(temporary.glob("orfeon-kernels-*/*/*.nbc"))) == 1


def test_a_full_disk_is_reported_once_and_kernels_run(folder, monkeypatch, caplog):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.KernelFiles, "save", full)
    with caplog.at_level(logging.WARNING, logger="orfeon"):
        assert used(fresh()) == (0, 1)
        assert used(fresh()) == (0, 1)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "No space left on device" in caplog.text
    assert "NUMBA_CACHE_DIR" in caplog.text


def test_flush_removes_the_files_of_the_function_only(warm):
    other = warm.with_name("other.nbc")
    other.write_bytes(b"")
    fresh()._cache.flush()
    assert not warm.exists()
    assert other.exists()


# -- the temporary folder --------------------------------------------------------------------------


def test_the_temporary_folder_belongs_to_the_user_alone(temporary):
    folder = cache._temporary_folder()
    assert folder.parent == temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache._temporary_folder() == folder


def test_a_temporary_folder_that_others_can_fill_is_not_used(temporary):
    cache._temporary_folder().chmod(0o777)
    assert cache._temporary_folder() is None


def test_a_link_in_the_place_of_the_temporary_folder_is_not_used(temporary):
    folder = cache._temporary_folder()
    folder.rmdir()
    (temporary / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(temporary / "elsewhere")
    assert cache._temporary_folder() is None
