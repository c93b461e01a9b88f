"""What our samplers share: containers, errors, pipelines, and life without imbalanced-learn."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.preprocessing import label_binarize

pytest.importorskip("imblearn")
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling.base import BaseCleaningSampler

from orfeon import CARTClassifier, PPTSSSampler, RandomForestClassifier
from orfeon.imbalance import BorderSelection, WeightedDistanceEditing

SAMPLERS = [WeightedDistanceEditing(), BorderSelection(sampling_strategy="all", n_neighbors=2)]
each_sampler = pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: type(s).__name__)

each_public_sampler = pytest.mark.parametrize(
    "sampler", [*SAMPLERS, PPTSSSampler(random_state=0)], ids=lambda s: type(s).__name__
)


@pytest.fixture
def problem():
    X, y = make_classification(
        120, n_features=4, weights=[0.8], flip_y=0.1, class_sep=0.5, random_state=0
    )
    return X, np.array(["no", "yes"])[y]


def rows_of(sampler, X, y):
    fresh = clone(sampler)
    fresh.fit_resample(X, y)
    return fresh.sample_indices_


# -- containers ------------------------------------------------------------------------------------


@each_sampler
def test_rows_are_kept_in_order_and_once(sampler, problem):
    rows = rows_of(sampler, *problem)
    assert 20 < len(rows) < 120
    assert (np.diff(rows) > 0).all()
    assert isinstance(sampler, BaseCleaningSampler)


@each_sampler
def test_data_frames_keep_labels_types_and_names(sampler, problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    rows = rows_of(sampler, X, y)
    frame = pandas.DataFrame(X, columns=list("abcd"), index=np.arange(500, 620))
    frame["b"] = frame["b"].astype("float32")
    frame["d"] = (frame["d"] > 0).astype("int8")
    target = pandas.Series(y, name="class", dtype="category", index=frame.index)
    fresh = clone(sampler)
    X_kept, y_kept = fresh.fit_resample(frame, target)
    pandas.testing.assert_frame_equal(X_kept, frame.iloc[fresh.sample_indices_])
    pandas.testing.assert_series_equal(y_kept, target.iloc[fresh.sample_indices_])
    assert fresh.feature_names_in_.tolist() == list("abcd")
    X_kept, _ = clone(sampler).fit_resample(pandas.DataFrame(X), target)
    assert X_kept.index.tolist() == rows.tolist()


@each_sampler
def test_polars_frames_stay_polars_frames(sampler, problem):
    polars = pytest.importorskip("polars")
    X, y = problem
    rows = rows_of(sampler, X, y)
    X_kept, y_kept = clone(sampler).fit_resample(
        polars.DataFrame(X, schema=list("abcd")), polars.Series("class", y)
    )
    assert isinstance(X_kept, polars.DataFrame)
    assert isinstance(y_kept, polars.Series)
    assert X_kept.columns == list("abcd")
    np.testing.assert_array_equal(X_kept.to_numpy(), X[rows])
    assert y_kept.to_list() == y[rows].tolist()


@each_sampler
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_samples_stay_sparse(sampler, form, problem):
    X, y = problem
    X = np.where(X < 0, 0.0, X)
    rows = rows_of(sampler, X, y)
    fresh = clone(sampler)
    X_kept, y_kept = fresh.fit_resample(sparse.coo_array(X).asformat(form), y)
    assert sparse.issparse(X_kept)
    np.testing.assert_array_equal(X_kept.toarray(), X[rows])
    np.testing.assert_array_equal(y_kept, y[rows])


@each_sampler
def test_the_same_samples_in_other_arrays_give_the_same(sampler, problem):
    X, y = problem
    X = X.round(2)
    rows = rows_of(sampler, X, y)
    fixed = X.copy()
    fixed.setflags(write=False)
    for given in (fixed, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.astype(object)):
        np.testing.assert_array_equal(rows_of(sampler, given, y), rows)
    np.testing.assert_array_equal(rows_of(sampler, X.tolist(), y.tolist()), rows)
    np.testing.assert_array_equal(rows_of(sampler, X, y[:, None]), rows)
    assert fixed.tobytes() == X.tobytes()


@each_sampler
def test_labels_as_columns_of_zeros_and_ones(sampler, problem):
    X, _ = problem
    y = np.arange(120) % 3
    columns = label_binarize(y, classes=[0, 1, 2])
    rows = rows_of(sampler, X, y)
    _, y_kept = clone(sampler).fit_resample(X, columns)
    np.testing.assert_array_equal(y_kept, columns[rows])


# -- what is refused -------------------------------------------------------------------------------


@each_sampler
@pytest.mark.parametrize("form", ["U", "object", "list", "frame object", "frame str", "category"])
def test_strings_have_no_distance(sampler, form):
    colours = ["red", "blue", "red", "red", "blue", "red"]
    if form == "list":
        X = [[colour] for colour in colours]
    elif form in ("U", "object"):
        X = np.array(colours, dtype=form)[:, None]
    else:
        pandas = pytest.importorskip("pandas")
        column = pandas.Series(colours, dtype=form.removeprefix("frame "))
        X = pandas.DataFrame({"size": np.arange(6.0), "colour": column})
    words = rf"^{type(sampler).__name__} measures distances, so X must hold numbers"
    with pytest.raises(ValueError, match=words):
        clone(sampler).fit_resample(X, [0, 0, 0, 1, 1, 1])


@each_sampler
def test_categories_that_are_numbers_have_distances(sampler, problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    frame = pandas.DataFrame({"a": X[:, 0], "b": pandas.Categorical((X[:, 1] > 0).astype(int))})
    expected = rows_of(sampler, np.column_stack([X[:, 0], X[:, 1] > 0]), y)
    np.testing.assert_array_equal(rows_of(sampler, frame, y), expected)


@each_public_sampler
@pytest.mark.parametrize("form", ["frame", "column", "array"])
def test_dates_are_refused(sampler, form):
    pandas = pytest.importorskip("pandas")
    dates = pandas.date_range("2020-01-01", periods=6)
    X = {
        "frame": pandas.DataFrame({"size": np.arange(6.0), "when": dates}),
        "column": pandas.DataFrame({"when": dates}),
        "array": dates.to_numpy()[:, None],
    }[form]
    where = "'x0'" if form == "array" else "'when'"
    with pytest.raises(TypeError, match=rf"Feature {where} holds dates or durations .* numbers"):
        clone(sampler).fit_resample(X, [0, 0, 0, 1, 1, 1])


@each_public_sampler
def test_empty_frames_are_refused(sampler):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"X has 0 sample\(s\) \(shape=\(0, 0\)\)"):
        clone(sampler).fit_resample(pandas.DataFrame(), [])
    with pytest.raises(ValueError, match=r"X has 0 feature\(s\) \(shape=\(6, 0\)\)"):
        clone(sampler).fit_resample(pandas.DataFrame(index=range(6)), [0, 0, 0, 1, 1, 1])


@each_public_sampler
@pytest.mark.parametrize("form", ["strings", "numbers", "category", "Int64", "float"])
def test_missing_labels_are_refused(sampler, form):
    labels = (
        [0, 0, 1, None, 1, None]
        if form in ("numbers", "Int64", "float")
        else list("aab") + [None] * 3
    )
    n_missing = labels.count(None)
    if form in ("category", "Int64", "float"):
        labels = pytest.importorskip("pandas").Series(labels, dtype=form)
    words = rf"^y has {n_missing} missing value\(s\), the first at position 3: every sample"
    with pytest.raises(ValueError, match=words):
        clone(sampler).fit_resample(np.arange(6.0)[:, None], labels)


@each_public_sampler
def test_labels_that_cannot_be_sorted_are_refused(sampler):
    labels = np.array(["a", "a", "a", 1, 1, 1], dtype=object)
    with pytest.raises(ValueError, match=r"^y mixes strings with other values"):
        clone(sampler).fit_resample(np.arange(6.0)[:, None], labels)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        clone(sampler).fit_resample(np.arange(6.0)[:, None], None)


@each_sampler
def test_what_has_no_distance_is_refused(sampler):
    y = [0, 0, 0, 1, 1, 1]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        clone(sampler).fit_resample([[0.0], [np.nan], [1.0], [2.0], [3.0], [4.0]], y)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        clone(sampler).fit_resample([[0.0], [np.inf], [1.0], [2.0], [3.0], [4.0]], y)


@each_sampler
def test_wrong_strategies_are_told(sampler, problem):
    with pytest.raises(ValueError, match=r"'sampling_strategy' parameter of .* Got 0.5 instead"):
        clone(sampler).set_params(sampling_strategy=0.5).fit_resample(*problem)
    with pytest.raises(ValueError, match=r"\{'perhaps'\} target class is/are not present"):
        clone(sampler).set_params(sampling_strategy=["perhaps"]).fit_resample(*problem)
    with pytest.raises(ValueError, match="more than 1 class"):
        clone(sampler).fit_resample(problem[0], np.zeros(120))


def test_the_reason_for_numbers_is_the_samplers_own():
    class Weighing(BorderSelection):
        _needs_numbers = "weighs its samples, so X must hold weights"

    X = [["red"], ["blue"]] * 3
    for given, answers in (
        (np.array(X, dtype=object), "could not"),
        (np.array(X), "dtype='numeric'"),
    ):
        with pytest.raises(ValueError, match=rf"^Weighing weighs .* must hold weights \({answers}"):
            Weighing().fit_resample(given, [0, 0, 0, 1, 1, 1])


@each_sampler
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_selection_that_fails_leaves_the_sampler_as_it_was(sampler, error, problem, monkeypatch):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    fresh = clone(sampler)
    fresh.fit_resample(pandas.DataFrame(X, columns=list("abcd")), y)
    before = dict(vars(fresh))

    def fail(X, y):
        assert fresh.sampling_strategy_ is not before["sampling_strategy_"]
        raise error("half way")

    monkeypatch.setattr(type(fresh), "_select", staticmethod(fail))
    with pytest.raises(error, match="half way"):
        fresh.fit_resample(X[:, :2], np.repeat(["a", "b", "c"], 40))
    assert vars(fresh).keys() == before.keys()
    assert all(vars(fresh)[name] is before[name] for name in before)
    assert fresh.n_features_in_ == 4


# -- pipelines -------------------------------------------------------------------------------------


@each_sampler
def test_in_front_of_our_classifiers_under_cross_validation(sampler, problem):
    X, y = problem
    forest = RandomForestClassifier(n_estimators=10, random_state=0)
    scores = cross_val_score(make_pipeline(sampler, forest), X, y, cv=3, error_score="raise")
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        few = train[rows_of(sampler, X[train], y[train])]
        expected.append(clone(forest).fit(X[few], y[few]).score(X[test], y[test]))
    assert scores.tolist() == expected
    fitted = make_pipeline(sampler, forest).fit(X, y)
    rows = rows_of(sampler, X, y)
    alone = clone(forest).fit(X[rows], y[rows])
    np.testing.assert_array_equal(fitted.predict_proba(X), alone.predict_proba(X))


def test_the_number_of_neighbours_can_be_searched_for(problem):
    pipeline = make_pipeline(WeightedDistanceEditing(), CARTClassifier(random_state=0))
    name = "weighteddistanceediting__n_neighbors"
    search = GridSearchCV(pipeline, {name: [1, 3, 5]}, cv=3, scoring="balanced_accuracy")
    search.fit(*problem)
    found = search.cv_results_["mean_test_score"]
    assert search.best_params_[name] == (1, 3, 5)[np.argmax(found)] == 3
    assert search.best_score_ == found.max() > found[0] + 0.05


def test_one_sampler_after_the_other(problem):
    X, y = problem
    both = make_pipeline(WeightedDistanceEditing(), BorderSelection(), CARTClassifier())
    both.fit(X, y)
    edited = rows_of(WeightedDistanceEditing(), X, y)
    bordered = edited[rows_of(BorderSelection(), X[edited], y[edited])]
    assert both[1].sample_indices_.shape == bordered.shape
    assert np.count_nonzero(y[bordered] == "yes") == np.count_nonzero(y == "yes")
    assert len(bordered) < len(edited) < 120


# -- without imbalanced-learn ----------------------------------------------------------------------


WITHOUT = """
import sys

