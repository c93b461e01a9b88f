"""A class declares what is saved of it, and nothing else is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import orfeon
from orfeon.io import ModelFileError
from orfeon.io.entry import Entry
from orfeon.utils import saved


@saved.attributes(size=saved.integer(1), _cache=None)
class Base:
    size: int


@saved.attributes(size=saved.integer(2), costs=saved.optional(saved.floats))
class Inherits(Base):
    pass


@saved.attributes(saved.anything)
@dataclass(frozen=True)
class Family:
    pass


@dataclass(frozen=True)
class Member(Family):
    power: float


def test_a_class_adds_to_what_its_bases_declare():
    declared = saved.attributes_of(Inherits)
    assert declared is not None
    assert set(declared) == {"size", "_cache", "costs"}
    assert declared["_cache"] is None
    size, costs = declared["size"], declared["costs"]
    assert size is not None
    assert costs is not None
    assert (size.holds(2), size.holds(1), size.is_optional) == (True, False, False)
    assert (costs.holds(np.ones(2)), costs.is_optional) == (True, True)


def test_fields_of_a_family_are_checked_by_its_constructors():
    declared = saved.attributes_of(Member)
    assert declared == {"power": saved.anything}
    assert saved.attributes_of(Family) is None  # not made itself
    assert saved.attributes_of(int) is None


def test_an_older_name_is_the_one_in_files():
    kind = saved.in_files("asked_", saved.floats)
    assert kind.name_in_files == "asked_"
    entry = Entry("CostCascadeClassifier", "orfeon")
    assert entry.names_in_files == {"queried_": "asked_"}


class NewBagging(orfeon.BaggingClassifier):
    """A method with an attribute of its own."""


def test_an_attribute_is_saved_once_its_class_declares_it(monkeypatch):
    bag = NewBagging(n_estimators=2, random_state=0).fit([[0.0], [1.0]], [0, 1])
    bag.drift_ = 0.5
    undeclared = Entry("NewBagging", __name__)
    with pytest.raises(ModelFileError, match="has the attribute 'drift_'"):
        undeclared.checked(undeclared.fields_of(bag))
    monkeypatch.setattr(NewBagging, "_saved", {"drift_": saved.number()}, raising=False)
    entry = Entry("NewBagging", __name__)
    assert entry.checked(entry.fields_of(bag))["drift_"] == 0.5
    bag.drift_ = "much"
    with pytest.raises(ModelFileError, match=r"NewBagging\.drift_ must be a finite number"):
        entry.checked(entry.fields_of(bag))
    del bag.drift_
    with pytest.raises(ModelFileError, match="NewBagging lacks the attribute drift_"):
        entry.checked(entry.fields_of(bag))


@pytest.mark.parametrize("name", ["prune", "CombiningRule", "COMBINING_RULES", "Decider"])
def test_other_public_names_are_no_classes_of_files(name):
    from orfeon.io.catalogue import entry_named

    with pytest.raises(ModelFileError, match=f"names the class '{name}', which this version"):
        entry_named(name)
