"""Damaged and forged files: refused, or harmless."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np
import pytest
from tests.io.fuzzing import fate, fuzz, specimens
from tests.io.mutations import Opened, bombs, opened, signed

import orfeon
from orfeon.datasets import make_waveform
from orfeon.io import ModelFileError, limits


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return specimens(tmp_path_factory.mktemp("specimens"))


def test_thousands_of_mutated_files_do_no_harm(models, tmp_path):
    fates = fuzz(models, tmp_path, seed=0, n=3000, seconds=18.0)
    assert sum(fates.values()) > 500  # fewer than all only where the machine is busy
    assert fates["damaged: refused"] > 2 * fates["damaged: equal"] > 0
    assert fates["forged: refused"] > 2 * fates["forged: asked"] > 0
    assert set(fates) >= {"damaged: refused", "damaged: equal", "forged: refused"}


def test_bombs_are_refused(models, tmp_path):
    names = []
    for name, data in bombs(models[0].data, tmp_path):
        (tmp_path / "bomb.orfeon").write_bytes(data)
        assert fate(tmp_path / "bomb.orfeon", models[0], is_damage=False) == "refused", name
        names.append(name)
    assert len(names) == 7


# -- forgeries, one by one -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    """A forest with a categorical attribute of many categories, large enough for real arrays."""
    X, y = make_waveform(1200, random_state=0)
    table = X[:, :4].astype(object)
    table[:, 2] = np.char.add("c", (np.arange(1200) % 1100).astype(str))
    model = orfeon.RandomForestClassifier(5, random_state=0).fit(table, y)
    path = tmp_path_factory.mktemp("forest") / "forest.orfeon"
    orfeon.save(model, path)
    return path.read_bytes()


def fields_of(forged: Opened, name: str) -> dict[str, Any]:
    (found,) = (one["fields"] for one in forged.content["objects"] if one["class"] == name)
    return found


def array_of(forged: Opened, fields: dict[str, Any], name: str) -> tuple[int, Any]:
    """Which array a field is, and its entries to be changed."""
    at = fields[name]["array"]
    kind = forged.content["arrays"][at][0]
    dtype = orfeon.forest.NODE if kind == "node" else np.dtype(kind)
    return at, np.frombuffer(forged.arrays[at], dtype).copy()


def change(forged: Opened, name: str, how: Any) -> None:
    fields = fields_of(forged, "Forest")
    at, entries = array_of(forged, fields, name)
    how(entries)
    forged.arrays[at] = entries.tobytes()


def first_inner(nodes: Any) -> int:
    return int(np.flatnonzero(nodes["first_child"] > 0)[0])


def beyond(nodes: Any) -> None:
    nodes["first_child"][first_inner(nodes)] = 2**30


def backwards(nodes: Any) -> None:
    inner = np.flatnonzero((nodes["first_child"] > 0) & (nodes["threshold"] != np.inf))
    nodes["first_child"][inner[1]] = 0


def unknown_attribute(nodes: Any) -> None:
    nodes["attribute"][first_inner(nodes)] = 4


def no_projection(nodes: Any) -> None:
    nodes["attribute"][first_inner(nodes)] = -1


def not_a_number(nodes: Any) -> None:
    nodes["threshold"][first_inner(nodes)] = np.nan


def table_beyond(nodes: Any) -> None:
    nodes["threshold"][nodes["attribute"] == 2] = 1e6


def table_so_far_that_sums_wrap(nodes: Any) -> None:
    nodes["threshold"][nodes["attribute"] == 2] = 2.0**63 - 1024


@pytest.mark.parametrize(
    "how",
    [
        beyond, backwards, unknown_attribute, no_projection, not_a_number, table_beyond,
        table_so_far_that_sums_wrap,
    ],
)  # fmt: skip
def test_nodes_that_lead_astray_are_refused(forest, tmp_path, how):
    forged = opened(forest)
    change(forged, "nodes", how)
    refuse(forged, tmp_path, "a Forest is inconsistent")


def refuse(forged: Opened, folder: Any, message: str) -> None:
    (folder / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match=message):
        orfeon.load(folder / "forged.orfeon")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("label", 3, "a Forest is inconsistent"),
        ("label", -1, "a Forest is inconsistent"),
        ("n_children", 1, "a Forest is inconsistent"),
        ("n_children", 60_000, "a Forest is inconsistent"),
        ("missing", 7, "a Forest is inconsistent"),
        ("branches", 2, "a Forest is inconsistent"),
    ],
)
def test_entries_out_of_range_are_refused(forest, tmp_path, name, value, message):
    forged = opened(forest)
    change(forged, name, lambda entries: entries.__setitem__(0, value))
    refuse(forged, tmp_path, message)


def test_a_schema_with_more_categories_than_its_trees_is_refused(forest, tmp_path):
    """A code beyond the table of branches would be read from memory that is not the table's."""
    forged = opened(forest)
    categories = fields_of(forged, "Schema")["categories"]["tuple"]
    categories[2]["tuple"] += [f"more {at}" for at in range(1000)]
    refuse(forged, tmp_path, "its trees must be those of the attributes of schema_")


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        ("Forest", "n_classes", 4, "value has shape"),
        ("Forest", "n_classes", 0, "value must have one column"),
        ("Forest", "n_classes", True, "Forest.n_classes must be a whole number"),
        ("Forest", "label", None, "Forest.label must be an array of int32"),
        ("RandomForestClassifier", "n_features_in_", 5, "as many attributes as n_features_in_"),
        ("RandomForestClassifier", "n_classes_", 2, "n_classes_ must be that of classes_"),
        ("RandomForestClassifier", "members_", {"object": 0}, "members_ must be a Forest"),
        ("RandomForestClassifier", "predict", 1, "has the attribute 'predict'"),
        ("RandomForestClassifier", "_history", [[1, 2]], "_history must be a list"),
        ("Schema", "names", {"tuple": ["a"]}, "Their lengths must be equal"),
        ("Schema", "categories", {"tuple": []}, "Schema.categories must be a tuple of at least 1"),
    ],
)
def test_fields_of_another_kind_are_refused(forest, tmp_path, kind, name, value, message):
    forged = opened(forest)
    fields_of(forged, kind)[name] = value
    refuse(forged, tmp_path, message)


