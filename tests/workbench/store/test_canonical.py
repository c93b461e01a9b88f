"""The same value is the same text; what cannot be stored is refused by name."""

from __future__ import annotations

import enum
import json
import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orfeon.workbench.store import StoreError
from orfeon.workbench.store.canonical import canonical, checksum, differences, is_whole

_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, width=64)
).filter(lambda leaf: not isinstance(leaf, float) or math.isfinite(leaf))
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(_VALUES)
def test_values_come_back(value: Any) -> None:
    text = canonical(value, "value")
    assert repr(json.loads(text)) == repr(json.loads(json.dumps(value, sort_keys=True)))
    assert canonical(json.loads(text), "value") == text
    assert len(text.encode()) >= len(text)
    assert "\0" not in text


@given(_VALUES, _VALUES)
def test_there_are_differences_exactly_when_the_texts_differ(before: Any, now: Any) -> None:
    are_equal = canonical(before, "value") == canonical(now, "value")
    assert (list(differences(before, now, "value")) == []) is are_equal


def test_order_and_kind_of_container_do_not_matter() -> None:
    text = '{"a":[1,2],"b":{"c":null,"d":true}}'
    assert canonical({"b": {"d": True, "c": None}, "a": (1, 2)}, "x") == text
    assert (
        canonical(MappingProxyType({"a": np.array([1, 2]), "b": {"c": None, "d": True}}), "x")
        == text
    )


class _Rule(enum.StrEnum):
    MARGIN = "margin"


class _Size(enum.IntEnum):
    SMALL = 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.10000000149011612"),
        (np.float64(0.1), "0.1"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.bool_(False), "false"),
        (np.str_("é"), '"é"'),
        (np.array([[1.5], [2.0]]), "[[1.5],[2.0]]"),
        (np.array(["a"], dtype=object), '["a"]'),
        (_Rule.MARGIN, '"margin"'),
        (_Size.SMALL, "3"),
        ([1, True, 1.0], "[1,true,1.0]"),
        ("\ud800é", '"\\ud800\\u00e9"'),
    ],
)
def test_types_of_others_become_plain(value: object, text: str) -> None:
    assert canonical(value, "x") == text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": {1: 2}}, r"configuration\.a has the key 1: keys must be text"),
        ({"a": [0, {3, 4}]}, r"configuration\.a\[1\] is of type set"),
        ({"path": Path()}, r"configuration\.path is of type PosixPath"),
        (b"x", "configuration is of type bytes"),
        (1j, "configuration is of type complex"),
        (np.datetime64("2026-01-01"), "configuration is of type date"),
        ({"a": [1.0, math.inf]}, r"configuration\.a\[1\] is inf"),
        ({"a": np.array([1.0, np.nan])}, r"configuration\.a\[1\] is nan"),
    ],
)
def test_what_cannot_be_stored_is_named(value: object, told: str) -> None:
    with pytest.raises(StoreError, match=told):
        canonical(value, "configuration")


def test_a_value_that_holds_itself() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(StoreError, match="result is nested too deeply"):
        canonical(value, "result")


def test_long_values_are_shortened_in_differences() -> None:
    (told,) = differences({"x": "a" * 1000}, {"x": "b" * 1000})
    assert len(told) < 150


def test_checksums_tell_where_a_text_ends() -> None:
    assert checksum("ab", "c") != checksum("a", "bc")
    assert not is_whole(checksum("a"), b"a")
    assert not is_whole(None, "a")
