"""Random generators and seed sequences as plain data, with checked states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orfeon.io.errors import ModelFileError, require

#: Words in the state of a Mersenne twister and in the buffer of Philox: NumPy reads the word at the
#: stored position without a bounds check.
_TWISTER_WORDS, _PHILOX_WORDS = 624, 4


def is_random(value: Any) -> bool:
    return type(value) in (
        np.random.SeedSequence,
        np.random.Generator,
        np.random.RandomState,
    )


def state_of(value: Any) -> dict[str, Any]:
    if isinstance(value, np.random.SeedSequence):
        entropy: Any = value.entropy
        if isinstance(entropy, list | tuple | np.ndarray):
            entropy = [int(word) for word in entropy]
        elif entropy is not None:
            entropy = int(entropy)
        return {
            "kind": "SeedSequence",
            "entropy": entropy,
            "spawn_key": [int(key) for key in value.spawn_key],
            "pool_size": int(value.pool_size),
            "n_children_spawned": int(value.n_children_spawned),
        }
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state(legacy=False)
        return {"kind": "RandomState", "state": state}
    return {"kind": "Generator", "state": value.bit_generator.state}


def random_from(state: Any) -> Any:
    try:
        kind = state["kind"]
        if kind == "SeedSequence":
            return _seed_sequence(state)
        inner = state["state"]
        check_bits(inner, has_normal=kind == "RandomState")
        bits = getattr(np.random, inner["bit_generator"])(0)
        if kind == "Generator":
            bits.state = inner
            return np.random.Generator(bits)
        if kind != "RandomState":
            raise ValueError(f"{str(kind)[:40]!r} is not supported")
        made = np.random.RandomState(bits)
        made.set_state(inner)
        return made
    except Exception as error:  # NumPy rejects invalid states with many types of errors
        raise ModelFileError(f"a source of randomness is inconsistent: {error}") from error


# -- states of bit generators ----------------------------------------------------------------------


def check_bits(state: Any, *, has_normal: bool) -> None:
    """Raise ValueError unless a state is valid for its bit generator."""
    name = state["bit_generator"]
    if type(name) is not str or name not in _CHECKS:
        raise ValueError(f"the bit generator {str(name)[:40]!r} is not supported")
    known = {"bit_generator", "state"} | ({"has_gauss", "gauss"} if has_normal else set())
    if has_normal:
        _require_whole(state, "has_gauss", 1)
        is_number = isinstance(state["gauss"], float) and np.isfinite(state["gauss"])
        require(is_number, "gauss must be a finite number")
    if name != "MT19937":
        known |= {"has_uint32", "uinteger"}
        _require_whole(state, "has_uint32", 1)
        _require_whole(state, "uinteger", 2**32 - 1)
    if name == "Philox":
        known |= {"buffer", "buffer_pos"}
        _require_words(state, "buffer", np.uint64, _PHILOX_WORDS)
        _require_whole(state, "buffer_pos", _PHILOX_WORDS)
    require(set(state) == known, f"the state of a {name} must have {sorted(known)}")
    _CHECKS[name](state["state"])


def _check_twister(inner: Any) -> None:
    _require_fields(inner, "key", "pos")
    _require_words(inner, "key", np.uint32, _TWISTER_WORDS)
    _require_whole(inner, "pos", _TWISTER_WORDS)
    # A state of zeros stays zero, and rejection sampling would never end.
    is_alive = inner["key"][0] >= 2**31 or inner["key"][1:].any()
    require(is_alive, "key must not be zero")


def _check_congruential(inner: Any) -> None:
    _require_fields(inner, "state", "inc")
    _require_whole(inner, "state", 2**128 - 1)
    _require_whole(inner, "inc", 2**128 - 1)
    # An even increment has short cycles; one of them is always zero.
    require(inner["inc"] % 2, "inc must be odd")


def _check_philox(inner: Any) -> None:
    _require_fields(inner, "counter", "key")
    _require_words(inner, "counter", np.uint64, 4)
    _require_words(inner, "key", np.uint64, 2)


def _check_chaotic(inner: Any) -> None:
    _require_fields(inner, "state")
    _require_words(inner, "state", np.uint64, 4)


#: Checks of the states of the bit generators that are supported.
_CHECKS: dict[str, Callable[[Any], None]] = {
    "MT19937": _check_twister,
    "PCG64": _check_congruential,
    "PCG64DXSM": _check_congruential,
    "Philox": _check_philox,
    "SFC64": _check_chaotic,
}


def _require_fields(inner: Any, *names: str) -> None:
    require(type(inner) is dict and set(inner) == set(names), f"state must have {sorted(names)}")


def _require_whole(state: dict[str, Any], name: str, high: int) -> None:
    value = state[name]
    is_whole = type(value) is int and 0 <= value <= high
    require(is_whole, f"{name}={str(value)[:40]} must be an integer from 0 to {high}")


def _require_words(state: dict[str, Any], name: str, dtype: type[Any], n_words: int) -> None:
    value = state[name]
    is_array = type(value) is np.ndarray and value.dtype == dtype and value.shape == (n_words,)
    require(is_array, f"{name} must be an array of {n_words} words of {dtype.__name__}")


# -- seeds -----------------------------------------------------------------------------------------


def _seed_sequence(state: dict[str, Any]) -> np.random.SeedSequence:
    entropy, key = state["entropy"], state["spawn_key"]
    require(type(key) is list, "spawn_key must be a list")
    words = entropy if type(entropy) is list else [] if entropy is None else [entropy]
    size, spawned = state["pool_size"], state["n_children_spawned"]
    numbers = [*words, *key, size, spawned]
    if any(type(word) is not int or word < 0 for word in numbers) or not 4 <= size <= 64:
        raise ValueError("seeds must be integers from 0")
    if entropy is None:
        raise ValueError("the entropy is missing")
    return np.random.SeedSequence(
        entropy, spawn_key=tuple(key), pool_size=size, n_children_spawned=spawned
    )
