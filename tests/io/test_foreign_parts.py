"""Parts saved by skops, forged: what compiled code would follow is checked, and what is shared."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import BayesianRidge, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.io.test_forgeries import forge, written

import orfeon
from orfeon.io import ModelFileError, limits
from orfeon.io.foreign import check_array, dump_foreign, load_foreign

pytest.importorskip("skops")

X = np.arange(24.0).reshape(12, 2) % 7
LABELS = np.arange(12) % 2


def parts(model: Any) -> tuple[Any, dict[str, bytes]]:
    """What skops says of a model, and the arrays beside it."""
    with zipfile.ZipFile(io.BytesIO(dump_foreign(model, ""))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(held.pop("schema.json")), held


def from_state(schema: Any, held: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {**held, "schema.json": json.dumps(schema).encode()}.items():
            archive.writestr(name, data)
    return file.getvalue()


def forged(model: Any, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A fitted model some attributes of which were changed."""
    change(vars(model))
    return from_state(*parts(model))


NEIGHBOURS = KNeighborsClassifier(3, algorithm="brute", metric="chebyshev").fit(X, LABELS)


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (NEIGHBOURS, {"_fit_X": X[:, :1].copy()}, "_fit_X must have n_samples_fit_ rows"),
        (NEIGHBOURS, {"n_samples_fit_": 10**9}, "_fit_X must have n_samples_fit_ rows"),
        (NEIGHBOURS, {"_y": LABELS[:3]}, "_y must have n_samples_fit_ rows"),
        (NEIGHBOURS, {"_y": LABELS + 10**6}, "_y must hold codes of classes_"),
        (KMeans(2, n_init=1).fit(X), {"cluster_centers_": np.zeros((2, 1))}, "n_features_in_ col"),
    ],
    ids=["columns", "rows", "answers", "codes", "centres"],
)
def test_what_compiled_code_would_read_beyond_is_refused(model, change, message):
    with pytest.raises(ModelFileError, match=message):
        load_foreign(forged(copy.copy(model), lambda held: held.update(change)))


def test_generators_that_skops_loads_are_checked():
    schema, held = parts(SGDClassifier(random_state=np.random.RandomState(0)).fit(X, LABELS))
    text = json.dumps(schema)
    assert '"pos"' in text
    place = _state_of(schema, "pos")
    place["content"] = "1000000"
    with pytest.raises(ModelFileError, match="pos=1000000 must be an integer from 0 to 624"):
        load_foreign(from_state(schema, held))


def _state_of(value: Any, name: str) -> Any:
    """What the schema says of the value of a name in some dict."""
    found: Any = None
    if isinstance(value, dict):
        found = value.get(name) if isinstance(value.get(name), dict) else None
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for one in held:
        found = _state_of(one, name) if found is None else found
    return found


def test_estimators_that_model_files_know_are_checked_within_others_too():
    words = np.array([["a"], ["b"], ["c"]] * 4)
    model = OneVsRestClassifier(make_pipeline(OneHotEncoder(), SGDClassifier()))
    encoder = model.fit(words, LABELS).estimators_[0][0]
    assert encoder._n_features_outs == [3]
    encoder._n_features_outs = [1]
    with pytest.raises(ModelFileError, match="_n_features_outs must fit categories_"):
        load_foreign(from_state(*parts(model)))


def test_threads_are_not_those_of_the_file():
    model = OneVsRestClassifier(SGDClassifier()).fit(X, LABELS).set_params(n_jobs=64, verbose=9)
    model.estimators_[0].set_params(n_jobs=64, verbose=9)
    loaded = load_foreign(from_state(*parts(model)))
    for one in (loaded, loaded.estimators_[0]):
        assert (one.n_jobs, one.verbose) == (None, 0)
    means = KMeans(2, n_init=1).fit(X)
    means._n_threads = 10**6
    assert load_foreign(from_state(*parts(means)))._n_threads == 1


def nested(n_levels: int) -> tuple[Any, dict[str, bytes]]:
    """Pipelines of one step within each other."""
    import skops.io

    model: Any = BayesianRidge()
    for _ in range(n_levels):
        model = make_pipeline(model)
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        return json.loads(archive.read("schema.json")), {}


def double_the_steps(part: Any) -> None:
    """Let each pipeline hold its step twice, the second time by the number of the first."""
    if isinstance(part, dict):
        for name, held in part.items():
            if name == "steps":
                first = held["content"][0]
                again = {key: first[key] for key in ("__class__", "__module__", "__id__")}
                held["content"].append({**again, "__loader__": "CachedNode"})
                double_the_steps(first)
            else:
                double_the_steps(held)
    elif isinstance(part, list):
        for held in part:
            double_the_steps(held)


def test_parts_that_hold_the_same_part_twice_on_every_level_are_refused():
    schema, held = nested(25)
    double_the_steps(schema)
    with pytest.raises(ModelFileError, match="too many of its parts hold the same parts"):
        load_foreign(from_state(schema, held))


def test_parts_that_hold_themselves_are_refused():
    schema, held = nested(1)
    step = _state_of(schema, "steps")["content"][0]
    own = {key: schema[key] for key in ("__class__", "__module__", "__id__")}
    step["content"].append({**own, "__loader__": "CachedNode"})
    with pytest.raises(ModelFileError, match="too deep, or holds itself"):
        load_foreign(from_state(schema, held))


def test_parts_that_are_very_deep_are_refused(monkeypatch):
    data = from_state(*nested(4))
    assert load_foreign(data).steps
    monkeypatch.setattr(limits, "MAX_PART_DEPTH", 10)
    with pytest.raises(ModelFileError, match="its parts are nested too deeply"):
        load_foreign(data)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        load_foreign(from_state(*nested(20)))


def test_an_array_that_is_shorter_than_it_says_takes_no_memory():
    schema, held = parts(BayesianRidge().fit(X, LABELS))
    name = next(name for name in held if name.endswith(".npy") and b"(2,)" in held[name])
    held[name] = held[name].replace(b"(2,), }      ", b"(2000000,), }")
    assert b"2000000" in held[name]
    with pytest.raises(ModelFileError, match="does not have the length in its header"):
        load_foreign(from_state(schema, held))


def test_an_array_of_entries_without_bytes_is_refused():
    file = io.BytesIO()
    described = {"descr": "|V0", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(file, described)
    with pytest.raises(ModelFileError, match="must hold plain values"):
        check_array("a.npy", file.getvalue())


def test_a_model_of_such_parts_comes_back(tmp_path):
    model = orfeon.BaggingClassifier(NEIGHBOURS, 2, random_state=0).fit(X, LABELS)
    parts_of = forge(model, tmp_path)
    assert parts_of.content["foreign"]
    loaded = orfeon.load(written(parts_of, tmp_path))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
