"""Declare which attributes of a class are saved in model files.

A class declares its attributes and the kind of each; declarations of its bases are added::

    @saved.attributes(threshold_=saved.number(), costs_=saved.optional(saved.floats))
    class MyClassifier(VotingClassifierMixin, IndependentEnsemble): ...

:mod:`orfeon.io` rejects attributes that are not declared, missing or of another kind, both when it
saves and when it loads.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

Numbers = str | np.dtype[Any] | tuple[str, ...]
Class = TypeVar("Class", bound=type[Any])

#: Bits of an integer that is a class or a category: few of these have the same hash.
MAX_KEY_BITS = 64


class Kind(NamedTuple):
    """A check of an attribute, and a description of what passes it."""

    words: str
    holds: Callable[[Any], bool]
    is_optional: bool = False
    #: Its name in model files, if it was renamed since 0.1.
    name_in_files: str = ""


def attributes(others: Kind | None = None, /, **kinds: Kind | None) -> Callable[[Class], Class]:
    """Declare the saved attributes of a class; None marks one that is not saved.

    ``others`` is the kind of all fields of dataclasses that inherit from this one, for families
    whose constructors check them.
    """

    def declare(kind: Class) -> Class:
        kind._saved = kinds if others is None else {"*": others, **kinds}
        return kind

    return declare


def attributes_of(kind: type[Any]) -> dict[str, Kind | None] | None:
    """What a class and its bases declare, None if it cannot be saved."""
    declared = [vars(base)["_saved"] for base in kind.__mro__ if "_saved" in vars(base)]
    if not declared or "*" in vars(kind).get("_saved", ()):
        return None
    found: dict[str, Kind | None] = {}
    for one in reversed(declared):
        found |= one
    others = found.pop("*", None)
    fields = () if others is None else dataclasses.fields(kind)
    return {**{one.name: others for one in fields}, **found}


def optional(kind: Kind) -> Kind:
    return kind._replace(is_optional=True)


def in_files(name: str, kind: Kind) -> Kind:
    return kind._replace(name_in_files=name)


# -- kinds -----------------------------------------------------------------------------------------


def integer(low: int, high: int = 2**63 - 1) -> Kind:
    words = f"an integer from {low}" + (f" to {high}" if high < 2**63 - 1 else "")
    return Kind(words, lambda v: type(v) is int and low <= v <= high)


def number() -> Kind:
    """A finite number, of Python or NumPy."""

    def holds(value: Any) -> bool:
        if type(value) is int:  # larger ones do not fit into a float
            return value.bit_length() < 1024
        return (type(value) is float or isinstance(value, np.floating)) and math.isfinite(value)

    return Kind("a finite number", holds)


def array(
    numbers: Numbers, *n_dimensions: int, finite: bool = False, low: float | None = None
) -> Kind:
    """An array with one of some dtypes and numbers of dimensions."""
    given = numbers if isinstance(numbers, tuple) else (numbers,)
    dtypes: list[np.dtype[Any]] = [np.dtype(one) for one in given]
    names = [dtype.name if dtype.names is None else "nodes" for dtype in dtypes]

    def holds(value: Any) -> bool:
        if type(value) is not np.ndarray or value.dtype not in dtypes:
            return False
        if value.ndim not in n_dimensions or (finite and not np.isfinite(value).all()):
            return False
        return low is None or not value.size or bool((value >= low).all())

    words = f"a {' or '.join(f'{n}-d' for n in n_dimensions)} array of {' or '.join(names)}"
    words += ", all finite" if finite else ""
    return Kind(words + (f", none below {low}" if low is not None else ""), holds)


def instance(*names: str) -> Kind:
    """An object of one of some classes of orfeon."""

    def holds(value: Any) -> bool:
        return type(value).__name__ in names and type(value).__module__.startswith("orfeon.")

    return Kind(f"a {' or '.join(names)}", holds)


def subclass(*names: str) -> Kind:
    """An object whose class is, or inherits from, one of some classes of orfeon."""

    def holds(value: Any) -> bool:
        return any(
            base.__name__ in names and base.__module__.startswith("orfeon.")
            for base in type(value).__mro__
        )

    return Kind(f"a {' or '.join(names)}", holds)


def list_of(item: Kind, at_least: int = 0) -> Kind:
    return _sequence(list, item, at_least)


def tuple_of(item: Kind, at_least: int = 0) -> Kind:
    return _sequence(tuple, item, at_least)


def _sequence(container: type[Any], item: Kind, at_least: int) -> Kind:
    def holds(value: Any) -> bool:
        is_long = type(value) is container and len(value) >= at_least
        return is_long and all(item.holds(one) for one in value)

    least = f" of at least {at_least}" if at_least else ""
    return Kind(f"a {container.__name__}{least}, each {item.words}", holds)


def tuple_with(*items: Kind) -> Kind:
    """A tuple of items, each of its own kind."""

    def holds(value: Any) -> bool:
        is_long = type(value) is tuple and len(value) == len(items)
        return is_long and all(item.holds(one) for item, one in zip(items, value, strict=True))

    return Kind(f"a tuple of {', '.join(item.words for item in items)}", holds)


def dict_of(key: Kind, item: Kind) -> Kind:
    def holds(value: Any) -> bool:
        return isinstance(value, dict) and all(
            key.holds(name) and item.holds(one) for name, one in value.items()
        )

    return Kind(f"a dict from {key.words} to {item.words}", holds)


def one_of(*kinds: Kind) -> Kind:
    words = " or ".join(kind.words for kind in kinds)
    return Kind(words, lambda v: any(kind.holds(v) for kind in kinds))


def exactly(text: str) -> Kind:
    return Kind(repr(text), lambda v: type(v) is str and v == text)


def is_key(value: Any) -> bool:
    """Whether an attacker cannot choose many such values with the same hash.

    Hashes of strings are secret, and few numbers of 64 bits share a hash. Larger integers, tuples
    and complex numbers can be chosen to have all the same hash.
    """
    if type(value) is int:
        return value.bit_length() <= MAX_KEY_BITS
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufSUmM"
    return value is None or isinstance(value, str | bool | float)


def _is_labels(value: Any) -> bool:
    if type(value) is not np.ndarray or value.ndim != 1 or not len(value):
        return False
    if value.dtype == object:
        return all(label is not None and is_key(label) for label in value)
    return value.dtype.kind in "biufSUmMT"


anything = Kind("anything", lambda v: True)
none = Kind("None", lambda v: v is None)
string = Kind("a string", lambda v: type(v) is str)
boolean = Kind("True or False", lambda v: type(v) is bool)
label = Kind("a class", lambda v: isinstance(v, str | bool | int | float | np.generic))
labels = Kind("an array of classes", _is_labels)
floats = array("f8", 1)
finite_floats = array("f8", 1, finite=True)
matrix = array("f8", 2)
indices = array("i8", 1, low=0)
estimator = Kind("an estimator", lambda v: hasattr(v, "get_params") and not isinstance(v, type))
seed_sequence = Kind("a seed sequence", lambda v: type(v) is np.random.SeedSequence)
#: Indices of members that were trained together.
batch = Kind("a range", lambda v: type(v) is range and v.step == 1)
#: Batches, and the digest of the training set of each.
history = list_of(tuple_with(batch, string))