def test_a_field_that_is_not_there_is_named(forest, tmp_path):
    forged = opened(forest)
    del fields_of(forged, "RandomForestClassifier")["members_"]
    refuse(forged, tmp_path, "RandomForestClassifier lacks its attribute members_")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os.system", "has a 'os.system', which this orfeon does not know"),
        ("builtins.eval", "which this orfeon does not know"),
        ("LazyView", "which this orfeon does not know"),
        ("CARTClassifier", "CARTClassifier has the attribute"),
        (["Forest"], "which this orfeon does not know"),
    ],
)
def test_other_classes_are_refused(forest, tmp_path, name, message):
    forged = opened(forest)
    forged.content["objects"][-1]["class"] = name
    refuse(forged, tmp_path, message)


@pytest.mark.parametrize("kind", ["|O", "O", "<V8", "<f8,<i4", "object", ">f8", "<U0", "<M8[xx]"])
def test_other_kinds_of_arrays_are_refused(forest, tmp_path, kind):
    forged = opened(forest)
    forged.content["arrays"][0][0] = kind
    refuse(forged, tmp_path, "of an array is not allowed")


def test_arrays_that_were_exchanged_are_refused(forest, tmp_path):
    forged = opened(forest)
    fields = fields_of(forged, "Forest")
    fields["missing"], fields["n_children"] = fields["n_children"], fields["missing"]
    refuse(forged, tmp_path, "a Forest is inconsistent")


def test_objects_hold_only_those_before_them(forest, tmp_path):
    forged = opened(forest)
    at = len(forged.content["objects"]) - 1
    fields_of(forged, "RandomForestClassifier")["estimator_"] = {"object": at}
    refuse(forged, tmp_path, f"object {at} is not there, or comes later")


def test_a_small_file_does_not_keep_the_reader_busy(forest, tmp_path):
    """Thousands of forests of the same arrays, each of which would be checked; and deep chains."""
    forged = opened(forest)
    whole = next(one for one in forged.content["objects"] if one["class"] == "Forest")
    forged.content["objects"] = [whole] * 20_000
    forged.content["model"] = {"object": 0}
    refuse(forged, tmp_path, "its arrays are used too often")
    chain = [{"class": "BaggingClassifier", "fields": {"estimator": None}}]
    chain += [
        {"class": "BaggingClassifier", "fields": {"estimator": {"object": at}}} for at in range(99)
    ]
    forged.content["objects"] = chain
    refuse(forged, tmp_path, "objects are more than 50 deep")


