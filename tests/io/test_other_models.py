"""Models that are no estimators of ours: results of combine(), samplers and their pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.io.mutations import opened, signed

import orfeon
from orfeon.io import ModelFileError, catalogue, describe


def round_trip(model: Any, folder: Any) -> Any:
    path, again = folder / "model.orfeon", folder / "again.orfeon"
    orfeon.save(model, path)
    loaded = orfeon.load(path)
    orfeon.save(loaded, again)
    assert again.read_bytes() == path.read_bytes()
    return loaded


# -- combine() -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def members(waveform: Any) -> dict[str, Any]:
    X, y = (part[:200] for part in waveform)
    bag = orfeon.BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    return {
        "of ours": bag,
        "boosted": orfeon.AdaBoostClassifier(n_estimators=4, random_state=0).fit(X, y),
        "pruned": orfeon.prune(bag, X, y, keep=3),
        "of scikit-learn": RandomForestClassifier(4, random_state=0).fit(X, y),
        "list": [GaussianNB().fit(X, y), LogisticRegression(max_iter=500).fit(X, y)],
        "named": [("a", GaussianNB().fit(X, y)), ("b", orfeon.CARTClassifier().fit(X, y))],
        "pipeline": make_pipeline(StandardScaler(), orfeon.BaggingClassifier(n_estimators=2)).fit(
            X, y
        ),
        "bare": bag.members_,
    }


@pytest.mark.parametrize("rule", ["majority", "soft", "weighted", "naive_bayes", "trimmed_mean"])
def test_a_combination_of_any_members_comes_back(rule, members, tmp_path, waveform):
    X, y = waveform
    for name, given in members.items():
        combined = orfeon.combine(given, X[200:], y[200:], rule=rule)
        loaded = round_trip(combined, tmp_path)
        assert repr(loaded) == repr(combined), name
        assert loaded.predict_proba(X).tobytes() == combined.predict_proba(X).tobytes(), name
        assert loaded.predict(X).tobytes() == combined.predict(X).tobytes(), name
        found = describe(tmp_path / "model.orfeon")
        assert (found["model"], found["is_fitted"]) == ("Combination", True)
        assert found["classes"] == [0, 1, 2]
        assert found["n_members"] == combined.ensemble.n_members


def test_combinations_of_answers_and_of_numbers_come_back(tmp_path, friedman):
    votes = np.array([["a", "b", "?"], ["a", "?", "b"], ["b", "b", "b"]])
    jury = orfeon.combining.combine_votes(votes, ["a", "b", "b"], rule="weighted", no_vote="?")
    loaded = round_trip(jury, tmp_path)
    assert loaded.predict_proba(votes).tobytes() == jury.predict_proba(votes).tobytes()
    X, y = friedman
    bag = orfeon.BaggingRegressor(n_estimators=4, random_state=0).fit(X[:100], y[:100])
    middle = orfeon.combine(bag, X[100:], y[100:], rule="model_averaging")
    assert round_trip(middle, tmp_path).predict(X).tobytes() == middle.predict(X).tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ensemble": 7}, "a Combination cannot be built"),
        ({"ensemble": {"tuple": []}}, "a Combination cannot be built"),
        ({"classes": None}, "classes must be those of its ensemble"),
        ({"decider": None}, "Combination.decider must be a"),
        ({"rule": "majority"}, "Combination.rule must be a"),
        ({"no_vote": []}, "Combination.no_vote must be None or a class"),
    ],
)
def test_combinations_that_do_not_hold_together_are_refused(change, message, tmp_path, waveform):
    X, y = waveform
    bag = orfeon.BaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    orfeon.save(orfeon.combine(bag, X, y, on="out_of_bag"), tmp_path / "model.orfeon")
    forged = opened((tmp_path / "model.orfeon").read_bytes())
    forged.content["objects"][-1]["fields"].update(change)
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match=message):
        orfeon.load(tmp_path / "forged.orfeon")


def test_weights_of_another_number_of_members_are_refused(members, tmp_path, waveform):
    X, y = waveform
    combined = [
        orfeon.combine(members[name], X[200:], y[200:], rule="weighted")
        for name in ("of ours", "boosted")
    ]
    from dataclasses import replace

    mixed = replace(combined[0], decider=combined[1].decider)
    orfeon.save(mixed, tmp_path / "model.orfeon")
    with pytest.raises(ModelFileError, match="fitted to another number of members"):
        orfeon.load(tmp_path / "model.orfeon")


# -- samplers --------------------------------------------------------------------------------------

SAMPLERS = (
    "BorderSelection", "DynamicPatternSelection", "IncrementalSelection", "PPTSSSampler",
    "SupportVectorSelection", "WeightedDistanceEditing",
)  # fmt: skip


@pytest.fixture(scope="module")
def unbalanced():
    pytest.importorskip("imblearn")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 1.2, "rare", "common")


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_comes_back(name, tmp_path, unbalanced):
    sampler = getattr(orfeon, name)()
    if "random_state" in sampler.get_params():
        sampler.set_params(random_state=0, max_rounds=2)
    assert str(round_trip(sampler, tmp_path)) == str(sampler)
    X, y = unbalanced
    sampler.fit_resample(X, y)
    loaded = round_trip(sampler, tmp_path)
    assert loaded.sample_indices_.tolist() == sampler.sample_indices_.tolist()
    assert dict(loaded.sampling_strategy_) == dict(sampler.sampling_strategy_)
    assert set(vars(loaded)) == set(vars(sampler))
    assert loaded.fit_resample(X, y)[1].tolist() == sampler.fit_resample(X, y)[1].tolist()
    assert describe(tmp_path / "model.orfeon")["n_features"] == 3


def test_a_pipeline_of_imbalanced_learn_comes_back(tmp_path, unbalanced):
    from imblearn.pipeline import make_pipeline as make_sampled

    X, y = unbalanced
    last = orfeon.RandomForestClassifier(3, random_state=0)
    model = make_sampled(StandardScaler(), orfeon.BorderSelection(), last).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert type(loaded) is type(model)
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert describe(tmp_path / "model.orfeon")["is_fitted"] is True


def test_without_the_package_it_is_named():
    entry = catalogue.Entry("Sampler", "no_such_package")
    with pytest.raises(ModelFileError, match=r"a Sampler needs another package: No module named"):
        entry.build({})
