"""Open files, compressed or not, and detect their format from their bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from orfeon.errors import UserError
from orfeon.utils.text import did_you_mean, nearest, some_of

Packing = Literal["none", "gzip", "bzip2", "xz", "zip"]
Format = Literal["delimited", "parquet", "arff", "npz"]

#: Endings of data files.
ENDINGS = (".csv", ".tsv", ".txt", ".data", ".parquet", ".arff", ".npz")
_ADVICE = "CSV (also compressed), Parquet, ARFF and NPZ files are supported"
_HEAD = 1 << 16
#: A URL, also one that a Path has reduced to one slash. A scheme of one letter is a drive.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")

_PACKINGS: dict[bytes, Packing] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
}

#: First bytes of files that are not supported, and what they are.
_UNSUPPORTED = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook: save it as CSV",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3": "a database: export the table as CSV",
    b"\x89HDF": "an HDF5 file: export the table as CSV or Parquet",
    b"ARROW1": "an Arrow file: save it as Parquet",
    b"FEA1": "a Feather file: save it as Parquet",
    b"\x93NUMPY": "a single NumPy array: save X and y with numpy.savez",
    b"\x7fELF": "a program",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard: decompress it first",
    b"PK\x05\x06": "an empty archive",
    b"7z\xbc\xaf": "a 7-Zip archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"\x80\x04\x95": "a pickled Python object, which is never read: save the table as CSV",
    b"\x80\x05\x95": "a pickled Python object, which is never read: save the table as CSV",
}


@dataclass(frozen=True)
class Source:
    path: Path
    name: str
    format: Format
    packing: Packing = "none"
    member: str | None = None

    @contextmanager
    def open(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """The decompressed bytes, and the file itself, whose position shows the progress."""
        with (
            self.path.open("rb") as file,
            _unpacked(file, self.packing, self.member) as stream,
        ):
            yield stream, file

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size


@contextmanager
def _unpacked(file: IO[bytes], packing: Packing, member: str | None) -> Iterator[IO[bytes]]:
    if packing == "none":
        yield file
    elif packing == "zip":
        assert member is not None
        with zipfile.ZipFile(file) as archive, archive.open(member) as stream:
            yield stream
    else:
        opener: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[packing]
        with opener(file, "rb") as stream:
            yield stream


@contextmanager
def open_source(path: str | os.PathLike[str]) -> Iterator[Source]:
    """Find a file and detect its format."""
    text = os.fspath(path)
    if text == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "input"
            _copy_input(copy)
            yield identify(copy, "standard input")
        return
    if _URL.match(text) and not Path(text).exists():
        url = _URL.sub(r"\1://", text)
        raise UserError(f"{url} is a URL: download the file and pass its path.")
    _check_path(Path(text))
    yield identify(Path(text), text)


def _copy_input(path: Path) -> None:
    if sys.stdin is None or sys.stdin.isatty():
        raise UserError("- reads standard input, which is a terminal: pipe a file into it.")
    with path.open("wb") as file:
        shutil.copyfileobj(getattr(sys.stdin, "buffer", sys.stdin), file)


def _check_path(path: Path) -> None:
    if path.is_dir():
        inside = _data_files(path)
        known = f"its data files are {some_of(inside)}" if inside else "it has no data files"
        raise UserError(f"{path} is a folder: name a file; {known}.")
    if path.exists():
        if not path.is_file():
            raise UserError(f"{path} is not a file.")
        if not os.access(path, os.R_OK):
            raise UserError(f"{path} cannot be read: permission denied.")
        return
    folder = path.parent
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.")
    files = [p.name for p in folder.iterdir() if p.is_file()]
    near = nearest(path.name, files)
    if not near:
        near = [name for name in files if name.split(".")[0] == path.name.split(".")[0]][:3]
    raise UserError(f"There is no file {path}.{did_you_mean(near)}")


def _data_files(folder: Path) -> list[str]:
    with suppress(OSError):  # a folder without permission shows none
        return sorted(path.name for path in folder.iterdir() if is_data_name(path.name))
    return []


def means_a_file(text: str) -> bool:
    """Whether a name means a file, which need not exist, rather than a data set.

    A folder counts only if it has data files: a study of a data set leaves a folder of its name.
    """
    if text == "-" or is_data_name(text) or any(mark in text for mark in {"/", "\\", os.sep}):
        return True
    path = Path(text).expanduser()
    return bool(_data_files(path)) if path.is_dir() else path.exists()


def is_data_name(name: str) -> bool:
    """Whether a file name has the ending of a data file."""
    lower = name.lower()
    for packed in (".gz", ".bz2", ".xz", ".zip"):
        lower = lower.removesuffix(packed)
    return lower.endswith(ENDINGS)


def identify(path: Path, name: str) -> Source:
    """Detect the format from the first bytes rather than the name."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            packing = _packing(head)
            member = None
            if packing == "zip":
                member, known = _look_into(file, name)
                if known is not None:
                    return Source(path, name, known)
            if packing != "none":
                file.seek(0)
                with _unpacked(file, packing, member) as stream:
                    head = stream.read(_HEAD)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise UserError(f"{name} cannot be read: {sentence(error)}.") from error
    except (RuntimeError, NotImplementedError) as error:  # an archive with a password
        raise UserError(f"{name} cannot be unpacked: {sentence(error)}.") from error
    return Source(path, name, _format(head, name, member or path.name), packing, member)