def test_a_chain_that_doubles_at_each_step_is_described_at_once(forest, tmp_path):
    forged = opened(forest)
    objects = [{"class": "CARTClassifier", "fields": {}}]
    for at in range(45):
        steps = [{"tuple": [name, {"object": at}]} for name in ("a", "b")]
        objects.append({"class": "sklearn.Pipeline", "fields": {"steps": steps}})
    forged.content["objects"], forged.content["arrays"] = objects, []
    forged.content["model"] = {"object": 45}
    forged.arrays.clear()
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    found = orfeon.io.describe(tmp_path / "forged.orfeon")
    assert found["parameters"]["steps"] == "[('a', Pipeline(...)), ('b', Pipeline(...))]"


def test_a_parameter_that_an_older_orfeon_did_not_have_has_its_default(forest, tmp_path):
    forged = opened(forest)
    fields = fields_of(forged, "RandomForestClassifier")
    del fields["min_impurity_decrease"]
    (tmp_path / "older.orfeon").write_bytes(signed(forged))
    assert orfeon.load(tmp_path / "older.orfeon").min_impurity_decrease == 0.0


def test_what_another_orfeon_made_is_told(forest, tmp_path):
    forged = opened(forest)
    forged.content["made_by"]["orfeon"] = "7.3.1"
    fields_of(forged, "RandomForestClassifier")["brand_new_"] = 1
    refuse(forged, tmp_path, r"made by orfeon 7\.3\.1; this is")


# -- the zip ---------------------------------------------------------------------------------------


def zip_of(members: list[tuple[str, bytes]], path: Any, **options: Any) -> None:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in members:
            archive.writestr(name, data)


@pytest.mark.parametrize(
    "name", ["../model.json", "/etc/passwd", "model.json/", "arrays/1.npy", "x.pkl", "MODEL.JSON"]
)
def test_members_of_other_names_are_refused(tmp_path, name):
    zip_of([("model.json", b"{}"), (name, b"")], tmp_path / "a.orfeon")
    with pytest.raises(ModelFileError, match="it is no model file"):
        orfeon.load(tmp_path / "a.orfeon")


def test_members_are_there_once(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        zip_of([("model.json", b"{}"), ("model.json", b"{}")], tmp_path / "a.orfeon")
    with pytest.raises(ModelFileError, match="several members of one name"):
        orfeon.load(tmp_path / "a.orfeon")


def test_a_file_that_was_zipped_again_with_compression_is_refused(forest, tmp_path):
    (tmp_path / "a.orfeon").write_bytes(forest)
    with zipfile.ZipFile(tmp_path / "a.orfeon") as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    zip_of(members, tmp_path / "b.orfeon", compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="compressed; model files are stored as they are"):
        orfeon.load(tmp_path / "b.orfeon")
    zip_of(members, tmp_path / "c.orfeon")  # no longer aligned, and yet the same
    assert orfeon.io.describe(tmp_path / "c.orfeon")["n_trees"] == 5


def test_a_member_too_many_is_refused(forest, tmp_path):
    (tmp_path / "a.orfeon").write_bytes(forest)
    with zipfile.ZipFile(tmp_path / "a.orfeon", "a") as archive:
        archive.writestr("arrays/99999.npy", b"")
    with pytest.raises(ModelFileError, match="not as many members as its description says"):
        orfeon.load(tmp_path / "a.orfeon")


def test_limits_hold(forest, tmp_path, monkeypatch):
    (tmp_path / "a.orfeon").write_bytes(forest)
    monkeypatch.setattr(limits, "MAX_MEMBERS", 3)
    with pytest.raises(ModelFileError, match="members; at most 3 may be"):
        orfeon.load(tmp_path / "a.orfeon")
    monkeypatch.undo()
    monkeypatch.setattr(limits, "MAX_DOCUMENT", 1000)
    with pytest.raises(ModelFileError, match="its description is too large"):
        orfeon.load(tmp_path / "a.orfeon")
    monkeypatch.undo()
    monkeypatch.setattr(limits, "MAX_OBJECTS", 2)
    with pytest.raises(ModelFileError, match="too many"):
        orfeon.load(tmp_path / "a.orfeon")


def test_the_document_is_plain_json(forest, tmp_path):
    (tmp_path / "a.orfeon").write_bytes(forest)
    with zipfile.ZipFile(tmp_path / "a.orfeon") as archive:
        document = json.loads(archive.read("model.json"))
    assert document["format"] == "orfeon model"
    assert document["version"] == 1
    assert [one["class"] for one in document["objects"]][-1] == "RandomForestClassifier"
