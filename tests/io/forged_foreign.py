"""Parts saved by skops, forged: its zip is taken apart, changed, and put together again."""

from __future__ import annotations

import contextlib
import io
import json
import struct
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from tests.io.forged_parts import NotThereError, copied, pick
from tests.io.mutations import Opened
from tests.io.specimens import Specimen, skops_file, skops_members

_SCHEMA = "schema.json"
_VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 3, 10, 1000, 10**9, 2**31, 2**63, 10**40, 0.5, -0.5, 1e308, "", "auto",
    "brute", "kd_tree", "ball_tree", "distance", "uniform", "minkowski", "precomputed", "haversine",
    "logistic", "identity", "softmax", "x" * 3000, [], [0], {}, "builtins", "numpy",
)  # fmt: skip
#: Classes and functions that skops may load, or must not.
_TYPES = (
    ("builtins", "list"), ("builtins", "dict"), ("builtins", "tuple"), ("builtins", "set"),
    ("builtins", "eval"), ("builtins", "slice"), ("os", "system"), ("numpy", "ndarray"),
    ("numpy", "int64"), ("numpy", "ma.MaskedArray"), ("numpy.random", "RandomState"),
    ("numpy.random._generator", "Generator"), ("numpy.random._pcg64", "PCG64"),
    ("sklearn.tree._tree", "Tree"), ("sklearn.svm._classes", "SVC"),
    ("sklearn.neighbors._kd_tree", "KDTree"), ("sklearn.linear_model._base", "LinearRegression"),
    ("sklearn.naive_bayes", "GaussianNB"), ("sklearn.naive_bayes", "CategoricalNB"),
    ("sklearn.neighbors._regression", "KNeighborsRegressor"),
    ("sklearn.neighbors._classification", "KNeighborsClassifier"),
    ("sklearn.neighbors._classification", "RadiusNeighborsClassifier"),
    ("sklearn.neural_network._multilayer_perceptron", "MLPRegressor"),
    ("sklearn.ensemble._forest", "RandomForestClassifier"),
    ("sklearn.isotonic", "IsotonicRegression"), ("sklearn.cluster._kmeans", "KMeans"),
    ("sklearn.gaussian_process._gpc", "GaussianProcessClassifier"),
    ("sklearn.metrics._dist_metrics", "EuclideanDistance64"),
    ("sklearn._loss._loss", "CyHalfBinomialLoss"),
    ("sklearn.linear_model._sgd_fast", "Log"), ("scipy.sparse._csr", "csr_matrix"),
)  # fmt: skip
_LOADERS = (
    "ObjectNode", "DictNode", "ListNode", "TupleNode", "SetNode", "JsonNode", "NdArrayNode",
    "FunctionNode", "TypeNode", "MethodNode", "PartialNode", "SliceNode", "BytesNode", "TreeNode",
    "RandomStateNode", "RandomGeneratorNode", "SparseMatrixNode", "MaskedArrayNode", "CachedNode",
    "OperatorFuncNode", "ConstructorFromReduceNode", "DefaultDictNode", "BytearrayNode", "SGDNode",
)  # fmt: skip


