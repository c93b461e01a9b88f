"""Estimators of other packages, saved and loaded by skops, which loads only types it trusts.

skops writes a zip within the zip and decides which types may be loaded, but not what they contain.
So the zip is checked before skops loads it, and the loaded objects before they are used: indices
that compiled code follows, states of random generators, parts that are referenced many times.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from orfeon.io import limits, randomness
from orfeon.io.budget import visits_of
from orfeon.io.catalogue import entry_of
from orfeon.io.errors import ModelFileError

#: Types that some releases of skops load although scikit-learn's compiled code follows their
#: indices without bounds checks: children of trees, offsets of support vectors.
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


def dump_foreign(thing: Any, place: str) -> bytes:
    """An estimator of another package as a skops file."""
    name = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if not hasattr(thing, "get_params") or isinstance(thing, type):
        raise ModelFileError(f"{place}the model cannot be saved: model files cannot hold a {name}.")
    skops = _skops(f"{place}the model holds a {name}")
    try:
        data: bytes = skops.dumps(thing)
        unknown = skops.get_untrusted_types(data=data)
    except Exception as error:  # skops raises many types of errors
        raise ModelFileError(f"{place}skops cannot save a {name}: {error}") from error
    if unknown:
        raise ModelFileError(
            f"{place}a {name} holds {', '.join(unknown)}, which skops would not load again."
        )
    _check_zip(data)
    return data


def _check_zip(data: bytes) -> None:
    """Reject a skops file that would grow when it is read, or has unchecked types."""
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
        raise ModelFileError(f"a foreign estimator in it is not a zip: {error}") from error


def _check_types(schema: Any) -> None:
    """Reject types with unchecked contents; parsed, because JSON can escape their names."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = f"{one.get('__module__')}.{one.get('__class__')}"
            if name.startswith(_UNCHECKED):
                raise ModelFileError(
                    f"a foreign estimator in it is or has a {name[:80]}, whose contents compiled "
                    "code reads without checks."
                )
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one


def _unpacked(member: bytes) -> int:
    """Uncompressed bytes of a member if it is a zip, as sparse matrices are."""
    if not member.startswith(b"PK"):
        return 0
    with zipfile.ZipFile(io.BytesIO(member)) as archive:
        return sum(info.file_size for info in archive.infolist())


def load_foreign(data: bytes) -> Any:
    """The estimator of a skops file, of types that skops trusts."""
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
    except Exception as error:  # inconsistent attributes can raise anything
        raise ModelFileError(f"a foreign estimator in it is inconsistent: {error}") from error
    return made


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise ModelFileError(f"a foreign estimator in it is inconsistent: {what}")


# -- before loading --------------------------------------------------------------------------------


def check_array(name: str, member: bytes) -> None:
    """Reject an array whose length differs from its header, before memory is allocated for it."""
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)
    _require(version in ((1, 0), (2, 0)), f"{name[:80]} has an unknown format.")
    large = version == (2, 0)
    read = np.lib.format.read_array_header_2_0 if large else np.lib.format.read_array_header_1_0
    shape, _, dtype = read(stream)
    n_bytes = math.prod(shape) * dtype.itemsize
    is_whole = stream.tell() + n_bytes == len(member) and min(shape, default=0) >= 0
    _require(is_whole, f"{name[:80]} does not have the length in its header.")
    _require(dtype.itemsize and not dtype.hasobject, f"{name[:80]} must hold plain values.")


def check_sharing(schema: Any, sizes: dict[str, int], n_bytes: int) -> None:
    """Reject parts that are referenced so often that evaluating them all would never end."""
    parts = list(_parts_of(schema))
    known: dict[int, list[dict[str, Any]]] = {}
    for part in parts:
        if part["__loader__"] != "CachedNode" and "__id__" in part:
            _require(type(part["__id__"]) is int, "the id of a part must be an integer.")
            known.setdefault(part["__id__"], []).append(part)
    allowed = limits.MAX_USES * (n_bytes + limits.BYTES_OF_PART * len(parts)) + limits.FREE_USES
    try:
        size = _Sizes(known, sizes).of(schema)
    except RecursionError as error:
        raise ModelFileError("a foreign estimator in it is too deep, or holds itself.") from error
    _require(size.n_bytes <= allowed, "too many of its parts hold the same parts.")
    _require(size.depth <= limits.MAX_PART_DEPTH, "its parts are nested too deeply.")
    most_visits = limits.FREE_VISITS + limits.MAX_VISITS * len(parts)
    _require(size.visits <= most_visits, "its estimators are nested too deeply.")


def _parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "__loader__" in one:
                yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


class _Size(NamedTuple):
    """Size and depth of a part with all its parts, each counted once per reference."""

    n_bytes: int
    depth: int
    #: Visits of its parts to compute tags.
    visits: int

    @classmethod
    def of_all(cls, sizes: Iterable[_Size]) -> _Size:
        held = list(sizes)
        return cls(
            sum(one.n_bytes for one in held),
            max((one.depth for one in held), default=0),
            sum(one.visits for one in held),
        )


