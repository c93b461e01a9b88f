"""Order by Dask partitions: the order of the same samples in one place, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from orfeon import (
    BaggingClassifier,
    CARTClassifier,
    PartitionedClassifier,
    PartitionedRegressor,
    order,
    prune,
)
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ordering import ORDERING_RULES, BoostingBased
from orfeon.ordering.partitioned import order_partitions, prune_partitions

dask = pytest.importorskip("dask", reason="the collections are those of Dask, not installed")
array = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def samples():
    X, y = make_waveform(240, random_state=0)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def pasted(samples):
    chunks = list(zip(*(np.split(column, 4) for column in samples), strict=True))
    model = PartitionedClassifier(n_estimators=6, random_state=0)
    return model.fit_chunks(chunks, classes=["a", "b", "c"])


def parts(*columns):
    return [array.from_array(column, chunks=(60, *column.shape[1:])) for column in columns]


def assert_same_order(one, other):
    assert one.order.tolist() == other.order.tolist()
    assert one.criterion.tobytes() == other.criterion.tobytes()
    assert one.error_curve.tobytes() == other.error_curve.tobytes()
    assert one.own_size == other.own_size
    assert one.n_classes == other.n_classes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", [name for name in ORDERING_RULES if name != "output_clustering"])
def test_every_rule_gives_the_order_of_all_samples_in_one_place(pasted, samples, rule, weighted):
    options = {"random_state": 3} if rule == "random" else {}
    weights = np.random.default_rng(1).integers(0, 3, 240)
    weights[60:120] = 0
    given = {"sample_weight": weights} if weighted else {}
    spread = {"sample_weight": parts(weights)[0]} if weighted else {}
    X, y = samples
    one = order(pasted, X, y, rule=rule, **given, **options)
    other = order_partitions(pasted, *parts(X, y), rule=rule, **spread, **options)
    assert_same_order(one, other)


@pytest.mark.parametrize(
    "rule", ["reduce_error", "complementarity", "individual_error", "output_clustering", "gasen"]
)
def test_regressors_are_ordered_by_their_predictions(rule):
    X, y = make_friedman1(240, random_state=0)
    pasted = PartitionedRegressor(n_partitions=4, n_estimators=3, random_state=0).fit(X, y)
    one = order(pasted, X, y, rule=rule)
    assert_same_order(one, order_partitions(pasted, *parts(X, y), rule=rule))


@pytest.mark.parametrize("keep", [0.2, 7, "auto", "rule"])
def test_pruned_ensembles_are_the_same(pasted, samples, keep):
    one = prune(pasted, *samples, rule="orientation", keep=keep)
    other = prune_partitions(pasted, *parts(*samples), rule="orientation", keep=keep)
    assert type(other) is PartitionedClassifier
    assert other.kept_.tolist() == one.kept_.tolist()
    assert_same_order(one.order_, other.order_)
    rows = parts(samples[0])[0]
    assert np.array_equal(other.predict(rows).compute(), one.predict(samples[0]))


def test_prune_itself_takes_dask_collections(pasted, samples):
    X, y = samples
    expected = prune(pasted, X, y, keep=0.2)
    found = prune(pasted, *parts(X, y), keep=0.2)
    assert found.kept_.tolist() == expected.kept_.tolist()


@pytest.mark.parametrize("rule", ["margin_distance", "reduce_error"])
def test_order_itself_takes_dask_collections(pasted, samples, rule):
    weights = np.arange(240) % 3
    expected = order(pasted, *samples, rule=rule, sample_weight=weights)
    found = order(pasted, *parts(*samples), rule=rule, sample_weight=parts(weights)[0])
    assert_same_order(found, expected)


@pytest.mark.parametrize("function", [order, prune])
def test_what_does_not_go_with_dask_collections_is_refused(function, pasted, samples):
    X, y = parts(*samples)
    with pytest.raises(ValueError, match="on='out_of_bag' is not allowed for Dask collections"):
        function(pasted, X, y, on="out_of_bag")
    with pytest.raises(ValueError, match="no_vote=-1 is for a matrix of votes"):
        function(pasted, X, y, no_vote=-1)
    with pytest.raises(ValueError, match="task='classification' is for a matrix of votes"):
        function(pasted, X, y, task="classification")
    with pytest.raises(ValueError, match="max_bytes=20000 allows"):
        function(pasted, X, y, rule="reduce_error", max_bytes=20_000)
    with pytest.raises(ValueError, match=r"y is missing.*leave X out and pass y=labels"):
        function(pasted.votes(samples[0]), y)


@pytest.mark.parametrize("function", [order, prune, order_partitions])
def test_the_warning_of_a_rule_points_at_the_caller(function):
    X, y = make_waveform(120, random_state=0)
    sure = [DummyClassifier(strategy="constant", constant=0).fit(X, y)] * 3
    with pytest.warns(UserWarning, match="almost equally right on all samples") as caught:
        function(sure, *parts(X, np.zeros_like(y)), rule="orientation")
    assert caught[0].filename == __file__


def test_any_ensemble_may_be_pruned(samples):
    bag = BaggingClassifier(CARTClassifier(max_depth=3), 20, random_state=0).fit(*samples)
    one, other = prune(bag, *samples), prune_partitions(bag, *parts(*samples))
    assert other.kept_.tolist() == one.kept_.tolist()
    assert len(other) == 4


def test_sums_are_what_leaves_the_partitions(pasted, samples, monkeypatch):
    computed = []
    compute = dask.compute
    monkeypatch.setattr(
        dask, "compute", lambda *tasks: computed.append(compute(*tasks)) or computed[-1]
    )
    order_partitions(pasted, *parts(*samples))
    (gram,), (wrong,) = computed
    assert gram.matrix.shape == (24, 24)
    assert gram.total_weight == 240
    assert wrong.shape == (24,)


def test_votes_that_do_not_fit_are_refused_with_their_size_and_a_way_out(pasted, samples):
    with pytest.raises(
        ValueError,
        match=r"'reduce_error' needs all votes together: those of 24 members on 240 samples are "
        r"2\.3e-05 GB, and max_bytes=20000 allows 2e-05 GB\. margin_distance, orientation",
    ):
        order_partitions(pasted, *parts(*samples), rule="reduce_error", max_bytes=20_000)
    fits = order_partitions(pasted, *parts(*samples), rule="reduce_error", max_bytes=23_040)
    assert len(fits) == 24


def test_what_cannot_be_is_refused(pasted, samples):
    X, y = samples
    with pytest.raises(TypeError, match=r"X is a ndarray, not a Dask collection; use prune\(\)"):
        order_partitions(pasted, X, y)
    with pytest.raises(ValueError, match=r"^Partition 1: y holds 'q', which the ensemble does not"):
        order_partitions(pasted, *parts(X, np.where(np.arange(240) == 70, "q", y)))
    thirds = np.full(240, 1 / 3)
    with pytest.raises(ValueError, match=r"^Partition \d: sample_weight has fractions"):
        order_partitions(pasted, *parts(X, y), sample_weight=parts(thirds)[0])
    with pytest.raises(ValueError, match=r"no rows that count"):
        order_partitions(pasted, *parts(X, y), sample_weight=parts(np.zeros(240))[0])
    rule = BoostingBased(weighted_vote=True)
    with pytest.raises(ValueError, match=r"cannot store them"):
        prune_partitions(pasted, *parts(X, y), rule=rule)
