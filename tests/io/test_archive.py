"""The zip that a model file is: what of it is accepted, and nothing else."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC
from tests.io.mutations import opened, signed
from tests.io.zips import End, Part, zipped

import orfeon
from orfeon.io import ModelFileError, archive, limits, read_model
from orfeon.io.directory import read_directory


@pytest.fixture(scope="module")
def parts(tmp_path_factory, waveform):
    """The members of a file, by hand."""
    path = tmp_path_factory.mktemp("parts") / "bag.orfeon"
    orfeon.save(orfeon.BaggingClassifier(n_estimators=5, random_state=0).fit(*waveform), path)
    with zipfile.ZipFile(path) as opened_zip:
        return [Part(name.encode(), opened_zip.read(name)) for name in opened_zip.namelist()]


def load(data: bytes, folder: Any) -> Any:
    (folder / "model.orfeon").write_bytes(data)
    return orfeon.load(folder / "model.orfeon")


def test_members_may_be_in_any_order_and_at_any_place(parts, tmp_path):
    assert len(load(zipped(parts[::-1]), tmp_path)) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"place": 0}, "overlaps another"),
        ({"place": 10**6}, "overlaps another"),
        ({"place": 1}, "overlaps another|truncated or changed"),
        ({"size": 10**6, "stored": 10**6}, "is truncated or changed"),
        ({"size": 7}, "is compressed"),
        ({"method": 8}, "is compressed"),
        ({"bits": 1}, "is encrypted or incomplete"),
        ({"bits": 8}, "is encrypted or incomplete"),
        ({"disk": 1}, "is encrypted or incomplete"),
        ({"local_name": b"arrays/00009.npy"}, "has two names"),
        ({"name": b"arrays/0.npy"}, "it is not a model file"),
        ({"name": "arrays/0000\u0661.npy".encode()}, "it is not a model file"),
        ({"size": 0xFFFFFFFF, "stored": 0xFFFFFFFF}, "is truncated or changed"),
        (
            {
                "size": 0xFFFFFFFF, "stored": 0xFFFFFFFF,
                "extra": struct.pack("<HHQQ", 1, 16, 2**63, 2**63),
            },
            "is truncated or changed",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_a_member_that_is_not_as_it_must_be_is_refused(parts, tmp_path, change, message):
    with pytest.raises(ModelFileError, match=message):
        load(zipped([parts[0], replace(parts[1], **change), *parts[2:]]), tmp_path)


@pytest.mark.parametrize(
    "end",
    [
        End(comment=b"x"),
        End(n_members=1),
        End(n_members=99),
        End(size=0),
        End(place=3),
        End(disk=1),
    ],
    ids=str,
)
def test_an_end_that_is_not_as_it_must_be_is_refused(parts, tmp_path, end):
    with pytest.raises(ModelFileError, match="it is not a model file, or was truncated or changed"):
        load(zipped(parts, end), tmp_path)


@pytest.mark.parametrize("where", ["before", "after"])
def test_nothing_stands_before_or_after_the_zip(parts, tmp_path, where):
    data = zipped(parts)
    with pytest.raises(ModelFileError, match="it is not a model file, or was truncated or changed"):
        load(b"#!/bin/sh\n" + data if where == "before" else data + b"\n", tmp_path)


def test_large_members_have_the_larger_fields_and_are_aligned(tmp_path, waveform, monkeypatch):
    """As if members of more than a kilobyte were those of more than a gigabyte."""
    monkeypatch.setattr(archive, "_LARGE", 1000)
    bag = orfeon.BaggingClassifier(n_estimators=5, random_state=0).fit(*waveform)
    path = tmp_path / "bag.orfeon"
    orfeon.save(bag, path)
    with archive.open_archive(str(path)) as found:
        places = dict(found._places)
    assert all(begin % 64 == 0 for begin, _ in places.values())
    X, _ = waveform
    mapped = orfeon.load(path, memory_map=True)
    assert mapped.predict_proba(X).tobytes() == bag.predict_proba(X).tobytes()
    with zipfile.ZipFile(path) as unzipped:
        assert unzipped.testzip() is None


def test_zips_with_the_fields_of_large_files_are_read(monkeypatch):
    """As if files were large from 50 bytes on: sizes, places and numbers are in other fields."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 50)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        written.writestr("model.json", b"x" * 300)
        written.writestr("arrays/00000.npy", b"y" * 200)
    whole = file.getvalue()
    assert b"PK\x06\x06" in whole
    listed, place = read_directory(file, len(whole))
    assert [(one.name, one.size) for one in listed] == [
        ("model.json", 300), ("arrays/00000.npy", 200),
    ]  # fmt: skip
    assert whole[place : place + 4] == b"PK\x01\x02"
    assert place > listed[1].place > 300


