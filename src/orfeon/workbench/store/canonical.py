"""Values as text: the same value is always the same JSON, and a checksum guards it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from orfeon.workbench.store.database import StoreError


def canonical(value: object, name: str, *, allow_non_finite: bool = False) -> str:
    """The JSON text of a value: sorted keys, no spaces, no NaN."""
    try:
        plain = _plain(value, name, allow_non_finite)
        text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise StoreError(f"{name} is nested too deeply to be stored.") from None
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, as in names of odd files
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return text


def checksum(*texts: str) -> str:
    """A short checksum of texts, to detect damage."""
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


def is_whole(expected: object, *texts: object) -> bool:
    """Whether texts that were read are those that were written."""
    found = [text for text in texts if isinstance(text, str)]
    return len(found) == len(texts) and checksum(*found) == expected


def differences(before: object, now: object, name: str = "") -> Iterator[str]:
    """What differs between two values read from JSON, a sentence each."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            dotted = f"{name}.{key}" if name else key
            if key not in now:
                yield f"{dotted} is gone (was {_short(before[key])})"
            elif key not in before:
                yield f"{dotted} is new ({_short(now[key])})"
            else:
                yield from differences(before[key], now[key], dotted)
    elif canonical(before, name) != canonical(now, name):
        yield f"{name} was {_short(before)}, now {_short(now)}"


def _short(value: object) -> str:
    text = canonical(value, "value")
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plain(value: Any, name: str, allow_non_finite: bool) -> Any:
    """The value in JSON's own types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist(), name, allow_non_finite)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        if allow_non_finite:
            return None
        raise StoreError(f"{name} is {value}: numbers must be finite.")
    if isinstance(value, Mapping):
        return {
            _text_key(key, name): _plain(part, f"{name}.{key}", allow_non_finite)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        if _is_plain_already(value):
            return value
        return [
            _plain(part, f"{name}[{position}]", allow_non_finite)
            for position, part in enumerate(value)
        ]
    raise StoreError(
        f"{name} is of type {type(value).__name__}: a store holds dictionaries, lists, text, "
        "numbers, booleans and None."
    )


def _is_plain_already(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list is of finite floats, or of whole numbers: curves and votes are long."""
    kinds = set(map(type, values))
    return kinds == {int} or (kinds == {float} and all(map(math.isfinite, values)))


def _text_key(key: object, name: str) -> str:
    if not isinstance(key, str):
        raise StoreError(f"{name} has the key {key!r}: keys must be text.")
    return str(key)
