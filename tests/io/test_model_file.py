"""Files of models: what is kept, how they are written, what is refused."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import orfeon
from orfeon import io
from orfeon.datasets import make_waveform
from orfeon.io import ModelFileError, archive, describe, read_model
from orfeon.ordering import RandomOrder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bag(waveform):
    X, y = waveform
    return orfeon.BaggingClassifier(n_estimators=20, random_state=0).fit(X, y)


@pytest.fixture
def saved(bag, tmp_path):
    orfeon.save(bag, tmp_path / "bag.orfeon")
    return tmp_path / "bag.orfeon"


def round_trip(model: Any, folder: Path) -> Any:
    orfeon.save(model, folder / "model.orfeon")
    return orfeon.load(folder / "model.orfeon")


# -- what is kept ----------------------------------------------------------------------------------


def test_what_was_saved_beside_the_model_comes_back(bag, tmp_path):
    path = tmp_path / "bag.orfeon"
    given = {"error": np.float64(0.25), "sizes": (1, 2), "nested": {"a": [None, True, "é"]}}
    orfeon.save(bag, path, preparation={"columns": ["a"], "n": 3}, about=given)
    model, preparation, about = read_model(path)
    assert len(model) == 20
    assert preparation == {"columns": ["a"], "n": 3}
    assert about == {"error": 0.25, "sizes": [1, 2], "nested": {"a": [None, True, "é"]}}


def test_threads_and_printing_are_for_the_one_who_loads(waveform, tmp_path):
    """A file would otherwise start as many threads as it likes, in every model that it holds."""
    X, y = waveform
    inner = RandomForestClassifier(3, n_jobs=2, random_state=0)
    bag = orfeon.BaggingClassifier(inner, 2, n_jobs=2, random_state=0)
    model = orfeon.StackingClassifier([("bag", bag)], n_jobs=2).fit(X, y)
    model.n_jobs, model.estimators_[0].n_jobs = 4096, -1
    model.estimators_[0].verbose = 100
    for member in model.estimators_[0].members_.estimators:
        member.n_jobs, member.verbose = 4096, 100
    loaded = round_trip(model, tmp_path)
    held = [loaded, loaded.estimators_[0], *loaded.estimators_[0].members_.estimators]
    held += [loaded.estimators[0][1], loaded.estimators[0][1].estimator]
    assert [one.n_jobs for one in held] == [None] * 6
    assert [one.verbose for one in held if hasattr(one, "verbose")] == [0] * 6
    assert (loaded.set_params(n_jobs=2).predict(X) == model.set_params(n_jobs=1).predict(X)).all()
    assert (loaded.get_params()["n_jobs"], loaded.get_params()["bag__n_jobs"]) == (2, None)


def test_a_preparation_with_to_dict_is_asked_for_it(bag, tmp_path):
    class Preparation:
        def to_dict(self) -> dict[str, Any]:
            return {"target": "class"}

    orfeon.save(bag, tmp_path / "bag.orfeon", preparation=Preparation())
    assert read_model(tmp_path / "bag.orfeon").preparation == {"target": "class"}


def test_numbers_that_are_not_finite_become_none_in_about(bag, tmp_path):
    orfeon.save(bag, tmp_path / "bag.orfeon", about=[np.nan, np.inf, 1.5])
    assert read_model(tmp_path / "bag.orfeon").about == [None, None, 1.5]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"model": object()}, r"about\['model'\] is of type object"),
        ({1: 2}, "about has the key 1; keys must be strings"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(bag, tmp_path, about, message):
    with pytest.raises(ModelFileError, match=message):
        orfeon.save(bag, tmp_path / "bag.orfeon", about=about)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_described_in_plain_values(saved, bag):
    found = describe(saved)
    assert found["model"] == "BaggingClassifier"
    assert found["parameters"] == {"n_estimators": "20", "random_state": "0"}
    assert (found["n_features"], found["classes"], found["is_fitted"]) == (21, [0, 1, 2], True)
    assert (found["n_members"], found["n_trees"]) == (20, 20)
    assert found["n_nodes"] == len(bag.members_.nodes)
    assert found["max_depth"] == bag.members_.depth.max()
    assert found["file_bytes"] == saved.stat().st_size
    assert found["made_by"]["orfeon"] == orfeon.__version__
    assert found["parts"]["Forest"] == 1


def test_sources_of_randomness_go_on_where_they_were(tmp_path):
    for make in (np.random.default_rng, np.random.RandomState):
        before = orfeon.CARTClassifier(random_state=make(3))
        after = round_trip(before, tmp_path).random_state
        drawn = before.random_state.normal(size=5)
        assert after.normal(size=5).tolist() == drawn.tolist()
    sequence = np.random.SeedSequence(5, spawn_key=(1, 2))
    sequence.spawn(3)
    after = round_trip(orfeon.CARTClassifier(random_state=sequence), tmp_path).random_state
    assert after.state == sequence.state
    assert (after.generate_state(4) == sequence.generate_state(4)).all()


def test_parameters_of_any_plain_kind_come_back(tmp_path):
    given = {"a": 1.5, 2: np.float32(0.1), True: None}
    model = orfeon.CARTClassifier(class_weight=given, max_depth=np.int64(3), random_state=2**100)
    loaded = round_trip(model, tmp_path)
    assert loaded.class_weight == given
    assert type(loaded.class_weight[2]) is np.float32
    assert type(loaded.max_depth) is np.int64
    assert loaded.random_state == 2**100
    rule = orfeon.PrunedClassifier(rule=RandomOrder(7), keep=1.0)
    assert round_trip(rule, tmp_path).rule == RandomOrder(7)


@pytest.mark.parametrize(
    "classes",
    [
        ["a", "ü", "long name"], [True, False, True], [1.0, -0.0, 3.0], [-3, 5, 9],
        np.array(["x", "y", "x"], dtype=object),
    ],
    ids=repr,
)  # fmt: skip
def test_classes_of_any_kind_come_back(classes, tmp_path):
    X = [[0.0], [1.0], [2.0]]
    model = orfeon.StumpClassifier().fit(X, classes)
    loaded = round_trip(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_parts_that_are_shared_stay_shared(tmp_path, waveform):
    model = orfeon.GradientBoostingClassifier(n_estimators=3, random_state=0).fit(*waveform)
    assert model.members_ is model._model.forest
    loaded = round_trip(model, tmp_path)
    assert loaded.members_ is loaded._model.forest


def test_a_loaded_bag_goes_on_as_the_saved_one(tmp_path, waveform):
    bag = orfeon.BaggingClassifier(n_estimators=5, warm_start=True, random_state=0)
    loaded = round_trip(bag.fit(*waveform), tmp_path)
    X, _ = waveform
    more = [one.set_params(n_estimators=9).fit(*waveform).predict_proba(X) for one in (bag, loaded)]
    assert more[0].tobytes() == more[1].tobytes()


def test_a_loaded_booster_says_that_it_does_not_go_on(tmp_path, waveform):
    booster = orfeon.AdaBoostClassifier(n_estimators=3, warm_start=True, random_state=0)
    loaded = round_trip(booster.fit(*waveform), tmp_path).set_params(n_estimators=6)
    with pytest.raises(ValueError, match="use warm_start=False to start over"):
        loaded.fit(*waveform)


def test_a_loaded_bag_can_be_pruned_and_that_saved(saved, tmp_path, waveform):
    X, y = waveform
    small = orfeon.prune(orfeon.load(saved), X, y, keep=5)
    loaded = round_trip(small, tmp_path)
    assert loaded.order_.error_curve.tolist() == small.order_.error_curve.tolist()
    assert loaded.kept_.tolist() == small.kept_.tolist()
    assert loaded.predict_proba(X).tobytes() == small.predict_proba(X).tobytes()


def test_a_bare_forest_can_be_saved(bag, tmp_path, waveform):
    X, _ = waveform
    loaded = round_trip(bag.members_, tmp_path)
    assert loaded.votes(X).tobytes() == bag.members_.votes(X).tobytes()
    assert describe(tmp_path / "model.orfeon")["parameters"] == {}


def test_caches_are_not_saved(bag, tmp_path, waveform):
    bag.members_.mean_supports(waveform[0])
    assert "_pure_label" in vars(bag.members_)
    assert "_pure_label" not in vars(round_trip(bag, tmp_path).members_)


def test_callbacks_are_not_saved(tmp_path, waveform):
    callback = pytest.importorskip("sklearn.callback")
    model = orfeon.RandomForestClassifier(3, random_state=0)
    model.set_callbacks(callback.ProgressBar()).fit(*waveform)
    assert hasattr(model, "_skl_callbacks")
    assert not hasattr(round_trip(model, tmp_path), "_skl_callbacks")


# -- writing ---------------------------------------------------------------------------------------


def test_the_same_model_is_the_same_file(bag, tmp_path):
    orfeon.save(bag, tmp_path / "one", about={"b": 1, "a": 2})
    orfeon.save(bag, tmp_path / "two", about={"a": 2, "b": 1})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_arrays_are_where_memory_maps_want_them(saved):
    with archive.open_archive(str(saved)) as opened:
        places = opened._places
    assert len(places) > 5
    assert all(begin % 64 == 0 for name, (begin, _) in places.items() if name.endswith(".npy"))


def test_numpy_reads_the_arrays_and_unzip_the_file(saved, bag, tmp_path):
    import zipfile

    with zipfile.ZipFile(saved) as opened:
        assert opened.testzip() is None
        opened.extractall(tmp_path / "out")
    found = [np.load(path) for path in (tmp_path / "out" / "arrays").iterdir()]
    assert any(one.tobytes() == bag.members_.nodes.tobytes() for one in found)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(saved, bag, monkeypatch, failing):
    before = saved.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive.os, failing, fail)
    with pytest.raises(ModelFileError, match=r"bag\.orfeon cannot be written: No space left"):
        orfeon.save(bag, saved, about="new")
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["bag.orfeon"]


def test_an_interrupted_save_leaves_the_old_file(saved, bag, monkeypatch):
    before = saved.read_bytes()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(archive, "_write_members", interrupt)
    with pytest.raises(KeyboardInterrupt):
        orfeon.save(bag, saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["bag.orfeon"]


def test_a_folder_that_is_not_there_is_named(bag, tmp_path):
    with pytest.raises(ModelFileError, match=r"No such file or directory\. Nothing was changed"):
        orfeon.save(bag, tmp_path / "nowhere" / "bag.orfeon")


def test_a_link_stays_a_link(saved, bag, tmp_path):
    link = tmp_path / "link.orfeon"
    link.symlink_to(saved)
    orfeon.save(bag, link, about="through the link")
    assert link.is_symlink()
    assert read_model(saved).about == "through the link"


def test_others_may_read_the_file_as_the_system_says(saved):
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o666 & ~mask


def test_a_mapped_model_outlives_a_new_save(saved, bag, waveform):
    X, _ = waveform
    mapped = orfeon.load(saved, memory_map=True)
    answers = bag.predict_proba(X).tobytes()
    orfeon.save(orfeon.StumpClassifier().fit(*waveform), saved)
    assert mapped.predict_proba(X).tobytes() == answers
    assert not mapped.members_.nodes.flags.owndata


# -- size and time ---------------------------------------------------------------------------------


def test_a_thousand_trees_load_in_no_time(tmp_path):
    X, y = make_waveform(1000, random_state=0)
    orfeon.save(orfeon.RandomForestClassifier(1000, random_state=0).fit(X, y), tmp_path / "forest")
    orfeon.load(tmp_path / "forest")
    spent = []
    for _ in range(5):
        begin = time.process_time()  # whatever else the machine does
        assert len(orfeon.load(tmp_path / "forest")) == 1000
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.05


def test_files_have_half_the_size_of_joblib_and_scikit_learn(tmp_path):
    X, y = make_waveform(1000, random_state=0)
    orfeon.save(orfeon.RandomForestClassifier(100, random_state=0).fit(X, y), tmp_path / "ours")
    joblib.dump(RandomForestClassifier(100, random_state=0).fit(X, y), tmp_path / "theirs")
    assert (tmp_path / "ours").stat().st_size < 0.5 * (tmp_path / "theirs").stat().st_size


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not a model file, or was truncated or changed"),
        (b"not a zip at all", "it is not a model file, or was truncated or changed"),
        (b"\x80\x05\x95.", "it is not a model file, or was truncated or changed"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, content, message):
    path = tmp_path / "other.orfeon"
    path.write_bytes(content)
    for read in (orfeon.load, describe, read_model):
        with pytest.raises(ModelFileError, match=f"other.orfeon cannot be loaded: {message}"):
            read(path)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: No such file or directory"):
        orfeon.load(tmp_path / "nothing.orfeon")
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        orfeon.load(tmp_path)


def test_a_file_of_a_newer_orfeon_says_so(saved):
    newer = saved.read_bytes().replace(b'"version":1,', b'"version":2,')
    saved.write_bytes(newer)
    with pytest.raises(ModelFileError, match=r"made by a newer orfeon.*Upgrade orfeon"):
        orfeon.load(saved)


@pytest.mark.parametrize("model", [None, 3, "bag", orfeon.CARTClassifier, [1, 2], np.zeros(3)])
def test_what_is_no_estimator_is_refused(model, tmp_path):
    with pytest.raises(ModelFileError, match="is not an estimator, so it cannot be saved"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_classes_of_others_are_refused(tmp_path):
    class Own(orfeon.CARTClassifier):
        pass

    # With skops it is skops that does not know the class, without it we do not.
    with pytest.raises(ModelFileError, match=r"holds a .*Own|Own holds .*Own, which skops would"):
        orfeon.save(Own(), tmp_path / "model.orfeon")
    assert list(tmp_path.iterdir()) == []


def test_attributes_that_are_not_known_are_refused(tmp_path):
    model = orfeon.CARTClassifier()
    model.note = "mine"
    with pytest.raises(ModelFileError, match="CARTClassifier has the attribute 'note'"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_functions_are_refused_with_their_place(tmp_path, waveform):
    X, y = waveform
    model = orfeon.PoolBoostClassifier([lambda X: np.zeros(len(X), np.int64)], 2)
    with pytest.warns(UserWarning, match="no better than chance"):
        model.fit(X, y)
    with pytest.raises(ModelFileError, match=r"Voter.classifier: .*function"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_what_holds_itself_is_refused(tmp_path):
    model = orfeon.BaggingClassifier()
    model.estimator = model
    with pytest.raises(ModelFileError, match=r"BaggingClassifier.estimator holds itself"):
        orfeon.save(model, tmp_path / "model.orfeon")
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ModelFileError, match="more than 40 deep"):
        orfeon.save(orfeon.CARTClassifier(class_weight=loop), tmp_path / "model.orfeon")


def test_many_estimators_within_each_other_are_refused(tmp_path):
    model = orfeon.BaggingClassifier()
    for _ in range(60):
        model = orfeon.BaggingClassifier(model)
    with pytest.raises(ModelFileError, match="objects nested more than 50 deep"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_a_folder_of_pickles_is_not_saved_with_a_pipeline(tmp_path):
    from sklearn.pipeline import Pipeline

    model = Pipeline([("tree", orfeon.CARTClassifier())], memory=str(tmp_path))
    with pytest.raises(ModelFileError, match=r"Pipeline\.memory must be None"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_a_model_that_does_not_hold_together_is_not_saved(bag, tmp_path):
    import copy

    broken = copy.copy(bag)
    broken.classes_ = np.array([0, 1])
    with pytest.raises(ModelFileError, match="n_classes_ must be the length of classes_"):
        orfeon.save(broken, tmp_path / "model.orfeon")


def test_the_package_has_its_names():
    assert {*io.__all__, "onnx"} == set(dir(io))  # its packages are names, too