def forge_foreign(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """Other values, types, arrays or shared nodes in a part that skops saved."""
    at = pick(range(len(forged.foreign)), rng)
    members = skops_members(forged.foreign[at])
    schema = json.loads(members[_SCHEMA])
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice((
            _change_a_value, _change_a_value, _change_a_value, _change_a_type, _change_a_key,
            _move_a_node, _share_a_node, _double_a_node, _repeat_a_node, _change_an_array,
            _change_an_array, _change_an_array, _change_a_shape, _swap_arrays,
        ))(schema, members, rng)  # fmt: skip
    if rng.random() < 0.07:  # at the end: such an array is not to be read here
        _change_a_header(members, rng)
    members[_SCHEMA] = json.dumps(schema).encode()
    forged.foreign[at] = skops_file(members)


def _nodes(schema: Any) -> list[dict[str, Any]]:
    """Every node of a schema: what has a loader."""
    found, waiting = [], [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "__loader__" in one:
                found.append(one)
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def _change_a_value(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    node = pick([one for one in _nodes(schema) if one["__loader__"] == "JsonNode"], rng)
    value = rng.choice(_VALUES)
    old = node.get("content")
    if isinstance(old, str) and old.lstrip("-").isdigit() and rng.random() < 0.5:
        value = int(old) + rng.choice((-1, 1, 2, 1000))
    node["content"] = json.dumps(value)


def _change_a_type(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    node = pick(_nodes(schema), rng)
    node["__module__"], node["__class__"] = rng.choice(_TYPES)
    if rng.random() < 0.3:
        node["__loader__"] = rng.choice(_LOADERS)


def _change_a_key(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    node = pick(_nodes(schema), rng)
    key = pick(node, rng)
    if rng.random() < 0.3:
        del node[key]
    else:
        node[key] = copied(rng.choice(_VALUES))


def _put(node: dict[str, Any], other: dict[str, Any]) -> None:
    held = copied(other)
    node.clear()
    node.update(held)


def _move_a_node(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    """A part in the place of another; ids are new, or those of the first."""
    nodes = _nodes(schema)
    _put(pick(nodes[1:], rng), pick(nodes[1:], rng))


def _share_a_node(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    """A node says that it is one that was read before, or that is being read."""
    nodes = [one for one in _nodes(schema) if "__id__" in one]
    pick(nodes, rng)["__id__"] = pick([schema, *nodes], rng)["__id__"]


def _double_a_node(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    """Lists of the list before, twice, known by its id: walked as a tree they never end."""
    node = pick(_nodes(schema)[1:], rng)
    held = copied(node)
    for at in range(rng.choice((2, 5, 10, 25, 40))):
        again = {"__class__": "list", "__module__": "builtins", "__loader__": "CachedNode",
                 "__id__": held.get("__id__", 1)}  # fmt: skip
        held = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode",
                "content": [held, again], "__id__": 10**6 + at}  # fmt: skip
    _put(node, held)


def _repeat_a_node(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    lists = [one for one in _nodes(schema) if isinstance(one.get("content"), list)]
    content = pick(lists, rng)["content"]
    content *= rng.choice((0, 2, 3, 100))


def _an_array(members: dict[str, bytes], rng: Random) -> str:
    return str(pick([name for name in members if name.endswith(".npy")], rng))


def _saved(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _read(data: bytes) -> Any:
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # its header was forged before
        raise NotThereError from error


def _change_an_array(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    """Entries at the edges: indices that lead beyond, what is no number, what is too large."""
    name = _an_array(members, rng)
    array = _read(members[name]).copy()
    if not array.size or array.dtype.kind not in "iuf":
        raise NotThereError
    edges = (0, 1, 2, 3, 7, 100, 10**6) + (() if array.dtype.kind == "u" else (-1, -2, -(10**6)))
    values: tuple[Any, ...] = edges
    if array.dtype.kind == "f":
        values = (*edges, np.nan, np.inf, -np.inf, 1e308, 5e-324)
    for _ in range(rng.choice((1, 1, 3, array.size))):
        with contextlib.suppress(OverflowError):
            array.flat[rng.randrange(array.size)] = rng.choice(values)
    members[name] = _saved(array)


def _change_a_shape(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    name = _an_array(members, rng)
    array = _read(members[name])
    how = rng.randrange(5)
    if how == 0:
        array = np.resize(array, rng.choice((0, 1, 2, array.size + 1, 2 * array.size, 1000)))
    elif how == 1:
        array = array.reshape(-1)
    elif how == 2:
        array = array[..., None] if rng.random() < 0.5 else array[None]
    elif how == 3:
        array = array.astype(rng.choice(("<f8", "<i8", "<i4", "|u1", "<f4", "<U4", "|b1")))
    else:
        array = np.asfortranarray(array[::-1])
    members[name] = _saved(array)


def _swap_arrays(schema: Any, members: dict[str, bytes], rng: Random) -> None:
    one, other = _an_array(members, rng), _an_array(members, rng)
    members[one], members[other] = members[other], members[one]


def _change_a_header(members: dict[str, bytes], rng: Random) -> None:
    """A header of an array that says something else, such as objects, or a size of anything."""
    name = _an_array(members, rng)
    held = members[name]
    (length,) = struct.unpack_from("<H", held, 8)
    described = rng.choice((
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000000000), }",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (-1,), }",
        "{'descr': '<V100000000', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<U100000000', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "[" * 60,
    ))  # fmt: skip
    header = described.encode().ljust(length - 1)[: length - 1] + b"\n"
    members[name] = held[:10] + header + held[10 + length :]
