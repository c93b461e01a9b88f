"""Grids of one's own: every combination is a method, and mistakes are named."""

import numpy as np
import pandas as pd
import pytest

from orfeon.datasets import make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment.evaluation import RunKey
from orfeon.workbench.experiment.grids import grid_methods, read_grid
from orfeon.workbench.experiment.methods import METHODS


def test_all_combinations_become_methods_with_these_settings():
    grid = {
        "random_forest": {"max_features": [0.3, "sqrt"], "min_samples_leaf": [1, 5]},
        "linear": [{"C": 0.1}, {"C": [1.0, 10.0]}],
    }
    names = grid_methods(grid, "classification")
    assert names[:2] == [
        'random_forest{"max_features":0.3,"min_samples_leaf":1}',
        'random_forest{"max_features":0.3,"min_samples_leaf":5}',
    ]
    assert len(names) == 7
    method = METHODS[names[3]]
    assert method.title == "random forest, max_features sqrt, min_samples_leaf 5"
    made = method.build("classification", 3, members=7)
    assert (made.max_features, made.min_samples_leaf) == ("sqrt", 5)
    assert (made.n_estimators, made.random_state) == (7, 3)
    model = METHODS[names[4]].build("classification", 0, X=np.zeros((5, 2)))
    assert model[-1].C == 0.1
    assert all(RunKey.read(RunKey(1, None, name).key).method == name for name in names)


def test_a_study_compares_them_beside_other_methods():
    X, y = make_waveform(80, random_state=0)
    frame = pd.DataFrame(X[:, 5:10], columns=list("abcde")).assign(y=y)
    grid = {"cart": {"max_depth": [1, 3]}}
    found = run_study(frame, "y", methods=["baseline"], grid=grid, repetitions=1)
    names = {one.name for one in found.candidates}
    assert names == {"baseline", 'cart{"max_depth":1}', 'cart{"max_depth":3}'}
    assert found.chosen == 'cart{"max_depth":3}'
    assert found.model.get_depth() <= 3
    assert found.best.title == "CART tree, max_depth 3"


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"forest": {"max_depth": 3}}, "names 'forest', which is not a method for classification"),
        ({"output_smearing": {"n_jobs": 1}}, "which is not a method for classification"),
        ({"selection": {"cv": 3}}, "names 'selection', which is not a method"),
        (
            {"cart": {"max_dept": 3}},
            r"names 'max_dept', which is not a parameter of cart.*max_depth",
        ),
        ({"cart": {"max_depth": [0]}}, "must have allowed values; CART tree, max_depth 0: The 'm"),
        ({"cart": {"max_depth": []}}, "must list values for every parameter of cart"),
        ({"cart": {}}, "must list parameters of cart; got {}"),
        ({"cart": 3}, "must list parameters of cart; got 3"),
        ({"cart": {"criterion": "a b"}}, "must not have 'a b'"),
        ({"cart": {"max_depth": list(range(1, 300))}}, "must have at most 200 combinations"),
    ],
)
def test_mistakes_are_named(grid, words):
    with pytest.raises(UserError, match=f"^grid: .*{words}"):
        grid_methods(grid, "classification")


def test_files_are_toml_or_json(tmp_path):
    (tmp_path / "g.toml").write_text("[cart]\nmax_depth = [1, 2]\n")
    (tmp_path / "g.json").write_text('{"cart": {"max_depth": [1, 2]}}')
    assert read_grid(tmp_path / "g.toml") == read_grid(tmp_path / "g.json")
    for name, text in [("a.toml", "cart = ["), ("b.json", "{"), ("c.json", "[1]")]:
        (tmp_path / name).write_text(text)
        with pytest.raises(UserError, match=r"^grid: must"):
            read_grid(tmp_path / name)
