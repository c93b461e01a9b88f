"""The JSON document of a model file: its front with format and digest, and its content."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import numpy as np

from orfeon.io import limits
from orfeon.io.errors import ModelFileError

#: The member of the zip that holds it.
NAME = "model.json"
FORMAT = "orfeon model"
_FRONT = re.compile(rb'\{"format":"orfeon model","version":(\d{1,9}),"digest":"([0-9a-f]{64})",')
_KEYS = {"about", "arrays", "foreign", "made_by", "model", "objects", "preparation"}


def write_document(content: dict[str, Any]) -> bytes:
    """Content as a document that begins with the format, its version and a digest."""
    assert set(content) == _KEYS
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    rest = text[1:].encode("ascii")
    digest = hashlib.sha256(rest).hexdigest()
    front = f'{{"format":"{FORMAT}","version":{limits.VERSION},"digest":"{digest}",'.encode()
    if _n_brackets(rest) >= limits.MAX_CONTAINERS:  # the document is a dict itself
        raise ModelFileError(
            f"the model cannot be saved: its description has more than {limits.MAX_CONTAINERS} "
            "lists and dicts, or brackets in strings."
        )
    if len(front) + len(rest) > limits.MAX_DOCUMENT:
        raise ModelFileError(
            f"the model cannot be saved: its description has {len(rest) >> 20} MiB; at most "
            f"{limits.MAX_DOCUMENT >> 20} are allowed."
        )
    return front + rest


def read_document(data: memoryview) -> dict[str, Any]:
    """The content of a document, whose digest is checked before it is read."""
    if len(data) > limits.MAX_DOCUMENT:
        raise ModelFileError("its description is too large.")
    found = _FRONT.match(bytes(data[:256]))
    if found is None:
        raise ModelFileError("its description does not begin like that of a model.")
    version = int(found[1])
    if version > limits.VERSION:
        raise ModelFileError(
            f"it was made by a newer orfeon: its format has version {version}, and this orfeon "
            f"reads versions up to {limits.VERSION}. Upgrade orfeon."
        )
    rest = data[found.end() :]
    if version < 1 or hashlib.sha256(rest).hexdigest().encode() != found[2]:
        raise ModelFileError("its description was changed (the digest differs).")
    text = b"{" + bytes(rest)
    if _n_brackets(text) > limits.MAX_CONTAINERS:
        raise ModelFileError("its description has too many lists and dicts.")
    try:
        content = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModelFileError("its description is not valid JSON.") from error
    if type(content) is not dict or set(content) != _KEYS:
        raise ModelFileError("its description lacks a key, or has an unknown one.")
    for name in ("about", "made_by", "preparation"):
        _check_plain(content[name], name)
    for name in ("made_by", "preparation"):
        if type(content[name]) is not dict and (name, content[name]) != ("preparation", None):
            raise ModelFileError(f"its {name} is not a dict.")
    return content


def _n_brackets(text: bytes) -> int:
    """An upper bound on the lists and dicts in JSON: brackets in strings count too."""
    return text.count(b"[") + text.count(b"{")


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_plain(value: Any, name: str) -> None:
    """Reject what :func:`plain_json` cannot return, so that readers need no checks."""
    layer = [value]
    for _ in range(limits.MAX_DEPTH + 1):
        if any(_is_too_large(one) for one in layer):
            raise ModelFileError(f"its {name} has a number that is too large.")
        held = [one.values() if type(one) is dict else one for one in layer if _is_container(one)]
        layer = [one for inner in held for one in inner]
        if not layer:
            return
    raise ModelFileError(f"its {name} has containers nested more than {limits.MAX_DEPTH} deep.")


def _is_too_large(value: Any) -> bool:
    if type(value) is int:
        return value.bit_length() > limits.MAX_INTEGER_BITS
    return type(value) is float and not math.isfinite(value)


def _is_container(value: Any) -> bool:
    return type(value) in (dict, list)


def plain_json(value: Any, name: str, *, depth: int = 0) -> Any:
    """A value as plain JSON: tuples become lists, NumPy numbers Python numbers."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        if _is_too_large(int(value)):
            raise ModelFileError(
                f"{name} has an integer of {value.bit_length()} bits; at most "
                f"{limits.MAX_INTEGER_BITS} are allowed."
            )
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth < limits.MAX_DEPTH and isinstance(value, list | tuple):
        return [plain_json(one, f"{name}[{at}]", depth=depth + 1) for at, one in enumerate(value)]
    if depth < limits.MAX_DEPTH and isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise ModelFileError(f"{name} has the key {key!r}; keys must be strings.")
        return {
            str(key): plain_json(one, f"{name}[{key!r}]", depth=depth + 1)
            for key, one in value.items()
        }
    raise ModelFileError(
        f"{name} is of type {type(value).__name__}; {name.split('[')[0]} may hold None, booleans, "
        "numbers, strings, lists and dicts of them."
    )
