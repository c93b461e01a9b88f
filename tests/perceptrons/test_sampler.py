"""PPTSSSampler with imbalanced-learn; tests/imbalance has the tests without it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from tests.perceptrons.models import N_ROWS, classes, frame, samples

pytest.importorskip("imblearn")
from imblearn.base import is_sampler
from imblearn.pipeline import Pipeline, make_pipeline

from orfeon import (
    CARTClassifier,
    ParallelPerceptronClassifier,
    PPTSSClassifier,
    PPTSSSampler,
    RandomForestClassifier,
)
from orfeon.datasets import make_gaussian_clouds
from orfeon.imbalance import geometric_mean


@pytest.fixture(scope="module")
def clouds():
    """Six hundred samples, one in ten of them positive."""
    return make_gaussian_clouds(600, priors=(0.9, 0.1), random_state=0)


# -- what it selects -------------------------------------------------------------------------------


def test_it_selects_what_the_classifier_selects(clouds):
    X, y = clouds
    sampler = PPTSSSampler(random_state=0)
    X_few, y_few = sampler.fit_resample(X, y)
    selected = PPTSSClassifier(random_state=0).fit(X, y).selected_
    np.testing.assert_array_equal(sampler.sample_indices_, selected)
    np.testing.assert_array_equal(X_few, X[selected])
    np.testing.assert_array_equal(y_few, y[selected])
    assert 0 < len(selected) < 300
    assert is_sampler(sampler)
    assert sampler.classifier_.history_["n_selected"][0] == 600


@pytest.mark.parametrize(
    ("strategy", "may_lose"),
    [
        ("all", {0, 1}),
        ("majority", {0}),
        ("not minority", {0}),
        ("auto", {0}),
        ("not majority", {1}),
        ([0], {0}),
        ([1], {1}),
        ([0, 1], {0, 1}),
    ],
    ids=str,
)
def test_only_the_classes_of_the_strategy_lose_samples(clouds, strategy, may_lose):
    X, y = clouds
    selected = PPTSSClassifier(random_state=0).fit(X, y).selected_
    sampler = PPTSSSampler(sampling_strategy=strategy, random_state=0)
    sampler.fit_resample(X, y)
    expected = [row for row in range(600) if row in set(selected) or y[row] not in may_lose]
    assert sampler.sample_indices_.tolist() == expected


def test_settings_reach_the_classifier(clouds):
    X, y = clouds
    base = ParallelPerceptronClassifier(max_iter=20)
    given = {"keep_quasi_noisy": True, "quasi_noisy": "vote", "max_rounds": 2, "random_state": 3}
    sampler = PPTSSSampler(base, **given)
    sampler.fit_resample(X, y)
    classifier = PPTSSClassifier(base, **given).fit(X, y)
    np.testing.assert_array_equal(sampler.sample_indices_, classifier.selected_)
    assert not hasattr(base, "weights_")
    other = PPTSSSampler(base, **{**given, "random_state": 4})
    assert len(other.fit_resample(X, y)[1]) != len(classifier.selected_)


def test_classes_of_any_name_and_number(clouds):
    X, y = clouds
    names = np.array(["common", "rare"])[y]
    plain, named, swapped = (
        PPTSSSampler(pos_label=label, random_state=0) for label in (None, "rare", "common")
    )
    expected = plain.fit_resample(X, names)[1]
    assert set(expected) == {"common", "rare"}
    np.testing.assert_array_equal(named.fit_resample(X, names)[1], expected)
    assert swapped.fit_resample(X, names)[1].tolist() != expected.tolist()
    with pytest.raises(ValueError, match=r"pos_label='ill' is not among the classes"):
        PPTSSSampler(pos_label="ill").fit_resample(X, names)


# It warns where all samples of a class are redundant.
@pytest.mark.filterwarnings("ignore:PPTSSSampler keeps no sample of 1 of the classes")
def test_several_classes_are_one_against_the_others():
    X, signal = samples(300, seed=6)
    y = classes(signal, 3)
    for label in (None, 0, 1, 2):
        sampler = PPTSSSampler(pos_label=label, random_state=0)
        sampler.fit_resample(X, y)
        positive = np.argmin(np.bincount(y)) if label is None else label
        alone = PPTSSClassifier(pos_label=True, random_state=0).fit(X, y == positive)
        np.testing.assert_array_equal(sampler.sample_indices_, alone.selected_)
        assert sampler.classifier_.history_["n_selected"].min() < 300


def test_one_class_is_refused(clouds):
    with pytest.raises(ValueError, match="more than 1 class"):
        PPTSSSampler().fit_resample(clouds[0], np.zeros(600))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"sampling_strategy": {0: 50}}, "The 'sampling_strategy' parameter of PPTSSSampler"),
        ({"quasi_noisy": "some"}, "The 'quasi_noisy' parameter of PPTSSSampler"),
        ({"max_rounds": 0}, "The 'max_rounds' parameter of PPTSSSampler"),
        ({"estimator": LogisticRegression()}, "The 'estimator' parameter of PPTSSSampler"),
        ({"estimator": ParallelPerceptronClassifier(2)}, "n_perceptrons=2 is even"),
        ({"estimator": ParallelPerceptronClassifier(eta0=-1)}, "The 'eta0' parameter of Parallel"),
    ],
)
def test_wrong_settings_are_told(clouds, setting, words):
    with pytest.raises(ValueError, match=words):
        PPTSSSampler(**setting).fit_resample(*clouds)


# -- containers ------------------------------------------------------------------------------------


def test_frames_keep_labels_types_and_names():
    pandas = pytest.importorskip("pandas")
    X, signal = samples()
    labels = [f"row {k}" for k in range(N_ROWS)]
    table = frame(X).set_index(pandas.Index(labels))
    y = pandas.Series(classes(signal), index=labels, name="target")
    sampler = PPTSSSampler(random_state=0)
    X_few, y_few = sampler.fit_resample(table, y)
    kept = sampler.sample_indices_
    assert 0 < len(kept) < N_ROWS
    pandas.testing.assert_frame_equal(X_few, table.iloc[kept])
    pandas.testing.assert_series_equal(y_few, y.iloc[kept])
    assert X_few.dtypes.tolist() == table.dtypes.tolist()
    assert sampler.feature_names_in_.tolist() == list(table.columns)


def test_polars_frames_stay_polars_frames():
    polars = pytest.importorskip("polars")
    X, signal = samples()
    table, y = polars.from_pandas(frame(X)), polars.Series("target", classes(signal))
    sampler = PPTSSSampler(random_state=0)
    X_few, y_few = sampler.fit_resample(table, y)
    assert isinstance(X_few, polars.DataFrame)
    assert isinstance(y_few, polars.Series)
    assert X_few.equals(table[sampler.sample_indices_.tolist()])
    again = PPTSSSampler(random_state=0)
    again.fit_resample(frame(X), classes(signal))
    np.testing.assert_array_equal(again.sample_indices_, sampler.sample_indices_)


def test_gaps_are_kept():
    X, signal = samples()
    X[::7, 1] = np.nan
    sampler = PPTSSSampler(random_state=0)
    X_few, _ = sampler.fit_resample(X, classes(signal))
    np.testing.assert_array_equal(X_few, X[sampler.sample_indices_])
    assert np.isnan(X_few).any()


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix])
def test_sparse_samples_stay_sparse(form):
    X, signal = samples()
    y = classes(signal)
    sampler = PPTSSSampler(random_state=0)
    X_few, _ = sampler.fit_resample(form(X), y)
    assert X_few.format == form(X).format
    dense = clone(sampler)
    np.testing.assert_array_equal(dense.fit_resample(X, y)[0], X_few.toarray())


# -- pipelines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(n_estimators=10, random_state=0),
        CARTClassifier(random_state=0),
        LogisticRegression(),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_in_front_of_classifiers(clouds, classifier):
    """The classifier is trained on the few, and all rows are predicted."""
    X, y = clouds
    model = make_pipeline(PPTSSSampler(random_state=0), clone(classifier))
    X_few, y_few = PPTSSSampler(random_state=0).fit_resample(X, y)
    alone = clone(classifier).fit(X_few, y_few)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), alone.predict(X))
    # So it is in cross-validation: only training parts lose samples.
    scoring = make_scorer(geometric_mean, pos_label=1)
    scores = cross_val_score(model, X, y, scoring=scoring, cv=3, error_score="raise")
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        few = train[PPTSSClassifier(random_state=0).fit(X[train], y[train]).selected_]
        answers = clone(classifier).fit(X[few], y[few]).predict(X[test])
        expected.append(geometric_mean(y[test], answers, pos_label=1))
    assert scores.tolist() == expected
    assert max(expected) > 0.75


def test_its_settings_can_be_searched_for(clouds):
    X, y = clouds
    model = Pipeline(
        [
            ("select", PPTSSSampler(ParallelPerceptronClassifier(max_iter=20), random_state=0)),
            ("classify", LogisticRegression()),
        ]
    )
    grid = {"select__keep_quasi_noisy": [False, True], "select__estimator__margin_weight": [0.1, 1]}
    scoring = make_scorer(geometric_mean, pos_label=1)
    search = GridSearchCV(model, grid, scoring=scoring, cv=2).fit(X, y)
    found = search.cv_results_["mean_test_score"]
    assert len(found) == 4
    assert np.ptp(found) > 0.01
    assert search.best_score_ == found.max() > 0.3
