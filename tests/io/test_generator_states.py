"""States of random generators: NumPy reads the word at a position without looking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from tests.io.test_forgeries import forge, inline, refuse

import orfeon
from orfeon.io import ModelFileError
from orfeon.io.randomness import random_from, state_of

BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
X, LABELS = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])


def source(name: str, kind: str) -> Any:
    """A source of randomness that has drawn a little of everything."""
    made = getattr(np.random, kind)(getattr(np.random, name)(3))
    made.standard_normal(3)
    made.bytes(5)
    if kind == "Generator":
        made.integers(10, dtype=np.int32)
    return made


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
@pytest.mark.parametrize("name", BITS)
def test_generators_come_back_where_they_were(tmp_path, name, kind):
    made = source(name, kind)
    orfeon.save(orfeon.CARTClassifier(random_state=made), tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon").random_state
    assert loaded.standard_normal(1000).tolist() == made.standard_normal(1000).tolist()


def with_field(name: str, kind: str, path: str, value: Any) -> dict[str, Any]:
    """A state in which one field has another value."""
    state = state_of(source(name, kind))
    *holders, last = path.split(".")
    inner = state["state"] = dict(state["state"])
    for holder in holders:
        inner[holder] = dict(inner[holder])
        inner = inner[holder]
    inner[last] = value
    return state


WRONG = [
    *[("MT19937", "state.pos", pos) for pos in (-1, 625, 700, 1_000_000, 2**31 - 1, 2.0, None)],
    *[("Philox", "buffer_pos", pos) for pos in (-1, 5, 1_000_000, True)],
    ("MT19937", "state.key", np.zeros(624, np.uint32)),
    ("MT19937", "state.key", np.ones(623, np.uint32)),
    ("MT19937", "state.key", np.ones(624, np.uint64)),
    ("MT19937", "state.more", 1),
    ("Philox", "buffer", np.zeros(3, np.uint64)),
    ("Philox", "state.counter", np.zeros((4, 1), np.uint64)),
    ("Philox", "state.key", np.zeros(4, np.uint64)),
    ("SFC64", "state.state", np.zeros(4, np.int64)),
    ("PCG64", "state.inc", 2),
    ("PCG64", "state.state", 2**128),
    ("PCG64DXSM", "state.inc", 0),
    *[(name, "has_uint32", 2) for name in BITS[1:]],
    *[(name, "uinteger", 2**32) for name in BITS[1:]],
    *[(name, "bit_generator", "BitGenerator") for name in BITS],
]


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
@pytest.mark.parametrize(("name", "path", "value"), WRONG, ids=lambda one: str(one)[:20])
def test_a_state_that_no_generator_has_is_refused(name, kind, path, value):
    with pytest.raises(ModelFileError, match="a source of randomness is inconsistent"):
        random_from(with_field(name, kind, path, value))


@pytest.mark.parametrize(("path", "value"), [("has_gauss", 2), ("gauss", np.nan), ("gauss", "1")])
def test_the_other_half_of_a_pair_of_normal_numbers_is_one(path, value):
    with pytest.raises(ModelFileError, match="gauss"):
        random_from(with_field("MT19937", "RandomState", path, value))


@pytest.mark.parametrize("pos", [1_000_000, 700, -1])
def test_a_model_file_cannot_draw_beyond_a_state(tmp_path, pos):
    """The numbers of a stratified guess are drawn when it predicts."""
    model = DummyClassifier(strategy="stratified", random_state=np.random.RandomState(0))
    forged = forge(model.fit(X, LABELS), tmp_path)
    _place(forged.content["objects"], "pos")[1] = pos
    refuse(forged, tmp_path, f"pos={pos} must be an integer from 0 to 624")


def test_the_position_in_a_buffer_is_within_it(tmp_path):
    model = DummyClassifier(
        strategy="stratified", random_state=np.random.RandomState(np.random.Philox(0))
    )
    forged = forge(model.fit(X, LABELS), tmp_path)
    _place(forged.content["objects"], "buffer_pos")[1] = 1_000_000
    refuse(forged, tmp_path, "buffer_pos=1000000 must be an integer from 0 to 4")
    _place(forged.content["objects"], "buffer_pos")[1] = 4
    _place(forged.content["objects"], "buffer")[1] = inline(np.zeros(2, np.uint64))
    refuse(forged, tmp_path, "buffer must be an array of 4 words")


def test_seeds_are_listed():
    """A range would be unrolled before it is looked at."""
    state = state_of(np.random.SeedSequence(3))
    assert random_from(state).generate_state(2).tolist()
    with pytest.raises(ModelFileError, match="spawn_key must be a list"):
        random_from(state | {"spawn_key": range(10**12)})


def _place(value: Any, name: str) -> Any:
    """The pair of a dict in a document whose key has a name."""
    if isinstance(value, list):
        if len(value) == 2 and value[0] == name:
            return value
        held = value
    else:
        held = list(value.values()) if isinstance(value, dict) else []
    found = (_place(one, name) for one in held)
    return next((one for one in found if one is not None), None)
