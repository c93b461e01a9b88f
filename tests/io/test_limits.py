"""What is saved can be loaded: limits are the same on both ways, and nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import orfeon
from orfeon.io import ModelFileError, limits, read_model


def within(wrap: Callable[[Any], Any], n_containers: int) -> Any:
    value: Any = 1
    for _ in range(n_containers):
        value = wrap(value)
    return value


def in_an_array(value: Any) -> Any:
    made = np.empty(1, object)
    made[0] = value
    return made


CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: [value],
    "tuple": lambda value: (value,),
    "dict": lambda value: {"a": value},
    "key": lambda value: {(value,): 0} if not isinstance(value, dict) else {"a": value},
    "frozenset": lambda value: frozenset([value]),
    "objects": in_an_array,
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_within_each_other_come_back(name, tmp_path):
    deepest = limits.MAX_DEPTH + 1 - (name == "key")
    deep = within(CONTAINERS[name], deepest)
    orfeon.save(orfeon.CARTClassifier(class_weight=deep), tmp_path / "model.orfeon")
    assert orfeon.load(tmp_path / "model.orfeon").class_weight == deep
    deeper = orfeon.CARTClassifier(class_weight=within(CONTAINERS[name], limits.MAX_DEPTH + 2))
    with pytest.raises(ModelFileError, match="more than 40 deep"):
        orfeon.save(deeper, tmp_path / "deeper.orfeon")


def test_generators_come_back_from_within_others(tmp_path):
    deep = within(lambda value: [value], limits.MAX_DEPTH - 3)
    model = orfeon.CARTClassifier(class_weight=[deep, np.random.default_rng(3)])
    orfeon.save(model, tmp_path / "model.orfeon")
    _, loaded = orfeon.load(tmp_path / "model.orfeon").class_weight
    assert loaded.integers(1000) == np.random.default_rng(3).integers(1000)


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("MAX_CONTAINERS", 100, "more than 100 lists and dicts, or brackets in strings"),
        ("MAX_OBJECTS", 2, "the model cannot be saved: it has 5 objects"),
        ("MAX_MEMBERS", 1, "the model cannot be saved: it has 1 arrays"),
        ("FREE_USES", -(2**40), "too many of its objects share its arrays"),
    ],
)
def test_what_would_not_be_read_is_not_written(limit, value, message, tmp_path, monkeypatch):
    shared = np.arange(1000.0)
    model = orfeon.BaggingClassifier(orfeon.CARTClassifier(class_weight=shared), 3)
    pool = [model, orfeon.CARTClassifier(class_weight=shared), orfeon.StumpClassifier()]
    model = orfeon.PoolBoostClassifier(pool)
    orfeon.save(model, tmp_path / "model.orfeon", about="[" * 100)
    monkeypatch.setattr(limits, limit, value)
    with pytest.raises(ModelFileError, match=message):
        orfeon.save(model, tmp_path / "other.orfeon", about="[" * 100)
    with pytest.raises(ModelFileError):  # the other way is not easier
        orfeon.load(tmp_path / "model.orfeon")


def test_sets_of_what_a_reader_would_refuse_are_not_written(tmp_path):
    odd = {(k, k) for k in range(limits.MAX_ODD_KEYS + 1)}
    with pytest.raises(ModelFileError, match="a set of more than 1000 items that are neither"):
        orfeon.save(orfeon.CARTClassifier(class_weight=odd), tmp_path / "model.orfeon")


def test_numbers_beyond_the_limit_are_named(tmp_path):
    path = tmp_path / "model.orfeon"
    with pytest.raises(ModelFileError, match=r"about\['n'\] has an integer of 16610 bits"):
        orfeon.save(orfeon.CARTClassifier(), path, about={"n": 10**5000})
    orfeon.save(orfeon.CARTClassifier(), path, about={"n": 2**4095})
    assert read_model(path).about == {"n": 2**4095}


@pytest.mark.parametrize(
    "array",
    [np.ma.masked_array([1.0, 2.0], [True, False]), np.rec.array([(1, 2.0)])],
    ids=lambda array: type(array).__name__,
)
def test_arrays_of_other_kinds_are_refused(array, tmp_path):
    name = type(array).__name__
    with pytest.raises(ModelFileError, match=f"class_weight holds a {name}, which model files"):
        orfeon.save(orfeon.CARTClassifier(class_weight=array), tmp_path / "model.orfeon")


def test_arrays_beside_the_model_become_lists(tmp_path):
    hidden = np.ma.masked_array([1.0, 2.0], [True, False])
    about = {"hidden": hidden, "one": np.array(3), "more": np.eye(2)}
    orfeon.save(orfeon.CARTClassifier(), tmp_path / "model.orfeon", about=about)
    expected = {"hidden": [None, 2.0], "one": 3, "more": [[1.0, 0.0], [0.0, 1.0]]}
    assert read_model(tmp_path / "model.orfeon").about == expected
