"""Pasted votes on Dask collections: those of fit_chunks on the same parts, bit for bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.shared import assert_same_forest

from orfeon import C45Classifier, PartitionedClassifier, PartitionedRegressor
from orfeon.data.schema import Schema
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ensembles.dask_parts import Look, agree, is_dask, read_parts

dask = pytest.importorskip("dask", reason="the collections are those of Dask, not installed")
array = pytest.importorskip("dask.array")
bag = pytest.importorskip("dask.bag")
frame = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def samples():
    return make_waveform(200, random_state=0)


def chunks_of(*columns, size=50):
    n_rows = len(columns[0])
    return [[column[i : i + size] for column in columns] for i in range(0, n_rows, size)]


def arrays_of(X, *columns, size=50):
    rows = array.from_array(X, chunks=(size, 5))
    return [rows, *(array.from_array(column, chunks=size) for column in columns)]


def frame_of_kinds():
    """Numbers, strings of which the first partition has one, a boolean, and missing values."""
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {
            "size": rng.normal(size=160),
            "colour": rng.choice(["red", "green", "blue"], 160),
            "new": rng.random(160) < 0.5,
            "count": rng.integers(0, 4, 160).astype(float),
        }
    )
    table.loc[:39, "colour"] = "red"
    table.loc[::7, ["size", "colour"]] = None
    target = np.where((table["size"] > 0) ^ (table["colour"] == "blue"), "yes", "no")
    target[:40] = "no"
    return table, pandas.Series(target, name="target")


# -- training --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_estimators", [1, 3])
@pytest.mark.parametrize("estimator", [None, C45Classifier(), GaussianNB()])
def test_members_are_those_of_fit_chunks(samples, n_estimators, estimator):
    given = {"estimator": estimator, "n_estimators": n_estimators, "random_state": 1}
    one = PartitionedClassifier(**given).fit_chunks(chunks_of(*samples), classes=[0, 1, 2])
    other = PartitionedClassifier(**given).fit(*arrays_of(*samples))
    assert (other.n_chunks_, len(other), other.n_features_in_) == (4, 4 * n_estimators, 21)
    assert np.array_equal(other.classes_, [0, 1, 2])
    if isinstance(estimator, GaussianNB):
        for a, b in zip(one.estimators_, other.estimators_, strict=True):
            assert np.array_equal(a.theta_, b.theta_)
    else:
        assert_same_forest(one.forest_, other.forest_)


def test_regressors_likewise_with_weights_of_which_a_partition_has_none():
    X, y = make_friedman1(200, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, 200)
    weights[50:100] = 0
    pasted = PartitionedRegressor(n_estimators=2, random_state=0)
    chunks = chunks_of(X, y, weights)
    one = pasted.fit_chunks([chunks[0], *chunks[2:]])
    other = PartitionedRegressor(n_estimators=2, random_state=0).fit(*arrays_of(X, y, weights))
    assert_same_forest(one.forest_, other.forest_)
    assert other.n_chunks_ == 3


def test_more_chunks_may_follow(samples):
    X, y = samples
    one = PartitionedClassifier(random_state=0).fit_chunks(chunks_of(X, y), classes=[0, 1, 2])
    other = PartitionedClassifier(random_state=0).fit(*arrays_of(X[:150], y[:150]))
    other.partial_fit(X[150:], y[150:])
    assert_same_forest(one.forest_, other.forest_)


def test_data_frames_agree_on_categories_and_classes_that_some_partitions_lack():
    table, target = frame_of_kinds()
    X, y = frame.from_pandas(table, npartitions=4), frame.from_pandas(target, npartitions=4)
    pasted = PartitionedClassifier(random_state=0).fit(X, y)
    assert pasted.schema_.categories == (None, ("blue", "green", "red"), (False, True), None)
    assert pasted.feature_names_in_.tolist() == ["size", "colour", "new", "count"]
    assert pasted.classes_.tolist() == ["no", "yes"]
    assert pasted.schema_ == Schema.learn(table)
    shares = [np.mean(member.predict(table) == target) for member in pasted.estimators_]
    assert shares[0] == np.mean(target == "no")  # it knows no other class than that of its part
    assert min(shares[1:]) > 0.75


def test_members_of_data_frames_are_those_of_fit_chunks_where_the_first_part_has_it_all():
    table, target = frame_of_kinds()
    table, target = table[::-1].reset_index(drop=True), target[::-1].reset_index(drop=True)
    X, y = frame.from_pandas(table, npartitions=4), frame.from_pandas(target, npartitions=4)
    other = PartitionedClassifier(n_estimators=2, random_state=0).fit(X, y)
    parts = list(zip(dask.compute(*X.to_delayed()), dask.compute(*y.to_delayed()), strict=True))
    one = PartitionedClassifier(n_estimators=2, random_state=0)
    one.fit_chunks(parts, classes=["no", "yes"])
    assert one.schema_ == other.schema_
    assert_same_forest(one.forest_, other.forest_)


def test_an_feature_is_categorical_everywhere_if_it_is_so_in_one_partition():
    mixed = np.array([[1.0], [2.0], [3.0], ["a"], [None], [2.0]], dtype=object)
    X = array.from_array(mixed, chunks=(3, 1))
    y = array.from_array(np.array([0, 1, 0, 1, 0, 1]), chunks=3)
    pasted = PartitionedClassifier(random_state=0).fit(X, y)
    assert pasted.schema_.categories == ((1.0, 2.0, 3.0, "a"),)
    assert pasted.schema_ == Schema.learn(mixed)


def test_bags_hold_rows_or_records(samples):
    X, y = samples
    labels = bag.from_sequence(y.tolist(), npartitions=4)
    one = PartitionedClassifier(random_state=0).fit(*arrays_of(X, y))
    other = PartitionedClassifier(random_state=0).fit(bag.from_sequence(X.tolist(), 50), labels)
    assert_same_forest(one.forest_, other.forest_)
    records = [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()]
    third = PartitionedClassifier(random_state=0).fit(bag.from_sequence(records, 50), labels)
    assert_same_forest(one.forest_, third.forest_)
    assert third.feature_names_in_[20] == "x20"


def test_empty_partitions_are_passed_over(samples):
    table = pandas.DataFrame(samples[0][:, :3], columns=list("abc")).assign(y=samples[1])
    table["part"] = np.arange(200) // 50
    some = frame.from_pandas(table, npartitions=4)
    some = some[some["part"] != 1]
    pasted = PartitionedClassifier(random_state=0).fit(some[["a", "b", "c"]], some["y"])
    parts = [table[:50], table[100:150], table[150:]]
    chunks = [(part[["a", "b", "c"]], part["y"]) for part in parts]
    one = PartitionedClassifier(random_state=0).fit_chunks(chunks, classes=[0, 1, 2])
    assert_same_forest(one.forest_, pasted.forest_)
    assert len(pasted.predict(some[["a", "b", "c"]]).compute()) == 150


def test_rows_stay_where_they_are(samples, monkeypatch):
    computed = []
    compute = dask.compute
    monkeypatch.setattr(
        dask, "compute", lambda *tasks: computed.append(compute(*tasks)) or computed[-1]
    )
    PartitionedClassifier(random_state=0).fit(*arrays_of(*samples))
    looks, members = computed
    assert len(pickle.dumps(looks)) < 2000 < samples[0].nbytes // 10
    assert [len(forest) for forest in members] == [1] * 4


# -- asking ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_answers_for_arrays_are_lazy_and_the_same(samples, method):
    X, y = samples
    pasted = PartitionedClassifier(random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    lazy = getattr(pasted, method)(arrays_of(X)[0])
    expected = getattr(pasted, method)(X)
    assert is_dask(lazy)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert lazy.numblocks[0] == 4
    assert np.array_equal(lazy.compute(), expected)


def test_answers_for_data_frames_have_their_index():
    table, target = frame_of_kinds()
    table.index = target.index = np.arange(1000, 1160)
    pasted = PartitionedClassifier(random_state=0).fit(table, target)
    X = frame.from_pandas(table, npartitions=3)
    classes, shares = pasted.predict(X), pasted.predict_proba(X)
    assert classes.compute().index[0] == 1000
    assert classes.compute().tolist() == pasted.predict(table).tolist()
    assert classes.dtype == classes.compute().dtype
    assert shares.columns.tolist() == ["no", "yes"]
    assert np.array_equal(shares.compute().to_numpy(), pasted.predict_proba(table))


def test_answers_of_regressors_and_for_bags():
    X, y = make_friedman1(100, random_state=0)
    pasted = PartitionedRegressor(n_partitions=3, random_state=0).fit(X, y)
    expected = pasted.predict(X)
    assert np.array_equal(pasted.predict(array.from_array(X, chunks=(30, 2))).compute(), expected)
    assert pasted.predict(bag.from_sequence(X.tolist(), 30)).compute() == expected.tolist()


def test_scores_are_those_of_the_same_rows_here(samples):
    X, y = samples
    pasted = PartitionedClassifier(random_state=0).fit(*arrays_of(X, y))
    assert pasted.score(*arrays_of(X, y)) == pasted.score(X, y)


# -- refusals --------------------------------------------------------------------------------------


def refused(X, y, weights=None, **given):
    return PartitionedClassifier(**given).fit(X, y, weights)


def test_what_does_not_fit_together_is_refused(samples):
    X, y = arrays_of(*samples)
    with pytest.raises(TypeError, match=r"y is a ndarray; y must be a Dask collection too"):
        refused(X, samples[1])
    with pytest.raises(TypeError, match=r"sample_weight is a list"):
        refused(X, y, [1.0] * 200)
    with pytest.raises(ValueError, match=r"X has 200 rows and y has 150 values"):
        refused(X, y[:150])
    with pytest.raises(ValueError, match=r"X has 4 partitions and y has 2"):
        refused(X, bag.from_sequence([0, 1], npartitions=2))
    with pytest.raises(ValueError, match=r"X has shape \(200,\)"):
        refused(y, y)
    parts = [
        dask.delayed(list)(part) for part in np.split(np.delete(samples[1], 60), [50, 99, 149])
    ]
    with pytest.raises(ValueError, match=r"Partition 1: y has 49 values and X has 50 rows"):
        refused(X, bag.from_delayed(parts))


def test_what_needs_all_samples_in_one_place_is_refused(samples):
    X, y = arrays_of(*samples)
    with pytest.raises(ValueError, match=r"oob_score=True needs members to predict the partitions"):
        refused(X, y, oob_score=True)
    with pytest.raises(ValueError, match=r"importance='permutation' needs members"):
        refused(X, y, importance="permutation")
    with pytest.raises(ValueError, match=r"combine='naive_bayes' learns from samples"):
        refused(X, y, combine="naive_bayes")


def test_bad_values_say_in_which_partition_they_are(samples):
    X, y = samples[0].copy(), samples[1].astype(float)
    y[120] = 0.5
    with pytest.raises(ValueError, match=r"^Partition 2: Unknown label type: continuous"):
        refused(*arrays_of(X, y))
    X[60, 3] = np.inf
    with pytest.raises(ValueError, match=r"^Partition 1: Input X contains infinity"):
        refused(*arrays_of(X, samples[1]))


def test_classes_of_two_kinds_and_nothing_at_all_are_refused(samples):
    X = arrays_of(samples[0])[0]
    kinds = bag.from_delayed([dask.delayed([k] * 50) for k in (0, "a", 1, "b")])
    with pytest.raises(ValueError, match=r"strings in some partitions and numbers in others"):
        refused(X, kinds)
    with pytest.raises(ValueError, match=r"no rows that count"):
        refused(*arrays_of(*samples, np.zeros(200)))


def test_partitions_of_other_features_are_refused():
    one, other = (Look(1, n, None, Schema.ordered(n), None) for n in (2, 3))
    with pytest.raises(ValueError, match=r"differ in their features: 2 \[\] and 3 \[\]"):
        agree([one, other])


def test_a_fit_that_fails_leaves_the_ensemble_as_it_was(samples):
    pasted = PartitionedClassifier(random_state=0).fit(*samples)
    before = pasted.predict_proba(samples[0])
    with pytest.raises(TypeError, match="Dask"):
        pasted.fit(arrays_of(*samples)[0], samples[1])
    assert np.array_equal(pasted.predict_proba(samples[0]), before)


def test_parts_of_arrays_are_cut_as_the_rows_are(samples):
    X, y = arrays_of(*samples)
    parts = read_parts(X.rechunk((80, 21)), y)
    assert [len(part.y.compute()) for part in parts] == [80, 80, 40]
    assert [part.X.compute().shape for part in parts] == [(80, 21), (80, 21), (40, 21)]