def test_a_directory_of_any_size_is_refused_before_it_is_read(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_DIRECTORY", 100)
    with pytest.raises(ModelFileError, match=r"its directory has .* bytes, which is too large"):
        load(zipped(parts), tmp_path)


# -- the document ----------------------------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("about", nested(41), "its about has containers nested more than 40 deep"),
        (
            "preparation",
            {"a": nested(50)},
            "its preparation has containers nested more than 40 deep",
        ),
        ("preparation", [1], "its preparation is not a dict"),
        ("made_by", None, "its made_by is not a dict"),
        ("objects", None, "its objects must be a list"),
        ("foreign", 3, "members|foreign"),
    ],
)
def test_parts_of_the_document_that_are_none_are_refused(parts, tmp_path, name, value, message):
    forged = opened(zipped(parts))
    forged.content[name] = value
    with pytest.raises(ModelFileError, match=message):
        load(signed(forged), tmp_path)


def test_what_is_as_deep_as_it_may_be_is_read(tmp_path):
    orfeon.save(orfeon.CARTClassifier(), tmp_path / "model.orfeon", about=nested(40))
    assert read_model(tmp_path / "model.orfeon").about == nested(40)


@pytest.mark.parametrize(
    ("number", "message"),
    [(b"NaN", "is not valid JSON"), (b"1e999", "its about has a number that is too large")],
)
def test_numbers_that_json_does_not_have_are_refused(parts, tmp_path, number, message):
    forged = opened(zipped(parts))
    forged.content["about"] = "HERE"
    with pytest.raises(ModelFileError, match=message):
        load(signed(forged, lambda text: text.replace(b'"HERE"', number)), tmp_path)


# -- foreign members -------------------------------------------------------------------------------


def foreign(tmp_path: Any, waveform: Any) -> tuple[Any, bytes]:
    """A model with an estimator that skops wrote: the file's members, and skops' own."""
    pytest.importorskip("skops")
    from sklearn.neighbors import KNeighborsClassifier

    X, y = waveform
    bag = orfeon.BaggingClassifier(KNeighborsClassifier(metric="chebyshev"), 1, random_state=0).fit(
        X, y
    )
    orfeon.save(bag, tmp_path / "foreign.orfeon")
    with zipfile.ZipFile(tmp_path / "foreign.orfeon") as whole:
        members = [Part(name.encode(), whole.read(name)) for name in whole.namelist()]
    at = next(at for at, one in enumerate(members) if one.name == b"foreign/00000.skops")
    return members, members[at].data


def resigned(members: Any, data: bytes) -> bytes:
    """The file with another foreign member, and its digest."""
    from hashlib import sha256

    document = next(one for one in members if one.name == b"model.json").data
    old = next(one for one in members if one.name == b"foreign/00000.skops").data
    rest = document[document.index(b'"about"') :].replace(
        sha256(old).hexdigest().encode(), sha256(data).hexdigest().encode()
    )
    front = f'{{"format":"orfeon model","version":1,"digest":"{sha256(rest).hexdigest()}",'
    changed = {b"model.json": front.encode() + rest, b"foreign/00000.skops": data}
    return zipped([replace(one, data=changed.get(one.name, one.data)) for one in members])


def test_a_foreign_member_that_would_grow_is_refused(tmp_path, waveform):
    members, data = foreign(tmp_path, waveform)
    assert len(load(resigned(members, data), tmp_path)) == 1
    with zipfile.ZipFile(io.BytesIO(data)) as inner:
        held = [(name, inner.read(name)) for name in inner.namelist()]
    for compression, more, message in (
        (zipfile.ZIP_DEFLATED, [], "is compressed, or overlaps itself"),
        (zipfile.ZIP_STORED, [("t.npz", bomb(1 << 29))], "would grow to"),
        (zipfile.ZIP_STORED, [("t.npz", b"PK\x03\x04 no zip")], "is not a zip"),
    ):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", compression) as inner:
            for name, content in [*held, *more]:
                inner.writestr(name, content)
        with pytest.raises(ModelFileError, match=message):
            load(resigned(members, file.getvalue()), tmp_path)


