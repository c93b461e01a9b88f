"""Damaged and forged files: refused, or harmless."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from tests.io import fuzzing, judging
from tests.io.corpus.releases import models, releases
from tests.io.forgeries import FORGERIES, Forger
from tests.io.fuzz_worker import Judge, Mutant, mutation
from tests.io.judging import Cost, Guard, SlowError, WrongLoadError, fate, limited, query
from tests.io.mutations import Opened, opened, signed
from tests.io.specimens import made_specimens, specimen
from tests.io.zips import Part, zipped

import orfeon
from orfeon.datasets import make_waveform
from orfeon.io import ModelContent, ModelFileError, limits

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def known():
    """Some of the files that are fuzzed: trees of all kinds, perceptrons, others' estimators."""
    names = ("forest_out_of_bag", "pipeline", "bag_of_c45", "ParallelPerceptronClassifier")
    found = [one for one in models(releases()[-1]) if one.path.stem in names]
    assert len(found) == len(names)
    return [specimen(one.name, one.path, one.rows) for one in found]


def test_mutated_files_do_no_harm(known, tmp_path):
    """The fuzzer runs many more, in a process that is watched and whose kernels check indices."""
    path = tmp_path / "mutant.orfeon"
    fates: Counter[str] = Counter()
    for number in range(1500):
        one = mutation(known, 7, number)
        path.write_bytes(one.data)
        found = fate(path, one.of, is_damage=one.is_damage, number=number)
        fates[f"{'damaged' if one.is_damage else 'forged'}, {found}"] += 1
    assert sum(fates.values()) == 1500
    assert fates["damaged, refused"] > 4 * fates["damaged, equal"] > 40
    assert fates["forged, refused"] > fates["forged, asked"] > 100


def test_mutants_of_a_number_are_the_same(known):
    made = [mutation(known, 3, number) for number in range(20)]
    assert [mutation(known, 3, number).data for number in range(20)] == [one.data for one in made]
    assert len({one.data for one in made}) == 20
    assert mutation(known, 4, 0).data != made[0].data


def test_another_model_in_silence_is_a_finding(known, tmp_path):
    (tmp_path / "other.orfeon").write_bytes(known[1].data)
    with pytest.raises(WrongLoadError, match="another model was loaded in silence"):
        fate(tmp_path / "other.orfeon", known[0], is_damage=True)


def test_a_read_beyond_an_array_is_a_finding():
    class Model:
        def predict(self, rows: Any) -> None:
            raise IndexError("index is out of bounds")  # as compiled kernels say it

    with pytest.raises(WrongLoadError, match="a kernel read beyond an array"):
        query(ModelContent(Model(), None, None), np.zeros((1, 1)))


# -- consistent forgeries --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forger(known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Forger([*known, *made_specimens()])


def test_forgeries_do_no_harm(forger, tmp_path):
    """The fuzzer makes many more, of all files, with kernels that check indices."""
    judge = Judge(tmp_path)
    fates: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for number in range(160):
        one = Mutant(*forger.forgery(7, number))
        found = judge.fate_of(one, number)
        fates[found.split(":")[0]] += 1
        kinds[one.kind] += 1
    wanted = set(FORGERIES) - ({"skops"} if importlib.util.find_spec("skops") is None else set())
    assert set(kinds) == wanted
    assert min(kinds.values()) >= 9
    assert min(fates["refused"], fates["asked"]) > 25  # they meet the checks, and what is behind
    assert min(fates["inspected"], fates["inspect"]) > 1


def test_forgeries_of_a_number_are_the_same(forger):
    made = [forger.forgery(3, number) for number in range(24)]
    assert [forger.forgery(3, number)[-1] for number in range(24)] == [one[-1] for one in made]
    assert len({one[-1] for one in made}) == 24


def test_memory_beyond_the_limit_is_a_finding():
    found = pytest.raises(WrongLoadError, match="MB were taken for a file of 1000 bytes")
    with found, limited(1000, Guard(), Cost()):
        np.ones(260 * 2**20, np.uint8)


def test_time_beyond_the_limit_is_a_finding(monkeypatch):
    monkeypatch.setattr(judging, "MOST_SECONDS", 0.01)
    with pytest.raises(SlowError, match="s of the processor"), limited(1000, Guard(), Cost()):
        sum(range(10**7))