sys.modules["imblearn"] = None
import inspect, json
from orfeon import *
from orfeon.imbalance import *
from orfeon.perceptrons import *
import orfeon, orfeon.imbalance, orfeon.perceptrons

X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5
kinds = (ParallelPerceptronClassifier, PPTSSClassifier, PPBoostClassifier)
samplers = {
    orfeon: ["PPTSSSampler"],
    orfeon.perceptrons: ["PPTSSSampler"],
    orfeon.imbalance: [
        "BorderSelection", "DynamicPatternSelection", "IncrementalSelection",
        "SupportVectorSelection", "WeightedDistanceEditing",
    ],
}
messages = []
for home, names in samplers.items():
    for name in names:
        statement = f"from {home.__name__} import {name}"
        for access in (f"home.{name}", f"hasattr(home, {name!r})", statement):
            try:
                exec(access)
            except ImportError as error:
                messages.append(str(error))
members = dict(inspect.getmembers(orfeon.imbalance))
print(json.dumps({
    "scores": [kind(random_state=0).fit(X, y).score(X, y) for kind in kinds],
    "listed": [name for home, names in samplers.items() for name in names if name in dir(home)],
    "starred": [name for names in samplers.values() for name in names if name in globals()],
    "members": sorted(members) == sorted(orfeon.imbalance.__all__),
    "same": members["geometric_mean"] is geometric_mean,
    "messages": messages,
}))
"""


@pytest.mark.tools
def test_all_but_the_samplers_works_without_imbalanced_learn():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert min(found["scores"]) > 0.7
    assert found["listed"] == found["starred"] == []
    assert found["members"] is found["same"] is True
    assert len(found["messages"]) == 21
    for message in found["messages"]:
        assert message.startswith("the samplers of orfeon need imbalanced-learn, which could not")
        assert message.endswith("): pip install 'orfeon[imbalance]'")


def test_unknown_names_are_unknown():
    import orfeon.imbalance

    with pytest.raises(AttributeError, match="has no attribute 'SMOTE'"):
        _ = orfeon.imbalance.SMOTE
    samplers = {
        "BorderSelection", "DynamicPatternSelection", "IncrementalSelection",
        "SupportVectorSelection", "WeightedDistanceEditing",
    }  # fmt: skip
    assert not samplers & set(orfeon.imbalance.__all__)
    assert dir(orfeon.imbalance) == sorted(samplers | set(orfeon.imbalance.__all__))
    for name in dir(orfeon.imbalance):
        assert callable(getattr(orfeon.imbalance, name))
