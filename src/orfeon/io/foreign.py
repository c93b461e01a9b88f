"""Estimators of other packages, through skops: it loads the types it trusts, and no others.

What it wrote is a zip within the zip. That too must hold what it says and no more.
"""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from typing import Any

from orfeon.io import limits
from orfeon.io.errors import ModelFileError
from orfeon.io.foreign_checks import check_array, check_loaded, check_sharing

#: What compiled code of scikit-learn reads without looking where it leads, and skops, or some
#: releases of it, load all the same: children of trees, and where support vectors of a class begin.
_UNCHECKED = (
    "sklearn.tree._tree.",
    "sklearn.ensemble._hist_gradient_boosting.",
    "sklearn.neighbors._kd_tree.",
    "sklearn.neighbors._ball_tree.",
    *(f"sklearn.svm._classes.{name}" for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")),
)


def _skops(what: str) -> Any:
    if importlib.util.find_spec("skops") is None:
        raise ModelFileError(
            f"{what}; estimators of other packages go through skops, which is not installed: "
            'pip install "orfeon[skops]".'
        )
    import skops.io

    return skops.io


def written_by_skops(thing: Any, place: str) -> bytes:
    """An estimator of another package, as skops writes it."""
    name = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if not hasattr(thing, "get_params") or isinstance(thing, type):
        raise ModelFileError(
            f"{place}the model cannot be saved: a {name} is no class that model files know."
        )
    skops = _skops(f"{place}the model holds a {name}")
    try:
        data: bytes = skops.dumps(thing)
        unknown = skops.get_untrusted_types(data=data)
    except Exception as error:  # skops refuses in many ways
        raise ModelFileError(f"{place}skops cannot save a {name}: {error}") from error
    if unknown:
        raise ModelFileError(
            f"{place}a {name} holds {', '.join(unknown)}, which skops would not load again."
        )
    _check_zip(data)
    return data


def _check_zip(data: bytes) -> None:
    """Refuse what would grow when it is read, or hold what nobody looks at."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            is_stored = all(info.compress_type == zipfile.ZIP_STORED for info in infos)
            if not is_stored or sum(info.file_size for info in infos) > len(data):
                raise ModelFileError("a foreign estimator in it is compressed, or overlaps itself.")
            grown = sum(_unpacked(archive.read(info)) for info in infos)
            if grown > limits.MAX_UNPACKED + limits.MAX_USES * len(data):
                raise ModelFileError(f"a foreign estimator in it would grow to {grown} bytes.")
            for info in infos:
                if info.filename.endswith(".npy"):
                    check_array(info.filename, archive.read(info))
            schema = json.loads(archive.read("schema.json"))
            _check_types(schema)
            sizes = {info.filename: info.file_size for info in infos}
            check_sharing(schema, sizes, len(data))
    except ModelFileError:
        raise
    except Exception as error:  # whatever a broken zip leads to
        raise ModelFileError(f"a foreign estimator in it is no zip: {error}") from error


def _check_types(schema: Any) -> None:
    """Refuse types whose contents nobody checks; names may be spelt in many ways in JSON text."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = f"{one.get('__module__')}.{one.get('__class__')}"
            if name.startswith(_UNCHECKED):
                raise ModelFileError(
                    f"a foreign estimator in it is or has a {name[:80]}: what is "
                    "in these is read by compiled code, and nobody checks it."
                )
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one


def _unpacked(member: bytes) -> int:
    """Bytes that a sparse table, which is a zip itself and may be compressed, says it has."""
    if not member.startswith(b"PK"):
        return 0
    with zipfile.ZipFile(io.BytesIO(member)) as archive:
        return sum(info.file_size for info in archive.infolist())


def read_by_skops(data: bytes) -> Any:
    """An estimator of another package, of types that skops trusts."""
    skops = _skops("it holds an estimator of another package")
    _check_zip(data)
    try:
        made = skops.loads(data, trusted=[])
    except Exception as error:
        raise ModelFileError(f"skops cannot load an estimator in it: {error}") from error
    try:
        check_loaded(made)
    except ModelFileError:
        raise
    except Exception as error:  # whatever attributes lead to that do not go together
        raise ModelFileError(f"a foreign estimator in it is inconsistent: {error}") from error
    return made
