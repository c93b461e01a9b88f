"""Sources of randomness as plain data: seeds, and the states of NumPy's generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.io.errors import ModelFileError

#: Bit generators that are known; a file names one of them.
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def is_random(value: Any) -> bool:
    """Whether a value is a source of randomness that model files know.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        True for SeedSequence, Generator and RandomState.
    """
    return type(value) in (
        np.random.SeedSequence,
        np.random.Generator,
        np.random.RandomState,
    )


def state_of(value: Any) -> dict[str, Any]:
    """The state of a source of randomness.

    Parameters
    ----------
    value : SeedSequence, Generator or RandomState
        The source.

    Returns
    -------
    dict
        Plain values and arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.io.randomness import random_from, state_of
    >>> generator = np.random.default_rng(3)
    >>> state_of(generator)["kind"]
    'Generator'
    >>> random_from(state_of(generator)).integers(1000) == generator.integers(1000)
    np.True_
    """
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
    """The source of randomness of a state.

    Parameters
    ----------
    state : dict
        As :func:`state_of` gives it.

    Returns
    -------
    SeedSequence, Generator or RandomState
        The source.
    """
    try:
        kind = state["kind"]
        if kind == "SeedSequence":
            return _seed_sequence(state)
        inner = state["state"]
        name = inner["bit_generator"]
        if kind not in ("Generator", "RandomState") or name not in _GENERATORS:
            raise ValueError(f"{str(name)[:40]} is not known")
        bits = getattr(np.random, name)(0)
        if kind == "Generator":
            bits.state = inner
            return np.random.Generator(bits)
        made = np.random.RandomState(bits)
        made.set_state(inner)
        return made
    except Exception as error:  # NumPy refuses a state that is none in many ways
        raise ModelFileError(f"a source of randomness is inconsistent: {error}") from error


def _seed_sequence(state: dict[str, Any]) -> np.random.SeedSequence:
    entropy, key = state["entropy"], state["spawn_key"]
    words = entropy if type(entropy) is list else [] if entropy is None else [entropy]
    size, spawned = state["pool_size"], state["n_children_spawned"]
    numbers = [*words, *key, size, spawned]
    if any(type(word) is not int or word < 0 for word in numbers) or not 4 <= size <= 64:
        raise ValueError("seeds must be whole numbers from 0")
    if entropy is None:
        raise ValueError("a seed is absent")
    return np.random.SeedSequence(
        entropy, spawn_key=tuple(key), pool_size=size, n_children_spawned=spawned
    )