def bomb(size: int) -> bytes:
    """A compressed table that says it is large."""
    table = bytearray(zipped([Part(b"data.npy", b"x" * 10, size=size)]))
    assert len(table) < 1000
    return bytes(table)


@pytest.mark.parametrize("spelt", [b"sklearn.tree._tree", rb"sklearn.tr\u0065e._tree"])
def test_trees_that_skops_would_not_look_at_are_refused(tmp_path, waveform, spelt):
    members, data = foreign(tmp_path, waveform)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as inner, zipfile.ZipFile(file, "w") as other:
        for name in inner.namelist():
            text = inner.read(name)
            if name == "schema.json":
                text = text.replace(b"sklearn.neighbors._classification", spelt)
            other.writestr(name, text)
    with pytest.raises(ModelFileError, match=r"_tree.*reads without checks"):
        load(resigned(members, file.getvalue()), tmp_path)


def test_support_vectors_that_libsvm_would_not_look_at_are_refused(tmp_path, waveform):
    """With other numbers of them for each class, which add up, it reads where there is nothing."""
    with pytest.raises(ModelFileError, match=r"sklearn.svm._classes.SVC.*reads without checks"):
        orfeon.save(SVC().fit(*waveform), tmp_path / "model.orfeon")


def test_arrays_of_the_file_are_views_of_it(parts, tmp_path):
    model = load(zipped(parts), tmp_path)
    assert not model.members_.nodes.flags.owndata
    assert np.isfinite(model.members_.value).all()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for memory_map in (False, True):
        with pytest.raises(ModelFileError, match="it is not a regular file"):
            orfeon.load(tmp_path / "pipe", memory_map=memory_map)


# -- files of any size -----------------------------------------------------------------------------


def with_a_hole(path: Any, parts: list[Part], n_bytes: int) -> None:
    """A model file before whose directory there is a hole: nearly nothing of it is on the disk."""
    whole = zipped(parts)
    begin = whole.index(b"PK\x01\x02")
    n_members, size = struct.unpack_from("<HI", whole, len(whole) - 12)
    place = begin + n_bytes
    large = struct.pack(
        "<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, n_members, n_members, size, place
    )
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, place + size, 1)
    end = whole[-22:-6] + b"\xff" * 4 + whole[-2:]
    with open(path, "wb") as file:
        file.write(whole[:begin])
        file.seek(place)
        file.write(whole[begin:-22] + large + locator + end)


@pytest.mark.parametrize("memory_map", [False, True])
def test_a_file_of_holes_is_refused_without_being_read(parts, tmp_path, memory_map):
    path = tmp_path / "holes.orfeon"
    with_a_hole(path, parts, 1000)
    assert orfeon.load(path, memory_map=memory_map) is not None
    try:
        with_a_hole(path, parts, 2**38)
    except OSError:
        pytest.skip("the file system has no such large files")
    if path.stat().st_blocks * 512 > 2**30:
        pytest.skip("the file system has no holes")
    with pytest.raises(ModelFileError, match=r"it has 274,877,.* model files must not be sparse"):
        orfeon.load(path, memory_map=memory_map)


def test_a_file_that_is_larger_than_the_memory_is_refused(parts, tmp_path, monkeypatch):
    (tmp_path / "model.orfeon").write_bytes(zipped(parts))
    monkeypatch.setattr(archive, "_memory_bytes", lambda: 100.0)
    with pytest.raises(ModelFileError, match="more than the memory of this machine; memory_map"):
        orfeon.load(tmp_path / "model.orfeon")
    assert orfeon.load(tmp_path / "model.orfeon", memory_map=True) is not None


def test_too_little_memory_is_one_sentence(parts, tmp_path, monkeypatch):
    def refuse(*arguments: Any) -> None:
        raise MemoryError

    (tmp_path / "model.orfeon").write_bytes(zipped(parts))
    monkeypatch.setattr(archive, "_whole", refuse)
    with pytest.raises(ModelFileError, match=r"cannot be loaded: there is not enough memory\.$"):
        orfeon.load(tmp_path / "model.orfeon")