class _Sizes:
    """Sizes of parts by id; if several parts have the same id, the largest counts."""

    def __init__(self, known: dict[int, list[dict[str, Any]]], files: dict[str, int]) -> None:
        self._known = known
        self._files = files
        self._found: dict[int, _Size] = {}

    def of(self, value: Any) -> _Size:
        if isinstance(value, list):
            return _Size.of_all(map(self.of, value))
        if not isinstance(value, dict):
            return _Size(0, 0, 0)
        if "__loader__" not in value:
            return _Size.of_all(map(self.of, value.values()))
        number = value.get("__id__")
        if type(number) is not int or number not in self._known:
            return self._own(value)
        if number not in self._found:
            own = [self._own(part) for part in self._known[number]]
            self._found[number] = _Size(*map(max, zip(*own, strict=True)))
        return self._found[number]

    def _own(self, part: dict[str, Any]) -> _Size:
        file = part.get("file")
        n_bytes = self._files.get(file, 0) if type(file) is str else 0
        inner = _Size.of_all(map(self.of, part.values()))
        return _Size(
            limits.BYTES_OF_PART + n_bytes + inner.n_bytes,
            1 + inner.depth,
            1 + visits_of(part) * inner.visits,
        )


# -- after loading ---------------------------------------------------------------------------------


def check_loaded(thing: Any) -> None:
    """Reject indices that lead compiled code out of bounds; reset ``n_jobs`` and ``verbose``."""
    for one in _everything_in(thing):
        if isinstance(one, np.ndarray):
            _check_entries(one)
        elif randomness.is_random(one) and type(one) is not np.random.SeedSequence:
            _check_generator(one)
        elif type(one).__module__.startswith("scipy.sparse"):
            _check_sparse(one)
        elif hasattr(one, "get_params") and not isinstance(one, type):
            _check_estimator(one)


def _everything_in(thing: Any) -> Iterator[Any]:
    """An object and all objects reachable from it, each once."""
    waiting, seen = [thing], {}
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, str | bytes | int | float | type):
            continue
        seen[id(one)] = one  # kept alive, so that its id is not used again
        yield one
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            waiting += one
        elif isinstance(one, np.ndarray):
            waiting += one.ravel().tolist() if one.dtype == object else []
        elif isinstance(one, functools.partial):
            waiting += [one.func, one.args, one.keywords]
        elif isinstance(one, MethodType):
            waiting.append(one.__self__)
        elif hasattr(one, "__dict__"):
            waiting.append(vars(one))


def _check_entries(array: np.ndarray[Any, Any]) -> None:
    _require(array.dtype.itemsize, "an array has entries of 0 bytes.")
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.kind == "U" and flat.size:
        _require(flat.view("u4").max() <= 0x10FFFF, "an array of strings holds invalid characters.")
    if array.dtype.kind == "b" and flat.size:
        _require(
            flat.view("u1").max() <= 1,
            "an array of booleans holds values other than False and True.",
        )


def _check_generator(source: Any) -> None:
    is_old = type(source) is np.random.RandomState
    state = source.get_state(legacy=False) if is_old else source.bit_generator.state
    try:
        randomness.check_bits(state, has_normal=is_old)
    except ValueError as error:
        raise ModelFileError(f"a source of randomness is inconsistent: {error}") from error


def _check_sparse(table: Any) -> None:
    is_known = getattr(table, "format", None) in ("csr", "csc")
    _require(is_known, "a sparse matrix must be in CSR or CSC format.")
    try:
        table.check_format(full_check=True)
    except ValueError as error:
        raise ModelFileError(f"a sparse matrix is inconsistent: {error}") from error


def _check_estimator(estimator: Any) -> None:
    entry = entry_of(estimator)
    if entry is not None:
        entry.checked(entry.fields_of(estimator))
    held = vars(estimator)
    _require(held.get("memory") is None, "memory must be None.")
    _check_neighbours(held)
    _check_centres(held)
    if "n_jobs" in held:
        estimator.n_jobs = None
    if "verbose" in held:
        parameter = inspect.signature(type(estimator)).parameters.get("verbose")
        estimator.verbose = parameter.default if parameter is not None else 0
    if "_n_threads" in held:  # k-means
        estimator._n_threads = 1


def _check_neighbours(held: dict[str, Any]) -> None:
    """Compiled code reads rows of neighbours, and their classes, without bounds checks."""
    if "_fit_X" not in held:
        return
    rows, n_rows = held["_fit_X"], held.get("n_samples_fit_")
    shape = getattr(rows, "shape", None)
    is_same = shape == (n_rows, held.get("n_features_in_")) or "n_samples_fit_" not in held
    _require(is_same, "_fit_X must have n_samples_fit_ rows of n_features_in_ columns.")
    if "_y" in held and "n_samples_fit_" in held:
        answers, classes = held["_y"], held.get("classes_")
        is_array = isinstance(answers, np.ndarray) and answers.ndim and len(answers) == n_rows
        _require(is_array, "_y must have n_samples_fit_ rows.")
        if isinstance(classes, np.ndarray) and answers.size:
            are_codes = answers.dtype.kind in "iu" and answers.min() >= 0
            _require(are_codes and answers.max() < len(classes), "_y must hold codes of classes_.")


def _check_centres(held: dict[str, Any]) -> None:
    if "cluster_centers_" in held and "_n_threads" in held:
        centres, width = held["cluster_centers_"], held.get("n_features_in_")
        is_table = isinstance(centres, np.ndarray) and centres.ndim == 2 and len(centres)
        _require(
            is_table and centres.shape[1] == width,
            "cluster_centers_ must have n_features_in_ columns.",
        )