@pytest.mark.parametrize(
    ("act", "what"),
    [
        (lambda folder: subprocess.run([sys.executable, "-c", ""], check=True), "subprocess.Popen"),
        (lambda folder: (folder / "file").write_text(""), "open"),
        (lambda folder: pickle.loads(b"cos\ngetcwd\n."), "pickle.find_class"),
    ],
    ids=["process", "write", "pickle"],
)
def test_what_no_file_may_do_is_a_finding(tmp_path, act, what):
    found = pytest.raises(WrongLoadError, match=f"no file may do.*{what}")
    with found, limited(1000, Guard(), Cost()):
        act(tmp_path)


def test_memory_that_was_not_there_is_a_finding(known, tmp_path, monkeypatch):
    """Elsewhere there may be more: then it is taken."""

    def read(path: Any, **given: Any) -> Any:
        try:
            raise MemoryError
        except MemoryError as error:
            raise ModelFileError("it cannot be loaded") from error

    monkeypatch.setattr(judging, "read_model", read)
    with pytest.raises(WrongLoadError, match="asked for more memory than there is"):
        fate(tmp_path, known[0], is_damage=False)


def test_a_command_that_ends_as_a_defect_is_a_finding(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "main", lambda arguments: 1)
    with pytest.raises(WrongLoadError, match="orfeon inspect ended with 1"):
        judging.command_fate(tmp_path, tmp_path, 1)


# -- processes -------------------------------------------------------------------------------------


def scripted(script: str) -> Any:
    """Starts processes that say at which mutant they are, and then do what a script says."""
    start = subprocess.Popen

    def popen(command: list[str], **options: Any) -> Any:
        begin = (
            f"import os, time; n = {command[5]}; file = open({command[3]!r} + '/progress', 'r+b'); "
        )
        write = "file.write(n.to_bytes(8, 'little')); file.flush(); "
        return start([sys.executable, "-S", "-c", begin + write + script], **options)

    return popen


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ('os.kill(os.getpid(), 11) if n == 0 else print(\'{"fates": {}, "next": 2}\')', "by 11"),
        ('time.sleep(9) if n == 0 else print(\'{"fates": {}, "next": 2}\')', "more than"),
    ],
    ids=["crash", "hang"],
)
def test_crashes_and_hangs_are_seen_and_the_next_mutant_is_loaded(
    script, what, tmp_path, monkeypatch
):
    monkeypatch.setattr(fuzzing, "PATIENCE", 1.0)
    monkeypatch.setattr(fuzzing.subprocess, "Popen", scripted(script))
    outcome = fuzzing.Run(tmp_path, tmp_path, 0, 0, 2, float("inf")).go()
    assert [one["finding"] for one in outcome.findings] == [0]
    assert what in outcome.findings[0]["what"]
    assert outcome.done == 2


def test_a_run_that_loads_nothing_does_not_pass(capsys):
    assert fuzzing.main(["--mutations", "5", "--seconds", "0"]) == 1
    assert "before the first" in capsys.readouterr().out


# -- bombs -----------------------------------------------------------------------------------------


def document(about: bytes) -> bytes:
    rest = b'"about":' + about + b"}"
    front = f'{{"format":"orfeon model","version":1,"digest":"{sha256(rest).hexdigest()}",'
    return front.encode() + rest