def _packing(head: bytes) -> Packing:
    for magic, packing in _PACKINGS.items():
        if head.startswith(magic):
            return packing
    return "none"


def _look_into(file: IO[bytes], name: str) -> tuple[str, Format | None]:
    """The only file in an archive; an NPZ file is an archive itself."""
    with zipfile.ZipFile(file) as archive:
        members = [info.filename for info in archive.infolist() if not info.is_dir()]
    members = [m for m in members if not m.startswith("__MACOSX/")]
    if members and all(member.endswith(".npy") for member in members):
        return "", "npz"
    if "[Content_Types].xml" in members:
        what = "an Excel workbook" if any(m.startswith("xl/") for m in members) else "a document"
        raise UserError(f"{name} is {what}, not a table: save it as CSV.")
    if "mimetype" in members and "content.xml" in members:
        raise UserError(f"{name} is a spreadsheet: save it as CSV.")
    if "model.json" in members:
        raise UserError(f"{name} is a saved model, not a table.")
    data = [m for m in members if is_data_name(m)] if len(members) > 1 else members
    if len(data) != 1:
        raise UserError(
            f"{name} is an archive of {len(members)} files ({some_of(members)}): unpack it and "
            "name one."
        )
    return data[0], None


def _format(head: bytes, name: str, file_name: str) -> Format:
    if not head.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        raise UserError(f"{name} is empty.")
    for magic, what in _UNSUPPORTED.items():
        if head.startswith(magic):
            raise UserError(f"{name} is {what}. {_ADVICE}.")
    if head.startswith(b"PAR1"):
        return "parquet"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2000].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<?xml", b"<svg")):
        what = "a web page" if b"html" in start[:200] else "an XML document"
        raise UserError(f"{name} is {what}, not a table: download the data file itself. {_ADVICE}.")
    if start.startswith((b"{", b"[{", b"[[", b"[ {")):
        raise UserError(f"{name} looks like JSON. {_ADVICE}.")
    if start.startswith(b"version https://git-lfs"):
        raise UserError(f"{name} only points to the data: fetch it with git lfs pull.")
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and _is_binary(head):
        raise UserError(f"{name} is a binary file of unknown format. {_ADVICE}.")
    is_arff = file_name.lower().endswith(".arff") or b"@relation" in start or b"@attribute" in start
    return "arff" if is_arff else "delimited"


def _is_binary(head: bytes) -> bool:
    control = sum(head.count(bytes([c])) for c in (*range(9), *range(14, 27), *range(28, 32)))
    return b"\x00" in head or control > len(head) / 100


def sentence(error: BaseException) -> str:
    """The message of an error as part of a sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(". ")


@contextmanager
def text_of(stream: IO[bytes], encoding: str) -> Iterator[io.TextIOWrapper]:
    """Decode a stream, which is left open."""
    text = io.TextIOWrapper(stream, encoding=encoding, newline="")
    try:
        yield text
    finally:
        with suppress(ValueError):  # the reader closed it
            text.detach()
