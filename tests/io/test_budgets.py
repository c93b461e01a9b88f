"""Small files that would take much memory to load, or much time to predict."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from tests.io.mutations import Opened
from tests.io.test_forgeries import fields_of, forge, inline, refuse, written

import orfeon
from orfeon.datasets import make_waveform
from orfeon.forest import NODE, Forest
from orfeon.io import ModelFileError, describe, limits
from orfeon.io.decoding import Decoder
from orfeon.kernels.routing.route import ALL_BRANCHES

X = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0], [4.0, 5.0], [5.0, 4.0]])
WORDS = np.array([["a", "x"], ["b", "x"], ["c", "y"], ["a", "y"]] * 5, dtype=object)
WORD_CLASSES = [0, 1, 1, 0] * 5


def chain(depth: int, **more: Any) -> Forest:
    """One tree in which each second child is split again."""
    n_nodes = 2 * depth + 1
    nodes = np.zeros(n_nodes, NODE)
    nodes["first_child"] = np.arange(n_nodes)
    nodes["threshold"] = np.inf
    inner = np.arange(n_nodes) == 0
    inner[2:-1:2] = True
    nodes["first_child"][inner] = np.arange(1, n_nodes, 2)
    nodes["threshold"][inner] = 0.0
    fields = {
        "tree_start": np.array([0, n_nodes]),
        "nodes": nodes,
        "n_children": np.where(inner, 2, 0).astype(np.uint16),
        "missing": np.zeros(n_nodes, np.uint16),
        "label": np.zeros(n_nodes, np.int32),
        "value": np.ones((n_nodes, 2), np.uint32),
        "n_classes": 2,
        "n_categories": np.zeros(1, np.int64),
    }
    return Forest(**(fields | more))


def with_inner(forest: Forest, **columns: Any) -> Forest:
    """The same forest, with other columns of its inner nodes."""
    nodes, inner = forest.nodes.copy(), forest.n_children > 0
    for name, values in columns.items():
        nodes[name][inner] = values
    return forest._replace(nodes=nodes)


# -- branch tables ---------------------------------------------------------------------------------


@pytest.fixture
def forged_forest(tmp_path, monkeypatch):
    """Saves a forest that would not be saved, as a forger does."""

    def save(forest: Forest) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(limits, "FREE_ENTRIES", 2**60)
            orfeon.save(forest, tmp_path / "forged.orfeon")
        with pytest.raises(ModelFileError, match="the model cannot be saved"):
            orfeon.save(forest, tmp_path / "other.orfeon")
        return tmp_path / "forged.orfeon"

    return save


def test_nodes_that_all_refer_to_one_large_table_are_refused(forged_forest):
    """Walking through the table of each node would take gigabytes, from a file of a megabyte."""
    many, table = np.array([65_000]), np.zeros(65_000, np.uint16)
    path = forged_forest(chain(200, n_categories=many, branches=table))
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"branch tables of 13000000 entries; there are"):
            orfeon.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_tables_that_overlap_are_refused(tmp_path):
    forest = chain(3, n_categories=np.array([10]), branches=np.zeros(30, np.uint16))
    orfeon.save(with_inner(forest, threshold=[0, 10, 20]), tmp_path / "forest.orfeon")
    assert orfeon.load(tmp_path / "forest.orfeon").n_nodes.tolist() == [7]
    for starts in ([0, 9, 20], [0, 5, 10], [11, 2, 20]):
        with pytest.raises(ModelFileError, match="branch tables overlap"):
            orfeon.save(with_inner(forest, threshold=starts), tmp_path / "other.orfeon")


def test_tables_of_different_widths_at_one_place_are_refused(tmp_path):
    forest = chain(2, n_categories=np.array([10, 20]), branches=np.zeros(30, np.uint16))
    forest = with_inner(forest, threshold=[0, 0], feature=[0, 1])
    with pytest.raises(ModelFileError, match="branch tables overlap"):
        orfeon.save(forest, tmp_path / "forest.orfeon")


def test_trees_that_are_in_a_forest_twice_come_back_with_tables_of_their_own(tmp_path):
    forest = orfeon.C45Classifier().fit(WORDS, WORD_CLASSES).forest_
    assert len(forest.branches)
    twice = forest.subset([0, 0])
    orfeon.save(twice, tmp_path / "forest.orfeon")
    loaded = orfeon.load(tmp_path / "forest.orfeon")
    assert len(loaded.branches) == 2 * int(forest.n_categories[0])
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, np.nan], [np.nan, 0.0]])
    assert loaded.votes(rows).tolist() == twice.votes(rows).tolist()
    assert loaded.apply(rows).tolist() == twice.apply(rows).tolist()


def test_nodes_of_one_table_do_not_send_rows_down_each_others_branches(tmp_path):
    """The heaviest branch of a node of three children is none of a node of two."""
    wide = orfeon.C45Classifier().fit(WORDS, WORD_CLASSES).forest_
    assert wide.n_children.max() == 3
    everywhere = np.full(len(wide.branches), ALL_BRANCHES, np.uint16)
    n_nodes = len(wide.nodes)
    value = wide.value.copy()
    value[-1] = 1000  # the heaviest child is the third
    nodes = np.zeros(3, NODE)
    nodes["threshold"], nodes["first_child"] = [0, np.inf, np.inf], [1, 1, 2]
    narrow = Forest(
        np.array([0, 3]), nodes, np.array([2, 0, 0], np.uint16), np.zeros(3, np.uint16),
        np.zeros(3, np.int32), np.ones((3, 2), value.dtype), 2, wide.n_categories, everywhere,
    )  # fmt: skip
    wide = wide._replace(branches=everywhere, value=value)
    both = Forest.concatenate([narrow, wide])
    nodes = both.nodes.copy()
    nodes["threshold"][3] = 0.0
    orfeon.save(both._replace(nodes=nodes, branches=everywhere), tmp_path / "forest.orfeon")
    loaded = orfeon.load(tmp_path / "forest.orfeon")
    assert loaded.apply(np.zeros((1, 2))).tolist() == [[1, n_nodes - 1]]


# -- projections -----------------------------------------------------------------------------------


def test_a_long_projection_along_a_deep_path_is_refused(forged_forest):
    """Each row would pass all of its terms at each node."""
    n_terms, depth = 30_000, 30_000
    projections = (np.array([0, n_terms]), np.zeros(n_terms, np.int32), np.ones(n_terms))
    forest = with_inner(chain(depth, projections=projections), feature=-1)
    path = forged_forest(forest)
    with pytest.raises(ModelFileError, match="a row may pass projections of 900000000 terms"):
        orfeon.load(path)


def test_a_long_projection_in_many_trees_is_refused(forged_forest):
    n_terms, n_trees = 30_000, 10_000
    projections = (np.array([0, n_terms]), np.zeros(n_terms, np.int32), np.ones(n_terms))
    forest = with_inner(chain(1, projections=projections), feature=-1)
    path = forged_forest(forest.subset([0] * n_trees))
    with pytest.raises(ModelFileError, match="a row may pass projections of 300000000 terms"):
        orfeon.load(path)


def test_trees_that_test_one_projection_many_times_come_back(tmp_path):
    X, y = make_waveform(300, random_state=0)
    model = orfeon.DoubleBaggingClassifier(n_estimators=20, random_state=0).fit(X, y)
    forest = model.members_
    tested = forest.feature[forest.feature < 0]
    assert len(tested) > len(np.unique(tested))
    orfeon.save(model, tmp_path / "model.orfeon")
    assert (orfeon.load(tmp_path / "model.orfeon").predict(X) == model.predict(X)).all()


def test_a_deep_tree_is_described_at_once(tmp_path):
    orfeon.save(chain(100_000), tmp_path / "forest.orfeon")
    begun = time.monotonic()
    assert describe(tmp_path / "forest.orfeon")["max_depth"] == 100_000
    assert time.monotonic() - begun < 2.0  # with a step for each level it took 3.4 s


# -- objects that are held many times --------------------------------------------------------------


def doubled(forged: Opened, name: str, field: str, levels: int) -> None:
    """Let each of some models hold the one before it twice."""
    objects = forged.content["objects"]
    written = json.dumps(objects[forged.content["model"]["object"]])
    for _ in range(levels):
        one = json.loads(written)
        assert one["class"] == name
        one["fields"][field] = [{"object": len(objects) - 1}] * 2
        objects.append(one)
    forged.content["model"] = {"object": len(objects) - 1}


@pytest.mark.parametrize(
    "model",
    [
        VotingRegressor([("a", Ridge()), ("b", Ridge())]),
        BaggingRegressor(Ridge(), n_estimators=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_that_hold_the_same_model_twice_on_every_level_are_refused(tmp_path, model):
    forged = forge(model.fit(X, X[:, 0]), tmp_path)
    if isinstance(model, BaggingRegressor):
        fields = fields_of(forged, "sklearn.BaggingRegressor")
        fields["estimators_features_"] = [inline(np.arange(2))] * 2
    doubled(forged, f"sklearn.{type(model).__name__}", "estimators_", 20)
    refuse(forged, tmp_path, "too many of its objects hold the same objects|nested too deeply")


def test_pipelines_that_are_deep_within_each_other_are_refused(tmp_path):
    """scikit-learn visits the step of each three times to find its tags."""
    model: Any = Ridge().fit(X, X[:, 0])
    for _ in range(5):
        model = Pipeline([("inner", model)])
    orfeon.save(model, tmp_path / "model.orfeon")
    assert orfeon.load(tmp_path / "model.orfeon").predict(X).tolist() == model.predict(X).tolist()
    for _ in range(15):
        model = Pipeline([("inner", model)])
    with pytest.raises(ModelFileError, match="its estimators are nested too deeply"):
        orfeon.save(model, tmp_path / "model.orfeon")


def test_a_range_is_no_longer_than_a_list_may_be(tmp_path):
    """A range of few bytes is a list of many for whoever makes a list of it."""
    many = range(limits.MAX_RANGE)
    orfeon.save(orfeon.CARTClassifier(class_weight=many), tmp_path / "model.orfeon")
    assert orfeon.load(tmp_path / "model.orfeon").class_weight == many
    with pytest.raises(ModelFileError, match="holds a range of more than 1048576 items"):
        orfeon.save(orfeon.CARTClassifier(class_weight=range(10**12)), tmp_path / "model.orfeon")
    with pytest.raises(ModelFileError, match="a range has more than 1048576 items"):
        Decoder([], []).decode({"range": [0, 10**12, 1]})


def test_a_model_that_is_held_a_few_times_is_evaluated_as_often(tmp_path):
    forged = forge(VotingRegressor([("a", Ridge()), ("b", Ridge())]).fit(X, X[:, 0]), tmp_path)
    doubled(forged, "sklearn.VotingRegressor", "estimators_", 3)
    assert np.allclose(orfeon.load(written(forged, tmp_path)).predict(X), X[:, 0], atol=1.0)


def test_members_of_a_pool_that_were_chosen_many_times_are_evaluated_once():
    X, y = make_waveform(200, random_state=0)
    pool = [orfeon.StumpClassifier().fit(X, y), orfeon.CARTClassifier(max_depth=3).fit(X, y)]
    model = orfeon.PoolBoostClassifier(pool, n_estimators=1).fit(X, y)
    chosen = model.members_.subset([0] * 2000)
    begun = time.monotonic()
    assert chosen.supports(X).shape == (2000, 200, 3)
    assert time.monotonic() - begun < 1.0


def test_what_is_saved_within_the_budget_is_loaded_within_it(tmp_path, monkeypatch):
    model = VotingRegressor([("a", Ridge()), ("b", Ridge())]).fit(X, X[:, 0])
    model.estimators_ = [model.estimators_[0]] * 100
    orfeon.save(model, tmp_path / "model.orfeon")
    monkeypatch.setattr(limits, "FREE_USES", 2**20)
    with pytest.raises(ModelFileError, match=r"cannot be saved: too many of its objects hold the"):
        orfeon.save(model, tmp_path / "other.orfeon")
    with pytest.raises(ModelFileError, match="too many of its objects hold the same"):
        orfeon.load(tmp_path / "model.orfeon")