def compressed(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


LONE = zipped([Part(b"model.json", b"{}")])
BOMBS = {
    "blanks": (compressed("model.json", b" " * (1 << 24)), "is compressed"),
    "many members": (
        zipped([Part(b"arrays/%05d.npy" % at, b"") for at in range(3000)]),
        "its member model.json is missing",
    ),
    "one place for all": (
        zipped([Part(b"arrays/%05d.npy" % at, bytes(9), place=0) for at in range(3000)]),
        "overlaps another",
    ),
    "brackets": (
        zipped([Part(b"model.json", b"[" * 10**5)]),
        "does not begin like that of a model",
    ),
    "nested": (
        zipped([Part(b"model.json", document(b"[" * 10**5 + b"]" * 10**5))]),
        "is not valid JSON",
    ),
    "empty lists": (
        zipped([Part(b"model.json", document(b"[" + b"[]," * 4_100_000 + b"0]"))]),
        "too many lists and dicts",
    ),
    "a long number": (zipped([Part(b"model.json", document(b"9" * 10**6))]), "not valid JSON"),
    "a large member": (
        zipped([Part(b"model.json", b"{}", size=0xFFFFFFF0, stored=0xFFFFFFF0)]),
        "truncated or changed",
    ),
    "many members in the end": (
        LONE[:-22]
        + struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 2**40, 2**40, 56, 66)
        + struct.pack("<4sIQI", b"PK\x06\x07", 0, len(LONE) - 22, 1)
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 56, 66, 0),
        "members; at most 100000 are allowed",
    ),
    "no zip": (zlib.compress(bytes(1 << 20)), "it is not a model file"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_at_once(name, tmp_path):
    import tracemalloc

    data, message = BOMBS[name]
    (tmp_path / "bomb.orfeon").write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            orfeon.load(tmp_path / "bomb.orfeon")
        assert tracemalloc.get_traced_memory()[1] < 4 * len(data) + (1 << 22)
    finally:
        tracemalloc.stop()


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


def unknown_feature(nodes: Any) -> None:
    nodes["feature"][first_inner(nodes)] = 4


def no_projection(nodes: Any) -> None:
    nodes["feature"][first_inner(nodes)] = -1


def not_a_number(nodes: Any) -> None:
    nodes["threshold"][first_inner(nodes)] = np.nan


def table_beyond(nodes: Any) -> None:
    nodes["threshold"][nodes["feature"] == 2] = 1e6


def table_so_far_that_sums_wrap(nodes: Any) -> None:
    nodes["threshold"][nodes["feature"] == 2] = 2.0**63 - 1024


@pytest.mark.parametrize(
    "how",
    [
        beyond, backwards, unknown_feature, no_projection, not_a_number, table_beyond,
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
    refuse(forged, tmp_path, "its trees must fit the features of schema_")


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        ("Forest", "n_classes", 4, "value has shape"),
        ("Forest", "n_classes", 0, "value must have one column"),
        ("Forest", "n_classes", True, "Forest.n_classes must be an integer"),
        ("Forest", "label", None, "Forest.label must be a 1-d array of int32"),
        ("RandomForestClassifier", "n_features_in_", 5, "as many features as n_features_in_"),
        ("RandomForestClassifier", "n_classes_", 2, "n_classes_ must be the length of classes_"),
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
    refuse(forged, tmp_path, "RandomForestClassifier lacks the attribute members_")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os.system", "names the class 'os.system', which this version of orfeon does not know"),
        ("builtins.eval", "which this version of orfeon does not know"),
        ("LazyView", "which this version of orfeon does not know"),
        ("CARTClassifier", "CARTClassifier has the attribute"),
        (["Forest"], "which this version of orfeon does not know"),
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
    refuse(forged, tmp_path, f"object {at} is missing or comes later")


def test_a_small_file_does_not_keep_the_reader_busy(forest, tmp_path):
    """Thousands of forests of the same arrays, each of which would be checked; and deep chains."""
    forged = opened(forest)
    whole = next(one for one in forged.content["objects"] if one["class"] == "Forest")
    forged.content["objects"] = [whole] * 20_000
    forged.content["model"] = {"object": 0}
    refuse(forged, tmp_path, "its arrays are used too often")
    chain = [{"class": "AdaBoostClassifier", "fields": {"estimator": None}}]
    chain += [
        {"class": "AdaBoostClassifier", "fields": {"estimator": {"object": at}}} for at in range(99)
    ]
    forged.content["objects"] = chain
    refuse(forged, tmp_path, "objects are nested more than 50 deep")


def test_a_chain_that_doubles_at_each_step_is_refused(forest, tmp_path):
    forged = opened(forest)
    objects = [{"class": "CARTClassifier", "fields": {}}]
    for at in range(45):
        steps = [{"tuple": [name, {"object": at}]} for name in ("a", "b")]
        objects.append({"class": "sklearn.Pipeline", "fields": {"steps": steps}})
    forged.content["objects"], forged.content["arrays"] = objects, []
    forged.content["model"] = {"object": 45}
    forged.arrays.clear()
    refuse(forged, tmp_path, "nested too deeply|hold the same objects")


@pytest.mark.parametrize("name", ["missing", "branches"])
def test_trees_of_an_additive_model_that_part_rows_are_refused(tmp_path, name):
    """Its scores are looked up by leaves: a row that went down all branches would be led astray."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 2)).astype(object)
    table[:, 1] = np.array(list("abcdefgh"))[np.arange(300) % 8]
    y = rng.normal(size=300) + (np.arange(300) % 8 > 3)
    model = orfeon.GradientBoostingRegressor(
        n_estimators=60, early_stopping=False, random_state=0
    ).fit(table, y)
    path = tmp_path / "model.orfeon"
    orfeon.save(model, path)
    forest = model.members_
    inner = np.flatnonzero(forest.n_children > 0)
    categorical = inner[forest.feature[inner] == 1][0]
    at = {"missing": inner[0], "branches": int(forest.threshold[categorical])}[name]
    forged = opened(path.read_bytes())
    change(forged, name, lambda entries: entries.__setitem__(at, 65535))
    refuse(forged, tmp_path, "its trees must not send rows down several branches")


def test_numbers_that_are_no_characters_are_refused(tmp_path):
    model = orfeon.StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    orfeon.save(model, tmp_path / "model.orfeon")
    forged = opened((tmp_path / "model.orfeon").read_bytes())
    classes = fields_of(forged, "StumpClassifier")["classes_"]["inline"]
    assert classes[0] == "<U3"
    classes[3] = base64.b64encode(np.full(6, 0x110000, "<u4").tobytes()).decode()
    refuse(forged, tmp_path, "an array of strings holds invalid characters")
    for code in (0x10FFFF, 0xD800, 0):
        classes[3] = base64.b64encode(np.array([code, 0, 0, 97, 0, 0], "<u4").tobytes()).decode()
        (tmp_path / "other.orfeon").write_bytes(signed(forged))
        assert orfeon.load(tmp_path / "other.orfeon").predict([[0.0]])[0] == chr(code).rstrip("\0")


def test_integers_that_are_no_numbers_of_a_computer_are_refused(tmp_path):
    model = orfeon.ParallelPerceptronRegressor(max_iter=2).fit([[0.0], [1.0]], [0.0, 1.0])
    orfeon.save(model, tmp_path / "model.orfeon")
    forged = opened((tmp_path / "model.orfeon").read_bytes())
    fields_of(forged, "Inputs")["divisor"] = 10**400
    refuse(forged, tmp_path, "Inputs.divisor must be a finite number")


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
    with pytest.raises(ModelFileError, match="it is not a model file"):
        orfeon.load(tmp_path / "a.orfeon")


def test_members_are_there_once(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        zip_of([("model.json", b"{}"), ("model.json", b"{}")], tmp_path / "a.orfeon")
    with pytest.raises(ModelFileError, match="several members with the same name"):
        orfeon.load(tmp_path / "a.orfeon")


def test_a_file_that_was_zipped_again_with_compression_is_refused(forest, tmp_path):
    (tmp_path / "a.orfeon").write_bytes(forest)
    with zipfile.ZipFile(tmp_path / "a.orfeon") as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    zip_of(members, tmp_path / "b.orfeon", compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="compressed; members of model files must not be"):
        orfeon.load(tmp_path / "b.orfeon")
    zip_of(members, tmp_path / "c.orfeon")  # no longer aligned, and yet the same
    assert orfeon.io.describe(tmp_path / "c.orfeon")["n_trees"] == 5


def test_a_member_too_many_is_refused(forest, tmp_path):
    (tmp_path / "a.orfeon").write_bytes(forest)
    with zipfile.ZipFile(tmp_path / "a.orfeon", "a") as archive:
        archive.writestr("arrays/99999.npy", b"")
    with pytest.raises(ModelFileError, match="its description lists another number of members"):
        orfeon.load(tmp_path / "a.orfeon")


def test_limits_hold(forest, tmp_path, monkeypatch):
    (tmp_path / "a.orfeon").write_bytes(forest)
    monkeypatch.setattr(limits, "MAX_MEMBERS", 3)
    with pytest.raises(ModelFileError, match="members; at most 3 are allowed"):
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
