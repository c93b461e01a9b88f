"""Snapshots of a fit: a killed run goes on from its file to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import orfeon
from orfeon import GradientBoostingClassifier, GradientBoostingRegressor, Snapshot
from orfeon.datasets import make_friedman1, make_waveform

MODELS = [
    GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0),
    GradientBoostingRegressor(
        n_estimators=20, loss="poisson", tree_method="histogram", random_state=0
    ),
    GradientBoostingClassifier(n_estimators=20, max_features_per_tree=0.5, random_state=0),
    GradientBoostingClassifier(
        n_estimators=60, n_iter_no_change=5, validation_fraction=0.3, random_state=0
    ),
    GradientBoostingRegressor(n_estimators=20, order=2, random_state=0),
]


class KilledError(Exception):
    pass


def data(model):
    make = make_friedman1 if isinstance(model, GradientBoostingRegressor) else make_waveform
    X, y = make(150, random_state=0)
    return X, np.abs(y) if isinstance(model, GradientBoostingRegressor) else y


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_killed_run_goes_on_to_the_same_bits(model, tmp_path):
    X, y = data(model)
    whole = clone(model).fit(X, y)
    snapshot = Snapshot(tmp_path / "m.orfeon", seconds=0)

    def callback(so_far):
        snapshot(so_far)
        if so_far.n_rounds == 7:
            raise KilledError

    run = clone(model)
    with pytest.raises(KilledError):
        run.fit(X, y, callback=callback)
    assert not hasattr(run, "members_")  # a fit that fails leaves no trace
    assert snapshot.n_rounds == 7
    saved = orfeon.load(tmp_path / "m.orfeon")
    assert saved.n_estimators_ == 7 < saved.n_estimators
    saved.set_params(warm_start=True).fit(X, y)
    assert saved.n_estimators_ == whole.n_estimators_
    np.testing.assert_array_equal(saved.predict(X), whole.predict(X))
    np.testing.assert_array_equal(saved.train_loss_, whole.train_loss_)


def test_snapshots_are_made_from_time_to_time(tmp_path):
    times = iter(np.arange(0.0, 1000.0, 1.0))
    made = []
    snapshot = Snapshot(tmp_path / "m.orfeon", seconds=5.0, clock=lambda: next(times))

    def callback(so_far):
        snapshot(so_far)
        made.append(snapshot.n_rounds)

    X, y = data(MODELS[0])
    clone(MODELS[0]).fit(X, y, callback=callback)
    assert made[3] == 0
    assert sorted(set(made)) == [0, 5, 10, 15, 20]
    with pytest.raises(ValueError, match="seconds=-1 is not allowed"):
        Snapshot("m.orfeon", seconds=-1)


def test_a_callback_stops_boosting():
    X, y = data(MODELS[0])
    models = []

    def callback(so_far):
        models.append(so_far.model())
        return so_far.n_rounds == 4

    model = clone(MODELS[0]).fit(X, y, callback=callback)
    assert model.n_estimators_ == 4
    assert [one.n_estimators_ for one in models] == [1, 2, 3, 4]
    np.testing.assert_array_equal(models[-1].predict(X), model.predict(X))
    np.testing.assert_array_equal(models[1].predict(X), list(model.staged_predict(X))[1])
