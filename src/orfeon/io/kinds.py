"""Kinds of values that attributes of saved objects may have, and the checks of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from orfeon.io import limits

Numbers = str | np.dtype[Any] | tuple[str, ...]


class Kind(NamedTuple):
    """What an attribute may hold."""

    words: str
    holds: Callable[[Any], bool]


def whole(low: int, high: int = 2**63 - 1) -> Kind:
    """A whole number in a range."""
    words = f"a whole number from {low}" + (f" to {high}" if high < 2**63 - 1 else "")
    return Kind(words, lambda v: type(v) is int and low <= v <= high)


def integer(low: int, high: int) -> Kind:
    """A whole number in a range; NumPy's own kind too."""

    def holds(value: Any) -> bool:
        is_whole = type(value) is int or isinstance(value, np.integer)
        return is_whole and low <= int(value) <= high

    return Kind(f"a whole number from {low} to {high}", holds)


def number(low: float = -math.inf, high: float = math.inf) -> Kind:
    """A finite number in a range; NumPy's own kind too."""

    def holds(value: Any) -> bool:
        if type(value) is int:  # those beyond are no floats
            return value.bit_length() < 1024 and low <= value <= high
        is_number = type(value) is float or isinstance(value, np.floating)
        return is_number and math.isfinite(value) and bool(low <= value <= high)

    return Kind(f"a finite number from {low} to {high}", holds)


def array(
    numbers: Numbers, *n_dimensions: int, finite: bool = False, low: float | None = None
) -> Kind:
    """An array of some kinds of numbers and dimensions; its entries may have a lower bound."""
    given = numbers if isinstance(numbers, tuple) else (numbers,)
    dtypes: list[np.dtype[Any]] = [np.dtype(one) for one in given]
    names = [dtype.name if dtype.names is None else "nodes" for dtype in dtypes]

    def holds(value: Any) -> bool:
        if type(value) is not np.ndarray or value.dtype not in dtypes:
            return False
        if value.ndim not in n_dimensions or (finite and not np.isfinite(value).all()):
            return False
        return low is None or not value.size or bool((value >= low).all())

    dimensions = " or ".join(map(str, n_dimensions))
    words = f"an array of {' or '.join(names)} with {dimensions} dimension(s)"
    words += ", all finite" if finite else ""
    return Kind(words + (f", none below {low}" if low is not None else ""), holds)


def part(*names: str) -> Kind:
    """An object of one of some classes, all of which are our own."""

    def holds(value: Any) -> bool:
        return type(value).__name__ in names and type(value).__module__.startswith("orfeon.")

    return Kind(f"a {' or '.join(names)}", holds)


def every(container: type[Any], item: Kind, at_least: int = 0) -> Kind:
    """A list or tuple of things of one kind."""

    def holds(value: Any) -> bool:
        is_long = type(value) is container and len(value) >= at_least
        return is_long and all(item.holds(one) for one in value)

    return Kind(f"a {container.__name__} of at least {at_least}, each {item.words}", holds)


def each(*items: Kind) -> Kind:
    """A tuple of things, each of a kind of its own."""

    def holds(value: Any) -> bool:
        is_long = type(value) is tuple and len(value) == len(items)
        return is_long and all(item.holds(one) for item, one in zip(items, value, strict=True))

    return Kind(f"a tuple of {', '.join(item.words for item in items)}", holds)


def dictionary(key: Kind, item: Kind) -> Kind:
    """A dict from things of one kind to things of another."""

    def holds(value: Any) -> bool:
        return isinstance(value, dict) and all(
            key.holds(name) and item.holds(one) for name, one in value.items()
        )

    return Kind(f"a dict from {key.words} to {item.words}", holds)


def named(item: Kind) -> Kind:
    """A dict from texts to things of one kind."""
    return dictionary(text, item)


def either(*kinds: Kind) -> Kind:
    """A thing of one of several kinds."""
    words = " or ".join(kind.words for kind in kinds)
    return Kind(words, lambda v: any(kind.holds(v) for kind in kinds))


def is_key(value: Any) -> bool:
    """Whether a value finds its place in a set at once, whoever chose the values there.

    The hashes of texts are secret, and few machine numbers share one. Those of larger integers, of
    tuples and of complex numbers can be chosen to be all the same.
    """
    if type(value) is int:
        return value.bit_length() <= limits.MAX_KEY_BITS
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufSUmM"
    return value is None or isinstance(value, str | bool | float)


def are_keys(values: Collection[Any]) -> bool:
    """Whether values are few, or all find their places in a set at once."""
    return len(values) <= limits.MAX_ODD_KEYS or all(map(is_key, values))


def _is_labels(value: Any) -> bool:
    if type(value) is not np.ndarray or value.ndim != 1 or not len(value):
        return False
    if value.dtype == object:
        return all(label is not None and is_key(label) for label in value)
    return value.dtype.kind in "biufSUmMT"


def _is_seeds(value: Any) -> bool:
    return type(value) is np.random.SeedSequence


anything = Kind("anything", lambda v: True)
none = Kind("nothing", lambda v: v is None)
text = Kind("a text", lambda v: type(v) is str)
truth = Kind("True or False", lambda v: type(v) is bool)
labels = Kind("an array of classes", _is_labels)
scalar = Kind("a class", lambda v: isinstance(v, str | bool | int | float | np.generic))
seeds = Kind("a seed sequence", _is_seeds)
span = Kind("a range", lambda v: type(v) is range and v.step == 1)
estimator = Kind("an estimator", lambda v: hasattr(v, "get_params") and not isinstance(v, type))
