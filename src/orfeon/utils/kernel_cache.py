"""A disk cache for compiled kernels that tolerates read-only folders and damaged files.

Numba's own cache needs a writable folder, notices changes only in the file of a function, and
raises the same error for ever once one of its files is damaged. This one reads what it can, checks
each file before it uses it, and compiles what it cannot read.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import stat
import tempfile
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.serialize import dumps

from orfeon.utils import shipped_kernels
from orfeon.utils.shipped_kernels import DIGEST_SIZE
from orfeon.utils.step_library import rebuild

logger = logging.getLogger("orfeon")


def source_digest() -> str:
    """A digest of all files that kernels are compiled from."""
    package = resources.files("orfeon")  # also where it is imported from a zip archive
    sources = {
        f"data/{name}": package / "data" / name for name in ("coding.py", "sorting.py")
    } | _sources(package / "kernels")
    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        content = source.read_bytes()
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:12]


def _sources(folder: Traversable, prefix: str = "") -> dict[str, Traversable]:
    """The Python files below a folder, by path."""
    found: dict[str, Traversable] = {}
    for one in folder.iterdir():
        name = f"{prefix}{one.name}"
        if one.name.endswith(".py"):
            found[name] = one
        elif one.is_dir():
            found |= _sources(one, f"{name}/")
    return found


# Numba notices a change in the file of a function, but not in the functions it calls.
_SOURCES = source_digest()


class KernelFiles:
    """The compiled versions of one function in one folder, each in a file with its checksum."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = f"{name}-{_SOURCES}"

    def path(self, key: Any) -> Path:
        """The file of one version; Numba's keys contain types, processor and code."""
        version = hashlib.sha256(f"{numba.__version__} {key!r}".encode()).hexdigest()[:16]
        return self.folder / f"{self.name}-{version}.nbc"

    def load(self, key: Any) -> Any:
        """The data saved under a key, or None if it cannot be read."""
        try:
            content = self.path(key).read_bytes()
        except OSError:
            return None
        digest, data = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
        # Damaged code would run, so nothing is unpickled before the checksum is verified.
        return pickle.loads(data) if hashlib.sha256(data).digest() == digest else None

    def save(self, key: Any, compiled: Any) -> None:
        """Write a version completely or not at all."""
        data = dumps(compiled)
        handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".nbc.tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(temporary, self.path(key))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def flush(self) -> None:
        """Remove all versions."""
        for path in self.folder.glob(f"{self.name}-*.nbc"):
            path.unlink(missing_ok=True)


class _Locator(InTreeCacheLocator):  # type: ignore[misc]
    """Accepts every function: folders and freshness are decided for all kernels at once."""

    @classmethod
    def from_function(cls, function: Any, source: str) -> _Locator:
        return cls(function, source)

    def get_source_stamp(self) -> None:
        return None


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        return rebuild(target_context, payload)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel: read from every folder, written to the first writable one."""

    _impl_class = _Implementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        folders, is_writable = _folders(Path(function.__code__.co_filename))
        self._cache_path = str(folders[0])
        self._files = [KernelFiles(folder, self._impl.filename_base) for folder in folders]
        self._cache_file = self._files[0] if is_writable else None
        self._shipped = KernelFiles(shipped_kernels.FOLDER, self._impl.filename_base)

    def flush(self) -> None:
        """Remove what was saved."""
        if self._cache_file is not None:
            self._cache_file.flush()

    def _load_overload(self, signature: Any, context: Any) -> Any:
        codegen = context.codegen()
        key = self._index_key(signature, codegen)
        places = [(files, key) for files in self._files]
        target = shipped_kernels.target(self._shipped.folder)
        if target is not None and target.runs_on(codegen.magic_tuple()):
            places.append((self._shipped, self._index_key(signature, target)))
        for files, key in places:
            try:
                data = files.load(key)
                if data is not None:
                    return self._impl.rebuild(context, data)
            except Exception as error:  # whatever is wrong, the function can be compiled
                logger.debug("%s is ignored: %s", files.path(key), error)
        return None

    def _save_overload(self, signature: Any, compiled: Any) -> None:
        if not self._impl.check_cachable(compiled):
            return
        if self._cache_file is None:
            _warn_once("no folder can be written to")
            return
        key = self._index_key(signature, compiled.codegen)
        try:
            self._cache_file.save(key, self._impl.reduce(compiled))
        except OSError as error:  # a full disk, or a folder that has gone
            _warn_once(f"{self._cache_file.folder} cannot be written to ({error.strerror})")
            self._cache_file = None


@functools.cache
def _warn_once(reason: str) -> None:
    logger.warning(
        "orfeon cannot keep its compiled kernels: %s. Every process compiles them again, which "
        "takes some seconds; set NUMBA_CACHE_DIR to a writable folder.",
        reason,
    )


def _folders(source: Path) -> tuple[list[Path], bool]:
    """Folders to read from, the one to write to first, and whether there is one."""
    return _chosen(tuple(_candidates(source)))


@functools.cache
def _chosen(candidates: tuple[Path, ...]) -> tuple[list[Path], bool]:
    for number, folder in enumerate(candidates):
        if _is_writable(folder):
            # Folders before it may be read-only and hold kernels compiled in advance.
            return [folder, *candidates[:number]], True
    temporary = _temporary_folder()
    if temporary is not None:
        folder = temporary / candidates[-1].name
        if _is_writable(folder):
            return [folder, *candidates], True
    return list(candidates), False


def _candidates(source: Path) -> list[Path]:
    """Where Numba would look: NUMBA_CACHE_DIR, beside the file, in the user's cache folder."""
    classes = [InTreeCacheLocator, UserWideCacheLocator]
    if config.CACHE_DIR:
        classes.insert(0, UserProvidedCacheLocator)
    function = _folders  # Numba asks a function for its first line, which the folder ignores
    return [Path(one(function, str(source)).get_cache_path()) for one in classes]


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def _temporary_folder() -> Path | None:
    """A folder below the system's temporary one that only this user can write to."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        folder = Path(tempfile.gettempdir()) / f"orfeon-kernels-{user}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return None
    is_private = stat.S_ISDIR(found.st_mode) and (
        not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o077)
    )
    # Kernels are unpickled: they are never read from a folder that somebody else could fill.
    return folder if is_private else None
